/* Checks that several ops' shape rules share. */
#include "graph/op_check.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "base/tensor.h"

static const heed_op_input *input_of(const heed_node *node, uint32_t slot) {
  HEED_ASSERT(slot < heed_ops[node->op]->input_count);
  return &heed_ops[node->op]->inputs[slot];
}

heed_value heed_op_input_value(const heed_node *node, uint32_t slot) {
  heed_value value;
  memcpy(&value, (const char *)node->desc + input_of(node, slot)->offset, sizeof value);
  return value;
}

const char *heed_op_input_text(const heed_node *node, uint32_t slot,
                               char text[HEED_OP_INPUT_TEXT_SIZE]) {
  snprintf(text, HEED_OP_INPUT_TEXT_SIZE, "%s: %s", heed_ops[node->op]->name,
           input_of(node, slot)->name);
  return text;
}

const heed_value_record *heed_op_take(const heed_graph *graph, heed_node *node, uint32_t slot,
                                      heed_dtype dtype, heed_error *error) {
  char what[HEED_OP_INPUT_TEXT_SIZE];
  const heed_value value = heed_op_input_value(node, slot);
  const heed_value_record *record =
      heed_graph_need(graph, value, heed_op_input_text(node, slot, what), error);
  if (!record) return NULL;
  if (record->dtype != dtype) {
    heed_op_refuse(error, "%s: wrong dtype (found %s, expected %s)", what,
                   heed_dtype_name(record->dtype), heed_dtype_name(dtype));
    return NULL;
  }
  HEED_ASSERT(!node->input[slot]);
  node->input[slot] = value.id;
  return record;
}

const heed_value_record *heed_op_take_words(const heed_graph *graph, heed_node *node, uint32_t slot,
                                            heed_error *error) {
  const heed_value value = heed_op_input_value(node, slot);
  const bool whole = value.id && value.id <= graph->value_count &&
                     heed_graph_record(graph, value.id)->dtype == HEED_I32;
  return heed_op_take(graph, node, slot, whole ? HEED_I32 : HEED_F32, error);
}

const heed_value_record *heed_op_take_constant(const heed_graph *graph, heed_node *node,
                                               uint32_t slot, heed_dtype dtype, heed_error *error) {
  char what[HEED_OP_INPUT_TEXT_SIZE];
  const heed_value_record *record = heed_op_take(graph, node, slot, dtype, error);
  if (record && record->kind != HEED_VALUE_CONSTANT) {
    heed_op_refuse(error, "%s: not a constant (found a computed value)",
                   heed_op_input_text(node, slot, what));
    return NULL;
  }
  return record;
}

heed_status heed_op_check_shape(const heed_value_record *record, const heed_shape *shape,
                                const char *what, heed_error *error) {
  char found[HEED_SHAPE_TEXT_SIZE], expected[HEED_SHAPE_TEXT_SIZE];
  if (heed_shape_equal(&record->shape, shape)) return HEED_OK;
  return heed_op_refuse(error, "%s: wrong shape (found %s, expected %s)", what,
                        heed_shape_text(&record->shape, found), heed_shape_text(shape, expected));
}

heed_status heed_op_check_rank(const heed_value_record *record, uint32_t least, uint32_t most,
                               const char *what, heed_error *error) {
  char found[HEED_SHAPE_TEXT_SIZE];
  if (record->shape.rank >= least && record->shape.rank <= most) return HEED_OK;
  return heed_op_refuse(error, "%s: wrong number of axes (found %s, expected %u to %u axes)", what,
                        heed_shape_text(&record->shape, found), least, most);
}

uint64_t heed_op_count(const heed_graph *graph, heed_value value) {
  return heed_shape_count(&heed_graph_record(graph, value.id)->shape);
}

uint32_t heed_op_last(const heed_value_record *record) {
  return record->shape.rank ? record->shape.dim[record->shape.rank - 1] : 1;
}
