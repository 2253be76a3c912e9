/* Sessions, made for a size and a set of taps. They run layer by layer, so that JavaScript can look
 * at events in between. See shim.h. */
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
  heed_free(context, session->copy);
  heed_free(context, session->places);
  heed_free(context, session);
}

static heed_status find_value(heed_web_session *s, const char *name, heed_value *value) {
  *value = heed_graph_find(s->graph, name);
  if (value->id) return HEED_OK;
  return heed_fail(&s->web->error, HEED_INVALID_ARGUMENT, "taps: unknown value (found \"%s\")",
                   name);
}

static heed_status layer_tap(heed_web_session *s, uint32_t layer, const char *what,
                             heed_value *value) {
  char name[64];
  snprintf(name, sizeof name, "layer.%u.%s", layer, what);
  return find_value(s, name, value);
}

/* taps: room for two values a layer and of the pooling attention, or for `count` names. */
static heed_status collect_taps(heed_web_session *s, int keep, const char *names, uint32_t count,
                                heed_value *taps, uint32_t *tap_count) {
  *tap_count = 0;
  for (uint32_t i = 0; keep == KEEP_ROWS && i < s->layers; i++) {
    HEED_TRY(layer_tap(s, i, "query", &taps[(*tap_count)++]));
    HEED_TRY(layer_tap(s, i, "key", &taps[(*tap_count)++]));
  }
  if (s->pool_heads && keep == KEEP_ROWS) {
    HEED_TRY(find_value(s, "pool.query", &taps[(*tap_count)++]));
    HEED_TRY(find_value(s, "pool.key", &taps[(*tap_count)++]));
  }
  if (s->pool_heads && keep == KEEP_ALL)
    HEED_TRY(find_value(s, HEED_WEB_POOL, &taps[(*tap_count)++]));
  for (uint32_t i = 0; keep == KEEP_ALL && i < s->layers; i++)
    HEED_TRY(layer_tap(s, i, "attention.weights", &taps[(*tap_count)++]));
  for (uint32_t i = 0; keep == KEEP_NAMED && i < count; i++, names += strlen(names) + 1)
    HEED_TRY(find_value(s, names, &taps[(*tap_count)++]));
  return HEED_OK;
}

static heed_status make_plan(heed_web_session *s, int keep, const char *names, uint32_t count) {
  const size_t room = (size_t)2 * s->layers + count + 2;
  heed_value *taps = heed_alloc(s->web->context, room, sizeof *taps);
  if (!taps) return heed_fail_memory(&s->web->error, "taps", room * sizeof *taps);
  heed_plan_desc desc = HEED_PLAN_DESC_INIT;
  heed_status status = collect_taps(s, keep, names, count, taps, &desc.tap_count);
  desc.taps = taps;
  if (status == HEED_OK)
    status = heed_plan_create(s->graph, s->web->backend, &desc, &s->plan, &s->web->error);
  heed_free(s->web->context, taps);
  return status;
}

/* The plan for `keep` of the session's graph, and the program; its sizes are those of its input,
 * where it has one. */
static heed_status prepare(heed_web_session *s, int keep, const char *names, uint32_t count) {
  const heed_hooks hooks = {sizeof hooks, tell, stop, NULL};
  heed_value_info info;
  HEED_TRY(make_plan(s, keep, names, count));
  /* first, since its sentence says what all of it needs */
  HEED_TRY(heed_session_create(s->plan, &hooks, &s->session, &s->web->error));
  if (heed_graph_value_info(s->graph, s->input, &info) == HEED_OK) {
    s->batch = info.shape.dim[0];
    s->height = info.shape.dim[info.shape.rank - 2];
    s->width = info.shape.dim[info.shape.rank - 1];
    s->frames = info.shape.rank == 5 ? info.shape.dim[1] : 0;
    s->pixel_bytes = (size_t)heed_shape_count(&info.shape) * sizeof(float);
    s->pixels = heed_alloc_raw(s->web->context, s->pixel_bytes, 1);
    if (!s->pixels) return heed_fail_memory(&s->web->error, "pixel_values", s->pixel_bytes);
  }
  return HEED_OK;
}

/* A grid follows the size of pixel_values. */
static void place_patches(heed_web_session *s) {
  heed_layer_info *place = &s->place;
  if (s->places || !place->patch) return;
  place->rows = s->height / place->patch;
  place->columns = s->width / place->patch;
}

