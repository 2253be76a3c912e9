/* multi_head_attention: projections, heads, attention, output projection (Vaswani et al. 2017, 3.2.2), as nn.MultiheadAttention has them. */
#include "base/status.h"
#include "base/tensor.h"
#include "graph/graph.h"
#include "model/case.h"

/* Rows [part C, (part + count) C) of a stacked weight [3C, K] or bias [3C]. */
static heed_value stacked_part(heed_graph *graph, heed_value stacked, uint32_t part, uint32_t count) {
  if (!stacked.id || heed_graph_status(graph, NULL) != HEED_OK) return (heed_value){0};
  heed_error error;
  const heed_value_record *record = heed_graph_need(graph, stacked, "multi_head_attention: in_weight, in_bias", &error);
  if (!record) return heed_graph_fail(graph, &error);
  if (record->shape.rank < 1 || record->shape.rank > 2 || record->shape.dim[0] % 3 != 0) {
    char text[HEED_SHAPE_TEXT_SIZE];
    heed_fail(&error, HEED_INVALID_ARGUMENT, "multi_head_attention: in_weight or in_bias is off (found %s, expected [3C, C] and [3C])", heed_shape_text(&record->shape, text));
    return heed_graph_fail(graph, &error);
  }
  heed_shape shape = record->shape;
  const uint32_t rows = shape.dim[0] / 3;
  const uint64_t width = shape.rank == 2 ? shape.dim[1] : 1, strides[HEED_MAX_RANK] = {width, 1};
  shape.dim[0] = count * rows;
  return heed_graph_strided_constant(graph, stacked, part * rows * width, &shape, strides);
}

