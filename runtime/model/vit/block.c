/* A layer of a ViT. Seven nodes: norm, query-key-value, attention, projection + residual, norm, fc1
 * + activation, fc2 + residual. Rotary positions and each inner norm add one, a gate two. */
#include <math.h>
#include <stdio.h>

#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"
#include "model/vit/builder.h"

static heed_value layer_input(heed_vit_builder *b, uint32_t layer, const char *what,
                              heed_dtype dtype, heed_shape shape) {
  char text[64];
  snprintf(text, sizeof text, "layer.%u.%s", layer, what);
  return heed_define_input(b->graph, text, dtype, &shape);
}

/* What the heads give, plus the offset that takes the place of heads that give nothing, times the
 * gain of each. */
static heed_value change_heads(heed_vit_builder *b, heed_value output, uint32_t i) {
  if (!b->desc.intervene) return output;
  const uint32_t heads = b->model->dims.heads, width = b->model->dims.attention_width,
                 tokens = heed_vit_tokens(b);
  const heed_shape joined = HEED_SHAPE(b->desc.batch, tokens, width),
                   apart = HEED_SHAPE(b->desc.batch, tokens, heads, width / heads),
                   each = HEED_SHAPE(heads, 1);
  const heed_shape offset = HEED_SHAPE(1, b->desc.offset_rows ? tokens : 1, width);
  const heed_add_desc add = {sizeof add, output,
                             layer_input(b, i, "attention.offset", HEED_F32, offset)};
  const heed_value gain = heed_define_view(
      b->graph, layer_input(b, i, "attention.gain", HEED_F32, HEED_SHAPE(heads)), 0, &each);
  const heed_multiply_desc multiply = {
      sizeof multiply, heed_define_view(b->graph, heed_define_add(b->graph, &add), 0, &apart),
      gain};
  return heed_define_view(b->graph, heed_define_multiply(b->graph, &multiply), 0, &joined);
}

static heed_value first_rows(heed_vit_builder *b, heed_value x, uint32_t count) {
  const heed_select_rows_desc desc = {sizeof desc, x, 0, count};
  return heed_define_select_rows(b->graph, &desc);
}

/* The first rows of every head's queries, which begin the value: [B, H, count, D]. */
static heed_value first_queries(heed_vit_builder *b, heed_value stacked, const heed_shape *all,
                                uint32_t count) {
  const heed_shape heads = HEED_SHAPE(all->dim[0] * all->dim[1], all->dim[2], all->dim[3]),
                   some = HEED_SHAPE(all->dim[0], all->dim[1], count, all->dim[3]);
  return heed_define_view(
      b->graph, first_rows(b, heed_define_view(b->graph, stacked, 0, &heads), count), 0, &some);
}

/* Query, key and value of all heads as one linear map: [3, B, H, T, D]. */
static heed_value stack_heads(heed_vit_builder *b, heed_value x, const heed_role_ref *layer) {
  const heed_vit_dimensions *dims = &b->dims;
  const heed_weight weights = {
      {layer[HEED_ROLE_QUERY_WEIGHT], layer[HEED_ROLE_KEY_WEIGHT], layer[HEED_ROLE_VALUE_WEIGHT]},
      3};
  heed_weight biases = {
      {layer[HEED_ROLE_QUERY_BIAS], layer[HEED_ROLE_KEY_BIAS], layer[HEED_ROLE_VALUE_BIAS]}, 3};
  if (b->model->roles.rules.key_bias == HEED_KEY_BIAS_ZERO) biases.part[1].tensor = NULL;
  const heed_linear_desc qkv = {
      .struct_size = sizeof qkv,
      .x = x,
      .weight = heed_vit_define(b, &weights, HEED_SHAPE(3 * dims->attention_width, dims->width),
                                1.0f, NULL),
      .bias = heed_vit_define(b, &biases, HEED_SHAPE(3 * dims->attention_width), 1.0f, NULL),
      .heads = dims->heads,
      .parts = 3};
  return heed_define_linear(b->graph, &qkv);
}

/* Query and key lie one after the other, and are rotated as one value. */
static heed_value rotate_stacked(heed_vit_builder *b, heed_value stacked, heed_shape part) {
  if (!b->cosines.id) return stacked;
  part.dim[0] *= 2;
  return heed_vit_rotate(b, heed_define_view(b->graph, stacked, 0, &part));
}

