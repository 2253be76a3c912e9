/* The graph: values and nodes, defined in the order in which they can run. The first error
 * sticks. */
#include "graph/graph.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/tensor.h"

/* Appends a record; 0 and the graph's error when out of memory or the shape is not usable. */
static uint32_t append_value(heed_graph *graph, const heed_value_record *record, const char *what) {
  heed_error error;
  size_t bytes;
  char text[HEED_SHAPE_TEXT_SIZE];
  if (record->shape.rank > HEED_MAX_RANK ||
      !heed_shape_bytes(&record->shape, record->dtype, &bytes) || bytes == 0 ||
      heed_dtype_size(record->dtype) == 0) {
    heed_fail(&error, HEED_INVALID_ARGUMENT,
              "%s: invalid shape (found %s, expected at least one element and less than %s bytes)",
              what, heed_shape_text(&record->shape, text), SIZE_MAX < UINT64_MAX ? "2^32" : "2^63");
    return heed_graph_fail(graph, &error).id;
  }
  if (!heed_grow(graph->context, &graph->values, &graph->value_capacity, graph->value_count + 1,
                 sizeof *graph->values)) {
    heed_fail_memory(&error, what, sizeof *graph->values);
    return heed_graph_fail(graph, &error).id;
  }
  graph->values[graph->value_count++] = *record;
  return (uint32_t)graph->value_count;
}

void heed_graph_output(heed_graph *graph, heed_value value) {
  if (value.id && value.id <= graph->value_count) graph->values[value.id - 1].output = true;
}

void heed_graph_stage(heed_graph *graph, uint32_t stage) {
  graph->stage = stage;
  if (stage + 1 > graph->stage_count) graph->stage_count = stage + 1;
}

uint32_t heed_graph_value_count(const heed_graph *graph) { return (uint32_t)graph->value_count; }

heed_status heed_graph_value_info(const heed_graph *graph, heed_value value,
                                  heed_value_info *info) {
  const heed_value_record *record = heed_graph_need(graph, value, "value info", NULL);
  if (!record) return HEED_INVALID_ARGUMENT;
  *info = (heed_value_info){record->name ? record->name : "",
                            record->dtype,
                            record->shape,
                            record->kind == HEED_VALUE_INPUT,
                            record->kind == HEED_VALUE_CONSTANT,
                            record->output};
  return HEED_OK;
}

heed_value heed_graph_view_base(const heed_graph *graph, heed_value value) {
  const heed_value_record *record = heed_graph_need(graph, value, "view base", NULL);
  return (heed_value){record && record->kind == HEED_VALUE_VIEW ? record->base : 0};
}

uint32_t heed_graph_node_count(const heed_graph *graph) { return (uint32_t)graph->node_count; }

heed_status heed_graph_node_info(const heed_graph *graph, uint32_t index, heed_node_info *info) {
  if (index >= graph->node_count) return HEED_INVALID_ARGUMENT;
  const heed_node *node = &graph->nodes[index];
  *info = (heed_node_info){.op = heed_ops[node->op]->name, .stage = node->stage};
  for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
    if (node->input[i]) info->inputs[info->input_count++].id = node->input[i];
  for (uint32_t i = 0; i < HEED_NODE_OUTPUTS && node->output[i]; i++)
    info->outputs[info->output_count++].id = node->output[i];
  return HEED_OK;
}

/* Other types are of files alone. */
static bool is_of_values(heed_dtype dtype) {
  return dtype == HEED_F32 || dtype == HEED_U8 || dtype == HEED_I32;
}

heed_value heed_define_input(heed_graph *graph, const char *name, heed_dtype dtype,
                             const heed_shape *shape) {
  if (graph->status != HEED_OK) return (heed_value){0};
  if (!is_of_values(dtype)) {
    heed_error error;
    heed_fail(&error, HEED_INVALID_ARGUMENT,
              "%s: invalid input (found dtype %s, expected F32, U8 or I32)", name,
              heed_dtype_name(dtype));
    return heed_graph_fail(graph, &error);
  }
  const heed_value value = {append_value(
      graph, &(heed_value_record){.kind = HEED_VALUE_INPUT, .dtype = dtype, .shape = *shape},
      name)};
  heed_graph_name(graph, value, name);
  return graph->status == HEED_OK ? value : (heed_value){0};
}

