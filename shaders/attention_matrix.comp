#version 450
// Attention by cooperative matrices: a workgroup takes SUBGROUPS * M neighbouring query rows of one
// head, a subgroup M of them from end to end. Keys, then values, go through shared memory as fp16,
// BLOCK at a time; logits and everything of softmax are fp32. A block: products Q K^T into a strip
// of the subgroup's own, where lanes make logits, maxima and weights of them; weights as fp16 times
// V.
//   HEED_ATTENTION_RESIDENT  the strip has room for all keys: exact maximum and sum, each product
// once, weights normalised before use   HEED_ATTENTION_ONE_PASS  running maximum; the sums so far
// are scaled by a matrix whose columns are all alike
//   else                     maximum and sum first, logits once more for the normalised weights
// A value that fp16 does not hold (NaN, Inf, past 65504) stands as 0 in the product; its part is
// added in fp32 where its key is not hidden, also with weight 0. Bindings are attention.comp's, all
// eleven.
#extension GL_GOOGLE_include_directive : require
#include "include/matrix.glsl"
#include "include/base.glsl"
#include "include/half.glsl"
#include "include/math.glsl"
#include "params/attention.h"

layout(constant_id = 1) const uint DEPTH = 64;
layout(constant_id = 2) const uint VALUE_DEPTH = 64;
layout(constant_id = 3) const uint BLOCK = 32; // a multiple of N and of K
layout(constant_id = 4) const uint FLAGS = 0;
layout(constant_id = 5) const uint EMPTY_ROW = 0; // heed_empty_row
layout(constant_id = 6) const uint SUBGROUPS = 4;
// keys in a strip: BLOCK, or all of them, a multiple of BLOCK
layout(constant_id = 7) const uint ROOM = 32;
layout(constant_id = 8) const uint M = 16;
layout(constant_id = 9) const uint N = 16;
layout(constant_id = 10) const uint K = 16;
layout(constant_id = 11) const uint LANES = 32; // of a subgroup

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

const bool RESIDENT = (FLAGS & HEED_ATTENTION_RESIDENT) != 0,
           ONE_PASS = (FLAGS & HEED_ATTENTION_ONE_PASS) != 0;
const bool GUARD = (FLAGS & HEED_ATTENTION_GUARD) != 0; // some keys inside the range may be hidden
const bool STORES = (FLAGS & (HEED_ATTENTION_WEIGHTS | HEED_ATTENTION_LOGITS)) != 0;
// Depths in whole matrices; the rest is zeros.
const uint UNIT = N > K ? N : K, Q_DEPTH = (DEPTH + UNIT - 1) / UNIT * UNIT,
           V_DEPTH = (VALUE_DEPTH + UNIT - 1) / UNIT * UNIT;
const uint WIDEST = Q_DEPTH > V_DEPTH ? Q_DEPTH : V_DEPTH;
// f16vec4; 16 bytes more than a row, for the banks
const uint Q_STRIDE = Q_DEPTH / 4 + 2, KV_STRIDE = WIDEST / 4 + 2;
const uint STRIP_STRIDE = ROOM + 4, P_STRIDE = BLOCK + 8;
// SHARE lanes have a row, EACH rows a lane.
const uint SHARE = LANES > M ? LANES / M : 1, EACH = LANES > M ? 1 : M / LANES;
const uint V_MATRICES = V_DEPTH / N;

shared f16vec4 staged_q[SUBGROUPS * M * Q_STRIDE];
shared f16vec4 staged[BLOCK * KV_STRIDE];
shared float strips[SUBGROUPS * M * STRIP_STRIDE];
shared float16_t staged_p[SUBGROUPS * M * P_STRIDE];
shared float factors[SUBGROUPS * M];
shared uint repairs; // number of the last block with a value that fp16 does not hold

uint batch, head, first_row, last_row; // rows, or entries of the list of rows
// running maximum, sum of exponentials relative to it: 0 while no key was seen
float largest[EACH], total[EACH];
bool broken[EACH]; // a NaN or +Inf among the logits: the whole row is NaN

#include "include/attention_logit.glsl"

uint at_row(uint r) { return min(first_row + gl_SubgroupID * M + r, last_row); }
uint query_of(uint r) {
  return has(HEED_ATTENTION_ROWS) ? rows[params.rows_origin + at_row(r)] : at_row(r);
}
uint lane_row(uint i) {
  return gl_SubgroupInvocationID / SHARE + i * (LANES / SHARE);
} // of the subgroup's, the i-th of this lane
uint lane_part() { return gl_SubgroupInvocationID % SHARE; }
uint strip_at(uint r) { return (gl_SubgroupID * M + r) * STRIP_STRIDE; }
uint p_at(uint r) { return (gl_SubgroupID * M + r) * P_STRIDE; }
// Columns of the strip from this key on.
uint strip_column(uint j, uint low) { return RESIDENT ? j - low : 0; }

