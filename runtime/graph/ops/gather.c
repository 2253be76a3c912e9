/* gather: entries of x along an axis by indices, whole or element by element. */
#include "graph/ops/gather.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/op_check.h"
#include "heed/ops.h"

heed_value heed_define_gather(heed_graph *graph, const heed_gather_desc *desc) {
  return heed_graph_add_node(graph, HEED_OP_KIND_gather, desc, NULL);
}

/* [outer..., indices..., inner...]; false where that has too many axes. */
static bool join(const heed_shape *x, const heed_shape *indices, uint32_t axis, heed_shape *y) {
  if (x->rank - 1 + indices->rank > HEED_MAX_RANK) return false;
  for (uint32_t i = 0; i < axis; i++) y->dim[y->rank++] = x->dim[i];
  for (uint32_t i = 0; i < indices->rank; i++) y->dim[y->rank++] = indices->dim[i];
  for (uint32_t i = axis + 1; i < x->rank; i++) y->dim[y->rank++] = x->dim[i];
  return true;
}

/* Whether indices name elements of x: each axis but one is as long as x's at most. */
static bool fit(const heed_shape *x, const heed_shape *indices, uint32_t axis) {
  bool fits = x->rank == indices->rank;
  for (uint32_t i = 0; fits && i < x->rank; i++) fits = i == axis || indices->dim[i] <= x->dim[i];
  return fits;
}

static heed_status infer(const heed_graph *graph, heed_node *node, void *copy,
                         heed_op_result *results, uint32_t *count, heed_error *error) {
  const heed_gather_desc *desc = copy;
  (void)count;
  const heed_value_record *x = heed_op_take_words(graph, node, HEED_GATHER_INPUT_X, error);
  if (!x) return HEED_INVALID_ARGUMENT;
  const heed_value_record *indices =
      heed_op_take(graph, node, HEED_GATHER_INPUT_INDICES, HEED_I32, error);
  if (!indices) return HEED_INVALID_ARGUMENT;
  HEED_TRY(heed_op_check_rank(x, 1, HEED_MAX_RANK, "gather: x", error));
  if (desc->axis >= x->shape.rank)
    return heed_op_refuse(error, "gather: axis out of range (found %u, expected less than %u)",
                          desc->axis, x->shape.rank);
  heed_shape y = {0};
  char found[HEED_SHAPE_TEXT_SIZE], of[HEED_SHAPE_TEXT_SIZE];
  if (desc->elements ? !fit(&x->shape, &indices->shape, desc->axis)
                     : !join(&x->shape, &indices->shape, desc->axis, &y))
    return heed_op_refuse(error, "gather: indices do not fit x (found %s of %s, expected %s)",
                          heed_shape_text(&indices->shape, found), heed_shape_text(&x->shape, of),
                          desc->elements ? "x's axes or shorter ones" : "at most 6 axes of y");
  results[0] = (heed_op_result){x->dtype, desc->elements ? indices->shape : y};
  return HEED_OK;
}

static uint64_t flops(const heed_graph *graph, const heed_node *node) {
  (void)graph;
  (void)node;
  return 0;
}

static const heed_op_input inputs[HEED_GATHER_INPUTS] = {
    [HEED_GATHER_INPUT_X] = HEED_OP_INPUT(heed_gather_desc, x),
    [HEED_GATHER_INPUT_INDICES] = HEED_OP_INPUT(heed_gather_desc, indices),
};

const heed_op heed_op_gather = {.name = "gather",
                                .desc_size = sizeof(heed_gather_desc),
                                .inputs = inputs,
                                .input_count = HEED_GATHER_INPUTS,
                                .infer = infer,
                                .flops = flops};
