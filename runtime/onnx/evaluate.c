/* The evaluator: every node once, in the order of the file; a value goes when its last reader has
 * run. See evaluate.h and heed/onnx.h. */
#include "onnx/evaluate.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/safetensors.h"
#include "model/source.h"
#include "onnx/finder.h"

struct heed_onnx_result {
  const heed_context *context;
  char name[16];
  heed_assembled made;
  heed_onnx_array **arrays; /* [made.count] */
  uint32_t room, count;
};

/* ----------------------------------------------------------------------------------------- ops */

static const heed_onnx_op_entry *find_in(const heed_onnx_op_entry *table, const char *name) {
  for (; table->name; table++)
    if (strcmp(table->name, name) == 0) return table;
  return NULL;
}

const heed_onnx_op_entry *heed_onnx_find_op(const heed_onnx_node *node) {
  const heed_onnx_op_entry *const tables[] = {
      heed_onnx_elementwise, heed_onnx_layout,     heed_onnx_reduce,     heed_onnx_products,
      heed_onnx_norms,       heed_onnx_attentions, heed_onnx_quantisers, heed_onnx_resizes};
  if (*node->domain && strcmp(node->domain, "com.microsoft") != 0) return NULL;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    const heed_onnx_op_entry *found = find_in(tables[i], node->op);
    if (found) return found;
  }
  return NULL;
}

int heed_onnx_kind(const heed_onnx_call *call) { return heed_onnx_find_op(call->node)->kind; }

/* ---------------------------------------------------------------------------------- the values */

static heed_onnx_array **slot_of(heed_onnx_evaluator *e, const char *name) {
  const heed_onnx_maker *maker = *name ? heed_onnx_maker_of(e->file, name) : NULL;
  return maker ? &e->values[maker - e->file->makers] : NULL;
}

static void count_use(heed_onnx_evaluator *e, const char *name) {
  const heed_onnx_maker *maker = *name ? heed_onnx_maker_of(e->file, name) : NULL;
  if (maker) e->uses[maker - e->file->makers]++;
}

static void release(heed_onnx_evaluator *e, const char *name) {
  heed_onnx_array **slot = slot_of(e, name);
  if (!slot || --e->uses[slot - e->values] > 0) return;
  heed_onnx_drop(e, *slot);
  *slot = NULL;
}

/* An initializer is read when its first reader runs. */
static heed_status fetch(heed_onnx_call *call, const char *name, const heed_onnx_array **array) {
  heed_onnx_evaluator *e = call->evaluator;
  *array = NULL;
  if (!*name) return HEED_OK;
  const heed_onnx_maker *maker = heed_onnx_maker_of(e->file, name);
  heed_onnx_array **slot = &e->values[maker - e->file->makers];
  if (!*slot && maker->tensor) HEED_TRY(heed_onnx_load(call, maker->tensor, slot));
  *array = *slot;
  return *slot ? HEED_OK
               : heed_onnx_refuse(call, HEED_INVALID_FILE, "its input %.*s has no value",
                                  heed_utf8_cut(name, 100), name);
}

/* weights: where an attention of one node puts them; or NULL. */
static heed_status run_node(heed_onnx_evaluator *e, const heed_onnx_node *node,
                            heed_onnx_array **weights, heed_error *error) {
  heed_onnx_call call = {.evaluator = e, .node = node, .weights = weights, .error = error};
  const heed_onnx_op_entry *op = heed_onnx_find_op(node);
  call.opset = heed_onnx_opset_of(&e->file->model, node->domain);
  if (!op || node->input_count > HEED_ONNX_MOST_INPUTS)
    return heed_onnx_refuse(&call, HEED_UNSUPPORTED,
                            "op not supported (found %s%s%.60s of opset %lld)", node->domain,
                            *node->domain ? "." : "", node->op, (long long)call.opset);
  call.in_count = node->input_count;
  for (uint32_t i = 0; i < node->input_count; i++)
    HEED_TRY(fetch(&call, node->inputs[i], &call.in[i]));
  const heed_status status = op->run(&call);
  for (uint32_t i = 0; i < sizeof call.out / sizeof *call.out; i++) {
    heed_onnx_array **slot =
        status == HEED_OK && i < node->output_count ? slot_of(e, node->outputs[i]) : NULL;
    if (slot && e->uses[slot - e->values] && call.out[i])
      *slot = call.out[i];
    else
      heed_onnx_drop(e, call.out[i]);
  }
  for (uint32_t i = 0; i < node->input_count; i++) release(e, node->inputs[i]);
  return status;
}

