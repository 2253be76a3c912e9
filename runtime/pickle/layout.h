/* Where the elements of a tensor lie in its storage. */
#ifndef HEED_PICKLE_LAYOUT_H
#define HEED_PICKLE_LAYOUT_H

#include "pickle/calls.h"

#define HEED_PICKLE_MAX_RANK 16u

typedef struct heed_layout {
  const heed_pickle_dtype *dtype;
  heed_pickle_id storage;
  uint32_t rank;
  uint64_t size[HEED_PICKLE_MAX_RANK], stride[HEED_PICKLE_MAX_RANK]; /* elements */
  uint64_t offset; /* elements of dtype, from the storage's start */
  uint64_t count;  /* elements */
  uint64_t span;   /* from the first to the last one in the storage, both included */
  bool dense;      /* in row order, side by side */
} heed_layout;

/* Reads the arguments of a TENSOR: no two elements lie at one place, and all are inside of the
 * storage. `name` is the tensor's. Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_layout_read(const heed_pickle_heap *heap, heed_pickle_id tensor, const char *name,
                             heed_layout *layout, heed_error *error);

#endif
