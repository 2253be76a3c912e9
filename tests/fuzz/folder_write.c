/* Of folder.h what writes: record.c has it without the changes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/folder.h"

size_t fuzz_begin_file(uint8_t *to, const char *name, size_t size) {
  const size_t length = strlen(name);
  to[0] = (uint8_t)length;
  memcpy(to + 1, name, length);
  for (uint32_t i = 0; i < 3; i++) to[1 + length + i] = (uint8_t)(size >> 8 * i);
  return length + 4;
}

void fuzz_append_file(test_bytes *to, const char *name, const void *content, size_t size) {
  to->data = realloc(to->data, to->size + 260 + size);
  if (!to->data) abort();
  to->size += fuzz_begin_file(to->data + to->size, name, size);
  if (size) memcpy(to->data + to->size, content, size);
  to->size += size;
}
