/* attention: shape rule and declared semantics; the meaning row by row is in
 * graph/attention_rule.h. */
#include <math.h>

#include "base/status.h"
#include "base/tensor.h"
#include "graph/attention_rule.h"
#include "graph/gradient/adjoint.h"
#include "graph/op_check.h"
#include "graph/ops/attention.h"

/* Whether x [..., D] can go through matrix [D, A] and bias [A] or none, in the words of the
 * attention. */
static heed_status check_map(const heed_graph *graph, heed_value x, heed_value matrix,
                             heed_value bias, const char *what, heed_error *error) {
  char found[HEED_SHAPE_TEXT_SIZE];
  const heed_value_record *from = heed_graph_need(graph, x, "attention: query or key", error);
  const heed_value_record *by = from ? heed_graph_need(graph, matrix, what, error) : NULL;
  if (!by) return HEED_INVALID_ARGUMENT;
  if (by->shape.rank != 2 || by->shape.dim[0] != heed_op_last(from))
    return heed_op_refuse(error, "%s: wrong shape (found %s, expected a matrix of %u rows)", what,
                          heed_shape_text(&by->shape, found), heed_op_last(from));
  if (!bias.id) return HEED_OK;
  const heed_value_record *add = heed_graph_need(graph, bias, "attention: b", error);
  const heed_shape fits = HEED_SHAPE(by->shape.dim[1]);
  return add ? heed_op_check_shape(add, &fits, "attention: b", error) : HEED_INVALID_ARGUMENT;
}

/* x [B, H, T, D] times a constant matrix [D, A] (plus bias [A]) -> [B, H, T, A]; linear wants the
 * matrix turned. */
static heed_value map(heed_graph *graph, heed_value x, heed_value matrix, heed_value bias,
                      const char *what) {
  heed_error error;
  if (heed_graph_status(graph, NULL) != HEED_OK) return (heed_value){0};
  if (check_map(graph, x, matrix, bias, what, &error) != HEED_OK)
    return heed_graph_fail(graph, &error);
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .weight = heed_graph_transpose(graph, matrix, what),
                                 .bias = bias};
  return heed_define_linear(graph, &desc);
}

/* Takes the general score back to a dot product, and the additive one to projected queries and
 * keys. */
static heed_attention_desc without_maps(heed_graph *graph, const heed_attention_desc *desc) {
  heed_attention_desc plain = *desc;
  if (desc->score == HEED_SCORE_GENERAL) {
    plain.query = map(graph, desc->query, desc->w, (heed_value){0}, "attention: w");
    plain.score = HEED_SCORE_DOT;
  } else if (desc->score == HEED_SCORE_ADDITIVE) {
    plain.query = map(graph, desc->query, desc->wq, (heed_value){0}, "attention: wq");
    plain.key = map(graph, desc->key, desc->wk, desc->b, "attention: wk");
  }
  plain.w = plain.wq = plain.wk = plain.b = (heed_value){0};
  return plain;
}

/* Takes offsets of each batch item back to a mask. */
static heed_attention_desc without_offsets(heed_graph *graph, const heed_attention_desc *desc) {
  heed_attention_desc plain = *desc;
  if (!desc->causal_offsets.id || heed_graph_status(graph, NULL) != HEED_OK) return plain;
  plain.causal_offsets = (heed_value){0};
  const heed_value_record *q = heed_graph_need(graph, desc->query, "attention: query", NULL);
  const heed_value_record *k = heed_graph_need(graph, desc->key, "attention: key", NULL);
  /* what is wrong with them the attention says */
  if (!q || !k || q->shape.rank != 4 || k->shape.rank != 4) return plain;
  if (!heed_attention_hides_by_position(desc)) return plain;
  const heed_position_mask_desc position = {.struct_size = sizeof position,
                                            .offsets = desc->causal_offsets,
                                            .mask = desc->mask,
                                            .queries = q->shape.dim[2],
                                            .keys = k->shape.dim[2],
                                            .causal = desc->causal,
                                            .window = desc->window,
                                            .window_left = desc->window_left,
                                            .window_right = desc->window_right,
                                            .causal_offset = desc->causal_offset};
  plain.mask = heed_define_position_mask(graph, &position);
  plain.causal = HEED_CAUSAL_NONE;
  plain.window = false;
  plain.causal_offset = 0;
  return plain;
}

