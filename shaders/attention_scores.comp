#version 450
// Attention, first of three dispatches: logits of a piece of rows into scratch [slices, rows,
// stride], -Inf where not allowed and past the last key. Passes 1 score 2 softcap, bias, mask. A
// register tile: ROWS queries by KEYS4 vec4 of keys an invocation. Workgroup x: tile of keys, y:
// tile of rows, z: slice (head of an image).
// Bindings: 0 query, 1 key, 2 mask, 3 key padding, 4 query padding, 5 bias, 6 list of rows, 7
// scores; 8 va, with HEED_ADDITIVE: score va . tanh(q + k) instead of q . k.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/half.glsl"
#include "include/math.glsl"
#include "params/attention_scores.h"

layout(constant_id = 1) const uint ROWS = 8;
layout(constant_id = 2) const uint KEYS4 = 1;
layout(constant_id = 3) const uint FLAGS = 0;

#include "include/attention_range.glsl"

#ifdef HEED_TEXEL
layout(binding = 0) uniform samplerBuffer query_texels;
layout(binding = 1) uniform samplerBuffer key_texels;
#define HEED_Q4(i) texelFetch(query_texels, int(i))
#define HEED_K4(i) texelFetch(key_texels, int(i))
#else
layout(std430, binding = 0) readonly buffer Query { float query[]; };
layout(std430, binding = 1) readonly buffer Key { float key[]; };
layout(std430, binding = 0) readonly buffer Query4 { vec4 query4[]; };
layout(std430, binding = 1) readonly buffer Key4 { vec4 key4[]; };
layout(std430, binding = 0) readonly buffer QueryHalf { uvec2 query_half[]; };
layout(std430, binding = 1) readonly buffer KeyHalf { uvec2 key_half[]; };
#define HEED_Q4(i) (has(HEED_ATTENTION_QUERY_HALF) ? heed_unpack(query_half[i]) : query4[i])
#define HEED_K4(i) (has(HEED_ATTENTION_KEY_HALF) ? heed_unpack(key_half[i]) : key4[i])
#endif
layout(std430, binding = 2) readonly buffer Mask { uint mask[]; };
layout(std430, binding = 3) readonly buffer KeyPadding { uint key_padding[]; };
layout(std430, binding = 4) readonly buffer QueryPadding { uint query_padding[]; };
layout(std430, binding = 5) readonly buffer Bias { float bias[]; };
layout(std430, binding = 6) readonly buffer Rows { uint row_list[]; };
layout(std430, binding = 7) writeonly buffer Scores { vec4 scores[]; };
#ifdef HEED_ADDITIVE
layout(binding = 8) uniform samplerBuffer va; // the ninth storage buffer would be past the floor
#endif

const uint KEYS = KEYS4 * 4;
// first_row within the piece; the invocation's keys are first_key .. first_key + KEYS - 1
uint batch, head, first_row, first_key;

#include "include/attention_logit.glsl"

// Index of query i of the tile; past the piece, of its last.
uint query_of(uint i) {
  const uint row = params.first_row + min(first_row + i, params.rows - 1);
  return has(HEED_ATTENTION_ROWS) ? row_list[row] : row;
}

// Writes the logits of query i of the tile, whose index is `row`, and of the c-th four keys.
void put(uint i, uint c, uint row, vec4 product) {
  vec4 s;
  for (uint e = 0; e < 4; e++) s[e] = finish(product[e], row, first_key + c * 4 + e);
  const uint column = first_key - params.piece_key;
  if (first_row + i < params.rows && column + c * 4 < params.stride)
    scores[((gl_WorkGroupID.z * params.rows + first_row + i) * params.stride + column) / 4 + c] = s;
}

// Whether position leaves the workgroup's queries any of its keys.
bool tile_is_empty() {
  if (!POSITION || has(HEED_ATTENTION_ROWS)) return false;
  const int tile = int(params.piece_key + gl_WorkGroupID.x * gl_WorkGroupSize.x * KEYS);
  int low, high, unused;
  row_range(params.first_row + first_row, low, unused);
  row_range(min(params.first_row + min(first_row + ROWS, params.rows), params.queries) - 1, unused,
            high);
  return tile >= high || tile + int(gl_WorkGroupSize.x * KEYS) <= low;
}

