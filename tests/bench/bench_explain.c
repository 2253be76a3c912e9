/* What explanations cost beside a run: times in turn, so that a busy machine slows both, and the
 * most bytes that heed held at a time.
 *   bench_explain MODEL THREADS SIDE ROUNDS METHODS [SITES [TARGET]]
 * Prints medians of a run of the model alone and of heed_explain of these methods, and the median
 * of the ratios of pairs. SITES may be "". With `patch` the picture is patched from another one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heed/native.h"

enum { MOST_ROUNDS = 99 };

static heed_error error;

static void must(heed_status status) {
  if (status == HEED_OK) return;
  fprintf(stderr, "bench_explain: %s\n", error.message);
  exit(3);
}

/* Blocks have their size in front of them. */
static struct { size_t now, most; } held;

static void *count_alloc(size_t size, size_t alignment, void *user) {
  (void)user;
  const size_t front = alignment < 64 ? 64 : alignment;
  unsigned char *block = aligned_alloc(front, (front + size + front - 1) / front * front);
  if (!block) return NULL;
  memcpy(block + front - sizeof size, &size, sizeof size);
  memcpy(block + front - 2 * sizeof size, &front, sizeof front);
  size_t now = __atomic_add_fetch(&held.now, size, __ATOMIC_RELAXED);
  if (now > held.most) held.most = now;
  return block + front;
}

static void count_free(void *pointer, void *user) {
  (void)user;
  size_t size, front;
  memcpy(&size, (unsigned char *)pointer - sizeof size, sizeof size);
  memcpy(&front, (unsigned char *)pointer - 2 * sizeof size, sizeof front);
  __atomic_sub_fetch(&held.now, size, __ATOMIC_RELAXED);
  free((unsigned char *)pointer - front);
}

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, uint32_t count) {
  qsort(values, count, sizeof *values, by_size);
  return values[count / 2];
}

static float *make_pixels(size_t count, uint32_t seed) {
  float *pixels = malloc(count * sizeof *pixels);
  for (size_t i = 0; pixels && i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    pixels[i] = (float)(seed >> 8) / 8388608.0f - 1.0f;
  }
  return pixels;
}

typedef struct opened {
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
} opened;

static void open_session(opened *o, const heed_model *model, heed_backend *backend, uint32_t side) {
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = 1, .height = side, .width = side};
  must(heed_model_build(model, &build, &o->graph, &error));
  must(heed_plan_create(o->graph, backend, NULL, &o->plan, &error));
  must(heed_session_create(o->plan, NULL, &o->session, &error));
}

static void close_session(opened *o) {
  heed_session_destroy(o->session);
  heed_plan_destroy(o->plan);
  heed_graph_destroy(o->graph);
}

/* A run and an explanation in turn, by two clocks: the wall's, and that of the processor, which
 * says more on a busy machine. */
static void compare(heed_session *session, heed_context *context, const heed_explain_desc *desc,
                    uint32_t rounds) {
  static const struct {
    clockid_t clock;
    const char *name;
  } clocks[] = {{CLOCK_MONOTONIC, "time"}, {CLOCK_PROCESS_CPUTIME_ID, "processor time"}};
  static double alone[2][MOST_ROUNDS], explained[2][MOST_ROUNDS], ratio[2][MOST_ROUNDS];
  heed_explanation *explanation;
  for (uint32_t i = 0; i < rounds; i++) {
    double at[3][2];
    for (int k = 0; k < 2; k++) at[0][k] = seconds(clocks[k].clock);
    must(heed_session_run(session, NULL, &error));
    for (int k = 0; k < 2; k++) at[1][k] = seconds(clocks[k].clock);
    must(heed_explain(context, desc, &explanation, &error));
    for (int k = 0; k < 2; k++) at[2][k] = seconds(clocks[k].clock);
    heed_explanation_destroy(explanation);
    for (int k = 0; k < 2; k++) {
      alone[k][i] = 1e3 * (at[1][k] - at[0][k]);
      explained[k][i] = 1e3 * (at[2][k] - at[1][k]);
      ratio[k][i] = explained[k][i] / alone[k][i];
    }
  }
  for (int k = 0; rounds && k < 2; k++)
    printf("%s: run %.1f ms, explain %.1f ms, ratio %.3f\n", clocks[k].name,
           median(alone[k], rounds), median(explained[k], rounds), median(ratio[k], rounds));
}

