/* A file on stdout: `--json -`, `--save -`. What else is printed goes to stderr from then on, so
 * that stdout is that file alone. */
#ifndef HEED_CLI_TERMINAL_STANDARD_OUT_H
#define HEED_CLI_TERMINAL_STANDARD_OUT_H

#include "cli.h"
#include "heed/native.h"

/* "-", or the name that systems have for it. */
bool cli_is_stdout(const char *path);
/* Keeps stdout for the file. false: no descriptor is left. */
bool cli_stdout_reserve(void);
/* Whether results did not reach stdout, or what was reserved of it. */
bool cli_stdout_failed(void);
/* Whether that is a pipe whose reader has closed it. */
bool cli_stdout_closed(void);
/* As heed_file_stream; to stdout where that was reserved and the path says it. A pipe that its
 * reader closed is no error. */
heed_status cli_output_write(const char *path, heed_file_writer write, void *user,
                             heed_error *error);

#endif
