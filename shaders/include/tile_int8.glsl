// tile_run of tile.glsl with weights in int8: a panel has the sums of its columns, then four values
// of k of a column side by side, [K / 4][columns][4], zeros past the last k; K is a multiple of 16.
// With HEED_DOT x is bytes, and sums are whole numbers. Without it x is whole numbers in fp16 or
// fp32, and weights become floats on the way: a sum of floats is exact up to 2^24. LONG: sums of
// 512 values of k, none of them larger, are added as whole numbers.
#ifndef HEED_TILE_INT8_GLSL
#define HEED_TILE_INT8_GLSL

#include "include/int8.glsl"

layout(constant_id = 12) const uint LONG = 0;

const uint TILE_PANEL = LANES * COLUMNS; // uvec4 a row of a panel

#ifdef HEED_TEXEL
layout(binding = 0) uniform samplerBuffer x_texels;
layout(binding = 1) uniform usamplerBuffer w_texels;
#define HEED_X4(i) texelFetch(x_texels, int(i))
#define HEED_W4(i) texelFetch(w_texels, int(i))
#else
layout(std430, binding = 0) readonly buffer X16 { uvec4 x16[]; };
layout(std430, binding = 0) readonly buffer XHalf { uvec2 x_half[]; };
layout(std430, binding = 0) readonly buffer X4 { vec4 x4[]; };
layout(std430, binding = 1) readonly buffer W { uvec4 w4[]; };
#define HEED_X4(i) (VECTOR == 2 ? heed_unpack(x_half[i]) : x4[i])
#define HEED_W4(i) w4[i]
#endif

#ifdef HEED_DOT
#define TILE_SUM ivec4
#define TILE_STEP 16 // values of k at a time
// OpSDot of four bytes each: older glslang has no word of its own for it.
#extension GL_EXT_spirv_intrinsics : require
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [ 6018, 6019 ],
                  id = 4450) int heed_dot(uint a, uint b, spirv_literal int four_bytes);
ivec4 heed_dots(uint x, uvec4 w) {
  return ivec4(heed_dot(x, w.x, 0), heed_dot(x, w.y, 0), heed_dot(x, w.z, 0), heed_dot(x, w.w, 0));
}
#else
#define TILE_SUM vec4
#define TILE_STEP 4
vec4 heed_bytes(uvec4 w, uint q) { return vec4(ivec4(w << (24 - 8 * q)) >> 24); }
#endif

#ifdef TILE_SLICES
shared TILE_SUM tile_share[gl_WorkGroupSize.x];
#endif

ivec4 tile_totals(uint j) {
  const uint lane = TILE_LANE;
  return ivec4(HEED_W4(gl_WorkGroupID.y * (1 + params.depth / 4) * TILE_PANEL + lane + j * LANES));
}

void tile_run() {
  const uint lane = TILE_LANE, group = TILE_GROUP;
#ifdef TILE_SLICES
  const uint row0 = (TILE_SLICES ? gl_WorkGroupID.x : gl_WorkGroupID.x * GROUPS + group) * ROWS;
#else
  const uint row0 = (gl_WorkGroupID.x * GROUPS + group) * ROWS;
#endif
  uint at_w = (gl_WorkGroupID.y * (1 + params.depth / 4) + 1 + TILE_FIRST / 4) * TILE_PANEL + lane;
  TILE_SUM sum[ROWS][COLUMNS];
  ivec4 whole[LONG != 0 ? ROWS : 1][LONG != 0 ? COLUMNS : 1];
  uint base[ROWS];
  for (uint i = 0; i < ROWS; i++) {
    base[i] = min(row0 + i, params.rows - 1) * (params.depth / TILE_STEP);
    for (uint j = 0; j < COLUMNS; j++) sum[i][j] = TILE_SUM(0);
    if (LONG != 0)
      for (uint j = 0; j < COLUMNS; j++) whole[i][j] = ivec4(0);
  }
  for (uint k = TILE_FIRST; k < TILE_END; k += TILE_STEP) {
#ifdef HEED_DOT
    uvec4 w[4][COLUMNS];
    for (uint q = 0; q < 4; q++)
      for (uint j = 0; j < COLUMNS; j++) w[q][j] = HEED_W4(at_w + q * TILE_PANEL + j * LANES);
    at_w += 4 * TILE_PANEL;
    for (uint i = 0; i < ROWS; i++) {
      const uvec4 v = x16[base[i] + k / 16];
      for (uint j = 0; j < COLUMNS; j++)
        for (uint q = 0; q < 4; q++) sum[i][j] += heed_dots(v[q], w[q][j]);
    }
#else
    vec4 w[4][COLUMNS];
    for (uint j = 0; j < COLUMNS; j++) {
      const uvec4 fours = HEED_W4(at_w + j * LANES);
      for (uint q = 0; q < 4; q++) w[q][j] = heed_bytes(fours, q);
    }
    at_w += TILE_PANEL;
    for (uint i = 0; i < ROWS; i++) {
      const vec4 v = HEED_X4(base[i] + k / 4);
      for (uint j = 0; j < COLUMNS; j++)
#ifdef HEED_TEXEL // software devices have no fma of their own
        sum[i][j] += v.x * w[0][j] + v.y * w[1][j] + v.z * w[2][j] + v.w * w[3][j];
#else
        for (uint q = 0; q < 4; q++) sum[i][j] = fma(vec4(v[q]), w[q][j], sum[i][j]);
#endif
      if (LONG != 0)
        for (uint j = 0; j < COLUMNS; j++)
          if (k % 512 == 508 || k + 4 >= TILE_END) {
            whole[i][j] += ivec4(sum[i][j]);
            sum[i][j] = vec4(0.0);
          }
    }
#endif
  }
#ifdef TILE_SLICES
  if (TILE_SLICES) { // the first slice's invocations go on
    for (uint i = 0; i < ROWS; i++)
      for (uint j = 0; j < COLUMNS; j++) {
        tile_share[group * LANES + lane] = sum[i][j];
        barrier();
        if (group == 0)
          for (uint g = 1; g < GROUPS; g++) sum[i][j] += tile_share[g * LANES + lane];
        barrier();
      }
    if (group != 0) return;
  }
#endif
  for (uint i = 0; i < ROWS; i++) base[i] = tile_row_place(row0 + i);
  for (uint j = 0; j < COLUMNS; j++) {
    const uint column =
        ((params.first_panel + gl_WorkGroupID.y) * TILE_PANEL + lane + j * LANES) * 4;
    const vec4 b = HAS_BIAS != 0 ? tile_bias(column) : vec4(0.0),
               scales = heed_column_scales(column);
    const uint place = tile_column_place(column);
#ifdef HEED_DOT
    const ivec4 totals = tile_totals(j);
#endif
    for (uint i = 0; i < ROWS; i++)
      if (row0 + i < params.rows && column < params.columns) {
#ifdef HEED_DOT
        const vec4 v = vec4(heed_without_zero(row0 + i, totals, sum[i][j]));
#else
        const vec4 v = LONG != 0 ? vec4(whole[i][j]) : sum[i][j];
#endif
        precise const vec4 y = heed_widen(row0 + i, scales, v) + b;
        tile_finish(row0 + i, column, base[i] + place, heed_activate(KIND, y));
      }
  }
}

#endif
