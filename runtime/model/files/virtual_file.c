/* A .safetensors file made of pieces: 8 bytes of length, a header, and the tensors in the order in
 * which they were added. See virtual_file.h. */
#include "model/files/virtual_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "base/utf8.h"

static heed_status write_text(heed_assembled *file, const char *text, size_t length,
                              heed_error *error) {
  const size_t need = file->header_size + length;
  if (!heed_grow(file->context, &file->header, &file->header_capacity, need, 1))
    return heed_fail_memory(error, file->where, need);
  memcpy(file->header + file->header_size, text, length);
  file->header_size = need;
  return HEED_OK;
}

static heed_status write_plain(heed_assembled *file, const char *text, heed_error *error) {
  return write_text(file, text, strlen(text), error);
}

/* A JSON string; the text is UTF-8. */
static heed_status write_string(heed_assembled *file, const char *text, heed_error *error) {
  HEED_TRY(write_plain(file, "\"", error));
  for (const char *c = text; *c; c++) {
    char escaped[8];
    if ((unsigned char)*c < 0x20)
      snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)*c);
    else
      snprintf(escaped, sizeof escaped, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    HEED_TRY(write_plain(file, escaped, error));
  }
  return write_plain(file, "\"", error);
}

static heed_status write_entry(heed_assembled *file, const char *name, const char *dtype,
                               uint32_t rank, const uint64_t *sizes, heed_error *error) {
  char text[96];
  HEED_TRY(write_plain(file, file->count ? "," : file->notes ? "}," : "{", error));
  HEED_TRY(write_string(file, name, error));
  snprintf(text, sizeof text, ":{\"dtype\":\"%s\",\"shape\":[", dtype);
  HEED_TRY(write_plain(file, text, error));
  for (uint32_t axis = 0; axis < rank; axis++) {
    snprintf(text, sizeof text, "%s%" PRIu64, axis ? "," : "", sizes[axis]);
    HEED_TRY(write_plain(file, text, error));
  }
  snprintf(text, sizeof text, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}",
           file->begins[file->count], file->begins[file->count + 1]);
  return write_plain(file, text, error);
}

/* The length's place, before anything else. */
static heed_status begin(heed_assembled *file, heed_error *error) {
  return file->header_size ? HEED_OK : write_text(file, "\0\0\0\0\0\0\0\0", 8, error);
}

heed_status heed_assembled_note(heed_assembled *file, const char *key, const char *text,
                                heed_error *error) {
  HEED_TRY(begin(file, error));
  HEED_TRY(write_plain(file, file->notes++ ? "," : "{\"__metadata__\":{", error));
  HEED_TRY(write_string(file, key, error));
  HEED_TRY(write_plain(file, ":", error));
  return write_string(file, text, error);
}

heed_status heed_assembled_add(heed_assembled *file, const char *name, const char *dtype,
                               uint32_t rank, const uint64_t *sizes, uint64_t bytes,
                               heed_error *error) {
  const size_t need = (size_t)file->count + 2;
  if (!heed_grow(file->context, &file->begins, &file->begins_capacity, need, sizeof *file->begins))
    return heed_fail_memory(error, file->where, need * sizeof *file->begins);
  uint64_t *end = &file->begins[file->count + 1];
  if (!heed_u64_add(file->begins[file->count], bytes, end) || *end > INT64_MAX)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: tensor %.*s: the tensors are too large",
                     file->where, HEED_CUT(name));
  HEED_TRY(begin(file, error));
  HEED_TRY(write_entry(file, name, dtype, rank, sizes, error));
  file->count++;
  return HEED_OK;
}

/* Spaces behind the header up to a multiple of 8, and its length before it. */
heed_status heed_assembled_finish(heed_assembled *file, heed_error *error) {
  if (!heed_grow(file->context, &file->begins, &file->begins_capacity, 1, sizeof *file->begins))
    return heed_fail_memory(error, file->where, sizeof *file->begins);
  HEED_TRY(begin(file, error));
  if (file->count == 0) HEED_TRY(write_plain(file, file->notes ? "}" : "{", error));
  HEED_TRY(write_plain(file, "}", error));
  while (file->header_size % 8) HEED_TRY(write_plain(file, " ", error));
  const uint64_t length = file->header_size - 8;
  for (size_t i = 0; i < 8; i++) file->header[i] = (char)(length >> 8 * i & 0xFF);
  for (uint32_t i = 0; i <= file->count; i++) file->begins[i] += file->header_size;
  return HEED_OK;
}

/* The tensor with this byte, which is behind the header. */
static uint32_t find_tensor(const heed_assembled *file, uint64_t at) {
  uint32_t low = 0, high = file->count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (file->begins[middle] <= at)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* As heed_source.read: the caller has seen that the bytes are there. */
static heed_status read_bytes(void *user, uint64_t offset, void *to, size_t count,
                              heed_error *error) {
  const heed_assembled *file = user;
  unsigned char *bytes = to;
  HEED_ASSERT(offset <= file->begins[file->count] && count <= file->begins[file->count] - offset);
  while (count > 0) {
    size_t part;
    if (offset < file->header_size) {
      const size_t room = file->header_size - (size_t)offset;
      part = count < room ? count : room;
      memcpy(bytes, file->header + offset, part);
    } else {
      const uint32_t index = find_tensor(file, offset);
      const uint64_t room = file->begins[index + 1] - offset;
      part = count < room ? count : (size_t)room;
      HEED_TRY(file->read(file->user, index, offset - file->begins[index], bytes, part, error));
    }
    bytes += part;
    offset += part;
    count -= part;
  }
  return HEED_OK;
}

heed_source heed_assembled_source(heed_assembled *file) {
  return (heed_source){file->begins[file->count], NULL, read_bytes, file};
}

void heed_assembled_free(heed_assembled *file) {
  if (!file->context) return;
  heed_free(file->context, file->header);
  heed_free(file->context, file->begins);
  *file = (heed_assembled){0};
}
