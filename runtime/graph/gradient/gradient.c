/* The reverse pass: which nodes it goes through, and the sums of what values get. A gradient is
 * kept for what owns the memory; what a view of it gets is a part. */
#include "graph/gradient/gradient.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/gradient/adjoint.h"
#include "graph/gradient/parts.h"
#include "graph/gradient/remake.h"
#include "graph/gradient/take_apart.h"

const heed_gradient_rules heed_gradient_plain = {.products = 1.0f, .scores = 1.0f, .values = 1.0f};

bool heed_gradient_wants(const heed_gradient *g, heed_value input) {
  return input.id && g->depends[heed_gradient_own(g, input.id)];
}

bool heed_gradient_is_wanted(const heed_gradient *g, uint32_t id) {
  for (uint32_t i = 0; i < g->wanted_count; i++)
    if (heed_graph_root(g->graph, g->wanted[i].id) == heed_gradient_own(g, id)) return true;
  return false;
}

void heed_gradient_refuse(heed_gradient *g, const char *what) {
  heed_error error;
  (void)heed_fail(&error, HEED_UNSUPPORTED, "gradient: %s has no adjoint", what);
  (void)heed_graph_fail(g->graph, &error);
}

void heed_gradient_add(heed_gradient *g, heed_value input, heed_value part) {
  if (!part.id || !heed_gradient_wants(g, input)) return;
  const heed_value_record *record = heed_graph_record(g->graph, input.id);
  const uint32_t root = heed_gradient_own(g, input.id);
  const heed_shape whole = heed_graph_record(g->graph, root)->shape;
  if (heed_shape_count(&record->shape) == heed_shape_count(&whole))
    g->gradient[root] =
        heed_gradient_sum(g, g->gradient[root], heed_define_reshape(g->graph, part, &whole));
  else
    heed_gradient_keep_part(g, root, record->offset, heed_shape_count(&record->shape), part);
}

heed_value heed_gradient_of(heed_gradient *g, uint32_t id) {
  id = heed_gradient_own(g, id);
  for (heed_value joined; (joined = heed_gradient_join_parts(g, id)).id;)
    g->gradient[id] = heed_gradient_sum(g, g->gradient[id], joined);
  return g->gradient[id];
}

/* Marks what depends on the wanted values. A node's results do together. */
static void mark(heed_gradient *g) {
  for (uint32_t i = 0; i < g->wanted_count; i++)
    g->depends[heed_graph_root(g->graph, g->wanted[i].id)] = true;
  for (size_t n = 0; n < g->graph->node_count; n++) {
    const heed_node *node = &g->graph->nodes[n];
    bool depends = false;
    for (uint32_t i = 0; i < HEED_NODE_OUTPUTS; i++)
      depends = depends || (node->output[i] && g->depends[node->output[i]]);
    for (uint32_t i = 0; i < HEED_NODE_INPUTS; i++)
      depends = depends || heed_gradient_wants(g, (heed_value){node->input[i]});
    for (uint32_t i = 0; i < HEED_NODE_OUTPUTS && depends; i++)
      if (node->output[i]) g->depends[node->output[i]] = true;
  }
}

/* Further results, such as an attention's weights, are read by who looks, not by the model. */
static bool reaches_another_result(heed_gradient *g, const heed_node *node) {
  for (uint32_t i = 1; i < HEED_NODE_OUTPUTS; i++)
    if (node->output[i] && heed_gradient_of(g, node->output[i]).id) return true;
  return false;
}

static heed_status go_back(heed_gradient *g, heed_error *error) {
  const size_t nodes = g->graph->node_count;
  const uint32_t last = g->graph->stage_count;
  for (size_t n = nodes; n-- > 0;) {
    heed_node node = g->graph->nodes[n]; /* nodes move when there are more */
    const bool another = reaches_another_result(g, &node);
    if (!another && !heed_gradient_of(g, node.output[0]).id) continue;
    const heed_op *op = heed_ops[node.op];
    heed_graph_stage(g->graph, 2 * last - 1 - node.stage);
    if (!op->adjoint)
      heed_gradient_refuse(g, op->name);
    else if (another)
      heed_gradient_refuse(g, "a map that other nodes read");
    else if (heed_gradient_remake(g, &node))
      op->adjoint(g, &node);
    HEED_TRY(heed_graph_status(g->graph, error));
  }
  return HEED_OK;
}

/* A result of this shape with the numbers of a constant, or zeros. */
static heed_value compute(heed_gradient *g, heed_value constant, const heed_shape *shape) {
  const heed_elementwise_desc desc = {.struct_size = sizeof desc,
                                      .a = constant.id ? constant : heed_gradient_number(g, 0.0f),
                                      .kind = HEED_ELEMENTWISE_IDENTITY,
                                      .dtype = HEED_F32,
                                      .shape = *shape};
  return heed_define_elementwise(g->graph, &desc);
}

