/* See attention_block.h. */
#include "explain/attention_block.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/ops/attention.h"

enum { BLOCK = HEED_ATTENTION_BLOCK };

void heed_attention_block_close(heed_attention_block *block) {
  heed_session_destroy(block->session);
  heed_plan_destroy(block->plan);
  heed_graph_destroy(block->op);
  heed_free(block->graph->context, block->numbers);
  block->numbers = NULL;
  block->session = NULL;
  block->plan = NULL;
  block->op = NULL;
}

heed_status heed_attention_block_find(heed_attention_block *block, heed_value weights,
                                      heed_error *error) {
  const heed_value_record *record = heed_graph_need(block->graph, weights, "attention", error);
  if (!record) return HEED_INVALID_ARGUMENT;
  const heed_node *node =
      record->kind == HEED_VALUE_RESULT ? &block->graph->nodes[record->node] : NULL;
  if (!node || node->op != HEED_OP_KIND_attention ||
      node->output[HEED_ATTENTION_RESULT_WEIGHTS] != weights.id)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "attention: not attention weights (found \"%s\")",
                     record->name ? record->name : "");
  const heed_attention_desc *a = block->attention = node->desc;
  heed_attention_get_sizes(block->graph, a, &block->sizes);
  if (a->mask.id || a->key_padding.id || a->query_padding.id || a->causal_offsets.id || a->causal ||
      a->window || a->softcap != 0.0f || a->score != HEED_SCORE_SCALED_DOT ||
      a->norm != HEED_NORM_SOFTMAX)
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "attention: rows of \"%s\" have rules of their own (expected softmax(scale q k^T "
        "+ bias); heed_map_rollout_row takes kept weights)",
        record->name ? record->name : "");
  return HEED_OK;
}

/* Room for the keys, and for a block of queries, of bias, of weights or of what is moved. */
static heed_status make_room(heed_attention_block *block, heed_error *error) {
  const heed_attention_sizes *s = &block->sizes;
  size_t most = s->keys > BLOCK ? s->keys : BLOCK, depth = s->depth > BLOCK ? s->depth : BLOCK;
  if (s->value_depth > depth) depth = s->value_depth;
  if (!heed_size_mul(most, s->heads, &most) || !heed_size_mul(most, depth, &most))
    return heed_fail_memory(error, "attention", SIZE_MAX);
  block->numbers = heed_alloc(block->graph->context, most, sizeof *block->numbers);
  return block->numbers ? HEED_OK
                        : heed_fail_memory(error, "attention", most * sizeof *block->numbers);
}

static heed_status define(heed_attention_block *block, heed_error *error) {
  const heed_attention_sizes *s = &block->sizes;
  const heed_shape query = {4, {1, s->heads, BLOCK, s->depth}},
                   key = {4, {1, s->key_heads, s->keys, s->depth}},
                   value = {4, {1, s->key_heads, s->keys, 1}},
                   u = {4, {1, s->heads, BLOCK, s->value_depth}};
  HEED_TRY(heed_graph_create(block->graph->context, &block->op, error));
  block->query = heed_define_input(block->op, "query", HEED_F32, &query);
  block->key = heed_define_input(block->op, "key", HEED_F32, &key);
  block->bias = (heed_value){0}; /* not every layer of a model has one */
  if (block->attention->bias.id) {
    const uint32_t *stride = s->bias_stride;
    const heed_shape bias = {
        4, {1, stride[1] ? s->heads : 1, stride[2] ? BLOCK : 1, stride[3] ? s->keys : 1}};
    block->bias = heed_define_input(block->op, "bias", HEED_F32, &bias);
  }
  const heed_attention_desc attention = {
      .struct_size = sizeof attention,
      .query = block->query,
      .key = block->key,
      .value = heed_define_input(block->op, "value", HEED_F32, &value),
      .bias = block->bias,
      .scale = block->attention->scale,
      .empty_row = block->attention->empty_row,
      .merge_heads = true};
  block->weights = heed_define_attention(block->op, &attention).weights;
  if (block->back) {
    block->u = heed_define_input(block->op, "u", HEED_F32, &u);
    const heed_matmul_desc matmul = {
        .struct_size = sizeof matmul, .a = block->weights, .b = block->u, .transpose_a = true};
    block->moved = heed_define_matmul(block->op, &matmul);
  }
  heed_graph_output(block->op, block->back ? block->moved : block->weights);
  return heed_graph_status(block->op, error);
}