static heed_value swap_heads_and_tokens(heed_vit_builder *b, heed_value x) {
  const heed_permute_desc permute = {sizeof permute, x, {0, 2, 1, 3}};
  return heed_define_permute(b->graph, &permute);
}

/* The norm of queries or keys [B, H, T, D], of each head or of all together. */
static heed_value norm_heads(heed_vit_builder *b, heed_value x, const heed_role_ref *norm,
                             const heed_shape *part) {
  const uint32_t *dim = part->dim;
  if (!b->model->roles.rules.wide_norms) return heed_vit_norm(b, x, norm, dim[3]);
  const heed_shape joined = HEED_SHAPE(dim[0], dim[2], dim[1] * dim[3]),
                   apart = HEED_SHAPE(dim[0], dim[2], dim[1], dim[3]);
  x = heed_define_view(b->graph, swap_heads_and_tokens(b, x), 0, &joined);
  x = heed_define_view(b->graph, heed_vit_norm(b, x, norm, joined.dim[2]), 0, &apart);
  return swap_heads_and_tokens(b, x);
}

/* Cosine attention: queries and keys of length 1, queries times a factor of their head, which is at
 * most 100. */
static heed_value make_cosine(heed_vit_builder *b, heed_value x, const heed_shape *part,
                              const heed_role_ref *scale) {
  const uint32_t depth = part->dim[3], heads = part->dim[1];
  float *ones = heed_graph_keep(b->graph, NULL, depth * sizeof *ones), *factors = NULL;
  heed_error error;
  if (!ones) {
    (void)heed_fail_memory(&error, "model: scale", depth * sizeof *ones);
    return heed_graph_fail(b->graph, &error);
  }
  for (uint32_t d = 0; d < depth; d++) ones[d] = (float)(1.0 / sqrt(depth));
  const heed_layer_norm_desc norm = {
      sizeof norm,           x,   heed_vit_define_data(b, ones, HEED_SHAPE(depth)), {0},
      1e-24f / (float)depth, true};
  x = heed_define_layer_norm(b->graph, &norm);
  if (!scale) return x;
  if (heed_vit_keep(b, scale, &factors, &error) != HEED_OK)
    return heed_graph_fail(b->graph, &error);
  for (uint32_t h = 0; h < heads; h++)
    factors[h] = (float)exp(fmin((double)factors[h], log(100.0)));
  const heed_multiply_desc multiply = {sizeof multiply, x,
                                       heed_vit_define_data(b, factors, HEED_SHAPE(heads, 1, 1))};
  return heed_define_multiply(b->graph, &multiply);
}

