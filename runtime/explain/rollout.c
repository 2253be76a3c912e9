/* Rollout: the product of the layers' matrices of attention (Abnar & Zuidema 2020, section 3).
 *
 * The row of one query is summed in double. The product of all rows has factors in float, as
 * weights are, and sums of a few keys in float, which add up in double: its error is that of
 * rounding to float. Sums are taken in index order without fused operations, so that the numbers
 * are the same everywhere and for any number of threads.
 *
 * A column of the product needs no other column, so a panel of columns goes through all layers,
 * then the next. A panel lies in strips of a few columns. Threads share the rows of a layer by
 * blocks; a piece of a strip is read once for a block and stays in the cache. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "explain/attention_map.h"
#include "explain/multiply_strip.h"

/* Weights of one row of all heads, as one: fused[N]. weights: the row of the first head; `stride`
 * from head to head. By parts that stay in the cache from head to head. */
static void fuse_row(const heed_rollout_desc *desc, const float *weights, size_t stride,
                     double *fused) {
  enum { PART = 512 };
  const size_t n = desc->tokens;
  for (size_t first = 0; first < n; first += PART) {
    const size_t end = n - first < PART ? n : first + PART;
    for (size_t j = first; j < end; j++) fused[j] = (double)weights[j];
    for (uint32_t h = 1; h < desc->heads; h++) {
      const float *head = weights + h * stride;
      if (desc->fusion == HEED_FUSION_MEAN) {
        for (size_t j = first; j < end; j++) fused[j] += (double)head[j];
        continue;
      }
      for (size_t j = first; j < end; j++) {
        const double weight = (double)head[j];
        if (isnan(weight) ||
            (desc->fusion == HEED_FUSION_MIN ? weight < fused[j] : weight > fused[j]))
          fused[j] = weight; /* a NaN stays: nothing is less */
      }
    }
    if (desc->fusion == HEED_FUSION_MEAN)
      for (size_t j = first; j < end; j++) fused[j] /= desc->heads;
  }
}

/* Smaller weights first, a NaN last, then smaller indices. */
static bool weighs_less(const void *user, uint32_t a, uint32_t b) {
  const double *row = user, x = isnan(row[a]) ? (double)INFINITY : row[a],
               y = isnan(row[b]) ? (double)INFINITY : row[b];
  return x < y || (x == y && a < b);
}

static void discard_smallest(const heed_rollout_desc *desc, double *row, uint32_t *order) {
  const uint32_t count = (uint32_t)((double)desc->discard * desc->tokens);
  if (count == 0) return;
  for (uint32_t i = 0; i < desc->tokens; i++) order[i] = i;
  heed_sort(order, desc->tokens, weighs_less, row);
  for (uint32_t i = 0; i < count; i++) row[order[i]] = 0.0;
}

/* Row i of the layer's (1 - r) A + r I, divided by its sum over keys: min and max over heads, rows
 * with weights discarded, and rows with nothing allowed, do not add up to 1 of themselves.
 * weights, stride: as above. row [N]; order [N] is scratch. */
static void rollout_row(const heed_rollout_desc *desc, const float *weights, size_t stride,
                        uint32_t i, double residual, double *row, uint32_t *order) {
  const size_t n = desc->tokens;
  double sum = 0.0;
  fuse_row(desc, weights, stride, row);
  discard_smallest(desc, row, order);
  for (size_t j = 0; j < n; j++) row[j] *= 1.0 - residual;
  row[i] += residual;
  for (size_t j = 0; j < n; j++) sum += row[j];
  /* sum >= residual > 0 for weights that are not negative */
  for (size_t j = 0; j < n; j++) row[j] /= sum;
}

static double residual_of(const heed_rollout_desc *desc) {
  return desc->residual == 0.0f ? 0.5 : (double)desc->residual;
}

