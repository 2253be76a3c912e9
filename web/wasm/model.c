/* Models: files whose bytes JavaScript brings on demand. See shim.h. */
#include "base/alloc.h"
#include "base/status.h"
#include "shim.h"

void heed_web_model_close(const heed_web *web, heed_web_model *model) {
  if (!model) return;
  heed_model_destroy(model->model);
  heed_free(web->context, model->names);
  heed_free(web->context, model->files);
  heed_free(web->context, model);
}

static heed_status open_model(heed_web *web, heed_web_model *model, const char *names,
                              size_t names_size, const double *sizes, const uint32_t *sources,
                              uint32_t count) {
  HEED_TRY(heed_web_list_files(web, model, names, names_size, sizes, sources, count));
  const heed_model_desc desc = {sizeof desc, model->files, count,
                                HEED_WEB_TEXT ? HEED_TOWER_TEXT : HEED_TOWER_VISION};
  return heed_model_open(web->context, &desc, &model->model, &web->error);
}

heed_status heed_web_model_open(heed_web *web, const char *names, size_t names_size,
                                const double *sizes, const uint32_t *sources, uint32_t count) {
  heed_web_model *model = heed_alloc(web->context, 1, sizeof *model);
  if (!model) return heed_fail_memory(&web->error, "model", sizeof *model);
  const heed_status status = open_model(web, model, names, names_size, sizes, sources, count);
  if (status != HEED_OK)
    heed_web_model_close(web, model);
  else
    web->out.opened.address = HEED_WEB_ADDRESS(model);
  return status;
}

const char *heed_web_model_info(heed_web *web, const heed_web_model *model) {
  heed_model_info info;
  uint32_t height = 0, width = 0;
  heed_model_get_info(model->model, &info);
  if (!HEED_WEB_TEXT) heed_web_model_size(model, &height, &width);
#define FIELD(name) .name = (double)info.name,
  web->out.model = (struct heed_web_out_model){
      HEED_WEB_MODEL(FIELD).rules = HEED_WEB_ADDRESS(info.rules),
      .assumed = HEED_WEB_ADDRESS(info.assumed), .run_height = height, .run_width = width};
#undef FIELD
  return info.family;
}

const char *heed_web_model_label(const heed_web_model *model, uint32_t index) {
  return heed_model_label(model->model, index);
}

const char *heed_web_model_token(const heed_web_model *model, uint32_t index) {
  heed_model_info info;
  heed_model_get_info(model->model, &info);
  return info.token_names[index];
}

uint32_t heed_web_model_tensor(heed_web *web, const heed_web_model *model, uint32_t index) {
  const uint32_t count = heed_model_tensor_count(model->model);
  if (index >= count) return count;
  heed_tensor_info info;
  heed_model_tensor(model->model, index, &info);
  const uint32_t rank = info.unsupported ? 0 : info.shape.rank;
  web->out.tensor = (struct heed_web_out_tensor){.name = HEED_WEB_ADDRESS(info.name),
                                                 .dtype = HEED_WEB_ADDRESS(info.dtype_name),
                                                 .role = HEED_WEB_ADDRESS(info.role),
                                                 .layer = info.layer,
                                                 .bytes = (double)info.bytes,
                                                 .used = info.used,
                                                 .rank = rank};
  for (uint32_t i = 0; i < rank; i++) web->out.tensor.shape[i] = info.shape.dim[i];
  return count;
}

const char *heed_web_model_absent(const heed_web_model *model, uint32_t index) {
  return heed_model_absent(model->model, index);
}
