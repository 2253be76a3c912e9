/* What a module of WebAssembly has: memory. One thread at a time calls it, and there is no fork;
 * JavaScript counts the CPUs. */
#include <stdlib.h>

#include "base/system.h"

/* aligned_alloc wants a multiple. */
void *heed_system_alloc(size_t size, size_t alignment) {
  const size_t padding = (alignment - size % alignment) % alignment;
  if (size > SIZE_MAX - padding) return NULL;
  return aligned_alloc(alignment, size + padding);
}

void heed_system_free(void *pointer) { free(pointer); }

uint64_t heed_system_process(void) { return 0; }

uintptr_t heed_system_thread(void) { return 1; }

void heed_system_yield(void) {}
