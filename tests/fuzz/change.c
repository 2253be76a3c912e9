/* What the changes share, lines and headers of safetensors files. See change.h. */
#include "fuzz/change.h"

#include <stdlib.h>
#include <string.h>

#include "fuzz/header_length.h"

bool fuzz_put(fuzz_input *input, size_t at, size_t count, const void *with, size_t size) {
  if (input->size - count + size > input->room) return false;
  memmove(input->bytes + at + size, input->bytes + at + count, input->size - at - count);
  if (size) memcpy(input->bytes + at, with, size);
  input->size += size - count;
  return true;
}

fuzz_input fuzz_part(const uint8_t *bytes, size_t size, size_t room) {
  fuzz_input part = {malloc(room + 1), size, room};
  if (!part.bytes || size > room) abort();
  if (size) memcpy(part.bytes, bytes, size);
  return part;
}

void fuzz_change_lines(fuzz_input *input, test_random *random) {
  size_t start[256], count = 0;
  for (size_t at = 0; at < input->size && count < 255; at++)
    if (at == 0 || input->bytes[at - 1] == '\n') start[count++] = at;
  if (count == 0) {
    fuzz_change_bytes(input, random);
    return;
  }
  start[count] = input->size;
  const uint32_t a = test_random_below(random, (uint32_t)count),
                 b = test_random_below(random, (uint32_t)count);
  fuzz_input line = fuzz_part(input->bytes + start[a], start[a + 1] - start[a], input->room);
  switch (test_random_below(random, 4)) {
    case 0: line.size = 0; break;
    case 1: /* a copy of it elsewhere */
      fuzz_put(input, start[b], 0, line.bytes, line.size);
      free(line.bytes);
      return;
    default: fuzz_change_bytes(&line, random);
  }
  fuzz_put(input, start[a], start[a + 1] - start[a], line.bytes, line.size);
  free(line.bytes);
}

uint64_t fuzz_promised_data(const uint8_t *header, size_t size) {
  static const char key[] = "\"data_offsets\"";
  uint64_t most = 0;
  for (size_t at = 0; at + sizeof key < size; at++) {
    if (memcmp(header + at, key, sizeof key - 1) != 0) continue;
    while (at < size && header[at] != ',') at++;
    uint64_t end = 0;
    for (at++; at < size && header[at] >= '0' && header[at] <= '9' && end < UINT32_MAX; at++)
      end = 10 * end + (uint64_t)(header[at] - '0');
    if (end > most) most = end;
  }
  return most;
}

void fuzz_change_safetensors(fuzz_input *input, test_random *random) {
  static const char *const words[] = {"\"F32\"",
                                      "\"F16\"",
                                      "\"BF16\"",
                                      "\"F64\"",
                                      "\"I8\"",
                                      "\"U8\"",
                                      "\"I32\"",
                                      "\"I64\"",
                                      "\"BOOL\"",
                                      "\"F8_E4M3\"",
                                      "\"F4\"",
                                      "\"shape\"",
                                      "\"dtype\"",
                                      "\"op\"",
                                      "\"data_offsets\"",
                                      "\"__metadata__\"",
                                      "[0,0]",
                                      "[]",
                                      "[2,3]",
                                      "[0]",
                                      "{}",
                                      "[4294967296]",
                                      "[0,18446744073709551615]",
                                      "\"\\u0000\"",
                                      NULL};
  size_t end = input->size;
  while (end > 8 && input->bytes[end - 1] != '}') end--;
  if (end <= 8) {
    fuzz_change_bytes(input, random);
    return;
  }
  fuzz_input header = fuzz_part(input->bytes + 8, end - 8, input->room);
  fuzz_change_json(&header, random, words);
  fuzz_put(input, 8, end - 8, header.bytes, header.size);
  const uint64_t wanted = fuzz_promised_data(header.bytes, header.size);
  free(header.bytes);
  end = input->size;
  while (end > 8 && input->bytes[end - 1] != '}') end--;
  fuzz_repair_length(input->bytes, input->size);
  /* one in four keeps data of another size */
  if (test_random_below(random, 4) == 0 || wanted > input->room - end) return;
  for (size_t at = input->size; at < end + wanted; at++) input->bytes[at] = (uint8_t)(at * 3);
  input->size = end + (size_t)wanted;
}