/* -------------------------------------------------------------------------------------- inputs */

static uint32_t type_of(const char *safetensors) {
  for (uint32_t type = 1; type < 32; type++) {
    const char *name = heed_onnx_type_safetensors(type);
    if (name && strcmp(name, safetensors) == 0) return type;
  }
  return 0;
}

static heed_status check_input(const heed_onnx *file, const heed_onnx_value *input,
                               const heed_safetensors_tensor *tensor, uint32_t type,
                               heed_error *error) {
  char text[HEED_SHAPE_TEXT_SIZE], found[16];
  bool fits = !input->shaped || input->rank == tensor->shape.rank;
  for (uint32_t i = 0; fits && input->shaped && i < input->rank; i++)
    fits = input->dims[i] < 0 || input->dims[i] == tensor->shape.dim[i];
  if (fits && type && (input->type == 0 || input->type == type)) return HEED_OK;
  return heed_fail(
      error, HEED_INVALID_FILE, "%s: input %.*s does not fit (found %s %s, expected %s of %u axes)",
      file->name, heed_utf8_cut(input->name, 100), input->name, tensor->dtype_name,
      heed_shape_text(&tensor->shape, text), heed_onnx_type_name(input->type, found), input->rank);
}

static heed_status read_input(heed_onnx_evaluator *e, const heed_onnx_value *input,
                              const heed_source *source, const heed_safetensors_tensor *tensor,
                              heed_error *error) {
  const uint32_t type = type_of(tensor->dtype_name);
  const heed_onnx_node none = {.name = input->name, .op = "input", .domain = ""};
  heed_onnx_call call = {.evaluator = e, .node = &none, .error = error};
  heed_onnx_array **slot = slot_of(e, input->name);
  uint64_t dims[HEED_MAX_RANK];
  unsigned char bytes[4096];
  HEED_TRY(check_input(e->file, input, tensor, type, error));
  for (uint32_t i = 0; i < tensor->shape.rank; i++) dims[i] = tensor->shape.dim[i];
  heed_onnx_drop(e, *slot);
  HEED_TRY(heed_onnx_make(&call, type, tensor->shape.rank, dims, slot));
  const uint32_t size = heed_onnx_type_bits(type) / 8;
  for (uint64_t done = 0; done < (*slot)->count;) {
    const uint64_t left = (*slot)->count - done, most = sizeof bytes / size,
                   here = left < most ? left : most;
    HEED_TRY(heed_source_read(source, input->name, tensor->offset + done * size, bytes,
                              (size_t)(here * size), error));
    for (uint64_t i = 0; i < here; i++)
      heed_onnx_cell_read(type, bytes + i * size, &(*slot)->data[done + i]);
    done += here;
  }
  return HEED_OK;
}

static heed_status read_inputs(heed_onnx_evaluator *e, const heed_onnx_evaluate_desc *desc,
                               const heed_safetensors *given, heed_error *error) {
  const heed_onnx_graph *graph = &e->file->model.graph;
  for (uint32_t i = 0; i < graph->input_count; i++) {
    const heed_onnx_value *input = &graph->inputs[i];
    const heed_safetensors_tensor *tensor = heed_safetensors_find(given, input->name);
    if (tensor) HEED_TRY(read_input(e, input, &desc->inputs, tensor, error));
    if (!tensor && !heed_onnx_maker_of(e->file, input->name)->tensor)
      return heed_fail(error, HEED_INVALID_FILE, "%s: missing tensor %.*s (an input of %s)",
                       desc->name, HEED_CUT(input->name), e->file->name);
  }
  return HEED_OK;
}

