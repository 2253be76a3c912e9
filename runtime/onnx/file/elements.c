/* Elements of tensors. See file.h. */
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/files/source.h"
#include "onnx/file/array.h"
#include "onnx/file/file.h"

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

/* One element; of less than 8 bits the lowest are the first. */
static float float_at(uint32_t type, const unsigned char *bytes, uint64_t index) {
  const uint32_t bits = heed_onnx_type_bits(type);
  const unsigned char *at = bytes + index * bits / 8,
                      packed = (unsigned char)(*at >> index * bits % 8);
  heed_onnx_cell cell;
  heed_onnx_cell_read(type, bits < 8 ? &packed : at, &cell);
  return heed_onnx_is_float(type) ? (float)cell.f : (float)cell.i;
}

/* Pieces of whole bytes: of less than 8 bits, several elements. */
heed_status heed_onnx_read_floats(const heed_onnx *file, const heed_onnx_tensor *tensor,
                                  uint64_t first, uint64_t count, float *to, heed_error *error) {
  const uint32_t bits = heed_onnx_type_bits(tensor->type);
  unsigned char bytes[CHUNK_BYTES];
  HEED_ASSERT(bits > 0 && first <= tensor->count && count <= tensor->count - first);
  if (tensor->type == HEED_ONNX_FLOAT) /* little endian there and here: model/files/safetensors.c */
    return heed_onnx_read_bytes(file, tensor, first * sizeof *to, to, (size_t)count * sizeof *to,
                                error);
  for (uint64_t done = 0; done < count;) {
    const uint64_t at = first + done, lead = bits < 8 ? at % (8 / bits) : 0,
                   begin = (at - lead) * bits / 8;
    const uint64_t most = CHUNK_BYTES * 8u / bits - lead,
                   here = count - done < most ? count - done : most;
    const uint64_t size = ((lead + here) * bits + 7) / 8;
    HEED_TRY(heed_onnx_read_bytes(file, tensor, begin, bytes, (size_t)size, error));
    for (uint64_t i = 0; i < here; i++) to[done + i] = float_at(tensor->type, bytes, lead + i);
    done += here;
  }
  return HEED_OK;
}
