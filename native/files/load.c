/* From a path to a model, in one call. See heed/native.h. */
#include "base/desc.h"
#include "base/status.h"
#include "heed/native.h"
#include "heed/onnx.h"

static heed_status open_model(heed_context *context, heed_model_files *files,
                              const heed_load_desc *desc, heed_model **model, heed_error *error) {
  heed_model_desc what = *heed_model_files_desc(files);
  what.tower = desc->tower;
  struct heed_onnx *onnx = heed_model_files_onnx(files);
  if (!onnx || desc->tower != HEED_TOWER_VISION)
    return heed_model_open(context, &what, model, error);
  const heed_onnx_model_desc how = {
      .struct_size = sizeof how, .files = &what, .height = desc->height, .width = desc->width};
  return heed_onnx_open_model(context, onnx, &how, model, NULL, error);
}

heed_status heed_model_load(heed_context *context, const char *path, const heed_load_desc *desc,
                            heed_model_files **files, heed_model **model, heed_error *error) {
  if (!context || !path || !files || !model)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "model: NULL argument (expected context, path, files and model)");
  heed_load_desc full = {.struct_size = sizeof full};
  *files = NULL;
  *model = NULL;
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "model", error));
  const heed_files_desc how = {sizeof how, full.weights_key, full.names, full.hints};
  HEED_TRY(heed_model_files_open_as(context, path, &how, files, error));
  const heed_status status = open_model(context, *files, &full, model, error);
  if (status == HEED_OK) return HEED_OK;
  heed_model_files_destroy(*files);
  *files = NULL;
  return status;
}
