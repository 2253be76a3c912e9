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
// A value that fp16 does not hold (NaN, Inf, past 65504) stands as 0 in the product. After the last
// block its part is added in fp32 where its key is not hidden, also with weight 0. Queries and keys
// in fp32 that fp16 does not hold are counted. Weights in fp16 are 2^8 times as large, so that the
// small ones of long rows stay above its denormal numbers. Bindings are attention.comp's, all
// eleven, and 11 the counter.
#extension GL_GOOGLE_include_directive : require
#include "include/matrix.glsl"
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
// Whether a logit is the product times the scale alone: then log2(e) is in the scale.
const bool PLAIN =
    (FLAGS &
     (HEED_ATTENTION_CAUSAL | HEED_ATTENTION_LEFT | HEED_ATTENTION_RIGHT | HEED_ATTENTION_MASK |
      HEED_ATTENTION_KEY_PADDING | HEED_ATTENTION_QUERY_PADDING | HEED_ATTENTION_BIAS |
      HEED_ATTENTION_SOFTCAP | HEED_ATTENTION_WEIGHTS | HEED_ATTENTION_LOGITS)) == 0;
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
const uint K_STRIDE = Q_DEPTH / 8 + 1, V_STRIDE = BLOCK / 8 + 1, STRIP_STRIDE = BLOCK / 4 + 1;
const uint K_SIZE = BLOCK * K_STRIDE, KV_SIZE = K_SIZE + V_DEPTH * V_STRIDE;
const uint ROWS_SIZE = SUBGROUPS * M * (K_STRIDE > N / 4 ? K_STRIDE : N / 4);
// keys [BLOCK, depth], then values [depth, BLOCK]; queries before the first block, and repairs
// after the last one
shared uvec4 staged[KV_SIZE > ROWS_SIZE ? KV_SIZE : ROWS_SIZE];
shared uvec4 strips[SUBGROUPS * M * STRIP_STRIDE];
shared float factors[SUBGROUPS * M];
// first and 1 + last block with a value that fp16 does not hold
shared uint first_repair, last_repair;

// What a thread fetches of a block: eights of keys; 4 x 4 values. As they are in memory.
const uint K_COUNT = BLOCK * Q_DEPTH / 8, V_COUNT = BLOCK / 4 * V_DEPTH / 4;
const uint K_EACH = (K_COUNT + THREADS - 1) / THREADS, V_EACH = (V_COUNT + THREADS - 1) / THREADS;
const bool K_HALF = (FLAGS & HEED_ATTENTION_KEY_HALF) != 0,
           V_HALF = (FLAGS & HEED_ATTENTION_VALUE_HALF) != 0;
uvec4 next_key[K_HALF ? K_EACH : 2 * K_EACH];
uvec4 next_value[V_HALF ? 2 * V_EACH : 4 * V_EACH];

uint batch, head, first_row, last_row; // rows, or entries of the list of rows
// running maximum, sum of exponentials relative to it: 0 while no key was seen, NaN once a logit
// was NaN or +Inf
float largest[EACH], total[EACH];
vec4 part[PART]; // of a row of the strip

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

// Four elements from d on of a key, or of the last one; zeros past the depth.
vec4 load_key(uint j, uint d) {
  const uint at = params.key_origin + (key_slice() + min(j, params.keys - 1)) * DEPTH + d;
  vec4 v = vec4(0.0);
  if (DEPTH != Q_DEPTH && d >= DEPTH) return v;
  if (has(HEED_ATTENTION_VECTOR)) return key4[at >> 2];
  for (uint c = 0; c < 4; c++)
    if (d + c < DEPTH) v[c] = key[at + c];
  return v;
}
uvec2 load_key_half(uint j, uint d) {
  const uint at = params.key_origin + (key_slice() + min(j, params.keys - 1)) * DEPTH + d;
  return DEPTH == Q_DEPTH || d < DEPTH ? key_half[at >> 2] : uvec2(0);
}

vec4 load_value(uint j, uint d) {
  const uint at = params.value_origin + (key_slice() + min(j, params.keys - 1)) * VALUE_DEPTH + d;
  vec4 v = vec4(0.0);
  if (VALUE_DEPTH != V_DEPTH && d >= VALUE_DEPTH) return v;
  if (has(HEED_ATTENTION_VECTOR)) return value4[at >> 2];
  for (uint c = 0; c < 4; c++)
    if (d + c < VALUE_DEPTH) v[c] = value[at + c];
  return v;
}
uvec2 load_value_half(uint j, uint d) {
  const uint at = params.value_origin + (key_slice() + min(j, params.keys - 1)) * VALUE_DEPTH + d;
  return VALUE_DEPTH == V_DEPTH || d < VALUE_DEPTH ? value_half[at >> 2] : uvec2(0);
}

