/* What the readers of pictures share. Not for callers: image.h is. */
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
/* Room for the samples and channels of work->picture. */
heed_status heed_decoding_make_room(decoding *work, uint32_t width, uint32_t height);

static inline uint32_t heed_sample_bytes(heed_samples samples) {
  return samples == HEED_SAMPLES_U8 ? 1 : samples == HEED_SAMPLES_U16 ? 2 : 4;
}

static inline size_t heed_pixel_bytes(const heed_picture *picture) {
  return (size_t)picture->channels * heed_sample_bytes(picture->samples);
}

static inline uint8_t *pixel_row(const decoding *work, uint32_t y) {
  return work->picture.pixels + (size_t)y * work->picture.width * heed_pixel_bytes(&work->picture);
}

/* Whether grey of 16 bits stays as it is: a model of one channel takes it. */
static inline bool heed_keeps_grey(const decoding *work) { return work->most.channels == 1; }

/* Whole pictures of one kind. Statuses: as heed_image_decode. */
heed_status heed_decode_png(decoding *work);
heed_status heed_decode_jpeg(decoding *work);
heed_status heed_decode_webp(decoding *work);
heed_status heed_decode_tiff(decoding *work);
heed_status heed_decode_npy(decoding *work);
heed_status heed_decode_npz(decoding *work);

#endif
