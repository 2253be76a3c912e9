/* Files that are one. See paths.h. */
#include "paths.h"

#include <stdlib.h>
#include <string.h>

#include "files/names.h"
#include "files/os.h"
#include "heed/native.h"
#include "standard_out.h"

/* Where a file is: its own volume and number, or, where there is none yet, those of its folder. */
typedef struct cli_place {
  cli_path_role role;
  const char *option;
  char *path, *resolved;
  const char *name; /* in `resolved` */
  bool there, regular, in_folder;
  uint64_t volume, number;
} cli_place;

static void find_folder(cli_place *place) {
  heed_os_info info = {.number = 0};
  place->name = heed_last_name(place->resolved);
  char *end = place->resolved + (place->name - place->resolved), first = *end;
  *end = '\0';
  place->in_folder = heed_os_look(*place->resolved ? place->resolved : ".", &info);
  *end = first;
  place->volume = info.volume;
  place->number = info.number;
}

static void find_place(cli_place *place) {
  heed_os_info info;
  place->there = heed_os_look(place->path, &info);
  if (!place->there) {
    find_folder(place);
    return;
  }
  place->regular = info.kind == HEED_OS_REGULAR;
  place->volume = info.volume;
  place->number = info.number;
}

/* Orders what may be one file beside each other; 0 where it is. What was there and is no regular
 * file is never replaced. */
static int compare_places(const cli_place *a, const cli_place *b) {
  if (a->there != b->there) return a->there ? -1 : 1;
  if (!a->there && a->in_folder != b->in_folder) return a->in_folder ? -1 : 1;
  if (!a->there && !a->in_folder) return strcmp(a->resolved, b->resolved);
  if (a->volume != b->volume) return a->volume < b->volume ? -1 : 1;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  return a->there ? 0 : strcmp(a->name, b->name);
}

/* Their order in the list breaks ties. */
static int by_file(const void *left, const void *right) {
  const cli_place *a = *(const cli_place *const *)left, *b = *(const cli_place *const *)right;
  const int order = compare_places(a, b);
  return order ? order : a < b ? -1 : a > b;
}

static char *copy_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

static bool make_room(cli_paths *paths) {
  if (paths->count < paths->capacity) return true;
  const size_t capacity = paths->capacity ? 2 * paths->capacity : 8;
  cli_place *grown = realloc(paths->places, capacity * sizeof *grown);
  if (!grown) return false;
  paths->places = grown;
  paths->capacity = capacity;
  return true;
}

static heed_status add_place(cli_state *cli, cli_paths *paths, cli_path_role role,
                             const char *option, const char *path) {
  char resolved[HEED_PATH_SIZE];
  if (!make_room(paths)) return heed_fail_memory(&cli->error, path, sizeof *paths->places);
  cli_place *place = &paths->places[paths->count];
  *place = (cli_place){.role = role, .option = option, .path = copy_text(path)};
  place->resolved = copy_text(heed_file_target(path, resolved) == 0 ? resolved : path);
  paths->count++; /* from here on cli_paths_free frees it */
  if (!place->path || !place->resolved)
    return heed_fail_memory(&cli->error, path, strlen(path) + 1);
  find_place(place);
  return HEED_OK;
}

typedef struct adding {
  cli_state *cli;
  cli_paths *paths;
  const char *option;
} adding;

/* The sentence goes to cli->error, which `error` is. */
static heed_status add_model_file(void *user, const char *path, heed_error *error) {
  const adding *to = user;
  (void)error;
  return add_place(to->cli, to->paths, CLI_READ, to->option, path);
}

heed_status cli_paths_add(cli_state *cli, cli_paths *paths, cli_path_role role, const char *option,
                          const char *path) {
  if (!path || (role == CLI_WRITTEN && cli_is_stdout(path))) return HEED_OK;
  if (role != CLI_READ_MODEL) return add_place(cli, paths, role, option, path);
  return heed_model_files_each(path, add_model_file, &(adding){cli, paths, option}, &cli->error);
}

static heed_status refuse(cli_state *cli, const cli_place *output, const cli_place *other) {
  if (other->role == CLI_WRITTEN)
    return heed_fail(&cli->error, HEED_INVALID_ARGUMENT,
                     "%s: the same file as %s (found %s and %s, expected a file for each)",
                     output->option, other->option, output->path, other->path);
  return heed_fail(
      &cli->error, HEED_INVALID_ARGUMENT,
      "%s: it would overwrite an input (found %s, which is %s: %s, expected another name)",
      output->option, output->path, other->option, other->path);
}

/* Of the places [first, end), which are one file, in their order: the first output that takes the
 * place of another output before it or of any input; NULL: none. */
static const cli_place *find_clash(const cli_place *const *first, const cli_place *const *end,
                                   const cli_place **other) {
  const cli_place *output = NULL;
  for (const cli_place *const *at = first; at < end && !output; at++)
    for (const cli_place *const *to = first; to < end && (*at)->role == CLI_WRITTEN; to++)
      if ((*to)->role != CLI_WRITTEN || to < at) {
        output = *at;
        *other = *to;
        break;
      }
  return output;
}

heed_status cli_paths_check(cli_state *cli, const cli_paths *paths) {
  const cli_place **sorted = malloc((paths->count + 1) * sizeof *sorted);
  const cli_place *output = NULL, *other = NULL;
  if (!sorted) return heed_fail_memory(&cli->error, "paths", paths->count * sizeof *sorted);
  for (size_t i = 0; i < paths->count; i++) sorted[i] = &paths->places[i];
  qsort(sorted, paths->count, sizeof *sorted, by_file);
  for (size_t i = 0, end; i < paths->count; i = end) {
    const cli_place *to = NULL;
    for (end = i + 1; end < paths->count && compare_places(sorted[i], sorted[end]) == 0;) end++;
    if (sorted[i]->there && !sorted[i]->regular) continue;
    const cli_place *found = find_clash(sorted + i, sorted + end, &to);
    if (found && (!output || found < output)) {
      output = found;
      other = to;
    }
  }
  free(sorted);
  return output ? refuse(cli, output, other) : HEED_OK;
}

void cli_paths_free(cli_paths *paths) {
  for (size_t i = 0; i < paths->count; i++) {
    free(paths->places[i].path);
    free(paths->places[i].resolved);
  }
  free(paths->places);
  *paths = (cli_paths){NULL, 0, 0};
}

heed_status cli_check_paths(cli_state *cli, const cli_path *list, size_t count) {
  cli_paths paths = {NULL, 0, 0};
  heed_status status = HEED_OK;
  for (size_t i = 0; i < count && status == HEED_OK; i++)
    status = cli_paths_add(cli, &paths, list[i].role, list[i].option, list[i].path);
  if (status == HEED_OK) status = cli_paths_check(cli, &paths);
  cli_paths_free(&paths);
  return status;
}
