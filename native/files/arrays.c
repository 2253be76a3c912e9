/* NumPy's files. Formats: numpy/lib/format.py, version 1.0; PKWARE's APPNOTE 6.3.10 for zip and
 * zip64. All numbers in both are little-endian, and so are heed's machines. */
#include "files/arrays.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "heed/heed.h"

/* --------------------------------------------------------------------------------------- texts */

/* The code points of a text, at most `most` of them to `to`, which may be NULL: how many. */
static uint32_t code_points(const char *text, int32_t *to) {
  const size_t size = strlen(text);
  uint32_t count = 0;
  for (size_t at = 0; at < size; count++) {
    uint32_t point;
    bool shown;
    at += heed_text_next(text + at, size - at, &point, &shown);
    if (to) to[count] = (int32_t)point;
  }
  return count;
}

heed_status heed_array_texts(const heed_context *context, const char *name,
                             const char *const *texts, uint32_t count, bool alone,
                             heed_array *array, heed_error *error) {
  uint32_t width = 1; /* NumPy has no texts of none */
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t points = code_points(texts[i], NULL);
    if (points > width) width = points;
  }
  const size_t size = (size_t)(count ? count : 1) * width;
  int32_t *points = heed_alloc(context, size, sizeof *points);
  if (!points) return heed_fail_memory(error, name, size * sizeof *points);
  memset(points, 0, size * sizeof *points);
  for (uint32_t i = 0; i < count; i++) code_points(texts[i], points + (size_t)i * width);
  *array = (heed_array){.item = {.name = name, .dtype = HEED_I32, .data = points}, .texts = true};
  array->item.shape = alone ? (heed_shape){1, {width}} : (heed_shape){2, {count, width}};
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ npy */

#define HEADER_SIZE 256 /* eight dimensions of ten digits are fewer */

/* "<f4", or "<U12" of texts. */
static heed_status write_descr(const heed_array *array, char descr[16], heed_error *error) {
  static const char *const names[][2] = {
      {"U8", "|u1"},  {"I8", "|i1"},  {"U16", "<u2"}, {"I16", "<i2"}, {"U32", "<u4"},
      {"I32", "<i4"}, {"U64", "<u8"}, {"I64", "<i8"}, {"F16", "<f2"}, {"F32", "<f4"},
      {"F64", "<f8"}, {"C64", "<c8"}, {"BOOL", "|b1"}};
  const heed_shape *shape = &array->item.shape;
  const char *own = array->dtype ? array->dtype : heed_dtype_name(array->item.dtype), *known = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i][0], own) == 0) known = names[i][1];
  if (!known)
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "%.200s: dtype not supported by NumPy (found %s, expected F16 to F64, integers "
        "or BOOL; .safetensors has it)",
        array->item.name, own);
  if (array->texts)
    snprintf(descr, 16, "<U%" PRIu32, shape->dim[shape->rank - 1]);
  else
    snprintf(descr, 16, "%s", known);
  return HEED_OK;
}

/* Magic, length and dictionary, padded so that the data begins at a multiple of 64. */
static heed_status compose_header(const heed_array *array, char header[HEADER_SIZE], size_t *size,
                                  heed_error *error) {
  char descr[16], shape[HEED_MAX_RANK * 12 + 1] = "";
  const uint32_t rank = array->item.shape.rank - array->texts;
  size_t used = 0;
  HEED_TRY(write_descr(array, descr, error));
  for (uint32_t i = 0; i < rank; i++)
    used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%" PRIu32 "%s", i ? " " : "",
                             array->item.shape.dim[i], i + 1 < rank || rank == 1 ? "," : "");
  const int length =
      snprintf(header + 10, HEADER_SIZE - 10,
               "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape);
  *size = (10 + (size_t)length + 1 + 63) / 64 * 64;
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((*size - 10) & 255);
  header[9] = (char)((*size - 10) >> 8);
  memset(header + 10 + length, ' ', *size - 10 - (size_t)length);
  header[*size - 1] = '\n';
  return HEED_OK;
}

static heed_status write_data(const heed_array *array, heed_safetensors_sink sink, void *user,
                              heed_error *error) {
  const heed_safetensors_item *item = &array->item;
  size_t bytes;
  if (!heed_shape_bytes(&item->shape, item->dtype, &bytes))
    return heed_fail(error, HEED_INVALID_ARGUMENT, "%.200s: the array is too large", item->name);
  if (!bytes) return HEED_OK;
  return item->data ? sink(user, item->data, bytes, error)
                    : item->produce(item->user, sink, user, error);
}

heed_status heed_npy_write(const heed_array *array, heed_safetensors_sink sink, void *user,
                           heed_error *error) {
  char header[HEADER_SIZE];
  size_t size;
  HEED_TRY(compose_header(array, header, &size, error));
  HEED_TRY(sink(user, header, size, error));
  return write_data(array, sink, user, error);
}

/* ------------------------------------------------------------------------------------------ zip */

#define CUT UINT32_C(0xFFFFFFFF) /* the number is in the field of zip64 */
#define MOST_ENTRIES 65535u

/* A zip file on its way out. */
typedef struct zip {
  heed_safetensors_sink sink;
  void *user;
  uint64_t at; /* bytes written */
  struct zip_entry {
    const char *name; /* without .npy */
    uint64_t offset, size;
    uint32_t crc;
  } * entries;
} zip;

/* A record being composed. */
typedef struct record {
  unsigned char bytes[128];
  size_t size;
} record;

static void put(record *to, uint64_t value, int bytes) {
  for (; bytes > 0; bytes--, value >>= 8) to->bytes[to->size++] = (unsigned char)value;
}

