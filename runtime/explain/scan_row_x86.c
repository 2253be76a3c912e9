/* See scan_row.h. */
#include <immintrin.h>

#include "explain/scan_row.h"

typedef float f_16 __attribute__((vector_size(16)));
typedef float stored_16 __attribute__((vector_size(16), aligned(4), may_alias));

/* What compilers make of __builtin_convertvector is several times as long. */
#define WIDEN_16(x) __builtin_convertvector(x, d_16)
#define WIDEN_32(x) ((d_32)_mm256_cvtps_pd(x))
#define WIDEN_64(x) ((d_64)_mm512_cvtps_pd(x))
#define MOST_16(a, b) ((f_16)_mm_max_ps(a, b))
#define LEAST_16(a, b) ((f_16)_mm_min_ps(a, b))
#define MOST_32(a, b) ((f_32)_mm256_max_ps(a, b))
#define LEAST_32(a, b) ((f_32)_mm256_min_ps(a, b))
#define MOST_64(a, b) ((f_64)_mm512_max_ps(a, b))
#define LEAST_64(a, b) ((f_64)_mm512_min_ps(a, b))

#define SCAN_EACH_16(to, number) SCAN_EACH("+x", to, number)
#define SCAN_EACH_32(to, number) SCAN_EACH("+x", to, number)
#define SCAN_EACH_64(to, number) SCAN_EACH("+v", to, number)

DEFINE_SCAN_ROWS(16, 16, )
DEFINE_SCAN_ROWS(32, 32, __attribute__((target("avx2"))))
DEFINE_SCAN_ROWS(64, 32, __attribute__((target("avx512f"))))

void heed_scan_rows(const scan_grid *grid, const float *map, scan_sums *found) {
  if (__builtin_cpu_supports("avx512f"))
    scan_rows_64(grid, map, found);
  else if (__builtin_cpu_supports("avx2"))
    scan_rows_32(grid, map, found);
  else
    scan_rows_16(grid, map, found);
}
