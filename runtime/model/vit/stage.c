/* Stages of a hierarchical model: their sizes as the tensors' shapes say, and the merge of patches
 * before each but the first (Liu et al. 2021; Liu et al. 2022). */
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "heed/ops.h"
#include "model/config/fields.h"
#include "model/vit/builder.h"

static uint32_t whole_root(uint32_t square) {
  uint32_t root = 0;
  while ((uint64_t)(root + 1) * (root + 1) <= square) root++;
  return root;
}

/* The heads of a layer of a stage, of which each has a column of the table or a scale. */
heed_status heed_vit_stage_heads(const heed_roles *roles, uint32_t layer, uint32_t *heads,
                                 heed_error *error) {
  heed_stored_role table, scale;
  HEED_TRY(heed_roles_stored(roles, HEED_ROLE_POSITION_BIAS, layer, 2, &table, error));
  HEED_TRY(heed_roles_stored(roles, HEED_ROLE_LOGIT_SCALE, layer, 3, &scale, error));
  *heads = scale.tensor ? scale.shape.dim[0] : table.tensor ? table.shape.dim[1] : 0;
  if (*heads) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: layer %u has no position bias (expected a table of relative positions)",
                   heed_checkpoint_name(roles->checkpoint), layer);
}

heed_checkpoint_tensor *heed_vit_coordinates(const heed_roles *roles, uint32_t layer) {
  static const char own[] = "logit_scale", others[] = "relative_coords_table";
  char name[HEED_NAME_SIZE + sizeof others];
  heed_roles_name(roles, HEED_ROLE_LOGIT_SCALE, layer, name);
  const size_t length = strlen(name);
  if (length < sizeof own - 1) return NULL;
  memcpy(name + length - (sizeof own - 1), others, sizeof others);
  heed_checkpoint_tensor *found = heed_checkpoint_find(roles->checkpoint, name);
  const heed_shape *shape = found && !found->info->unsupported ? &found->info->shape : NULL;
  return shape && shape->rank == 4 && shape->dim[0] == 1 && shape->dim[1] == shape->dim[2] &&
                 shape->dim[1] % 2 && shape->dim[3] == 2
             ? found
             : NULL;
}

/* All blocks of a stage have the distances stored, or none has. */
static heed_status check_coordinates(const heed_roles *roles, uint32_t first, uint32_t blocks,
                                     heed_error *error) {
  const heed_checkpoint_tensor *own = heed_vit_coordinates(roles, first);
  for (uint32_t i = 1; i < blocks; i++) {
    const heed_checkpoint_tensor *other = heed_vit_coordinates(roles, first + i);
    if (!own == !other && (!own || own->info->shape.dim[1] == other->info->shape.dim[1])) continue;
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: relative_coords_table of layers %u and %u differ (expected both, of one "
                     "shape, or none)",
                     heed_checkpoint_name(roles->checkpoint), first, first + i);
  }
  return HEED_OK;
}

/* The side of a stage's windows: that of its table or, where nothing is stored for each distance,
 * what the config says and the picture that the model was made for allows. */
static heed_status stage_window(const heed_roles *roles, const heed_config *config, uint32_t number,
                                const heed_vit_dimensions *d, heed_vit_stage *stage,
                                heed_error *error) {
  heed_stored_role table;
  const heed_config_value *said = &config->stage_window, *image = &config->image_size;
  const uint32_t side = image->key ? (image->value / d->patch) >> number : 0,
                 most = side && side < said->value ? side : said->value;
  HEED_TRY(heed_roles_stored(roles, HEED_ROLE_POSITION_BIAS, stage->first, 2, &table, error));
  const heed_checkpoint_tensor *stored =
      table.tensor ? table.tensor : heed_vit_coordinates(roles, stage->first);
  const uint32_t rows = table.tensor ? table.shape.dim[0] : 0,
                 span = rows     ? whole_root(rows)
                        : stored ? stored->info->shape.dim[1]
                                 : 0;
  stage->window = stored ? (span + 1) / 2 : most;
  if (rows && (span % 2 == 0 || span * span != rows))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: tensor %.*s is of no square window (found %u rows)",
                     heed_safetensors_name(stored->file), HEED_CUT(stored->info->name), rows);
  if (stage->window &&
      (!stored || !said->key || stage->window == most || stage->window == said->value))
    return HEED_OK;
  if (!stored)
    return heed_fail(
        error, HEED_INVALID_FILE,
        "%s: the side of windows is not told (expected config.json with window_size, or "
        "relative_coords_table)",
        heed_checkpoint_name(roles->checkpoint));
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: %s does not fit the weights (found %u, expected %u in stage %u)",
                   heed_config_where(said), said->key, said->value, stage->window, number);
}

