/* The CPU backend's own struct, and its programs. */
#ifndef HEED_CPU_CPU_BACKEND_H
#define HEED_CPU_CPU_BACKEND_H

#include "backend/backend.h"
#include "cpu/cpu_op.h"

typedef struct heed_cpu_backend {
  heed_backend base;
  const heed_cpu_level_table *level;
  heed_thread_pool *pool;
  bool threads_chosen; /* their number is not the caller's */
} heed_cpu_backend;

/* cpu/cpu_program.c: the part of the vtable that makes and runs programs. */
heed_status heed_cpu_measure(heed_backend *backend, const heed_plan *plan, heed_memory *memory,
                             heed_error *error);
heed_status heed_cpu_program_create(heed_backend *backend, const heed_plan *plan,
                                    const heed_hooks *hooks, heed_program **program,
                                    heed_error *error);
void heed_cpu_program_destroy(heed_program *program);
heed_status heed_cpu_write(heed_program *program, uint64_t offset, const void *from, size_t bytes,
                           heed_error *error);
heed_status heed_cpu_read(heed_program *program, uint64_t offset, void *to, size_t bytes,
                          heed_error *error);
heed_status heed_cpu_run(heed_program *program, const heed_hooks *hooks, heed_error *error);
heed_status heed_cpu_run_part(heed_program *program, uint32_t *step, uint32_t end,
                              heed_error *error);
heed_status heed_cpu_profile(heed_program *program, const heed_clock *clock, heed_step_time *times,
                             heed_error *error);
const void *heed_cpu_view(const heed_program *program, uint64_t offset);
const float *heed_cpu_panels(const heed_program *program, uint32_t constant, uint32_t *columns);

#endif
