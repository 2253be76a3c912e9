/* What the states of patches look like: components against patterns whose components are known,
 * and against eigenvalues by Jacobi's rotations; similarity, matches, norms and clusters against
 * their definitions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "explain/eigen.h"
#include "explain/products.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

static void assert_near(double found, double expected, double allowed, const char *what) {
  if (!(fabs(found - expected) <= allowed))
    fail_msg("%s: found %.9g, expected %.9g", what, found, expected);
}

/* Results of a PCA of `patches`, to be freed. */
static heed_pca make_pca(size_t patches, size_t channels) {
  return (heed_pca){malloc(channels * sizeof(float)),
                    malloc(3 * channels * sizeof(float)),
                    malloc(3 * sizeof(float)),
                    malloc(3 * patches * sizeof(float)),
                    malloc(patches),
                    malloc(3 * channels * sizeof(float)),
                    malloc(3 * patches * sizeof(float))};
}

static void free_pca(heed_pca *pca) {
  free(pca->mean);
  free(pca->components);
  free(pca->variance);
  free(pca->scores);
  free(pca->foreground);
  free(pca->colours);
  free(pca->rgb);
}

static float *random_states(uint64_t seed, size_t count) {
  test_random random = {seed};
  float *states = malloc(count * sizeof *states);
  for (size_t i = 0; i < count; i++) states[i] = test_random_normal(&random);
  return states;
}

/* ---------------------------------------------------------------------------------- components */

/* Waves are orthogonal, and all but wave 0 have mean 0: of length 1 over n places. */
static double wave(size_t k, size_t i, size_t n) {
  const double pi = 3.14159265358979323846;
  return sqrt(2.0 / (double)n) * cos(pi * (double)k * ((double)i + 0.5) / (double)n);
}

/* 1 or -1 as the component is a wave or its negative. Its largest entry is positive, the first of
 * equals, which here differ by rounding alone. */
static double wave_sign(const float *component, size_t k, size_t n) {
  float low = 0.0f, high = 0.0f;
  for (size_t i = 0; i < n; i++) {
    if (component[i] < low) low = component[i];
    if (component[i] > high) high = component[i];
  }
  assert_true(high >= -low - 1e-6f);
  return (double)component[0] * wave(k, 0, n) < 0.0 ? -1.0 : 1.0;
}

/* State p, channel c = 3 + c/10 + sum over k of size[k] wave(p) wave(c): component k is a wave over
 * channels, and its scores are one over patches. */
static float *make_waves(size_t patches, size_t channels, const double size[4]) {
  float *states = malloc(patches * channels * sizeof *states);
  for (size_t p = 0; p < patches; p++)
    for (size_t c = 0; c < channels; c++) {
      double sum = 3.0 + (double)c / 10.0;
      for (size_t k = 0; k < 4; k++)
        sum += size[k] * wave(k + 1, p, patches) * wave(2 * k + 1, c, channels);
      states[p * channels + c] = (float)sum;
    }
  return states;
}

static void check_waves(uint32_t rows, uint32_t columns, uint32_t channels) {
  const size_t patches = (size_t)rows * columns;
  const double size[4] = {40.0, 30.0, 20.0, 18.0};
  float *states = make_waves(patches, channels, size);
  heed_pca pca = make_pca(patches, channels);
  const heed_patches picture = {rows, columns};
  assert_ok(heed_patches_pca(context, states, &picture, 1, channels, &pca, &error));
  for (size_t c = 0; c < channels; c++)
    assert_near((double)pca.mean[c], 3.0 + (double)c / 10.0, 1e-5 * (3.0 + channels / 10.0),
                "mean");
  for (size_t k = 0; k < 3; k++) {
    const double sign = wave_sign(pca.components + k * channels, 2 * k + 1, channels);
    assert_near((double)pca.variance[k], size[k] * size[k] / ((double)patches - 1.0),
                1e-5 * size[0] * size[0] / ((double)patches - 1.0), "variance");
    for (size_t c = 0; c < channels; c++)
      assert_near((double)pca.components[k * channels + c], sign * wave(2 * k + 1, c, channels),
                  5e-6, "component");
    for (size_t p = 0; p < patches; p++)
      assert_near((double)pca.scores[3 * p + k], sign * size[k] * wave(k + 1, p, patches), 2e-4,
                  "score");
  }
  free_pca(&pca);
  free(states);
}

