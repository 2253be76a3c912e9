/* Weights of products in the panels that the kernels read. */
#ifndef HEED_GPU_WEIGHT_PACKING_H
#define HEED_GPU_WEIGHT_PACKING_H

#include "gpu/builder.h"

/* Bytes of host memory used while packing; never less than one panel takes. */
#define HEED_GPU_PACK_BYTES ((uint64_t)2 << 20)

/* Host memory that packing takes for a plan: half for rows as the graph has them, half for what is
 * packed. */
uint64_t heed_gpu_pack_bytes(const heed_gpu_builder *builder);
/* from [rows, weight->depth] -> to, one panel as heed_gpu_weight has it, as F32, or as fp16 in the
 * first half of `to`; zeros past `rows` and past the depth. Statuses: UNSUPPORTED (a finite weight
 * that fp16 does not hold). */
heed_status heed_gpu_pack_panel(const heed_gpu_builder *builder, const heed_gpu_weight *weight,
                                uint32_t rows, const float *from, float *to, heed_error *error);
/* The same of a weight in int8. */
void heed_gpu_pack_int8_panel(const heed_gpu_weight *weight, uint32_t rows, const int8_t *from,
                              void *to);

#endif
