/* heed-graph.wasm and its like: lowered graphs in the place of models. See shim.h, graph_file.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph_file.h"
#include "model/config/unknown_family.h"
#include "model/files/source.h"
#include "model/image/preprocess.h"
#include "shim.h"

typedef struct graph_model {
  heed_web_model base; /* its first file is the graph's */
  heed_vision facts;
  heed_config *config; /* the files' JSON alone */
  heed_preprocess preprocess;
  heed_error unprepared; /* as heed_model's */
  char rules[64], label[24], assumed[400];
} graph_model;

/* Elements of the graph's file. */
typedef struct elements {
  heed_source source;
  double at;
  size_t size; /* of one */
} elements;

/* -------------------------------------------------------------------------------------- graphs */

/* As heed_constant_read. */
static heed_status read_elements(void *user, uint64_t first, uint64_t count, void *to,
                                 heed_error *error) {
  const elements *from = user;
  return from->source.read(from->source.user, (uint64_t)from->at + first * from->size, to,
                           (size_t)count * from->size, error);
}

static void *inside(const unsigned char *block, const void *offset) {
  return (void *)(block + (uintptr_t)offset);
}

/* Without its name. */
static heed_status take_value(heed_graph *graph, const heed_source *source,
                              const heed_web_graph_value *from, heed_value_record *to,
                              heed_error *error) {
  *to = from->record;
  to->name = NULL;
  if (to->kind != HEED_VALUE_CONSTANT) return HEED_OK;
  const elements all = {*source, from->at, heed_dtype_size(to->dtype)};
  to->read = read_elements;
  to->read_user = heed_graph_keep(graph, &all, sizeof all);
#if defined(HEED_HALVES)
  to->halves = NULL;
#endif
  return heed_graph_status(graph, error);
}

/* The values and nodes of a block as they are. */
static heed_status fill(heed_graph *graph, const heed_source *source, const unsigned char *block,
                        heed_error *error) {
  const heed_web_graph_head *head = (const void *)block;
  const heed_web_graph_value *values = heed_web_graph_values(block);
  const heed_node *nodes = heed_web_graph_nodes(block);
  graph->values = heed_alloc(graph->context, head->value_count + 1, sizeof *graph->values);
  graph->nodes = heed_alloc(graph->context, head->node_count + 1, sizeof *graph->nodes);
  if (!graph->values || !graph->nodes)
    return heed_fail_memory(error, "graph", head->value_count * sizeof *graph->values);
  graph->stage_count = head->stage_count;
  while (graph->value_count < head->value_count) {
    const heed_web_graph_value *from = &values[graph->value_count];
    HEED_TRY(take_value(graph, source, from, &graph->values[graph->value_count], error));
    const heed_value value = {(uint32_t)++graph->value_count};
    if (from->record.name) heed_graph_name(graph, value, inside(block, from->record.name));
    HEED_TRY(heed_graph_status(graph, error));
  }
  for (; graph->node_count < head->node_count; graph->node_count++) {
    heed_node *node = &graph->nodes[graph->node_count];
    *node = nodes[graph->node_count];
    node->desc = heed_graph_keep(graph, inside(block, node->desc), heed_ops[node->op]->desc_size);
    HEED_TRY(heed_graph_status(graph, error));
  }
  return HEED_OK;
}

/* The block, to be freed. */
static heed_status read_block(heed_web *web, const heed_source *source, unsigned char **block) {
  heed_web_graph_head head;
  HEED_TRY(source->read(source->user, 0, &head, sizeof head, &web->error));
  *block = heed_alloc_raw(web->context, (size_t)head.bytes, 1);
  if (!*block) return heed_fail_memory(&web->error, "graph", (size_t)head.bytes);
  const heed_status status = source->read(source->user, 0, *block, (size_t)head.bytes, &web->error);
  if (status != HEED_OK) heed_free(web->context, *block);
  return status;
}

/* -------------------------------------------------------------------------------------- models */

static graph_model *as_graph(const heed_web_model *model) { return (graph_model *)model; }

void heed_web_model_close(const heed_web *web, heed_web_model *model) {
  if (!model) return;
  heed_config_destroy(as_graph(model)->config);
  heed_free(web->context, model->names);
  heed_free(web->context, model->files);
  heed_free(web->context, model);
}

static heed_status open_graph(heed_web *web, graph_model *model, uint32_t count) {
  heed_web_graph_head head;
  const heed_source *source = &model->base.files[0].source;
  HEED_TRY(source->read(source->user, 0, &head, sizeof head, &web->error));
  model->facts = head.facts;
  HEED_TRY(heed_unnamed_open(web->context, model->base.files, count, &model->config, &web->error));
  snprintf(model->rules, sizeof model->rules, "as the ONNX graph has it");
  if (head.facts.image)
    heed_unnamed_assumed(model->config, head.facts.range, head.facts.order, "", model->assumed,
                         sizeof model->assumed);
  if (heed_unnamed_preprocess(model->config, head.facts.height ? head.facts.height : 224,
                              head.facts.range, &model->preprocess, &model->unprepared) == HEED_OK)
    model->unprepared.status = HEED_OK;
  return HEED_OK;
}

heed_status heed_web_model_open(heed_web *web, const char *names, size_t names_size,
                                const double *sizes, const uint32_t *sources, uint32_t count) {
  graph_model *model = heed_alloc(web->context, 1, sizeof *model);
  if (!model) return heed_fail_memory(&web->error, "model", sizeof *model);
  heed_status status =
      heed_web_list_files(web, &model->base, names, names_size, sizes, sources, count);
  if (status == HEED_OK) status = open_graph(web, model, count);
  if (status != HEED_OK)
    heed_web_model_close(web, &model->base);
  else
    web->out.opened.address = HEED_WEB_ADDRESS(model);
  return status;
}