static void test_waves(void **state) {
  (void)state;
  check_waves(4, 4, 12);   /* channels */
  check_waves(4, 4, 32);   /* patches */
  check_waves(9, 9, 81);   /* as many of each, and more than a basis holds */
  check_waves(5, 41, 70);  /* strips and tiles that are not full */
  check_waves(23, 23, 96); /* shared by threads */
  check_waves(7, 10, 300);
}

/* Jacobi's rotations until nothing is left: eigenvalues of the covariance, largest first. */
static void reference_variance(const float *states, size_t patches, size_t channels,
                               double *values) {
  double *of = calloc(channels * channels, sizeof *of), *mean = calloc(channels, sizeof *mean);
  for (size_t p = 0; p < patches; p++)
    for (size_t c = 0; c < channels; c++)
      mean[c] += (double)states[p * channels + c] / (double)patches;
  for (size_t p = 0; p < patches; p++)
    for (size_t i = 0; i < channels; i++)
      for (size_t j = 0; j < channels; j++)
        of[i * channels + j] += ((double)states[p * channels + i] - mean[i]) *
                                ((double)states[p * channels + j] - mean[j]) /
                                ((double)patches - 1.0);
  for (int sweep = 0; sweep < 20; sweep++)
    for (size_t p = 0; p < channels; p++)
      for (size_t q = p + 1; q < channels; q++) {
        const double angle = 0.5 * atan2(2.0 * of[p * channels + q],
                                         of[q * channels + q] - of[p * channels + p]),
                     c = cos(angle), s = sin(angle);
        for (size_t k = 0; k < channels; k++) {
          const double a = of[k * channels + p], b = of[k * channels + q];
          of[k * channels + p] = c * a - s * b;
          of[k * channels + q] = s * a + c * b;
        }
        for (size_t k = 0; k < channels; k++) {
          const double a = of[p * channels + k], b = of[q * channels + k];
          of[p * channels + k] = c * a - s * b;
          of[q * channels + k] = s * a + c * b;
        }
      }
  for (size_t k = 0; k < 3; k++) {
    size_t best = 0;
    for (size_t i = 0; i < channels; i++)
      if (of[i * channels + i] > of[best * channels + best]) best = i;
    values[k] = of[best * channels + best];
    of[best * channels + best] = -1.0;
  }
  free(of);
  free(mean);
}

/* Noise has no gaps to speak of; what must hold does. */
static void check_properties(uint32_t rows, uint32_t columns, uint32_t channels) {
  const size_t patches = (size_t)rows * columns;
  float *states = random_states(patches + channels, patches * channels);
  heed_pca pca = make_pca(patches, channels);
  const heed_patches picture = {rows, columns};
  double variance[3];
  reference_variance(states, patches, channels, variance);
  assert_ok(heed_patches_pca(context, states, &picture, 1, channels, &pca, &error));
  for (size_t k = 0; k < 3; k++) {
    assert_near((double)pca.variance[k], variance[k], 1e-6 * variance[0], "variance");
    for (size_t j = 0; j < 3; j++) {
      double product = 0.0, covariance = 0.0, sum = 0.0;
      for (size_t c = 0; c < channels; c++)
        product +=
            (double)pca.components[k * channels + c] * (double)pca.components[j * channels + c];
      for (size_t p = 0; p < patches; p++) {
        covariance += (double)pca.scores[3 * p + k] * (double)pca.scores[3 * p + j];
        sum += (double)pca.scores[3 * p + k];
      }
      assert_near(product, j == k, 1e-6, "orthonormal components");
      assert_near(covariance / ((double)patches - 1.0), j == k ? variance[k] : 0.0,
                  1e-5 * variance[0], "uncorrelated scores");
      assert_near(sum / (double)patches, 0.0, 1e-6, "mean of scores");
    }
  }
  free_pca(&pca);
  free(states);
}

static void test_properties(void **state) {
  (void)state;
  check_properties(6, 7, 20);
  check_properties(6, 7, 42);
  check_properties(12, 8, 60);
  check_properties(5, 9, 64);
}

