/* Pictures in and out: PNG (libpng) and JPEG (libjpeg-turbo) to RGB, 8 bit, and RGB to PNG. Nothing is printed; every failure is a
 * status with a sentence. */
#ifndef HEED_NATIVE_IMAGE_IMAGE_H
#define HEED_NATIVE_IMAGE_IMAGE_H

#include "heed/heed.h"

/* Larger pictures are refused before anything is allocated for them. */
#define HEED_IMAGE_MAX_PIXELS ((uint64_t)1 << 28)
#define HEED_IMAGE_MAX_SIDE (1u << 20)
/* Larger files are refused while they are read. */
#define HEED_IMAGE_MAX_BYTES ((size_t)1 << 30)

/* RGB, 8 bit, dense: height rows of 3 * width bytes. The pixels are the context's memory: heed_picture_free. */
typedef struct heed_picture {
  uint8_t *pixels;
  uint32_t width, height;
} heed_picture;

/* Reads and decodes a file. The kind is told by the first bytes, not by the name. Equal to what Pillow makes of it with
 * ImageOps.exif_transpose and convert("RGB"): alpha is dropped, the EXIF orientation applied, CMYK taken as Adobe's inverted one;
 * 16-bit colour keeps its high byte. One difference: 16-bit grey is scaled by 1/257, rounded (Pillow clips it to 255).
 * A JPEG whose data ends early or is corrupt is an error.
 * Statuses: IO (cannot be read), INVALID_FILE (not a whole PNG or JPEG, too large), UNSUPPORTED (kind of colour), OUT_OF_MEMORY. */
heed_status heed_image_load(heed_context *context, const char *path, heed_picture *picture, heed_error *error);
/* The same of bytes; `name` is what sentences begin with. */
heed_status heed_image_decode(heed_context *context, const char *name, const void *bytes, size_t size, heed_picture *picture,
                              heed_error *error);
void heed_picture_free(heed_context *context, heed_picture *picture);
/* As the core takes it; valid as long as the picture. */
heed_image heed_picture_view(const heed_picture *picture);

/* Writes RGB, 8 bit, dense, as PNG to a temporary name in the same folder and renames it: `path` is whole or as it was before.
 * Statuses: IO, INVALID_ARGUMENT, OUT_OF_MEMORY. */
heed_status heed_png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height, heed_error *error);

/* The orientation tag (1..8) of an EXIF block, with or without its "Exif\0\0" head; 1 when it is absent or not valid. */
uint32_t heed_exif_orientation(const uint8_t *bytes, size_t size);
/* Turns a picture as an orientation (2..8) says; the pixels are replaced. Statuses: OUT_OF_MEMORY. */
heed_status heed_picture_orient(heed_context *context, heed_picture *picture, uint32_t orientation, heed_error *error);

#endif
