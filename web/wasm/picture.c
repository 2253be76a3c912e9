/* Decoded pictures as a session's pixel_values. See shim.h. */
#include "base/status.h"
#include "shim.h"

heed_status heed_web_session_picture(heed_web_session *s, const uint8_t *pixels, uint32_t width,
                                     uint32_t height, uint32_t channels, uint32_t whole) {
  const heed_image image = {pixels, width, height, channels, (size_t)width * channels};
  heed_preprocess *preprocess = &s->preprocess;
  heed_error *error = &s->web->error;
  heed_region region;
  uint32_t found_width, found_height;
  HEED_TRY(s->model->type->preprocess(s));
  if (whole) heed_preprocess_fit_whole(preprocess);
  HEED_TRY(heed_preprocess_size(preprocess, width, height, &found_width, &found_height, error));
  if (s->batch != 1 || found_width != s->width || found_height != s->height)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "run: wrong pixel_values size (found 1 of %u x %u, expected %u of %u x %u)",
                     found_width, found_height, s->batch, s->width, s->height);
  HEED_TRY(heed_preprocess_image(s->web->context, preprocess, &image, s->pixels, &region, error));
  s->web->out.region = (struct heed_web_out_region){
      .x = region.x, .y = region.y, .width = region.width, .height = region.height};
  return HEED_OK;
}
