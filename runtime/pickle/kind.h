/* What a file is, by its first bytes: so that a sentence can name what was given in the place of a
 * picture, weights or maps. */
#ifndef HEED_PICKLE_KIND_H
#define HEED_PICKLE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEED_KIND_BYTES 32 /* more are not looked at */

/* "a WebP image"; NULL for what is not known. */
const char *heed_file_kind(const void *bytes, size_t size);
/* Whether these are the first bytes of a picture, also of one that is not read. */
bool heed_is_picture(const void *bytes, size_t size);

#define HEED_KIND_PNG "a PNG image"
#define HEED_KIND_JPEG "a JPEG image"
#define HEED_KIND_WEBP "a WebP image"
#define HEED_KIND_TIFF "a TIFF image"
#define HEED_KIND_NPY "an .npy file"
#define HEED_KIND_ZIP "a zip file, such as .npz or PyTorch's .pt"
#define HEED_KIND_LFS "a git-lfs pointer"
#define HEED_KIND_SAFETENSORS "a .safetensors file"

#endif