float row_max(float x) {
  for (uint step = 1; step < SHARE; step *= 2) x = max(x, subgroupShuffleXor(x, step));
  return x;
}
float row_sum(float x) {
  for (uint step = 1; step < SHARE; step *= 2) x += subgroupShuffleXor(x, step);
  return x;
}

vec4 load_query(uint at, uint d) {
  vec4 v = vec4(0.0);
  if (has(HEED_ATTENTION_QUERY_HALF)) return d < DEPTH ? heed_unpack(query_half[(at + d) >> 2]) : v;
  for (uint c = 0; c < 4; c++)
    if (d + c < DEPTH) v[c] = query[at + d + c];
  return v;
}

uint key_slice() {
  return (batch * params.key_heads + head / (params.heads / params.key_heads)) * params.keys;
}

vec4 load_key(uint j, uint d) {
  const uint at = params.key_origin + (key_slice() + j) * DEPTH + d;
  vec4 v = vec4(0.0);
  if (j >= params.keys || d >= DEPTH) return v;
  if (has(HEED_ATTENTION_KEY_HALF)) return heed_unpack(key_half[at >> 2]);
  if (has(HEED_ATTENTION_VECTOR)) return key4[at >> 2];
  for (uint c = 0; c < 4; c++)
    if (d + c < DEPTH) v[c] = key[at + c];
  return v;
}

vec4 load_value(uint j, uint d) {
  const uint at = params.value_origin + (key_slice() + j) * VALUE_DEPTH + d;
  vec4 v = vec4(0.0);
  if (j >= params.keys || d >= VALUE_DEPTH) return v;
  if (has(HEED_ATTENTION_VALUE_HALF)) return heed_unpack(value_half[at >> 2]);
  if (has(HEED_ATTENTION_VECTOR)) return value4[at >> 2];
  for (uint c = 0; c < 4; c++)
    if (d + c < VALUE_DEPTH) v[c] = value[at + c];
  return v;
}

bvec4 fits_half(vec4 v) {
  return lessThan(floatBitsToUint(v) & 0x7FFFFFFFu, uvec4(0x477FF000u));
} // 65520 is Inf

void stage_queries() {
  for (uint e = gl_LocalInvocationID.x; e < SUBGROUPS * M * Q_DEPTH / 4; e += gl_WorkGroupSize.x) {
    const uint r = e / (Q_DEPTH / 4), d = e % (Q_DEPTH / 4), entry = min(first_row + r, last_row);
    const uint row = has(HEED_ATTENTION_ROWS) ? rows[params.rows_origin + entry] : entry;
    staged_q[r * Q_STRIDE + d] = f16vec4(load_query(
        params.query_origin + ((batch * params.heads + head) * params.queries + row) * DEPTH,
        d * 4));
  }
}

void stage_keys(uint j) {
  barrier();
  for (uint e = gl_LocalInvocationID.x; e < BLOCK * Q_DEPTH / 4; e += gl_WorkGroupSize.x)
    staged[e / (Q_DEPTH / 4) * KV_STRIDE + e % (Q_DEPTH / 4)] =
        f16vec4(load_key(j + e / (Q_DEPTH / 4), e % (Q_DEPTH / 4) * 4));
  barrier();
}

void stage_values(uint j, uint number) {
  barrier();
  for (uint e = gl_LocalInvocationID.x; e < BLOCK * V_DEPTH / 4; e += gl_WorkGroupSize.x) {
    const vec4 v = load_value(j + e / (V_DEPTH / 4), e % (V_DEPTH / 4) * 4);
    const bvec4 fits = fits_half(v);
    staged[e / (V_DEPTH / 4) * KV_STRIDE + e % (V_DEPTH / 4)] = f16vec4(mix(vec4(0.0), v, fits));
    if (!all(fits)) repairs = number;
  }
  barrier();
}

// Logits of the block's keys, which are staged, into the strip.
void score(uint j, uint column) {
  HEED_SUM(M, N) sum[BLOCK / N];
  [[unroll]] for (uint n = 0; n < BLOCK / N; n++) sum[n] = HEED_SUM(M, N)(0.0);
  for (uint k = 0; k < Q_DEPTH; k += K) {
    HEED_FACTOR_A(M, K) a;
    coopMatLoad(a, staged_q, gl_SubgroupID * M * Q_STRIDE + k / 4, Q_STRIDE,
                gl_CooperativeMatrixLayoutRowMajor);
    [[unroll]] for (uint n = 0; n < BLOCK / N; n++) {
      HEED_FACTOR_B(K, N) b;
      coopMatLoad(b, staged, n * N * KV_STRIDE + k / 4, KV_STRIDE,
                  gl_CooperativeMatrixLayoutColumnMajor);
      sum[n] = coopMatMulAdd(a, b, sum[n]);
    }
  }
  [[unroll]] for (uint n = 0; n < BLOCK / N; n++)
      coopMatStore(sum[n], strips, strip_at(0) + column + n * N, STRIP_STRIDE,
                   gl_CooperativeMatrixLayoutRowMajor);
  HEED_SUBGROUP_MEETS();
  for (uint i = 0; i < EACH; i++) {
    const uint r = lane_row(i), row = query_of(r), at = strip_at(r) + column;
    for (uint c = lane_part(); c < BLOCK; c += SHARE)
      strips[at + c] = finish(strips[at + c], row, j + c);
  }
}

