/* The self-check without its device: runs the graph of self_check_graph.c on a backend and on the
 * CPU, and compares every result. */
#include "gpu/self_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "gpu/hash.h"
#include "plan/plan.h"

#define TOLERANCE 1e-4
#define TOLERANCE_HALF 2e-3 /* with weights in fp16 */

static const heed_value_record *record_of(const heed_gpu_check_graph *check, uint32_t id) {
  return heed_graph_record(check->graph, id);
}

static heed_status read_result(const heed_gpu_check_graph *check, heed_session *session,
                               uint32_t id, float *to, heed_error *error) {
  const heed_value_record *value = record_of(check, id);
  const uint64_t count = heed_shape_count(&value->shape);
  if (value->dtype != HEED_U8)
    return heed_session_read(session, (heed_value){id}, 0, count, to, error);
  unsigned char *bytes = heed_alloc(check->context, (size_t)count, 1);
  if (!bytes) return heed_fail_memory(error, "self-check", (size_t)count);
  const heed_status status = heed_session_read(session, (heed_value){id}, 0, count, bytes, error);
  for (size_t k = 0; k < count; k++) to[k] = (float)bytes[k];
  heed_free(check->context, bytes);
  return status;
}

static heed_status write_numbers(const heed_gpu_check_graph *check, heed_session *session,
                                 heed_value input, heed_error *error) {
  return heed_session_write(
      session, input, check->numbers,
      (size_t)heed_shape_count(&record_of(check, input.id)->shape) * sizeof(float), error);
}

heed_status heed_gpu_check_start(const heed_gpu_check_graph *check, heed_session *session,
                                 heed_error *error) {
  static const int32_t ids[] = {1, 2, 3, 6, 5, 4, 0, 0, 0, 6, 6, 1, 3, 2, 0, 0, 0, 0};
  if (check->image.id) HEED_TRY(write_numbers(check, session, check->image, error));
  HEED_TRY(write_numbers(check, session, check->tokens, error));
  if (check->ids.id) HEED_TRY(heed_session_write(session, check->ids, ids, sizeof ids, error));
  return heed_session_run(session, NULL, error);
}

heed_status heed_gpu_check_read(const heed_gpu_check_graph *check, heed_session *session, float *to,
                                heed_error *error) {
  for (uint32_t id = 0; (id = heed_gpu_check_next(check, id));
       to += heed_shape_count(&record_of(check, id)->shape))
    HEED_TRY(read_result(check, session, id, to, error));
  return HEED_OK;
}

heed_status heed_gpu_check_run(const heed_gpu_check_graph *check, heed_backend *backend, float *to,
                               uint32_t *steps, heed_error *error) {
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  heed_status status = heed_plan_create(check->graph, backend, NULL, &plan, error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, error);
  if (status == HEED_OK) status = heed_gpu_check_start(check, session, error);
  if (status == HEED_OK) status = heed_gpu_check_read(check, session, to, error);
  if (status == HEED_OK) *steps = heed_plan_step_count(plan);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  return status;
}

static const char *op_of(const heed_gpu_check_graph *check, uint32_t id) {
  return heed_ops[check->graph->nodes[record_of(check, id)->node].op]->name;
}

/* Infinite where only one of the two is NaN or infinite, or they differ in sign. */
static double difference(float a, float b) {
  if ((isnan(a) && isnan(b)) || a == b) return 0.0;
  const double d = fabs((double)a - (double)b) / (1.0 + fabs((double)b));
  return isnan(d) ? (double)INFINITY : d;
}

