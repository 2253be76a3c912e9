/* Nodes of products, windows and attention. */
#include "graphs/random_parts.h"

#include <stdlib.h>
#include <string.h>

void make_matmul(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, BIT(F32), 1, 5), rank = g->values[x].rank;
  uint32_t dims[GRAPH_AXES], of = 0;
  const uint32_t inner = g->values[x].dims[rank - 1];
  if (rank > 2 && random_one_in(g, 2))
    for (uint32_t i = 0; i + 2 < rank; i++)
      dims[of++] = random_one_in(g, 4) ? 1 : g->values[x].dims[i];
  dims[of++] = inner;
  if (!random_one_in(g, 6)) dims[of++] = random_size(g);
  const uint32_t w =
      random_one_in(g, 8) ? random_pick(g, BIT(F32), 1, 3) : random_value(g, F32, of, dims);
  node_takes(g, node, x);
  node_takes(g, node, w);
}

void make_gemm(random_graph *g, graph_node *node) {
  const uint32_t x = random_pick(g, BIT(F32), 2, 2), turned = random_below(g, 2),
                 back = random_below(g, 2);
  const uint32_t m = g->values[x].dims[turned ? 1 : 0], k = g->values[x].dims[turned ? 0 : 1],
                 n = random_size(g);
  const uint32_t w[] = {back ? n : k, back ? k : n}, c[] = {random_one_in(g, 2) ? 1 : m, n};
  node_takes(g, node, x);
  node_takes(g, node, random_value(g, F32, 2, w));
  if (!random_one_in(g, 3)) {
    const uint32_t flat = random_below(g, 2);
    node_takes(g, node, random_value(g, F32, flat ? 1 : 2, flat ? c + 1 : c));
  }
  if (turned) test_put_integer(&node->body, "transA", 1);
  if (back) test_put_integer(&node->body, "transB", 1);
  if (random_one_in(g, 3)) test_put_float(&node->body, "alpha", 0.5f);
  if (random_one_in(g, 3)) test_put_float(&node->body, "beta", 2);
}

static void put_windows(random_graph *g, graph_node *node, uint32_t axes, const int64_t *kernel) {
  int64_t list[6];
  test_put_integers(&node->body, "kernel_shape", axes, kernel);
  if (random_one_in(g, 2)) {
    for (uint32_t i = 0; i < axes; i++) list[i] = 1 + random_below(g, 3);
    test_put_integers(&node->body, "strides", axes, list);
  }
  if (random_one_in(g, 3)) {
    for (uint32_t i = 0; i < axes; i++) list[i] = 1 + random_below(g, 2);
    if (!graph_op_is_in(node->op, "AveragePool") || g->opset >= 19)
      test_put_integers(&node->body, "dilations", axes, list);
  }
  if (random_one_in(g, 4)) {
    test_put_word(&node->body, "auto_pad", random_one_in(g, 2) ? "SAME_UPPER" : "SAME_LOWER");
  } else if (random_one_in(g, 2)) {
    for (uint32_t i = 0; i < 2 * axes; i++)
      list[i] = random_below(g, kernel[i % axes] < 3 ? (uint32_t)kernel[i % axes] : 3);
    test_put_integers(&node->body, "pads", 2 * axes, list);
  }
}

static uint32_t image(random_graph *g, uint32_t *axes) {
  uint32_t dims[5];
  const uint32_t given = random_pick(g, BIT(F32), 3, 5);
  if (random_one_in(g, 3)) {
    *axes = g->values[given].rank - 2;
    return given;
  }
  *axes = 1 + random_below(g, 3);
  dims[0] = 1 + random_below(g, 2);
  dims[1] = 1 + random_below(g, 4);
  for (uint32_t i = 0; i < *axes; i++) dims[2 + i] = 1 + random_below(g, *axes == 3 ? 3 : 6);
  return random_value(g, F32, 2 + *axes, dims);
}

void make_conv(random_graph *g, graph_node *node) {
  uint32_t axes, groups = 1;
  const uint32_t x = image(g, &axes), channels = g->values[x].dims[1];
  uint32_t dims[5];
  int64_t kernel[3];
  if (channels && random_one_in(g, 3)) groups = channels % 2 || random_one_in(g, 2) ? channels : 2;
  dims[0] = groups * (1 + random_below(g, 2));
  dims[1] = channels / groups;
  for (uint32_t i = 0; i < axes; i++) kernel[i] = dims[2 + i] = 1 + random_below(g, 3);
  node_takes(g, node, x);
  node_takes(g, node, random_value(g, F32, 2 + axes, dims));
  if (random_one_in(g, 2)) node_takes(g, node, random_value(g, F32, 1, dims));
  if (groups > 1) test_put_integer(&node->body, "group", groups);
  put_windows(g, node, axes, kernel);
}