// Maximum and sum of row i of this lane with `count` more logits; returns what the old sum was
// multiplied by.
float take_statistics(uint i, uint at, uint count) {
  float now = largest[i];
  bool bad = false;
  for (uint c = lane_part(); c < count; c += SHARE) {
    const uint bits = floatBitsToUint(strips[at + c]);
    bad = bad || ((bits & 0x7FFFFFFFu) >= 0x7F800000u && bits != 0xFF800000u);
    now = max(now, strips[at + c]);
  }
  now = row_max(now);
  broken[i] = broken[i] || row_max(bad ? 1.0 : 0.0) > 0.0;
  const float factor = heed_exp(largest[i] - now);
  float sum = 0.0;
  for (uint c = lane_part(); c < count; c += SHARE) sum += heed_exp(strips[at + c] - now);
  largest[i] = now;
  total[i] = total[i] * factor + row_sum(sum);
  return factor;
}

// Weights of the block's keys as fp16, and where they are wanted with their logits.
void weigh(uint j, uint column) {
  for (uint i = 0; i < EACH; i++) {
    const uint r = lane_row(i), at = strip_at(r) + column;
    const uint store_at = ((batch * params.heads + head) * params.rows + at_row(r)) * params.keys;
    const bool stores = STORES && first_row + gl_SubgroupID * M + r <= last_row;
    for (uint c = lane_part(); c < BLOCK; c += SHARE) {
      const float s = strips[at + c];
      float p = heed_exp(s - largest[i]);
      if (!ONE_PASS) {
        p = total[i] == 0.0 ? (EMPTY_ROW == 1   ? not_a_number()
                               : EMPTY_ROW == 2 ? 1.0 / float(params.keys)
                                                : 0.0)
                            : p / total[i];
        if (broken[i]) p = not_a_number();
        if (j + c >= params.keys) p = 0.0;
        if (stores && j + c < params.keys) {
          if (has(HEED_ATTENTION_WEIGHTS)) weights[params.weights_origin + store_at + j + c] = p;
          if (has(HEED_ATTENTION_LOGITS)) logits[params.logits_origin + store_at + j + c] = s;
        }
      }
      staged_p[p_at(r) + c] = float16_t(p);
    }
  }
}

// Marks hidden keys among the weights, of rows that see any, when the product is done with them;
// gives out the sums of the rows.
void prepare_repair(uint column) {
  HEED_SUBGROUP_MEETS();
  for (uint i = 0; i < EACH; i++) {
    const uint r = lane_row(i);
    factors[gl_SubgroupID * M + r] = total[i];
    if (!GUARD || total[i] == 0.0) continue;
    for (uint c = lane_part(); c < BLOCK; c += SHARE)
      if (heed_is_minus_infinity(strips[strip_at(r) + column + c]))
        staged_p[p_at(r) + c] = float16_t(HEED_ATTENTION_HIDDEN);
  }
  HEED_SUBGROUP_MEETS();
}

// The part of one output element that the product left out; hidden: of a row all of whose keys are,
// so of what is finite.
float repair(uint r, uint d, uint j, bool hidden) {
  float sum = 0.0;
  for (uint c = 0; c < BLOCK; c++) {
    const float p = float(staged_p[p_at(r) + c]);
    const float v = load_value(j + c, d & ~3u)[d & 3u];
    const uint bits = floatBitsToUint(v) & 0x7FFFFFFFu;
    if (bits >= 0x477FF000u && p != HEED_ATTENTION_HIDDEN && !(hidden && bits >= 0x7F800000u))
      sum += p * v;
  }
  return sum;
}

