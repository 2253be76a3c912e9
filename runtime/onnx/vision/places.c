/* Places of tokens. See places.h. From the image on, each value has the places of its elements, as
 * far as they vary: a pixel's is the pixel, what only moves elements moves them, a product along an
 * axis joins that axis, and what an attention gives lies where its query lies. */
#include "onnx/vision/places.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "onnx/vision/place_table.h"

#define MOST_ENTRIES (UINT64_C(1) << 27) /* that are made in all */

typedef heed_lower_value value;
typedef heed_place_table table;

typedef struct walk {
  heed_place_work w;
  heed_lower *l;
  const value *image;
  table **tables;    /* by place in the order */
  uint32_t *readers; /* that are still to come */
  uint32_t *levels;
  bool *channels; /* scores of channels */
  table **keys;   /* of scores: the places of their columns, where a product says them; or NULL */
  heed_token_places *found;
} walk;

static table *of(const walk *k, const value *v) { return k->tables[v->at]; }

static table *none(walk *k, const value *v) {
  static const uint32_t ones[HEED_ONNX_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  return heed_place_table_new(&k->w, v->rank, ones);
}

static table *share(table *t) {
  if (t) t->users++;
  return t;
}

static table *pixels(walk *k, const value *v) {
  const uint32_t height = (uint32_t)v->dims[2], width = (uint32_t)v->dims[3],
                 dims[] = {1, 1, height, width};
  table *made = heed_place_table_new(&k->w, 4, dims);
  for (size_t i = 0; made && i < made->count; i++) {
    const float y = (float)(i / width), x = (float)(i % width);
    made->at[i] = (heed_place){y + 0.5f, x + 0.5f, y, x, y + 1, x + 1};
  }
  return made;
}

/* Takes `t` as well. */
static table *reduced(walk *k, table *t, uint32_t axes) {
  table *made = heed_place_reduce(&k->w, t, axes);
  heed_place_table_drop(&k->w, t);
  return made;
}

static table *reshaped(walk *k, table *t, const uint64_t *from, uint32_t rank, const uint64_t *to) {
  table *made = heed_place_reshape(&k->w, t, from, rank, to);
  heed_place_table_drop(&k->w, t);
  return made;
}

/* [B, C, H, W] by squares -> [B, patches, C']. */
static table *patches(walk *k, const value *v) {
  const uint64_t *in = v->x[0]->dims, side = v->first,
                 six[] = {in[0], in[1], in[2] / side, side, in[3] / side, side},
                 joined[] = {in[0], 1, in[2] / side, 1, in[3] / side, 1},
                 out[] = {in[0], in[2] / side * (in[3] / side), 1};
  table *t = heed_place_reshape(&k->w, of(k, v->x[0]), in, 6, six);
  t = reduced(k, t, 1u << 1 | 1u << 3 | 1u << 5);
  return reshaped(k, t, joined, 3, out);
}

static table *concat(walk *k, const value *v) {
  uint32_t dims[HEED_ONNX_MAX_RANK], at[HEED_ONNX_MAX_RANK] = {0}, old[HEED_ONNX_MAX_RANK];
  for (uint32_t i = 0; i < v->rank; i++) dims[i] = 1;
  for (uint32_t n = 0; n < v->count; n++) {
    const table *part = of(k, v->x[n]);
    if (!part) return NULL;
    for (uint32_t i = 0; i < v->rank; i++)
      if (part->dims[i] > dims[i]) dims[i] = part->dims[i];
  }
  dims[v->axis] = (uint32_t)v->dims[v->axis];
  table *made = heed_place_table_new(&k->w, v->rank, dims);
  for (size_t i = 0; made && i < made->count; i++, heed_place_next(made, at)) {
    uint32_t n = 0;
    memcpy(old, at, sizeof old);
    while (old[v->axis] >= v->x[n]->dims[v->axis])
      old[v->axis] -= (uint32_t)v->x[n++]->dims[v->axis];
    const table *part = of(k, v->x[n]);
    made->at[i] = part->at[heed_place_index(part, v->rank, old)];
  }
  return made;
}

static table *gather(walk *k, const value *v) {
  const value *x = v->x[0];
  const heed_onnx_array *indices = v->indices;
  uint64_t flat[HEED_ONNX_MAX_RANK];
  if (v->function || !indices) return heed_place_reduce(&k->w, of(k, x), UINT32_MAX);
  memcpy(flat, x->dims, sizeof flat);
  flat[v->axis] = indices->count;
  table *t = heed_place_pick(&k->w, of(k, x), v->axis, 0, indices->count, indices);
  return reshaped(k, t, flat, v->rank, v->dims);
}

/* Rows of the left factor, or where it is made of no pixel the columns of the right one. */
static table *product(walk *k, const value *v) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  const value *a = v->x[0], *b = v->x[1];
  table *rows = heed_place_reduce(&k->w, of(k, a), 1u << (a->rank - 1));
  bool any = false;
  for (size_t i = 0; rows && i < rows->count; i++) any = any || rows->at[i].bottom > 0;
  const value *from = any ? a : b;
  if (!any) {
    heed_place_table_drop(&k->w, rows);
    rows = heed_place_reduce(&k->w, of(k, b), 1u << (b->rank - 2));
  }
  for (uint32_t i = 0; i < v->rank; i++)
    dims[i] = i + from->rank < v->rank ? 1 : from->dims[i + from->rank - v->rank];
  dims[v->rank - (any ? 1 : 2)] = 1;
  uint64_t old[HEED_ONNX_MAX_RANK];
  memcpy(old, from->dims, sizeof old);
  old[from->rank - (any ? 1 : 2)] = 1;
  return reshaped(k, rows, old, v->rank, dims);
}

