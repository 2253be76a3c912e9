/* Principal components of patches, and the colours that they make.
 *
 * Components are eigenvectors of the covariance of channels or, with fewer patches than channels,
 * made of those of the products of patches. Means, scores and variances are summed in double over
 * the states as they are; the products of heed_products only find the directions. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/eigen.h"
#include "explain/products.h"
#include "heed/explain.h"

enum { LEAST_FOREGROUND = 5 };

/* A component whose variance is a smaller share of the first's is rounding of states. */
static const double resolved = 1e-12;

/* Components of some patches. */
typedef struct pca_fit {
  heed_context *context;
  heed_thread_pool *pool;
  const float *states; /* [patches, channels] */
  size_t patches, channels;
  const uint8_t *taken; /* [patches]: which; NULL: all */
  size_t count;         /* how many */
  double *mean;         /* [channels] */
  double *components;   /* [3, channels]; zeros where there is no variance */
  double variance[3];
  heed_error *error;
} pca_fit;

static bool takes(const pca_fit *fit, size_t patch) { return !fit->taken || fit->taken[patch]; }

/* From the first patch on, so that equal states have exactly their mean. */
static void take_mean(pca_fit *fit) {
  const size_t channels = fit->channels;
  const float *first = NULL;
  memset(fit->mean, 0, channels * sizeof *fit->mean);
  for (size_t p = 0; p < fit->patches; p++) {
    if (!takes(fit, p)) continue;
    const float *state = fit->states + p * channels;
    if (!first) first = state;
    for (size_t c = 0; c < channels; c++) fit->mean[c] += (double)state[c] - (double)first[c];
  }
  for (size_t c = 0; c < channels; c++)
    fit->mean[c] = (double)first[c] + fit->mean[c] / (double)fit->count;
}

/* The projection of state - mean on each component, of which there are 3. */
static void project(const pca_fit *fit, const float *state, double scores[3]) {
  const size_t channels = fit->channels;
  scores[0] = scores[1] = scores[2] = 0.0;
  for (size_t c = 0; c < channels; c++) {
    const double centred = (double)state[c] - fit->mean[c];
    for (size_t k = 0; k < 3; k++) scores[k] += centred * fit->components[k * channels + c];
  }
}

/* centred[count, channels]: of all the largest is 1 in size. Returns false where all are 0. */
static bool centre(const pca_fit *fit, float *centred) {
  const size_t channels = fit->channels;
  double largest = 0.0;
  for (size_t p = 0; p < fit->patches; p++) {
    const float *state = fit->states + p * channels;
    double of_patch = 0.0; /* apart from `largest`: a loop that the compiler makes wide */
    if (!takes(fit, p)) continue;
    for (size_t c = 0; c < channels; c++) {
      const double size = fabs((double)state[c] - fit->mean[c]);
      of_patch = size > of_patch ? size : of_patch;
    }
    largest = of_patch > largest ? of_patch : largest;
  }
  if (largest == 0.0) return false;
  const double factor = 1.0 / largest;
  for (size_t p = 0; p < fit->patches; p++) {
    const float *state = fit->states + p * channels;
    if (!takes(fit, p)) continue;
    for (size_t c = 0; c < channels; c++)
      centred[c] = (float)(((double)state[c] - fit->mean[c]) * factor);
    centred += channels;
  }
  return true;
}

static void put_tile(size_t row, size_t column, size_t rows, size_t columns,
                     const double tile[HEED_TILE_ROWS * HEED_TILE_COLUMNS], void *user) {
  const heed_symmetric *to = user;
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++) {
      const size_t i = row + r, j = column + c;
      const double product = tile[r * HEED_TILE_COLUMNS + c];
      if (j > i) continue;
      to->strips[(j / HEED_EIGEN_STRIP * to->n + i) * HEED_EIGEN_STRIP + j % HEED_EIGEN_STRIP] =
          product;
      to->strips[(i / HEED_EIGEN_STRIP * to->n + j) * HEED_EIGEN_STRIP + i % HEED_EIGEN_STRIP] =
          product;
    }
}

