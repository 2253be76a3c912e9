/* The thread pool where the host starts the threads: WebAssembly with shared memory. Its workers
 * are instances of the same module that call heed_thread_pool_join and stay until the pool is
 * destroyed; each takes part in each job, and waits with futexes. No libc function that keeps
 * state of its own may be called from a worker: that library was built for one thread. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/thread_pool_wasm.h"

/* Looks at the counter this often before sleeping: some tens of microseconds, the gap between two
 * steps of a plan. */
#define SPINS 4000

struct heed_thread_pool {
  const heed_context *context;
  uint32_t count; /* workers with the caller */
  heed_task task;
  void *user;
  uint64_t task_count;
  /* Apart from each other, so that taking a task does not disturb those who only look. */
  _Alignas(64) atomic_uint_least64_t next;
  _Alignas(64) atomic_uint job_number;
  _Alignas(64) atomic_uint busy;    /* workers that have not finished the job */
  _Alignas(64) atomic_uint present; /* workers that joined and have not left */
  atomic_bool stop;
};

static void sleep_while(atomic_uint *at, unsigned value) {
  __builtin_wasm_memory_atomic_wait32((int *)(void *)at, (int)value, -1);
}
static void wake_all(atomic_uint *at) {
  __builtin_wasm_memory_atomic_notify((int *)(void *)at, UINT32_MAX);
}

static void take_tasks(heed_thread_pool *pool, uint32_t index) {
  for (;;) {
    const uint64_t task = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
    if (task >= pool->task_count) return;
    pool->task(task, index, pool->user);
  }
}

/* Waits until the counter is not `value`; returns what it is then. */
static unsigned wait_for_change(atomic_uint *counter, unsigned value) {
  unsigned now;
  for (int i = 0; i < SPINS; i++)
    if ((now = atomic_load_explicit(counter, memory_order_acquire)) != value) return now;
  while ((now = atomic_load_explicit(counter, memory_order_acquire)) == value)
    sleep_while(counter, value);
  return now;
}

static void wait_for_zero(atomic_uint *counter) {
  unsigned now;
  while ((now = atomic_load_explicit(counter, memory_order_acquire)) != 0)
    wait_for_change(counter, now);
}

static void count_down(atomic_uint *counter) {
  if (atomic_fetch_sub_explicit(counter, 1, memory_order_acq_rel) == 1) wake_all(counter);
}

static void announce(heed_thread_pool *pool) {
  atomic_fetch_add_explicit(&pool->job_number, 1, memory_order_release);
  wake_all(&pool->job_number);
}

void heed_thread_pool_join(heed_thread_pool *pool, uint32_t index) {
  unsigned seen = 0;
  for (;;) {
    seen = wait_for_change(&pool->job_number, seen);
    if (atomic_load_explicit(&pool->stop, memory_order_acquire)) break;
    take_tasks(pool, index);
    count_down(&pool->busy);
  }
  count_down(&pool->present);
}

heed_status heed_thread_pool_create(const heed_context *context, uint32_t threads,
                                    heed_thread_pool **pool, heed_error *error) {
  heed_thread_pool *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "thread pool", sizeof *made);
  made->context = context;
  made->count = threads == 0 ? 1 : threads > HEED_THREADS_MAX ? HEED_THREADS_MAX : threads;
  atomic_store_explicit(&made->present, made->count - 1, memory_order_release);
  *pool = made;
  return HEED_OK;
}

void heed_thread_pool_destroy(heed_thread_pool *pool) {
  if (!pool) return;
  atomic_store_explicit(&pool->stop, true, memory_order_release);
  announce(pool);
  wait_for_zero(&pool->present);
  heed_free(pool->context, pool);
}

uint32_t heed_thread_pool_count(const heed_thread_pool *pool) { return pool ? pool->count : 1; }

/* JavaScript chose the number, and says why. */
const char *heed_thread_pool_limit(const heed_thread_pool *pool) {
  (void)pool;
  return "";
}

void heed_thread_pool_run(heed_thread_pool *pool, uint64_t count, heed_task task, void *user) {
  if (!pool || pool->count == 1 || count <= 1) {
    for (uint64_t i = 0; i < count; i++) task(i, 0, user);
    return;
  }
  pool->task = task;
  pool->user = user;
  pool->task_count = count;
  atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
  atomic_store_explicit(&pool->busy, pool->count - 1, memory_order_relaxed);
  announce(pool);
  take_tasks(pool, 0);
  wait_for_zero(&pool->busy);
}
