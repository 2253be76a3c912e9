/* See folder.h. */
#include "fuzz/folder.h"

#include <stdlib.h>
#include <string.h>

#define MOST_DATA ((size_t)1 << 20)

uint32_t fuzz_find_files(const uint8_t *data, size_t size, fuzz_file files[FUZZ_MOST_FILES]) {
  uint32_t count = 0;
  for (size_t at = 0; at < size && count < FUZZ_MOST_FILES; count++) {
    fuzz_file *file = &files[count];
    const size_t length = data[at];
    if (size - at < length + 4) break;
    memcpy(file->name, data + at + 1, length);
    file->name[length] = '\0';
    file->start = at;
    at += 1 + length;
    file->size = data[at] | (size_t)data[at + 1] << 8 | (size_t)data[at + 2] << 16;
    file->content = data + at + 3;
    if (file->size > size - at - 3) break;
    at += 3 + file->size;
    file->end = at;
  }
  return count;
}

bool fuzz_make_weights(const fuzz_file *file, test_bytes *made) {
  static const char end[] = ".safetensors";
  const size_t length = strlen(file->name), size = file->size;
  if (length < sizeof end - 1 || strcmp(file->name + length - (sizeof end - 1), end) != 0)
    return false;
  const uint64_t wanted = fuzz_promised_data(file->content, size);
  const size_t data = wanted < MOST_DATA ? (size_t)wanted : MOST_DATA;
  *made = (test_bytes){malloc(8 + size + data), 8 + size + data};
  if (!made->data) abort();
  for (uint32_t i = 0; i < 8; i++) made->data[i] = (uint8_t)((uint64_t)size >> 8 * i);
  memcpy(made->data + 8, file->content, size);
  memset(made->data + 8 + size, 0x3C, data);
  return true;
}

void fuzz_change_folder(fuzz_input *input, test_random *random, const char *const *names,
                        const char *const *words) {
  fuzz_file files[FUZZ_MOST_FILES];
  const uint32_t count = fuzz_find_files(input->bytes, input->size, files);
  uint8_t head[260];
  uint32_t name_count = 0;
  if (count == 0) {
    fuzz_change_bytes(input, random);
    return;
  }
  while (names[name_count]) name_count++;
  const fuzz_file *file = &files[test_random_below(random, count)];
  fuzz_input content = fuzz_part(file->content, file->size, input->room);
  const char *name = file->name;
  switch (test_random_below(random, 24)) {
    case 0: name = names[test_random_below(random, name_count)]; break;
    case 1: content.size = 0; break;
    case 2: fuzz_change_bytes(&content, random); break;
    default:
      if (content.size && strchr("{[", content.bytes[0]) && content.bytes[0])
        fuzz_change_json(&content, random, words);
      else
        fuzz_change_lines(&content, random);
  }
  const size_t start = file->start, size = fuzz_begin_file(head, name, content.size);
  if (input->size - (file->end - start) + size + content.size <= input->room) {
    fuzz_put(input, start, file->end - start, head, size);
    fuzz_put(input, start + size, 0, content.bytes, content.size);
  }
  free(content.bytes);
}
