/* The plan: the nodes that the outputs and taps need, in the order of their definition, and what
 * memory that takes. */
#include "plan/plan.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/tensor.h"

bool heed_plan_wants(const heed_plan *plan, uint32_t value) {
  HEED_ASSERT(value <= plan->value_count);
  return value && plan->placement[value].live;
}

uint64_t heed_plan_offset(const heed_plan *plan, uint32_t value) {
  const heed_value_record *record = heed_graph_record(plan->graph, value);
  const heed_placement *place = &plan->placement[heed_graph_root(plan->graph, value)];
  while (place->in) place = &plan->placement[place->in];
  HEED_ASSERT(place->live && place->offset + place->bytes <= plan->memory.arena);
  if (record->kind != HEED_VALUE_VIEW) return place->offset;
  HEED_ASSERT(record->offset * heed_dtype_size(record->dtype) + heed_plan_bytes(plan, value) <=
              place->bytes);
  return place->offset + record->offset * heed_dtype_size(record->dtype);
}

uint64_t heed_plan_bytes(const heed_plan *plan, uint32_t value) {
  const heed_value_record *record = heed_graph_record(plan->graph, value);
  HEED_ASSERT(heed_shape_count(&record->shape) != 0);
  return heed_shape_count(&record->shape) * heed_dtype_size(record->dtype);
}

const heed_node *heed_plan_node(const heed_plan *plan, uint32_t step) {
  HEED_ASSERT(step < plan->step_count && plan->order[step] < plan->graph->node_count);
  return &plan->graph->nodes[plan->order[step]];
}

/* Marks a value, and what owns its memory, as live. */
static void mark_live(heed_plan *plan, uint32_t id) {
  HEED_ASSERT(id != 0 && id <= plan->value_count);
  plan->placement[id].live = true;
  plan->placement[heed_graph_root(plan->graph, id)].live = true;
}

static void keep(heed_plan *plan, uint32_t id, bool tapped) {
  mark_live(plan, id);
  heed_placement *root = &plan->placement[heed_graph_root(plan->graph, id)];
  root->tapped = root->tapped || (tapped && !root->kept);
  root->kept = true;
}

/* Backwards from what is kept: a node runs when one of its results is live, and then its inputs
 * are. */
static void choose_nodes(heed_plan *plan) {
  const heed_graph *graph = plan->graph;
  uint32_t found = 0;
  for (size_t n = graph->node_count; n-- > 0;) {
    const heed_node *node = &graph->nodes[n];
    bool runs = false;
    for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
      runs = runs || (node->output[i] && plan->placement[node->output[i]].live);
    if (!runs) continue;
    plan->order[found++] = (uint32_t)n;
    /* The first result is what the kernel is for: it is always computed. */
    mark_live(plan, node->output[0]);
    for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
      if (node->input[i]) mark_live(plan, node->input[i]);
  }
  for (uint32_t i = 0; i < found / 2; i++) {
    const uint32_t swap = plan->order[i];
    plan->order[i] = plan->order[found - 1 - i];
    plan->order[found - 1 - i] = swap;
  }
  plan->step_count = found;
}

/* The last step of the stage that `step` is in. */
static uint32_t stage_end(const heed_plan *plan, uint32_t step) {
  const uint32_t stage = heed_plan_node(plan, step)->stage;
  while (step + 1 < plan->step_count && heed_plan_node(plan, step + 1)->stage == stage) step++;
  return step;
}

static void let_pass(const heed_plan *plan, heed_placement *place) {
  const uint32_t end = stage_end(plan, place->first);
  place->kept = false;
  if (end > place->last) place->last = end;
}

