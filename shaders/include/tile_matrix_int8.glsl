// What tile_matrix.glsl fetches of a weight in int8: a panel has the sums of its columns, then
// sixteen values of k of a column side by side, [K / 16][columns][16]. x is bytes; both are
// multiples of 16 long, zeros in the weight past the last k.
#ifndef HEED_TILE_MATRIX_INT8_GLSL
#define HEED_TILE_MATRIX_INT8_GLSL

#include "include/int8.glsl"

layout(std430, binding = 0) readonly buffer X { uvec4 x16[]; };
layout(std430, binding = 1) readonly buffer W { uvec4 w16[]; };

uvec4 next_x[X_EACH], next_w[W_EACH];

// Sixteen values from k on; matrices of a depth of 8 have each eight in sixteen bytes of their own.
uvec4 take_unit(uvec4 sixteen, uint k) {
  if (UNIT == 16) return sixteen;
  return uvec4(k % 16 < 8 ? sixteen.xy : sixteen.zw, 0, 0);
}

uint panel_base() { return gl_WorkGroupID.y * (1 + params.depth / 4) * (TILE_COLUMNS / 4); }

void fetch(uint k0) {
  const uint row0 = gl_WorkGroupID.x * TILE_ROWS, from = panel_base() + TILE_COLUMNS / 4;
  [[unroll]] for (uint i = 0; i < X_EACH; i++) {
    const uint k = min(k0 + x_of(i) % UNITS * UNIT, params.depth - UNIT),
               row = min(row0 + x_of(i) / UNITS, params.rows - 1);
    next_x[i] = take_unit(x16[(row * params.depth + k) / 16], k);
  }
  [[unroll]] for (uint i = 0; i < W_EACH; i++) {
    const uint k = min(k0 + w_of(i) / TILE_COLUMNS * UNIT, params.depth - UNIT);
    next_w[i] = take_unit(w16[from + k / 16 * TILE_COLUMNS + w_of(i) % TILE_COLUMNS], k);
  }
}

// Zeros past the depth, of the step from k0 on; of one factor they are enough.
void settle(uint k0) {
  if (WHOLE != 0 || k0 + STEP <= params.depth) return;
  [[unroll]] for (uint i = 0; i < W_EACH; i++) next_w[i] =
      mix(uvec4(0), next_w[i], bvec4(k0 + w_of(i) / TILE_COLUMNS * UNIT < params.depth));
}

// Of four columns from `column` on.
ivec4 tile_totals(uint column) {
  const uint panel = params.first_panel + gl_WorkGroupID.y;
  return ivec4(w16[panel_base() + (column - panel * TILE_COLUMNS) / 4]);
}

#endif
