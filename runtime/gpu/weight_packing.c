/* Packs weights as the kernels read them. */
#include "gpu/weight_packing.h"

#include <math.h>
#include <string.h>

#include "backend/backend.h"
#include "base/status.h"
#include "base/tensor.h"

static uint64_t panel_count(const heed_vk_weight *weight) {
  return heed_vk_panel_count(weight->panel, weight->depth, weight->eights);
}
static uint64_t panel_floats(const heed_vk_weight *weight) {
  return panel_count(weight) * sizeof(float);
} /* while it is packed */

uint64_t heed_vk_pack_bytes(const heed_vk_builder *builder) {
  uint64_t half = HEED_VK_PACK_BYTES / 2;
  for (size_t i = 0; i < builder->weight_count; i++)
    if (panel_floats(&builder->weights[i]) > half) half = panel_floats(&builder->weights[i]);
  return 2 * half;
}

/* rows x depth, row-major -> [depth][panel], or [depth / 8][panel][8], zeros from `rows` to
 * `panel`. By blocks of 8 rows, so that writes stay in the cache. */
static void transpose(const heed_vk_weight *weight, const float *from, float *to, uint32_t rows) {
  const uint32_t panel = weight->panel, depth = weight->depth, beside = weight->eights ? 8 : 1;
  if (rows < panel || depth % beside) memset(to, 0, (size_t)panel_floats(weight));
  for (uint32_t r0 = 0; r0 < rows; r0 += 8) {
    const uint32_t r1 = rows - r0 < 8 ? rows : r0 + 8;
    for (uint32_t k = 0; k < depth; k++)
      for (uint32_t r = r0; r < r1; r++)
        to[((size_t)(k / beside) * panel + r) * beside + k % beside] = from[(size_t)r * depth + k];
  }
}

/* Floats -> halves in their place. A finite weight that fp16 does not hold would make wrong
 * numbers. */
static heed_status to_half(const heed_vk_builder *builder, const heed_vk_weight *weight,
                           float *from, heed_error *error) {
  uint16_t *to = (uint16_t *)(void *)from;
  for (uint64_t i = 0; i < panel_count(weight); i++) {
    const float value = from[i];
    if (fabsf(value) >= 65520.0f && !isinf(value)) {
      const char *name = heed_graph_record(builder->plan->graph, weight->value)->name;
      return heed_fail(
          error, HEED_UNSUPPORTED,
          "%s: a weight of %s overflows fp16 (found %g, expected within 65504); use f32",
          builder->plan->backend->vtable->name, name ? name : "a product", (double)value);
    }
    to[i] = heed_f32_to_f16(value);
  }
  return HEED_OK;
}

heed_status heed_vk_pack_panel(const heed_vk_builder *builder, const heed_vk_weight *weight,
                               uint32_t rows, const float *from, float *to, heed_error *error) {
  transpose(weight, from, to, rows);
  return weight->half ? to_half(builder, weight, to, error) : HEED_OK;
}

void heed_vk_pack_int8_panel(const heed_vk_weight *weight, uint32_t rows, const int8_t *from,
                             void *to) {
  const uint32_t panel = weight->panel, beside = weight->eights ? 16 : 4;
  int32_t *sums = to;
  int8_t *numbers = (int8_t *)(sums + panel);
  memset(to, 0, (size_t)heed_vk_int8_panel_bytes(panel, weight->depth));
  for (uint32_t r = 0; r < rows; r++)
    for (uint32_t k = 0; k < weight->depth; k++, from++) {
      numbers[((size_t)(k / beside) * panel + r) * beside + k % beside] = *from;
      sums[r] += *from;
    }
}
