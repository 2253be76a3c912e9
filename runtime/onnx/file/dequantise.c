/* Weights of an ONNX file as models know them. See file.h. A quantised one is w = (q - zero)
 * scale, computed in float. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "onnx/file/file.h"

#define CHUNK 256u /* elements */
#define LINE 16u

static heed_status refuse(const heed_onnx *file, const heed_onnx_weight *weight, const char *why,
                          heed_error *error) {
  return heed_fail(error, HEED_INVALID_FILE, "%s: weight %.*s: %s", file->name,
                   HEED_CUT(weight->name), why);
}

bool heed_onnx_weight_is_plain(const heed_onnx_weight *weight) {
  return !weight->scale && !weight->turned;
}

/* ----------------------------------------------------------------------------------- preparing */

static heed_status read_list(heed_onnx *file, const heed_onnx_tensor *tensor, float **list,
                             heed_error *error) {
  *list = heed_onnx_take(&file->arena, tensor->count, sizeof **list);
  if (!*list) return heed_fail_memory(error, file->name, (size_t)tensor->count * sizeof **list);
  return heed_onnx_read_floats(file, tensor, 0, tensor->count, *list, error);
}

/* Whether there is one for each index of the axis, and along no other axis. */
static bool is_along(const heed_onnx_tensor *scale, const heed_onnx_weight *weight) {
  const heed_onnx_tensor *data = weight->data;
  if (weight->axis >= data->rank || scale->count != data->dims[weight->axis]) return false;
  for (uint32_t i = 0; i < scale->rank; i++)
    if (scale->dims[i] != 1 && scale->dims[i] != scale->count) return false;
  return true;
}

/* One scale, or one for each index of the axis. */
static heed_status prepare_scales(heed_onnx *file, heed_onnx_weight *weight, heed_error *error) {
  weight->scale_count = weight->scale->count;
  if (weight->scale_count != 1 && !is_along(weight->scale, weight))
    return refuse(file, weight, "scales of another number than its axis", error);
  if (weight->zero && weight->zero->count != weight->scale_count)
    return refuse(file, weight, "zero points of another number than its scales", error);
  HEED_TRY(read_list(file, weight->scale, &weight->scales, error));
  return weight->zero ? read_list(file, weight->zero, &weight->zeros, error) : HEED_OK;
}

static uint64_t blocks_of(const heed_onnx_weight *weight) {
  return weight->dims[1] / weight->block + (weight->dims[1] % weight->block != 0);
}

/* Zero points of blocks are packed as the elements are, each row of blocks from a whole byte on. */
static heed_status prepare_block_zeros(heed_onnx *file, heed_onnx_weight *weight, uint64_t blocks,
                                       heed_error *error) {
  const uint64_t row = (blocks * weight->bits + 7) / 8, rows = weight->dims[0];
  const uint32_t mask = (1u << weight->bits) - 1;
  if (weight->zero->type != HEED_ONNX_UINT8) {
    if (weight->zero->count != weight->scale_count)
      return refuse(file, weight, "zero points of another number than its blocks", error);
    return read_list(file, weight->zero, &weight->zeros, error);
  }
  float *packed;
  if (weight->zero->count != rows * row)
    return refuse(file, weight, "zero points of another number than its blocks", error);
  HEED_TRY(read_list(file, weight->zero, &packed, error));
  weight->zeros = heed_onnx_take(&file->arena, weight->scale_count, sizeof *weight->zeros);
  if (!weight->zeros) return heed_fail_memory(error, file->name, (size_t)weight->scale_count);
  for (uint64_t n = 0; n < rows; n++)
    for (uint64_t b = 0; b < blocks; b++) {
      const uint32_t byte = (uint32_t)packed[n * row + b * weight->bits / 8];
      weight->zeros[n * blocks + b] = (float)(byte >> (b * weight->bits % 8) & mask);
    }
  return HEED_OK;
}

