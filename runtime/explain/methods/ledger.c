/* ledger: the score as a sum over heads and source tokens, MLPs, embeddings and biases (direct
 * logit attribution; Elhage et al. 2021, Gandelsman et al. 2024). Statistics of norms, attention
 * and |e| are held at their values: then the score is linear in the states, and its gradient r goes
 * back through the graph from node to node. What a branch adds is r times what it gave.
 *
 * heads[l,h,s] = v_h[s] . sum over t of A[h,t,s] u_t,h, with u = W_o^T r: no map is kept. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/attention_block.h"
#include "explain/method.h"
#include "explain/walk.h"
#include "graph/ops/attention.h"
#include "heed/ops.h"

enum { ROWS = 64 }; /* of a weight that are read at a time */

/* One walk. Without `r` nothing is computed: what the walk will read is kept by the pass. */
typedef struct ledger_walk {
  heed_explain_run *run;
  const heed_graph *graph;
  uint32_t b;
  heed_value stop; /* the states to go back to; */
  double *r;       /* [T, C]: what has arrived there */
  /* of the picture: [L, H, T], [L], [T], [L + 1], [T], [1] */
  float *heads, *mlps, *embeddings, *bias, *tokens, *pool;
} ledger_walk;

/* d [rows, width] is the gradient of the value's part of the picture; NULL without `r`. */
static heed_status go_back(ledger_walk *w, heed_value value, const double *d, heed_error *error);

static heed_status refuse(const char *why, heed_error *error) {
  return heed_fail(error, HEED_UNSUPPORTED, "ledger: the read-out is not linear: %s", why);
}

static heed_status keep(ledger_walk *w, heed_value value, heed_error *error) {
  return heed_pass_keep(w->run, &w->run->pass, value, "ledger", error);
}

/* Elements of the picture, and those of its last axis. */
static size_t size_of(const ledger_walk *w, heed_value value, uint32_t *width) {
  const heed_shape *shape = &heed_graph_record(w->graph, value.id)->shape;
  *width = shape->dim[shape->rank - 1];
  return (size_t)(heed_shape_count(shape) / w->run->pass.batch);
}

static double *make(const ledger_walk *w, size_t count, heed_error *error) {
  double *made = heed_alloc(w->run->context, count, sizeof *made);
  if (!made) (void)heed_fail_memory(error, "ledger", count * sizeof *made);
  return made;
}

/* The numbers of a value of the picture, or of a constant. */
static heed_status read(const ledger_walk *w, heed_value value, float **data, heed_error *error) {
  const heed_value_record *record = heed_graph_record(w->graph, value.id);
  const uint64_t all = heed_shape_count(&record->shape);
  const bool constant = record->kind == HEED_VALUE_CONSTANT;
  const size_t count = (size_t)(constant ? all : all / w->run->pass.batch);
  *data = heed_alloc_raw(w->run->context, count, sizeof **data);
  if (!*data) return heed_fail_memory(error, "ledger", count * sizeof **data);
  const heed_status status =
      constant ? heed_graph_read_constant(w->graph, value.id, 0, all, *data, error)
               : heed_pass_read(&w->run->pass, value, w->b, *data, error);
  if (status == HEED_OK) return HEED_OK;
  heed_free(w->run->context, *data);
  *data = NULL;
  return status;
}

static double dot(const double *d, const float *x, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; i++) sum += d[i] * (double)x[i];
  return sum;
}

static bool is_zero(const double *d, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (d[i] != 0.0) return false;
  return true;
}

/* The layer of a node, as biases are counted: L for the read-out. */
static uint32_t layer_of(const heed_node *node) { return node->stage - 1; }

/* bias += d . the node's bias, row by row. */
static heed_status add_bias(ledger_walk *w, const heed_node *node, heed_value bias, const double *d,
                            size_t count, heed_error *error) {
  float *numbers;
  uint32_t width;
  if (!bias.id || !d) return HEED_OK;
  HEED_TRY(read(w, bias, &numbers, error));
  (void)size_of(w, bias, &width);
  double sum = 0.0;
  for (size_t i = 0; i < count; i += width) sum += dot(d + i, numbers, width);
  w->bias[layer_of(node)] += (float)sum;
  heed_free(w->run->context, numbers);
  return HEED_OK;
}

