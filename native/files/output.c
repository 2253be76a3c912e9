/* Files out through a temporary name. Not synced to the disk: the promise is against half files of
 * a failed or killed program, not of a power cut. */
#include "files/output.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "files/os.h"

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
  for (int i = 0; i < MOST_UNFINISHED; i++) {
    const char *path = atomic_exchange(&unfinished[i], NULL);
    if (path) heed_os_remove(path);
  }
}

/* Sets *direct for what is not a regular file. */
static int resolve(heed_output *write, const char *path, bool *direct) {
  heed_os_info info;
  *direct = false;
  const int reason = heed_file_target(path, write->path);
  if (reason) return reason;
  if (!heed_os_look(write->path, &info)) return 0;
  if (info.kind == HEED_OS_FOLDER) return EISDIR;
  *direct = info.kind != HEED_OS_REGULAR;
  write->replaces = !*direct;
  write->mode = info.mode;
  return 0;
}

static FILE *open_temporary(heed_output *write) {
  for (int attempt = 0; attempt < 100; attempt++) {
    const int length = snprintf(write->temporary, sizeof write->temporary, "%s.%ld-%d.part",
                                write->path, heed_os_process(), attempt);
    if (length < 0 || (size_t)length >= sizeof write->temporary) return errno = ENAMETOOLONG, NULL;
    exchange(NULL, write->temporary);
    FILE *file = heed_os_create(write->temporary, write->replaces ? &write->mode : NULL);
    if (file) return file;
    const int reason = errno;
    exchange(write->temporary, NULL);
    if (reason != EEXIST) return errno = reason, NULL;
  }
  return errno = EEXIST, NULL;
}

heed_status heed_output_begin(heed_output *write, const char *path, heed_error *error) {
  bool direct;
  memset(write, 0, sizeof *write);
  snprintf(write->shown, sizeof write->shown, "%s", path);
  const int reason = resolve(write, path, &direct);
  if (reason) return fail_write(write, "cannot write to its folder", reason, error);
  errno = 0;
  write->file = direct ? heed_os_stream(write->path, "wb") : open_temporary(write);
  return write->file ? HEED_OK : fail_write(write, "cannot create the file", errno, error);
}

heed_status heed_output_spool(heed_output *write, const char *path, heed_error *error) {
  bool direct = true;
  memset(write, 0, sizeof *write);
  snprintf(write->shown, sizeof write->shown, "%s", path ? path : "temporary file");
  const int reason = path ? resolve(write, path, &direct) : 0;
  if (reason) return fail_write(write, "cannot write to its folder", reason, error);
  errno = 0;
  write->file = direct ? heed_os_temporary() : open_temporary(write);
  return write->file ? HEED_OK : fail_write(write, "cannot create a temporary file", errno, error);
}

void heed_output_abort(heed_output *write) {
  if (write->file) fclose(write->file);
  if (write->temporary[0]) heed_os_remove(write->temporary);
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
  if (heed_os_replace(write->temporary, write->path))
    return exchange(write->temporary, NULL), HEED_OK;
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
