/* Packs weights as the kernels read them. */
#include "gpu/weight_packing.h"

#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "base/status.h"
#include "base/tensor.h"

static uint64_t panel_count(const heed_gpu_weight *weight) {
  return heed_gpu_panel_count(weight->panel, weight->depth, weight->eights);
}
static uint64_t panel_floats(const heed_gpu_weight *weight) {
  return panel_count(weight) * sizeof(float);
} /* while it is packed */

uint64_t heed_gpu_pack_bytes(const heed_gpu_builder *builder) {
  uint64_t half = HEED_GPU_PACK_BYTES / 2;
  for (size_t i = 0; i < builder->weight_count; i++)
    if (panel_floats(&builder->weights[i]) > half) half = panel_floats(&builder->weights[i]);
  return 2 * half;
}

#define BLOCK 8 /* rows, and values of k, that are packed at once: writes stay in the cache */

/* A finite weight that fp16 does not hold would make wrong numbers. */
static heed_status check_weight(const heed_gpu_builder *builder, const heed_gpu_weight *weight,
                                float value, heed_error *error) {
  if (fabsf(value) < 65520.0f || isinf(value) || isnan(value)) return HEED_OK;
  const char *name = heed_graph_record(builder->plan->graph, weight->value)->name;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: a weight of %s overflows fp16 (found %g, expected within 65504); use f32",
                   builder->plan->backend->vtable->name, name ? name : "a product", (double)value);
}

/* BLOCK floats -> halves; false where one is no normal number of fp16, which takes the long way. */
static bool halve(const float *from, uint16_t *to) {
  uint32_t bits[BLOCK], odd = 0;
  memcpy(bits, from, sizeof bits);
  for (int i = 0; i < BLOCK; i++) {
    const uint32_t size = bits[i] & 0x7FFFFFFFu, rebased = size - 0x38000000u;
    odd |= (size < 0x38800000u) | (size >= 0x477FF000u);
    to[i] =
        (uint16_t)((bits[i] >> 16 & 0x8000u) | ((rebased + 0xFFFu + (rebased >> 13 & 1u)) >> 13));
  }
  return odd == 0;
}

static heed_status halve_some(const heed_gpu_builder *builder, const heed_gpu_weight *weight,
                              const float *from, uint32_t count, uint16_t *to, heed_error *error) {
  if (count == BLOCK && halve(from, to)) return HEED_OK;
  for (uint32_t i = 0; i < count; i++) {
    HEED_TRY(check_weight(builder, weight, from[i], error));
    to[i] = heed_f32_to_f16(from[i]);
  }
  return HEED_OK;
}

/* Where value k of row r stands in a panel: [depth][panel], or [depth / 8][panel][8]. */
static size_t place_of(const heed_gpu_weight *weight, uint32_t r, uint32_t k) {
  return weight->eights ? ((size_t)(k / 8) * weight->panel + r) * 8 + k % 8
                        : (size_t)k * weight->panel + r;
}

/* A block of at most BLOCK rows and values of k, which begin at `from` in rows of `depth`. */
static void put_floats(const heed_gpu_weight *weight, const float *from, uint32_t rows,
                       uint32_t count, float *to) {
  if (weight->eights) {
    for (uint32_t r = 0; r < rows; r++, from += weight->depth)
      memcpy(to + (size_t)r * 8, from, count * sizeof *to);
    return;
  }
  for (uint32_t k = 0; k < count; k++, to += weight->panel)
    for (uint32_t r = 0; r < rows; r++) to[r] = from[(size_t)r * weight->depth + k];
}

static heed_status put_halves(const heed_gpu_builder *builder, const heed_gpu_weight *weight,
                              const float *from, uint32_t rows, uint32_t count, uint16_t *to,
                              heed_error *error) {
  uint16_t block[BLOCK][BLOCK];
  for (uint32_t r = 0; r < rows; r++, from += weight->depth) {
    uint16_t *row = weight->eights ? to + (size_t)r * 8 : block[r];
    HEED_TRY(halve_some(builder, weight, from, count, row, error));
  }
  if (weight->eights) return HEED_OK;
  for (uint32_t k = 0; k < count; k++, to += weight->panel)
    for (uint32_t r = 0; r < rows; r++) to[r] = block[r][k];
  return HEED_OK;
}

heed_status heed_gpu_pack_panel(const heed_gpu_builder *builder, const heed_gpu_weight *weight,
                                uint32_t rows, const float *from, float *to, heed_error *error) {
  const uint32_t depth = weight->depth;
  if (rows < weight->panel || depth % BLOCK)
    memset(to, 0, (size_t)panel_count(weight) * (weight->half ? sizeof(uint16_t) : sizeof(float)));
  for (uint32_t r = 0; r < rows; r += BLOCK)
    for (uint32_t k = 0; k < depth; k += BLOCK) {
      const uint32_t some = rows - r < BLOCK ? rows - r : BLOCK,
                     count = depth - k < BLOCK ? depth - k : BLOCK;
      const float *block = from + (size_t)r * depth + k;
      const size_t place = place_of(weight, r, k);
      if (weight->half)
        HEED_TRY(
            put_halves(builder, weight, block, some, count, (uint16_t *)(void *)to + place, error));
      else
        put_floats(weight, block, some, count, to + place);
    }
  return HEED_OK;
}

void heed_gpu_pack_int8_panel(const heed_gpu_weight *weight, uint32_t rows, const int8_t *from,
                              void *to) {
  const uint32_t panel = weight->panel, beside = weight->eights ? 16 : 4;
  int32_t *sums = to;
  int8_t *numbers = (int8_t *)(sums + panel);
  memset(to, 0, (size_t)heed_gpu_int8_panel_bytes(panel, weight->depth));
  for (uint32_t r = 0; r < rows; r++, from += weight->depth) {
    for (uint32_t k = 0; k < weight->depth; k += beside)
      memcpy(numbers + ((size_t)k * panel + (size_t)r * beside), from + k,
             weight->depth - k < beside ? weight->depth - k : beside);
    for (uint32_t k = 0; k < weight->depth; k++) sums[r] += from[k];
  }
}