/* sum += d . value of the picture; rows of which d is 0 are not read. */
static heed_status add_product(const ledger_walk *w, heed_value value, const double *d,
                               double factor, double *sum, heed_error *error) {
  uint32_t width;
  const size_t count = size_of(w, value, &width);
  float *row = heed_alloc_raw(w->run->context, width, sizeof *row);
  heed_status status = row ? HEED_OK : heed_fail_memory(error, "ledger", width * sizeof *row);
  for (size_t at = 0; at < count && status == HEED_OK; at += width) {
    if (is_zero(d + at, width)) continue;
    status = heed_session_read(w->run->pass.session, value, w->b * count + at, width, row, error);
    if (status == HEED_OK) *sum += factor * dot(d + at, row, width);
  }
  heed_free(w->run->context, row);
  return status;
}

/* What a branch that is no sum of heads adds: d . (out - residual). */
static heed_status add_branch(ledger_walk *w, const heed_node *node, const heed_linear_desc *linear,
                              const double *d, heed_error *error) {
  const heed_value out = {node->output[0]};
  const uint32_t layer = layer_of(node);
  if (!d) {
    HEED_TRY(keep(w, out, error));
    return keep(w, linear->residual, error);
  }
  double sum = 0.0;
  HEED_TRY(add_product(w, out, d, 1.0, &sum, error));
  HEED_TRY(add_product(w, linear->residual, d, -1.0, &sum, error));
  *(layer < w->run->info.layers ? w->mlps + layer : w->pool) += (float)sum;
  return HEED_OK;
}

/* Whether what a linear map reads is another map's result: an MLP. */
static bool is_mlp(const ledger_walk *w, const heed_linear_desc *linear) {
  const heed_node *node = heed_walk_node(w->graph, linear->x);
  while (node && node->op == HEED_OP_KIND_layer_norm)
    node = heed_walk_node(w->graph, ((const heed_layer_norm_desc *)node->desc)->x);
  return linear->residual.id && node &&
         (node->op == HEED_OP_KIND_linear || node->op == HEED_OP_KIND_multiply);
}

/* dx[rows, K] += d[rows, N] W, of rows of W from `first` on. */
static heed_status multiply(const ledger_walk *w, heed_value weight, uint32_t first, uint32_t outs,
                            const double *d, size_t stride, size_t rows, double *dx,
                            heed_error *error) {
  uint32_t ins;
  (void)size_of(w, weight, &ins);
  float *block = heed_alloc_raw(w->run->context, (size_t)ROWS * ins, sizeof *block);
  if (!block) return heed_fail_memory(error, "ledger", (size_t)ROWS * ins * sizeof *block);
  heed_status status = HEED_OK;
  for (uint32_t n = 0; n < outs && status == HEED_OK; n += ROWS) {
    const uint32_t count = outs - n < ROWS ? outs - n : ROWS;
    bool used = false;
    for (size_t row = 0; row < rows && !used; row++) used = !is_zero(d + row * stride + n, count);
    if (!used) continue;
    status = heed_graph_read_constant(w->graph, weight.id, (uint64_t)(first + n) * ins,
                                      (uint64_t)count * ins, block, error);
    for (size_t row = 0; row < rows && status == HEED_OK; row++)
      for (uint32_t i = 0; i < count; i++) {
        const double share = d[row * stride + n + i];
        if (share == 0.0) continue;
        for (uint32_t k = 0; k < ins; k++)
          dx[row * ins + k] += share * (double)block[(size_t)i * ins + k];
      }
  }
  heed_free(w->run->context, block);
  return status;
}

static heed_status back_linear(ledger_walk *w, const heed_node *node, const double *d,
                               heed_error *error) {
  const heed_linear_desc *linear = node->desc;
  const heed_value out = {node->output[0]};
  uint32_t width, ins;
  const size_t count = size_of(w, out, &width), from = size_of(w, linear->x, &ins);
  if (is_mlp(w, linear)) {
    HEED_TRY(add_branch(w, node, linear, d, error));
    return go_back(w, linear->residual, d, error);
  }
  if (linear->activation != HEED_ACTIVATION_NONE)
    return refuse("an activation follows the states (expected a classifier or projection alone)",
                  error);
  HEED_TRY(add_bias(w, node, linear->bias, d, count, error));
  double *dx = d ? make(w, from, error) : NULL;
  heed_status status = d && !dx ? HEED_OUT_OF_MEMORY : HEED_OK;
  if (d && status == HEED_OK)
    status = multiply(w, linear->weight, 0, width, d, width, count / width, dx, error);
  if (status == HEED_OK) status = go_back(w, linear->x, dx, error);
  heed_free(w->run->context, dx);
  if (status != HEED_OK || !linear->residual.id) return status;
  return go_back(w, linear->residual, d, error);
}

