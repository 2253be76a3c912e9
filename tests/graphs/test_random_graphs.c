/* Random graphs of 1 to 5 nodes, in double and on each backend here: the same shapes and numbers,
 * but for what docs/onnx.md states. COUNT FIRST: so many graphs from this seed on. --write FILE
 * writes graphs, inputs and results for other programs, --keep NAME the last graph and its inputs.
 *
 * A result differs by as much as rounding explains: the graph runs again in double, with each
 * computed number moved by its own rounding. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/random_graph.h"
#include "support/op_test.h"

#define NOISES 4
#define MOST_SHOWN 20
#define SLOW_GRAPHS 300 /* each compiles kernels */
#if defined(__SANITIZE_ADDRESS__)
#define GRAPHS 2000
#else
#define GRAPHS 20000
#endif

bool test_backend_wants_int8(void) { return false; }

typedef struct tally {
  unsigned long graphs, ran, refused, numbers, loose, stated, wrong;
} tally;

/* A graph, what it gives in double, and how far each number may be from that. */
typedef struct trial {
  random_graph graph;
  uint64_t seed;
  char ops[160];
  test_message file;
  test_bytes inputs;
  graph_result exact, moved[NOISES];
  uint32_t moved_count;
  /* may differ on kernels, on GPUs, by onnxruntime */
  bool stated[GRAPH_VALUES], on_gpus[GRAPH_VALUES], theirs[GRAPH_VALUES];
} trial;

static void mark_stated(trial *t);

static void make_trial(trial *t, heed_context *context, uint64_t seed) {
  heed_error error;
  memset(t, 0, sizeof *t);
  t->seed = seed;
  random_graph_make(&t->graph, context, seed, seed % 3 == 0 ? 1 : 2 + (uint32_t)(seed / 3 % 4));
  random_graph_ops(&t->graph, t->ops, sizeof t->ops);
  mark_stated(t);
  t->file = random_graph_file(&t->graph, 0, NULL);
  t->inputs = random_graph_inputs(&t->graph);
  graph_run(context, NULL, false, &t->file, &t->inputs, &t->exact, &error);
  for (uint32_t i = 0; t->exact.file && i < NOISES; i++) {
    bool moved;
    test_message noisy = random_graph_file(&t->graph, i + 1, &moved);
    if (moved) {
      graph_result *to = &t->moved[t->moved_count++];
      const heed_status status = graph_run(context, NULL, false, &noisy, &t->inputs, to, &error);
      if (status != HEED_OK) /* by a number that is a size: all of it hangs on rounding */
        memset(to, 0, sizeof *to);
    }
    free(noisy.data);
  }
}

static void free_trial(trial *t) {
  for (uint32_t i = 0; i < t->moved_count; i++) graph_result_free(&t->moved[i]);
  graph_result_free(&t->exact);
  free(t->file.data);
  free(t->inputs.data);
  random_graph_free(&t->graph);
}

/* How far a number may move by rounding in the graph; INFINITY: any other number. */
static double slack_of(const trial *t, const graph_tensor *exact, size_t index) {
  const uint32_t size = graph_type_size(exact->type);
  double slack = 0;
  for (uint32_t i = 0; i < t->moved_count; i++) {
    const graph_tensor *moved =
        t->moved[i].file ? graph_result_find(&t->moved[i], exact->name) : NULL;
    if (!moved || moved->size != exact->size) return INFINITY;
    if (memcmp(moved->bytes + index * size, exact->bytes + index * size, size) == 0) continue;
    if (!graph_type_is_float(exact->type)) return INFINITY;
    const double a = graph_float(exact->type, exact->bytes, index),
                 b = graph_float(exact->type, moved->bytes, index);
    if (isnan(a) && isnan(b)) continue;
    if (!isfinite(a) || !isfinite(b)) return INFINITY;
    slack = fmax(slack, 4 * fabs(a - b));
  }
  return slack;
}