/* Eigenvectors of products of patches as components: X^T u, of length 1. */
static void turn_patches(const pca_fit *fit, const float *centred, const double *vectors,
                         size_t found) {
  const size_t channels = fit->channels;
  for (size_t k = 0; k < found; k++) {
    double *component = fit->components + k * channels;
    for (size_t p = 0; p < fit->count; p++)
      for (size_t c = 0; c < channels; c++)
        component[c] += vectors[k * fit->count + p] * (double)centred[p * channels + c];
  }
  /* eigenvectors without variance are of any direction: made orthogonal, what is left of them is
   * rounding */
  for (size_t k = 0; k < found; k++) {
    double *component = fit->components + k * channels, length = 0.0;
    for (size_t b = 0; b < 2 * k; b++) { /* twice: the first leaves what it rounds */
      const double *other = fit->components + b % k * channels;
      double share = 0.0;
      for (size_t c = 0; c < channels; c++) share += component[c] * other[c];
      for (size_t c = 0; c < channels; c++) component[c] -= share * other[c];
    }
    for (size_t c = 0; c < channels; c++) length += component[c] * component[c];
    for (size_t c = 0; c < channels && length > 0.0; c++) component[c] /= sqrt(length);
  }
}

static heed_status find_components(const pca_fit *fit, const float *centred) {
  const bool by_patches = fit->count < fit->channels;
  const heed_vectors of =
      by_patches ? (heed_vectors){centred, fit->count, fit->channels, fit->channels, 1}
                 : (heed_vectors){centred, fit->channels, fit->count, 1, fit->channels};
  const size_t n = of.count, found = n < 3 ? n : 3,
               strips = (n + HEED_EIGEN_STRIP - 1) / HEED_EIGEN_STRIP;
  double values[3];
  heed_symmetric matrix = {heed_alloc(fit->context, n * HEED_EIGEN_STRIP, strips * sizeof(double)),
                           n};
  double *vectors =
      by_patches ? heed_alloc_raw(fit->context, n, 3 * sizeof *vectors) : fit->components;
  heed_status status =
      matrix.strips && vectors
          ? heed_products(fit->context, fit->pool, &of, NULL, put_tile, &matrix, fit->error)
          : heed_fail_memory(fit->error, "components", n * n * sizeof(double));
  if (status == HEED_OK)
    status =
        heed_eigen_largest(fit->context, fit->pool, &matrix, found, values, vectors, fit->error);
  heed_free(fit->context, matrix.strips);
  if (by_patches && status == HEED_OK) turn_patches(fit, centred, vectors, found);
  if (by_patches) heed_free(fit->context, vectors);
  return status;
}

/* Variances as the scores have them, and signs: a component's largest entry is positive, the first
 * of equals. What has no variance becomes 0. */
static void settle(pca_fit *fit) {
  const size_t channels = fit->channels;
  memset(fit->variance, 0, sizeof fit->variance);
  for (size_t p = 0; p < fit->patches; p++) {
    double scores[3];
    if (!takes(fit, p)) continue;
    project(fit, fit->states + p * channels, scores);
    for (size_t k = 0; k < 3; k++)
      fit->variance[k] += scores[k] * scores[k] / ((double)fit->count - 1.0);
  }
  for (size_t k = 0; k < 3; k++) {
    double *component = fit->components + k * channels;
    const bool none = !(fit->variance[k] > resolved * fit->variance[0]);
    size_t largest = 0;
    for (size_t c = 1; c < channels; c++)
      if (fabs(component[c]) > fabs(component[largest])) largest = c;
    const double sign = none ? 0.0 : component[largest] < 0.0 ? -1.0 : 1.0;
    for (size_t c = 0; c < channels; c++) component[c] *= sign;
    if (none) fit->variance[k] = 0.0;
  }
}

/* Mean, components and variance of the patches taken; NaN where a state is not finite. */
static heed_status make_fit(pca_fit *fit) {
  float *centred = heed_alloc_raw(fit->context, fit->count, fit->channels * sizeof *centred);
  if (!centred)
    return heed_fail_memory(fit->error, "components", fit->count * fit->channels * sizeof *centred);
  heed_status status = HEED_OK;
  bool finite = true;
  take_mean(fit);
  for (size_t c = 0; c < fit->channels; c++) finite = finite && isfinite(fit->mean[c]);
  memset(fit->components, 0, 3 * fit->channels * sizeof *fit->components);
  memset(fit->variance, 0, sizeof fit->variance);
  if (!finite) {
    for (size_t i = 0; i < 3 * fit->channels; i++) fit->components[i] = (double)NAN;
    for (size_t k = 0; k < 3; k++) fit->variance[k] = (double)NAN;
  } else if (centre(fit, centred)) {
    status = find_components(fit, centred);
    if (status == HEED_OK) settle(fit);
  }
  heed_free(fit->context, centred);
  return status;
}

static bool lies_on_border(const heed_patches *patches, size_t p) {
  const size_t row = p / patches->columns, column = p % patches->columns;
  return row == 0 || column == 0 || row + 1 == patches->rows || column + 1 == patches->columns;
}

