/* Tensors out: .safetensors, .npz and .npy. */
#include "files/tensor_write.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "files/arrays.h"
#include "files/names.h"
#include "files/output.h"
#include "model/files/source.h"

typedef struct file_sink {
  FILE *to;
  const char *name;
} file_sink;

static heed_status write_part(void *user, const void *bytes, size_t count, heed_error *error) {
  const file_sink *sink = user;
  errno = 0;
  if (fwrite(bytes, 1, count, sink->to) == count) return HEED_OK;
  return heed_fail(error, heed_status_of_errno(errno), "%.255s: cannot write (%s)", sink->name,
                   strerror(errno));
}

/* --------------------------------------------------------------------------------------- NumPy's
 */

static heed_status write_npy(const heed_array *arrays, uint32_t count, file_sink *sink,
                             heed_error *error) {
  if (count != 1)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%.255s: .npy holds one array (found %u, expected .npz, or one value)",
                     sink->name, count);
  return heed_npy_write(&arrays[0], write_part, sink, error);
}

static heed_status write_npz(heed_context *context, const heed_tensor_contents *contents,
                             file_sink *sink, heed_error *error) {
  const uint32_t numbers = contents->count, columns = contents->column_count,
                 count = numbers + columns + contents->metadata_count;
  heed_array *arrays = heed_alloc(context, (size_t)count + 1, sizeof *arrays);
  heed_status status = HEED_OK;
  if (!arrays) return heed_fail_memory(error, sink->name, (size_t)count * sizeof *arrays);
  for (uint32_t i = 0; i < count; i++) arrays[i] = (heed_array){.texts = false};
  for (uint32_t i = 0; i < numbers; i++) arrays[i].item = contents->items[i];
  for (uint32_t i = 0; i < columns && status == HEED_OK; i++)
    status = heed_array_texts(context, contents->columns[i].name, contents->columns[i].texts,
                              contents->columns[i].count, false, &arrays[numbers + i], error);
  for (uint32_t i = 0; i < contents->metadata_count && status == HEED_OK; i++)
    status = heed_array_texts(context, contents->metadata[i].key, &contents->metadata[i].text, 1,
                              true, &arrays[numbers + columns + i], error);
  if (status == HEED_OK) status = heed_npz_write(context, arrays, count, write_part, sink, error);
  for (uint32_t i = numbers; i < count; i++) heed_free(context, (void *)arrays[i].item.data);
  heed_free(context, arrays);
  return status;
}

/* ---------------------------------------------------------------------------------- safetensors */

/* Adds a text of JSON to *to, which is NULL where only its length is asked for. */
static size_t put_string(const char *text, char *to) {
  const size_t size = strlen(text);
  size_t used = 0;
  if (to) to[used] = '"';
  used++;
  for (size_t at = 0, length; at < size; at += length) {
    uint32_t point;
    bool shown;
    length = heed_text_next(text + at, size - at, &point, &shown);
    const bool plain = shown && point != '"' && point != '\\';
    if (plain && to) memcpy(to + used, text + at, length);
    /* beyond 16 bits are marks of writing direction alone, which no name needs */
    if (!plain && to) {
      char escape[8];
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(point > 0xFFFF ? 0xFFFD : point));
      memcpy(to + used, escape, 6);
    }
    used += plain ? length : 6;
  }
  if (to) to[used] = '"';
  return used + 1;
}

/* ["a", "b"], the context's memory; NULL without it. */
static char *list_text(const heed_context *context, const heed_text_column *column) {
  size_t size = 3;
  for (uint32_t i = 0; i < column->count; i++) size += put_string(column->texts[i], NULL) + 2;
  char *text = heed_alloc(context, size, 1);
  if (!text) return NULL;
  size_t used = 0;
  text[used++] = '[';
  for (uint32_t i = 0; i < column->count; i++) {
    if (i) text[used++] = ',';
    used += put_string(column->texts[i], text + used);
  }
  text[used++] = ']';
  text[used] = '\0';
  return text;
}

static heed_status write_safetensors(heed_context *context, const heed_tensor_contents *contents,
                                     file_sink *sink, heed_error *error) {
  const uint32_t before = contents->metadata_count, count = before + contents->column_count;
  heed_safetensors_pair *pairs = heed_alloc(context, (size_t)count + 1, sizeof *pairs);
  heed_status status = HEED_OK;
  if (!pairs) return heed_fail_memory(error, sink->name, (size_t)count * sizeof *pairs);
  for (uint32_t i = 0; i < before; i++)
    pairs[i] = (heed_safetensors_pair){contents->metadata[i].key, contents->metadata[i].text};
  for (uint32_t i = before; i < count; i++) {
    const heed_text_column *column = &contents->columns[i - before];
    pairs[i] = (heed_safetensors_pair){column->name, list_text(context, column)};
    if (!pairs[i].text) status = heed_fail_memory(error, sink->name, column->count);
  }
  if (status == HEED_OK)
    status = heed_safetensors_write(context, contents->items, contents->count, pairs, count,
                                    write_part, sink, error);
  for (uint32_t i = before; i < count; i++) heed_free(context, (void *)pairs[i].text);
  heed_free(context, pairs);
  return status;
}