/* --------------------------------------------------------- the differences that docs/onnx.md has
 */

static bool is_one_of(const graph_node *node, const char *list) {
  return graph_op_is_in(node->op, list);
}

/* Which numbers a value has that are none of the plain ones. */
static bool has_number(const graph_value *value, bool (*is)(double)) {
  if (!graph_type_is_float(value->type)) return false;
  for (size_t i = 0; i < value->size / graph_type_size(value->type); i++)
    if (is(graph_float(value->type, value->bytes, i))) return true;
  return false;
}
static bool is_special(double number) { return !isfinite(number); }
static bool is_nan(double number) { return isnan(number); }
static bool is_minus_inf(double number) { return isinf(number) && number < 0; }
/* Squares and products of two such numbers are beyond single precision. */
static bool is_zero(double number) { return number == 0; }
/* What the narrowest integers hold as well as the others. */
static bool is_no_integer(double number) { return !(number > -1 && number < 128); }
static bool is_no_wide_integer(double number) { return !(fabs(number) <= 1 << 24); }
static bool is_subnormal(double number) { return number != 0 && fabs(number) < 1.17549435e-38; }
static bool is_far(double number) { return fabs(number) > 1e4; }
static bool is_large(double number) { return isfinite(number) && fabs(number) > 1e18; }

/* Whether an attribute of the node has the word. */
static bool says(const graph_node *node, const char *word) {
  const size_t length = strlen(word);
  for (size_t i = 0; i + length <= node->body.size; i++)
    if (memcmp(node->body.data + i, word, length) == 0) return true;
  return false;
}

static bool is_computed(const graph_value *value) {
  return value->node >= 0 || !value->initializer;
}

/* What a node is given. */
typedef struct given {
  bool special, nan, minus, large, whole, none;
} given;

static given look(const random_graph *g, const graph_node *node) {
  given all = {0};
  for (uint32_t i = 0; i < node->input_count; i++) {
    const graph_value *value = &g->values[node->inputs[i]];
    all.special |= has_number(value, is_special);
    all.nan |= has_number(value, is_nan);
    all.minus |= has_number(value, is_minus_inf);
    all.large |= has_number(value, is_large);
    all.whole |= !i && !graph_type_is_float(value->type);
    all.none |= i && value->size == 0;
  }
  return all;
}

/* Sums that single precision does not hold, and numbers that an integer does not. */
static bool is_beyond(const random_graph *g, const graph_node *node, const given *all,
                      const graph_value *first) {
  bool narrow = false;
  for (uint32_t i = 0; i < g->value_count; i++)
    narrow |= g->values[i].node == node - g->nodes && graph_type_size(g->values[i].type) == 1 &&
              g->values[i].type != 9;
  return (all->large && graph_op_sums(node->op)) ||
         (is_one_of(node, "Cast") &&
          has_number(first, narrow ? is_no_integer : is_no_wide_integer));
}

static bool gives(const random_graph *g, const graph_node *node, bool (*is)(double)) {
  for (uint32_t i = 0; i < g->value_count; i++)
    if (g->values[i].node == node - g->nodes && has_number(&g->values[i], is)) return true;
  return false;
}

/* By kernels. */
static bool is_stated(const random_graph *g, const graph_node *node) {
  const given all = look(g, node);
  const graph_value *first = &g->values[node->inputs[0]],
                    *last = &g->values[node->inputs[node->input_count - 1]];
  if (graph_type_size(first->type) == 2 && gives(g, node, is_special)) return true;
  if (is_beyond(g, node, &all, first)) return true;
  if (is_one_of(node, "Reciprocal|Div")) return is_computed(last) && has_number(last, is_zero);
  if (is_one_of(node, "Gelu|Swish|Pow")) return all.minus;
  if (is_one_of(node, "Attention")) return all.special;
  if (is_one_of(node, "DynamicQuantizeLinear")) return graph_largest(first) < 3e-35;
  if (is_one_of(node, "Conv")) return has_number(&g->values[node->inputs[1]], is_special);
  return is_one_of(node, "Resize") && all.special && !says(node, "nearest");
}

