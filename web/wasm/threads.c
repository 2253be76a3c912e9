/* Threads of the module with shared memory: instances of it that only serve the backend's pool. See
 * shim.h. */
#include "base/alloc.h"
#include "base/thread_pool_wasm.h"
#include "cpu/cpu_backend.h"
#include "shim.h"

heed_thread_pool *heed_web_pool(const heed_web *web) {
  return ((const heed_cpu_backend *)web->backend)->pool;
}

/* The linker's own register, by its name: Emscripten has renamed the function that sets it. */
void heed_web_thread(heed_thread_pool *pool, uint32_t index, void *stack) {
  __asm__ volatile(
      ".globaltype __stack_pointer, i32\n\tlocal.get %0\n\tglobal.set __stack_pointer" ::"r"(
          stack));
  heed_thread_pool_join(pool, index);
}
