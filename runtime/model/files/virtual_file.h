/* A .safetensors file that nobody stored: a header that is made, and tensors that a callback reads.
 * Containers of other makers become one, so that models read .safetensors alone. */
#ifndef HEED_MODEL_FILES_VIRTUAL_FILE_H
#define HEED_MODEL_FILES_VIRTUAL_FILE_H

#include "base/context.h"
#include "heed/model.h"

/* Reads bytes [offset, offset + count) of tensor `index`, in the order in which they were added. */
typedef heed_status (*heed_assembled_read)(void *user, uint32_t index, uint64_t offset, void *to,
                                           size_t count, heed_error *error);

typedef struct heed_assembled {
  const heed_context *context;
  const char *where; /* begins the sentences of errors; borrowed */
  heed_assembled_read read;
  void *user;
  char *header;
  size_t header_size, header_capacity;
  uint64_t *begins; /* of each tensor's bytes; after the last the end */
  size_t begins_capacity;
  uint32_t count, notes;
} heed_assembled;

/* An entry of the metadata, before the first tensor; each key is UTF-8 and comes once. Statuses:
 * OUT_OF_MEMORY. */
heed_status heed_assembled_note(heed_assembled *file, const char *key, const char *text,
                                heed_error *error);
/* A tensor of this name (UTF-8), type of elements ("F32"), shape and size. Statuses: UNSUPPORTED,
 * OUT_OF_MEMORY. */
heed_status heed_assembled_add(heed_assembled *file, const char *name, const char *dtype,
                               uint32_t rank, const uint64_t *sizes, uint64_t bytes,
                               heed_error *error);
/* After the last tensor. Statuses: OUT_OF_MEMORY. */
heed_status heed_assembled_finish(heed_assembled *file, heed_error *error);
/* Valid as long as the finished file, which must stay where it is. */
heed_source heed_assembled_source(heed_assembled *file);
void heed_assembled_free(heed_assembled *file);

#endif
