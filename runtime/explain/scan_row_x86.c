/* See scan_row.h. */
#include "explain/scan_row.h"

DEFINE_SCAN_ROW(16, )
DEFINE_SCAN_ROW(32, __attribute__((target("avx2"))))
DEFINE_SCAN_ROW(64, __attribute__((target("avx512f"))))

void heed_scan_row(const float *row, size_t prefix, size_t patches, const double *distances,
                   double *offsets, scan_row *found) {
  if (__builtin_cpu_supports("avx512f"))
    scan_row_64(row, prefix, patches, distances, offsets, found);
  else if (__builtin_cpu_supports("avx2"))
    scan_row_32(row, prefix, patches, distances, offsets, found);
  else
    scan_row_16(row, prefix, patches, distances, offsets, found);
}
