/* Files that are one. See paths.h. */
#define _POSIX_C_SOURCE 200809L
#include "paths.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "heed/native.h"

/* Where a file is: its own device and inode, or, where there is none yet, those of its folder. */
typedef struct cli_place {
  cli_path_role role;
  const char *option;
  char *path, *resolved;
  const char *name; /* in `resolved` */
  bool there, regular, in_folder;
  dev_t device;
  ino_t inode;
} cli_place;

static void find_folder(cli_place *place) {
  struct stat info;
  char *slash = strrchr(place->resolved, '/');
  place->name = slash ? slash + 1 : place->resolved;
  if (slash) *slash = '\0';
  place->in_folder = stat(!slash                     ? "."
                          : slash == place->resolved ? "/"
                                                     : place->resolved,
                          &info) == 0;
  if (slash) *slash = '/';
  place->device = info.st_dev;
  place->inode = info.st_ino;
}

static void find_place(cli_place *place) {
  struct stat info;
  place->there = stat(place->path, &info) == 0;
  if (!place->there) {
    find_folder(place);
    return;
  }
  place->regular = S_ISREG(info.st_mode);
  place->device = info.st_dev;
  place->inode = info.st_ino;
}

static bool same_file(const cli_place *a, const cli_place *b) {
  if (a->there != b->there) return false;
  if (a->there) return a->regular && a->device == b->device && a->inode == b->inode;
  if (!a->in_folder || !b->in_folder) return strcmp(a->resolved, b->resolved) == 0;
  return a->device == b->device && a->inode == b->inode && strcmp(a->name, b->name) == 0;
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
  if (!path) return HEED_OK;
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

heed_status cli_paths_check(cli_state *cli, const cli_paths *paths) {
  for (size_t i = 0; i < paths->count; i++) {
    const cli_place *output = &paths->places[i];
    if (output->role != CLI_WRITTEN) continue;
    for (size_t k = 0; k < paths->count; k++) {
      const cli_place *other = &paths->places[k];
      if ((other->role != CLI_WRITTEN || k < i) && same_file(output, other))
        return refuse(cli, output, other);
    }
  }
  return HEED_OK;
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
