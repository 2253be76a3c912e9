/* A graph of which some nodes have no kernel: each of those runs in double, and what lies between
 * them on kernels. A part of a graph is a graph of its own. It takes what its nodes read of other
 * parts, and gives what those read of it; between them values are results, which are .safetensors
 * files. See lower.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/files/safetensors.h"
#include "model/files/source.h"
#include "onnx/evaluate/result.h"
#include "onnx/lower/lower.h"

#define MOST_ALONE 64 /* nodes that run in double */
#define MOST_HELD (2 * MOST_ALONE + 2)

/* What ran, or the inputs, whose result is NULL. */
typedef struct held {
  uint32_t first, end; /* nodes */
  heed_onnx_result *result;
  heed_source source;
  heed_safetensors *file;
} held;

/* A value where it is held. */
typedef struct stored {
  const held *in;
  const heed_safetensors_tensor *tensor;
} stored;

typedef struct parts {
  heed_onnx *whole;
  const heed_onnx_evaluate_desc *desc;
  uint64_t batch;
  heed_budget bytes; /* of all that is held */
  held held[MOST_HELD];
  uint32_t count, alone[MOST_ALONE], alone_count, unrounded;
  double alone_time; /* microseconds */
  heed_error *error;
} parts;

static double now(const parts *p) {
  return p->desc->clock ? p->desc->clock->microseconds(p->desc->clock->user) : 0;
}

static stored find(const parts *p, const char *name) {
  for (uint32_t i = 0; i < p->count; i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_find(p->held[i].file, name);
    if (tensor) return (stored){&p->held[i], tensor};
  }
  return (stored){NULL, NULL};
}

/* ------------------------------------------------------------------------------------- one part */

/* What a part reads of others: [count], by maker of the whole. */
typedef struct part {
  heed_onnx file; /* shares all but its nodes and ends */
  heed_onnx_attention_list attentions;
  stored *inputs;
  heed_assembled given;
} part;

static bool is_inside(const heed_onnx_maker *maker, uint32_t first, uint32_t end) {
  return maker->node && maker->node_index >= first && maker->node_index < end;
}

/* Marks, by maker, the values of `wanted` that nodes [first, end) read. */
static void mark_reads(const heed_onnx *whole, uint32_t first, uint32_t end, bool *read) {
  const heed_onnx_graph *graph = &whole->model.graph;
  for (uint32_t i = first; i < end; i++)
    for (uint32_t k = 0; k < graph->nodes[i].input_count; k++) read[graph->nodes[i].in[k]] = true;
}

/* The values that the part takes or, with `gives`, gives: marked ones outside or inside of it. */
static heed_status list_ends(parts *p, part *to, const bool *read, uint32_t first, uint32_t end,
                             bool gives) {
  heed_onnx_graph *graph = &to->file.model.graph;
  heed_onnx_value *values = heed_onnx_take(&to->file.arena, p->whole->maker_count, sizeof *values);
  uint32_t count = 0;
  if (!values) return heed_fail_memory(p->error, p->whole->name, sizeof *values);
  for (heed_onnx_id i = 1; i < p->whole->maker_count; i++) {
    const heed_onnx_maker *maker = &p->whole->makers[i];
    if (!read[i] || is_inside(maker, first, end) != gives) continue;
    const stored found = gives ? (stored){NULL, NULL} : find(p, maker->name);
    if (!gives && !found.tensor) continue; /* an initializer, or what nobody has made */
    if (!gives) to->inputs[count] = found;
    values[count++] = (heed_onnx_value){.name = maker->name, .id = i};
  }
  if (gives) {
    graph->outputs = values;
    graph->output_count = count;
  } else {
    graph->inputs = values;
    graph->input_count = count;
  }
  return HEED_OK;
}

