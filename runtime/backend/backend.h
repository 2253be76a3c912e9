/* The vtable of a backend: nothing above this line knows Vulkan or WASM. */
#ifndef HEED_BACKEND_BACKEND_H
#define HEED_BACKEND_BACKEND_H

#include <stdatomic.h>

#include "base/hooks.h"
#include "heed/session.h"
#include "plan/plan.h"

typedef struct heed_program heed_program; /* a backend's own: a plan made ready to run */

/* Bytes of the arena, and a list of such. */
typedef struct heed_span {
  uint64_t offset, bytes;
} heed_span;
typedef struct heed_spans {
  const heed_span *list; /* borrowed for as long as what takes it */
  uint32_t count;
} heed_spans;
typedef struct heed_ring heed_ring; /* a backend's own: slots of runs in flight */

typedef struct heed_backend_vtable {
  const char *name;
  heed_plan_support plan; /* what a plan asks while it is made */
  /* Allocates arena, weights and workspace, reads the constants (hooks: phase "read", bytes), makes
   * pipelines. */
  heed_status (*program_create)(heed_backend *backend, const heed_plan *plan,
                                const heed_hooks *hooks, heed_program **program, heed_error *error);
  void (*program_destroy)(heed_program *program);
  /* Copies bytes into / out of the arena at a byte offset. The ranges lie inside one kept value. */
  heed_status (*write)(heed_program *program, uint64_t offset, const void *from, size_t bytes,
                       heed_error *error);
  heed_status (*read)(heed_program *program, uint64_t offset, void *to, size_t bytes,
                      heed_error *error);
  /* Runs all steps; hooks (may be NULL, fields may be NULL): phase "run", stage i of n, cancel
   * asked between stages. */
  heed_status (*run)(heed_program *program, const heed_hooks *hooks, heed_error *error);
  /* May be NULL. Runs from step *step, which is not past the end, to the end of its stage or to
   * step `end`, whichever comes first, and moves *step there. */
  heed_status (*run_part)(heed_program *program, uint32_t *step, uint32_t end, heed_error *error);
  /* May be NULL. The arena from a byte offset on, where the program itself can read it. */
  const void *(*view)(const heed_program *program, uint64_t offset);
  /* May be NULL. A constant matrix [N, K] as the program keeps it, if that is panels of floats,
   * [ceil(N / columns)][K][columns], 0 past the last row; else NULL. */
  const float *(*panels)(const heed_program *program, uint32_t constant, uint32_t *columns);
  /* Runs all steps one by one and fills times[step_count]. */
  heed_status (*profile)(heed_program *program, const heed_clock *clock, heed_step_time *times,
                         heed_error *error);
  void (*destroy)(heed_backend *backend);
  /* NULL, all four, where runs are not kept in flight. ring_submit copies the inputs in and starts
   * a run; ring_collect waits for it and copies the outputs out, those that have a place. Slots are
   * used in turn, and a slot again only when it was collected. After a failed submit its slot has
   * nothing to collect. Neither allocates. ring_destroy waits for what is in flight. */
  heed_status (*ring_create)(heed_program *program, const heed_spans *inputs,
                             const heed_spans *outputs, uint32_t slots, heed_ring **ring,
                             heed_error *error);
  void (*ring_destroy)(heed_ring *ring);
  heed_status (*ring_submit)(heed_ring *ring, uint32_t slot, const void *const *inputs,
                             heed_error *error);
  heed_status (*ring_collect)(heed_ring *ring, uint32_t slot, void *const *outputs,
                              heed_error *error);
} heed_backend_vtable;

/* The head of every backend's own struct. */
struct heed_backend {
  const heed_backend_vtable *vtable;
  heed_context *context;
  char device[160];       /* what heed_backend_device says */
  atomic_uintptr_t owner; /* the thread that is in a call; 0: none */
  uint32_t depth;         /* of its calls, one in another */
  uint32_t threads;       /* what heed_backend_threads says */
  uint64_t process;       /* that has its threads or device; 0: a child may go on with it */
};

/* A call on what was made on a backend begins and ends. heed_backend_lock refuses a second thread
 * while one is in such a call, and the child of a fork: its threads and device are the parent's.
 * `where` begins the sentence. Statuses: INVALID_ARGUMENT. */
heed_status heed_backend_lock(heed_backend *backend, const char *where, heed_error *error);
void heed_backend_unlock(heed_backend *backend);
/* This is the child of a fork, where nothing of the backend works any more. */
bool heed_backend_is_forked(const heed_backend *backend);
/* Of a backend with threads or a device, when it is made. */
void heed_backend_bind(heed_backend *backend);

#endif
