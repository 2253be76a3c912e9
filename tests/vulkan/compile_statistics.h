/* What a driver says of a pipeline (VK_KHR_pipeline_executable_properties), as one JSON object. */
#ifndef HEED_TESTS_VULKAN_COMPILE_STATISTICS_H
#define HEED_TESTS_VULKAN_COMPILE_STATISTICS_H

#include <stdio.h>

#include "vulkan/host/pipeline.h"

/* Pipelines that were reported, by workload. */
typedef struct compile_pipeline {
  const char *workload;
  heed_gpu_shader shader;
  uint32_t constants[HEED_GPU_CONSTANTS], constant_count, lanes;
} compile_pipeline;
typedef struct compile_seen {
  compile_pipeline *pipeline; /* malloc'ed; the caller frees it */
  size_t count, capacity;
} compile_seen;

/* Drops from the builder the dispatches whose pipeline the workload had already, also earlier in
 * the same list; remembers the others. False: no memory. */
bool compile_drop_seen(compile_seen *seen, const char *workload, heed_gpu_builder *builder);

/* Where a report goes, and what it says of itself. */
typedef struct compile_place {
  FILE *out; /* one JSON object a line */
  const char *device, *workload, *tier;
  const char *folder; /* of disassembly; NULL: none */
} compile_place;

/* One line for each dispatch of the builder; its pipeline must have been made with
 * heed_vulkan_test.statistics. */
heed_status compile_report(const compile_place *place, const heed_vk_pipelines *pipelines,
                           const heed_gpu_builder *builder, heed_error *error);

#endif
