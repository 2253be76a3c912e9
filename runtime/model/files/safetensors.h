/* One safetensors file: its table of tensors, its metadata, reading ranges, and writing a file.
 *
 * Layout (huggingface/safetensors, README): u64 N little endian, N bytes of JSON, then data;
 * offsets count from the data's start. The reader refuses what the reference refuses (overlap,
 * hole, trailing bytes, overflow, unknown dtypes ...), and also what the format forbids though the
 * reference lets it pass: keys that occur twice. It reads nothing but the header until asked. */
#ifndef HEED_MODEL_FILES_SAFETENSORS_H
#define HEED_MODEL_FILES_SAFETENSORS_H

#include "base/context.h"
#include "heed/model.h"

#define HEED_SAFETENSORS_MAX_HEADER 100000000u

typedef struct heed_safetensors_tensor {
  const char *name;        /* all strings are valid as long as the file */
  const char *dtype_name;  /* as in the file: "F32", "I64", ... */
  const char *unsupported; /* NULL, or why heed cannot read it: then dtype says nothing */
  bool shaped;             /* whether heed can hold the shape, which is all 0 otherwise */
  heed_dtype dtype;        /* F64 is read as F32 */
  heed_shape shape;
  uint64_t offset; /* in the file */
  uint64_t bytes;
  uint64_t count; /* elements */
} heed_safetensors_tensor;

typedef struct heed_safetensors heed_safetensors;

/* Reads and checks the header. Copies `name` (of the file, for sentences); borrows what source
 * points to. Statuses: INVALID_FILE, UNSUPPORTED, IO, OUT_OF_MEMORY. */
heed_status heed_safetensors_open(const heed_context *context, const heed_source *source,
                                  const char *name, heed_safetensors **file, heed_error *error);
void heed_safetensors_destroy(heed_safetensors *file);

const char *heed_safetensors_name(const heed_safetensors *file);
/* Tensors in the order of their data. */
uint32_t heed_safetensors_count(const heed_safetensors *file);
const heed_safetensors_tensor *heed_safetensors_get(const heed_safetensors *file, uint32_t index);
/* The tensor of this name, or NULL. */
const heed_safetensors_tensor *heed_safetensors_find(const heed_safetensors *file,
                                                     const char *name);
/* The metadata entry of this key, or NULL. */
const char *heed_safetensors_metadata(const heed_safetensors *file, const char *key);

/* The entry of this index; false after the last. */
bool heed_safetensors_metadata_at(const heed_safetensors *file, uint32_t index, const char **key,
                                  const char **text);

/* Reads elements [first, first + count): F32, F64, F16 and BF16 as float, U8, I8 and I32 as they
 * are.
 * Allocates nothing; may be called from several threads when the source may. Statuses:
 * INVALID_ARGUMENT, UNSUPPORTED, IO. */
heed_status heed_safetensors_read(const heed_safetensors *file,
                                  const heed_safetensors_tensor *tensor, uint64_t first,
                                  uint64_t count, void *to, heed_error *error);

/* Takes the next bytes of the file. */
typedef heed_status (*heed_safetensors_sink)(void *user, const void *bytes, size_t count,
                                             heed_error *error);

typedef struct heed_safetensors_item {
  const char *name;
  heed_dtype dtype;
  heed_shape shape;
  const void *data; /* dense; may be NULL when there is no element, or where `produce` is there */
  /* Gives exactly the tensor's bytes to the sink, piece by piece. */
  heed_status (*produce)(void *user, heed_safetensors_sink sink, void *sink_user,
                         heed_error *error);
  void *user;
} heed_safetensors_item;

typedef struct heed_safetensors_pair {
  const char *key, *text;
} heed_safetensors_pair;

/* Writes a whole file, tensors ordered as the reference writer does it: widest dtype first, then by
 * name; metadata as given. Statuses: INVALID_ARGUMENT (names twice, not UTF-8), OUT_OF_MEMORY, what
 * the sink returns. */
heed_status heed_safetensors_write(const heed_context *context, const heed_safetensors_item *items,
                                   uint32_t count, const heed_safetensors_pair *metadata,
                                   uint32_t metadata_count, heed_safetensors_sink sink, void *user,
                                   heed_error *error);

#endif
