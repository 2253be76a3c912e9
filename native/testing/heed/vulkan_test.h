/* What heed's own tests and measurements make the Vulkan backend do: faults, and devices that this
 * machine does not have. Not installed; heed_vulkan_desc.test points to it. */
#ifndef HEED_VULKAN_TEST_H
#define HEED_VULKAN_TEST_H

#include "heed/vulkan.h"

/* All 0: nothing is changed. Read while a backend is created. */
typedef struct heed_vulkan_test {
  /* The device is lost from this submission on (1 = the first); 0: never. */
  uint32_t lose_at_submit;
  uint64_t memory_limit; /* device memory past this many bytes is refused; 0: no limit */
  bool force_staging;    /* memory counts as not visible to the host: staging copies are used */
  bool gpu_kernels;      /* kernels are chosen as for a GPU on a software device too */
  bool floor; /* the device has no more than heed needs: 128 invocations, 8 storage buffers */
  /* most bytes of one binding, past which work is split; 0: the device's own */
  uint64_t range_limit;
  /* most operations of one submission; 0: as many as this device does in about 100 ms, all on a
   * software device */
  uint64_t submit_flops;
  uint32_t vendor; /* number of the vendor whose tiles are taken; 0: the device's own */
  /* number of the tile that heed_vulkan_tune tries, for every product and attention; 0: as
   * measured, or as the tables say */
  uint32_t choice;
  bool keeps_strips; /* no reductions of matrices in registers, also where the device has them */
  /* 1: no dot products of int8; 2: also where the device has no instruction for them */
  uint32_t integer_dot;
  uint32_t wrong_int8; /* so many kernels of int8, best first, count as wrong */
  bool truncates;      /* what kernels round to fp16 is rounded toward zero */
  /* Dispatches have no workgroups: a run costs what the host and the driver take, and computes
   * nothing. */
  bool null_dispatch;
  /* the rate of cooperative matrices in percent of fp32's, instead of a measurement; also makes a
   * software device choose by it. 0: measured */
  uint32_t matrix_percent;
  /* Pipelines keep the statistics and the disassembly of the driver's compiler
   * (VK_KHR_pipeline_executable_properties); UNSUPPORTED where it keeps none. */
  bool statistics;
} heed_vulkan_test;

#endif
