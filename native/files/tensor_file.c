/* Tensor files: .safetensors and PyTorch's, read by range. tensor_write.c writes them. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "files/weight_file.h"
#include "heed/native.h"
#include "model/files/safetensors.h"
#include "model/files/source.h"

struct heed_tensor_file {
  heed_context *context;
  heed_weights weights;
  heed_safetensors *contents;
  heed_source source;        /* of the contents */
  heed_file_tensor *tensors; /* one for each of contents, in its order */
};

/* Whether a tensor is I64, which PyTorch has for ids: read as I32. */
static bool is_i64(const heed_safetensors_tensor *tensor) {
  return strcmp(tensor->dtype_name, "I64") == 0 && tensor->shape.rank > 0;
}

static heed_status list_tensors(heed_tensor_file *file, const char *path, heed_error *error) {
  const uint32_t count = heed_safetensors_count(file->contents);
  file->tensors = heed_alloc(file->context, (size_t)count + 1, sizeof *file->tensors);
  if (!file->tensors)
    return heed_fail_memory(error, path, ((size_t)count + 1) * sizeof *file->tensors);
  for (uint32_t i = 0; i < count; i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(file->contents, i);
    file->tensors[i] =
        (heed_file_tensor){.name = tensor->name,
                           .dtype_name = tensor->dtype_name,
                           .unsupported = is_i64(tensor) ? NULL : tensor->unsupported,
                           .dtype = is_i64(tensor) ? HEED_I32 : tensor->dtype,
                           .shape = tensor->shape,
                           .count = tensor->count};
  }
  return HEED_OK;
}

static heed_status open_file(heed_tensor_file *file, const char *path, const char *expected,
                             heed_error *error) {
  HEED_TRY(
      heed_weights_open(file->context, path, expected, NULL, &file->weights, &file->source, error));
  HEED_TRY(heed_safetensors_open(file->context, &file->source, path, &file->contents, error));
  file->weights.regular.path = heed_safetensors_name(file->contents); /* which is its own */
  return list_tensors(file, path, error);
}

heed_status heed_tensor_file_open(heed_context *context, const char *path, const char *expected,
                                  heed_tensor_file **file, heed_error *error) {
  heed_tensor_file *opened = heed_alloc(context, 1, sizeof *opened);
  *file = NULL;
  if (!opened) return heed_fail_memory(error, path, sizeof *opened);
  opened->context = context;
  opened->weights.regular.descriptor = -1;
  const heed_status status = open_file(opened, path, expected ? expected : ".safetensors", error);
  if (status == HEED_OK)
    *file = opened;
  else
    heed_tensor_file_destroy(opened);
  return status;
}

void heed_tensor_file_destroy(heed_tensor_file *file) {
  if (!file) return;
  heed_free(file->context, file->tensors);
  heed_safetensors_destroy(file->contents);
  heed_weights_close(&file->weights);
  heed_free(file->context, file);
}

uint32_t heed_tensor_file_count(const heed_tensor_file *file) {
  return heed_safetensors_count(file->contents);
}

const heed_file_tensor *heed_tensor_file_get(const heed_tensor_file *file, uint32_t index) {
  return index < heed_tensor_file_count(file) ? &file->tensors[index] : NULL;
}

const heed_file_tensor *heed_tensor_file_find(const heed_tensor_file *file, const char *name) {
  const heed_safetensors_tensor *found = heed_safetensors_find(file->contents, name);
  return found ? &file->tensors[found - heed_safetensors_get(file->contents, 0)] : NULL;
}

const char *heed_tensor_file_metadata(const heed_tensor_file *file, const char *key) {
  return heed_safetensors_metadata(file->contents, key);
}

static int64_t i64_of(const unsigned char *bytes) {
  uint64_t bits = 0;
  int64_t value;
  for (size_t i = 8; i-- > 0;) bits = bits << 8 | bytes[i];
  memcpy(&value, &bits, sizeof value);
  return value;
}

static heed_status read_i64(const heed_tensor_file *file, const heed_safetensors_tensor *tensor,
                            uint64_t first, uint64_t count, int32_t *to, heed_error *error) {
  enum { CHUNK = 512 };
  const char *name = heed_safetensors_name(file->contents);
  unsigned char bytes[8 * CHUNK];
  if (first > tensor->count || count > tensor->count - first)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "%s: tensor %.*s: range out of bounds", name,
                     HEED_CUT(tensor->name));
  for (const uint64_t end = first + count; first < end;) {
    const uint64_t here = end - first < CHUNK ? end - first : CHUNK;
    HEED_TRY(heed_source_read(&file->source, name, tensor->offset + 8 * first, bytes,
                              (size_t)(8 * here), error));
    for (uint64_t i = 0; i < here; i++, first++) {
      const int64_t value = i64_of(bytes + 8 * i);
      if (value < INT32_MIN || value > INT32_MAX)
        return heed_fail(error, HEED_INVALID_FILE,
                         "%s: tensor %.*s: a number is too large (found %lld at index %llu, "
                         "expected 32 bits)",
                         name, HEED_CUT(tensor->name), (long long)value, (unsigned long long)first);
      *to++ = (int32_t)value;
    }
  }
  return HEED_OK;
}

heed_status heed_tensor_file_read(const heed_tensor_file *file, const heed_file_tensor *tensor,
                                  uint64_t first, uint64_t count, void *to, heed_error *error) {
  const heed_safetensors_tensor *stored =
      heed_safetensors_get(file->contents, (uint32_t)(tensor - file->tensors));
  if (is_i64(stored)) return read_i64(file, stored, first, count, to, error);
  return heed_safetensors_read(file->contents, stored, first, count, to, error);
}