heed_value heed_define_constant(heed_graph *graph, const heed_constant_desc *desc) {
  if (graph->status != HEED_OK) return (heed_value){0};
  heed_constant_desc full;
  if (!heed_graph_read_desc(graph, &full, sizeof full, desc, "constant")) return (heed_value){0};
  desc = &full;
  const char *what = desc->name ? desc->name : "constant";
  heed_error error;
  if ((!desc->data && !desc->read) || !is_of_values(desc->dtype)) {
    heed_fail(&error, HEED_INVALID_ARGUMENT,
              "%s: invalid constant (found dtype %s, expected F32, U8 or I32, and data or read)",
              what, heed_dtype_name(desc->dtype));
    return heed_graph_fail(graph, &error);
  }
  const heed_value value = {append_value(graph,
                                         &(heed_value_record){.kind = HEED_VALUE_CONSTANT,
                                                              .dtype = desc->dtype,
                                                              .shape = desc->shape,
                                                              .data = desc->data,
                                                              .read = desc->read,
                                                              .read_user = desc->read_user},
                                         what)};
  if (desc->name) heed_graph_name(graph, value, desc->name);
  return graph->status == HEED_OK ? value : (heed_value){0};
}

typedef struct transposed {
  const heed_graph *graph;
  uint32_t matrix, rows, columns; /* of the matrix that is turned */
} transposed;

/* Rows [first, first + count) of the matrix as columns: they are read along its own rows, as many
 * numbers at a time as `row` has room for. */
static heed_status read_columns(const transposed *t, uint32_t first, uint32_t count, float *to,
                                heed_error *error) {
  float row[256];
  const uint32_t room = sizeof row / sizeof *row;
  for (uint32_t column = first; column < first + count; column += room) {
    const uint32_t left = first + count - column, here = left < room ? left : room;
    for (uint32_t i = 0; i < t->rows; i++) {
      const heed_status status = heed_graph_read_constant(
          t->graph, t->matrix, (uint64_t)i * t->columns + column, here, row, error);
      if (status != HEED_OK) return status;
      for (uint32_t k = 0; k < here; k++) to[(size_t)(column - first + k) * t->rows + i] = row[k];
    }
  }
  return HEED_OK;
}

static heed_status read_transposed(void *user, uint64_t first, uint64_t count, void *to,
                                   heed_error *error) {
  const transposed *t = user;
  float *at = to;
  while (count > 0) {
    const uint64_t whole = first % t->rows == 0 ? count / t->rows : 0;
    if (whole > 0) {
      const heed_status status =
          read_columns(t, (uint32_t)(first / t->rows), (uint32_t)whole, at, error);
      if (status != HEED_OK) return status;
    } else {
      const uint64_t from = first % t->rows * t->columns + first / t->rows;
      const heed_status status = heed_graph_read_constant(t->graph, t->matrix, from, 1, at, error);
      if (status != HEED_OK) return status;
    }
    const uint64_t done = whole > 0 ? whole * t->rows : 1;
    first += done;
    count -= done;
    at += (size_t)done;
  }
  return HEED_OK;
}

heed_value heed_graph_transpose(heed_graph *graph, heed_value matrix, const char *what) {
  if (graph->status != HEED_OK) return (heed_value){0};
  heed_error error;
  const heed_value_record *record = heed_graph_need(graph, matrix, what, &error);
  if (!record) return heed_graph_fail(graph, &error);
  if (record->kind != HEED_VALUE_CONSTANT || record->dtype != HEED_F32 || record->shape.rank != 2) {
    heed_fail(&error, HEED_INVALID_ARGUMENT,
              "%s: not a matrix (found %u axes of %s, expected a constant F32 of 2 axes)", what,
              record->shape.rank, heed_dtype_name(record->dtype));
    return heed_graph_fail(graph, &error);
  }
  const transposed turned = {graph, matrix.id, record->shape.dim[0], record->shape.dim[1]};
  void *kept = heed_graph_keep(graph, &turned, sizeof turned);
  const heed_constant_desc desc = {
      sizeof desc,     NULL, HEED_F32, HEED_SHAPE(turned.columns, turned.rows), NULL,
      read_transposed, kept};
  return kept ? heed_define_constant(graph, &desc) : (heed_value){0};
}

