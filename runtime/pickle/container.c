/* The forms of PyTorch's files. See container.h.
 *
 * Zip (torch/serialization.py: _save): NAME/data.pkl, NAME/data/KEY for each storage, all stored as
 * they are; NAME/byteorder in newer files. Before 1.6 (_legacy_save): pickles of a magic number, of
 * the protocol 1001, of the system, of the object, of the list of storage keys; then for each key
 * the elements' number as 8 bytes, and the elements. */
#include "pickle/container.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/source.h"
#include "pickle/calls.h"
#include "pickle/machine.h"

#define PICKLE_FILE "data.pkl"
#define LEGACY_PROTOCOL 1001
#define ENTRY_NAME 1200u

static const char legacy_magic[] = "\x80\2\x8A\nl\xFC\x9C\x46\xF9 j\xA8P\x19.";

/* --------------------------------------------------------------------------------------- storages
 */

static bool key_less(const void *user, uint32_t a, uint32_t b) {
  const heed_pickle_heap *heap = user;
  const int order = strcmp(heed_pickle_text(heap, heap->values[a].of),
                           heed_pickle_text(heap, heap->values[b].of));
  return order ? order < 0 : a < b;
}

/* One storage of each key; all of a key must be alike. */
static heed_status unite_storages(heed_container *c, heed_error *error) {
  const heed_pickle_heap *heap = &c->heap;
  uint32_t kept = 0;
  heed_sort(c->storages, c->storage_count, key_less, heap);
  for (uint32_t i = 0; i < c->storage_count; i++) {
    const heed_pickle_value *value = heed_pickle_get(heap, c->storages[i]);
    const heed_pickle_value *last = heed_pickle_get(heap, kept ? c->storages[kept - 1] : 0);
    const char *key = heed_pickle_text(heap, value->of);
    if (!kept || strcmp(key, heed_pickle_text(heap, last->of)) != 0)
      c->storages[kept++] = c->storages[i];
    else if (value->tag != last->tag || value->number != last->number)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: storage %.*s occurs with two lengths or element types", heap->where,
                       HEED_CUT(key));
  }
  c->storage_count = kept;
  return HEED_OK;
}

static heed_status collect_storages(heed_container *c, heed_error *error) {
  const heed_pickle_heap *heap = &c->heap;
  uint32_t count = 0;
  for (uint32_t id = 0; id < heap->count; id++)
    count += heap->values[id].kind == HEED_PICKLE_STORAGE;
  const size_t room = count ? count : 1;
  c->storages = heed_alloc(heap->context, room, sizeof *c->storages);
  c->places = heed_alloc(heap->context, room, sizeof *c->places);
  if (!c->storages || !c->places)
    return heed_fail_memory(error, heap->where, room * sizeof *c->places);
  for (uint32_t id = 0; id < heap->count; id++)
    if (heap->values[id].kind == HEED_PICKLE_STORAGE) c->storages[c->storage_count++] = id;
  return unite_storages(c, error);
}

/* --------------------------------------------------------------------------------------- zip form
 */

/* Zip files of other makers, by what is in them. */
static const char *zip_kind(const heed_zip *zip) {
  static const struct {
    const char *end, *kind;
  } kinds[] = {{".npy", "numpy's .npz file"},
               {"model.weights.h5", "a Keras file"},
               {"word/document.xml", "a document"},
               {".safetensors", "a zip file with .safetensors: unpack it"},
               {".pth", "a zip file with .pth: unpack it"},
               {".bin", "a zip file with .bin: unpack it"}};
  for (uint32_t i = 0; i < zip->count; i++)
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
      const char *name = heed_zip_name(zip, &zip->entries[i]);
      const size_t length = strlen(name), end = strlen(kinds[k].end);
      if (length >= end && strcmp(name + length - end, kinds[k].end) == 0) return kinds[k].kind;
    }
  return "another zip file";
}

/* NAME/data.pkl; NULL where there is none. Of two nobody says which is meant. */
static heed_status find_pickle(heed_container *c, const heed_zip_entry **pickle,
                               heed_error *error) {
  *pickle = NULL;
  for (uint32_t i = 0; i < c->zip.count; i++) {
    const char *name = heed_zip_name(&c->zip, &c->zip.entries[i]), *slash = strchr(name, '/');
    if (strcmp(slash ? slash + 1 : name, PICKLE_FILE) != 0) continue;
    if (*pickle)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: two pickles (found %.*s and %.*s, expected one)", c->heap.where,
                       HEED_CUT(heed_zip_name(&c->zip, *pickle)), HEED_CUT(name));
    *pickle = &c->zip.entries[i];
    c->folder = name;
    c->folder_bytes = slash ? (uint32_t)(slash + 1 - name) : 0;
  }
  return HEED_OK;
}

