#version 450
// Attention, third of three dispatches: pass 5, weights times values. A register tile: ROWS queries
// by COLUMNS vec4 of the value's depth an invocation. Workgroup x: tile of columns, y: tile of
// rows, z: slice (head of an image).
// Bindings: 0 weights [slices, rows, stride], 1 value, 2 output.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/half.glsl"
#include "include/math.glsl"
#include "params/attention_values.h"

layout(constant_id = 1) const uint ROWS = 8;
layout(constant_id = 2) const uint COLUMNS = 1;
layout(constant_id = 3) const uint FLAGS = 0;

#include "include/attention_range.glsl"

#ifdef HEED_TEXEL
layout(binding = 0) uniform samplerBuffer weight_texels;
layout(binding = 1) uniform samplerBuffer value_texels;
#define HEED_P4(i) texelFetch(weight_texels, int(i))
#else
layout(std430, binding = 0) readonly buffer Weights { vec4 weights[]; };
layout(std430, binding = 1) readonly buffer Value { float value[]; };
layout(std430, binding = 1) readonly buffer Value4 { vec4 value4[]; };
layout(std430, binding = 1) readonly buffer ValueHalf { uvec2 value_half[]; };
#define HEED_P4(i) weights[i]
#endif
layout(std430, binding = 2) writeonly buffer Output { float result[]; };
layout(std430, binding = 2) writeonly buffer Output4 { vec4 result4[]; };
layout(std430, binding = 2) writeonly buffer OutputHalf { uvec2 result_half[]; };

// Some keys may be hidden: their values are not multiplied, they could be NaN.
const bool GUARD = (FLAGS & HEED_ATTENTION_GUARD) != 0;

vec4 load_value(uint key, uint base, uint at_column) {
  const uint at = base + at_column;
#ifdef HEED_TEXEL
  return texelFetch(value_texels, int((at + key * params.depth) >> 2));
#else
  if (has(HEED_ATTENTION_VALUE_HALF))
    return heed_unpack(value_half[(at + key * params.depth) >> 2]);
  if (has(HEED_ATTENTION_VECTOR)) return value4[(at + key * params.depth) >> 2];
  // Without alignment the depth may end inside the four: those past it are read from the last
  // element of the depth.
  const uint row = base + key * params.depth;
  vec4 v;
  for (uint c = 0; c < 4; c++) v[c] = value[row + min(at_column + c, params.depth - 1)];
  return v;
#endif
}

// A weight under 0 says that all keys of its row are hidden and that it takes their mean: of what
// is finite.
vec4 weighted(float p, vec4 v) {
  if (has(HEED_ATTENTION_FILLS) && p < 0.0) return -p * heed_finite(v);
  return GUARD ? (p == HEED_ATTENTION_HIDDEN ? vec4(0.0) : p * v) : p * v;
}

void store(uint at, uint first, vec4 v) {
  if (has(HEED_ATTENTION_OUTPUT_HALF)) {
    result_half[(at + first) >> 2] = heed_pack(v);
    return;
  }
  if (has(HEED_ATTENTION_VECTOR_OUT)) {
    result4[(at + first) >> 2] = v;
    return;
  }
  for (uint c = 0; c < 4; c++)
    if (first + c < params.depth) result[at + first + c] = v[c];
}

void main() {
  const uint slice = params.first_slice + gl_WorkGroupID.z, batch = slice / params.heads,
             head = slice % params.heads;
  const uint first_row = gl_WorkGroupID.y * ROWS,
             panel = gl_WorkGroupID.x * gl_WorkGroupSize.x * COLUMNS + gl_LocalInvocationID.x;
  const uint columns4 = (params.depth + 3) / 4;
  // Arrays of this function alone: as globals they took lavapipe's compiler ten times as long.
  uint p_at[ROWS], column[COLUMNS]; // column: in elements of the depth, held inside it
  vec4 sum[ROWS][COLUMNS];
  for (uint j = 0; j < COLUMNS; j++)
    column[j] = min(panel + j * gl_WorkGroupSize.x, columns4 - 1) * 4;
  for (uint i = 0; i < ROWS; i++) {
    p_at[i] = (gl_WorkGroupID.z * params.rows + min(first_row + i, params.rows - 1)) *
              (params.stride / 4);
    for (uint j = 0; j < COLUMNS; j++) sum[i][j] = vec4(0.0);
  }
  uint k = 0, high = params.keys;
  if (POSITION && !has(HEED_ATTENTION_FILLS)) {
    int a, b, unused;
    row_range(params.first_row + first_row, a, unused);
    row_range(params.first_row + min(first_row + ROWS, params.rows) - 1, unused, b);
    k = uint(a) & ~3u;
    high = min((uint(b) + 3u) & ~3u, params.keys);
  }
  const uint key_slice =
      (batch * params.key_heads + head / (params.heads / params.key_heads)) * params.keys;
  const uint base = params.value_origin + key_slice * params.depth;
  // The scores are padded with zeros to a multiple of 4 keys, the values are not: past the last key
  // the last one stands, with no weight.
  for (; k < high; k += 4) {
    vec4 v[4][COLUMNS];
    for (uint q = 0; q < 4; q++)
      for (uint j = 0; j < COLUMNS; j++) {
        v[q][j] = load_value(min(k + q, params.keys - 1), base, column[j]);
        if (k + q >= params.keys) v[q][j] = vec4(0.0);
      }
    for (uint i = 0; i < ROWS; i++) {
      const vec4 p = HEED_P4(p_at[i] + ((k - params.piece_key) >> 2));
      for (uint j = 0; j < COLUMNS; j++)
        sum[i][j] += weighted(p.x, v[0][j]) + weighted(p.y, v[1][j]) + weighted(p.z, v[2][j]) +
                     weighted(p.w, v[3][j]);
    }
  }
  for (uint i = 0; i < ROWS; i++) {
    const uint local_row = first_row + i, row = params.first_row + local_row;
    const uint at = params.output_origin +
                    (has(HEED_ATTENTION_MERGE)
                         ? ((batch * params.queries + row) * params.heads + head) * params.depth
                         : (slice * params.queries + row) * params.depth);
    for (uint j = 0; j < COLUMNS; j++) {
      const uint at_column = panel + j * gl_WorkGroupSize.x;
      if (local_row < params.rows && at_column < columns4) store(at, at_column * 4, sum[i][j]);
    }
  }
}
