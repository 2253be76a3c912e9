// Four elements of fp16 in two words, which every device can pack and unpack, whether it has 16-bit
// storage or not.
#ifndef HEED_HALF_GLSL
#define HEED_HALF_GLSL

vec4 heed_unpack(uvec2 words) { return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y)); }
uvec2 heed_pack(vec4 v) {
  return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
} // past 65504: Inf, which is seen in the result

#endif