static table *windows(walk *k, const value *v) {
  const heed_depthwise_desc *d = v->windows;
  const table *x = heed_place_reduce(&k->w, of(k, v->x[0]), 1u << 1);
  const uint32_t dims[] = {x ? x->dims[0] : 1, 1, (uint32_t)v->dims[2], (uint32_t)v->dims[3]},
                 height = (uint32_t)v->x[0]->dims[2], width = (uint32_t)v->x[0]->dims[3];
  table *made = x ? heed_place_table_new(&k->w, 4, dims) : NULL;
  uint32_t at[4] = {0};
  for (size_t i = 0; made && i < made->count; i++, heed_place_next(made, at)) {
    const uint32_t cell[] = {1, 1, d->kernel[0], d->kernel[1]};
    table *part = heed_place_table_new(&k->w, 4, cell);
    for (uint32_t n = 0; part && n < part->count; n++) {
      const int64_t y = (int64_t)at[2] * d->stride[0] - d->before[0] +
                        (int64_t)(n / d->kernel[1]) * d->dilation[0],
                    c = (int64_t)at[3] * d->stride[1] - d->before[1] +
                        (int64_t)(n % d->kernel[1]) * d->dilation[1];
      const uint32_t from[] = {at[0], 0, (uint32_t)y, (uint32_t)c};
      if (y >= 0 && y < height && c >= 0 && c < width)
        part->at[n] = x->at[heed_place_index(x, 4, from)];
    }
    table *one = reduced(k, part, 12);
    if (one) made->at[i] = one->at[0];
    heed_place_table_drop(&k->w, one);
  }
  heed_place_table_drop(&k->w, (table *)x);
  return made;
}

/* ---------------------------------------------------------------------------------- attentions */

static bool is_same(const heed_place *a, const heed_place *b) {
  return a->y == b->y && a->x == b->x && a->top == b->top && a->left == b->left &&
         a->bottom == b->bottom && a->right == b->right;
}

