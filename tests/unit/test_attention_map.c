/* Attention maps against definitions written out again in double, and rollout against the reference
 * model's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/vector_file.h"
/* after it: its functions have errors of their own */
#include "support/test_context.h"

/* `rows` rows of n positive weights that add up to 1. */
static float *random_rows(test_random *random, size_t rows, uint32_t n) {
  float *made = malloc(rows * n * sizeof *made);
  for (size_t r = 0; r < rows; r++) {
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++)
      sum += (double)(made[r * n + i] = expf(2.0f * test_random_normal(random)));
    for (uint32_t i = 0; i < n; i++) made[r * n + i] = (float)((double)made[r * n + i] / sum);
  }
  return made;
}

static void assert_near(double found, double expected, double allowed, const char *what) {
  if (!(fabs(found - expected) <= allowed))
    fail_msg("%s: found %.9g, expected %.9g", what, found, expected);
}

/* -------------------------------------------------------------------------------- mean, rollout */

static void test_head_mean(void **state) {
  (void)state;
  enum { heads = 5, n = 7 };
  test_random random = {1};
  float *attention = random_rows(&random, (size_t)heads * n, n), mean[n * n];
  heed_map_head_mean(attention, heads, n, mean);
  for (uint32_t i = 0; i < n * n; i++) {
    double sum = 0.0;
    for (uint32_t h = heads; h-- > 0;) sum += (double)attention[h * n * n + i];
    assert_near((double)mean[i], sum / (double)heads, 1e-7, "mean");
  }
  free(attention);
}

/* The definition, layer matrices multiplied from the left: R <- M R, M = rows of (1-r) A + r I
 * divided by their sums. */
static void reference_rollout(const heed_rollout_desc *desc, uint32_t first, uint32_t last,
                              double r, const float *attention, double *result) {
  const uint32_t n = desc->tokens;
  double *m = calloc((size_t)n * n, sizeof *m), *old = calloc((size_t)n * n, sizeof *old);
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t j = 0; j < n; j++) result[i * n + j] = i == j;
  for (uint32_t layer = first; layer <= last; layer++) {
    for (uint32_t i = 0; i < n; i++) {
      double sum = 0.0;
      for (uint32_t j = 0; j < n; j++) {
        double total = 0.0, low = (double)INFINITY, high = -(double)INFINITY;
        for (uint32_t h = 0; h < desc->heads; h++) {
          const double a = (double)attention[((layer * desc->heads + h) * n + i) * n + j];
          total += a / desc->heads;
          low = fmin(low, a);
          high = fmax(high, a);
        }
        m[i * n + j] = (1.0 - r) * (desc->fusion == HEED_FUSION_MEAN  ? total
                                    : desc->fusion == HEED_FUSION_MIN ? low
                                                                      : high) +
                       (i == j ? r : 0.0);
        sum += m[i * n + j];
      }
      for (uint32_t j = 0; j < n; j++) m[i * n + j] /= sum;
    }
    memcpy(old, result, (size_t)n * n * sizeof *old);
    for (uint32_t i = 0; i < n; i++)
      for (uint32_t j = 0; j < n; j++) {
        result[i * n + j] = 0.0;
        for (uint32_t k = 0; k < n; k++) result[i * n + j] += m[i * n + k] * old[k * n + j];
      }
  }
  free(m);
  free(old);
}

/* The row of a token, and of weights of all tokens, from the rollout of all. */
static void check_rollout_rows(const heed_rollout_desc *desc, const float *attention,
                               const double *all) {
  const uint32_t n = desc->tokens;
  float *start = calloc(n, sizeof *start), *row = calloc(n, sizeof *row);
  start[n / 2] = 1.0f;
  assert_ok(heed_map_rollout_row(context, desc, attention, start, row, &error));
  for (uint32_t j = 0; j < n; j++)
    assert_near((double)row[j], all[n / 2 * n + j], 1e-7, "row of the rollout");
  for (uint32_t i = 0; i < n; i++) start[i] = 2.0f / (float)n * (float)(i % 2);
  assert_ok(heed_map_rollout_row(context, desc, attention, start, row, &error));
  for (uint32_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (uint32_t i = 0; i < n; i++) sum += (double)start[i] * all[i * n + j];
    assert_near((double)row[j], sum, 1e-7, "mixture of rows of the rollout");
  }
  free(start);
  free(row);
}

