/* The lowering, node after node: folded where all inputs are known, else an expression. See
 * lower.h. */
#include "onnx/lower/lower.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/safetensors.h"

/* Constants of more elements stay in the file where an op only passes them on. */
#define LARGE 4096u

/* ---------------------------------------------------------------------------------- the values */

static bool is_known(const heed_lower *l, heed_onnx_id id) {
  return !id || l->file->makers[id].tensor || l->evaluator.values[id] ||
         heed_lower_is(l->bound[id], HEED_LOWER_CONSTANT);
}

heed_lower_value *heed_lower_bound(const heed_lower *l, heed_onnx_id id) { return l->bound[id]; }

/* Floats made of inputs of whole numbers, such as rows of a table, are an input of the graph. */
static heed_lower_value *given_input(heed_lower *l, heed_onnx_id id, heed_onnx_array *array) {
  heed_lower_value *made = heed_lower_new(l, HEED_LOWER_INPUT, array->rank, array->dims, NULL, 0);
  if (!made) return NULL;
  made->input = id;
  made->array = array;
  return made;
}

static heed_lower_value *value_of(heed_lower *l, heed_onnx_id at) {
  const heed_onnx_maker *maker = &l->file->makers[at];
  if (l->bound[at]) return l->bound[at];
  const heed_onnx_weight stored = {.name = maker->name, .data = maker->tensor};
  heed_onnx_array *known = l->evaluator.values[at];
  if (known && l->given[at] && heed_onnx_is_kernel_float(known->type))
    l->bound[at] = given_input(l, at, known);
  else if (known)
    l->bound[at] = heed_lower_of_array(l, l->evaluator.values[at]);
  else if (maker->tensor)
    l->bound[at] = heed_lower_of_weight(l, &stored);
  if (l->bound[at]) {
    l->bound[at]->readers += l->evaluator.uses[at];
    l->types[at] = maker->tensor ? maker->tensor->type : l->evaluator.values[at]->type;
  }
  return l->bound[at];
}

bool heed_lower_has_input(const heed_lower *l, uint32_t index) {
  return index < l->call.node->input_count && l->call.node->in[index];
}

static heed_onnx_id output_of(const heed_lower *l, uint32_t index) {
  return index < l->call.node->output_count ? l->call.node->out[index] : 0;
}

bool heed_lower_has_output(const heed_lower *l, uint32_t index) {
  return l->evaluator.uses[output_of(l, index)] > 0;
}

static heed_lower_value *fetch(heed_lower *l, heed_onnx_id id) {
  heed_lower_value *value = l->status == HEED_OK ? value_of(l, id) : NULL;
  const char *name = l->file->makers[id].name;
  if (!value && l->status == HEED_OK)
    heed_lower_refuse(l, HEED_INVALID_FILE, "its input %.*s has no value", heed_utf8_cut(name, 100),
                      name);
  return value;
}

heed_lower_value *heed_lower_input(heed_lower *l, uint32_t index) {
  if (l->status != HEED_OK) return NULL;
  if (!heed_lower_has_input(l, index))
    return heed_lower_refuse(l, HEED_INVALID_FILE, "input %u is missing", index);
  return fetch(l, l->call.node->in[index]);
}

uint32_t heed_lower_type(heed_lower *l, uint32_t index) {
  const heed_onnx_id id = l->call.node->in[index];
  return value_of(l, id) ? l->types[id] : 0;
}

void heed_lower_bind(heed_lower *l, uint32_t index, heed_lower_value *value, uint32_t type) {
  const heed_onnx_node *node = l->call.node;
  const heed_onnx_id at = output_of(l, index);
  if (!value || !at || l->status != HEED_OK) return;
  /* one that was there before passes to its readers; the node itself is no longer one */
  HEED_ASSERT(at < l->file->maker_count);
  value->readers += l->evaluator.uses[at] - (value->readers > 0 && l->evaluator.uses[at] > 0);
  l->bound[at] = value;
  l->types[at] = type ? type : node->input_count ? l->types[node->in[0]] : 0;
}

