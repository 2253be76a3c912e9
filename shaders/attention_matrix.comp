#version 450
// Attention by cooperative matrices: a workgroup takes SUBGROUPS * M neighbouring query rows of one
// head, a subgroup M of them from end to end. Queries stay in registers. Keys, and values
// transposed, go through shared memory as fp16, BLOCK at a time, and are fetched while the block
// before is multiplied. A block: products Q K^T go to a strip of the subgroup's own; lanes take
// their part of a row from it into registers, make logits, maximum and weights of them in fp32,
// and leave the weights as fp16 in the strip, for the product with V.
//   HEED_ATTENTION_ONE_PASS  running maximum; the sums so far are scaled by a matrix whose columns
// are all alike
//   else                     maximum and sum first, logits once more for the normalised weights
//   HEED_REDUCE              one pass without masks or bias, whose logits stay in registers
// (include/attention_matrix_reduce.glsl); a subgroup has ROWS times M rows, which share the keys
// and values that it loads
// A value that fp16 does not hold (NaN, Inf, past 65504) stands as 0 in the product. After the last
// block its part is added in fp32 where its key is not hidden, also with weight 0. Queries and keys
// in fp32 that fp16 does not hold are counted. Weights in fp16 are 2^8 times as large, so that the
// small ones of long rows stay above its denormal numbers. Bindings are attention.comp's, all
// eleven, and 11 the counter. Here are the passes over the keys; their parts are in
// include/attention_matrix_*.glsl.
#extension GL_GOOGLE_include_directive : require
#include "include/matrix.glsl"
#ifdef HEED_REDUCE
#extension GL_NV_cooperative_matrix2 : require
#extension GL_KHR_shader_subgroup_vote : require
#endif
#define HEED_FP16_COUNTER 11
#include "include/base.glsl"
#include "include/half.glsl"
#include "include/math.glsl"
#include "params/attention.h"

layout(constant_id = 1) const uint DEPTH = 64;
layout(constant_id = 2) const uint VALUE_DEPTH = 64;
layout(constant_id = 3) const uint BLOCK = 32; // a multiple of N, of K and of 8 * SHARE
layout(constant_id = 4) const uint FLAGS = 0;
layout(constant_id = 5) const uint EMPTY_ROW = 0; // heed_empty_row
layout(constant_id = 6) const uint SUBGROUPS = 4;
layout(constant_id = 7) const uint M = 16;
layout(constant_id = 8) const uint N = 16;
layout(constant_id = 9) const uint K = 16;
layout(constant_id = 10) const uint LANES = 32; // of a subgroup
#ifdef HEED_REDUCE
layout(constant_id = 11) const uint ROWS = 2; // times M are a subgroup's rows
uint row_block;                               // which M of them, after the last block
#else
const uint ROWS = 1, row_block = 0;
#endif

#include "include/attention_range.glsl"

layout(std430, binding = 0) readonly buffer Query { float query[]; };
layout(std430, binding = 0) readonly buffer QueryHalf { uvec2 query_half[]; };
layout(std430, binding = 1) readonly buffer Key { float key[]; };
layout(std430, binding = 1) readonly buffer KeyHalf { uvec2 key_half[]; };
layout(std430, binding = 1) readonly buffer Key4 { vec4 key4[]; };
layout(std430, binding = 2) readonly buffer Value { float value[]; };
layout(std430, binding = 2) readonly buffer Value4 { vec4 value4[]; };
layout(std430, binding = 2) readonly buffer ValueHalf { uvec2 value_half[]; };
layout(std430, binding = 3) writeonly buffer Output { float result[]; };
layout(std430, binding = 3) writeonly buffer OutputHalf { uvec2 result_half[]; };
layout(std430, binding = 4) readonly buffer Mask { uint mask[]; };
layout(std430, binding = 5) readonly buffer KeyPadding { uint key_padding[]; };
layout(std430, binding = 6) readonly buffer QueryPadding { uint query_padding[]; };
layout(std430, binding = 7) readonly buffer Bias { float bias[]; };
layout(std430, binding = 8) writeonly buffer Weights { float weights[]; };
layout(std430, binding = 9) writeonly buffer Logits { float logits[]; };
layout(std430, binding = 10) readonly buffer Rows { uint rows[]; };

