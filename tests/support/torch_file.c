/* Files of PyTorch made in memory. See torch_file.h. */
#include "support/torch_file.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static void append(test_bytes *to, const void *bytes, size_t count) {
  heed_error error;
  assert_ok(test_bytes_append(to, bytes, count, &error));
}

static void append_number(test_bytes *to, uint64_t number, size_t count) {
  unsigned char bytes[8];
  for (size_t i = 0; i < count; i++) bytes[i] = (unsigned char)(number >> 8 * i);
  append(to, bytes, count);
}

/* Bit by bit, from the polynomial. */
static uint32_t crc_of(const unsigned char *bytes, size_t size) {
  uint32_t crc = UINT32_MAX;
  for (size_t i = 0; i < size; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
  }
  return ~crc;
}

/* What the header of an entry and the directory share: from the version on to the lengths. */
static void append_common(test_bytes *to, const test_zip_entry *entry, bool zip64, size_t extra) {
  append_number(to, 45, 2);
  append_number(to, entry->flags, 2);
  append_number(to, entry->method, 2);
  append_number(to, 0, 4); /* time and date */
  append_number(to, crc_of(entry->data, entry->size), 4);
  append_number(to, zip64 ? UINT32_MAX : entry->size, 4);
  append_number(to, zip64 ? UINT32_MAX : entry->size, 4);
  append_number(to, strlen(entry->name), 2);
  append_number(to, extra, 2);
}

static void append_data(test_bytes *to, const test_zip_entry *entry) {
  append(to, "PK\3\4", 4);
  append_common(to, entry, false, 5); /* an extra field of no meaning */
  append(to, entry->name, strlen(entry->name));
  append(to, "FB\1\0Z", 5);
  append(to, entry->data, entry->size);
}

static void append_entry(test_bytes *to, const test_zip_entry *entry, uint64_t at, bool zip64) {
  append(to, "PK\1\2", 4);
  append_number(to, 45, 2);
  append_common(to, entry, zip64, zip64 ? 28 : 0);
  append_number(to, 0, 8); /* comment, disk, attributes */
  append_number(to, 0, 2);
  append_number(to, zip64 ? UINT32_MAX : at, 4);
  append(to, entry->name, strlen(entry->name));
  if (!zip64) return;
  append_number(to, 1, 2);
  append_number(to, 24, 2);
  append_number(to, entry->size, 8);
  append_number(to, entry->size, 8);
  append_number(to, at, 8);
}

static void append_end64(test_bytes *to, size_t count, uint64_t begin, uint64_t end) {
  append(to, "PK\6\6", 4);
  append_number(to, 44, 8);
  append_number(to, 45, 2);
  append_number(to, 45, 2);
  append_number(to, 0, 8); /* disks */
  append_number(to, count, 8);
  append_number(to, count, 8);
  append_number(to, end - begin, 8);
  append_number(to, begin, 8);
  append(to, "PK\6\7", 4);
  append_number(to, 0, 4);
  append_number(to, end, 8);
  append_number(to, 1, 4);
}

test_bytes test_zip(const test_zip_entry *entries, size_t count, bool zip64) {
  test_bytes file = {NULL, 0};
  uint64_t at[16];
  assert_true(count <= 16);
  for (size_t i = 0; i < count; i++) {
    at[i] = file.size;
    append_data(&file, &entries[i]);
  }
  const uint64_t begin = file.size;
  for (size_t i = 0; i < count; i++) append_entry(&file, &entries[i], at[i], zip64);
  const uint64_t end = file.size;
  if (zip64) append_end64(&file, count, begin, end);
  append(&file, "PK\5\6", 4);
  append_number(&file, 0, 4);
  append_number(&file, zip64 ? UINT16_MAX : count, 2);
  append_number(&file, zip64 ? UINT16_MAX : count, 2);
  append_number(&file, zip64 ? UINT32_MAX : end - begin, 4);
  append_number(&file, zip64 ? UINT32_MAX : begin, 4);
  append_number(&file, 0, 2);
  return file;
}

static void count_up(unsigned char bytes[24]) {
  for (unsigned char i = 0; i < 24; i++) bytes[i] = i;
}

test_bytes test_torch_zip(const void *pickle, size_t size) {
  unsigned char data[24];
  count_up(data);
  const test_zip_entry entries[] = {{"a/data.pkl", pickle, size, 0, 0},
                                    {"a/data/0", data, sizeof data, 0, 0},
                                    {"a/version", "3\n", 2, 0, 0}};
  return test_zip(entries, 3, false);
}

test_bytes test_torch_legacy(const void *pickle, size_t size) {
  static const char before[] = "\x80\2\x8A\nl\xFC\x9C\x46\xF9 j\xA8P\x19.\x80\2M\xE9\3.\x80\2}.",
                    after[] = "\x80\2]X\1\0\0\0"
                              "0a.\6\0\0\0\0\0\0\0";
  unsigned char data[24];
  test_bytes file = {NULL, 0};
  count_up(data);
  append(&file, before, sizeof before - 1);
  append(&file, pickle, size);
  append(&file, after, sizeof after - 1);
  append(&file, data, sizeof data);
  return file;
}

test_bytes test_repeated(const char *before, const char *piece, size_t piece_size, size_t times,
                         const char *after) {
  const size_t begin = strlen(before), end = strlen(after);
  test_bytes pickle = {malloc(begin + times * piece_size + end + 1), begin};
  memcpy(pickle.data, before, begin);
  for (size_t i = 0; i < times; i++, pickle.size += piece_size)
    memcpy(pickle.data + pickle.size, piece, piece_size);
  memcpy(pickle.data + pickle.size, after, end);
  pickle.size += end;
  return pickle;
}
