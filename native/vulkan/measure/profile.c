/* Timestamp queries around every dispatch. */
#include "vulkan/measure/profile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

/* Stamps wrap around at the queue's number of bits. */
static double passed(const heed_vk_device *device, uint64_t from, uint64_t to) {
  const uint64_t mask =
      device->stamp_bits < 64 ? (UINT64_C(1) << device->stamp_bits) - 1 : UINT64_MAX;
  return (double)((to - from) & mask) * device->stamp_period;
}

static heed_status run(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                       const heed_vk_places *places, VkQueryPool pool, uint64_t budget,
                       uint64_t *stamps, heed_error *error) {
  heed_vk_device *device = pipelines->device;
  heed_vk_commands commands;
  HEED_TRY(heed_vk_commands_create(
      pipelines, builder, &(heed_vk_recording){.places = places, .stamps = pool, .budget = budget},
      NULL, &commands, error));
  heed_status status = heed_vk_commands_run(&commands, NULL, error);
  const uint32_t count = (uint32_t)builder->dispatch_count + 1;
  if (status == HEED_OK)
    status = heed_vk_check(device,
                           device->instance.api.GetQueryPoolResults(
                               device->handle, pool, 0, count, count * sizeof *stamps, stamps,
                               sizeof *stamps, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                           "vkGetQueryPoolResults", error);
  heed_vk_commands_destroy(&commands, builder->context);
  return status;
}

heed_status heed_vk_time(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                         const heed_vk_places *places, uint64_t budget, double *microseconds,
                         heed_error *error) {
  heed_vk_device *device = pipelines->device;
  if (device->stamp_bits == 0)
    return heed_fail(error, HEED_UNSUPPORTED, "profile: %s has no timestamps", device->info.name);
  const size_t count = builder->dispatch_count + 1;
  uint64_t *stamps = heed_alloc(builder->context, count, sizeof *stamps);
  if (!stamps) return heed_fail_memory(error, "vulkan: timestamps", count * sizeof *stamps);
  const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                      .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                      .queryCount = (uint32_t)count};
  VkQueryPool pool = VK_NULL_HANDLE;
  heed_status status = heed_vk_check(
      device, device->instance.api.CreateQueryPool(device->handle, &info, NULL, &pool),
      "vkCreateQueryPool", error);
  if (status == HEED_OK) status = run(pipelines, builder, places, pool, budget, stamps, error);
  for (size_t i = 0; status == HEED_OK && i + 1 < count; i++)
    microseconds[i] = passed(device, stamps[i], stamps[i + 1]);
  if (pool) device->instance.api.DestroyQueryPool(device->handle, pool, NULL);
  heed_free(builder->context, stamps);
  return status;
}

heed_status heed_vk_profile(heed_vk_pipelines *pipelines, const heed_gpu_builder *builder,
                            const heed_vk_places *places, uint64_t budget, heed_step_time *times,
                            heed_error *error) {
  double *microseconds =
      heed_alloc(builder->context, builder->dispatch_count + 1, sizeof *microseconds);
  if (!microseconds)
    return heed_fail_memory(error, "vulkan: times",
                            (builder->dispatch_count + 1) * sizeof *microseconds);
  const heed_status status = heed_vk_time(pipelines, builder, places, budget, microseconds, error);
  if (status == HEED_OK) memset(times, 0, builder->plan->step_count * sizeof *times);
  for (size_t i = 0; status == HEED_OK && i < builder->dispatch_count; i++) {
    heed_step_time *time = &times[builder->dispatches[i].step];
    time->dispatches++;
    time->microseconds += microseconds[i];
  }
  heed_free(builder->context, microseconds);
  return status;
}
