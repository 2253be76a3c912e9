/* heed-picture.wasm: decoded pictures as a model's pixel_values, for who has pictures; in a memory
 * of its own, which their pixels may fill. See shim.h. */
#include "base/status.h"
#include "shim.h"

heed_web *heed_web_create(uint32_t threads) {
  (void)threads;
  return heed_web_open();
}

heed_status heed_web_picture_prepare(heed_web *web, const heed_preprocess *preprocess,
                                     const uint8_t *pixels, uint32_t width, uint32_t height,
                                     uint32_t channels, uint32_t batch, uint32_t out_width,
                                     uint32_t out_height, float *to) {
  const heed_image image = {pixels, width, height, channels, (size_t)width * channels};
  heed_region region;
  uint32_t found_width, found_height;
  HEED_TRY(
      heed_preprocess_size(preprocess, width, height, &found_width, &found_height, &web->error));
  if (batch != 1 || found_width != out_width || found_height != out_height)
    return heed_fail(&web->error, HEED_INVALID_ARGUMENT,
                     "run: wrong pixel_values size (found 1 of %u x %u, expected %u of %u x %u)",
                     found_width, found_height, batch, out_width, out_height);
  HEED_TRY(heed_preprocess_image(web->context, preprocess, &image, to, &region, &web->error));
  web->out.region = (struct heed_web_out_region){
      .x = region.x, .y = region.y, .width = region.width, .height = region.height};
  return HEED_OK;
}
