/* The thread pool where there is one thread: WebAssembly without shared memory. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/thread_pool.h"

struct heed_thread_pool {
  const heed_context *context;
};

heed_status heed_thread_pool_create(const heed_context *context, uint32_t threads,
                                    heed_thread_pool **pool, heed_error *error) {
  (void)threads;
  *pool = heed_alloc(context, 1, sizeof **pool);
  if (!*pool) return heed_fail_memory(error, "thread pool", sizeof **pool);
  (*pool)->context = context;
  return HEED_OK;
}

void heed_thread_pool_destroy(heed_thread_pool *pool) {
  if (pool) heed_free(pool->context, pool);
}

uint32_t heed_thread_pool_count(const heed_thread_pool *pool) {
  (void)pool;
  return 1;
}

const char *heed_thread_pool_limit(const heed_thread_pool *pool) {
  (void)pool;
  return "";
}

void heed_thread_pool_run(heed_thread_pool *pool, uint64_t count, heed_task task, void *user) {
  (void)pool;
  for (uint64_t i = 0; i < count; i++) task(i, 0, user);
}
