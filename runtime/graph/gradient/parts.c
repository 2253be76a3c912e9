/* Parts of a value side by side become one tensor: those of query, key and value are joined, not
 * added. */
#include "graph/gradient/parts.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"

typedef struct heed_gradient_part {
  uint32_t root;
  uint64_t first, count;
  heed_value value;
} part;

void heed_gradient_keep_part(heed_gradient *g, uint32_t root, uint64_t first, uint64_t count,
                             heed_value value) {
  heed_error error;
  if (!heed_grow(g->graph->context, &g->parts, &g->part_room, g->part_count + 1,
                 sizeof *g->parts)) {
    heed_fail_memory(&error, "gradient", sizeof *g->parts);
    heed_graph_fail(g->graph, &error);
    return;
  }
  g->parts[g->part_count++] = (part){root, first, count, value};
}

/* The part of root that begins first among those from element `from` on; NULL: none. */
static part *find_next(const heed_gradient *g, uint32_t root, uint64_t from) {
  part *found = NULL;
  for (size_t i = 0; i < g->part_count; i++) {
    part *p = &g->parts[i];
    if (p->root == root && p->first >= from && (!found || p->first < found->first)) found = p;
  }
  return found;
}

/* x [n] with `before` zeros in front, `count` elements in all. */
static heed_value widen(heed_gradient *g, heed_value x, uint64_t before, uint64_t count) {
  if (count == heed_shape_count(heed_gradient_shape(g, x))) return x;
  const heed_slice_desc slice = {.struct_size = sizeof slice,
                                 .x = x,
                                 .shape = HEED_SHAPE((uint32_t)count),
                                 .start = {-(int32_t)before},
                                 .step = {1}};
  return heed_define_slice(g->graph, &slice);
}

/* As many as one concat takes become one. */
static void join(heed_gradient *g, heed_concat_desc *concat) {
  if (concat->count > 1) concat->x[0] = heed_define_concat(g->graph, concat);
  concat->count = 1;
}

heed_value heed_gradient_join_parts(heed_gradient *g, uint32_t root) {
  const heed_shape whole = heed_graph_record(g->graph, root)->shape;
  const uint64_t all = heed_shape_count(&whole);
  heed_concat_desc concat = {.struct_size = sizeof concat};
  uint64_t at = 0;
  if (!find_next(g, root, 0)) return (heed_value){0};
  if (all > 1u << 30) {
    heed_gradient_refuse(g, "a value of more than 2^30 elements of which parts are read");
    return (heed_value){0};
  }
  for (part *p; (p = find_next(g, root, at)) != NULL;) {
    const part one = *p;
    *p = g->parts[--g->part_count];
    const part *next = find_next(g, root, one.first + one.count);
    const heed_shape flat = HEED_SHAPE((uint32_t)one.count);
    const uint64_t end = next ? one.first + one.count : all;
    if (concat.count == HEED_CONCAT_MAX) join(g, &concat);
    concat.x[concat.count++] =
        widen(g, heed_define_reshape(g->graph, one.value, &flat), one.first - at, end - at);
    at = end;
  }
  join(g, &concat);
  return heed_define_reshape(g->graph, concat.x[0], &whole);
}
