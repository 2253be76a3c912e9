/* What the readers of preprocessing share: a class's defaults, and fields by their meaning. See
 * preprocess_config.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/image/preprocess_config.h"
#include "model/image/resize.h"

/* The three numbers of a class, for so many channels. */
static void spread(const float of[3], uint32_t channels, float *to) {
  const double mean = ((double)of[0] + (double)of[1] + (double)of[2]) / 3.0;
  for (uint32_t c = 0; c < channels; c++) to[c] = channels == 3 ? of[c] : (float)mean;
}

void heed_preprocess_defaults(const heed_processor *class, uint32_t image_size,
                              heed_preprocess *to) {
  const uint64_t size = class->fixed ? 224 : image_size;
  const uint32_t resize = (uint32_t)(class->resize * size / 224),
                 crop = (uint32_t)(class->crop * size / 224), channels = to->channels;
  *to = (heed_preprocess){.resize = class->short_side ? HEED_RESIZE_SHORT_SIDE : HEED_RESIZE_SQUASH,
                          .resample = class->resample,
                          .crop_rule = class->torch_crop ? HEED_CROP_EVEN : HEED_CROP_DOWN,
                          .channels = channels};
  if (class->short_side)
    to->short_side = resize;
  else
    to->width = class->width ? class->width : resize;
  if (!class->short_side) to->height = resize;
  to->crop_width = to->crop_height = crop;
  if (class->way == HEED_WAY_PATCHES) {
    to->resize = HEED_RESIZE_PATCHES;
    to->width = to->height = 0;
    to->patches = 256;
    to->multiple = 16;
  }
  if (class->way == HEED_WAY_PIXELS) {
    to->resize = HEED_RESIZE_PIXELS;
    to->width = to->height = 0;
    to->multiple = 28;
    to->least_pixels = 56 * 56;
    to->most_pixels = 28 * 28 * 1280;
  }
  if (class->way == HEED_WAY_PADDED) to->resize = HEED_RESIZE_CORNER_MEAN;
  if (class->way == HEED_WAY_TILES) {
    to->resize = HEED_RESIZE_TILES;
    to->multiple = 16;
  }
  to->rescale = 1.0f / 255.0f;
  spread(class->mean, channels, to->mean);
  spread(class->std, channels, to->std);
}

/* What the sentence of a bad list expects. */
static heed_status refuse_numbers(const heed_fields *fields, const char *key, heed_json_value value,
                                  bool positive, uint32_t channels) {
  char expected[64] = "three numbers";
  if (channels == 1)
    snprintf(expected, sizeof expected, "a number");
  else if (channels != 3)
    snprintf(expected, sizeof expected, "%u numbers, or one", channels);
  if (positive)
    snprintf(expected + strlen(expected), sizeof expected - strlen(expected), " above 0");
  return heed_field_fail(fields, key, value, expected);
}

heed_status heed_preprocess_numbers(const heed_fields *fields, const char *key, bool positive,
                                    uint32_t channels, float *to) {
  const heed_json *json = fields->json;
  const heed_json_value value = heed_field(fields, key);
  const bool list = heed_json_kind_of(json, value) == HEED_JSON_ARRAY;
  const uint32_t count = list ? heed_json_count(json, value) : 1;
  if (!value) return HEED_OK;
  bool equal = count != 0;
  float first = 0.0f;
  heed_json_value element = list ? heed_json_first(json, value) : value;
  for (uint32_t i = 0; i < count; i++) {
    double number;
    if (!heed_json_double(json, element, &number) || !isfinite((float)number) ||
        (positive && !((float)number > 0.0f)))
      return refuse_numbers(fields, key, value, positive, channels);
    if (i == 0) first = (float)number;
    equal = equal && (float)number == first;
    if (count == channels) to[i] = (float)number;
    if (list) element = heed_json_next(json, value, element);
  }
  if (count == channels) return HEED_OK;
  if (!equal || (count != 1 && count != 3))
    return refuse_numbers(fields, key, value, positive, channels);
  for (uint32_t c = 0; c < channels; c++) to[c] = first;
  return HEED_OK;
}

heed_status heed_preprocess_resample(const heed_fields *fields, const char *key, uint32_t *to) {
  const heed_json_value value = heed_field(fields, key);
  const char *text = NULL;
  uint64_t number = 6;
  if (!value) return HEED_OK;
  if (heed_json_string(fields->json, value, &text, NULL)) {
    for (number = 0; heed_resample_name((uint32_t)number); number++)
      if (strcmp(text, heed_resample_name((uint32_t)number)) == 0) break;
  } else {
    heed_field_whole(fields, value, &number);
  }
  if (number > 5) return heed_field_fail(fields, key, value, "one of Pillow's filters, 0 to 5");
  *to = (uint32_t)number;
  return HEED_OK;
}
