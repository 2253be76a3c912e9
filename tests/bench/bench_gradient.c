/* What a reverse pass costs beside a run: of the forward pass alone and of both, by turns.
 *   bench_gradient MODEL THREADS SIDE ROUNDS [LEVEL | vulkan] [profile]
 *   bench_gradient MODEL THREADS SIDE turns FILE
 * Prints the least and the median of each by the processor's clock and by the wall's, the median of
 * the ratios of pairs, and what memory the plans take. `profile`: where the time of both goes.
 * Without rounds nothing runs. `turns` writes the gradient to FILE, and then runs both once for
 * each line of its input (gradient_torch.py). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph/gradient/gradient.h"
#include "heed/native.h"
#ifdef HEED_HAS_VULKAN
#include "heed/vulkan.h"
#endif

enum { MOST_ROUNDS = 199, MOST_STEPS = 4096, CLOCKS = 2 };

static heed_error error;

static void must(heed_status status) {
  if (status == HEED_OK) return;
  fprintf(stderr, "bench_gradient: %s\n", error.message);
  exit(3);
}

static const struct {
  clockid_t clock;
  const char *name;
} clocks[CLOCKS] = {{CLOCK_PROCESS_CPUTIME_ID, "processor time"}, {CLOCK_MONOTONIC, "wall"}};

static double milliseconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static double microseconds(void *user) {
  (void)user;
  return 1e3 * milliseconds(CLOCK_MONOTONIC);
}

static int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct opened {
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value gradient; /* of the second */
} opened;

/* Of the first logit, or of the first number of what the model gives, with respect to pixels. */
static heed_value add_gradient(heed_graph *graph) {
  heed_value of = heed_graph_find(graph, "logits"), gradient,
             pixels = heed_graph_find(graph, "pixel_values");
  heed_value_info info;
  if (!of.id) of = heed_graph_find(graph, "pooler_output");
  must(heed_graph_value_info(graph, of, &info));
  const heed_gradient_desc desc = {.of = of,
                                   .seed = heed_define_input(graph, "seed", HEED_F32, &info.shape),
                                   .wanted = &pixels,
                                   .wanted_count = 1};
  must(heed_graph_gradient(graph, &desc, &gradient, &error));
  heed_graph_output(graph, gradient);
  return gradient;
}

static void write(const opened *o, const char *name) {
  heed_value_info info;
  const heed_value value = heed_graph_find(o->graph, name);
  if (heed_graph_value_info(o->graph, value, &info) != HEED_OK) return;
  size_t count = 1;
  for (uint32_t i = 0; i < info.shape.rank; i++) count *= info.shape.dim[i];
  float *data = malloc(count * sizeof *data);
  uint32_t state = 1;
  for (size_t i = 0; data && i < count; i++) {
    state = state * 1664525u + 1013904223u;
    data[i] = (float)(state >> 8) / 8388608.0f - 1.0f;
  }
  must(heed_session_write(o->session, value, data, count * sizeof *data, &error));
  free(data);
}

/* Each line is answered by the milliseconds of a run: the wall's and the processor's. */
static void take_turns(const opened *both, const char *path) {
  heed_value_info info;
  const heed_value gradient = both->gradient;
  must(heed_graph_value_info(both->graph, gradient, &info));
  size_t count = 1;
  for (uint32_t i = 0; i < info.shape.rank; i++) count *= info.shape.dim[i];
  float *data = malloc(count * sizeof *data);
  FILE *file = data ? fopen(path, "wb") : NULL;
  if (!file) exit(2);
  must(heed_session_read(both->session, gradient, 0, count, data, &error));
  if (fwrite(data, sizeof *data, count, file) != count || fclose(file)) exit(2);
  free(data);
  for (int c; (c = getchar()) != EOF;) {
    if (c != '\n') continue;
    double before[CLOCKS], took[CLOCKS];
    for (int k = 0; k < CLOCKS; k++) before[k] = milliseconds(clocks[k].clock);
    must(heed_session_run(both->session, NULL, &error));
    for (int k = 0; k < CLOCKS; k++) took[k] = milliseconds(clocks[k].clock) - before[k];
    printf("%.3f %.3f\n", took[1], took[0]);
    fflush(stdout);
  }
}

static void open_session(opened *o, const heed_model *model, heed_backend *backend, uint32_t side,
                         bool both) {
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = 1, .height = side, .width = side};
  must(heed_model_build(model, &build, &o->graph, &error));
  if (both) o->gradient = add_gradient(o->graph);
  must(heed_plan_create(o->graph, backend, NULL, &o->plan, &error));
  must(heed_session_create(o->plan, NULL, &o->session, &error));
  write(o, "pixel_values");
  if (both) write(o, "seed");
}

static void close_session(opened *o) {
  heed_session_destroy(o->session);
  heed_plan_destroy(o->plan);
  heed_graph_destroy(o->graph);
}

