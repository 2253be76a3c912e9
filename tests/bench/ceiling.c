/* What a level can do at best: multiply-adds on registers alone, compiled once per level. Ten
 * chains hide the latency and fit every level's registers. Returns a sum, so that nothing can be
 * left out; counts 20 HEED_SIMD_WIDTH operations a round. */
#include "ceiling.h"
#include "cpu/simd/f32xN.h"

#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#define START(i) f32xN sum##i = f32_set1(start + (float)(i));
#define STEP(i) sum##i = f32_fma(sum##i, by, plus);
#define ADD(i) total = f32_add(total, sum##i);

float HEED_CPU_SYMBOL(bench_ceiling)(uint32_t rounds, float start, float factor, float addend) {
  const f32xN by = f32_set1(factor), plus = f32_set1(addend);
  CHAINS(START)
  for (; rounds > 0; rounds--) {
    CHAINS(STEP)
  }
  f32xN total = f32_set1(0.0f);
  CHAINS(ADD)
  return f32_reduce_add(total);
}

const bench_ceiling_level HEED_CPU_SYMBOL(bench_ceiling_level) = {
    HEED_SIMD_NAME, 20u * HEED_SIMD_WIDTH, HEED_CPU_SYMBOL(bench_ceiling)};
