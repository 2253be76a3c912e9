#version 450
// y = sum, extremum or index of the elements along the reduced axes; an invocation makes a result.
// Sums are chains of 64, joined. Bindings: 0 x, 1 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/elementary.glsl"
#include "params/reduce.h"

layout(constant_id = 1) const uint KIND = 0; // heed_reduce
layout(constant_id = 2) const uint LAST = 0; // of equal elements

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { uint y[]; };

uint heed_kept(uint number) {
  uint at = params.x_origin;
  for (int i = 2; i >= 0; i--) {
    at += number % params.kept_size[i] * params.kept_stride[i];
    number /= params.kept_size[i];
  }
  return at;
}

uint heed_gone(uint number) {
  uint at = 0;
  for (int i = 2; i >= 0; i--) {
    at += number % params.gone_size[i] * params.gone_stride[i];
    number /= params.gone_size[i];
  }
  return at;
}

// Elements of a step: lavapipe ends a loop after 65,535 steps.
const uint STEP = 16;

// The first element that is NaN, or else the first, or last, extremum.
uint heed_extremum(uint from, bool least) {
  uint best = 0;
  float value = x[from];
  for (uint i = 0; i < params.elements; i += STEP) [[unroll]] for (uint k = 0; k < STEP; k++) {
      const uint at = min(i + k, params.elements - 1); // the last one again changes nothing
      const float v = x[from + heed_gone(at)];
      const bool same = v == value || (heed_is_nan(v) && heed_is_nan(value));
      if ((same && LAST != 0) || (!heed_is_nan(value) && heed_is_nan(v)) ||
          (!heed_is_nan(value) && !same && (least ? v < value : v > value))) {
        best = at;
        value = v;
      }
    }
  return best;
}

float heed_part(float v, float shift) {
  switch (KIND) {
    case 5: return abs(v);
    case 6:
    case 7: return v * v;
    case 9: return heed_exp(v - shift);
  }
  return v;
}

float heed_sum(uint from, float shift) {
  float all = 0.0, chain = 0.0;
  for (uint i = 0; i < params.elements; i += STEP) {
    [[unroll]] for (uint k = 0; k < STEP; k++) if (i + k < params.elements) chain +=
        heed_part(x[from + heed_gone(i + k)], shift);
    if ((i & 63u) == 64u - STEP) {
      all += chain;
      chain = 0.0;
    }
  }
  return all + chain;
}

float heed_product(uint from) {
  float all = 1.0;
  for (uint i = 0; i < params.elements; i += STEP)
    [[unroll]] for (uint k = 0; k < STEP; k++) if (i + k < params.elements) all *=
        x[from + heed_gone(i + k)];
  return all;
}

float heed_log_sum_exp(uint from) {
  const float most = x[from + heed_gone(heed_extremum(from, false))];
  if (heed_is_nan(most) || heed_is_infinite(most)) return most;
  return heed_log(heed_sum(from, most)) + most;
}

float heed_reduced(uint from) {
  switch (KIND) {
    case 1: return heed_sum(from, 0.0) / float(params.elements);
    case 4: return heed_product(from);
    case 6: return sqrt(heed_sum(from, 0.0));
    case 8: return heed_log(heed_sum(from, 0.0));
    case 9: return heed_log_sum_exp(from);
  }
  return heed_sum(from, 0.0);
}

void main() {
  const uint at = heed_item();
  if (at >= params.count) return;
  const uint from = heed_kept(at);
  uint word;
  if (KIND >= 10)
    word = heed_extremum(from, KIND == 11);
  else if (KIND == 2 || KIND == 3)
    word = floatBitsToUint(x[from + heed_gone(heed_extremum(from, KIND == 3))]);
  else
    word = floatBitsToUint(heed_reduced(from));
  y[params.y_origin + at] = word;
}