/* Equal variances: which directions is open, but not which plane, nor the variances. */
static void test_equal_variances(void **state) {
  (void)state;
  enum { rows = 8, columns = 12, patches = rows * columns, channels = 64 };
  const double size[4] = {10.0, 10.0, 10.0, 3.0};
  float *states = make_waves(patches, channels, size);
  heed_pca pca = make_pca(patches, channels);
  const heed_patches picture = {rows, columns};
  assert_ok(heed_patches_pca(context, states, &picture, 1, channels, &pca, &error));
  for (size_t k = 0; k < 3; k++) {
    double inside = 0.0;
    assert_near((double)pca.variance[k], 100.0 / (patches - 1), 1e-5, "variance");
    for (size_t w = 0; w < 3; w++) {
      double share = 0.0;
      for (size_t c = 0; c < channels; c++)
        share += (double)pca.components[k * channels + c] * wave(2 * w + 1, c, channels);
      inside += share * share;
    }
    assert_near(inside, 1.0, 1e-6, "length within the plane");
  }
  free_pca(&pca);
  free(states);
}

/* ---------------------------------------------------------------------- foreground and colours */

/* Two pictures of a disc each on a ground: the first component parts one from the other, whichever
 * way it points, and colours are components of the disc alone, the same for both pictures. */
static void check_discs(float sign) {
  enum { side = 8, one = side * side, patches = 2 * one, channels = 6 };
  test_random random = {77};
  float *states = malloc(sizeof(float) * patches * channels);
  uint8_t disc[patches];
  for (size_t p = 0; p < patches; p++) {
    const double row = (double)(p % one / side) - 3.5, column = (double)(p % side) - 3.5;
    disc[p] = row * row + column * column < 9.0;
    for (size_t c = 0; c < channels; c++)
      states[p * channels + c] = 0.3f * test_random_normal(&random) * (float)(c + 1);
    states[p * channels] += disc[p] ? sign * 9.0f : 0.0f;
  }
  const heed_patches pictures[2] = {{side, side}, {side, side}};
  heed_pca pca = make_pca(patches, channels);
  assert_ok(heed_patches_pca(context, states, pictures, 2, channels, &pca, &error));
  assert_memory_equal(pca.foreground, disc, patches);

  float *inner = malloc(sizeof(float) * patches * channels);
  size_t count = 0;
  for (size_t p = 0; p < patches; p++)
    if (disc[p])
      memcpy(inner + channels * count++, states + channels * p, sizeof(float) * channels);
  heed_pca alone = make_pca(count, channels);
  const heed_patches line = {1, (uint32_t)count};
  assert_ok(heed_patches_pca(context, inner, &line, 1, channels, &alone, &error));
  for (size_t i = 0; i < 3 * channels; i++)
    assert_near((double)pca.colours[i], (double)alone.components[i], 1e-6, "colours");
  for (size_t k = 0; k < 3; k++) {
    double low = (double)INFINITY, high = -(double)INFINITY, projected[patches];
    for (size_t p = 0; p < patches; p++) {
      projected[p] = 0.0;
      for (size_t c = 0; c < channels; c++)
        projected[p] +=
            (double)states[p * channels + c] * (double)alone.components[k * channels + c];
      low = fmin(low, projected[p]);
      high = fmax(high, projected[p]);
    }
    for (size_t p = 0; p < patches; p++)
      assert_near((double)pca.rgb[3 * p + k], disc[p] ? (projected[p] - low) / (high - low) : 0.0,
                  2e-6, "rgb");
  }
  free_pca(&pca);
  free_pca(&alone);
  free(states);
  free(inner);
}

static void test_foreground(void **state) {
  (void)state;
  check_discs(1.0f);
  check_discs(-1.0f);
}