/* dx = c(d gain) / sigma, c(g) = g - mean g; of a norm about 0 without c. */
static heed_status back_layer_norm(ledger_walk *w, const heed_node *node, const double *d,
                                   heed_error *error) {
  const heed_layer_norm_desc *norm = node->desc;
  uint32_t width;
  const size_t count = size_of(w, norm->x, &width);
  if (!d) {
    HEED_TRY(keep(w, norm->x, error));
    return go_back(w, norm->x, NULL, error);
  }
  HEED_TRY(add_bias(w, node, norm->bias, d, count, error));
  float *gain = NULL, *x = NULL;
  double *dx = make(w, count, error);
  heed_status status = dx ? read(w, norm->gain, &gain, error) : HEED_OUT_OF_MEMORY;
  if (status == HEED_OK && !(x = heed_alloc_raw(w->run->context, width, sizeof *x)))
    status = heed_fail_memory(error, "ledger", width * sizeof *x);
  for (size_t row = 0; row < count && status == HEED_OK; row += width) {
    if (is_zero(d + row, width)) continue;
    status = heed_session_read(w->run->pass.session, norm->x, w->b * count + row, width, x, error);
    if (status != HEED_OK) break;
    double mean = 0.0, square = 0.0, centre = 0.0;
    for (uint32_t c = 0; c < width && !norm->rms; c++) mean += (double)x[c] / width;
    for (uint32_t c = 0; c < width; c++) {
      const double apart = (double)x[c] - mean;
      square += apart * apart;
      dx[row + c] = d[row + c] * (double)gain[c];
      if (!norm->rms) centre += dx[row + c] / width;
    }
    const double sigma = sqrt(square / width + (double)norm->epsilon);
    for (uint32_t c = 0; c < width; c++) dx[row + c] = (dx[row + c] - centre) / sigma;
  }
  if (status == HEED_OK) status = go_back(w, norm->x, dx, error);
  heed_free(w->run->context, gain);
  heed_free(w->run->context, x);
  heed_free(w->run->context, dx);
  return status;
}

static heed_status back_select_rows(ledger_walk *w, const heed_node *node, const double *d,
                                    heed_error *error) {
  const heed_select_rows_desc *select = node->desc;
  uint32_t width;
  const size_t count = size_of(w, select->x, &width);
  double *dx = d ? make(w, count, error) : NULL;
  if (d && !dx) return HEED_OUT_OF_MEMORY;
  if (d) memcpy(dx + (size_t)select->first * width, d, (size_t)select->count * width * sizeof *d);
  const heed_status status = go_back(w, select->x, dx, error);
  heed_free(w->run->context, dx);
  return status;
}

/* [B, C, T] of [B, T, C], before a mean over tokens. */
static heed_status back_permute(ledger_walk *w, const heed_node *node, const double *d,
                                heed_error *error) {
  const heed_permute_desc *permute = node->desc;
  const heed_shape *shape = &heed_graph_record(w->graph, permute->x.id)->shape;
  if (shape->rank != 3 || permute->order[0] != 0)
    return refuse("its axes are reordered (expected a mean over tokens)", error);
  uint32_t width;
  const size_t count = size_of(w, permute->x, &width), rows = count / width;
  double *dx = d ? make(w, count, error) : NULL;
  if (d && !dx) return HEED_OUT_OF_MEMORY;
  for (size_t t = 0; d && t < rows; t++)
    for (uint32_t c = 0; c < width; c++)
      dx[t * width + c] = permute->order[1] == 2 ? d[c * rows + t] : d[t * width + c];
  const heed_status status = go_back(w, permute->x, dx, error);
  heed_free(w->run->context, dx);
  return status;
}

static heed_status back_concat(ledger_walk *w, const heed_node *node, const double *d,
                               heed_error *error) {
  const heed_concat_desc *concat = node->desc;
  uint32_t whole, width;
  const size_t size = size_of(w, (heed_value){node->output[0]}, &whole), rows = size / whole;
  if (concat->axis + 1 != heed_graph_record(w->graph, concat->x[0].id)->shape.rank)
    return refuse("its tokens are joined (expected channels)", error);
  uint32_t first = 0;
  for (uint32_t i = 0; i < concat->count; i++, first += width) {
    const size_t count = size_of(w, concat->x[i], &width);
    double *dx = d ? make(w, count, error) : NULL;
    if (d && !dx) return HEED_OUT_OF_MEMORY;
    for (size_t row = 0; d && row < rows; row++)
      memcpy(dx + row * width, d + row * whole + first, width * sizeof *d);
    const heed_status status = go_back(w, concat->x[i], dx, error);
    heed_free(w->run->context, dx);
    HEED_TRY(status);
  }
  return HEED_OK;
}

