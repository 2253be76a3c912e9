/* The order of tokens. See token_order.h. */
#include "onnx/vision/token_order.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "graph/graph.h"
#include "heed/onnx.h"

#define MOST_SIDE 1024u /* patches in a row or column */
#define APART 0.1f      /* pixels between the middles of two rows */
#define ORDER_NAME "graph.tokens"

/* Rows or columns, by their middles. */
typedef struct lines {
  uint32_t count;
  float at[MOST_SIDE];
} lines;

/* The line of a middle; a new one where there is none; UINT32_MAX: there are too many. */
static uint32_t line_of(lines *l, float middle, bool add) {
  uint32_t i = 0;
  while (i < l->count && l->at[i] < middle - APART) i++;
  if (i < l->count && fabsf(l->at[i] - middle) <= APART) return i;
  if (!add || l->count == MOST_SIDE) return UINT32_MAX;
  memmove(l->at + i + 1, l->at + i, (l->count - i) * sizeof *l->at);
  l->at[i] = middle;
  l->count++;
  return i;
}

static bool is_whole(const heed_place *p, uint32_t height, uint32_t width) {
  return p->top < 0.5f && p->left < 0.5f && p->bottom > (float)height - 0.5f &&
         p->right > (float)width - 0.5f;
}

/* Whether a token is a patch: of pixels, and not of the whole image where others are not. */
static bool is_patch(const heed_place *p, uint32_t height, uint32_t width, bool parts) {
  return p->bottom > 0 && !(parts && is_whole(p, height, width));
}

static const char *find_lines(const heed_place *places, uint32_t count, uint32_t height,
                              uint32_t width, bool parts, lines *rows, lines *columns) {
  for (uint32_t i = 0; i < count; i++) {
    if (!is_patch(&places[i], height, width, parts)) continue;
    if (line_of(rows, places[i].y, true) == UINT32_MAX ||
        line_of(columns, places[i].x, true) == UINT32_MAX)
      return "its tokens are no grid";
  }
  return NULL;
}

const char *heed_token_order_find(heed_lower *l, const heed_place *places, uint32_t count,
                                  uint32_t height, uint32_t width, heed_token_order *order) {
  lines *rows = heed_lower_take(l, 2, sizeof *rows), *columns = rows ? rows + 1 : NULL;
  bool parts = false;
  uint32_t found = 0, before = 0;
  *order = (heed_token_order){.straight = true};
  order->token = heed_lower_take(l, count, sizeof *order->token);
  if (!order->token || !rows) return "out of memory";
  for (uint32_t i = 0; i < count; i++)
    parts = parts || (places[i].bottom > 0 && !is_whole(&places[i], height, width));
  const char *why = find_lines(places, count, height, width, parts, rows, columns);
  for (uint32_t i = 0; i < count; i++) found += is_patch(&places[i], height, width, parts);
  if (why || found == 0 || (uint64_t)rows->count * columns->count != found)
    return parts ? "its tokens are no grid of the image"
                 : "its rows are channels, or each of them is made of the whole image";
  if (height % rows->count || width % columns->count ||
      height / rows->count != width / columns->count)
    return "its tokens are no squares of the image";
  order->prefix = count - found;
  order->patch = height / rows->count;
  for (uint32_t i = 0; i < count; i++) order->token[i] = -1;
  for (uint32_t i = 0; i < count; i++) {
    const bool patch = is_patch(&places[i], height, width, parts);
    const uint32_t to = patch ? order->prefix + line_of(rows, places[i].y, false) * columns->count +
                                    line_of(columns, places[i].x, false)
                              : before++;
    if (order->token[to] >= 0) return "two tokens are of the same place";
    order->token[to] = (int32_t)i;
    order->straight = order->straight && to == i;
  }
  return NULL;
}

/* --------------------------------------------------------------------------------- the graph's */

static heed_value named(const heed_lower *l, const char *of, uint32_t index, const char *part) {
  char name[64];
  snprintf(name, sizeof name, "%s.%u.%s", of, (unsigned)index, part);
  return heed_graph_find(l->graph, name);
}

static void name(const heed_lower *l, heed_value v, const char *of, uint32_t index,
                 const char *part) {
  char text[64];
  snprintf(text, sizeof text, "%s.%u.%s", of, (unsigned)index, part);
  heed_graph_name(l->graph, v, text);
}

