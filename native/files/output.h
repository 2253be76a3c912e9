/* Files out: written under a temporary name in the same folder and renamed, so that a file is whole
 * or as it was before. */
#ifndef HEED_NATIVE_FILES_OUTPUT_H
#define HEED_NATIVE_FILES_OUTPUT_H

#include <stdio.h>

#include "heed/heed.h"

#define HEED_OUTPUT_PATH_SIZE 4096

/* One file being written; no other memory belongs to it. Between begin and commit or abort, write
 * to `file`. */
typedef struct heed_file_write {
  FILE *file;
  char shown[256];                       /* the caller's path, cut, for sentences */
  char path[HEED_OUTPUT_PATH_SIZE];      /* links resolved */
  char temporary[HEED_OUTPUT_PATH_SIZE]; /* "" when `path` is written directly: a device or pipe is
                                            never renamed over */
  bool replaces;                         /* a file is there, whose permissions the new one gets */
  unsigned mode;
} heed_file_write;

/* Where writing to `path` goes: links followed, one that points to what is not there yet too.
 * Returns 0 or an errno. */
int heed_output_resolve(const char *path, char resolved[HEED_OUTPUT_PATH_SIZE]);
/* OUT_OF_MEMORY for ENOMEM, else IO. */
heed_status heed_status_of_errno(int reason);

/* Opens the temporary file. On failure nothing is left and neither commit nor abort is called.
 * Statuses: IO, OUT_OF_MEMORY, as of those that follow. */
heed_status heed_file_write_begin(heed_file_write *write, const char *path, heed_error *error);
/* Checks every write since begin, closes, renames. On failure the temporary file is removed.
 * Statuses: IO. */
heed_status heed_file_write_commit(heed_file_write *write, heed_error *error);
/* Closes and removes the temporary file. */
void heed_file_write_abort(heed_file_write *write);
/* The same where a write failed, for this errno (0: not known). Statuses: IO, OUT_OF_MEMORY. */
heed_status heed_file_write_failed(heed_file_write *write, int reason, heed_error *error);
/* All three for bytes in memory. Statuses: IO. */
heed_status heed_file_write_bytes(const char *path, const void *bytes, size_t size,
                                  heed_error *error);

#endif