heed_status heed_map_rollout_check(const heed_rollout_desc *desc, heed_error *error) {
  if (desc->layers == 0 || desc->heads == 0 || desc->tokens == 0)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: empty attention (found %u layers, %u heads, %u tokens, expected at "
                     "least 1 of each)",
                     desc->layers, desc->heads, desc->tokens);
  if (desc->first_layer >= desc->layers || desc->layer_count > desc->layers - desc->first_layer)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: layers out of range (found %u from %u, expected within %u)",
                     desc->layer_count, desc->first_layer, desc->layers);
  if (!(desc->residual >= 0.0f && desc->residual <= 1.0f))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: invalid residual (found %g, expected 0 to 1)",
                     (double)desc->residual);
  if (!(desc->discard >= 0.0f && desc->discard < 1.0f))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: invalid discard (found %g, expected 0 to less than 1)",
                     (double)desc->discard);
  if (desc->fusion != HEED_FUSION_MEAN && desc->fusion != HEED_FUSION_MIN &&
      desc->fusion != HEED_FUSION_MAX)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: unknown fusion (found %d, expected 0 to 2)", (int)desc->fusion);
  size_t maps = desc->tokens; /* the bytes of the attention must be countable */
  if (!heed_size_mul(maps, desc->tokens, &maps) || !heed_size_mul(maps, desc->heads, &maps) ||
      !heed_size_mul(maps, desc->layers, &maps) || !heed_size_mul(maps, sizeof(float), &maps))
    return heed_fail_memory(error, "rollout", SIZE_MAX);
  return HEED_OK;
}

void heed_map_rollout_add(const heed_rollout_desc *desc, const float *weights, size_t stride,
                          uint32_t first, uint32_t count, const double *row, double *next,
                          double *scratch, uint32_t *order) {
  const size_t n = desc->tokens;
  for (uint32_t r = 0; r < count; r++) {
    const double share = row[first + r];
    if (share == 0.0) continue;
    rollout_row(desc, weights + r * n, stride, first + r, residual_of(desc), scratch, order);
    for (size_t k = 0; k < n; k++) next[k] += share * scratch[k];
  }
}

heed_status heed_map_rollout_back(heed_context *context, const heed_rollout_desc *desc,
                                  const float *layer, double *row, heed_error *error) {
  HEED_TRY(heed_map_rollout_check(desc, error));
  const size_t n = desc->tokens;
  double *next = heed_alloc(context, n, 2 * sizeof *next);
  uint32_t *order = heed_alloc_raw(context, n, sizeof *order);
  const bool made = next && order;
  if (made) {
    heed_map_rollout_add(desc, layer, n * n, 0, desc->tokens, row, next, next + n, order);
    memcpy(row, next, n * sizeof *row);
  }
  heed_free(context, next);
  heed_free(context, order);
  return made ? HEED_OK : heed_fail_memory(error, "rollout", n * sizeof *row);
}

/* [H, N, N] */
static const float *layer_of(const heed_rollout_desc *desc, const float *attention,
                             uint32_t layer) {
  return desc->maps ? desc->maps[layer]
                    : attention + layer * ((size_t)desc->tokens * desc->tokens * desc->heads);
}

/* ------------------------------------------------------------------------- all rows, by panels */

/* Rows of a block, keys of a piece and of a sum in float, strips of a panel. */
enum { BLOCK = 64, PIECE = 256, SUMMED = 64, PANEL_STRIPS = 38 };
enum { LEAST_SHARED = 512 }; /* tokens */

/* A worker's scratch: a row, a block of rows of a layer's matrix, their sums, keys by weight. */
typedef struct rollout_scratch {
  double *row;       /* [N] */
  double own[BLOCK]; /* of each row the factor of its own token */
  float *rows;       /* [BLOCK / ROWS, N, ROWS], times scale */
  double *sums;      /* [strips, BLOCK, STRIP] */
  uint32_t *order;   /* [N] */
} rollout_scratch;

/* A panel on its way through the layers. */
typedef struct rollout_job {
  const heed_rollout_desc *desc;
  const float *layer;    /* [heads, N, N] */
  size_t rows;           /* N rounded up to blocks */
  size_t first;          /* column of the panel */
  uint32_t strips;       /* of the panel */
  bool begins;           /* the first layer: its matrix is the product so far */
  float *product, *next; /* [strips, rows, STRIP], times scale */
  rollout_scratch *scratch;
} rollout_job;

