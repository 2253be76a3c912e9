/* attention: random cases against the definition in double: shapes x masks x norms x scores x
 * modes, each with a seed. HEED_SWEEP=N in the environment runs N cases on the backends of this
 * program; HEED_SWEEP_SEED=S starts at seed S, so that HEED_SWEEP=1 HEED_SWEEP_SEED=S runs one case
 * again. */
#include <stdio.h>
#include <stdlib.h>

#include "support/attention_case.h"

#define CASES 2500u
#define ALIKE 64u /* where kernels are compiled for a case */

static unsigned long number_of(const char *name, unsigned long otherwise) {
  const char *text = getenv(name);
  return text ? strtoul(text, NULL, 10) : otherwise;
}

/* The mode that the seed asks for, or the backend's own where it has not that one. */
static const char *choose_mode(op_test *test, uint64_t seed) {
  test->attention = seed % 2 ? HEED_ATTENTION_MODE_STREAMED : HEED_ATTENTION_MODE_RESIDENT;
  if (op_test_has_mode(test, test->attention)) return seed % 2 ? "streamed" : "resident";
  test->attention = HEED_ATTENTION_MODE_AUTO;
  return "in its own mode";
}

static void run_seed(uint64_t seed) {
  char what[300], line[500];
  attention_tensors t;
  op_test test;
  const attention_case c = attention_case_random(seed, test_backend_slowness() > 1 ? ALIKE : 1);
  attention_case_describe(&c, seed, what, sizeof what);
  attention_case_make(&c, seed, &t);
  attention_case_define(&test, &c, &t, seed / ALIKE % 2 != 0);
  snprintf(line, sizeof line, "HEED_SWEEP=1 HEED_SWEEP_SEED=%llu runs it again: %s, %s",
           (unsigned long long)seed, choose_mode(&test, seed), what);
  op_test_run(&test, line);
  op_test_end(&test);
  attention_case_release(&t);
}

static void test_sweep(void **state) {
  (void)state;
  const unsigned long first = number_of("HEED_SWEEP_SEED", 1),
                      count = number_of("HEED_SWEEP", op_test_share(CASES));
  for (unsigned long i = 0; i < count; i++) run_seed(first + i);
  printf("%lu cases from seed %lu on %u backends\n", count, first, test_backend_count());
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweep)};
  return cmocka_run_group_tests_name("attention sweep", tests, NULL, test_backend_close_all);
}
