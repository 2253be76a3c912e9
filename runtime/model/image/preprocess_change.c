/* Parts of a model's preprocessing, as the caller says them. */
#include <math.h>
#include <string.h>

#include "base/desc.h"
#include "base/status.h"
#include "heed/model.h"
#include "model/image/resize.h"

static heed_status change_numbers(const char *what, const float *from, uint32_t count,
                                  bool positive, uint32_t channels, float *to, heed_error *error) {
  if (!count) return HEED_OK;
  if (!from || (count != 1 && count != channels))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: wrong count of %s (found %u, expected %u, the model's channels, "
                     "or 1 for all)",
                     what, count, channels);
  for (uint32_t c = 0; c < channels; c++) {
    const float number = from[count == 1 ? 0 : c];
    if (!isfinite(number) || (positive && !(number > 0.0f)))
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "preprocess: invalid %s (found %g, expected a finite number%s)", what,
                       (double)number, positive ? " above 0" : "");
    to[c] = number;
  }
  return HEED_OK;
}

static heed_status change_resample(const char *name, uint32_t *to, heed_error *error) {
  if (!name) return HEED_OK;
  for (uint32_t i = 0; heed_resample_name(i); i++)
    if (strcmp(name, heed_resample_name(i)) == 0) {
      *to = i;
      return HEED_OK;
    }
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "preprocess: unknown resample (found \"%.60s\", expected nearest, lanczos, "
                   "bilinear, bicubic, box or hamming)",
                   name);
}

/* The size of pixel_values for every image; 0: it depends on the image. */
static void find_size(const heed_preprocess *p, uint32_t *width, uint32_t *height) {
  const bool fixed = p->resize == HEED_RESIZE_SQUASH;
  const uint32_t side = p->resize == HEED_RESIZE_SHORT_SIDE ? p->short_side : 0;
  *width = p->crop_width ? p->crop_width : fixed ? p->width : side;
  *height = p->crop_height ? p->crop_height : fixed ? p->height : side;
}

static heed_status change_crop(const heed_preprocess_options *options, heed_preprocess *p,
                               heed_error *error) {
  const double crop = options->crop;
  uint32_t width, height;
  if (crop == 0.0 && !options->squash) return HEED_OK;
  if (crop != 0.0 && (options->squash || !(crop >= 0.01 && crop <= 1.0)))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: invalid crop (found %g%s, expected 0.01 to 1, or squash alone)",
                     crop, options->squash ? " and squash" : "");
  find_size(p, &width, &height);
  if (!width || !height)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: a crop needs a size of the input (found images of any size, "
                     "expected a height and a width)");
  p->short_side = 0;
  if (options->squash) {
    p->resize = HEED_RESIZE_SQUASH;
    p->width = width;
    p->height = height;
    p->crop_width = p->crop_height = 0;
    return HEED_OK;
  }
  p->crop_width = width;
  p->crop_height = height;
  p->width = (uint32_t)floor(width / crop);
  p->height = (uint32_t)floor(height / crop);
  p->resize = HEED_RESIZE_COVER;
  if (width != height) return HEED_OK;
  p->resize = HEED_RESIZE_SHORT_SIDE; /* whose long side is rounded down, as timm's */
  p->short_side = p->width;
  p->width = p->height = 0;
  return HEED_OK;
}

heed_status heed_preprocess_change(heed_preprocess *preprocess,
                                   const heed_preprocess_options *options, heed_error *error) {
  heed_preprocess_options full;
  if (!preprocess)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "preprocess: NULL argument (expected both)");
  HEED_TRY(heed_desc_read(&full, sizeof full, options, "preprocess", error));
  heed_preprocess changed = *preprocess;
  const uint32_t channels = changed.channels ? changed.channels : 3;
  HEED_TRY(
      change_numbers("mean", full.mean, full.mean_count, false, channels, changed.mean, error));
  HEED_TRY(change_numbers("std", full.std, full.std_count, true, channels, changed.std, error));
  HEED_TRY(change_resample(full.resample, &changed.resample, error));
  HEED_TRY(change_crop(&full, &changed, error));
  if (!isfinite(full.rescale) || full.rescale < 0.0f)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "preprocess: invalid rescale (found %g, expected a number above 0)",
                     (double)full.rescale);
  if (full.rescale > 0.0f) changed.rescale = full.rescale;
  *preprocess = changed;
  return HEED_OK;
}
