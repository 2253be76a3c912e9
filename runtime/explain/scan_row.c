/* See scan_row.h. */
#include "explain/scan_row.h"

typedef float f_16 __attribute__((vector_size(16)));
typedef float stored_16 __attribute__((vector_size(16), aligned(4), may_alias));

/* One where `x > y`, the other elsewhere. */
static inline f_16 choose(f_16 x, f_16 y, f_16 one, f_16 other) {
  typedef int32_t bits_16 __attribute__((vector_size(16)));
  const bits_16 more = x > y;
  return (f_16)(((bits_16)one & more) | ((bits_16)other & ~more));
}
#define WIDEN_16(x) __builtin_convertvector(x, d_16)
#define MOST_16(a, b) choose(a, b, a, b)
#define LEAST_16(a, b) choose(a, b, b, a)

#define SCAN_EACH_16(to, number) \
  for (int k = 0; k < at_once; k++) (to)[k] = number

DEFINE_SCAN_ROWS(16, 16, )

void heed_scan_rows(const scan_grid *grid, const float *map, scan_sums *found) {
  scan_rows_16(grid, map, found);
}
