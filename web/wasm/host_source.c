/* Files that JavaScript reads, as sources. See shim.h. */
#include "base/status.h"
#include "shim.h"

static heed_status read_host(void *user, uint64_t offset, void *to, size_t count,
                             heed_error *error) {
  if (heed_host_read((uint32_t)(uintptr_t)user, (double)offset, to, count) == 0) return HEED_OK;
  return heed_fail(error, HEED_IO,
                   "model: reading failed (found an error at byte %llu, expected %zu bytes)",
                   (unsigned long long)offset, count);
}

heed_source heed_web_host_source(uint32_t source, double size) {
  return (heed_source){(uint64_t)size, NULL, read_host, (void *)(uintptr_t)source};
}
