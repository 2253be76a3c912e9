#version 450
// What cooperative matrices multiply and add at best: 4 independent sums a subgroup, s = a * b + s,
// one product each a step, 4 * 2 * M * N * K operations. Bindings: 0 y, M x N floats a subgroup, so
// that nothing is left out.
#extension GL_GOOGLE_include_directive : require
#include "include/matrix.glsl"
#include "include/base.glsl"
#include "params/ceiling.h"

layout(constant_id = 1) const uint M = 16;
layout(constant_id = 2) const uint N = 16;
layout(constant_id = 3) const uint K = 16;

layout(std430, binding = 0) writeonly buffer Y { float y[]; };

void main() {
  const HEED_FACTOR_A(M, K) a = HEED_FACTOR_A(M, K)(float16_t(params.factor));
  const HEED_FACTOR_B(K, N) b = HEED_FACTOR_B(K, N)(float16_t(params.shift));
  HEED_SUM(M, N) sums[4];
  for (uint i = 0; i < 4; i++) sums[i] = HEED_SUM(M, N)(float(gl_SubgroupID + i));
  for (uint step = 0; step < params.steps; step++) {
    sums[0] = coopMatMulAdd(a, b, sums[0]);
    sums[1] = coopMatMulAdd(a, b, sums[1]);
    sums[2] = coopMatMulAdd(a, b, sums[2]);
    sums[3] = coopMatMulAdd(a, b, sums[3]);
  }
  const uint place = (gl_WorkGroupID.x * gl_NumSubgroups + gl_SubgroupID) * M * N;
  coopMatStore(sums[0] + sums[1] + (sums[2] + sums[3]), y, place, N,
               gl_CooperativeMatrixLayoutRowMajor);
}
