/* A regular file open for reading, piece by piece. */
#ifndef HEED_NATIVE_FILES_REGULAR_FILE_H
#define HEED_NATIVE_FILES_REGULAR_FILE_H

#include "heed/base.h"
#include "pickle/kind.h"

typedef struct heed_regular {
  int descriptor;   /* -1: not open */
  const char *path; /* borrowed; for sentences */
} heed_regular;

/* Opens it and gives its size. Never waits for who would write to a pipe. Statuses: IO,
 * OUT_OF_MEMORY. */
heed_status heed_regular_open(heed_regular *file, const char *path, uint64_t *size,
                              heed_error *error);
void heed_regular_close(heed_regular *file);
/* As heed_source.read; user is a heed_regular. Statuses: IO. */
heed_status heed_regular_read(void *user, uint64_t offset, void *to, size_t count,
                              heed_error *error);
/* The first bytes of a regular file, of which *count are there; false where it is none or cannot be
 * read. What is no regular file is not opened. */
bool heed_regular_first(const char *path, unsigned char first[HEED_KIND_BYTES], size_t *count);
/* Refuses a file that begins as those of another kind do; `expected` ends the sentence. Statuses:
 * IO, UNSUPPORTED, INVALID_FILE. */
heed_status heed_regular_check_kind(heed_regular *file, uint64_t size, const char *expected,
                                    heed_error *error);

#endif
