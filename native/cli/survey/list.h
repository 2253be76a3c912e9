/* A list of pictures as a file that stays where it is: a path a line. Memory holds the place of
 * each 64th line alone, whatever the length. */
#ifndef HEED_CLI_SURVEY_LIST_H
#define HEED_CLI_SURVEY_LIST_H

#include "heed/native.h"
#include "session/sha256.h"
#include "terminal/cli.h"

typedef struct survey_list {
  const char *name;
  FILE *file; /* NULL: no list */
  uint64_t count;
  uint64_t *marks; /* where each 64th path begins */
  size_t mark_count, mark_capacity;
  uint64_t next; /* the path that the file stands at */
} survey_list;

/* What cannot be read twice goes to a file without a name, which stands at its beginning; `name`
 * begins sentences. Close *copy also when it fails. Statuses: IO. */
heed_status survey_list_copy(cli_state *cli, FILE *from, const char *name, FILE **copy);
/* Reads through the list: "-" is stdin, which goes to a file of its own first. Empty lines are
 * skipped. Each path is added to `hash` with a line's end; `most` paths are allowed; none may be
 * the file `written` (NULL: none is). Statuses: IO, INVALID_FILE, INVALID_ARGUMENT (a path is
 * `written`), OUT_OF_MEMORY. */
heed_status survey_list_open(cli_state *cli, const char *path, uint64_t most, const char *written,
                             sha256 *hash, survey_list *list);
void survey_list_close(survey_list *list);
/* Path `index`, in `line`. One thread at a time. Statuses: IO (the list changed). */
heed_status survey_list_path(cli_state *cli, survey_list *list, uint64_t index,
                             char line[HEED_PATH_SIZE]);

#endif
