/* What of a model knows its kinds and their images. */
#include "base/status.h"
#include "model/files/model_type.h"
#include "model/image/preprocess.h"
#include "model/vit/vit.h"

heed_status heed_model_open(heed_context *context, const heed_model_desc *desc, heed_model **model,
                            heed_error *error) {
  return heed_model_open_type(context, &heed_vit_type, desc, model, error);
}

heed_status heed_model_preprocess_at(const heed_model *model, uint32_t height, uint32_t width,
                                     heed_preprocess *preprocess, heed_error *error) {
  const uint32_t patch = model->info.patch;
  *preprocess = model->preprocess;
  if (!patch) return heed_fail(error, HEED_UNSUPPORTED, "size: an encoder-decoder takes no images");
  if (!height || !width || height % patch || width % patch)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "size: sides are not multiples of the patch (found height %u, width %u, "
                     "expected multiples of %u pixels)",
                     height, width, patch);
  HEED_TRY(heed_model_prepares(model, error));
  heed_preprocess_cover(preprocess, height, width);
  return HEED_OK;
}