const bool ONE_PASS = (FLAGS & HEED_ATTENTION_ONE_PASS) != 0;
const bool GUARD = (FLAGS & HEED_ATTENTION_GUARD) != 0; // some keys inside the range may be hidden
const bool STORES = (FLAGS & (HEED_ATTENTION_WEIGHTS | HEED_ATTENTION_LOGITS)) != 0;
// Whether a logit is the product times the scale alone, or hidden by its position: then log2(e) is
// in the scale.
const bool PLAIN =
    (FLAGS & (HEED_ATTENTION_MASK | HEED_ATTENTION_KEY_PADDING | HEED_ATTENTION_QUERY_PADDING |
              HEED_ATTENTION_BIAS | HEED_ATTENTION_SOFTCAP | HEED_ATTENTION_WEIGHTS |
              HEED_ATTENTION_LOGITS)) == 0;
const float LOG2_E = 1.44269504;
// Depths in whole matrices; the rest is zeros.
const uint UNIT = N > K ? N : K, Q_DEPTH = (DEPTH + UNIT - 1) / UNIT * UNIT,
           V_DEPTH = (VALUE_DEPTH + UNIT - 1) / UNIT * UNIT;
const uint Q_MATRICES = Q_DEPTH / K, V_MATRICES = V_DEPTH / N;
const uint THREADS = SUBGROUPS * LANES;
// SHARE lanes have a row, EACH rows a lane; of a row, PART vec4.
const uint SHARE = LANES > M ? LANES / M : 1, EACH = LANES > M ? 1 : M / LANES;
const uint PART = BLOCK / SHARE / 4;

// Shared memory is read and written by 16 bytes: eight values of fp16 or four of fp32. A row has 16
// bytes more, for the banks.
const uint K_STRIDE = Q_DEPTH / 8 + 1, STRIP_STRIDE = BLOCK / 4 + 1, K_SIZE = BLOCK * K_STRIDE;
#ifdef HEED_REDUCE
const uint V_STRIDE = V_DEPTH / 8 + 1, KV_SIZE = K_SIZE + BLOCK * V_STRIDE;
#else
const uint V_STRIDE = BLOCK / 8 + 1, KV_SIZE = K_SIZE + V_DEPTH * V_STRIDE;
#endif
const uint ROWS_SIZE = SUBGROUPS * ROWS * M * (K_STRIDE > N / 4 ? K_STRIDE : N / 4);
// keys [BLOCK, depth], then values [depth, BLOCK], or [BLOCK, depth] where rows are reduced;
// queries before the first block, and repairs after the last one
shared uvec4 staged[KV_SIZE > ROWS_SIZE ? KV_SIZE : ROWS_SIZE];
shared uvec4 strips[SUBGROUPS * M * STRIP_STRIDE];
shared float factors[SUBGROUPS * M];
// first and 1 + last block with a value that fp16 does not hold
shared uint first_repair, last_repair;

// What a thread fetches of a block: eights of keys; 4 x 4 values, or eights. As they are in memory.
const uint K_COUNT = BLOCK * Q_DEPTH / 8;
#ifdef HEED_REDUCE
const uint V_COUNT = BLOCK * V_DEPTH / 8;
#else
const uint V_COUNT = BLOCK / 4 * V_DEPTH / 4;
#endif
const uint K_EACH = (K_COUNT + THREADS - 1) / THREADS, V_EACH = (V_COUNT + THREADS - 1) / THREADS;
const bool K_HALF = (FLAGS & HEED_ATTENTION_KEY_HALF) != 0,
           V_HALF = (FLAGS & HEED_ATTENTION_VALUE_HALF) != 0;
uvec4 next_key[K_HALF ? K_EACH : 2 * K_EACH];
#ifdef HEED_REDUCE
uvec4 next_value[V_HALF ? V_EACH : 2 * V_EACH];
#else
uvec4 next_value[V_HALF ? 2 * V_EACH : 4 * V_EACH];
#endif

uint batch, head, first_row, last_row; // rows, or entries of the list of rows
// running maximum, sum of exponentials relative to it: 0 while no key was seen, NaN once a logit
// was NaN or +Inf
float largest[EACH], total[EACH];
vec4 part[PART]; // of a row of the strip

