#version 450
// mask U8 [B, H, Tq, Tk] = i + offset + least <= j <= i + offset + most, the offset being that of
// the batch item, AND a mask. An invocation makes the four bytes of a word, since a buffer of bytes
// is more than Vulkan 1.1 promises. Bindings: 0 offsets, 1 mask, 2 the mask that is made.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/position_mask.h"

layout(constant_id = 1) const uint HAS_MASK = 0;

layout(std430, binding = 0) readonly buffer Offsets { int offsets[]; };
layout(std430, binding = 1) readonly buffer Mask { uint mask[]; };
layout(std430, binding = 2) writeonly buffer Result { uint result[]; };

const int FAR = 1 << 28; // past every key; sums with a side, open or not, stay in 32 bits

bool may_attend(uint at) {
  const uint row = at / params.keys, key = at % params.keys, query = row % params.queries,
             in_item = row % (params.queries * params.heads),
             batch = row / params.queries / params.heads;
  const int from = int(query) + clamp(offsets[params.offsets_origin + batch], -FAR, FAR);
  bool may = int(key) >= from + params.least && int(key) <= from + params.most;
  if (HAS_MASK != 0) {
    const uint byte = params.mask_origin + batch * params.mask_stride + in_item * params.keys + key;
    may = may && (mask[byte >> 2] >> (byte & 3) * 8 & 0xFFu) != 0;
  }
  return may;
}

void main() {
  const uint word = heed_item();
  if (word * 4 >= params.count) return;
  uint bytes = 0;
  for (uint i = 0; i < 4; i++)
    if (word * 4 + i < params.count && may_attend(word * 4 + i)) bytes |= 1u << i * 8;
  result[params.output_origin + word] = bytes;
}
