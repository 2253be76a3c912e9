/* The walk of the ledger from node to node: linear maps, norms and what moves rows. */
#include <math.h>
#include <string.h>

#include "backend/session.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/methods/ledger.h"
#include "explain/row_kernels.h"
#include "explain/walk.h"
#include "graph/ops/attention.h"
#include "heed/ops.h"

enum { BLOCK = 16 }; /* rows of a weight that are read at a time */

heed_status ledger_refuse(const char *why, heed_error *error) {
  return heed_fail(error, HEED_UNSUPPORTED, "ledger: the read-out is not linear: %s", why);
}

size_t ledger_size(const ledger_walk *w, heed_value value, uint32_t *width) {
  const heed_shape *shape = &heed_graph_record(w->pass->graph, value.id)->shape;
  *width = shape->dim[shape->rank - 1];
  return (size_t)(heed_shape_count(shape) / w->pass->batch);
}

uint32_t ledger_layer(const heed_node *node) { return node->stage - 1; }

static bool is_zero(const double *d, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (d[i] != 0.0) return false;
  return true;
}

/* ------------------------------------------------------------------------------------------ rows
 */

static heed_status make_rows(const ledger_walk *w, uint32_t count, uint32_t width,
                             ledger_rows *made, heed_error *error) {
  *made = (ledger_rows){.count = count, .width = width};
  made->row = heed_alloc_raw(w->run->context, count, sizeof *made->row);
  if (w->ran) made->d = heed_alloc(w->run->context, (size_t)count * width, sizeof *made->d);
  if (made->row && (made->d || !w->ran)) return HEED_OK;
  ledger_rows_free(w, made);
  return heed_fail_memory(error, "ledger", (size_t)count * width * sizeof *made->d);
}

void ledger_rows_free(const ledger_walk *w, ledger_rows *rows) {
  heed_free(w->run->context, rows->row);
  heed_free(w->run->context, rows->d);
  *rows = (ledger_rows){0};
}

heed_status ledger_rows_like(const ledger_walk *w, const ledger_rows *like, uint32_t width,
                             ledger_rows *made, heed_error *error) {
  HEED_TRY(make_rows(w, like->count, width, made, error));
  memcpy(made->row, like->row, like->count * sizeof *like->row);
  return HEED_OK;
}

heed_status ledger_rows_first(const ledger_walk *w, uint32_t count, uint32_t width,
                              ledger_rows *made, heed_error *error) {
  HEED_TRY(make_rows(w, count, width, made, error));
  for (uint32_t i = 0; i < count; i++) made->row[i] = i;
  return HEED_OK;
}

static bool same_rows(const ledger_rows *a, const ledger_rows *b) {
  return a->count == b->count && memcmp(a->row, b->row, a->count * sizeof *a->row) == 0;
}

