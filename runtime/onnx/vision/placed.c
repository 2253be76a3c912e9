/* Maps of windows where they lie. See placed.h. */
#include "onnx/vision/placed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/tensor.h"
#include "graph/graph.h"
#include "onnx/vision/token_order.h"

/* ------------------------------------------------------------------------------------- finding */

/* Whether each image of the batch has the same windows. */
static bool repeats(const heed_place *places, uint32_t items, uint32_t windows, uint32_t count) {
  for (uint32_t i = windows; places && i < items; i++)
    if (memcmp(places + (size_t)i * count, places + (size_t)(i % windows) * count,
               count * sizeof *places) != 0)
      return false;
  return true;
}

bool heed_placed_shape(const heed_token_places *places, const heed_shape *map, heed_shape *four) {
  const uint32_t *d = map->dim, axis = places->axis;
  *four = *map;
  if (map->rank == 5 && places->count)
    *four = axis ? HEED_SHAPE(d[0] * d[axis], d[3 - axis], d[3], d[4])
                 : HEED_SHAPE(d[0], d[1] * d[2], d[3], d[4]);
  return four->rank == 4;
}

/* Keys of larger squares than patches: for each patch the one that it is a part of. */
static const char *find_keys(heed_placed_layer *layer, const heed_token_order *keys, uint32_t width,
                             uint32_t tokens) {
  const uint32_t patch = layer->patch, columns = width / patch;
  if (keys->patch % patch) return "its keys are no squares of patches";
  layer->merged = keys->patch / patch;
  for (uint32_t t = 0; t < tokens; t++) {
    const uint32_t row = t / columns / layer->merged, column = t % columns / layer->merged;
    layer->key[t] = keys->token[row * (columns / layer->merged) + column];
  }
  return NULL;
}

const char *heed_placed_find(heed_lower *l, const heed_token_places *places, uint32_t batch,
                             uint32_t height, uint32_t width, const heed_shape *map,
                             heed_placed_layer *layer) {
  const uint32_t windows = batch ? map->dim[0] / batch : 0, count = map->dim[2], keys = map->dim[3],
                 tokens = windows * count;
  heed_token_order queries, asked;
  if (!windows || map->dim[0] % batch || places->count != count || places->apart)
    return "nothing says where its tokens lie";
  if (places->channels) return "it is over channels, each of the whole image";
  if (places->items % windows || map->dim[0] % places->items ||
      !repeats(places->query, places->items, windows, count))
    return "its windows are of the same place, or of other ones in each image";
  const char *why = heed_token_order_find(l, places->query, tokens, height, width, &queries);
  const bool whole = windows == 1 && keys == count;
  if (!why && queries.prefix && !whole) why = "some of its tokens are no patches";
  if (why) return why;
  layer->windows = windows;
  layer->axis = places->axis;
  layer->patch = queries.patch;
  layer->prefix = queries.prefix;
  layer->straight = queries.straight;
  layer->query = queries.token;
  layer->key = queries.token;
  layer->merged = 1;
  if (!places->key && keys == count) return NULL; /* as the queries, as far as anybody knows */
  if (places->key_count != keys || !repeats(places->key, places->items, windows, keys))
    return "nothing says where its keys lie";
  why = heed_token_order_find(l, places->key, windows * keys, height, width, &asked);
  if (!why && asked.prefix != queries.prefix) why = "some of its keys are no patches";
  if (!why && asked.patch == queries.patch) {
    layer->key = asked.token;
    return NULL;
  }
  layer->key = why ? NULL : heed_lower_take(l, tokens, sizeof *layer->key);
  return layer->key ? find_keys(layer, &asked, width, tokens) : why ? why : "out of memory";
}

/* -------------------------------------------------------------------------------------- making */

typedef struct making {
  heed_lower *l;
  const heed_placed_layer *layer;
  uint32_t index, tokens, row_count;
  const uint32_t *rows;
} making;