static void set_lifetimes(heed_plan *plan) {
  const heed_graph *graph = plan->graph;
  for (uint32_t step = 0; step < plan->step_count; step++) {
    const heed_node *node = heed_plan_node(plan, step);
    for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
      if (node->output[i])
        plan->placement[node->output[i]].first = plan->placement[node->output[i]].last = step;
    for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
      if (node->input[i]) plan->placement[heed_graph_root(graph, node->input[i])].last = step;
  }
  for (uint32_t id = 1; id <= plan->value_count; id++) {
    heed_placement *place = &plan->placement[id];
    const heed_value_record *record = heed_graph_record(graph, id);
    if (record->kind == HEED_VALUE_INPUT) {
      place->kept = place->live;
      place->first = 0;
    } else if (plan->passing_taps && place->tapped) {
      let_pass(plan, place);
    }
    if (place->kept) place->last = plan->step_count;
    place->bytes = record->kind == HEED_VALUE_CONSTANT || record->kind == HEED_VALUE_VIEW
                       ? 0
                       : heed_plan_bytes(plan, id);
    if (place->tapped) plan->memory.taps += place->bytes;
  }
}

/* Whose place a value has. */
static uint32_t holder(const heed_plan *plan, uint32_t id) {
  id = heed_graph_root(plan->graph, id);
  while (plan->placement[id].in) id = plan->placement[id].in;
  return id;
}

/* Whose place the result of a step may take over from an input: nobody reads that later, and the
 * node reads no part of it elsewhere. 0: it may not. */
static uint32_t find_free_place(const heed_plan *plan, uint32_t step, uint32_t input,
                                uint64_t bytes) {
  const heed_node *node = heed_plan_node(plan, step);
  if (heed_graph_record(plan->graph, heed_graph_root(plan->graph, input))->kind !=
      HEED_VALUE_RESULT)
    return 0;
  const uint32_t id = holder(plan, input);
  const heed_placement *place = &plan->placement[id];
  if (place->kept || place->last != step || place->bytes != bytes) return 0;
  for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
    if (node->input[i] && holder(plan, node->input[i]) == id &&
        heed_plan_bytes(plan, node->input[i]) != bytes)
      return 0;
  return id;
}

/* Results that are made where an input lies that ends with them. Not where values are read between
 * steps, which would find the result. */
static void take_places(heed_plan *plan) {
  if (!plan->support->in_place || plan->passing_taps) return;
  for (uint32_t step = 0; step < plan->step_count; step++) {
    const heed_node *node = heed_plan_node(plan, step);
    heed_placement *place = &plan->placement[node->output[0]];
    const uint32_t slots = plan->support->in_place(plan->backend, node);
    if (place->kept || !place->bytes) continue;
    for (uint32_t i = 0; i < HEED_NODE_INPUTS && !place->in; i++)
      if (slots >> i & 1u && node->input[i])
        place->in = find_free_place(plan, step, node->input[i], place->bytes);
    if (!place->in) continue;
    place->bytes = 0;
    plan->placement[place->in].last = place->last;
  }
}

static heed_status mark_wanted(heed_plan *plan, const heed_plan_desc *desc, heed_error *error) {
  bool any = false;
  for (uint32_t id = 1; id <= plan->value_count; id++)
    if (heed_graph_record(plan->graph, id)->output) {
      keep(plan, id, false);
      any = true;
    }
  for (uint32_t i = 0; i < desc->tap_count; i++) {
    const heed_value_record *record =
        heed_graph_need(plan->graph, desc->taps[i], "plan: tap", error);
    if (!record) return HEED_INVALID_ARGUMENT;
    if (record->kind == HEED_VALUE_CONSTANT)
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "plan: a constant cannot be tapped (found \"%s\")",
                       record->name ? record->name : "");
    keep(plan, desc->taps[i].id, true);
    any = true;
  }
  if (any) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "plan: nothing to compute (found no output and no tap, expected at least one)");
}

