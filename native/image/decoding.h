/* What the readers of PNG and JPEG share. Not for callers: image.h is. */
#ifndef HEED_NATIVE_IMAGE_DECODING_H
#define HEED_NATIVE_IMAGE_DECODING_H

#include "base/alloc.h"
#include "base/status.h"
#include "image/image.h"

/* A picture being decoded: where from, where to, and what went wrong. */
typedef struct decoding {
  heed_context *context;
  const char *name;
  const uint8_t *bytes;
  size_t size, at;
  heed_picture picture;
  uint32_t orientation;
  heed_status status; /* of what made the library jump; OK = its own complaint */
  heed_error *error;
  heed_image_limits most; /* none of them 0 */
} decoding;

/* Refuses what is too large; what is empty the libraries refuse. Comes before all that takes memory
 * or time by the size of the picture. */
heed_status heed_decoding_check_size(const decoding *work, uint32_t width, uint32_t height);
heed_status heed_decoding_make_room(decoding *work, uint32_t width, uint32_t height);

static inline uint8_t *pixel_row(const decoding *work, uint32_t y) {
  return work->picture.pixels + (size_t)y * work->picture.width * 3;
}

/* Whole pictures of one kind. Statuses: as heed_image_decode. */
heed_status heed_decode_png(decoding *work);
heed_status heed_decode_jpeg(decoding *work);

#endif
