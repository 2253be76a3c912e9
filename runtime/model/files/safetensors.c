/* Reading a safetensors file. The checks follow the reference (huggingface/safetensors, tensor.rs:
 * Metadata::validate) in its order: lengths, JSON, types, then the tensors by offset. Numbers are
 * little endian in the file and here. */
#include "model/files/safetensors.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/budget.h"
#include "base/json.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/files/source.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "heed reads weights as they are stored");

#define METADATA_KEY "__metadata__"
#define CHUNK_BYTES 16384u /* on the stack, also of a small thread */

struct heed_safetensors {
  const heed_context *context;
  heed_context within; /* of all that the file has */
  heed_source source;
  char *name;
  heed_json *json; /* owns the names */
  uint64_t data_start;
  heed_safetensors_tensor *tensors;
  uint32_t count;
  uint32_t *by_name;
};

/* A tensor's entry in the header, on its way to the table. */
typedef struct entry {
  const char *name;
  uint32_t dtype; /* index of dtypes */
  heed_json_value shape;
  uint64_t begin, end; /* from the data's start */
} entry;

typedef struct reader {
  heed_safetensors *file;
  entry *entries;
  uint32_t *order;
  uint32_t count;
  heed_error *error;
} reader;

#define UNREADABLE (-1)
static const struct {
  const char *name;
  uint32_t bits;
  int dtype; /* a heed_dtype or UNREADABLE */
} dtypes[] = {
    {"BOOL", 8, UNREADABLE},
    {"F4", 4, UNREADABLE},
    {"F6_E2M3", 6, UNREADABLE},
    {"F6_E3M2", 6, UNREADABLE},
    {"U8", 8, HEED_U8},
    {"I8", 8, HEED_I8},
    {"F8_E5M2", 8, UNREADABLE},
    {"F8_E4M3", 8, UNREADABLE},
    {"F8_E8M0", 8, UNREADABLE},
    {"F8_E4M3FNUZ", 8, UNREADABLE},
    {"F8_E5M2FNUZ", 8, UNREADABLE},
    {"I16", 16, UNREADABLE},
    {"U16", 16, UNREADABLE},
    {"F16", 16, HEED_F16},
    {"BF16", 16, HEED_BF16},
    {"I32", 32, HEED_I32},
    {"U32", 32, UNREADABLE},
    {"F32", 32, HEED_F32},
    {"C64", 64, UNREADABLE},
    {"F64", 64, HEED_F32},
    {"I64", 64, UNREADABLE},
    {"U64", 64, UNREADABLE},
};
#define DTYPE_COUNT ((uint32_t)(sizeof dtypes / sizeof *dtypes))

/* --------------------------------------------------------------------------------------- header */

static heed_status header_size(const heed_safetensors *file, uint64_t *size, heed_error *error) {
  unsigned char bytes[8];
  *size = 0;
  if (file->source.size < sizeof bytes)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: too short for a safetensors file (found %" PRIu64
                     " bytes, expected at least 8)",
                     file->name, file->source.size);
  HEED_TRY(heed_source_read(&file->source, file->name, 0, bytes, sizeof bytes, error));
  for (size_t i = sizeof bytes; i-- > 0;) *size = *size << 8 | bytes[i];
  if (*size > HEED_SAFETENSORS_MAX_HEADER)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: header too large (found %" PRIu64 " bytes, expected at most %u)",
                     file->name, *size, HEED_SAFETENSORS_MAX_HEADER);
  if (*size > file->source.size - sizeof bytes)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: header does not fit the file (found a header of %" PRIu64
                     " bytes, expected at most %" PRIu64 ")",
                     file->name, *size, file->source.size - sizeof bytes);
  return HEED_OK;
}

