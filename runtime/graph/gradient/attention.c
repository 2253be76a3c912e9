/* The adjoint of attention (Vaswani et al. 2017). With A = softmax(s), g the gradient of A V:
 * dV = A^T g; dA = g V^T; ds = A (dA - sum over keys of A dA); dQ = scale ds K; dK = scale ds^T Q.
 */
#include "graph/attention_rule.h"

#include "base/tensor.h"
#include "graph/gradient/adjoint.h"
#include "graph/ops/attention.h"

/* What has no adjoint yet, or NULL. */
static const char *refused(const heed_gradient *g, const heed_attention_desc *desc) {
  const heed_shape *query = heed_gradient_shape(g, desc->query),
                   *key = heed_gradient_shape(g, desc->key);
  if (desc->norm != HEED_NORM_SOFTMAX) return "a norm of attention other than softmax";
  if (desc->score == HEED_SCORE_ADDITIVE) return "the additive score of attention";
  if (desc->softcap != 0.0f) return "softcap of attention";
  if (desc->row_count) return "attention with some rows of weights";
  if (query->dim[1] != key->dim[1]) return "attention whose heads share keys";
  if (heed_gradient_wants(g, desc->bias)) return "a bias of attention that is not constant";
  if (heed_attention_hides(desc) && desc->empty_row != HEED_EMPTY_ROW_ZERO)
    return "attention whose empty rows are not zeros";
  return NULL;
}

/* The output's gradient as [B, H, Tq, Dv]. */
static heed_value split_heads(heed_gradient *g, const heed_attention_desc *desc, heed_value y) {
  static const uint32_t order[] = {0, 2, 1, 3};
  const uint32_t *q = heed_gradient_shape(g, desc->query)->dim,
                 *v = heed_gradient_shape(g, desc->value)->dim;
  const heed_shape apart = HEED_SHAPE(q[0], q[2], q[1], v[3]);
  return desc->merge_heads
             ? heed_gradient_permute(g, heed_define_reshape(g->graph, y, &apart), order)
             : y;
}

static heed_value multiply(heed_gradient *g, heed_value a, bool turn_a, heed_value b, bool turn_b) {
  const heed_matmul_desc desc = {sizeof desc, a, b, turn_a, turn_b};
  return heed_define_matmul(g->graph, &desc);
}

/* Bytes of a layer's weights up to which they are kept from the forward pass. */
#define KEPT_BYTES (4u << 20)

/* Weights and logits. Large ones are made again, so that no more than one layer's are held; unless
 * they are kept anyway for who wants their gradient. */
static heed_attention_values find_maps(heed_gradient *g, const heed_node *node, bool wanted) {
  if (!wanted && heed_ops[node->op]->map_bytes(g->graph, node) > KEPT_BYTES)
    return heed_define_attention(g->graph, node->desc);
  return (heed_attention_values){.weights = {node->output[HEED_ATTENTION_RESULT_WEIGHTS]},
                                 .logits = {node->output[HEED_ATTENTION_RESULT_LOGITS]}};
}

/* dA, 0 where a key is hidden. */
static heed_value weights_gradient(heed_gradient *g, const heed_attention_desc *desc,
                                   heed_value logits, heed_value y) {
  const heed_value all = multiply(g, y, false, desc->value, true);
  if (!heed_attention_hides(desc)) return all;
  const heed_elementwise_desc hidden = {
      .struct_size = sizeof hidden,
      .a = heed_gradient_elementwise(g, HEED_ELEMENTWISE_IS_INFINITE, logits, (heed_value){0}),
      .b = heed_gradient_number(g, 0.0f),
      .c = all,
      .kind = HEED_ELEMENTWISE_SELECT,
      .dtype = HEED_F32};
  return heed_define_elementwise(g->graph, &hidden);
}

/* What query and key get, from ds. */
static void add_scores(heed_gradient *g, const heed_attention_desc *desc, heed_value weights,
                       heed_value gradient) {
  const float factor = desc->scale * g->rules.scores;
  const heed_value sum = heed_gradient_reduce(g, HEED_REDUCE_SUM,
                                              heed_gradient_product(g, weights, gradient)),
                   scores = heed_gradient_product(g, weights,
                                                  heed_gradient_difference(g, gradient, sum));
  if (heed_gradient_wants(g, desc->query))
    heed_gradient_add(g, desc->query,
                      heed_gradient_times(g, multiply(g, scores, false, desc->key, false), factor));
  if (heed_gradient_wants(g, desc->key))
    heed_gradient_add(
        g, desc->key,
        heed_gradient_times(g, multiply(g, scores, true, desc->query, false), factor));
}

HEED_ADJOINT(attention) {
  const heed_attention_desc *desc = node->desc;
  const char *what = refused(g, desc);
  if (what) {
    heed_gradient_refuse(g, what);
    return;
  }
  const heed_value own = {node->output[HEED_ATTENTION_RESULT_WEIGHTS]},
                   y = split_heads(g, desc, heed_gradient_of(g, node->output[0]));
  const bool wanted = heed_gradient_is_wanted(g, own.id),
             scores = g->rules.scores != 0.0f &&
                      (heed_gradient_wants(g, desc->query) || heed_gradient_wants(g, desc->key));
  const heed_attention_values maps = find_maps(g, node, wanted);
  if (heed_gradient_wants(g, desc->value))
    heed_gradient_add(
        g, desc->value,
        heed_gradient_times(g, multiply(g, maps.weights, true, y, false), g->rules.values));
  if (!scores && !wanted) return;
  const heed_value gradient = weights_gradient(g, desc, maps.logits, y);
  if (wanted) heed_gradient_add(g, own, gradient);
  if (scores) add_scores(g, desc, maps.weights, gradient);
}