heed_attention_values heed_define_attention(heed_graph *graph, const heed_attention_desc *desc) {
  const heed_node *node = NULL;
  heed_attention_desc full;
  if (heed_graph_read_desc(graph, &full, sizeof full, desc, "attention")) {
    full = without_maps(graph, &full);
    full = without_offsets(graph, &full);
    heed_graph_add_node(graph, HEED_OP_KIND_attention, &full, &node);
  }
  if (!node) return (heed_attention_values){{0}, {0}, {0}};
  return (heed_attention_values){.output = {node->output[HEED_ATTENTION_RESULT_OUTPUT]},
                                 .weights = {node->output[HEED_ATTENTION_RESULT_WEIGHTS]},
                                 .logits = {node->output[HEED_ATTENTION_RESULT_LOGITS]}};
}

/* query [B, H, Tq, D], key [B, Hk, Tk, D], value [B, Hk, Tk, Dv]. */
static heed_status check_tensors(const heed_graph *graph, heed_node *node, heed_error *error) {
  const heed_value_record *query =
      heed_op_take(graph, node, HEED_ATTENTION_INPUT_QUERY, HEED_F32, error);
  const heed_value_record *key =
      query ? heed_op_take(graph, node, HEED_ATTENTION_INPUT_KEY, HEED_F32, error) : NULL;
  const heed_value_record *value =
      key ? heed_op_take(graph, node, HEED_ATTENTION_INPUT_VALUE, HEED_F32, error) : NULL;
  if (!value) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(query, 4, 4, "attention: query", error));
  HEED_TRY(heed_op_check_rank(key, 4, 4, "attention: key", error));
  HEED_TRY(heed_op_check_rank(value, 4, 4, "attention: value", error));
  const uint32_t *q = query->shape.dim, *k = key->shape.dim, *v = value->shape.dim;
  const heed_shape key_fits = HEED_SHAPE(q[0], k[1], k[2], q[3]);
  HEED_TRY(heed_op_check_shape(key, &key_fits, "attention: key", error));
  const heed_shape value_fits = HEED_SHAPE(q[0], k[1], k[2], v[3]);
  HEED_TRY(heed_op_check_shape(value, &value_fits, "attention: value", error));
  if (q[1] % k[1] != 0)
    return heed_op_refuse(
        error,
        "attention: key heads do not divide query heads (found %u query heads for %u key heads)",
        q[1], k[1]);
  return HEED_OK;
}

/* A tensor broadcastable to [B, H, Tq, Tk]; axes 2 and 3 may be 1 only when `loose`. */
static heed_status check_broadcast(const heed_graph *graph, heed_node *node, uint32_t slot,
                                   heed_dtype dtype, const uint32_t whole[4], bool loose,
                                   heed_error *error) {
  if (!heed_op_input_value(node, slot).id) return HEED_OK;
  const heed_value_record *record = heed_op_take(graph, node, slot, dtype, error);
  char what[HEED_OP_INPUT_TEXT_SIZE];
  if (!record) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(record, 4, 4, heed_op_input_text(node, slot, what), error));
  char found[HEED_SHAPE_TEXT_SIZE], into[HEED_SHAPE_TEXT_SIZE];
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t have = record->shape.dim[i];
    if (have == whole[i] || (have == 1 && (i < 2 || loose))) continue;
    const heed_shape shape = HEED_SHAPE(whole[0], whole[1], whole[2], whole[3]);
    return heed_op_refuse(error,
                          "%s: wrong shape (found %s, expected %s or 1 where it is repeated)", what,
                          heed_shape_text(&record->shape, found), heed_shape_text(&shape, into));
  }
  return HEED_OK;
}

