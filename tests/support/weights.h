/* Files of weights made in memory for tests. */
#ifndef HEED_TESTS_SUPPORT_WEIGHTS_H
#define HEED_TESTS_SUPPORT_WEIGHTS_H

#include "heed/heed.h"

typedef struct test_bytes {
  unsigned char *data; /* malloc'ed */
  size_t size;
} test_bytes;

/* A safetensors file of this header and `data_size` bytes 0, 1, 2, ... after it. */
test_bytes test_safetensors(const char *header, size_t data_size);
/* A sink for heed_safetensors_write: appends to the test_bytes that user is. */
heed_status test_bytes_append(void *user, const void *bytes, size_t count, heed_error *error);

heed_source test_source(const void *bytes, size_t size);
/* The same bytes through the read callback. `bytes` must outlive the source, as a test_bytes. */
heed_source test_callback_source(test_bytes *bytes);

#endif
