/* The registers-only ceiling of each level; see ceiling.c. */
#ifndef HEED_TESTS_BENCH_CEILING_H
#define HEED_TESTS_BENCH_CEILING_H

#include <stdint.h>

typedef struct bench_ceiling_level {
  const char *name;
  uint32_t operations; /* of a round */
  float (*run)(uint32_t rounds, float start, float factor, float addend);
  uint32_t int8_operations; /* 0 where that is not measured */
  int32_t (*run_int8)(uint32_t rounds, const unsigned char *x, const int8_t *weights);
} bench_ceiling_level;

/* One for each level that was built. */
#define BENCH_CEILING_DECLARE(level)                            \
  extern const bench_ceiling_level bench_ceiling_level_##level; \
  float bench_ceiling_##level(uint32_t rounds, float start, float factor, float addend);
BENCH_CEILING_DECLARE(scalar)
BENCH_CEILING_DECLARE(sse2)
BENCH_CEILING_DECLARE(avx2)
BENCH_CEILING_DECLARE(avx512)
BENCH_CEILING_DECLARE(neon)
BENCH_CEILING_DECLARE(wasm128)
BENCH_CEILING_DECLARE(relaxed)
extern const bench_ceiling_level bench_ceiling_level_vnni_avx2, bench_ceiling_level_vnni_avx512;

#endif
