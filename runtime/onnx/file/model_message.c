/* The messages of an ONNX file. See message.h. Each repeated field is counted first, so that its
 * list is taken whole. */
#include "onnx/file/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "onnx/file/message_parts.h"

static heed_status fail_memory(const heed_onnx_reader *r, heed_error *error) {
  return heed_fail_memory(error, r->wire.where, sizeof(heed_onnx_node));
}

heed_status heed_onnx_count_fields(heed_onnx_reader *r, heed_onnx_range range, uint32_t counts[],
                                   uint32_t numbers, heed_error *error) {
  heed_onnx_field field;
  memset(counts, 0, numbers * sizeof *counts);
  for (;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) return HEED_OK;
    if (field.number >= numbers) continue;
    if (++counts[field.number] > HEED_ONNX_MOST)
      return heed_fail(error, HEED_UNSUPPORTED, "%s: too many entries (found more than %u)",
                       r->wire.where, HEED_ONNX_MOST);
  }
}

/* ---------------------------------------------------------------------------------- attributes */

static heed_status read_numbers(heed_onnx_reader *r, heed_onnx_range range, uint32_t number,
                                heed_onnx_wire_type type, void *to, uint32_t *count,
                                heed_error *error) {
  *count = 0;
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) return HEED_OK;
    if (field.number != number) continue;
    for (;;) {
      uint64_t value;
      bool more;
      HEED_TRY(heed_onnx_next_number(&r->wire, &field, type, &value, &more, error));
      if (!more) break;
      if (*count == UINT32_MAX) break;
      const uint32_t bits = (uint32_t)value;
      if (to && type == HEED_ONNX_VARINT) memcpy((int64_t *)to + *count, &value, sizeof value);
      if (to && type == HEED_ONNX_FIXED32) memcpy((float *)to + *count, &bits, sizeof bits);
      ++*count;
    }
  }
}

/* ints (8) or floats (7): counted, then read. */
static heed_status read_list(heed_onnx_reader *r, heed_onnx_range range,
                             heed_onnx_attribute *attribute, bool floats, heed_error *error) {
  const uint32_t number = floats ? 7 : 8;
  const heed_onnx_wire_type type = floats ? HEED_ONNX_FIXED32 : HEED_ONNX_VARINT;
  HEED_TRY(read_numbers(r, range, number, type, NULL, &attribute->count, error));
  void *list = heed_onnx_take(r->arena, attribute->count, floats ? sizeof(float) : sizeof(int64_t));
  if (!list) return fail_memory(r, error);
  if (floats)
    attribute->floats = list;
  else
    attribute->ints = list;
  return read_numbers(r, range, number, type, list, &attribute->count, error);
}

static heed_status read_inner(heed_onnx_reader *r, const heed_onnx_field *field,
                              heed_onnx_attribute *attribute, heed_error *error) {
  HEED_TRY(heed_onnx_want(&r->wire, field, HEED_ONNX_BYTES, "attribute", error));
  if (field->number == 5) {
    heed_onnx_tensor *tensor = heed_onnx_take(r->arena, 1, sizeof *tensor);
    if (!tensor) return fail_memory(r, error);
    attribute->tensor = tensor;
    return heed_onnx_read_tensor(r, field->range, tensor, error);
  }
  heed_onnx_graph *graph = heed_onnx_take(r->arena, 1, sizeof *graph);
  if (!graph) return fail_memory(r, error);
  attribute->graph = graph;
  if (r->depth == HEED_ONNX_MAX_DEPTH)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: attribute %.*s: graphs are nested too deeply (found more than %d)",
                     r->wire.where, HEED_CUT(attribute->name), HEED_ONNX_MAX_DEPTH);
  r->depth++;
  const heed_status status = heed_onnx_read_graph(r, field->range, graph, error);
  r->depth--;
  return status;
}

/* The type of AttributeProto whose value a field holds; 0: none. */
static uint32_t type_of_field(uint32_t number) {
  static const uint8_t types[] = {
      [2] = 1, [3] = 2,  [4] = 3,   [5] = 4,   [6] = 5,   [7] = 6,   [8] = 7,
      [9] = 8, [10] = 9, [11] = 10, [14] = 13, [15] = 14, [22] = 11, [23] = 12};
  return number < sizeof types ? types[number] : 0;
}

