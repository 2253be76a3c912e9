/* linear_attention: attention whose score is a product of positive features, so that its cost is
 * linear in the tokens (Katharopoulos et al. 2020): y_i = phi(q_i) S / (phi(q_i) z), S = sum of
 * phi(k_j) v_j^T, z = sum of phi(k_j), over all j or over j <= i. The node takes the features; the
 * define function puts phi in front as activations. */
#include "graph/ops/linear_attention.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "heed/ops.h"

static heed_value features(heed_graph *graph, heed_value x) {
  const heed_activation_desc desc = {sizeof desc, x, HEED_ACTIVATION_ELU_PLUS_ONE,
                                     HEED_ACTIVATION_VALUE};
  return heed_define_activation(graph, &desc);
}

heed_value heed_define_linear_attention(heed_graph *graph, const heed_linear_attention_desc *desc) {
  heed_linear_attention_desc full;
  if (!heed_graph_read_desc(graph, &full, sizeof full, desc, "linear_attention"))
    return (heed_value){0};
  const bool is_shared = full.key.id == full.query.id;
  full.query = features(graph, full.query);
  full.key = is_shared ? full.query : features(graph, full.key);
  return heed_graph_add_node(graph, HEED_OP_KIND_linear_attention, &full, NULL);
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_linear_attention_desc *desc = copy;
  (void)count;
  const heed_value_record *query =
      heed_op_take(graph, node, HEED_LINEAR_ATTENTION_INPUT_QUERY, HEED_F32, error);
  const heed_value_record *key =
      query ? heed_op_take(graph, node, HEED_LINEAR_ATTENTION_INPUT_KEY, HEED_F32, error) : NULL;
  const heed_value_record *value =
      key ? heed_op_take(graph, node, HEED_LINEAR_ATTENTION_INPUT_VALUE, HEED_F32, error) : NULL;
  if (!value) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(query, 4, 4, "linear_attention: query", error));
  HEED_TRY(heed_op_check_rank(key, 4, 4, "linear_attention: key", error));
  HEED_TRY(heed_op_check_rank(value, 4, 4, "linear_attention: value", error));
  const uint32_t *q = query->shape.dim, *k = key->shape.dim, *v = value->shape.dim;
  const heed_shape key_fits = HEED_SHAPE(q[0], q[1], desc->causal ? q[2] : k[2], q[3]);
  HEED_TRY(heed_op_check_shape(key, &key_fits, "linear_attention: key", error));
  const heed_shape value_fits = HEED_SHAPE(q[0], q[1], k[2], v[3]);
  HEED_TRY(heed_op_check_shape(value, &value_fits, "linear_attention: value", error));
  if (desc->recurrent && !desc->causal)
    return heed_op_refuse(
        error, "linear_attention: the recurrent form is causal (found recurrent without causal)");
  results[0] = (heed_op_result){HEED_F32, HEED_SHAPE(q[0], q[1], q[2], v[3])};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  const heed_linear_attention_desc *desc = node->desc;
  const uint32_t depth = heed_op_last(heed_graph_record(graph, desc->key.id));
  return 2 * (uint64_t)depth *
         (heed_op_count(graph, desc->value) + heed_op_count(graph, (heed_value){node->output[0]}));
}

static const heed_op_input inputs[HEED_LINEAR_ATTENTION_INPUTS] = {
    [HEED_LINEAR_ATTENTION_INPUT_QUERY] = HEED_OP_INPUT(heed_linear_attention_desc, query),
    [HEED_LINEAR_ATTENTION_INPUT_KEY] = HEED_OP_INPUT(heed_linear_attention_desc, key),
    [HEED_LINEAR_ATTENTION_INPUT_VALUE] = HEED_OP_INPUT(heed_linear_attention_desc, value),
};

const heed_op heed_op_linear_attention = {.name = "linear_attention",
                                          .desc_size = sizeof(heed_linear_attention_desc),
                                          .inputs = inputs,
                                          .input_count = HEED_LINEAR_ATTENTION_INPUTS,
                                          .infer = infer,
                                          .flops = flops};
