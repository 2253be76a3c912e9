/* Prints the pipelines that the self-check's graphs, in the sizes of models too, dispatch on GPUs
 * as a browser describes them: a shader's name and its constants a line, each once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/dispatch_list.h"
#include "gpu/self_check_graph.h"
#include "heed/heed.h"

#define MOST 4096

static const char *const names[] = {
#define HEED_SHADER(name) #name,
#include "shader_list.h"
#undef HEED_SHADER
};

typedef struct pipeline {
  heed_gpu_shader shader;
  uint32_t constants[HEED_GPU_CONSTANTS], count;
} pipeline;
static pipeline seen[MOST];
static size_t seen_count;

static void add(const heed_gpu_dispatch *dispatch) {
  pipeline made = {.shader = dispatch->shader, .count = dispatch->constant_count};
  memcpy(made.constants, dispatch->constants, sizeof made.constants[0] * made.count);
  for (size_t i = 0; i < seen_count; i++)
    if (memcmp(&seen[i], &made, sizeof made) == 0) return;
  if (seen_count == MOST) abort();
  seen[seen_count++] = made;
  printf("%s", names[made.shader]);
  for (uint32_t i = 0; i < made.count; i++) printf(" %u", made.constants[i]);
  printf("\n");
}

/* The least that WebGPU promises. */
static const heed_gpu_limits least = {.tier = HEED_GPU_TIER_FLOOR,
                                      .lanes = 32,
                                      .invocations = 256,
                                      .shared = 16384,
                                      .groups = 65535,
                                      .fill = 256,
                                      .bindings = 8,
                                      .range = (uint64_t)128 << 20,
                                      .alignment = 256,
                                      .counts_bound = true,
                                      .provable_barriers = true};

static heed_status list(const heed_plan *plan, const heed_gpu_limits *limits, heed_error *error) {
  heed_gpu_builder builder;
  heed_gpu_builder_start(&builder, plan, limits);
  const heed_status status = heed_gpu_builder_plan(&builder, error);
  for (size_t i = 0; status == HEED_OK && i < builder.dispatch_count; i++)
    add(&builder.dispatches[i]);
  heed_gpu_builder_end(&builder);
  return status;
}

static heed_status list_kinds(const heed_plan *plan, uint32_t vendor, uint32_t lanes,
                              heed_error *error) {
  for (uint32_t kind = 0; kind < 12; kind++) {
    heed_gpu_limits limits = least;
    limits.vendor = vendor;
    limits.lanes = limits.least_lanes = lanes;
    limits.half = limits.half_values = kind & 1;
    limits.dot = kind & 2;
    if (kind >= 4) limits.tier = HEED_GPU_TIER_SUBGROUP;
    if (kind >= 8) limits.required_lanes = lanes;
    const heed_status status = list(plan, &limits, error);
    if (status != HEED_OK) return status;
  }
  heed_gpu_limits software = least;
  software.cpu = software.software = true;
  software.lanes = 4;
  return list(plan, &software, error);
}

static heed_status list_all(heed_context *context, heed_backend *backend,
                            heed_gpu_check_sizes sizes, heed_error *error) {
  static const struct {
    uint32_t vendor, lanes;
  } makers[] = {{0, 32},      {0x10DE, 32}, {0x1002, 32}, {0x1002, 64},
                {0x8086, 16}, {0x106B, 32}, {0x13B5, 16}, {0x5143, 64}};
  heed_gpu_check_graph check;
  heed_plan *plan = NULL;
  heed_status status = heed_gpu_check_graph_create(context, sizes, &check, error);
  if (status == HEED_OK) status = heed_plan_create(check.graph, backend, NULL, &plan, error);
  for (size_t i = 0; status == HEED_OK && i < sizeof makers / sizeof *makers; i++)
    status = list_kinds(plan, makers[i].vendor, makers[i].lanes, error);
  heed_plan_destroy(plan);
  heed_gpu_check_graph_free(&check);
  return status;
}

int main(void) {
  heed_error error = {0};
  heed_context *context = NULL;
  heed_backend *backend = NULL;
  heed_status status = heed_context_create(NULL, &context, &error);
  if (status == HEED_OK) status = heed_cpu_backend_create(context, NULL, &backend, &error);
  if (status == HEED_OK) status = list_all(context, backend, HEED_GPU_CHECK_SMALL, &error);
  if (status == HEED_OK) status = list_all(context, backend, HEED_GPU_CHECK_GPU_MODELS, &error);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  if (status != HEED_OK) fprintf(stderr, "list_pipelines: %s\n", error.message);
  return status == HEED_OK ? 0 : 1;
}
