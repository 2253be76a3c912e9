/* The files that a verb reads and writes, held against each other before anything runs: no output
 * takes the place of another, or of an input. Files that are there are compared by device and
 * inode, others by their folder, links followed, and name. Devices and pipes may be given twice:
 * nothing of theirs is replaced. */
#ifndef HEED_CLI_TERMINAL_PATHS_H
#define HEED_CLI_TERMINAL_PATHS_H

#include "cli.h"

typedef enum cli_path_role { CLI_READ, CLI_READ_MODEL, CLI_WRITTEN } cli_path_role;

typedef struct cli_paths {
  struct cli_place *places;
  size_t count, capacity;
} cli_paths;

/* Adds a file; `option` ("--maps") must live as long as the list, `path` is copied and may be NULL
 * (nothing is added). CLI_READ_MODEL: all files that opening this model would read. Statuses:
 * OUT_OF_MEMORY. */
heed_status cli_paths_add(cli_state *cli, cli_paths *paths, cli_path_role role, const char *option,
                          const char *path);
/* Refuses two outputs that are one file, and outputs that are inputs, naming both. Statuses:
 * INVALID_ARGUMENT. */
heed_status cli_paths_check(cli_state *cli, const cli_paths *paths);
void cli_paths_free(cli_paths *paths);

/* Add, check and free for a few. */
typedef struct cli_path {
  cli_path_role role;
  const char *option, *path;
} cli_path;

heed_status cli_check_paths(cli_state *cli, const cli_path *list, size_t count);

#endif
