/* The rollout of a row from the queries and keys that a session kept. A layer's weights are made
 * again, BLOCK queries at a time, by the attention op on the session's own backend. From the last
 * layer back, only the rows are needed that the row so far has a share of. */
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/attention_map.h"
#include "graph/attention_rule.h"
#include "graph/ops/attention.h"

enum { BLOCK = 64 };

/* The op for a block: a graph of one attention, whose value is zero and is not read. */
typedef struct block_op {
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value query, key, bias, weights;
} block_op;

typedef struct rollout_walk {
  heed_session *from;
  const heed_graph *graph;
  const heed_rollout_desc *desc;
  uint32_t batch;
  const heed_attention_desc *attention; /* of the layer */
  heed_attention_sizes sizes;
  block_op op;
  double *row, *next, *scratch; /* [N] */
  uint32_t *order;              /* [N] */
  float *numbers;               /* what is written to the op, or weights read from it */
} rollout_walk;

static void close_op(block_op *op) {
  heed_session_destroy(op->session);
  heed_plan_destroy(op->plan);
  heed_graph_destroy(op->graph);
  *op = (block_op){0};
}

/* The attention of a layer, if a row of it depends on its query, all keys and a bias alone. */
static heed_status find_layer(rollout_walk *walk, heed_value weights, heed_error *error) {
  const heed_value_record *record = heed_graph_need(walk->graph, weights, "rollout", error);
  if (!record) return HEED_INVALID_ARGUMENT;
  const heed_node *node =
      record->kind == HEED_VALUE_RESULT ? &walk->graph->nodes[record->node] : NULL;
  if (!node || node->op != HEED_OP_KIND_attention ||
      node->output[HEED_ATTENTION_RESULT_WEIGHTS] != weights.id)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "rollout: not attention weights (found \"%s\")",
                     record->name ? record->name : "");
  const heed_attention_desc *a = walk->attention = node->desc;
  heed_attention_get_sizes(walk->graph, a, &walk->sizes);
  const heed_attention_sizes *s = &walk->sizes;
  if (walk->batch >= s->batch || s->heads != walk->desc->heads || s->keys != walk->desc->tokens ||
      s->queries != walk->desc->tokens)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: another attention (found batch %u of %u, %u heads, %u queries, %u "
                     "keys, expected %u heads, %u tokens)",
                     walk->batch, s->batch, s->heads, s->queries, s->keys, walk->desc->heads,
                     walk->desc->tokens);
  if (a->mask.id || a->key_padding.id || a->query_padding.id || a->causal_offsets.id || a->causal ||
      a->window || a->softcap != 0.0f || a->score != HEED_SCORE_SCALED_DOT ||
      a->norm != HEED_NORM_SOFTMAX)
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "rollout: rows of \"%s\" have rules of their own (expected softmax(scale q k^T "
        "+ bias); heed_map_rollout_row takes kept weights)",
        record->name ? record->name : "");
  return HEED_OK;
}

static heed_status open_op(rollout_walk *walk, heed_error *error) {
  const heed_attention_sizes *s = &walk->sizes;
  block_op *op = &walk->op;
  const heed_shape query = {4, {1, s->heads, BLOCK, s->depth}},
                   key = {4, {1, s->key_heads, s->keys, s->depth}},
                   value = {4, {1, s->key_heads, s->keys, 1}};
  HEED_TRY(heed_graph_create(walk->graph->context, &op->graph, error));
  op->query = heed_define_input(op->graph, "query", HEED_F32, &query);
  op->key = heed_define_input(op->graph, "key", HEED_F32, &key);
  if (walk->attention->bias.id) {
    const uint32_t *stride = s->bias_stride;
    const heed_shape bias = {
        4, {1, stride[1] ? s->heads : 1, stride[2] ? BLOCK : 1, stride[3] ? s->keys : 1}};
    op->bias = heed_define_input(op->graph, "bias", HEED_F32, &bias);
  }
  const heed_attention_desc attention = {
      .struct_size = sizeof attention,
      .query = op->query,
      .key = op->key,
      .value = heed_define_input(op->graph, "value", HEED_F32, &value),
      .bias = op->bias,
      .scale = walk->attention->scale,
      .empty_row = walk->attention->empty_row,
      .merge_heads = true};
  op->weights = heed_define_attention(op->graph, &attention).weights;
  heed_graph_output(op->graph, op->weights);
  HEED_TRY(heed_graph_status(op->graph, error));
  const heed_plan_desc desc = {.struct_size = sizeof desc};
  HEED_TRY(heed_plan_create(op->graph, heed_session_backend(walk->from), &desc, &op->plan, error));
  return heed_session_create(op->plan, NULL, &op->session, error);
}

static heed_status write(const rollout_walk *walk, heed_value to, heed_error *error) {
  heed_value_info info;
  HEED_TRY(heed_graph_value_info(walk->op.graph, to, &info));
  return heed_session_write(walk->op.session, to, walk->numbers,
                            (size_t)heed_shape_count(&info.shape) * sizeof(float), error);
}