static heed_status read_kept(const heed_attention_block *block, heed_value value, uint64_t first,
                             uint64_t count, float *to, heed_error *error) {
  return block->read ? block->read(block->user, value, first, count, to, error)
                     : heed_session_read(block->from, value, first, count, to, error);
}

static heed_status write(const heed_attention_block *block, heed_value to, const float *numbers,
                         heed_error *error) {
  heed_value_info info;
  HEED_TRY(heed_graph_value_info(block->op, to, &info));
  return heed_session_write(block->session, to, numbers,
                            (size_t)heed_shape_count(&info.shape) * sizeof(float), error);
}

heed_status heed_attention_block_open(heed_attention_block *block, heed_error *error) {
  const heed_attention_sizes *s = &block->sizes;
  const uint64_t keys = (uint64_t)s->key_heads * s->keys * s->depth;
  HEED_TRY(make_room(block, error));
  HEED_TRY(define(block, error));
  const heed_plan_desc desc = {.struct_size = sizeof desc};
  HEED_TRY(heed_plan_create(block->op, block->backend, &desc, &block->plan, error));
  HEED_TRY(heed_session_create(block->plan, NULL, &block->session, error));
  HEED_TRY(
      read_kept(block, block->attention->key, block->batch * keys, keys, block->numbers, error));
  return write(block, block->key, block->numbers, error);
}

/* The bias of these queries; a constant, or an input that was kept. */
static heed_status write_bias(const heed_attention_block *block, uint32_t first, uint32_t count,
                              heed_error *error) {
  const heed_value from = block->attention->bias;
  const uint32_t *stride = block->sizes.bias_stride, heads = stride[1] ? block->sizes.heads : 1,
                 keys = stride[3] ? block->sizes.keys : 1;
  if (!from.id) return HEED_OK;
  for (uint32_t h = 0; h < heads; h++) {
    const uint64_t at =
        (uint64_t)block->batch * stride[0] + (uint64_t)h * stride[1] + (uint64_t)first * stride[2];
    const uint64_t rows = stride[2] ? count : 1;
    float *to = block->numbers + (size_t)h * (stride[2] ? BLOCK : 1) * keys;
    HEED_TRY(heed_graph_record(block->graph, from.id)->kind == HEED_VALUE_CONSTANT
                 ? heed_graph_read_constant(block->graph, from.id, at, rows * keys, to, error)
                 : heed_session_read(block->from, from, at, rows * keys, to, error));
  }
  return write(block, block->bias, block->numbers, error);
}

heed_status heed_attention_block_run(heed_attention_block *block, uint32_t first, uint32_t count,
                                     const float *u, heed_error *error) {
  const heed_attention_sizes *s = &block->sizes;
  for (uint32_t h = 0; h < s->heads; h++) {
    const uint64_t at = (((uint64_t)block->batch * s->heads + h) * s->queries + first) * s->depth;
    HEED_TRY(read_kept(block, block->attention->query, at, (uint64_t)count * s->depth,
                       block->numbers + (size_t)h * BLOCK * s->depth, error));
  }
  HEED_TRY(write(block, block->query, block->numbers, error));
  HEED_TRY(write_bias(block, first, count, error));
  if (block->back) HEED_TRY(write(block, block->u, u, error));
  HEED_TRY(heed_session_run(block->session, NULL, error));
  return heed_session_read(
      block->session, block->back ? block->moved : block->weights, 0,
      (uint64_t)s->heads * (block->back ? s->keys * s->value_depth : BLOCK * s->keys),
      block->numbers, error);
}
