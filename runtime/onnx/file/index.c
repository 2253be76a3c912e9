/* Which node makes which value: here names become numbers. See file.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"
#include "onnx/file/file.h"

#define MOST_ALIASES 16 /* Identity of Identity ... */

static bool maker_less(const void *user, uint32_t a, uint32_t b) {
  const heed_onnx_maker *makers = user;
  const int order = strcmp(makers[a].name, makers[b].name);
  return order ? order < 0 : a < b;
}

/* An input that has an initializer is a weight with a default: files of the first versions name all
 * their weights among the inputs. So inputs come last, and give way. */
static uint32_t list_makers(const heed_onnx_graph *graph, heed_onnx_maker *to) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < graph->initializer_count; i++)
    to[count++] =
        (heed_onnx_maker){graph->initializers[i].name, &graph->initializers[i], NULL, 0, 0};
  for (uint32_t i = 0; i < graph->node_count; i++)
    for (uint32_t k = 0; k < graph->nodes[i].output_count; k++)
      if (*graph->nodes[i].outputs[k])
        to[count++] = (heed_onnx_maker){graph->nodes[i].outputs[k], NULL, &graph->nodes[i], i, k};
  for (uint32_t i = 0; i < graph->input_count; i++)
    to[count++] = (heed_onnx_maker){graph->inputs[i].name, NULL, NULL, 0, 0};
  return count;
}

static heed_status sort_makers(heed_onnx *file, const heed_onnx_maker *list, uint32_t *order,
                               uint32_t count, heed_error *error) {
  const heed_onnx_maker *last = NULL;
  file->makers[file->maker_count++] = (heed_onnx_maker){.name = ""}; /* what is left out */
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  heed_sort(order, count, maker_less, list);
  for (uint32_t i = 0; i < count; i++) {
    const heed_onnx_maker *maker = &list[order[i]];
    if (!last || strcmp(last->name, maker->name) != 0) {
      last = &file->makers[file->maker_count];
      file->makers[file->maker_count++] = *maker;
      continue;
    }
    const bool is_default = last->tensor && !maker->tensor && !maker->node;
    if (!is_default)
      return heed_fail(error, HEED_INVALID_FILE, "%s: value %.*s is made twice", file->name,
                       HEED_CUT(maker->name));
  }
  return HEED_OK;
}

/* The value of a name; 0: there is none. */
static heed_onnx_id find(const heed_onnx *file, const char *name) {
  heed_onnx_id low = 1, high = file->maker_count;
  while (low < high) {
    const heed_onnx_id middle = low + (high - low) / 2;
    const int order = strcmp(file->makers[middle].name, name);
    if (order == 0) return middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return 0;
}

/* ONNX has nodes in an order in which they can run; so a value that comes later is part of a
 * circle, or missing. */
static heed_status look_up_node(heed_onnx *file, uint32_t index, heed_onnx_id *to,
                                heed_error *error) {
  heed_onnx_node *node = &file->model.graph.nodes[index];
  node->in = to;
  node->out = to + node->input_count;
  for (uint32_t k = 0; k < node->input_count; k++) {
    const heed_onnx_id id = to[k] = find(file, node->inputs[k]);
    if (!*node->inputs[k] ||
        (id && (!file->makers[id].node || file->makers[id].node_index < index)))
      continue;
    return heed_fail(error, HEED_INVALID_FILE, "%s: node %u (%.60s %.*s): input %.*s %s",
                     file->name, index, node->op, heed_utf8_cut(node->name, 100), node->name,
                     heed_utf8_cut(node->inputs[k], 100), node->inputs[k],
                     id ? "comes from a later node (expected nodes in the order of their values, "
                          "without a circle)"
                        : "is missing (expected an input, an initializer or a node with it)");
  }
  for (uint32_t k = 0; k < node->output_count; k++)
    to[node->input_count + k] = find(file, node->outputs[k]);
  for (heed_onnx_guard *guard = node->guard; guard; guard = guard->outer)
    guard->condition = find(file, guard->branching->inputs[0]); /* the If is refused without it */
  return HEED_OK;
}

static heed_status look_up(heed_onnx *file, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  uint64_t room = 0;
  for (uint32_t i = 0; i < graph->node_count; i++)
    room += (uint64_t)graph->nodes[i].input_count + graph->nodes[i].output_count;
  heed_onnx_id *ids = heed_onnx_take(&file->arena, room, sizeof *ids);
  if (!ids) return heed_fail_memory(error, file->name, (size_t)room * sizeof *ids);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    HEED_TRY(look_up_node(file, i, ids, error));
    ids += graph->nodes[i].input_count + graph->nodes[i].output_count;
  }
  for (uint32_t i = 0; i < graph->output_count; i++) {
    graph->outputs[i].id = find(file, graph->outputs[i].name);
    if (!graph->outputs[i].id)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: output %.*s is missing (expected a node that makes it)", file->name,
                       HEED_CUT(graph->outputs[i].name));
  }
  return HEED_OK;
}

