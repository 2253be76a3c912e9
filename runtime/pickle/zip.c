/* The directory of a zip file. See zip.h.
 *
 * End of the directory: signature, disks, entries, bytes, offset, comment. With ZIP64 a locator
 * before it leads to a record with the same in 64 bits. */
#include "pickle/zip.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/files/source.h"
#include "pickle/byte_reader.h"

#define END_BYTES 22u
#define LOCATOR_BYTES 20u
#define END64_BYTES 56u
#define ENTRY_BYTES 46u
#define LOCAL_BYTES 30u
#define MAX_COMMENT 65535u
#define MAX_ENTRIES (1u << 20)
#define MAX_NAME 1024u
#define ENCRYPTED 1u

typedef struct directory {
  uint64_t entries, bytes, offset, end; /* end: where what follows the directory begins */
} directory;

static heed_status damaged(const char *where, const char *found, const char *expected,
                           heed_error *error) {
  return heed_fail(error, HEED_INVALID_FILE, "%s: damaged zip file (found %s, expected %s)", where,
                   found, expected);
}

/* -------------------------------------------------------------------------- end of the directory
 */

/* The signature whose comment ends with the file, from the end on. */
static bool find_end(const unsigned char *tail, size_t size, size_t *at) {
  for (size_t i = size - END_BYTES + 1; i-- > 0;)
    if (memcmp(tail + i, "PK\5\6", 4) == 0 &&
        heed_little_endian(tail + i + 20, 2) == size - i - END_BYTES) {
      *at = i;
      return true;
    }
  return false;
}

static heed_status read_end64(const heed_zip *zip, uint64_t end, directory *found,
                              heed_error *error) {
  unsigned char locator[LOCATOR_BYTES], record[END64_BYTES];
  if (end < LOCATOR_BYTES) return HEED_OK;
  HEED_TRY(heed_source_read(zip->source, zip->where, end - LOCATOR_BYTES, locator, sizeof locator,
                            error));
  if (memcmp(locator, "PK\6\7", 4) != 0) return HEED_OK;
  const uint64_t at = heed_little_endian(locator + 8, 8);
  if (end - LOCATOR_BYTES < END64_BYTES || at > end - LOCATOR_BYTES - END64_BYTES)
    return damaged(zip->where, "a ZIP64 record outside of the file", "one before its locator",
                   error);
  HEED_TRY(heed_source_read(zip->source, zip->where, at, record, sizeof record, error));
  if (memcmp(record, "PK\6\6", 4) != 0)
    return damaged(zip->where, "no ZIP64 record where its locator points", "one", error);
  *found = (directory){heed_little_endian(record + 32, 8), heed_little_endian(record + 40, 8),
                       heed_little_endian(record + 48, 8), at};
  return HEED_OK;
}

static heed_status read_end(const heed_zip *zip, const unsigned char *tail, size_t size,
                            directory *found, heed_error *error) {
  size_t at;
  if (size < END_BYTES || !find_end(tail, size, &at))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: truncated (found no directory at the end of the zip file; was it "
                     "downloaded whole?)",
                     zip->where);
  const unsigned char *end = tail + at;
  if (heed_little_endian(end + 4, 4) != 0)
    return damaged(zip->where, "a part of several", "one file", error);
  const uint64_t offset = zip->source->size - size + at;
  *found = (directory){heed_little_endian(end + 10, 2), heed_little_endian(end + 12, 4),
                       heed_little_endian(end + 16, 4), offset};
  HEED_TRY(read_end64(zip, offset, found, error));
  if (found->offset > found->end || found->bytes != found->end - found->offset)
    return damaged(zip->where, "a directory of another place or length", "one up to its end",
                   error);
  if (found->entries > found->bytes / ENTRY_BYTES)
    return damaged(zip->where, "more entries than the directory has room for", "fewer", error);
  if (found->entries > MAX_ENTRIES)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: too many zip entries (found %" PRIu64 ", expected at most %u)",
                     zip->where, found->entries, MAX_ENTRIES);
  return HEED_OK;
}

