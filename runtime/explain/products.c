/* See products.h. Both factors are packed as heed_multiply_strip wants them: tiles of a few rows,
 * strips of columns. A task is a tile of products, so that their bits do not depend on threads. */
#include "explain/products.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/multiply_strip.h"

_Static_assert((int)HEED_TILE_COLUMNS == (int)STRIP && HEED_TILE_ROWS % ROWS == 0,
               "a tile is a strip of whole rows");

enum { SUMMED = 64 }; /* products of a sum in float */

typedef struct product_job {
  const heed_vectors *a, *b;
  size_t strips;      /* of b */
  bool half;          /* only what is not above the diagonal */
  const float *rows;  /* [a->count / ROWS, size, ROWS], rounded up to tiles */
  const float *strip; /* [strips, size, STRIP] */
  heed_take_products take;
  void *user;
} product_job;

enum { TURNED = 16 }; /* entries of a vector that are packed at a time: a line of a cache */

/* `count` vectors from `first` on to [size, group], times factor; past the last one zeros. */
static void pack_group(const heed_vectors *from, size_t first, size_t count, size_t group,
                       float factor, float *to) {
  const size_t size = from->size, next = from->next_value;
  if (count < group) memset(to, 0, group * size * sizeof *to);
  for (size_t begin = 0; begin < size; begin += TURNED) {
    const size_t end = size - begin < TURNED ? size : begin + TURNED;
    if (from->next_vector == 1) {
      for (size_t k = begin; k < end; k++)
        for (size_t i = 0; i < count; i++)
          to[k * group + i] = from->values[first + i + k * next] * factor;
    } else {
      for (size_t i = 0; i < count; i++)
        for (size_t k = begin; k < end; k++)
          to[k * group + i] = from->values[(first + i) * from->next_vector + k * next] * factor;
    }
  }
}

/* Vectors in groups: [count / group, size, group], times scale; what is past the last one is 0. */
static float *pack(const heed_context *context, const heed_vectors *from, size_t multiple,
                   size_t group, double factor) {
  const size_t groups = (from->count + multiple - 1) / multiple * (multiple / group);
  size_t floats;
  if (!heed_size_mul(groups * group, from->size, &floats)) return NULL;
  float *packed = heed_alloc_raw(context, floats, sizeof *packed);
  if (!packed) return NULL;
  for (size_t g = 0; g < groups; g++) {
    const size_t first = g * group, left = first < from->count ? from->count - first : 0;
    pack_group(from, first, left < group ? left : group, group, (float)factor,
               packed + first * from->size);
  }
  return packed;
}

static void run_tile(uint64_t task, uint32_t worker, void *user) {
  (void)worker;
  const product_job *job = user;
  const size_t row = (size_t)(task / job->strips) * HEED_TILE_ROWS,
               column = (size_t)(task % job->strips) * HEED_TILE_COLUMNS, size = job->a->size,
               rows = job->a->count - row < HEED_TILE_ROWS ? job->a->count - row : HEED_TILE_ROWS,
               columns = job->b->count - column < HEED_TILE_COLUMNS ? job->b->count - column
                                                                    : HEED_TILE_COLUMNS;
  if (job->half && column >= row + rows) return;
  double tile[HEED_TILE_ROWS * HEED_TILE_COLUMNS];
  memset(tile, 0, sizeof tile);
  for (size_t k = 0; k < size; k += SUMMED)
    for (size_t r = 0; r < rows; r += ROWS)
      heed_multiply_strip(job->rows + ((row + r) * size + k * ROWS),
                          size - k < SUMMED ? size - k : SUMMED,
                          job->strip + (column * size + k * STRIP), tile + r * STRIP);
  job->take(row, column, rows, columns, tile, job->user);
}

heed_status heed_products(const heed_context *context, heed_thread_pool *pool,
                          const heed_vectors *a, const heed_vectors *b, heed_take_products take,
                          void *user, heed_error *error) {
  product_job job = {.a = a, .b = b ? b : a, .half = !b, .take = take, .user = user};
  job.strips = (job.b->count + STRIP - 1) / STRIP;
  float *rows = pack(context, a, HEED_TILE_ROWS, ROWS, scale),
        *strip = pack(context, job.b, STRIP, STRIP, 1.0);
  const bool made = rows && strip;
  job.rows = rows;
  job.strip = strip;
  if (made)
    heed_thread_pool_run(pool,
                         (a->count + HEED_TILE_ROWS - 1) / HEED_TILE_ROWS * (uint64_t)job.strips,
                         run_tile, &job);
  heed_free(context, rows);
  heed_free(context, strip);
  return made ? HEED_OK
              : heed_fail_memory(error, "products",
                                 (a->count + job.b->count) * a->size * sizeof(float));
}
