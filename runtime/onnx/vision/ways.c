/* Which way an ONNX file runs: its weights in heed's own graph, or the graph that it is. See
 * heed/onnx.h. */
#include "base/desc.h"
#include "base/status.h"
#include "heed/onnx.h"
#include "model/files/source.h"

bool heed_onnx_lacks(heed_status status) {
  return status == HEED_UNSUPPORTED || status == HEED_INVALID_FILE ||
         status == HEED_INVALID_ARGUMENT;
}

static bool has_config(const heed_model_desc *desc) {
  return heed_find_file(desc->files, desc->file_count, "config.json") != NULL;
}

heed_status heed_onnx_choose_way(heed_context *context, const heed_model_desc *desc,
                                 heed_onnx_run_way *way, heed_error *error) {
  heed_model *model = NULL;
  if (!context || !desc || !way)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "model: NULL argument (expected context, files and way)");
  *way = HEED_ONNX_GRAPH;
  if (!has_config(desc)) return HEED_OK;
  const heed_status status = heed_model_open(context, desc, &model, error);
  heed_model_destroy(model);
  if (status == HEED_OK) *way = HEED_ONNX_WEIGHTS;
  return heed_onnx_lacks(status) ? HEED_OK : status;
}

static heed_status open_as(heed_context *context, heed_onnx *file, const heed_onnx_model_desc *desc,
                           heed_onnx_run_way way, heed_model **model, heed_error *error) {
  return way == HEED_ONNX_WEIGHTS
             ? heed_model_open(context, desc->files, model, error)
             : heed_onnx_vision(file, desc->files, desc->height, desc->width, model, error);
}

heed_status heed_onnx_open_model(heed_context *context, heed_onnx *file,
                                 const heed_onnx_model_desc *desc, heed_model **model,
                                 heed_onnx_run_way *way, heed_error *error) {
  if (!context || !file || !desc || !model)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "model: NULL argument (expected context, file, desc and model)");
  *model = NULL;
  heed_onnx_model_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "model", error));
  if (!full.files || (unsigned)full.way > HEED_ONNX_GRAPH)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "model: unknown way or no files (found way %d, expected files and 0 to %d)",
                     (int)full.way, (int)HEED_ONNX_GRAPH);
  heed_onnx_run_way first = full.way;
  if (!first) first = has_config(full.files) ? HEED_ONNX_WEIGHTS : HEED_ONNX_GRAPH;
  heed_error why = {HEED_OK, ""}, other;
  heed_status status = open_as(context, file, &full, first, model, &why);
  if (!full.way && heed_onnx_lacks(status)) {
    const heed_onnx_run_way second =
        first == HEED_ONNX_WEIGHTS ? HEED_ONNX_GRAPH : HEED_ONNX_WEIGHTS;
    const heed_status found = open_as(context, file, &full, second, model, &other);
    if (!heed_onnx_lacks(found)) {
      status = found;
      why = other;
      first = second;
    }
  }
  if (status != HEED_OK && error) *error = why;
  if (way) *way = first;
  return status;
}
