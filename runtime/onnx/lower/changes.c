/* Inputs that change attention from run to run, as those of heed_build_desc.intervene: the same
 * names, shapes and meaning. Where the graph's tokens lie in another order, or where the heads of a
 * layer are attentions of their own, each attention takes its part of them. See lower.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tensor.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* Whether an attention is of a layer of the model; the others are behind them. */
static bool is_layer(const heed_lower *l, uint32_t found) {
  return l->changes && !l->changes->placed && found / l->changes->joined < l->changes->layers;
}

static heed_value input_of(heed_lower *l, const char *name, heed_dtype dtype, heed_shape shape) {
  const heed_value found = heed_graph_find(l->graph, name);
  return found.id ? found : heed_define_input(l->graph, name, dtype, &shape);
}

/* Which attention of the finder it is, of one op or the softmax of several. */
static uint32_t found_of(const value *v) { return v->attention ? v->attention->found : v->axis; }

/* An input of the layer that an attention belongs to. */
static heed_value layer_input(heed_lower *l, const value *v, const char *what, heed_dtype dtype,
                              heed_shape shape) {
  char name[64];
  snprintf(name, sizeof name, "layer.%u.attention.%s", found_of(v) / l->changes->joined, what);
  return input_of(l, name, dtype, shape);
}

/* ---------------------------------------------------------------------------------------- masks */

static heed_value converted(heed_lower *l, heed_value x, heed_dtype dtype) {
  const heed_elementwise_desc desc = {
      .struct_size = sizeof desc, .a = x, .kind = HEED_ELEMENTWISE_IDENTITY, .dtype = dtype};
  return heed_define_elementwise(l->graph, &desc);
}

/* [T]: which token of the layers each of the graph's is. */
static heed_value places(heed_lower *l) {
  static const char name[] = "graph.places";
  const heed_lower_changes *c = l->changes;
  const heed_value made = heed_graph_find(l->graph, name);
  int32_t *place = made.id ? NULL : heed_lower_take(l, c->tokens, sizeof *place);
  if (!place) return made;
  for (uint32_t i = 0; i < c->tokens; i++) place[c->order[i]] = (int32_t)i;
  const heed_constant_desc desc = {sizeof desc, name, HEED_I32, {1, {c->tokens}},
                                   place,       NULL, NULL};
  return heed_define_constant(l->graph, &desc);
}

static heed_value gathered(heed_lower *l, heed_value x, heed_value indices, uint32_t axis) {
  const heed_gather_desc desc = {
      .struct_size = sizeof desc, .x = x, .indices = indices, .axis = axis};
  return heed_define_gather(l->graph, &desc);
}

/* A mask as floats whose axes from `axis` on are in the order of the graph's tokens, made once. */
static heed_value arranged(heed_lower *l, heed_value mask, uint32_t axis, uint32_t rank) {
  char name[96];
  heed_value_info info;
  if (heed_graph_value_info(l->graph, mask, &info) != HEED_OK) return mask;
  snprintf(name, sizeof name, "graph.%s", info.name);
  heed_value made = heed_graph_find(l->graph, name);
  if (made.id) return made;
  made = converted(l, mask, HEED_F32);
  for (; axis < rank && l->changes->order; axis++) made = gathered(l, made, places(l), axis);
  heed_graph_name(l->graph, made, name);
  return made;
}

static heed_value token_mask(heed_lower *l, const value *v) {
  static const char name[] = "graph.tokens_seen";
  const heed_value mask =
      input_of(l, "token_mask", HEED_U8, HEED_SHAPE((uint32_t)v->dims[0], l->changes->tokens));
  if (!l->changes->order) return mask;
  heed_value made = heed_graph_find(l->graph, name);
  if (made.id) return made;
  made = converted(l, arranged(l, mask, 1, 2), HEED_U8);
  heed_graph_name(l->graph, made, name);
  return made;
}

/* The part of an attention that is some of the layer's heads. */
static heed_value head_part(heed_lower *l, const value *v, heed_value of, const heed_shape *part) {
  const uint64_t index = found_of(v) % l->changes->joined;
  return heed_define_view(l->graph, of, index * heed_shape_count(part), part);
}

