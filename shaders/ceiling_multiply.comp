#version 450
// What a device multiplies and adds at best: 12 independent chains of v = v * factor + shift an
// invocation, in registers alone; 16 rounds a step, 12 * 16 * 2 operations. HEED_F16: in packed
// fp16. Bindings: 0 y, a float an invocation, so that nothing is left out.
#extension GL_GOOGLE_include_directive : require
#ifdef HEED_F16
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define FOUR f16vec4
#define ONE float16_t
#else
#define FOUR vec4
#define ONE float
#endif
#include "include/base.glsl"
#include "params/ceiling.h"

layout(std430, binding = 0) writeonly buffer Y { float y[]; };

#define ROUND                \
  a = fma(a, factor, shift); \
  b = fma(b, factor, shift); \
  c = fma(c, factor, shift);
#define FOUR_ROUNDS ROUND ROUND ROUND ROUND

void main() {
  const FOUR factor = FOUR(params.factor), shift = FOUR(params.shift);
  FOUR a = FOUR(gl_LocalInvocationID.x), b = a + FOUR(ONE(0.25)), c = a + FOUR(ONE(0.5));
  a += FOUR(0, 1, 2, 3);
  b += FOUR(0, 1, 2, 3);
  c += FOUR(0, 1, 2, 3);
  for (uint i = 0; i < params.steps; i++) {
    FOUR_ROUNDS
    FOUR_ROUNDS
    FOUR_ROUNDS
    FOUR_ROUNDS
  }
  const FOUR sum = a + b + c;
  y[heed_item()] = float(sum.x + sum.y + sum.z + sum.w);
}
