/* The equation of an Einsum, read once for its inputs' shapes. */
#ifndef HEED_ONNX_EVALUATE_EINSUM_H
#define HEED_ONNX_EVALUATE_EINSUM_H

#include "onnx/evaluate/evaluate.h"

#define HEED_ONNX_EINSUM_INPUTS 8
#define HEED_ONNX_EINSUM_LABELS 16

typedef struct heed_onnx_einsum {
  uint32_t inputs, labels, outputs; /* the labels of the output come first, in its order */
  uint64_t size[HEED_ONNX_EINSUM_LABELS];
  uint32_t rank[HEED_ONNX_EINSUM_INPUTS];
  uint8_t label[HEED_ONNX_EINSUM_INPUTS][HEED_ONNX_MAX_RANK]; /* of each axis */
} heed_onnx_einsum;

/* dims: of each input, rank long. Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_onnx_read_einsum(heed_onnx_call *call, uint32_t inputs, const uint32_t *rank,
                                  const uint64_t *const *dims, heed_onnx_einsum *e);

#endif