/* By kernels of GPUs. */
static bool is_on_gpus(const random_graph *g, const graph_node *node) {
  for (uint32_t i = 0; i < node->input_count; i++)
    if (has_number(&g->values[node->inputs[i]], is_subnormal)) return true;
  return is_stated(g, node) ||
         (is_one_of(node, "Sin|Cos|Tan") && has_number(&g->values[node->inputs[0]], is_far));
}

/* Whether a side is cut, or grows by more than there is. */
static bool wraps_far(const random_graph *g, const graph_node *node) {
  const graph_value *x = &g->values[node->inputs[0]], *pads = &g->values[node->inputs[1]];
  for (uint32_t i = 0; i < pads->dims[0]; i++) {
    int64_t by;
    memcpy(&by, pads->bytes + 8 * i, 8);
    if (by < 0 || by > (int64_t)x->dims[i % x->rank]) return true;
  }
  return false;
}

/* By onnxruntime. */
static bool is_theirs(const random_graph *g, const graph_node *node) {
  const given all = look(g, node);
  const graph_value *first = &g->values[node->inputs[0]];
  if (is_beyond(g, node, &all, first)) return true;
  if (all.nan && is_one_of(node, "ArgMax|ArgMin|ReduceMax|ReduceMin|ReduceLogSumExp|TopK|Hardmax|"
                                 "Sign"))
    return true;
  if (is_one_of(node, "InstanceNormalization")) return true;
  if (all.special && is_one_of(node, "MaxPool|GlobalMaxPool|Clip|Attention|LogSoftmax"))
    return true;
  if (is_one_of(node, "Resize")) return all.special && !says(node, "nearest");
  if (is_one_of(node, "Pad")) return says(node, "wrap") && wraps_far(g, node);
  if (is_one_of(node, "DynamicQuantizeLinear")) return all.special || graph_largest(first) == 0;
  if (is_one_of(node, "Squeeze")) return all.none;
  if (is_one_of(node, "MaxPool|AveragePool"))
    return gives(g, node, is_special) ||
           (says(node, "SAME") && (says(node, "dilations") || says(node, "strides")));
  return all.whole && (is_one_of(node, "Pow|ReduceProd|ReduceSumSquare") ||
                       (g->special > 1 && graph_op_sums(node->op)));
}

/* Those behind such a difference, too. */
static void mark(trial *t, bool (*differs)(const random_graph *g, const graph_node *node),
                 bool *values) {
  bool nodes[GRAPH_NODES] = {false};
  for (uint32_t n = 0; n < t->graph.node_count; n++) {
    const graph_node *node = &t->graph.nodes[n];
    nodes[n] = differs(&t->graph, node);
    for (uint32_t i = 0; i < node->input_count; i++) {
      const int from = t->graph.values[node->inputs[i]].node;
      nodes[n] |= from >= 0 && nodes[from];
    }
  }
  for (uint32_t i = 0; i < t->graph.value_count; i++) {
    const int from = t->graph.values[i].node;
    values[i] = from >= 0 && nodes[from];
  }
}

static void mark_stated(trial *t) {
  mark(t, is_stated, t->stated);
  mark(t, is_on_gpus, t->on_gpus);
  mark(t, is_theirs, t->theirs);
}

static bool is_behind(const trial *t, const bool *marked, const char *name) {
  for (uint32_t i = 0; i < t->graph.value_count; i++)
    if (strcmp(t->graph.values[i].name, name) == 0) return marked[i];
  return false;
}

static void show(const trial *t, const char *backend, const char *what) {
  fprintf(stderr, "graph %llu (%s; opset %u; special %u) on %s: %s\n", (unsigned long long)t->seed,
          t->ops, t->graph.opset, t->graph.special, backend, what);
}

