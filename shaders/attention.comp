#version 450
// Attention, one query row in the registers of an invocation; a workgroup holds neighbouring rows
// of one head, so that keys and values are read at the same address by all of it. No Tq x Tk buffer
// unless weights are asked for.
// Where a lane has too few registers for a row, DEPTH_LANES invocations share one: each holds every
// DEPTH_LANES-th four of the query and of the output, and their shares of a logit are added up.
// Where both fill the registers of a lane, the last fours of its query are parked in shared memory:
// one read of 16 bytes beside 4 KEYS multiply-adds, and more waves fit.
// Where rows are few, KEY_LANES times as many share one: each takes every KEY_LANES-th block of
// keys, then maximum, sum and output are joined. The invocations of a row are neighbours, or they
// lie APART, in subgroups of their own: then all of a subgroup still reads the same addresses.
// Where that is still too few, PARTS workgroups share the keys; each leaves its output, maximum and
// sum unfinished for attention_join.comp. All of a workgroup makes the same number of steps, so
// that its lanes can meet in each.
//
// Passes over the keys, KEYS at a time: 1 score 2 softcap, bias, mask 3 maximum 4 sum of
// exponentials 5 weighted sum of values.
//   softmax, no weights wanted: one pass with a running maximum (Milakov & Gimelshein 2018; Dao et
//   al. 2022)
//   else: maximum and sum first; the last pass computes the scores again (same expression, marked
//   precise: same bits) and has the normalised weights at hand. attention_norm.comp has the sparse
//   norms.
//
// Compiled twice: with HEED_WEIGHTS it can also store weights and logits, for all rows or for
// chosen ones.
// Bindings: 0 query, 1 key, 2 value, 3 output, 4 mask, 5 key padding, 6 query padding, 7 bias, 8
// weights, 9 logits, 10 rows.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/half.glsl"
#include "include/math.glsl"
#include "params/attention.h"

layout(constant_id = 2) const int DEPTH = 64;
layout(constant_id = 3) const int VALUE_DEPTH = 64;
layout(constant_id = 4) const int KEYS = 4;
layout(constant_id = 5) const uint FLAGS = 0;
layout(constant_id = 6) const uint EMPTY_ROW = 0; // heed_empty_row
layout(constant_id = 7) const uint PARTS = 1;     // of the keys; more than 1 with one pass only
// Of the LANES of a row; a power of two that divides the fours of DEPTH and of VALUE_DEPTH.
layout(constant_id = 8) const uint DEPTH_LANES = 1;
layout(constant_id = 9) const int PARKED4 = 0; // fours of an invocation's query in shared memory
// From one of the LANES of a row to the next: 1, or as many invocations as a subgroup has.
layout(constant_id = 10) const uint APART = 1;

// [PARKED4][width]: neighbours read side by side, and each invocation what it wrote itself. Joins
// go through it, too, when no lane reads its query any more.
shared vec4 parked[(PARKED4 == 0 ? 1 : PARKED4) * gl_WorkGroupSize.x];
#define HEED_PARTIAL(i) parked[i].x

#include "include/attention_range.glsl"
#include "include/row.glsl"

layout(std430, binding = 0) readonly buffer Query { float query[]; };
layout(std430, binding = 0) readonly buffer QueryHalf { uvec2 query_half[]; };
layout(std430, binding = 1) readonly buffer KeyHalf { uvec2 key_half[]; };
layout(std430, binding = 2) readonly buffer ValueHalf { uvec2 value_half[]; };
layout(std430, binding = 3) writeonly buffer OutputHalf { uvec2 result_half[]; };
layout(std430, binding = 1) readonly buffer Key { float key[]; };
layout(std430, binding = 1) readonly buffer Key4 { vec4 key4[]; };
layout(std430, binding = 2) readonly buffer Value { float value[]; };
layout(std430, binding = 2) readonly buffer Value4 { vec4 value4[]; };
layout(std430, binding = 3) writeonly buffer Output { float result[]; };
layout(std430, binding = 4) readonly buffer Mask { uint mask[]; };
layout(std430, binding = 5) readonly buffer KeyPadding { uint key_padding[]; };
layout(std430, binding = 6) readonly buffer QueryPadding { uint query_padding[]; };
layout(std430, binding = 7) readonly buffer Bias { float bias[]; };
#ifdef HEED_WEIGHTS
layout(std430, binding = 8) writeonly buffer Weights { float weights[]; };
layout(std430, binding = 9) writeonly buffer Logits { float logits[]; };
layout(std430, binding = 10) readonly buffer Rows { uint rows[]; };
#endif