const uint PAST_HALF = 0x477FF000u; // bits of 65520, which is Inf in fp16

// Finite values that fp16 does not hold are counted.
void count_past(vec4 v) {
  const uvec4 size = floatBitsToUint(v) & 0x7FFFFFFFu;
  if (max(max(size.x, size.y), max(size.z, size.w)) >= PAST_HALF) heed_past_fp16(size);
}

uvec2 pack_half(vec4 v) {
  return uvec2(packFloat2x16(f16vec2(v.xy)), packFloat2x16(f16vec2(v.zw)));
}

void stage_queries() {
  for (uint e = gl_LocalInvocationID.x; e < SUBGROUPS * M * Q_DEPTH / 8; e += THREADS) {
    const uint r = e / (Q_DEPTH / 8), d = e % (Q_DEPTH / 8), entry = min(first_row + r, last_row);
    const uint row = has(HEED_ATTENTION_ROWS) ? rows[params.rows_origin + entry] : entry;
    const uint at =
        params.query_origin + ((batch * params.heads + head) * params.queries + row) * DEPTH;
    const vec4 low = load_query(at, d * 8), high = load_query(at, d * 8 + 4);
    if (!has(HEED_ATTENTION_QUERY_HALF)) {
      count_past(low);
      count_past(high);
    }
    staged[r * K_STRIDE + d] = uvec4(pack_half(low), pack_half(high));
  }
}

void fetch_keys(uint j) {
  [[unroll]] for (uint i = 0; i < K_EACH; i++) {
    const uint e = min(gl_LocalInvocationID.x + i * THREADS, K_COUNT - 1), row = e / (Q_DEPTH / 8),
               d = e % (Q_DEPTH / 8) * 8;
    if (K_HALF) {
      next_key[i] = uvec4(load_key_half(j + row, d), load_key_half(j + row, d + 4));
    } else {
      next_key[2 * i] = floatBitsToUint(load_key(j + row, d));
      next_key[2 * i + 1] = floatBitsToUint(load_key(j + row, d + 4));
    }
  }
}

// Threads past the last element have nothing to stage.
bool is_inside(uint i, uint count) {
  return (i + 1) * THREADS <= count || gl_LocalInvocationID.x + i * THREADS < count;
}

void stage_keys() {
  [[unroll]] for (uint i = 0; i < K_EACH; i++) {
    const uint e = gl_LocalInvocationID.x + i * THREADS;
    if (!is_inside(i, K_COUNT)) continue;
    uvec4 eight = next_key[K_HALF ? i : 2 * i];
    if (!K_HALF) {
      const uvec4 more = next_key[2 * i + 1], size = max(eight & 0x7FFFFFFFu, more & 0x7FFFFFFFu);
      if (max(max(size.x, size.y), max(size.z, size.w)) >= PAST_HALF) {
        heed_past_fp16(eight & 0x7FFFFFFFu);
        heed_past_fp16(more & 0x7FFFFFFFu);
      }
      eight = uvec4(pack_half(uintBitsToFloat(eight)), pack_half(uintBitsToFloat(more)));
    }
    staged[e / (Q_DEPTH / 8) * K_STRIDE + e % (Q_DEPTH / 8)] = eight;
  }
}

// Keys and depths of a thread's i-th values: fours of neighbouring keys lie side by side.
uint value_key(uint e) { return e % (BLOCK / 4) * 4; }
uint value_depth(uint e) { return e / (BLOCK / 4) * 4; }

void fetch_values(uint j) {
  [[unroll]] for (uint i = 0; i < V_EACH; i++) {
    const uint e = min(gl_LocalInvocationID.x + i * THREADS, V_COUNT - 1), row = j + value_key(e),
               d = value_depth(e);
    if (V_HALF) {
      next_value[2 * i] = uvec4(load_value_half(row, d), load_value_half(row + 1, d));
      next_value[2 * i + 1] = uvec4(load_value_half(row + 2, d), load_value_half(row + 3, d));
    } else {
      [[unroll]] for (uint c = 0; c < 4; c++) next_value[4 * i + c] =
          floatBitsToUint(load_value(row + c, d));
    }
  }
}

// Exponents of two fp16 in a word that are all ones; a bit 15 or 31 for each.
uvec4 past_half(uvec4 words) { return ((words & 0x7C007C00u) + 0x04000400u) & 0x80008000u; }

