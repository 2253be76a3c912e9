/* Files out through a temporary name. POSIX where there is it (exclusive creation, links followed, devices written directly); plain
 * C elsewhere. Not synced to the disk: the promise is against half files of a failed or killed program, not of a power cut. */
#if defined(__unix__) || defined(__APPLE__)
#define _XOPEN_SOURCE 700 /* realpath, fdopen */
#define HEED_OUTPUT_POSIX 1
#else
#define HEED_OUTPUT_POSIX 0
#endif

#include "files/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#if HEED_OUTPUT_POSIX
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

static heed_status fail_write(const heed_file_write *write, const char *what, int reason, heed_error *error) {
  return heed_fail(error, HEED_IO, "%s: %s (found \"%s\", expected a place that can be written)", write->shown, what,
                   reason ? strerror(reason) : "an unknown reason");
}

#if HEED_OUTPUT_POSIX
/* Resolves links, so that a link stays one and its target is replaced. Sets *direct for what is not a regular file. */
static int resolve(heed_file_write *write, const char *path, bool *direct) {
  struct stat info;
  *direct = false;
  char *resolved = realpath(path, NULL);
  const char *chosen = resolved ? resolved : path;
  const bool fits = strlen(chosen) < sizeof write->path;
  if (fits) strcpy(write->path, chosen);
  free(resolved);
  if (!fits) return ENAMETOOLONG;
  if (stat(write->path, &info) != 0) return 0; /* not there yet; what else is wrong shows when it is opened */
  if (S_ISDIR(info.st_mode)) return EISDIR;
  *direct = !S_ISREG(info.st_mode);
  return 0;
}

static FILE *open_temporary(heed_file_write *write) {
  for (int attempt = 0; attempt < 100; attempt++) {
    const int length = snprintf(write->temporary, sizeof write->temporary, "%s.%ld-%d.part", write->path, (long)getpid(), attempt);
    if (length < 0 || (size_t)length >= sizeof write->temporary) return errno = ENAMETOOLONG, NULL;
    const int descriptor = open(write->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return NULL;
    FILE *file = fdopen(descriptor, "wb");
    if (file) return file;
    const int reason = errno;
    close(descriptor);
    remove(write->temporary);
    return errno = reason, NULL;
  }
  return errno = EEXIST, NULL;
}
#else
static int resolve(heed_file_write *write, const char *path, bool *direct) {
  *direct = false;
  if (strlen(path) >= sizeof write->path) return ERANGE;
  strcpy(write->path, path);
  return 0;
}

static FILE *open_temporary(heed_file_write *write) {
  const int length = snprintf(write->temporary, sizeof write->temporary, "%s.part", write->path);
  if (length < 0 || (size_t)length >= sizeof write->temporary) return errno = ERANGE, NULL;
  return fopen(write->temporary, "wb");
}
#endif

heed_status heed_file_write_begin(heed_file_write *write, const char *path, heed_error *error) {
  bool direct;
  memset(write, 0, sizeof *write);
  snprintf(write->shown, sizeof write->shown, "%s", path);
  const int reason = resolve(write, path, &direct);
  if (reason) return fail_write(write, "cannot write there", reason, error);
  errno = 0;
  write->file = direct ? fopen(write->path, "wb") : open_temporary(write);
  return write->file ? HEED_OK : fail_write(write, "cannot create the file", errno, error);
}

void heed_file_write_abort(heed_file_write *write) {
  if (write->file) fclose(write->file);
  if (write->temporary[0]) remove(write->temporary);
  write->file = NULL;
}

heed_status heed_file_write_commit(heed_file_write *write, heed_error *error) {
  errno = 0;
  bool good = !ferror(write->file);
  good = fclose(write->file) == 0 && good; /* a full disk may show only here */
  const int reason = errno;
  write->file = NULL;
  if (!good) {
    heed_file_write_abort(write);
    return fail_write(write, "writing failed", reason, error);
  }
  if (!write->temporary[0]) return HEED_OK;
  if (!HEED_OUTPUT_POSIX) remove(write->path); /* plain C's rename need not replace */
  if (rename(write->temporary, write->path) == 0) return HEED_OK;
  const int rename_reason = errno;
  heed_file_write_abort(write);
  return fail_write(write, "cannot rename the finished file", rename_reason, error);
}

heed_status heed_file_write_bytes(const char *path, const void *bytes, size_t size, heed_error *error) {
  heed_file_write write;
  HEED_TRY(heed_file_write_begin(&write, path, error));
  errno = 0;
  if (size && fwrite(bytes, 1, size, write.file) != size) {
    const int reason = errno;
    heed_file_write_abort(&write);
    return fail_write(&write, "writing failed", reason, error);
  }
  return heed_file_write_commit(&write, error);
}