/* -------------------------------------------------------------------------------------- results */

/* As heed_assembled_read. */
static heed_status read_result(void *user, uint32_t index, uint64_t offset, void *to, size_t count,
                               heed_error *error) {
  const heed_onnx_result *result = user;
  const heed_onnx_array *array = result->arrays[index];
  const uint32_t size = heed_onnx_type_bits(array->type) / 8;
  unsigned char *bytes = to, element[8];
  (void)error;
  for (size_t i = 0; i < count; i++) {
    const uint64_t at = offset + i;
    if (i == 0 || at % size == 0)
      heed_onnx_cell_write(array->type, array->data[at / size], element);
    bytes[i] = element[at % size];
  }
  return HEED_OK;
}

/* Takes the array. */
static heed_status put_array(heed_onnx_result *result, heed_onnx_array *array, const char *name,
                             heed_error *error) {
  result->arrays[result->count++] = array;
  return heed_assembled_add(&result->made, name, heed_onnx_type_safetensors(array->type),
                            array->rank, array->dims,
                            array->count * (heed_onnx_type_bits(array->type) / 8), error);
}

static heed_status add_result(heed_onnx_result *result, heed_onnx_evaluator *e, const char *value,
                              const char *name, heed_error *error) {
  const heed_onnx_node none = {.name = name, .op = "output", .domain = ""};
  heed_onnx_call call = {.evaluator = e, .node = &none, .error = error};
  const heed_onnx_array *from;
  heed_onnx_array *copy;
  HEED_TRY(fetch(&call, value, &from));
  if (!heed_onnx_type_safetensors(from->type))
    return heed_onnx_refuse(&call, HEED_UNSUPPORTED, "a type that no output file has");
  HEED_TRY(heed_onnx_make(&call, from->type, from->rank, from->dims, &copy));
  memcpy(copy->data, from->data, (size_t)from->count * sizeof *from->data);
  return put_array(result, copy, name, error);
}

static heed_status give_results(heed_onnx_evaluator *e, const heed_onnx_attention_list *found,
                                heed_onnx_result *result, heed_error *error) {
  const heed_onnx_graph *graph = &e->file->model.graph;
  for (uint32_t i = 0; i < graph->output_count; i++)
    HEED_TRY(add_result(result, e, graph->outputs[i].name, graph->outputs[i].name, error));
  for (uint32_t i = 0; i < found->count; i++) {
    char name[32];
    heed_onnx_array *kept = e->kept[i];
    snprintf(name, sizeof name, "attention.%u", i);
    e->kept[i] = NULL;
    if (!kept && !*found->items[i].weights) continue; /* its node gave none */
    HEED_TRY(kept ? put_array(result, kept, name, error)
                  : add_result(result, e, found->items[i].weights, name, error));
  }
  return heed_assembled_finish(&result->made, error);
}

/* ------------------------------------------------------------------------------------------ all */

static void count_uses(heed_onnx_evaluator *e, const heed_onnx_attention_list *found) {
  const heed_onnx_graph *graph = &e->file->model.graph;
  for (uint32_t i = 0; i < graph->node_count; i++)
    for (uint32_t k = 0; k < graph->nodes[i].input_count; k++)
      count_use(e, graph->nodes[i].inputs[k]);
  for (uint32_t i = 0; i < graph->output_count; i++) count_use(e, graph->outputs[i].name);
  for (uint32_t i = 0; i < found->count; i++) count_use(e, found->items[i].weights);
}

