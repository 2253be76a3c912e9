/* What a file is, by its first bytes: so that a sentence can name what was given in the place of a
 * picture, weights or maps. */
#ifndef HEED_NATIVE_FILES_KIND_H
#define HEED_NATIVE_FILES_KIND_H

#include <stddef.h>
#include <stdint.h>

#define HEED_KIND_BYTES 32 /* more are not looked at */

/* "a WebP picture"; NULL for what is not known, and for PNG and JPEG, which are read. */
const char *heed_file_kind(const void *bytes, size_t size);

#define HEED_KIND_LFS "a git-lfs pointer"
#define HEED_KIND_SAFETENSORS "a .safetensors file"

#endif