static heed_status find_directory(const heed_zip *zip, directory *found, heed_error *error) {
  const uint64_t most = END_BYTES + MAX_COMMENT;
  const size_t size = (size_t)(zip->source->size < most ? zip->source->size : most);
  unsigned char *tail = heed_alloc_raw(zip->context, size, 1);
  if (!tail) return heed_fail_memory(error, zip->where, size);
  heed_status status =
      heed_source_read(zip->source, zip->where, zip->source->size - size, tail, size, error);
  if (status == HEED_OK) status = read_end(zip, tail, size, found, error);
  heed_free(zip->context, tail);
  return status;
}

/* --------------------------------------------------------------------------------------- entries
 */

/* The 64-bit numbers of the extra field 1 take the places of those that are all ones. */
static heed_status read_extra(const heed_zip *zip, const unsigned char *extra, size_t size,
                              heed_zip_entry *entry, heed_error *error) {
  uint64_t *const numbers[] = {&entry->size, &entry->stored, &entry->header};
  while (size >= 4) {
    const size_t id = (size_t)heed_little_endian(extra, 2),
                 length = (size_t)heed_little_endian(extra + 2, 2);
    if (length > size - 4) break;
    size_t at = 0;
    for (size_t i = 0; id == 1 && i < 3; i++) {
      if (*numbers[i] != UINT32_MAX || at + 8 > length) continue;
      *numbers[i] = heed_little_endian(extra + 4 + at, 8);
      at += 8;
    }
    extra += 4 + length;
    size -= 4 + length;
  }
  if (entry->header > zip->directory || entry->stored > zip->directory)
    return damaged(zip->where, "an entry that does not fit the file", "one before the directory",
                   error);
  return HEED_OK;
}

static heed_status read_entry(heed_zip *zip, heed_byte_reader *reader, size_t *names,
                              heed_error *error) {
  unsigned char fixed[ENTRY_BYTES], extra[MAX_NAME];
  heed_zip_entry *entry = &zip->entries[zip->count];
  HEED_TRY(heed_byte_reader_take(reader, fixed, sizeof fixed, error));
  const size_t name = (size_t)heed_little_endian(fixed + 28, 2),
               more = (size_t)heed_little_endian(fixed + 30, 2),
               comment = (size_t)heed_little_endian(fixed + 32, 2);
  if (memcmp(fixed, "PK\1\2", 4) != 0)
    return damaged(zip->where, "another signature in the directory", "an entry", error);
  if (name > MAX_NAME || more > sizeof extra)
    return damaged(zip->where, "an entry with a long name or extra field", "at most 1024 bytes",
                   error);
  *entry = (heed_zip_entry){(uint32_t)*names,
                            (uint32_t)heed_little_endian(fixed + 16, 4),
                            (uint16_t)heed_little_endian(fixed + 10, 2),
                            (uint16_t)heed_little_endian(fixed + 8, 2),
                            heed_little_endian(fixed + 20, 4),
                            heed_little_endian(fixed + 24, 4),
                            heed_little_endian(fixed + 42, 4)};
  HEED_TRY(heed_byte_reader_take(reader, zip->names + *names, name, error));
  zip->names[*names + name] = '\0';
  if (memchr(zip->names + *names, '\0', name))
    return damaged(zip->where, "a name with a zero byte", "none", error);
  *names += name + 1;
  HEED_TRY(heed_byte_reader_take(reader, extra, more, error));
  HEED_TRY(read_extra(zip, extra, more, entry, error));
  zip->by_name[zip->count] = zip->count;
  zip->count++;
  return heed_byte_reader_take(reader, NULL, comment, error);
}

static bool header_less(const void *user, uint32_t a, uint32_t b) {
  const heed_zip *zip = user;
  const uint64_t x = zip->entries[a].header, y = zip->entries[b].header;
  return x != y ? x < y : a < b;
}

static bool name_less(const void *user, uint32_t a, uint32_t b) {
  const heed_zip *zip = user;
  const int order = strcmp(zip->names + zip->entries[a].name, zip->names + zip->entries[b].name);
  return order ? order < 0 : a < b;
}

