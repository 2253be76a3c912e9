// linear by weights in int8 and rows that quantise_rows.comp wrote: what their sums become. A panel
// begins with the sum of each column's weights.
#ifndef HEED_INT8_GLSL
#define HEED_INT8_GLSL

layout(std430, binding = 6) readonly buffer Grids { uvec2 grids[]; }; // a row's step, its zero
layout(std430, binding = 7) readonly buffer Scale { float scale[]; };

vec4 heed_column_scales(uint column) {
  vec4 v;
  for (uint c = 0; c < 4; c++) v[c] = scale[min(column + c, params.columns - 1)];
  return v;
}

// Four columns of a row: one multiplication, as on the CPU.
vec4 heed_widen(uint row, vec4 scales, vec4 sum) {
  precise const vec4 v = sum * (uintBitsToFloat(grids[row].x) * scales);
  return v;
}
ivec4 heed_without_zero(uint row, ivec4 totals, ivec4 sum) {
  return sum - int(grids[row].y) * totals;
}

#endif