/* to += from, of rows that either has. */
static heed_status add_rows(const ledger_walk *w, ledger_rows *to, const ledger_rows *from,
                            heed_error *error) {
  ledger_rows sum;
  uint32_t i = 0, k = 0, n = 0;
  if (to->count && same_rows(to, from)) { /* many rows are much memory */
    for (size_t c = 0; to->d && c < (size_t)to->count * to->width; c++) to->d[c] += from->d[c];
    return HEED_OK;
  }
  HEED_TRY(make_rows(w, to->count + from->count, from->width, &sum, error));
  for (; i < to->count || k < from->count; n++) {
    const uint32_t left = i < to->count ? to->row[i] : UINT32_MAX,
                   right = k < from->count ? from->row[k] : UINT32_MAX;
    sum.row[n] = left < right ? left : right;
    double *d = sum.d ? sum.d + (size_t)n * sum.width : NULL;
    for (uint32_t c = 0; d && left <= right && c < sum.width; c++)
      d[c] += to->d[(size_t)i * sum.width + c];
    for (uint32_t c = 0; d && right <= left && c < sum.width; c++)
      d[c] += from->d[(size_t)k * sum.width + c];
    i += left <= right;
    k += right <= left;
  }
  sum.count = n;
  ledger_rows_free(w, to);
  *to = sum;
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- numbers
 */

heed_status ledger_constant(const ledger_walk *w, heed_value value, float **data,
                            heed_error *error) {
  const uint64_t all = heed_shape_count(&heed_graph_record(w->pass->graph, value.id)->shape);
  *data = heed_alloc_raw(w->run->context, (size_t)all, sizeof **data);
  if (!*data) return heed_fail_memory(error, "ledger", (size_t)all * sizeof **data);
  const heed_status status =
      heed_graph_read_constant(w->pass->graph, value.id, 0, all, *data, error);
  if (status == HEED_OK) return HEED_OK;
  heed_free(w->run->context, *data);
  *data = NULL;
  return status;
}

heed_status ledger_hold(ledger_walk *w, heed_value value, heed_value less, const ledger_rows *g,
                        heed_error *error) {
  const heed_held wanted = {.value = value,
                            .less = less,
                            .form = g->count > LEDGER_FEW ? HEED_HELD_PACKED : HEED_HELD_FLOATS,
                            .rows = g->row,
                            .row_count = g->count};
  return heed_hold(w->run, w->pass, &wanted, "ledger", error);
}

void ledger_add_products(const ledger_walk *w, heed_value value, heed_value less,
                         const ledger_rows *g, float *to, double *sum) {
  const heed_held *held = heed_held_find(w->pass, value, less);
  for (uint32_t i = 0; i < g->count; i++) {
    const double *d = g->d + (size_t)i * g->width;
    if (is_zero(d, g->width)) continue;
    const double one = heed_held_dot(held, w->b, g->row[i], d);
    if (to) to[g->row[i]] = (float)one;
    if (sum) *sum += one;
  }
}

/* to [ins] += d [outs] times the weight, by the panels that the session multiplies by: they are in
 * memory, whereas the weight's rows have to be read. */
static heed_status multiply_panels(const ledger_walk *w, const float *panels, uint32_t columns,
                                   uint32_t outs, uint32_t ins, const double *d, double *to,
                                   heed_error *error) {
  double *lanes = heed_alloc(w->run->context, (size_t)ins * 8 + columns, sizeof *lanes);
  if (!lanes) return heed_fail_memory(error, "ledger", ((size_t)ins * 8 + columns) * sizeof *lanes);
  double *last = lanes + (size_t)ins * 8; /* rows of the last panel that are not there */
  for (uint32_t n = 0; n < outs; n += columns, panels += (size_t)columns * ins) {
    const uint32_t count = outs - n < columns ? outs - n : columns;
    if (count < columns) memcpy(last, d + n, count * sizeof *d);
    if (!is_zero(d + n, count))
      heed_row_add_panel(count < columns ? last : d + n, panels, columns, ins, lanes);
  }
  for (size_t k = 0; k < ins; k++)
    for (size_t lane = 0; lane < 8; lane++) to[k] += lanes[8 * k + lane];
  heed_free(w->run->context, lanes);
  return HEED_OK;
}

heed_status ledger_multiply(const ledger_walk *w, heed_value weight, uint32_t first, uint32_t outs,
                            const double *d, size_t stride, size_t rows, double *to,
                            heed_error *error) {
  uint32_t ins;
  (void)ledger_size(w, weight, &ins);
  const heed_shape *shape = &heed_graph_record(w->pass->graph, weight.id)->shape;
  uint32_t columns;
  const float *panels =
      first == 0 && outs == shape->dim[0] && rows <= LEDGER_FEW && w->pass->session
          ? heed_session_panels(w->pass->session, weight, &columns)
          : NULL;
  for (size_t row = 0; panels && row < rows; row++)
    HEED_TRY(
        multiply_panels(w, panels, columns, outs, ins, d + row * stride, to + row * ins, error));
  if (panels) return HEED_OK;
  float *block = heed_alloc_raw(w->run->context, (size_t)BLOCK * ins, sizeof *block);
  if (!block) return heed_fail_memory(error, "ledger", (size_t)BLOCK * ins * sizeof *block);
  heed_status status = HEED_OK;
  for (uint32_t n = 0; n < outs && status == HEED_OK; n += BLOCK) {
    const uint32_t count = outs - n < BLOCK ? outs - n : BLOCK;
    bool used = false;
    for (size_t row = 0; row < rows && !used; row++) used = !is_zero(d + row * stride + n, count);
    if (!used) continue;
    status = heed_graph_read_constant(w->pass->graph, weight.id, (uint64_t)(first + n) * ins,
                                      (uint64_t)count * ins, block, error);
    for (size_t row = 0; row < rows && status == HEED_OK; row++)
      heed_row_add(d + row * stride + n, block, count, ins, to + row * ins);
  }
  heed_free(w->run->context, block);
  return status;
}

/* ----------------------------------------------------------------------------------------- nodes
 */

/* bias += d . the node's bias, row by row. */
static heed_status add_bias(ledger_walk *w, const heed_node *node, heed_value bias,
                            const ledger_rows *g, heed_error *error) {
  float *numbers;
  if (!bias.id || !w->ran) return HEED_OK;
  HEED_TRY(ledger_constant(w, bias, &numbers, error));
  double sum = 0.0;
  for (uint32_t i = 0; i < g->count; i++)
    sum += heed_row_dot(g->d + (size_t)i * g->width, numbers, g->width);
  w->bias[ledger_layer(node)] += (float)sum;
  heed_free(w->run->context, numbers);
  return HEED_OK;
}

/* What a branch that is no sum of heads adds: d . (out - residual). */
static heed_status add_branch(ledger_walk *w, const heed_node *node, const heed_linear_desc *linear,
                              const ledger_rows *g, heed_error *error) {
  const heed_value out = {node->output[0]};
  const uint32_t layer = ledger_layer(node);
  double sum = 0.0;
  if (!w->ran) return ledger_hold(w, out, linear->residual, g, error);
  ledger_add_products(w, out, linear->residual, g, NULL, &sum);
  if (w->once) heed_held_drop(w->run, w->pass, out, linear->residual);
  *(layer < w->run->info.layers ? w->mlps + layer : w->pool) += (float)sum;
  return HEED_OK;
}

/* Whether what a linear map reads is another map's result: an MLP. */
static bool is_mlp(const ledger_walk *w, const heed_linear_desc *linear) {
  const heed_node *node = heed_walk_node(w->pass->graph, linear->x);
  while (node && node->op == HEED_OP_KIND_layer_norm)
    node = heed_walk_node(w->pass->graph, ((const heed_layer_norm_desc *)node->desc)->x);
  return linear->residual.id && node &&
         (node->op == HEED_OP_KIND_linear || node->op == HEED_OP_KIND_multiply);
}

static heed_status back_linear(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                               heed_error *error) {
  const heed_linear_desc *linear = node->desc;
  uint32_t ins;
  (void)ledger_size(w, linear->x, &ins);
  if (is_mlp(w, linear)) {
    HEED_TRY(add_branch(w, node, linear, g, error));
    return ledger_back(w, linear->residual, g, error);
  }
  if (linear->activation != HEED_ACTIVATION_NONE)
    return ledger_refuse(
        "an activation follows the states (expected a classifier or projection alone)", error);
  ledger_rows made;
  HEED_TRY(add_bias(w, node, linear->bias, g, error));
  HEED_TRY(ledger_rows_like(w, g, ins, &made, error));
  heed_status status = HEED_OK;
  if (w->ran)
    status =
        ledger_multiply(w, linear->weight, 0, g->width, g->d, g->width, g->count, made.d, error);
  if (status == HEED_OK) status = ledger_back(w, linear->x, &made, error);
  ledger_rows_free(w, &made);
  if (status != HEED_OK || !linear->residual.id) return status;
  return ledger_back(w, linear->residual, g, error);
}

/* dx = c(d gain) / sigma, c(g) = g - mean g; of a norm about 0 without c. */
static void back_norm_row(const heed_layer_norm_desc *norm, uint32_t width, const float *gain,
                          const float *x, const double *d, double *dx) {
  double mean = 0.0, square = 0.0, centre = 0.0;
  for (uint32_t c = 0; c < width && !norm->rms; c++) mean += (double)x[c] / width;
  for (uint32_t c = 0; c < width; c++) {
    const double apart = (double)x[c] - mean;
    square += apart * apart;
    dx[c] = d[c] * (double)gain[c];
    if (!norm->rms) centre += dx[c] / width;
  }
  const double sigma = sqrt(square / width + (double)norm->epsilon);
  for (uint32_t c = 0; c < width; c++) dx[c] = (dx[c] - centre) / sigma;
}

static heed_status back_layer_norm(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                                   heed_error *error) {
  const heed_layer_norm_desc *norm = node->desc;
  if (!w->ran) {
    HEED_TRY(ledger_hold(w, norm->x, (heed_value){0}, g, error));
    return ledger_back(w, norm->x, g, error);
  }
  HEED_TRY(add_bias(w, node, norm->bias, g, error));
  ledger_rows made;
  float *gain = NULL, *room = heed_alloc_raw(w->run->context, g->width, sizeof *room);
  const heed_held *held = heed_held_find(w->pass, norm->x, (heed_value){0});
  if (!room) return heed_fail_memory(error, "ledger", g->width * sizeof *room);
  heed_status status = ledger_rows_like(w, g, g->width, &made, error);
  if (status == HEED_OK) status = ledger_constant(w, norm->gain, &gain, error);
  for (uint32_t i = 0; i < g->count && status == HEED_OK; i++) {
    const size_t at = (size_t)i * g->width;
    if (!is_zero(g->d + at, g->width))
      back_norm_row(norm, g->width, gain, heed_held_row(held, w->b, 0, g->row[i], room), g->d + at,
                    made.d + at);
  }
  if (status == HEED_OK) status = ledger_back(w, norm->x, &made, error);
  heed_free(w->run->context, gain);
  heed_free(w->run->context, room);
  ledger_rows_free(w, &made);
  return status;
}

static heed_status back_select_rows(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                                    heed_error *error) {
  const heed_select_rows_desc *select = node->desc;
  ledger_rows made;
  HEED_TRY(ledger_rows_like(w, g, g->width, &made, error));
  for (uint32_t i = 0; i < g->count; i++) made.row[i] += select->first;
  if (w->ran) memcpy(made.d, g->d, (size_t)g->count * g->width * sizeof *g->d);
  const heed_status status = ledger_back(w, select->x, &made, error);
  ledger_rows_free(w, &made);
  return status;
}

/* [B, C, T] of [B, T, C], before a mean over tokens. */
static heed_status back_permute(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                                heed_error *error) {
  const heed_permute_desc *permute = node->desc;
  const heed_shape *shape = &heed_graph_record(w->pass->graph, permute->x.id)->shape;
  if (shape->rank != 3 || permute->order[0] != 0)
    return ledger_refuse("its axes are reordered (expected a mean over tokens)", error);
  if (permute->order[1] == 1) return ledger_back(w, permute->x, g, error);
  ledger_rows made;
  const uint32_t rows = shape->dim[1], width = shape->dim[2];
  HEED_TRY(ledger_rows_first(w, rows, width, &made, error));
  for (uint32_t i = 0; i < g->count && w->ran; i++)
    for (size_t t = 0; t < rows; t++)
      made.d[t * width + g->row[i]] = g->d[(size_t)i * g->width + t];
  const heed_status status = ledger_back(w, permute->x, &made, error);
  ledger_rows_free(w, &made);
  return status;
}

static heed_status back_concat(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                               heed_error *error) {
  const heed_concat_desc *concat = node->desc;
  if (concat->axis + 1 != heed_graph_record(w->pass->graph, concat->x[0].id)->shape.rank)
    return ledger_refuse("its tokens are joined (expected channels)", error);
  uint32_t first = 0, width;
  for (uint32_t n = 0; n < concat->count; n++, first += width) {
    ledger_rows made;
    (void)ledger_size(w, concat->x[n], &width);
    HEED_TRY(ledger_rows_like(w, g, width, &made, error));
    for (size_t i = 0; i < g->count && w->ran; i++)
      memcpy(made.d + i * width, g->d + i * g->width + first, width * sizeof *g->d);
    const heed_status status = ledger_back(w, concat->x[n], &made, error);
    ledger_rows_free(w, &made);
    HEED_TRY(status);
  }
  return HEED_OK;
}

static heed_status back_add(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                            heed_error *error) {
  const heed_add_desc *add = node->desc;
  uint32_t width;
  if (ledger_size(w, add->a, &width) != ledger_size(w, add->b, &width))
    return ledger_refuse("it adds what it repeats (expected values of one shape)", error);
  HEED_TRY(ledger_back(w, add->a, g, error));
  return ledger_back(w, add->b, g, error);
}

static heed_status back_attention(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                                  heed_error *error) {
  return (ledger_layer(node) < w->run->info.layers ? ledger_back_heads : ledger_back_pool)(
      w, node, g, error);
}

static heed_status (*const back[HEED_OP_KIND_COUNT])(ledger_walk *, const heed_node *,
                                                     const ledger_rows *, heed_error *) = {
    [HEED_OP_KIND_linear] = back_linear,           [HEED_OP_KIND_layer_norm] = back_layer_norm,
    [HEED_OP_KIND_select_rows] = back_select_rows, [HEED_OP_KIND_permute] = back_permute,
    [HEED_OP_KIND_concat] = back_concat,           [HEED_OP_KIND_add] = back_add,
    [HEED_OP_KIND_attention] = back_attention};

/* A view that cuts the same numbers into other rows: on with all rows of the value. */
static heed_status back_view(ledger_walk *w, heed_value whole, const ledger_rows *g,
                             heed_error *error) {
  ledger_rows made;
  uint32_t width;
  const size_t count = ledger_size(w, whole, &width);
  HEED_TRY(ledger_rows_first(w, (uint32_t)(count / width), width, &made, error));
  for (size_t i = 0; i < g->count && w->ran; i++)
    memcpy(made.d + (size_t)g->row[i] * g->width, g->d + i * g->width, g->width * sizeof *g->d);
  const heed_status status = ledger_back(w, whole, &made, error);
  ledger_rows_free(w, &made);
  return status;
}

heed_status ledger_back(ledger_walk *w, heed_value value, const ledger_rows *g, heed_error *error) {
  const heed_graph *graph = w->pass->graph;
  const heed_value whole = heed_walk_whole(graph, value);
  const heed_shape *shape = &heed_graph_record(graph, whole.id)->shape;
  if (shape->dim[shape->rank - 1] != g->width) return back_view(w, whole, g, error);
  if (whole.id == heed_walk_whole(graph, w->stop).id) return add_rows(w, &w->arrived, g, error);
  const heed_node *node = heed_walk_node(graph, value);
  if (!node || !back[node->op])
    return ledger_refuse("it has another op than linear maps and norms", error);
  return back[node->op](w, node, g, error);
}
