/* Tensors out, in the format that a name's ending says. */
#ifndef HEED_NATIVE_FILES_TENSOR_WRITE_H
#define HEED_NATIVE_FILES_TENSOR_WRITE_H

#include <stdio.h>

#include "heed/native.h"
#include "model/files/safetensors.h"

/* A text for each row. */
typedef struct heed_text_column {
  const char *name;
  const char *const *texts;
  uint32_t count;
} heed_text_column;

/* What a file has. Texts are arrays of NumPy's; in .safetensors, which has numbers alone, each
 * column is a list in JSON among the metadata. */
typedef struct heed_tensor_contents {
  const heed_safetensors_item *items;
  const heed_metadata_entry *metadata;
  const heed_text_column *columns;
  uint32_t count, metadata_count, column_count;
} heed_tensor_contents;

/* Writes them one byte after another. `name` begins sentences. Statuses: INVALID_ARGUMENT (.npy of
 * more than one tensor, a name twice, a text that is not UTF-8), UNSUPPORTED (BF16 as NumPy's), IO,
 * OUT_OF_MEMORY. */
heed_status heed_tensor_contents_write(heed_context *context, const heed_tensor_contents *contents,
                                       FILE *to, const char *name, heed_error *error);

#endif