/* [1, heads, T, T] of the layer's. */
static heed_value head_mask(heed_lower *l, const value *v, uint32_t heads) {
  const heed_lower_changes *c = l->changes;
  const heed_value mask =
      layer_input(l, v, "mask", HEED_U8, HEED_SHAPE(1, c->joined * heads, c->tokens, c->tokens));
  if (c->joined == 1 && !c->order) return mask;
  const heed_shape part = HEED_SHAPE(1, heads, c->tokens, c->tokens);
  return converted(l, head_part(l, v, arranged(l, mask, 2, 4), &part), HEED_U8);
}

/* -------------------------------------------------------------------------------------- scores */

/* Whether other ops read the weights of an attention as a value. */
static bool is_read(const heed_lower *l, const value *attention) {
  for (size_t i = 0; i < l->order_count; i++)
    if (l->order[i]->kind == HEED_LOWER_SOFTMAX && l->order[i]->owner == attention) return true;
  return false;
}

void heed_lower_change_scores(heed_lower *l, const value *v, heed_attention_desc *desc) {
  if (!l->changes) return;
  const heed_lower_changes *c = l->changes;
  const bool layer = is_layer(l, v->attention->found);
  if (layer && c->temperature != 0.0f)
    desc->scale = (float)(v->attention->scale / (double)c->temperature);
  if (layer && c->rows && !is_read(l, v)) {
    desc->rows = c->rows;
    desc->row_count = c->row_count;
  }
  if (!c->intervene) return;
  if (v->attention->key->dims[2] != c->tokens) { /* a token that is dropped would stay here */
    heed_lower_refuse(l, HEED_UNSUPPORTED,
                      "an attention to %llu of the %u tokens takes no changes (expected a "
                      "config.json that names the model's family)",
                      (unsigned long long)v->attention->key->dims[2], (unsigned)c->tokens);
    return;
  }
  desc->key_padding = token_mask(l, v);
  desc->empty_row = c->empty_row;
  if (layer) desc->mask = head_mask(l, v, (uint32_t)v->x[0]->dims[1]);
}

/* --------------------------------------------------------------------------------------- heads */

heed_value heed_lower_change_heads(heed_lower *l, const value *v, heed_value output) {
  if (!is_layer(l, v->attention->found) || !l->changes->intervene) return output;
  const uint32_t batch = (uint32_t)v->dims[0], tokens = (uint32_t)v->dims[1],
                 width = (uint32_t)v->dims[2], heads = (uint32_t)v->x[0]->dims[1],
                 joined = l->changes->joined;
  const heed_shape together = HEED_SHAPE(batch, tokens, width),
                   apart = HEED_SHAPE(batch, tokens, heads, width / heads),
                   each = HEED_SHAPE(heads, 1), own = HEED_SHAPE(1, 1, width);
  const heed_value offset = layer_input(l, v, "offset", HEED_F32, HEED_SHAPE(1, 1, joined * width));
  const heed_add_desc add = {sizeof add, output,
                             joined == 1 ? offset : head_part(l, v, offset, &own)};
  const heed_value gain =
      head_part(l, v, layer_input(l, v, "gain", HEED_F32, HEED_SHAPE(joined * heads)), &each);
  const heed_multiply_desc multiply = {
      sizeof multiply, heed_define_view(l->graph, heed_define_add(l->graph, &add), 0, &apart),
      gain};
  return heed_define_view(l->graph, heed_define_multiply(l->graph, &multiply), 0, &together);
}

/* --------------------------------------------------------------------------------- several ops */

static heed_value combined(heed_lower *l, heed_elementwise kind, heed_value a, heed_value b,
                           heed_value c) {
  const heed_elementwise_desc desc = {
      .struct_size = sizeof desc, .a = a, .b = b, .c = c, .kind = kind, .dtype = HEED_F32};
  return heed_define_elementwise(l->graph, &desc);
}

