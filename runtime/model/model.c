/* Opening a model of any kind, and what needs no kind to be known. */
#include "model/model_type.h"

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "model/sequence.h"
#include "model/source.h"
#include "model/vit.h"

/* The kind that config.json names; without one a file can only be a vision transformer's. */
static heed_status find_type(const heed_context *context, const heed_model_desc *desc,
                             const heed_model_type **type, heed_error *error) {
  *type = &heed_vit_type;
#ifdef HEED_SEQUENCES
  bool named;
  HEED_TRY(heed_sequence_is(context, desc, &named, error));
  if (named) *type = &heed_sequence_type;
#else
  (void)context, (void)desc, (void)error;
#endif
  return HEED_OK;
}

heed_status heed_model_open(heed_context *context, const heed_model_desc *desc, heed_model **model,
                            heed_error *error) {
  if (!context || !desc || !model)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "model: NULL argument (expected context, desc and model)");
  *model = NULL;
  heed_model_desc full;
  const heed_model_type *type;
  HEED_TRY(heed_model_desc_read(&full, desc, error));
  HEED_TRY(find_type(context, &full, &type, error));
  heed_model *made = heed_alloc(context, 1, type->size);
  if (!made) return heed_fail_memory(error, "model", type->size);
  made->context = context;
  made->type = type;
  const heed_status status = type->open(made, &full, error);
  if (status == HEED_OK)
    *model = made;
  else
    heed_model_destroy(made);
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

uint32_t heed_model_tensor_count(const heed_model *model) {
  return heed_checkpoint_count(model->checkpoint);
}

void heed_model_tensor(const heed_model *model, uint32_t index, heed_tensor_info *info) {
  heed_checkpoint_describe(model->checkpoint, index, info);
}
