/* Elements of tensors. See file.h. */
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/source.h"
#include "onnx/file.h"

#define CHUNK_BYTES 4096u

static const heed_source *source_of(const heed_onnx *file, const heed_onnx_tensor *tensor) {
  if (!tensor->location) return &file->source;
  for (uint32_t i = 0; i < file->external_count; i++)
    if (strcmp(file->externals[i].location, tensor->location) == 0)
      return &file->externals[i].source;
  return NULL;
}

heed_status heed_onnx_read_bytes(const heed_onnx *file, const heed_onnx_tensor *tensor,
                                 uint64_t offset, void *to, size_t count, heed_error *error) {
  const heed_source *source = source_of(file, tensor);
  if (count == 0) return HEED_OK;
  if (tensor->bytes_here) {
    memcpy(to, tensor->bytes_here + offset, count);
    return HEED_OK;
  }
  if (!source) /* of a tensor in a node: only those of initializers are opened */
    return heed_fail(error, HEED_INVALID_FILE, "%s: tensor %.*s: its data is not there", file->name,
                     HEED_CUT(tensor->name));
  return heed_source_read(source, tensor->location ? tensor->location : file->name,
                          tensor->offset + offset, to, count, error);
}

static uint64_t little(const unsigned char *bytes, uint32_t count) {
  uint64_t number = 0;
  while (count-- > 0) number = number << 8 | bytes[count];
  return number;
}

/* One element at `bytes`; those of 4 bits are the low half first. */
static int64_t integer_at(uint32_t type, const unsigned char *bytes, uint64_t index) {
  const uint32_t bits = heed_onnx_type_bits(type);
  if (bits == 4) {
    const uint32_t nibble = bytes[index / 2] >> (index % 2 * 4) & 15;
    return type == HEED_ONNX_INT4 && nibble > 7 ? (int64_t)nibble - 16 : (int64_t)nibble;
  }
  const uint64_t raw = little(bytes + index * (bits / 8), bits / 8);
  switch (type) {
    case HEED_ONNX_INT8: return (int8_t)(uint8_t)raw;
    case HEED_ONNX_INT16: return (int16_t)(uint16_t)raw;
    case HEED_ONNX_INT32: return (int32_t)(uint32_t)raw;
    default: return (int64_t)raw;
  }
}

static double double_at(const unsigned char *bytes) {
  const uint64_t bits = little(bytes, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static float float_at(uint32_t type, const unsigned char *bytes, uint64_t index) {
  const uint32_t size = heed_onnx_type_bits(type) / 8;
  float value;
  switch (type) {
    case HEED_ONNX_FLOAT: {
      const uint32_t bits = (uint32_t)little(bytes + index * size, 4);
      memcpy(&value, &bits, sizeof value);
      return value;
    }
    case HEED_ONNX_FLOAT16: return heed_f16_to_f32((uint16_t)little(bytes + index * 2, 2));
    case HEED_ONNX_BFLOAT16: return heed_bf16_to_f32((uint16_t)little(bytes + index * 2, 2));
    case HEED_ONNX_DOUBLE: return (float)double_at(bytes + index * 8);
    default: return (float)integer_at(type, bytes, index);
  }
}

/* Pieces of whole bytes: of 4 bits, an even number of elements. */
heed_status heed_onnx_read_floats(const heed_onnx *file, const heed_onnx_tensor *tensor,
                                  uint64_t first, uint64_t count, float *to, heed_error *error) {
  const uint32_t bits = heed_onnx_type_bits(tensor->type);
  unsigned char bytes[CHUNK_BYTES];
  HEED_ASSERT(bits > 0 && first <= tensor->count && count <= tensor->count - first);
  for (uint64_t done = 0; done < count;) {
    const uint64_t at = first + done, lead = bits == 4 ? at % 2 : 0, begin = (at - lead) * bits / 8;
    const uint64_t most = CHUNK_BYTES * 8u / bits - lead,
                   here = count - done < most ? count - done : most;
    const uint64_t size = ((lead + here) * bits + 7) / 8;
    HEED_TRY(heed_onnx_read_bytes(file, tensor, begin, bytes, (size_t)size, error));
    for (uint64_t i = 0; i < here; i++) to[done + i] = float_at(tensor->type, bytes, lead + i);
    done += here;
  }
  return HEED_OK;
}
