/* The rotary positions of a ViT: tables for this grid, of all layers or of one. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "model/rotation.h"
#include "model/vit_builder.h"

/* What the model has of its own, at the beginning of `made`. */
static heed_status read_own(const heed_vit *model, uint32_t layer, size_t angles, float *made,
                            heed_rotation_grid *grid, heed_error *error) {
  const heed_role_ref *own = heed_vit_ref(model, HEED_ROLE_FREQUENCIES),
                      *periods = heed_vit_ref(model, HEED_ROLE_PERIODS);
  for (uint32_t axis = 0; axis < 2 && own->tensor; axis++) {
    float *to = made + axis * angles;
    grid->frequencies[axis] = to;
    HEED_TRY(heed_role_read(own, ((uint64_t)axis * model->dims.layers + layer) * angles, angles, to,
                            error));
  }
  if (!periods->tensor) return HEED_OK;
  grid->periods = made;
  return heed_role_read(periods, 0, periods->count, made, error);
}

heed_status heed_vit_turn(heed_vit_builder *b, uint32_t layer, heed_error *error) {
  const heed_vit *model = b->model;
  const bool own = heed_vit_ref(model, HEED_ROLE_FREQUENCIES)->tensor != NULL;
  heed_rotation rule = model->roles.rules.rotation;
  rule.reference = model->dims.reference;
  if (rule.own_grid && !heed_vit_ref(model, HEED_ROLE_CLS_TOKEN)->tensor) rule.offset = 0.0f;
  if (!rule.kind || (b->cosines.id && !own)) return HEED_OK;
  heed_rotation_grid grid = {.rows = b->rows,
                             .columns = b->columns,
                             .size = model->dims.width / model->dims.heads,
                             .heads = own ? model->dims.heads : 1};
  const uint32_t patches = b->rows * b->columns;
  const size_t angles = (size_t)grid.heads * (grid.size / 2);
  size_t count;
  if (!heed_size_mul(angles, 2 * ((size_t)patches + 1), &count)) count = SIZE_MAX;
  float *made = heed_alloc_raw(model->base.context, count, sizeof *made);
  if (!made) return heed_fail_memory(error, "model: rotary positions", count);
  const size_t table = angles * patches;
  float *cosines = made + 2 * angles, *sines = cosines + table;
  const heed_status status = read_own(model, layer, angles, made, &grid, error);
  if (status == HEED_OK) {
    heed_rotation_fill(&rule, &grid, cosines, sines);
    cosines = heed_graph_keep(b->graph, cosines, 2 * table * sizeof *made);
  }
  heed_free(model->base.context, made);
  if (status != HEED_OK) return status;
  if (!cosines) return heed_fail_memory(error, "model: rotary positions", count);
  const heed_shape shape =
      own ? HEED_SHAPE(grid.heads, patches, grid.size / 2) : HEED_SHAPE(patches, grid.size / 2);
  b->cosines = heed_vit_define_data(b, cosines, shape);
  b->sines = heed_vit_define_data(b, cosines + table, shape);
  return HEED_OK;
}

heed_value heed_vit_rotate(heed_vit_builder *b, heed_value x) {
  if (!b->cosines.id) return x;
  const heed_rotary_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .cos = b->cosines,
                                 .sin = b->sines,
                                 .first = b->model->dims.prefix_tokens,
                                 .interleaved = !b->model->roles.rules.rotation.half};
  return heed_define_rotary(b->graph, &desc);
}
