/* Writing a safetensors file. Order and padding as the reference writer's (huggingface/safetensors,
 * tensor.rs: prepare): tensors by falling dtype, then by name; the header padded with spaces so
 * that the data starts at a multiple of 8. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/files/safetensors.h"

static const char where[] = "writing safetensors";

typedef struct writer {
  const heed_context *context;
  const heed_safetensors_item *items;
  const heed_safetensors_pair *metadata;
  uint32_t count, metadata_count;
  uint32_t *order;
  char *text; /* the header */
  size_t length, capacity;
  heed_error *error;
} writer;

/* As the reference orders dtypes. */
static int dtype_order(heed_dtype dtype) {
  static const int order[] = {[HEED_U8] = 0,   [HEED_I8] = 1,  [HEED_F16] = 2,
                              [HEED_BF16] = 3, [HEED_I32] = 4, [HEED_F32] = 5};
  return order[dtype];
}

static bool item_less(const void *user, uint32_t a, uint32_t b) {
  const heed_safetensors_item *items = user;
  const int left = dtype_order(items[a].dtype), right = dtype_order(items[b].dtype);
  if (left != right) return left > right;
  const int order = strcmp(items[a].name, items[b].name);
  return order ? order < 0 : a < b;
}

static bool name_less(const void *user, uint32_t a, uint32_t b) {
  const heed_safetensors_item *items = user;
  return strcmp(items[a].name, items[b].name) < 0;
}

static heed_status append(writer *w, const char *text, size_t length) {
  if (!heed_grow(w->context, &w->text, &w->capacity, w->length + length, 1))
    return heed_fail_memory(w->error, where, w->length + length);
  memcpy(w->text + w->length, text, length);
  w->length += length;
  return HEED_OK;
}

static heed_status append_text(writer *w, const char *text) {
  return append(w, text, strlen(text));
}

static heed_status append_string(writer *w, const char *text) {
  static const char from[] = "\"\\\b\f\n\r\t", into[] = "\"\\bfnrt";
  const size_t length = strlen(text);
  if (!heed_utf8_valid(text, length))
    return heed_fail(w->error, HEED_INVALID_ARGUMENT,
                     "%s: a name or text is not UTF-8 (found \"%.*s\")", where, HEED_CUT(text));
  HEED_TRY(append_text(w, "\""));
  for (size_t i = 0; i < length; i++) {
    char escape[8] = {'\\'};
    const char *special = strchr(from, text[i]);
    if (special)
      escape[1] = into[special - from];
    else if ((unsigned char)text[i] < 0x20u)
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)text[i]);
    else
      escape[0] = text[i];
    HEED_TRY(append_text(w, escape));
  }
  return append_text(w, "\"");
}

static heed_status append_metadata(writer *w) {
  if (w->metadata_count == 0) return HEED_OK;
  HEED_TRY(append_text(w, "\"__metadata__\":{"));
  for (uint32_t i = 0; i < w->metadata_count; i++) {
    if (i) HEED_TRY(append_text(w, ","));
    HEED_TRY(append_string(w, w->metadata[i].key));
    HEED_TRY(append_text(w, ":"));
    HEED_TRY(append_string(w, w->metadata[i].text));
  }
  return append_text(w, w->count ? "}," : "}");
}

