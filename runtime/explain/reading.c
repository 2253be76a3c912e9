/* The read-out is walked back from the value that the score is made of to the last states. */
#include "explain/reading.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/backward.h"
#include "explain/walk.h"
#include "heed/ops.h"

typedef struct reader {
  heed_explain_run *run;
  uint32_t b;
  double *weights; /* [T] */
} reader;

/* Adds `share` of what reads the value. */
static heed_status read(const reader *r, heed_value value, double share, heed_error *error);

static heed_status refuse(heed_error *error) {
  return heed_fail(error, HEED_UNSUPPORTED,
                   "explain: the read-out has another op than linear maps, norms, means and a "
                   "pooling attention");
}

static heed_status read_rows(const reader *r, const heed_node *node, double share,
                             heed_error *error) {
  const heed_select_rows_desc *desc = node->desc;
  (void)error;
  for (uint32_t i = 0; i < desc->count; i++)
    r->weights[desc->first + i] += share / (double)desc->count;
  return HEED_OK;
}

/* A mean over tokens is a linear map of their transpose; a residual is another read-out. */
static heed_status read_linear(const reader *r, const heed_node *node, double share,
                               heed_error *error) {
  const heed_linear_desc *desc = node->desc;
  const heed_node *before = heed_walk_node(r->run->pass.graph, desc->x);
  if (desc->residual.id) {
    HEED_TRY(read(r, desc->residual, share / 2, error));
    return read(r, desc->x, share / 2, error);
  }
  if (!before || before->op != HEED_OP_KIND_permute) return read(r, desc->x, share, error);
  float *means = heed_alloc(r->run->context, r->run->pass.tokens, sizeof *means);
  if (!means) return heed_fail_memory(error, "explain", r->run->pass.tokens * sizeof *means);
  const heed_status status = heed_graph_read_constant(r->run->pass.graph, desc->weight.id, 0,
                                                      r->run->pass.tokens, means, error);
  for (uint32_t t = 0; t < r->run->pass.tokens; t++) r->weights[t] += share * (double)means[t];
  heed_free(r->run->context, means);
  return status;
}

static heed_status read_concat(const reader *r, const heed_node *node, double share,
                               heed_error *error) {
  const heed_concat_desc *desc = node->desc;
  for (uint32_t i = 0; i < desc->count; i++)
    HEED_TRY(read(r, desc->x[i], share / desc->count, error));
  return HEED_OK;
}

static heed_status read_norm(const reader *r, const heed_node *node, double share,
                             heed_error *error) {
  return read(r, ((const heed_layer_norm_desc *)node->desc)->x, share, error);
}

/* The mean over heads of max(0, a times its gradient), [H, 1, keys]: keys are the last tokens. */
static heed_status read_pool(const reader *r, const heed_node *node, double share,
                             heed_error *error) {
  const heed_backward *backward = &r->run->backward;
  const heed_value weights = heed_graph_tap(r->run->pass.graph, HEED_TAP_POOL_WEIGHTS, 0);
  const uint32_t *dim = heed_graph_record(backward->graph, weights.id)->shape.dim;
  const size_t count = heed_backward_size(backward, weights), heads = dim[1], keys = dim[3];
  const size_t first = r->run->pass.tokens - keys;
  float *a = heed_alloc(r->run->context, 2 * count, sizeof *a);
  (void)node;
  heed_status status = a ? heed_backward_value(backward, weights, r->b, a, error)
                         : heed_fail_memory(error, "explain", 2 * count * sizeof *a);
  if (status == HEED_OK) status = heed_backward_gradient(backward, weights, r->b, a + count, error);
  for (size_t i = 0; i < count && status == HEED_OK; i++) {
    const double term = (double)a[i] * (double)a[count + i];
    if (!(term <= 0.0)) r->weights[first + i % keys] += share * term / (double)heads;
  }
  heed_free(r->run->context, a);
  return status;
}

static heed_status (*const readers[HEED_OP_KIND_COUNT])(const reader *, const heed_node *, double,
                                                        heed_error *) = {
    [HEED_OP_KIND_select_rows] = read_rows,
    [HEED_OP_KIND_linear] = read_linear,
    [HEED_OP_KIND_concat] = read_concat,
    [HEED_OP_KIND_layer_norm] = read_norm,
    [HEED_OP_KIND_attention] = read_pool};

static heed_status read(const reader *r, heed_value value, double share, heed_error *error) {
  const heed_node *node = heed_walk_node(r->run->pass.graph, value);
  return node && readers[node->op] ? readers[node->op](r, node, share, error) : refuse(error);
}

heed_status heed_reading_prepare(heed_explain_run *run, const char *what, heed_error *error) {
  const heed_value weights = heed_graph_tap(run->pass.graph, HEED_TAP_POOL_WEIGHTS, 0);
  if (!weights.id) return HEED_OK;
  HEED_TRY(heed_backward_want(run, &run->backward, weights, what, error));
  return heed_backward_keep(run, &run->backward, weights, what, error);
}

heed_status heed_reading_weights(heed_explain_run *run, uint32_t b, double *weights,
                                 heed_error *error) {
  const reader r = {run, b, weights};
  for (uint32_t t = 0; t < run->pass.tokens; t++) weights[t] = 0.0;
  if (run->target.kind == HEED_TARGET_STATE) {
    weights[run->target.token] = 1.0;
    return HEED_OK;
  }
  return read(&r, heed_target_value(run, &run->pass), 1.0, error);
}
