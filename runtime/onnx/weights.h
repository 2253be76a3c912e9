/* A weight as models know it, made of what an ONNX file stores: as it is, turned, or dequantised.
 */
#ifndef HEED_ONNX_WEIGHTS_H
#define HEED_ONNX_WEIGHTS_H

#include "heed/onnx.h"
#include "onnx/message.h"

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

/* Whether its bytes are those of the file. */
bool heed_onnx_weight_is_plain(const heed_onnx_weight *weight);
/* Checks shapes, reads scales and zero points, sets rank and dims. Statuses: INVALID_FILE,
 * UNSUPPORTED, OUT_OF_MEMORY, those of the sources. */
heed_status heed_onnx_weight_prepare(heed_onnx *file, heed_onnx_weight *weight, heed_error *error);
/* Bytes of the weight as heed_onnx_source has it: as stored, or as floats. */
uint64_t heed_onnx_weight_bytes(const heed_onnx_weight *weight);
heed_status heed_onnx_weight_read(const heed_onnx *file, const heed_onnx_weight *weight,
                                  uint64_t offset, void *to, size_t count, heed_error *error);

#endif
