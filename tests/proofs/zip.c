/* The directory of a zip file: its end, an entry of it, and where an entry's data lie. */
#include "pickle/zip.h"

#include <stdlib.h>

#include "proofs/proof.h"

#define TAIL 40 /* bytes at a file's end */
#define MOST_EXTRA 24
#define MOST_LISTED 3

/* clang-format off */
static bool find_end(const unsigned char *tail, size_t size, size_t *at)
  __CPROVER_requires(size >= 22 && __CPROVER_r_ok(tail, size))
  __CPROVER_assigns(*at)
  __CPROVER_ensures(!__CPROVER_return_value || *at <= size - 22);

static heed_status read_extra(const heed_zip *zip, const unsigned char *extra, size_t size,
                              heed_zip_entry *entry, heed_error *error)
  __CPROVER_requires(__CPROVER_r_ok(extra, size))
  __CPROVER_assigns(entry->size, entry->stored, entry->header)
  __CPROVER_ensures(__CPROVER_return_value != HEED_OK || (entry->header <= zip->directory && entry->stored <= zip->directory));
/* clang-format on */

#include "pickle/zip.c"

/* ------------------------------------------------------------------------------ stand-ins */

static uint64_t taken, left; /* of the directory */
static bool begins;          /* an entry: its numbers are read, then texts, which stay any bytes */

heed_status heed_byte_reader_take(heed_byte_reader *reader, void *to, uint64_t count,
                                  heed_error *error) {
  (void)reader;
  (void)error;
  const uint64_t given = count < left ? count : left;
  claim(!to || given == 0 || __CPROVER_w_ok(to, given), "there is room for what is taken");
  if (count > left || nondet_bool()) return HEED_INVALID_FILE;
  left -= count;
  taken += count;
  if (begins) fill_with_anything(to, ENTRY_BYTES);
  begins = false;
  return HEED_OK;
}

uint64_t heed_little_endian(const unsigned char *bytes, size_t count) {
  uint64_t number = 0;
  claim(__CPROVER_r_ok(bytes, count), "a number lies in its bytes");
  while (count-- > 0) number = number << 8 | bytes[count];
  return number;
}

void *memchr(const void *bytes, int sign, size_t count) {
  (void)sign;
  claim(count == 0 || __CPROVER_r_ok(bytes, count), "what is searched is there");
  return nondet_bool() && count ? (void *)bytes : NULL;
}

/* --------------------------------------------------------------------------------- proofs */

static heed_source source;
static heed_zip zip;

static void start(void) {
  source.size = nondet_u64();
  zip.source = &source;
  zip.where = "file";
  zip.count = 0;
  zip.directory = nondet_u64();
  assume(zip.directory <= source.size);
}

void prove_find_end(void) {
  unsigned char tail[TAIL];
  size_t at;
  const size_t size = nondet_u32();
  assume(size >= END_BYTES && size <= sizeof tail);
  fill_with_anything(tail, sizeof tail);
  (void)find_end(tail + sizeof tail - size, size, &at);
  ends();
}

void prove_end(void) {
  unsigned char tail[TAIL];
  directory found;
  heed_error error;
  start();
  const size_t size = nondet_u32();
  assume(size <= sizeof tail && size <= source.size);
  fill_with_anything(tail, sizeof tail);
  if (read_end(&zip, tail + sizeof tail - size, size, &found, &error) != HEED_OK) return;
  claim(found.offset <= found.end && found.end <= source.size, "a directory is in the file");
  claim(found.bytes == found.end - found.offset, "a directory ends where its end begins");
  claim(found.entries <= found.bytes / ENTRY_BYTES && found.entries <= MAX_ENTRIES,
        "entries fit their directory");
  ends();
}

void prove_extra(void) {
  unsigned char extra[MOST_EXTRA];
  heed_zip_entry entry = {.stored = nondet_u64(), .size = nondet_u64(), .header = nondet_u64()};
  heed_error error;
  start();
  const size_t size = nondet_u32();
  assume(size <= sizeof extra);
  fill_with_anything(extra, sizeof extra);
  (void)read_extra(&zip, extra + sizeof extra - size, size, &entry, &error);
  ends();
}

/* One more entry: as long as names are no longer than what was taken, they fit their room. */
void prove_entry(void) {
  heed_byte_reader reader;
  heed_error error;
  heed_zip_entry entries[1];
  uint32_t by_name[1];
  start();
  const uint64_t bytes = nondet_u64();
  assume(bytes <= UINT32_MAX / 2);
  taken = nondet_u64();
  assume(taken <= bytes);
  left = bytes - taken;
  size_t names = nondet_u64();
  assume(names <= taken);
  zip.names = malloc(bytes + 1);
  assume(zip.names != NULL);
  zip.entries = entries;
  zip.by_name = by_name;
  begins = true;
  const heed_status status = read_entry(&zip, &reader, &names, &error);
  claim(names <= taken, "names are no longer than what was taken");
  if (status != HEED_OK) return;
  claim(entries[0].header <= zip.directory && entries[0].stored <= zip.directory,
        "an entry is before the directory");
  claim(entries[0].name < bytes + 1, "an entry's name is among the names");
  ends();
}

void prove_locate(void) {
  heed_zip_entry entry;
  heed_error error;
  char names[1] = "";
  uint64_t offset;
  start();
  zip.names = names;
  entry.name = 0;
  entry.method = nondet_bool();
  entry.flags = 0;
  entry.stored = nondet_u64();
  entry.size = nondet_u64();
  entry.header = nondet_u64();
  assume(entry.header <= zip.directory && entry.stored <= zip.directory);
  if (heed_zip_locate(&zip, &entry, &offset, &error) != HEED_OK) return;
  claim(offset <= zip.directory && entry.stored <= zip.directory - offset,
        "data lie before the directory");
  ends();
}
