/* The Vulkan backend: what all its programs share. */
#ifndef HEED_VULKAN_HOST_BACKEND_STATE_H
#define HEED_VULKAN_HOST_BACKEND_STATE_H

#include "backend/backend.h"
#include "vulkan/host/cache.h"

typedef struct heed_vk_backend {
  heed_backend base;
  heed_vk_device device;
  heed_vk_pipelines pipelines;
  heed_vk_cache cache;
  bool int8_checked;    /* measure/int8_choice.h */
  bool checks_again;    /* a remembered failure of the self-check is tried again at once */
  heed_gpu_tiles tiles; /* the device's limits point at them */
} heed_vk_backend;

#endif
