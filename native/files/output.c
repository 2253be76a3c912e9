/* Files out through a temporary name. POSIX where there is it (exclusive creation, links followed,
 * devices written directly); plain C elsewhere. Not synced to the disk: the promise is against half
 * files of a failed or killed program, not of a power cut. */
#if defined(__unix__) || defined(__APPLE__)
#define _XOPEN_SOURCE 700 /* realpath, fdopen */
#define HEED_OUTPUT_POSIX 1
#else
#define HEED_OUTPUT_POSIX 0
#endif

#include "files/output.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#if HEED_OUTPUT_POSIX
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

heed_status heed_status_of_errno(int reason) {
  return reason == ENOMEM ? HEED_OUT_OF_MEMORY : HEED_IO;
}

static heed_status fail_write(const heed_output *write, const char *what, int reason,
                              heed_error *error) {
  return heed_fail(error, heed_status_of_errno(reason),
                   "%s: %s (found \"%s\", expected a writable path)", write->shown, what,
                   reason ? strerror(reason) : "unknown reason");
}

/* Temporary files that are not finished, for a signal handler: each place is free, or has the path
 * in a heed_output. Files beyond these are written all the same, and stay behind after a signal. */
#define MOST_UNFINISHED 16
static _Atomic(const char *) unfinished[MOST_UNFINISHED];

static void exchange(const char *from, const char *to) {
  for (int i = 0; i < MOST_UNFINISHED; i++) {
    const char *found = from;
    if (atomic_compare_exchange_strong(&unfinished[i], &found, to)) return;
  }
}

void heed_file_abandon_all(void) {
#if HEED_OUTPUT_POSIX
  for (int i = 0; i < MOST_UNFINISHED; i++) {
    const char *path = atomic_exchange(&unfinished[i], NULL);
    if (path) unlink(path);
  }
#endif
}

#if HEED_OUTPUT_POSIX
#define MOST_LINKS 40

/* The target of the link at `path`, from its folder, in its place. */
static int follow(char path[HEED_PATH_SIZE]) {
  char target[HEED_PATH_SIZE];
  const ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0) return errno;
  target[length] = '\0';
  char *slash = strrchr(path, '/'), *end = slash && target[0] != '/' ? slash + 1 : path;
  if ((size_t)(end - path) + (size_t)length >= HEED_PATH_SIZE) return ENAMETOOLONG;
  memcpy(end, target, (size_t)length + 1);
  return 0;
}

/* A link stays one and its target is written. realpath follows links to what is there; to what is
 * not yet, they are followed here. */
int heed_file_target(const char *path, char resolved[HEED_PATH_SIZE]) {
  struct stat info;
  if (strlen(path) >= HEED_PATH_SIZE) return ENAMETOOLONG;
  strcpy(resolved, path);
  for (int links = 0; links < MOST_LINKS; links++) {
    char *real = realpath(resolved, NULL);
    const bool fits = real && strlen(real) < HEED_PATH_SIZE;
    if (fits) strcpy(resolved, real);
    free(real);
    if (real) return fits ? 0 : ENAMETOOLONG;
    if (errno == ELOOP) return ELOOP;
    /* a pipe, by /dev/stdout: it is there and has no path */
    if (stat(resolved, &info) == 0) return 0;
    /* not there yet; what else is wrong shows when it is opened */
    if (lstat(resolved, &info) != 0 || !S_ISLNK(info.st_mode)) return 0;
    const int reason = follow(resolved);
    if (reason) return reason;
  }
  return ELOOP;
}

/* Sets *direct for what is not a regular file. */
static int resolve(heed_output *write, const char *path, bool *direct) {
  struct stat info;
  *direct = false;
  const int reason = heed_file_target(path, write->path);
  if (reason) return reason;
  if (stat(write->path, &info) != 0) return 0;
  if (S_ISDIR(info.st_mode)) return EISDIR;
  *direct = !S_ISREG(info.st_mode);
  write->replaces = !*direct;
  write->mode = info.st_mode & 0777u;
  return 0;
}

