/* The desc structs of callers, which may have been compiled with an older or a newer heed.h. */
#ifndef HEED_BASE_DESC_H
#define HEED_BASE_DESC_H

#include "heed/base.h"

/* The largest struct_size that is read. It bounds what a struct_size that was never set can make
 * heed read. */
#define HEED_DESC_LARGEST 1024

/* Copies a caller's desc into `full`, a desc of `size` bytes, and sets full's struct_size to
 * `size`.
 * An older caller's desc is shorter: the fields that it lacks become 0, which means default.
 * A newer caller's desc is longer: it is accepted when the bytes past `size` are 0, since heed does
 * not know what else they mean. struct_size must be a multiple of sizeof(size_t), as the size of
 * every desc struct is. `where` names the call in the sentence. Statuses: INVALID_ARGUMENT (desc is
 * NULL, or struct_size is not as above). */
heed_status heed_desc_read(void *full, size_t size, const void *desc, const char *where,
                           heed_error *error);

#endif