static void compare(const opened o[2], uint32_t rounds) {
  static double times[CLOCKS][2][MOST_ROUNDS], ratio[MOST_ROUNDS];
  for (uint32_t i = 0; i < rounds; i++)
    for (uint32_t which = 0; which < 2; which++) {
      double before[CLOCKS];
      for (int k = 0; k < CLOCKS; k++) before[k] = milliseconds(clocks[k].clock);
      must(heed_session_run(o[which].session, NULL, &error));
      for (int k = 0; k < CLOCKS; k++)
        times[k][which][i] = milliseconds(clocks[k].clock) - before[k];
    }
  for (int k = 0; k < CLOCKS; k++) {
    double(*t)[MOST_ROUNDS] = times[k];
    for (uint32_t i = 0; i < rounds; i++) ratio[i] = t[1][i] / t[0][i];
    qsort(ratio, rounds, sizeof *ratio, by_size);
    for (int which = 0; which < 2; which++) qsort(t[which], rounds, sizeof **t, by_size);
    printf("%s: forward %.2f (least %.2f) ms, both %.2f (least %.2f) ms, ratio of the least %.3f, "
           "of pairs %.3f\n",
           clocks[k].name, t[0][rounds / 2], t[0][0], t[1][rounds / 2], t[1][0], t[1][0] / t[0][0],
           ratio[rounds / 2]);
  }
}

/* The least time of each step, summed by op and shape, of the forward stages and of the rest. */
static void profile(const opened *o, uint32_t rounds) {
  static heed_step_time times[MOST_STEPS];
  static double least[MOST_STEPS];
  const heed_clock clock = {microseconds, NULL};
  const uint32_t steps = heed_plan_step_count(o->plan);
  if (steps > MOST_STEPS) return;
  for (uint32_t i = 0; i < rounds; i++) {
    must(heed_session_profile(o->session, &clock, times, &error));
    for (uint32_t s = 0; s < steps; s++)
      if (!i || times[s].microseconds < least[s]) least[s] = times[s].microseconds;
  }
  for (uint32_t s = 0; s < steps; s++) {
    heed_plan_step first, other;
    double sum = 0.0;
    uint32_t count = 0;
    heed_plan_step_info(o->plan, s, &first);
    if (least[s] < 0.0) continue;
    for (uint32_t t = s; t < steps; t++) {
      heed_plan_step_info(o->plan, t, &other);
      if (least[t] < 0.0 || strcmp(first.op, other.op) || first.flops != other.flops ||
          first.bytes != other.bytes || (*other.output != 0) != (*first.output != 0))
        continue;
      sum += least[t];
      count++;
      least[t] = -1.0;
    }
    printf("%9.1f us %4u x %s%s [", sum, count, first.op, *first.output ? " (named)" : "");
    for (uint32_t i = 0; i < first.shape.rank; i++) printf(i ? ", %u" : "%u", first.shape.dim[i]);
    printf("] %.1f GFLOP/s\n", 1e-3 * (double)first.flops * count / sum);
  }
}

int main(int argc, char **argv) {
  if (argc < 5) {
    fprintf(stderr, "usage: bench_gradient MODEL THREADS SIDE ROUNDS [LEVEL | vulkan] [profile]\n");
    return 2;
  }
  const bool profiled = strcmp(argv[argc - 1], "profile") == 0;
  const char *level = argc - profiled > 5 && strcmp(argv[4], "turns") != 0 ? argv[5] : NULL;
  const heed_cpu_desc cpu = {sizeof cpu, (uint32_t)atoi(argv[2]), level};
  const uint32_t side = (uint32_t)atoi(argv[3]), asked = (uint32_t)atoi(argv[4]),
                 rounds = asked < MOST_ROUNDS ? asked : MOST_ROUNDS;
  heed_context *context;
  heed_backend *backend;
  heed_model_files *files;
  heed_model *model;
  opened o[2];
  must(heed_context_create(NULL, &context, &error));
#ifdef HEED_HAS_VULKAN
  if (level && strcmp(level, "vulkan") == 0)
    must(heed_vulkan_backend_create(context, NULL, &backend, &error));
  else
#endif
    must(heed_cpu_backend_create(context, &cpu, &backend, &error));
  must(heed_model_load(context, argv[1], NULL, &files, &model, &error));
  for (int which = 0; which < 2; which++) open_session(&o[which], model, backend, side, which);
  const bool turns = strcmp(argv[4], "turns") == 0 && argc > 5;
  for (int which = 0; which < 2 && (turns || asked || profiled); which++)
    must(heed_session_run(o[which].session, NULL, &error));
  if (turns) {
    printf("ready\n");
    fflush(stdout);
    take_turns(&o[1], argv[5]);
  } else if (rounds) {
    compare(o, rounds);
  }
  for (int which = 0; which < 2; which++) {
    heed_memory memory;
    heed_plan_memory(o[which].plan, &memory);
    printf("%s: weights %.1f MB, arena %.1f MB, workspace %.1f MB, steps %u\n",
           which ? "both" : "forward", 1e-6 * (double)memory.weights, 1e-6 * (double)memory.arena,
           1e-6 * (double)memory.workspace, heed_plan_step_count(o[which].plan));
  }
  if (profiled) profile(&o[1], rounds ? rounds : 1);
  for (int which = 0; which < 2; which++) close_session(&o[which]);
  heed_model_destroy(model);
  heed_model_files_destroy(files);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return 0;
}
