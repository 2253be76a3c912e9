/* Tiers of kernels: sets that need the same features of a device. Each tier has all kernels of
 * those below it. */
#ifndef HEED_GPU_TIER_H
#define HEED_GPU_TIER_H

/* The least that heed needs; row sums by subgroups; 16-bit storage; cooperative matrices of a
 * subgroup, then of a workgroup. A host's public header numbers its tiers in the same way. AUTO:
 * the device's own. */
typedef enum heed_gpu_tier {
  HEED_GPU_TIER_AUTO = 0,
  HEED_GPU_TIER_FLOOR = 1,
  HEED_GPU_TIER_SUBGROUP = 2,
  HEED_GPU_TIER_HALF = 3,
  HEED_GPU_TIER_COOPERATIVE = 4,
  HEED_GPU_TIER_COOPERATIVE_2 = 5
} heed_gpu_tier;

/* "auto", "floor", "subgroup", "half", "cooperative", "cooperative2"; NULL for another number. */
const char *heed_gpu_tier_name(heed_gpu_tier tier);

#endif