static heed_status back_add(ledger_walk *w, const heed_node *node, const double *d,
                            heed_error *error) {
  const heed_add_desc *add = node->desc;
  uint32_t width;
  if (size_of(w, add->a, &width) != size_of(w, add->b, &width))
    return refuse("it adds what it repeats (expected values of one shape)", error);
  HEED_TRY(go_back(w, add->a, d, error));
  return go_back(w, add->b, d, error);
}

/* The pooling attention, its weights held: on to what its values are made of. */
static heed_status back_pool(ledger_walk *w, const heed_node *node, const double *u,
                             heed_error *error) {
  const heed_attention_desc *attention = node->desc;
  const heed_value weights = {node->output[HEED_ATTENTION_RESULT_WEIGHTS]};
  const heed_value_record *value = heed_graph_record(w->graph, attention->value.id);
  const heed_node *maker =
      value->kind == HEED_VALUE_VIEW ? heed_walk_node(w->graph, (heed_value){value->base}) : NULL;
  if (!maker || maker->op != HEED_OP_KIND_linear)
    return refuse("its values are normed (expected a map of the states)", error);
  const heed_linear_desc *linear = maker->desc;
  if (!u) {
    HEED_TRY(keep(w, weights, error));
    return go_back(w, linear->x, NULL, error);
  }
  const uint32_t heads = value->shape.dim[1], keys = value->shape.dim[2],
                 depth = value->shape.dim[3], all = heads * depth,
                 part = (uint32_t)(value->offset / heed_shape_count(&value->shape));
  uint32_t width;
  const size_t count = size_of(w, linear->x, &width);
  float *a = NULL, *bias = NULL;
  double *dx = make(w, count, error), *g = make(w, width, error);
  heed_status status = dx && g ? read(w, weights, &a, error) : HEED_OUT_OF_MEMORY;
  if (status == HEED_OK && linear->bias.id) status = read(w, linear->bias, &bias, error);
  for (uint32_t h = 0; h < heads && status == HEED_OK; h++) {
    double sum = 0.0;
    memset(g, 0, width * sizeof *g);
    status = multiply(w, linear->weight, part * all + h * depth, depth, u + (size_t)h * depth,
                      depth, 1, g, error);
    for (uint32_t t = 0; t < keys; t++) {
      const double share = (double)a[(size_t)h * keys + t];
      sum += share;
      for (uint32_t c = 0; c < width; c++) dx[(size_t)t * width + c] += share * g[c];
    }
    if (bias)
      w->bias[layer_of(node)] +=
          (float)(sum * dot(u + (size_t)h * depth, bias + part * all + h * depth, depth));
  }
  if (status == HEED_OK) status = go_back(w, linear->x, dx, error);
  heed_free(w->run->context, a);
  heed_free(w->run->context, bias);
  heed_free(w->run->context, dx);
  heed_free(w->run->context, g);
  return status;
}

/* u of these queries, head by head: [H, BLOCK, D]. */
static void take_block(const double *u, uint32_t first, uint32_t count, uint32_t heads,
                       uint32_t depth, float *to) {
  memset(to, 0, (size_t)heads * HEED_ATTENTION_BLOCK * depth * sizeof *to);
  for (uint32_t i = 0; i < count; i++)
    for (uint32_t h = 0; h < heads; h++)
      for (uint32_t k = 0; k < depth; k++)
        to[((size_t)h * HEED_ATTENTION_BLOCK + i) * depth + k] =
            (float)u[((size_t)(first + i) * heads + h) * depth + k];
}

/* moved[h, s] = sum over t of A[h,t,s] u_t,h: [H, T, D]. Queries that nothing reads are left out.
 */