static heed_status evaluate(heed_onnx_evaluator *e, const heed_onnx_evaluate_desc *desc,
                            const heed_onnx_attention_list *found, heed_onnx_result *result,
                            heed_error *error) {
  const heed_onnx_graph *graph = &e->file->model.graph;
  heed_safetensors *given;
  const uint64_t room = (uint64_t)graph->output_count + found->count;
  e->values = heed_alloc(e->context, (size_t)e->file->maker_count + 1, sizeof *e->values);
  e->uses = heed_alloc(e->context, (size_t)e->file->maker_count + 1, sizeof *e->uses);
  e->kept = heed_alloc(e->context, (size_t)found->count + 1, sizeof *e->kept);
  result->arrays = heed_alloc(e->context, (size_t)room + 1, sizeof *result->arrays);
  if (!e->values || !e->uses || !e->kept || !result->arrays)
    return heed_fail_memory(error, e->file->name, (size_t)room * sizeof *result->arrays);
  count_uses(e, found);
  HEED_TRY(heed_safetensors_open(e->context, &desc->inputs, desc->name, &given, error));
  heed_status status = read_inputs(e, desc, given, error);
  uint32_t next = 0; /* of the attentions, which are in the order of their nodes */
  heed_safetensors_destroy(given);
  for (uint32_t i = 0; status == HEED_OK && i < graph->node_count; i++) {
    if (desc->hooks && desc->hooks->cancel && desc->hooks->cancel(desc->hooks->user))
      return heed_fail(error, HEED_CANCELLED, "%s: cancelled", e->file->name);
    const heed_onnx_attention *item = next < found->count ? &found->items[next] : NULL;
    const bool here = item && item->node == i;
    status = run_node(e, &graph->nodes[i], here && !*item->weights ? &e->kept[next] : NULL, error);
    next += here;
  }
  return status == HEED_OK ? give_results(e, found, result, error) : status;
}

static void close_evaluator(heed_onnx_evaluator *e, uint32_t attentions) {
  for (uint32_t i = 0; e->kept && i < attentions; i++) heed_onnx_drop(e, e->kept[i]);
  heed_free(e->context, e->kept);
  for (uint32_t i = 0; e->values && i < e->file->maker_count; i++) heed_onnx_drop(e, e->values[i]);
  heed_free(e->context, e->values);
  heed_free(e->context, e->uses);
}

const char *heed_onnx_missing_op(const heed_onnx *file, uint32_t index) {
  const heed_onnx_graph *graph = &file->model.graph;
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (!heed_onnx_find_op(&graph->nodes[i]) && index-- == 0) return graph->nodes[i].op;
  return NULL;
}

heed_status heed_onnx_evaluate(heed_onnx *file, const heed_onnx_evaluate_desc *desc,
                               heed_onnx_result **result, heed_error *error) {
  heed_onnx_evaluate_desc full;
  if (!file || !desc || !result)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "onnx: NULL argument (expected file, desc, result)");
  *result = NULL;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "onnx", error));
  heed_onnx_evaluator e = {.file = file,
                           .context = file->context,
                           .most = HEED_ONNX_MOST_ELEMENTS,
                           .most_steps = HEED_ONNX_MOST_STEPS};
  if (full.most_elements && full.most_elements < e.most) e.most = full.most_elements;
  if (full.most_steps) e.most_steps = full.most_steps;
  const heed_onnx_attention_list none = {0}, *found = full.attentions ? file->attentions : &none;
  heed_onnx_result *made = heed_alloc(file->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, file->name, sizeof *made);
  *made = (heed_onnx_result){.context = file->context, .name = "result"};
  made->made = (heed_assembled){
      .context = file->context, .where = made->name, .read = read_result, .user = made};
  if (!full.name) full.name = "inputs";
  const heed_status status = evaluate(&e, &full, found, made, error);
  close_evaluator(&e, found->count);
  if (status == HEED_OK)
    *result = made;
  else
    heed_onnx_result_destroy(made);
  return status;
}

heed_source heed_onnx_result_source(heed_onnx_result *result) {
  return heed_assembled_source(&result->made);
}

void heed_onnx_result_destroy(heed_onnx_result *result) {
  if (!result) return;
  const heed_context *context = result->context;
  heed_onnx_evaluator e = {.context = context};
  for (uint32_t i = 0; i < result->count; i++) heed_onnx_drop(&e, result->arrays[i]);
  heed_free(context, result->arrays);
  heed_assembled_free(&result->made);
  heed_free(context, result);
}