void heed_lower_bind_array(heed_lower *l, uint32_t index, heed_onnx_array *array) {
  const heed_onnx_id at = output_of(l, index);
  if (at && array && !l->evaluator.values[at])
    l->evaluator.values[at] = array;
  else
    heed_onnx_drop(&l->evaluator, array);
}

/* --------------------------------------------------------------------------------------- nodes */

static const heed_lower_op *find_op(const heed_onnx_node *node) {
  const heed_lower_op *const tables[] = {
      heed_lower_nodes,      heed_lower_activations, heed_lower_layouts, heed_lower_blocks,
      heed_lower_quantisers, heed_lower_pads,        heed_lower_wholes,  heed_lower_einsums,
      heed_lower_resizes,    heed_lower_channels,    heed_lower_pools,   heed_lower_tuples};
  if (!heed_onnx_has_schema(node)) return NULL;
  if (heed_onnx_is_if(node) && node->input_count == 1) return NULL; /* see branches.c */
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    for (const heed_lower_op *op = tables[i]; op->name; op++)
      if (strcmp(op->name, node->op) == 0) return op;
  return NULL;
}

static heed_onnx_op_count *count_of(heed_lower *l, const char *op) {
  for (size_t i = 0; i < l->count_count; i++)
    if (strcmp(l->counts[i].op, op) == 0) return &l->counts[i];
  if (!heed_grow(l->file->context, &l->counts, &l->count_room, l->count_count + 1,
                 sizeof *l->counts))
    return NULL;
  l->counts[l->count_count] = (heed_onnx_op_count){.op = op};
  return &l->counts[l->count_count++];
}

/* Whether the op hands a large constant on, so that it can stay where it is stored. Scales of
 * blocks are the evaluator's. */
static bool passes_on(heed_lower *l, const heed_onnx_node *node) {
  static const char *const ops[] = {"Identity", "Cast", "Transpose", "DequantizeLinear", NULL};
  const heed_onnx_id from = node->input_count ? node->in[0] : 0;
  const heed_onnx_tensor *tensor = l->file->makers[from].tensor;
  bool found = false;
  for (size_t i = 0; ops[i]; i++) found |= strcmp(node->op, ops[i]) == 0;
  if (!found || heed_onnx_find_attribute(node, "block_size")) return false;
  const heed_lower_value *bound = l->bound[from];
  if (bound) return heed_lower_size(bound) > LARGE && bound->weight;
  return tensor && tensor->count > LARGE && heed_onnx_type_bits(tensor->type);
}

/* Whether the node computes enough that kernels do it also where all is known beforehand. */
static bool is_heavy(const heed_onnx_node *node) {
  static const char *const ops[] = {"MatMul",
                                    "Gemm",
                                    "Conv",
                                    "LayerNormalization",
                                    "RMSNormalization",
                                    "SkipLayerNormalization",
                                    "DynamicQuantizeLinear",
                                    "QuantizeLinear",
                                    "MatMulNBits",
                                    "Softmax",
                                    NULL};
  for (size_t i = 0; ops[i]; i++)
    if (strcmp(node->op, ops[i]) == 0) return true;
  return false;
}

/* Whether a computed value of whole numbers may be input `index`: as a float it is moved, compared,
 * cast, and what a quantisation is. Arithmetic of whole numbers is another. */
static bool takes_whole_numbers(const heed_onnx_node *node, uint32_t index) {
  static const char *const ops[] = {"Identity",      "Cast",        "Dropout", "DequantizeLinear",
                                    "MatMulInteger", "ConvInteger", NULL};
  for (const heed_lower_op *op = heed_lower_layouts; op->name; op++)
    if (strcmp(op->name, node->op) == 0) return true;
  for (const heed_lower_op *op = heed_lower_wholes; op->name; op++)
    if (strcmp(op->name, node->op) == 0) return true;
  if (strcmp(node->op, "GatherND") == 0) return true;
  for (size_t i = 0; ops[i]; i++)
    if (strcmp(node->op, ops[i]) == 0) return true;
  return index == 2 && strcmp(node->op, "QuantizeLinear") == 0;
}

