/* add: y = a + b (cpu/broadcast.c). */
#include "cpu/broadcast.h"

#include "graph/broadcast_rule.h"

static void run(const float *a, const float *b, float *y, size_t count) {
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= count; i += HEED_SIMD_WIDTH)
    f32_store(y + i, f32_add(f32_load(a + i), f32_load(b + i)));
  for (; i < count; i++) y[i] = a[i] + b[i];
}

static void one(const float *a, float b, float *y, size_t count) {
  const f32xN all = f32_set1(b);
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= count; i += HEED_SIMD_WIDTH)
    f32_store(y + i, f32_add(f32_load(a + i), all));
  for (; i < count; i++) y[i] = a[i] + b;
}

static const heed_cpu_broadcast add = {run, one};

static void step(const heed_cpu_step *s) { HEED_CPU_SYMBOL(heed_cpu_broadcast_step)(s, &add); }

const heed_cpu_op HEED_CPU_SYMBOL(heed_cpu_add) = {.in_place = 1u << HEED_BROADCAST_INPUT_A,
                                                   .run = step};