static void check_rollout(heed_fusion fusion, uint32_t n, float residual, uint32_t first,
                          uint32_t last) {
  const heed_rollout_desc desc = {
      sizeof desc, 4, 3, n, fusion, residual, first, last ? last + 1 - first : 0, 0.0f};
  test_random random = {n + 100u * (uint32_t)fusion};
  float *attention = random_rows(&random, (size_t)desc.layers * desc.heads * n, n),
        *rollout = malloc((size_t)n * n * sizeof *rollout);
  double *expected = malloc((size_t)n * n * sizeof *expected);
  reference_rollout(&desc, first, last ? last : 3, residual == 0.0f ? 0.5 : (double)residual,
                    attention, expected);
  assert_ok(heed_map_rollout(context, &desc, attention, rollout, &error));
  for (uint32_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (uint32_t j = 0; j < n; j++) {
      assert_near((double)rollout[i * n + j], expected[i * n + j], 1e-7, "rollout");
      sum += (double)rollout[i * n + j];
    }
    assert_near(sum, 1.0, 1e-6, "sum over keys"); /* for every fusion */
  }
  check_rollout_rows(&desc, attention, expected);
  free(attention);
  free(rollout);
  free(expected);
}

static void test_rollout(void **state) {
  (void)state;
  static const uint32_t sizes[] = {1, 2, 5, 17, 64, 65, 131, 200}; /* blocks of 64 rows */
  for (int fusion = 0; fusion < 3; fusion++)
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
      check_rollout((heed_fusion)fusion, sizes[k], 0.0f, 0, 0);
      check_rollout((heed_fusion)fusion, sizes[k], 0.25f, 0, 2);
      check_rollout((heed_fusion)fusion, sizes[k], 1.0f, 1, 1);
      check_rollout((heed_fusion)fusion, sizes[k], 0.5f, 3, 0);
    }
  check_rollout(HEED_FUSION_MEAN, 785, 0.0f, 0, 0); /* threads */
}

/* A second panel of columns, with keys that most queries look at: rows beside those that go through
 * the layers alone, in double. */
static void test_rollout_panels(void **state) {
  (void)state;
  enum { N = 1985, LAYERS = 3 };
  static const uint32_t queries[] = {0, 63, 64, 1919, 1920, N - 1};
  const heed_rollout_desc desc = {sizeof desc, LAYERS, 1, N, HEED_FUSION_MEAN, 0.0f, 0, 0, 0.0f};
  test_random random = {7};
  float *attention = random_rows(&random, (size_t)LAYERS * N, N),
        *rollout = malloc((size_t)N * N * sizeof *rollout), *start = calloc(N, sizeof *start),
        *row = malloc(N * sizeof *row);
  for (size_t r = 0; r < (size_t)LAYERS * N; r += 3)
    for (uint32_t k = 0; k < N; k++)
      attention[r * N + k] = 0.1f * attention[r * N + k] + (k == 1950 ? 0.9f : 0.0f);
  assert_ok(heed_map_rollout(context, &desc, attention, rollout, &error));
  for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
    start[queries[q]] = 1.0f;
    assert_ok(heed_map_rollout_row(context, &desc, attention, start, row, &error));
    start[queries[q]] = 0.0f;
    for (uint32_t k = 0; k < N; k++)
      assert_near((double)rollout[(size_t)queries[q] * N + k], (double)row[k], 1e-7, "rollout");
  }
  free(attention);
  free(rollout);
  free(start);
  free(row);
}

/* The smallest weights of each row go, ties by index, before the identity is added; the row still
 * adds up to 1. */
static void test_rollout_discard(void **state) {
  (void)state;
  const float attention[25] = {0.1f, 0.1f, 0.5f, 0.2f, 0.1f, 0.5f, 0.1f, 0.1f, 0.1f,
                               0.2f, 0,    0,    1,    0,    0,    0.2f, 0.2f, 0.2f,
                               0.2f, 0.2f, 0.2f, 0.3f, 0.1f, 0.2f, 0.2f};
  static const double left[25] = {0, 0, 0.5, 0.2, 0.1, 0.5, 0,   0, 0.1, 0.2, 0,   0,  1,
                                  0, 0, 0,   0,   0.2, 0.2, 0.2, 0, 0.3, 0,   0.2, 0.2};
  static const double sums[5] = {0.8, 0.8, 1.0, 0.6, 0.7};
  float rollout[25];
  const heed_rollout_desc desc = {
      .struct_size = sizeof desc, .layers = 1, .heads = 1, .tokens = 5, .discard = 0.5f};
  assert_ok(heed_map_rollout(context, &desc, attention, rollout, &error));
  for (int i = 0; i < 25; i++)
    assert_near((double)rollout[i], (left[i] + (i % 6 == 0)) / (sums[i / 5] + 1.0), 1e-7,
                "rollout");
}