static heed_status make(heed_plan *plan, const heed_plan_desc *desc, heed_error *error) {
  const heed_graph *graph = plan->graph;
  plan->placement =
      heed_alloc(plan->context, (size_t)plan->value_count + 1, sizeof *plan->placement);
  plan->order = heed_alloc(plan->context, graph->node_count + 1, sizeof *plan->order);
  if (!plan->placement || !plan->order)
    return heed_fail_memory(error, "plan", graph->value_count * sizeof *plan->placement);
  HEED_TRY(mark_wanted(plan, desc, error));
  choose_nodes(plan);
  set_lifetimes(plan);
  take_places(plan);
  HEED_TRY(heed_plan_place(plan, error));
  for (uint32_t step = 0; step < plan->step_count; step++)
    HEED_TRY(plan->support->supports(plan->backend, plan, heed_plan_node(plan, step), error));
  return plan->support->measure(plan->backend, plan, &plan->memory, error);
}

heed_status heed_plan_make(heed_graph *graph, heed_backend *backend,
                           const heed_plan_support *support, const heed_plan_desc *desc,
                           heed_plan **plan, heed_error *error) {
  heed_plan_desc full = HEED_PLAN_DESC_INIT;
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "plan", error));
  desc = &full;
  if ((unsigned)desc->attention > HEED_ATTENTION_MODE_STREAMED)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "plan: unknown attention mode (found %d, expected 0 to %d)",
                     (int)desc->attention, HEED_ATTENTION_MODE_STREAMED);
  HEED_TRY(heed_graph_status(graph, error));
  heed_plan *made = heed_alloc(graph->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "plan", sizeof *made);
  made->context = graph->context;
  made->graph = graph;
  made->backend = backend;
  made->support = support;
  made->value_count = (uint32_t)graph->value_count;
  made->attention = desc->attention;
  made->passing_taps = desc->passing_taps;
  const heed_status status = make(made, desc, error);
  if (status != HEED_OK) {
    heed_plan_destroy(made);
    return status;
  }
  *plan = made;
  return HEED_OK;
}

void heed_plan_destroy(heed_plan *plan) {
  if (!plan) return;
  heed_free(plan->context, plan->placement);
  heed_free(plan->context, plan->order);
  heed_free(plan->context, plan);
}

void heed_plan_memory(const heed_plan *plan, heed_memory *memory) { *memory = plan->memory; }
uint32_t heed_plan_step_count(const heed_plan *plan) { return plan->step_count; }

heed_attention_mode heed_plan_mode(const heed_plan *plan, const heed_node *node) {
  return plan->support->mode ? plan->support->mode(plan->backend, plan, node)
                             : HEED_ATTENTION_MODE_AUTO;
}

static bool wants_a_map(const heed_plan *plan, const heed_node *node) {
  for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
    if (heed_ops[node->op]->maps >> i & 1u && heed_plan_wants(plan, node->output[i])) return true;
  return false;
}

static const char *mode_name(const heed_plan *plan, const heed_node *node) {
  const heed_attention_mode mode = heed_plan_mode(plan, node);
  if (mode != HEED_ATTENTION_MODE_STREAMED)
    return mode == HEED_ATTENTION_MODE_RESIDENT ? "resident" : "";
  return wants_a_map(plan, node) ? "streamed with weights" : "streamed";
}

void heed_plan_step_info(const heed_plan *plan, uint32_t index, heed_plan_step *step) {
  const heed_node *node = heed_plan_node(plan, index);
  const heed_value_record *output = heed_graph_record(plan->graph, node->output[0]);
  *step = (heed_plan_step){.op = heed_ops[node->op]->name,
                           .output = output->name ? output->name : "",
                           .stage = node->stage,
                           .shape = output->shape,
                           .flops = heed_ops[node->op]->flops(plan->graph, node),
                           .mode = "",
                           .dispatches = 1};
  if (plan->support->describe) plan->support->describe(plan->backend, plan, node, step);
  if (heed_ops[node->op]->map_bytes) {
    step->mode = mode_name(plan, node);
    step->map_bytes = heed_ops[node->op]->map_bytes(plan->graph, node);
  }
  for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
    if (node->input[i]) step->bytes += heed_plan_bytes(plan, node->input[i]);
  for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
    if (heed_plan_wants(plan, node->output[i]))
      step->bytes += heed_plan_bytes(plan, node->output[i]);
}
