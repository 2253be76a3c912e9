/* multi_head_attention: projections, heads, attention, output projection (Vaswani et al. 2017,
 * 3.2.2), as nn.MultiheadAttention has them. */
#include "graph/layers/multi_head_attention.h"

#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "heed/ops.h"

heed_value heed_multi_head_part(heed_graph *graph, heed_value stacked, uint32_t part,
                                uint32_t count) {
  if (!stacked.id || heed_graph_status(graph, NULL) != HEED_OK) return (heed_value){0};
  heed_error error;
  const heed_value_record *record =
      heed_graph_need(graph, stacked, "multi_head_attention: in_weight, in_bias", &error);
  if (!record) return heed_graph_fail(graph, &error);
  if (record->shape.rank < 1 || record->shape.rank > 2 || record->shape.dim[0] % 3 != 0) {
    char text[HEED_SHAPE_TEXT_SIZE];
    heed_fail(&error, HEED_INVALID_ARGUMENT,
              "multi_head_attention: wrong shape of in_weight or in_bias (found %s, expected [3C, "
              "C] and [3C])",
              heed_shape_text(&record->shape, text));
    return heed_graph_fail(graph, &error);
  }
  heed_shape shape = record->shape;
  const uint32_t rows = shape.dim[0] / 3;
  const uint64_t width = shape.rank == 2 ? shape.dim[1] : 1, strides[HEED_MAX_RANK] = {width, 1};
  shape.dim[0] = count * rows;
  return heed_graph_strided_constant(graph, stacked, part * rows * width, &shape, strides);
}

/* [B, T, K] -> [parts, B, H, T, D]. */
static heed_value project(heed_graph *graph, heed_value x, heed_value weight, heed_value bias,
                          uint32_t heads, uint32_t parts) {
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = x,
                                 .weight = weight,
                                 .bias = bias,
                                 .heads = heads,
                                 .parts = parts};
  return heed_define_linear(graph, &desc);
}

/* Part `index` of a projection as [B, H, T, D]. */
static heed_value part_of(heed_graph *graph, heed_value projected, uint32_t index) {
  heed_value_info info;
  if (heed_graph_value_info(graph, projected, &info) != HEED_OK) return (heed_value){0};
  const uint32_t *d = info.shape.dim;
  const heed_shape shape = HEED_SHAPE(d[1], d[2], d[3], d[4]);
  return heed_define_view(graph, projected, index * heed_shape_count(&shape), &shape);
}

/* Query, key, value [B, H, T, D]: one product when all read the same tokens through a stacked
 * weight. */
static void project_all(heed_graph *graph, const heed_multi_head_attention_desc *desc,
                        heed_value parts[3]) {
  const bool self = !desc->key_value.id || desc->key_value.id == desc->query.id;
  const heed_value source = self ? desc->query : desc->key_value;
  if (!desc->in_weight.id) {
    parts[0] = part_of(
        graph, project(graph, desc->query, desc->q_weight, desc->q_bias, desc->heads, 1), 0);
    parts[1] =
        part_of(graph, project(graph, source, desc->k_weight, desc->k_bias, desc->heads, 1), 0);
    parts[2] =
        part_of(graph, project(graph, source, desc->v_weight, desc->v_bias, desc->heads, 1), 0);
  } else if (self) {
    const heed_value all =
        project(graph, desc->query, desc->in_weight, desc->in_bias, desc->heads, 3);
    for (uint32_t i = 0; i < 3; i++) parts[i] = part_of(graph, all, i);
  } else {
    const heed_value query = heed_multi_head_part(graph, desc->in_weight, 0, 1),
                     query_bias = heed_multi_head_part(graph, desc->in_bias, 0, 1);
    const heed_value rest = heed_multi_head_part(graph, desc->in_weight, 1, 2),
                     rest_bias = heed_multi_head_part(graph, desc->in_bias, 1, 2);
    parts[0] = part_of(graph, project(graph, desc->query, query, query_bias, desc->heads, 1), 0);
    const heed_value both = project(graph, source, rest, rest_bias, desc->heads, 2);
    parts[1] = part_of(graph, both, 0);
    parts[2] = part_of(graph, both, 1);
  }
}

heed_attention_values heed_define_multi_head_attention(heed_graph *graph,
                                                       const heed_multi_head_attention_desc *desc) {
  heed_error error;
  heed_value parts[3];
  heed_multi_head_attention_desc full;
  if (!heed_graph_read_desc(graph, &full, sizeof full, desc, "multi_head_attention"))
    return (heed_attention_values){{0}, {0}, {0}};
  desc = &full;
  if (desc->heads == 0) {
    heed_fail(&error, HEED_INVALID_ARGUMENT,
              "multi_head_attention: no heads (found 0, expected 1 or more)");
    heed_graph_fail(graph, &error);
    return (heed_attention_values){{0}, {0}, {0}};
  }
  project_all(graph, desc, parts);
  const heed_value query_mask = heed_graph_mask_of(graph, desc->query),
                   key_mask = heed_graph_mask_of(
                       graph, desc->key_value.id ? desc->key_value : desc->query);
  const heed_attention_desc attention = {
      .struct_size = sizeof attention,
      .query = parts[0],
      .key = parts[1],
      .value = parts[2],
      .mask = desc->mask,
      .key_padding = desc->key_padding.id ? desc->key_padding : key_mask,
      .query_padding = desc->query_padding.id ? desc->query_padding : query_mask,
      .bias = desc->bias,
      .causal = desc->causal,
      .merge_heads = true};
  heed_attention_values values = heed_define_attention(graph, &attention);
  const heed_linear_desc out = {.struct_size = sizeof out,
                                .x = values.output,
                                .weight = desc->o_weight,
                                .bias = desc->o_bias,
                                .residual = desc->residual};
  values.output = heed_define_linear(graph, &out);
  if (query_mask.id && values.output.id) heed_graph_carry_mask(graph, values.output, query_mask);
  return values;
}