static heed_status check_padding(const heed_graph *graph, heed_node *node, uint32_t slot,
                                 uint32_t batch, uint32_t tokens, heed_error *error) {
  if (!heed_op_input_value(node, slot).id) return HEED_OK;
  const heed_value_record *record = heed_op_take(graph, node, slot, HEED_U8, error);
  const heed_shape fits = HEED_SHAPE(batch, tokens);
  char what[HEED_OP_INPUT_TEXT_SIZE];
  return record ? heed_op_check_shape(record, &fits, heed_op_input_text(node, slot, what), error)
                : HEED_INVALID_ARGUMENT;
}

static heed_status check_attributes(const heed_attention_desc *desc, uint32_t queries,
                                    heed_error *error) {
  if ((unsigned)desc->score > HEED_SCORE_ADDITIVE || (unsigned)desc->norm > HEED_NORM_SPARSEMAX ||
      (unsigned)desc->causal > HEED_CAUSAL_BOTTOM_RIGHT ||
      (unsigned)desc->empty_row > HEED_EMPTY_ROW_MEAN)
    return heed_op_refuse(
        error, "attention: unknown score, norm, causal or empty_row (found %d, %d, %d, %d)",
        (int)desc->score, (int)desc->norm, (int)desc->causal, (int)desc->empty_row);
  if (!isfinite(desc->scale))
    return heed_op_refuse(error, "attention: invalid scale (found %g, expected a finite number)",
                          (double)desc->scale);
  if (!(desc->softcap >= 0.0f) || isinf(desc->softcap))
    return heed_op_refuse(error, "attention: invalid softcap (found %g, expected 0 or more)",
                          (double)desc->softcap);
  if (!(desc->threshold >= 0.0f && desc->threshold <= 1.0f))
    return heed_op_refuse(error, "attention: invalid threshold (found %g, expected 0 to 1)",
                          (double)desc->threshold);
  if (desc->window && (desc->window_left < -1 || desc->window_right < -1))
    return heed_op_refuse(
        error, "attention: invalid window (found %d left, %d right, expected -1 or more)",
        desc->window_left, desc->window_right);
  if (!desc->rows != !desc->row_count)
    return heed_op_refuse(error, "attention: rows and row_count go together (found %u rows)",
                          desc->row_count);
  for (uint32_t i = 0; i < desc->row_count; i++)
    if (desc->rows[i] >= queries)
      return heed_op_refuse(error, "attention: row out of range (found %u, expected less than %u)",
                            desc->rows[i], queries);
  return HEED_OK;
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  heed_attention_desc *desc = copy;
  HEED_TRY(check_tensors(graph, node, error));
  const uint32_t *q = heed_graph_record(graph, desc->query.id)->shape.dim;
  const uint32_t *v = heed_graph_record(graph, desc->value.id)->shape.dim;
  const uint32_t whole[4] = {q[0], q[1], q[2], v[2]};
  HEED_TRY(check_broadcast(graph, node, HEED_ATTENTION_INPUT_MASK, HEED_U8, whole, false, error));
  HEED_TRY(check_padding(graph, node, HEED_ATTENTION_INPUT_KEY_PADDING, q[0], v[2], error));
  HEED_TRY(check_padding(graph, node, HEED_ATTENTION_INPUT_QUERY_PADDING, q[0], q[2], error));
  HEED_TRY(check_broadcast(graph, node, HEED_ATTENTION_INPUT_BIAS, HEED_F32, whole, true, error));
  if (desc->score == HEED_SCORE_ADDITIVE) {
    const heed_value_record *va =
        heed_op_take_constant(graph, node, HEED_ATTENTION_INPUT_VA, HEED_F32, error);
    const heed_shape fits = HEED_SHAPE(q[3]);
    if (!va) return HEED_INVALID_ARGUMENT;
    HEED_TRY(heed_op_check_shape(va, &fits, "attention: va", error));
  }
  HEED_TRY(check_attributes(desc, q[2], error));
  if (desc->score != HEED_SCORE_SCALED_DOT)
    desc->scale = 1.0f;
  else if (desc->scale == 0.0f)
    desc->scale = (float)(1.0 / sqrt((double)q[3]));
  if (desc->row_count) {
    desc->rows =
        heed_graph_keep((heed_graph *)graph, desc->rows, desc->row_count * sizeof *desc->rows);
    if (!desc->rows)
      return heed_fail_memory(error, "attention: rows", desc->row_count * sizeof *desc->rows);
  }
  const heed_shape heads = HEED_SHAPE(q[0], q[1], q[2], v[3]);
  const uint64_t width = (uint64_t)q[1] * v[3];
  if (width > UINT32_MAX)
    return heed_op_refuse(error, "attention: merged heads too wide (found %llu)",
                          (unsigned long long)width);
  const heed_shape merged = HEED_SHAPE(q[0], q[2], (uint32_t)width);
  const heed_shape map = HEED_SHAPE(q[0], q[1], desc->row_count ? desc->row_count : q[2], v[2]);
  results[HEED_ATTENTION_RESULT_OUTPUT] =
      (heed_op_result){HEED_F32, desc->merge_heads ? merged : heads};
  results[HEED_ATTENTION_RESULT_WEIGHTS] = (heed_op_result){HEED_F32, map};
  results[HEED_ATTENTION_RESULT_LOGITS] = (heed_op_result){HEED_F32, map};
  *count = 3;
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  const heed_attention_desc *desc = node->desc;
  heed_attention_sizes s;
  heed_attention_get_sizes(graph, desc, &s);
  uint64_t pairs = 0;
  for (uint32_t i = 0; i < s.queries; i++) {
    uint32_t first, end;
    heed_attention_key_range(desc, s.queries, s.keys, i, &first, &end);
    pairs += end - first;
  }
  return 2 * (uint64_t)s.batch * s.heads * pairs * ((uint64_t)s.depth + s.value_depth);
}

