/* The same elements under another shape or order without a kernel: reshape, and constants that are
 * a part of another constant, or a multiple. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "graph/op_check.h"

heed_value heed_define_reshape(heed_graph *graph, heed_value x, const heed_shape *shape) {
  if (graph->status != HEED_OK) return (heed_value){0};
  heed_error error;
  const heed_value_record *record = heed_graph_need(graph, x, "reshape: x", &error);
  if (!record) return heed_graph_fail(graph, &error);
  uint64_t count;
  if (shape->rank > HEED_MAX_RANK || !heed_shape_count_checked(shape, &count) ||
      count != heed_shape_count(&record->shape)) {
    char found[HEED_SHAPE_TEXT_SIZE], expected[HEED_SHAPE_TEXT_SIZE];
    heed_op_refuse(&error, "reshape: wrong number of elements (found %s, expected as many as %s)",
                   heed_shape_text(shape, found), heed_shape_text(&record->shape, expected));
    return heed_graph_fail(graph, &error);
  }
  if (record->kind != HEED_VALUE_CONSTANT) return heed_define_view(graph, x, 0, shape);
  const heed_constant_desc desc = {sizeof desc,  NULL,         record->dtype,    *shape,
                                   record->data, record->read, record->read_user};
  return heed_define_constant(graph, &desc);
}

typedef struct strided {
  const heed_graph *graph;
  uint32_t base;
  uint64_t offset, strides[HEED_MAX_RANK];
  heed_shape shape;
  size_t size; /* of an element */
} strided;

/* Elements are read in runs along the last axis where they lie side by side, else one by one. */
static heed_status read_strided(void *user, uint64_t first, uint64_t count, void *to,
                                heed_error *error) {
  const strided *s = user;
  const uint32_t last = s->shape.rank - 1;
  unsigned char *at = to;
  while (count > 0) {
    uint64_t index = first, from = s->offset;
    for (uint32_t i = s->shape.rank; i-- > 0; index /= s->shape.dim[i])
      from += index % s->shape.dim[i] * s->strides[i];
    uint64_t run = s->strides[last] == 1 ? s->shape.dim[last] - first % s->shape.dim[last] : 1;
    if (run > count) run = count;
    HEED_TRY(heed_graph_read_constant(s->graph, s->base, from, run, at, error));
    at += (size_t)run * s->size;
    first += run;
    count -= run;
  }
  return HEED_OK;
}

/* Whether every element lies in the base. */
static bool lies_inside(const strided *s, uint64_t count) {
  uint64_t end = s->offset, span;
  for (uint32_t i = 0; i < s->shape.rank; i++)
    if (s->shape.dim[i] == 0 || !heed_u64_mul(s->shape.dim[i] - 1, s->strides[i], &span) ||
        !heed_u64_add(end, span, &end))
      return false;
  return end < count;
}

heed_value heed_graph_strided_constant(heed_graph *graph, heed_value base, uint64_t offset,
                                       const heed_shape *shape, const uint64_t *strides) {
  if (graph->status != HEED_OK) return (heed_value){0};
  heed_error error;
  const heed_value_record *record = heed_graph_need(graph, base, "constant", &error);
  if (!record) return heed_graph_fail(graph, &error);
  strided s = {.graph = graph,
               .base = base.id,
               .offset = offset,
               .shape = *shape,
               .size = heed_dtype_size(record->dtype)};
  if (shape->rank >= 1 && shape->rank <= HEED_MAX_RANK)
    memcpy(s.strides, strides, shape->rank * sizeof *strides);
  if (shape->rank < 1 || shape->rank > HEED_MAX_RANK || record->kind != HEED_VALUE_CONSTANT ||
      !lies_inside(&s, heed_shape_count(&record->shape))) {
    char text[HEED_SHAPE_TEXT_SIZE];
    heed_op_refuse(&error, "constant: part out of range (found %s, expected a part of a constant)",
                   heed_shape_text(&record->shape, text));
    return heed_graph_fail(graph, &error);
  }
  const heed_dtype dtype = record->dtype;
  void *kept = heed_graph_keep(graph, &s, sizeof s);
  if (!kept) return (heed_value){0};
  const heed_constant_desc desc = {sizeof desc, NULL, dtype, *shape, NULL, read_strided, kept};
  return heed_define_constant(graph, &desc);
}

typedef struct scaled {
  const heed_graph *graph;
  uint32_t base;
  float factor;
} scaled;

static heed_status read_scaled(void *user, uint64_t first, uint64_t count, void *to,
                               heed_error *error) {
  const scaled *s = user;
  float *out = to;
  HEED_TRY(heed_graph_read_constant(s->graph, s->base, first, count, to, error));
  for (uint64_t i = 0; i < count; i++) out[i] *= s->factor;
  return HEED_OK;
}

heed_value heed_graph_scaled_constant(heed_graph *graph, heed_value base, float factor) {
  if (graph->status != HEED_OK) return (heed_value){0};
  const scaled s = {graph, base.id, factor};
  void *kept = heed_graph_keep(graph, &s, sizeof s);
  const heed_constant_desc desc = {.struct_size = sizeof desc,
                                   .dtype = HEED_F32,
                                   .shape = heed_graph_record(graph, base.id)->shape,
                                   .read = read_scaled,
                                   .read_user = kept};
  return kept ? heed_define_constant(graph, &desc) : (heed_value){0};
}
