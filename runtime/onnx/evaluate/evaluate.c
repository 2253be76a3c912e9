/* The evaluator: every node once, in the order of the file; a value goes when its last reader has
 * run. See evaluate.h and heed/onnx.h. */
#include "onnx/evaluate/evaluate.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/safetensors.h"
#include "model/files/source.h"
#include "onnx/file/attention_finder.h"

/* ----------------------------------------------------------------------------------------- ops */

static const heed_onnx_op_entry *find_in(const heed_onnx_op_entry *table, const char *name) {
  for (; table->name; table++)
    if (strcmp(table->name, name) == 0) return table;
  return NULL;
}

static const heed_onnx_op_entry *find_op(const heed_onnx_node *node) {
  const heed_onnx_op_entry *const tables[] = {
      heed_onnx_elementwise, heed_onnx_layout,     heed_onnx_reduce,     heed_onnx_products,
      heed_onnx_norms,       heed_onnx_attentions, heed_onnx_quantisers, heed_onnx_resizes,
      heed_onnx_einsums,     heed_onnx_tuples,     heed_onnx_channels,   heed_onnx_pools,
      heed_onnx_selections,  heed_onnx_squares};
  if (!heed_onnx_has_schema(node)) return NULL;
  if (heed_onnx_is_if(node) && node->input_count == 1) return NULL; /* see branches.c */
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    const heed_onnx_op_entry *found = find_in(tables[i], node->op);
    if (found) return found;
  }
  return NULL;
}

int heed_onnx_kind(const heed_onnx_call *call) { return call->node->known->kind; }

/* ---------------------------------------------------------------------------------- the values */

/* Nobody reads what is left out: it has no uses and no array. */
static void count_use(heed_onnx_evaluator *e, heed_onnx_id value) {
  if (value) e->uses[value]++;
}

static void release(heed_onnx_evaluator *e, heed_onnx_id value) {
  if (!value || --e->uses[value] > 0) return;
  heed_onnx_drop(e, e->values[value]);
  e->values[value] = NULL;
}

/* An initializer is read when its first reader runs. */
heed_status heed_onnx_fetch(heed_onnx_call *call, heed_onnx_id value,
                            const heed_onnx_array **array) {
  heed_onnx_evaluator *e = call->evaluator;
  const heed_onnx_maker *maker = &e->file->makers[value];
  heed_onnx_array **slot = &e->values[value];
  if (!*slot && maker->tensor) HEED_TRY(heed_onnx_load(call, maker->tensor, slot));
  *array = *slot;
  return *slot || !value ? HEED_OK
                         : heed_onnx_refuse(call, HEED_INVALID_FILE, "its input %.*s has no value",
                                            heed_utf8_cut(maker->name, 100), maker->name);
}

/* Whether the guards of a node let it run. Their conditions were made before. */
static heed_status is_live(heed_onnx_evaluator *e, const heed_onnx_guard *guard, bool *live,
                           heed_error *error) {
  *live = true;
  if (!guard) return HEED_OK;
  HEED_TRY(is_live(e, guard->outer, live, error));
  if (!*live) return HEED_OK;
  heed_onnx_call call = {.evaluator = e, .node = guard->branching, .error = error};
  const heed_onnx_array *condition;
  bool truth = false;
  HEED_TRY(heed_onnx_fetch(&call, guard->condition, &condition));
  HEED_TRY(heed_onnx_truth(&call, condition, &truth));
  *live = truth == guard->truth;
  return HEED_OK;
}

static void release_inputs(heed_onnx_evaluator *e, const heed_onnx_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++) release(e, node->in[i]);
}

static heed_status check_node(heed_onnx_call *call) {
  const heed_onnx_node *node = call->node;
  call->opset = heed_onnx_opset_of(&call->evaluator->file->model, node->domain);
  if (!node->known)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                            "op not supported (found %.60s%s%.60s of opset %lld)", node->domain,
                            *node->domain ? "." : "", node->op, (long long)call->opset);
  HEED_TRY(heed_onnx_check_counts(call));
  return heed_onnx_check_attributes(call);
}

heed_status heed_onnx_check(const heed_onnx *file, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  heed_onnx_evaluator e = {.file = file, .context = file->context};
  for (uint32_t i = 0; i < graph->node_count; i++)
    HEED_TRY(
        check_node(&(heed_onnx_call){.evaluator = &e, .node = &graph->nodes[i], .error = error}));
  return HEED_OK;
}