static void test_degenerate(void **state) {
  (void)state;
  enum { channels = 5, most = 12 };
  float states[most * channels];
  heed_pca pca = make_pca(most, channels);
  const heed_patches row = {1, 4}, grid = {3, 4}, pair = {1, 2}, single = {1, 1}, none = {0, 4};

  /* fewer than five: all are foreground, and colours are the components */
  float *noise = random_states(5, sizeof states / sizeof *states);
  assert_ok(heed_patches_pca(context, noise, &row, 1, channels, &pca, &error));
  assert_memory_equal(pca.foreground, "\1\1\1\1", 4);
  assert_memory_equal(pca.colours, pca.components, 3 * channels * sizeof(float));

  /* two patches have one component, whatever the count of channels */
  assert_ok(heed_patches_pca(context, noise, &pair, 1, channels, &pca, &error));
  assert_true(pca.variance[0] > 0.0f && pca.variance[1] == 0.0f && pca.variance[2] == 0.0f);
  for (size_t c = channels; c < 3 * channels; c++) assert_true(pca.components[c] == 0.0f);
  assert_true(pca.scores[1] == 0.0f && pca.rgb[1] == 0.0f);

  /* fewer than three channels */
  for (uint32_t c = 1; c < 3; c++) {
    assert_ok(heed_patches_pca(context, noise, &grid, 1, c, &pca, &error));
    for (size_t k = 0; k < 3; k++) assert_int_equal(pca.variance[k] > 0.0f, k < c);
  }

  /* equal states have no variance, and exactly their mean */
  for (size_t i = 0; i < most * channels; i++) states[i] = 0.1f + (float)(i % channels) * 1e5f;
  assert_ok(heed_patches_pca(context, states, &grid, 1, channels, &pca, &error));
  assert_memory_equal(pca.mean, states, channels * sizeof(float));
  for (size_t i = 0; i < 3 * channels; i++) assert_true(pca.components[i] == 0.0f);
  for (size_t i = 0; i < 3 * most; i++)
    assert_true(pca.scores[i] == 0.0f && pca.rgb[i] == 0.0f && pca.foreground[i / 3] == 1);

  /* not finite: nothing is known */
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
    memcpy(states, noise, sizeof states);
    states[17] = bad[b];
    assert_ok(heed_patches_pca(context, states, &grid, 1, channels, &pca, &error));
    for (size_t i = 0; i < 3 * channels; i++)
      assert_true(isnan(pca.components[i]) && isnan(pca.colours[i]) && isnan(pca.variance[i % 3]));
    for (size_t i = 0; i < 3 * most; i++)
      assert_true(isnan(pca.scores[i]) && isnan(pca.rgb[i]) && pca.foreground[i / 3] == 1);
  }

  /* the largest numbers that there are */
  for (size_t i = 0; i < most * channels; i++) states[i] = noise[i] * 1e38f;
  assert_ok(heed_patches_pca(context, states, &grid, 1, channels, &pca, &error));
  float components[3 * channels];
  memcpy(components, pca.components, sizeof components);
  assert_ok(heed_patches_pca(context, noise, &grid, 1, channels, &pca, &error));
  for (size_t i = 0; i < 3 * channels; i++)
    assert_near((double)components[i], (double)pca.components[i], 1e-5, "component");

  assert_fails(heed_patches_pca(context, noise, &single, 1, channels, &pca, &error),
               HEED_INVALID_ARGUMENT, "found 1 patches");
  assert_fails(heed_patches_pca(context, noise, &none, 1, channels, &pca, &error),
               HEED_INVALID_ARGUMENT, "found 0 x 4");
  assert_fails(heed_patches_pca(context, noise, &grid, 1, 0, &pca, &error), HEED_INVALID_ARGUMENT,
               "of 0 channels");
  free(noise);
  free_pca(&pca);
}

/* ------------------------------------------------------------------------ similarity and matches
 */

static void check_similarity(uint32_t count, uint32_t other_count, uint32_t channels) {
  float *states = random_states(count, (size_t)count * channels),
        *others = random_states(count + 1, (size_t)other_count * channels),
        *between = malloc(sizeof(float) * count * other_count),
        *own = malloc(sizeof(float) * count * count);
  for (uint32_t c = 0; c < channels; c++) states[c] = 0.0f; /* the first has no direction */
  assert_ok(heed_patches_similarity(context, states, count, others, other_count, channels, between,
                                    &error));
  assert_ok(heed_patches_similarity(context, states, count, NULL, 0, channels, own, &error));
  for (uint32_t i = 0; i < count; i++) {
    const float *a = states + (size_t)i * channels;
    for (uint32_t j = 0; j < other_count; j++) {
      const float found = between[(size_t)i * other_count + j],
                  wanted = heed_cosine(a, others + (size_t)j * channels, channels);
      if (i == 0)
        assert_true(isnan(found));
      else
        assert_near((double)found, (double)wanted, 1e-6, "similarity");
    }
    for (uint32_t j = 0; j < count; j++) {
      const float found = own[(size_t)i * count + j];
      if (i == 0 || j == 0) {
        assert_true(isnan(found));
        continue;
      }
      assert_near((double)found, (double)heed_cosine(a, states + (size_t)j * channels, channels),
                  1e-6, "similarity");
      assert_true(found == own[(size_t)j * count + i]);
    }
  }
  free(states);
  free(others);
  free(between);
  free(own);
}

