/* A regular file open for reading. See regular_file.h. */
#include "files/regular_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "files/os.h"
#include "files/output.h"
#include "heed/native.h"
#include "pickle/foreign.h"
#include "pickle/kind.h"

heed_status heed_regular_read(void *user, uint64_t offset, void *to, size_t count,
                              heed_error *error) {
  const heed_regular *file = user;
  unsigned char *at = to;
  while (count > 0) {
    const ptrdiff_t got = heed_os_read(file->descriptor, offset, at, count);
    if (got < 0)
      return heed_fail(error, HEED_IO, "%s: cannot read (%s)", file->path, strerror(errno));
    if (got == 0)
      return heed_fail(error, HEED_IO, "%s: truncated (found %llu bytes)", file->path,
                       (unsigned long long)offset);
    at += got;
    offset += (uint64_t)got;
    count -= (size_t)got;
  }
  return HEED_OK;
}

static const char *kind_name(heed_os_kind kind) {
  return kind == HEED_OS_FOLDER ? "a directory" : kind == HEED_OS_PIPE ? "a pipe" : "a device";
}

heed_status heed_regular_open(heed_regular *file, const char *path, uint64_t *size,
                              heed_error *error) {
  heed_os_info info;
  *file = (heed_regular){heed_os_open(path), path};
  if (file->descriptor < 0 || !heed_os_look_at(file->descriptor, &info)) {
    const int reason = errno;
    heed_regular_close(file);
    return heed_fail(error, heed_status_of_errno(reason), "%s: cannot open (%s)", path,
                     strerror(reason));
  }
  if (info.kind != HEED_OS_REGULAR) {
    heed_regular_close(file);
    return heed_fail(error, HEED_IO, "%s: not a regular file (found %s)", path,
                     kind_name(info.kind));
  }
  *size = info.size;
  return HEED_OK;
}

void heed_regular_close(heed_regular *file) {
  if (file->descriptor >= 0) heed_os_close(file->descriptor);
  file->descriptor = -1;
}

bool heed_regular_first(const char *path, unsigned char first[HEED_KIND_BYTES], size_t *count) {
  heed_os_info info;
  heed_regular file;
  uint64_t size = 0;
  *count = 0;
  if (!heed_os_look(path, &info) || info.kind != HEED_OS_REGULAR) return false;
  if (heed_regular_open(&file, path, &size, NULL) != HEED_OK) return false;
  const size_t most = size < HEED_KIND_BYTES ? (size_t)size : HEED_KIND_BYTES;
  const bool is_read = heed_regular_read(&file, 0, first, most, NULL) == HEED_OK;
  heed_regular_close(&file);
  if (is_read) *count = most;
  return is_read;
}

heed_status heed_regular_check_kind(heed_regular *file, uint64_t size, const char *expected,
                                    heed_error *error) {
  unsigned char first[HEED_KIND_BYTES];
  const size_t count = size < sizeof first ? (size_t)size : sizeof first;
  HEED_TRY(heed_regular_read(file, 0, first, count, error));
  return heed_refuse_kind(file->path, first, count, expected, error);
}

heed_status heed_file_read(const char *path, uint64_t limit, unsigned char **bytes, size_t *size,
                           heed_error *error) {
  heed_regular file;
  uint64_t length = 0;
  *bytes = NULL;
  heed_status status = heed_regular_open(&file, path, &length, error);
  if (status == HEED_OK && length > limit)
    status = heed_fail(error, HEED_INVALID_FILE,
                       "%s: file too large (found %llu bytes, expected at most %llu)", path,
                       (unsigned long long)length, (unsigned long long)limit);
  *size = (size_t)length;
  if (status == HEED_OK && !(*bytes = malloc(*size + 1)))
    status = heed_fail_memory(error, path, *size);
  if (status == HEED_OK) status = heed_regular_read(&file, 0, *bytes, *size, error);
  heed_regular_close(&file);
  if (status != HEED_OK) {
    free(*bytes);
    *bytes = NULL;
  }
  return status;
}
