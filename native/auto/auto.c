/* The backend that this machine has: the first Vulkan GPU that passes its self-check, else the CPU;
 * and why. */
#include <stdio.h>
#include <string.h>

#include "base/desc.h"
#include "base/status.h"
#include "heed/native.h"

static heed_status open_cpu(heed_context *context, const heed_auto_desc *desc,
                            heed_backend **backend, heed_auto_choice *choice, heed_error *error) {
  choice->device = -1;
  return heed_cpu_backend_create(context, desc->cpu, backend, error);
}

#if HEED_HAS_VULKAN
#include "heed/vulkan.h"

/* Whether this device may be taken; when not, why. */
static bool device_passes(heed_context *context, const heed_vulkan_desc *desc,
                          const heed_vulkan_device_info *info, bool named,
                          heed_auto_choice *choice) {
  char *why = choice->why;
  const unsigned index = (unsigned)desc->device;
  heed_vulkan_check check;
  heed_error error;
  choice->software = false;
  if (info->unusable[0])
    snprintf(why, HEED_AUTO_WHY_SIZE, "device %u not usable: %s", index, info->unusable);
  else if ((choice->software = info->type == HEED_VULKAN_CPU && !named))
    snprintf(why, HEED_AUTO_WHY_SIZE,
             "device %u (%s) is a software renderer and slower than the CPU", index, info->name);
  else if (heed_vulkan_self_check(context, desc, &check, &error) != HEED_OK)
    snprintf(why, HEED_AUTO_WHY_SIZE, "device %u failed its self-check: %s", index, error.message);
  else if (!check.passed)
    snprintf(why, HEED_AUTO_WHY_SIZE, "device %u failed its self-check: %s has error %.3g", index,
             check.worst, check.max_error);
  else {
    snprintf(why, HEED_AUTO_WHY_SIZE, "device %u passed its self-check of %u kernels", index,
             check.kernels);
    return true;
  }
  return false;
}

#define MOST_DEVICES 16
#define RANKS 5 /* of heed_vulkan_device_rank */

/* True: *backend is open on the device that desc names by its index. */
static bool try_device(heed_context *context, const heed_vulkan_desc *desc,
                       const heed_vulkan_device_info *info, bool named, heed_backend **backend,
                       heed_auto_choice *choice) {
  heed_error reason;
  if (!device_passes(context, desc, info, named, choice)) return false;
  choice->device = desc->device;
  if (heed_vulkan_backend_create(context, desc, backend, &reason) == HEED_OK) return true;
  snprintf(choice->why, sizeof choice->why, "cannot open device %d: %s", (int)desc->device,
           reason.message);
  return false;
}

/* The device that is named, or the first that passes, by rank; else none. */
static heed_status find_device(heed_context *context, const heed_auto_desc *desc,
                               heed_backend **backend, heed_auto_choice *choice,
                               heed_error *error) {
  heed_vulkan_device_info infos[MOST_DEVICES];
  heed_vulkan_desc vulkan = HEED_VULKAN_DESC_INIT;
  if (desc->vulkan) vulkan = *desc->vulkan;
  uint32_t count = MOST_DEVICES;
  heed_error reason;
  snprintf(choice->why, sizeof choice->why, "no Vulkan device");
  if (heed_vulkan_device_list(context, infos, &count, &reason) != HEED_OK) {
    snprintf(choice->why, sizeof choice->why, "%s", reason.message);
    return HEED_OK;
  }
  if (vulkan.device >= 0 && (uint32_t)vulkan.device >= count)
    return heed_fail(error, HEED_NO_DEVICE,
                     "device: out of range (found %d, expected less than %u)", (int)vulkan.device,
                     count);
  if (count > MOST_DEVICES) count = MOST_DEVICES;
  if (vulkan.device >= 0 && (uint32_t)vulkan.device < count) {
    try_device(context, &vulkan, &infos[vulkan.device], true, backend, choice);
    return HEED_OK;
  }
  for (uint32_t rank = 0; rank < RANKS; rank++)
    for (uint32_t i = 0; i < count; i++) {
      vulkan.device = (int32_t)i;
      if (heed_vulkan_device_rank(infos[i].type) == rank &&
          try_device(context, &vulkan, &infos[i], false, backend, choice))
        return HEED_OK;
    }
  return HEED_OK;
}
#else
static heed_status find_device(heed_context *context, const heed_auto_desc *desc,
                               heed_backend **backend, heed_auto_choice *choice,
                               heed_error *error) {
  (void)context;
  (void)desc;
  (void)backend;
  (void)error;
  snprintf(choice->why, sizeof choice->why, "built without Vulkan");
  return HEED_OK;
}
#endif

heed_status heed_auto_backend_create(heed_context *context, const heed_auto_desc *desc,
                                     heed_backend **backend, heed_auto_choice *choice,
                                     heed_error *error) {
  heed_auto_desc full = HEED_DESC(heed_auto_desc);
  heed_auto_choice made = {-1, false, ""};
  *backend = NULL;
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "heed_auto_backend_create", error));
  HEED_TRY(find_device(context, &full, backend, &made, error));
  if (!*backend) HEED_TRY(open_cpu(context, &full, backend, &made, error));
  if (choice) *choice = made;
  return HEED_OK;
}
