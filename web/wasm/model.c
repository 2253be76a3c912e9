/* Models: files whose bytes JavaScript brings on demand, in heed's own graph. See shim.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "shim.h"

_Static_assert(HEED_WEB_CODE(intervene, zero) == 1 + HEED_EMPTY_ROW_ZERO &&
                   HEED_WEB_CODE(intervene, nan) == 1 + HEED_EMPTY_ROW_NAN &&
                   HEED_WEB_CODE(intervene, mean) == 1 + HEED_EMPTY_ROW_MEAN,
               "the record intervene is heed_empty_row after `never`");

static bool is_text(const heed_model_info *info) { return info->kind == HEED_MODEL_TEXT; }

/* ------------------------------------------------------------------------------------ of a type */

static void close_model(const heed_web *web, heed_web_model *model) {
  (void)web;
  heed_model_destroy(model->model);
}

/* The size of pixel_values of a session that is given none: for a picture of the model's own size.
 */
static void own_size(const heed_web_model *model, const heed_model_info *info, uint32_t *height,
                     uint32_t *width) {
  heed_preprocess preprocess;
  heed_model_preprocess(model->model, &preprocess);
  *width = *height = info->image_size;
  if (heed_preprocess_size(&preprocess, info->image_size, info->image_size, width, height, NULL) !=
      HEED_OK)
    *width = *height = info->image_size;
}

static const char *tell_info(heed_web *web, const heed_web_model *model) {
  heed_model_info info;
  uint32_t height = 0, width = 0;
  heed_model_get_info(model->model, &info);
  if (!is_text(&info)) own_size(model, &info, &height, &width);
#define FIELD(name) .name = (double)info.name,
  web->out.model = (struct heed_web_out_model){
      HEED_WEB_MODEL(FIELD).rules = HEED_WEB_ADDRESS(info.rules),
      .assumed = HEED_WEB_ADDRESS(info.assumed), .run_height = height, .run_width = width};
#undef FIELD
  return info.family;
}

static const char *label_of(const heed_web_model *model, uint32_t index) {
  return heed_model_label(model->model, index);
}

static const char *token_of(const heed_web_model *model, uint32_t index) {
  heed_model_info info;
  heed_model_get_info(model->model, &info);
  return info.token_names[index];
}

static size_t describe(const heed_web_model *model, char *text, size_t size) {
  return heed_model_describe(model->model, text, size);
}

/* Where the tokens of each layer lie, and as the session's own the last layer's. */
static heed_status find_places(heed_web_session *s, const heed_build_desc *desc) {
  s->places = heed_alloc(s->web->context, s->layers, sizeof *s->places);
  if (!s->places) return heed_fail_memory(&s->web->error, "layers", s->layers * sizeof *s->places);
  for (uint32_t i = 0; i < s->layers; i++)
    HEED_TRY(heed_model_layer(s->model->model, desc, i, &s->places[i], &s->web->error));
  s->place = s->places[s->layers - 1];
  s->tokens = heed_web_layer_tokens(&s->place);
  return HEED_OK;
}

static heed_status build(heed_web_session *s, const heed_build_desc *wanted) {
  heed_build_desc desc = *wanted;
  heed_model_info info;
  heed_value_info embeddings;
  heed_model_get_info(s->model->model, &info);
  s->layers = info.layers;
  s->heads = info.heads;
  s->pool_heads = info.pool_heads;
  s->place = (heed_layer_info){.width = info.width,
                               .heads = info.heads,
                               .prefix_tokens = info.prefix_tokens,
                               .tubelet = 1,
                               .frames = 1,
                               .patch = info.patch};
  if (is_text(&info)) {
    desc.source_length = s->width;
  } else {
    uint32_t height, width;
    own_size(s->model, &info, &height, &width);
    if (!s->width) s->width = width;
    if (!s->height) s->height = height;
    desc.height = s->height;
    desc.width = s->width;
  }
  HEED_TRY(heed_model_build(s->model->model, &desc, &s->graph, &s->web->error));
  s->input = is_text(&info) ? (heed_value){0} : heed_graph_find(s->graph, "pixel_values");
  HEED_TRY(heed_graph_value_info(s->graph, heed_graph_find(s->graph, "embeddings"), &embeddings));
  s->tokens = embeddings.shape.dim[1];
  return info.frames || info.stages ? find_places(s, &desc) : HEED_OK;
}