/* Columns of one row of the first matrix. A row that is not all finite is NaN, as its sums are. */
static void take_row(const rollout_job *job, const double *row, size_t i) {
  const size_t n = job->desc->tokens;
  bool finite = true;
  for (size_t j = 0; j < n; j++) finite = finite && isfinite(row[j]);
  for (size_t c = 0; c < (size_t)job->strips * STRIP; c++) {
    const size_t column = job->first + c;
    job->next[(c / STRIP * job->rows + i) * STRIP + c % STRIP] = column >= n ? 0.0f
                                                                 : finite
                                                                     ? (float)(row[column] * scale)
                                                                     : NAN;
  }
}

static void multiply_block(const rollout_job *job, const rollout_scratch *work, size_t first) {
  const size_t n = job->desc->tokens, strip = (size_t)BLOCK * STRIP;
  memset(work->sums, 0, job->strips * strip * sizeof *work->sums);
  for (size_t piece = 0; piece < n; piece += PIECE)
    for (uint32_t s = 0; s < job->strips; s++)
      for (size_t r = 0; r < BLOCK; r += ROWS)
        for (size_t k = piece; k < n && k < piece + PIECE; k += SUMMED)
          heed_multiply_strip(work->rows + r * n + k * ROWS, n - k < SUMMED ? n - k : SUMMED,
                              job->product + (s * job->rows + k) * STRIP,
                              work->sums + s * strip + r * STRIP);
  for (uint32_t s = 0; s < job->strips; s++) {
    const size_t at = (s * job->rows + first) * STRIP;
    const float *product = job->product + at;
    float *next = job->next + at;
    for (size_t i = 0; i < strip; i++)
      next[i] = (float)(work->sums[s * strip + i] + work->own[i / STRIP] * (double)product[i]);
  }
}

static void run_block(uint64_t block, uint32_t worker, void *user) {
  const rollout_job *job = user;
  rollout_scratch *work = &job->scratch[worker];
  const size_t n = job->desc->tokens, first = (size_t)block * BLOCK;
  for (size_t r = 0; r < BLOCK; r++) {
    float *rows = work->rows + r / ROWS * ROWS * n + r % ROWS;
    if (first + r < n)
      rollout_row(job->desc, job->layer + (first + r) * n, n * n, (uint32_t)(first + r),
                  residual_of(job->desc), work->row, work->order);
    else
      memset(work->row, 0, n * sizeof *work->row);
    work->own[r] = 0.0;
    if (job->begins) {
      take_row(job, work->row, first + r);
      continue;
    }
    for (size_t j = 0; j < n; j++) rows[j * ROWS] = (float)(work->row[j] * scale);
    if (first + r < n) {
      work->own[r] = work->row[first + r];
      rows[(first + r) * ROWS] = 0.0f;
    }
  }
  if (!job->begins) multiply_block(job, work, first);
}

static void run_panel(heed_thread_pool *pool, rollout_job *job, const float *attention,
                      float *rollout) {
  const heed_rollout_desc *desc = job->desc;
  const size_t n = desc->tokens;
  const uint32_t end = desc->layer_count ? desc->first_layer + desc->layer_count : desc->layers;
  for (uint32_t l = desc->first_layer; l < end; l++) {
    job->layer = layer_of(desc, attention, l);
    job->begins = l == desc->first_layer;
    heed_thread_pool_run(pool, job->rows / BLOCK, run_block, job);
    float *swapped = job->product;
    job->product = job->next;
    job->next = swapped;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < (size_t)job->strips * STRIP && job->first + c < n; c++)
      rollout[i * n + job->first + c] =
          (float)((double)job->product[(c / STRIP * job->rows + i) * STRIP + c % STRIP] / scale);
}