/* Whether nothing varies along an axis before the tokens but what varies along `but`. */
static bool are_alike(const table *t, uint32_t but) {
  uint32_t at[HEED_ONNX_MAX_RANK] = {0}, first[HEED_ONNX_MAX_RANK];
  for (size_t i = 0; i < t->count; i++, heed_place_next(t, at)) {
    memset(first, 0, sizeof first);
    first[t->rank - 2] = at[t->rank - 2];
    if (but < t->rank) first[but] = at[but];
    if (!is_same(&t->at[i], &t->at[heed_place_index(t, t->rank, first)])) return false;
  }
  return true;
}

/* The axis of items: heads of one have the same places. */
static uint32_t items_axis(const table *t) {
  if (t->rank == 5) return t->dims[1] > 1 && are_alike(t, 1) ? 1 : 2;
  return t->rank == 4 ? 0 : HEED_ONNX_MAX_RANK;
}

/* Places of `count` tokens, the last axis but one, for each of as many items as differ; NULL:
 * unknown. Takes `t`. */
static const heed_place *tokens_of(walk *k, table *t, uint32_t count, heed_token_places *found,
                                   uint32_t *items) {
  heed_place *to = NULL;
  *items = 1;
  if (t && t->rank > 1) {
    uint32_t at[HEED_ONNX_MAX_RANK] = {0};
    const uint32_t axis = items_axis(t);
    found->apart = found->apart || !are_alike(t, axis);
    if (axis < t->rank && !are_alike(t, HEED_ONNX_MAX_RANK)) *items = t->dims[axis];
    if (*items > 1) found->axis = axis;
    to = heed_lower_take(k->l, (uint64_t)*items * count, sizeof *to);
    for (size_t i = 0; to && i < (size_t)*items * count; i++) {
      if (*items > 1) at[axis] = (uint32_t)(i / count);
      at[t->rank - 2] = t->dims[t->rank - 2] == 1 ? 0 : (uint32_t)(i % count);
      to[i] = t->at[heed_place_index(t, t->rank, at)];
    }
  }
  heed_place_table_drop(&k->w, t);
  return to;
}

static void note(walk *k, uint32_t index, table *query, table *key, uint32_t queries,
                 uint32_t keys) {
  heed_token_places *found = &k->found[index];
  uint32_t items;
  found->query = tokens_of(k, query, queries, found, &found->items);
  const uint32_t axis = found->axis;
  found->key = tokens_of(k, key, keys, found, &items);
  if (found->key && (items != found->items || axis != found->axis)) found->apart = true;
  found->count = found->query ? queries : 0;
  found->key_count = found->key ? keys : 0;
}

/* Whether the elements along the last axis are made of pixels of several places. */
static bool varies_along(const table *t) {
  const uint32_t last = t && t->rank ? t->dims[t->rank - 1] : 1;
  for (size_t i = 0; last > 1 && i < t->count; i++)
    if (!is_same(&t->at[i], &t->at[i / last * last])) return true;
  return false;
}

static table *attend(walk *k, const value *v) {
  const heed_lower_attention *a = v->attention;
  const uint64_t *q = a->query->dims, one[] = {q[0], 1, q[2], 1}, out[] = {q[0], q[2], 1};
  if (a->found != UINT32_MAX) {
    k->found[a->found].channels = varies_along(of(k, a->query));
    note(k, a->found, heed_place_reduce(&k->w, of(k, a->query), 1u << 3),
         heed_place_reduce(&k->w, of(k, a->key), 1u << 3), (uint32_t)q[2],
         (uint32_t)a->key->dims[2]);
  }
  table *rows = heed_place_reduce(&k->w, of(k, a->query), 1u << 1 | 1u << 3);
  return reshaped(k, rows, one, 3, out);
}

