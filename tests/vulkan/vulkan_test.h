/* A small program on the Vulkan backend, for tests of the backend itself. */
#ifndef HEED_TESTS_VULKAN_VULKAN_TEST_H
#define HEED_TESTS_VULKAN_VULKAN_TEST_H

#include "heed/vulkan_test.h"
#include "support/test.h"

#define VULKAN_TEST_SIZE 300

/* x [1, 5, 60] -> layer_norm -> softmax -> add x, in three stages, and a linear whose weight does
 * not fit one panel. */
typedef struct vulkan_program {
  heed_context *context;
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value x, y, z;
  float *weight; /* of the linear, each one a number of fp16 too */
  float input[VULKAN_TEST_SIZE], y_found[VULKAN_TEST_SIZE], z_found[5 * 70];
} vulkan_program;

/* Fills context, graph and input. */
void vulkan_program_start(vulkan_program *program, const heed_context_desc *context);
/* Backend, plan, session; stops at the first failure. */
heed_status vulkan_program_open(vulkan_program *program, const heed_vulkan_desc *desc,
                                heed_error *error);
/* Writes the input, runs, reads both results. */
heed_status vulkan_program_run(vulkan_program *program, const heed_hooks *hooks, heed_error *error);
/* Closes session, plan and backend; then everything. */
void vulkan_program_close(vulkan_program *program);
void vulkan_program_end(vulkan_program *program);
/* Fails the test unless the results are right. */
void vulkan_program_check(const vulkan_program *program);

/* Skips the test, saying why, when there is no Vulkan device. */
void vulkan_test_need_device(void);

#endif
