/* What a device does at best, timed on it. */
#ifndef HEED_VULKAN_CEILING_H
#define HEED_VULKAN_CEILING_H

#include "vulkan/pipeline.h"

heed_status heed_vk_measure_ceiling(heed_vk_pipelines *pipelines, heed_vulkan_ceiling *ceiling, heed_error *error);

#endif
