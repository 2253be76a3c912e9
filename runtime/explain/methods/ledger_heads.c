/* The walk of the ledger through attentions: what heads add by source token, and the pooling
 * attention of a read-out. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/attention_block.h"
#include "explain/methods/ledger.h"
#include "explain/row_kernels.h"
#include "explain/walk.h"
#include "graph/ops/attention.h"
#include "heed/ops.h"

static heed_value weights_of(const heed_node *attention) {
  return (heed_value){attention->output[HEED_ATTENTION_RESULT_WEIGHTS]};
}

/* The pooling attention, its weights held: on to what its values are made of. */
static heed_status add_pool_head(ledger_walk *w, const heed_linear_desc *linear, uint32_t first,
                                 const double *u, uint32_t depth, const float *a, double *g,
                                 ledger_rows *made, double *sum, heed_error *error) {
  memset(g, 0, made->width * sizeof *g);
  HEED_TRY(ledger_multiply(w, linear->weight, first, depth, u, depth, 1, g, error));
  for (size_t t = 0; t < made->count; t++) {
    const double share = (double)a[t];
    *sum += share;
    for (uint32_t c = 0; c < made->width; c++) made->d[t * made->width + c] += share * g[c];
  }
  return HEED_OK;
}

static heed_status pool_back(ledger_walk *w, const heed_node *node, const heed_value_record *value,
                             const heed_linear_desc *linear, const ledger_rows *u,
                             ledger_rows *made, heed_error *error) {
  const uint32_t heads = value->shape.dim[1], keys = value->shape.dim[2],
                 depth = value->shape.dim[3],
                 part = (uint32_t)(value->offset / heed_shape_count(&value->shape)),
                 first = part * heads * depth; /* row of the map of query, key and value */
  heed_context *context = w->run->context;
  float *bias = NULL, *a = heed_alloc_raw(context, (size_t)heads * keys, sizeof *a);
  double *g = heed_alloc_raw(context, made->width, sizeof *g);
  heed_status status = a && g ? heed_pass_read(w->pass, weights_of(node), w->b, a, error)
                              : heed_fail_memory(error, "ledger", made->width * sizeof *g);
  if (status == HEED_OK && linear->bias.id) status = ledger_constant(w, linear->bias, &bias, error);
  for (uint32_t h = 0; h < heads && status == HEED_OK; h++) {
    const size_t at = (size_t)h * depth;
    double sum = 0.0;
    status = add_pool_head(w, linear, first + (uint32_t)at, u->d + at, depth, a + (size_t)h * keys,
                           g, made, &sum, error);
    if (bias)
      w->bias[ledger_layer(node)] +=
          (float)(sum * heed_row_dot(u->d + at, bias + first + at, depth));
  }
  heed_free(context, a);
  heed_free(context, g);
  heed_free(context, bias);
  return status;
}

heed_status ledger_back_pool(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                             heed_error *error) {
  const heed_attention_desc *attention = node->desc;
  const heed_value_record *value = heed_graph_record(w->pass->graph, attention->value.id);
  const heed_node *maker = value->kind == HEED_VALUE_VIEW
                               ? heed_walk_node(w->pass->graph, (heed_value){value->base})
                               : NULL;
  if (!maker || maker->op != HEED_OP_KIND_linear)
    return ledger_refuse("its values are normed (expected a map of the states)", error);
  const heed_linear_desc *linear = maker->desc;
  ledger_rows made;
  uint32_t width;
  const size_t count = ledger_size(w, linear->x, &width);
  HEED_TRY(ledger_rows_first(w, (uint32_t)(count / width), width, &made, error));
  heed_status status = w->ran ? pool_back(w, node, value, linear, g, &made, error)
                              : heed_pass_keep(w->run, w->pass, weights_of(node), "ledger", error);
  if (status == HEED_OK) status = ledger_back(w, linear->x, &made, error);
  ledger_rows_free(w, &made);
  return status;
}

/* ----------------------------------------------------------------------------- heads of a layer */

static heed_status hold(ledger_walk *w, heed_value value, heed_held_form form, const ledger_rows *g,
                        heed_error *error) {
  const heed_held wanted = {
      .value = value, .form = form, .rows = g ? g->row : NULL, .row_count = g ? g->count : 0};
  return heed_hold(w->run, w->pass, &wanted, "ledger", error);
}

static heed_status hold_heads(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                              heed_error *error) {
  const heed_attention_desc *attention = node->desc;
  if (g->count <= LEDGER_FEW) {
    HEED_TRY(hold(w, weights_of(node), HEED_HELD_WEIGHTS, g, error));
  } else {
    HEED_TRY(hold(w, attention->query, HEED_HELD_PACKED, NULL, error));
    HEED_TRY(hold(w, attention->key, HEED_HELD_PACKED, NULL, error));
  }
  return hold(w, attention->value, HEED_HELD_PACKED, NULL, error);
}

