#include "base/desc.h"

#include <string.h>

#include "base/status.h"

static bool all_zero(const unsigned char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (bytes[i]) return false;
  return true;
}

heed_status heed_desc_read(void *full, size_t size, const void *desc, const char *where,
                           heed_error *error) {
  size_t found;
  if (!desc) return heed_fail(error, HEED_INVALID_ARGUMENT, "%s: desc is NULL", where);
  memcpy(&found, desc, sizeof found);
  if (found < sizeof found || found > HEED_DESC_LARGEST || found % sizeof found != 0)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "%s: struct_size is invalid (found %zu, expected sizeof the struct, %zu)",
                     where, found, size);
  if (found > size && !all_zero((const unsigned char *)desc + size, found - size))
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "%s: struct_size has fields unknown to this version (found %zu bytes, expected %zu, "
        "or zeros after them)",
        where, found, size);
  memset(full, 0, size);
  memcpy(full, desc, found < size ? found : size);
  memcpy(full, &size, sizeof size);
  return HEED_OK;
}
