/* The graphs of ONNX files on heed's own ops, as models or with inputs of their own, and run in
 * double. See shim.h, onnx.h and heed/onnx.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "graph/graph.h"
#include "model/config/unknown_family.h"
#include "model/describe.h"
#include "model/image/preprocess.h"
#include "onnx.h"
#include "onnx/lower/lower.h"

/* ------------------------------------------------------------------------------- what it takes */

static void put_port(heed_web *web, const heed_onnx_port *port) {
  const bool shaped = port->shaped && port->rank <= HEED_MAX_RANK;
  web->out.port = (struct heed_web_out_port){.name = HEED_WEB_ADDRESS(port->name),
                                             .dtype = HEED_WEB_ADDRESS(port->dtype),
                                             .shaped = shaped,
                                             .rank = shaped ? port->rank : 0};
  for (uint32_t i = 0; shaped && i < port->rank; i++) web->out.port.shape[i] = (double)port->dim[i];
}

uint32_t heed_web_graph_port(heed_web *web, const heed_web_onnx *onnx, uint32_t output,
                             uint32_t index) {
  heed_onnx_port port;
  const bool found = output ? heed_onnx_gives(onnx->file, index, &port)
                            : heed_onnx_takes(onnx->file, index, &port);
  if (found) put_port(web, &port);
  return found;
}

const char *heed_web_graph_attention(const heed_web_onnx *onnx, uint32_t index) {
  return heed_onnx_attention_name(onnx->file, index);
}

static char way[1024];

const char *heed_web_graph_way(const heed_web_onnx *onnx, uint32_t kernels, uint32_t unrounded,
                               const char *why) {
  heed_onnx_way(onnx->file, kernels != 0, unrounded, kernels ? onnx->in_double : why, way,
                sizeof way);
  return way;
}

/* ------------------------------------------------------------------------------------ lowering */

static const char *name_of(const heed_web_onnx *onnx, heed_value value) {
  return value.id ? heed_graph_record(heed_onnx_lowered_graph(onnx->lowered), value.id)->name
                  : NULL;
}

static void name_as(const heed_web_onnx *onnx, heed_value value, const char *what, uint32_t index) {
  char name[32];
  snprintf(name, sizeof name, "%s.%u", what, (unsigned)index);
  if (value.id && !name_of(onnx, value))
    heed_graph_name(heed_onnx_lowered_graph(onnx->lowered), value, name);
}

/* Whatever is asked for gets a name. */
static heed_status name_results(heed_web *web, heed_web_onnx *onnx) {
  heed_onnx_port port;
  heed_value value;
  for (uint32_t i = 0; heed_onnx_gives(onnx->file, i, &port); i++) {
    HEED_TRY(heed_onnx_lowered_output(onnx->lowered, i, &value, &web->error));
    name_as(onnx, value, "output", i);
  }
  for (uint32_t i = 0; heed_onnx_attention_name(onnx->file, i); i++)
    name_as(onnx, heed_onnx_lowered_weights(onnx->lowered, i), "attention", i);
  return heed_graph_status(heed_onnx_lowered_graph(onnx->lowered), &web->error);
}

static void forget_lowered(heed_web_onnx *onnx) {
  heed_onnx_lowered_destroy(onnx->lowered);
  onnx->lowered = NULL;
  onnx->facts = (heed_vision){0};
  *onnx->in_double = '\0';
  onnx->refused.status = HEED_OK;
}

heed_status heed_web_graph_lower(heed_web *web, heed_web_onnx *onnx, const void *inputs,
                                 size_t size, uint32_t batch, uint32_t height, uint32_t width) {
  const heed_onnx_lower_desc desc = {.struct_size = sizeof desc,
                                     .inputs = {size, size ? inputs : NULL, NULL, NULL},
                                     .name = size ? "inputs" : NULL,
                                     .batch = batch,
                                     .height = height,
                                     .width = width,
                                     .picture = size == 0,
                                     .parts = true};
  forget_lowered(onnx);
  HEED_TRY(heed_onnx_lower(onnx->file, &desc, &onnx->lowered, &web->error));
  heed_onnx_lowered_in_double(onnx->lowered, onnx->in_double, sizeof onnx->in_double);
  heed_status status = HEED_OK;
  if (size == 0 && heed_vision_find(onnx->file, onnx->lowered, onnx->stage, NULL, &onnx->facts,
                                    &onnx->refused) != HEED_OK)
    /* no vision transformer is no fault */
    status = heed_graph_status(heed_onnx_lowered_graph(onnx->lowered), &web->error);
  if (status == HEED_OK) status = name_results(web, onnx);
  if (status != HEED_OK)
    forget_lowered(onnx);
  else
    web->out.lowered = (struct heed_web_out_lowered){heed_onnx_lowered_unrounded(onnx->lowered)};
  return status;
}

