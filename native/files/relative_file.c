/* Files beneath a folder. See relative_file.h. */
#include "files/relative_file.h"

#include <errno.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "files/os.h"
#include "files/output.h"
#include "pickle/foreign.h"

static heed_status fail(const char *path, const char *location, heed_error *error) {
  if (errno == ELOOP) return heed_refuse_location(path, location, HEED_LOCATION_LINK, error);
  return heed_fail(error, heed_status_of_errno(errno),
                   "%.200s: external data %.*s: cannot open (%s)", path,
                   heed_utf8_cut(location, 120), location, strerror(errno));
}

heed_status heed_beneath_open(heed_regular *file, const char *path, const char *location,
                              uint64_t *size, heed_error *error) {
  heed_os_info info;
  *file = (heed_regular){-1, path};
  if (!heed_is_plain_location(location))
    return heed_refuse_location(path, location, HEED_LOCATION_ELSEWHERE, error);
  file->descriptor = heed_os_open_beneath(path, location);
  if (file->descriptor < 0) return fail(path, location, error);
  const bool is_regular = heed_os_look_at(file->descriptor, &info) && info.kind == HEED_OS_REGULAR;
  if (is_regular && info.links == 1) {
    *size = info.size;
    return HEED_OK;
  }
  heed_regular_close(file);
  return heed_refuse_location(path, location,
                              is_regular ? "found a hard link" : "found no regular file", error);
}
