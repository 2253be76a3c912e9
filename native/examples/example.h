/* What the examples share: a graph on the CPU backend, its inputs written, results read and
 * printed. An example that finds something else than it says ends with 1, so that it is a test
 * too. */
#ifndef HEED_NATIVE_EXAMPLES_EXAMPLE_H
#define HEED_NATIVE_EXAMPLES_EXAMPLE_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "heed/heed.h"

#define EXAMPLE_INPUTS 8

typedef struct example {
  heed_context *context;
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_error error;
  struct {
    heed_value value;
    const void *data;
    size_t bytes;
  } inputs[EXAMPLE_INPUTS];
  size_t input_count;
} example;

/* Ends the program with the sentence when a call failed. */
static inline void example_must(const example *e, heed_status status) {
  if (status == HEED_OK) return;
  fprintf(stderr, "%s\n", e->error.message);
  exit(EXIT_FAILURE);
}

static inline void example_begin(example *e) {
  *e = (example){.context = NULL};
  example_must(e, heed_context_create(NULL, &e->context, &e->error));
  example_must(e, heed_cpu_backend_create(e->context, NULL, &e->backend, &e->error));
  example_must(e, heed_graph_create(e->context, &e->graph, &e->error));
}

/* The data must stay until example_run. */
static inline heed_value example_input(example *e, const char *name, heed_dtype dtype,
                                       heed_shape shape, const void *data) {
  const heed_value value = heed_define_input(e->graph, name, dtype, &shape);
  e->inputs[e->input_count].value = value;
  e->inputs[e->input_count].data = data;
  e->inputs[e->input_count++].bytes = (size_t)heed_shape_count(&shape) * heed_dtype_size(dtype);
  return value;
}

static inline heed_value example_constant(example *e, heed_shape shape, const float *data) {
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, shape, data, NULL, NULL};
  return heed_define_constant(e->graph, &desc);
}

/* Computes everything marked as output. */
static inline void example_run(example *e) {
  example_must(e, heed_plan_create(e->graph, e->backend, NULL, &e->plan, &e->error));
  example_must(e, heed_session_create(e->plan, NULL, &e->session, &e->error));
  for (size_t i = 0; i < e->input_count; i++)
    example_must(e, heed_session_write(e->session, e->inputs[i].value, e->inputs[i].data,
                                       e->inputs[i].bytes, &e->error));
  example_must(e, heed_session_run(e->session, NULL, &e->error));
}

static inline void example_read(example *e, heed_value value, void *to) {
  heed_value_info info;
  example_must(e, heed_graph_value_info(e->graph, value, &info));
  example_must(
      e, heed_session_read(e->session, value, 0, heed_shape_count(&info.shape), to, &e->error));
}

static inline void example_end(example *e) {
  heed_session_destroy(e->session);
  heed_plan_destroy(e->plan);
  heed_graph_destroy(e->graph);
  heed_backend_destroy(e->backend);
  heed_context_destroy(e->context);
}

static inline void example_print(const char *title, const float *matrix, size_t rows,
                                 size_t columns) {
  printf("%s\n", title);
  for (size_t r = 0; r < rows; r++) {
    printf(" ");
    for (size_t c = 0; c < columns; c++) printf(" %8.4f", (double)matrix[r * columns + c]);
    printf("\n");
  }
}

/* Whether the numbers agree with what is written down; the first one that does not is told. */
static inline bool example_agree(const char *what, const float *found, const float *expected,
                                 size_t count, double tolerance) {
  for (size_t i = 0; i < count; i++)
    if (!(fabs((double)found[i] - (double)expected[i]) <= tolerance)) {
      fprintf(stderr, "%s: element %zu: found %.6f, expected %.6f\n", what, i, (double)found[i],
              (double)expected[i]);
      return false;
    }
  return true;
}

#endif
