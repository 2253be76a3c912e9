/* Faults that a test asks for. */
#include "vulkan/host/fault.h"

bool heed_vk_fault_loses(heed_vk_fault *fault) {
  fault->submits++;
  return fault->lose_at_submit && fault->submits >= fault->lose_at_submit;
}

bool heed_vk_fault_allows(heed_vk_fault *fault, uint64_t bytes) {
  if (fault->memory_limit && bytes > fault->memory_limit - fault->memory_used) return false;
  fault->memory_used += bytes;
  return true;
}

void heed_vk_fault_returned(heed_vk_fault *fault, uint64_t bytes) { fault->memory_used -= bytes; }
