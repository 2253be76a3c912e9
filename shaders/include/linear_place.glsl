// Where an element of linear's result lies: [rows, columns], after the slices of the depth before
// it, or head-major.
#ifndef HEED_LINEAR_PLACE_GLSL
#define HEED_LINEAR_PLACE_GLSL

uint heed_where(uint row, uint column) {
  if (HEAD_MAJOR == 0) return (gl_WorkGroupID.z * params.rows + row) * params.columns + column;
  const uint head = column / params.head_size, part = head / params.heads, b = row / params.tokens;
  const uint slice = (part * params.batch + b) * params.heads + head % params.heads;
  return (slice * params.tokens + row % params.tokens) * params.head_size +
         column % params.head_size;
}

#endif
