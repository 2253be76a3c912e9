/* The entries of a zip file (PKWARE APPNOTE 6.3.9), with ZIP64: names and where stored data lies.
 * Nothing is decompressed. */
#ifndef HEED_PICKLE_ZIP_H
#define HEED_PICKLE_ZIP_H

#include "base/context.h"
#include "heed/model.h"

typedef struct heed_zip_entry {
  uint32_t name; /* in heed_zip.names */
  uint32_t crc;
  uint16_t method, flags;
  uint64_t stored, size; /* bytes in the file, and unpacked */
  uint64_t header;       /* of its own, before its data; in the file */
} heed_zip_entry;

typedef struct heed_zip {
  const heed_context *context;
  const heed_source *source;
  const char *where;
  char *names;
  heed_zip_entry *entries;
  uint32_t *by_name;
  uint32_t count;
  uint64_t directory; /* where the directory begins, and all data has ended */
} heed_zip;

/* Reads the directory: entries that overlap or have one name are refused. Borrows all. What it
 * leaves is to be closed, also when it fails. Statuses: INVALID_FILE, UNSUPPORTED, OUT_OF_MEMORY,
 * those of the source. */
heed_status heed_zip_open(const heed_context *context, const heed_source *source, const char *where,
                          heed_zip *zip, heed_error *error);
void heed_zip_close(heed_zip *zip);

const char *heed_zip_name(const heed_zip *zip, const heed_zip_entry *entry);
/* The entry of this name, or NULL. */
const heed_zip_entry *heed_zip_find(const heed_zip *zip, const char *name);
/* Where the data of an entry begins; it must be stored as it is. Statuses: as open. */
heed_status heed_zip_locate(const heed_zip *zip, const heed_zip_entry *entry, uint64_t *offset,
                            heed_error *error);

#endif
