/* Weights of a folder in which no name says what they are: NAME.pth.tar, a file of a hub's cache.
 */
#ifndef HEED_NATIVE_FILES_UNNAMED_WEIGHTS_H
#define HEED_NATIVE_FILES_UNNAMED_WEIGHTS_H

#include "files/os.h"
#include "heed/base.h"

typedef struct heed_unnamed {
  uint32_t count;                   /* files whose first bytes are those of weights */
  char first[2][HEED_OS_NAME_SIZE]; /* of these, by name */
  uint32_t pictures;                /* names that end as pictures' do */
  char part[HEED_OS_NAME_SIZE];     /* a file of a download that has not ended, or "" */
} heed_unnamed;

/* Looks at the first bytes of the files in a folder, but not at those of the names that config
 * files, pictures and what training leaves have; at most 4096 of them. Statuses: IO, OUT_OF_MEMORY.
 */
heed_status heed_unnamed_find(const char *folder, heed_unnamed *found, heed_error *error);

#endif