static heed_status append_item(writer *w, const heed_safetensors_item *item, uint64_t *offset) {
  char number[64];
  size_t bytes;
  uint64_t end;
  if (!heed_shape_bytes(&item->shape, item->dtype, &bytes) || !heed_u64_add(*offset, bytes, &end))
    return heed_fail(w->error, HEED_INVALID_ARGUMENT, "%s: tensor %.*s is too large", where,
                     HEED_CUT(item->name));
  if (bytes && !item->data && !item->produce)
    return heed_fail(w->error, HEED_INVALID_ARGUMENT,
                     "%s: tensor %.*s has no data (expected %zu bytes)", where,
                     HEED_CUT(item->name), bytes);
  HEED_TRY(append_string(w, item->name));
  HEED_TRY(append_text(w, ":{\"dtype\":\""));
  HEED_TRY(append_text(w, heed_dtype_name(item->dtype)));
  HEED_TRY(append_text(w, "\",\"shape\":["));
  for (uint32_t i = 0; i < item->shape.rank; i++) {
    snprintf(number, sizeof number, i ? ",%" PRIu32 : "%" PRIu32, item->shape.dim[i]);
    HEED_TRY(append_text(w, number));
  }
  snprintf(number, sizeof number, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", *offset, end);
  *offset = end;
  return append_text(w, number);
}

static heed_status check_items(const writer *w) {
  for (uint32_t i = 0; i < w->count; i++) {
    const heed_safetensors_item *item = &w->items[i];
    if (!item->name || strcmp(item->name, "__metadata__") == 0)
      return heed_fail(w->error, HEED_INVALID_ARGUMENT, "%s: invalid tensor name (found %s)", where,
                       item->name ? item->name : "none");
    if (heed_dtype_size(item->dtype) == 0 || item->shape.rank > HEED_MAX_RANK)
      return heed_fail(w->error, HEED_INVALID_ARGUMENT,
                       "%s: tensor %.*s has no valid dtype and shape", where, HEED_CUT(item->name));
    w->order[i] = i;
  }
  heed_sort(w->order, w->count, name_less, w->items);
  for (uint32_t i = 1; i < w->count; i++)
    if (strcmp(w->items[w->order[i - 1]].name, w->items[w->order[i]].name) == 0)
      return heed_fail(w->error, HEED_INVALID_ARGUMENT, "%s: duplicate tensor %.*s", where,
                       HEED_CUT(w->items[w->order[i]].name));
  heed_sort(w->order, w->count, item_less, w->items);
  return HEED_OK;
}

static heed_status compose_header(writer *w) {
  uint64_t offset = 0;
  HEED_TRY(check_items(w));
  HEED_TRY(append_text(w, "{"));
  HEED_TRY(append_metadata(w));
  for (uint32_t i = 0; i < w->count; i++) {
    if (i) HEED_TRY(append_text(w, ","));
    HEED_TRY(append_item(w, &w->items[w->order[i]], &offset));
  }
  HEED_TRY(append_text(w, "}"));
  while (w->length % 8) HEED_TRY(append_text(w, " "));
  if (w->length <= HEED_SAFETENSORS_MAX_HEADER) return HEED_OK;
  return heed_fail(w->error, HEED_INVALID_ARGUMENT,
                   "%s: header too large (found %zu bytes, expected at most %u)", where, w->length,
                   HEED_SAFETENSORS_MAX_HEADER);
}

static heed_status emit(const writer *w, heed_safetensors_sink sink, void *user) {
  unsigned char size[8];
  for (size_t i = 0; i < sizeof size; i++) size[i] = (unsigned char)((uint64_t)w->length >> 8 * i);
  HEED_TRY(sink(user, size, sizeof size, w->error));
  HEED_TRY(sink(user, w->text, w->length, w->error));
  for (uint32_t i = 0; i < w->count; i++) {
    const heed_safetensors_item *item = &w->items[w->order[i]];
    size_t bytes;
    if (!heed_shape_bytes(&item->shape, item->dtype, &bytes) || !bytes) continue;
    HEED_TRY(item->data ? sink(user, item->data, bytes, w->error)
                        : item->produce(item->user, sink, user, w->error));
  }
  return HEED_OK;
}

heed_status heed_safetensors_write(const heed_context *context, const heed_safetensors_item *items,
                                   uint32_t count, const heed_safetensors_pair *metadata,
                                   uint32_t metadata_count, heed_safetensors_sink sink, void *user,
                                   heed_error *error) {
  writer w = {.context = context,
              .items = items,
              .metadata = metadata,
              .count = count,
              .metadata_count = metadata_count,
              .error = error};
  w.order = heed_alloc(context, count ? count : 1, sizeof *w.order);
  heed_status status =
      w.order ? compose_header(&w) : heed_fail_memory(error, where, count * sizeof *w.order);
  if (status == HEED_OK) status = emit(&w, sink, user);
  heed_free(context, w.order);
  heed_free(context, w.text);
  return status;
}
