/* The memory of a graph, its first error, and its values by their ids: what all of graph/ stands
 * on. */
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/desc.h"
#include "base/share.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"

heed_status heed_graph_create(heed_context *context, heed_graph **graph, heed_error *error) {
  if (!context || !graph)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "graph: NULL argument (expected context and graph)");
  *graph = heed_alloc(context, 1, sizeof **graph);
  if (!*graph) return heed_fail_memory(error, "graph", sizeof **graph);
  (*graph)->context = context;
  (*graph)->serial = heed_share_serial(context);
  (*graph)->stage_count = 1;
  return HEED_OK;
}

void heed_graph_destroy(heed_graph *graph) {
  if (!graph) return;
  const heed_context *context = graph->context;
  if (graph->close) graph->close(graph->close_user);
  for (size_t i = 0; i < graph->value_count; i++) heed_free(context, graph->values[i].name);
  for (size_t i = 0; i < graph->block_count; i++) heed_free(context, graph->blocks[i]);
  heed_free(context, graph->slots);
  heed_free(context, graph->blocks);
  heed_free(context, graph->values);
  heed_free(context, graph->nodes);
  heed_free(context, graph);
}

heed_status heed_graph_status(const heed_graph *graph, heed_error *error) {
  if (graph->status != HEED_OK && error) *error = graph->error;
  return graph->status;
}

heed_value heed_graph_fail(heed_graph *graph, const heed_error *error) {
  if (graph->status == HEED_OK) {
    graph->status = error->status;
    graph->error = *error;
  }
  return (heed_value){0};
}

void *heed_graph_keep(heed_graph *graph, const void *data, size_t size) {
  const bool room = heed_grow(graph->context, &graph->blocks, &graph->block_capacity,
                              graph->block_count + 1, sizeof *graph->blocks);
  void *copy = room ? heed_alloc(graph->context, size, 1) : NULL;
  if (!copy) {
    heed_error error;
    heed_fail_memory(&error, "graph", size);
    heed_graph_fail(graph, &error);
    return NULL;
  }
  if (data) memcpy(copy, data, size);
  graph->blocks[graph->block_count++] = copy;
  return copy;
}

bool heed_graph_read_desc(heed_graph *graph, void *full, size_t size, const void *desc,
                          const char *where) {
  heed_error error;
  if (heed_desc_read(full, size, desc, where, &error) == HEED_OK) return true;
  heed_graph_fail(graph, &error);
  return false;
}

const heed_value_record *heed_graph_record(const heed_graph *graph, uint32_t id) {
  HEED_ASSERT(id != 0 && id <= graph->value_count);
  return &graph->values[id - 1];
}

const heed_value_record *heed_graph_need(const heed_graph *graph, heed_value value,
                                         const char *what, heed_error *error) {
  if (value.id == 0 || value.id > graph->value_count) {
    heed_fail(error, HEED_INVALID_ARGUMENT, "%s: unknown value (found id %u, expected 1 to %zu)",
              what, value.id, graph->value_count);
    return NULL;
  }
  return heed_graph_record(graph, value.id);
}

uint32_t heed_graph_root(const heed_graph *graph, uint32_t id) {
  const heed_value_record *record = heed_graph_record(graph, id);
  if (record->kind != HEED_VALUE_VIEW) return id;
  HEED_ASSERT(heed_graph_record(graph, record->base)->kind != HEED_VALUE_VIEW);
  return record->base;
}

heed_status heed_graph_read_constant(const heed_graph *graph, uint32_t id, uint64_t first,
                                     uint64_t count, void *to, heed_error *error) {
  const heed_value_record *record = heed_graph_record(graph, id);
  HEED_ASSERT(record->kind == HEED_VALUE_CONSTANT);
  HEED_ASSERT(first <= heed_shape_count(&record->shape) &&
              count <= heed_shape_count(&record->shape) - first);
  if (!record->data) return record->read(record->read_user, first, count, to, error);
  const size_t size = heed_dtype_size(record->dtype);
  memcpy(to, (const unsigned char *)record->data + (size_t)first * size, (size_t)count * size);
  return HEED_OK;
}

void heed_graph_origin(heed_graph *graph, heed_value constant, const uint64_t *words,
                       uint32_t count) {
  HEED_ASSERT(count <= HEED_ORIGIN_WORDS);
  const uint64_t *kept = constant.id ? heed_graph_keep(graph, words, count * sizeof *words) : NULL;
  if (!kept) return;
  graph->values[constant.id - 1].origin = kept;
  graph->values[constant.id - 1].origin_words = count;
}

uint32_t heed_graph_origin_of(const heed_graph *graph, uint32_t id,
                              uint64_t words[HEED_ORIGIN_WORDS]) {
  const heed_value_record *record = heed_graph_record(graph, id);
  const uint64_t own[] = {graph->serial, id};
  const uint32_t count = record->origin ? record->origin_words : 2;
  memcpy(words, record->origin ? record->origin : own, count * sizeof *words);
  return count;
}
