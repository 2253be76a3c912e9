/* Inputs that change attention from run to run, as those of heed_build_desc.intervene: the same
 * names, shapes and meaning. Where the graph's tokens lie in another order, or where the heads of a
 * layer are attentions of their own, each attention takes its part of them. See lower.h. */
#include <stdio.h>
#include <string.h>

#include "base/tensor.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* Whether an attention is of a layer of the model; the others are behind them. */
static bool is_layer(const heed_lower *l, uint32_t found) {
  return l->changes && found / l->changes->joined < l->changes->layers;
}

static heed_value input_of(heed_lower *l, const char *name, heed_dtype dtype, heed_shape shape) {
  const heed_value found = heed_graph_find(l->graph, name);
  return found.id ? found : heed_define_input(l->graph, name, dtype, &shape);
}

/* An input of the layer that an attention belongs to. */
static heed_value layer_input(heed_lower *l, const value *v, const char *what, heed_dtype dtype,
                              heed_shape shape) {
  char name[64];
  snprintf(name, sizeof name, "layer.%u.attention.%s", v->attention->found / l->changes->joined,
           what);
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

/* [1, heads, T, T] of the layer's. */
static heed_value head_mask(heed_lower *l, const value *v, uint32_t heads) {
  const heed_lower_changes *c = l->changes;
  const heed_value mask =
      layer_input(l, v, "mask", HEED_U8, HEED_SHAPE(1, c->joined * heads, c->tokens, c->tokens));
  if (c->joined == 1 && !c->order) return mask;
  const heed_shape part = HEED_SHAPE(1, heads, c->tokens, c->tokens);
  const uint64_t first = v->attention->found % c->joined * heed_shape_count(&part);
  return converted(l, heed_define_view(l->graph, arranged(l, mask, 2, 4), first, &part), HEED_U8);
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
                 joined = l->changes->joined, part = v->attention->found % joined;
  const heed_shape together = HEED_SHAPE(batch, tokens, width),
                   apart = HEED_SHAPE(batch, tokens, heads, width / heads),
                   each = HEED_SHAPE(heads, 1), own = HEED_SHAPE(1, 1, width);
  const heed_value offset = layer_input(l, v, "offset", HEED_F32, HEED_SHAPE(1, 1, joined * width));
  const heed_add_desc add = {
      sizeof add, output,
      joined == 1 ? offset : heed_define_view(l->graph, offset, (uint64_t)part * width, &own)};
  const heed_value gain =
      heed_define_view(l->graph, layer_input(l, v, "gain", HEED_F32, HEED_SHAPE(joined * heads)),
                       (uint64_t)part * heads, &each);
  const heed_multiply_desc multiply = {
      sizeof multiply, heed_define_view(l->graph, heed_define_add(l->graph, &add), 0, &apart),
      gain};
  return heed_define_view(l->graph, heed_define_multiply(l->graph, &multiply), 0, &together);
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
