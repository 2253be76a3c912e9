#version 450
// y = kind(a, b, c), each broadcast over axes whose stride is 0. An invocation makes an element, or
// the four bytes of a word where y is U8. Bindings: 0 a, 1 b, 2 c, 3 y, all of them words.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/elementary.glsl"
#include "params/elementwise.h"

layout(constant_id = 1) const int AXES = 1;  // collapsed, 1..6
layout(constant_id = 2) const uint KIND = 0; // heed_elementwise
// heed_dtype: 0 F32, 3 U8, 4 I32
layout(constant_id = 3) const uint A_TYPE = 0;
layout(constant_id = 4) const uint B_TYPE = 0;
layout(constant_id = 5) const uint C_TYPE = 0;
layout(constant_id = 6) const uint Y_TYPE = 0;

layout(std430, binding = 0) readonly buffer A { uint a[]; };
layout(std430, binding = 1) readonly buffer B { uint b[]; };
layout(std430, binding = 2) readonly buffer C { uint c[]; };
layout(std430, binding = 3) writeonly buffer Y { uint y[]; };

float heed_number(uint type, uint word, uint at) {
  if (type == 3) return float(word >> (at & 3u) * 8 & 255u);
  return type == 4 ? float(int(word)) : uintBitsToFloat(word);
}

float heed_truth(bool v) { return v ? 1.0 : 0.0; }

float heed_unary(float v) {
  switch (KIND) {
    case 15: return heed_truth(v == 0.0 && !heed_is_nan(v));
    case 16: return heed_truth(heed_is_nan(v));
    case 17: return heed_truth(heed_is_infinite(v));
  }
  if (heed_is_nan(v)) return v;
  switch (KIND) {
    case 1: return -v;
    case 2: return abs(v);
    case 3: return 1.0 / v;
    case 4: return v < 0.0 ? heed_nan() : heed_is_infinite(v) || v == 0.0 ? v : sqrt(v);
    case 5: return heed_exp_all(v);
    case 6: return heed_log(v);
    case 7: return heed_erf(vec4(v)).x;
    case 8: return heed_sine(v, 0);
    case 9: return heed_sine(v, 1);
    case 10: return max(v, 0.0) + heed_log_one_more(heed_exp(-abs(v)));
    case 11: return floor(v);
    case 12: return ceil(v);
    case 13: return roundEven(v);
    case 14: return sign(v);
    case 18: return v < 0.0 ? params.alpha * v : v;
    case 19: {
      const float t = heed_tanh(0.5 * v);
      return v < 0.0 ? params.alpha * (2.0 * t / (1.0 - t)) : v;
    }
    case 20: return clamp(params.alpha * v + params.beta, 0.0, 1.0);
    case 21: return min(max(v, params.alpha), params.beta);
  }
  return v;
}

float heed_compare(float v, float w) {
  const bool numbers = !heed_is_nan(v) && !heed_is_nan(w);
  switch (KIND) {
    case 41: return heed_truth(numbers && v == w);
    case 42: return heed_truth(numbers && v < w);
    case 43: return heed_truth(numbers && v <= w);
    case 44: return heed_truth(numbers && v > w);
    case 45: return heed_truth(numbers && v >= w);
  }
  const bool first = v != 0.0 || heed_is_nan(v), second = w != 0.0 || heed_is_nan(w);
  return heed_truth(KIND == 46 ? first && second : KIND == 47 ? first || second : first != second);
}

float heed_binary(float v, float w) {
  if (KIND > 40) return heed_compare(v, w);
  if (KIND == 36) return heed_power(v, w);
  if (heed_is_nan(v)) return v;
  if (heed_is_nan(w)) return w;
  switch (KIND) {
    case 32: return v + w;
    case 33: return v - w;
    case 34: return v * w;
    case 35: return v / w;
    case 37: return min(v, w);
    case 38: return max(v, w);
    case 39: {
      const float rest = heed_remainder(v, w);
      return rest != 0.0 && (rest < 0.0) != (w < 0.0) ? rest + w : rest;
    }
  }
  return heed_remainder(v, w);
}

// The places that meet element `at` of y.
uvec3 heed_places(uint at) {
  uvec3 from = uvec3(params.a_origin, params.b_origin, params.c_origin);
  uint rest = at;
  for (int axis = 5; axis >= 6 - AXES; axis--) {
    const uint index = axis == 6 - AXES ? rest : rest % params.size[axis];
    from += index * uvec3(params.a_stride[axis], params.b_stride[axis], params.c_stride[axis]);
    rest /= params.size[axis];
  }
  return from;
}

uint heed_word(uint type, uint at) { return type == 3 ? at >> 2 : at; }

float heed_element(uint at) {
  const uvec3 from = heed_places(at);
  const float v = heed_number(A_TYPE, a[heed_word(A_TYPE, from.x)], from.x);
  if (KIND < 32) return heed_unary(v);
  const float w = heed_number(B_TYPE, b[heed_word(B_TYPE, from.y)], from.y);
  if (KIND < 64) return heed_binary(v, w);
  const float u = heed_number(C_TYPE, c[heed_word(C_TYPE, from.z)], from.z);
  return v != 0.0 || heed_is_nan(v) ? w : u;
}

uint heed_whole(float v) {
  if (heed_is_nan(v)) return 0u;
  return v >= 2147483648.0 ? 0x7FFFFFFFu : v <= -2147483648.0 ? 0x80000000u : uint(int(v));
}

void main() {
  const uint at = heed_item();
  if (Y_TYPE == 3) {
    if (at * 4 >= params.count) return;
    uint bytes = 0;
    for (uint i = 0; i < 4 && at * 4 + i < params.count; i++) {
      const float v = heed_element(at * 4 + i);
      if (v != 0.0 || heed_is_nan(v)) bytes |= 1u << i * 8;
    }
    y[params.y_origin + at] = bytes;
  } else if (at < params.count) {
    const float v = heed_element(at);
    y[params.y_origin + at] = Y_TYPE == 4 ? heed_whole(v) : floatBitsToUint(v);
  }
}
