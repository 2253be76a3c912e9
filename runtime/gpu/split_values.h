/* Values larger than one binding may be: their node is built once for each of some pieces along
 * leading axes, as if a piece were all there is. Inside a piece heed_gpu_shape, heed_gpu_read and
 * heed_gpu_write speak of the piece. */
#ifndef HEED_GPU_SPLIT_VALUES_H
#define HEED_GPU_SPLIT_VALUES_H

#include "gpu/builder.h"
#include "gpu/op.h"

/* Builds the node whole where everything fits a binding or the op has nothing to split along, in
 * pieces otherwise. */
void heed_gpu_split_build(heed_gpu_builder *builder, const heed_node *node);

/* What ops can be split along: axis 0 of output 0; all but the last of its axes; all of them. */
heed_gpu_split_axes heed_gpu_split_batch(const heed_gpu_builder *builder, const heed_node *node);
heed_gpu_split_axes heed_gpu_split_rows(const heed_gpu_builder *builder, const heed_node *node);
heed_gpu_split_axes heed_gpu_split_elements(const heed_gpu_builder *builder, const heed_node *node);

/* Bytes of a value that can be bound, wherever it begins. */
static inline uint64_t heed_gpu_split_room(const heed_gpu_limits *limits) {
  return limits->range > limits->alignment ? limits->range - limits->alignment : 0;
}

#endif
