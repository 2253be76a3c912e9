/* The adjoint of attention (Vaswani et al. 2017). With A = softmax(s), g the gradient of A V:
 * dV = A^T g; dA = g V^T; ds = A (dA - sum over keys of A dA); dQ = scale ds K; dK = scale ds^T Q.
 * A is 0 where a key is hidden, and so is ds. */
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
 * they are kept anyway for who wants their gradient, or were just made again. */
static heed_attention_values find_maps(heed_gradient *g, const heed_node *node, bool wanted) {
  if (!wanted && node->output[0] <= g->count &&
      heed_ops[node->op]->map_bytes(g->graph, node) > KEPT_BYTES)
    return heed_define_attention(g->graph, node->desc);
  return (heed_attention_values){.weights = {node->output[HEED_ATTENTION_RESULT_WEIGHTS]},
                                 .logits = {node->output[HEED_ATTENTION_RESULT_LOGITS]}};
}

/* dA, 0 where a key is hidden. */
static heed_value hide(heed_gradient *g, const heed_attention_desc *desc, heed_value logits,
                       heed_value gradient) {
  if (!heed_attention_hides(desc)) return gradient;
  const heed_elementwise_desc is_hidden = {.struct_size = sizeof is_hidden,
                                           .a = logits,
                                           .kind = HEED_ELEMENTWISE_IS_INFINITE,
                                           .dtype = HEED_F32};
  const heed_elementwise_desc hidden = {.struct_size = sizeof hidden,
                                        .a = heed_define_elementwise(g->graph, &is_hidden),
                                        .b = heed_gradient_number(g, 0.0f),
                                        .c = gradient,
                                        .kind = HEED_ELEMENTWISE_SELECT,
                                        .dtype = HEED_F32};
  return heed_define_elementwise(g->graph, &hidden);
}

/* What goes back through some queries; value 0: nobody asks. */
typedef struct parts {
  heed_value query, key, value, weights;
} parts;
typedef struct asked {
  bool query, key, value, weights;
} asked;

/* desc has these queries alone, y is the gradient of what they give. */
static parts go_back(heed_gradient *g, const heed_attention_desc *desc, heed_attention_values maps,
                     heed_value y, asked asks) {
  parts made = {{0}, {0}, {0}, {0}};
  const float factor = desc->scale * g->rules.scores;
  if (asks.query || asks.key || asks.weights) {
    const heed_value gradient = multiply(g, y, false, desc->value, true);
    if (asks.weights) made.weights = hide(g, desc, maps.logits, gradient);
    const heed_value scores = asks.query || asks.key
                                  ? heed_gradient_softmax(g, maps.weights, gradient, factor)
                                  : (heed_value){0};
    if (asks.query) made.query = multiply(g, scores, false, desc->key, false);
    if (asks.key) made.key = multiply(g, scores, true, desc->query, false);
  }
  /* last: the weights were read row by row before, so that their columns are near */
  if (asks.value)
    made.value = heed_gradient_times(g, multiply(g, maps.weights, true, y, false), g->rules.values);
  return made;
}

/* Whether each query's weights are the same without the others. */
static bool has_free_queries(const heed_gradient *g, const heed_attention_desc *desc) {
  return !desc->mask.id && !desc->query_padding.id && !desc->causal_offsets.id &&
         !heed_attention_hides_by_position(desc) &&
         (!desc->bias.id || heed_gradient_shape(g, desc->bias)->dim[2] == 1);
}

/* Queries [first, first + count) of x [B, H, Tq, D]. */
static heed_value take_queries(heed_gradient *g, heed_value x, uint32_t first, uint32_t count) {
  heed_slice_desc slice = {.struct_size = sizeof slice,
                           .x = x,
                           .shape = *heed_gradient_shape(g, x),
                           .start = {0, 0, (int32_t)first, 0},
                           .step = {1, 1, 1, 1}};
  slice.shape.dim[2] = count;
  return heed_define_slice(g->graph, &slice);
}

/* Blocks of queries one after the other, joined as many at a time as a concat takes, and these
 * again, so that each is copied a few times only. */
enum { JOIN_LEVELS = 16 };
typedef struct queue {
  heed_concat_desc level[JOIN_LEVELS];
} queue;

static void join_more(heed_gradient *g, queue *queries, heed_value more) {
  for (uint32_t i = 0; i < JOIN_LEVELS; i++) {
    heed_concat_desc *level = &queries->level[i];
    level->x[level->count++] = more;
    if (level->count < HEED_CONCAT_MAX) return;
    level->struct_size = sizeof *level;
    level->axis = 2;
    more = heed_define_concat(g->graph, level);
    level->count = 0;
  }
}

static heed_value join_all(heed_gradient *g, queue *queries) {
  heed_value all = {0};
  for (uint32_t i = 0; i < JOIN_LEVELS; i++) {
    heed_concat_desc *level = &queries->level[i];
    if (!level->count) continue;
    if (all.id) level->x[level->count++] = all;
    level->struct_size = sizeof *level;
    level->axis = 2;
    all = level->count > 1 ? heed_define_concat(g->graph, level) : level->x[0];
  }
  return all;
}

/* Block by block, so that the weights of no more than one block are held. */
static parts go_back_in_blocks(heed_gradient *g, const heed_attention_desc *desc, heed_value y,
                               uint32_t block, asked asks) {
  const uint32_t queries = heed_gradient_shape(g, desc->query)->dim[2];
  parts all = {{0}, {0}, {0}, {0}};
  queue joined = {0};
  for (uint32_t first = 0; first < queries && g->graph->status == HEED_OK; first += block) {
    const uint32_t count = block < queries - first ? block : queries - first;
    heed_attention_desc some = *desc;
    some.query = take_queries(g, desc->query, first, count);
    const parts made = go_back(g, &some, heed_define_attention(g->graph, &some),
                               take_queries(g, y, first, count), asks);
    if (asks.query) join_more(g, &joined, made.query);
    if (asks.key) all.key = heed_gradient_sum(g, all.key, made.key);
    if (asks.value) all.value = heed_gradient_sum(g, all.value, made.value);
  }
  if (asks.query) all.query = join_all(g, &joined);
  return all;
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
  const bool scores = g->rules.scores != 0.0f;
  const asked asks = {.query = scores && heed_gradient_wants(g, desc->query),
                      .key = scores && heed_gradient_wants(g, desc->key),
                      .value = heed_gradient_wants(g, desc->value),
                      .weights = heed_gradient_is_wanted(g, own.id)};
  const uint64_t bytes = heed_ops[node->op]->map_bytes(g->graph, node),
                 rows = g->block_bytes / (bytes / heed_gradient_shape(g, desc->query)->dim[2]);
  const parts made = bytes > g->block_bytes && !asks.weights && has_free_queries(g, desc)
                         ? go_back_in_blocks(g, desc, y, rows ? (uint32_t)rows : 1, asks)
                         : go_back(g, desc, find_maps(g, node, asks.weights), y, asks);
  if (asks.query) heed_gradient_add(g, desc->query, made.query);
  if (asks.key) heed_gradient_add(g, desc->key, made.key);
  if (asks.value) heed_gradient_add(g, desc->value, made.value);
  if (asks.weights) heed_gradient_add(g, own, made.weights);
}