/* The entry of this name in the folder, or NULL. */
static const heed_zip_entry *find_entry(const heed_container *c, const char *folder,
                                        const char *name) {
  char path[ENTRY_NAME];
  const int written =
      snprintf(path, sizeof path, "%.*s%s%s", (int)c->folder_bytes, c->folder, folder, name);
  return (size_t)written < sizeof path ? heed_zip_find(&c->zip, path) : NULL;
}

static heed_status check_order(const heed_container *c, heed_error *error) {
  const heed_zip_entry *entry = find_entry(c, "", "byteorder");
  char order[4] = "";
  uint64_t at;
  if (!entry || entry->size < 3) return HEED_OK;
  HEED_TRY(heed_zip_locate(&c->zip, entry, &at, error));
  HEED_TRY(heed_source_read(c->zip.source, c->zip.where, at, order, 3, error));
  if (strcmp(order, "big") != 0) return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: byte order not supported (found big-endian, expected little-endian)",
                   c->zip.where);
}

static heed_status run_zip(heed_container *c, heed_byte_reader *reader, heed_error *error) {
  const char *where = c->heap.where;
  uint64_t at;
  const heed_zip_entry *entry;
  HEED_TRY(find_pickle(c, &entry, error));
  if (!entry)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: format not supported (found %s, expected one that torch.save wrote, with "
                     "NAME/" PICKLE_FILE ")",
                     where, zip_kind(&c->zip));
  HEED_TRY(check_order(c, error));
  HEED_TRY(heed_zip_locate(&c->zip, entry, &at, error));
  heed_byte_reader_start(reader, c->zip.source, where, at, at + entry->size);
  HEED_TRY(heed_pickle_run(&c->heap, reader, &c->root, error));
  HEED_TRY(heed_byte_reader_finish(reader, error));
  if (entry->crc == 0 || entry->crc == reader->crc) return collect_storages(c, error); /* 0: none */
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: damaged file (found checksum %08" PRIx32 " of %s, expected %08" PRIx32
                   "); download it again",
                   where, reader->crc, PICKLE_FILE, entry->crc);
}

static heed_status locate_in_zip(const heed_container *c, heed_pickle_id storage, uint64_t *offset,
                                 heed_error *error) {
  const heed_pickle_value *value = heed_pickle_get(&c->heap, storage);
  const char *key = heed_pickle_text(&c->heap, value->of);
  const heed_zip_entry *entry = find_entry(c, "data/", key);
  if (!entry)
    return heed_fail(error, HEED_INVALID_FILE, "%s: storage %.*s is missing (expected data/%.*s)",
                     c->heap.where, HEED_CUT(key), HEED_CUT(key));
  const uint32_t size = heed_pickle_dtype_of(&c->heap, storage)->bytes;
  /* heed_layout_read has seen that the product is one of 64 bits */
  if ((uint64_t)value->number * size != entry->size)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: storage %.*s has the wrong length (found %" PRIu64
                     " bytes, expected %" PRId64 " elements of %" PRIu32 ")",
                     c->heap.where, HEED_CUT(key), entry->size, value->number, size);
  return heed_zip_locate(&c->zip, entry, offset, error);
}

/* --------------------------------------------------------------------------------- form before 1.6
 */

/* The index of the storage with this key; storage_count when there is none. */
static uint32_t find_storage(const heed_container *c, const char *key) {
  uint32_t low = 0, high = c->storage_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const heed_pickle_value *value = heed_pickle_get(&c->heap, c->storages[middle]);
    const int order = strcmp(key, heed_pickle_text(&c->heap, value->of));
    if (order == 0) return middle;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return c->storage_count;
}

/* The data of one storage, at *at, which moves behind it. */
static heed_status place_storage(heed_container *c, heed_pickle_id name, uint64_t *at,
                                 heed_error *error) {
  unsigned char length[8];
  const char *where = c->heap.where, *key = heed_pickle_text(&c->heap, name);
  const uint32_t index = find_storage(c, key);
  if (index == c->storage_count || c->places[index])
    return heed_fail(error, HEED_INVALID_FILE, "%s: storage %.*s %s", where, HEED_CUT(key),
                     index == c->storage_count ? "belongs to no tensor" : "occurs twice");
  HEED_TRY(heed_source_read(c->zip.source, where, *at, length, sizeof length, error));
  const heed_pickle_value *value = heed_pickle_get(&c->heap, c->storages[index]);
  const uint64_t count = heed_little_endian(length, sizeof length);
  uint64_t bytes;
  if (count != (uint64_t)value->number ||
      !heed_u64_mul(count, heed_pickle_dtype_of(&c->heap, c->storages[index])->bytes, &bytes) ||
      bytes > c->zip.source->size - *at - sizeof length)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: storage %.*s is truncated or has the wrong length (found %" PRIu64
                     " elements, expected %" PRId64 ")",
                     where, HEED_CUT(key), count, value->number);
  c->places[index] = *at + sizeof length;
  *at += sizeof length + bytes;
  return HEED_OK;
}