// Four keys of a depth as fp16: component c of each of the fours.
uvec2 turn_low(uint a, uint b, uint c, uint d) {
  return uvec2(packFloat2x16(f16vec2(unpackFloat2x16(a).x, unpackFloat2x16(b).x)),
               packFloat2x16(f16vec2(unpackFloat2x16(c).x, unpackFloat2x16(d).x)));
}
uvec2 turn_high(uint a, uint b, uint c, uint d) {
  return uvec2(packFloat2x16(f16vec2(unpackFloat2x16(a).y, unpackFloat2x16(b).y)),
               packFloat2x16(f16vec2(unpackFloat2x16(c).y, unpackFloat2x16(d).y)));
}

void put_values(uint key, uint d, uvec2 four) {
  const uint at = K_SIZE + d * V_STRIDE + key / 8, word = key % 8 / 2;
  staged[at][word] = four.x;
  staged[at][word + 1] = four.y;
}

// The i-th 4 x 4 values as fp16, of four keys one after the other. Those that it does not hold
// become 0; returns whether there was none.
bool pack_values(uint i, out uvec4 ab, out uvec4 cd) {
  if (V_HALF) {
    ab = next_value[2 * i];
    cd = next_value[2 * i + 1];
    const uvec4 past = past_half(ab) | past_half(cd);
    if ((past.x | past.y | past.z | past.w) == 0) return true;
    ab &= ~((past_half(ab) >> 15) * 0xFFFFu);
    cd &= ~((past_half(cd) >> 15) * 0xFFFFu);
    return false;
  }
  uvec4 most = uvec4(0);
  [[unroll]] for (uint c = 0; c < 4; c++) most = max(most, next_value[4 * i + c] & 0x7FFFFFFFu);
  const bool fits = max(max(most.x, most.y), max(most.z, most.w)) < PAST_HALF;
  vec4 v[4];
  [[unroll]] for (uint c = 0; c < 4; c++) {
    const uvec4 bits = next_value[4 * i + c];
    v[c] = uintBitsToFloat(
        fits ? bits : mix(uvec4(0), bits, lessThan(bits & 0x7FFFFFFFu, uvec4(PAST_HALF))));
  }
  ab = uvec4(pack_half(v[0]), pack_half(v[1]));
  cd = uvec4(pack_half(v[2]), pack_half(v[3]));
  return fits;
}

void stage_values(uint number) {
  [[unroll]] for (uint i = 0; i < V_EACH; i++) {
    if (is_inside(i, V_COUNT)) {
      const uint e = gl_LocalInvocationID.x + i * THREADS, row = value_key(e), d = value_depth(e);
      uvec4 ab, cd;
      if (!pack_values(i, ab, cd)) {
        atomicMin(first_repair, number);
        atomicMax(last_repair, number + 1);
      }
      put_values(row, d, turn_low(ab.x, ab.z, cd.x, cd.z));
      put_values(row, d + 1, turn_high(ab.x, ab.z, cd.x, cd.z));
      put_values(row, d + 2, turn_low(ab.y, ab.w, cd.y, cd.w));
      put_values(row, d + 3, turn_high(ab.y, ab.w, cd.y, cd.w));
    }
  }
}

HEED_FACTOR_A(M, K) q[Q_MATRICES];

void load_queries() {
  [[unroll]] for (uint k = 0; k < Q_MATRICES; k++)
      coopMatLoad(q[k], staged, gl_SubgroupID * M * K_STRIDE + k * K / 8, K_STRIDE,
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
      sum[n] = coopMatMulAdd(q[k], b, sum[n]);
    }
  }
  HEED_SUBGROUP_MEETS(); // the weights of the block before are done with
  [[unroll]] for (uint n = 0; n < BLOCK / N; n++) coopMatStore(
      sum[n], strips, strip_at(0) + n * N / 4, STRIP_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
  HEED_SUBGROUP_MEETS();
}

// The lane's part of its row i, from products to logits, for keys from j on.
void read_logits(uint i, uint j) {
  const uint r = lane_row(i);
  [[unroll]] for (uint p = 0; p < PART; p++) part[p] =
      uintBitsToFloat(strips[strip_at(r) + part_column(p) / 4]);
  if (PLAIN) {
    [[unroll]] for (uint p = 0; p < PART; p++) part[p] *= params.scale * LOG2_E;
    if (j + BLOCK > params.keys) [[unroll]]
      for (uint p = 0; p < PART; p++) {
        const uvec4 at = j + part_column(p) + uvec4(0, 1, 2, 3);
        part[p] = mix(part[p], vec4(minus_infinity()), greaterThanEqual(at, uvec4(params.keys)));
      }
    return;
  }
  const uint row = query_of(r);
  [[unroll]] for (uint p = 0; p < PART; p++) [[unroll]] for (uint c = 0; c < 4; c++) part[p][c] =
      finish(part[p][c], row, j + part_column(p) + c);
}

