/* Tables of places: how they are moved and joined. See place_table.h. */
#include "onnx/vision/place_table.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

typedef heed_place_table table;
typedef heed_place_work work;

table *heed_place_table_new(work *w, uint32_t rank, const uint32_t *dims) {
  size_t count = 1;
  for (uint32_t i = 0; i < rank; i++) {
    if (dims[i] && count > w->left / dims[i]) w->left = 0;
    if (!w->left) return NULL;
    count *= dims[i];
  }
  if (count > w->left) count = w->left = 0;
  if (!w->left || w->memory) return NULL;
  w->left -= count;
  table *made = heed_alloc(w->context, sizeof *made + count * sizeof *made->at, 1);
  w->memory = !made;
  if (!made) return NULL;
  made->users = 1;
  made->rank = rank;
  made->count = count;
  if (rank) memcpy(made->dims, dims, rank * sizeof *dims);
  return made;
}

void heed_place_table_drop(const work *w, table *t) {
  if (t && --t->users == 0) heed_free(w->context, t);
}

size_t heed_place_index(const table *t, uint32_t rank, const uint32_t *at) {
  size_t index = 0;
  for (uint32_t i = 0; i < t->rank; i++)
    index = index * t->dims[i] + (t->dims[i] == 1 ? 0 : at[rank - t->rank + i]);
  return index;
}

void heed_place_next(const table *t, uint32_t *at) {
  for (uint32_t i = t->rank; i-- > 0;) {
    if (++at[i] < t->dims[i]) return;
    at[i] = 0;
  }
}

static bool is_none(const heed_place *a) { return !(a->bottom > 0); }

static bool holds(const heed_place *outer, const heed_place *inner) {
  return outer->top <= inner->top && outer->left <= inner->left && outer->bottom >= inner->bottom &&
         outer->right >= inner->right;
}

/* Adds b, the n-th after the first, to what a is made of. */
static void join(heed_place *a, const heed_place *b, uint32_t *n) {
  if (is_none(b)) return;
  if (is_none(a)) {
    *a = *b;
    *n = 1;
    return;
  }
  const float share = 1.0f / (float)++*n;
  a->y += (b->y - a->y) * share;
  a->x += (b->x - a->x) * share;
  a->top = fminf(a->top, b->top);
  a->left = fminf(a->left, b->left);
  a->bottom = fmaxf(a->bottom, b->bottom);
  a->right = fmaxf(a->right, b->right);
}

heed_place heed_place_both(heed_place a, heed_place b) {
  uint32_t one = 1;
  if (is_none(&b)) return a;
  if (is_none(&a)) return b;
  if (holds(&b, &a)) return a;
  if (holds(&a, &b)) return b;
  join(&a, &b, &one);
  return a;
}

table *heed_place_reduce(work *w, const table *t, uint32_t axes) {
  uint32_t dims[HEED_ONNX_MAX_RANK], at[HEED_ONNX_MAX_RANK] = {0};
  if (!t) return NULL;
  for (uint32_t i = 0; i < t->rank; i++) dims[i] = axes >> i & 1 ? 1 : t->dims[i];
  table *made = heed_place_table_new(w, t->rank, dims);
  uint32_t *counts = made ? heed_alloc(w->context, made->count, sizeof *counts) : NULL;
  if (!counts) {
    w->memory = w->memory || made;
    heed_place_table_drop(w, made);
    return NULL;
  }
  for (size_t i = 0; i < t->count; i++, heed_place_next(t, at)) {
    const size_t to = heed_place_index(made, t->rank, at);
    join(&made->at[to], &t->at[i], &counts[to]);
  }
  heed_free(w->context, counts);
  return made;
}

table *heed_place_combine(work *w, const table *a, const table *b) {
  uint32_t dims[HEED_ONNX_MAX_RANK], at[HEED_ONNX_MAX_RANK] = {0};
  if (!a || !b) return NULL;
  const uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
  for (uint32_t i = 0; i < rank; i++) {
    const uint32_t x = i + a->rank < rank ? 1 : a->dims[i + a->rank - rank],
                   y = i + b->rank < rank ? 1 : b->dims[i + b->rank - rank];
    dims[i] = x > y ? x : y;
  }
  table *made = heed_place_table_new(w, rank, dims);
  for (size_t i = 0; made && i < made->count; i++, heed_place_next(made, at))
    made->at[i] =
        heed_place_both(a->at[heed_place_index(a, rank, at)], b->at[heed_place_index(b, rank, at)]);
  return made;
}

