/* Pictures in and out: PNG (libpng) and JPEG (libjpeg-turbo) to RGB, 8 bit, and RGB to PNG, as
 * heed/native.h has them. Nothing is printed; every failure is a status with a sentence. */
#ifndef HEED_NATIVE_IMAGE_IMAGE_H
#define HEED_NATIVE_IMAGE_IMAGE_H

#include "heed/native.h"

/* The orientation tag (1..8) of an EXIF block, with or without its "Exif\0\0" head; 1 when it is
 * absent or not valid. */
uint32_t heed_exif_orientation(const uint8_t *bytes, size_t size);
/* Turns a picture as an orientation (2..8) says; the pixels are replaced. Statuses:
 * OUT_OF_MEMORY. */
heed_status heed_picture_orient(heed_context *context, heed_picture *picture, uint32_t orientation,
                                heed_error *error);

#endif