static heed_value attend(heed_vit_builder *b, heed_value x, uint32_t i, uint32_t read_rows,
                         heed_value bias, const heed_vit_windows *windows) {
  const heed_vit_dimensions *dims = &b->dims;
  const heed_role_ref *layer = heed_vit_layer_ref(b->model, i, (heed_role)0);
  const heed_value stacked = stack_heads(b, heed_vit_enter_windows(b, x, windows), layer);
  const uint32_t count = windows->side ? windows->down * windows->across : 1,
                 tokens = windows->side ? windows->side * windows->side : heed_vit_tokens(b);
  const heed_shape part =
      HEED_SHAPE(b->desc.batch * count, dims->heads, tokens, dims->attention_width / dims->heads);
  const heed_role_ref *cosine = layer + HEED_ROLE_LOGIT_SCALE;
  static const char *const names[] = {"query", "key", "value"};
  const bool normed = layer[HEED_ROLE_QUERY_NORM_WEIGHT].tensor != NULL,
             relative = layer[HEED_ROLE_RELATIVE_ROWS].tensor != NULL;
  const heed_value turned = normed ? stacked : rotate_stacked(b, stacked, part);
  heed_value qkv_part[3];
  for (uint32_t p = 0; p < 3; p++) {
    qkv_part[p] =
        heed_define_view(b->graph, p < 2 ? turned : stacked, p * heed_shape_count(&part), &part);
    const heed_role_ref *norm =
        p == 0 ? layer + HEED_ROLE_QUERY_NORM_WEIGHT : layer + HEED_ROLE_KEY_NORM_WEIGHT;
    if (p < 2 && cosine->tensor)
      qkv_part[p] = make_cosine(b, qkv_part[p], &part, p == 0 ? cosine : NULL);
    if (p < 2 && normed) qkv_part[p] = heed_vit_rotate(b, norm_heads(b, qkv_part[p], norm, &part));
    if (p == 0 && relative) qkv_part[p] = heed_vit_meet_distances(b, qkv_part[p], i, windows);
    if (p == 1 && relative) qkv_part[p] = heed_vit_say_places(b, qkv_part[p], windows);
    heed_vit_name(b, qkv_part[p], i, names[p]);
  }
  const heed_value queries = normed ? qkv_part[0] : turned;
  const float temperature = b->desc.temperature == 0.0f ? 1.0f : b->desc.temperature;
  const uint32_t scaled = b->model->roles.rules.scale_by_width ? dims->width : part.dim[3];
  const heed_attention_desc attention = {
      .struct_size = sizeof attention,
      .query = read_rows ? first_queries(b, queries, &part, read_rows) : qkv_part[0],
      .key = qkv_part[1],
      .value = qkv_part[2],
      .mask = b->desc.intervene ? layer_input(b, i, "attention.mask", HEED_U8,
                                              HEED_SHAPE(1, dims->heads, tokens, tokens))
                                : (heed_value){0},
      .key_padding = b->token_mask,
      .bias = bias,
      .causal = b->model->roles.rules.causal ? HEED_CAUSAL_TOP_LEFT : HEED_CAUSAL_NONE,
      .scale = cosine->tensor ? 1.0f / temperature
               : temperature == 1.0f && scaled == part.dim[3] && !relative
                   ? 0.0f
                   : (float)(1.0 / (sqrt(scaled) * (double)temperature)),
      .empty_row = b->desc.empty_row,
      .merge_heads = true,
      .rows = read_rows ? NULL : b->desc.rows,
      .row_count = read_rows ? 0 : b->desc.row_count};
  const heed_attention_values values = heed_define_attention(b->graph, &attention);
  heed_vit_name(b, values.output, i, "attention.output");
  heed_vit_name(b, values.weights, i, "attention.weights");
  heed_vit_name(b, values.logits, i, "attention.logits");
  const heed_value joined = change_heads(b, heed_vit_leave_windows(b, values.output, windows), i);
  return layer[HEED_ROLE_ATTENTION_NORM_WEIGHT].tensor
             ? heed_vit_norm(b, joined, layer + HEED_ROLE_ATTENTION_NORM_WEIGHT,
                             dims->attention_width)
             : joined;
}

/* The hidden layer of the MLP: activation(fc1 x), or activation(gate x) times fc1 x. */
static heed_value expand(heed_vit_builder *b, heed_value x, const heed_role_ref *layer) {
  const heed_vit_dimensions *dims = &b->dims;
  const bool gated = layer[HEED_ROLE_GATE_WEIGHT].tensor != NULL;
  const heed_value hidden =
      heed_vit_project(b, x, layer + HEED_ROLE_FC1_WEIGHT, dims->width, dims->mlp_width,
                       gated ? HEED_ACTIVATION_NONE : dims->activation, (heed_value){0}, NULL);
  if (!gated) return hidden;
  const heed_multiply_desc multiply = {
      sizeof multiply, hidden,
      heed_vit_project(b, x, layer + HEED_ROLE_GATE_WEIGHT, dims->width, dims->mlp_width,
                       dims->activation, (heed_value){0}, NULL)};
  return heed_define_multiply(b->graph, &multiply);
}

/* The residual plus what the heads give, by their output map where there is one. */
static heed_value add_heads(heed_vit_builder *b, heed_value attended, heed_value residual,
                            const heed_role_ref *layer) {
  const heed_vit_dimensions *dims = &b->dims;
  const heed_add_desc add = {sizeof add, residual, attended};
  return layer[HEED_ROLE_ATTENTION_OUTPUT_WEIGHT].tensor
             ? heed_vit_project(b, attended, layer + HEED_ROLE_ATTENTION_OUTPUT_WEIGHT,
                                dims->attention_width, dims->width, HEED_ACTIVATION_NONE, residual,
                                layer + HEED_ROLE_LAYER_SCALE1)
             : heed_define_add(b->graph, &add);
}

