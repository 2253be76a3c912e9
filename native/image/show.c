/* Pictures of any channels and samples as RGB that can be drawn. */
#include <string.h>

#include "image/decoding.h"

static double sample_at(const heed_picture *picture, size_t index) {
  if (picture->samples == HEED_SAMPLES_U8) return picture->pixels[index];
  uint16_t whole;
  float single;
  if (picture->samples == HEED_SAMPLES_U16) {
    memcpy(&whole, picture->pixels + index * sizeof whole, sizeof whole);
    return whole;
  }
  memcpy(&single, picture->pixels + index * sizeof single, sizeof single);
  return (double)single;
}

/* The numbers that become black and white. */
static void find_range(const heed_picture *picture, uint32_t shown, double *least, double *most) {
  const size_t count = (size_t)picture->width * picture->height;
  *least = 0.0;
  *most = picture->samples == HEED_SAMPLES_U8 ? 255.0 : 65535.0;
  for (size_t i = 0; picture->samples == HEED_SAMPLES_F32 && i < count; i++)
    for (uint32_t c = 0; c < shown; c++) {
      const double value = sample_at(picture, i * picture->channels + c);
      if ((i == 0 && c == 0) || value < *least) *least = value;
      if ((i == 0 && c == 0) || value > *most) *most = value;
    }
}

heed_status heed_picture_show(heed_context *context, heed_picture *picture, heed_error *error) {
  const uint32_t channels = picture->channels ? picture->channels : 3,
                 shown = channels >= 3 ? 3 : 1;
  if (channels == 3 && picture->samples == HEED_SAMPLES_U8) return HEED_OK;
  const size_t count = (size_t)picture->width * picture->height;
  double least, most;
  uint8_t *rgb = heed_alloc_raw(context, count, 3);
  if (!rgb) return heed_fail_memory(error, "picture", count * 3);
  find_range(picture, shown, &least, &most);
  const double scale = most > least ? 255.0 / (most - least) : 0.0;
  for (size_t i = 0; i < count; i++)
    for (uint32_t c = 0; c < 3; c++) {
      const double value = sample_at(picture, i * channels + (shown == 3 ? c : 0));
      rgb[3 * i + c] = (uint8_t)((value - least) * scale + 0.5);
    }
  heed_free(context, picture->pixels);
  picture->pixels = rgb;
  picture->channels = 3;
  picture->samples = HEED_SAMPLES_U8;
  return HEED_OK;
}
