/* python_runs MODEL SIDE RUNS maps|none: what python.py compares itself with. Runs a model of three
 * channels RUNS times on zeros of SIDE x SIDE pixels with one thread, reads its logits or states
 * after each run and, with `maps`, looks at all weights where they lie. Prints processor time of a
 * run in microseconds (the least of 20 parts), and by how many kilobytes the peak is above what the
 * program had before. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "heed/native.h"

static heed_error error;

static void must(heed_status status) {
  if (status == HEED_OK) return;
  fprintf(stderr, "python_runs: %s\n", error.message);
  exit(EXIT_FAILURE);
}

/* A number of /proc/self/status, in kilobytes. */
static long memory(const char *name) {
  char line[256];
  long found = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) found = strtol(line + strlen(name), NULL, 10);
  if (file) fclose(file);
  return found;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
  heed_context *context;
  heed_backend *backend;
  heed_model_files *files;
  heed_model *model;
  heed_model_info info;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  if (argc != 5) return fprintf(stderr, "usage: python_runs MODEL SIDE RUNS maps|none\n"), 2;
  const uint32_t side = (uint32_t)strtoul(argv[2], NULL, 10);
  const long runs = strtol(argv[3], NULL, 10), before = memory("VmRSS:");
  const bool maps = strcmp(argv[4], "maps") == 0;

  must(heed_context_create(NULL, &context, &error));
  const heed_cpu_desc cpu = {.struct_size = sizeof cpu, .threads = 1};
  must(heed_cpu_backend_create(context, &cpu, &backend, &error));
  must(heed_model_load(context, argv[1], NULL, &files, &model, &error));
  heed_model_get_info(model, &info);
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = 1, .height = side, .width = side};
  must(heed_model_build(model, &build, &graph, &error));
  heed_value *taps = (heed_value *)calloc(info.layers, sizeof *taps);
  float *pixels = (float *)calloc((size_t)3 * side * side, sizeof *pixels);
  if (!taps || !pixels) return EXIT_FAILURE;
  for (uint32_t i = 0; i < info.layers; i++) taps[i] = heed_graph_tap(graph, HEED_TAP_WEIGHTS, i);
  const heed_plan_desc kept = {
      .struct_size = sizeof kept, .taps = taps, .tap_count = maps ? info.layers : 0};
  must(heed_plan_create(graph, backend, &kept, &plan, &error));
  must(heed_session_create(plan, NULL, &session, &error));
  heed_value output = heed_graph_find(graph, "logits");
  if (!output.id) output = heed_graph_find(graph, "last_hidden_state");
  heed_value_info shape;
  must(heed_graph_value_info(graph, output, &shape));
  size_t count = 1;
  for (uint32_t i = 0; i < shape.shape.rank; i++) count *= shape.shape.dim[i];
  float *values = (float *)calloc(count, sizeof *values);
  if (!values) return EXIT_FAILURE;

  double least = 0, sum = 0;
  for (int part = 0; part < 20; part++) {
    const double start = now();
    const long each = runs < 20 ? 1 : runs / 20;
    for (long i = 0; i < each; i++) {
      must(heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels,
                              (size_t)3 * side * side * sizeof *pixels, &error));
      must(heed_session_run(session, NULL, &error));
      must(heed_session_read(session, output, 0, count, values, &error));
    }
    const double spent = (now() - start) / (double)each;
    if (part == 0 || spent < least) least = spent;
    if (runs < 20 && part + 1 >= runs) break;
  }
  for (uint32_t layer = 0; maps && layer < info.layers; layer++) {
    const void *view;
    must(heed_graph_value_info(graph, taps[layer], &shape));
    must(heed_session_view(session, taps[layer], &view, &error));
    const size_t numbers = (size_t)shape.shape.dim[1] * shape.shape.dim[2] * shape.shape.dim[3];
    for (size_t i = 0; i < numbers; i++) sum += (double)((const float *)view)[i];
  }
  printf("%.2f %ld %.1f\n", least, memory("VmHWM:") - before, sum);
  return EXIT_SUCCESS;
}