// Maximum and sum of row i of this lane with its part; the part becomes weights relative to the
// maximum. Returns what the old sum was multiplied by.
float take_statistics(uint i) {
  vec4 most = part[0];
  [[unroll]] for (uint p = 1; p < PART; p++) most = max(most, part[p]);
  const float now = max(largest[i], row_max(max(max(most.x, most.y), max(most.z, most.w))));
  const float factor = factor_of(largest[i], now);
  vec4 sum = vec4(0.0);
  [[unroll]] for (uint p = 0; p < PART; p++) {
    part[p] = weight_of(part[p], now);
    sum += part[p];
  }
  largest[i] = now;
  total[i] = total[i] * factor + row_sum((sum.x + sum.y) + (sum.z + sum.w));
  return factor;
}

// The part becomes the weights of row i, which have been counted before.
void weigh(uint i) {
  if (total[i] == 0.0) {
    const float fill = EMPTY_ROW == 1   ? not_a_number()
                       : EMPTY_ROW == 2 ? 1.0 / float(params.keys)
                                        : 0.0;
    [[unroll]] for (uint p = 0; p < PART; p++) part[p] = vec4(fill);
    return;
  }
  const float scale = ONE_PASS ? 1.0 : 1.0 / total[i];
  [[unroll]] for (uint p = 0; p < PART; p++) part[p] = weight_of(part[p], largest[i]) * scale;
}

// Weights of keys past the last one are 0, also where a row without keys has all the same.
void end_row(uint j) {
  if (j + BLOCK <= params.keys) return;
  [[unroll]] for (uint p = 0; p < PART; p++) {
    const uvec4 at = j + part_column(p) + uvec4(0, 1, 2, 3);
    part[p] = mix(part[p], vec4(0.0), greaterThanEqual(at, uvec4(params.keys)));
  }
}

void store_part(uint i, uint j, bool is_logits) {
  const uint r = lane_row(i);
  const uint at = ((batch * params.heads + head) * params.rows + at_row(r)) * params.keys;
  if (first_row + gl_SubgroupID * M + r > last_row) return;
  [[unroll]] for (uint p = 0; p < PART; p++) [[unroll]] for (uint c = 0; c < 4; c++) {
    const uint key = j + part_column(p) + c;
    if (key >= params.keys) continue;
    if (is_logits)
      logits[params.logits_origin + at + key] = part[p][c];
    else
      weights[params.weights_origin + at + key] = part[p][c];
  }
}

// Normalised weights are raised here.
vec4 raised(uint p) { return ONE_PASS ? part[p] : part[p] * RAISE; }

// The part as fp16 into the strip, where the products were.
void put_weights(uint i) {
  HEED_SUBGROUP_MEETS(); // which all lanes of the row have read
  [[unroll]] for (uint p = 0; p < PART; p += 2) strips[strip_at(lane_row(i)) + part_column(p) / 8] =
      uvec4(pack_half(raised(p)), pack_half(raised(p + 1)));
}

HEED_SUM(M, N) o[V_MATRICES];

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