static heed_status make_ends(parts *p, part *to, uint32_t first, uint32_t end) {
  const heed_onnx_graph *whole = &p->whole->model.graph;
  bool *read = heed_onnx_take(&to->file.arena, p->whole->maker_count, sizeof *read),
       *later = heed_onnx_take(&to->file.arena, p->whole->maker_count, sizeof *later);
  to->inputs = heed_onnx_take(&to->file.arena, p->whole->maker_count, sizeof *to->inputs);
  if (!read || !later || !to->inputs)
    return heed_fail_memory(p->error, p->whole->name, p->whole->maker_count * sizeof *to->inputs);
  mark_reads(p->whole, first, end, read);
  mark_reads(p->whole, end, whole->node_count, later);
  for (uint32_t i = 0; i < whole->output_count; i++) later[whole->outputs[i].id] = true;
  HEED_TRY(list_ends(p, to, read, first, end, false));
  return list_ends(p, to, later, first, end, true);
}

/* As heed_assembled_read. */
static heed_status read_given(void *user, uint32_t index, uint64_t offset, void *to, size_t count,
                              heed_error *error) {
  const stored *from = &((const part *)user)->inputs[index];
  return heed_source_read(&from->in->source, from->tensor->name, from->tensor->offset + offset, to,
                          count, error);
}

static heed_status make_inputs(parts *p, part *to) {
  to->given = (heed_assembled){
      .context = p->whole->context, .where = p->desc->name, .read = read_given, .user = to};
  for (uint32_t i = 0; i < to->file.model.graph.input_count; i++) {
    const heed_safetensors_tensor *tensor = to->inputs[i].tensor;
    uint64_t dims[HEED_MAX_RANK];
    if (!tensor->shaped)
      return heed_fail(p->error, HEED_UNSUPPORTED, "%s: a value has too many axes", p->whole->name);
    for (uint32_t k = 0; k < tensor->shape.rank; k++) dims[k] = tensor->shape.dim[k];
    HEED_TRY(heed_assembled_add(&to->given, tensor->name, tensor->dtype_name, tensor->shape.rank,
                                dims, tensor->bytes, p->error));
  }
  return heed_assembled_finish(&to->given, p->error);
}

/* The attentions whose softmax is in the part. */
static heed_status take_attentions(parts *p, part *to, uint32_t first, uint32_t end) {
  const heed_onnx_attention_list *all = p->whole->attentions;
  to->attentions.items = heed_onnx_take(&to->file.arena, all->count, sizeof *to->attentions.items);
  if (!to->attentions.items) return heed_fail_memory(p->error, p->whole->name, all->count);
  for (uint32_t i = 0; i < all->count; i++) {
    if (all->items[i].node < first || all->items[i].node >= end) continue;
    heed_onnx_attention *item = &to->attentions.items[to->attentions.count++];
    *item = all->items[i];
    item->node -= first;
  }
  to->file.attentions = &to->attentions;
  return HEED_OK;
}

/* The values of the whole, by the same numbers: what other nodes make is an input here. */
static heed_status make_makers(parts *p, part *to, uint32_t first, uint32_t end) {
  const uint32_t count = p->whole->maker_count;
  heed_onnx_maker *makers = heed_onnx_take(&to->file.arena, count, sizeof *makers);
  if (!makers) return heed_fail_memory(p->error, p->whole->name, count * sizeof *makers);
  memcpy(makers, p->whole->makers, count * sizeof *makers);
  for (uint32_t i = 0; i < count; i++) {
    if (is_inside(&makers[i], first, end))
      makers[i].node_index -= first;
    else
      makers[i].node = NULL;
  }
  to->file.makers = makers;
  return HEED_OK;
}

static heed_status make_part(parts *p, uint32_t first, uint32_t end, part *to) {
  to->file = *p->whole;
  to->file.arena = (heed_onnx_arena){.context = p->whole->context};
  to->file.model.graph.nodes += first;
  to->file.model.graph.node_count = end - first;
  to->file.batch = p->batch;
  to->file.input_bytes = p->desc->inputs.size; /* those of the whole, however much comes between */
  HEED_TRY(make_ends(p, to, first, end));
  HEED_TRY(take_attentions(p, to, first, end));
  HEED_TRY(make_makers(p, to, first, end));
  return make_inputs(p, to);
}

