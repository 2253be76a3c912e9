/* Files that JavaScript reads, as sources. See shim.h. */
#include <string.h>

#include "base/alloc.h"
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

heed_status heed_web_list_files(heed_web *web, heed_web_model *model, const char *names,
                                size_t names_size, const double *sizes, const uint32_t *sources,
                                uint32_t count) {
  model->files = heed_alloc(web->context, count ? count : 1, sizeof *model->files);
  model->names = heed_alloc(web->context, names_size + 1, 1);
  if (!model->files || !model->names)
    return heed_fail_memory(&web->error, "model", count * sizeof *model->files + names_size);
  memcpy(model->names, names, names_size);
  const char *name = model->names;
  for (uint32_t i = 0; i < count; i++, name += strlen(name) + 1)
    model->files[i] = (heed_model_file){name, heed_web_host_source(sources[i], sizes[i])};
  return HEED_OK;
}