/* Files of the first versions leave the type out: it is that of the field that is there. */
static heed_status read_attribute(heed_onnx_reader *r, heed_onnx_range range,
                                  heed_onnx_attribute *attribute, heed_error *error) {
  const heed_onnx_range whole = range;
  const char what[] = "attribute";
  uint32_t implied = 0;
  bool mixed = false;
  int64_t type = 0;
  *attribute = (heed_onnx_attribute){.name = "", .s = "", .refers = ""};
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) break;
    if (field.number == 1) HEED_TRY(heed_onnx_read_text(r, &field, what, &attribute->name, error));
    if (field.number == 2) {
      HEED_TRY(heed_onnx_want(&r->wire, &field, HEED_ONNX_FIXED32, what, error));
      const uint32_t bits = (uint32_t)field.value;
      memcpy(&attribute->f, &bits, sizeof bits);
    }
    if (field.number == 3) HEED_TRY(heed_onnx_read_number(r, &field, what, &attribute->i, error));
    if (field.number == 4) HEED_TRY(heed_onnx_read_text(r, &field, what, &attribute->s, error));
    if (field.number == 5 || field.number == 6) HEED_TRY(read_inner(r, &field, attribute, error));
    if (field.number == 20) HEED_TRY(heed_onnx_read_number(r, &field, what, &type, error));
    if (field.number == 21)
      HEED_TRY(heed_onnx_read_text(r, &field, what, &attribute->refers, error));
    const uint32_t of = type_of_field(field.number);
    if (of && implied && of != implied) mixed = true;
    if (of) implied = of;
  }
  attribute->type = type > 0 && type < 64 ? (uint32_t)type : implied;
  if (mixed || (implied && attribute->type != implied))
    return heed_fail(
        error, HEED_INVALID_FILE,
        "%s: attribute %.*s has a value of another type than it says (found a field of "
        "type %u, expected %u)",
        r->wire.where, HEED_CUT(attribute->name), implied, attribute->type);
  return attribute->type == 6 || attribute->type == 7
             ? read_list(r, whole, attribute, attribute->type == 6, error)
             : HEED_OK;
}

/* --------------------------------------------------------------------------------------- nodes */

static heed_status fail_node(const heed_onnx_reader *r, const heed_onnx_node *node, const char *why,
                             const char *name, heed_error *error) {
  return heed_fail(error, HEED_INVALID_FILE, "%s: node %.60s %.*s: %s%.60s", r->wire.where,
                   node->op, heed_utf8_cut(node->name, 100), node->name, why, name);
}

/* What no reader of the node could see any more: an attribute has one value, and the branches of an
 * If hang on its condition (branches.c). */
static heed_status check_node(const heed_onnx_reader *r, const heed_onnx_node *node,
                              heed_error *error) {
  if (!*node->op) return fail_node(r, node, "it names no op (expected op_type)", "", error);
  for (uint32_t i = 0; i < node->attribute_count; i++)
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(node->attributes[i].name, node->attributes[k].name) == 0)
        return fail_node(r, node, "an attribute is there twice: ", node->attributes[i].name, error);
  if (heed_onnx_is_if(node) && (!node->input_count || !*node->inputs[0]))
    return fail_node(r, node, "its condition is missing (expected input 0)", "", error);
  return HEED_OK;
}

static heed_status read_node(heed_onnx_reader *r, heed_onnx_range range, heed_onnx_node *node,
                             heed_error *error) {
  const char what[] = "node";
  uint32_t counts[8];
  HEED_TRY(heed_onnx_count_fields(r, range, counts, 8, error));
  if (counts[5] > HEED_ONNX_MOST_ATTRIBUTES)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: a node has too many attributes (found %u, expected at most %u)",
                     r->wire.where, counts[5], HEED_ONNX_MOST_ATTRIBUTES);
  heed_onnx_attribute *attributes = heed_onnx_take(r->arena, counts[5], sizeof *attributes);
  *node = (heed_onnx_node){
      .name = "", .op = "", .domain = "", .overload = "", .attributes = attributes};
  node->inputs = heed_onnx_take(r->arena, counts[1], sizeof *node->inputs);
  node->outputs = heed_onnx_take(r->arena, counts[2], sizeof *node->outputs);
  if (!attributes || !node->inputs || !node->outputs) return fail_memory(r, error);
  for (heed_onnx_field field;;) {
    const char **text = NULL;
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) break;
    if (field.number == 1) text = &node->inputs[node->input_count++];
    if (field.number == 2) text = &node->outputs[node->output_count++];
    if (field.number == 3) text = &node->name;
    if (field.number == 4) text = &node->op;
    if (field.number == 7) text = &node->domain;
    if (field.number == 8) text = &node->overload;
    if (text) HEED_TRY(heed_onnx_read_text(r, &field, what, text, error));
    if (field.number != 5) continue;
    HEED_TRY(heed_onnx_want(&r->wire, &field, HEED_ONNX_BYTES, what, error));
    HEED_TRY(read_attribute(r, field.range, &attributes[node->attribute_count++], error));
  }
  if (strcmp(node->domain, "ai.onnx") == 0) node->domain = "";
  return check_node(r, node, error);
}