static heed_status run_legacy(heed_container *c, heed_byte_reader *reader, heed_error *error) {
  heed_pickle_heap *heap = &c->heap;
  heed_pickle_id protocol, host, keys;
  heed_byte_reader_start(reader, c->zip.source, heap->where, sizeof legacy_magic - 1, UINT64_MAX);
  HEED_TRY(heed_pickle_run(heap, reader, &protocol, error));
  HEED_TRY(heed_pickle_run(heap, reader, &host, error));
  if (heed_pickle_get(heap, protocol)->number != LEGACY_PROTOCOL)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: format not supported (found another protocol of PyTorch, expected %d)",
                     heap->where, LEGACY_PROTOCOL);
  const heed_pickle_id little = heed_pickle_entry(heap, host, "little_endian");
  if (little && heed_pickle_get(heap, little)->number == 0)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: byte order not supported (found big-endian, expected little-endian)",
                     heap->where);
  HEED_TRY(heed_pickle_run(heap, reader, &c->root, error));
  HEED_TRY(heed_pickle_run(heap, reader, &keys, error));
  HEED_TRY(collect_storages(c, error));
  uint64_t at = heed_byte_reader_at(reader);
  for (uint32_t cell = heap->values[keys].first; cell; cell = heap->cells[cell].next)
    HEED_TRY(place_storage(c, heap->cells[cell].value, &at, error));
  return HEED_OK;
}

static heed_status locate_in_legacy(const heed_container *c, heed_pickle_id storage,
                                    uint64_t *offset, heed_error *error) {
  const char *key = heed_pickle_text(&c->heap, heed_pickle_get(&c->heap, storage)->of);
  *offset = c->places[find_storage(c, key)]; /* all storages of the heap were collected */
  if (*offset) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE, "%s: storage %.*s is missing (expected its data)",
                   c->heap.where, HEED_CUT(key));
}

/* ------------------------------------------------------------------------------------------- both
 */

static heed_status open_form(heed_container *c, heed_byte_reader *reader, heed_error *error) {
  char first[sizeof legacy_magic - 1] = "";
  const heed_source *source = c->zip.source;
  const char *where = c->heap.where;
  const size_t count = source->size < sizeof first ? (size_t)source->size : sizeof first;
  HEED_TRY(heed_source_read(source, where, 0, first, count, error));
  c->is_zip = count >= 4 && memcmp(first, "PK\3\4", 4) == 0;
  if (c->is_zip) {
    HEED_TRY(heed_zip_open(c->heap.context, source, where, &c->zip, error));
    return run_zip(c, reader, error);
  }
  if (memcmp(first, legacy_magic, count) == 0 && count == sizeof first)
    return run_legacy(c, reader, error);
  if (count >= 2 && first[0] == legacy_magic[0] && first[1] >= 2 && first[1] <= 5)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: format not supported (found a Python pickle without PyTorch's mark, or a "
                     "truncated file; expected one that torch.save wrote)",
                     where);
  return heed_fail(
      error, HEED_UNSUPPORTED,
      "%s: format not supported (found neither a zip file nor a pickle, expected a file "
      "that torch.save wrote)",
      where);
}

heed_status heed_container_open(const heed_context *context, const heed_source *source,
                                const char *where, heed_container *container, heed_error *error) {
  *container = (heed_container){.zip = {.context = context, .source = source, .where = where},
                                .heap = {.context = context},
                                .folder = ""};
  HEED_TRY(heed_pickle_heap_start(&container->heap, context, where, error));
  heed_byte_reader *reader = heed_alloc(context, 1, sizeof *reader);
  if (!reader) return heed_fail_memory(error, where, sizeof *reader);
  const heed_status status = open_form(container, reader, error);
  heed_free(context, reader);
  return status;
}

void heed_container_close(heed_container *container) {
  const heed_context *context = container->heap.context;
  heed_free(context, container->storages);
  heed_free(context, container->places);
  heed_zip_close(&container->zip);
  heed_pickle_heap_end(&container->heap);
}

heed_status heed_container_locate(heed_container *container, heed_pickle_id storage,
                                  uint64_t *offset, heed_error *error) {
  if (!storage || storage != container->found) { /* many tensors may be of one storage */
    container->found = 0;
    HEED_TRY(container->is_zip ? locate_in_zip(container, storage, &container->place, error)
                               : locate_in_legacy(container, storage, &container->place, error));
    container->found = storage;
  }
  *offset = container->place;
  return HEED_OK;
}