heed_status heed_tensor_contents_write(heed_context *context, const heed_tensor_contents *contents,
                                       FILE *to, const char *name, heed_error *error) {
  file_sink sink = {to, name};
  if (heed_ends_with_any_case(name, ".npy")) {
    const heed_array first = {.item = contents->count ? contents->items[0]
                                                      : (heed_safetensors_item){.name = name}};
    return write_npy(&first, contents->count, &sink, error);
  }
  return (heed_ends_with_any_case(name, ".npz") ? write_npz : write_safetensors)(context, contents,
                                                                                 &sink, error);
}

/* -------------------------------------------------------------------------------- from a source */

/* One tensor of a source. */
typedef struct stored {
  const heed_source *source;
  const char *name;
  uint64_t offset, bytes;
} stored;

/* As heed_safetensors_item.produce. */
static heed_status copy_stored(void *user, heed_safetensors_sink sink, void *sink_user,
                               heed_error *error) {
  const stored *from = user;
  unsigned char bytes[65536];
  for (uint64_t done = 0; done < from->bytes;) {
    const uint64_t left = from->bytes - done;
    const size_t here = left < sizeof bytes ? (size_t)left : sizeof bytes;
    HEED_TRY(heed_source_read(from->source, from->name, from->offset + done, bytes, here, error));
    HEED_TRY(sink(sink_user, bytes, here, error));
    done += here;
  }
  return HEED_OK;
}

static heed_status list_stored(const heed_safetensors *file, const heed_source *source,
                               const char *name, stored *from, heed_array *arrays,
                               heed_error *error) {
  for (uint32_t i = 0; i < heed_safetensors_count(file); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(file, i);
    if (!tensor->shaped)
      return heed_fail(
          error, HEED_UNSUPPORTED,
          "%.255s: tensor %.*s: shape not supported in .npz and .npy (expected at most "
          "6 axes; .safetensors has it)",
          name, HEED_CUT(tensor->name));
    from[i] = (stored){source, name, tensor->offset, tensor->bytes};
    arrays[i] = (heed_array){.item = {.name = tensor->name,
                                      .dtype = HEED_U8, /* not asked for */
                                      .shape = tensor->shape,
                                      .produce = copy_stored,
                                      .user = &from[i]},
                             .dtype = tensor->dtype_name};
  }
  return HEED_OK;
}

/* The tensors of a file as NumPy's arrays, of the types that they have. */
static heed_status put_stored(heed_context *context, const heed_safetensors *file,
                              const heed_source *source, file_sink *sink, heed_error *error) {
  const uint32_t count = heed_safetensors_count(file);
  heed_array *arrays = heed_alloc(context, (size_t)count + 1, sizeof *arrays);
  stored *from = heed_alloc(context, (size_t)count + 1, sizeof *from);
  heed_status status = arrays && from
                           ? list_stored(file, source, sink->name, from, arrays, error)
                           : heed_fail_memory(error, sink->name, (size_t)count * sizeof *arrays);
  if (status == HEED_OK)
    status = heed_ends_with_any_case(sink->name, ".npy")
                 ? write_npy(arrays, count, sink, error)
                 : heed_npz_write(context, arrays, count, write_part, sink, error);
  heed_free(context, from);
  heed_free(context, arrays);
  return status;
}

heed_status heed_tensor_file_copy(heed_context *context, const heed_source *source, FILE *to,
                                  const char *name, heed_error *error) {
  file_sink sink = {to, name};
  heed_safetensors *file;
  if (!heed_ends_with_any_case(name, ".npy") && !heed_ends_with_any_case(name, ".npz")) {
    stored whole = {source, name, 0, source->size};
    return copy_stored(&whole, write_part, &sink, error);
  }
  HEED_TRY(heed_safetensors_open(context, source, name, &file, error));
  const heed_status status = put_stored(context, file, source, &sink, error);
  heed_safetensors_destroy(file);
  return status;
}

/* --------------------------------------------------------------------------------- heed/native.h
 */

heed_status heed_tensor_file_put(heed_context *context, FILE *to, const char *name,
                                 const heed_tensor_data *tensors, uint32_t count,
                                 const heed_metadata_entry *metadata, uint32_t metadata_count,
                                 heed_error *error) {
  heed_safetensors_item *items = heed_alloc(context, (size_t)count + 1, sizeof *items);
  if (!items) return heed_fail_memory(error, name, ((size_t)count + 1) * sizeof *items);
  for (uint32_t i = 0; i < count; i++)
    items[i] = (heed_safetensors_item){.name = tensors[i].name,
                                       .dtype = tensors[i].dtype,
                                       .shape = tensors[i].shape,
                                       .data = tensors[i].data};
  const heed_tensor_contents contents = {
      .items = items, .count = count, .metadata = metadata, .metadata_count = metadata_count};
  const heed_status status = heed_tensor_contents_write(context, &contents, to, name, error);
  heed_free(context, items);
  return status;
}

typedef struct tensor_writer {
  heed_context *context;
  const char *path;
  const heed_tensor_data *tensors;
  const heed_metadata_entry *metadata;
  uint32_t count, metadata_count;
} tensor_writer;

static heed_status write_file(void *user, FILE *to, heed_error *error) {
  const tensor_writer *w = user;
  return heed_tensor_file_put(w->context, to, w->path, w->tensors, w->count, w->metadata,
                              w->metadata_count, error);
}

heed_status heed_tensor_file_write(heed_context *context, const char *path,
                                   const heed_tensor_data *tensors, uint32_t count,
                                   const heed_metadata_entry *metadata, uint32_t metadata_count,
                                   heed_error *error) {
  tensor_writer writer = {context, path, tensors, metadata, count, metadata_count};
  return heed_file_stream(path, write_file, &writer, error);
}
