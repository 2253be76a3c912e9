/* Nodes that move, repeat or choose numbers. */
#include "graphs/random_parts.h"

#include <stdlib.h>
#include <string.h>

void make_transpose(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 0, 6), rank = g->values[x].rank;
  int64_t perm[GRAPH_AXES];
  node_takes(g, node, x);
  if (rank == 0 || random_one_in(g, 4)) return;
  for (uint32_t i = 0; i < rank; i++) perm[i] = i;
  for (uint32_t i = rank; i > 1; i--) {
    const uint32_t k = random_below(g, i);
    const int64_t kept = perm[k];
    perm[k] = perm[i - 1];
    perm[i - 1] = kept;
  }
  test_put_integers(&node->body, "perm", rank, perm);
}

void make_reshape(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 0, 6);
  int64_t sizes[GRAPH_AXES];
  uint32_t count = 0, left = (uint32_t)count_of_dims(g->values[x].rank, g->values[x].dims);
  node_takes(g, node, x);
  while (count < 5 && left > 1) {
    uint32_t part = 1 + random_below(g, left < 6 ? left : 6);
    while (left % part) part--;
    sizes[count++] = part;
    left /= part;
    if (random_one_in(g, 4)) break;
  }
  if (left != 1 || random_one_in(g, 4)) sizes[count++] = random_one_in(g, 2) ? -1 : (int64_t)left;
  if (count && random_one_in(g, 4)) sizes[random_below(g, count)] = 0;
  node_takes(g, node, value_of_integers(g, count, sizes));
  if (random_one_in(g, 6)) test_put_integer(&node->body, "allowzero", 1);
}

void make_flatten(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 0, 6);
  node_takes(g, node, x);
  if (!random_one_in(g, 3))
    test_put_integer(&node->body, "axis", random_axis_of(g, g->values[x].rank));
}

void make_squeeze(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 0, 6), rank = g->values[x].rank;
  int64_t axes[GRAPH_AXES];
  uint32_t count = 0;
  const bool adds = graph_op_is_in(node->op, "Unsqueeze");
  node_takes(g, node, x);
  if (adds) {
    if (rank > 4) return;
    count = 1 + random_below(g, 2);
    axes[0] = random_below(g, rank + 1);
    axes[1] = random_one_in(g, 2) ? -1 : axes[0] + 1;
  } else {
    for (uint32_t i = 0; i < rank; i++)
      if (g->values[x].dims[i] == 1 && random_one_in(g, 2)) axes[count++] = i;
    if (!count && random_one_in(g, 2)) return;
  }
  node_takes_axes(g, node, 13, count, axes);
}

void make_concat(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 1, 6), rank = g->values[x].rank, more = random_below(g, 4);
  const int64_t axis = random_axis_of(g, rank);
  uint32_t dims[GRAPH_AXES];
  memcpy(dims, g->values[x].dims, sizeof dims);
  const uint32_t at = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis) % rank,
                 first = random_below(g, more + 1), type = g->values[x].type;
  for (uint32_t i = 0; i <= more; i++) {
    dims[at] = random_size(g);
    node_takes(g, node,
               i == first            ? x
               : random_one_in(g, 5) ? x
                                     : random_value(g, type, rank, dims));
  }
  test_put_integer(&node->body, "axis", axis);
}

void make_split(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 1, 6), rank = g->values[x].rank,
                 count = 1 + random_below(g, 3);
  const int64_t axis = random_axis_of(g, rank);
  const uint32_t at = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis) % rank;
  int64_t parts[3] = {0};
  uint32_t left = g->values[x].dims[at];
  node_takes(g, node, x);
  for (uint32_t i = 0; i < count; i++) {
    parts[i] = i + 1 == count ? left : random_below(g, left + 1);
    left -= (uint32_t)parts[i];
  }
  if (g->opset < 13)
    test_put_integers(&node->body, "split", count, parts);
  else if (g->opset >= 18 && random_one_in(g, 2))
    test_put_integer(&node->body, "num_outputs", count);
  else
    node_takes(g, node, value_of_integers(g, count, parts));
  test_put_integer(&node->body, "axis", axis);
  node->output_count = count;
}

