/* position_mask: causal rule and window of each batch item around an offset of its own, ANDed with
 * a mask. What an attention with such offsets is taken back to. */
#include "graph/ops/position_mask.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_position_mask(heed_graph *graph, const heed_position_mask_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_position_mask, desc, NULL);
}

static heed_status check_attributes(const heed_position_mask_desc *desc, heed_error *error) {
  if ((unsigned)desc->causal > HEED_CAUSAL_BOTTOM_RIGHT)
    return heed_op_refuse(error, "position_mask: unknown causal (found %d)", (int)desc->causal);
  if (desc->window && (desc->window_left < -1 || desc->window_right < -1))
    return heed_op_refuse(
        error, "position_mask: invalid window (found %d left, %d right, expected -1 or more)",
        desc->window_left, desc->window_right);
  if (!desc->queries || !desc->keys)
    return heed_op_refuse(error,
                          "position_mask: invalid sizes (found %u queries, %u keys, expected at "
                          "least 1)",
                          desc->queries, desc->keys);
  return HEED_OK;
}

/* The heads of the mask, which is checked; 1 without it. 0: it does not fit. */
static uint32_t take_heads(const heed_graph *graph, heed_node *node, const heed_shape *whole,
                           heed_error *error) {
  if (!heed_op_input_value(node, HEED_POSITION_MASK_INPUT_MASK).id) return 1;
  const heed_value_record *mask =
      heed_op_take(graph, node, HEED_POSITION_MASK_INPUT_MASK, HEED_U8, error);
  if (!mask || heed_op_check_rank(mask, 4, 4, "position_mask: mask", error) != HEED_OK) return 0;
  const uint32_t *have = mask->shape.dim;
  const uint32_t batch = have[0] == 1 ? 1 : whole->dim[0];
  const heed_shape fits = HEED_SHAPE(batch, have[1], whole->dim[2], whole->dim[3]);
  if (heed_op_check_shape(mask, &fits, "position_mask: mask", error) != HEED_OK) return 0;
  return have[1];
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_position_mask_desc *desc = copy;
  (void)count;
  HEED_TRY(check_attributes(desc, error));
  const heed_value_record *offsets =
      heed_op_take(graph, node, HEED_POSITION_MASK_INPUT_OFFSETS, HEED_I32, error);
  if (!offsets) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(offsets, 1, 1, "position_mask: offsets", error));
  heed_shape whole = HEED_SHAPE(offsets->shape.dim[0], 1, desc->queries, desc->keys);
  whole.dim[1] = take_heads(graph, node, &whole, error);
  if (!whole.dim[1]) return HEED_INVALID_ARGUMENT;
  results[0] = (heed_op_result){HEED_U8, whole};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  (void)graph;
  (void)node;
  return 0;
}

static const heed_op_input inputs[HEED_POSITION_MASK_INPUTS] = {
    [HEED_POSITION_MASK_INPUT_OFFSETS] = HEED_OP_INPUT(heed_position_mask_desc, offsets),
    [HEED_POSITION_MASK_INPUT_MASK] = HEED_OP_INPUT(heed_position_mask_desc, mask),
};

const heed_op heed_op_position_mask = {.name = "position_mask",
                                       .desc_size = sizeof(heed_position_mask_desc),
                                       .inputs = inputs,
                                       .input_count = HEED_POSITION_MASK_INPUTS,
                                       .infer = infer,
                                       .flops = flops};