uint32_t heed_graph_transposed_of(const heed_graph *graph, uint32_t id) {
  const heed_value_record *record = heed_graph_record(graph, id);
  return record->read == read_transposed ? ((const transposed *)record->read_user)->matrix : 0;
}

heed_value heed_define_view(heed_graph *graph, heed_value base, uint64_t offset,
                            const heed_shape *shape) {
  if (graph->status != HEED_OK) return (heed_value){0};
  heed_error error;
  const heed_value_record *of = heed_graph_need(graph, base, "view: base", &error);
  if (!of) return heed_graph_fail(graph, &error);
  const uint64_t start = of->kind == HEED_VALUE_VIEW ? of->offset : 0,
                 size = heed_shape_count(&of->shape);
  uint64_t count;
  if (!heed_shape_count_checked(shape, &count) || count > size || offset > size - count ||
      of->kind == HEED_VALUE_CONSTANT) {
    heed_fail(&error, HEED_INVALID_ARGUMENT,
              "view: outside its base (found elements %llu to %llu, expected at most %llu)",
              (unsigned long long)offset, (unsigned long long)(offset + count),
              (unsigned long long)size);
    return heed_graph_fail(graph, &error);
  }
  const heed_value_record view = {.kind = HEED_VALUE_VIEW,
                                  .dtype = of->dtype,
                                  .shape = *shape,
                                  .base = heed_graph_root(graph, base.id),
                                  .offset = start + offset};
  return (heed_value){append_value(graph, &view, "view")};
}

heed_value heed_graph_add_node(heed_graph *graph, heed_op_kind kind, const void *desc,
                               const heed_node **made) {
  if (made) *made = NULL;
  if (graph->status != HEED_OK) return (heed_value){0};
  HEED_ASSERT((uint32_t)kind < HEED_OP_KIND_COUNT);
  const heed_op *op = heed_ops[kind];
  heed_error error = {HEED_OK, ""};
  void *copy = heed_graph_keep(graph, NULL, op->desc_size);
  if (!copy || !heed_graph_read_desc(graph, copy, op->desc_size, desc, op->name))
    return (heed_value){0};
  if (!heed_grow(graph->context, &graph->nodes, &graph->node_capacity, graph->node_count + 1,
                 sizeof *graph->nodes)) {
    heed_fail_memory(&error, op->name, sizeof *graph->nodes);
    return heed_graph_fail(graph, &error);
  }
  heed_node node = {.op = kind, .stage = graph->stage, .desc = copy};
  heed_op_result results[HEED_NODE_OUTPUTS] = {{HEED_F32, {0}}};
  uint32_t count = 1;
  if (op->infer(graph, &node, copy, results, &count, &error) != HEED_OK)
    return heed_graph_fail(graph, &error);
  HEED_ASSERT(count >= 1 && count <= HEED_NODE_OUTPUTS);
  uint32_t mask;
  if (heed_graph_inherit_mask(graph, &node, &results[0].shape, &mask, &error) != HEED_OK)
    return heed_graph_fail(graph, &error);
  for (uint32_t i = 0; i < count; i++) {
    node.output[i] = append_value(graph,
                                  &(heed_value_record){.kind = HEED_VALUE_RESULT,
                                                       .dtype = results[i].dtype,
                                                       .shape = results[i].shape,
                                                       .node = (uint32_t)graph->node_count},
                                  op->name);
    if (!node.output[i]) return (heed_value){0};
  }
  graph->values[node.output[0] - 1].mask = mask;
  graph->nodes[graph->node_count++] = node;
  if (made) *made = &graph->nodes[graph->node_count - 1];
  return (heed_value){node.output[0]};
}