/* One of the config's lists against what the weights have; `count` 0: it has none. */
static heed_status check_list(const char *key, const uint32_t *list, uint32_t count, uint32_t stage,
                              uint32_t seen, const heed_roles *roles, heed_error *error) {
  if (!count || (count == roles->stages && list[stage] == seen)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "config.json: %s does not fit the weights (found %u in stage %u of %u, expected "
                   "%u of %u)",
                   key, stage < count ? list[stage] : 0, stage, count, seen, roles->stages);
}

static heed_status stage_sizes(const heed_roles *roles, const heed_config *config, uint32_t number,
                               heed_vit_dimensions *d, heed_error *error) {
  heed_vit_stage *stage = &d->stage[number];
  heed_stored_role fc1, merge, hidden;
  stage->first = number ? stage[-1].first + roles->blocks[number - 1] : 0;
  HEED_TRY(heed_roles_stored(roles, HEED_ROLE_FC1_WEIGHT, stage->first, 2, &fc1, error));
  HEED_TRY(heed_roles_stored(roles, HEED_ROLE_MERGE_WEIGHT, stage->first, 2, &merge, error));
  HEED_TRY(
      heed_roles_stored(roles, HEED_ROLE_POSITION_HIDDEN_WEIGHT, stage->first, 2, &hidden, error));
  stage->width = fc1.shape.dim[1];
  stage->mlp_width = fc1.shape.dim[0];
  d->position_hidden = hidden.tensor ? hidden.shape.dim[0] : 0;
  const bool normed = heed_roles_have(roles, HEED_ROLE_MERGE_NORM_WEIGHT, stage->first) &&
                      heed_roles_have(roles, HEED_ROLE_MERGE_NORM_BIAS, stage->first);
  if (number && !(merge.tensor && normed))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: the merge of patches before stage %u is missing (expected "
                     "downsample.reduction.weight, downsample.norm.weight and .bias)",
                     heed_checkpoint_name(roles->checkpoint), number);
  HEED_TRY(heed_vit_stage_heads(roles, stage->first, &stage->heads, error));
  HEED_TRY(check_list("depths", config->stage_blocks, config->stage_blocks_count, number,
                      roles->blocks[number], roles, error));
  HEED_TRY(check_list("num_heads", config->stage_heads, config->stage_heads_count, number,
                      stage->heads, roles, error));
  HEED_TRY(check_coordinates(roles, stage->first, roles->blocks[number], error));
  HEED_TRY(stage_window(roles, config, number, d, stage, error));
  if (stage->width % stage->heads == 0) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: heads do not divide the width of stage %u (found %u and %u)",
                   heed_checkpoint_name(roles->checkpoint), number, stage->heads, stage->width);
}

/* All stages; what is said of the model is of the last. */
heed_status heed_vit_stages(const heed_roles *roles, const heed_config *config,
                            heed_vit_dimensions *d, heed_error *error) {
  heed_stored_role norm;
  if (!roles->stages) return HEED_OK;
  d->embedded = d->width;
  d->stages = roles->stages;
  for (uint32_t i = 0; i < d->stages; i++) HEED_TRY(stage_sizes(roles, config, i, d, error));
  const heed_vit_stage *last = &d->stage[d->stages - 1];
  d->width = d->attention_width = last->width;
  d->heads = last->heads;
  d->mlp_width = last->mlp_width;
  d->query_norm = d->width / d->heads;
  if (d->stages == 1) return HEED_OK;
  HEED_TRY(
      heed_roles_stored(roles, HEED_ROLE_MERGE_NORM_WEIGHT, d->stage[1].first, 1, &norm, error));
  d->merge_norm = norm.tensor && norm.shape.dim[0] == 4 * d->stage[0].width ? 4 : 2;
  return HEED_OK;
}