/* -------------------------------------------------------------------------- inputs and outputs */

static heed_status read_dimension(heed_onnx_reader *r, heed_onnx_range range, int64_t *size,
                                  heed_error *error) {
  *size = -1;
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) return HEED_OK;
    if (field.number == 1) HEED_TRY(heed_onnx_read_number(r, &field, "dimension", size, error));
    if (*size < -1 || *size > UINT32_MAX) *size = -1;
  }
}

static heed_status read_shape(heed_onnx_reader *r, heed_onnx_range range, heed_onnx_value *value,
                              heed_error *error) {
  value->shaped = true;
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) return HEED_OK;
    if (field.number != 1) continue;
    HEED_TRY(heed_onnx_want(&r->wire, &field, HEED_ONNX_BYTES, "shape", error));
    if (value->rank == HEED_ONNX_MAX_RANK)
      return heed_fail(error, HEED_UNSUPPORTED, "%s: value %.*s has too many axes (expected %d)",
                       r->wire.where, HEED_CUT(value->name), HEED_ONNX_MAX_RANK);
    HEED_TRY(read_dimension(r, field.range, &value->dims[value->rank++], error));
  }
}

/* TypeProto.Tensor: the type of elements, and the shape. */
static heed_status read_tensor_type(heed_onnx_reader *r, heed_onnx_range range,
                                    heed_onnx_value *value, heed_error *error) {
  for (heed_onnx_field field;;) {
    int64_t type;
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) return HEED_OK;
    if (field.number == 1) {
      HEED_TRY(heed_onnx_read_number(r, &field, "type", &type, error));
      value->type = type > 0 && type < 256 ? (uint32_t)type : 255;
    }
    if (field.number != 2) continue;
    HEED_TRY(heed_onnx_want(&r->wire, &field, HEED_ONNX_BYTES, "type", error));
    HEED_TRY(read_shape(r, field.range, value, error));
  }
}

static heed_status read_value(heed_onnx_reader *r, heed_onnx_range range, heed_onnx_value *value,
                              heed_error *error) {
  heed_onnx_range type = {0, 0};
  *value = (heed_onnx_value){.name = ""};
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) break;
    if (field.number == 1) HEED_TRY(heed_onnx_read_text(r, &field, "value", &value->name, error));
    if (field.number != 2) continue;
    HEED_TRY(heed_onnx_want(&r->wire, &field, HEED_ONNX_BYTES, "value", error));
    type = field.range;
  }
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &type, &field, error));
    if (field.number == 0) return HEED_OK;
    if (field.number == 1 && field.type == HEED_ONNX_BYTES)
      HEED_TRY(read_tensor_type(r, field.range, value, error));
  }
}

/* -------------------------------------------------------------------------------------- graphs */

static heed_status take_lists(heed_onnx_reader *r, const uint32_t counts[16],
                              heed_onnx_graph *graph, heed_error *error) {
  graph->nodes = heed_onnx_take(r->arena, counts[1], sizeof *graph->nodes);
  graph->initializers = heed_onnx_take(r->arena, counts[5], sizeof *graph->initializers);
  graph->inputs = heed_onnx_take(r->arena, counts[11], sizeof *graph->inputs);
  graph->outputs = heed_onnx_take(r->arena, counts[12], sizeof *graph->outputs);
  return graph->nodes && graph->initializers && graph->inputs && graph->outputs
             ? HEED_OK
             : fail_memory(r, error);
}