const int DEPTH4 = (DEPTH + 3) / 4, VALUE4 = (VALUE_DEPTH + 3) / 4;
// of an invocation
const int QUERY4 = DEPTH4 / int(DEPTH_LANES), OUTPUT4 = VALUE4 / int(DEPTH_LANES);
const uint KEY_LANES = LANES / DEPTH_LANES;
// Some key may be hidden although it lies inside the range: then its value must not be multiplied,
// it could be NaN. A key without weight that is not hidden takes part: 0 NaN = NaN.
const bool GUARD = (FLAGS & HEED_ATTENTION_GUARD) != 0;
const bool STORES = (FLAGS & (HEED_ATTENTION_WEIGHTS | HEED_ATTENTION_LOGITS)) != 0;
const bool ONE_PASS = (FLAGS & HEED_ATTENTION_ONE_PASS) != 0;

const int KEPT4 = QUERY4 - PARKED4; // at least 1
vec4 q[KEPT4], o[OUTPUT4];
uint batch, head, row;     // row: index of the query
uint key_base, value_base; // element (or vec4) of key 0 of this head
int row_low, row_high;     // keys that position allows this row
bool row_live;             // query padding
uint end;                  // of the keys that the workgroup looks at
uint mask_base, bias_base;
bool broken; // a NaN or +Inf among the logits: the whole row is NaN
// running maximum, sum of exponentials relative to it: 0 while no key was seen
float largest, total;

// Which of the LANES of its row an invocation is. Where they lie apart all of a full subgroup of
// APART lanes is the same one, as its driver's compiler can see.
uint lane() {
#ifdef HEED_SUBGROUP
  if (APART > 1) return gl_SubgroupID;
#endif
  return heed_lane();
}
uint depth_lane() { return lane() % DEPTH_LANES; }
uint key_lane() { return lane() / DEPTH_LANES; }
// Of the invocation's row in shared memory, with lane l of it.
uint lane_at(uint l) { return l * APART + heed_index() % APART; }
// The place in a row of four `d` of this invocation, which has `count` of them.
int four(int d, int count) {
  return APART == 1 ? d * int(DEPTH_LANES) + int(depth_lane()) : int(depth_lane()) * count + d;
}
int query4(int d) { return four(d, QUERY4); }
int output4(int d) { return four(d, OUTPUT4); }

uint parked_at(int d) { return uint(d - KEPT4) * gl_WorkGroupSize.x + heed_index(); }

vec4 load_key(uint j, int d) {
  if (has(HEED_ATTENTION_KEY_HALF)) return heed_unpack(key_half[key_base + j * DEPTH4 + d]);
  if (has(HEED_ATTENTION_VECTOR)) return key4[key_base + j * DEPTH4 + d];
  vec4 v = vec4(0.0);
  for (int c = 0; c < 4; c++)
    if (d * 4 + c < DEPTH) v[c] = key[key_base + j * DEPTH + d * 4 + c];
  return v;
}

vec4 load_value(uint j, int d) {
  if (has(HEED_ATTENTION_VALUE_HALF)) return heed_unpack(value_half[value_base + j * VALUE4 + d]);
  if (has(HEED_ATTENTION_VECTOR)) return value4[value_base + j * VALUE4 + d];
  vec4 v = vec4(0.0);
  for (int c = 0; c < 4; c++)
    if (d * 4 + c < VALUE_DEPTH) v[c] = value[value_base + j * VALUE_DEPTH + d * 4 + c];
  return v;
}