static heed_status emit(void *user, const void *bytes, size_t count, heed_error *error) {
  zip *file = user;
  file->at += count;
  return file->sink(file->user, bytes, count, error);
}

/* As a sink: what the check sum of an entry is, and how long it is. */
static heed_status measure(void *user, const void *bytes, size_t count, heed_error *error) {
  struct zip_entry *entry = user;
  (void)error;
  entry->crc = (uint32_t)crc32_z(entry->crc, bytes, count);
  entry->size += count;
  return HEED_OK;
}

static bool is_large(const struct zip_entry *entry) {
  return entry->size >= CUT || entry->offset >= CUT;
}

/* What the local header and the directory say alike: version, flags (names are UTF-8), stored, the
 * first of January 1980, check sum, sizes, length of the name and of the field of zip64. */
static void put_common(record *to, const struct zip_entry *entry, unsigned extra) {
  const bool large = is_large(entry);
  put(to, large ? 45 : 20, 2);
  put(to, 0x0800, 2);
  put(to, 0, 2);
  put(to, 0, 2);
  put(to, 1 << 5 | 1, 2);
  put(to, entry->crc, 4);
  put(to, large ? CUT : entry->size, 4);
  put(to, large ? CUT : entry->size, 4);
  put(to, strlen(entry->name) + 4, 2);
  put(to, large ? 4 + extra : 0, 2);
}

static heed_status emit_name(zip *file, const struct zip_entry *entry, heed_error *error) {
  HEED_TRY(emit(file, entry->name, strlen(entry->name), error));
  return emit(file, ".npy", 4, error);
}

static heed_status emit_local(zip *file, const struct zip_entry *entry, heed_error *error) {
  record head = {.size = 0}, extra = {.size = 0};
  put(&head, 0x04034b50, 4);
  put_common(&head, entry, 16);
  if (is_large(entry)) {
    put(&extra, 1, 2);
    put(&extra, 16, 2);
    put(&extra, entry->size, 8);
    put(&extra, entry->size, 8);
  }
  HEED_TRY(emit(file, head.bytes, head.size, error));
  HEED_TRY(emit_name(file, entry, error));
  return emit(file, extra.bytes, extra.size, error);
}

static heed_status emit_directory(zip *file, const struct zip_entry *entry, heed_error *error) {
  const bool large = is_large(entry);
  record head = {.size = 0}, extra = {.size = 0};
  put(&head, 0x02014b50, 4);
  put(&head, 45, 2);
  put_common(&head, entry, 24);
  put(&head, 0, 2); /* comment */
  put(&head, 0, 2); /* disk */
  put(&head, 0, 2);
  put(&head, 0, 4); /* attributes */
  put(&head, large ? CUT : entry->offset, 4);
  if (large) {
    put(&extra, 1, 2);
    put(&extra, 24, 2);
    put(&extra, entry->size, 8);
    put(&extra, entry->size, 8);
    put(&extra, entry->offset, 8);
  }
  HEED_TRY(emit(file, head.bytes, head.size, error));
  HEED_TRY(emit_name(file, entry, error));
  return emit(file, extra.bytes, extra.size, error);
}

static heed_status emit_end(zip *file, uint32_t count, uint64_t start, heed_error *error) {
  const uint64_t size = file->at - start, end = file->at;
  const bool large = count >= MOST_ENTRIES || start >= CUT || size >= CUT;
  record to = {.size = 0};
  if (large) {
    put(&to, 0x06064b50, 4);
    put(&to, 44, 8);
    put(&to, 45, 2);
    put(&to, 45, 2);
    put(&to, 0, 8); /* disks */
    put(&to, count, 8);
    put(&to, count, 8);
    put(&to, size, 8);
    put(&to, start, 8);
    put(&to, 0x07064b50, 4);
    put(&to, 0, 4);
    put(&to, end, 8);
    put(&to, 1, 4);
  }
  put(&to, 0x06054b50, 4);
  put(&to, 0, 4);
  put(&to, large ? MOST_ENTRIES : count, 2);
  put(&to, large ? MOST_ENTRIES : count, 2);
  put(&to, large ? CUT : size, 4);
  put(&to, large ? CUT : start, 4);
  put(&to, 0, 2);
  return emit(file, to.bytes, to.size, error);
}

static heed_status write_entries(zip *file, const heed_array *arrays, uint32_t count,
                                 heed_error *error) {
  for (uint32_t i = 0; i < count; i++) {
    struct zip_entry *entry = &file->entries[i];
    *entry = (struct zip_entry){.name = arrays[i].item.name, .offset = file->at};
    HEED_TRY(heed_npy_write(&arrays[i], measure, entry, error));
    HEED_TRY(emit_local(file, entry, error));
    HEED_TRY(heed_npy_write(&arrays[i], emit, file, error));
  }
  const uint64_t start = file->at;
  for (uint32_t i = 0; i < count; i++) HEED_TRY(emit_directory(file, &file->entries[i], error));
  return emit_end(file, count, start, error);
}

heed_status heed_npz_write(const heed_context *context, const heed_array *arrays, uint32_t count,
                           heed_safetensors_sink sink, void *user, heed_error *error) {
  zip file = {.sink = sink, .user = user};
  file.entries = heed_alloc(context, (size_t)count + 1, sizeof *file.entries);
  if (!file.entries)
    return heed_fail_memory(error, "npz", ((size_t)count + 1) * sizeof *file.entries);
  const heed_status status = write_entries(&file, arrays, count, error);
  heed_free(context, file.entries);
  return status;
}
