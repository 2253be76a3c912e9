// Where an element of linear's result lies: [rows, columns], after the slices of the depth before
// it, or head-major. The place is a sum of what its row and what its column says, so that a tile
// divides once for each of its rows and once for each of its columns.
#ifndef HEED_LINEAR_PLACE_GLSL
#define HEED_LINEAR_PLACE_GLSL

uint heed_row_place(uint row) {
  if (HEAD_MAJOR == 0) return (gl_WorkGroupID.z * params.rows + row) * params.columns;
  const uint b = row / params.tokens;
  return (b * params.heads * params.tokens + (row - b * params.tokens)) * params.head_size;
}

uint heed_column_place(uint column) {
  if (HEAD_MAJOR == 0) return column;
  const uint head = column / params.head_size, part = head / params.heads;
  const uint slice = part * params.batch * params.heads + (head - part * params.heads);
  return slice * params.tokens * params.head_size + (column - head * params.head_size);
}

uint heed_where(uint row, uint column) { return heed_row_place(row) + heed_column_place(column); }

#endif
