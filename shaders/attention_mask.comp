#version 450
// mask U8 [B, Tq, Tk] = query real AND key real AND (causal: k <= q). An invocation makes the four
// bytes of a word, since a buffer of bytes is more than Vulkan 1.1 promises. Bindings: 0 key ids, 1
// query ids, 2 mask.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/attention_mask.h"

layout(constant_id = 1) const uint HAS_QUERIES = 0;
layout(constant_id = 2) const uint CAUSAL = 0;

layout(std430, binding = 1) readonly buffer QueryIds { int query_ids[]; };
layout(std430, binding = 0) readonly buffer KeyIds { int key_ids[]; };
layout(std430, binding = 2) writeonly buffer Mask { uint mask[]; };

bool is_real(uint at) {
  const uint row = at / params.keys, key = at % params.keys, batch = row / params.queries,
             query = row % params.queries;
  bool real = key_ids[params.key_origin + batch * params.keys + key] != params.padding;
  if (HAS_QUERIES != 0) real = real && query_ids[params.query_origin + row] != params.padding;
  if (CAUSAL != 0) real = real && key <= query;
  return real;
}

void main() {
  const uint word = heed_item();
  if (word * 4 >= params.count) return;
  uint bytes = 0;
  for (uint i = 0; i < 4; i++)
    if (word * 4 + i < params.count && is_real(word * 4 + i)) bytes |= 1u << i * 8;
  mask[params.mask_origin + word] = bytes;
}
