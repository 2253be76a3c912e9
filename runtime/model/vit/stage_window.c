/* Attention inside windows that shift (Swin): tokens are gathered window by window, and relative
 * positions are added to the scores, stored or, in SwinV2, computed by a small network. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "model/vit/builder.h"

/* More than this for a layer is refused. */
#define MOST_BYTES (2ull << 30)
/* What keeps apart the parts of a window that were not neighbours before the shift. */
#define APART (-100.0f)

heed_status heed_vit_find_windows(const heed_vit *model, uint32_t layer, uint32_t rows,
                                  uint32_t columns, heed_vit_windows *windows, heed_error *error) {
  const heed_vit_dimensions *dims = &model->dims;
  *windows = (heed_vit_windows){0};
  if (!dims->stages || !heed_vit_has_windows(model, layer)) return HEED_OK;
  const bool shifts = model->roles.rules.staged;
  const heed_vit_stage *stage = &dims->stage[heed_vit_stage_of(dims, layer)];
  const uint32_t side = stage->window, least = rows < columns ? rows : columns;
  *windows = (heed_vit_windows){
      .side = side,
      .shift = shifts && least > side && (layer - stage->first) % 2 ? side / 2 : 0,
      .down = (rows + side - 1) / side,
      .across = (columns + side - 1) / side};
  if (least >= side || !shifts) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "build: image too small (found %u x %u patches in layer %u, expected windows of "
                   "%u x %u to fit)",
                   rows, columns, layer, side, side);
}

/* Where the place of a window lies in the grid: its token, or none. */
static int32_t token_at(const heed_vit_windows *w, uint32_t window, uint32_t place, uint32_t rows,
                        uint32_t columns) {
  const uint32_t y = window / w->across * w->side + place / w->side,
                 x = window % w->across * w->side + place % w->side,
                 row = (y + w->shift) % (w->down * w->side),
                 column = (x + w->shift) % (w->across * w->side);
  return row < rows && column < columns ? (int32_t)(row * columns + column) : INT32_MAX;
}

/* For each place of each window its token or, the other way, for each token its place. */
static int32_t *make_indices(heed_vit_builder *b, const heed_vit_windows *w, bool back) {
  const uint32_t square = w->side * w->side, places = w->down * w->across * square;
  const size_t count = back ? b->patches : places;
  int32_t *indices = heed_graph_keep(b->graph, NULL, count * sizeof *indices);
  for (uint32_t i = 0; indices && i < places; i++) {
    const int32_t token = token_at(w, i / square, i % square, b->rows, b->columns);
    if (!back)
      indices[i] = token;
    else if (token != INT32_MAX)
      indices[token] = (int32_t)i;
  }
  heed_error error;
  if (!indices && heed_fail_memory(&error, "model: windows", count * sizeof *indices))
    heed_graph_fail(b->graph, &error);
  return indices;
}

heed_value heed_vit_enter_windows(heed_vit_builder *b, heed_value x, const heed_vit_windows *w) {
  const uint32_t square = w->side * w->side, count = w->down * w->across;
  const heed_shape shape = HEED_SHAPE(b->desc.batch * count, square, b->dims.width);
  if (!w->side) return x;
  const int32_t *from = make_indices(b, w, false);
  if (!from) return (heed_value){0};
  return heed_define_view(b->graph, heed_vit_gather(b, x, from, HEED_SHAPE(count * square)), 0,
                          &shape);
}

heed_value heed_vit_leave_windows(heed_vit_builder *b, heed_value x, const heed_vit_windows *w) {
  const heed_shape whole =
      HEED_SHAPE(b->desc.batch, w->down * w->across * w->side * w->side, b->dims.width);
  if (!w->side) return x;
  const int32_t *from = make_indices(b, w, true);
  if (!from) return (heed_value){0};
  return heed_vit_gather(b, heed_define_view(b->graph, x, 0, &whole), from, HEED_SHAPE(b->patches));
}

/* --------------------------------------------------------------------------------- the bias */

/* The bias behind the constant. */
typedef struct window_bias {
  const float *table; /* [distances, H] */
  heed_vit_windows windows;
  uint32_t heads;
  float factor; /* 1 over the temperature */
} window_bias;

/* In which of three parts of the shifted grid a row or column lies: those of the last windows were
 * at both ends before. */
static uint32_t part_of(uint32_t at, uint32_t all, const heed_vit_windows *w) {
  return at < all - w->side ? 0 : at < all - w->shift ? 1 : 2;
}

static bool are_apart(const heed_vit_windows *w, uint32_t window, uint32_t a, uint32_t b) {
  const uint32_t top = window / w->across * w->side, left = window % w->across * w->side,
                 rows = w->down * w->side, columns = w->across * w->side;
  return part_of(top + a / w->side, rows, w) != part_of(top + b / w->side, rows, w) ||
         part_of(left + a % w->side, columns, w) != part_of(left + b % w->side, columns, w);
}

static heed_status read_bias(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error) {
  const window_bias *p = user;
  const heed_vit_windows *w = &p->windows;
  const uint32_t side = w->side, square = side * side, span = 2 * side - 1;
  float *out = to;
  (void)error;
  for (uint64_t at = first; at < first + count; at++) {
    const uint32_t key = (uint32_t)(at % square), query = (uint32_t)(at / square % square),
                   head = (uint32_t)(at / square / square % p->heads),
                   window = (uint32_t)(at / square / square / p->heads % (w->down * w->across));
    const uint32_t row =
        (query / side + side - 1 - key / side) * span + query % side + side - 1 - key % side;
    float bias = p->table[(size_t)row * p->heads + head];
    if (w->shift && are_apart(w, window, query, key)) bias += APART;
    *out++ = bias * p->factor;
  }
  return HEED_OK;
}