void make_slice(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 1, 6);
  int64_t axes[GRAPH_AXES], starts[GRAPH_AXES], ends[GRAPH_AXES], steps[GRAPH_AXES];
  const uint32_t count = random_axes(g, g->values[x].rank, axes);
  static const int64_t far[] = {INT64_MAX, INT64_MIN, INT32_MAX, -100};
  node_takes(g, node, x);
  for (uint32_t i = 0; i < count; i++) {
    starts[i] = random_one_in(g, 8) ? far[random_below(g, 4)] : (int64_t)random_below(g, 7) - 3;
    ends[i] = random_one_in(g, 4) ? far[random_below(g, 4)] : (int64_t)random_below(g, 9) - 3;
    steps[i] =
        random_one_in(g, 3) ? -1 - (int64_t)random_below(g, 2) : 1 + (int64_t)random_below(g, 2);
  }
  node_takes(g, node, value_of_integers(g, count, starts));
  node_takes(g, node, value_of_integers(g, count, ends));
  node_takes(g, node, value_of_integers(g, count, axes));
  if (random_one_in(g, 2)) node_takes(g, node, value_of_integers(g, count, steps));
}

/* Indices below an axis, of any shape. */
static uint32_t indices(random_graph *g, uint32_t rank, const uint32_t *dims, uint32_t end) {
  const uint32_t index = random_value(g, random_one_in(g, 4) ? I32 : I64, rank, dims);
  graph_value *value = &g->values[index];
  const uint32_t size = graph_type_size(value->type);
  for (size_t i = 0; i < value->size / size; i++) {
    const int64_t number =
        end ? (int64_t)random_below(g, end) - (random_one_in(g, 4) ? (int64_t)end : 0) : 0;
    memcpy(value->bytes + i * size, &number, size);
  }
  return index;
}

void make_gather(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 1, 4), rank = g->values[x].rank;
  const int64_t axis = random_axis_of(g, rank);
  const uint32_t at = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis) % rank,
                 end = g->values[x].dims[at];
  uint32_t dims[GRAPH_AXES], of;
  node_takes(g, node, x);
  if (graph_op_is_in(node->op, "Gather")) {
    of = random_dims(g, 0, 2, dims);
  } else {
    of = rank;
    for (uint32_t i = 0; i < rank; i++) {
      const uint32_t most = g->values[x].dims[i];
      dims[i] = i == at ? 1 + random_below(g, 3) : most ? 1 + random_below(g, most) : 0;
    }
  }
  node_takes(g, node, indices(g, of, dims, end));
  test_put_integer(&node->body, "axis", axis);
  if (!graph_op_is_in(node->op, "ScatterElements")) return;
  node_takes(g, node, random_value(g, g->values[x].type, of, dims));
  if (g->opset >= 16 && random_one_in(g, 2)) test_put_word(&node->body, "reduction", "add");
}

void make_nd(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 1, 4), rank = g->values[x].rank,
                 depth = 1 + random_below(g, rank), rows = 1 + random_below(g, 3);
  uint32_t dims[GRAPH_AXES] = {rows, depth}, shape[GRAPH_AXES];
  memcpy(shape, g->values[x].dims, sizeof shape);
  const uint32_t at = random_value(g, I64, 2, dims);
  g->values[at].initializer = !random_one_in(g, 4);
  for (uint32_t i = 0; i < rows * depth; i++) {
    const uint32_t end = shape[i % depth];
    const int64_t number = end ? random_below(g, end) : 0;
    memcpy(g->values[at].bytes + 8 * i, &number, 8);
  }
  node_takes(g, node, x);
  node_takes(g, node, at);
  if (!graph_op_is_in(node->op, "ScatterND")) return;
  memcpy(dims + 1, shape + depth, (rank - depth) * sizeof *dims);
  node_takes(g, node, random_value(g, g->values[x].type, 1 + rank - depth, dims));
  if (g->opset >= 16 && random_one_in(g, 4)) test_put_word(&node->body, "reduction", "add");
}

