/* See multiply_strip.h. */
#include "explain/multiply_strip.h"

DEFINE_MULTIPLY_STRIP(16, )
DEFINE_MULTIPLY_STRIP(32, __attribute__((target("avx2"))))
DEFINE_MULTIPLY_STRIP(64, __attribute__((target("avx512f"))))

void heed_multiply_strip(const float *rows, size_t count, const float *strip, double *to) {
  if (__builtin_cpu_supports("avx512f"))
    multiply_strip_64(rows, count, strip, to);
  else if (__builtin_cpu_supports("avx2"))
    multiply_strip_32(rows, count, strip, to);
  else
    multiply_strip_16(rows, count, strip, to);
}

void heed_multiply_lanes(const double *rows, size_t count, const double *columns, double *to) {
  if (__builtin_cpu_supports("avx512f"))
    multiply_lanes_64(rows, count, columns, to);
  else if (__builtin_cpu_supports("avx2"))
    multiply_lanes_32(rows, count, columns, to);
  else
    multiply_lanes_16(rows, count, columns, to);
}
