/* What the ledger does with its rows: the same bits by registers of every width, and the numbers of
 * plain loops in double. */
#include "explain/row_kernels.h"

#include <math.h>
#include <stdlib.h>

#include "support/test.h"

DEFINE_ROW_KERNELS(16, )
#if defined(__x86_64__)
DEFINE_ROW_KERNELS(32, __attribute__((target("avx2"))))
DEFINE_ROW_KERNELS(64, __attribute__((target("avx512f,avx512bw,avx512vl"))))
#endif

typedef struct kernels {
  const char *name;
  bool is_here;
  double (*dot)(const double *, const float *, size_t);
  void (*add)(const double *, const float *, size_t, size_t, double *);
  void (*add_panel)(const double *, const float *, size_t, size_t, double *);
  void (*pack)(const float *, size_t, float, unsigned char *, unsigned char *);
  double (*dot_packed)(const double *, const unsigned char *, const unsigned char *, size_t);
} kernels;

#define KERNELS(bits, here)                                                             \
  {                                                                                     \
#bits, here, row_dot_##bits, row_add_##bits, row_add_panel_##bits, row_pack_##bits, \
        row_dot_packed_##bits                                                           \
  }

enum { MOST = 131, ROWS = 5 };

static uint32_t list(kernels all[3]) {
  uint32_t count = 0;
  all[count++] = (kernels)KERNELS(16, true);
#if defined(__x86_64__)
  all[count++] = (kernels)KERNELS(32, __builtin_cpu_supports("avx2") != 0);
  all[count++] = (kernels)KERNELS(
      64, __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"));
#endif
  return count;
}

static double d[MOST];
static float x[ROWS * MOST];

static void fill(void) {
  test_random random = {7};
  for (size_t i = 0; i < MOST; i++) d[i] = (double)test_random_uniform(&random, -2, 2);
  for (size_t i = 0; i < ROWS * MOST; i++) x[i] = test_random_uniform(&random, -1, 1);
}

static void expect_near(double found, double expected, double size) {
  assert_true(fabs(found - expected) <= 1e-14 * size);
}

static void expect_same(const void *a, const void *b, size_t bytes) {
  assert_memory_equal(a, b, bytes);
}

static void check_dot(const kernels *k, const kernels *first, size_t n) {
  double sum = 0.0, size = 1.0;
  for (size_t i = 0; i < n; i++) {
    sum += d[i] * (double)x[i];
    size += fabs(d[i] * (double)x[i]);
  }
  const double found = k->dot(d, x, n), one = first->dot(d, x, n);
  expect_near(found, sum, size);
  expect_same(&found, &one, sizeof found);
}

static void check_add(const kernels *k, const kernels *first, size_t n) {
  double found[MOST], one[MOST];
  for (size_t i = 0; i < n; i++) found[i] = one[i] = (double)i;
  k->add(d, x, ROWS, n, found);
  first->add(d, x, ROWS, n, one);
  for (size_t i = 0; i < n; i++) {
    double sum = (double)i;
    for (size_t r = 0; r < ROWS; r++) sum += d[r] * (double)x[r * n + i];
    expect_near(found[i], sum, 20.0 + (double)i);
  }
  expect_same(found, one, n * sizeof *found);
}

static void check_panel(const kernels *k, const kernels *first, size_t n) {
  double found[ROWS * 8] = {0}, one[ROWS * 8] = {0};
  k->add_panel(d, x, n, ROWS, found);
  first->add_panel(d, x, n, ROWS, one);
  for (size_t r = 0; r < ROWS; r++) {
    double sum = 0.0, lanes = 0.0;
    for (size_t i = 0; i < n; i++) sum += d[i] * (double)x[r * n + i];
    for (size_t l = 0; l < 8; l++) lanes += found[8 * r + l];
    expect_near(lanes, sum, 2.0 * (double)n + 1.0);
  }
  expect_same(found, one, sizeof found);
}

/* Numbers of 20 bits: each within half a step of its own. */
static void check_packed(const kernels *k, const kernels *first, size_t n) {
  unsigned char low[2 * MOST] = {0}, high[MOST] = {0}, one_low[2 * MOST] = {0},
                        one_high[MOST] = {0};
  const float scale = ROW_MIDDLE - 1;
  double unit[MOST] = {0}, sum = 0.0;
  k->pack(x, n, scale, low, high);
  first->pack(x, n, scale, one_low, one_high);
  expect_same(low, one_low, sizeof low);
  expect_same(high, one_high, sizeof high);
  for (size_t i = 0; i < n; i++) {
    unit[i] = 1.0;
    const double number = k->dot_packed(unit, low, high, n);
    unit[i] = 0.0;
    assert_true(fabs(number - (double)(x[i] * scale)) <=
                0.5 + 0.04); /* floats of 2^19 have a 16th */
    sum += d[i] * number;
  }
  const double found = k->dot_packed(d, low, high, n), one = first->dot_packed(d, low, high, n);
  expect_near(found, sum, 2.0 * ROW_MIDDLE * (double)n + 1.0);
  expect_same(&found, &one, sizeof found);
}

static void test_widths(void **state) {
  static const size_t sizes[] = {0, 1, 7, 8, 9, 15, 16, 17, 31, 64, 100, 130, MOST};
  kernels all[3];
  const uint32_t count = list(all);
  (void)state;
  fill();
  for (uint32_t i = 0; i < count; i++) {
    if (!all[i].is_here) {
      print_message("skipped: registers of %s bytes are not on this processor\n", all[i].name);
      continue;
    }
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
      check_dot(&all[i], all, sizes[s]);
      check_add(&all[i], all, sizes[s]);
      check_panel(&all[i], all, sizes[s]);
      check_packed(&all[i], all, sizes[s]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_widths)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