static heed_status move_back(const heed_attention_block *found, const double *u, float *some,
                             double *moved, heed_error *error) {
  const heed_attention_sizes *s = &found->sizes;
  const size_t width = (size_t)s->heads * s->value_depth, all = width * s->keys;
  heed_attention_block block = *found;
  heed_status status = heed_attention_block_open(&block, error);
  for (uint32_t first = 0; first < s->queries && status == HEED_OK; first += HEED_ATTENTION_BLOCK) {
    const uint32_t left = s->queries - first,
                   count = left < HEED_ATTENTION_BLOCK ? left : HEED_ATTENTION_BLOCK;
    if (is_zero(u + first * width, count * width)) continue;
    take_block(u, first, count, s->heads, s->value_depth, some);
    status = heed_attention_block_run(&block, first, count, some, error);
    for (size_t i = 0; i < all && status == HEED_OK; i++) moved[i] += (double)block.numbers[i];
  }
  heed_attention_block_close(&block);
  return status;
}

/* What the heads of a layer add, by source token. */
static heed_status back_heads(ledger_walk *w, const heed_node *node, const double *u,
                              heed_error *error) {
  const heed_attention_desc *attention = node->desc;
  if (!u) {
    HEED_TRY(keep(w, attention->query, error));
    HEED_TRY(keep(w, attention->key, error));
    return keep(w, attention->value, error);
  }
  heed_context *context = w->run->context;
  heed_attention_block block = {
      .from = w->run->pass.session, .graph = w->graph, .batch = w->b, .back = true};
  HEED_TRY(heed_attention_block_find(
      &block, (heed_value){node->output[HEED_ATTENTION_RESULT_WEIGHTS]}, error));
  const size_t rows = (size_t)block.sizes.heads * block.sizes.keys, depth = block.sizes.value_depth,
               numbers = (size_t)block.sizes.heads * HEED_ATTENTION_BLOCK * depth;
  float *v = NULL, *some = heed_alloc_raw(context, numbers, sizeof *some);
  double *moved = some ? make(w, rows * depth, error) : NULL;
  heed_status status = some ? moved ? HEED_OK : HEED_OUT_OF_MEMORY
                            : heed_fail_memory(error, "ledger", numbers * sizeof *some);
  if (status == HEED_OK) status = move_back(&block, u, some, moved, error);
  if (status == HEED_OK) status = read(w, attention->value, &v, error);
  float *to = w->heads + layer_of(node) * rows;
  for (size_t i = 0; i < rows && status == HEED_OK; i++)
    to[i] += (float)dot(moved + i * depth, v + i * depth, depth);
  heed_free(context, v);
  heed_free(context, some);
  heed_free(context, moved);
  return status;
}

static heed_status back_attention(ledger_walk *w, const heed_node *node, const double *d,
                                  heed_error *error) {
  return (layer_of(node) < w->run->info.layers ? back_heads : back_pool)(w, node, d, error);
}

static heed_status (*const back[HEED_OP_KIND_COUNT])(ledger_walk *, const heed_node *,
                                                     const double *, heed_error *) = {
    [HEED_OP_KIND_linear] = back_linear,           [HEED_OP_KIND_layer_norm] = back_layer_norm,
    [HEED_OP_KIND_select_rows] = back_select_rows, [HEED_OP_KIND_permute] = back_permute,
    [HEED_OP_KIND_concat] = back_concat,           [HEED_OP_KIND_add] = back_add,
    [HEED_OP_KIND_attention] = back_attention};

static heed_status go_back(ledger_walk *w, heed_value value, const double *d, heed_error *error) {
  if (heed_walk_whole(w->graph, value).id == heed_walk_whole(w->graph, w->stop).id) {
    uint32_t width;
    const size_t count = d ? size_of(w, value, &width) : 0;
    for (size_t i = 0; i < count; i++) w->r[i] += d[i];
    return HEED_OK;
  }
  const heed_node *node = heed_walk_node(w->graph, value);
  if (!node || !back[node->op])
    return refuse("it has another op than linear maps and norms", error);
  return back[node->op](w, node, d, error);
}

/* parts[t] = r_t . x_t of the states at a level. */
static heed_status add_states(ledger_walk *w, uint32_t level, const double *r, float *parts,
                              heed_error *error) {
  const uint32_t width = w->run->info.width, tokens = w->run->pass.tokens;
  const heed_value states = heed_pass_states(&w->run->pass, level);
  float *x = heed_alloc_raw(w->run->context, width, sizeof *x);
  heed_status status = x ? HEED_OK : heed_fail_memory(error, "ledger", width * sizeof *x);
  for (size_t t = 0; t < tokens && status == HEED_OK; t++) {
    if (is_zero(r + t * width, width)) continue;
    status = heed_session_read(w->run->pass.session, states, ((uint64_t)w->b * tokens + t) * width,
                               width, x, error);
    if (status == HEED_OK) parts[t] = (float)dot(r + t * width, x, width);
  }
  heed_free(w->run->context, x);
  return status;
}