static heed_status prepare_blocks(heed_onnx *file, heed_onnx_weight *weight, heed_error *error) {
  uint64_t elements, count;
  const uint64_t blocks = blocks_of(weight);
  if (!heed_u64_mul(weight->dims[0], blocks, &count) ||
      !heed_u64_mul(count, (uint64_t)weight->block * weight->bits / 8, &elements) ||
      weight->data->type != HEED_ONNX_UINT8 || elements != weight->data->count ||
      count != weight->scale->count)
    return refuse(file, weight, "blocks of another number than its rows and columns", error);
  weight->scale_count = count;
  HEED_TRY(read_list(file, weight->scale, &weight->scales, error));
  return weight->zero ? prepare_block_zeros(file, weight, blocks, error) : HEED_OK;
}

heed_status heed_onnx_weight_prepare(heed_onnx *file, heed_onnx_weight *weight, heed_error *error) {
  const heed_onnx_tensor *data = weight->data;
  if (weight->bits) return prepare_blocks(file, weight, error);
  weight->rank = data->rank;
  memcpy(weight->dims, data->dims, sizeof weight->dims);
  if (weight->turned) {
    if (data->rank != 2) return refuse(file, weight, "a factor of more than two axes", error);
    weight->dims[0] = data->dims[1];
    weight->dims[1] = data->dims[0];
  }
  return weight->scale ? prepare_scales(file, weight, error) : HEED_OK;
}

uint64_t heed_onnx_weight_bytes(const heed_onnx_weight *weight) {
  if (heed_onnx_weight_is_plain(weight)) return weight->data->bytes;
  return weight->bits ? weight->dims[0] * weight->dims[1] * sizeof(float)
                      : weight->data->count * sizeof(float);
}

/* ------------------------------------------------------------------------------------- reading */

/* Stored elements [first, first + count) as floats. */
static heed_status read_run(const heed_onnx *file, const heed_onnx_weight *weight, uint64_t first,
                            uint32_t count, float *to, heed_error *error) {
  uint64_t inner = 1;
  HEED_TRY(heed_onnx_read_floats(file, weight->data, first, count, to, error));
  if (!weight->scale) return HEED_OK;
  const uint64_t scales = weight->scale_count;
  for (uint32_t i = weight->axis + 1; scales > 1 && i < weight->data->rank; i++)
    inner *= weight->data->dims[i];
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t at = scales > 1 ? (first + i) / inner % scales : 0;
    to[i] = (to[i] - (weight->zeros ? weight->zeros[at] : 0.0f)) * weight->scales[at];
  }
  return HEED_OK;
}

/* Elements [first, first + count) of a matrix [out, in] in blocks. */
static heed_status read_blocks(const heed_onnx *file, const heed_onnx_weight *weight,
                               uint64_t first, uint64_t count, unsigned char *to,
                               heed_error *error) {
  const uint64_t depth = weight->dims[1], blocks = blocks_of(weight);
  const uint32_t bits = weight->bits, mask = (1u << bits) - 1;
  unsigned char bytes[CHUNK];
  for (uint64_t done = 0; done < count;) {
    const uint64_t n = (first + done) / depth, k = (first + done) % depth, b = k / weight->block,
                   in = k % weight->block, lead = in * bits % 8;
    uint64_t here = weight->block - in;
    if (here > depth - k) here = depth - k;
    if (here > count - done) here = count - done;
    if (here > CHUNK) here = CHUNK;
    const uint64_t begin = ((n * blocks + b) * weight->block + in) * bits / 8,
                   size = (lead + here * bits + 7) / 8;
    HEED_TRY(heed_onnx_read_bytes(file, weight->data, begin, bytes, (size_t)size, error));
    const float scale = weight->scales[n * blocks + b],
                zero = weight->zeros ? weight->zeros[n * blocks + b] : (float)(1u << (bits - 1));
    for (uint64_t i = 0; i < here; i++) {
      const uint64_t bit = lead + i * bits;
      const float value = ((float)((uint32_t)bytes[bit / 8] >> bit % 8 & mask) - zero) * scale;
      memcpy(to + (done + i) * sizeof value, &value, sizeof value);
    }
    done += here;
  }
  return HEED_OK;
}