void main() {
  batch = gl_WorkGroupID.z;
  head = gl_WorkGroupID.y;
  first_row = gl_WorkGroupID.x * SUBGROUPS * M;
  last_row = (has(HEED_ATTENTION_ROWS) ? params.rows : params.queries) - 1;
  for (uint i = 0; i < EACH; i++) {
    largest[i] = HEED_LOWEST;
    total[i] = 0.0;
    broken[i] = false;
  }
  if (gl_LocalInvocationID.x == 0) repairs = 0;
  stage_queries();
  uint low = 0, high = params.keys;
  if (POSITION && !STORES && EMPTY_ROW != 2) {
    int a, b;
    row_range(first_row, a, b);
    low = uint(a);
    row_range(min(first_row + SUBGROUPS * M - 1, last_row), a, b);
    high = uint(b);
  }
  HEED_SUM(M, N) o[V_MATRICES];
  [[unroll]] for (uint n = 0; n < V_MATRICES; n++) o[n] = HEED_SUM(M, N)(0.0);
  if (!ONE_PASS)
    for (uint j = low; j < high; j += BLOCK) {
      stage_keys(j);
      score(j, strip_column(j, low));
      for (uint i = 0; i < EACH; i++)
        take_statistics(i, strip_at(lane_row(i)) + strip_column(j, low), BLOCK);
    }
  uint number = 0;
  for (uint j = low; j < high; j += BLOCK) {
    const uint column = strip_column(j, low);
    number++;
    if (!RESIDENT) {
      stage_keys(j);
      score(j, column);
    }
    if (ONE_PASS) {
      for (uint i = 0; i < EACH; i++)
        factors[gl_SubgroupID * M + lane_row(i)] = take_statistics(i, strip_at(lane_row(i)), BLOCK);
      HEED_SUBGROUP_MEETS();
      HEED_SUM(M, N) factor;
      coopMatLoad(factor, factors, gl_SubgroupID * M, 0, gl_CooperativeMatrixLayoutColumnMajor);
      [[unroll]] for (uint n = 0; n < V_MATRICES; n++) o[n] = o[n] * factor;
    }
    weigh(j, column);
    if (has(HEED_ATTENTION_NO_OUTPUT)) continue;
    stage_values(j, number);
    for (uint k = 0; k < BLOCK; k += K) {
      HEED_FACTOR_A(M, K) a;
      coopMatLoad(a, staged_p, p_at(0) + k, P_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
      [[unroll]] for (uint n = 0; n < V_MATRICES; n++) {
        HEED_FACTOR_B(K, N) b;
        coopMatLoad(b, staged, k * KV_STRIDE + n * N / 4, KV_STRIDE,
                    gl_CooperativeMatrixLayoutRowMajor);
        o[n] = coopMatMulAdd(a, b, o[n]);
      }
    }
    if (repairs == number) {
      prepare_repair(column);
      [[unroll]] for (uint n = 0; n < V_MATRICES; n++) {
        HEED_SUM(M, N) more;
        for (uint e = gl_SubgroupInvocationID; e < M * N; e += LANES)
          strips[strip_at(e / N) + column + e % N] =
              repair(e / N, n * N + e % N, j, GUARD && factors[gl_SubgroupID * M + e / N] == 0.0);
        HEED_SUBGROUP_MEETS();
        coopMatLoad(more, strips, strip_at(0) + column, STRIP_STRIDE,
                    gl_CooperativeMatrixLayoutRowMajor);
        o[n] += more;
        HEED_SUBGROUP_MEETS();
      }
    }
  }
  if (has(HEED_ATTENTION_NO_OUTPUT)) return;
  for (uint i = 0; i < EACH; i++) {
    const bool empty = total[i] == 0.0;
    float scale = ONE_PASS ? (empty ? 0.0 : 1.0 / total[i]) : 1.0;
    // a row may have had no block at all
    if (broken[i] || (empty && EMPTY_ROW == 1)) scale = not_a_number();
    factors[gl_SubgroupID * M + lane_row(i)] = scale;
  }
  [[unroll]] for (uint n = 0; n < V_MATRICES; n++) {
    HEED_SUBGROUP_MEETS();
    coopMatStore(o[n], strips, strip_at(0), STRIP_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
    HEED_SUBGROUP_MEETS();
    for (uint e = gl_SubgroupInvocationID; e < M * N / 4; e += LANES) {
      const uint r = e / (N / 4), column = e % (N / 4) * 4, d = n * N + column, row = at_row(r);
      if (first_row + gl_SubgroupID * M + r > last_row || d >= VALUE_DEPTH) continue;
      const uint at = params.output_origin +
                      (has(HEED_ATTENTION_MERGE)
                           ? ((batch * params.queries + row) * params.heads + head) * VALUE_DEPTH
                           : ((batch * params.heads + head) * params.queries + row) * VALUE_DEPTH);
      vec4 v;
      for (uint c = 0; c < 4; c++)
        v[c] = strips[strip_at(r) + column + c] * factors[gl_SubgroupID * M + r];
      if (has(HEED_ATTENTION_OUTPUT_HALF)) {
        result_half[(at + d) >> 2] = heed_pack(v);
        continue;
      }
      for (uint c = 0; c < 4; c++)
        if (d + c < VALUE_DEPTH) result[at + d + c] = v[c];
    }
  }
}