static void tell_session(heed_web_session *s) {
  s->web->out.session = (struct heed_web_out_session){.session = HEED_WEB_ADDRESS(s),
                                                      .steps = heed_plan_step_count(s->plan),
                                                      .pixels = HEED_WEB_ADDRESS(s->pixels),
                                                      .batch = s->batch,
                                                      .height = s->height,
                                                      .width = s->width,
                                                      .layers = s->layers,
                                                      .heads = s->heads,
                                                      .tokens = s->tokens,
                                                      .prefix_tokens = s->place.prefix_tokens,
                                                      .frames = s->place.frames,
                                                      .rows = s->place.rows,
                                                      .columns = s->place.columns};
}

void heed_web_session_layer(heed_web_session *s, uint32_t layer) {
  const heed_layer_info *place = s->places ? &s->places[layer] : &s->place;
#define FIELD(name) .name = (double)place->name,
  s->web->out.layer = (struct heed_web_out_layer){HEED_WEB_LAYER(FIELD)};
#undef FIELD
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
                                    uint32_t count, uint32_t intervene, double temperature,
                                    uint32_t frames) {
  const heed_build_desc desc = {
      .struct_size = sizeof desc,
      .batch = batch,
      .frames = frames,
      .intervene = intervene != 0,
      .classes_only = keep == KEEP_NONE,
      .empty_row = intervene ? (heed_empty_row)(intervene - 1) : HEED_EMPTY_ROW_ZERO,
      .temperature = (float)temperature};
  heed_web_session *s = heed_alloc(web->context, 1, sizeof *s);
  if (!s) return heed_fail_memory(&web->error, "session", sizeof *s);
  *s = (heed_web_session){.web = web,
                          .model = model,
                          .batch = batch,
                          .height = height,
                          .width = width,
                          .sized = height || width};
  heed_status status = model->type->build(s, &desc);
  if (status == HEED_OK) status = prepare(s, keep, names, count);
  if (status == HEED_OK) status = model->type->begin(s);
  if (status == HEED_OK && intervene) status = change_nothing(s);
  if (status != HEED_OK) {
    heed_web_session_close(s);
    return status;
  }
  place_patches(s);
  tell_session(s);
  return HEED_OK;
}

void heed_web_session_memory(heed_web_session *s) {
  heed_memory memory;
  heed_plan_memory(s->plan, &memory);
#define FIELD(name) .name = (double)memory.name,
  s->web->out.memory = (struct heed_web_out_memory){HEED_WEB_MEMORY(FIELD)};
#undef FIELD
}

heed_status heed_web_session_write(heed_web_session *s) {
  if (!s->pixels) return HEED_OK;
  return heed_session_write(s->session, s->input, s->pixels, s->pixel_bytes, &s->web->error);
}

heed_status heed_web_session_set(heed_web_session *s, const char *name, const void *data,
                                 size_t bytes) {
  heed_value value;
  HEED_TRY(find_value(s, name, &value));
  return heed_session_write(s->session, value, data, bytes, &s->web->error);
}

heed_status heed_web_session_run_part(heed_web_session *s, uint32_t step) {
  const heed_hooks hooks = {sizeof hooks, NULL, stop, NULL};
  HEED_TRY(heed_check_cancel(&hooks, "run", &s->web->error));
  HEED_TRY(heed_session_run_part(s->session, &step, &s->web->error));
  s->web->out.step.next = step;
  return HEED_OK;
}

/* A copy, until the next one. */
static heed_status copy_value(heed_web_session *s, heed_value value, const heed_value_info *info,
                              const void **data) {
  const uint64_t count = heed_shape_count(&info->shape);
  heed_free(s->web->context, s->copy);
  s->copy = heed_alloc_raw(s->web->context, (size_t)count, heed_dtype_size(info->dtype));
  if (!s->copy) return heed_fail_memory(&s->web->error, "view", (size_t)count);
  *data = s->copy;
  return heed_session_read(s->session, value, 0, count, s->copy, &s->web->error);
}

heed_status heed_web_session_view(heed_web_session *s, const char *name) {
  heed_value value;
  heed_value_info info;
  const void *data;
  HEED_TRY(find_value(s, name, &value));
  HEED_TRY(heed_graph_value_info(s->graph, value, &info));
  HEED_TRY(s->web->defers ? copy_value(s, value, &info, &data)
                          : heed_session_view(s->session, value, &data, &s->web->error));
  s->web->out.value = (struct heed_web_out_value){
      .address = HEED_WEB_ADDRESS(data), .dtype = info.dtype, .rank = info.shape.rank};
  for (uint32_t i = 0; i < info.shape.rank; i++) s->web->out.value.shape[i] = info.shape.dim[i];
  return HEED_OK;
}
