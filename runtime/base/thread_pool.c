/* The thread pool: workers take task numbers from one counter, wait a little for the next job and
 * then sleep. */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "base/thread_pool.h"

#include "base/alloc.h"
#include "base/process.h"
#include "base/status.h"

#if defined(_WIN32) || defined(__wasm__) || defined(HEED_NO_THREADS)
uint64_t heed_process_id(void) { return 0; }
#else
#include <unistd.h>

uint64_t heed_process_id(void) { return (uint64_t)getpid(); }
#endif

#if defined(HEED_NO_THREADS) || (defined(__wasm__) && !defined(__wasm_atomics__))

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

void heed_thread_pool_run(heed_thread_pool *pool, uint64_t count, heed_task task, void *user) {
  (void)pool;
  for (uint64_t i = 0; i < count; i++) task(i, 0, user);
}

#else

#include <pthread.h>
#include <stdatomic.h>
#if defined(_WIN32)
#include <windows.h>
#endif

/* Looks at the counter this often before sleeping: some tens of microseconds, the gap between two
 * steps of a plan. */
#define SPINS 1000

typedef struct worker {
  heed_thread_pool *pool;
  pthread_t thread;
  uint32_t index;
} worker;

struct heed_thread_pool {
  const heed_context *context;
  uint32_t count; /* workers with the caller */
  /* The job; written by the caller between jobs only, published by `job_number`. */
  heed_task task;
  void *user;
  uint64_t task_count;
  /* Apart from each other, so that taking a task does not disturb those who only look. */
  _Alignas(64) atomic_uint_least64_t next;
  _Alignas(64) atomic_uint job_number;
  _Alignas(64) atomic_uint busy; /* workers that have not finished the job */
  atomic_bool stop;
  pthread_mutex_t mutex;
  pthread_cond_t started, finished;
  worker workers[HEED_THREADS_MAX];
};

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static void take_tasks(heed_thread_pool *pool, uint32_t index) {
  for (;;) {
    const uint64_t task = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
    if (task >= pool->task_count) return;
    pool->task(task, index, pool->user);
  }
}

/* Waits until there is a job other than `seen`; returns its number. */
static unsigned wait_for_job(heed_thread_pool *pool, unsigned seen) {
  for (int i = 0; i < SPINS; i++) {
    const unsigned number = atomic_load_explicit(&pool->job_number, memory_order_acquire);
    if (number != seen) return number;
    pause_briefly();
  }
  pthread_mutex_lock(&pool->mutex);
  unsigned number;
  while ((number = atomic_load_explicit(&pool->job_number, memory_order_acquire)) == seen)
    pthread_cond_wait(&pool->started, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
  return number;
}

static void *work(void *user) {
  const worker *self = user;
  heed_thread_pool *pool = self->pool;
  unsigned seen = 0;
  for (;;) {
    seen = wait_for_job(pool, seen);
    if (atomic_load_explicit(&pool->stop, memory_order_acquire)) return NULL;
    take_tasks(pool, self->index);
    if (atomic_fetch_sub_explicit(&pool->busy, 1, memory_order_acq_rel) == 1) {
      pthread_mutex_lock(&pool->mutex);
      pthread_cond_signal(&pool->finished);
      pthread_mutex_unlock(&pool->mutex);
    }
  }
}

/* Publishes what was written before it as the next job. */
static void announce(heed_thread_pool *pool) {
  pthread_mutex_lock(&pool->mutex);
  atomic_fetch_add_explicit(&pool->job_number, 1, memory_order_release);
  pthread_cond_broadcast(&pool->started);
  pthread_mutex_unlock(&pool->mutex);
}

static void wait_for_workers(heed_thread_pool *pool) {
  for (int i = 0; i < SPINS; i++) {
    if (atomic_load_explicit(&pool->busy, memory_order_acquire) == 0) return;
    pause_briefly();
  }
  pthread_mutex_lock(&pool->mutex);
  while (atomic_load_explicit(&pool->busy, memory_order_acquire) != 0)
    pthread_cond_wait(&pool->finished, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
}

static uint32_t core_count(void) {
#if defined(_WIN32)
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  const long cores = (long)info.dwNumberOfProcessors;
#else
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
#endif
  return cores < 1 ? 1 : cores > HEED_THREADS_MAX ? HEED_THREADS_MAX : (uint32_t)cores;
}

heed_status heed_thread_pool_create(const heed_context *context, uint32_t threads,
                                    heed_thread_pool **pool, heed_error *error) {
  heed_thread_pool *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "thread pool", sizeof *made);
  made->context = context;
  made->count = 1;
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->started, NULL);
  pthread_cond_init(&made->finished, NULL);
  const uint32_t wanted = threads == 0                 ? core_count()
                          : threads > HEED_THREADS_MAX ? HEED_THREADS_MAX
                                                       : threads;
  for (; made->count < wanted; made->count++) {
    worker *next = &made->workers[made->count];
    next->pool = made;
    next->index = made->count;
    if (pthread_create(&next->thread, NULL, work, next) != 0) break;
  }
  *pool = made;
  return HEED_OK;
}

void heed_thread_pool_destroy(heed_thread_pool *pool) {
  if (!pool) return;
  atomic_store_explicit(&pool->stop, true, memory_order_release);
  announce(pool);
  for (uint32_t i = 1; i < pool->count; i++) pthread_join(pool->workers[i].thread, NULL);
  pthread_cond_destroy(&pool->finished);
  pthread_cond_destroy(&pool->started);
  pthread_mutex_destroy(&pool->mutex);
  heed_free(pool->context, pool);
}

uint32_t heed_thread_pool_count(const heed_thread_pool *pool) { return pool->count; }

void heed_thread_pool_run(heed_thread_pool *pool, uint64_t count, heed_task task, void *user) {
  if (pool->count == 1 || count <= 1) {
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
  wait_for_workers(pool);
}

#endif