static heed_status read_header(heed_safetensors *file, heed_error *error) {
  uint64_t size = 0;
  HEED_TRY(header_size(file, &size, error));
  char *text = heed_alloc_raw(file->context, size ? (size_t)size : 1, 1);
  if (!text) return heed_fail_memory(error, file->name, (size_t)size);
  const heed_status status =
      heed_source_read(&file->source, file->name, 8, text, (size_t)size, error);
  if (status != HEED_OK) {
    heed_free(file->context, text);
    return status;
  }
  file->data_start = 8 + size;
  HEED_TRY(heed_json_take(file->context, text, (size_t)size, file->name, &file->json, error));
  const heed_json_kind kind = heed_json_kind_of(file->json, heed_json_root(file->json));
  if (kind == HEED_JSON_OBJECT) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE, "%s: header is not an object (found %s)", file->name,
                   heed_json_kind_name(kind));
}

/* -------------------------------------------------------------------------------------- entries */

static heed_status fail_entry(const reader *r, const char *name, const char *what,
                              const char *found, const char *expected) {
  return heed_fail(r->error, HEED_INVALID_FILE, "%s: tensor %.*s: %s (found %s, expected %s)",
                   r->file->name, HEED_CUT(name), what, found, expected);
}

static const char *kind_of(const reader *r, heed_json_value value) {
  return heed_json_kind_name(heed_json_kind_of(r->file->json, value));
}

static heed_status check_metadata(const reader *r, heed_json_value metadata) {
  const heed_json *json = r->file->json;
  if (heed_json_kind_of(json, metadata) != HEED_JSON_OBJECT)
    return heed_fail(r->error, HEED_INVALID_FILE,
                     "%s: " METADATA_KEY " has the wrong type (found %s, expected an object)",
                     r->file->name, kind_of(r, metadata));
  for (heed_json_value v = heed_json_first(json, metadata); v;
       v = heed_json_next(json, metadata, v))
    if (heed_json_kind_of(json, v) != HEED_JSON_STRING)
      return heed_fail(r->error, HEED_INVALID_FILE,
                       "%s: " METADATA_KEY
                       " entry %.*s has the wrong type (found %s, expected a string)",
                       r->file->name, HEED_CUT(heed_json_key(json, v, NULL)), kind_of(r, v));
  return HEED_OK;
}

static heed_status read_dtype(const reader *r, heed_json_value value, entry *e) {
  const char *text;
  size_t length;
  if (!heed_json_string(r->file->json, value, &text, &length))
    return fail_entry(r, e->name, "dtype has the wrong type", kind_of(r, value), "a string");
  for (e->dtype = 0; e->dtype < DTYPE_COUNT; e->dtype++)
    if (strlen(dtypes[e->dtype].name) == length && strcmp(dtypes[e->dtype].name, text) == 0)
      return HEED_OK;
  return fail_entry(r, e->name, "unknown dtype", length < 40 ? text : "a long text",
                    "a dtype of the format");
}

static heed_status check_dimensions(const reader *r, heed_json_value shape, const entry *e) {
  const heed_json *json = r->file->json;
  uint64_t ignored;
  if (heed_json_kind_of(json, shape) != HEED_JSON_ARRAY)
    return fail_entry(r, e->name, "shape has the wrong type", kind_of(r, shape), "an array");
  for (heed_json_value v = heed_json_first(json, shape); v; v = heed_json_next(json, shape, v))
    if (!heed_json_u64(json, v, &ignored))
      return fail_entry(r, e->name, "invalid dimension", kind_of(r, v),
                        "a whole number of 64 bits, not negative");
  return HEED_OK;
}

static heed_status read_offsets(const reader *r, heed_json_value offsets, entry *e) {
  const heed_json *json = r->file->json;
  if (heed_json_kind_of(json, offsets) != HEED_JSON_ARRAY)
    return fail_entry(r, e->name, "data_offsets has the wrong type", kind_of(r, offsets),
                      "an array of two numbers");
  const heed_json_value begin = heed_json_first(json, offsets),
                        end = heed_json_next(json, offsets, begin);
  if (heed_json_count(json, offsets) != 2 || !heed_json_u64(json, begin, &e->begin) ||
      !heed_json_u64(json, end, &e->end))
    return fail_entry(r, e->name, "invalid data_offsets", "something else",
                      "two whole numbers of 64 bits, not negative");
  return HEED_OK;
}

