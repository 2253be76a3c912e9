/* Rollout: the product of the layers' matrices of attention (Abnar & Zuidema 2020, section 3).
 *
 * Sums are taken in double, in index order, so that the numbers are the same everywhere and for any
 * number of threads. A column of the product needs no other column, so a panel of columns goes
 * through all layers, then the next. A panel lies in strips of a few columns. Threads share the
 * rows of a layer by blocks; a piece of a strip is read once for a block and stays in the cache. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/sort.h"
#include "base/status.h"
#include "base/thread_pool.h"
#include "explain/attention_map.h"

/* Weights of one row of all heads, as one: fused[N]. layer: at the row of the first head. */
static void fuse_row(const heed_rollout_desc *desc, const float *layer, double *fused) {
  const size_t n = desc->tokens;
  for (size_t j = 0; j < n; j++) fused[j] = (double)layer[j];
  for (uint32_t h = 1; h < desc->heads; h++) {
    const float *head = layer + h * n * n;
    for (size_t j = 0; j < n; j++) {
      const double weight = (double)head[j];
      if (desc->fusion == HEED_FUSION_MEAN)
        fused[j] += weight;
      else if (isnan(weight) ||
               (desc->fusion == HEED_FUSION_MIN ? weight < fused[j] : weight > fused[j]))
        fused[j] = weight; /* a NaN stays: nothing is less */
    }
  }
  if (desc->fusion != HEED_FUSION_MEAN) return;
  for (size_t j = 0; j < n; j++) fused[j] /= desc->heads;
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
 * row [N]; order [N] is scratch. */
static void rollout_row(const heed_rollout_desc *desc, const float *layer, uint32_t i,
                        double residual, double *row, uint32_t *order) {
  const size_t n = desc->tokens;
  double sum = 0.0;
  fuse_row(desc, layer + i * n, row);
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

static heed_status check_rollout(const heed_rollout_desc *desc, heed_error *error) {
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

heed_status heed_map_rollout_back(heed_context *context, const heed_rollout_desc *desc,
                                  const float *layer, double *row, heed_error *error) {
  HEED_TRY(check_rollout(desc, error));
  const size_t n = desc->tokens;
  const double residual = residual_of(desc);
  double *next = heed_alloc(context, n, 2 * sizeof *next);
  uint32_t *order = heed_alloc_raw(context, n, sizeof *order);
  for (uint32_t q = 0; next && order && q < desc->tokens; q++) {
    if (row[q] == 0.0) continue;
    rollout_row(desc, layer, q, residual, next + n, order);
    for (size_t k = 0; k < n; k++) next[k] += row[q] * next[n + k];
  }
  if (next && order) memcpy(row, next, n * sizeof *row);
  const bool made = next && order;
  heed_free(context, next);
  heed_free(context, order);
  return made ? HEED_OK : heed_fail_memory(error, "rollout", n * sizeof *row);
}

/* ------------------------------------------------------------------------- all rows, by panels */

/* Columns of a strip, rows of a tile and of a block, keys of a piece, strips of a panel. */
enum { STRIP = 16, ROWS = 4, BLOCK = 64, PIECE = 128, PANEL_STRIPS = 48 };
enum { LEAST_SHARED = 512 }; /* tokens */

/* The same operations in the same order with wider registers: no bit differs. The loader chooses.
 */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDEST
#endif

/* A vector of doubles, of as many registers as the processor needs for it. */
typedef double lanes __attribute__((vector_size(64)));
typedef double stored_lanes __attribute__((vector_size(64), aligned(8), may_alias));
enum { LANES = 8, VECTORS = STRIP / LANES };

/* to[ROWS, STRIP] += rows[ROWS, count] x strip[count, STRIP]; stride: from row to row. */
WIDEST static void multiply_strip(const double *restrict rows, size_t stride, size_t count,
                                  const double *restrict strip, double *restrict to) {
  stored_lanes *out = (stored_lanes *)(void *)to;
  lanes sum[ROWS][VECTORS];
  for (size_t r = 0; r < ROWS; r++)
    for (size_t v = 0; v < VECTORS; v++) sum[r][v] = out[r * VECTORS + v];
  for (size_t k = 0; k < count; k++) {
    const stored_lanes *from = (const stored_lanes *)(const void *)(strip + k * STRIP);
    for (size_t r = 0; r < ROWS; r++)
      for (size_t v = 0; v < VECTORS; v++) sum[r][v] += rows[r * stride + k] * from[v];
  }
  for (size_t r = 0; r < ROWS; r++)
    for (size_t v = 0; v < VECTORS; v++) out[r * VECTORS + v] = sum[r][v];
}

/* A worker's scratch: a block of rows of a layer's matrix, and keys by their weight. */
typedef struct rollout_scratch {
  double *rows;    /* [BLOCK, N] */
  uint32_t *order; /* [N] */
} rollout_scratch;

/* A panel on its way through the layers. */
typedef struct rollout_job {
  const heed_rollout_desc *desc;
  const float *layer;     /* [heads, N, N] */
  size_t rows;            /* N rounded up to blocks */
  size_t first;           /* column of the panel */
  uint32_t strips;        /* of the panel */
  bool begins;            /* the first layer: its matrix is the product so far */
  double *product, *next; /* [strips, rows, STRIP] */
  rollout_scratch *scratch;
} rollout_job;

/* Columns of one row of the first matrix. A row that is not all finite is NaN, as its sums are. */
static void take_row(const rollout_job *job, const double *row, size_t i) {
  const size_t n = job->desc->tokens;
  bool finite = true;
  for (size_t j = 0; j < n; j++) finite = finite && isfinite(row[j]);
  for (size_t c = 0; c < (size_t)job->strips * STRIP; c++) {
    const size_t column = job->first + c;
    job->next[(c / STRIP * job->rows + i) * STRIP + c % STRIP] = column >= n ? 0.0
                                                                 : finite    ? row[column]
                                                                             : (double)NAN;
  }
}

static void multiply_block(const rollout_job *job, const double *rows, size_t first) {
  const size_t n = job->desc->tokens;
  for (uint32_t s = 0; s < job->strips; s++)
    memset(job->next + (s * job->rows + first) * STRIP, 0, sizeof(double) * BLOCK * STRIP);
  for (size_t k = 0; k < n; k += PIECE)
    for (uint32_t s = 0; s < job->strips; s++)
      for (size_t r = 0; r < BLOCK; r += ROWS)
        multiply_strip(rows + r * n + k, n, n - k < PIECE ? n - k : PIECE,
                       job->product + (s * job->rows + k) * STRIP,
                       job->next + (s * job->rows + first + r) * STRIP);
}

static void run_block(uint64_t block, uint32_t worker, void *user) {
  const rollout_job *job = user;
  const rollout_scratch *work = &job->scratch[worker];
  const size_t n = job->desc->tokens, first = (size_t)block * BLOCK;
  for (size_t r = 0; r < BLOCK; r++) {
    double *row = work->rows + r * n;
    if (first + r < n)
      rollout_row(job->desc, job->layer, (uint32_t)(first + r), residual_of(job->desc), row,
                  work->order);
    else
      memset(row, 0, n * sizeof *row);
    if (job->begins) take_row(job, row, first + r);
  }
  if (!job->begins) multiply_block(job, work->rows, first);
}

static void run_blocks(heed_thread_pool *pool, rollout_job *job) {
  const uint64_t blocks = job->rows / BLOCK;
#if defined(__wasm__)
  (void)pool; /* one thread */
  for (uint64_t b = 0; b < blocks; b++) run_block(b, 0, job);
#else
  heed_thread_pool_run(pool, blocks, run_block, job);
#endif
}

static void run_panel(heed_thread_pool *pool, rollout_job *job, const float *attention,
                      float *rollout) {
  const heed_rollout_desc *desc = job->desc;
  const size_t n = desc->tokens;
  const uint32_t end = desc->layer_count ? desc->first_layer + desc->layer_count : desc->layers;
  for (uint32_t l = desc->first_layer; l < end; l++) {
    job->layer = attention + l * (n * n * desc->heads);
    job->begins = l == desc->first_layer;
    run_blocks(pool, job);
    double *swapped = job->product;
    job->product = job->next;
    job->next = swapped;
  }
  for (size_t i = 0; i < n; i++)
    for (size_t c = 0; c < (size_t)job->strips * STRIP && job->first + c < n; c++)
      rollout[i * n + job->first + c] =
          (float)job->product[(c / STRIP * job->rows + i) * STRIP + c % STRIP];
}

/* Scratch of the job and of its workers; what could not be had is NULL. */
static bool make_scratch(heed_context *context, uint32_t workers, rollout_job *job) {
  const size_t n = job->desc->tokens;
  size_t panel = 0;
  const bool countable = heed_size_mul(job->rows, (size_t)job->strips * STRIP, &panel);
  job->scratch = heed_alloc(context, workers, sizeof *job->scratch);
  if (!countable || !job->scratch) return false;
  job->product = heed_alloc_raw(context, panel, sizeof(double));
  job->next = heed_alloc_raw(context, panel, sizeof(double));
  bool made = job->product && job->next;
  for (uint32_t w = 0; w < workers && made; w++) {
    job->scratch[w] = (rollout_scratch){heed_alloc_raw(context, n, BLOCK * sizeof(double)),
                                        heed_alloc_raw(context, n, sizeof(uint32_t))};
    made = job->scratch[w].rows && job->scratch[w].order;
  }
  return made;
}

static void free_scratch(heed_context *context, uint32_t workers, rollout_job *job) {
  for (uint32_t w = 0; w < workers && job->scratch; w++) {
    heed_free(context, job->scratch[w].rows);
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
  HEED_TRY(check_rollout(&full, error));
  const size_t n = full.tokens;
  const uint32_t strips = (uint32_t)((n + STRIP - 1) / STRIP),
                 most = strips < PANEL_STRIPS ? strips : PANEL_STRIPS;
  rollout_job job = {.desc = &full, .rows = (n + BLOCK - 1) / BLOCK * BLOCK, .strips = most};
  heed_thread_pool *pool = NULL;
  uint32_t workers = 1;
#if !defined(__wasm__)
  /* threads take longer to start than a small product */
  HEED_TRY(heed_thread_pool_create(context, n < LEAST_SHARED ? 1 : 0, &pool, error));
  workers = heed_thread_pool_count(pool);
#endif
  const bool made = make_scratch(context, workers, &job);
  for (uint32_t s = 0; s < strips && made; s += most) {
    job.first = (size_t)s * STRIP;
    job.strips = strips - s < most ? strips - s : most;
    run_panel(pool, &job, attention, rollout);
  }
  free_scratch(context, workers, &job);
#if !defined(__wasm__)
  heed_thread_pool_destroy(pool);
#endif
  return made ? HEED_OK : heed_fail_memory(error, "rollout", n * most * STRIP * 2 * sizeof(double));
}

heed_status heed_map_rollout_row(heed_context *context, const heed_rollout_desc *desc,
                                 const float *attention, const float *start, float *row,
                                 heed_error *error) {
  heed_rollout_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "rollout", error));
  HEED_TRY(check_rollout(&full, error));
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
    status = heed_map_rollout_back(context, &full, attention + layer * (n * n * full.heads), sums,
                                   error);
  for (size_t i = 0; i < n && status == HEED_OK; i++) row[i] = (float)sums[i];
  heed_free(context, sums);
  return status;
}