/* Whether an input of the graph of whole numbers has a part in what the node reads. */
static bool reads_given(heed_lower *l, const heed_onnx_node *node) {
  bool found = false;
  for (uint32_t i = 0; i < node->input_count; i++) found = found || l->given[node->in[i]];
  return found;
}

static bool is_float_given(heed_lower *l, const heed_onnx_node *node) {
  const heed_onnx_id at = node->input_count ? node->in[0] : 0;
  const heed_onnx_array *array = l->evaluator.values[at];
  return array && l->given[at] && heed_onnx_is_kernel_float(array->type);
}

/* Puts what expressions know into the evaluator's hands. */
static heed_status give_inputs(heed_lower *l, const heed_onnx_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) {
    const heed_onnx_id at = node->in[i];
    if (!at || l->file->makers[at].tensor || l->evaluator.values[at]) continue;
    const heed_onnx_array *from = heed_lower_elements(l, l->bound[at]);
    heed_onnx_array *copy;
    if (!from) return l->status;
    HEED_TRY(heed_onnx_make(&l->call, l->types[at] ? l->types[at] : from->type, l->bound[at]->rank,
                            l->bound[at]->dims, &copy));
    memcpy(copy->data, from->data, (size_t)from->count * sizeof *from->data);
    l->evaluator.values[at] = copy;
  }
  return HEED_OK;
}

static heed_status fold(heed_lower *l, const heed_onnx_node *node) {
  const bool given = reads_given(l, node);
  HEED_TRY(give_inputs(l, node));
  for (uint32_t i = 0; given && i < node->output_count; i++)
    if (node->out[i]) l->given[node->out[i]] = true;
  return heed_onnx_run_node(&l->evaluator, node, NULL, l->error);
}

