#version 450
// Linear attention over features q, k and values v, in chunks of CHUNK tokens. Scratch: states
// [heads][chunks][D][Dv + 1], whose last column is the sum of the keys, then scores
// [heads][Tq][CHUNK + 1], whose last column is q times the keys before the chunk. Passes: 0 the
// state of every chunk 1 states added up, before each chunk or (not causal) all into the first 2
// scores inside a chunk 3 rows of the result 4 instead of all: token by token, an invocation keeps
// its column of the state and its own sum of the keys from one dispatch to the next.
// Bindings: 0 query features, 1 key features, 2 value, 3 result, 4 scratch.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/linear_attention.h"

layout(constant_id = 1) const uint PASS = 0;
layout(constant_id = 2) const uint CAUSAL = 0;
layout(constant_id = 3) const uint CHUNK = 64;

layout(std430, binding = 0) readonly buffer Query { float query[]; };
layout(std430, binding = 1) readonly buffer Key { float key[]; };
layout(std430, binding = 2) readonly buffer Value { float value[]; };
layout(std430, binding = 3) writeonly buffer Result { float result[]; };
layout(std430, binding = 4) buffer Scratch { float scratch[]; };

uint columns() { return params.value_depth + 1; }
uint state_at(uint head, uint chunk, uint d) {
  return ((head * params.chunks + chunk) * params.depth + d) * columns();
}
uint scores_at(uint head, uint row) {
  return params.scores_origin + (head * params.queries + row) * (CHUNK + 1);
}
uint query_at(uint head, uint row) {
  return params.query_origin + ((params.first_head + head) * params.queries + row) * params.depth;
}
uint key_at(uint head, uint row) {
  return params.key_origin + ((params.first_head + head) * params.keys + row) * params.depth;
}
uint value_at(uint head, uint row) {
  return params.value_origin +
         ((params.first_head + head) * params.keys + row) * params.value_depth;
}

// A row whose divisor is 0 gives zeros.
void store(uint head, uint row, uint column, float sum, float total) {
  result[params.output_origin +
         ((params.first_head + head) * params.queries + row) * params.value_depth + column] =
      total == 0.0 ? 0.0 : sum / total;
}

// Item: head, chunk, d, column.
void make_state(uint item) {
  const uint column = item % columns(), d = item / columns() % params.depth,
             chunk = item / columns() / params.depth % params.chunks;
  const uint head = item / columns() / params.depth / params.chunks;
  const uint end = min((chunk + 1) * CHUNK, params.keys);
  float sum = 0.0;
  for (uint t = chunk * CHUNK; t < end; t++) {
    const float k = key[key_at(head, t) + d];
    sum += column == params.value_depth
               ? k
               : k * value[value_at(head, t) + min(column, params.value_depth - 1)];
  }
  scratch[item] = sum;
}

// Item: head, d, column.
void add_states(uint item) {
  const uint column = item % columns(), d = item / columns() % params.depth,
             head = item / columns() / params.depth;
  float sum = 0.0;
  for (uint chunk = 0; chunk < params.chunks; chunk++) {
    const uint at = state_at(head, chunk, d) + column;
    const float own = scratch[at];
    scratch[at] = sum;
    sum += own;
  }
  if (CAUSAL == 0) scratch[state_at(head, 0, d) + column] = sum;
}

// Item: head, row, key of the row's chunk; the last one is the product with the keys before it.
void score(uint item) {
  const uint s = item % (CHUNK + 1), row = item / (CHUNK + 1) % params.queries,
             head = item / (CHUNK + 1) / params.queries;
  const uint chunk = row / CHUNK, q = query_at(head, row);
  float sum = 0.0;
  if (s == CHUNK) {
    for (uint d = 0; d < params.depth; d++)
      sum += query[q + d] * scratch[state_at(head, chunk, d) + params.value_depth];
  } else {
    if (chunk * CHUNK + s > row) return;
    const uint k = key_at(head, chunk * CHUNK + s);
    for (uint d = 0; d < params.depth; d++) sum += query[q + d] * key[k + d];
  }
  scratch[scores_at(head, row) + s] = sum;
}

// Item: head, row, column.
void make_row(uint item) {
  const uint column = item % params.value_depth, row = item / params.value_depth % params.queries,
             head = item / params.value_depth / params.queries;
  const uint chunk = CAUSAL != 0 ? row / CHUNK : 0, q = query_at(head, row);
  float sum = 0.0, total = 0.0;
  for (uint d = 0; d < params.depth; d++) {
    const uint at = state_at(head, chunk, d);
    const float feature = query[q + d];
    sum += feature * scratch[at + column];
    if (CAUSAL == 0) total += feature * scratch[at + params.value_depth];
  }
  if (CAUSAL != 0) {
    const uint scores = scores_at(head, row);
    total = scratch[scores + CHUNK];
    for (uint s = 0; chunk * CHUNK + s <= row; s++) {
      sum += scratch[scores + s] * value[value_at(head, chunk * CHUNK + s) + column];
      total += scratch[scores + s];
    }
  }
  store(head, row, column, sum, total);
}

// Item: head, column. Its state: [D] pairs of S and z, beside those of the other columns.
void recur(uint item) {
  const uint column = item % params.value_depth, head = item / params.value_depth;
  const uint step = 2 * params.value_depth, state = head * params.depth * step + 2 * column;
  for (uint t = params.first_token; t < params.end_token; t++) {
    const uint q = query_at(head, t), k = key_at(head, t);
    const float v = value[value_at(head, t) + column];
    float sum = 0.0, total = 0.0;
    for (uint d = 0; d < params.depth; d++) {
      const uint at = state + d * step;
      const float s = (t == 0 ? 0.0 : scratch[at]) + key[k + d] * v,
                  z = (t == 0 ? 0.0 : scratch[at + 1]) + key[k + d];
      scratch[at] = s;
      scratch[at + 1] = z;
      sum += query[q + d] * s;
      total += query[q + d] * z;
    }
    store(head, t, column, sum, total);
  }
}

void main() {
  const uint item = heed_item();
  if (item >= params.count) return;
  switch (PASS) {
    case HEED_LINEAR_ATTENTION_STATE: make_state(item); break;
    case HEED_LINEAR_ATTENTION_SUM: add_states(item); break;
    case HEED_LINEAR_ATTENTION_SCORES: score(item); break;
    case HEED_LINEAR_ATTENTION_ROWS: make_row(item); break;
    case HEED_LINEAR_ATTENTION_RECURRENT: recur(item); break;
  }
}
