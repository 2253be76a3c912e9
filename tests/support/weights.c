/* Files of weights made in memory for tests. */
#include "support/weights.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

heed_status test_bytes_append(void *user, const void *bytes, size_t count, heed_error *error) {
  test_bytes *to = user;
  (void)error;
  unsigned char *grown = realloc(to->data, to->size + count + 1);
  if (!grown) return HEED_OUT_OF_MEMORY;
  if (count) memcpy(grown + to->size, bytes, count);
  to->data = grown;
  to->size += count;
  return HEED_OK;
}

test_bytes test_safetensors(const char *header, size_t data_size) {
  const size_t length = strlen(header);
  test_bytes file = {malloc(8 + length + data_size + 1), 8 + length + data_size};
  assert_non_null(file.data);
  for (size_t i = 0; i < 8; i++) file.data[i] = (unsigned char)((uint64_t)length >> 8 * i);
  memcpy(file.data + 8, header, length);
  for (size_t i = 0; i < data_size; i++) file.data[8 + length + i] = (unsigned char)i;
  return file;
}

heed_source test_source(const void *bytes, size_t size) {
  return (heed_source){.size = size, .bytes = bytes};
}

static heed_status read_bytes(void *user, uint64_t offset, void *to, size_t count,
                              heed_error *error) {
  const test_bytes *from = user;
  (void)error;
  if (offset > from->size || count > from->size - offset)
    fail_msg("the callback was asked past the end");
  memcpy(to, from->data + offset, count);
  return HEED_OK;
}

heed_source test_callback_source(test_bytes *bytes) {
  return (heed_source){.size = bytes->size, .read = read_bytes, .user = bytes};
}