#include "include/attention_logit.glsl"

uint row_of(uint r) { return first_row + (gl_SubgroupID * ROWS + row_block) * M + r; }
uint at_row(uint r) { return min(row_of(r), last_row); }
uint query_of(uint r) {
  return has(HEED_ATTENTION_ROWS) ? rows[params.rows_origin + at_row(r)] : at_row(r);
}
uint lane_row(uint i) {
  return gl_SubgroupInvocationID / SHARE + i * (LANES / SHARE);
} // of the subgroup's, the i-th of this lane
uint lane_part() { return gl_SubgroupInvocationID % SHARE; }
uint strip_at(uint r) { return (gl_SubgroupID * M + r) * STRIP_STRIDE; }
// Column of the block where the lane's p-th vec4 of a row begins: pairs of them lie side by side.
uint part_column(uint p) { return (lane_part() + p / 2 * SHARE) * 8 + p % 2 * 4; }

float row_max(float x) {
  for (uint step = 1; step < SHARE; step *= 2) x = max(x, subgroupShuffleXor(x, step));
  return x;
}
float row_sum(float x) {
  for (uint step = 1; step < SHARE; step *= 2) x += subgroupShuffleXor(x, step);
  return x;
}
// How much of a weight relative to `old` is left relative to `now`.
float factor_of(float old, float now) { return exp2(PLAIN ? old - now : (old - now) * LOG2_E); }
// Weights relative to the largest logit, raised to 256 at most.
const float RAISED = 8.0, RAISE = 256.0;
vec4 weight_of(vec4 x, float most) {
  return exp2(PLAIN ? x - (most - RAISED) : (x - most) * LOG2_E + RAISED);
}
bool is_infinite_or_nan(float x) { return (floatBitsToUint(x) & 0x7F800000u) == 0x7F800000u; }

#include "include/attention_matrix_stage.glsl"

HEED_FACTOR_A(M, K) q[ROWS * Q_MATRICES];

void load_queries() {
  [[unroll]] for (uint b = 0; b < ROWS; b++) [[unroll]] for (uint k = 0; k < Q_MATRICES; k++)
      coopMatLoad(q[b * Q_MATRICES + k], staged,
                  (gl_SubgroupID * ROWS + b) * M * K_STRIDE + k * K / 8, K_STRIDE,
                  gl_CooperativeMatrixLayoutRowMajor);
}