/* Leaves by_name in the order of names. */
static heed_status check_entries(heed_zip *zip, heed_error *error) {
  heed_sort(zip->by_name, zip->count, header_less, zip);
  for (uint32_t i = 0; i < zip->count; i++) {
    const heed_zip_entry *entry = &zip->entries[zip->by_name[i]];
    const uint64_t next =
        i + 1 < zip->count ? zip->entries[zip->by_name[i + 1]].header : zip->directory;
    if (entry->header + LOCAL_BYTES + entry->stored > next)
      return heed_fail(error, HEED_INVALID_FILE,
                       "%s: damaged zip file (entry %.*s overlaps the next)", zip->where,
                       HEED_CUT(heed_zip_name(zip, entry)));
  }
  heed_sort(zip->by_name, zip->count, name_less, zip);
  for (uint32_t i = 1; i < zip->count; i++) {
    const char *name = heed_zip_name(zip, &zip->entries[zip->by_name[i]]);
    if (strcmp(name, heed_zip_name(zip, &zip->entries[zip->by_name[i - 1]])) == 0)
      return heed_fail(error, HEED_INVALID_FILE, "%s: damaged zip file (entry %.*s occurs twice)",
                       zip->where, HEED_CUT(name));
  }
  return HEED_OK;
}

static heed_status read_entries(heed_zip *zip, const directory *found, heed_byte_reader *reader,
                                heed_error *error) {
  const size_t count = (size_t)found->entries, room = count ? count : 1;
  /* a name's zero byte takes the place of what comes before the name */
  const size_t names = (size_t)found->bytes + 1;
  zip->directory = found->offset;
  zip->entries = heed_alloc(zip->context, room, sizeof *zip->entries);
  zip->by_name = heed_alloc(zip->context, room, sizeof *zip->by_name);
  zip->names = heed_alloc_raw(zip->context, names, 1);
  if (!zip->entries || !zip->by_name || !zip->names)
    return heed_fail_memory(error, zip->where, names + room * sizeof *zip->entries);
  size_t used = 0;
  heed_byte_reader_start(reader, zip->source, zip->where, found->offset,
                         found->offset + found->bytes);
  for (size_t i = 0; i < count; i++) HEED_TRY(read_entry(zip, reader, &used, error));
  return check_entries(zip, error);
}

heed_status heed_zip_open(const heed_context *context, const heed_source *source, const char *where,
                          heed_zip *zip, heed_error *error) {
  directory found = {0};
  *zip = (heed_zip){.context = context, .source = source, .where = where};
  HEED_TRY(find_directory(zip, &found, error));
  if (found.bytes > UINT32_MAX / 2) return damaged(where, "a directory above 2 GiB", "less", error);
  heed_byte_reader *reader = heed_alloc(context, 1, sizeof *reader);
  if (!reader) return heed_fail_memory(error, where, sizeof *reader);
  const heed_status status = read_entries(zip, &found, reader, error);
  heed_free(context, reader);
  return status;
}

void heed_zip_close(heed_zip *zip) {
  heed_free(zip->context, zip->names);
  heed_free(zip->context, zip->entries);
  heed_free(zip->context, zip->by_name);
  *zip = (heed_zip){.context = zip->context};
}

const char *heed_zip_name(const heed_zip *zip, const heed_zip_entry *entry) {
  return zip->names + entry->name;
}

const heed_zip_entry *heed_zip_find(const heed_zip *zip, const char *name) {
  uint32_t low = 0, high = zip->count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    const heed_zip_entry *entry = &zip->entries[zip->by_name[middle]];
    const int order = strcmp(name, heed_zip_name(zip, entry));
    if (order == 0) return entry;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

/* --------------------------------------------------------------------------------- one entry's
 * data */

heed_status heed_zip_locate(const heed_zip *zip, const heed_zip_entry *entry, uint64_t *offset,
                            heed_error *error) {
  unsigned char local[LOCAL_BYTES];
  const char *name = heed_zip_name(zip, entry);
  if (entry->method != 0 || entry->flags & ENCRYPTED)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: zip entry %.*s is %s (expected it stored, as torch.save does; unpack the "
                     "file, then: zip -0 -r NEW.pth FOLDER)",
                     zip->where, HEED_CUT(name),
                     entry->flags & ENCRYPTED ? "encrypted" : "compressed");
  HEED_TRY(heed_source_read(zip->source, zip->where, entry->header, local, sizeof local, error));
  *offset = entry->header + LOCAL_BYTES + heed_little_endian(local + 26, 2) +
            heed_little_endian(local + 28, 2);
  if (memcmp(local, "PK\3\4", 4) != 0 || entry->stored != entry->size || *offset > zip->directory ||
      entry->stored > zip->directory - *offset)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: damaged zip file (entry %.*s does not lie where the directory says)",
                     zip->where, HEED_CUT(name));
  return HEED_OK;
}