const char *heed_web_graph_refused(const heed_web_onnx *onnx) {
  return onnx->refused.status == HEED_OK ? NULL : onnx->refused.message;
}

const char *heed_web_graph_image(const heed_web_onnx *onnx) {
  return name_of(onnx, (heed_value){onnx->facts.image});
}

uint32_t heed_web_graph_find(const heed_web_onnx *onnx, const char *name) {
  return heed_graph_find(heed_onnx_lowered_graph(onnx->lowered), name).id;
}

const char *heed_web_graph_output(heed_web *web, const heed_web_onnx *onnx, uint32_t index) {
  heed_value value;
  return heed_onnx_lowered_output(onnx->lowered, index, &value, &web->error) == HEED_OK
             ? name_of(onnx, value)
             : NULL;
}

const char *heed_web_graph_weights(const heed_web_onnx *onnx, uint32_t index) {
  return name_of(onnx, heed_onnx_lowered_weights(onnx->lowered, index));
}

/* ------------------------------------------------------------------------------------- results */

/* The bytes of a result, as a block of JavaScript's. */
static heed_status give_result(heed_web *web, heed_onnx_result *result) {
  const heed_source source = heed_onnx_result_source(result);
  unsigned char *block = heed_web_alloc(web, (size_t)source.size);
  heed_status status = block ? source.read(source.user, 0, block, (size_t)source.size, &web->error)
                             : HEED_OUT_OF_MEMORY;
  heed_onnx_result_destroy(result);
  if (status != HEED_OK)
    heed_web_free(web, block);
  else
    web->out.block = (struct heed_web_out_block){HEED_WEB_ADDRESS(block), (double)source.size};
  return status;
}

heed_status heed_web_graph_known(heed_web *web, const heed_web_onnx *onnx) {
  heed_onnx_result *result;
  HEED_TRY(heed_onnx_lowered_known(onnx->lowered, &result, &web->error));
  return give_result(web, result);
}

heed_status heed_web_graph_evaluate(heed_web *web, heed_web_onnx *onnx, const void *inputs,
                                    size_t size, uint32_t attentions) {
  heed_onnx_result *result;
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .inputs = {size, inputs, NULL, NULL},
                                        .name = "inputs",
                                        .attentions = attentions != 0};
  HEED_TRY(heed_onnx_reference(onnx->file, &desc, &result, &web->error));
  return give_result(web, result);
}

/* ----------------------------------------------------------------------------------------- ways */

_Static_assert(HEED_WEB_CODE(way, either) == HEED_ONNX_EITHER &&
                   HEED_WEB_CODE(way, weights) == HEED_ONNX_WEIGHTS &&
                   HEED_WEB_CODE(way, graph) == HEED_ONNX_GRAPH,
               "the record way is heed_onnx_run_way");

/* The side of images that the files say; 0: none, or the files are broken. */
static uint32_t said_side(const heed_web *web, const heed_web_model *model) {
  heed_config *config;
  if (heed_unnamed_open(web->context, model->files, model->file_count, &config, NULL) != HEED_OK)
    return 0;
  const uint32_t side = heed_unnamed_side(config);
  heed_config_destroy(config);
  return side;
}