/* From the target to the states of the last layer, then layer by layer to the embeddings. */
static heed_status walk_all(ledger_walk *w, const double *seed, double *r[2], heed_error *error) {
  const heed_pass *pass = &w->run->pass;
  const uint32_t layers = w->run->info.layers;
  const size_t bytes = (size_t)pass->tokens * w->run->info.width * sizeof **r;
  w->stop = heed_pass_states(pass, layers);
  w->r = r[0];
  if (seed) memset(r[0], 0, bytes);
  HEED_TRY(go_back(w, heed_target_value(w->run, pass), seed, error));
  if (seed) HEED_TRY(add_states(w, layers, r[0], w->tokens, error));
  for (uint32_t l = layers; l-- > 0;) {
    const heed_value from = w->stop;
    w->stop = heed_pass_states(pass, l);
    w->r = r[1];
    if (seed) memset(r[1], 0, bytes);
    HEED_TRY(go_back(w, from, seed ? r[0] : NULL, error));
    double *const swapped = r[0];
    r[0] = r[1];
    r[1] = swapped;
  }
  return seed ? add_states(w, 0, r[0], w->embeddings, error) : HEED_OK;
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  double *none[2] = {NULL, NULL};
  ledger_walk walk = {.run = run, .graph = pass->graph};
  if (run->target.kind == HEED_TARGET_STATE)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "ledger: the target is a number of a state (expected a logit or vector)");
  HEED_TRY(heed_pass_keep_states(run, pass, "ledger", error));
  return walk_all(&walk, NULL, none, error);
}

static float *add(heed_explain_run *run, const char *name, heed_shape shape, heed_error *error) {
  return heed_explain_add(run, name, HEED_F32, &shape, error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const heed_pass *pass = &run->pass;
  const uint32_t batch = pass->batch, layers = run->info.layers, heads = run->info.heads,
                 tokens = pass->tokens;
  const size_t states = (size_t)tokens * run->info.width;
  ledger_walk first = {.run = run, .graph = pass->graph};
  if (!(first.heads = add(run, "ledger.heads", HEED_SHAPE(batch, layers, heads, tokens), error)) ||
      !(first.mlps = add(run, "ledger.mlps", HEED_SHAPE(batch, layers), error)) ||
      !(first.embeddings = add(run, "ledger.embeddings", HEED_SHAPE(batch, tokens), error)) ||
      !(first.bias = add(run, "ledger.bias", HEED_SHAPE(batch, layers + 1), error)) ||
      !(first.tokens = add(run, "ledger.tokens", HEED_SHAPE(batch, tokens), error)) ||
      (run->info.pool_heads && !(first.pool = add(run, "ledger.pool", HEED_SHAPE(batch), error))))
    return HEED_OUT_OF_MEMORY;
  uint32_t width;
  const size_t outputs = size_of(&first, heed_target_value(run, pass), &width);
  double *seed = make(&first, outputs, error), *both = make(&first, 2 * states, error);
  heed_status status = seed && both ? HEED_OK : HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < batch && status == HEED_OK; b++) {
    double constant = 0.0, *r[2] = {both, both + states};
    ledger_walk walk = {.run = run,
                        .graph = pass->graph,
                        .b = b,
                        .heads = first.heads + (size_t)b * layers * heads * tokens,
                        .mlps = first.mlps + (size_t)b * layers,
                        .embeddings = first.embeddings + (size_t)b * tokens,
                        .bias = first.bias + (size_t)b * (layers + 1),
                        .tokens = first.tokens + (size_t)b * tokens,
                        .pool = first.pool ? first.pool + b : NULL};
    float *row;
    status = read(&walk, heed_target_value(run, pass), &row, error);
    if (status != HEED_OK) break;
    heed_target_seed(run, b, row, width, seed, &constant);
    heed_free(run->context, row);
    walk.bias[layers] = (float)constant;
    status = walk_all(&walk, seed, r, error);
  }
  heed_free(run->context, seed);
  heed_free(run->context, both);
  return status;
}

const heed_explain_method heed_method_ledger = {
    .name = "ledger", .prepare = prepare, .compute = compute};
