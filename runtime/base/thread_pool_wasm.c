/* The thread pool where the host starts the threads: WebAssembly with shared memory. Its workers
 * are instances of the same module that call heed_thread_pool_join and stay until the pool is
 * destroyed; jobs are handed over as in thread_pool.c, with futexes. No libc function that keeps
 * state of its own may be called from a worker: that library was built for one thread. */
#include <assert.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/gate.h"
#include "base/status.h"
#include "base/thread_pool_wasm.h"

/* Looks at the counter this often before sleeping: some tens of microseconds, the gap between two
 * steps of a plan. */
#define SPINS 4000
static_assert(HEED_THREADS_MAX <= HEED_GATE_INSIDE, "all workers fit in the gate");

struct heed_thread_pool {
  const heed_context *context;
  uint32_t count; /* workers with the caller */
  heed_task task;
  void *user;
  uint64_t task_count;
  /* Apart from each other, so that taking a task does not disturb those who only look. */
  _Alignas(64) atomic_uint_least64_t next;
  _Alignas(64) atomic_uint gate;
  _Alignas(64) atomic_uint finished; /* goes up when a worker leaves a closed gate as the last */
  _Alignas(64) atomic_uint present;  /* workers that joined and have not left */
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

/* Waits until there is a job other than `seen`, or the end; returns the gate. */
static unsigned wait_for_job(heed_thread_pool *pool, unsigned seen) {
  for (int i = 0;; i += i < SPINS) {
    const unsigned gate = atomic_load_explicit(&pool->gate, memory_order_acquire);
    if (gate / HEED_GATE_JOB != seen || atomic_load_explicit(&pool->stop, memory_order_acquire))
      return gate;
    if (i == SPINS) sleep_while(&pool->gate, gate);
  }
}

/* Closes the gate, and waits for the workers that are inside. */
static void finish(heed_thread_pool *pool) {
  heed_gate_close(&pool->gate);
  for (int i = 0;; i += i < SPINS) {
    const unsigned finished = atomic_load_explicit(&pool->finished, memory_order_acquire);
    if (!heed_gate_inside(&pool->gate)) return;
    if (i == SPINS) sleep_while(&pool->finished, finished);
  }
}

static void announce(heed_thread_pool *pool) {
  heed_gate_open(&pool->gate);
  wake_all(&pool->gate);
}

void heed_thread_pool_join(heed_thread_pool *pool, uint32_t index) {
  unsigned seen = 0;
  for (;;) {
    const unsigned gate = wait_for_job(pool, seen);
    if (atomic_load_explicit(&pool->stop, memory_order_acquire)) break;
    seen = gate / HEED_GATE_JOB;
    if (!heed_gate_enter(&pool->gate, gate)) continue;
    take_tasks(pool, index);
    if (!heed_gate_leave(&pool->gate)) continue;
    atomic_fetch_add_explicit(&pool->finished, 1, memory_order_release);
    wake_all(&pool->finished);
  }
  if (atomic_fetch_sub_explicit(&pool->present, 1, memory_order_acq_rel) == 1)
    wake_all(&pool->present);
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
  for (unsigned left; (left = atomic_load_explicit(&pool->present, memory_order_acquire)) != 0;)
    sleep_while(&pool->present, left);
  heed_free(pool->context, pool);
}

uint32_t heed_thread_pool_count(const heed_thread_pool *pool) { return pool->count; }

/* JavaScript chose the number, and says why. */
const char *heed_thread_pool_limit(const heed_thread_pool *pool) {
  (void)pool;
  return "";
}

void heed_thread_pool_run(heed_thread_pool *pool, uint64_t count, heed_task task, void *user) {
  if (pool->count == 1 || count <= 1) {
    for (uint64_t i = 0; i < count; i++) task(i, 0, user);
    return;
  }
  pool->task = task;
  pool->user = user;
  pool->task_count = count;
  atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
  announce(pool);
  take_tasks(pool, 0);
  finish(pool);
}