/* Returns the result with the largest error. */
static uint32_t compare(const heed_gpu_check_graph *check, const float *found,
                        const float *expected, double tolerance, heed_gpu_check_record *record) {
  uint32_t worst = 0;
  record->max_error = -1.0;
  for (uint32_t id = 0; (id = heed_gpu_check_next(check, id));)
    for (uint64_t k = heed_shape_count(&record_of(check, id)->shape); k > 0; k--) {
      const double d = difference(*found++, *expected++);
      if (d <= record->max_error) continue;
      record->max_error = d;
      worst = id;
    }
  if (worst) snprintf(record->worst, sizeof record->worst, "%s", op_of(check, worst));
  record->passed = record->max_error <= tolerance;
  return worst;
}

void heed_gpu_check_compare(const heed_gpu_check_graph *check, const float *found,
                            const float *expected, double tolerance,
                            heed_gpu_check_record *record) {
  compare(check, found, expected, tolerance, record);
}

/* Adds the first kernel of the step that makes a result. */
static heed_status name_kernel(const heed_gpu_check_graph *check, heed_backend *backend,
                               uint32_t id, heed_gpu_check_record *record, heed_error *error) {
  heed_plan *plan = NULL;
  heed_status status = HEED_OK;
  if (!id) return HEED_OK;
  HEED_TRY(heed_plan_create(check->graph, backend, NULL, &plan, error));
  const heed_node *node = &check->graph->nodes[record_of(check, id)->node];
  for (uint32_t i = 0; i < heed_plan_step_count(plan); i++) {
    heed_plan_step step;
    heed_plan_step_info(plan, i, &step);
    if (heed_plan_node(plan, i) != node) continue;
    /* a step that dispatches nothing could not be described */
    if (!step.dispatches) status = heed_fail_memory(error, "self-check", sizeof step);
    if (step.kernel_count && strcmp(step.kernel[0].name, record->worst) != 0)
      snprintf(record->worst, sizeof record->worst, "%s (%s)", op_of(check, id),
               step.kernel[0].name);
  }
  heed_plan_destroy(plan);
  return status;
}

uint64_t heed_gpu_check_hash(const heed_gpu_check_graph *check) {
  uint64_t hash = HEED_GPU_HASH_START;
  for (size_t i = 0; i < check->graph->node_count; i++) {
    const heed_node *node = &check->graph->nodes[i];
    const char *name = heed_ops[node->op]->name;
    hash = heed_gpu_hash(hash, name, strlen(name) + 1);
    hash = heed_gpu_hash(hash, node->input, sizeof node->input);
    for (uint32_t k = 0; k < HEED_NODE_OUTPUTS && node->output[k]; k++) {
      const heed_shape *shape = &record_of(check, node->output[k])->shape;
      hash = heed_gpu_hash(hash, shape->dim, shape->rank * sizeof *shape->dim);
    }
  }
  return hash;
}

heed_status heed_gpu_check_judge(const heed_gpu_check_graph *check, heed_backend *backend,
                                 const float *found, const float *expected, bool half,
                                 heed_gpu_check_record *record, heed_error *error) {
  const uint32_t worst = compare(check, found, expected, half ? TOLERANCE_HALF : TOLERANCE, record);
  return name_kernel(check, backend, worst, record, error);
}

heed_status heed_gpu_check_backend(const heed_gpu_check_graph *check, heed_backend *backend,
                                   bool half, heed_gpu_check_record *record, heed_error *error) {
  const size_t count = heed_gpu_check_count(check);
  float *found = heed_alloc(check->context, count, 2 * sizeof *found);
  if (!found) return heed_fail_memory(error, "self-check", 2 * count * sizeof *found);
  heed_backend *cpu = NULL;
  heed_status status = heed_cpu_backend_create(check->context, NULL, &cpu, error);
  if (status == HEED_OK)
    status = heed_gpu_check_run(check, cpu, found + count, &record->kernels, error);
  if (status == HEED_OK)
    status = heed_gpu_check_run(check, backend, found, &record->kernels, error);
  if (status == HEED_OK)
    status = heed_gpu_check_judge(check, backend, found, found + count, half, record, error);
  heed_backend_destroy(cpu);
  heed_free(check->context, found);
  return status;
}
