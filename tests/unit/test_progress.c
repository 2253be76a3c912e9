/* The line that says how far a run is. */
#include "terminal/progress.h"

#include "support/test.h"

static void check(uint64_t done, uint64_t total, uint64_t first, double seconds,
                  const char *expected) {
  char text[CLI_PROGRESS_SIZE];
  cli_progress_text(done, total, first, seconds, text);
  assert_string_equal(text, expected);
}

static void test_rates(void **state) {
  (void)state;
  check(1, 2000, 1, 0.0, "images: 1 of 2000"); /* the first has the model's time */
  check(101, 2000, 1, 50.0, "images: 101 of 2000, 2.00 a second, 15:50 left");
  check(2000, 2000, 1, 50.0, "images: 2000 of 2000, 40 a second, 0:00 left");
  check(11, 61, 1, 10.0, "images: 11 of 61, 1.00 a second, 0:50 left");
  check(2, 3602, 1, 1.0, "images: 2 of 3602, 1.00 a second, 1:00:00 left");
  check(2, 3661, 1, 1.0, "images: 2 of 3661, 1.00 a second, 1:00:59 left");
}

static void test_ends(void **state) {
  (void)state;
  check(5, 10, 5, 3.0, "images: 5 of 10");
  check(5, 10, 1, -1.0, "images: 5 of 10");
  check(2, UINT64_MAX, 1, 100.0, "images: 2 of 18446744073709551615, 0.01 a second");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates), cmocka_unit_test(test_ends)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
