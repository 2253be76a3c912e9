/* Products of all pairs of rows of two matrices, or of one with itself: what similarities and
 * covariances are made of. */
#ifndef HEED_EXPLAIN_PRODUCTS_H
#define HEED_EXPLAIN_PRODUCTS_H

#include "base/thread_pool.h"

/* Rows and columns of a tile of products. */
enum { HEED_TILE_ROWS = 64, HEED_TILE_COLUMNS = 32 };

/* Patches from which on threads take less long to start than what they share. */
enum { HEED_SHARED_PATCHES = 512 };

/* count vectors of a size; values[i * next_vector + k * next_value] is entry k of vector i. */
typedef struct heed_vectors {
  const float *values;
  size_t count, size, next_vector, next_value;
} heed_vectors;

/* Takes the products of vectors row ... and column ..., a tile of which `rows` and `columns` are
 * there. Called from any thread, once a tile. */
typedef void (*heed_take_products)(size_t row, size_t column, size_t rows, size_t columns,
                                   const double tile[HEED_TILE_ROWS * HEED_TILE_COLUMNS],
                                   void *user);

/* Passes all tiles of a b^T to take; with b NULL of a a^T, without those that lie above its
 * diagonal. Entries are at most 2^40 in size. Factors and sums of 64 products are float, the rest
 * double; the order is that of the entries. Statuses: OUT_OF_MEMORY. */
heed_status heed_products(const heed_context *context, heed_thread_pool *pool,
                          const heed_vectors *a, const heed_vectors *b, heed_take_products take,
                          void *user, heed_error *error);

#endif
