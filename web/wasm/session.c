/* Sessions: made for a size and a set of taps, run layer by layer so that JavaScript can look at
 * events in between. See shim.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hooks.h"
#include "base/status.h"
#include "shim.h"

/* What a plan keeps for reading beside the outputs. */
enum {
  KEEP_NONE = HEED_WEB_CODE(keep, none),
  KEEP_ROWS = HEED_WEB_CODE(keep, rows),
  KEEP_ALL = HEED_WEB_CODE(keep, all),
  KEEP_NAMED = HEED_WEB_CODE(keep, named)
};
_Static_assert(HEED_WEB_CODE(intervene, zero) == 1 + HEED_EMPTY_ROW_ZERO &&
                   HEED_WEB_CODE(intervene, nan) == 1 + HEED_EMPTY_ROW_NAN &&
                   HEED_WEB_CODE(intervene, mean) == 1 + HEED_EMPTY_ROW_MEAN,
               "the record intervene is heed_empty_row after `never`");
_Static_assert(HEED_WEB_CODE(dtype, f32) == HEED_F32 && HEED_WEB_CODE(dtype, u8) == HEED_U8 &&
                   HEED_WEB_CODE(dtype, i32) == HEED_I32,
               "the record dtype is heed_dtype");

static void tell(const char *phase, uint64_t done, uint64_t total, void *user) {
  (void)phase;
  (void)user;
  heed_host_progress((double)done, (double)total);
}

static bool stop(void *user) {
  (void)user;
  return heed_host_cancelled() != 0;
}

void heed_web_session_close(heed_web_session *session) {
  if (!session) return;
  const heed_context *context = session->web->context;
  heed_session_destroy(session->session);
  heed_plan_destroy(session->plan);
  heed_graph_destroy(session->graph);
  heed_free(context, session->pixels);
  heed_free(context, session);
}

static heed_status find(heed_web_session *s, const char *name, heed_value *value) {
  *value = heed_graph_find(s->graph, name);
  if (value->id) return HEED_OK;
  return heed_fail(&s->web->error, HEED_INVALID_ARGUMENT, "taps: unknown value (found \"%s\")",
                   name);
}

static heed_status layer_tap(heed_web_session *s, uint32_t layer, const char *what,
                             heed_value *value) {
  char name[64];
  snprintf(name, sizeof name, "layer.%u.%s", layer, what);
  return find(s, name, value);
}

/* taps: room for two values a layer and of the pooling attention, or for `count` names. */
static heed_status collect_taps(heed_web_session *s, int keep, const char *names, uint32_t count,
                                uint32_t layers, bool pool, heed_value *taps, uint32_t *tap_count) {
  *tap_count = 0;
  for (uint32_t i = 0; keep == KEEP_ROWS && i < layers; i++) {
    HEED_TRY(layer_tap(s, i, "query", &taps[(*tap_count)++]));
    HEED_TRY(layer_tap(s, i, "key", &taps[(*tap_count)++]));
  }
  if (pool && keep == KEEP_ROWS) {
    HEED_TRY(find(s, "pool.query", &taps[(*tap_count)++]));
    HEED_TRY(find(s, "pool.key", &taps[(*tap_count)++]));
  }
  if (pool && keep == KEEP_ALL) HEED_TRY(find(s, HEED_WEB_POOL, &taps[(*tap_count)++]));
  for (uint32_t i = 0; keep == KEEP_ALL && i < layers; i++)
    HEED_TRY(layer_tap(s, i, "attention.weights", &taps[(*tap_count)++]));
  for (uint32_t i = 0; keep == KEEP_NAMED && i < count; i++, names += strlen(names) + 1)
    HEED_TRY(find(s, names, &taps[(*tap_count)++]));
  return HEED_OK;
}

static heed_status make_plan(heed_web_session *s, int keep, const char *names, uint32_t count,
                             uint32_t intervene, double temperature) {
  heed_model_info info;
  heed_model_get_info(s->model->model, &info);
  const heed_build_desc build = {
      .struct_size = sizeof build,
      .batch = s->batch,
      .height = s->height,
      .width = s->width,
      .source_length = HEED_WEB_TEXT ? s->width : 0,
      .intervene = intervene != 0,
      .classes_only = keep == KEEP_NONE,
      .empty_row = intervene ? (heed_empty_row)(intervene - 1) : HEED_EMPTY_ROW_ZERO,
      .temperature = (float)temperature};
  HEED_TRY(heed_model_build(s->model->model, &build, &s->graph, &s->web->error));
  heed_value *taps = heed_alloc(s->web->context, (size_t)2 * info.layers + count + 2, sizeof *taps);
  if (!taps)
    return heed_fail_memory(&s->web->error, "taps",
                            ((size_t)2 * info.layers + count + 2) * sizeof *taps);
  heed_plan_desc desc = HEED_PLAN_DESC_INIT;
  heed_status status =
      collect_taps(s, keep, names, count, info.layers, info.pool_heads, taps, &desc.tap_count);
  desc.taps = taps;
  if (status == HEED_OK)
    status = heed_plan_create(s->graph, s->web->backend, &desc, &s->plan, &s->web->error);
  heed_free(s->web->context, taps);
  return status;
}

