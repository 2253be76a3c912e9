/* What a device does at best, timed on it. */
#ifndef HEED_VULKAN_MEASURE_MEASURED_PEAK_H
#define HEED_VULKAN_MEASURE_MEASURED_PEAK_H

#include "vulkan/host/pipeline.h"

heed_status heed_vk_measure_peak(heed_vk_pipelines *pipelines, heed_vulkan_ceiling *ceiling,
                                 heed_error *error);

/* The F32 multiply-adds alone. */
heed_status heed_vk_measure_multiply(heed_vk_pipelines *pipelines, double *gflops,
                                     heed_error *error);
/* The same beside cooperative matrices, in GFLOP/s; the device must have them. */
typedef struct heed_vk_rates {
  double f32, matrix;
} heed_vk_rates;
heed_status heed_vk_measure_rates(heed_vk_pipelines *pipelines, heed_vk_rates *rates,
                                  heed_error *error);

#endif
