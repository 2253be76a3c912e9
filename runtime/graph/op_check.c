/* Checks that several ops' shape rules share. */
#include "graph/op_check.h"

#include "base/status.h"
#include "base/tensor.h"

const heed_value_record *heed_op_take(const heed_graph *graph, heed_node *node, heed_value value,
                                      heed_dtype dtype, const char *what, heed_error *error) {
  const heed_value_record *record = heed_graph_need(graph, value, what, error);
  if (!record) return NULL;
  if (record->dtype != dtype) {
    heed_fail(error, HEED_INVALID_ARGUMENT, "%s: wrong dtype (found %s, expected %s)", what,
              heed_dtype_name(record->dtype), heed_dtype_name(dtype));
    return NULL;
  }
  for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
    if (!node->input[i]) {
      node->input[i] = value.id;
      return record;
    }
  heed_fail(error, HEED_INTERNAL, "%s: a node cannot have so many inputs (found more than %d)",
            what, HEED_NODE_INPUTS);
  return NULL;
}

const heed_value_record *heed_op_take_constant(const heed_graph *graph, heed_node *node,
                                               heed_value value, heed_dtype dtype, const char *what,
                                               heed_error *error) {
  const heed_value_record *record = heed_op_take(graph, node, value, dtype, what, error);
  if (record && record->kind != HEED_VALUE_CONSTANT) {
    heed_fail(error, HEED_INVALID_ARGUMENT,
              "%s: it must be a constant (found a value computed at run time)", what);
    return NULL;
  }
  return record;
}

heed_status heed_op_want_shape(const heed_value_record *record, const heed_shape *shape,
                               const char *what, heed_error *error) {
  char found[HEED_SHAPE_TEXT_SIZE], expected[HEED_SHAPE_TEXT_SIZE];
  if (heed_shape_equal(&record->shape, shape)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT, "%s: wrong shape (found %s, expected %s)", what,
                   heed_shape_text(&record->shape, found), heed_shape_text(shape, expected));
}

heed_status heed_op_want_rank(const heed_value_record *record, uint32_t least, uint32_t most,
                              const char *what, heed_error *error) {
  char found[HEED_SHAPE_TEXT_SIZE];
  if (record->shape.rank >= least && record->shape.rank <= most) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "%s: wrong number of axes (found %s, expected %u to %u axes)", what,
                   heed_shape_text(&record->shape, found), least, most);
}

uint64_t heed_op_count(const heed_graph *graph, heed_value value) {
  return heed_shape_count(&heed_graph_record(graph, value.id)->shape);
}

uint32_t heed_op_last(const heed_value_record *record) {
  return record->shape.rank ? record->shape.dim[record->shape.rank - 1] : 1;
}
