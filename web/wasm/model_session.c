/* Sessions of models, made for a size and a set of taps. See shim.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "shim.h"

enum { KEEP_NONE = HEED_WEB_CODE(keep, none) };
_Static_assert(HEED_WEB_CODE(intervene, zero) == 1 + HEED_EMPTY_ROW_ZERO &&
                   HEED_WEB_CODE(intervene, nan) == 1 + HEED_EMPTY_ROW_NAN &&
                   HEED_WEB_CODE(intervene, mean) == 1 + HEED_EMPTY_ROW_MEAN,
               "the record intervene is heed_empty_row after `never`");

static heed_status build(heed_web_session *s, int keep, uint32_t intervene, double temperature) {
  const heed_build_desc desc = {
      .struct_size = sizeof desc,
      .batch = s->batch,
      .height = s->height,
      .width = s->width,
      .source_length = HEED_WEB_TEXT ? s->width : 0,
      .intervene = intervene != 0,
      .classes_only = keep == KEEP_NONE,
      .empty_row = intervene ? (heed_empty_row)(intervene - 1) : HEED_EMPTY_ROW_ZERO,
      .temperature = (float)temperature};
  heed_value_info info;
  HEED_TRY(heed_model_build(s->model->model, &desc, &s->graph, &s->web->error));
  s->input = heed_graph_find(s->graph, HEED_WEB_INPUT);
  HEED_TRY(heed_graph_value_info(s->graph, heed_graph_find(s->graph, "embeddings"), &info));
  s->tokens = info.shape.dim[1];
  return HEED_OK;
}

void heed_web_model_size(const heed_web_model *model, uint32_t *height, uint32_t *width) {
  heed_model_info info;
  heed_preprocess preprocess;
  heed_model_get_info(model->model, &info);
  heed_model_preprocess(model->model, &preprocess);
  *width = *height = info.image_size;
  if (heed_preprocess_size(&preprocess, info.image_size, info.image_size, width, height, NULL) !=
      HEED_OK)
    *width = *height = info.image_size;
}

/* A size that is 0 becomes that of pixel_values for a picture of the model's own size. */
static void choose_size(heed_web_session *s) {
  if (HEED_WEB_TEXT) return;
  uint32_t height, width;
  heed_web_model_size(s->model, &height, &width);
  if (!s->width) s->width = width;
  if (!s->height) s->height = height;
}

/* Nothing is changed at first: masks allow everything and gains are 1, by their names in heed.h. */
static heed_status change_nothing(heed_web_session *s) {
  heed_value_info info;
  heed_status status = HEED_OK;
  for (uint32_t id = 1; id <= heed_graph_value_count(s->graph) && status == HEED_OK; id++) {
    HEED_TRY(heed_graph_value_info(s->graph, (heed_value){id}, &info));
    const char *what = info.is_input ? strrchr(info.name, '.') : NULL;
    const bool is_gain = what && strcmp(what, ".gain") == 0;
    if (!info.is_input || (info.dtype != HEED_U8 && !is_gain)) continue;
    const size_t count = (size_t)heed_shape_count(&info.shape),
                 size = count * heed_dtype_size(info.dtype);
    unsigned char *ones = heed_alloc_raw(s->web->context, size, 1);
    if (!ones) return heed_fail_memory(&s->web->error, info.name, size);
    for (size_t i = 0; i < size; i++)
      ones[i] = is_gain ? ((const unsigned char *)&(const float){1.0f})[i % sizeof(float)] : 1;
    status = heed_session_write(s->session, (heed_value){id}, ones, size, &s->web->error);
    heed_free(s->web->context, ones);
  }
  return status;
}

heed_status heed_web_session_create(heed_web *web, const heed_web_model *model, uint32_t batch,
                                    uint32_t height, uint32_t width, int keep, const char *names,
                                    uint32_t count, uint32_t intervene, double temperature) {
  heed_web_session *s = heed_alloc(web->context, 1, sizeof *s);
  if (!s) return heed_fail_memory(&web->error, "session", sizeof *s);
  heed_model_info info;
  heed_model_get_info(model->model, &info);
  *s = (heed_web_session){.web = web,
                          .model = model,
                          .layers = info.layers,
                          .heads = info.heads,
                          .pool_heads = info.pool_heads,
                          .batch = batch,
                          .height = height,
                          .width = width,
                          .sized = height || width};
  choose_size(s);
  heed_status status = build(s, keep, intervene, temperature);
  if (status == HEED_OK) status = heed_web_session_prepare(s, keep, names, count);
  if (status == HEED_OK) status = change_nothing(s);
  if (status != HEED_OK) {
    heed_web_session_close(s);
    return status;
  }
  heed_web_session_tell(s, info.prefix_tokens, HEED_WEB_TEXT ? 0 : info.patch);
  return HEED_OK;
}

heed_status heed_web_session_preprocess(heed_web_session *s, uint32_t whole) {
  if (HEED_WEB_TEXT)
    return heed_fail(&s->web->error, HEED_UNSUPPORTED, "run: a text tower takes no images");
  HEED_TRY(heed_model_prepares(s->model->model, &s->web->error));
  heed_model_preprocess(s->model->model, &s->preprocess);
  if (s->sized)
    HEED_TRY(heed_model_preprocess_at(s->model->model, s->height, s->width, &s->preprocess,
                                      &s->web->error));
  if (whole) heed_preprocess_fit_whole(&s->preprocess);
  s->web->out.block = (struct heed_web_out_block){.address = HEED_WEB_ADDRESS(&s->preprocess),
                                                  .count = sizeof s->preprocess};
  return HEED_OK;
}
