/* Times kernels that do nothing but multiply and add in registers, or copy. A time is the least of
 * several dispatches of one run, each between two timestamps; a loop grows until it takes long
 * enough to be timed. */
#include "vulkan/measure/measured_peak.h"

#include <math.h>
#include <string.h>

#include "base/status.h"
#include "params/ceiling.h"
#include "vulkan/measure/profile.h"

#define REPEATS 5
#define LONG_ENOUGH 4000.0 /* microseconds */
#define MOST_STEPS 8192u   /* software devices end a loop at 65535 */
#define STEP_FLOPS (2.0 * 12.0 * 16.0)
#define MATRIX_SUMS 4 /* of ceiling_multiply_matrix.comp */
#define LEAST_COPY ((uint64_t)1 << 20)

typedef struct meter {
  heed_vk_pipelines *pipelines;
  heed_gpu_builder builder;
  heed_gpu_dispatch dispatches[REPEATS];
  heed_vk_places places;
  double microseconds[REPEATS];
} meter;

/* The least time of `REPEATS` dispatches after one another. */
static heed_status time_dispatch(meter *m, const heed_gpu_dispatch *dispatch,
                                 const heed_ceiling_params *params, double *least,
                                 heed_error *error) {
  for (uint32_t i = 0; i < REPEATS; i++) {
    m->dispatches[i] = *dispatch;
    m->dispatches[i].push_bytes = sizeof *params;
    memcpy(m->dispatches[i].push, params, sizeof *params);
  }
  m->builder.dispatches = m->dispatches;
  m->builder.dispatch_count = REPEATS;
  HEED_TRY(heed_vk_time(m->pipelines, &m->builder, &m->places, 0, m->microseconds, error));
  *least = HUGE_VAL;
  for (uint32_t i = 0; i < REPEATS; i++)
    if (m->microseconds[i] < *least) *least = m->microseconds[i];
  if (*least <= 0.0) *least = 1e-3; /* a clock too coarse */
  return HEED_OK;
}

/* A kernel's loop grows until it takes long enough. bytes: that a workgroup writes; flops: of a
 * workgroup in one step of its loop. */
static heed_status time_loop(meter *m, heed_gpu_dispatch *dispatch, uint64_t bytes, double flops,
                             double *gflops, heed_error *error) {
  const uint32_t groups = m->builder.limits->software ? 512 : 8192;
  dispatch->binding[0] =
      (heed_gpu_range){.place = HEED_GPU_ARENA, .bytes = groups * bytes, .written = true};
  dispatch->binding_count = 1;
  dispatch->groups[0] = groups;
  dispatch->groups[1] = dispatch->groups[2] = 1;
  HEED_TRY(heed_vk_buffer_create(m->pipelines->device, dispatch->binding[0].bytes, &m->places.arena,
                                 error));
  heed_status status = HEED_OK;
  double least = 0.0;
  for (uint32_t steps = 16; status == HEED_OK && steps <= MOST_STEPS && least < LONG_ENOUGH;
       steps *= 4) {
    const heed_ceiling_params params = {steps, 0.75f, 0.25f};
    status = time_dispatch(m, dispatch, &params, &least, error);
    *gflops = flops * groups * steps / least * 1e-3;
  }
  heed_vk_buffer_destroy(m->pipelines->device, &m->places.arena);
  return status;
}

static heed_status multiply(meter *m, heed_gpu_shader shader, double *gflops, heed_error *error) {
  const uint32_t width = heed_gpu_width(&m->builder);
  heed_gpu_dispatch dispatch = {.shader = shader, .constants = {width}, .constant_count = 1};
  return time_loop(m, &dispatch, width * sizeof(float), width * STEP_FLOPS, gflops, error);
}

/* By cooperative matrices, of four subgroups where there is room for them. */
static heed_status multiply_matrices(meter *m, double *gflops, heed_error *error) {
  const heed_gpu_matrix *matrix = &m->builder.limits->matrix;
  const uint32_t subgroups = m->builder.limits->invocations >= 4 * matrix->lanes ? 4 : 1;
  const uint64_t elements = (uint64_t)matrix->rows * matrix->columns;
  heed_gpu_dispatch dispatch = {
      .shader = HEED_SHADER_ceiling_multiply_matrix,
      .lanes = matrix->lanes,
      .constants = {subgroups * matrix->lanes, matrix->rows, matrix->columns, matrix->depth},
      .constant_count = 4};
  return time_loop(m, &dispatch, subgroups * elements * sizeof(float),
                   (double)(subgroups * MATRIX_SUMS * 2 * elements * matrix->depth), gflops, error);
}