void make_pool(random_graph *g, graph_node *node) {
  uint32_t axes;
  const uint32_t x = image(g, &axes);
  int64_t kernel[3];
  for (uint32_t i = 0; i < axes; i++) kernel[i] = 1 + random_below(g, 3);
  node_takes(g, node, x);
  put_windows(g, node, axes, kernel);
  if (random_one_in(g, 3)) test_put_integer(&node->body, "ceil_mode", 1);
  if (graph_op_is_in(node->op, "AveragePool") && random_one_in(g, 3))
    test_put_integer(&node->body, "count_include_pad", 1);
}

void make_einsum(random_graph *g, graph_node *node) {
  static const struct {
    const char *equation;
    uint32_t rank;
    uint32_t other[4]; /* axes of the first that the second has, then 9 */
  } forms[] = {
      {"ij,jk->ik", 2, {1, 9}},       {"ij->ji", 2, {9}},       {"ij->i", 2, {9}},
      {"bij,bjk->bik", 3, {0, 2}},    {"bij,bkj->bik", 3, {0}}, {"i,j->ij", 1, {9}},
      {"...ij,jk->...ik", 3, {2, 9}}, {"ijk->kji", 3, {9}},     {"bhqd,bhkd->bhqk", 4, {0}}};
  const uint32_t form = random_below(g, COUNT(forms));
  const uint32_t x = random_pick(g, BIT(F32), forms[form].rank, forms[form].rank);
  uint32_t a[GRAPH_AXES];
  memcpy(a, g->values[x].dims, sizeof a);
  const uint32_t k = 1 + random_below(g, 3);
  node_takes(g, node, x);
  const uint32_t shapes[][4] = {{a[1], k}, {0},       {0}, {a[0], a[2], k},      {a[0], k, a[2]},
                                {k},       {a[2], k}, {0}, {a[0], a[1], k, a[3]}};
  static const uint32_t ranks[] = {2, 0, 0, 3, 3, 1, 2, 0, 4};
  if (strchr(forms[form].equation, ','))
    node_takes(g, node, random_value(g, F32, ranks[form], shapes[form]));
  test_put_word(&node->body, "equation", forms[form].equation);
}

void make_resize(random_graph *g, graph_node *node) {
  static const char *const modes[] = {"nearest", "linear", "cubic"}, *const ways[] = {
                                                                         "half_pixel", "asymmetric",
                                                                         "align_corners",
                                                                         "pytorch_half_pixel"};
  uint32_t dims[4] = {1, 1 + random_below(g, 2), 1 + random_below(g, 5), 1 + random_below(g, 5)};
  int64_t sizes[4];
  for (int i = 0; i < 4; i++) sizes[i] = i < 2 ? dims[i] : 1 + random_below(g, 7);
  node_takes(g, node, random_value(g, F32, 4, dims));
  node_leaves_out(node);
  node_leaves_out(node);
  node_takes(g, node, value_of_integers(g, 4, sizes));
  test_put_word(&node->body, "mode", modes[random_below(g, 3)]);
  test_put_word(&node->body, "coordinate_transformation_mode", ways[random_below(g, 4)]);
}

/* Queries, keys and values of four axes. */
void make_attention(random_graph *g, graph_node *node) {
  const uint32_t b = 1 + random_below(g, 2), h = 1 + random_below(g, 2), q = 1 + random_below(g, 3),
                 k = 1 + random_below(g, 4), d = 1 + random_below(g, 4), v = 1 + random_below(g, 4);
  const uint32_t queries[] = {b, h, q, d}, keys[] = {b, h, k, d}, values[] = {b, h, k, v},
                 mask[] = {q, k};
  node_takes(g, node, random_value(g, F32, 4, queries));
  node_takes(g, node, random_value(g, F32, 4, keys));
  node_takes(g, node, random_value(g, F32, 4, values));
  if (random_one_in(g, 2))
    node_takes(g, node, random_value(g, random_one_in(g, 2) ? BOOL : F32, 2, mask));
  if (random_one_in(g, 3)) test_put_integer(&node->body, "is_causal", 1);
  if (random_one_in(g, 3)) test_put_float(&node->body, "softcap", 2);
}
