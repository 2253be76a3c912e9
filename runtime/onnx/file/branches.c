/* The branches of If as nodes of the graph that holds it. They stand before the If, guarded by its
 * condition; the If itself then hands on the values of the branch that was taken: its inputs are
 * the condition, what the first branch gives, and what the second gives. A name that a branch has
 * for a value of its own and that another graph has too is told apart by the branch. See message.h.
 */
#include <stdio.h>
#include <string.h>

#include "base/sort.h"
#include "base/status.h"
#include "onnx/file/message.h"

typedef heed_onnx_graph graph;

/* The branches of a node, then_branch first; false where it is no If of two graphs that give what
 * it has as outputs. */
static bool has_branches(const heed_onnx_node *node, const graph *branches[2]) {
  static const char *const names[2] = {"then_branch", "else_branch"};
  if (!heed_onnx_is_if(node) || node->input_count != 1) return false;
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
  const heed_onnx_guard **branches; /* by node: the two of an If, first branch first; or NULL */
  const heed_onnx_guard **holders;  /* by initializer: the branch that has it, or NULL */
  uint32_t node_count, initializer_count, branch_count;
} flat;

static bool append(flat *to, const graph *from, heed_onnx_guard *guard);

/* The branches of a node, and the node without them; false: no memory. */
static bool append_if(flat *to, const heed_onnx_node *node, const graph *const branches[2],
                      heed_onnx_guard *guard) {
  const uint32_t each = node->output_count;
  const char **inputs = heed_onnx_take(to->arena, 1 + 2 * (uint64_t)each, sizeof *inputs);
  heed_onnx_guard *own = heed_onnx_take(to->arena, 2, sizeof *own);
  if (!inputs || !own) return false;
  inputs[0] = node->inputs[0];
  for (uint32_t b = 0; b < 2; b++) {
    own[b] = (heed_onnx_guard){.outer = guard, .number = ++to->branch_count, .truth = b == 0};
    if (!append(to, branches[b], &own[b])) return false;
    for (uint32_t i = 0; i < each; i++) inputs[1 + b * each + i] = branches[b]->outputs[i].name;
  }
  to->branches[to->node_count] = own;
  heed_onnx_node *made = &to->nodes[to->node_count++];
  *made = *node;
  own[0].branching = own[1].branching = made;
  made->guard = guard;
  made->inputs = inputs;
  made->input_count = 1 + 2 * each;
  made->attribute_count = 0;
  return true;
}

