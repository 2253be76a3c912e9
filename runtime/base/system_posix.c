/* What POSIX has. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/system.h"

/* aligned_alloc wants a multiple. */
void *heed_system_alloc(size_t size, size_t alignment) {
  const size_t padding = (alignment - size % alignment) % alignment;
  if (size > SIZE_MAX - padding) return NULL;
  return aligned_alloc(alignment, size + padding);
}

void heed_system_free(void *pointer) { free(pointer); }

uint64_t heed_system_process(void) { return (uint64_t)getpid(); }

uintptr_t heed_system_thread(void) {
  static _Thread_local char own;
  return (uintptr_t)&own;
}

void heed_system_yield(void) { sched_yield(); }

uint32_t heed_system_cpus(void) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : (uint32_t)cores;
}