/* Rows with nothing allowed are zero; the token then looks at itself, and the row still adds up to
 * 1. */
static void test_rollout_empty_row(void **state) {
  (void)state;
  const float attention[4] = {0.0f, 0.0f, 0.75f, 0.25f};
  float rollout[4];
  const heed_rollout_desc desc = {sizeof desc, 1, 1, 2, HEED_FUSION_MEAN, 0.0f, 0, 0, 0.0f};
  assert_ok(heed_map_rollout(context, &desc, attention, rollout, &error));
  assert_true(rollout[0] == 1.0f && rollout[1] == 0.0f && rollout[2] == 0.375f &&
              rollout[3] == 0.625f);
}

/* A NaN shows in the row and wherever the row is used, with every fusion; it is never taken for a
 * small or large weight. */
static void test_rollout_nan(void **state) {
  (void)state;
  for (int fusion = 0; fusion < 3; fusion++) {
    for (int at = 0; at < 2; at++) {
      float attention[8] = {1, 0, 0, 1, 1, 0, 0, 1}, rollout[4];
      const heed_rollout_desc desc = {sizeof desc, 1, 2, 2, (heed_fusion)fusion, 0.0f, 0, 0, 0.0f};
      attention[4 * at] = NAN;
      assert_ok(heed_map_rollout(context, &desc, attention, rollout, &error));
      assert_true(isnan(rollout[0]) && rollout[3] == 1.0f);
    }
  }
}

static void test_rollout_of_reference_model(void **state) {
  (void)state;
  vector_file file = vector_file_open("vit/micro_32/io.safetensors");
  heed_shape shape, square;
  float *first = vector_file_read(&file, "expect.attention.0", HEED_F32, &shape);
  float *second = vector_file_read(&file, "expect.attention.1", HEED_F32, &shape);
  float *expected = vector_file_read(&file, "expect.rollout", HEED_F32, &square);
  const uint32_t batch = shape.dim[0], heads = shape.dim[1], n = shape.dim[2];
  const size_t count = (size_t)heads * n * n;
  float *attention = malloc(2 * count * sizeof *attention),
        *rollout = malloc((size_t)n * n * sizeof *rollout);
  const heed_rollout_desc desc = {sizeof desc, 2, heads, n, HEED_FUSION_MEAN, 0.0f, 0, 0, 0.0f};
  assert_int_equal(square.dim[0], batch);
  for (uint32_t b = 0; b < batch; b++) {
    memcpy(attention, first + b * count, count * sizeof *attention);
    memcpy(attention + count, second + b * count, count * sizeof *attention);
    assert_ok(heed_map_rollout(context, &desc, attention, rollout, &error));
    for (uint32_t i = 0; i < n * n; i++)
      assert_near((double)rollout[i], (double)expected[b * n * n + i], 1e-6, "rollout");
  }
  free(attention);
  free(rollout);
  free(first);
  free(second);
  free(expected);
  vector_file_close(&file);
}

