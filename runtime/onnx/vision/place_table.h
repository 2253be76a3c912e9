/* Places of the elements of a value, for places.c. */
#ifndef HEED_ONNX_VISION_PLACE_TABLE_H
#define HEED_ONNX_VISION_PLACE_TABLE_H

#include "onnx/lower/lower.h"

/* The middle of the pixels that something is made of, and the box around them; bottom 0: it is made
 * of none. */
typedef struct heed_place {
  float y, x, top, left, bottom, right;
} heed_place;

/* Of each axis one entry where nothing varies along it, else as many as the value has. */
typedef struct heed_place_table {
  uint32_t users, rank;
  uint32_t dims[HEED_ONNX_MAX_RANK];
  size_t count;
  heed_place at[];
} heed_place_table;

/* What tables are made in; `left`: entries that may still be made, 0: too much was asked for. */
typedef struct heed_place_work {
  const heed_context *context;
  uint64_t left;
  bool memory; /* there is none */
} heed_place_work;

/* Constructors give NULL where w says why, and take NULL for what could not be made. */
heed_place_table *heed_place_table_new(heed_place_work *w, uint32_t rank, const uint32_t *dims);
void heed_place_table_drop(const heed_place_work *w, heed_place_table *t);
/* The offset of an entry; coordinates of `rank` axes, of which t may have fewer, from the right. */
size_t heed_place_index(const heed_place_table *t, uint32_t rank, const uint32_t *at);
/* The coordinates of the next element of t. */
void heed_place_next(const heed_place_table *t, uint32_t *at);
/* Both, where one is made of them element by element: the smaller, as the other is all around it.
 */
heed_place heed_place_both(heed_place a, heed_place b);
/* Entries along axes, which are bits, as one. */
heed_place_table *heed_place_reduce(heed_place_work *w, const heed_place_table *t, uint32_t axes);
/* Element by element, broadcast. */
heed_place_table *heed_place_combine(heed_place_work *w, const heed_place_table *a,
                                     const heed_place_table *b);
/* Of a value of dims `from` as one of rank `rank` and dims `to`. */
heed_place_table *heed_place_reshape(heed_place_work *w, const heed_place_table *t,
                                     const uint64_t *from, uint32_t rank, const uint64_t *to);
heed_place_table *heed_place_permute(heed_place_work *w, const heed_place_table *t,
                                     const uint32_t *order);
/* `count` entries of an axis from `first` on, or those of `indices`. */
heed_place_table *heed_place_pick(heed_place_work *w, const heed_place_table *t, uint32_t axis,
                                  uint64_t first, uint64_t count, const heed_onnx_array *indices);

#endif