static bool append(flat *to, const graph *from, heed_onnx_guard *guard) {
  const graph *branches[2];
  for (uint32_t i = 0; i < from->initializer_count; i++) {
    to->holders[to->initializer_count] = guard;
    to->initializers[to->initializer_count++] = from->initializers[i];
  }
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

/* ------------------------------------------------------------------------------------- names */

/* A name, the branch whose own it is, and what it is called in the whole graph. */
typedef struct local {
  const char *name, *called;
  uint32_t branch; /* its number; 0: none */
} local;

typedef struct local_list {
  local *sorted; /* by name, then branch */
  uint32_t count;
} local_list;

static uint32_t number_of(const heed_onnx_guard *guard) { return guard ? guard->number : 0; }

static int local_order(const char *name, uint32_t branch, const local *b) {
  const int order = strcmp(name, b->name);
  return order ? order : (branch > b->branch) - (branch < b->branch);
}
static bool local_less(const void *user, uint32_t a, uint32_t b) {
  const local *list = user;
  return local_order(list[a].name, list[a].branch, &list[b]) < 0;
}

/* What a branch itself calls so, or NULL. */
static const local *find_local(const local_list *list, const char *name, uint32_t branch) {
  uint32_t low = 0, high = list->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const int order = local_order(name, branch, &list->sorted[middle]);
    if (order == 0) return &list->sorted[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

/* What a name means inside a branch: the nearest graph around it that has a value of that name. */
static const char *called(const local_list *list, const char *name, const heed_onnx_guard *guard) {
  for (;; guard = guard->outer) {
    const local *found = find_local(list, name, number_of(guard));
    if (found) return found->called;
    if (!guard) return name;
  }
}

/* All names of the outer graph and of branches; false: no memory. */
static bool list_locals(const flat *of, const graph *outer, local_list *list) {
  uint64_t room = (uint64_t)of->initializer_count + outer->input_count;
  uint32_t count = 0;
  for (uint32_t i = 0; i < of->node_count; i++) room += of->nodes[i].output_count;
  local *all = heed_onnx_take(of->arena, room, sizeof *all);
  list->sorted = heed_onnx_take(of->arena, room, sizeof *list->sorted);
  uint32_t *order = heed_onnx_take(of->arena, room, sizeof *order);
  if (room > UINT32_MAX || !all || !list->sorted || !order) return false;
  for (uint32_t i = 0; i < outer->input_count; i++)
    all[count++] = (local){outer->inputs[i].name, NULL, 0};
  for (uint32_t i = 0; i < of->initializer_count; i++)
    all[count++] = (local){of->initializers[i].name, NULL, number_of(of->holders[i])};
  for (uint32_t i = 0; i < of->node_count; i++)
    for (uint32_t k = 0; k < of->nodes[i].output_count; k++)
      if (*of->nodes[i].outputs[k])
        all[count++] = (local){of->nodes[i].outputs[k], NULL, number_of(of->nodes[i].guard)};
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  heed_sort(order, count, local_less, all);
  for (uint32_t i = 0; i < count; i++) list->sorted[i] = all[order[i]];
  list->count = count;
  return true;
}

static bool has_name(const local_list *list, const char *name) {
  uint32_t low = 0, high = list->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const int order = strcmp(name, list->sorted[middle].name);
    if (order == 0) return true;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return false;
}

/* Of equal names the outermost and first stays. The others get one that nothing else has: its last
 * number says of which branch it is, modulo the number of branches. A name that one graph makes
 * twice stays so, and is refused later. False: no memory. */
static bool tell_apart(const flat *of, local_list *list, bool *any) {
  for (uint32_t i = 0; i < list->count; i++) {
    local *it = &list->sorted[i];
    const local *last = i ? it - 1 : NULL;
    it->called = it->name;
    if (!last || strcmp(last->name, it->name) != 0) continue;
    if (last->branch == it->branch) {
      it->called = last->called;
      continue;
    }
    const size_t size = strlen(it->name) + 32;
    char *made = heed_onnx_take(of->arena, size, 1);
    if (!made) return false;
    uint64_t number = it->branch;
    do {
      snprintf(made, size, "%s.branch%llu", it->name, (unsigned long long)number);
      number += of->branch_count;
    } while (has_name(list, made));
    it->called = made;
    *any = true;
  }
  return true;
}

static void rename_all(const local_list *list, const heed_onnx_guard *guard, const char **names,
                       uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (*names[i]) names[i] = called(list, names[i], guard);
}

/* Gives each value of a branch a name of its own; false: no memory. */
static bool separate(const flat *of, const graph *outer) {
  local_list list;
  bool any = false;
  if (!list_locals(of, outer, &list) || !tell_apart(of, &list, &any)) return false;
  if (!any) return true;
  for (uint32_t i = 0; i < of->initializer_count; i++)
    rename_all(&list, of->holders[i], &of->initializers[i].name, 1);
  for (uint32_t i = 0; i < of->node_count; i++) {
    const heed_onnx_node *node = &of->nodes[i];
    const heed_onnx_guard *own = of->branches[i];
    const uint32_t each = own ? node->output_count : 0, plain = node->input_count - 2 * each;
    rename_all(&list, node->guard, node->inputs, plain);
    rename_all(&list, node->guard, node->outputs, node->output_count);
    for (uint32_t b = 0; own && b < 2; b++)
      rename_all(&list, &own[b], node->inputs + plain + b * each, each);
  }
  return true;
}

heed_status heed_onnx_join_branches(heed_onnx_arena *arena, const char *where, graph *of,
                                    heed_error *error) {
  uint64_t nodes = 0, initializers = 0;
  count_all(of, &nodes, &initializers);
  if (nodes == of->node_count) return HEED_OK;
  flat to = {.arena = arena};
  if (nodes + initializers > INT32_MAX)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: too many nodes in branches", where);
  to.nodes = heed_onnx_take(arena, nodes, sizeof *to.nodes);
  to.initializers = heed_onnx_take(arena, initializers, sizeof *to.initializers);
  to.branches = heed_onnx_take(arena, nodes, sizeof *to.branches);
  to.holders = heed_onnx_take(arena, initializers, sizeof *to.holders);
  if (!to.nodes || !to.initializers || !to.branches || !to.holders || !append(&to, of, NULL) ||
      !separate(&to, of))
    return heed_fail_memory(error, where, (size_t)nodes * sizeof *to.nodes);
  of->nodes = to.nodes;
  of->initializers = to.initializers;
  of->node_count = to.node_count;
  of->initializer_count = to.initializer_count;
  return HEED_OK;
}