static void test_rollout_refused(void **state) {
  (void)state;
  const float attention[4] = {1, 0, 0, 1};
  float rollout[4];
  const heed_rollout_desc good = {sizeof good, 1, 1, 2, HEED_FUSION_MEAN, 0.0f, 0, 0, 0.0f};
  heed_rollout_desc desc = good;
  desc.struct_size = 3;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_INVALID_ARGUMENT,
               "rollout: struct_size is invalid (found 3");
  desc = good, desc.heads = 0;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_INVALID_ARGUMENT,
               "found 1 layers, 0 heads");
  desc = good, desc.first_layer = 1;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_INVALID_ARGUMENT,
               "layers out of range (found 0 from 1");
  desc = good, desc.discard = 1.0f;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_INVALID_ARGUMENT,
               "invalid discard (found 1,");
  desc = good, desc.layer_count = 2;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_INVALID_ARGUMENT,
               "layers out of range");
  desc = good, desc.layers = 3, desc.first_layer = 2, desc.layer_count = 2;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_INVALID_ARGUMENT,
               "layers out of range (found 2 from 2");
  desc = good, desc.residual = NAN;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_INVALID_ARGUMENT,
               "invalid residual");
  desc = good, desc.residual = 1.5f;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_INVALID_ARGUMENT,
               "found 1.5");
  desc = good, desc.fusion = (heed_fusion)7;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_INVALID_ARGUMENT,
               "unknown fusion (found 7");
  /* no allocation of this size can be had: refused before attention is read */
  desc = good, desc.tokens = UINT32_MAX;
  assert_fails(heed_map_rollout(context, &desc, attention, rollout, &error), HEED_OUT_OF_MEMORY,
               "rollout: out of memory");
}

static void test_rollout_out_of_memory(void **state) {
  (void)state;
  const float attention[4] = {1, 0, 0, 1};
  float rollout[4];
  const heed_rollout_desc desc = {sizeof desc, 1, 1, 2, HEED_FUSION_MEAN, 0.0f, 0, 0, 0.0f};
  size_t n = 1;
  for (bool reached = true; reached; n++) {
    test_allocator allocator = {0, 0, 0};
    const heed_context_desc counting = test_context_desc(&allocator);
    heed_context *counted;
    assert_ok(heed_context_create(&counting, &counted, &error));
    allocator.fail_at = allocator.total + n;
    const heed_status status = heed_map_rollout(counted, &desc, attention, rollout, &error);
    reached = allocator.total >= allocator.fail_at;
    assert_int_equal(status, reached ? HEED_OUT_OF_MEMORY : HEED_OK);
    heed_context_destroy(counted);
    assert_int_equal(allocator.live, 0);
  }
  assert_int_equal(n, 10); /* eight allocations, then a pass without a failure */
}

/* start is the row too, and keeps what it held where there is no memory. */
static void test_rollout_row_fails(void **state) {
  (void)state;
  const float attention[8] = {1, 0, 0.5f, 0.5f, 0, 1, 1, 0};
  const heed_rollout_desc good = {sizeof good, 2, 1, 2, HEED_FUSION_MEAN, 0.0f, 0, 0, 0.0f};
  heed_rollout_desc desc = good;
  float row[2] = {0.0f, 1.0f};
  desc.layers = 0;
  assert_fails(heed_map_rollout_row(context, &desc, attention, row, row, &error),
               HEED_INVALID_ARGUMENT, "rollout: empty attention (found 0 layers");
  size_t n = 1;
  for (bool reached = true; reached; n++) {
    test_allocator allocator = {0, 0, 0};
    const heed_context_desc counting = test_context_desc(&allocator);
    heed_context *counted;
    assert_ok(heed_context_create(&counting, &counted, &error));
    allocator.fail_at = allocator.total + n;
    const heed_status status = heed_map_rollout_row(counted, &good, attention, row, row, &error);
    reached = allocator.total >= allocator.fail_at;
    assert_int_equal(status, reached ? HEED_OUT_OF_MEMORY : HEED_OK);
    if (reached) assert_true(row[0] == 0.0f && row[1] == 1.0f);
    heed_context_destroy(counted);
    assert_int_equal(allocator.live, 0);
  }
  /* [0, 1] x [0.5, 0.5; 0.5, 0.5] x [1, 0; 0.25, 0.75] */
  assert_true(row[0] == 0.625f && row[1] == 0.375f);
}

/* ------------------------------------------------------------------------- entropy and distance */

static void test_entropy(void **state) {
  (void)state;
  float uniform[64];
  const float one[4] = {0, 0, 1, 0}, bad[2] = {0.5f, NAN};
  for (int i = 0; i < 64; i++) uniform[i] = 1.0f / 64.0f;
  assert_near(heed_map_entropy(uniform, 64), log(64.0), 1e-12, "uniform");
  assert_near(heed_map_entropy(one, 4), 0.0, 0.0, "one key");
  assert_true(isnan(heed_map_entropy(bad, 2)));
  test_random random = {6};
  float *row = random_rows(&random, 1, 197);
  double expected = 0.0;
  for (int i = 196; i >= 0; i--) expected += (double)row[i] * log(1.0 / (double)row[i]);
  assert_near(heed_map_entropy(row, 197), expected, 1e-12, "random");
  free(row);
}