/* Sum over the queries of A[h,t,s] u_t,h . v_h[s]. v [H, T, D] */
static void add_few(const ledger_walk *w, const heed_held *weights, const heed_held *v,
                    const ledger_rows *u, float *to) {
  const uint32_t depth = v->width, keys = weights->width;
  for (uint32_t h = 0; h < weights->heads; h++)
    for (uint32_t s = 0; s < keys; s++) {
      double sum = 0.0;
      for (uint32_t i = 0; i < u->count; i++)
        sum += (double)heed_held_row(weights, w->b, h, u->row[i], NULL)[s] *
               heed_held_dot(v, w->b, (size_t)h * keys + s,
                             u->d + (size_t)i * u->width + (size_t)h * depth);
      to[(size_t)h * keys + s] += (float)sum;
    }
}

/* A query or key, as the attention of a block asks for it. */
static heed_status read_held(const void *user, heed_value value, uint64_t first, uint64_t count,
                             float *to, heed_error *error) {
  const ledger_walk *w = user;
  const heed_held *held = heed_held_find(w->pass, value, (heed_value){0});
  if (!held) return heed_session_read(w->pass->session, value, first, count, to, error);
  const uint64_t picture = held->row_count * held->width;
  for (uint64_t i = 0; i < count; i += held->width)
    (void)heed_held_row(held, (uint32_t)((first + i) / picture), 0,
                        (size_t)((first + i) % picture / held->width), to + i);
  return HEED_OK;
}

/* u of queries [first, first + count), head by head: [H, BLOCK, D]; whether there is any. */
static bool take_block(const ledger_rows *u, uint32_t first, uint32_t count, uint32_t heads,
                       uint32_t depth, float *to) {
  bool any = false;
  memset(to, 0, (size_t)heads * HEED_ATTENTION_BLOCK * depth * sizeof *to);
  for (uint32_t i = 0; i < u->count; i++) {
    if (u->row[i] < first || u->row[i] >= first + count) continue;
    for (uint32_t h = 0; h < heads; h++)
      for (uint32_t k = 0; k < depth; k++) {
        const double one = u->d[(size_t)i * u->width + (size_t)h * depth + k];
        to[((size_t)h * HEED_ATTENTION_BLOCK + u->row[i] - first) * depth + k] = (float)one;
        any = any || one != 0.0;
      }
  }
  return any;
}

/* moved[h, s] = sum over t of A[h,t,s] u_t,h: [H, T, D]. Queries that nothing reads are left out.
 */
static heed_status move_back(heed_attention_block *block, const ledger_rows *u, float *some,
                             double *moved, heed_error *error) {
  const heed_attention_sizes *s = &block->sizes;
  const size_t all = (size_t)s->heads * s->value_depth * s->keys;
  heed_status status = heed_attention_block_open(block, error);
  for (uint32_t first = 0; first < s->queries && status == HEED_OK; first += HEED_ATTENTION_BLOCK) {
    const uint32_t left = s->queries - first,
                   count = left < HEED_ATTENTION_BLOCK ? left : HEED_ATTENTION_BLOCK;
    if (!take_block(u, first, count, s->heads, s->value_depth, some)) continue;
    status = heed_attention_block_run(block, first, count, some, error);
    for (size_t i = 0; i < all && status == HEED_OK; i++) moved[i] += (double)block->numbers[i];
  }
  heed_attention_block_close(block);
  return status;
}

static heed_status add_many(const ledger_walk *w, heed_value weights, const heed_held *v,
                            const ledger_rows *u, float *to, heed_error *error) {
  heed_context *context = w->run->context;
  heed_attention_block block = {.backend = w->run->desc->backend,
                                .from = w->pass->session,
                                .graph = w->pass->graph,
                                .batch = w->b,
                                .read = read_held,
                                .user = w,
                                .back = true};
  HEED_TRY(heed_attention_block_find(&block, weights, error));
  const size_t rows = (size_t)block.sizes.heads * block.sizes.keys, depth = block.sizes.value_depth,
               numbers = (size_t)block.sizes.heads * HEED_ATTENTION_BLOCK * depth;
  float *some = heed_alloc_raw(context, numbers, sizeof *some);
  double *moved = heed_alloc(context, rows * depth, sizeof *moved);
  heed_status status = some && moved
                           ? move_back(&block, u, some, moved, error)
                           : heed_fail_memory(error, "ledger", rows * depth * sizeof *moved);
  for (size_t i = 0; i < rows && status == HEED_OK; i++)
    to[i] += (float)heed_held_dot(v, w->b, i, moved + i * depth);
  heed_free(context, some);
  heed_free(context, moved);
  return status;
}

heed_status ledger_back_heads(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                              heed_error *error) {
  const heed_attention_desc *attention = node->desc;
  const heed_value weights = weights_of(node), none = {0};
  if (!w->ran) return hold_heads(w, node, g, error);
  const heed_held *few = heed_held_find(w->pass, weights, none),
                  *v = heed_held_find(w->pass, attention->value, none);
  float *to = w->heads + ledger_layer(node) * v->row_count;
  if (!few) return add_many(w, weights, v, g, to, error);
  add_few(w, few, v, g, to);
  return HEED_OK;
}
