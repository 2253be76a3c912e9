/* Libraries that are opened late: a table is filled once, and what is missing is a sentence. */
#include "late/late.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "support/test.h"

typedef struct table {
  double (*cos)(double);
  double (*sqrt)(double);
} table;

static const char *const maths[] = {"libm.so.6", NULL};
static const char *const names[] = {"cos", "sqrt", NULL};

static void test_fills(void **state) {
  table of = {NULL, NULL};
  heed_late late = {"waves", "libc6", maths, names, &of, 0};
  heed_error error;
  (void)state;
  assert_int_equal(heed_late_open(&late, &error), HEED_OK);
  assert_true(of.cos(0.0) == 1.0 && of.sqrt(9.0) == 3.0);
  of.cos = NULL; /* the second call fills nothing */
  assert_int_equal(heed_late_open(&late, &error), HEED_OK);
  assert_null(of.cos);
}

static void test_missing(void **state) {
  static const char *const none[] = {"libheed_has_no_such_library.so.9", NULL};
  static const char *const no_name[] = {"cos", "heed_has_no_such_function", NULL};
  table of = {NULL, NULL};
  heed_error error;
  (void)state;
  heed_late late = {"waves", "libwave1", none, names, &of, 0};
  for (int i = 0; i < 2; i++) { /* again: it is not taken for open */
    assert_int_equal(heed_late_open(&late, &error), HEED_UNSUPPORTED);
    assert_string_equal(error.message,
                        "waves: a library is missing (found no libheed_has_no_such_library.so.9, "
                        "expected the one that heed was built with; on Debian: libwave1)");
  }
  heed_late other = {"waves", "libc6", maths, no_name, &of, 0};
  assert_int_equal(heed_late_open(&other, &error), HEED_UNSUPPORTED);
  assert_non_null(strstr(error.message, "found no heed_has_no_such_function,"));
}

static table shared_table;
static heed_late shared_late = {"waves", "libc6", maths, names, &shared_table, 0};

static void *open_it(void *user) {
  heed_error error;
  *(heed_status *)user = heed_late_open(&shared_late, &error);
  return shared_table.sqrt ? user : NULL;
}

static void test_threads(void **state) {
  pthread_t threads[4];
  heed_status statuses[4];
  (void)state;
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, open_it, &statuses[i]), 0);
  for (int i = 0; i < 4; i++) {
    void *result;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_ptr_equal(result, &statuses[i]);
    assert_int_equal(statuses[i], HEED_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fills), cmocka_unit_test(test_missing),
                                     cmocka_unit_test(test_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