/* foreground[patches], and returns how many are. */
static size_t choose_foreground(const heed_patches *pictures, uint32_t count, const float *scores,
                                size_t patches, uint8_t *foreground) {
  size_t side[2] = {0}, border[2] = {0}, at = 0; /* of scores above 0, and below */
  for (uint32_t i = 0; i < count; i++)
    for (size_t p = 0; p < (size_t)pictures[i].rows * pictures[i].columns; p++, at++) {
      const bool on_border = lies_on_border(&pictures[i], p);
      for (int below = 0; below < 2; below++)
        if (below ? scores[3 * at] < 0.0f : scores[3 * at] > 0.0f) {
          side[below]++;
          border[below] += on_border;
        }
    }
  /* by shares: border / side */
  const bool below = (double)border[1] * (double)side[0] < (double)border[0] * (double)side[1];
  for (size_t p = 0; p < patches; p++)
    foreground[p] =
        side[below] < LEAST_FOREGROUND || (below ? scores[3 * p] < 0.0f : scores[3 * p] > 0.0f);
  return side[below] < LEAST_FOREGROUND ? patches : side[below];
}

/* rgb[patches, 3] from the projections of all patches, 0 to 1 a component; the background is 0, and
 * so is a component that says nothing. */
static void paint(const pca_fit *fit, float *rgb) {
  double low[3], high[3], scores[3];
  for (size_t p = 0; p < fit->patches; p++) {
    project(fit, fit->states + p * fit->channels, scores);
    for (size_t k = 0; k < 3; k++) {
      rgb[3 * p + k] = (float)scores[k];
      low[k] = p == 0 || scores[k] < low[k] ? scores[k] : low[k];
      high[k] = p == 0 || scores[k] > high[k] ? scores[k] : high[k];
    }
  }
  for (size_t p = 0; p < fit->patches; p++)
    for (size_t k = 0; k < 3; k++) {
      const double range = high[k] - low[k], above = (double)rgb[3 * p + k] - low[k];
      float *to = &rgb[3 * p + k];
      *to = !takes(fit, p) || range == 0.0 ? 0.0f : (float)(above / range);
      /* rounding of the float that stands in between */
      if (*to < 0.0f) *to = 0.0f;
      if (*to > 1.0f) *to = 1.0f;
    }
}

static void round_all(const double *from, size_t count, float *to) {
  for (size_t i = 0; i < count; i++) to[i] = (float)from[i];
}

static heed_status explain_patches(pca_fit *fit, const heed_patches *pictures, uint32_t count,
                                   const heed_pca *pca) {
  fit->count = fit->patches;
  HEED_TRY(make_fit(fit));
  round_all(fit->mean, fit->channels, pca->mean);
  round_all(fit->components, 3 * fit->channels, pca->components);
  round_all(fit->variance, 3, pca->variance);
  for (size_t p = 0; p < fit->patches; p++) {
    double scores[3];
    project(fit, fit->states + p * fit->channels, scores);
    round_all(scores, 3, pca->scores + 3 * p);
  }
  fit->count = choose_foreground(pictures, count, pca->scores, fit->patches, pca->foreground);
  if (fit->count < fit->patches) {
    fit->taken = pca->foreground;
    HEED_TRY(make_fit(fit));
  }
  round_all(fit->components, 3 * fit->channels, pca->colours);
  paint(fit, pca->rgb);
  return HEED_OK;
}

heed_status heed_patches_pca(heed_context *context, const float *states,
                             const heed_patches *pictures, uint32_t count, uint32_t channels,
                             const heed_pca *pca, heed_error *error) {
  pca_fit fit = {.context = context, .states = states, .channels = channels, .error = error};
  for (uint32_t i = 0; i < count; i++) {
    if (pictures[i].rows == 0 || pictures[i].columns == 0)
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "PCA: picture %u without patches (found %u x %u, expected at least 1 x 1)",
                       i, pictures[i].rows, pictures[i].columns);
    fit.patches += (size_t)pictures[i].rows * pictures[i].columns;
  }
  if (fit.patches < 2 || channels == 0)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "PCA: too few states (found %zu patches of %u channels, expected at least 2 "
                     "of 1)",
                     fit.patches, channels);
  HEED_TRY(heed_thread_pool_create(context, fit.patches < HEED_SHARED_PATCHES ? 1 : 0, &fit.pool,
                                   error));
  double *memory = heed_alloc_raw(context, channels, 4 * sizeof *memory);
  fit.mean = memory;
  fit.components = memory ? memory + channels : NULL;
  const heed_status status = memory ? explain_patches(&fit, pictures, count, pca)
                                    : heed_fail_memory(error, "PCA", channels * 4 * sizeof *memory);
  heed_free(context, memory);
  heed_thread_pool_destroy(fit.pool);
  return status;
}