/* A layer whose parts are followed by a norm each, before their residual (SwinV2). */
static heed_status add_normed(heed_vit_builder *b, heed_value *x, uint32_t i, heed_value bias,
                              const heed_vit_windows *windows) {
  const heed_vit_dimensions *dims = &b->dims;
  const heed_role_ref *layer = heed_vit_layer_ref(b->model, i, (heed_role)0);
  const heed_value none = {0};
  const heed_value attended = heed_vit_project(
      b, attend(b, *x, i, 0, bias, windows), layer + HEED_ROLE_ATTENTION_OUTPUT_WEIGHT,
      dims->attention_width, dims->width, HEED_ACTIVATION_NONE, none, NULL);
  const heed_add_desc first = {
      sizeof first, *x, heed_vit_norm(b, attended, layer + HEED_ROLE_NORM1_WEIGHT, dims->width)};
  *x = heed_define_add(b->graph, &first);
  const heed_value made =
      heed_vit_project(b, expand(b, *x, layer), layer + HEED_ROLE_FC2_WEIGHT, dims->mlp_width,
                       dims->width, HEED_ACTIVATION_NONE, none, NULL);
  const heed_add_desc second = {
      sizeof second, *x, heed_vit_norm(b, made, layer + HEED_ROLE_NORM2_WEIGHT, dims->width)};
  *x = heed_define_add(b->graph, &second);
  heed_vit_name(b, *x, i, "output");
  return HEED_OK;
}

heed_status heed_vit_add_layer(heed_vit_builder *b, heed_value *x, uint32_t i, heed_error *error) {
  const heed_vit_dimensions *dims = &b->dims;
  const heed_role_ref *layer = heed_vit_layer_ref(b->model, i, (heed_role)0);
  heed_vit_windows windows;
  heed_graph_stage(b->graph, i + 1);
  heed_vit_begin_layer(b, x, i);
  HEED_TRY(heed_vit_find_windows(b->model, i, b->rows, b->columns, &windows, error));
  HEED_TRY(heed_vit_turn(b, i, error));
  const uint32_t read_rows = i + 1 == dims->layers ? b->read_rows : 0;
  heed_value bias;
  HEED_TRY(heed_vit_position_bias(b, i, read_rows ? read_rows : heed_vit_tokens(b), &bias, error));
  if (dims->window) HEED_TRY(heed_vit_window_bias(b, i, &bias, error));
  if (windows.side && !layer[HEED_ROLE_RELATIVE_ROWS].tensor)
    HEED_TRY(heed_vit_stage_bias(b, i, &windows, &bias, error));
  if (b->model->roles.rules.norm_inside) return add_normed(b, x, i, bias, &windows);
  const bool after = b->model->roles.rules.norm_after;
  const heed_role_ref *norm1 = layer + HEED_ROLE_NORM1_WEIGHT,
                      *norm2 = layer + HEED_ROLE_NORM2_WEIGHT;
  const heed_value attended = attend(b, after ? *x : heed_vit_norm(b, *x, norm1, dims->width), i,
                                     read_rows, bias, &windows);
  if (read_rows) *x = first_rows(b, *x, read_rows);
  *x = add_heads(b, attended, *x, layer);
  if (after) *x = heed_vit_norm(b, *x, norm1, dims->width);
  heed_value hidden = expand(b, after ? *x : heed_vit_norm(b, *x, norm2, dims->width), layer);
  if (layer[HEED_ROLE_MLP_NORM_WEIGHT].tensor)
    hidden = heed_vit_norm(b, hidden, layer + HEED_ROLE_MLP_NORM_WEIGHT, dims->mlp_width);
  *x = heed_vit_project(b, hidden, layer + HEED_ROLE_FC2_WEIGHT, dims->mlp_width, dims->width,
                        HEED_ACTIVATION_NONE, *x, layer + HEED_ROLE_LAYER_SCALE2);
  if (after) *x = heed_vit_norm(b, *x, norm2, dims->width);
  heed_vit_name(b, *x, i, "output");
  return HEED_OK;
}
