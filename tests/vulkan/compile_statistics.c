/* Each driver names its statistics in its own way: the table below says which of them a field is.
 */
#include "vulkan/compile_statistics.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "gpu/dispatch_summary.h"
#include "gpu/tier.h"
#include "vulkan/compile_loops.h"

#define MOST_STATISTICS 64
#define MOST_REPRESENTATIONS 16

/* RADV, NVK, Turnip, Honeykrisp; the first that a driver has. A field without any is null. */
static const struct {
  const char *field, *name[4];
} fields[] = {
    {"registers", {"VGPRs", "Number of GPRs", "Registers used", "GPRs"}},
    {"spills", {"Spilled VGPRs", "Spills to memory", "STP Count", "Spills"}},
    {"scratch_bytes", {"Scratch size", "SLM size", "Private memory", "Scratch"}},
    {"shared_bytes", {"LDS size", "Shared memory", NULL, NULL}},
    {"waves", {"Subgroups per SIMD", "Max warps/SM", "Max Waves Per Core", "Threads"}},
    {"instructions", {"Instructions", "Instruction count", "Instruction Count", NULL}},
    {"latency", {"Latency", "Static cycle count", NULL, NULL}},
    {"inverse_throughput", {"Inverse Throughput", NULL, NULL, NULL}},
};

typedef struct calls {
  PFN_vkGetPipelineExecutablePropertiesKHR properties;
  PFN_vkGetPipelineExecutableStatisticsKHR statistics;
  PFN_vkGetPipelineExecutableInternalRepresentationsKHR representations;
} calls;

typedef struct numbers {
  VkPipelineExecutableStatisticKHR of[MOST_STATISTICS];
  uint32_t count, lanes;
} numbers;

/* ------------------------------------------------------------------------------- which pipelines
 */

static bool is_same(const compile_pipeline *seen, const heed_gpu_dispatch *dispatch) {
  return seen->shader == dispatch->shader && seen->lanes == dispatch->lanes &&
         seen->constant_count == dispatch->constant_count &&
         memcmp(seen->constants, dispatch->constants,
                dispatch->constant_count * sizeof(uint32_t)) == 0;
}

static bool has_seen(const compile_seen *seen, const char *workload,
                     const heed_gpu_dispatch *dispatch) {
  for (size_t i = 0; i < seen->count; i++)
    if (strcmp(seen->pipeline[i].workload, workload) == 0 && is_same(&seen->pipeline[i], dispatch))
      return true;
  return false;
}

static bool remember(compile_seen *seen, const char *workload, const heed_gpu_dispatch *dispatch) {
  if (seen->count == seen->capacity) {
    const size_t capacity = seen->capacity ? 2 * seen->capacity : 64;
    compile_pipeline *grown = realloc(seen->pipeline, capacity * sizeof *grown);
    if (!grown) return false;
    seen->pipeline = grown;
    seen->capacity = capacity;
  }
  compile_pipeline *made = &seen->pipeline[seen->count++];
  *made = (compile_pipeline){.workload = workload,
                             .shader = dispatch->shader,
                             .constant_count = dispatch->constant_count,
                             .lanes = dispatch->lanes};
  memcpy(made->constants, dispatch->constants, sizeof made->constants);
  return true;
}

bool compile_drop_seen(compile_seen *seen, const char *workload, heed_gpu_builder *builder) {
  size_t kept = 0;
  for (size_t i = 0; i < builder->dispatch_count; i++) {
    if (has_seen(seen, workload, &builder->dispatches[i])) continue;
    if (!remember(seen, workload, &builder->dispatches[i])) return false;
    builder->dispatches[kept++] = builder->dispatches[i];
  }
  builder->dispatch_count = kept;
  return true;
}

/* ------------------------------------------------------------------------- what the driver says */

static bool find_calls(const heed_vk_device *device, calls *to) {
  const PFN_vkGetDeviceProcAddr find = device->instance.api.GetDeviceProcAddr;
  to->properties = (PFN_vkGetPipelineExecutablePropertiesKHR)find(
      device->handle, "vkGetPipelineExecutablePropertiesKHR");
  to->statistics = (PFN_vkGetPipelineExecutableStatisticsKHR)find(
      device->handle, "vkGetPipelineExecutableStatisticsKHR");
  to->representations = (PFN_vkGetPipelineExecutableInternalRepresentationsKHR)find(
      device->handle, "vkGetPipelineExecutableInternalRepresentationsKHR");
  return to->properties && to->statistics && to->representations;
}

/* A compute pipeline has one executable. */
static void ask(const calls *call, VkDevice device, VkPipeline pipeline, numbers *to) {
  const VkPipelineInfoKHR whole = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR,
                                   .pipeline = pipeline};
  const VkPipelineExecutableInfoKHR part = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                            .pipeline = pipeline};
  VkPipelineExecutablePropertiesKHR properties = {
      .sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR};
  uint32_t executables = 1;
  memset(to, 0, sizeof *to);
  for (uint32_t i = 0; i < MOST_STATISTICS; i++)
    to->of[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
  call->properties(device, &whole, &executables, &properties);
  to->lanes = properties.subgroupSize;
  to->count = MOST_STATISTICS;
  call->statistics(device, &part, &to->count, to->of);
}

static const VkPipelineExecutableStatisticKHR *find_statistic(const numbers *all,
                                                              const char *name) {
  for (uint32_t i = 0; name && i < all->count; i++)
    if (strcmp(all->of[i].name, name) == 0) return &all->of[i];
  return NULL;
}