/* Takes the result, also after a failure. */
static heed_status hold(parts *p, uint32_t first, uint32_t end, heed_onnx_result *result,
                        const heed_source *source) {
  held *to = &p->held[p->count++];
  *to = (held){first, end, result, *source, NULL};
  if (!heed_budget_spend(&p->bytes, source->size) && !p->desc->most_elements)
    return heed_fail(p->error, HEED_UNSUPPORTED,
                     "%s: its values are too large (expected at most %llu bytes between its parts)",
                     p->whole->name, (unsigned long long)p->bytes.most);
  return heed_safetensors_open(p->whole->context, &to->source, p->desc->name, &to->file, p->error);
}

static heed_status evaluate_part(parts *p, part *made, bool kernels, uint32_t *refused,
                                 heed_onnx_result **result) {
  heed_onnx_evaluate_desc desc = *p->desc;
  desc.inputs = heed_assembled_source(&made->given);
  if (kernels) return heed_lower_evaluate(&made->file, &desc, result, refused, p->error);
  const double start = now(p);
  const heed_status status = heed_onnx_reference(&made->file, &desc, result, p->error);
  p->alone_time += now(p) - start;
  return status;
}

/* Runs nodes [first, end) and holds what they give. *refused counts from the first node of the
 * graph. */
static heed_status run_part(parts *p, uint32_t first, uint32_t end, bool kernels,
                            uint32_t *refused) {
  part made = {.inputs = NULL};
  heed_onnx_result *result = NULL;
  *refused = UINT32_MAX;
  heed_status status = make_part(p, first, end, &made);
  if (status == HEED_OK) status = evaluate_part(p, &made, kernels, refused, &result);
  if (*refused != UINT32_MAX) *refused += first;
  if (status == HEED_OK) {
    const heed_source source = heed_onnx_result_source(result);
    p->unrounded += heed_onnx_result_unrounded(result);
    status = hold(p, first, end, result, &source);
  }
  heed_assembled_free(&made.given);
  heed_onnx_arena_free(&made.file.arena);
  return status;
}

/* ---------------------------------------------------------------------------------------- all */

static heed_status run_all(parts *p, uint32_t refused) {
  const uint32_t end = p->whole->model.graph.node_count;
  for (uint32_t first = 0; first < end;) {
    heed_status status = HEED_UNSUPPORTED;
    uint32_t none;
    if (refused == UINT32_MAX) status = run_part(p, first, end, true, &refused);
    if (status == HEED_OK) return HEED_OK;
    if (status != HEED_UNSUPPORTED || refused == UINT32_MAX || p->alone_count == MOST_ALONE ||
        !p->whole->model.graph.nodes[refused].known)
      return status;
    if (refused > first) HEED_TRY(run_part(p, first, refused, true, &none));
    p->alone[p->alone_count++] = refused;
    HEED_TRY(run_part(p, refused, refused + 1, false, &none));
    first = refused + 1;
    refused = UINT32_MAX;
  }
  return HEED_OK;
}

static heed_status give(parts *p, heed_onnx_evaluator *e, const stored *from, const char *name,
                        heed_onnx_result *result) {
  heed_onnx_array *array = NULL;
  const heed_onnx_value value = {.name = name};
  const heed_status status =
      heed_onnx_read_stored(e, &value, &from->in->source, from->tensor, &array, p->error);
  return heed_onnx_put(result, e, array, status, name, p->error);
}

static heed_status give_map(parts *p, heed_onnx_evaluator *e, uint32_t index,
                            heed_onnx_result *result) {
  const heed_onnx_attention *items = p->whole->attentions->items;
  char own[32], name[32];
  for (uint32_t i = 1; i < p->count; i++) {
    const held *in = &p->held[i];
    uint32_t before = index;
    if (items[index].node < in->first || items[index].node >= in->end) continue;
    while (before && items[before - 1].node >= in->first) before--;
    heed_onnx_map_name(index - before, own);
    heed_onnx_map_name(index, name);
    const stored from = {in, heed_safetensors_find(in->file, own)};
    return from.tensor ? give(p, e, &from, name, result) : HEED_OK;
  }
  return HEED_OK;
}