static void compare(const trial *t, const char *backend, const graph_tensor *exact,
                    const graph_tensor *kernel, double tolerance, tally *all) {
  char text[160];
  const bool *stated = strstr(backend, "vulkan") ? t->on_gpus : t->stated;
  const uint32_t size = graph_type_size(exact->type);
  const bool same = kernel && kernel->type == exact->type && kernel->rank == exact->rank &&
                    memcmp(kernel->dims, exact->dims, sizeof exact->dims) == 0;
  const size_t count = exact->size / size;
  if (!same) {
    if (isinf(slack_of(t, exact, 0)) || is_behind(t, stated, exact->name)) {
      all->loose++;
      return;
    }
    show(t, backend, "another type or shape");
    all->wrong++;
    return;
  }
  for (size_t i = 0; i < count; i++) {
    all->numbers++;
    if (memcmp(exact->bytes + i * size, kernel->bytes + i * size, size) == 0) continue;
    const double slack = slack_of(t, exact, i);
    if (isinf(slack)) {
      all->loose++;
      continue;
    }
    if (is_behind(t, stated, exact->name)) {
      all->stated++;
      continue;
    }
    double a = 0, b = 0;
    if (graph_type_is_float(exact->type)) {
      a = graph_float(exact->type, kernel->bytes, i);
      b = graph_float(exact->type, exact->bytes, i);
      const double bound =
          (graph_type_size(exact->type) == 2 ? 2e-3 : tolerance) * (1 + fabs(b)) + slack;
      if (isnan(a) && isnan(b)) continue;
      if (isfinite(a) && isfinite(b) ? fabs(a - b) <= bound : a == b) continue;
    }
    snprintf(text, sizeof text, "%s[%zu]: %.9g in double, %.9g on kernels, slack %.3g", exact->name,
             i, b, a, slack);
    show(t, backend, text);
    all->wrong++;
    return;
  }
}

static void run_backend(const trial *t, heed_context *context, uint32_t index, tally *all) {
  heed_error error;
  graph_result kernels;
  heed_backend *backend = test_backend_get(index);
  const char *name = test_backend_name(index);
  const double tolerance = strstr(name, "vulkan") ? 1e-4 : 2e-5;
  const heed_status status =
      graph_run(context, backend, t->seed % 2 == 0, &t->file, &t->inputs, &kernels, &error);
  if (status != HEED_OK && status != HEED_UNSUPPORTED) {
    show(t, name, error.message);
    all->wrong++;
  }
  all->refused += status == HEED_UNSUPPORTED;
  if (status == HEED_UNSUPPORTED && getenv("HEED_SHOW")) show(t, name, error.message);
  if (status != HEED_OK) return;
  all->ran++;
  for (uint32_t i = 0; i < t->exact.count; i++)
    compare(t, name, &t->exact.tensors[i], graph_result_find(&kernels, t->exact.tensors[i].name),
            tolerance, all);
  graph_result_free(&kernels);
}

/* ------------------------------------------------------------------------------ other programs */

static void write_part(FILE *to, const void *bytes, size_t size) {
  const uint32_t length = (uint32_t)size;
  if (fwrite(&length, 4, 1, to) != 1 || (size && fwrite(bytes, 1, size, to) != size)) {
    perror("--write");
    exit(EXIT_FAILURE);
  }
}

/* Other programs may end by a signal where an integer is divided by 0. */
static bool divides_integers(const random_graph *g) {
  for (uint32_t n = 0; n < g->node_count; n++)
    if (graph_op_is_in(g->nodes[n].op, "Div|Mod") &&
        !graph_type_is_float(g->values[g->nodes[n].inputs[0]].type))
      return true;
  return false;
}

static char *write_names(char *end, const trial *t, const bool *marked) {
  for (uint32_t i = 0; i < t->exact.count; i++)
    if (is_behind(t, marked, t->exact.tensors[i].name))
      end += sprintf(end, "%s\"%s\"", end[-1] == '[' ? "" : ",", t->exact.tensors[i].name);
  return end;
}

