/* Bytes of a source in their order, through a small buffer. */
#ifndef HEED_PICKLE_BYTE_READER_H
#define HEED_PICKLE_BYTE_READER_H

#include "base/context.h"
#include "heed/model.h"

#ifndef HEED_PICKLE_WINDOW /* tests/proofs sets another */
#define HEED_PICKLE_WINDOW 4096
#endif

typedef struct heed_byte_reader {
  const heed_source *source;
  const char *where; /* begins the sentences of errors */
  uint64_t next;     /* of the source: the first byte that is not buffered */
  uint64_t end;
  uint32_t crc; /* of all bytes up to `next`, as zip files have it */
  uint32_t from, held;
  unsigned char buffer[HEED_PICKLE_WINDOW];
} heed_byte_reader;

/* Bytes [begin, end) of the source; the end may lie behind the source's. */
void heed_byte_reader_start(heed_byte_reader *reader, const heed_source *source, const char *where,
                            uint64_t begin, uint64_t end);
/* Where in the source the next byte lies. */
uint64_t heed_byte_reader_at(const heed_byte_reader *reader);
/* Copies the next bytes, or leaves them out when `to` is NULL. Statuses: INVALID_FILE where there
 * are fewer, those of the source. */
heed_status heed_byte_reader_take(heed_byte_reader *reader, void *to, uint64_t count,
                                  heed_error *error);
/* Reads what is left, so that the checksum is that of all bytes. */
heed_status heed_byte_reader_finish(heed_byte_reader *reader, heed_error *error);

/* A little-endian number of 1 to 8 bytes. */
uint64_t heed_little_endian(const unsigned char *bytes, size_t count);

#endif