/* Part of one row of a turned matrix, of what lies in [first, first + count). */
static void put_run(uint64_t at, const float *from, uint64_t size, uint64_t first, uint64_t count,
                    unsigned char *to) {
  const uint64_t end = at + size < first + count ? at + size : first + count;
  if (at < first) {
    if (first - at >= size) return;
    from += first - at;
    at = first;
  }
  if (at < end) memcpy(to + (at - first) * sizeof *from, from, (size_t)(end - at) * sizeof *from);
}

/* Rows of a turned matrix are columns of the stored one: each stored row gives a run of them, and
 * LINE stored rows a cache line of each. */
static heed_status read_turned(const heed_onnx *file, const heed_onnx_weight *weight,
                               uint64_t first, uint64_t count, unsigned char *to,
                               heed_error *error) {
  const uint64_t depth = weight->dims[1], rows = weight->dims[0], begin = first / depth,
                 end = (first + count - 1) / depth + 1;
  float runs[LINE][CHUNK], line[LINE];
  for (uint64_t k = 0; k < depth; k += LINE)
    for (uint64_t n = begin; n < end; n += CHUNK) {
      const uint32_t here = end - n < CHUNK ? (uint32_t)(end - n) : CHUNK,
                     deep = depth - k < LINE ? (uint32_t)(depth - k) : LINE;
      for (uint32_t j = 0; j < deep; j++)
        HEED_TRY(read_run(file, weight, (k + j) * rows + n, here, runs[j], error));
      for (uint32_t i = 0; i < here; i++) {
        for (uint32_t j = 0; j < deep; j++) line[j] = runs[j][i];
        put_run((n + i) * depth + k, line, deep, first, count, to);
      }
    }
  return HEED_OK;
}

static heed_status read_floats(const heed_onnx *file, const heed_onnx_weight *weight,
                               uint64_t first, uint64_t count, unsigned char *to,
                               heed_error *error) {
  float run[CHUNK];
  if (weight->bits) return read_blocks(file, weight, first, count, to, error);
  if (weight->turned) return read_turned(file, weight, first, count, to, error);
  for (uint64_t done = 0; done < count;) {
    const uint32_t here = count - done < CHUNK ? (uint32_t)(count - done) : CHUNK;
    HEED_TRY(read_run(file, weight, first + done, here, run, error));
    memcpy(to + done * sizeof *run, run, here * sizeof *run);
    done += here;
  }
  return HEED_OK;
}

/* A part of one element. */
static heed_status read_part(const heed_onnx *file, const heed_onnx_weight *weight, uint64_t offset,
                             unsigned char *to, size_t count, heed_error *error) {
  unsigned char element[sizeof(float)];
  HEED_TRY(read_floats(file, weight, offset / sizeof element, 1, element, error));
  memcpy(to, element + offset % sizeof element, count);
  return HEED_OK;
}

heed_status heed_onnx_weight_read(const heed_onnx *file, const heed_onnx_weight *weight,
                                  uint64_t offset, void *to, size_t count, heed_error *error) {
  const size_t size = sizeof(float);
  unsigned char *at = to;
  if (heed_onnx_weight_is_plain(weight))
    return heed_onnx_read_bytes(file, weight->data, offset, to, count, error);
  while (count > 0) {
    const size_t lead = (size_t)(offset % size), room = size - lead;
    size_t part = count < room ? count : room;
    if (lead || count < size) {
      HEED_TRY(read_part(file, weight, offset, at, part, error));
    } else {
      part = count / size * size;
      HEED_TRY(read_floats(file, weight, offset / size, part / size, at, error));
    }
    at += part;
    offset += part;
    count -= part;
  }
  return HEED_OK;
}

heed_status heed_onnx_weight_floats(const heed_onnx *file, const heed_onnx_weight *weight,
                                    uint64_t first, uint64_t count, float *to, heed_error *error) {
  return heed_onnx_weight_is_plain(weight)
             ? heed_onnx_read_floats(file, weight->data, first, count, to, error)
             : read_floats(file, weight, first, count, (unsigned char *)to, error);
}