/* Twice `bytes` of memory, halved until there is as much. */
static heed_status make_space(meter *m, uint64_t *bytes, heed_error *error) {
  heed_status status = HEED_OUT_OF_DEVICE_MEMORY;
  while (*bytes > m->builder.limits->range) *bytes /= 2;
  for (; status == HEED_OUT_OF_DEVICE_MEMORY && *bytes >= LEAST_COPY; *bytes /= 2) {
    status = heed_vk_buffer_create(m->pipelines->device, 2 * *bytes, &m->places.arena, error);
    if (status == HEED_OK) break;
  }
  return status;
}

static heed_status copy(meter *m, double *gbs, heed_error *error) {
  const heed_gpu_limits *limits = m->builder.limits;
  const uint32_t width = heed_gpu_width(&m->builder), steps = limits->cpu ? 64 : 4;
  uint64_t bytes = (uint64_t)(limits->cpu ? 32 : 256) << 20; /* past the caches */
  HEED_TRY(make_space(m, &bytes, error));
  heed_gpu_dispatch dispatch = {.shader = HEED_SHADER_ceiling_copy,
                                .constants = {width},
                                .constant_count = 1,
                                .binding_count = 2,
                                .groups = {1, 1, 1}};
  dispatch.binding[0] = (heed_gpu_range){.place = HEED_GPU_ARENA, .bytes = bytes};
  dispatch.binding[1] =
      (heed_gpu_range){.place = HEED_GPU_ARENA, .offset = bytes, .bytes = bytes, .written = true};
  if (heed_gpu_can_texel(&m->builder, bytes)) {
    dispatch.shader = HEED_SHADER_ceiling_copy_texel;
    heed_gpu_as_texels(&dispatch, 0);
  }
  heed_gpu_spread(&m->builder, bytes / 16, width * steps, dispatch.groups);
  /* whole groups alone */
  while ((uint64_t)dispatch.groups[0] * dispatch.groups[1] * width * steps > bytes / 16)
    dispatch.groups[0]--;
  const heed_ceiling_params params = {steps, 0.0f, 0.0f};
  double least = 1.0;
  const heed_status status = time_dispatch(m, &dispatch, &params, &least, error);
  *gbs = 2.0 * 16.0 * dispatch.groups[0] * dispatch.groups[1] * width * steps / least * 1e-3;
  heed_vk_buffer_destroy(m->pipelines->device, &m->places.arena);
  return status;
}

heed_status heed_vk_measure_peak(heed_vk_pipelines *pipelines, heed_vulkan_ceiling *ceiling,
                                 heed_error *error) {
  heed_vk_device *device = pipelines->device;
  meter m = {.pipelines = pipelines,
             .builder = {.context = device->instance.context, .limits = &device->limits}};
  *ceiling = (heed_vulkan_ceiling){0.0, 0.0, 0.0, 0.0};
  HEED_TRY(multiply(&m, HEED_SHADER_ceiling_multiply, &ceiling->f32_gflops, error));
  if (device->has_half_math)
    HEED_TRY(multiply(&m, HEED_SHADER_ceiling_multiply_half, &ceiling->f16_gflops, error));
  if (device->limits.matrix.rows) HEED_TRY(multiply_matrices(&m, &ceiling->matrix_gflops, error));
  return copy(&m, &ceiling->copy_gbs, error);
}

heed_status heed_vk_measure_rates(heed_vk_pipelines *pipelines, heed_vk_rates *rates,
                                  heed_error *error) {
  heed_vk_device *device = pipelines->device;
  meter m = {.pipelines = pipelines,
             .builder = {.context = device->instance.context, .limits = &device->limits}};
  HEED_TRY(multiply(&m, HEED_SHADER_ceiling_multiply, &rates->f32, error));
  return multiply_matrices(&m, &rates->matrix, error);
}

heed_status heed_vk_measure_multiply(heed_vk_pipelines *pipelines, double *gflops,
                                     heed_error *error) {
  heed_vk_device *device = pipelines->device;
  meter m = {.pipelines = pipelines,
             .builder = {.context = device->instance.context, .limits = &device->limits}};
  return multiply(&m, HEED_SHADER_ceiling_multiply, gflops, error);
}
