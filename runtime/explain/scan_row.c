/* See scan_row.h. */
#include "explain/scan_row.h"

DEFINE_SCAN_ROW(16, )

void heed_scan_row(const float *row, size_t prefix, size_t patches, const double *distances,
                   double *offsets, scan_row *found) {
  scan_row_16(row, prefix, patches, distances, offsets, found);
}