/* Written out over both coordinates of query and key. */
static double reference_distance(const float *attention, uint32_t prefix, uint32_t rows,
                                 uint32_t columns, double patch, bool renormalise) {
  const uint32_t n = prefix + rows * columns;
  double sum = 0.0;
  for (uint32_t qy = 0; qy < rows; qy++)
    for (uint32_t qx = 0; qx < columns; qx++) {
      double moment = 0.0, mass = 0.0;
      for (uint32_t ky = 0; ky < rows; ky++)
        for (uint32_t kx = 0; kx < columns; kx++) {
          const double weight =
              (double)attention[(prefix + qy * columns + qx) * n + prefix + ky * columns + kx];
          moment += weight * patch * hypot((double)qy - ky, (double)qx - kx);
          mass += weight;
        }
      sum += renormalise ? moment / mass : moment;
    }
  return sum / (rows * columns);
}

static void test_distance(void **state) {
  (void)state;
  static const uint32_t grids[][3] = {{1, 1, 1}, {0, 2, 3}, {1, 4, 4}, {5, 3, 7}, {2, 6, 1}};
  test_random random = {8};
  for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
    const uint32_t prefix = grids[k][0], rows = grids[k][1], columns = grids[k][2],
                   n = prefix + rows * columns;
    float *attention = random_rows(&random, n, n);
    for (int renormalise = 0; renormalise < 2; renormalise++)
      assert_near(heed_map_distance(attention, prefix, rows, columns, 16.0, renormalise),
                  reference_distance(attention, prefix, rows, columns, 16.0, renormalise), 1e-10,
                  "distance");
    free(attention);
  }
}

/* Two patches side by side and CLS: a quarter of the weight on the other one. The variants differ
 * by CLS's share. */
static void test_distance_by_hand(void **state) {
  (void)state;
  const float attention[9] = {1,     0,    0, /* patch 0 */ 0.5f, 0.25f, 0.25f, /* patch 1 */ 0.5f,
                              0.25f, 0.25f};
  assert_near(heed_map_distance(attention, 1, 1, 2, 16.0, false), 4.0, 0.0, "CLS counted as 0");
  assert_near(heed_map_distance(attention, 1, 1, 2, 16.0, true), 8.0, 0.0, "over patches");
  const float all_on_cls[9] = {1, 0, 0, 1, 0, 0, 1, 0, 0};
  assert_near(heed_map_distance(all_on_cls, 1, 1, 2, 16.0, true), 0.0, 0.0, "no mass on patches");
}

/* ----------------------------------------------------------------------------------- statistics */

static int larger_first(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x < y) - (x > y);
}

/* The mean over patch queries of what a row holds on prefix tokens, on itself, and on its five
 * largest, by sorting all of it. */
static void reference_masses(const float *attention, uint32_t prefix, uint32_t n,
                             double masses[3]) {
  float *sorted = malloc(n * sizeof *sorted);
  masses[0] = masses[1] = masses[2] = 0.0;
  for (uint32_t q = prefix; q < n; q++) {
    memcpy(sorted, attention + (size_t)q * n, n * sizeof *sorted);
    for (uint32_t k = 0; k < prefix; k++) masses[0] += (double)sorted[k] / (n - prefix);
    masses[1] += (double)sorted[q] / (n - prefix);
    qsort(sorted, n, sizeof *sorted, larger_first);
    for (uint32_t k = 0; k < n && k < 5; k++) masses[2] += (double)sorted[k] / (n - prefix);
  }
  free(sorted);
}

