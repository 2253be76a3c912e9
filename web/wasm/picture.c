/* Decoded pictures as a session's pixel_values. See shim.h. */
#include <stdio.h>

#include "base/status.h"
#include "shim.h"

/* The model's preprocessing with what session_prepare said. */
static heed_status prepare(heed_web_session *s) {
  HEED_TRY(s->model->type->preprocess(s));
  return s->change.struct_size ? heed_preprocess_change(&s->preprocess, &s->change, &s->web->error)
                               : HEED_OK;
}

heed_status heed_web_session_prepare(heed_web_session *s, const float *mean, uint32_t mean_count,
                                     const float *std, uint32_t std_count, const char *resample,
                                     double crop, double rescale) {
  const heed_preprocess_options change = {.struct_size = sizeof change,
                                          .mean = s->mean,
                                          .mean_count = mean_count,
                                          .std = s->std,
                                          .std_count = std_count,
                                          .resample = *resample ? s->resample : NULL,
                                          .crop = crop > 0.0 ? crop : 0.0,
                                          .squash = crop < 0.0,
                                          .rescale = (float)rescale};
  for (uint32_t i = 0; i < mean_count && i < HEED_MOST_CHANNELS; i++) s->mean[i] = mean[i];
  for (uint32_t i = 0; i < std_count && i < HEED_MOST_CHANNELS; i++) s->std[i] = std[i];
  snprintf(s->resample, sizeof s->resample, "%s", resample);
  s->change = change;
  return prepare(s);
}

heed_status heed_web_session_picture(heed_web_session *s, const uint8_t *pixels, uint32_t width,
                                     uint32_t height, uint32_t channels, uint32_t whole,
                                     uint32_t frame) {
  const heed_image image = {pixels, width, height, channels, (size_t)width * channels};
  heed_preprocess *preprocess = &s->preprocess;
  heed_error *error = &s->web->error;
  heed_region region;
  uint32_t found_width, found_height;
  HEED_TRY(prepare(s));
  if (whole) heed_preprocess_fit_whole(preprocess);
  HEED_TRY(heed_preprocess_size(preprocess, width, height, &found_width, &found_height, error));
  if (found_width != s->width || found_height != s->height)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "run: wrong pixel_values size (found %u x %u, expected %u x %u)", found_width,
                     found_height, s->width, s->height);
  const size_t frames = (size_t)s->batch * (s->frames ? s->frames : 1);
  const size_t frame_floats = s->pixel_bytes / sizeof(float) / frames;
  HEED_TRY(heed_preprocess_image(s->web->context, preprocess, &image,
                                 s->pixels + frame * frame_floats, &region, error));
  s->web->out.region = (struct heed_web_out_region){
      .x = region.x, .y = region.y, .width = region.width, .height = region.height};
  return HEED_OK;
}
