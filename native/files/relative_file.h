/* Files that a file names: opened beneath its folder alone. */
#ifndef HEED_NATIVE_FILES_RELATIVE_FILE_H
#define HEED_NATIVE_FILES_RELATIVE_FILE_H

#include "files/regular_file.h"

/* Opens `location`, a relative path of plain names, in the folder of the file `path`. Links are
 * refused, also to the file: a name could otherwise reach any file that the user may read.
 * Statuses: INVALID_FILE (a path that leads elsewhere), IO, OUT_OF_MEMORY. */
heed_status heed_beneath_open(heed_regular *file, const char *path, const char *location,
                              uint64_t *size, heed_error *error);

#endif