static void test_similarity(void **state) {
  (void)state;
  check_similarity(2, 1, 1);
  check_similarity(33, 70, 5);
  check_similarity(65, 31, 200);
  check_similarity(520, 40, 64); /* shared by threads */
  float out[1];
  const float one[1] = {1.0f};
  assert_fails(heed_patches_similarity(context, one, 0, NULL, 0, 1, out, &error),
               HEED_INVALID_ARGUMENT, "nothing to compare");
  assert_fails(heed_patches_similarity(context, one, 1, one, 0, 1, out, &error),
               HEED_INVALID_ARGUMENT, "nothing to compare");
}

static void test_match(void **state) {
  (void)state;
  const float similarity[4][3] = {
      {0.9f, 0.2f, 0.9f}, /* 0: nearest is 0, the first of equals; 0's nearest is 0 */
      {0.1f, 0.3f, NAN},  /* 1: nearest is 1, whose nearest is 2 */
      {0.0f, 0.8f, 0.4f}, /* 2 and 1 */
      {NAN, NAN, NAN},
  };
  int32_t match[4];
  heed_patches_match(&similarity[0][0], 4, 3, match);
  const int32_t expected[4] = {0, -1, 1, -1};
  assert_memory_equal(match, expected, sizeof expected);
}

/* ------------------------------------------------------------------------------ norms, clusters */

static void test_outliers(void **state) {
  (void)state;
  const float states[6] = {3.0f, 4.0f, -5.0f, 12.0f, 0.0f, NAN};
  float norms[9], bound;
  uint8_t outlier[9];
  heed_patches_norms(states, 3, 2, norms);
  assert_true(norms[0] == 5.0f && norms[1] == 13.0f && isnan(norms[2]));

  /* median 3, deviations 2 1 0 1 2 97: their median is 1.5 */
  const float some[7] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 100.0f, NAN};
  assert_ok(heed_patches_outliers(context, some, 5, outlier, &bound, &error));
  assert_near((double)bound, 3.0 + 6.0 * 1.4826 * 1.0, 1e-5, "bound of an odd number");
  assert_memory_equal(outlier, "\0\0\0\0\0", 5);
  assert_ok(heed_patches_outliers(context, some, 7, outlier, &bound, &error));
  assert_near((double)bound, 3.5 + 6.0 * 1.4826 * 1.5, 1e-5, "bound of an even number");
  assert_memory_equal(outlier, "\0\0\0\0\0\1\0", 7);
  assert_ok(heed_patches_outliers(context, some + 6, 1, outlier, &bound, &error));
  assert_true(isnan(bound) && outlier[0] == 0);
  assert_ok(heed_patches_outliers(context, some, 0, outlier, &bound, &error));
  assert_true(isnan(bound));
}

/* Directions of three rays, of different lengths, and one patch without. */
static void test_clusters(void **state) {
  (void)state;
  const float states[8][2] = {{1, 0.1f}, {5, 0},  {0, 2},       {0.1f, 9},
                              {-3, 0},   {-1, 0}, {0.0f, 0.0f}, {2, -0.1f}};
  int32_t cluster[8], again[8];
  float centres[3][2];
  assert_ok(heed_patches_cluster(context, &states[0][0], 8, 2, 3, cluster, &centres[0][0], &error));
  /* the mean points to the upper right: the patches at the left are the farthest, the first of them
   * begins; then the lower right one, then the upper one */
  const int32_t expected[8] = {1, 1, 2, 2, 0, 0, -1, 1};
  assert_memory_equal(cluster, expected, sizeof expected);
  assert_near((double)centres[0][0], -1.0, 1e-7, "centre");
  assert_near((double)centres[0][1], 0.0, 1e-7, "centre");
  const double up = 0.1 / sqrt(0.01 + 81.0);
  assert_near((double)centres[2][0], up / 2.0, 1e-7, "centre");
  assert_ok(heed_patches_cluster(context, &states[0][0], 8, 2, 3, again, NULL, &error));
  assert_memory_equal(cluster, again, sizeof again);

  /* more clusters than directions: those without patches stay empty */
  const float same[3][2] = {{1, 1}, {2, 2}, {0, 0}};
  assert_ok(heed_patches_cluster(context, &same[0][0], 3, 2, 3, cluster, NULL, &error));
  const int32_t together[3] = {0, 0, -1};
  assert_memory_equal(cluster, together, sizeof together);
  assert_ok(heed_patches_cluster(context, &same[2][0], 1, 2, 1, cluster, NULL, &error));
  assert_int_equal(cluster[0], -1);
  assert_fails(heed_patches_cluster(context, &same[0][0], 3, 2, 4, cluster, NULL, &error),
               HEED_INVALID_ARGUMENT, "found 4 for 3 states");
  assert_fails(heed_patches_cluster(context, &same[0][0], 3, 2, 0, cluster, NULL, &error),
               HEED_INVALID_ARGUMENT, "found 0");
}