static double value_of(const VkPipelineExecutableStatisticKHR *statistic) {
  switch (statistic->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: return statistic->value.b32;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: return (double)statistic->value.i64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR: return statistic->value.f64;
    default: return (double)statistic->value.u64;
  }
}

/* The narrowest subgroup that the device has. */
static uint32_t narrowest_lanes(const heed_vk_device *device) {
  VkPhysicalDeviceSubgroupSizeControlProperties size = {
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                     .pNext = &size};
  device->instance.api.GetPhysicalDeviceProperties2(device->physical, &all);
  return size.minSubgroupSize;
}

/* Subgroups that one SIMD holds. RADV counts a wave of 64 twice where half of them exist too, NVK
 * counts for the four schedulers of a processor, Honeykrisp the threads of four. */
static double waves_of(const char *name, double value, uint32_t lanes, bool narrower) {
  if (strcmp(name, "Subgroups per SIMD") == 0) return lanes == 64 && narrower ? value / 2 : value;
  if (strcmp(name, "Max warps/SM") == 0) return value / 4;
  if (strcmp(name, "Threads") == 0) return value / (4 * 32);
  return value;
}

static void write_numbers(FILE *out, const numbers *all, bool narrower) {
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const VkPipelineExecutableStatisticKHR *found = NULL;
    for (size_t k = 0; k < 4 && !found; k++) found = find_statistic(all, fields[i].name[k]);
    fprintf(out, ", \"%s\": ", fields[i].field);
    if (!found)
      fputs("null", out);
    else if (strcmp(fields[i].field, "waves") == 0)
      fprintf(out, "%.9g", waves_of(found->name, value_of(found), all->lanes, narrower));
    else
      fprintf(out, "%.9g", value_of(found));
  }
}

/* The machine's own code: the last representation that is text. NULL: the driver gives none. */
static char *read_assembly(const calls *call, VkDevice device, VkPipeline pipeline) {
  const VkPipelineExecutableInfoKHR part = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                            .pipeline = pipeline};
  VkPipelineExecutableInternalRepresentationKHR all[MOST_REPRESENTATIONS];
  uint32_t count = MOST_REPRESENTATIONS;
  memset(all, 0, sizeof all);
  for (uint32_t i = 0; i < MOST_REPRESENTATIONS; i++)
    all[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
  if (call->representations(device, &part, &count, all) != VK_SUCCESS || !count) return NULL;
  for (uint32_t i = 0; i < count; i++) all[i].pData = malloc(all[i].dataSize + 1);
  call->representations(device, &part, &count, all);
  char *text = NULL;
  for (uint32_t i = 0; i < count; i++) {
    char *data = all[i].pData;
    if (data) data[all[i].dataSize] = '\0';
    if (!data || !all[i].isText) {
      free(data);
      continue;
    }
    free(text);
    text = data;
  }
  return text;
}

/* ------------------------------------------------------------------------------------ the report
 */

static void save_assembly(const compile_place *place, const heed_gpu_dispatch *dispatch,
                          const char *text) {
  char path[1024];
  size_t used = (size_t)snprintf(path, sizeof path, "%s/%s-%s-%s", place->folder, place->device,
                                 place->workload, heed_gpu_shader_name(dispatch->shader));
  for (uint32_t i = 0; i < dispatch->constant_count && used < sizeof path; i++)
    used += (size_t)snprintf(path + used, sizeof path - used, "-%u", dispatch->constants[i]);
  FILE *file = used + 5 < sizeof path ? fopen(strcat(path, ".txt"), "w") : NULL;
  if (!file) return;
  fputs(text, file);
  fclose(file);
}

static void write_line(const compile_place *place, const calls *call,
                       const heed_vk_pipelines *pipelines, const heed_gpu_dispatch *dispatch) {
  const heed_vk_device *device = pipelines->device;
  const VkPipeline pipeline = heed_vk_find_pipeline(pipelines, dispatch);
  numbers all;
  ask(call, device->handle, pipeline, &all);
  fprintf(place->out,
          "{\"device\": \"%s\", \"workload\": \"%s\", \"kernel\": \"%s\", \"tier\": \"%s\"",
          place->device, place->workload, heed_gpu_shader_name(dispatch->shader), place->tier);
  fputs(", \"constants\": [", place->out);
  for (uint32_t i = 0; i < dispatch->constant_count; i++)
    fprintf(place->out, "%s%u", i ? ", " : "", dispatch->constants[i]);
  fprintf(place->out, "], \"lanes\": %u", all.lanes);
  write_numbers(place->out, &all, narrowest_lanes(device) < all.lanes);
  char *text = read_assembly(call, device->handle, pipeline);
  if (text && place->folder) save_assembly(place, dispatch, text);
  compile_write_loops(place->out, text);
  free(text);
  fputs("}\n", place->out);
}

heed_status compile_report(const compile_place *place, const heed_vk_pipelines *pipelines,
                           const heed_gpu_builder *builder, heed_error *error) {
  calls call;
  if (!find_calls(pipelines->device, &call))
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "the driver keeps no statistics (expected VK_KHR_pipeline_executable_properties)");
  for (size_t i = 0; i < builder->dispatch_count; i++)
    write_line(place, &call, pipelines, &builder->dispatches[i]);
  return HEED_OK;
}