heed_status heed_onnx_run_node(heed_onnx_evaluator *e, const heed_onnx_node *node,
                               heed_onnx_array **weights, heed_error *error) {
  heed_onnx_call call = {.evaluator = e, .node = node, .weights = weights, .error = error};
  bool live = true;
  HEED_TRY(is_live(e, node->guard, &live, error));
  if (!live) {
    release_inputs(e, node);
    return HEED_OK;
  }
  HEED_TRY(check_node(&call));
  call.in_count = node->input_count;
  for (uint32_t i = 0; i < node->input_count; i++)
    if (heed_onnx_takes_input(&call, i)) HEED_TRY(heed_onnx_fetch(&call, node->in[i], &call.in[i]));
  for (uint32_t i = 0; i < node->input_count; i++)
    if (call.in[i]) HEED_TRY(heed_onnx_check_type(&call, i, call.in[i]->type));
  const heed_status status = node->known->run(&call);
  for (uint32_t i = 0; i < sizeof call.out / sizeof *call.out; i++) {
    const heed_onnx_id id = status == HEED_OK && i < node->output_count ? node->out[i] : 0;
    if (e->uses[id] && call.out[i])
      e->values[id] = call.out[i];
    else
      heed_onnx_drop(e, call.out[i]);
  }
  release_inputs(e, node);
  return status;
}

/* ------------------------------------------------------------------------------------------ all */

static void count_uses(heed_onnx_evaluator *e, const heed_onnx_attention_list *found) {
  const heed_onnx_graph *graph = &e->file->model.graph;
  for (uint32_t i = 0; i < graph->node_count; i++)
    for (uint32_t k = 0; k < graph->nodes[i].input_count; k++) count_use(e, graph->nodes[i].in[k]);
  for (uint32_t i = 0; i < graph->output_count; i++) count_use(e, graph->outputs[i].id);
  for (uint32_t i = 0; i < found->count; i++) count_use(e, found->items[i].weights);
}

heed_status heed_onnx_evaluator_open(heed_onnx_evaluator *e, const heed_onnx_attention_list *found,
                                     heed_error *error) {
  const size_t makers = e->file->maker_count;
  e->values = heed_alloc(e->context, makers, sizeof *e->values);
  e->uses = heed_alloc(e->context, makers, sizeof *e->uses);
  e->kept = heed_alloc(e->context, (size_t)found->count + 1, sizeof *e->kept);
  if (!e->values || !e->uses || !e->kept)
    return heed_fail_memory(error, e->file->name, makers * sizeof *e->values);
  e->kept_count = found->count;
  count_uses(e, found);
  return HEED_OK;
}

void heed_onnx_evaluator_close(heed_onnx_evaluator *e) {
  for (uint32_t i = 0; e->kept && i < e->kept_count; i++) heed_onnx_drop(e, e->kept[i]);
  heed_free(e->context, e->kept);
  for (uint32_t i = 0; e->values && i < e->file->maker_count; i++) heed_onnx_drop(e, e->values[i]);
  heed_free(e->context, e->values);
  heed_free(e->context, e->uses);
}

/* ---------------------------------------------------------------------------- what is not there */

static bool op_less(const void *user, uint32_t a, uint32_t b) {
  const heed_onnx_node *nodes = user;
  const int order = strcmp(nodes[a].op, nodes[b].op);
  return order ? order < 0 : a < b;
}

static bool index_less(const void *user, uint32_t a, uint32_t b) {
  (void)user;
  return a < b;
}

heed_status heed_onnx_find_missing(heed_onnx *file, heed_error *error) {
  const heed_onnx_graph *graph = &file->model.graph;
  uint32_t count = 0, kept = 0;
  for (uint32_t i = 0; i < graph->node_count; i++) {
    graph->nodes[i].known = find_op(&graph->nodes[i]);
    count += !graph->nodes[i].known;
  }
  file->missing = heed_onnx_take(&file->arena, count, sizeof *file->missing);
  if (!file->missing) return heed_fail_memory(error, file->name, count * sizeof *file->missing);
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (!graph->nodes[i].known) file->missing[kept++] = i;
  heed_sort(file->missing, count, op_less, graph->nodes);
  for (uint32_t i = 0; i < count; i++)
    if (i == 0 || strcmp(graph->nodes[file->missing[i]].op,
                         graph->nodes[file->missing[file->missing_count - 1]].op) != 0)
      file->missing[file->missing_count++] = file->missing[i];
  heed_sort(file->missing, file->missing_count, index_less, NULL);
  return HEED_OK;
}

const char *heed_onnx_missing_op(const heed_onnx *file, uint32_t index) {
  return index < file->missing_count ? file->model.graph.nodes[file->missing[index]].op : NULL;
}