heed_status heed_onnx_read_graph(heed_onnx_reader *r, heed_onnx_range range, heed_onnx_graph *graph,
                                 heed_error *error) {
  uint32_t counts[16];
  *graph = (heed_onnx_graph){0};
  HEED_TRY(heed_onnx_count_fields(r, range, counts, 16, error));
  if (counts[15])
    return heed_fail(error, HEED_UNSUPPORTED, "%s: sparse initializers are not supported",
                     r->wire.where);
  HEED_TRY(take_lists(r, counts, graph, error));
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) return HEED_OK;
    if (field.number != 1 && field.number != 5 && field.number != 11 && field.number != 12)
      continue;
    HEED_TRY(heed_onnx_want(&r->wire, &field, HEED_ONNX_BYTES, "graph", error));
    if (field.number == 1)
      HEED_TRY(
          read_node(r, field.range, (heed_onnx_node *)&graph->nodes[graph->node_count++], error));
    if (field.number == 5)
      HEED_TRY(heed_onnx_read_tensor(
          r, field.range, (heed_onnx_tensor *)&graph->initializers[graph->initializer_count++],
          error));
    if (field.number == 11)
      HEED_TRY(read_value(r, field.range, (heed_onnx_value *)&graph->inputs[graph->input_count++],
                          error));
    if (field.number == 12)
      HEED_TRY(read_value(r, field.range, (heed_onnx_value *)&graph->outputs[graph->output_count++],
                          error));
  }
}

/* ----------------------------------------------------------------------------- operator sets */

static heed_status read_opset(heed_onnx_reader *r, heed_onnx_range range, heed_onnx_opset *opset,
                              heed_error *error) {
  *opset = (heed_onnx_opset){"", 0};
  for (heed_onnx_field field;;) {
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) break;
    if (field.number == 1) HEED_TRY(heed_onnx_read_text(r, &field, "opset", &opset->domain, error));
    if (field.number == 2)
      HEED_TRY(heed_onnx_read_number(r, &field, "opset", &opset->version, error));
  }
  if (strcmp(opset->domain, "ai.onnx") == 0) opset->domain = "";
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------ functions */

static heed_status take_function(heed_onnx_reader *r, const uint32_t counts[12],
                                 heed_onnx_function *function, heed_error *error) {
  *function = (heed_onnx_function){.name = "", .domain = "", .overload = ""};
  function->inputs = heed_onnx_take(r->arena, counts[4], sizeof *function->inputs);
  function->outputs = heed_onnx_take(r->arena, counts[5], sizeof *function->outputs);
  function->nodes = heed_onnx_take(r->arena, counts[7], sizeof *function->nodes);
  function->opsets = heed_onnx_take(r->arena, counts[9], sizeof *function->opsets);
  function->defaults = heed_onnx_take(r->arena, counts[11], sizeof *function->defaults);
  return function->inputs && function->outputs && function->nodes && function->opsets &&
                 function->defaults
             ? HEED_OK
             : fail_memory(r, error);
}

/* A field of FunctionProto that is a message: a node, an operator set or an attribute. */
static heed_status read_part(heed_onnx_reader *r, const heed_onnx_field *field,
                             heed_onnx_function *to, heed_error *error) {
  HEED_TRY(heed_onnx_want(&r->wire, field, HEED_ONNX_BYTES, "function", error));
  if (field->number == 7)
    return read_node(r, field->range, (heed_onnx_node *)&to->nodes[to->node_count++], error);
  if (field->number == 9)
    return read_opset(r, field->range, (heed_onnx_opset *)&to->opsets[to->opset_count++], error);
  return read_attribute(r, field->range, (heed_onnx_attribute *)&to->defaults[to->default_count++],
                        error);
}

static heed_status read_function(heed_onnx_reader *r, heed_onnx_range range, heed_onnx_function *to,
                                 heed_error *error) {
  uint32_t counts[12];
  HEED_TRY(heed_onnx_count_fields(r, range, counts, 12, error));
  if (counts[11] > HEED_ONNX_MOST_ATTRIBUTES)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: a function has too many attributes (found %u, expected at most %u)",
                     r->wire.where, counts[11], HEED_ONNX_MOST_ATTRIBUTES);
  HEED_TRY(take_function(r, counts, to, error));
  for (heed_onnx_field field;;) {
    const char **text = NULL;
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) break;
    if (field.number == 1) text = &to->name;
    if (field.number == 4) text = &to->inputs[to->input_count++];
    if (field.number == 5) text = &to->outputs[to->output_count++];
    if (field.number == 10) text = &to->domain;
    if (field.number == 13) text = &to->overload;
    if (text) HEED_TRY(heed_onnx_read_text(r, &field, "function", text, error));
    if (field.number == 7 || field.number == 9 || field.number == 11)
      HEED_TRY(read_part(r, &field, to, error));
  }
  if (strcmp(to->domain, "ai.onnx") == 0) to->domain = "";
  return HEED_OK;
}

