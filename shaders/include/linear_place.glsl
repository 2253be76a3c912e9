// Where an element of linear's result lies: [rows, columns], after the slices of the depth before
// it, or head-major. The sum of a part of the row's and one of the column's.
#ifndef HEED_LINEAR_PLACE_GLSL
#define HEED_LINEAR_PLACE_GLSL

uint heed_row_place(uint row) {
  if (HEAD_MAJOR == 0) return (gl_WorkGroupID.z * params.rows + row) * params.columns;
  const uint b = row / params.tokens;
  return (b * params.heads * params.tokens + row % params.tokens) * params.head_size;
}

uint heed_column_place(uint column) {
  if (HEAD_MAJOR == 0) return column;
  const uint head = column / params.head_size, part = head / params.heads,
             slice = part * params.batch * params.heads + head % params.heads;
  return slice * params.tokens * params.head_size + column % params.head_size;
}

uint heed_where(uint row, uint column) { return heed_row_place(row) + heed_column_place(column); }

#endif