static void test_statistics(void **state) {
  (void)state;
  static const uint32_t grids[][3] = {{1, 1, 1}, {0, 2, 2}, {0, 1, 5},
                                      {1, 2, 3}, {5, 3, 7}, {1, 14, 14}};
  test_random random = {13};
  for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
    const uint32_t prefix = grids[k][0], n = prefix + grids[k][1] * grids[k][2];
    float *attention = random_rows(&random, n, n);
    double masses[3], entropy = 0.0;
    heed_map_statistics found;
    heed_map_get_statistics(attention, prefix, grids[k][1], grids[k][2], 16.0, &found);
    reference_masses(attention, prefix, n, masses);
    for (uint32_t q = prefix; q < n; q++)
      entropy += heed_map_entropy(attention + (size_t)q * n, n) / (n - prefix);
    assert_near(found.prefix_mass, masses[0], 1e-12, "on prefix tokens");
    assert_near(found.self_mass, masses[1], 1e-12, "on itself");
    assert_near(found.top5_mass, masses[2], 1e-12, "five largest");
    assert_near(found.entropy_patches, entropy, 1e-12, "entropy of patches");
    assert_near(found.entropy_cls, prefix ? heed_map_entropy(attention, n) : 0.0, 0.0,
                "entropy of CLS");
    assert_near(found.distance,
                heed_map_distance(attention, prefix, grids[k][1], grids[k][2], 16.0, false), 0.0,
                "distance");
    free(attention);
  }
}

/* Of patch queries: their weights on each token before them, and the squares of those on patches.
 */
static void check_places(const float *attention, size_t prefix, size_t patches,
                         const double *before, double squares) {
  const size_t n = prefix + patches;
  double square = 0.0;
  for (size_t k = 0; k < n; k++) {
    double sum = 0.0;
    for (size_t q = prefix; q < n; q++) {
      const double weight = (double)attention[q * n + k];
      sum += weight;
      if (k >= prefix) square += weight * weight;
    }
    if (k < prefix) assert_near(before[k], sum / (double)patches, 1e-14, "on a prefix token");
  }
  assert_near(squares, square / (double)patches, 1e-13, "squares");
}

/* One pass over a row against the numbers one by one; rows with zeros, a spike and denormals. The
 * second head finds nothing of the first in the scan. */
static void test_scan(void **state) {
  (void)state;
  static const uint32_t grids[][3] = {{1, 1, 1}, {0, 2, 2},   {0, 1, 5},   {3, 40, 1},
                                      {5, 3, 7}, {1, 14, 14}, {1, 16, 17}, {0, 33, 31}};
  test_random random = {17};
  for (size_t k = 0; k < sizeof grids / sizeof *grids; k++) {
    const uint32_t prefix = grids[k][0], rows = grids[k][1], columns = grids[k][2],
                   n = prefix + rows * columns, width = 2 * columns - 1;
    heed_map_scan *scan;
    double *offsets = malloc((2 * rows - 1) * width * sizeof *offsets);
    assert_ok(heed_map_scan_create(context, prefix, rows, columns, 16.0, &scan, &error));
    for (int head = 0; head < 2; head++) {
      float *attention = random_rows(&random, n, n);
      heed_map_statistics found, expected;
      for (uint32_t i = 0; i < n; i++) attention[(size_t)(n - 1) * n + i] = i ? 0.0f : 1.0f;
      for (uint32_t i = 1; i < n; i += 2) attention[(size_t)prefix * n + i] = 1e-39f;
      double before[5], squares;
      heed_map_scan_head(scan, attention, &found, offsets, before, &squares);
      check_places(attention, prefix, rows * columns, before, squares);
      heed_map_get_statistics(attention, prefix, rows, columns, 16.0, &expected);
      assert_near(found.entropy_cls, expected.entropy_cls, 0.0, "entropy of CLS");
      assert_near(found.entropy_patches, expected.entropy_patches, 3e-8, "entropy of patches");
      assert_near(found.distance, expected.distance, 1e-12 * 16.0 * n, "distance");
      assert_near(found.distance_renormalised, expected.distance_renormalised, 1e-12 * 16.0 * n,
                  "distance, renormalised");
      assert_near(found.prefix_mass, expected.prefix_mass, 1e-12, "on prefix tokens");
      assert_near(found.self_mass, expected.self_mass, 1e-12, "on itself");
      assert_near(found.top5_mass, expected.top5_mass, 1e-12, "five largest");
      for (int64_t down = 1 - (int64_t)rows; down < (int64_t)rows; down++)
        for (int64_t across = 1 - (int64_t)columns; across < (int64_t)columns; across++) {
          double sum = 0.0;
          for (int64_t q = 0; q < (int64_t)rows * columns; q++) {
            const int64_t r = q / columns + down, c = q % columns + across;
            if (r >= 0 && r < (int64_t)rows && c >= 0 && c < (int64_t)columns)
              sum +=
                  (double)attention[(size_t)(prefix + q) * n + (size_t)(prefix + r * columns + c)];
          }
          assert_near(offsets[(size_t)(down + rows - 1) * width + (size_t)(across + columns - 1)],
                      sum / (rows * columns), 1e-14, "offsets");
        }
      attention[(size_t)prefix * n] = NAN;
      heed_map_scan_head(scan, attention, &found, NULL, NULL, NULL);
      assert_true(isnan(found.entropy_patches));
      free(attention);
    }
    free(offsets);
    heed_map_scan_destroy(scan);
  }
  heed_map_scan *none;
  assert_int_equal(heed_map_scan_create(context, 1, 0, 3, 16.0, &none, &error),
                   HEED_INVALID_ARGUMENT);
  heed_map_scan_destroy(none);
}

