/* A weight as models know it, made of what an ONNX file stores: as it is, turned, or dequantised.
 */
#ifndef HEED_ONNX_FILE_WEIGHTS_H
#define HEED_ONNX_FILE_WEIGHTS_H

#include "onnx/file/message.h"

typedef struct heed_onnx_weight {
  const char *name;
  const heed_onnx_tensor *data, *scale, *zero; /* scale NULL: not quantised; zero NULL: 0 */
  bool turned;                                 /* stored [in, out]; the weight is [out, in] */
  /* MatMulNBits: bits of an element and elements of a block; 0: none. Stored [out, blocks, ...] */
  uint32_t bits, block;
  uint32_t axis; /* of the stored tensor, along which scales differ */
  uint32_t rank; /* of the weight */
  uint64_t dims[HEED_ONNX_MAX_RANK];
  float *scales, *zeros; /* one, or one along the axis; of blocks [out, blocks] */
  uint64_t scale_count;
} heed_onnx_weight;

#endif