static heed_status read_entry(const reader *r, heed_json_value value, entry *e) {
  const heed_json *json = r->file->json;
  size_t length;
  e->name = heed_json_key(json, value, &length);
  if (strlen(e->name) != length)
    return fail_entry(r, e->name, "invalid name", "a zero byte in it", "none");
  if (heed_json_kind_of(json, value) != HEED_JSON_OBJECT)
    return fail_entry(r, e->name, "its entry has the wrong type", kind_of(r, value), "an object");
  e->shape = heed_json_get(json, value, "shape");
  HEED_TRY(read_dtype(r, heed_json_get(json, value, "dtype"), e));
  HEED_TRY(check_dimensions(r, e->shape, e));
  return read_offsets(r, heed_json_get(json, value, "data_offsets"), e);
}

static heed_status read_entries(reader *r) {
  heed_safetensors *file = r->file;
  const heed_json *json = file->json;
  const heed_json_value root = heed_json_root(json),
                        metadata = heed_json_get(json, root, METADATA_KEY);
  if (metadata) HEED_TRY(check_metadata(r, metadata));
  const uint32_t count = heed_json_count(json, root) - (metadata != 0), room = count ? count : 1;
  r->entries = heed_alloc(file->context, room, sizeof *r->entries);
  r->order = heed_alloc(file->context, room, sizeof *r->order);
  file->tensors = heed_alloc(file->context, room, sizeof *file->tensors);
  file->by_name = heed_alloc(file->context, room, sizeof *file->by_name);
  if (!r->entries || !r->order || !file->tensors || !file->by_name)
    return heed_fail_memory(r->error, file->name, room * sizeof *file->tensors);
  for (heed_json_value v = heed_json_first(json, root); v; v = heed_json_next(json, root, v)) {
    if (v == metadata) continue;
    r->order[r->count] = r->count;
    HEED_TRY(read_entry(r, v, &r->entries[r->count]));
    r->count++;
  }
  return HEED_OK;
}

/* ------------------------------------------------------------------------------- the data's map */

static bool offset_less(const void *user, uint32_t a, uint32_t b) {
  const entry *entries = user;
  if (entries[a].begin != entries[b].begin) return entries[a].begin < entries[b].begin;
  if (entries[a].end != entries[b].end) return entries[a].end < entries[b].end;
  return a < b;
}

static bool name_less(const void *user, uint32_t a, uint32_t b) {
  const heed_safetensors_tensor *tensors = user;
  const int order = strcmp(tensors[a].name, tensors[b].name);
  return order ? order < 0 : a < b;
}

/* Elements and bytes of the shape; what heed cannot hold is marked, not refused. */
static heed_status measure(const reader *r, const entry *e, heed_safetensors_tensor *tensor) {
  const heed_json *json = r->file->json;
  uint64_t bits, dim;
  uint32_t rank = 0;
  tensor->count = 1;
  for (heed_json_value v = heed_json_first(json, e->shape); v;
       v = heed_json_next(json, e->shape, v), rank++) {
    heed_json_u64(json, v, &dim);
    if (!heed_u64_mul(tensor->count, dim, &tensor->count))
      return fail_entry(r, e->name, "the shape is too large", "more than 2^64 elements", "fewer");
    if (dim > UINT32_MAX)
      tensor->unsupported = "a dimension of 2^32 or more";
    else if (rank < HEED_MAX_RANK)
      tensor->shape.dim[rank] = (uint32_t)dim;
  }
  if (rank > HEED_MAX_RANK) tensor->unsupported = "more than 6 axes";
  tensor->shaped = !tensor->unsupported;
  if (tensor->shaped)
    tensor->shape.rank = rank;
  else
    memset(&tensor->shape, 0, sizeof tensor->shape);
  if (dtypes[e->dtype].dtype == UNREADABLE) tensor->unsupported = "this dtype";
  if (!heed_u64_mul(tensor->count, dtypes[e->dtype].bits, &bits))
    return fail_entry(r, e->name, "the shape is too large", "more than 2^64 bits", "fewer");
  if (bits % 8)
    return fail_entry(r, e->name, "its data does not end on a byte", dtypes[e->dtype].name,
                      "a shape that fills whole bytes");
  tensor->bytes = bits / 8;
  return HEED_OK;
}