/* [B, T, K] -> [parts, B, H, T, D]. */
static heed_value project(heed_graph *graph, heed_value x, heed_value weight, heed_value bias, uint32_t heads, uint32_t parts) {
  const heed_linear_desc desc = {.struct_size = sizeof desc, .x = x, .weight = weight, .bias = bias, .heads = heads, .parts = parts};
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

/* Query, key, value [B, H, T, D]: one product when all read the same tokens through a stacked weight. */
static void project_all(heed_graph *graph, const heed_multi_head_attention_desc *desc, heed_value parts[3]) {
  const bool self = !desc->key_value.id || desc->key_value.id == desc->query.id;
  const heed_value source = self ? desc->query : desc->key_value;
  if (!desc->in_weight.id) {
    parts[0] = part_of(graph, project(graph, desc->query, desc->q_weight, desc->q_bias, desc->heads, 1), 0);
    parts[1] = part_of(graph, project(graph, source, desc->k_weight, desc->k_bias, desc->heads, 1), 0);
    parts[2] = part_of(graph, project(graph, source, desc->v_weight, desc->v_bias, desc->heads, 1), 0);
  } else if (self) {
    const heed_value all = project(graph, desc->query, desc->in_weight, desc->in_bias, desc->heads, 3);
    for (uint32_t i = 0; i < 3; i++) parts[i] = part_of(graph, all, i);
  } else {
    const heed_value query = stacked_part(graph, desc->in_weight, 0, 1), query_bias = stacked_part(graph, desc->in_bias, 0, 1);
    const heed_value rest = stacked_part(graph, desc->in_weight, 1, 2), rest_bias = stacked_part(graph, desc->in_bias, 1, 2);
    parts[0] = part_of(graph, project(graph, desc->query, query, query_bias, desc->heads, 1), 0);
    const heed_value both = project(graph, source, rest, rest_bias, desc->heads, 2);
    parts[1] = part_of(graph, both, 0);
    parts[2] = part_of(graph, both, 1);
  }
}

heed_attention_values heed_define_multi_head_attention(heed_graph *graph, const heed_multi_head_attention_desc *desc) {
  heed_error error;
  heed_value parts[3];
  if (desc->struct_size != sizeof *desc || desc->heads == 0) {
    heed_fail(&error, HEED_INVALID_ARGUMENT, "multi_head_attention: struct_size or heads is off (found %zu and %u, expected %zu and 1 or more)", desc->struct_size,
              desc->heads, sizeof *desc);
    heed_graph_fail(graph, &error);
    return (heed_attention_values){{0}, {0}, {0}};
  }
  project_all(graph, desc, parts);
  const heed_value query_mask = heed_graph_mask_of(graph, desc->query), key_mask = heed_graph_mask_of(graph, desc->key_value.id ? desc->key_value : desc->query);
  const heed_attention_desc attention = {.struct_size = sizeof attention,
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
  const heed_linear_desc out = {.struct_size = sizeof out, .x = values.output, .weight = desc->o_weight, .bias = desc->o_bias, .residual = desc->residual};
  values.output = heed_define_linear(graph, &out);
  if (query_mask.id && values.output.id) heed_graph_carry_mask(graph, values.output, query_mask);
  return values;
}

static const char *const causals[] = {"none", "top_left", "bottom_right", NULL};

/* Weights by nn.MultiheadAttention's names (stacked, or apart where key and value have a width of their own), or q_weight ... o_bias. */
static void take_weights(heed_case *test, heed_multi_head_attention_desc *desc) {
  const heed_value apart = heed_case_optional_constant(test, "q_proj_weight"), bias = heed_case_optional_constant(test, "in_proj_bias");
  desc->in_weight = heed_case_optional_constant(test, "in_proj_weight");
  const bool torch = apart.id || desc->in_weight.id;
  desc->o_weight = heed_case_constant(test, torch ? "out_proj.weight" : "o_weight");
  desc->o_bias = heed_case_optional_constant(test, torch ? "out_proj.bias" : "o_bias");
  if (desc->in_weight.id) {
    desc->in_bias = bias;
  } else {
    desc->q_weight = torch ? apart : heed_case_constant(test, "q_weight");
    desc->k_weight = heed_case_constant(test, torch ? "k_proj_weight" : "k_weight");
    desc->v_weight = heed_case_constant(test, torch ? "v_proj_weight" : "v_weight");
    desc->q_bias = torch ? stacked_part(heed_case_graph(test), bias, 0, 1) : heed_case_optional_constant(test, "q_bias");
    desc->k_bias = torch ? stacked_part(heed_case_graph(test), bias, 1, 1) : heed_case_optional_constant(test, "k_bias");
    desc->v_bias = torch ? stacked_part(heed_case_graph(test), bias, 2, 1) : heed_case_optional_constant(test, "v_bias");
  }
}

static heed_status from_case(heed_case *test, heed_error *error) {
  const int64_t heads = heed_case_integer(test, "heads", 0);
  if (heads < 1 || heads > UINT32_MAX) return heed_fail(error, HEED_INVALID_FILE, "multi_head_attention: heads is off (found %lld, expected 1 or more)", (long long)heads);
  heed_multi_head_attention_desc desc = {.struct_size = sizeof desc,
                                         .query = heed_case_input(test, "query"),
                                         .key_value = heed_case_input(test, "key_value"),
                                         .heads = (uint32_t)heads,
                                         .mask = heed_case_optional_input(test, "mask"),
                                         .key_padding = heed_case_optional_input(test, "key_padding"),
                                         .query_padding = heed_case_optional_input(test, "query_padding"),
                                         .bias = heed_case_optional_input(test, "bias"),
                                         .causal = (heed_causal)heed_case_choice(test, "causal", causals, 0)};
  take_weights(test, &desc);
  const heed_attention_values values = heed_define_multi_head_attention(heed_case_graph(test), &desc);
  heed_case_result(test, "output", values.output);
  heed_case_result(test, "weights", values.weights);
  return HEED_OK;
}

static const char *const names[] = {"multi_head_attention", NULL};
const heed_layer_case heed_case_multi_head_attention = {names, from_case};
