/* Files inside the binary: the demo model and its sample picture. The arrays are made by CMake in
 * the build tree. */
#ifndef HEED_CLI_SESSION_EMBEDDED_H
#define HEED_CLI_SESSION_EMBEDDED_H

#include <stddef.h>

typedef struct heed_embedded_file {
  const char *name;
  const unsigned char *bytes;
  size_t size;
} heed_embedded_file;

extern const heed_embedded_file heed_embedded_model[];
extern const size_t heed_embedded_model_count;
extern const heed_embedded_file heed_embedded_picture;

#endif
