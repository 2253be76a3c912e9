/* Rotary positions on a grid of patches: the tables of op rotary, in double precision, rounded
 * once. Sources: transformers' modeling_dinov3_vit.py; facebookresearch/dinov3's
 * rope_position_encoding.py; timm's pos_embed_sincos.py; Heo et al. 2024 (RoPE-ViT). */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"
#include "model/vit/builder.h"

#define TWO_PI 6.283185307179586476925286766559

/* Periods are divided by. */
static heed_status check_periods(const heed_vit *model, const float *periods, size_t count,
                                 heed_error *error) {
  for (size_t i = 0; i < count; i++)
    if (!(periods[i] > 0.0f) || isinf(periods[i]))
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: periods is not valid (found %g, expected a number above 0)",
                       heed_checkpoint_name(model->base.checkpoint), (double)periods[i]);
  return HEED_OK;
}

/* What an angle is made of, as the sum of both products: [columns, rows][heads, D/2]. The model's
 * own are of a layer, and lie in the order of its axes; they are read by way of `stored`. */
static heed_status read_frequencies(const heed_vit *model, uint32_t layer, size_t angles,
                                    float *stored, double *frequencies, heed_error *error) {
  const heed_role_ref *own = heed_vit_ref(model, HEED_ROLE_FREQUENCIES),
                      *periods = heed_vit_ref(model, HEED_ROLE_PERIODS);
  const heed_rotation *rule = &model->roles.rules.rotation;
  const size_t each = angles / 2; /* angles of an axis */
  if (periods->tensor) {
    HEED_TRY(heed_role_read(periods, 0, each, stored, error));
    HEED_TRY(check_periods(model, stored, each, error));
  }
  for (size_t axis = 0; axis < 2; axis++) {
    double *to = frequencies + axis * angles;
    if (own->tensor)
      HEED_TRY(heed_role_read(
          own, ((axis == rule->columns_first) * (size_t)model->dims.layers + layer) * angles,
          angles, stored, error));
    for (size_t i = 0; i < angles; i++) {
      const bool second = rule->in_turn ? i % 2 : i >= each, rows = second == rule->columns_first;
      const size_t k = rule->in_turn ? i / 2 : i % each;
      const double at = (double)k + (second && rule->between ? 0.5 : 0.0);
      to[i] = own->tensor          ? (double)stored[i]
              : rows != (bool)axis ? 0.0
              : periods->tensor    ? 1.0 / (double)stored[k]
                                   : pow((double)rule->base, -at / (double)each);
    }
  }
  return HEED_OK;
}

/* Where a row or a column is. */
static double place(const heed_vit *model, uint32_t at, uint32_t count) {
  const heed_rotation *rule = &model->roles.rules.rotation;
  if (rule->kind == HEED_ROTATION_CENTRED) return TWO_PI * (2.0 * (at + 0.5) / count - 1.0);
  const double scale = model->dims.reference ? (double)model->dims.reference / count : 1.0;
  const bool offset = heed_vit_ref(model, HEED_ROLE_CLS_TOKEN)->tensor != NULL;
  return (at + (offset ? (double)rule->offset : 0.0)) * scale;
}

/* Cosines, then sines, [heads, rows * columns, D/2] each. */
static void fill(const heed_vit_builder *b, size_t angles, size_t size, const double *frequencies,
                 float *cosines, float *sines) {
  for (size_t head = 0; head < angles; head += size)
    for (uint32_t row = 0; row < b->rows; row++)
      for (uint32_t column = 0; column < b->columns; column++) {
        const double y = place(b->model, row, b->rows), x = place(b->model, column, b->columns);
        for (size_t i = head; i < head + size; i++) {
          const double angle = x * frequencies[i] + y * frequencies[angles + i];
          *cosines++ = (float)cos(angle);
          *sines++ = (float)sin(angle);
        }
      }
}

heed_status heed_vit_turn(heed_vit_builder *b, uint32_t layer, heed_error *error) {
  const heed_vit *model = b->model;
  const bool own = heed_vit_ref(model, HEED_ROLE_FREQUENCIES)->tensor != NULL;
  if (!model->roles.rules.rotation.kind || (b->cosines.id && !own)) return HEED_OK;
  if (model->roles.rules.rotation.kind == HEED_ROTATION_VIDEO) return heed_vit_turn_video(b, error);
  const uint32_t patches = b->rows * b->columns, heads = own ? model->dims.heads : 1,
                 size = model->dims.width / model->dims.heads / 2;
  const size_t angles = (size_t)heads * size;
  size_t count;
  /* as doubles: frequencies, then both tables */
  if (!heed_size_mul(angles, (size_t)patches + 2, &count)) count = SIZE_MAX / sizeof(double);
  double *made = heed_alloc_raw(model->base.context, count, sizeof *made);
  if (!made) return heed_fail_memory(error, "model: rotary positions", count * sizeof *made);
  const size_t table = angles * patches;
  float *cosines = (float *)(made + 2 * angles), *kept = NULL;
  const heed_status status = read_frequencies(model, layer, angles, cosines, made, error);
  if (status == HEED_OK) {
    fill(b, angles, size, made, cosines, cosines + table);
    if (b->desc.shortened) {
      const heed_status shortened =
          heed_vit_shorten_turn(b, cosines, cosines + table, heads, size, error);
      heed_free(model->base.context, made);
      return shortened;
    }
    kept = heed_graph_keep(b->graph, cosines, 2 * table * sizeof *kept);
  }
  heed_free(model->base.context, made);
  if (status != HEED_OK) return status;
  if (!kept) return heed_fail_memory(error, "model: rotary positions", 2 * table * sizeof *kept);
  const heed_shape shape = own ? HEED_SHAPE(heads, patches, size) : HEED_SHAPE(patches, size);
  b->cosines = heed_vit_define_data(b, kept, shape);
  b->sines = heed_vit_define_data(b, kept + table, shape);
  return HEED_OK;
}

heed_value heed_vit_rotate(heed_vit_builder *b, heed_value x) {
  if (!b->cosines.id) return x;
  if (b->partners.id) return heed_vit_rotate_elements(b, x);
  const heed_rotary_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .cos = b->cosines,
                                 .sin = b->sines,
                                 .first = b->model->dims.prefix_tokens,
                                 .interleaved = !b->model->roles.rules.rotation.half};
  return heed_define_rotary(b->graph, &desc);
}