static heed_status place(const reader *r, const entry *e, uint64_t begin,
                         heed_safetensors_tensor *tensor) {
  const char *file = r->file->name;
  if (e->begin != begin)
    return heed_fail(
        r->error, HEED_INVALID_FILE,
        "%s: tensor %.*s: its data %s (found its start at %" PRIu64 ", expected %" PRIu64 ")", file,
        HEED_CUT(e->name),
        e->begin < begin ? "overlaps another tensor's" : "leaves a gap before it", e->begin, begin);
  if (e->end < e->begin)
    return heed_fail(r->error, HEED_INVALID_FILE,
                     "%s: tensor %.*s: its data ends before it starts (found [%" PRIu64 ", %" PRIu64
                     "])",
                     file, HEED_CUT(e->name), e->begin, e->end);
  tensor->name = e->name;
  tensor->dtype_name = dtypes[e->dtype].name;
  tensor->dtype =
      dtypes[e->dtype].dtype == UNREADABLE ? HEED_F32 : (heed_dtype)dtypes[e->dtype].dtype;
  HEED_TRY(measure(r, e, tensor));
  if (e->end - e->begin != tensor->bytes)
    return heed_fail(r->error, HEED_INVALID_FILE,
                     "%s: tensor %.*s: its data has the wrong length (found %" PRIu64
                     " bytes, expected %" PRIu64 ")",
                     file, HEED_CUT(e->name), e->end - e->begin, tensor->bytes);
  /* begin <= the data's length is seen below, before anything is read */
  tensor->offset = r->file->data_start + e->begin;
  return HEED_OK;
}

static heed_status map_data(reader *r) {
  heed_safetensors *file = r->file;
  const uint64_t available = file->source.size - file->data_start;
  uint64_t end = 0;
  heed_sort(r->order, r->count, offset_less, r->entries);
  for (uint32_t i = 0; i < r->count; i++) {
    const entry *e = &r->entries[r->order[i]];
    HEED_TRY(place(r, e, end, &file->tensors[i]));
    end = e->end;
    file->by_name[i] = i;
  }
  if (end != available)
    return heed_fail(r->error, HEED_INVALID_FILE,
                     "%s: the data %s (found %" PRIu64 " bytes, expected %" PRIu64 ")", file->name,
                     end > available ? "is cut off" : "continues after the last tensor", available,
                     end);
  file->count = r->count;
  heed_sort(file->by_name, file->count, name_less, file->tensors);
  return HEED_OK;
}

static heed_status read_table(heed_safetensors *file, heed_error *error) {
  reader r = {.file = file, .error = error};
  heed_status status = read_header(file, error);
  if (status == HEED_OK) status = read_entries(&r);
  if (status == HEED_OK) status = map_data(&r);
  heed_free(file->context, r.entries);
  heed_free(file->context, r.order);
  return status;
}

heed_status heed_safetensors_open(const heed_context *context, const heed_source *source,
                                  const char *name, heed_safetensors **file, heed_error *error) {
  *file = NULL;
  heed_safetensors *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, name, sizeof *made);
  heed_budget memory;
  heed_budget_open(context, source->size, &memory, &made->within);
  made->context = &made->within;
  made->source = *source;
  made->name = heed_copy_string(made->context, name, strlen(name));
  heed_status status =
      made->name ? read_table(made, error) : heed_fail_memory(error, name, strlen(name) + 1);
  status = heed_budget_close(&memory, &made->within, status, name, error);
  if (status == HEED_OK)
    *file = made;
  else
    heed_safetensors_destroy(made);
  return status;
}

void heed_safetensors_destroy(heed_safetensors *file) {
  if (!file) return;
  const heed_context *context = file->context;
  heed_free(context, file->by_name);
  heed_free(context, file->tensors);
  heed_json_destroy(file->json);
  heed_free(context, file->name);
  heed_free(context, file);
}

/* --------------------------------------------------------------------------------------- access */

