/* heed-import.wasm: ONNX files as graphs of heed's ops, which another module runs, or run here in
 * double. onnx.c opens the file. See shim.h, graph_file.h and heed/onnx.h. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph_file.h"
#include "heed/onnx.h"
#include "shim.h"

/* Elements behind the block, in the order of their places. */
typedef struct graph_part {
  double at;
  uint32_t id;
  float *data; /* of a known input; NULL: a constant */
} graph_part;

struct heed_web_lowered {
  heed_web *web;
  heed_onnx_lowered *lowered;
  heed_graph *graph;
  unsigned char *block;
  heed_vision facts;
  graph_part *parts; /* [values of the graph] */
  uint32_t part_count;
  double size;
};

/* ------------------------------------------------------------------------------- what it takes */

static void put_port(heed_web *web, const heed_onnx_port *port) {
  const bool shaped = port->shaped && port->rank <= HEED_MAX_RANK;
  web->out.port = (struct heed_web_out_port){.name = HEED_WEB_ADDRESS(port->name),
                                             .dtype = HEED_WEB_ADDRESS(port->dtype),
                                             .shaped = shaped,
                                             .rank = shaped ? port->rank : 0};
  for (uint32_t i = 0; shaped && i < port->rank; i++) web->out.port.shape[i] = (double)port->dim[i];
}

uint32_t heed_web_import_port(heed_web *web, const heed_onnx *file, uint32_t output,
                              uint32_t index) {
  heed_onnx_port port;
  const bool found =
      output ? heed_onnx_gives(file, index, &port) : heed_onnx_takes(file, index, &port);
  if (found) put_port(web, &port);
  return found;
}

const char *heed_web_import_attention(const heed_onnx *file, uint32_t index) {
  return heed_onnx_attention_name(file, index);
}

static char way[1024];

const char *heed_web_import_way(const heed_onnx *file, uint32_t kernels, uint32_t unrounded,
                                const char *why) {
  heed_onnx_way(file, kernels != 0, unrounded, why, way, sizeof way);
  return way;
}

/* ----------------------------------------------------------------------------------- its block */

static void add_part(heed_web_lowered *l, uint32_t id, float *data) {
  const heed_value_record *record = heed_graph_record(l->graph, id);
  l->parts[l->part_count++] = (graph_part){l->size, id, data};
  l->size += (double)heed_shape_count(&record->shape) * (double)heed_dtype_size(record->dtype);
}

/* As heed_onnx_given. */
static heed_status keep_given(void *user, heed_value input, const float *data, size_t bytes,
                              heed_error *error) {
  heed_web_lowered *l = user;
  float *copy = heed_alloc_raw(l->web->context, bytes, 1);
  if (!copy) return heed_fail_memory(error, "import", bytes);
  memcpy(copy, data, bytes);
  add_part(l, input.id, copy);
  return HEED_OK;
}

static size_t measure_block(const heed_graph *graph) {
  size_t size = heed_web_aligned(sizeof(heed_web_graph_head)) +
                heed_web_aligned(graph->value_count * sizeof(heed_web_graph_value)) +
                heed_web_aligned(graph->node_count * sizeof(heed_node));
  for (size_t i = 0; i < graph->node_count; i++)
    size += heed_web_aligned(heed_ops[graph->nodes[i].op]->desc_size);
  for (size_t i = 0; i < graph->value_count; i++)
    if (graph->values[i].name) size += heed_web_aligned(strlen(graph->values[i].name) + 1);
  return size;
}

/* Copies into the block at *to; its offset there. */
static void *put(const heed_web_lowered *l, size_t *to, const void *from, size_t size) {
  const size_t at = *to;
  memcpy(l->block + at, from, size);
  *to = at + heed_web_aligned(size);
  return (void *)at;  // NOLINT(performance-no-int-to-ptr): an offset in a pointer's place
}

static void fill_block(const heed_web_lowered *l, size_t size) {
  const heed_graph *graph = l->graph;
  const heed_web_graph_head head = {(double)size, (uint32_t)graph->value_count,
                                    (uint32_t)graph->node_count, graph->stage_count, l->facts};
  size_t to = 0;
  put(l, &to, &head, sizeof head);
  heed_web_graph_value *values = heed_web_graph_values(l->block);
  heed_node *nodes = heed_web_graph_nodes(l->block);
  to += heed_web_aligned(graph->value_count * sizeof *values) +
        heed_web_aligned(graph->node_count * sizeof *nodes);
  for (size_t i = 0; i < graph->value_count; i++) {
    const heed_value_record *record = &graph->values[i];
    values[i].record = *record;
    values[i].record.data = NULL;
    values[i].record.name =
        record->name ? put(l, &to, record->name, strlen(record->name) + 1) : NULL;
  }
  for (size_t i = 0; i < graph->node_count; i++) {
    nodes[i] = graph->nodes[i];
    nodes[i].desc = put(l, &to, nodes[i].desc, heed_ops[nodes[i].op]->desc_size);
  }
  for (uint32_t i = 0; i < l->part_count; i++) values[l->parts[i].id - 1].at = l->parts[i].at;
}

static heed_status write_graph(heed_web_lowered *l) {
  const heed_context *context = l->web->context;
  const size_t size = measure_block(l->graph);
  l->size = (double)size;
  l->block = heed_alloc(context, size, 1);
  l->parts = heed_alloc(context, l->graph->value_count + 1, sizeof *l->parts);
  if (!l->block || !l->parts) return heed_fail_memory(&l->web->error, "import", size);
  for (uint32_t id = 1; id <= l->graph->value_count; id++) {
    const heed_value_record *record = heed_graph_record(l->graph, id);
    if (record->kind != HEED_VALUE_CONSTANT) continue;
    add_part(l, id, NULL);
  }
  HEED_TRY(heed_onnx_lowered_given(l->lowered, keep_given, l, &l->web->error));
  fill_block(l, size);
  return HEED_OK;
}

