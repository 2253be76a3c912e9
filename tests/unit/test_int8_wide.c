/* The tile of int8 products that adds its sums as floats (cpu/weights/int8_wide.c): against sums in
 * 64 bits, on every processor with AVX2, whichever tile it is that runs models there. */
#include <stdlib.h>
#include <string.h>

#include "cpu/weights/int8.h"
#include "support/test.h"

enum { COLUMNS = HEED_TILE_COLUMNS, MOST_GROUPS = 300, MOST_ROWS = 6 };

/* Numbers of a row 0 .. 255, weights -128 .. 127; or the largest of both kinds alone. */
static void fill(test_random *random, bool extreme, size_t m, size_t groups, unsigned char *rows,
                 int8_t *panel, heed_cpu_int8_row *row) {
  for (size_t r = 0; r < m; r++) row[r] = (heed_cpu_int8_row){.scale = 1.0f};
  for (size_t i = 0; i < groups * m * 2; i++) {
    const uint16_t q = extreme ? 255 : (uint16_t)(test_random_next(random) % 256);
    memcpy(rows + 2 * i, &q, sizeof q);
    row[i / 2 % m].total += q;
  }
  for (size_t i = 0; i < groups * COLUMNS * 2; i++)
    panel[i] =
        (int8_t)(extreme ? (i % 4 < 2 ? 127 : -128) : (int)(test_random_next(random) % 256) - 128);
}

static void check(test_random *random, bool extreme, size_t m, size_t groups) {
  static unsigned char rows[MOST_GROUPS * MOST_ROWS * 4];
  static int8_t panel[MOST_GROUPS * COLUMNS * 2];
  static int16_t wide[MOST_GROUPS * COLUMNS * 2];
  static int32_t sums[MOST_ROWS * COLUMNS];
  heed_cpu_int8_row row[MOST_ROWS];
  fill(random, extreme, m, groups, rows, panel, row);
  heed_cpu_int8_wide_panel(panel, groups, wide);
  const uint32_t before = heed_cpu_int8_keep_small();
  heed_cpu_int8_wide_tile(m, rows, wide, groups, row, sums);
  heed_cpu_int8_leave_small(before);
  for (size_t r = 0; r < m; r++)
    for (size_t n = 0; n < COLUMNS; n++) {
      int64_t expected = 0;
      for (size_t g = 0; g < groups; g++)
        for (size_t p = 0; p < 2; p++) {
          uint16_t q;
          memcpy(&q, rows + ((g * m + r) * 2 + p) * 2, sizeof q);
          expected += (int64_t)q * panel[(g * COLUMNS + n) * 2 + p];
        }
      if (sums[r * COLUMNS + n] != expected)
        fail_msg("row %zu of %zu, column %zu, %zu groups: found %d, expected %lld", r, m, n, groups,
                 (int)sums[r * COLUMNS + n], (long long)expected);
    }
}

/* Around a slice of the depth, 128 groups, of which a sum of the largest numbers nearly fills the
 * 24 bits that a float has. */
static void test_sums(void **state) {
  static const size_t groups[] = {1, 2, 63, 127, 128, 129, 255, 256, 257, MOST_GROUPS};
  test_random random = {7};
  (void)state;
  for (size_t m = 1; m <= MOST_ROWS; m++)
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
      for (int extreme = 0; extreme < 2; extreme++) check(&random, extreme, m, groups[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sums)};
  if (!__builtin_cpu_supports("avx2")) {
    print_message("int8_wide: the processor has no AVX2\n");
    return 77;
  }
  return cmocka_run_group_tests_name("int8_wide", tests, NULL, NULL);
}
