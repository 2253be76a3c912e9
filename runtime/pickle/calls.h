/* What PyTorch's pickles mean by the names that they call: tensors, parameters, dictionaries.
 * Everything else becomes an object that is never made. */
#ifndef HEED_PICKLE_CALLS_H
#define HEED_PICKLE_CALLS_H

#include "pickle/heap.h"

/* An element type of PyTorch. */
typedef struct heed_pickle_dtype {
  const char *name; /* as in a .safetensors file; NULL for a storage of plain bytes */
  uint32_t bytes;   /* of an element */
} heed_pickle_dtype;
/* The type of a STORAGE, or of a GLOBAL such as torch.bfloat16; NULL when it names none. */
const heed_pickle_dtype *heed_pickle_dtype_of(const heed_pickle_heap *heap, heed_pickle_id id);

/* Whether a TENSOR is one of _rebuild_tensor_v3, whose seventh argument is its element type. */
bool heed_pickle_has_dtype(const heed_pickle_heap *heap, heed_pickle_id tensor);

/* A global, once its text is written: finds what it means. */
void heed_pickle_mean(heed_pickle_heap *heap, heed_pickle_id global);
/* callable(*arguments). Statuses: INVALID_FILE also where the call would run something of the
 * system's, and those of the heap. */
heed_status heed_pickle_call(heed_pickle_heap *heap, heed_pickle_id callable,
                             heed_pickle_id arguments, heed_pickle_id *result, heed_error *error);
/* What a persistent id stands for: a storage, or the class of a module. Statuses: INVALID_FILE,
 * UNSUPPORTED, and those of the heap. */
heed_status heed_pickle_load(heed_pickle_heap *heap, heed_pickle_id persistent,
                             heed_pickle_id *result, heed_error *error);

#endif