void put_factor(uint i, float factor) {
  if (lane_part() == 0) factors[gl_SubgroupID * M + lane_row(i)] = factor;
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

// The part of one output element that the products left out: of the block's values in the range
// that fp16 does not hold. empty: of a row all of whose keys are hidden, so of what is finite.
float repair(uint r, uint d, uint j, bool empty) {
  float sum = 0.0;
  for (uint c = 0; c < BLOCK && j + c < params.keys; c++) {
    const vec4 four =
        V_HALF ? heed_unpack(load_value_half(j + c, d & ~3u)) : load_value(j + c, d & ~3u);
    const float v = four[d & 3u], p = uintBitsToFloat(strips[strip_at(r) + c / 4][c % 4]);
    const bool past = (floatBitsToUint(v) & 0x7FFFFFFFu) >= PAST_HALF;
    if (past && p != HEED_ATTENTION_HIDDEN && !(empty && is_infinite_or_nan(v))) sum += p * v;
  }
  return sum;
}

// One block of repairs. Weights stay in fp32; hidden keys are marked in rows that see any.
void repair_block(uint j) {
  barrier();
  fetch_keys(j);
  stage_keys();
  barrier();
  multiply_keys();
  [[unroll]] for (uint i = 0; i < EACH; i++) {
    read_logits(i, j);
    bvec4 hidden[PART];
    [[unroll]] for (uint p = 0; p < PART; p++) hidden[p] =
        equal(floatBitsToUint(part[p]), uvec4(0xFF800000u));
    weigh(i);
    [[unroll]] for (uint p = 0; p < PART; p++) {
      part[p] = raised(p);
      if (GUARD && total[i] != 0.0) part[p] = mix(part[p], vec4(HEED_ATTENTION_HIDDEN), hidden[p]);
      strips[strip_at(lane_row(i)) + part_column(p) / 4] = floatBitsToUint(part[p]);
    }
  }
  barrier(); // the keys make room for what is added
  for (uint n = 0; n < V_MATRICES; n++) {
    HEED_SUBGROUP_MEETS();
    for (uint e = gl_SubgroupInvocationID; e < M * N; e += LANES) {
      const bool empty = GUARD && factors[gl_SubgroupID * M + e / N] == 0.0;
      staged[(gl_SubgroupID * M * N + e) / 4][e % 4] =
          floatBitsToUint(repair(e / N, n * N + e % N, j, empty));
    }
    HEED_SUBGROUP_MEETS();
    HEED_SUM(M, N) more;
    coopMatLoad(more, staged, gl_SubgroupID * M * N / 4, N / 4, gl_CooperativeMatrixLayoutRowMajor);
    // compilers unroll the loop without loops inside alone: any other index puts o into memory
    [[unroll]] for (uint m = 0; m < V_MATRICES; m++) if (m == n) o[m] += more;
  }
}

void repair_all(uint low) {
  const uint first = first_repair, last = last_repair;
  [[unroll]] for (uint i = 0; i < EACH; i++) put_factor(i, total[i]);
  for (uint number = first; number < last; number++) repair_block(low + number * BLOCK);
}

// Four columns of matrix n of the result: the e-th four of the strip.
const uint OUT_EACH = (M * N / 4 + LANES - 1) / LANES;
void store_four(uint e, uint n) {
  const uint r = e / (N / 4), d = n * N + e % (N / 4) * 4, row = at_row(r);
  if (r >= M || first_row + gl_SubgroupID * M + r > last_row || d >= VALUE_DEPTH) return;
  const uint at =
      params.output_origin + (has(HEED_ATTENTION_MERGE)
                                  ? ((batch * params.queries + row) * params.heads + head)
                                  : ((batch * params.heads + head) * params.queries + row)) *
                                 VALUE_DEPTH;
  const vec4 v =
      uintBitsToFloat(strips[strip_at(r) + e % (N / 4)]) * factors[gl_SubgroupID * M + r];
  if (has(HEED_ATTENTION_OUTPUT_HALF)) {
    result_half[(at + d) >> 2] = heed_pack(v);
    return;
  }
  for (uint c = 0; c < 4; c++)
    if (d + c < VALUE_DEPTH) result[at + d + c] = v[c];
}

void store_output() {
  [[unroll]] for (uint i = 0; i < EACH; i++) {
    const bool empty = total[i] == 0.0;
    float scale = ONE_PASS ? (empty ? 0.0 : 1.0 / total[i]) : 1.0 / RAISE;
    // a row may have had no block at all
    if (heed_is_nan(total[i]) || (empty && EMPTY_ROW == 1)) scale = not_a_number();
    put_factor(i, scale);
  }
  [[unroll]] for (uint n = 0; n < V_MATRICES; n++) {
    HEED_SUBGROUP_MEETS();
    coopMatStore(o[n], strips, strip_at(0), STRIP_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
    HEED_SUBGROUP_MEETS();
    [[unroll]] for (uint i = 0; i < OUT_EACH; i++)
        store_four(gl_SubgroupInvocationID + i * LANES, n);
  }
}

void main() {
  batch = gl_WorkGroupID.z;
  head = gl_WorkGroupID.y;
  first_row = gl_WorkGroupID.x * SUBGROUPS * M;
  last_row = (has(HEED_ATTENTION_ROWS) ? params.rows : params.queries) - 1;
  [[unroll]] for (uint i = 0; i < EACH; i++) {
    largest[i] = HEED_LOWEST;
    total[i] = 0.0;
  }
  [[unroll]] for (uint n = 0; n < V_MATRICES; n++) o[n] = HEED_SUM(M, N)(0.0);
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
    row_range(min(first_row + SUBGROUPS * M - 1, last_row), a, b);
    high = uint(b);
  }
  if (!ONE_PASS) count_keys(low, high);
  attend(low, high);
  if (has(HEED_ATTENTION_NO_OUTPUT)) return;
  barrier();
  if (last_repair != 0) repair_all(low);
  store_output();
}
