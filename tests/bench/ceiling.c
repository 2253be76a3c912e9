/* What a level can do at best: multiply-adds on registers alone, compiled once per level, and once
 * more where a second way of the level multiplies bytes. Ten chains hide the latency and fit every
 * level's registers. Returns a sum, so that nothing can be left out; counts 20 HEED_SIMD_WIDTH
 * operations a round, and of int8 as many times more as numbers are in a group. */
#include "ceiling.h"
#include "cpu/simd/int8.h"
#if defined(HEED_INT8_DOT)
#include HEED_SIMD_DOT
#define WEIGHTS dot_weights
#define MULTIPLY dot_add
#define GROUP 4
#else
#define WEIGHTS i8_weights
#define MULTIPLY i8_dot
#define GROUP 2
#endif

#if defined(__SSE2__) && !defined(HEED_SIMD_SCALAR)
#define BENCH_INT8
#endif
#define CHAINS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)
#define START(i) f32xN sum##i = f32_set1(start + (float)(i));
#define STEP(i) sum##i = f32_fma(sum##i, by, plus);
#define ADD(i) total = f32_add(total, sum##i);

#if defined(HEED_INT8_DOT)
#define SYMBOL(name) HEED_CPU_SYMBOL(name##_vnni)
#else
#define SYMBOL(name) HEED_CPU_SYMBOL(name)

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
#endif

#if defined(BENCH_INT8)
#if defined(HEED_SIMD_AVX512)
#define HIDE(a) __asm__("" : "+v"(a));
#else
#define HIDE(a) __asm__("" : "+x"(a));
#endif
#define START_INT8(i) i32xN sum##i = i32_zero();
#define STEP_INT8(i) \
  HIDE(row)          \
  sum##i = MULTIPLY(sum##i, row, weight);
#define STORE_INT8(i) i32_store(sums + (i)*HEED_SIMD_WIDTH, sum##i);

/* The same, of bytes: a compiler must not know that every chain adds the same product. */
static int32_t run_int8(uint32_t rounds, const unsigned char *x, const int8_t *from) {
  int32_t sums[10 * HEED_SIMD_WIDTH];
  CHAINS(START_INT8)
  const i32xN weight = WEIGHTS(from);
  i32xN row = i8_row(x);
  for (; rounds > 0; rounds--) {
    CHAINS(STEP_INT8)
  }
  CHAINS(STORE_INT8)
  for (uint32_t i = 1; i < 10; i++) sums[0] ^= sums[i * HEED_SIMD_WIDTH];
  return sums[0];
}
#endif

const bench_ceiling_level SYMBOL(bench_ceiling_level) = {
#if defined(HEED_INT8_DOT)
    HEED_SIMD_NAME "vnni", 0, NULL,
#else
    HEED_SIMD_NAME,
    20u * HEED_SIMD_WIDTH,
    HEED_CPU_SYMBOL(bench_ceiling),
#endif
#if defined(BENCH_INT8)
    20u * HEED_SIMD_WIDTH *GROUP, run_int8
#endif
};
