/* The gate of a thread pool: workers come in while a job runs, and the caller closes it when no
 * task is left. So a job waits for the workers that took part, not for those that came late. One
 * number has it all: the workers inside, whether more may come, and the job's number, which
 * wraps: a worker that slept for all of a round sleeps on. */
#ifndef HEED_BASE_GATE_H
#define HEED_BASE_GATE_H

#include <stdatomic.h>
#include <stdbool.h>

#define HEED_GATE_INSIDE 511u
#define HEED_GATE_OPEN 512u
#define HEED_GATE_JOB 1024u

/* The caller: publishes what was written before it as the next job. */
static inline void heed_gate_open(atomic_uint *gate) {
  atomic_fetch_add_explicit(gate, HEED_GATE_JOB + HEED_GATE_OPEN, memory_order_release);
}

/* The caller: nobody comes in any more. Returns the workers that are inside. */
static inline unsigned heed_gate_close(atomic_uint *gate) {
  return atomic_fetch_and_explicit(gate, ~HEED_GATE_OPEN, memory_order_acq_rel) & HEED_GATE_INSIDE;
}

static inline unsigned heed_gate_inside(atomic_uint *gate) {
  return atomic_load_explicit(gate, memory_order_acquire) & HEED_GATE_INSIDE;
}

/* A worker that saw this value: whether it is inside now; not where the job was over before. */
static inline bool heed_gate_enter(atomic_uint *gate, unsigned value) {
  while (value & HEED_GATE_OPEN)
    if (atomic_compare_exchange_weak_explicit(gate, &value, value + 1, memory_order_acq_rel,
                                              memory_order_acquire))
      return true;
  return false;
}

/* A worker goes: whether it is the last one, so that a caller who has closed the gate may sleep. */
static inline bool heed_gate_leave(atomic_uint *gate) {
  const unsigned value = atomic_fetch_sub_explicit(gate, 1, memory_order_acq_rel);
  return (value & (HEED_GATE_OPEN | HEED_GATE_INSIDE)) == 1;
}

#endif
