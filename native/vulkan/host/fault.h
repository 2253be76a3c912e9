/* Faults that a test asks for: what a driver does rarely, done on demand. */
#ifndef HEED_VULKAN_HOST_FAULT_H
#define HEED_VULKAN_HOST_FAULT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct heed_vk_fault {
  uint32_t lose_at_submit; /* 1 = the first submission; 0 = never */
  uint32_t submits;        /* so far */
  uint64_t memory_limit;   /* bytes; 0 = none */
  uint64_t memory_used;
} heed_vk_fault;

/* Counts a submission; true when the device is to be lost now. */
bool heed_vk_fault_loses(heed_vk_fault *fault);
/* Counts an allocation; false when the limit refuses it. */
bool heed_vk_fault_allows(heed_vk_fault *fault, uint64_t bytes);
void heed_vk_fault_returned(heed_vk_fault *fault, uint64_t bytes);

#endif