static heed_value number(heed_lower *l, float is) {
  float *kept = heed_lower_take(l, 1, sizeof *kept);
  if (kept) *kept = is;
  return heed_lower_emit_vector(l, kept, 1);
}

/* [.., T, N] with one axis or two before, as [B, H, T, N]. */
static bool four_axes(const heed_lower *l, const value *v, heed_shape *shape) {
  uint64_t whole[4];
  if (!heed_onnx_map_shape(l->batch, v->rank, v->dims, whole)) {
    if (v->rank != 4) return false;
    memcpy(whole, v->dims, sizeof whole);
  }
  *shape =
      HEED_SHAPE((uint32_t)whole[0], (uint32_t)whole[1], (uint32_t)whole[2], (uint32_t)whole[3]);
  return true;
}

/* Whether a softmax by itself is the weights of a layer that changes. */
static bool changes_softmax(const heed_lower *l, const value *v, heed_shape *shape) {
  return v->kind == HEED_LOWER_SOFTMAX && !v->owner && v->axis != UINT32_MAX && l->changes &&
         l->changes->intervene && is_layer(l, v->axis) && four_axes(l, v, shape) &&
         shape->dim[2] == l->changes->tokens && shape->dim[3] == l->changes->tokens;
}

/* What a row with nothing allowed has in place of NaN. */
static float empty_weight(const heed_lower_changes *c) {
  return c->empty_row == HEED_EMPTY_ROW_NAN    ? NAN
         : c->empty_row == HEED_EMPTY_ROW_MEAN ? 1.0f / (float)c->tokens
                                               : 0.0f;
}

heed_value heed_lower_change_softmax(heed_lower *l, const value *v) {
  heed_shape four;
  const heed_shape shape = heed_lower_shape(l, v);
  if (!changes_softmax(l, v, &four)) return (heed_value){0};
  const uint32_t batch = four.dim[0], heads = four.dim[1], tokens = four.dim[2],
                 joined = l->changes->joined;
  const heed_shape part = HEED_SHAPE(1, heads, tokens, tokens),
                   keys = HEED_SHAPE(batch, 1, 1, tokens);
  const heed_value none = {0},
                   seen = arranged(l, input_of(l, "token_mask", HEED_U8, HEED_SHAPE(batch, tokens)),
                                   1, 2),
                   mask = arranged(l,
                                   layer_input(l, v, "mask", HEED_U8,
                                               HEED_SHAPE(1, joined * heads, tokens, tokens)),
                                   2, 4),
                   allowed = combined(l, HEED_ELEMENTWISE_AND, head_part(l, v, mask, &part),
                                      heed_define_view(l->graph, seen, 0, &keys), none),
                   scores = heed_define_reshape(l->graph, v->x[0]->made, &four);
  const heed_softmax_desc softmax = {
      sizeof softmax, combined(l, HEED_ELEMENTWISE_SELECT, allowed, scores, number(l, -HUGE_VALF))};
  const heed_reduce_desc any = {.struct_size = sizeof any,
                                .x = allowed,
                                .kind = HEED_REDUCE_MAX,
                                .axes = 1u << 3,
                                .keep_axes = true};
  const heed_value weights =
      combined(l, HEED_ELEMENTWISE_SELECT, heed_define_reduce(l->graph, &any),
               heed_define_softmax(l->graph, &softmax), number(l, empty_weight(l->changes)));
  return heed_define_reshape(l->graph, weights, &shape);
}

/* The left factor of a product as it was made. */
static const value *weights_of(const value *product) {
  const value *weights = product->x[0];
  while (weights->kind == HEED_LOWER_RESHAPE || weights->kind == HEED_LOWER_NAN_TO_ZERO)
    weights = weights->x[0];
  return weights;
}

uint32_t heed_lower_heads_width(const heed_lower *l, uint32_t found) {
  heed_shape four;
  for (size_t i = 0; i < l->order_count; i++) {
    const value *v = l->order[i], *weights = v->kind == HEED_LOWER_MATMUL ? weights_of(v) : NULL;
    if (weights && weights->kind == HEED_LOWER_SOFTMAX && !weights->owner &&
        weights->axis == found && four_axes(l, v, &four))
      return four.dim[1] * four.dim[3];
  }
  return 0;
}