bool allowed(uint j) {
  bool may = true;
  if (POSITION) may = int(j) >= row_low && int(j) < row_high;
  if (has(HEED_ATTENTION_QUERY_PADDING)) may = may && row_live;
  if (has(HEED_ATTENTION_KEY_PADDING)) {
    const uint at = params.key_padding_origin + batch * params.keys + j;
    may = may && byte_of(key_padding[at >> 2], at) != 0;
  }
  if (has(HEED_ATTENTION_MASK)) {
    const uint at = mask_base + j * params.mask_stride[3];
    may = may && byte_of(mask[at >> 2], at) != 0;
  }
  return may;
}

// Sums over the lanes that share the depth, four keys at a time where there are no shuffles. All
// indices are constants: an array with others would go through memory.
shared vec4 shares[gl_WorkGroupSize.x];
const uint DEPTH_STEPS = 4; // lanes are 2, 4, 8 or 16
// Where subgroups share the depth, each makes the exponentials of every DEPTH_LANES-th key.
const bool SHARES_EXPONENTIALS = APART > 1 && DEPTH_LANES > 1;
shared float exponentials[APART == 1 ? 1 : KEYS * KEY_LANES * APART];

void sum_depth(inout float s[KEYS]) {
  if (DEPTH_LANES == 1) return;
#ifdef HEED_SUBGROUP
  if (APART == 1 && heed_full() && gl_SubgroupSize >= DEPTH_LANES) {
    [[unroll]] for (int i = 0; i < KEYS; i++)
        [[unroll]] for (uint n = 0; n < DEPTH_STEPS; n++) if (DEPTH_LANES > 1u << n) {
      precise const float sum = s[i] + subgroupShuffleXor(s[i], 1u << n);
      s[i] = sum;
    }
    return;
  }
#endif
  const uint at = heed_index(), first = at - depth_lane() * APART;
  [[unroll]] for (int i = 0; i < KEYS; i += 4) {
    vec4 mine = vec4(0.0);
    [[unroll]] for (int c = 0; c < 4; c++) if (i + c < KEYS) mine[c] = s[i + c];
    shares[at] = mine;
    barrier();
    precise vec4 sum = vec4(0.0);
    [[unroll]] for (uint l = 0; l < DEPTH_LANES; l++) sum += shares[first + l * APART];
    [[unroll]] for (int c = 0; c < 4; c++) if (i + c < KEYS) s[i + c] = sum[c];
    // else the barrier of the exponentials comes before the next four
    if (!SHARES_EXPONENTIALS || KEYS > 4) barrier();
  }
}

// Logits of keys j .. j + KEYS - 1; with `guard` those from `end` on and those not allowed are
// -Inf; those with a bias of -Inf always.
void score(uint j, bool guard, out float s[KEYS]) {
  precise vec4 sum[KEYS];
  uint at[KEYS];
  for (int i = 0; i < KEYS; i++) {
    sum[i] = vec4(0.0);
    at[i] = guard ? min(j + i, params.keys - 1) : j + i;
  }
  for (int d = 0; d < KEPT4; d++)
    for (int i = 0; i < KEYS; i++) sum[i] = fma(q[d], load_key(at[i], query4(d)), sum[i]);
  for (int d = KEPT4; d < QUERY4; d++) {
    const vec4 v = parked[parked_at(d)];
    for (int i = 0; i < KEYS; i++) sum[i] = fma(v, load_key(at[i], query4(d)), sum[i]);
  }
  for (int i = 0; i < KEYS; i++) {
    precise const float product = (sum[i].x + sum[i].y) + (sum[i].z + sum[i].w);
    s[i] = product;
  }
  sum_depth(s);
  for (int i = 0; i < KEYS; i++) {
    precise float v = s[i] * params.scale;
    if (has(HEED_ATTENTION_SOFTCAP))
      v = heed_is_nan(v) ? v : params.softcap * heed_tanh(v / params.softcap);
    bool hidden = guard && (j + i >= end || (GUARD && !allowed(at[i])));
    if (has(HEED_ATTENTION_BIAS)) {
      const float add = bias[bias_base + at[i] * params.bias_stride[3]];
      v += add;
      hidden = hidden || heed_is_minus_infinity(add); // also when v is NaN
    }
    if (hidden) v = minus_infinity();
    s[i] = v;
  }
}