/* A logarithm of each magnitude against the one of the C library. */
static void test_scan_logarithm(void **state) {
  (void)state;
  heed_map_scan *scan;
  heed_map_statistics found;
  double worst = 0.0;
  assert_ok(heed_map_scan_create(context, 0, 1, 1, 1.0, &scan, &error));
  for (uint32_t i = 0; i < 200000; i++) {
    const float weight = (float)exp(-87.0 * i / 200000.0);
    heed_map_scan_head(scan, &weight, &found, NULL, NULL, NULL);
    worst = fmax(worst, fabs(found.entropy_patches / -(double)weight - log((double)weight)));
  }
  assert_true(worst <= 3e-8);
  assert_true(worst > 1e-12); /* and it was this logarithm that was asked */
  heed_map_scan_destroy(scan);
}

/* Equal weights count as often as they are there; a NaN anywhere makes the number one. */
static void test_five_largest_by_hand(void **state) {
  (void)state;
  float attention[49] = {0};
  heed_map_statistics found;
  for (uint32_t q = 0; q < 7; q++)
    for (uint32_t k = 0; k < 7; k++) attention[q * 7 + k] = k < 6 ? 0.125f : 0.25f;
  heed_map_get_statistics(attention, 1, 2, 3, 16.0, &found);
  assert_near(found.top5_mass, 0.75, 0.0, "ties");
  for (uint32_t k = 0; k < 7; k++) {
    attention[3 * 7 + k] = NAN;
    heed_map_get_statistics(attention, 1, 2, 3, 16.0, &found);
    assert_true(isnan(found.top5_mass));
    attention[3 * 7 + k] = 0.125f;
  }
}

/* ------------------------------------------------------------------------------------ mass mask */

static void check_mask(const float *weights, uint32_t n, double share, const char *expected) {
  uint8_t mask[16];
  uint32_t order[16], count = 0;
  char found[17] = "";
  const uint32_t returned = heed_map_mass_mask(weights, n, share, mask, order);
  for (uint32_t i = 0; i < n; i++) {
    found[i] = mask[i] ? '1' : '0';
    count += mask[i];
  }
  assert_string_equal(found, expected);
  assert_int_equal(returned, count);
}

static void test_mass_mask_by_hand(void **state) {
  (void)state;
  const float weights[6] = {0.125f, 0.25f, 0.25f, 0.25f, 0.125f, 0.0f},
              odd[4] = {NAN, -1.0f, 2.0f, 1.0f}, zero[3] = {0, 0, 0};
  check_mask(weights, 6, 0.5, "011000"); /* ties by index */
  check_mask(weights, 6, 0.51, "011100");
  check_mask(weights, 6, 0.8, "111100");
  check_mask(weights, 6, 1.0, "111110"); /* nothing is gained by a zero */
  check_mask(weights, 6, 0.0, "000000");
  check_mask(odd, 4, 1.0, "0011");
  check_mask(zero, 3, 0.9, "000");
}

/* The smallest set: without its lightest member it no longer holds the share, and no outsider is
 * heavier than a member. */
static void test_mass_mask_is_smallest(void **state) {
  (void)state;
  enum { n = 196 };
  test_random random = {9};
  for (int round = 0; round < 50; round++) {
    float *weights = random_rows(&random, 1, n);
    uint8_t mask[n];
    uint32_t order[n];
    const double share = (double)test_random_uniform(&random, 0.05f, 0.95f);
    heed_map_mass_mask(weights, n, share, mask, order);
    double held = 0.0, total = 0.0, lightest = (double)INFINITY, heaviest = 0.0;
    for (uint32_t i = 0; i < n; i++) {
      const double weight = (double)weights[i];
      total += weight;
      if (mask[i])
        held += weight, lightest = fmin(lightest, weight);
      else
        heaviest = fmax(heaviest, weight);
    }
    if (held < share * total - 1e-12 || held - lightest >= share * total || heaviest > lightest)
      fail_msg("round %d: holds %g of %g, lightest member %g, heaviest outsider %g", round, held,
               share * total, lightest, heaviest);
    free(weights);
  }
}