/* The gradient of a wanted value, as a part of that of what it lies in. */
static heed_value take(heed_gradient *g, heed_value wanted) {
  const heed_value_record record = *heed_graph_record(g->graph, wanted.id);
  const uint32_t root = heed_graph_root(g->graph, wanted.id);
  const heed_shape shape = heed_graph_record(g->graph, root)->shape;
  heed_value whole = heed_gradient_of(g, root);
  if (!whole.id || heed_graph_record(g->graph, whole.id)->kind == HEED_VALUE_CONSTANT)
    whole = compute(g, whole, &shape);
  return heed_define_view(g->graph, whole, record.kind == HEED_VALUE_VIEW ? record.offset : 0,
                          &record.shape);
}

static heed_status differentiate(heed_gradient *g, const heed_gradient_desc *desc,
                                 heed_value *gradients, heed_error *error) {
  mark(g);
  if (heed_gradient_wants(g, desc->of)) heed_gradient_add(g, desc->of, desc->seed);
  HEED_TRY(go_back(g, error));
  for (uint32_t i = 0; i < desc->wanted_count; i++) gradients[i] = take(g, desc->wanted[i]);
  return heed_graph_status(g->graph, error);
}

static heed_status check(const heed_graph *graph, const heed_gradient_desc *desc,
                         heed_error *error) {
  const heed_value_record *of = heed_graph_need(graph, desc->of, "gradient: of", error),
                          *seed = of ? heed_graph_need(graph, desc->seed, "gradient: seed", error)
                                     : NULL;
  if (!seed) return HEED_INVALID_ARGUMENT;
  char found[HEED_SHAPE_TEXT_SIZE], expected[HEED_SHAPE_TEXT_SIZE];
  if (of->dtype != HEED_F32 || seed->dtype != HEED_F32 ||
      !heed_shape_equal(&of->shape, &seed->shape))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "gradient: wrong seed (found %s %s, expected F32 %s)",
                     heed_dtype_name(seed->dtype), heed_shape_text(&seed->shape, found),
                     heed_shape_text(&of->shape, expected));
  for (uint32_t i = 0; i < desc->wanted_count; i++) {
    const heed_value_record *wanted =
        heed_graph_need(graph, desc->wanted[i], "gradient: wanted value", error);
    if (!wanted) return HEED_INVALID_ARGUMENT;
    if (wanted->dtype != HEED_F32 || wanted->kind == HEED_VALUE_CONSTANT)
      return heed_fail(
          error, HEED_INVALID_ARGUMENT,
          "gradient: a %s has none (expected F32 that is computed, or an input)",
          wanted->kind == HEED_VALUE_CONSTANT ? "constant" : heed_dtype_name(wanted->dtype));
  }
  return HEED_OK;
}

/* As much as the weights take, which a run holds anyway; small models keep everything. */
static uint64_t default_held_bytes(const heed_graph *graph) {
  uint64_t bytes = 0;
  for (uint32_t id = 1; id <= graph->value_count; id++) {
    const heed_value_record *record = heed_graph_record(graph, id);
    if (record->kind == HEED_VALUE_CONSTANT)
      bytes += heed_shape_count(&record->shape) * heed_dtype_size(record->dtype);
  }
  return bytes > 64u << 20 ? bytes : 64u << 20;
}

heed_status heed_graph_gradient(heed_graph *graph, const heed_gradient_desc *desc,
                                heed_value *gradients, heed_error *error) {
  HEED_TRY(heed_graph_status(graph, error));
  HEED_TRY(check(graph, desc, error));
  heed_graph_take_apart(graph);
  HEED_TRY(heed_graph_status(graph, error));
  const size_t count = graph->value_count;
  heed_gradient g = {.graph = graph,
                     .rules = desc->rules ? *desc->rules : heed_gradient_plain,
                     .wanted = desc->wanted,
                     .wanted_count = desc->wanted_count,
                     .held_bytes = desc->held_bytes ? desc->held_bytes : default_held_bytes(graph),
                     .block_bytes = desc->block_bytes ? desc->block_bytes : 16u << 20,
                     .count = (uint32_t)count,
                     .stage = UINT32_MAX,
                     .again = heed_alloc(graph->context, count + 1, sizeof *g.again),
                     .depends = heed_alloc(graph->context, count + 1, sizeof *g.depends),
                     .gradient = heed_alloc(graph->context, count + 1, sizeof *g.gradient)};
  const heed_status status =
      g.depends && g.gradient && g.again
          ? differentiate(&g, desc, gradients, error)
          : heed_fail_memory(error, "gradient", (count + 1) * sizeof *g.gradient);
  heed_free(graph->context, g.depends);
  heed_free(graph->context, g.gradient);
  heed_free(graph->context, g.parts);
  heed_free(graph->context, g.again);
  heed_free(graph->context, g.forward);
  return status;
}