/* The places of what a softmax by itself is over, where those are not the queries: as rows. */
static table *columns(walk *k, const value *v) {
  const table *keys = k->keys[v->x[0]->at];
  const uint32_t last = v->rank - 1;
  uint32_t order[HEED_ONNX_MAX_RANK];
  if (!keys || keys->rank != v->rank || v->dims[last] == v->dims[last - 1] ||
      (keys->dims[last] != 1 && keys->dims[last] != v->dims[last]))
    return NULL;
  for (uint32_t i = 0; i < v->rank; i++) order[i] = i < last - 1 ? i : last - 1 + last - i;
  return heed_place_permute(&k->w, keys, order);
}

static table *softmax(walk *k, const value *v) {
  if (v->owner) return none(k, v);
  if (v->axis != UINT32_MAX && v->rank > 1) {
    note(k, v->axis, heed_place_reduce(&k->w, of(k, v->x[0]), 1u << (v->rank - 1)), columns(k, v),
         (uint32_t)v->dims[v->rank - 2], (uint32_t)v->dims[v->rank - 1]);
    k->found[v->axis].channels = k->channels[v->x[0]->at];
  }
  return share(of(k, v->x[0]));
}

/* -------------------------------------------------------------------------------------- values */

static table *aligned(walk *k, const value *x, uint32_t rank) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++)
    dims[i] = i + x->rank < rank ? 1 : x->dims[i + x->rank - rank];
  return heed_place_reshape(&k->w, of(k, x), x->dims, rank, dims);
}

static table *make(walk *k, const value *v) {
  switch (v->kind) {
    case HEED_LOWER_INPUT: return v == k->image ? pixels(k, v) : none(k, v);
    case HEED_LOWER_CONSTANT: return none(k, v);
    case HEED_LOWER_LINEAR: return heed_place_reduce(&k->w, of(k, v->x[0]), 1u << (v->rank - 1));
    case HEED_LOWER_PATCHES: return patches(k, v);
    case HEED_LOWER_ATTENTION: return attend(k, v);
    case HEED_LOWER_SOFTMAX: return softmax(k, v);
    case HEED_LOWER_RESHAPE:
      return heed_place_reshape(&k->w, of(k, v->x[0]), v->x[0]->dims, v->rank, v->dims);
    case HEED_LOWER_PERMUTE: return heed_place_permute(&k->w, of(k, v->x[0]), v->order);
    case HEED_LOWER_SLICE:
      return heed_place_pick(&k->w, of(k, v->x[0]), v->axis, v->first, v->dims[v->axis], NULL);
    case HEED_LOWER_CONCAT: return concat(k, v);
    case HEED_LOWER_EXPAND: return aligned(k, v->x[0], v->rank);
    case HEED_LOWER_MATMUL: return product(k, v);
    case HEED_LOWER_BINARY: return heed_place_combine(&k->w, of(k, v->x[0]), of(k, v->x[1]));
    case HEED_LOWER_SELECT: return heed_place_combine(&k->w, of(k, v->x[1]), of(k, v->x[2]));
    case HEED_LOWER_REDUCE: return heed_place_reduce(&k->w, of(k, v->x[0]), v->axis);
    case HEED_LOWER_GATHER: return gather(k, v);
    case HEED_LOWER_WINDOWS: return windows(k, v);
    case HEED_LOWER_HOST:
    case HEED_LOWER_HOST_RESULT: return NULL; /* nobody knows */
    default: return share(of(k, v->x[0]));    /* element by element */
  }
}

static void level(walk *k, const value *v) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < v->count; i++) {
    const value *x = v->owner ? v->owner : v->x[i];
    if (k->levels[x->at] > most) most = k->levels[x->at];
  }
  const bool softmax = v->kind == HEED_LOWER_SOFTMAX && !v->owner && v->axis != UINT32_MAX;
  k->levels[v->at] = most + (v->kind == HEED_LOWER_ATTENTION || softmax);
  const uint32_t found = softmax ? v->axis : v->attention ? v->attention->found : UINT32_MAX;
  if (found != UINT32_MAX) k->found[found].level = k->levels[v->at];
}

