#version 450
// Attention whose keys several workgroups shared: joins their outputs in the order of the parts, a
// row an invocation times four of the value's depth. Bindings: 0 parts [parts, rows, depth + 4]:
// output, maximum, sum, broken; 1 output.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/half.glsl"
#include "include/math.glsl"
#include "params/attention_join.h"

layout(constant_id = 1) const uint MERGE = 0;     // output [B, Tq, H Dv]
layout(constant_id = 2) const uint EMPTY_ROW = 0; // heed_empty_row: 0 zeros, 1 NaN
layout(constant_id = 3) const uint HALF_OUT = 0;  // output is fp16, its depth in fours

layout(std430, binding = 0) readonly buffer Parts { float x[]; };
layout(std430, binding = 1) writeonly buffer Output { float result[]; };
layout(std430, binding = 1) writeonly buffer OutputHalf { uvec2 result_half[]; };

void main() {
  const uint fours = (params.depth + 3) / 4, rows = params.batch * params.heads * params.queries,
             item = heed_item();
  if (item >= rows * fours) return;
  const uint row = item / fours, first = item % fours * 4, last = params.depth - 1,
             stride = params.depth + 4;
  float largest = HEED_LOWEST, total = 0.0, broken = 0.0;
  for (uint p = 0; p < params.parts; p++)
    largest = max(largest, x[(p * rows + row) * stride + params.depth]);
  vec4 o = vec4(0.0);
  for (uint p = 0; p < params.parts; p++) {
    const uint at = (p * rows + row) * stride;
    const float factor = heed_exp(x[at + params.depth] - largest);
    broken = max(broken, x[at + params.depth + 2]);
    total += factor * x[at + params.depth + 1];
    for (uint c = 0; c < 4; c++) o[c] += factor * x[at + min(first + c, last)];
  }
  const bool empty = total == 0.0, nan = broken > 0.0 || (empty && EMPTY_ROW == 1);
  o = nan ? vec4(uintBitsToFloat(0x7FC00000u)) : empty ? o : o / total;
  const uint query = row % params.queries, slice = row / params.queries,
             head = slice % params.heads, batch = slice / params.heads;
  const uint to =
      params.output_origin +
      (MERGE != 0 ? (batch * params.queries + query) * params.heads + head : row) * params.depth;
  if (HALF_OUT != 0) {
    result_half[(to + first) >> 2] = heed_pack(o);
    return;
  }
  for (uint c = 0; c < 4; c++)
    if (first + c <= last) result[to + first + c] = o[c];
}
