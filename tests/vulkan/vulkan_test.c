/* A small program on the Vulkan backend. */
#include "vulkan/vulkan_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"

enum { ROWS = 5, WIDTH = 60, COLUMNS = 70 };

static float gain[WIDTH], bias[WIDTH], weight[COLUMNS * WIDTH];

static void fill(float *to, size_t count, uint64_t seed) {
  test_random random = {seed};
  for (size_t i = 0; i < count; i++) to[i] = test_random_normal(&random);
}

static heed_value constant(vulkan_program *program, const float *data, heed_shape shape) {
  const heed_constant_desc desc = {
      .struct_size = sizeof desc, .dtype = HEED_F32, .shape = shape, .data = data};
  return heed_define_constant(program->graph, &desc);
}

void vulkan_program_start(vulkan_program *program, const heed_context_desc *context) {
  heed_error error;
  memset(program, 0, sizeof *program);
  fill(program->input, VULKAN_TEST_SIZE, 1);
  fill(gain, WIDTH, 2);
  fill(bias, WIDTH, 3);
  fill(weight, (size_t)COLUMNS * WIDTH, 4);
  for (int i = 0; i < COLUMNS * WIDTH; i++) weight[i] = heed_f16_to_f32(heed_f32_to_f16(weight[i]));
  program->weight = weight;
  assert_ok(heed_context_create(context, &program->context, &error));
  assert_ok(heed_graph_create(program->context, &program->graph, &error));
  program->x = heed_define_input(program->graph, "x", HEED_F32, &HEED_SHAPE(1, ROWS, WIDTH));
  const heed_layer_norm_desc norm = {sizeof norm, program->x,
                                     constant(program, gain, HEED_SHAPE(WIDTH)),
                                     constant(program, bias, HEED_SHAPE(WIDTH)), 1e-6f};
  const heed_value normed = heed_define_layer_norm(program->graph, &norm);
  heed_graph_stage(program->graph, 1);
  const heed_softmax_desc softmax = {sizeof softmax, normed};
  const heed_add_desc add = {sizeof add, heed_define_softmax(program->graph, &softmax), program->x};
  program->y = heed_define_add(program->graph, &add);
  heed_graph_stage(program->graph, 2);
  const heed_linear_desc linear = {.struct_size = sizeof linear,
                                   .x = program->y,
                                   .weight = constant(program, weight, HEED_SHAPE(COLUMNS, WIDTH))};
  program->z = heed_define_linear(program->graph, &linear);
  heed_graph_output(program->graph, program->y);
  heed_graph_output(program->graph, program->z);
  assert_ok(heed_graph_status(program->graph, &error));
}

heed_status vulkan_program_open(vulkan_program *program, const heed_vulkan_desc *desc,
                                heed_error *error) {
  heed_status status = heed_vulkan_backend_create(program->context, desc, &program->backend, error);
  if (status == HEED_OK)
    status = heed_plan_create(program->graph, program->backend, NULL, &program->plan, error);
  if (status == HEED_OK)
    status = heed_session_create(program->plan, NULL, &program->session, error);
  return status;
}

heed_status vulkan_program_run(vulkan_program *program, const heed_hooks *hooks,
                               heed_error *error) {
  heed_status status = heed_session_write(program->session, program->x, program->input,
                                          sizeof program->input, error);
  if (status == HEED_OK) status = heed_session_run(program->session, hooks, error);
  if (status == HEED_OK)
    status = heed_session_read(program->session, program->y, 0, VULKAN_TEST_SIZE, program->y_found,
                               error);
  if (status == HEED_OK)
    status = heed_session_read(program->session, program->z, 0, (uint64_t)ROWS * COLUMNS,
                               program->z_found, error);
  return status;
}

void vulkan_program_close(vulkan_program *program) {
  heed_session_destroy(program->session);
  heed_plan_destroy(program->plan);
  heed_backend_destroy(program->backend);
  program->session = NULL;
  program->plan = NULL;
  program->backend = NULL;
}

void vulkan_program_end(vulkan_program *program) {
  vulkan_program_close(program);
  heed_graph_destroy(program->graph);
  heed_context_destroy(program->context);
}

/* One row in double. */
static void oracle_row(const float *x, double *y) {
  double mean = 0.0, variance = 0.0, largest = -HUGE_VAL, sum = 0.0;
  for (int i = 0; i < WIDTH; i++) mean += (double)x[i] / (double)WIDTH;
  for (int i = 0; i < WIDTH; i++)
    variance += ((double)x[i] - mean) * ((double)x[i] - mean) / (double)WIDTH;
  for (int i = 0; i < WIDTH; i++) {
    y[i] = (double)gain[i] * ((double)x[i] - mean) / sqrt(variance + 1e-6) + (double)bias[i];
    largest = fmax(largest, y[i]);
  }
  for (int i = 0; i < WIDTH; i++) sum += exp(y[i] - largest);
  for (int i = 0; i < WIDTH; i++) y[i] = exp(y[i] - largest) / sum + (double)x[i];
}

static void check_close(float found, double expected, const char *what, int at) {
  if (fabs((double)found - expected) <= 2e-5 * (1.0 + fabs(expected))) return;
  fail_msg("%s element %d: found %.9g, expected %.9g", what, at, (double)found, expected);
}

void vulkan_program_check(const vulkan_program *program) {
  for (int r = 0; r < ROWS; r++) {
    double y[WIDTH];
    oracle_row(program->input + r * WIDTH, y);
    for (int i = 0; i < WIDTH; i++)
      check_close(program->y_found[r * WIDTH + i], y[i], "y", r * WIDTH + i);
    for (int n = 0; n < COLUMNS; n++) {
      double z = 0.0;
      for (int i = 0; i < WIDTH; i++) z += y[i] * (double)weight[n * WIDTH + i];
      check_close(program->z_found[r * COLUMNS + n], z, "z", r * COLUMNS + n);
    }
  }
}

void vulkan_test_need_device(void) {
  heed_error error;
  heed_context *context;
  uint32_t count = 0;
  assert_ok(heed_context_create(NULL, &context, &error));
  const heed_status status = heed_vulkan_device_list(context, NULL, &count, &error);
  heed_context_destroy(context);
  if (status == HEED_OK) return;
  fprintf(stderr, "skipped: %s\n", error.message);
  skip();
}