void main() {
  const uint slice = params.first_slice + gl_WorkGroupID.z;
  batch = slice / params.heads;
  head = slice % params.heads;
  first_row = gl_WorkGroupID.y * ROWS;
  first_key =
      params.piece_key + (gl_WorkGroupID.x * gl_WorkGroupSize.x + gl_LocalInvocationID.x) * KEYS;
  // Arrays of this function alone: as globals they took lavapipe's compiler ten times as long.
  const uint key_slice =
      (batch * params.key_heads + head / (params.heads / params.key_heads)) * params.keys;
  uint q_at[ROWS], k_at[KEYS], query_row[ROWS];
  float sum[ROWS][KEYS];
  for (uint i = 0; i < ROWS; i++) {
    query_row[i] = query_of(i);
    q_at[i] = params.query_origin + (slice * params.queries + query_row[i]) * params.depth;
    for (uint c = 0; c < KEYS; c++) sum[i][c] = 0.0;
  }
  for (uint c = 0; c < KEYS; c++)
    k_at[c] = params.key_origin + (key_slice + min(first_key + c, params.keys - 1)) * params.depth;
  const uint depth = tile_is_empty() ? 0 : params.depth;
  if (has(HEED_ATTENTION_VECTOR)) {
    for (uint i = 0; i < ROWS; i++) q_at[i] >>= 2;
    for (uint c = 0; c < KEYS; c++) k_at[c] >>= 2;
    for (uint d = 0; d < depth / 4; d++) {
      vec4 k[KEYS];
      for (uint c = 0; c < KEYS; c++) k[c] = HEED_K4(k_at[c] + d);
      for (uint i = 0; i < ROWS; i++) {
        const vec4 q = HEED_Q4(q_at[i] + d);
        for (uint c = 0; c < KEYS; c++)
          sum[i][c] += (q.x * k[c].x + q.y * k[c].y) + (q.z * k[c].z + q.w * k[c].w);
      }
    }
  }
#ifndef HEED_TEXEL
  else {
    for (uint d = 0; d < depth; d++) {
      float k[KEYS];
      for (uint c = 0; c < KEYS; c++) k[c] = key[k_at[c] + d];
      for (uint i = 0; i < ROWS; i++) {
        const float q = query[q_at[i] + d];
#ifdef HEED_ADDITIVE
        for (uint c = 0; c < KEYS; c++)
          sum[i][c] += texelFetch(va, int(params.va_origin + d)).x * heed_tanh(q + k[c]);
#else
        for (uint c = 0; c < KEYS; c++) sum[i][c] += q * k[c];
#endif
      }
    }
  }
#endif
  if (ROWS * KEYS4 <= 8 ||
      !has(HEED_ATTENTION_MASK | HEED_ATTENTION_KEY_PADDING | HEED_ATTENTION_QUERY_PADDING |
           HEED_ATTENTION_BIAS | HEED_ATTENTION_SOFTCAP)) {
    for (uint i = 0; i < ROWS; i++)
      for (uint c = 0; c < KEYS4; c++)
        put(i, c, query_row[i],
            vec4(sum[i][c * 4], sum[i][c * 4 + 1], sum[i][c * 4 + 2], sum[i][c * 4 + 3]));
    return;
  }
  // Of a large tile a copy that is indexed by loop variables, so that the code of masks and bias
  // stands once and not ROWS * KEYS4 times.
  vec4 done[ROWS * KEYS4];
  for (uint i = 0; i < ROWS; i++)
    for (uint c = 0; c < KEYS4; c++)
      done[i * KEYS4 + c] =
          vec4(sum[i][c * 4], sum[i][c * 4 + 1], sum[i][c * 4 + 2], sum[i][c * 4 + 3]);
  [[dont_unroll]] for (uint i = 0; i < ROWS * KEYS4; i++)
      put(i / KEYS4, i % KEYS4, query_of(i / KEYS4), done[i]);
}
