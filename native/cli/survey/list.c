/* A list of pictures. See list.h. */
#include "list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/os.h"

#define MARKED 64 /* lines */

static heed_status fail_line(cli_state *cli, const char *list, uint64_t line, const char *what) {
  return heed_fail(&cli->error, HEED_INVALID_FILE,
                   "%s: line %llu: %s (expected a path of 1 to %d bytes)", list,
                   (unsigned long long)line, what, HEED_PATH_SIZE - 1);
}

/* A line without its end; *more: there was one. `number` is for the sentence. */
static heed_status read_line(cli_state *cli, const survey_list *list, uint64_t number,
                             char line[HEED_PATH_SIZE], bool *more) {
  size_t length = 0;
  int byte;
  while ((byte = getc(list->file)) != '\n') {
    if (byte == EOF && cli_interrupted(list->file)) continue;
    if (byte == EOF) break;
    if (byte == '\0') return fail_line(cli, list->name, number, "invalid path, with a zero byte");
    if (length == HEED_PATH_SIZE - 1) return fail_line(cli, list->name, number, "path too long");
    line[length++] = (char)byte;
  }
  *more = byte != EOF;
  if (length && line[length - 1] == '\r') length--; /* of Windows */
  line[length] = '\0';
  /* a byte-order mark, as Windows writes it */
  if (number == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0) memmove(line, line + 3, length - 2);
  return ferror(list->file) ? heed_fail(&cli->error, HEED_IO, "%s: cannot read the list (%s)",
                                        list->name, strerror(errno))
                            : HEED_OK;
}

heed_status survey_list_copy(cli_state *cli, FILE *from, const char *name, FILE **copy) {
  FILE *to = heed_os_temporary();
  char block[65536];
  size_t size;
  *copy = to;
  if (!to)
    return heed_fail(&cli->error, HEED_IO, "%s: cannot keep it in a file (%s)", name,
                     strerror(errno));
  do {
    size = fread(block, 1, sizeof block, from);
    if (fwrite(block, 1, size, to) != size || ferror(to))
      return heed_fail(&cli->error, HEED_IO, "%s: cannot keep it in a file (%s)", name,
                       strerror(errno));
  } while (size || cli_interrupted(from));
  return ferror(from) || fflush(to) != 0 || !heed_os_seek(to, 0)
             ? heed_fail(&cli->error, HEED_IO, "%s: cannot read it (%s)", name, strerror(errno))
             : HEED_OK;
}

static heed_status open_list(cli_state *cli, const char *path, survey_list *list) {
  const bool standard = strcmp(path, "-") == 0;
  heed_os_info info = {.kind = HEED_OS_PIPE};
  if (!standard) (void)heed_os_look(path, &info);
  list->name = standard ? "stdin" : path;
  list->file = standard ? stdin : heed_os_stream(path, "rb");
  if (!list->file || info.kind == HEED_OS_FOLDER) {
    const int reason = list->file ? EISDIR : errno;
    return heed_fail(&cli->error, cli_status_of_errno(reason),
                     "%s: cannot open the list of images (%s)", list->name, strerror(reason));
  }
  if (info.kind == HEED_OS_REGULAR && !standard) return HEED_OK;
  FILE *from = list->file; /* a pipe */
  const heed_status status = survey_list_copy(cli, from, list->name, &list->file);
  if (!standard) fclose(from);
  return status;
}

static heed_status mark(cli_state *cli, survey_list *list, uint64_t at) {
  if (list->count % MARKED != 0) return HEED_OK;
  if (list->mark_count == list->mark_capacity) {
    const size_t capacity = list->mark_capacity ? 2 * list->mark_capacity : 64;
    uint64_t *grown = realloc(list->marks, capacity * sizeof *grown);
    if (!grown) return heed_fail_memory(&cli->error, "images", capacity * sizeof *grown);
    list->marks = grown;
    list->mark_capacity = capacity;
  }
  list->marks[list->mark_count++] = at;
  return HEED_OK;
}

static heed_status check_written(cli_state *cli, const char *path, const char *written,
                                 const heed_os_info *output) {
  heed_os_info info;
  if (!written || !heed_os_look(path, &info) || info.volume != output->volume ||
      info.number != output->number)
    return HEED_OK;
  return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                   "%s: it would overwrite an input (found %s of the list, expected another name)",
                   written, path);
}

static heed_status read_through(cli_state *cli, uint64_t most, const char *written, sha256 *hash,
                                survey_list *list) {
  char line[HEED_PATH_SIZE];
  heed_os_info output;
  bool more = true;
  if (written && (!heed_os_look(written, &output) || output.kind != HEED_OS_REGULAR))
    written = NULL;
  for (uint64_t number = 1; more; number++) {
    /* of a line that gets a mark; each call is one of the system */
    uint64_t at = 0;
    if (list->count % MARKED == 0) (void)heed_os_tell(list->file, &at);
    CLI_TRY(read_line(cli, list, number, line, &more));
    if (!*line) continue;
    CLI_TRY(check_written(cli, line, written, &output));
    CLI_TRY(mark(cli, list, at));
    if (list->count == most)
      return heed_fail(&cli->error, HEED_INVALID_FILE,
                       "images: too many in one run (found more than %llu, expected at most that; "
                       "--most-images N takes more)",
                       (unsigned long long)most);
    sha256_add(hash, line, strlen(line));
    sha256_add(hash, "\n", 1);
    list->count++;
  }
  return list->count
             ? HEED_OK
             : heed_fail(&cli->error, HEED_INVALID_FILE,
                         "%s: a list without images (found 0 lines, expected a path a line)",
                         list->name);
}

heed_status survey_list_open(cli_state *cli, const char *path, uint64_t most, const char *written,
                             sha256 *hash, survey_list *list) {
  *list = (survey_list){.next = UINT64_MAX};
  CLI_TRY(open_list(cli, path, list));
  return read_through(cli, most, written, hash, list);
}

void survey_list_close(survey_list *list) {
  if (list->file && list->file != stdin) fclose(list->file);
  free(list->marks);
  *list = (survey_list){0};
}

heed_status survey_list_path(cli_state *cli, survey_list *list, uint64_t index,
                             char line[HEED_PATH_SIZE]) {
  uint64_t at = index / MARKED * MARKED;
  bool more = true;
  if (list->next == index) {
    at = index;
  } else if (!heed_os_seek(list->file, list->marks[index / MARKED])) {
    return heed_fail(&cli->error, HEED_IO, "%s: cannot read the list (%s)", list->name,
                     strerror(errno));
  }
  for (; at <= index; at++) {
    /* the mark of the first line is before a byte-order mark */
    do CLI_TRY(read_line(cli, list, at == 0 ? 1 : 2, line, &more));
    while (!*line && more);
    if (!*line)
      return heed_fail(&cli->error, HEED_IO,
                       "%s: the list changed while it was read (found %llu paths, expected %llu)",
                       list->name, (unsigned long long)at, (unsigned long long)list->count);
  }
  list->next = index + 1;
  return HEED_OK;
}
