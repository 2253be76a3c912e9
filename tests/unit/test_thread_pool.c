/* The thread pool: every task runs once, whatever the counts, job after job. */
#include "base/thread_pool.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

enum { MOST = 5000 };

typedef struct job {
  uint8_t runs[MOST]; /* one byte a task: tasks never share one */
  uint32_t worker[MOST];
} job;

static void mark(uint64_t task, uint32_t worker, void *user) {
  job *j = user;
  j->runs[task]++;
  j->worker[task] = worker;
}

static void test_every_task_once(void **state) {
  (void)state;
  static const uint32_t thread_counts[] = {1, 2, 3, 7, 16};
  static const uint64_t counts[] = {0, 1, 2, 3, 17, MOST};
  heed_error error;
  heed_context *context;
  assert_ok(heed_context_create(NULL, &context, &error));
  job *j = malloc(sizeof *j);
  assert_non_null(j);
  for (size_t t = 0; t < sizeof thread_counts / sizeof *thread_counts; t++) {
    heed_thread_pool *pool;
    assert_ok(heed_thread_pool_create(context, thread_counts[t], &pool, &error));
    assert_int_equal(heed_thread_pool_count(pool), thread_counts[t]);
    for (uint32_t repeat = 0; repeat < 200; repeat++) {
      const uint64_t count = counts[repeat % (sizeof counts / sizeof *counts)];
      memset(j, 0, sizeof *j);
      heed_thread_pool_run(pool, count, mark, j);
      for (uint64_t i = 0; i < MOST; i++) {
        if (j->runs[i] != (i < count))
          fail_msg("task %llu of %llu ran %u times", (unsigned long long)i,
                   (unsigned long long)count, j->runs[i]);
        assert_true(j->worker[i] < thread_counts[t]);
      }
    }
    heed_thread_pool_destroy(pool);
  }
  free(j);
  heed_context_destroy(context);
}

/* Without a pool the caller does all. */
static void test_no_pool(void **state) {
  (void)state;
  job *j = calloc(1, sizeof *j);
  assert_non_null(j);
  heed_thread_pool_run(NULL, 17, mark, j);
  for (uint64_t i = 0; i < MOST; i++) {
    assert_int_equal(j->runs[i], i < 17);
    assert_int_equal(j->worker[i], 0);
  }
  free(j);
}

/* A pool that never had a job must still end. */
static void test_idle_pool(void **state) {
  (void)state;
  heed_error error;
  heed_context *context;
  heed_thread_pool *pool;
  assert_ok(heed_context_create(NULL, &context, &error));
  for (int i = 0; i < 50; i++) {
    assert_ok(heed_thread_pool_create(context, 4, &pool, &error));
    heed_thread_pool_destroy(pool);
  }
  heed_thread_pool_destroy(NULL);
  assert_ok(heed_thread_pool_create(context, 0, &pool, &error));
  assert_true(heed_thread_pool_count(pool) >= 1);
  heed_thread_pool_destroy(pool);
  assert_ok(heed_thread_pool_create(context, 100000, &pool, &error));
  assert_true(heed_thread_pool_count(pool) <= HEED_THREADS_MAX);
  heed_thread_pool_destroy(pool);
  heed_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_task_once),
                                     cmocka_unit_test(test_no_pool),
                                     cmocka_unit_test(test_idle_pool)};
  return cmocka_run_group_tests_name("thread pool", tests, NULL, NULL);
}