static uint64_t map_bytes(const heed_graph *graph, const heed_node *node) {
  heed_attention_sizes s;
  heed_attention_get_sizes(graph, node->desc, &s);
  return (uint64_t)s.batch * s.heads * s.queries * s.keys * sizeof(float);
}

static const heed_op_input inputs[HEED_ATTENTION_INPUTS] = {
    [HEED_ATTENTION_INPUT_QUERY] = HEED_OP_INPUT(heed_attention_desc, query),
    [HEED_ATTENTION_INPUT_KEY] = HEED_OP_INPUT(heed_attention_desc, key),
    [HEED_ATTENTION_INPUT_VALUE] = HEED_OP_INPUT(heed_attention_desc, value),
    [HEED_ATTENTION_INPUT_MASK] = HEED_OP_INPUT(heed_attention_desc, mask),
    [HEED_ATTENTION_INPUT_KEY_PADDING] = HEED_OP_INPUT(heed_attention_desc, key_padding),
    [HEED_ATTENTION_INPUT_QUERY_PADDING] = HEED_OP_INPUT(heed_attention_desc, query_padding),
    [HEED_ATTENTION_INPUT_BIAS] = HEED_OP_INPUT(heed_attention_desc, bias),
    [HEED_ATTENTION_INPUT_VA] = HEED_OP_INPUT(heed_attention_desc, va),
};

const heed_op heed_op_attention = {
    .name = "attention",
    .desc_size = sizeof(heed_attention_desc),
    .inputs = inputs,
    .input_count = HEED_ATTENTION_INPUTS,
    .infer = infer,
    .flops = flops,
    .maps = 1u << HEED_ATTENTION_RESULT_WEIGHTS | 1u << HEED_ATTENTION_RESULT_LOGITS,
    .map_bytes = map_bytes,
    .adjoint = heed_adjoint_attention};