int main(int argc, char **argv) {
  if (argc < 6) {
    fprintf(stderr, "usage: bench_explain MODEL THREADS SIDE ROUNDS METHODS [SITES [TARGET]]\n");
    return 2;
  }
  const heed_context_desc counted = {.struct_size = sizeof counted,
                                     .allocator = {count_alloc, count_free, NULL}};
  const heed_cpu_desc cpu = {sizeof cpu, (uint32_t)atoi(argv[2]), NULL};
  const uint32_t side = (uint32_t)atoi(argv[3]), asked = (uint32_t)atoi(argv[4]),
                 rounds = asked < MOST_ROUNDS ? asked : MOST_ROUNDS;
  heed_context *context;
  heed_backend *backend;
  heed_model_files *files;
  heed_model *model;
  opened own, second;
  heed_model_info info;
  must(heed_context_create(&counted, &context, &error));
  must(heed_cpu_backend_create(context, &cpu, &backend, &error));
  must(heed_model_load(context, argv[1], NULL, &files, &model, &error));
  heed_model_get_info(model, &info);
  open_session(&own, model, backend, side);
  heed_session *const session = own.session;
  const size_t count = (size_t)info.channels * side * side;
  const heed_shape shape = {4, {1, info.channels, side, side}}, vector = {1, {info.width}};
  const heed_named_tensor inputs[] = {
      {"pixel_values", HEED_F32, shape, make_pixels(count, 1)},
      {"target.vector", HEED_F32, vector, make_pixels(info.width, 3)},
      {"source.pixel_values", HEED_F32, shape, make_pixels(count, 2)}};
  heed_explain_desc desc = {
      .struct_size = sizeof desc,
      .model = model,
      .backend = backend,
      .methods = argv[5],
      .target = argc > 7       ? argv[7]
                : info.classes ? NULL
                               : "vector",
      .inputs = inputs,
      .input_count = strstr(argv[5], "patch") || strstr(argv[5], "atp") ? 3 : 2,
      .sites = argc > 6 && *argv[6] ? argv[6] : NULL};
  must(heed_session_write(session, heed_graph_find(own.graph, "pixel_values"), inputs[0].data,
                          count * sizeof(float), &error));
  must(heed_session_run(session, NULL, &error));
  /* An explanation beside this session against another run beside it, which shares its weights. */
  open_session(&second, model, backend, side);
  must(heed_session_run(second.session, NULL, &error));
  const size_t run_most = held.most;
  close_session(&second);
  const size_t before = held.now; /* weights, and this session's arena and workspace */
  held.most = before;
  heed_explanation *explanation;
  if (rounds) must(heed_explainer_create(context, &desc.explainer, &error));
  must(heed_explain(context, &desc, &explanation, &error));
  heed_explanation_destroy(explanation);
  compare(session, context, &desc, rounds);
  heed_memory memory;
  heed_plan_memory(own.plan, &memory);
  printf(
      "weights %.1f MB, arena %.2f MB, workspace %.2f MB; most held beyond a run: %.2f MB, beyond "
      "weights: %.2f MB\n",
      1e-6 * (double)memory.weights, 1e-6 * (double)memory.arena, 1e-6 * (double)memory.workspace,
      1e-6 * ((double)held.most - (double)run_most), 1e-6 * ((double)held.most - (double)before));
  heed_explainer_destroy(desc.explainer);
  close_session(&own);
  heed_model_destroy(model);
  heed_model_files_destroy(files);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  for (uint32_t i = 0; i < 3; i++) free((void *)(size_t)inputs[i].data);
  return 0;
}
