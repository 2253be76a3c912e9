/* The thread pool: workers take task numbers from one counter, wait a little for the next job and
 * then sleep. A job waits for nobody: a worker that comes late finds the gate closed. */
#undef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#include "base/thread_pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/cpu_count.h"
#include "base/gate.h"
#include "base/status.h"

/* Looks this often before sleeping: some tens of microseconds, the gap between two steps of a plan.
 * Where there are more threads than CPUs, whoever waits sleeps at once: another has its CPU. */
#define SPINS 1000
static_assert(HEED_THREADS_MAX <= HEED_GATE_INSIDE, "all workers fit in the gate");

typedef struct worker {
  heed_thread_pool *pool;
  pthread_t thread;
  uint32_t index;
} worker;

struct heed_thread_pool {
  const heed_context *context;
  uint32_t count; /* workers with the caller */
  uint32_t spins; /* looks before sleeping */
  char limit[80]; /* what heed_thread_pool_limit says */
  /* The job; written by the caller between jobs only, published by `gate`. */
  heed_task task;
  void *user;
  uint64_t task_count;
  /* Apart from each other, so that taking a task does not disturb those who only look. */
  _Alignas(64) atomic_uint_least64_t next;
  _Alignas(64) atomic_uint gate;
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

/* Whether a worker that has seen the job `seen` has something to do. */
static bool is_called(heed_thread_pool *pool, unsigned seen, unsigned *gate) {
  *gate = atomic_load_explicit(&pool->gate, memory_order_acquire);
  return *gate / HEED_GATE_JOB != seen || atomic_load_explicit(&pool->stop, memory_order_acquire);
}

/* Waits until there is a job other than `seen`, or the end; returns the gate. */
static unsigned wait_for_job(heed_thread_pool *pool, unsigned seen) {
  unsigned gate;
  for (uint32_t i = 0; i < pool->spins; i++) {
    if (is_called(pool, seen, &gate)) return gate;
    pause_briefly();
  }
  pthread_mutex_lock(&pool->mutex);
  while (!is_called(pool, seen, &gate)) pthread_cond_wait(&pool->started, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
  return gate;
}

static void *work(void *user) {
  const worker *self = user;
  heed_thread_pool *pool = self->pool;
  unsigned seen = 0;
  for (;;) {
    const unsigned gate = wait_for_job(pool, seen);
    if (atomic_load_explicit(&pool->stop, memory_order_acquire)) return NULL;
    seen = gate / HEED_GATE_JOB;
    if (!heed_gate_enter(&pool->gate, gate)) continue;
    take_tasks(pool, self->index);
    if (!heed_gate_leave(&pool->gate)) continue;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->finished);
    pthread_mutex_unlock(&pool->mutex);
  }
}

/* Publishes what was written before it as the next job. */
static void announce(heed_thread_pool *pool) {
  pthread_mutex_lock(&pool->mutex);
  heed_gate_open(&pool->gate);
  pthread_cond_broadcast(&pool->started);
  pthread_mutex_unlock(&pool->mutex);
}

/* Closes the gate, and waits for the workers that are inside. */
static void finish(heed_thread_pool *pool) {
  unsigned inside = heed_gate_close(&pool->gate);
  for (uint32_t i = 0; inside && i < pool->spins; i++) {
    pause_briefly();
    inside = heed_gate_inside(&pool->gate);
  }
  if (!inside) return;
  pthread_mutex_lock(&pool->mutex);
  while (heed_gate_inside(&pool->gate)) pthread_cond_wait(&pool->finished, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
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
  const heed_cpu_count cpus = heed_cpu_count_find();
  const uint32_t asked = threads == 0 ? cpus.count : threads;
  const uint32_t wanted = asked > HEED_THREADS_MAX ? HEED_THREADS_MAX : asked;
  if (threads == 0) snprintf(made->limit, sizeof made->limit, "%s", cpus.why);
  made->spins = wanted > cpus.running ? 0 : SPINS;
  for (; made->count < wanted; made->count++) {
    worker *next = &made->workers[made->count];
    next->pool = made;
    next->index = made->count;
    if (pthread_create(&next->thread, NULL, work, next) != 0) break;
  }
  if (made->count < wanted)
    snprintf(made->limit, sizeof made->limit, "the system refused thread %u of %u", made->count + 1,
             wanted);
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

uint32_t heed_thread_pool_count(const heed_thread_pool *pool) { return pool ? pool->count : 1; }

const char *heed_thread_pool_limit(const heed_thread_pool *pool) { return pool->limit; }

void heed_thread_pool_run(heed_thread_pool *pool, uint64_t count, heed_task task, void *user) {
  if (!pool || pool->count == 1 || count <= 1) {
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
