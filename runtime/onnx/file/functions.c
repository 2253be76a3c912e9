/* Functions of a file, written out: a node that calls one becomes the nodes of its body. What a
 * body names for itself gets the number of the call behind it; its parameters are what the caller
 * gives. See message.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"
#include "onnx/file/message_parts.h"

#define MOST_CALLS_INSIDE 16

/* A parameter of a function, and what a call gives for it. */
typedef struct parameter {
  const char *formal, *actual; /* "" where the call leaves it out */
} parameter;

/* Where nodes stand: in the main graph, or in the body of a function that a node calls. */
typedef struct scope {
  const heed_onnx_function *function; /* NULL: the main graph, whose names stay */
  const heed_onnx_node *call;
  parameter *parameters; /* [count], by formal */
  uint32_t count, number, depth;
} scope;

typedef struct writer {
  heed_onnx_arena *arena;
  const char *where;
  const heed_onnx_model *model;
  uint32_t *order; /* of the functions, by name */
  uint32_t calls;
  heed_error *error;
} writer;

/* Nodes that are being written. */
typedef struct list {
  heed_onnx_node *nodes;
  uint32_t count, room;
} list;

static heed_status fail_call(const writer *w, heed_status status, const heed_onnx_node *call,
                             const char *why) {
  return heed_fail(w->error, status, "%s: node %.60s %.*s: %s", w->where, call->op,
                   heed_utf8_cut(call->name, 100), call->name, why);
}

static heed_status take(writer *w, uint64_t count, size_t size, void *to) {
  void *taken = heed_onnx_take(w->arena, count, size);
  memcpy(to, &taken, sizeof taken);
  return taken ? HEED_OK : heed_fail_memory(w->error, w->where, (size_t)(count * size));
}

/* ----------------------------------------------------------------------------------- functions */

static int compare_functions(const heed_onnx_function *a, const char *domain, const char *name,
                             const char *overload) {
  int order = strcmp(a->name, name);
  if (!order) order = strcmp(a->domain, domain);
  return order ? order : strcmp(a->overload, overload);
}

static bool function_less(const void *user, uint32_t a, uint32_t b) {
  const heed_onnx_function *of = user, *other = &of[b];
  return compare_functions(&of[a], other->domain, other->name, other->overload) < 0;
}

