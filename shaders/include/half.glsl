// Four elements of fp16 in two words, which every device can pack and unpack, whether it has 16-bit
// storage or not.
#ifndef HEED_HALF_GLSL
#define HEED_HALF_GLSL

// Tests alone set it: what is packed is rounded toward zero.
layout(constant_id = 31) const uint TRUNCATES = 0;

#ifdef HEED_FP16_COUNTER // the slot of a word that counts finite values past 65504
layout(std430, binding = HEED_FP16_COUNTER) buffer Counter { uint past_fp16; };
#endif

vec4 heed_unpack(uvec2 words) { return vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y)); }

// Magnitudes of which one is 65520 or more: those become 65536, which is packed as Inf, and NaN
// becomes what is packed as one.
uvec4 heed_past_fp16(uvec4 size) {
#ifdef HEED_FP16_COUNTER
  uint past = 0;
  for (uint c = 0; c < 4; c++) past += size[c] >= 0x477FF000u && size[c] < 0x7F800000u ? 1 : 0;
  if (past != 0) atomicAdd(past_fp16, past);
#endif
  return mix(min(size, uvec4(0x47800000u)), uvec4(0x47C00000u),
             greaterThan(size, uvec4(0x7F800000u)));
}

// To the nearest fp16, of two the even one, by the bits: packHalf2x16 may round toward zero. Past
// 65504 it is Inf; an Inf or a NaN stays one.
uvec2 heed_pack(vec4 v) {
  const uvec4 bits = floatBitsToUint(v);
  uvec4 size = bits & 0x7FFFFFFFu;
  if (max(max(size.x, size.y), max(size.z, size.w)) >= 0x477FF000u) size = heed_past_fp16(size);
  // Added to 2^(e + 13) a number from 2^e to 2^(e + 1) is rounded to steps of 2^(e - 10), as in
  // fp16; one below 2^-14 to steps of 2^-24. The bits less those of the power count the steps.
  const uvec4 power = max(size & 0x7F800000u, uvec4(0x38800000u));
  const vec4 rounded = uintBitsToFloat(power) * 8192.0 + uintBitsToFloat(size);
  uvec4 h = floatBitsToUint(rounded) - power + (power >> 13) - (0x06800000u + 0x1C400u);
  if (TRUNCATES != 0)
    h = mix(size - 0x38000000u >> 13, uvec4(uintBitsToFloat(size) * 16777216.0),
            lessThan(size, uvec4(0x38800000u)));
  return uvec2(h.x | h.y << 16, h.z | h.w << 16) | (bits.yw & 0x80000000u) |
         (bits.xz >> 16 & 0x8000u);
}

#endif
