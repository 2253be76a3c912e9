/* Files beneath a folder. See relative_file.h. */
#define _POSIX_C_SOURCE 200809L
#include "files/relative_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "base/utf8.h"
#include "files/output.h"
#include "heed/native.h"
#include "pickle/foreign.h"

static heed_status fail(const char *path, const char *location, heed_error *error) {
  if (errno == ELOOP || errno == EMLINK)
    return heed_refuse_location(path, location, HEED_LOCATION_LINK, error);
  return heed_fail(error, heed_status_of_errno(errno),
                   "%.200s: external data %.*s: cannot open (%s)", path,
                   heed_utf8_cut(location, 120), location, strerror(errno));
}

static int open_folder(const char *path) {
  char folder[HEED_PATH_SIZE];
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) : 0;
  if (!slash) return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (length + 2 > sizeof folder) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(folder, path, length);
  strcpy(folder + length, "/");
  return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Goes down one name after the other; each is refused where it is a link. */
static int open_steps(int folder, const char *location) {
  for (;;) {
    char name[NAME_MAX + 1];
    const size_t length = strcspn(location, "/");
    const bool last = location[length] == '\0';
    int next = -1;
    if (length < sizeof name) {
      memcpy(name, location, length);
      name[length] = '\0';
      next = openat(folder, name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
    } else {
      errno = ENAMETOOLONG;
    }
    const int reason = errno;
    close(folder);
    errno = reason;
    if (next < 0 || last) return next;
    folder = next;
    location += length + 1;
  }
}

heed_status heed_beneath_open(heed_regular *file, const char *path, const char *location,
                              uint64_t *size, heed_error *error) {
  struct stat info;
  *file = (heed_regular){-1, path};
  if (!heed_is_plain_location(location))
    return heed_refuse_location(path, location, HEED_LOCATION_ELSEWHERE, error);
  const int folder = open_folder(path);
  if (folder < 0) return fail(path, location, error);
  file->descriptor = open_steps(folder, location);
  if (file->descriptor < 0) return fail(path, location, error);
  const bool known = fstat(file->descriptor, &info) == 0;
  if (known && S_ISREG(info.st_mode) && info.st_nlink == 1) {
    *size = (uint64_t)info.st_size;
    return HEED_OK;
  }
  heed_regular_close(file);
  return heed_refuse_location(
      path, location,
      known && S_ISREG(info.st_mode) ? "found a hard link" : "found no regular file", error);
}