heed_status heed_web_onnx_model(heed_web *web, heed_web_onnx *onnx, uint32_t wanted,
                                const char *names, size_t names_size, const double *sizes,
                                const uint32_t *sources, heed_web_reader *const *readers,
                                uint32_t count) {
  heed_web_model *model =
      heed_web_model_make(web, sizeof *model, names, names_size, sizes, sources, readers, count);
  if (!model) return web->error.status;
  const heed_model_desc files = {sizeof files, model->files, count, HEED_TOWER_VISION};
  const heed_onnx_model_desc desc = {sizeof desc, &files, (heed_onnx_run_way)wanted, 0, 0};
  heed_onnx_run_way taken;
  const heed_status status =
      heed_onnx_open_model(web->context, onnx->file, &desc, &model->model, &taken, &web->error);
  heed_model_info info = {0};
  web->out.chosen = (struct heed_web_out_chosen){0};
  if (status == HEED_OK && taken == HEED_ONNX_WEIGHTS) {
    web->out.chosen.address = HEED_WEB_ADDRESS(model);
    return HEED_OK;
  }
  if (status == HEED_OK) heed_model_get_info(model->model, &info);
  snprintf(onnx->assumed, sizeof onnx->assumed, "%s", info.assumed ? info.assumed : "");
  web->out.chosen.side = info.image_size ? info.image_size : said_side(web, model);
  heed_web_model_close(web, model);
  return wanted != HEED_ONNX_WEIGHTS && heed_onnx_lacks(status) ? HEED_OK : status;
}

/* -------------------------------------------------------------------------------------- models */

typedef struct graph_model {
  heed_web_model base; /* its files are those beside the ONNX file */
  heed_web_onnx *onnx;
  heed_vision facts;
  heed_config *config; /* the files' JSON alone */
  heed_preprocess preprocess;
  heed_error unprepared; /* as heed_model's */
  char label[24], assumed[400];
} graph_model;

static graph_model *as_graph(const heed_web_model *model) { return (graph_model *)model; }

static void close_graph(const heed_web *web, heed_web_model *model) {
  (void)web;
  heed_config_destroy(as_graph(model)->config);
}

static heed_model_info info_of(const graph_model *model) {
  const heed_vision *facts = &model->facts;
  return (heed_model_info){.kind = HEED_MODEL_VISION,
                           .family = "ONNX graph",
                           .image_size = facts->height,
                           .channels = facts->channels,
                           .patch = facts->patch,
                           .width = facts->states,
                           .layers = facts->layers,
                           .heads = facts->heads,
                           .prefix_tokens = facts->prefix_tokens,
                           .classes = facts->classes,
                           .positions = "as the ONNX graph has them",
                           .rules = "as the ONNX graph has them",
                           .assumed = *model->assumed ? model->assumed : NULL,
                           .parameters = facts->parameters,
                           .weight_bytes = (uint64_t)model->onnx->base.source.size,
                           .tensors_used = model->onnx->file->weight_count};
}

static const char *tell_info(heed_web *web, const heed_web_model *base) {
  const graph_model *model = as_graph(base);
  const heed_vision *facts = &model->facts;
  heed_model_info info = info_of(model);
  uint32_t height = facts->height, width = facts->width;
  if (height &&
      heed_preprocess_size(&model->preprocess, height, width, &width, &height, NULL) != HEED_OK)
    height = facts->height;
  info.image_size = height;
#define FIELD(name) .name = (double)info.name,
  web->out.model =
      (struct heed_web_out_model){HEED_WEB_MODEL(FIELD).rules = HEED_WEB_ADDRESS(info.rules),
                                  .assumed = HEED_WEB_ADDRESS(info.assumed), .run_height = height,
                                  .run_width = width, .each_class = facts->each_class};
#undef FIELD
  return info.family;
}

static size_t describe(const heed_web_model *base, char *text, size_t size) {
  const graph_model *model = as_graph(base);
  const heed_model_info info = info_of(model);
  return heed_describe(&info, &model->preprocess,
                       model->unprepared.status == HEED_OK ? NULL : &model->unprepared, text, size);
}

static const char *label_of(const heed_web_model *base, uint32_t index) {
  graph_model *model = as_graph(base);
  const char *label = heed_unnamed_label(model->config, index);
  if (label) return label;
  snprintf(model->label, sizeof model->label, "class %u", (unsigned)index);
  return model->label;
}

static const char *token_of(const heed_web_model *base, uint32_t index) {
  graph_model *model = as_graph(base);
  if (index == 0) return "CLS";
  snprintf(model->label, sizeof model->label, "token %u", (unsigned)index);
  return model->label;
}