/* ---------------------------------------------------------------------------- threads and memory
 */

static void put_tile(size_t row, size_t column, size_t rows, size_t columns,
                     const double tile[HEED_TILE_ROWS * HEED_TILE_COLUMNS], void *user) {
  const heed_symmetric *to = user;
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < columns; c++)
      to->strips[((column + c) / HEED_EIGEN_STRIP * to->n + row + r) * HEED_EIGEN_STRIP +
                 (column + c) % HEED_EIGEN_STRIP] = tile[r * HEED_TILE_COLUMNS + c];
}

/* The same bits by one thread and by several. */
static void test_threads(void **state) {
  (void)state;
  enum { n = 130, size = 70, entries = 5 * n * HEED_EIGEN_STRIP };
  float *values = random_states(9, n * size);
  double *matrices[2], found[2][3], vectors[2][3 * n];
  const heed_vectors of = {values, n, size, size, 1};
  for (uint32_t t = 0; t < 2; t++) {
    heed_thread_pool *pool;
    assert_ok(heed_thread_pool_create(context, t ? 5 : 1, &pool, &error));
    matrices[t] = heed_alloc(context, entries, sizeof(double));
    heed_symmetric matrix = {matrices[t], n};
    assert_ok(heed_products(context, pool, &of, &of, put_tile, &matrix, &error));
    assert_ok(heed_eigen_largest(context, pool, &matrix, 3, found[t], vectors[t], &error));
    heed_thread_pool_destroy(pool);
  }
  assert_memory_equal(matrices[0], matrices[1], entries * sizeof(double));
  assert_memory_equal(found[0], found[1], sizeof found[0]);
  assert_memory_equal(vectors[0], vectors[1], sizeof vectors[0]);
  for (uint32_t t = 0; t < 2; t++) heed_free(context, matrices[t]);
  free(values);
}

typedef heed_status (*patch_call)(heed_context *counted, const float *states);

static heed_status call_pca(heed_context *counted, const float *states) {
  const heed_patches grid = {6, 6};
  heed_pca pca = make_pca(36, 40);
  const heed_status status = heed_patches_pca(counted, states, &grid, 1, 40, &pca, &error);
  free_pca(&pca);
  return status;
}

static heed_status call_similarity(heed_context *counted, const float *states) {
  float similarity[12];
  return heed_patches_similarity(counted, states, 3, states, 4, 7, similarity, &error);
}

static heed_status call_outliers(heed_context *counted, const float *states) {
  uint8_t outlier[9];
  float bound;
  return heed_patches_outliers(counted, states, 9, outlier, &bound, &error);
}

static heed_status call_cluster(heed_context *counted, const float *states) {
  int32_t cluster[9];
  return heed_patches_cluster(counted, states, 9, 4, 2, cluster, NULL, &error);
}

static void test_memory(void **state) {
  (void)state;
  static const patch_call calls[] = {call_pca, call_similarity, call_outliers, call_cluster};
  float *states = random_states(3, 36 * 40);
  for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
    size_t n = 1;
    for (bool reached = true; reached; n++) {
      test_allocator allocator = {0, 0, 0};
      const heed_context_desc counting = test_context_desc(&allocator);
      heed_context *counted;
      assert_ok(heed_context_create(&counting, &counted, &error));
      allocator.fail_at = allocator.total + n;
      const heed_status status = calls[c](counted, states);
      reached = allocator.total >= allocator.fail_at;
      assert_int_equal(status, reached ? HEED_OUT_OF_MEMORY : HEED_OK);
      heed_context_destroy(counted);
      assert_int_equal(allocator.live, 0);
    }
    assert_true(n > 2);
  }
  free(states);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_waves),           cmocka_unit_test(test_properties),
      cmocka_unit_test(test_equal_variances), cmocka_unit_test(test_foreground),
      cmocka_unit_test(test_degenerate),      cmocka_unit_test(test_similarity),
      cmocka_unit_test(test_match),           cmocka_unit_test(test_outliers),
      cmocka_unit_test(test_clusters),        cmocka_unit_test(test_threads),
      cmocka_unit_test(test_memory),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