/* "" stands for what is left out, so nothing may be called so. */
static heed_status check_names(const heed_onnx *file, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  for (uint32_t i = 0; i < graph->initializer_count; i++)
    if (!*graph->initializers[i].name)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: initializer %u has no name (expected one, by which nodes read it)",
                       file->name, i);
  for (uint32_t i = 0; i < graph->input_count; i++)
    if (!*graph->inputs[i].name)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: input %u of the graph has no name (expected one, by which nodes read "
                       "it)",
                       file->name, i);
  return HEED_OK;
}

/* Lists the inputs that have no initializer. One that an input describes otherwise than it is would
 * be read in two ways. */
static heed_status check_defaults(heed_onnx *file, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  for (uint32_t i = 0; i < graph->input_count; i++) {
    heed_onnx_value *input = &graph->inputs[i];
    input->id = find(file, input->name);
    const heed_onnx_tensor *tensor = file->makers[input->id].tensor;
    if (!tensor) {
      file->takes[file->take_count++] = input;
      continue;
    }
    bool fits = (!input->type || input->type == tensor->type) &&
                (!input->shaped || input->rank == tensor->rank);
    for (uint32_t k = 0; fits && input->shaped && k < input->rank; k++)
      fits = input->dims[k] < 0 || (uint64_t)input->dims[k] == tensor->dims[k];
    if (!fits)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: input %.*s is of another type or shape than its initializer",
                       file->name, HEED_CUT(input->name));
  }
  return HEED_OK;
}

heed_status heed_onnx_index(heed_onnx *file, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  HEED_TRY(check_names(file, error));
  uint64_t room = (uint64_t)graph->initializer_count + graph->input_count + 1;
  for (uint32_t i = 0; i < graph->node_count; i++) room += graph->nodes[i].output_count;
  if (room > UINT32_MAX / 2)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: too many values", file->name);
  file->makers = heed_onnx_take(&file->arena, room, sizeof *file->makers);
  file->takes = heed_onnx_take(&file->arena, graph->input_count, sizeof *file->takes);
  heed_onnx_maker *list = heed_alloc(file->context, (size_t)room, sizeof *list);
  uint32_t *order = heed_alloc(file->context, (size_t)room, sizeof *order);
  heed_status status = HEED_OK;
  if (file->makers && file->takes && list && order)
    status = sort_makers(file, list, order, list_makers(graph, list), error);
  else
    status = heed_fail_memory(error, file->name, (size_t)room * sizeof *list);
  heed_free(file->context, order);
  heed_free(file->context, list);
  if (status == HEED_OK) status = check_defaults(file, error);
  return status == HEED_OK ? look_up(file, error) : status;
}

const heed_onnx_node *heed_onnx_node_of(const heed_onnx *file, heed_onnx_id value, const char *op) {
  const heed_onnx_node *node = file->makers[value].node;
  return node && strcmp(node->op, op) == 0 ? node : NULL;
}

const heed_onnx_tensor *heed_onnx_tensor_of(const heed_onnx *file, heed_onnx_id value) {
  for (uint32_t hops = 0; hops < MOST_ALIASES; hops++) {
    const heed_onnx_maker *maker = &file->makers[value];
    if (maker->tensor || !maker->node) return maker->tensor;
    if (strcmp(maker->node->op, "Constant") == 0) {
      const heed_onnx_attribute *constant = heed_onnx_find_attribute(maker->node, "value");
      return constant ? constant->tensor : NULL;
    }
    if (strcmp(maker->node->op, "Identity") != 0 || maker->node->input_count != 1) return NULL;
    value = maker->node->in[0];
  }
  return NULL;
}

static bool describe(const heed_onnx_value *value, heed_onnx_port *port) {
  *port = (heed_onnx_port){.name = value->name,
                           .dtype = heed_onnx_type_safetensors(value->type),
                           .shaped = value->shaped,
                           .rank = value->rank};
  for (uint32_t i = 0; i < value->rank; i++) port->dim[i] = value->dims[i];
  return true;
}

bool heed_onnx_takes(const heed_onnx *file, uint32_t index, heed_onnx_port *port) {
  return index < file->take_count && describe(file->takes[index], port);
}

bool heed_onnx_gives(const heed_onnx *file, uint32_t index, heed_onnx_port *port) {
  const heed_onnx_graph *graph = &file->model.graph;
  return index < graph->output_count && describe(&graph->outputs[index], port);
}