uint32_t heed_vit_stage_of(const heed_vit_dimensions *dims, uint32_t layer) {
  uint32_t stage = 0;
  while (stage + 1 < dims->stages && layer >= dims->stage[stage + 1].first) stage++;
  return stage;
}

void heed_vit_layer_dimensions(const heed_vit_dimensions *dims, uint32_t layer,
                               heed_vit_dimensions *of) {
  *of = *dims;
  if (!dims->stages) return;
  const uint32_t number = heed_vit_stage_of(dims, layer);
  const heed_vit_stage *stage = &dims->stage[number];
  const uint32_t before = number ? stage[-1].width : 0, span = 2 * stage->window - 1;
  of->width = of->attention_width = stage->width;
  of->heads = stage->heads;
  of->mlp_width = stage->mlp_width;
  of->query_norm = stage->width / stage->heads;
  of->bias_rows = span * span;
  of->merged = 4 * before;
  of->merge_norm = dims->merge_norm * before;
  const uint32_t side =
      dims->whole_layers >> layer % 64 & 1 ? dims->image_size / dims->patch : stage->window;
  of->distances = dims->distances ? 2 * side - 1 : 0;
}

/* The patches of each square of 2 x 2 beside each other: (0, 0), (1, 0), (0, 1), (1, 1); zeros
 * beyond the grid. */
static heed_value gather_squares(heed_vit_builder *b, heed_value x, uint32_t rows, uint32_t columns,
                                 uint32_t width) {
  const uint32_t patches = b->rows * b->columns;
  int32_t *from = heed_graph_keep(b->graph, NULL, (size_t)patches * 4 * sizeof *from);
  heed_error error;
  if (!from) {
    (void)heed_fail_memory(&error, "model: merge", (size_t)patches * 4 * sizeof *from);
    return heed_graph_fail(b->graph, &error);
  }
  for (uint32_t i = 0; i < 4 * patches; i++) {
    const uint32_t row = 2 * (i / 4 / b->columns) + i % 2,
                   column = 2 * (i / 4 % b->columns) + i / 2 % 2;
    from[i] = row < rows && column < columns ? (int32_t)(row * columns + column) : INT32_MAX;
  }
  const heed_shape joined = HEED_SHAPE(b->desc.batch, patches, 4 * width);
  return heed_define_view(b->graph, heed_vit_gather(b, x, from, HEED_SHAPE(4 * patches)), 0,
                          &joined);
}

heed_value heed_vit_gather(heed_vit_builder *b, heed_value x, const int32_t *from,
                           heed_shape shape) {
  const heed_constant_desc indices = {
      .struct_size = sizeof indices, .dtype = HEED_I32, .shape = shape, .data = from};
  const heed_gather_desc gather = {sizeof gather, x, heed_define_constant(b->graph, &indices), 1,
                                   false};
  return heed_define_gather(b->graph, &gather);
}

void heed_vit_begin_layer(heed_vit_builder *b, heed_value *x, uint32_t layer) {
  const heed_vit *model = b->model;
  const uint32_t before = b->dims.width, rows = b->rows, columns = b->columns;
  heed_vit_layer_dimensions(&model->dims, layer, &b->dims);
  const heed_vit_stage *stage = &model->dims.stage[heed_vit_stage_of(&model->dims, layer)];
  if (!model->dims.stages || layer == 0 || stage->first != layer) return;
  const heed_role_ref *refs = heed_vit_layer_ref(model, layer, HEED_ROLE_MERGE_NORM_WEIGHT),
                      *map = heed_vit_layer_ref(model, layer, HEED_ROLE_MERGE_WEIGHT);
  b->rows = (rows + 1) / 2;
  b->columns = (columns + 1) / 2;
  b->patches = b->rows * b->columns;
  *x = gather_squares(b, *x, rows, columns, before);
  const bool first = b->dims.merge_norm == b->dims.merged; /* v1: the norm comes before the map */
  if (first) *x = heed_vit_norm(b, *x, refs, b->dims.merged);
  const heed_linear_desc reduce = {
      .struct_size = sizeof reduce,
      .x = *x,
      .weight = heed_vit_define_one(b, map, HEED_SHAPE(b->dims.width, b->dims.merged))};
  *x = heed_define_linear(b->graph, &reduce);
  if (!first) *x = heed_vit_norm(b, *x, refs, b->dims.width);
}