/* Lowers the graph once more, with the inputs that change its attention. */
static heed_status let_change(heed_web_session *s, const heed_build_desc *desc) {
  heed_web_onnx *onnx = as_graph(s->model)->onnx;
  heed_vision facts = onnx->facts;
  heed_onnx_lowered *changed;
  const heed_onnx_lower_desc lower = {.struct_size = sizeof lower,
                                      .batch = facts.batch,
                                      .height = facts.height,
                                      .width = facts.width,
                                      .picture = true,
                                      .parts = true};
  HEED_TRY(heed_vision_change(onnx->file, &lower, desc, heed_onnx_lowered_graph(onnx->lowered),
                              &facts, &changed, &s->web->error));
  forget_lowered(onnx);
  onnx->lowered = changed;
  onnx->facts = facts;
  return name_results(s->web, onnx);
}

/* The graph is lowered for the batch and the size. */
static heed_status build(heed_web_session *s, const heed_build_desc *desc) {
  heed_web_onnx *onnx = as_graph(s->model)->onnx;
  const heed_vision *facts = &onnx->facts;
  if (desc->intervene) HEED_TRY(let_change(s, desc));
  s->input.id = facts->image;
  s->tokens = facts->tokens;
  s->place.prefix_tokens = facts->prefix_tokens;
  s->place.frames = s->place.tubelet = 1;
  s->place.heads = facts->heads;
  s->place.patch = facts->patch;
  s->layers = facts->layers;
  s->heads = facts->heads;
  s->pool_heads = heed_web_graph_find(onnx, "pool.query") ? facts->pool_heads : 0;
  s->lowered = onnx->lowered;
  s->graph = heed_onnx_lowered_release(onnx->lowered);
  onnx->lowered = NULL;
  return HEED_OK;
}

static heed_status begin(heed_web_session *s) {
  return heed_onnx_lowered_write(s->lowered, s->session, &s->web->error);
}

static heed_status preprocess(heed_web_session *s) {
  const graph_model *model = as_graph(s->model);
  if (!s->pixels)
    return heed_fail(&s->web->error, HEED_UNSUPPORTED, "run: the graph takes no images");
  if (model->unprepared.status != HEED_OK) {
    s->web->error = model->unprepared;
    return s->web->error.status;
  }
  s->preprocess = model->preprocess;
  heed_preprocess_cover(&s->preprocess, s->height, s->width);
  return HEED_OK;
}

static const heed_web_model_type onnx_graph = {close_graph, tell_info, label_of, token_of,
                                               describe,    build,     begin,    preprocess};

/* Layers of the stage that hints ask for: the graph was lowered before they were read. */
static heed_status take_stage(heed_web *web, graph_model *model) {
  heed_web_onnx *onnx = model->onnx;
  const heed_vision facts = model->facts;
  if (onnx->stage == heed_unnamed_stage(model->config)) return HEED_OK;
  onnx->stage = heed_unnamed_stage(model->config);
  HEED_TRY(heed_web_graph_lower(web, onnx, NULL, 0, facts.batch, facts.height, facts.width));
  model->facts = onnx->facts;
  if (onnx->refused.status != HEED_OK) web->error = onnx->refused;
  return onnx->refused.status;
}

static heed_status open_graph(heed_web *web, graph_model *model) {
  const heed_vision *facts = &model->facts;
  HEED_TRY(heed_unnamed_open(web->context, model->base.files, model->base.file_count,
                             &model->config, &web->error));
  HEED_TRY(take_stage(web, model));
  if (*model->onnx->assumed)
    snprintf(model->assumed, sizeof model->assumed, "%s", model->onnx->assumed);
  else if (facts->image)
    heed_unnamed_assumed(model->config, facts->range, facts->order, "", model->assumed,
                         sizeof model->assumed);
  if (heed_unnamed_preprocess(model->config, facts->height ? facts->height : 224,
                              facts->channels ? facts->channels : 3, facts->range,
                              &model->preprocess, &model->unprepared) == HEED_OK)
    model->unprepared.status = HEED_OK;
  return HEED_OK;
}

heed_status heed_web_graph_open(heed_web *web, heed_web_onnx *onnx, const char *names,
                                size_t names_size, const double *sizes, const uint32_t *sources,
                                uint32_t count) {
  graph_model *model = (graph_model *)heed_web_model_make(web, sizeof *model, names, names_size,
                                                          sizes, sources, NULL, count);
  if (!model) return web->error.status;
  model->base.type = &onnx_graph;
  model->onnx = onnx;
  model->facts = onnx->facts;
  const heed_status status = open_graph(web, model);
  if (status != HEED_OK)
    heed_web_model_close(web, &model->base);
  else
    web->out.opened.address = HEED_WEB_ADDRESS(model);
  return status;
}
