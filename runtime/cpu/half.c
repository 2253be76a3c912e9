/* Packing of weights that stay in fp16. */
#include "cpu/half.h"

#include <string.h>

#include "base/alloc.h"

uint64_t heed_cpu_half_panel_bytes(uint64_t columns, uint64_t depth) {
  return heed_align_up(columns * (sizeof(float) + depth * sizeof(uint16_t)), 64);
}

/* The fp16 of a number that it holds: a float 2^112 times as small has its bits, 13 places on. */
static uint16_t narrow(float number) {
  const float small = number * 0x1p-112f;
  uint32_t bits;
  memcpy(&bits, &small, sizeof bits);
  return (uint16_t)((bits >> 16 & 0x8000u) | (bits >> 13 & 0x7FFFu));
}

void heed_cpu_half_pack_panel(const heed_halves *halves, const float *from, size_t first,
                              size_t depth, uint32_t rows, uint32_t columns, void *panel) {
  float *factors = panel;
  uint16_t *numbers = (uint16_t *)(void *)(factors + columns);
  memset(panel, 0, (size_t)heed_cpu_half_panel_bytes(columns, depth));
  for (uint32_t n = 0; n < rows; n++) {
    factors[n] = halves->factor * (halves->row_scale ? halves->row_scale[first + n] : 1.0f);
    for (size_t k = 0; k < depth; k++) numbers[k * columns + n] = narrow(from[n * depth + k]);
  }
}