void make_expand(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, ANY, 0, 5), rank = g->values[x].rank;
  int64_t sizes[GRAPH_AXES];
  node_takes(g, node, x);
  if (graph_op_is_in(node->op, "Tile")) {
    for (uint32_t i = 0; i < rank; i++)
      sizes[i] = random_one_in(g, 12) ? 0 : 1 + random_below(g, 2);
    node_takes(g, node, value_of_integers(g, rank, sizes));
    return;
  }
  const uint32_t more = random_below(g, 2);
  for (uint32_t i = 0; i < rank; i++)
    sizes[more + i] = g->values[x].dims[i] == 1 ? 1 + random_below(g, 3)
                      : random_one_in(g, 3)     ? 1
                                                : g->values[x].dims[i];
  if (more) sizes[0] = 1 + random_below(g, 2);
  node_takes(g, node, value_of_integers(g, rank + more, sizes));
}

void make_pad(random_graph *g, graph_node *node) {
  static const char *const modes[] = {"constant", "constant", "edge", "reflect", "wrap"};
  const uint32_t x = random_pick(g, ANY, 1, 4), rank = g->values[x].rank;
  int64_t pads[2 * GRAPH_AXES];
  const char *mode = modes[random_below(g, g->opset >= 19 ? 5 : 4)];
  for (uint32_t i = 0; i < 2 * rank; i++)
    pads[i] = random_one_in(g, 2) ? 0 : (int64_t)random_below(g, 4) - 1;
  node_takes(g, node, x);
  node_takes(g, node, value_of_integers(g, 2 * rank, pads));
  if (strcmp(mode, "constant") == 0 && random_one_in(g, 2))
    node_takes(g, node, random_value(g, g->values[x].type, 0, NULL));
  test_put_word(&node->body, "mode", mode);
}

void make_trilu(random_graph *g, graph_node *node) {
  const int64_t k = (int64_t)random_below(g, 7) - 3;
  node_takes(g, node, random_pick(g, ANY, 2, 5));
  if (random_one_in(g, 2)) {
    const uint32_t number = value_of_integers(g, 1, &k);
    g->values[number].rank = 0;
    node_takes(g, node, number);
  }
  if (random_one_in(g, 2)) test_put_integer(&node->body, "upper", random_below(g, 2));
}

void make_depth(random_graph *g, graph_node *node) {
  uint32_t dims[4] = {1 + random_below(g, 2), 4, 1 + random_below(g, 2), 1 + random_below(g, 3)};
  if (graph_op_is_in(node->op, "SpaceToDepth"))
    dims[1] = 1 + random_below(g, 2), dims[2] *= 2, dims[3] *= 2;
  node_takes(g, node, random_value(g, F32, 4, dims));
  test_put_integer(&node->body, "blocksize", 2);
  if (graph_op_is_in(node->op, "DepthToSpace") && random_one_in(g, 2))
    test_put_word(&node->body, "mode", "CRD");
}

void make_one_hot(random_graph *g, graph_node *node) {
  uint32_t dims[GRAPH_AXES], two = 2;
  const uint32_t rank = random_dims(g, 0, 3, dims);
  const int64_t depth = 1 + random_below(g, 4);
  node_takes(g, node, indices(g, rank, dims, (uint32_t)depth + 1));
  node_takes(g, node, value_of_integers(g, 1, &depth));
  node_takes(g, node, random_value(g, F32, 1, &two));
  if (random_one_in(g, 2)) test_put_integer(&node->body, "axis", random_axis_of(g, rank + 1));
}

void make_shape(random_graph *g, graph_node *node) {
  node_takes(g, node, random_pick(g, ANY, 0, 6));
  if (graph_op_is_in(node->op, "Shape") && g->opset >= 15 && random_one_in(g, 2))
    test_put_integer(&node->body, "start", (int64_t)random_below(g, 5) - 2);
}

void make_range(random_graph *g, graph_node *node) {
  const uint32_t type = random_one_in(g, 2) ? I64 : F32;
  for (int i = 0; i < 3; i++) {
    const uint32_t number = random_value(g, type, 0, NULL);
    g->values[number].initializer = true;
    node_takes(g, node, number);
  }
}

void make_constant_of_shape(random_graph *g, graph_node *node) {
  uint32_t dims[GRAPH_AXES];
  int64_t sizes[GRAPH_AXES];
  const uint32_t rank = random_dims(g, 0, 4, dims);
  for (uint32_t i = 0; i < rank; i++) sizes[i] = dims[i];
  node_takes(g, node, value_of_integers(g, rank, sizes));
}