void take_exponentials(float s[KEYS], out float p[KEYS]) {
  if (!SHARES_EXPONENTIALS) {
    for (int i = 0; i < KEYS; i++) p[i] = heed_exp(s[i] - largest);
    return;
  }
  const uint first = key_lane() * KEYS;
  [[unroll]] for (int i = 0; i < KEYS; i += int(DEPTH_LANES)) {
    float mine = s[i];
    [[unroll]] for (int l = 1; l < int(DEPTH_LANES); l++) if (i + l < KEYS) mine =
        depth_lane() == l ? s[i + l] : mine;
    const uint key = i + depth_lane();
    if (key < KEYS) exponentials[lane_at(first + key)] = heed_exp(mine - largest);
  }
  barrier();
  [[unroll]] for (int i = 0; i < KEYS; i++) p[i] = exponentials[lane_at(first + i)];
}

// Passes 3 and 4 over one block. Returns what the old sum was multiplied by.
float take_statistics(float s[KEYS]) {
  float now = largest;
  for (int i = 0; i < KEYS; i++) {
    const uint bits = floatBitsToUint(s[i]);
    broken = broken || ((bits & 0x7FFFFFFFu) >= 0x7F800000u && bits != 0xFF800000u);
    now = max(now, s[i]);
  }
  const float factor = heed_exp(largest - now);
  largest = now;
  return factor;
}

// Pass 5: o += sum of p v. Where `guard`, a logit of -Inf says that its key is hidden; without
// masks only one from `end` on is.
void take_values(uint j, bool guard, float s[KEYS], float p[KEYS]) {
  const bool mean = GUARD && EMPTY_ROW == 2 && total == 0.0; // of hidden values
  bool skips[KEYS];
  for (int i = 0; i < KEYS; i++)
    skips[i] = guard && !mean && (GUARD ? heed_is_minus_infinity(s[i]) : j + i >= end);
  for (int d = 0; d < OUTPUT4; d++) {
    vec4 sum = o[d];
    for (int i = 0; i < KEYS; i++) {
      vec4 v = load_value(guard ? min(j + i, params.keys - 1) : j + i, output4(d));
      if (guard) v = skips[i] ? vec4(0.0) : v;
      if (mean) v = heed_finite(v); // of what is finite
      sum = fma(vec4(p[i]), v, sum);
    }
    o[d] = sum;
  }
}

void one_pass_block(uint j, bool guard) {
  float s[KEYS], p[KEYS];
  score(j, guard, s);
  const float factor = take_statistics(s);
  float sum = 0.0;
  take_exponentials(s, p);
  for (int i = 0; i < KEYS; i++) sum += p[i];
  total = total * factor + sum;
  for (int d = 0; d < OUTPUT4; d++) o[d] *= factor;
  take_values(j, guard, s, p);
}

void statistics_block(uint j, bool guard) {
  float s[KEYS], p[KEYS];
  score(j, guard, s);
  total *= take_statistics(s);
  take_exponentials(s, p);
  for (int i = 0; i < KEYS; i++) total += p[i];
}

void store_rows(uint j, float s[KEYS], float p[KEYS], uint at) {
#ifdef HEED_WEIGHTS
  for (int i = 0; i < KEYS; i++)
    if (j + i < params.keys && i % int(DEPTH_LANES) == int(depth_lane())) {
      if (has(HEED_ATTENTION_WEIGHTS)) weights[params.weights_origin + at + j + i] = p[i];
      if (has(HEED_ATTENTION_LOGITS)) logits[params.logits_origin + at + j + i] = s[i];
    }
#endif
}

// The last pass when weights are normalised before they are used.
void last_block(uint j, bool guard, uint store_at, bool stores) {
  float s[KEYS], p[KEYS];
  score(j, guard, s);
  take_exponentials(s, p);
  for (int i = 0; i < KEYS; i++) {
    float weight = p[i] / total;
    if (total == 0.0)
      weight = EMPTY_ROW == 1 ? not_a_number() : EMPTY_ROW == 2 ? 1.0 / float(params.keys) : 0.0;
    if (broken) weight = not_a_number();
    p[i] = guard && j + i >= end ? 0.0 : weight;
  }
  if (!has(HEED_ATTENTION_NO_OUTPUT)) take_values(j, guard, s, p);
  if (STORES && stores) store_rows(j, s, p, store_at);
}