/* Scratch of the job and of its workers; what could not be had is NULL. */
static bool make_scratch(heed_context *context, uint32_t workers, rollout_job *job) {
  const size_t n = job->desc->tokens;
  size_t panel = 0;
  const bool countable = heed_size_mul(job->rows, (size_t)job->strips * STRIP, &panel);
  job->scratch = heed_alloc(context, workers, sizeof *job->scratch);
  if (!countable || !job->scratch) return false;
  job->product = heed_alloc_raw(context, panel, sizeof(float));
  job->next = heed_alloc_raw(context, panel, sizeof(float));
  bool made = job->product && job->next;
  for (uint32_t w = 0; w < workers && made; w++) {
    rollout_scratch *own = &job->scratch[w];
    own->row = heed_alloc_raw(context, n, sizeof *own->row);
    own->rows = heed_alloc_raw(context, n, BLOCK * sizeof *own->rows);
    own->sums = heed_alloc_raw(context, job->strips, BLOCK * STRIP * sizeof *own->sums);
    own->order = heed_alloc_raw(context, n, sizeof *own->order);
    made = own->row && own->rows && own->sums && own->order;
  }
  return made;
}

static void free_scratch(heed_context *context, uint32_t workers, rollout_job *job) {
  for (uint32_t w = 0; w < workers && job->scratch; w++) {
    heed_free(context, job->scratch[w].row);
    heed_free(context, job->scratch[w].rows);
    heed_free(context, job->scratch[w].sums);
    heed_free(context, job->scratch[w].order);
  }
  heed_free(context, job->scratch);
  heed_free(context, job->product);
  heed_free(context, job->next);
}

heed_status heed_map_rollout(heed_context *context, const heed_rollout_desc *desc,
                             const float *attention, float *rollout, heed_error *error) {
  heed_rollout_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "rollout", error));
  HEED_TRY(heed_map_rollout_check(&full, error));
  const size_t n = full.tokens;
  const uint32_t strips = (uint32_t)((n + STRIP - 1) / STRIP),
                 most = strips < PANEL_STRIPS ? strips : PANEL_STRIPS;
  rollout_job job = {.desc = &full, .rows = (n + BLOCK - 1) / BLOCK * BLOCK, .strips = most};
  heed_thread_pool *pool = NULL;
  /* threads take longer to start than a small product */
  HEED_TRY(heed_thread_pool_create(context, n < LEAST_SHARED ? 1 : 0, &pool, error));
  const uint32_t workers = heed_thread_pool_count(pool);
  const bool made = make_scratch(context, workers, &job);
  for (uint32_t s = 0; s < strips && made; s += most) {
    job.first = (size_t)s * STRIP;
    job.strips = strips - s < most ? strips - s : most;
    run_panel(pool, &job, attention, rollout);
  }
  free_scratch(context, workers, &job);
  heed_thread_pool_destroy(pool);
  return made ? HEED_OK : heed_fail_memory(error, "rollout", n * most * STRIP * 2 * sizeof(float));
}

heed_status heed_map_rollout_row(heed_context *context, const heed_rollout_desc *desc,
                                 const float *attention, const float *start, float *row,
                                 heed_error *error) {
  heed_rollout_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "rollout", error));
  HEED_TRY(heed_map_rollout_check(&full, error));
  const size_t n = full.tokens;
  const uint32_t first = full.first_layer,
                 end = full.layer_count ? first + full.layer_count : full.layers;
  double *sums = heed_alloc_raw(context, n, sizeof *sums);
  if (!sums) return heed_fail_memory(error, "rollout", n * sizeof *sums);
  for (size_t i = 0; i < n; i++) sums[i] = (double)start[i];
  full.first_layer = full.layer_count = 0;
  full.layers = 1;
  heed_status status = HEED_OK;
  for (uint32_t layer = end; layer-- > first && status == HEED_OK;)
    status = heed_map_rollout_back(context, &full, layer_of(&full, attention, layer), sums, error);
  for (size_t i = 0; i < n && status == HEED_OK; i++) row[i] = (float)sums[i];
  heed_free(context, sums);
  return status;
}