/* Scores whose factors have the tokens along the axis that is summed. */
static void note_channels(walk *k, const value *v) {
  bool found = v->kind == HEED_LOWER_MATMUL && varies_along(of(k, v->x[0]));
  const bool passes = v->kind == HEED_LOWER_BINARY || v->kind == HEED_LOWER_SCALE ||
                      v->kind == HEED_LOWER_RESHAPE || v->kind == HEED_LOWER_ACTIVATION;
  for (uint32_t i = 0; passes && i < v->count; i++) found = found || k->channels[v->x[i]->at];
  k->channels[v->at] = found;
}

/* Whether a gather leaves each entry where it is, or takes one from behind all of them. */
static bool only_updates(const value *v) {
  const heed_onnx_array *indices = v->indices;
  bool is = indices && !v->function && indices->count == v->dims[v->axis];
  for (uint64_t i = 0; is && i < indices->count; i++)
    is = indices->data[i].i == (int64_t)i || indices->data[i].i >= (int64_t)indices->count;
  return is;
}

static void note_keys(walk *k, const value *v) {
  const bool passes = v->kind == HEED_LOWER_BINARY || v->kind == HEED_LOWER_SCALE ||
                      v->kind == HEED_LOWER_RESHAPE || v->kind == HEED_LOWER_ACTIVATION ||
                      v->kind == HEED_LOWER_CONCAT || v->kind == HEED_LOWER_SELECT ||
                      (v->kind == HEED_LOWER_GATHER && only_updates(v));
  if (v->kind == HEED_LOWER_MATMUL && v->x[1]->rank == v->rank)
    k->keys[v->at] = heed_place_reduce(&k->w, of(k, v->x[1]), 1u << (v->rank - 2));
  for (uint32_t i = 0; passes && i < v->count && !k->keys[v->at]; i++)
    k->keys[v->at] = share(k->keys[v->x[i]->at]);
}

static void drop_read(walk *k, const value *v) {
  for (uint32_t i = 0; i < v->count && !v->owner; i++) {
    const size_t at = v->x[i]->at;
    if (--k->readers[at] > 0) continue;
    heed_place_table_drop(&k->w, k->tables[at]);
    k->tables[at] = NULL;
  }
}

heed_status heed_places_find(heed_lower *l, const value *image, heed_token_places **found) {
  const size_t count = l->order_count;
  walk k = {.w = {l->file->context, MOST_ENTRIES, false}, .l = l, .image = image};
  k.tables = heed_lower_take(l, count + 1, sizeof *k.tables);
  k.readers = heed_lower_take(l, count + 1, sizeof *k.readers);
  k.levels = heed_lower_take(l, count + 1, sizeof *k.levels);
  k.channels = heed_lower_take(l, count + 1, sizeof *k.channels);
  k.keys = heed_lower_take(l, count + 1, sizeof *k.keys);
  k.found = *found = heed_lower_take(l, (uint64_t)l->file->attentions->count + 1, sizeof **found);
  if (l->status != HEED_OK) return l->status;
  for (size_t i = 0; i < count; i++)
    for (uint32_t n = 0; n < l->order[i]->count && !l->order[i]->owner; n++)
      k.readers[l->order[i]->x[n]->at]++;
  for (size_t i = 0; i < count; i++) level(&k, l->order[i]);
  for (size_t i = 0; i < count && k.w.left && !k.w.memory; i++) {
    k.tables[i] = make(&k, l->order[i]);
    note_channels(&k, l->order[i]);
    note_keys(&k, l->order[i]);
    drop_read(&k, l->order[i]);
  }
  for (size_t i = 0; i < count; i++) {
    heed_place_table_drop(&k.w, k.tables[i]);
    heed_place_table_drop(&k.w, k.keys[i]);
  }
  for (uint32_t i = 0; !k.w.left && i < l->file->attentions->count; i++)
    (*found)[i] = (heed_token_places){.level = (*found)[i].level};
  return k.w.memory ? heed_fail_memory(l->error, l->file->name, sizeof(table)) : l->status;
}