// Products of the queries and the block's keys, which are staged, into the strip.
void multiply_keys() {
  HEED_SUM(M, N) sum[BLOCK / N];
  [[unroll]] for (uint n = 0; n < BLOCK / N; n++) sum[n] = HEED_SUM(M, N)(0.0);
  [[unroll]] for (uint k = 0; k < Q_MATRICES; k++) {
    [[unroll]] for (uint n = 0; n < BLOCK / N; n++) {
      HEED_FACTOR_B(K, N) b;
      coopMatLoad(b, staged, n * N * K_STRIDE + k * K / 8, K_STRIDE,
                  gl_CooperativeMatrixLayoutColumnMajor);
      sum[n] = coopMatMulAdd(q[row_block * Q_MATRICES + k], b, sum[n]);
    }
  }
  HEED_SUBGROUP_MEETS(); // the weights of the block before are done with
  [[unroll]] for (uint n = 0; n < BLOCK / N; n++) coopMatStore(
      sum[n], strips, strip_at(0) + n * N / 4, STRIP_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
  HEED_SUBGROUP_MEETS();
}

#include "include/attention_matrix_weights.glsl"

HEED_SUM(M, N) o[ROWS * V_MATRICES];

void put_factor(uint i, float factor) {
  if (lane_part() == 0) factors[gl_SubgroupID * M + lane_row(i)] = factor;
}

#ifdef HEED_REDUCE
#include "include/attention_matrix_reduce.glsl"
#else
void multiply_values() {
  HEED_SUBGROUP_MEETS();
  [[unroll]] for (uint k = 0; k < BLOCK; k += K) {
    HEED_FACTOR_A(M, K) a;
    coopMatLoad(a, strips, strip_at(0) + k / 8, STRIP_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
    [[unroll]] for (uint n = 0; n < V_MATRICES; n++) {
      HEED_FACTOR_B(K, N) b;
      coopMatLoad(b, staged, K_SIZE + n * N * V_STRIDE + k / 8, V_STRIDE,
                  gl_CooperativeMatrixLayoutColumnMajor);
      o[n] = coopMatMulAdd(a, b, o[n]);
    }
  }
}

// The sums so far relative to the new maximum.
void scale_sums() {
  HEED_SUBGROUP_MEETS();
  HEED_SUM(M, N) factor;
  coopMatLoad(factor, factors, gl_SubgroupID * M, 0, gl_CooperativeMatrixLayoutColumnMajor);
  [[unroll]] for (uint n = 0; n < V_MATRICES; n++) o[n] = o[n] * factor;
}

// Maximum and sum of all keys, for weights that are normalised before use.
void count_keys(uint low, uint high) {
  fetch_keys(low);
  for (uint j = low; j < high; j += BLOCK) {
    barrier();
    stage_keys();
    barrier();
    fetch_keys(j + BLOCK);
    multiply_keys();
    [[unroll]] for (uint i = 0; i < EACH; i++) {
      read_logits(i, j);
      take_statistics(i);
    }
  }
}

void fetch_block(uint j, bool values) {
  fetch_keys(j);
  if (values) fetch_values(j);
}

// A block ahead, unless maps are stored: those take the registers.
void attend(uint low, uint high) {
  const bool values = !has(HEED_ATTENTION_NO_OUTPUT);
  if (!STORES) fetch_block(low, values);
  for (uint j = low; j < high; j += BLOCK) {
    if (STORES) fetch_block(j, values);
    barrier();
    stage_keys();
    if (values) stage_values((j - low) / BLOCK);
    barrier();
    if (!STORES) fetch_block(j + BLOCK, values);
    multiply_keys();
    [[unroll]] for (uint i = 0; i < EACH; i++) {
      read_logits(i, j);
      if (ONE_PASS) {
        put_factor(i, take_statistics(i));
      } else {
        if (has(HEED_ATTENTION_LOGITS)) store_part(i, j, true);
        weigh(i);
        end_row(j);
        if (has(HEED_ATTENTION_WEIGHTS)) store_part(i, j, false);
      }
      if (values) put_weights(i);
    }
    if (!values) continue;
    if (ONE_PASS) scale_sums();
    multiply_values();
  }
}
#endif

#include "include/attention_matrix_repair.glsl"
#include "include/attention_matrix_output.glsl"

void main() {
  batch = gl_WorkGroupID.z;
  head = gl_WorkGroupID.y;
  first_row = gl_WorkGroupID.x * SUBGROUPS * ROWS * M;
  last_row = (has(HEED_ATTENTION_ROWS) ? params.rows : params.queries) - 1;
  [[unroll]] for (uint i = 0; i < EACH; i++) {
    largest[i] = HEED_LOWEST;
    total[i] = 0.0;
  }
  [[unroll]] for (uint n = 0; n < ROWS * V_MATRICES; n++) o[n] = HEED_SUM(M, N)(0.0);
  if (gl_LocalInvocationID.x == 0) {
    first_repair = 0xFFFFFFFFu;
    last_repair = 0;
  }
  stage_queries();
  barrier();
  load_queries();
  uint low = 0, high = params.keys;
  if (POSITION && !STORES && EMPTY_ROW != 2) {
    int a, b;
    row_range(first_row, a, b);
    low = uint(a);
    row_range(min(first_row + SUBGROUPS * ROWS * M - 1, last_row), a, b);
    high = uint(b);
  }
#ifdef HEED_REDUCE
  attend(low, high);
  barrier();
  [[unroll]] for (uint b = 0; b < ROWS; b++) {
    row_block = b;
    take_rows(b);
    if (last_repair != 0) repair_all(low);
    store_output();
  }
#else
  if (!ONE_PASS) count_keys(low, high);
  attend(low, high);
  if (has(HEED_ATTENTION_NO_OUTPUT)) return;
  barrier();
  if (last_repair != 0) repair_all(low);
  store_output();
#endif
}
