#version 450
// y = a b for each of a batch; with TRANSPOSED b is [columns, depth], with TURNED a [depth, rows].
// An invocation makes four rows by four columns. Bindings: 0 a, 1 b, 2 y.
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "params/matmul.h"

layout(constant_id = 1) const uint TRANSPOSED = 0;
layout(constant_id = 2) const uint TURNED = 0;

layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B { float b[]; };
layout(std430, binding = 2) writeonly buffer Y { float y[]; };

const uint SIDE = 4;

void main() {
  const uint across = (params.columns + SIDE - 1) / SIDE, down = (params.rows + SIDE - 1) / SIDE,
             item = heed_item(), product = item / (across * down);
  if (product >= params.batch) return;
  const uint row = item / across % down * SIDE, column = item % across * SIDE;
  uint a_at = params.a_origin, b_at = params.b_origin, rest = product;
  for (int i = 3; i >= 0; i--) {
    const uint index = rest % params.size[i];
    a_at += index * params.a_step[i];
    b_at += index * params.b_step[i];
    rest /= params.size[i];
  }
  // rows and columns past the last are read from the last
  uint a_row[SIDE], b_column[SIDE];
  for (uint i = 0; i < SIDE; i++) {
    a_row[i] = a_at + min(row + i, params.rows - 1) * (TURNED != 0 ? 1 : params.depth);
    b_column[i] = b_at + min(column + i, params.columns - 1) * (TRANSPOSED != 0 ? params.depth : 1);
  }
  const uint a_step = TURNED != 0 ? params.rows : 1, b_step = TRANSPOSED != 0 ? 1 : params.columns;
  vec4 sum[SIDE] = vec4[](vec4(0.0), vec4(0.0), vec4(0.0), vec4(0.0));
  for (uint k = 0; k < params.depth; k++) {
    const uint at = k * b_step;
    const vec4 v =
        vec4(b[b_column[0] + at], b[b_column[1] + at], b[b_column[2] + at], b[b_column[3] + at]);
    for (uint i = 0; i < SIDE; i++) sum[i] += a[a_row[i] + k * a_step] * v;
  }
  // constants alone index the sums: any other index would put them into memory
  [[unroll]] for (uint i = 0; i < SIDE; i++) {
    [[unroll]] for (uint c = 0; c < SIDE; c++) {
      if (row + i >= params.rows || column + c >= params.columns) continue;
      y[params.y_origin + (product * params.rows + row + i) * params.columns + column + c] =
          sum[i][c];
    }
  }
}