static heed_value named(const making *m, const char *part) {
  char text[64];
  snprintf(text, sizeof text, "attention.%u.%s", (unsigned)m->layer->attention, part);
  return heed_graph_find(m->l->graph, text);
}

static void name(const making *m, heed_value v, const char *part) {
  char text[64];
  snprintf(text, sizeof text, "layer.%u.%s", (unsigned)m->index, part);
  if (v.id) heed_graph_name(m->l->graph, v, text);
}

static heed_value indices_of(const making *m, const int32_t *data, uint32_t count) {
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_I32, {1, {count}}, data, NULL, NULL};
  return heed_define_constant(m->l->graph, &desc);
}

static heed_value gathered(const making *m, heed_value x, const int32_t *data, uint32_t count,
                           uint32_t axis) {
  const heed_gather_desc desc = {
      .struct_size = sizeof desc, .x = x, .indices = indices_of(m, data, count), .axis = axis};
  return heed_define_gather(m->l->graph, &desc);
}

/* The shape of a value of windows as four axes; false: it is none. */
static bool four_axes(const making *m, heed_value x, heed_shape *four) {
  const heed_token_places places = {.count = 1, .axis = m->layer->axis};
  heed_value_info info;
  return x.id && heed_graph_value_info(m->l->graph, x, &info) == HEED_OK &&
         heed_placed_shape(&places, &info.shape, four);
}

/* [B windows, H, T, N] as [B, H, windows T, N]; of five axes the windows may be behind the heads.
 */
static heed_value beside(const making *m, heed_value x, const heed_shape *of) {
  const uint32_t windows = m->layer->windows, batch = of->dim[0] / windows;
  const heed_shape apart = {5, {batch, windows, of->dim[1], of->dim[2], of->dim[3]}},
                   all = HEED_SHAPE(batch, of->dim[1], windows * of->dim[2], of->dim[3]);
  const heed_permute_desc desc = {
      sizeof desc, heed_define_reshape(m->l->graph, x, &apart), {0, 2, 1, 3, 4}};
  if (windows == 1 || m->layer->axis == 2) return heed_define_reshape(m->l->graph, x, &all);
  return heed_define_reshape(m->l->graph, heed_define_permute(m->l->graph, &desc), &all);
}

/* [1, 1, rows, windows, 1]: 1 where the row is of the window. */
static heed_value inside(const making *m, const int32_t *rows, uint32_t count, uint32_t each) {
  const uint32_t windows = m->layer->windows;
  float *is = heed_lower_take(m->l, (uint64_t)count * windows, sizeof *is);
  if (!is) return (heed_value){0};
  for (uint32_t i = 0; i < count; i++) is[i * windows + (uint32_t)rows[i] / each] = 1.0f;
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, {5, {1, 1, count, windows, 1}},
                                   is,          NULL, NULL};
  return heed_define_constant(m->l->graph, &desc);
}

/* Rows of windows [B, H, R, N] as rows of all keys [B, H, R, windows N]. */
static heed_value widened(const making *m, heed_value x, const heed_shape *of, const int32_t *rows,
                          uint32_t count, float outside) {
  const uint32_t windows = m->layer->windows, batch = of->dim[0] / windows;
  const heed_shape one = {5, {batch, of->dim[1], count, 1, of->dim[3]}},
                   all = HEED_SHAPE(batch, of->dim[1], count, windows * of->dim[3]);
  float *number = heed_lower_take(m->l, 1, sizeof *number);
  if (windows == 1 || !number) return x;
  *number = outside;
  const heed_elementwise_desc desc = {.struct_size = sizeof desc,
                                      .a = inside(m, rows, count, of->dim[2]),
                                      .b = heed_define_reshape(m->l->graph, x, &one),
                                      .c = heed_lower_emit_vector(m->l, number, 1),
                                      .kind = HEED_ELEMENTWISE_SELECT,
                                      .dtype = HEED_F32};
  return heed_define_reshape(m->l->graph, heed_define_elementwise(m->l->graph, &desc), &all);
}