/* A distance as the network of SwinV2 takes it: its logarithm, scaled by the window that the table
 * was trained with. */
static double log_distance(int32_t distance, uint32_t trained) {
  if (trained < 2) return 0.0;
  const double scaled = 8.0 * distance / (trained - 1);
  return (scaled < 0.0 ? -1.0 : 1.0) * log2(fabs(scaled) + 1.0) / 3.0;
}

/* 16 times the sigmoid of what the network makes of each distance: [distances, H]. */
static void run_network(const float *hidden, const float *biases, const float *output,
                        uint32_t size, uint32_t heads, uint32_t distances, const float *places,
                        float *table) {
  for (uint32_t i = 0; i < distances; i++) {
    const double y = (double)places[2 * i], x = (double)places[2 * i + 1];
    for (uint32_t head = 0; head < heads; head++) {
      double sum = 0.0;
      for (uint32_t k = 0; k < size; k++) {
        const double unit =
            (double)hidden[2 * k] * y + (double)hidden[2 * k + 1] * x + (double)biases[k];
        if (unit > 0.0) sum += unit * (double)output[(size_t)head * size + k];
      }
      table[(size_t)i * heads + head] = (float)(16.0 / (1.0 + exp(-sum)));
    }
  }
}

/* The distances [(2 side - 1)^2, 2], stored or computed. */
static heed_status find_places(heed_vit_builder *b, uint32_t layer, uint32_t side, float *places,
                               heed_error *error) {
  const heed_config *config = b->model->config;
  const uint32_t stage = heed_vit_stage_of(&b->model->dims, layer), span = 2 * side - 1;
  heed_checkpoint_tensor *stored = heed_vit_coordinates(&b->model->roles, layer);
  if (stored && stored->info->shape.dim[1] == span)
    return heed_checkpoint_read(stored, 0, 2ull * span * span, places, error);
  const uint32_t trained = stage < config->trained_windows_count && config->trained_windows[stage]
                               ? config->trained_windows[stage]
                               : side;
  for (uint32_t i = 0; i < span * span; i++) {
    places[2 * i] = (float)log_distance((int32_t)(i / span) - (int32_t)(side - 1), trained);
    places[2 * i + 1] = (float)log_distance((int32_t)(i % span) - (int32_t)(side - 1), trained);
  }
  return HEED_OK;
}

static heed_status make_table(heed_vit_builder *b, uint32_t layer, uint32_t side,
                              const float **table, heed_error *error) {
  const heed_role_ref *refs = heed_vit_layer_ref(b->model, layer, (heed_role)0);
  const uint32_t heads = b->dims.heads, distances = (2 * side - 1) * (2 * side - 1);
  const size_t size = (size_t)distances * heads;
  float *stored, *hidden, *biases, *output, *made, *places;
  HEED_TRY(heed_vit_keep(b, refs + HEED_ROLE_POSITION_BIAS, &stored, error));
  *table = stored;
  if (stored) return HEED_OK;
  HEED_TRY(heed_vit_keep(b, refs + HEED_ROLE_POSITION_HIDDEN_WEIGHT, &hidden, error));
  HEED_TRY(heed_vit_keep(b, refs + HEED_ROLE_POSITION_HIDDEN_BIAS, &biases, error));
  HEED_TRY(heed_vit_keep(b, refs + HEED_ROLE_POSITION_OUTPUT, &output, error));
  *table = made = heed_graph_keep(b->graph, NULL, size * sizeof *made);
  if (!made) return heed_fail_memory(error, "model: position bias", size * sizeof *made);
  places = heed_graph_keep(b->graph, NULL, (size_t)2 * distances * sizeof *places);
  if (!places)
    return heed_fail_memory(error, "model: position bias", (size_t)2 * distances * sizeof *places);
  HEED_TRY(find_places(b, layer, side, places, error));
  run_network(hidden, biases, output, b->dims.position_hidden, heads, distances, places, made);
  return HEED_OK;
}

heed_status heed_vit_stage_bias(heed_vit_builder *b, uint32_t layer, const heed_vit_windows *w,
                                heed_value *bias, heed_error *error) {
  const uint32_t square = w->side * w->side, heads = b->dims.heads,
                 count = w->shift ? b->desc.batch * w->down * w->across : 1;
  uint64_t bytes = 0;
  if (!heed_u64_mul((uint64_t)square * square, 4ull * heads, &bytes) ||
      !heed_u64_mul(bytes, count, &bytes) || bytes > MOST_BYTES)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "build: the position bias is too large (found %llu bytes for %u windows of %u "
                     "x %u patches, expected at most %llu)",
                     (unsigned long long)bytes, count, w->side, w->side, MOST_BYTES);
  window_bias made = {.windows = *w,
                      .heads = heads,
                      .factor = b->desc.temperature == 0.0f ? 1.0f : 1.0f / b->desc.temperature};
  HEED_TRY(make_table(b, layer, w->side, &made.table, error));
  void *kept = heed_graph_keep(b->graph, &made, sizeof made);
  const heed_constant_desc desc = {sizeof desc, NULL,
                                   HEED_F32,    HEED_SHAPE(count, heads, square, square),
                                   NULL,        kept ? read_bias : NULL,
                                   kept};
  *bias = heed_define_constant(b->graph, &desc);
  return HEED_OK;
}
