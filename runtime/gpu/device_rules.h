/* What kernels choose by the device's maker and generation: THE table of devices. Ops ask it; no
 * other file knows a vendor's number. */
#ifndef HEED_GPU_DEVICE_RULES_H
#define HEED_GPU_DEVICE_RULES_H

#include "gpu/limits.h"

/* Whether loads at one address for a whole subgroup are scalar loads, which take no register of a
 * lane; and what registers are left for rows. */
typedef enum heed_gpu_scalar_loads {
  HEED_GPU_SCALARS_NONE,
  HEED_GPU_SCALARS_FEW_REGISTERS, /* AMD before RDNA */
  HEED_GPU_SCALARS_MANY_REGISTERS /* RDNA */
} heed_gpu_scalar_loads;

/* Of a product without matrices: rows and vec4 of columns an invocation, invocations across. */
typedef struct heed_gpu_register_tile {
  uint32_t rows, columns, lanes;
  uint32_t half_columns; /* with weights in fp16, which take half the registers; 0: columns */
} heed_gpu_register_tile;

typedef struct heed_gpu_device_rules {
  const char *name;
  uint32_t vendor;      /* PCI number; 0: every other */
  uint32_t least_lanes; /* smallest subgroup that a kernel may get; 0: any */
  /* Numbers of an attention's row of query and output that a lane holds: with keys in fp32, in
   * fp16, and without shuffles (0: the same) */
  uint32_t row_whole, row_half, row_floor;
  /* fours of a query in shared memory, of a lane that has all of a head of 64: of a row by itself,
   * and of one that lanes share */
  uint32_t parked, parked_shared;
  bool four_lanes; /* lanes that share a row's depth are four instead of two */
  bool deep_steps; /* products with matrices take longer steps where tiles are few */
  uint32_t lanes;  /* size of subgroups to ask for, where drivers report more; 0: theirs */
  heed_gpu_scalar_loads scalar_loads;
  heed_gpu_register_tile tile;
} heed_gpu_device_rules;

/* The row of a vendor whose smallest subgroup has so many lanes (0: not known). */
const heed_gpu_device_rules *heed_gpu_find_rules(uint32_t vendor, uint32_t least_lanes);
static inline const heed_gpu_device_rules *heed_gpu_rules(const heed_gpu_limits *limits) {
  return heed_gpu_find_rules(limits->vendor, limits->least_lanes);
}

#endif
