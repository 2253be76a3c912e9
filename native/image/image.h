/* Pictures in and out: PNG (libpng) and JPEG (libjpeg-turbo) to RGB, 8 bit, and RGB to PNG, as
 * heed/native.h has them. Nothing is printed; every failure is a status with a sentence. */
#ifndef HEED_NATIVE_IMAGE_IMAGE_H
#define HEED_NATIVE_IMAGE_IMAGE_H

#include "heed/native.h"

/* The orientation tag (1..8) of an EXIF block, with or without its "Exif\0\0" head; 1 when it is
 * absent or not valid. */
uint32_t heed_exif_orientation(const uint8_t *bytes, size_t size);
/* The same, and 0 where the block has no such tag. */
uint32_t heed_exif_find(const uint8_t *bytes, size_t size);
/* The number (1..9) behind the first tiff:Orientation=" or tiff:Orientation> of an XMP packet; 0:
 * there is none. */
uint32_t heed_xmp_orientation(const uint8_t *bytes, size_t size);
/* The orientation (1..8) of a PNG, of all its chunks. Statuses: OUT_OF_MEMORY. */
heed_status heed_png_orientation(heed_context *context, const uint8_t *bytes, size_t size,
                                 uint32_t *orientation, heed_error *error);
/* Turns a picture as an orientation (2..8) says; the pixels are replaced. Statuses:
 * OUT_OF_MEMORY. */
heed_status heed_picture_orient(heed_context *context, heed_picture *picture, uint32_t orientation,
                                heed_error *error);

/* A PNG: RGB or RGBA, 8 bit, dense. */
typedef struct heed_png_text {
  const char *keyword, *text; /* keyword: ASCII; text: UTF-8 */
} heed_png_text;
typedef struct heed_png {
  const uint8_t *pixels; /* [height, width, alpha ? 4 : 3] */
  uint32_t width, height;
  bool alpha;
  uint32_t pixels_per_metre; /* 0: not written */
  const heed_png_text *texts;
  size_t text_count;
} heed_png;

/* Takes bytes; false ends the writing. */
typedef bool (*heed_png_sink)(void *user, const void *bytes, size_t count);
/* False when the sink said so, or when memory is short. */
bool heed_png_emit(const heed_png *png, heed_png_sink sink, void *user);
/* heed_png_write with alpha and texts. */
heed_status heed_png_save(const char *path, const heed_png *png, heed_error *error);

#endif
