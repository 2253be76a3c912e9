/* A file on stdout. See standard_out.h. */
#include "standard_out.h"

#include <errno.h>
#include <string.h>

#include "system.h"

static FILE *kept; /* what stdout was; NULL: nothing is reserved */

bool cli_is_stdout(const char *path) {
  return path && (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0);
}

bool cli_stdout_reserve(void) {
  if (!kept) kept = cli_system_take_stdout();
  return kept != NULL;
}

bool cli_stdout_failed(void) {
  FILE *to = kept ? kept : stdout;
  return fflush(to) != 0 || ferror(to);
}

bool cli_stdout_closed(void) { return cli_system_reader_left(kept ? kept : stdout); }

heed_status cli_output_write(const char *path, heed_file_writer write, void *user,
                             heed_error *error) {
  if (!kept || !cli_is_stdout(path)) return heed_file_stream(path, write, user, error);
  const heed_status status = write(user, kept, error);
  errno = 0;
  if (status != HEED_OK || !cli_stdout_failed() || cli_stdout_closed()) return status;
  return heed_fail(error, HEED_IO, "stdout: writing failed (%s)", strerror(errno));
}
