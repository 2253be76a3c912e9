/* Tensors of a .safetensors file in tests/vectors. */
#ifndef HEED_TESTS_SUPPORT_VECTOR_FILE_H
#define HEED_TESTS_SUPPORT_VECTOR_FILE_H

#include <stdlib.h>

#include "model/files/safetensors.h"
#include "support/test.h"

typedef struct vector_file {
  heed_context *context;
  unsigned char *bytes;
  heed_safetensors *file;
} vector_file;

static inline vector_file vector_file_open(const char *name) {
  vector_file opened = {NULL, NULL, NULL};
  heed_error error;
  heed_source source = {0, NULL, NULL, NULL};
  size_t size;
  opened.bytes = test_read_vector(name, &size);
  source.size = size;
  source.bytes = opened.bytes;
  if (heed_context_create(NULL, &opened.context, &error) != HEED_OK ||
      heed_safetensors_open(opened.context, &source, name, &opened.file, &error) != HEED_OK)
    fail_msg("%s: %s", name, error.message);
  return opened;
}

static inline void vector_file_close(vector_file *opened) {
  heed_safetensors_destroy(opened->file);
  heed_context_destroy(opened->context);
  free(opened->bytes);
}

/* The tensor's elements, to be freed; fails the test when it is absent or of another type. */
static inline void *vector_file_read(const vector_file *opened, const char *name, heed_dtype dtype,
                                     heed_shape *shape) {
  heed_error error;
  const heed_safetensors_tensor *tensor = heed_safetensors_find(opened->file, name);
  if (!tensor || tensor->unsupported || tensor->dtype != dtype)
    fail_msg("%s: not there, or not %s", name, heed_dtype_name(dtype));
  void *data = malloc((size_t)tensor->count * heed_dtype_size(dtype));
  if (!data ||
      heed_safetensors_read(opened->file, tensor, 0, tensor->count, data, &error) != HEED_OK)
    fail_msg("%s: cannot be read", name);
  *shape = tensor->shape;
  return data;
}

#endif
