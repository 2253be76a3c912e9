/* The largest eigenvalues of a symmetric matrix, and their vectors. */
#ifndef HEED_EXPLAIN_EIGEN_H
#define HEED_EXPLAIN_EIGEN_H

#include "base/thread_pool.h"

enum { HEED_EIGEN_STRIP = 32, HEED_EIGEN_MOST = 3 };

/* A symmetric matrix [n, n] in strips of columns: entry (i, j) is
 * strips[(j / STRIP * n + i) * STRIP + j % STRIP], 0 past column n - 1. */
typedef struct heed_symmetric {
  double *strips;
  size_t n;
} heed_symmetric;

/* values [count], largest first, vectors [count, n] of length 1, which are orthogonal; count is at
 * most HEED_EIGEN_MOST and n. A vector's sign is left open. Every entry must be finite. The same
 * bits for any number of threads. Statuses: OUT_OF_MEMORY. */
heed_status heed_eigen_largest(const heed_context *context, heed_thread_pool *pool,
                               const heed_symmetric *matrix, size_t count, double *values,
                               double *vectors, heed_error *error);

#endif
