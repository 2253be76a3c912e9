/* Packing of int8 weights, for any way of multiplying them. */
#include "cpu/int8.h"

#include <string.h>

#include "base/alloc.h"

static uint64_t groups_of(const heed_cpu_int8 *way, uint64_t depth) {
  return depth / way->group + (depth % way->group != 0);
}

uint64_t heed_cpu_int8_panel_bytes(const heed_cpu_int8 *way, uint64_t depth) {
  return heed_align_up(
      way->columns * (sizeof(float) + sizeof(int32_t) + groups_of(way, depth) * way->group), 64);
}

void heed_cpu_int8_pack_panel(const heed_cpu_int8 *way, const int8_t *from, const float *scale,
                              size_t depth, uint32_t rows, void *panel) {
  float *scales = panel;
  int32_t *totals = (int32_t *)(void *)(scales + way->columns);
  int8_t *weights = (int8_t *)(totals + way->columns);
  memset(panel, 0, (size_t)heed_cpu_int8_panel_bytes(way, depth));
  for (uint32_t n = 0; n < rows; n++) {
    const int8_t *row = from + n * depth;
    scales[n] = scale[n];
    for (size_t k = 0; k < depth; k++) {
      weights[(k / way->group * way->columns + n) * way->group + k % way->group] = row[k];
      totals[n] += row[k];
    }
  }
}
