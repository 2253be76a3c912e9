/* What the readers of preprocessing share: a class's defaults, and fields by their meaning. See
 * preprocess_config.h. */
#include <math.h>
#include <string.h>

#include "model/image/preprocess_config.h"

void heed_preprocess_defaults(const heed_processor *class, uint32_t image_size,
                              heed_preprocess *to) {
  const uint64_t size = class->fixed ? 224 : image_size;
  const uint32_t resize = (uint32_t)(class->resize * size / 224),
                 crop = (uint32_t)(class->crop * size / 224);
  *to = (heed_preprocess){.resize = class->short_side ? HEED_RESIZE_SHORT_SIDE : HEED_RESIZE_SQUASH,
                          .resample = class->resample,
                          .crop_rule = class->torch_crop ? HEED_CROP_EVEN : HEED_CROP_DOWN};
  if (class->short_side)
    to->short_side = resize;
  else
    to->width = to->height = resize;
  to->crop_width = to->crop_height = crop;
  to->rescale = 1.0f / 255.0f;
  memcpy(to->mean, class->mean, sizeof to->mean);
  memcpy(to->std, class->std, sizeof to->std);
}

heed_status heed_preprocess_triple(const heed_fields *fields, const char *key, bool positive,
                                   float to[3]) {
  const heed_json_value value = heed_field(fields, key);
  const bool list = heed_json_kind_of(fields->json, value) == HEED_JSON_ARRAY;
  const uint32_t count = list ? heed_json_count(fields->json, value) : 1;
  if (!value) return HEED_OK;
  heed_json_value element = list ? heed_json_first(fields->json, value) : value;
  for (uint32_t i = 0; i < count; i++) {
    double number;
    if ((count != 1 && count != 3) || !heed_json_double(fields->json, element, &number) ||
        !isfinite((float)number) || (positive && !((float)number > 0.0f)))
      return heed_field_fail(fields, key, value,
                             positive ? "three numbers above 0" : "three numbers");
    to[i] = (float)number;
    if (count == 1)
      to[1] = to[2] = to[0];
    else
      element = heed_json_next(fields->json, value, element);
  }
  return count ? HEED_OK : heed_field_fail(fields, key, value, "three numbers");
}

heed_status heed_preprocess_resample(const heed_fields *fields, const char *key, uint32_t *to) {
  static const char *const names[] = {"nearest", "lanczos", "bilinear",
                                      "bicubic", "box",     "hamming"};
  const heed_json_value value = heed_field(fields, key);
  const char *text = NULL;
  uint64_t number = 6;
  if (!value) return HEED_OK;
  if (heed_json_string(fields->json, value, &text, NULL)) {
    for (number = 0; number < 6; number++)
      if (strcmp(text, names[number]) == 0) break;
  } else {
    heed_field_whole(fields, value, &number);
  }
  if (number > 5) return heed_field_fail(fields, key, value, "one of Pillow's filters, 0 to 5");
  *to = (uint32_t)number;
  return HEED_OK;
}