vec4 load_query(uint at, int d) {
  if (has(HEED_ATTENTION_QUERY_HALF)) return heed_unpack(query_half[(at >> 2) + d]);
  vec4 v = vec4(0.0);
  for (int c = 0; c < 4; c++)
    if (d * 4 + c < DEPTH) v[c] = query[at + d * 4 + c];
  return v;
}

uint query_place() {
  return params.query_origin + ((batch * params.heads + head) * params.queries + row) * DEPTH;
}

void park() {
  const uint at = query_place();
  for (int d = KEPT4; d < QUERY4; d++) parked[parked_at(d)] = load_query(at, query4(d));
}

void load_row() {
  const uint at = query_place();
  for (int d = 0; d < KEPT4; d++) q[d] = load_query(at, query4(d));
  park();
  for (int d = 0; d < OUTPUT4; d++) o[d] = vec4(0.0);
  const uint key_slice =
      (batch * params.key_heads + head / (params.heads / params.key_heads)) * params.keys;
  key_base = params.key_origin + key_slice * DEPTH;
  value_base = params.value_origin + key_slice * VALUE_DEPTH;
  if (has(HEED_ATTENTION_VECTOR)) {
    key_base >>= 2;
    value_base >>= 2;
  }
  mask_base = params.mask_origin + batch * params.mask_stride[0] + head * params.mask_stride[1] +
              row * params.mask_stride[2];
  bias_base = params.bias_origin + batch * params.bias_stride[0] + head * params.bias_stride[1] +
              row * params.bias_stride[2];
  row_range(row, row_low, row_high);
  row_live = true;
  if (has(HEED_ATTENTION_QUERY_PADDING)) {
    const uint byte_at = params.query_padding_origin + batch * params.queries + row;
    row_live = byte_of(query_padding[byte_at >> 2], byte_at) != 0;
  }
}

void write_output() {
  const uint at = params.output_origin +
                  (has(HEED_ATTENTION_MERGE)
                       ? ((batch * params.queries + row) * params.heads + head) * VALUE_DEPTH
                       : ((batch * params.heads + head) * params.queries + row) * VALUE_DEPTH);
  for (int d = 0; d < OUTPUT4; d++) {
    if (has(HEED_ATTENTION_OUTPUT_HALF)) {
      result_half[(at >> 2) + output4(d)] = heed_pack(o[d]); // a mean of fp16: not past 65504
      continue;
    }
    for (int c = 0; c < 4; c++)
      if (output4(d) * 4 + c < VALUE_DEPTH) result[at + output4(d) * 4 + c] = o[d][c];
  }
}

// Over the lanes that share the keys of a row; those that share its depth have parts of their own.
float join(float x, bool sums) {
  if (APART == 1) return heed_row_join(x, DEPTH_LANES, sums);
  parked[heed_index()].x = x;
  barrier();
  float all = parked[lane_at(depth_lane())].x;
  [[unroll]] for (uint l = 1; l < KEY_LANES; l++) all =
      heed_join(all, parked[lane_at(l * DEPTH_LANES + depth_lane())].x, sums);
  barrier();
  return all;
}

vec4 join_sums(vec4 v) {
  if (APART == 1) {
    [[unroll]] for (int c = 0; c < 4; c++) v[c] = heed_row_join(v[c], DEPTH_LANES, true);
    return v;
  }
  parked[heed_index()] = v;
  barrier();
  vec4 all = parked[lane_at(depth_lane())];
  [[unroll]] for (uint l = 1; l < KEY_LANES; l++) all +=
      parked[lane_at(l * DEPTH_LANES + depth_lane())];
  barrier();
  return all;
}

// What the lanes of a row have gathered, joined; all of them get it. Those that share the depth
// have the same statistics.
void join_statistics() {
  if (KEY_LANES == 1) return;
  if (PARKED4 > 0) barrier();
  const float all = join(largest, false), factor = heed_exp(largest - all);
  total = join(total * factor, true);
  broken = join(broken ? 1.0 : 0.0, false) > 0.0;
  if (ONE_PASS) [[unroll]]
    for (int d = 0; d < OUTPUT4; d++) o[d] *= factor;
  largest = all;
  if (!ONE_PASS) park();
}

