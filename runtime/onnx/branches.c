/* The branches of If as nodes of the graph that holds it. They stand before the If, guarded by its
 * condition; the If itself then hands on the values of the branch that was taken: its inputs are
 * the condition, what the first branch gives, and what the second gives. See message.h. */
#include <string.h>

#include "base/sort.h"
#include "base/status.h"
#include "onnx/message.h"

typedef heed_onnx_graph graph;

/* The branches of a node, then_branch first; false where it is no If of two graphs that give what
 * it has as outputs. */
static bool has_branches(const heed_onnx_node *node, const graph *branches[2]) {
  static const char *const names[2] = {"then_branch", "else_branch"};
  if (strcmp(node->op, "If") != 0 || *node->domain || node->input_count != 1) return false;
  for (uint32_t b = 0; b < 2; b++) {
    const heed_onnx_attribute *found = heed_onnx_find_attribute(node, names[b]);
    if (!found || found->type != 5 || !found->graph || found->graph->input_count ||
        found->graph->output_count != node->output_count)
      return false;
    branches[b] = found->graph;
  }
  return true;
}

static void count_all(const graph *from, uint64_t *nodes, uint64_t *initializers) {
  const graph *branches[2];
  *nodes += from->node_count;
  *initializers += from->initializer_count;
  for (uint32_t i = 0; i < from->node_count; i++)
    for (uint32_t b = 0; b < 2 && has_branches(&from->nodes[i], branches); b++)
      count_all(branches[b], nodes, initializers);
}

typedef struct flat {
  heed_onnx_arena *arena;
  heed_onnx_node *nodes;
  heed_onnx_tensor *initializers;
  uint32_t node_count, initializer_count;
} flat;

static bool append(flat *to, const graph *from, const heed_onnx_guard *guard);

/* The branches of a node, and the node without them; false: no memory. */
static bool append_if(flat *to, const heed_onnx_node *node, const graph *const branches[2],
                      const heed_onnx_guard *guard) {
  const uint32_t each = node->output_count;
  const char **inputs = heed_onnx_take(to->arena, 1 + 2 * (uint64_t)each, sizeof *inputs);
  heed_onnx_guard *own = heed_onnx_take(to->arena, 2, sizeof *own);
  if (!inputs || !own) return false;
  inputs[0] = node->inputs[0];
  for (uint32_t b = 0; b < 2; b++) {
    own[b] = (heed_onnx_guard){NULL, guard, b == 0};
    if (!append(to, branches[b], &own[b])) return false;
    for (uint32_t i = 0; i < each; i++) inputs[1 + b * each + i] = branches[b]->outputs[i].name;
  }
  heed_onnx_node *made = &to->nodes[to->node_count++];
  *made = *node;
  own[0].branching = own[1].branching = made;
  made->guard = guard;
  made->inputs = inputs;
  made->input_count = 1 + 2 * each;
  made->attribute_count = 0;
  return true;
}

static bool append(flat *to, const graph *from, const heed_onnx_guard *guard) {
  const graph *branches[2];
  for (uint32_t i = 0; i < from->initializer_count; i++)
    to->initializers[to->initializer_count++] = from->initializers[i];
  for (uint32_t i = 0; i < from->node_count; i++) {
    if (has_branches(&from->nodes[i], branches)) {
      if (!append_if(to, &from->nodes[i], branches, guard)) return false;
      continue;
    }
    to->nodes[to->node_count] = from->nodes[i];
    to->nodes[to->node_count++].guard = guard;
  }
  return true;
}

static bool name_less(const void *user, uint32_t a, uint32_t b) {
  const char *const *names = user;
  return strcmp(names[a], names[b]) < 0;
}

/* Whether each name is made once: branches may use those of each other for values of their own.
 * False with *names NULL: no memory. */
static bool are_unique(const flat *of, const char ***names) {
  uint64_t room = of->initializer_count;
  uint32_t count = 0;
  for (uint32_t i = 0; i < of->node_count; i++) room += of->nodes[i].output_count;
  *names = heed_onnx_take(of->arena, room, sizeof **names);
  uint32_t *order = heed_onnx_take(of->arena, room, sizeof *order);
  if (!order) *names = NULL;
  if (!*names) return false;
  for (uint32_t i = 0; i < of->initializer_count; i++) (*names)[count++] = of->initializers[i].name;
  for (uint32_t i = 0; i < of->node_count; i++)
    for (uint32_t k = 0; k < of->nodes[i].output_count; k++)
      if (*of->nodes[i].outputs[k]) (*names)[count++] = of->nodes[i].outputs[k];
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  heed_sort(order, count, name_less, *names);
  for (uint32_t i = 1; i < count; i++)
    if (strcmp((*names)[order[i - 1]], (*names)[order[i]]) == 0) return false;
  return true;
}

heed_status heed_onnx_join_branches(heed_onnx_arena *arena, const char *where, graph *of,
                                    heed_error *error) {
  uint64_t nodes = 0, initializers = 0;
  count_all(of, &nodes, &initializers);
  if (nodes == of->node_count) return HEED_OK;
  flat to = {.arena = arena};
  const char **names;
  if (nodes + initializers > INT32_MAX)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: too many nodes in branches", where);
  to.nodes = heed_onnx_take(arena, nodes, sizeof *to.nodes);
  to.initializers = heed_onnx_take(arena, initializers, sizeof *to.initializers);
  if (!to.nodes || !to.initializers || !append(&to, of, NULL))
    return heed_fail_memory(error, where, (size_t)nodes * sizeof *to.nodes);
  if (!are_unique(&to, &names)) /* the If stays, and is refused where it runs */
    return names ? HEED_OK : heed_fail_memory(error, where, (size_t)nodes * sizeof *names);
  of->nodes = to.nodes;
  of->initializers = to.initializers;
  of->node_count = to.node_count;
  of->initializer_count = to.initializer_count;
  return HEED_OK;
}