/* Several values along an axis. */
static heed_value join(heed_lower *l, const char *part, uint32_t first, uint32_t count,
                       uint32_t axis) {
  heed_value whole = named(l, "attention", first, part);
  for (uint32_t i = 1; i < count && whole.id; i++) {
    const heed_value next = named(l, "attention", first + i, part);
    const heed_concat_desc desc = {sizeof desc, {whole, next}, 2, axis};
    whole = next.id ? heed_define_concat(l->graph, &desc) : next;
  }
  return whole;
}

static const struct {
  const char *name;
  uint32_t heads, tokens, more; /* axes; more 0: tokens lie along one axis alone */
} parts[] = {{"attention.weights", 1, 2, 3},
             {"attention.logits", 1, 2, 3},
             {"query", 1, 2, 0},
             {"key", 1, 2, 0},
             {"value", 1, 2, 0},
             {"attention.output", 2, 1, 0}};

static void join_heads(heed_lower *l, uint32_t layers, uint32_t heads) {
  for (uint32_t i = 0; i < layers * heads; i++)
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
      name(l, named(l, "layer", i, parts[p].name), "attention", i, parts[p].name);
  for (uint32_t i = 0; i < layers; i++)
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
      name(l, join(l, parts[p].name, i * heads, heads, parts[p].heads), "layer", i, parts[p].name);
}

static heed_value moved(heed_lower *l, heed_value v, heed_value indices, uint32_t axis) {
  const heed_gather_desc desc = {
      .struct_size = sizeof desc, .x = v, .indices = indices, .axis = axis};
  return heed_define_gather(l->graph, &desc);
}

/* Puts the value's tokens into order; its name goes to what was made. */
static void arrange(heed_lower *l, const char *text, heed_value indices, uint32_t count,
                    uint32_t axis, uint32_t more) {
  char own[80];
  heed_value_info info;
  const heed_value from = heed_graph_find(l->graph, text);
  if (!from.id || heed_graph_value_info(l->graph, from, &info) != HEED_OK) return;
  heed_value to = from;
  if (info.shape.rank > axis && info.shape.dim[axis] == count) to = moved(l, to, indices, axis);
  if (more && info.shape.rank > more && info.shape.dim[more] == count)
    to = moved(l, to, indices, more);
  snprintf(own, sizeof own, "graph.%s", text);
  if (to.id == from.id) return;
  heed_graph_name(l->graph, from, own);
  heed_graph_name(l->graph, to, text);
}

void heed_token_order_apply(heed_lower *l, const heed_token_order *order, uint32_t count,
                            uint32_t layers, uint32_t heads, bool rows) {
  char text[64];
  if (heads > 1) join_heads(l, layers, heads);
  if (order->straight || !order->token) return;
  const heed_constant_desc desc = {sizeof desc,  ORDER_NAME, HEED_I32, {1, {count}},
                                   order->token, NULL,       NULL};
  const heed_value indices = heed_define_constant(l->graph, &desc);
  for (uint32_t i = 0; i <= layers; i++)
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
      if (i < layers)
        snprintf(text, sizeof text, "layer.%u.%s", (unsigned)i, parts[p].name);
      else
        snprintf(text, sizeof text, "pool.%s", parts[p].name);
      if (rows && i < layers && parts[p].more)
        arrange(l, text, indices, count, parts[p].more, 0);
      else
        arrange(l, text, indices, count, parts[p].tokens, parts[p].more);
    }
  for (uint32_t i = 0; i < layers; i++) {
    snprintf(text, sizeof text, "layer.%u.output", (unsigned)i);
    arrange(l, text, indices, count, 1, 0);
  }
}

const int32_t *heed_onnx_token_order(const heed_graph *graph, uint32_t *count) {
  const heed_value value = heed_graph_find(graph, ORDER_NAME);
  const heed_value_record *record = value.id ? heed_graph_record(graph, value.id) : NULL;
  const bool found = record && record->kind == HEED_VALUE_CONSTANT && record->dtype == HEED_I32 &&
                     record->shape.rank == 1 && record->data;
  *count = found ? record->shape.dim[0] : 0;
  return found ? record->data : NULL;
}
