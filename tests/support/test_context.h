/* One context for all tests of a program: cmocka_run_group_tests(tests, make_context,
 * drop_context). */
#ifndef HEED_TESTS_SUPPORT_TEST_CONTEXT_H
#define HEED_TESTS_SUPPORT_TEST_CONTEXT_H

#include "support/test.h"

static heed_context *context;
static heed_error error;

static int make_context(void **state) {
  (void)state;
  return heed_context_create(NULL, &context, &error) == HEED_OK ? 0 : -1;
}

static int drop_context(void **state) {
  (void)state;
  heed_context_destroy(context);
  return 0;
}

#endif