static FILE *open_temporary(heed_output *write) {
  for (int attempt = 0; attempt < 100; attempt++) {
    const int length = snprintf(write->temporary, sizeof write->temporary, "%s.%ld-%d.part",
                                write->path, (long)getpid(), attempt);
    if (length < 0 || (size_t)length >= sizeof write->temporary) return errno = ENAMETOOLONG, NULL;
    exchange(NULL, write->temporary);
    const int descriptor = open(write->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                                write->replaces ? 0600 : 0666);
    if (descriptor < 0) exchange(write->temporary, NULL);
    if (descriptor < 0 && errno == EEXIST) continue;
    if (descriptor < 0) return NULL;
    FILE *file = write->replaces && fchmod(descriptor, (mode_t)write->mode) != 0
                     ? NULL
                     : fdopen(descriptor, "w+b");
    if (file) return file;
    const int reason = errno;
    close(descriptor);
    remove(write->temporary);
    exchange(write->temporary, NULL);
    return errno = reason, NULL;
  }
  return errno = EEXIST, NULL;
}
#else
int heed_file_target(const char *path, char resolved[HEED_PATH_SIZE]) {
  if (strlen(path) >= HEED_PATH_SIZE) return ERANGE;
  strcpy(resolved, path);
  return 0;
}

static int resolve(heed_output *write, const char *path, bool *direct) {
  *direct = false;
  return heed_file_target(path, write->path);
}

static FILE *open_temporary(heed_output *write) {
  const int length = snprintf(write->temporary, sizeof write->temporary, "%s.part", write->path);
  if (length < 0 || (size_t)length >= sizeof write->temporary) return errno = ERANGE, NULL;
  return fopen(write->temporary, "w+b");
}
#endif

heed_status heed_output_begin(heed_output *write, const char *path, heed_error *error) {
  bool direct;
  memset(write, 0, sizeof *write);
  snprintf(write->shown, sizeof write->shown, "%s", path);
  const int reason = resolve(write, path, &direct);
  if (reason) return fail_write(write, "cannot write to its folder", reason, error);
  errno = 0;
  write->file = direct ? fopen(write->path, "wb") : open_temporary(write);
  return write->file ? HEED_OK : fail_write(write, "cannot create the file", errno, error);
}

heed_status heed_output_spool(heed_output *write, const char *path, heed_error *error) {
  bool direct = true;
  memset(write, 0, sizeof *write);
  snprintf(write->shown, sizeof write->shown, "%s", path ? path : "temporary file");
  const int reason = path ? resolve(write, path, &direct) : 0;
  if (reason) return fail_write(write, "cannot write to its folder", reason, error);
  errno = 0;
  write->file = direct ? tmpfile() : open_temporary(write);
  return write->file ? HEED_OK : fail_write(write, "cannot create a temporary file", errno, error);
}

void heed_output_abort(heed_output *write) {
  if (write->file) fclose(write->file);
  if (write->temporary[0]) remove(write->temporary);
  exchange(write->temporary, NULL);
  write->file = NULL;
}

heed_status heed_output_failed(heed_output *write, int reason, heed_error *error) {
  heed_output_abort(write);
  return fail_write(write, "writing failed", reason, error);
}

heed_status heed_output_commit(heed_output *write, heed_error *error) {
  errno = 0;
  bool good = !ferror(write->file);
  good = fclose(write->file) == 0 && good; /* a full disk may show only here */
  const int reason = errno;
  write->file = NULL;
  if (!good) return heed_output_failed(write, reason, error);
  if (!write->temporary[0]) return HEED_OK;
  if (!HEED_OUTPUT_POSIX) remove(write->path); /* plain C's rename need not replace */
  if (rename(write->temporary, write->path) == 0) return exchange(write->temporary, NULL), HEED_OK;
  const int rename_reason = errno;
  heed_output_abort(write);
  return fail_write(write, "cannot rename the finished file", rename_reason, error);
}

heed_status heed_file_stream(const char *path, heed_file_writer write, void *user,
                             heed_error *error) {
  heed_output output;
  HEED_TRY(heed_output_begin(&output, path, error));
  const heed_status status = write(user, output.file, error);
  if (status == HEED_OK) return heed_output_commit(&output, error);
  heed_output_abort(&output);
  return status;
}

heed_status heed_file_write(const char *path, const void *bytes, size_t size, heed_error *error) {
  heed_output write;
  HEED_TRY(heed_output_begin(&write, path, error));
  errno = 0;
  if (size && fwrite(bytes, 1, size, write.file) != size)
    return heed_output_failed(&write, errno, error);
  return heed_output_commit(&write, error);
}
