/* Budgets of what is read: where they end, and that all a reader takes is of one. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/budget.h"
#include "model/files/safetensors.h"
#include "support/test_context.h"

static void test_counting(void **state) {
  (void)state;
  heed_budget budget = {.most = 10};
  assert_true(heed_budget_spend(&budget, 10));
  assert_false(budget.refused);
  assert_false(heed_budget_spend(&budget, 1));
  assert_true(budget.refused);
  assert_int_equal(budget.spent, 10);
  heed_budget_return(&budget, 4);
  assert_false(heed_budget_spend(&budget, 5));
  assert_true(heed_budget_spend(&budget, 4));
  assert_false(heed_budget_spend(&budget, UINT64_MAX));
  assert_int_equal(heed_budget_most(5, 3, 7), 26);
  assert_true(heed_budget_most(5, UINT64_MAX, 2) == UINT64_MAX);
  assert_true(heed_budget_most(UINT64_MAX, 1, 1) == UINT64_MAX);
}

/* Memory of a context is spent before it is taken; readers inside of one have its budget. */
static void test_contexts(void **state) {
  (void)state;
  heed_budget outer, inner;
  heed_context first, second;
  heed_budget_open(context, 1000, &outer, &first);
  assert_int_equal(outer.most, HEED_READING_LEAST + HEED_READING_TIMES * 1000);
  outer.most = 100;
  heed_budget_open(&first, 1 << 20, &inner, &second);
  void *taken = heed_alloc(&second, 60, 1);
  assert_non_null(taken);
  assert_null(heed_alloc_raw(&second, 41, 1));
  assert_false(inner.refused);
  assert_true(heed_budget_allows(&second, 40));
  assert_false(heed_budget_allows(&first, 1));
  assert_true(heed_budget_allows(context, UINT64_MAX));
  heed_free(&second, taken);
  assert_int_equal(heed_budget_close(&inner, &second, HEED_OUT_OF_MEMORY, "inner", &error),
                   HEED_OUT_OF_MEMORY);
  assert_fails(heed_budget_close(&outer, &first, HEED_OUT_OF_MEMORY, "w", &error), HEED_UNSUPPORTED,
               "w: reading takes too much memory (expected at most 100 bytes");
  assert_int_equal(heed_budget_close(&outer, &first, HEED_INVALID_FILE, "w", &error),
                   HEED_INVALID_FILE);
  taken = heed_alloc(&first, 1000, 1); /* what comes after is not counted */
  assert_non_null(taken);
  heed_free(&first, taken);
}

/* The caller's limit stands instead. */
static void test_the_callers_limit(void **state) {
  (void)state;
  static const char header[] = "{\"w\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}";
  unsigned char file[8 + sizeof header + 3] = {sizeof header - 1};
  memcpy(file + 8, header, sizeof header - 1);
  const heed_source source = {sizeof file, file, NULL, NULL};
  uint64_t most = 0;
  for (bool opened = false; !opened; most++) {
    heed_context_desc desc = HEED_CONTEXT_DESC_INIT;
    heed_context *own;
    heed_safetensors *made;
    desc.most_reading = most + 1;
    assert_ok(heed_context_create(&desc, &own, &error));
    const heed_status status = heed_safetensors_open(own, &source, "w", &made, &error);
    opened = status == HEED_OK;
    if (!opened) {
      assert_int_equal(status, HEED_UNSUPPORTED);
      assert_non_null(strstr(error.message, "w: reading takes too much memory"));
    }
    heed_safetensors_destroy(made);
    heed_context_destroy(own);
  }
  assert_in_range(most, sizeof file, HEED_READING_LEAST);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_counting),
                                     cmocka_unit_test(test_contexts),
                                     cmocka_unit_test(test_the_callers_limit)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
