/* NumPy's files. .npy holds one array; .npz is a zip of them, stored and not deflated: floats
 * hardly become smaller, and np.savez does the same. */
#ifndef HEED_NATIVE_FILES_ARRAYS_H
#define HEED_NATIVE_FILES_ARRAYS_H

#include "model/files/safetensors.h"

/* An array to be written. */
typedef struct heed_array {
  heed_safetensors_item item;
  const char *dtype; /* NULL, or what .safetensors calls a type that heed has not: "I64" */
  /* The item is texts: I32 [.., width], a code point an element, zeros behind each text. The array
   * has the shape before the last dimension. */
  bool texts;
} heed_array;

/* Texts as such an array of `count`, or of none where `alone` is set; what is not UTF-8 becomes
 * U+FFFD. Its data is the context's memory. Statuses: OUT_OF_MEMORY. */
heed_status heed_array_texts(const heed_context *context, const char *name,
                             const char *const *texts, uint32_t count, bool alone,
                             heed_array *array, heed_error *error);

/* One array as .npy. Statuses: UNSUPPORTED (BF16 and others that NumPy has not), what the sink and
 * the array return. */
heed_status heed_npy_write(const heed_array *array, heed_safetensors_sink sink, void *user,
                           heed_error *error);
/* All of them as .npz, in their order; each gives its bytes twice, once for the check sum. Beyond 4
 * GiB as zip64. Statuses: those of heed_npy_write, OUT_OF_MEMORY. */
heed_status heed_npz_write(const heed_context *context, const heed_array *arrays, uint32_t count,
                           heed_safetensors_sink sink, void *user, heed_error *error);

#endif