/* What the heads give, [B, T, H Dv], by the name that it has of one op. */
static void name_heads(heed_lower *l, uint32_t found, heed_value heads, const heed_shape *four) {
  const heed_permute_desc desc = {sizeof desc, heads, {0, 2, 1, 3}};
  const heed_shape merged = HEED_SHAPE(four->dim[0], four->dim[2], four->dim[1] * four->dim[3]);
  char name[48];
  snprintf(name, sizeof name, "layer.%u.attention.output", (unsigned)found);
  heed_graph_name(
      l->graph, heed_define_reshape(l->graph, heed_define_permute(l->graph, &desc), &merged), name);
}

heed_value heed_lower_change_product(heed_lower *l, const value *v, heed_value output) {
  const value *weights = weights_of(v);
  heed_shape map, four;
  if (!changes_softmax(l, weights, &map) || !four_axes(l, v, &four) || four.dim[1] != map.dim[1] ||
      four.dim[2] != map.dim[2])
    return output;
  const uint32_t heads = four.dim[1], size = four.dim[3], all = l->changes->joined * heads;
  const heed_shape shape = heed_lower_shape(l, v), own = HEED_SHAPE(1, heads, 1, size),
                   each = HEED_SHAPE(1, heads, 1, 1);
  const heed_value none = {0},
                   offset =
                       layer_input(l, weights, "offset", HEED_F32, HEED_SHAPE(1, 1, all * size)),
                   gain = layer_input(l, weights, "gain", HEED_F32, HEED_SHAPE(all)),
                   plain = heed_define_reshape(l->graph, output, &four),
                   sum = combined(l, HEED_ELEMENTWISE_ADD, plain,
                                  head_part(l, weights, offset, &own), none);
  name_heads(l, weights->axis, plain, &four);
  return heed_define_reshape(
      l->graph,
      combined(l, HEED_ELEMENTWISE_MULTIPLY, sum, head_part(l, weights, gain, &each), none),
      &shape);
}

/* ---------------------------------------------------------------------------------------- rows */

/* The rows of a map or of logits, which take over its name. */
static heed_value narrowed(heed_lower *l, heed_value map, heed_value rows) {
  char name[80], whole[96];
  heed_value_info info;
  if (heed_graph_value_info(l->graph, map, &info) != HEED_OK || info.shape.rank != 4 ||
      info.shape.dim[2] != l->changes->tokens)
    return map;
  snprintf(name, sizeof name, "%s", info.name);
  snprintf(whole, sizeof whole, "whole.%s", name);
  const heed_value made = gathered(l, map, rows, 2);
  if (!*name) return made;
  heed_graph_name(l->graph, map, whole);
  heed_graph_name(l->graph, made, name);
  return made;
}

void heed_lower_narrow_maps(heed_lower *l) {
  const heed_lower_changes *c = l->changes;
  int32_t *rows = c && c->rows ? heed_lower_take(l, c->row_count, sizeof *rows) : NULL;
  heed_value indices = {0};
  for (uint32_t i = 0; rows && i < c->row_count; i++) rows[i] = (int32_t)c->rows[i];
  for (uint32_t i = 0; rows && i < l->file->attentions->count && is_layer(l, i); i++) {
    value *map = l->maps[i];
    if (!map || (map->kind == HEED_LOWER_ATTENTION && !is_read(l, map))) continue;
    const heed_constant_desc desc = {sizeof desc, NULL, HEED_I32, {1, {c->row_count}},
                                     rows,        NULL, NULL};
    char name[64];
    if (!indices.id) indices = heed_define_constant(l->graph, &desc);
    map->weights = narrowed(l, map->weights, indices);
    snprintf(name, sizeof name, "layer.%u.attention.logits", i);
    narrowed(l, heed_graph_find(l->graph, name), indices);
  }
}