/* Axes of two shapes that have the same elements: from[i] of one and to[i] of the other on. */
typedef struct groups {
  uint32_t count, from[HEED_ONNX_MAX_RANK + 1], to[HEED_ONNX_MAX_RANK + 1];
} groups;

static void find_groups(uint32_t from_rank, const uint64_t *from, uint32_t rank, const uint64_t *to,
                        groups *g) {
  uint32_t i = 0, k = 0;
  g->count = 0;
  while ((i < from_rank || k < rank) && g->count < HEED_ONNX_MAX_RANK) {
    uint64_t a = 1, b = 1;
    g->from[g->count] = i;
    g->to[g->count++] = k;
    if (i < from_rank) a = from[i++];
    if (k < rank) b = to[k++];
    while (a != b) {
      if (a < b && i < from_rank)
        a *= from[i++];
      else if (k < rank)
        b *= to[k++];
      else
        break;
    }
  }
  g->from[g->count] = from_rank;
  g->to[g->count] = rank;
}

/* Coordinates `at` of the new shape as those of the old one. */
static void move(const groups *g, const uint64_t *from, const uint64_t *to, const uint32_t *at,
                 uint32_t *old) {
  for (uint32_t n = 0; n < g->count; n++) {
    uint64_t index = 0;
    for (uint32_t k = g->to[n]; k < g->to[n + 1]; k++) index = index * to[k] + at[k];
    for (uint32_t i = g->from[n + 1]; i-- > g->from[n]; index /= from[i])
      old[i] = (uint32_t)(index % from[i]);
  }
}

table *heed_place_reshape(work *w, const table *t, const uint64_t *from, uint32_t rank,
                          const uint64_t *to) {
  uint32_t dims[HEED_ONNX_MAX_RANK], at[HEED_ONNX_MAX_RANK] = {0}, old[HEED_ONNX_MAX_RANK] = {0};
  groups g;
  if (!t) return NULL;
  find_groups(t->rank, from, rank, to, &g);
  for (uint32_t n = 0; n < g.count; n++) {
    bool varies = false;
    for (uint32_t i = g.from[n]; i < g.from[n + 1]; i++) varies = varies || t->dims[i] > 1;
    for (uint32_t k = g.to[n]; k < g.to[n + 1]; k++) dims[k] = varies ? (uint32_t)to[k] : 1;
  }
  table *made = heed_place_table_new(w, rank, dims);
  for (size_t i = 0; made && i < made->count; i++, heed_place_next(made, at)) {
    move(&g, from, to, at, old);
    made->at[i] = t->at[heed_place_index(t, t->rank, old)];
  }
  return made;
}

table *heed_place_permute(work *w, const table *t, const uint32_t *order) {
  uint32_t dims[HEED_ONNX_MAX_RANK], at[HEED_ONNX_MAX_RANK] = {0}, old[HEED_ONNX_MAX_RANK];
  if (!t) return NULL;
  for (uint32_t i = 0; i < t->rank; i++) dims[i] = t->dims[order[i]];
  table *made = heed_place_table_new(w, t->rank, dims);
  for (size_t i = 0; made && i < made->count; i++, heed_place_next(made, at)) {
    for (uint32_t k = 0; k < t->rank; k++) old[order[k]] = at[k];
    made->at[i] = t->at[heed_place_index(t, t->rank, old)];
  }
  return made;
}

table *heed_place_pick(work *w, const table *t, uint32_t axis, uint64_t first, uint64_t count,
                       const heed_onnx_array *indices) {
  uint32_t dims[HEED_ONNX_MAX_RANK], at[HEED_ONNX_MAX_RANK] = {0}, old[HEED_ONNX_MAX_RANK];
  if (!t) return NULL;
  const bool varies = t->dims[axis] > 1;
  memcpy(dims, t->dims, sizeof dims);
  if (varies) dims[axis] = (uint32_t)count;
  table *made = heed_place_table_new(w, t->rank, dims);
  for (size_t i = 0; made && i < made->count; i++, heed_place_next(made, at)) {
    memcpy(old, at, sizeof old);
    if (varies) {
      const int64_t index = indices ? indices->data[at[axis]].i : (int64_t)(first + at[axis]);
      old[axis] = (uint32_t)(index < 0 ? index + t->dims[axis] : index);
    }
    made->at[i] = t->at[heed_place_index(t, t->rank, old)];
  }
  return made;
}
