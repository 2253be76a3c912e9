/* A model of any kind, once its kind is known. See model_type.h. */
#include "model/files/model_type.h"

#include "base/alloc.h"
#include "base/desc.h"
#include "base/share.h"
#include "base/status.h"
#include "model/files/source.h"

heed_status heed_model_make(heed_context *context, const heed_model_type *type, heed_model **model,
                            heed_error *error) {
  *model = heed_alloc(context, 1, type->size);
  if (!*model) return heed_fail_memory(error, "model", type->size);
  (*model)->context = context;
  (*model)->serial = heed_share_serial(context);
  (*model)->type = type;
  return HEED_OK;
}

heed_status heed_model_open_type(heed_context *context, const heed_model_type *type,
                                 const heed_model_desc *desc, heed_model **model,
                                 heed_error *error) {
  if (!context || !desc || !model)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "model: NULL argument (expected context, desc and model)");
  *model = NULL;
  heed_model_desc full;
  HEED_TRY(heed_model_desc_read(&full, desc, error));
  HEED_TRY(heed_model_make(context, type, model, error));
  const heed_status status = type->open(*model, &full, error);
  if (status != HEED_OK) {
    heed_model_destroy(*model);
    *model = NULL;
  }
  return status;
}

void heed_model_destroy(heed_model *model) {
  if (!model) return;
  if (model->type->close) model->type->close(model);
  heed_checkpoint_destroy(model->checkpoint);
  heed_free(model->context, model);
}

heed_status heed_model_build(const heed_model *model, const heed_build_desc *desc,
                             heed_graph **graph, heed_error *error) {
  if (!model || !graph)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "build: NULL argument (expected model and graph)");
  *graph = NULL;
  heed_build_desc full = {.struct_size = sizeof full};
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "build", error));
  if (!full.batch) full.batch = 1;
  return model->type->build(model, &full, graph, error);
}

void heed_model_get_info(const heed_model *model, heed_model_info *info) { *info = model->info; }

const char *heed_model_label(const heed_model *model, uint32_t index) {
  const char *label = model->type->label ? model->type->label(model, index) : NULL;
  return label ? label : "unknown class";
}

bool heed_model_keep_preprocess(heed_model *model, heed_status status, const heed_error *why) {
  if (status == HEED_OK) return true;
  model->preprocess = (heed_preprocess){0};
  model->unprepared = *why;
  return false;
}

heed_status heed_model_prepares(const heed_model *model, heed_error *error) {
  if (error && model->unprepared.status != HEED_OK) *error = model->unprepared;
  return model->unprepared.status;
}

void heed_model_preprocess(const heed_model *model, heed_preprocess *preprocess) {
  *preprocess = model->preprocess;
}

uint32_t heed_model_tensor_count(const heed_model *model) {
  return model->checkpoint ? heed_checkpoint_count(model->checkpoint) : 0;
}

void heed_model_tensor(const heed_model *model, uint32_t index, heed_tensor_info *info) {
  heed_checkpoint_describe(model->checkpoint, index, info);
}
