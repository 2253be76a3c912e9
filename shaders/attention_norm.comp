#version 450
// Attention, second of three dispatches: a row of scores, shared by LANES invocations -> its
// weights, zeros past the last key; and copies of both where they are wanted. Passes 3 maximum 4
// sum of exponentials, or what sparse_softmax and sparsemax need, then the weights. Bindings: 0
// scores, 1 weights for the next dispatch, 2 weights [slices, all rows, keys], 3 logits likewise.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/math.glsl"
#include "include/row.glsl"
#include "params/attention_flags.h"
#include "params/attention_norm.h"

layout(constant_id = 2) const uint FLAGS = 0;
// heed_norm; with sparsemax a workgroup has one row, since its rounds have barriers
layout(constant_id = 3) const uint NORM = 0;
layout(constant_id = 4) const uint EMPTY_ROW = 0; // heed_empty_row

#ifdef HEED_TEXEL
layout(binding = 0) uniform samplerBuffer score_texels;
#define HEED_S4(i) texelFetch(score_texels, int(i))
#else
layout(std430, binding = 0) readonly buffer Scores { vec4 scores[]; };
#define HEED_S4(i) scores[i]
#endif
layout(std430, binding = 1) writeonly buffer Normalised { vec4 normalised[]; };
layout(std430, binding = 2) writeonly buffer Weights { float weights[]; };
layout(std430, binding = 3) writeonly buffer Logits { float logits[]; };

uint from, lane, count4; // the row in vec4
// maximum; sum of exponentials, or for sparsemax number of keys in the support: 0 where all logits
// are -Inf
float largest, total;
bool broken;

float sum4(vec4 v) { return heed_row_sum((v.x + v.y) + (v.z + v.w)); }

vec4 relative(vec4 s) { return heed_exp(s - largest); }

// sparse_softmax: what of a weight stays; a row keeps its largest.
vec4 keep(vec4 s, vec4 weight) {
  const bvec4 cut =
      bvec4(uvec4(lessThan(weight, vec4(params.threshold))) & uvec4(lessThan(s, vec4(largest))));
  return mix(weight, vec4(0.0), cut);
}

void take_maximum() {
  vec4 top = vec4(HEED_LOWEST);
  bvec4 odd = bvec4(false);
  for (uint j = lane; j < count4; j += LANES) {
    const vec4 s = HEED_S4(from + j);
    const uvec4 bits = floatBitsToUint(s);
    odd = bvec4(uvec4(odd) | (uvec4(greaterThanEqual(bits & 0x7FFFFFFFu, uvec4(0x7F800000u))) &
                              uvec4(notEqual(bits, uvec4(0xFF800000u)))));
    top = max(top, s);
  }
  broken = heed_row_max(any(odd) ? 1.0 : 0.0) > 0.0;
  largest = heed_row_max(max(max(top.x, top.y), max(top.z, top.w)));
}

float kept_sum() {
  vec4 sum = vec4(0.0);
  for (uint j = lane; j < count4; j += LANES) {
    const vec4 s = HEED_S4(from + j);
    sum += keep(s, relative(s) / total);
  }
  return sum4(sum);
}

// sparsemax (Martins & Astudillo 2016): the threshold tau with sum of max(s - tau, 0) = 1, found by
// Michelot's iteration: tau of the present set, then the set above tau, until no key leaves. It
// starts from s > maximum - 1, which holds all of the support, and ends since the set only shrinks.
// Logits relative to the maximum, for accuracy.
float sparsemax_threshold() {
  float tau = -1.0, before = -1.0;
  total = 0.0;
  for (uint round = 0; round <= params.keys; round++) {
    vec4 sum = vec4(0.0), number = vec4(0.0);
    for (uint j = lane; j < count4; j += LANES) {
      // -Inf, which is above nothing, where a key is hidden
      const vec4 s = HEED_S4(from + j) - largest;
      const bvec4 above = greaterThan(s, vec4(tau));
      sum += mix(vec4(0.0), s, above);
      number += mix(vec4(0.0), vec4(1.0), above);
    }
    const float now = sum4(number);
    if (now == before || now == 0.0) break;
    before = total = now;
    tau = (sum4(sum) - 1.0) / now;
  }
  return tau;
}

void store(uint row, uint j, vec4 s, vec4 weight) {
  const uint at = row * params.keys + j * 4;
  for (uint c = 0; c < 4; c++)
    if (j * 4 + c < params.keys) {
      if ((FLAGS & HEED_ATTENTION_WEIGHTS) != 0)
        weights[params.weights_origin + at + c] = weight[c];
      if ((FLAGS & HEED_ATTENTION_LOGITS) != 0) logits[params.logits_origin + at + c] = s[c];
    }
}

void main() {
  const uint item = min(heed_row(), params.rows - 1);
  lane = heed_lane();
  count4 = params.stride / 4;
  from = item * count4;
  take_maximum();
  if (NORM != 2) {
    vec4 sum = vec4(0.0);
    for (uint j = lane; j < count4; j += LANES) sum += relative(HEED_S4(from + j));
    total = sum4(sum);
  }
  const float aside = NORM == 1 ? kept_sum() : NORM == 2 ? sparsemax_threshold() : 0.0;
  if (heed_row() >= params.rows) return;
  const bool empty = total == 0.0;
  const float fill = broken || EMPTY_ROW == 1 ? uintBitsToFloat(0x7FC00000u)
                     : EMPTY_ROW == 2         ? 1.0 / float(params.keys)
                                              : 0.0;
  for (uint j = lane; j < count4; j += LANES) {
    const vec4 s = HEED_S4(from + j);
    vec4 weight;
    if (NORM == 2) {
      weight = max(s - largest - aside, vec4(0.0));
    } else {
      weight = relative(s) / total;
      if (NORM == 1) weight = keep(s, weight) / aside;
    }
    weight = empty || broken ? vec4(fill) : weight;
    // past the last key nothing stands, whatever fills the row
    weight = mix(vec4(0.0), weight, lessThan(uvec4(j * 4) + uvec4(0, 1, 2, 3), uvec4(params.keys)));
    // For the values' sake hidden keys are marked, and the mean of a row of them, which takes them
    // all the same, by its sign.
    vec4 marked = weight;
    if ((FLAGS & HEED_ATTENTION_GUARD) != 0 && !broken) {
      if (!empty || EMPTY_ROW == 0)
        marked =
            mix(weight, vec4(HEED_ATTENTION_HIDDEN), equal(floatBitsToUint(s), uvec4(0xFF800000u)));
      else if (EMPTY_ROW == 2)
        marked = -weight;
    }
    if ((FLAGS & HEED_ATTENTION_NO_OUTPUT) == 0) normalised[from + j] = marked;
    if ((FLAGS & (HEED_ATTENTION_WEIGHTS | HEED_ATTENTION_LOGITS)) != 0) store(item, j, s, weight);
  }
}
