/* Reading from what the caller gave. */
#include "model/files/source.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"

heed_status heed_source_read(const heed_source *source, const char *where, uint64_t offset,
                             void *to, size_t count, heed_error *error) {
  if (count == 0) return HEED_OK;
  if (offset > source->size || count > source->size - offset)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: truncated (found %" PRIu64 " bytes, expected %zu more at byte %" PRIu64
                     ")",
                     where, source->size, count, offset);
  if (source->bytes) {
    memcpy(to, (const unsigned char *)source->bytes + offset, count);
    return HEED_OK;
  }
  if (!source->read)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: the source has neither bytes nor a read callback", where);
  return source->read(source->user, offset, to, count, error);
}

heed_status heed_source_text(const heed_context *context, const heed_source *source,
                             const char *where, size_t limit, char **text, heed_error *error) {
  *text = NULL;
  if (source->size > limit)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: too large (found %" PRIu64 " bytes, expected at most %zu)", where,
                     source->size, limit);
  const size_t size = (size_t)source->size;
  char *bytes = heed_alloc_raw(context, size ? size : 1, 1);
  if (!bytes) return heed_fail_memory(error, where, size);
  const heed_status status = heed_source_read(source, where, 0, bytes, size, error);
  if (status == HEED_OK)
    *text = bytes;
  else
    heed_free(context, bytes);
  return status;
}

heed_status heed_model_desc_read(heed_model_desc *full, const heed_model_desc *desc,
                                 heed_error *error) {
  HEED_TRY(heed_desc_read(full, sizeof *full, desc, "model", error));
  if (!full->files && full->file_count)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "model: files is NULL (expected %u)",
                     full->file_count);
  return HEED_OK;
}

const heed_model_file *heed_find_file(const heed_model_file *files, uint32_t count,
                                      const char *name) {
  for (uint32_t i = 0; i < count; i++)
    if (files[i].name && strcmp(files[i].name, name) == 0) return &files[i];
  return NULL;
}
