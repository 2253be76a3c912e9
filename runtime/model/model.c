/* What of a model knows its kinds and their images. */
#include <string.h>

#include "base/desc.h"
#include "base/status.h"
#include "model/files/model_type.h"
#include "model/image/preprocess.h"
#include "model/vit/vit.h"

heed_status heed_model_open(heed_context *context, const heed_model_desc *desc, heed_model **model,
                            heed_error *error) {
  return heed_model_open_type(context, &heed_vit_type, desc, model, error);
}

heed_status heed_model_layer(const heed_model *model, const heed_build_desc *desc, uint32_t layer,
                             heed_layer_info *info, heed_error *error) {
  const heed_model_info *of = &model->info;
  heed_build_desc full = {.struct_size = sizeof full};
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "layer", error));
  const uint32_t height = full.height ? full.height : of->image_size,
                 width = full.width ? full.width : of->image_size,
                 frames = full.frames ? full.frames : of->frames,
                 tubelet = of->tubelet ? of->tubelet : 1;
  if (!of->patch || layer >= of->layers)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "layer: out of range (found %u, expected less than %u, of images)", layer,
                     of->patch ? of->layers : 0);
  *info = (heed_layer_info){.width = of->width,
                            .heads = of->heads,
                            .prefix_tokens = of->prefix_tokens,
                            .frames = frames ? frames / tubelet : 1,
                            .rows = height / of->patch,
                            .columns = width / of->patch,
                            .patch = of->patch,
                            .tubelet = tubelet};
  return model->type->layer ? model->type->layer(model, layer, info, error) : HEED_OK;
}

/* The window and the place in it of a row and a column of the grid. */
static uint32_t place_of(const heed_layer_info *layer, uint32_t row, uint32_t column,
                         uint32_t *place) {
  const uint32_t side = layer->window, rows = layer->down * side, columns = layer->across * side,
                 y = (row + rows - layer->shift) % rows,
                 x = (column + columns - layer->shift) % columns;
  *place = y % side * side + x % side;
  return y / side * layer->across + x / side;
}

void heed_window_row(const heed_layer_info *layer, const float *weights, uint32_t head,
                     uint32_t query, float *row) {
  const size_t square = (size_t)layer->window * layer->window;
  const uint32_t tokens = layer->prefix_tokens + layer->frames * layer->rows * layer->columns;
  uint32_t own, place;
  if (!layer->window) {
    memcpy(row, weights + ((size_t)head * tokens + query) * tokens, tokens * sizeof *row);
    return;
  }
  const uint32_t window = place_of(layer, query / layer->columns, query % layer->columns, &own);
  const float *from = weights + ((window * layer->heads + head) * square + own) * square;
  for (uint32_t t = 0; t < layer->rows * layer->columns; t++)
    row[t] = place_of(layer, t / layer->columns, t % layer->columns, &place) == window ? from[place]
                                                                                       : 0.0f;
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
