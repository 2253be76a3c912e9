/* What the host's threads call on a pool of WebAssembly with shared memory. */
#ifndef HEED_BASE_THREAD_POOL_WASM_H
#define HEED_BASE_THREAD_POOL_WASM_H

#include "base/thread_pool.h"

/* Worker `index`, 1 .. count - 1: runs tasks until the pool is destroyed. Each worker must join
 * once, also one that comes late: the first job waits for all of them. */
void heed_thread_pool_join(heed_thread_pool *pool, uint32_t index);

#endif
