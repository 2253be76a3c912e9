/* Relative rows and columns that queries meet (SAM, after Li et al. 2022): the score of a query and
 * a key grows by q R_h[y_q - y_k] + q R_w[x_q - x_k], q as it is before its division by the root of
 * D. Queries get what they give for each row and each column of the grid, keys a 1 for their own,
 * so that the product of both is the sum. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "heed/ops.h"
#include "model/families/positions.h"
#include "model/vit/builder.h"

enum { MOST_LAYERS = 64 }; /* of which the dimensions have a bit each */

/* The side of a layer's window by its tables; of one without windows that of the stored grid. */
static heed_status read_side(const heed_roles *roles, uint32_t layer, uint32_t *side,
                             heed_error *error) {
  heed_stored_role rows;
  HEED_TRY(heed_roles_stored(roles, HEED_ROLE_RELATIVE_ROWS, layer, 2, &rows, error));
  *side = rows.tensor ? (rows.shape.dim[0] + 1) / 2 : 0;
  return HEED_OK;
}

/* What the config says of windows, against the tables; where windows are as large as the stored
 * grid, both fit any layer. */
static heed_status check_said(const heed_config *config, const heed_vit_dimensions *d,
                              heed_error *error) {
  const heed_config_value *said = &config->stage_window;
  const uint32_t window = d->stage[0].window, whole = d->image_size / d->patch;
  if (said->key && said->value != window && (window || said->value != whole))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: %s does not fit the weights (found %u, expected %u)",
                     heed_config_where(said), said->key, said->value, window);
  for (uint32_t i = 0; config->full_layers_key && window && i < d->layers; i++) {
    bool listed = false;
    for (uint32_t k = 0; k < config->full_layer_count; k++)
      listed = listed || config->full_layers[k] == i;
    if (listed == (d->whole_layers >> i & 1)) continue;
    return heed_fail(error, HEED_INVALID_FILE,
                     "config.json: %s does not fit the weights (found layer %u %s, expected it %s)",
                     config->full_layers_key, i, listed ? "in it" : "left out",
                     listed ? "left out" : "in it");
  }
  return HEED_OK;
}

heed_status heed_vit_relative(const heed_roles *roles, const heed_config *config,
                              heed_vit_dimensions *d, heed_error *error) {
  const uint32_t whole = d->image_size / d->patch;
  heed_vit_stage *stage = &d->stage[0];
  uint32_t side;
  HEED_TRY(read_side(roles, 0, &side, error));
  if (!side) return HEED_OK;
  if (d->layers > MOST_LAYERS)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: too many layers with relative positions (found %u, expected at most %d)",
                     heed_checkpoint_name(roles->checkpoint), d->layers, MOST_LAYERS);
  *stage = (heed_vit_stage){.width = d->width, .heads = d->heads, .mlp_width = d->mlp_width};
  d->stages = 1;
  for (uint32_t i = 0; i < d->layers; i++) {
    HEED_TRY(read_side(roles, i, &side, error));
    if (side == whole)
      d->whole_layers |= (uint64_t)1 << i;
    else if (!stage->window)
      stage->window = side;
    if (side == whole || side == stage->window) continue;
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: relative positions of layer %u are of no grid (found one of %u x %u "
                     "patches, expected %u x %u, or windows of %u x %u)",
                     heed_checkpoint_name(roles->checkpoint), i, side, side, whole, whole,
                     stage->window, stage->window);
  }
  d->distances = 1; /* heed_vit_layer_dimensions says how many */
  return check_said(config, d, error);
}

/* ---------------------------------------------------------------------------------- the queries */

/* For each pair of places along an axis of `count` the row of the table, times `factor`: [count,
 * count, D]. A table of another size is resized linearly. */
static void spread(const float *table, uint32_t stored, uint32_t count, uint32_t depth,
                   double factor, double *weights, float *to) {
  const uint32_t distances = 2 * count - 1;
  for (uint32_t at = 0; at < distances; at++) {
    for (uint32_t i = 0; i < stored; i++) weights[i] = stored == distances && i == at ? 1.0 : 0.0;
    if (stored != distances) heed_positions_linear.weigh(stored, distances, at, weights);
    for (uint32_t e = 0; e < depth; e++) {
      double sum = 0.0;
      for (uint32_t i = 0; i < stored; i++)
        if (weights[i] != 0.0) sum += weights[i] * (double)table[(size_t)i * depth + e];
      for (uint32_t key = 0; key < count; key++) { /* query - key + count - 1 == at */
        const uint32_t query = at + key - (count - 1);
        if (at + key >= count - 1 && query < count)
          to[((size_t)query * count + key) * depth + e] = (float)(sum * factor);
      }
    }
  }
}