const char *heed_web_model_info(heed_web *web, const heed_web_model *base) {
  const graph_model *model = as_graph(base);
  const heed_vision *facts = &model->facts;
  uint32_t height = facts->height, width = facts->width;
  if (height &&
      heed_preprocess_size(&model->preprocess, height, width, &width, &height, NULL) != HEED_OK)
    height = facts->height;
  web->out.model = (struct heed_web_out_model){
      .image_size = height,
      .run_height = height,
      .run_width = width,
      .channels = facts->channels,
      .patch = facts->patch,
      .width = facts->states,
      .layers = facts->layers,
      .heads = facts->heads,
      .prefix_tokens = facts->prefix_tokens,
      .classes = facts->classes,
      .each_class = facts->each_class,
      .parameters = (double)facts->parameters,
      .weight_bytes = (double)base->files[0].source.size,
      .rules = HEED_WEB_ADDRESS(model->rules),
      .assumed = *model->assumed ? HEED_WEB_ADDRESS(model->assumed) : 0};
  return "ONNX graph";
}

const char *heed_web_model_label(const heed_web_model *base, uint32_t index) {
  graph_model *model = as_graph(base);
  const char *label = heed_unnamed_label(model->config, index);
  if (label) return label;
  snprintf(model->label, sizeof model->label, "class %u", (unsigned)index);
  return model->label;
}

const char *heed_web_model_token(const heed_web_model *base, uint32_t index) {
  graph_model *model = as_graph(base);
  if (index == 0) return "CLS";
  snprintf(model->label, sizeof model->label, "token %u", (unsigned)index);
  return model->label;
}

uint32_t heed_web_model_tensor(heed_web *web, const heed_web_model *model, uint32_t index) {
  (void)web, (void)model, (void)index;
  return 0;
}

const char *heed_web_model_absent(const heed_web_model *model, uint32_t index) {
  (void)model, (void)index;
  return NULL;
}

/* ------------------------------------------------------------------------------------ sessions */

/* Writes the inputs that are known beforehand. */
static heed_status write_known(heed_web_session *s, const heed_source *source,
                               const unsigned char *block) {
  const heed_web_graph_head *head = (const void *)block;
  const heed_web_graph_value *values = heed_web_graph_values(block);
  for (uint32_t i = 0; i < head->value_count; i++) {
    const heed_web_graph_value *value = &values[i];
    if (value->record.kind != HEED_VALUE_INPUT || value->at == 0) continue;
    const size_t bytes = (size_t)heed_shape_count(&value->record.shape) * sizeof(float);
    float *data = heed_alloc_raw(s->web->context, bytes, 1);
    if (!data) return heed_fail_memory(&s->web->error, "graph", bytes);
    heed_status status =
        source->read(source->user, (uint64_t)value->at, data, bytes, &s->web->error);
    if (status == HEED_OK)
      status = heed_session_write(s->session, (heed_value){i + 1}, data, bytes, &s->web->error);
    heed_free(s->web->context, data);
    HEED_TRY(status);
  }
  return HEED_OK;
}

static heed_status make(heed_web_session *s, const unsigned char *block, int keep,
                        const char *names, uint32_t count) {
  const heed_source *source = &s->model->files[0].source;
  HEED_TRY(heed_graph_create(s->web->context, &s->graph, &s->web->error));
  HEED_TRY(fill(s->graph, source, block, &s->web->error));
  if (!heed_graph_find(s->graph, "pool.query").id) s->pool_heads = 0; /* it is a constant there */
  HEED_TRY(heed_web_session_prepare(s, keep, names, count));
  return write_known(s, source, block);
}

heed_status heed_web_session_create(heed_web *web, const heed_web_model *model, uint32_t batch,
                                    uint32_t height, uint32_t width, int keep, const char *names,
                                    uint32_t count, uint32_t intervene, double temperature) {
  unsigned char *block;
  (void)batch, (void)height, (void)width, (void)temperature; /* the graph is lowered for them */
  if (intervene)
    return heed_fail(&web->error, HEED_UNSUPPORTED,
                     "createSession: intervene needs heed's own graph of the model");
  heed_web_session *s = heed_alloc(web->context, 1, sizeof *s);
  if (!s) return heed_fail_memory(&web->error, "session", sizeof *s);
  heed_status status = read_block(web, &model->files[0].source, &block);
  if (status == HEED_OK) {
    const heed_vision facts = ((const heed_web_graph_head *)(const void *)block)->facts;
    *s = (heed_web_session){.web = web,
                            .model = model,
                            .input = {facts.image},
                            .tokens = facts.tokens,
                            .layers = facts.layers,
                            .heads = facts.heads,
                            .pool_heads = facts.pool_heads};
    status = make(s, block, keep, names, count);
    if (status == HEED_OK) heed_web_session_tell(s, facts.prefix_tokens, facts.patch);
    heed_free(web->context, block);
  }
  if (status != HEED_OK) heed_web_session_close(s);
  return status;
}

heed_status heed_web_session_preprocess(heed_web_session *s, uint32_t whole) {
  heed_preprocess *p = &s->preprocess;
  if (!s->pixels)
    return heed_fail(&s->web->error, HEED_UNSUPPORTED, "run: the graph takes no images");
  if (as_graph(s->model)->unprepared.status != HEED_OK) {
    s->web->error = as_graph(s->model)->unprepared;
    return s->web->error.status;
  }
  *p = as_graph(s->model)->preprocess;
  heed_preprocess_cover(p, s->height, s->width);
  if (whole) heed_preprocess_fit_whole(p);
  s->web->out.block =
      (struct heed_web_out_block){.address = HEED_WEB_ADDRESS(p), .count = sizeof *p};
  return HEED_OK;
}