static const heed_onnx_function *function_of(const writer *w, const heed_onnx_node *node) {
  uint32_t low = 0, high = w->model->function_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const heed_onnx_function *found = &w->model->functions[w->order[middle]];
    const int order = compare_functions(found, node->domain, node->op, node->overload);
    if (order == 0) return found;
    if (order > 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

static heed_status sort_functions(writer *w) {
  const heed_onnx_function *of = w->model->functions;
  HEED_TRY(take(w, w->model->function_count, sizeof *w->order, &w->order));
  for (uint32_t i = 0; i < w->model->function_count; i++) w->order[i] = i;
  heed_sort(w->order, w->model->function_count, function_less, of);
  for (uint32_t i = 1; i < w->model->function_count; i++) {
    const heed_onnx_function *one = &of[w->order[i - 1]], *next = &of[w->order[i]];
    if (compare_functions(one, next->domain, next->name, next->overload) == 0)
      return heed_fail(w->error, HEED_INVALID_FILE, "%s: two functions %.60s.%.60s", w->where,
                       one->domain, one->name);
  }
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- names */

static bool parameter_less(const void *user, uint32_t a, uint32_t b) {
  const parameter *of = user;
  const int order = strcmp(of[a].formal, of[b].formal);
  return order ? order < 0 : a < b;
}

static const parameter *parameter_of(const scope *in, const char *name) {
  uint32_t low = 0, high = in->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const int order = strcmp(in->parameters[middle].formal, name);
    if (order == 0) return &in->parameters[middle];
    if (order > 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

/* A name of the body for this call alone. */
static heed_status own_name(writer *w, const scope *in, const char *name, const char **to) {
  const size_t size = strlen(name) + sizeof "#4294967295";
  char *made;
  HEED_TRY(take(w, size, 1, &made));
  snprintf(made, size, "%s#%" PRIu32, name, in->number);
  *to = made;
  return HEED_OK;
}

static heed_status rename_value(writer *w, const scope *in, const char *name, const char **to) {
  const parameter *found = in->function && *name ? parameter_of(in, name) : NULL;
  *to = found ? found->actual : name;
  return found || !in->function || !*name ? HEED_OK : own_name(w, in, name, to);
}

static heed_status rename_all(writer *w, const scope *in, const char *const *names, uint32_t count,
                              const char ***to) {
  HEED_TRY(take(w, count, sizeof **to, to));
  for (uint32_t i = 0; i < count; i++) HEED_TRY(rename_value(w, in, names[i], &(*to)[i]));
  return HEED_OK;
}

/* "call/node", as exporters name scopes, from which names of weights are read. */
static heed_status rename_node(writer *w, const scope *in, const char *name, const char **to) {
  char *made;
  *to = name;
  if (!in->function || !*in->call->name) return HEED_OK;
  const size_t size = strlen(in->call->name) + strlen(name) + 2;
  HEED_TRY(take(w, size, 1, &made));
  snprintf(made, size, "%s/%s", in->call->name, name);
  *to = made;
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- nodes */

static heed_status write_nodes(writer *w, const scope *in, const heed_onnx_graph *from, list *to);

static heed_status append(writer *w, list *to, const heed_onnx_node *node) {
  if (to->count == to->room) {
    heed_onnx_node *nodes;
    const uint32_t room = to->room ? 2 * to->room : 16;
    HEED_TRY(take(w, room, sizeof *nodes, &nodes));
    if (to->count) memcpy(nodes, to->nodes, to->count * sizeof *nodes);
    to->nodes = nodes;
    to->room = room;
  }
  to->nodes[to->count++] = *node;
  return HEED_OK;
}

/* A graph inside a node, whose own names are told apart too. */
static heed_status write_graph(writer *w, const scope *in, const heed_onnx_graph *from,
                               const heed_onnx_graph **to) {
  heed_onnx_graph *made;
  heed_onnx_tensor *initializers;
  heed_onnx_value *values[2];
  list nodes = {0};
  HEED_TRY(take(w, 1, sizeof *made, &made));
  *made = *from;
  HEED_TRY(take(w, from->initializer_count, sizeof *initializers, &initializers));
  for (uint32_t i = 0; i < from->initializer_count; i++) {
    initializers[i] = from->initializers[i];
    HEED_TRY(rename_value(w, in, from->initializers[i].name, &initializers[i].name));
  }
  for (int end = 0; end < 2; end++) {
    const heed_onnx_value *of = end ? from->outputs : from->inputs;
    const uint32_t count = end ? from->output_count : from->input_count;
    HEED_TRY(take(w, count, sizeof **values, &values[end]));
    for (uint32_t i = 0; i < count; i++) {
      values[end][i] = of[i];
      HEED_TRY(rename_value(w, in, of[i].name, &values[end][i].name));
    }
  }
  HEED_TRY(write_nodes(w, in, from, &nodes));
  made->initializers = initializers;
  made->inputs = values[0];
  made->outputs = values[1];
  made->nodes = nodes.nodes;
  made->node_count = nodes.count;
  *to = made;
  return HEED_OK;
}

static const heed_onnx_attribute *find(const heed_onnx_attribute *in, uint32_t count,
                                       const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(in[i].name, name) == 0) return &in[i];
  return NULL;
}

/* What an attribute of a body says that refers to one of the call: its value, else the function's,
 * else nothing, as if it stood not there. */
static const heed_onnx_attribute *referred(const scope *in, const char *name) {
  const heed_onnx_function *of = in->function;
  const heed_onnx_attribute *found = find(in->call->attributes, in->call->attribute_count, name);
  return found ? found : find(of->defaults, of->default_count, name);
}

static heed_status write_attributes(writer *w, const scope *in, const heed_onnx_node *from,
                                    heed_onnx_node *to) {
  heed_onnx_attribute *made;
  HEED_TRY(take(w, from->attribute_count, sizeof *made, &made));
  to->attributes = made;
  to->attribute_count = 0;
  for (uint32_t i = 0; i < from->attribute_count; i++) {
    const heed_onnx_attribute *given = &from->attributes[i];
    if (*given->refers && !in->function)
      return fail_call(w, HEED_INVALID_FILE, from,
                       "an attribute refers to a function's, and it stands in none");
    const heed_onnx_attribute *value = *given->refers ? referred(in, given->refers) : given;
    if (!value) continue;
    heed_onnx_attribute *copy = &made[to->attribute_count++];
    *copy = *value;
    copy->name = given->name;
    if (value->graph && value == given) HEED_TRY(write_graph(w, in, value->graph, &copy->graph));
  }
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------- calls */

/* The parameters of a call, by their names. Of an output that is an input too, the input. */
static heed_status bind_parameters(writer *w, scope *in) {
  const heed_onnx_function *f = in->function;
  const uint64_t most = (uint64_t)f->input_count + f->output_count;
  parameter *given;
  uint32_t *order, inputs;
  HEED_TRY(take(w, most, sizeof *given, &given));
  HEED_TRY(take(w, most, sizeof *in->parameters, &in->parameters));
  HEED_TRY(take(w, most, sizeof *order, &order));
  for (inputs = 0; inputs < f->input_count; inputs++)
    given[inputs] = (parameter){f->inputs[inputs],
                                inputs < in->call->input_count ? in->call->inputs[inputs] : ""};
  for (uint32_t i = 0; i < f->output_count; i++) {
    parameter *output = &given[inputs + i];
    output->formal = f->outputs[i];
    output->actual = i < in->call->output_count ? in->call->outputs[i] : "";
    if (!*output->actual) HEED_TRY(own_name(w, in, output->formal, &output->actual));
  }
  for (uint32_t i = 0; i < most; i++) order[i] = i;
  heed_sort(order, (size_t)most, parameter_less, given);
  for (uint32_t i = 0; i < most; i++) {
    const parameter *next = &given[order[i]];
    const bool again = in->count && strcmp(in->parameters[in->count - 1].formal, next->formal) == 0;
    if (again && order[i] < inputs)
      return fail_call(w, HEED_INVALID_FILE, in->call, "its function has two inputs of one name");
    if (!again) in->parameters[in->count++] = *next;
  }
  return HEED_OK;
}

/* Outputs that the body does not make: they are inputs, or come twice. */
static heed_status copy_outputs(writer *w, const scope *in, list *to) {
  for (uint32_t i = 0; i < in->call->output_count; i++) {
    const parameter *found = parameter_of(in, in->function->outputs[i]);
    const char *output = in->call->outputs[i];
    if (!*output || strcmp(found->actual, output) == 0) continue;
    heed_onnx_node copy = {.name = "", .op = "Identity", .domain = "", .overload = ""};
    HEED_TRY(rename_node(w, in, found->formal, &copy.name));
    HEED_TRY(take(w, 1, sizeof *copy.inputs, &copy.inputs));
    HEED_TRY(take(w, 1, sizeof *copy.outputs, &copy.outputs));
    copy.inputs[0] = found->actual;
    copy.outputs[0] = output;
    copy.input_count = copy.output_count = 1;
    HEED_TRY(append(w, to, &copy));
  }
  return HEED_OK;
}

static heed_status write_call(writer *w, const scope *outer, const heed_onnx_function *function,
                              const heed_onnx_node *call, list *to) {
  scope in = {.function = function, .call = call, .number = ++w->calls, .depth = outer->depth + 1};
  const heed_onnx_graph body = {.nodes = function->nodes, .node_count = function->node_count};
  if (in.depth > MOST_CALLS_INSIDE)
    return fail_call(w, HEED_UNSUPPORTED, call,
                     "its function calls functions too deeply (expected at most 16)");
  if (call->input_count > function->input_count || call->output_count > function->output_count)
    return fail_call(w, HEED_INVALID_FILE, call, "it has more inputs or outputs than its function");
  HEED_TRY(bind_parameters(w, &in));
  HEED_TRY(write_nodes(w, &in, &body, to));
  return copy_outputs(w, &in, to);
}

static heed_status write_nodes(writer *w, const scope *in, const heed_onnx_graph *from, list *to) {
  for (uint32_t i = 0; i < from->node_count; i++) {
    const heed_onnx_node *node = &from->nodes[i];
    heed_onnx_node made = *node;
    if (!heed_budget_allows(w->arena->context, sizeof *node)) /* also of calls of empty functions */
      return heed_fail_memory(w->error, w->where, sizeof *node);
    HEED_TRY(rename_node(w, in, node->name, &made.name));
    HEED_TRY(rename_all(w, in, node->inputs, node->input_count, &made.inputs));
    HEED_TRY(rename_all(w, in, node->outputs, node->output_count, &made.outputs));
    HEED_TRY(write_attributes(w, in, node, &made));
    if (heed_onnx_is_if(&made) && !*made.inputs[0])
      return fail_call(w, HEED_INVALID_FILE, node, "its condition is missing (expected input 0)");
    const heed_onnx_function *function = function_of(w, node);
    HEED_TRY(function ? write_call(w, in, function, &made, to) : append(w, to, &made));
  }
  return HEED_OK;
}

/* Bodies are read by the operator sets of the model, which gets those that functions alone have. */
static heed_status join_sets(writer *w, heed_onnx_model *model) {
  heed_onnx_opset *sets;
  HEED_TRY(take(w, HEED_ONNX_MOST_OPSETS, sizeof *sets, &sets));
  memcpy(sets, model->opsets, model->opset_count * sizeof *sets);
  model->opsets = sets;
  for (uint32_t i = 0; i < model->function_count; i++)
    for (uint32_t k = 0; k < model->functions[i].opset_count; k++) {
      const heed_onnx_opset *set = &model->functions[i].opsets[k];
      const int64_t version = heed_onnx_opset_of(model, set->domain);
      if (version && version != set->version)
        return heed_fail(w->error, HEED_UNSUPPORTED,
                         "%s: function %.60s has another operator set %.60s than its model "
                         "(found %lld, expected %lld)",
                         w->where, model->functions[i].name, *set->domain ? set->domain : "ai.onnx",
                         (long long)set->version, (long long)version);
      if (!version && model->opset_count == HEED_ONNX_MOST_OPSETS)
        return heed_fail(w->error, HEED_UNSUPPORTED,
                         "%s: too many operator sets (expected at most %u)", w->where,
                         HEED_ONNX_MOST_OPSETS);
      if (!version) sets[model->opset_count++] = *set;
    }
  return HEED_OK;
}

heed_status heed_onnx_write_out(heed_onnx_arena *arena, const char *where, heed_onnx_model *model,
                                heed_error *error) {
  writer w = {.arena = arena, .where = where, .model = model, .error = error};
  const scope main_graph = {0};
  list nodes = {0};
  if (!model->function_count) return HEED_OK;
  HEED_TRY(sort_functions(&w));
  HEED_TRY(join_sets(&w, model));
  HEED_TRY(write_nodes(&w, &main_graph, &model->graph, &nodes));
  model->graph.nodes = nodes.nodes;
  model->graph.node_count = nodes.count;
  return HEED_OK;
}
