/* The suffix of a graph: nodes are copied with their descs, in which the table of an op says where
 * its values stand. */
#include "explain/suffix.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

static heed_status copy(heed_suffix *s, uint32_t id, heed_error *error);

/* The same constant, stored as it is: its numbers are read through the old graph's source. It has
 * the same origin, so that sessions share what a backend packs of it. */
static uint32_t copy_constant(heed_suffix *s, uint32_t id, const heed_value_record *record) {
  const heed_constant_desc desc = {.struct_size = sizeof desc,
                                   .dtype = record->dtype,
                                   .shape = record->shape,
                                   .data = record->data,
                                   .read = record->read,
                                   .read_user = record->read_user};
  const heed_value value = heed_define_constant(s->graph, &desc);
  if (value.id) {
    s->graph->values[value.id - 1].quantised = record->quantised;
    s->graph->values[value.id - 1].halves = record->halves;
    uint64_t words[HEED_ORIGIN_WORDS];
    const uint32_t count = heed_graph_origin_of(s->from, id, words);
    heed_graph_origin(s->graph, value, words, count);
  }
  return value.id;
}

static heed_status copy_node(heed_suffix *s, const heed_node *node, heed_error *error) {
  const heed_op *op = heed_ops[node->op];
  unsigned char *desc = heed_alloc_raw(s->graph->context, 1, op->desc_size);
  if (!desc) return heed_fail_memory(error, op->name, op->desc_size);
  memcpy(desc, node->desc, op->desc_size);
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < op->input_count && status == HEED_OK; i++) {
    heed_value value;
    memcpy(&value, desc + op->inputs[i].offset, sizeof value);
    if (!value.id || !node->input[i]) continue;
    status = copy(s, value.id, error);
    value.id = s->made[value.id];
    memcpy(desc + op->inputs[i].offset, &value, sizeof value);
  }
  const heed_node *made = NULL;
  if (status == HEED_OK) {
    heed_graph_stage(s->graph, node->stage);
    (void)heed_graph_add_node(s->graph, node->op, desc, &made);
    status = heed_graph_status(s->graph, error);
  }
  for (uint32_t i = 0; made && i < HEED_NODE_OUTPUTS; i++)
    if (node->output[i]) s->made[node->output[i]] = made->output[i];
  heed_free(s->graph->context, desc);
  return status;
}

static heed_status copy(heed_suffix *s, uint32_t id, heed_error *error) {
  const heed_value_record *record = heed_graph_record(s->from, id);
  if (s->made[id]) return HEED_OK;
  if (record->kind == HEED_VALUE_INPUT)
    return heed_fail(error, HEED_UNSUPPORTED, "suffix: another input is needed (found \"%s\")",
                     record->name);
  if (record->kind == HEED_VALUE_RESULT) return copy_node(s, &s->from->nodes[record->node], error);
  if (record->kind == HEED_VALUE_CONSTANT) {
    s->made[id] = copy_constant(s, id, record);
  } else {
    HEED_TRY(copy(s, record->base, error));
    s->made[id] = heed_define_view(s->graph, (heed_value){s->made[record->base]}, record->offset,
                                   &record->shape)
                      .id;
  }
  return heed_graph_status(s->graph, error);
}

heed_status heed_suffix_open(heed_context *context, heed_suffix *s, heed_error *error) {
  HEED_TRY(heed_graph_create(context, &s->graph, error));
  s->made = heed_alloc(context, s->from->value_count + 1, sizeof *s->made);
  if (!s->made)
    return heed_fail_memory(error, "suffix", (s->from->value_count + 1) * sizeof *s->made);
  for (uint32_t i = 0; i < s->cut_count; i++) {
    char name[16];
    snprintf(name, sizeof name, "cut.%u", i);
    const heed_value_record *record = heed_graph_record(s->from, s->cuts[i].id);
    s->inputs[i] = heed_define_input(s->graph, name, record->dtype, &record->shape);
    s->made[s->cuts[i].id] = s->inputs[i].id;
  }
  HEED_TRY(copy(s, s->wanted.id, error));
  s->output.id = s->made[s->wanted.id];
  heed_graph_name(s->graph, s->output, heed_graph_record(s->from, s->wanted.id)->name);
  heed_graph_output(s->graph, s->output);
  return heed_graph_status(s->graph, error);
}

void heed_suffix_close(heed_context *context, heed_suffix *s) {
  heed_graph_destroy(s->graph);
  heed_free(context, s->made);
  s->graph = NULL;
  s->made = NULL;
}