static heed_status make_session(heed_web_session *s) {
  const heed_hooks hooks = {sizeof hooks, tell, stop, NULL};
  heed_value_info info;
  s->input = heed_graph_find(s->graph, HEED_WEB_INPUT);
  HEED_TRY(heed_graph_value_info(s->graph, s->input, &info));
  s->batch = info.shape.dim[0];
  s->height = info.shape.dim[2];
  s->width = info.shape.dim[3];
  s->pixel_bytes = (size_t)heed_shape_count(&info.shape) * sizeof(float);
  HEED_TRY(heed_graph_value_info(s->graph, heed_graph_find(s->graph, "embeddings"), &info));
  s->tokens = info.shape.dim[1];
  s->pixels = heed_alloc_raw(s->web->context, s->pixel_bytes, 1);
  if (!s->pixels) return heed_fail_memory(&s->web->error, "pixel_values", s->pixel_bytes);
  return heed_session_create(s->plan, &hooks, &s->session, &s->web->error);
}

/* A size that is 0 becomes that of pixel_values for a picture of the model's own size. */
static void choose_size(heed_web_session *s) {
  heed_model_info info;
  heed_preprocess preprocess;
  if (HEED_WEB_TEXT) return;
  heed_model_get_info(s->model->model, &info);
  heed_model_preprocess(s->model->model, &preprocess);
  uint32_t width = info.image_size, height = info.image_size;
  if (heed_preprocess_size(&preprocess, info.image_size, info.image_size, &width, &height, NULL) !=
      HEED_OK)
    width = height = info.image_size;
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
  *s = (heed_web_session){.web = web,
                          .model = model,
                          .batch = batch,
                          .height = height,
                          .width = width,
                          .sized = height || width};
  choose_size(s);
  heed_status status = make_plan(s, keep, names, count, intervene, temperature);
  if (status == HEED_OK) status = make_session(s);
  if (status == HEED_OK) status = change_nothing(s);
  if (status != HEED_OK) {
    heed_web_session_close(s);
    return status;
  }
  heed_model_info info;
  heed_model_get_info(model->model, &info);
  web->out.session =
      (struct heed_web_out_session){.session = HEED_WEB_ADDRESS(s),
                                    .steps = heed_plan_step_count(s->plan),
                                    .pixels = HEED_WEB_ADDRESS(s->pixels),
                                    .batch = s->batch,
                                    .height = s->height,
                                    .width = s->width,
                                    .layers = info.layers,
                                    .heads = info.heads,
                                    .tokens = s->tokens,
                                    .prefix_tokens = info.prefix_tokens,
                                    .rows = HEED_WEB_TEXT ? 0 : s->height / info.patch,
                                    .columns = HEED_WEB_TEXT ? 0 : s->width / info.patch};
  return HEED_OK;
}

void heed_web_session_memory(heed_web_session *s) {
  heed_memory memory;
  heed_plan_memory(s->plan, &memory);
#define FIELD(name) .name = (double)memory.name,
  s->web->out.memory = (struct heed_web_out_memory){HEED_WEB_MEMORY(FIELD)};
#undef FIELD
}

heed_status heed_web_session_preprocess(heed_web_session *s, uint32_t whole) {
  if (HEED_WEB_TEXT)
    return heed_fail(&s->web->error, HEED_UNSUPPORTED, "run: a text tower takes no images");
  heed_model_preprocess(s->model->model, &s->preprocess);
  if (s->sized)
    HEED_TRY(heed_model_preprocess_at(s->model->model, s->height, s->width, &s->preprocess,
                                      &s->web->error));
  if (whole) heed_preprocess_fit_whole(&s->preprocess);
  s->web->out.block = (struct heed_web_out_block){.address = HEED_WEB_ADDRESS(&s->preprocess),
                                                  .count = sizeof s->preprocess};
  return HEED_OK;
}

heed_status heed_web_session_write(heed_web_session *s) {
  if (HEED_WEB_TEXT) return HEED_OK; /* the ids are written by name */
  return heed_session_write(s->session, s->input, s->pixels, s->pixel_bytes, &s->web->error);
}

heed_status heed_web_session_set(heed_web_session *s, const char *name, const void *data,
                                 size_t bytes) {
  heed_value value;
  HEED_TRY(find(s, name, &value));
  return heed_session_write(s->session, value, data, bytes, &s->web->error);
}

heed_status heed_web_session_run_part(heed_web_session *s, uint32_t step) {
  const heed_hooks hooks = {sizeof hooks, NULL, stop, NULL};
  HEED_TRY(heed_ask_cancel(&hooks, "run", &s->web->error));
  HEED_TRY(heed_session_run_part(s->session, &step, &s->web->error));
  s->web->out.step.next = step;
  return HEED_OK;
}

heed_status heed_web_session_view(heed_web_session *s, const char *name) {
  heed_value value;
  heed_value_info info;
  const void *data;
  HEED_TRY(find(s, name, &value));
  HEED_TRY(heed_session_view(s->session, value, &data, &s->web->error));
  HEED_TRY(heed_graph_value_info(s->graph, value, &info));
  s->web->out.value = (struct heed_web_out_value){
      .address = HEED_WEB_ADDRESS(data), .dtype = info.dtype, .rank = info.shape.rank};
  for (uint32_t i = 0; i < info.shape.rank; i++) s->web->out.value.shape[i] = info.shape.dim[i];
  return HEED_OK;
}