/* JavaScript writes all inputs. */
static heed_status begin(heed_web_session *s) {
  (void)s;
  return HEED_OK;
}

static heed_status preprocess(heed_web_session *s) {
  heed_model_info info;
  heed_model_get_info(s->model->model, &info);
  if (is_text(&info))
    return heed_fail(&s->web->error, HEED_UNSUPPORTED, "run: a text tower takes no images");
  HEED_TRY(heed_model_prepares(s->model->model, &s->web->error));
  heed_model_preprocess(s->model->model, &s->preprocess);
  if (!s->sized) return HEED_OK;
  return heed_model_preprocess_at(s->model->model, s->height, s->width, &s->preprocess,
                                  &s->web->error);
}

static const heed_web_model_type own_graph = {close_model, tell_info, label_of, token_of,
                                              describe,    build,     begin,    preprocess};

/* ------------------------------------------------------------------------------------- of any */

void heed_web_model_close(const heed_web *web, heed_web_model *model) {
  if (!model) return;
  model->type->close(web, model);
  heed_free(web->context, model->names);
  heed_free(web->context, model->files);
  heed_free(web->context, model);
}

heed_web_model *heed_web_model_make(heed_web *web, size_t size, const char *names,
                                    size_t names_size, const double *sizes, const uint32_t *sources,
                                    heed_web_reader *const *readers, uint32_t count) {
  heed_web_model *model = heed_alloc(web->context, 1, size);
  if (!model) {
    heed_fail_memory(&web->error, "model", size);
    return NULL;
  }
  model->type = &own_graph;
  model->files = heed_alloc(web->context, count ? count : 1, sizeof *model->files);
  model->names = heed_alloc(web->context, names_size + 1, 1);
  if (!model->files || !model->names) {
    heed_fail_memory(&web->error, "model", count * sizeof *model->files + names_size);
    heed_web_model_close(web, model);
    return NULL;
  }
  memcpy(model->names, names, names_size);
  const char *name = model->names;
  for (uint32_t i = 0; i < count; i++, name += strlen(name) + 1)
    model->files[i] =
        (heed_model_file){name, readers && readers[i] ? readers[i]->source
                                                      : heed_web_host_source(sources[i], sizes[i])};
  model->file_count = count;
  return model;
}

heed_status heed_web_model_open(heed_web *web, const char *names, size_t names_size,
                                const double *sizes, const uint32_t *sources,
                                heed_web_reader *const *readers, uint32_t count, uint32_t text) {
  heed_web_model *model =
      heed_web_model_make(web, sizeof *model, names, names_size, sizes, sources, readers, count);
  if (!model) return web->error.status;
  const heed_model_desc desc = {sizeof desc, model->files, count,
                                text ? HEED_TOWER_TEXT : HEED_TOWER_VISION};
  const heed_status status = heed_model_open(web->context, &desc, &model->model, &web->error);
  if (status != HEED_OK)
    heed_web_model_close(web, model);
  else
    web->out.opened.address = HEED_WEB_ADDRESS(model);
  return status;
}

const char *heed_web_model_info(heed_web *web, const heed_web_model *model) {
  return model->type->info(web, model);
}

void heed_web_model_text(heed_web *web, const heed_web_model *model) {
  heed_model_info info;
  heed_model_get_info(model->model, &info);
#define FIELD(name) .name = (double)info.name,
  web->out.text = (struct heed_web_out_text){HEED_WEB_TEXT(FIELD)};
#undef FIELD
}

heed_status heed_web_model_describe(heed_web *web, const heed_web_model *model) {
  const size_t size = model->type->describe(model, NULL, 0);
  char *text = heed_web_alloc(web, size + 1);
  if (!text) return web->error.status;
  model->type->describe(model, text, size + 1);
  web->out.block = (struct heed_web_out_block){HEED_WEB_ADDRESS(text), (double)size};
  return HEED_OK;
}

const char *heed_web_model_label(const heed_web_model *model, uint32_t index) {
  return model->type->label(model, index);
}

const char *heed_web_model_token(const heed_web_model *model, uint32_t index) {
  return model->type->token(model, index);
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