/* Where each row that is wanted is among the windows' queries. */
static const int32_t *rows_of(const making *m, uint32_t *count) {
  *count = m->rows ? m->row_count : m->tokens;
  if (!m->rows) return m->layer->query;
  int32_t *rows = heed_lower_take(m->l, *count, sizeof *rows);
  for (uint32_t i = 0; rows && i < *count; i++) rows[i] = m->layer->query[m->rows[i]];
  return rows;
}

/* A map, or logits, of all patches. */
static void place_map(const making *m, const char *part, float outside, bool shared) {
  const heed_value from = named(m, part);
  uint32_t count;
  heed_shape four;
  const int32_t *rows = rows_of(m, &count);
  if (!rows || !four_axes(m, from, &four)) return;
  heed_value x = gathered(m, beside(m, from, &four), rows, count, 2);
  x = widened(m, x, &four, rows, count, outside);
  x = gathered(m, x, m->layer->key, m->tokens, 3);
  float *share = heed_lower_take(m->l, 1, sizeof *share);
  if (shared && share && m->layer->merged > 1) {
    *share = 1.0f / (float)(m->layer->merged * m->layer->merged);
    const heed_multiply_desc desc = {sizeof desc, x, heed_lower_emit_vector(m->l, share, 1)};
    x = heed_define_multiply(m->l->graph, &desc);
  }
  name(m, x, part);
}

/* Queries, keys or values [B, H, T, D], where there is one of each patch. */
static void place_heads(const making *m, const char *part) {
  const heed_value from = named(m, part);
  heed_shape four;
  if (!four_axes(m, from, &four) || four.dim[2] * m->layer->windows != m->tokens) return;
  name(m, gathered(m, beside(m, from, &four), m->layer->query, m->tokens, 2), part);
}

/* What the heads give, [B windows, T, H Dv], as [B, T, H Dv]. */
static void place_output(const making *m, const char *part) {
  const heed_value from = named(m, part);
  heed_value_info info;
  if (!from.id || heed_graph_value_info(m->l->graph, from, &info) != HEED_OK ||
      info.shape.rank != 3)
    return;
  const heed_shape all =
      HEED_SHAPE(info.shape.dim[0] / m->layer->windows, m->tokens, info.shape.dim[2]);
  const heed_value whole = heed_define_reshape(m->l->graph, from, &all);
  name(m, gathered(m, whole, m->layer->query, m->tokens, 1), part);
}

/* The names of all attentions of the finder make room for those of layers. */
static void rename_all(heed_lower *l) {
  static const char *const parts[] = {
      "attention.weights", "attention.logits", "attention.output", "query", "key", "value"};
  char text[64];
  for (uint32_t i = 0; i < l->file->attentions->count; i++)
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
      snprintf(text, sizeof text, "layer.%u.%s", (unsigned)i, parts[p]);
      const heed_value found =
          p == 0 && l->maps[i] ? l->maps[i]->weights : heed_graph_find(l->graph, text);
      snprintf(text, sizeof text, "attention.%u.%s", (unsigned)i, parts[p]);
      if (found.id) heed_graph_name(l->graph, found, text);
    }
}

void heed_placed_apply(heed_lower *l, const heed_placed_layer *layers, uint32_t count,
                       uint32_t tokens, const uint32_t *rows, uint32_t row_count) {
  rename_all(l);
  for (uint32_t i = 0; i < count; i++) {
    const making m = {l, &layers[i], i, tokens, row_count, rows};
    place_map(&m, "attention.weights", 0.0f, true);
    place_map(&m, "attention.logits", -HUGE_VALF, false);
    if (layers[i].merged == 1) {
      place_heads(&m, "key");
      place_heads(&m, "value");
    }
    place_heads(&m, "query");
    place_output(&m, "attention.output");
  }
}