/* That of a role, as a constant. The factor undoes the scale of the scores. */
static heed_value define_distances(heed_vit_builder *b, heed_role role, uint32_t layer,
                                   uint32_t count) {
  const heed_role_ref *ref = heed_vit_layer_ref(b->model, layer, role);
  const uint32_t depth = b->dims.width / b->dims.heads, stored = (uint32_t)(ref->count / depth);
  size_t size; /* in bytes */
  if (!heed_size_mul(count, count, &size) || !heed_size_mul(size, depth * sizeof(float), &size))
    size = SIZE_MAX;
  float *table = NULL, *made = size < SIZE_MAX ? heed_graph_keep(b->graph, NULL, size) : NULL;
  double *weights = heed_alloc(b->model->base.context, stored, sizeof *weights);
  heed_error error;
  heed_status status = heed_vit_keep(b, ref, &table, &error);
  if (status == HEED_OK && !(made && weights))
    status = heed_fail_memory(&error, "model: relative positions", size);
  if (status == HEED_OK) spread(table, stored, count, depth, sqrt(depth), weights, made);
  heed_free(b->model->base.context, weights);
  return status == HEED_OK ? heed_vit_define_data(b, made, HEED_SHAPE(count, count, depth))
                           : heed_graph_fail(b->graph, &error);
}

static heed_value swap_axes(heed_vit_builder *b, heed_value x) {
  const heed_permute_desc permute = {sizeof permute, x, {0, 2, 1, 3}};
  return heed_define_permute(b->graph, &permute);
}

/* What queries [N, lines, others, D] give for each line: [N, lines, others, lines]. */
static heed_value meet(heed_vit_builder *b, heed_value queries, heed_value distances) {
  const heed_matmul_desc product = {sizeof product, queries, distances, false, true};
  return heed_define_matmul(b->graph, &product);
}

static void find_grid(const heed_vit_builder *b, const heed_vit_windows *windows, uint32_t *rows,
                      uint32_t *columns) {
  *rows = windows->side ? windows->side : b->rows;
  *columns = windows->side ? windows->side : b->columns;
}

heed_value heed_vit_meet_distances(heed_vit_builder *b, heed_value queries, uint32_t layer,
                                   const heed_vit_windows *windows) {
  uint32_t rows, columns;
  find_grid(b, windows, &rows, &columns);
  if (!queries.id) return queries; /* the graph has failed */
  const heed_shape whole = heed_graph_record(b->graph, queries.id)->shape;
  const uint32_t *dim = whole.dim, heads = dim[0] * dim[1];
  const heed_shape grid = HEED_SHAPE(heads, rows, columns, dim[3]),
                   by_row = HEED_SHAPE(dim[0], dim[1], dim[2], rows),
                   by_column = HEED_SHAPE(dim[0], dim[1], dim[2], columns);
  const heed_value lines = heed_define_view(b->graph, queries, 0, &grid);
  const heed_value down = meet(b, lines, define_distances(b, HEED_ROLE_RELATIVE_ROWS, layer, rows));
  const heed_value across =
      swap_axes(b, meet(b, swap_axes(b, lines),
                        define_distances(b, HEED_ROLE_RELATIVE_COLUMNS, layer, columns)));
  const heed_concat_desc concat = {sizeof concat,
                                   {queries, heed_define_view(b->graph, down, 0, &by_row),
                                    heed_define_view(b->graph, across, 0, &by_column)},
                                   3,
                                   3};
  return heed_define_concat(b->graph, &concat);
}

/* ------------------------------------------------------------------------------------- the keys */

typedef struct own_places {
  uint32_t rows, columns;
} own_places;

static heed_status read_places(void *user, uint64_t first, uint64_t count, void *to,
                               heed_error *error) {
  const own_places *p = user;
  const uint32_t width = p->rows + p->columns, tokens = p->rows * p->columns;
  float *out = to;
  (void)error;
  for (uint64_t at = first; at < first + count; at++) {
    const uint32_t token = (uint32_t)(at / width % tokens), line = (uint32_t)(at % width);
    *out++ = line == token / p->columns || line == p->rows + token % p->columns ? 1.0f : 0.0f;
  }
  return HEED_OK;
}

heed_value heed_vit_say_places(heed_vit_builder *b, heed_value keys,
                               const heed_vit_windows *windows) {
  own_places made;
  find_grid(b, windows, &made.rows, &made.columns);
  heed_value *own = &b->own_places[windows->side != 0];
  if (!own->id) {
    void *kept = heed_graph_keep(b->graph, &made, sizeof made);
    const heed_constant_desc desc = {
        sizeof desc,
        NULL,
        HEED_F32,
        HEED_SHAPE(1, b->dims.heads, made.rows * made.columns, made.rows + made.columns),
        NULL,
        kept ? read_places : NULL,
        kept};
    *own = heed_define_constant(b->graph, &desc);
  }
  const heed_concat_desc concat = {sizeof concat, {keys, *own}, 2, 3};
  return heed_define_concat(b->graph, &concat);
}