/* -------------------------------------------------------------------------------------- models */

static heed_status read_fields(heed_onnx_reader *r, heed_onnx_range range, heed_onnx_model *model,
                               heed_error *error) {
  uint32_t counts[26];
  HEED_TRY(heed_onnx_count_fields(r, range, counts, 26, error));
  if (counts[7] != 1)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: not an ONNX model (found %u graphs, expected one)", r->wire.where,
                     counts[7]);
  heed_onnx_opset *opsets = heed_onnx_take(r->arena, counts[8], sizeof *opsets);
  heed_onnx_function *functions = heed_onnx_take(r->arena, counts[25], sizeof *functions);
  if (!opsets || !functions) return fail_memory(r, error);
  model->opsets = opsets;
  model->functions = functions;
  for (heed_onnx_field field;;) {
    const char what[] = "model";
    HEED_TRY(heed_onnx_next(&r->wire, &range, &field, error));
    if (field.number == 0) return HEED_OK;
    if (field.number == 1)
      HEED_TRY(heed_onnx_read_number(r, &field, what, &model->ir_version, error));
    if (field.number == 2) HEED_TRY(heed_onnx_read_text(r, &field, what, &model->producer, error));
    if (field.number == 3)
      HEED_TRY(heed_onnx_read_text(r, &field, what, &model->producer_version, error));
    if (field.number != 7 && field.number != 8 && field.number != 25) continue;
    HEED_TRY(heed_onnx_want(&r->wire, &field, HEED_ONNX_BYTES, what, error));
    if (field.number == 25)
      HEED_TRY(read_function(r, field.range, &functions[model->function_count++], error));
    if (field.number == 7) HEED_TRY(heed_onnx_read_graph(r, field.range, &model->graph, error));
    if (field.number == 8)
      HEED_TRY(read_opset(r, field.range, &opsets[model->opset_count++], error));
  }
}

/* Of two versions of one operator set nobody knows which is meant. */
static heed_status check_opsets(const heed_onnx_model *model, const char *where,
                                heed_error *error) {
  if (model->opset_count > HEED_ONNX_MOST_OPSETS)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: too many operator sets (found %u, expected at most %u)", where,
                     model->opset_count, HEED_ONNX_MOST_OPSETS);
  for (uint32_t i = 0; i < model->opset_count; i++) {
    const heed_onnx_opset *set = &model->opsets[i];
    const int64_t first = heed_onnx_opset_of(model, set->domain);
    if (set->version != first)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: two versions of the operator set %.60s (found %lld and %lld, expected "
                       "one)",
                       where, *set->domain ? set->domain : "ai.onnx", (long long)first,
                       (long long)set->version);
    if (set->version < 1)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: invalid version of the operator set %.60s (found %lld)", where,
                       *set->domain ? set->domain : "ai.onnx", (long long)set->version);
  }
  return HEED_OK;
}

heed_status heed_onnx_read_model(heed_onnx_arena *arena, const heed_source *source,
                                 const char *where, heed_onnx_model *model, heed_error *error) {
  heed_onnx_reader *r = heed_onnx_take(arena, 1, sizeof *r);
  *model = (heed_onnx_model){.producer = "", .producer_version = ""};
  if (!r) return heed_fail_memory(error, where, sizeof *r);
  *r = (heed_onnx_reader){.wire = {.source = source, .where = where}, .arena = arena};
  HEED_TRY(read_fields(r, (heed_onnx_range){0, source->size}, model, error));
  HEED_TRY(check_opsets(model, where, error));
  /* the list is the last of a file: one that was cut short has none */
  if (model->opset_count == 0 && model->ir_version >= 3)
    return heed_fail(error, HEED_INVALID_FILE, "%s: no operator sets (expected one at least)",
                     where);
  HEED_TRY(heed_onnx_write_out(arena, where, model, error));
  HEED_TRY(heed_onnx_join_branches(arena, where, &model->graph, error));
  return heed_onnx_write_fused(arena, where, &model->graph, error);
}

bool heed_onnx_is_if(const heed_onnx_node *node) {
  return strcmp(node->op, "If") == 0 && !*node->domain;
}

int64_t heed_onnx_opset_of(const heed_onnx_model *model, const char *domain) {
  for (uint32_t i = 0; i < model->opset_count; i++)
    if (strcmp(model->opsets[i].domain, domain) == 0) return model->opsets[i].version;
  return 0;
}