/* Five parts, each after its size in four bytes: the file, its inputs, what it gives, how far each
 * number of that may move, floats in the order of the tensors, and words in JSON. */
static void write_trial(FILE *to, const trial *t) {
  char words[1024], *end = words;
  size_t count = 0;
  for (uint32_t i = 0; i < t->exact.count; i++)
    count += t->exact.tensors[i].size / graph_type_size(t->exact.tensors[i].type);
  float *slack = calloc(count + 1, sizeof *slack), *at = slack;
  if (!slack) abort();
  for (uint32_t i = 0; i < t->exact.count; i++) {
    const graph_tensor *tensor = &t->exact.tensors[i];
    for (size_t k = 0; k < tensor->size / graph_type_size(tensor->type); k++)
      *at++ = (float)slack_of(t, tensor, k);
  }
  write_part(to, t->file.data, t->file.size);
  write_part(to, t->inputs.data, t->inputs.size);
  write_part(to, t->exact.file, t->exact.size);
  write_part(to, slack, count * sizeof *slack);
  free(slack);
  end += sprintf(end, "{\"seed\":%llu,\"ops\":\"%s\",\"opset\":%u,\"special\":%u,\"stated\":[",
                 (unsigned long long)t->seed, t->ops, t->graph.opset, t->graph.special);
  end = write_names(end, t, t->stated);
  end += sprintf(end, "],\"theirs\":[");
  end = write_names(end, t, t->theirs);
  bool has_special = false, has_empty = false;
  for (uint32_t i = 0; i < t->graph.value_count; i++) {
    has_special |= has_number(&t->graph.values[i], is_special);
    has_empty |= t->graph.values[i].size == 0 &&
                 (t->graph.values[i].node >= 0 || t->graph.values[i].rank != 1 ||
                  t->graph.values[i].type != 7);
  }
  end += sprintf(end, "],\"divides\":%s,\"nan\":%s,\"empty\":%s}",
                 divides_integers(&t->graph) ? "true" : "false", has_special ? "true" : "false",
                 has_empty ? "true" : "false");
  write_part(to, words, (size_t)(end - words));
}

static void keep(const char *name, const char *end, const void *bytes, size_t size) {
  char path[4096];
  snprintf(path, sizeof path, "%s%s", name, end);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) perror(path);
}

static unsigned long default_count(void) {
  return test_backend_slowness() > 1 && !getenv("HEED_SOAK") ? SLOW_GRAPHS : GRAPHS;
}

int main(int argc, char **argv) {
  const unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : default_count(),
                      first = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
  const char *way = argc > 4 ? argv[3] : "";
  FILE *to = strcmp(way, "--write") == 0 ? fopen(argv[4], "wb") : NULL;
  tally all = {0};
  heed_context *context = test_backend_context();
  const uint32_t backends = test_backend_count();
  for (uint64_t seed = first; seed < first + count && all.wrong < MOST_SHOWN; seed++) {
    trial t;
    make_trial(&t, context, seed);
    if (t.exact.file && t.graph.node_count) {
      all.graphs++;
      if (to)
        write_trial(to, &t);
      else
        run_backend(&t, context, (uint32_t)(seed % backends), &all);
    }
    if (strcmp(way, "--keep") == 0) {
      keep(argv[4], ".onnx", t.file.data, t.file.size);
      keep(argv[4], ".in.safetensors", t.inputs.data, t.inputs.size);
      fprintf(stderr, "%s\n", t.ops);
    }
    free_trial(&t);
  }
  if (to && fclose(to) != 0) perror(argv[4]);
  test_backend_close_all(NULL);
  printf("%lu graphs, %lu ran on kernels, %lu refused there; %lu numbers, of which %lu hang on "
         "rounding and %lu differ as stated; %lu graphs differ\n",
         all.graphs, all.ran, all.refused, all.numbers, all.loose, all.stated, all.wrong);
  return all.wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
