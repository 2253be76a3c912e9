/* Constants from the graph to a GPU host, packed as the kernels read them. */
#ifndef HEED_GPU_WEIGHT_UPLOAD_H
#define HEED_GPU_WEIGHT_UPLOAD_H

#include "base/hooks.h"
#include "gpu/builder.h"

/* Copies bytes into a weight block of the host, whose place they fit. `from` is borrowed for the
 * call. */
typedef heed_status heed_gpu_put(void *user, uint32_t block, uint64_t offset, const void *from,
                                 size_t bytes, heed_error *error);

/* Hands over every weight of the builder, in pieces of bounded size. hooks: phase "read", bytes of
 * the graph's constants; may be NULL. Statuses: OUT_OF_MEMORY, CANCELLED, those of the reader, of
 * packing (gpu/weight_packing.h) and of put. */
heed_status heed_gpu_upload(const heed_gpu_builder *builder, const heed_hooks *hooks,
                            heed_gpu_put *put, void *user, heed_error *error);

#endif