/* The bias of these queries; a constant, or an input that was kept. */
static heed_status write_bias(const rollout_walk *walk, uint32_t first, uint32_t count,
                              heed_error *error) {
  const heed_value from = walk->attention->bias;
  const uint32_t *stride = walk->sizes.bias_stride, heads = stride[1] ? walk->sizes.heads : 1,
                 keys = stride[3] ? walk->sizes.keys : 1;
  if (!from.id) return HEED_OK;
  for (uint32_t h = 0; h < heads; h++) {
    const uint64_t at =
        (uint64_t)walk->batch * stride[0] + (uint64_t)h * stride[1] + (uint64_t)first * stride[2];
    const uint64_t rows = stride[2] ? count : 1;
    float *to = walk->numbers + (size_t)h * (stride[2] ? BLOCK : 1) * keys;
    HEED_TRY(heed_graph_record(walk->graph, from.id)->kind == HEED_VALUE_CONSTANT
                 ? heed_graph_read_constant(walk->graph, from.id, at, rows * keys, to, error)
                 : heed_session_read(walk->from, from, at, rows * keys, to, error));
  }
  return write(walk, walk->op.bias, error);
}

static heed_status run_block(const rollout_walk *walk, uint32_t first, heed_error *error) {
  const heed_attention_sizes *s = &walk->sizes;
  const uint32_t left = s->queries - first, count = left < BLOCK ? left : BLOCK;
  for (uint32_t h = 0; h < s->heads; h++) {
    const uint64_t at = (((uint64_t)walk->batch * s->heads + h) * s->queries + first) * s->depth;
    HEED_TRY(heed_session_read(walk->from, walk->attention->query, at, (uint64_t)count * s->depth,
                               walk->numbers + (size_t)h * BLOCK * s->depth, error));
  }
  HEED_TRY(write(walk, walk->op.query, error));
  HEED_TRY(write_bias(walk, first, count, error));
  HEED_TRY(heed_session_run(walk->op.session, NULL, error));
  HEED_TRY(heed_session_read(walk->op.session, walk->op.weights, 0,
                             (uint64_t)s->heads * BLOCK * s->keys, walk->numbers, error));
  heed_map_rollout_add(walk->desc, walk->numbers, (size_t)BLOCK * s->keys, first, count, walk->row,
                       walk->next, walk->scratch, walk->order);
  return HEED_OK;
}

static bool has_share(const rollout_walk *walk, uint32_t first) {
  for (uint32_t q = first; q < walk->desc->tokens && q < first + BLOCK; q++)
    if (walk->row[q] != 0.0) return true;
  return false;
}

/* row = row times the matrix of the layer. */
static heed_status run_layer(rollout_walk *walk, heed_error *error) {
  const heed_attention_sizes *s = &walk->sizes;
  const uint64_t keys = (uint64_t)s->key_heads * s->keys * s->depth;
  HEED_TRY(open_op(walk, error));
  HEED_TRY(heed_session_read(walk->from, walk->attention->key, walk->batch * keys, keys,
                             walk->numbers, error));
  HEED_TRY(write(walk, walk->op.key, error));
  memset(walk->next, 0, walk->desc->tokens * sizeof *walk->next);
  for (uint32_t first = 0; first < walk->desc->tokens; first += BLOCK)
    if (has_share(walk, first)) HEED_TRY(run_block(walk, first, error));
  memcpy(walk->row, walk->next, walk->desc->tokens * sizeof *walk->row);
  return HEED_OK;
}

/* Room for keys, a block of queries, of bias or of weights of any layer. */
static heed_status make_room(rollout_walk *walk, const heed_value *weights, heed_error *error) {
  const size_t n = walk->desc->tokens;
  size_t most = 0;
  for (uint32_t l = 0; l < walk->desc->layers; l++) {
    HEED_TRY(find_layer(walk, weights[l], error));
    const size_t depth = walk->sizes.depth;
    size_t room = n > BLOCK ? n : BLOCK;
    if (!heed_size_mul(room, walk->sizes.heads, &room) ||
        !heed_size_mul(room, depth > BLOCK ? depth : BLOCK, &room))
      return heed_fail_memory(error, "rollout", SIZE_MAX);
    if (room > most) most = room;
  }
  walk->numbers = heed_alloc(walk->graph->context, most, sizeof *walk->numbers);
  walk->row = heed_alloc_raw(walk->graph->context, 3 * n, sizeof *walk->row);
  walk->order = heed_alloc_raw(walk->graph->context, n, sizeof *walk->order);
  if (!walk->numbers || !walk->row || !walk->order)
    return heed_fail_memory(error, "rollout", most * sizeof *walk->numbers);
  walk->next = walk->row + n;
  walk->scratch = walk->next + n;
  return HEED_OK;
}

heed_status heed_session_rollout_row(heed_session *session, const heed_rollout_desc *desc,
                                     const heed_value *weights, uint32_t batch, const float *start,
                                     float *row, heed_error *error) {
  heed_rollout_desc full;
  if (!session || !weights || !start || !row)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: NULL argument (expected session, weights, start and row)");
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "rollout", error));
  HEED_TRY(heed_map_rollout_check(&full, error));
  const uint32_t first = full.first_layer,
                 end = full.layer_count ? first + full.layer_count : full.layers;
  rollout_walk walk = {
      .from = session, .graph = heed_session_graph(session), .desc = &full, .batch = batch};
  heed_status status = make_room(&walk, weights, error);
  for (uint32_t i = 0; i < full.tokens && status == HEED_OK; i++) walk.row[i] = (double)start[i];
  for (uint32_t l = end; l-- > first && status == HEED_OK; close_op(&walk.op)) {
    status = find_layer(&walk, weights[l], error);
    if (status == HEED_OK) status = run_layer(&walk, error);
  }
  for (uint32_t i = 0; i < full.tokens && status == HEED_OK; i++) row[i] = (float)walk.row[i];
  heed_free(walk.graph->context, walk.numbers);
  heed_free(walk.graph->context, walk.row);
  heed_free(walk.graph->context, walk.order);
  return status;
}