static const char *name_of(const heed_web_lowered *l, heed_value value) {
  return value.id ? heed_graph_record(l->graph, value.id)->name : NULL;
}

static void name_as(heed_web_lowered *l, heed_value value, const char *what, uint32_t index) {
  char name[32];
  snprintf(name, sizeof name, "%s.%u", what, (unsigned)index);
  if (value.id && !name_of(l, value)) heed_graph_name(l->graph, value, name);
}

/* Whatever is asked for gets a name. */
static heed_status describe(heed_web_lowered *l, const heed_onnx *file) {
  heed_onnx_port port;
  heed_value value;
  for (uint32_t i = 0; heed_onnx_gives(file, i, &port); i++) {
    HEED_TRY(heed_onnx_lowered_output(l->lowered, i, &value, &l->web->error));
    name_as(l, value, "output", i);
  }
  for (uint32_t i = 0; heed_onnx_attention_name(file, i); i++)
    name_as(l, heed_onnx_lowered_weights(l->lowered, i), "attention", i);
  HEED_TRY(heed_graph_status(l->graph, &l->web->error));
  return write_graph(l);
}

void heed_web_import_close(heed_web_lowered *l) {
  if (!l) return;
  const heed_context *context = l->web->context;
  for (uint32_t i = 0; i < l->part_count; i++) heed_free(context, l->parts[i].data);
  heed_free(context, l->parts);
  heed_free(context, l->block);
  heed_onnx_lowered_destroy(l->lowered);
  heed_free(context, l);
}

heed_status heed_web_import_lower(heed_web *web, heed_onnx *file, const void *inputs, size_t size,
                                  uint32_t batch, uint32_t height, uint32_t width) {
  const heed_onnx_lower_desc desc = {.struct_size = sizeof desc,
                                     .inputs = {size, size ? inputs : NULL, NULL, NULL},
                                     .name = size ? "inputs" : NULL,
                                     .batch = batch,
                                     .height = height,
                                     .width = width,
                                     .picture = size == 0};
  heed_web_lowered *l = heed_alloc(web->context, 1, sizeof *l);
  if (!l) return heed_fail_memory(&web->error, "import", sizeof *l);
  l->web = web;
  heed_status status = heed_onnx_lower(file, &desc, &l->lowered, &web->error);
  if (status == HEED_OK) {
    l->graph = heed_onnx_lowered_graph(l->lowered);
    if (size == 0 && heed_vision_find(file, l->lowered, &l->facts, NULL) != HEED_OK)
      status = heed_graph_status(l->graph, &web->error); /* no vision transformer is no fault */
    if (status == HEED_OK) status = describe(l, file);
  }
  if (status != HEED_OK) {
    heed_web_import_close(l);
    return status;
  }
  web->out.lowered =
      (struct heed_web_out_lowered){.address = HEED_WEB_ADDRESS(l),
                                    .size = l->size,
                                    .unrounded = heed_onnx_lowered_unrounded(l->lowered)};
  return HEED_OK;
}

/* The part in which a byte lies. */
static const graph_part *part_at(const heed_web_lowered *l, double offset) {
  uint32_t low = 0, high = l->part_count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (l->parts[middle].at <= offset)
      low = middle;
    else
      high = middle;
  }
  return &l->parts[low];
}

heed_status heed_web_import_read(heed_web_lowered *l, double offset, void *to, size_t count) {
  if (l->part_count == 0 || offset < l->parts[0].at) {
    memcpy(to, l->block + (size_t)offset, count);
    return HEED_OK;
  }
  const graph_part *part = part_at(l, offset);
  const size_t size = heed_dtype_size(heed_graph_record(l->graph, part->id)->dtype);
  if (!part->data)
    return heed_graph_read_constant(l->graph, part->id,
                                    (uint64_t)((offset - part->at) / (double)size), count / size,
                                    to, &l->web->error);
  memcpy(to, (const unsigned char *)part->data + (size_t)(offset - part->at), count);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------ what it gives */

const char *heed_web_import_image(const heed_web_lowered *l) {
  return l->facts.image ? heed_graph_record(l->graph, l->facts.image)->name : NULL;
}

uint32_t heed_web_import_find(const heed_web_lowered *l, const char *name) {
  return heed_graph_find(l->graph, name).id;
}

const char *heed_web_import_output(const heed_web_lowered *l, uint32_t index) {
  heed_value value;
  const heed_status status = heed_onnx_lowered_output(l->lowered, index, &value, &l->web->error);
  return status == HEED_OK ? name_of(l, value) : NULL;
}

const char *heed_web_import_weights(const heed_web_lowered *l, uint32_t index) {
  return name_of(l, heed_onnx_lowered_weights(l->lowered, index));
}

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

heed_status heed_web_import_known(heed_web_lowered *l) {
  heed_onnx_result *result;
  HEED_TRY(heed_onnx_lowered_known(l->lowered, &result, &l->web->error));
  return give_result(l->web, result);
}

heed_status heed_web_import_evaluate(heed_web *web, heed_onnx *file, const void *inputs,
                                     size_t size, uint32_t attentions) {
  heed_onnx_result *result;
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .inputs = {size, inputs, NULL, NULL},
                                        .name = "inputs",
                                        .attentions = attentions != 0};
  HEED_TRY(heed_onnx_reference(file, &desc, &result, &web->error));
  return give_result(web, result);
}