/* The list is in the order of the nodes. */
uint32_t heed_lower_attention_at(const heed_lower *l, const heed_onnx_node *node) {
  const heed_onnx_attention_list *list = l->file->attentions;
  const size_t index = (size_t)(node - l->file->model.graph.nodes);
  uint32_t low = 0, high = list->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (list->items[middle].node < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low < list->count && list->items[low].node == index ? low : UINT32_MAX;
}

/* Inputs that are lists or indices are read beforehand, as the evaluator's ops find them. */
static heed_status read_small_inputs(heed_lower *l, const heed_onnx_node *node) {
  for (uint32_t i = 0; i < node->input_count && i < HEED_ONNX_MOST_INPUTS; i++) {
    const heed_onnx_tensor *tensor = l->file->makers[node->in[i]].tensor;
    l->call.in[i] = l->evaluator.values[node->in[i]];
    if (tensor && !l->call.in[i] && tensor->count <= LARGE)
      HEED_TRY(heed_onnx_fetch(&l->call, node->in[i], &l->call.in[i]));
  }
  return HEED_OK;
}

/* Whether the guards of a node let it run; their conditions must be known. */
static bool is_live(heed_lower *l, const heed_onnx_guard *guard) {
  if (!guard) return true;
  if (!is_live(l, guard->outer)) return false;
  bool truth = false;
  return heed_lower_branch(l, guard->branching, guard->condition, &truth) && truth == guard->truth;
}

bool heed_lower_branch(heed_lower *l, const heed_onnx_node *node, heed_onnx_id condition_of,
                       bool *truth) {
  l->call = (heed_onnx_call){.evaluator = &l->evaluator,
                             .node = node,
                             .opset = heed_onnx_opset_of(&l->file->model, node->domain),
                             .in_count = node->input_count,
                             .error = l->error};
  heed_lower_value *condition = fetch(l, condition_of);
  if (!condition) return false;
  const heed_onnx_array *known =
      condition->kind == HEED_LOWER_CONSTANT ? heed_lower_elements(l, condition) : NULL;
  if (!known)
    heed_lower_refuse(l, HEED_UNSUPPORTED,
                      "a condition that is computed has no kernel (found If of opset %lld)",
                      (long long)l->call.opset);
  else
    l->status = heed_onnx_truth(&l->call, known, truth);
  return l->status == HEED_OK;
}

/* The node as expressions of kernels. */
static heed_status lower_to_kernels(heed_lower *l, const heed_onnx_node *node) {
  const heed_lower_op *op = find_op(node);
  if (!op)
    return heed_onnx_refuse(&l->call, HEED_UNSUPPORTED,
                            "op has no kernel (found %.60s%s%.60s of opset %lld)", node->domain,
                            *node->domain ? "." : "", node->op, (long long)l->call.opset);
  HEED_TRY(heed_onnx_check_counts(&l->call));
  for (uint32_t i = 0; i < node->input_count; i++) {
    const heed_lower_value *x = l->bound[node->in[i]];
    const uint32_t type = l->types[node->in[i]];
    if (x && x->kind != HEED_LOWER_CONSTANT && !heed_onnx_is_float(type) &&
        !takes_whole_numbers(node, i))
      return heed_onnx_refuse(&l->call, HEED_UNSUPPORTED, "computed whole numbers have no kernel");
    if (x && x->kind != HEED_LOWER_CONSTANT) HEED_TRY(heed_onnx_check_type(&l->call, i, type));
  }
  HEED_TRY(heed_onnx_check_attributes(&l->call));
  HEED_TRY(read_small_inputs(l, node));
  op->lower(l, op->kind);
  return l->status;
}

static heed_status lower_node(heed_lower *l, uint32_t index) {
  const heed_onnx_node *node = &l->file->model.graph.nodes[index];
  const int64_t opset = heed_onnx_opset_of(&l->file->model, node->domain);
  bool known = heed_lower_attention_at(l, node) == UINT32_MAX && node->known, wanted = false;
  for (uint32_t i = 0; i < node->input_count; i++) known = known && is_known(l, node->in[i]);
  l->call = (heed_onnx_call){.evaluator = &l->evaluator,
                             .node = node,
                             .opset = opset,
                             .in_count = node->input_count,
                             .error = l->error};
  for (uint32_t i = 0; i < node->output_count; i++) wanted = wanted || heed_lower_has_output(l, i);
  if (!wanted) return HEED_OK;
  if (node->guard) {
    const heed_onnx_call call = l->call;
    if (!is_live(l, node->guard)) return l->status;
    l->call = call;
  }
  heed_onnx_op_count *count = count_of(l, node->op);
  if (!count) return heed_fail_memory(l->error, l->file->name, sizeof *count);
  if (known && !passes_on(l, node) && !(is_heavy(node) && is_float_given(l, node))) {
    count->folded++;
    return fold(l, node);
  }
  count->lowered++;
  const heed_status status = lower_to_kernels(l, node);
  return status == HEED_UNSUPPORTED && l->takes_hosts ? heed_lower_host_node(l) : status;
}

/* -------------------------------------------------------------------------------------- inputs */

/* The number of channels of a picture in colour or grey. */
static bool is_colour(int64_t count) { return count == 3 || count == 1; }

bool heed_onnx_channels_last(uint32_t rank, const int64_t *dims) {
  return rank == 4 && is_colour(dims[3]) && !is_colour(dims[1]);
}

/* Whether it is a picture's: of colours, or of a file that takes nothing else, of grey. */
static bool is_picture(const heed_lower *l, const heed_onnx_array *shape) {
  if (!l->picture || shape->rank != 4) return false;
  for (uint32_t axis = 1; axis < 4; axis += 2)
    if (shape->dims[axis] == 3 || (shape->dims[axis] == 1 && l->alone)) return true;
  return false;
}

/* [B, C, H, W], also where the file has another order of axes; bytes are floats. */
static heed_lower_value *picture_input(heed_lower *l, const heed_onnx_value *input,
                                       const heed_onnx_array *shape) {
  static const uint32_t order[] = {0, 2, 3, 1};
  const uint64_t *from = shape->dims, turned[] = {from[0], from[3], from[1], from[2]};
  const bool last = is_colour((int64_t)from[3]) && !is_colour((int64_t)from[1]);
  heed_lower_value *made = heed_lower_new(l, HEED_LOWER_INPUT, 4, last ? turned : from, NULL, 0);
  if (!made) return NULL;
  made->input = input->id;
  made->readers = 1;
  return last ? heed_lower_permute(l, made, order) : made;
}

static heed_status bind_input(heed_lower *l, const heed_onnx_value *input,
                              const heed_source *source, const heed_safetensors_tensor *tensor) {
  const heed_onnx_id at = input->id;
  const heed_onnx_node none = {.name = input->name, .op = "input", .domain = ""};
  heed_onnx_array shape;
  l->call = (heed_onnx_call){.evaluator = &l->evaluator, .node = &none, .error = l->error};
  HEED_TRY(heed_onnx_check_input(l->file, input, source, tensor, &shape, l->error));
  if (l->batch == 0 && shape.rank) l->batch = shape.dims[0];
  l->given[at] = shape.type != HEED_ONNX_DOUBLE;
  const bool picture = is_picture(l, &shape);
  if (!picture && !heed_onnx_is_kernel_float(shape.type))
    return heed_onnx_read_input(&l->evaluator, input, source, tensor, l->error);
  heed_lower_value *value =
      picture ? picture_input(l, input, &shape)
              : heed_lower_new(l, HEED_LOWER_INPUT, shape.rank, shape.dims, NULL, 0);
  if (!value) return l->status;
  if (!picture) value->input = at;
  value->readers = l->evaluator.uses[at];
  l->bound[at] = value;
  l->types[at] = shape.type;
  return HEED_OK;
}

static heed_status bind_inputs(heed_lower *l, const heed_source *source, const char *name) {
  const heed_onnx_graph *graph = &l->file->model.graph;
  heed_safetensors *given;
  heed_status status = HEED_OK;
  HEED_TRY(heed_safetensors_open(l->file->context, source, name, &given, l->error));
  l->alone = heed_safetensors_count(given) == 1;
  for (uint32_t i = 0; status == HEED_OK && i < graph->input_count; i++) {
    const heed_onnx_value *input = &graph->inputs[i];
    const heed_safetensors_tensor *tensor = heed_safetensors_find(given, input->name);
    if (tensor)
      status = bind_input(l, input, source, tensor);
    else if (!l->file->makers[input->id].tensor)
      status = heed_fail(l->error, HEED_INVALID_FILE, "%s: missing tensor %.*s (an input of %s)",
                         name, HEED_CUT(input->name), l->file->name);
  }
  heed_safetensors_destroy(given);
  return status;
}

/* ----------------------------------------------------------------------------------------- all */

heed_status heed_lower_graph(heed_lower *l, const heed_source *inputs, const char *name,
                             bool attentions) {
  const heed_onnx_graph *graph = &l->file->model.graph;
  const size_t room = l->file->maker_count;
  static const heed_onnx_attention_list none;
  l->arena.context = l->file->context;
  HEED_TRY(
      heed_onnx_evaluator_open(&l->evaluator, attentions ? l->file->attentions : &none, l->error));
  l->bound = heed_onnx_take(&l->arena, room, sizeof *l->bound);
  l->types = heed_onnx_take(&l->arena, room, sizeof *l->types);
  l->given = heed_onnx_take(&l->arena, room, sizeof *l->given);
  if (!l->bound || !l->types || !l->given)
    return heed_fail_memory(l->error, l->file->name, room * sizeof *l->bound);
  HEED_TRY(bind_inputs(l, inputs, name));
  for (uint32_t i = 0; i < graph->node_count; i++) HEED_TRY(lower_node(l, i));
  HEED_TRY(heed_lower_emit(l, attentions));
  l->evaluator.elements.most = HEED_ONNX_MOST_ELEMENTS; /* of outputs from here on */
  l->evaluator.steps.most = l->work.most;
  return HEED_OK;
}

void heed_lower_close(heed_lower *l) {
  heed_graph_destroy(l->graph);
  for (size_t i = 0; i < l->owned_count; i++) heed_onnx_drop(&l->evaluator, l->owned[i]);
  heed_free(l->file->context, l->owned);
  heed_free(l->file->context, l->values);
  heed_free(l->file->context, l->counts);
  heed_onnx_evaluator_close(&l->evaluator);
  heed_onnx_arena_free(&l->arena);
}