void join_output() {
  if (KEY_LANES == 1 || has(HEED_ATTENTION_NO_OUTPUT)) return;
  if (PARKED4 > 0) barrier();
  [[unroll]] for (int d = 0; d < OUTPUT4; d++) o[d] = join_sums(o[d]);
}

// One of PARTS: [part][batch, head, row][VALUE_DEPTH, maximum, sum, broken, unused].
void write_part(uint part) {
  const uint rows = params.batch * params.heads * params.queries;
  const uint at =
      (part * rows + (batch * params.heads + head) * params.queries + row) * (VALUE_DEPTH + 4);
  for (int d = 0; d < OUTPUT4; d++)
    for (int c = 0; c < 4; c++)
      if (output4(d) * 4 + c < VALUE_DEPTH) result[at + output4(d) * 4 + c] = o[d][c];
  if (depth_lane() != 0) return;
  result[at + VALUE_DEPTH] = largest;
  result[at + VALUE_DEPTH + 1] = total;
  result[at + VALUE_DEPTH + 2] = broken ? 1.0 : 0.0;
}

// Normalises what one pass gathered: of a row of -Inf, 0 times what is not hidden.
void finish_one_pass() {
  const bool empty = total == 0.0, nan = broken || (empty && EMPTY_ROW == 1);
  for (int d = 0; d < OUTPUT4; d++) o[d] = nan ? vec4(not_a_number()) : empty ? o[d] : o[d] / total;
}

void main() {
  batch = gl_WorkGroupID.z;
  head = gl_WorkGroupID.y;
  const uint rows_once = gl_WorkGroupSize.x / LANES,
             first_row = gl_WorkGroupID.x / PARTS * rows_once,
             at_row = first_row + (APART == 1 ? heed_index() / LANES : heed_index() % APART);
  const uint last_row = (has(HEED_ATTENTION_ROWS) ? params.rows : params.queries) - 1;
  const bool inside = at_row <= last_row;
  row = min(at_row, last_row);
#ifdef HEED_WEIGHTS
  if (has(HEED_ATTENTION_ROWS)) row = rows[params.rows_origin + row];
#endif
  load_row();
  // The range of the whole workgroup: the same for every lane, so that addresses are too.
  uint low = 0, high = params.keys;
  if (POSITION && !STORES && EMPTY_ROW != 2) {
    int a, b;
    row_range(first_row, a, b);
    low = uint(a);
    row_range(min(first_row + rows_once - 1, last_row), a, b);
    high = uint(b);
  }
  const uint part = gl_WorkGroupID.x % PARTS, step = KEYS * KEY_LANES;
  if (PARTS > 1) {
    const uint piece = (high - min(low, high) + PARTS - 1) / PARTS + step - 1,
               from = low + part * (piece - piece % step);
    high = min(high, from + piece - piece % step);
    low = min(from, high);
  }
  end = high;
  broken = false;
  largest = HEED_LOWEST;
  total = 0.0;
  const uint mine = key_lane() * KEYS;
  uint j = low;
  if (ONE_PASS) {
    for (; j + step <= high; j += step) one_pass_block(j + mine, GUARD);
    if (j < high) one_pass_block(j + mine, true);
    join_statistics();
    join_output();
    if (PARTS == 1) finish_one_pass();
  } else {
    for (; j + step <= high; j += step) statistics_block(j + mine, GUARD);
    if (j < high) statistics_block(j + mine, true);
    join_statistics();
    const uint store_at =
        ((batch * params.heads + head) * params.rows + min(at_row, last_row)) * params.keys;
    for (j = low; j + step <= high; j += step) last_block(j + mine, GUARD, store_at, inside);
    if (j < high) last_block(j + mine, true, store_at, inside);
    join_output();
  }
  if (!inside || has(HEED_ATTENTION_NO_OUTPUT) || key_lane() != 0) return;
  if (PARTS > 1)
    write_part(part);
  else
    write_output();
}
