/* Files out: written under a temporary name in the same folder and renamed, so that a file is whole
 * or as it was before. */
#ifndef HEED_NATIVE_FILES_OUTPUT_H
#define HEED_NATIVE_FILES_OUTPUT_H

#include <stdio.h>

#include "heed/native.h"

/* One file being written; no other memory belongs to it. Between begin and commit or abort, write
 * to `file`. */
typedef struct heed_output {
  FILE *file;
  char shown[256];                /* the caller's path, cut, for sentences */
  char path[HEED_PATH_SIZE];      /* links resolved */
  char temporary[HEED_PATH_SIZE]; /* "" when `path` is written directly: a device or pipe is
                                            never renamed over */
  bool replaces;                  /* a file is there, whose permissions the new one gets */
  unsigned mode;
} heed_output;

/* OUT_OF_MEMORY for ENOMEM, else IO. */
heed_status heed_status_of_errno(int reason);

/* Opens the temporary file. On failure nothing is left and neither commit nor abort is called.
 * Statuses: IO, OUT_OF_MEMORY, as of those that follow. */
heed_status heed_output_begin(heed_output *write, const char *path, heed_error *error);
/* Opens a file to write and read again beside `path`, or where the system keeps such files: for
 * NULL and for a device or pipe. It ends with abort. */
heed_status heed_output_spool(heed_output *write, const char *path, heed_error *error);
/* Checks every write since begin, closes, renames. On failure the temporary file is removed.
 * Statuses: IO. */
heed_status heed_output_commit(heed_output *write, heed_error *error);
/* Closes and removes the temporary file. */
void heed_output_abort(heed_output *write);
/* The same where a write failed, for this errno (0: not known). Statuses: IO, OUT_OF_MEMORY. */
heed_status heed_output_failed(heed_output *write, int reason, heed_error *error);

#endif
