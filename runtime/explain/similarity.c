/* How alike patches are: cosines of their states, and which of two pictures belong together. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/products.h"
#include "heed/explain.h"

/* Where the cosines go. */
typedef struct cosine_table {
  float *cosines; /* [count, others] */
  size_t others;
  bool half; /* of one picture: each tile stands for its mirror, too */
} cosine_table;

/* Rounding may lead out of what a cosine can be; a NaN stays. */
static float cosine_of(double product) {
  return product > 1.0 ? 1.0f : product < -1.0 ? -1.0f : (float)product;
}

static void put_tile(size_t row, size_t column, size_t rows, size_t columns,
                     const double tile[HEED_TILE_ROWS * HEED_TILE_COLUMNS], void *user) {
  const cosine_table *to = user;
  float cosines[HEED_TILE_ROWS * HEED_TILE_COLUMNS];
  for (size_t i = 0; i < rows * HEED_TILE_COLUMNS; i++) cosines[i] = cosine_of(tile[i]);
  for (size_t r = 0; r < rows; r++) {
    const size_t own = row + r < column ? 0 : row + r - column + 1; /* up to the diagonal */
    memcpy(to->cosines + (row + r) * to->others + column, cosines + r * HEED_TILE_COLUMNS,
           (to->half && own < columns ? own : columns) * sizeof *cosines);
  }
  for (size_t c = 0; to->half && c < columns; c++)
    for (size_t r = column + c > row ? column + c - row : 0; r < rows; r++)
      to->cosines[(column + c) * to->others + row + r] = cosines[r * HEED_TILE_COLUMNS + c];
}

/* Each state over its length: 0 / 0 is NaN, and so are the cosines. */
static void make_unit(const float *states, size_t count, size_t channels, float *unit) {
  for (size_t i = 0; i < count; i++) {
    double square = 0.0;
    for (size_t c = 0; c < channels; c++) {
      const double value = (double)states[i * channels + c];
      square += value * value;
    }
    const double length = sqrt(square);
    for (size_t c = 0; c < channels; c++)
      unit[i * channels + c] = (float)((double)states[i * channels + c] / length);
  }
}

heed_status heed_patches_similarity(heed_context *context, const float *states, uint32_t count,
                                    const float *others, uint32_t other_count, uint32_t channels,
                                    float *similarity, heed_error *error) {
  const size_t all = (size_t)count + (others ? other_count : 0);
  if (count == 0 || channels == 0 || (others && other_count == 0))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "similarity: nothing to compare (found %u and %u states of %u channels, "
                     "expected at least 1)",
                     count, other_count, channels);
  heed_thread_pool *pool;
  HEED_TRY(heed_thread_pool_create(context, count < HEED_SHARED_PATCHES ? 1 : 0, &pool, error));
  size_t floats;
  float *unit =
      heed_size_mul(all, channels, &floats) ? heed_alloc_raw(context, floats, sizeof *unit) : NULL;
  heed_status status =
      unit ? HEED_OK : heed_fail_memory(error, "similarity", all * channels * sizeof *unit);
  if (status == HEED_OK) {
    float *other_unit = unit + (size_t)count * channels;
    make_unit(states, count, channels, unit);
    if (others) make_unit(others, other_count, channels, other_unit);
    const heed_vectors a = {unit, count, channels, channels, 1},
                       b = {other_unit, other_count, channels, channels, 1};
    cosine_table table = {similarity, others ? other_count : count, !others};
    status = heed_products(context, pool, &a, others ? &b : NULL, put_tile, &table, error);
  }
  heed_free(context, unit);
  heed_thread_pool_destroy(pool);
  return status;
}

/* The index of the largest, the first of equals; -1 where all are NaN. */
static int32_t nearest(const float *similarity, size_t count, size_t step) {
  int32_t best = -1;
  for (size_t i = 0; i < count; i++) {
    const float value = similarity[i * step];
    if (!isnan(value) && (best < 0 || value > similarity[(size_t)best * step])) best = (int32_t)i;
  }
  return best;
}

void heed_patches_match(const float *similarity, uint32_t count, uint32_t other_count,
                        int32_t *match) {
  for (uint32_t i = 0; i < count; i++) {
    const int32_t other = nearest(similarity + (size_t)i * other_count, other_count, 1);
    const bool mutual = other >= 0 && nearest(similarity + other, count, other_count) == (int32_t)i;
    match[i] = mutual ? other : -1;
  }
}