/* ------------------------------------------------------------------------------------------ top */

static void test_top_by_hand(void **state) {
  (void)state;
  const float logits[5] = {1.0f, 3.0f, -INFINITY, 3.0f, 1000.0f};
  uint32_t index[6] = {9, 9, 9, 9, 9, 9};
  double probability[6];
  assert_int_equal(heed_top(logits, 4, 3, index, probability), 3);
  assert_int_equal(index[0], 1); /* of equals the first */
  assert_int_equal(index[1], 3);
  assert_int_equal(index[2], 0);
  assert_int_equal(index[3], 9);
  /* e^3 / (e + 2 e^3) */
  assert_near(probability[0], 1.0 / (exp(-2.0) + 2.0), 1e-15, "probability of 3");
  assert_near(probability[1], probability[0], 0.0, "probability of its equal");
  assert_near(probability[2], exp(-2.0) / (exp(-2.0) + 2.0), 1e-15, "probability of 1");
  assert_near(heed_probability(logits, 4, 3), probability[1], 0.0, "of one place");
  assert_near(heed_probability(logits, 4, 2), 0.0, 0.0, "of -Inf");
  /* e^1000 is no double; fewer values than were asked for */
  assert_int_equal(heed_top(logits, 5, 6, index, probability), 5);
  assert_int_equal(index[0], 4);
  assert_int_equal(index[4], 2);
  assert_near(probability[0], 1.0, 0.0, "probability of 1000");
  assert_near(probability[4], 0.0, 0.0, "probability of -Inf");
}

static void test_top_of_little(void **state) {
  (void)state;
  const float values[3] = {0.5f, NAN, 0.25f};
  uint32_t index[3] = {9, 9, 9};
  double probability[3];
  assert_int_equal(heed_top(NULL, 0, 5, index, probability), 0);
  assert_int_equal(heed_top(values, 3, 0, NULL, NULL), 0);
  assert_int_equal(index[0], 9);
  assert_int_equal(heed_top(values, 3, 1, index, NULL), 1);
  assert_int_equal(index[0], 0);
  assert_int_equal(heed_top(values, 3, 3, index, probability), 3);
  for (int k = 0; k < 3; k++) assert_true(isnan(probability[k]));
  assert_int_equal(index[1], 2);
  assert_int_equal(index[2], 1); /* NaN comes last, */
  const float first_is_nan[3] = {NAN, -INFINITY, 2.0f};
  assert_int_equal(heed_top(first_is_nan, 3, 3, index, NULL), 3);
  assert_int_equal(index[0], 2); /* also where it is the first */
  assert_int_equal(index[1], 1);
  assert_int_equal(index[2], 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_head_mean),
                                     cmocka_unit_test(test_rollout),
                                     cmocka_unit_test(test_rollout_panels),
                                     cmocka_unit_test(test_rollout_empty_row),
                                     cmocka_unit_test(test_rollout_discard),
                                     cmocka_unit_test(test_rollout_nan),
                                     cmocka_unit_test(test_rollout_of_reference_model),
                                     cmocka_unit_test(test_rollout_refused),
                                     cmocka_unit_test(test_rollout_out_of_memory),
                                     cmocka_unit_test(test_rollout_row_fails),
                                     cmocka_unit_test(test_entropy),
                                     cmocka_unit_test(test_distance),
                                     cmocka_unit_test(test_distance_by_hand),
                                     cmocka_unit_test(test_statistics),
                                     cmocka_unit_test(test_scan),
                                     cmocka_unit_test(test_scan_logarithm),
                                     cmocka_unit_test(test_five_largest_by_hand),
                                     cmocka_unit_test(test_mass_mask_by_hand),
                                     cmocka_unit_test(test_mass_mask_is_smallest),
                                     cmocka_unit_test(test_top_by_hand),
                                     cmocka_unit_test(test_top_of_little)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