const char *heed_safetensors_name(const heed_safetensors *file) { return file->name; }
uint32_t heed_safetensors_count(const heed_safetensors *file) { return file->count; }
const heed_safetensors_tensor *heed_safetensors_get(const heed_safetensors *file, uint32_t index) {
  HEED_ASSERT(index < file->count);
  return &file->tensors[index];
}

const heed_safetensors_tensor *heed_safetensors_find(const heed_safetensors *file,
                                                     const char *name) {
  uint32_t low = 0, high = file->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const heed_safetensors_tensor *tensor = &file->tensors[file->by_name[middle]];
    const int order = strcmp(name, tensor->name);
    if (order == 0) return tensor;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

const char *heed_safetensors_metadata(const heed_safetensors *file, const char *key) {
  const heed_json *json = file->json;
  const char *text = NULL;
  heed_json_string(
      json, heed_json_get(json, heed_json_get(json, heed_json_root(json), METADATA_KEY), key),
      &text, NULL);
  return text;
}

bool heed_safetensors_metadata_at(const heed_safetensors *file, uint32_t index, const char **key,
                                  const char **text) {
  const heed_json *json = file->json;
  const heed_json_value metadata = heed_json_get(json, heed_json_root(json), METADATA_KEY);
  heed_json_value v = metadata ? heed_json_first(json, metadata) : 0;
  while (v && index-- > 0) v = heed_json_next(json, metadata, v);
  if (!v) return false;
  *key = heed_json_key(json, v, NULL);
  return heed_json_string(json, v, text, NULL);
}

/* To nearest; false where a finite number is beyond float. */
static bool narrow(const unsigned char *from, float *to, size_t count) {
  bool fits = true;
  for (size_t i = 0; i < count; i++) {
    double number;
    memcpy(&number, from + i * sizeof number, sizeof number);
    to[i] = (float)number;
    fits = fits && (isinf(number) || !isinf(to[i]));
  }
  return fits;
}

static heed_status convert_chunks(const heed_safetensors *file,
                                  const heed_safetensors_tensor *tensor, uint64_t at, size_t count,
                                  float *to, heed_error *error) {
  const heed_dtype dtype = tensor->dtype;
  unsigned char chunk[CHUNK_BYTES];
  const size_t size = dtype == HEED_F32 ? sizeof(double) : sizeof(uint16_t),
               most = CHUNK_BYTES / size;
  while (count) {
    const size_t part = count < most ? count : most;
    HEED_TRY(heed_source_read(&file->source, file->name, at, chunk, part * size, error));
    if (dtype != HEED_F32)
      heed_widen(dtype, chunk, to, part);
    else if (!narrow(chunk, to, part))
      return heed_fail(error, HEED_UNSUPPORTED,
                       "%s: tensor %.*s has a number beyond F32 (found F64)", file->name,
                       HEED_CUT(tensor->name));
    to += part;
    count -= part;
    at += part * size;
  }
  return HEED_OK;
}

heed_status heed_safetensors_read(const heed_safetensors *file,
                                  const heed_safetensors_tensor *tensor, uint64_t first,
                                  uint64_t count, void *to, heed_error *error) {
  if (tensor->unsupported)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: tensor %.*s not supported (found %s: %s)",
                     file->name, HEED_CUT(tensor->name), tensor->dtype_name, tensor->unsupported);
  if (first > tensor->count || count > tensor->count - first || count > SIZE_MAX / sizeof(float))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: tensor %.*s: range out of bounds (found %" PRIu64
                     " elements from %" PRIu64 ", expected at most %" PRIu64 ")",
                     file->name, HEED_CUT(tensor->name), count, first, tensor->count);
  if (count == 0) return HEED_OK;
  const size_t size = (size_t)(tensor->bytes / tensor->count); /* of an element in the file */
  const uint64_t at = tensor->offset + first * size;
  if (size != 2 && size == heed_dtype_size(tensor->dtype))
    return heed_source_read(&file->source, file->name, at, to, (size_t)count * size, error);
  if (size != 2 || !file->source.bytes)
    return convert_chunks(file, tensor, at, (size_t)count, to, error);
  heed_widen(tensor->dtype, (const unsigned char *)file->source.bytes + at, to, (size_t)count);
  return HEED_OK;
}