/* "2 of 40 nodes in double (TopK, CumSum), 0.5 of 3.2 ms" */
static void tell(const parts *p, double microseconds, heed_onnx_result *result) {
  const heed_onnx_node *nodes = p->whole->model.graph.nodes;
  char text[256], time[64] = "";
  int at = snprintf(text, sizeof text, "%u of %u nodes in double (", p->alone_count,
                    p->whole->model.graph.node_count);
  for (uint32_t i = 0; i < p->alone_count && at < 160; i++) {
    bool again = false;
    for (uint32_t k = 0; k < i; k++)
      again = again || strcmp(nodes[p->alone[k]].op, nodes[p->alone[i]].op) == 0;
    if (!again)
      at += snprintf(text + at, sizeof text - (size_t)at, "%s%.40s", i ? ", " : "",
                     nodes[p->alone[i]].op);
  }
  if (p->desc->clock)
    snprintf(time, sizeof time, ", %.1f of %.1f ms", p->alone_time / 1000, microseconds / 1000);
  snprintf(text + at, sizeof text - (size_t)at, ")%s", time);
  heed_onnx_result_tell(result, text);
  heed_onnx_result_note(result, p->unrounded);
}

static heed_status give_all(parts *p, heed_onnx_result *result) {
  static const heed_onnx_attention_list none;
  const heed_onnx_graph *graph = &p->whole->model.graph;
  heed_onnx_evaluator e;
  heed_onnx_limit(&e, p->whole, p->desc->inputs.size, HEED_ONNX_MOST_ELEMENTS, 0, false);
  heed_status status = heed_onnx_evaluator_open(&e, &none, p->error);
  for (uint32_t i = 0; status == HEED_OK && i < graph->output_count; i++) {
    const char *name = graph->outputs[i].name;
    const stored from = find(p, name);
    status = from.tensor ? give(p, &e, &from, name, result)
                         : heed_onnx_give(result, &e, graph->outputs[i].id, name, NULL, p->error);
  }
  for (uint32_t i = 0; status == HEED_OK && p->desc->attentions && i < p->whole->attentions->count;
       i++)
    status = give_map(p, &e, i, result);
  heed_onnx_evaluator_close(&e);
  return status == HEED_OK ? heed_onnx_finish(result, p->error) : status;
}

static heed_status begin(parts *p) {
  const heed_onnx_graph *graph = &p->whole->model.graph;
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (graph->nodes[i].guard || heed_onnx_is_if(&graph->nodes[i]))
      return HEED_UNSUPPORTED; /* a branch that is not taken has no values */
  HEED_TRY(hold(p, 0, 0, NULL, &p->desc->inputs));
  for (uint32_t i = 0; i < graph->input_count && !p->batch; i++) {
    const stored input = find(p, graph->inputs[i].name);
    if (input.tensor && input.tensor->shape.rank) p->batch = input.tensor->shape.dim[0];
  }
  return HEED_OK;
}

heed_status heed_lower_evaluate_parts(heed_onnx *file, const heed_onnx_evaluate_desc *desc,
                                      uint32_t refused, heed_onnx_result **result,
                                      heed_error *error) {
  const heed_error first = *error;
  parts *p = heed_alloc(file->context, 1, sizeof *p);
  heed_onnx_result *made = NULL;
  if (!p) return heed_fail_memory(error, file->name, sizeof *p);
  *p = (parts){.whole = file,
               .desc = desc,
               .bytes.most = heed_onnx_default_bytes(file, desc->inputs.size),
               .error = error};
  const double start = now(p);
  heed_status status = begin(p);
  if (status == HEED_OK) status = run_all(p, refused);
  if (status == HEED_OK) status = heed_onnx_result_create(file, &made, error);
  if (status == HEED_OK) status = give_all(p, made);
  if (status == HEED_OK) {
    tell(p, now(p) - start, made);
    *result = made;
  } else {
    heed_onnx_result_destroy(made);
    if (status == HEED_UNSUPPORTED) *error = first;
  }
  for (uint32_t i = 0; i < p->count; i++) {
    heed_safetensors_destroy(p->held[i].file);
    heed_onnx_result_destroy(p->held[i].result);
  }
  heed_free(file->context, p);
  return status;
}
