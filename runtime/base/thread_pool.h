/* A fixed set of worker threads that share out numbered tasks. Which worker runs a task is left to
 * chance, so a task's result must depend on its number alone. */
#ifndef HEED_BASE_THREAD_POOL_H
#define HEED_BASE_THREAD_POOL_H

#include "base/context.h"

typedef struct heed_thread_pool heed_thread_pool;

/* worker: 0 .. count - 1, so that each can have its own scratch. */
typedef void (*heed_task)(uint64_t task, uint32_t worker, void *user);

#define HEED_THREADS_MAX 256

/* threads: 1 .. HEED_THREADS_MAX, or 0 for one a core that the process may use (cpu_count.h). Where
 * the system gives fewer threads, or none, the pool has fewer. */
heed_status heed_thread_pool_create(const heed_context *context, uint32_t threads,
                                    heed_thread_pool **pool, heed_error *error);
void heed_thread_pool_destroy(heed_thread_pool *pool);
/* Workers, the calling thread among them; of NULL 1. */
uint32_t heed_thread_pool_count(const heed_thread_pool *pool);
/* Why there are fewer than the cores of the machine, where the system and not the caller limits
 * them; else "". Valid as long as the pool. */
const char *heed_thread_pool_limit(const heed_thread_pool *pool);
/* Runs tasks 0 .. count - 1 and returns when all are done. The caller is worker 0, and the only one
 * where pool is NULL. One call at a time, never from within a task. */
void heed_thread_pool_run(heed_thread_pool *pool, uint64_t count, heed_task task, void *user);

#endif
