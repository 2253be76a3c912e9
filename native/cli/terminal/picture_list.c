/* The pictures of a run. See picture_list.h. */
#include "picture_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/names.h"
#include "files/os.h"
#include "heed/native.h"

static heed_status fail_open(cli_state *cli, const char *path, const char *what, int reason) {
  return heed_fail(&cli->error, cli_status_of_errno(reason), "%s: cannot open the %s (%s)", path,
                   what, strerror(reason));
}

static heed_status add(cli_state *cli, picture_list *pictures, const char *path, size_t length) {
  if (pictures->count == pictures->most)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "images: too many in one run (found more than %u, expected at most that; "
                     "--most-images N takes more)",
                     pictures->most);
  if (pictures->count == pictures->capacity) {
    const uint32_t capacity = pictures->capacity ? 2 * pictures->capacity : 16;
    char **grown = realloc(pictures->path, capacity * sizeof *grown);
    if (!grown) return heed_fail_memory(&cli->error, "images", capacity * sizeof *grown);
    pictures->path = grown;
    char **labels = realloc(pictures->label, capacity * sizeof *labels);
    if (!labels) return heed_fail_memory(&cli->error, "images", capacity * sizeof *labels);
    pictures->label = labels;
    pictures->capacity = capacity;
  }
  char *copy = malloc(length + 1);
  if (!copy) return heed_fail_memory(&cli->error, "images", length + 1);
  memcpy(copy, path, length);
  copy[length] = '\0';
  pictures->label[pictures->count] = NULL;
  pictures->path[pictures->count++] = copy;
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- folders
 */

bool cli_is_picture_name(const char *name) {
  static const char *const ends[] = {".png",  ".jpg",  ".jpeg", ".jpe",
                                     ".jfif", ".webp", ".tif",  ".tiff"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (strlen(name) > strlen(ends[i]) && heed_ends_with_any_case(name, ends[i])) return true;
  return false;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Pictures of a folder, or the folders below it. */
static heed_status add_entries(cli_state *cli, picture_list *pictures, const char *folder,
                               heed_os_folder *open, bool folders, uint32_t *others,
                               uint32_t *below) {
  /* no folder has no name */
  const char *slash = heed_os_separates(folder[strlen(folder) - 1]) ? "" : "/";
  char path[HEED_PATH_SIZE];
  for (;;) {
    const char *name = heed_os_folder_next(open);
    if (!name && errno)
      return heed_fail(&cli->error, cli_status_of_errno(errno), "%s: cannot read the folder (%s)",
                       folder, strerror(errno));
    if (!name) return HEED_OK;
    if (name[0] == '.') continue;
    const int size = snprintf(path, sizeof path, "%s%s%s", folder, slash, name);
    if ((size_t)size >= sizeof path)
      return heed_fail(
          &cli->error, HEED_IO,
          "%.200s...: path too long (found more than %d bytes, expected a shorter one)", folder,
          HEED_PATH_SIZE - 1); /* which no message holds */
    /* a link to nothing is a picture that cannot be read, and says so in its turn */
    const bool folder_below = heed_is_directory(path);
    *below += folder_below;
    if (folder_below != folders || (!folders && !cli_is_picture_name(name)))
      ++*others;
    else
      CLI_TRY(add(cli, pictures, path, (size_t)size));
  }
}

/* Those in one folder, by name; how many other entries there are. */
static heed_status add_sorted(cli_state *cli, picture_list *pictures, const char *folder,
                              bool folders, uint32_t *others, uint32_t *below) {
  const uint32_t first = pictures->count;
  *others = *below = 0;
  heed_os_folder *open = heed_os_folder_open(folder);
  if (!open) return fail_open(cli, folder, "folder", errno);
  const heed_status status = add_entries(cli, pictures, folder, open, folders, others, below);
  heed_os_folder_close(open);
  if (pictures->count > first)
    qsort(pictures->path + first, pictures->count - first, sizeof *pictures->path, by_name);
  return status;
}

static char *copy_text(const char *text) {
  char *copy = malloc(strlen(text) + 1);
  return copy ? strcpy(copy, text) : NULL;
}

/* The pictures in each folder below, with its name as their class. */
static heed_status add_classes(cli_state *cli, picture_list *pictures, const char *folder,
                               uint32_t *others) {
  picture_list below = {.most = CLI_MOST_PICTURES};
  uint32_t beside, deeper;
  heed_status status = add_sorted(cli, &below, folder, true, &beside, &deeper);
  *others = beside;
  for (uint32_t i = 0; i < below.count && status == HEED_OK; i++) {
    const uint32_t first = pictures->count;
    status = add_sorted(cli, pictures, below.path[i], false, &beside, &deeper);
    *others += beside;
    for (uint32_t k = first; k < pictures->count && status == HEED_OK; k++) {
      pictures->label[k] = copy_text(heed_last_name(below.path[i]));
      if (!pictures->label[k]) status = heed_fail_memory(&cli->error, "images", 1);
    }
  }
  picture_list_free(&below);
  return status;
}

/* The pictures of a folder, then those of each folder below, by name. */
static heed_status add_deep(cli_state *cli, picture_list *pictures, const char *folder,
                            uint32_t *others, uint32_t *below) {
  picture_list folders = {.most = CLI_MOST_PICTURES};
  uint32_t beside, deeper;
  heed_status status = add_sorted(cli, pictures, folder, false, others, below);
  if (status == HEED_OK && *below)
    status = add_sorted(cli, &folders, folder, true, &beside, &deeper);
  *others -= folders.count;
  for (uint32_t i = 0; i < folders.count && status == HEED_OK; i++) {
    beside = 1;
    if (!heed_os_is_link(folders.path[i]))
      status = add_deep(cli, pictures, folders.path[i], &beside, &deeper);
    *others += beside;
  }
  picture_list_free(&folders);
  return status;
}

static heed_status add_folder(cli_state *cli, picture_list *pictures, const char *folder,
                              bool quiet) {
  const uint32_t first = pictures->count;
  uint32_t others, below;
  CLI_TRY(pictures->deep ? add_deep(cli, pictures, folder, &others, &below)
                         : add_sorted(cli, pictures, folder, false, &others, &below));
  if (pictures->count == first && pictures->classes && below)
    CLI_TRY(add_classes(cli, pictures, folder, &others));
  const uint32_t found = pictures->count - first;
  if (found == 0)
    return heed_fail(&cli->error, HEED_INVALID_FILE,
                     "%s: a folder without images (found %u others, expected names that end in "
                     ".png, .jpg, .webp or .tif)%s",
                     folder, others,
                     below && !pictures->classes && !pictures->deep
                         ? "; folders below are not read: --list FILE takes their images"
                         : "");
  if (others && !quiet)
    fprintf(stderr, "heed: %s: %u images, %u others left out\n", CLI_SHOWN(folder), found, others);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ lists
 */

static heed_status fail_line(cli_state *cli, const char *list, uint32_t line, const char *what) {
  return heed_fail(&cli->error, HEED_INVALID_FILE,
                   "%s: line %u: %s (expected a path of 1 to %d "
                   "bytes)",
                   list, line, what, HEED_PATH_SIZE - 1);
}

/* A line without its end; *more: there was one. */
static heed_status read_line(cli_state *cli, FILE *file, const char *name, uint32_t number,
                             char line[HEED_PATH_SIZE], size_t *length, bool *more) {
  int byte;
  for (*length = 0; (byte = getc(file)) != '\n';) {
    if (byte == EOF && cli_interrupted(file)) continue;
    if (byte == EOF) break;
    if (byte == '\0') return fail_line(cli, name, number, "invalid path, with a zero byte");
    if (*length == HEED_PATH_SIZE - 1) return fail_line(cli, name, number, "path too long");
    line[(*length)++] = (char)byte;
  }
  *more = byte != EOF;
  if (*length && line[*length - 1] == '\r') --*length; /* of Windows */
  return ferror(file) ? heed_fail(&cli->error, HEED_IO, "%s: cannot read the list (%s)", name,
                                  strerror(errno))
                      : HEED_OK;
}

static heed_status add_lines(cli_state *cli, picture_list *pictures, FILE *file, const char *name) {
  const uint32_t first = pictures->count;
  char line[HEED_PATH_SIZE];
  size_t length;
  bool more = true;
  for (uint32_t number = 1; more; number++) {
    CLI_TRY(read_line(cli, file, name, number, line, &length, &more));
    const bool has_mark = number == 1 && length >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0;
    const size_t from = has_mark ? 3 : 0; /* a byte-order mark, as Windows writes it */
    if (length > from) CLI_TRY(add(cli, pictures, line + from, length - from));
  }
  return pictures->count > first
             ? HEED_OK
             : heed_fail(&cli->error, HEED_INVALID_FILE,
                         "%s: a list without images (found 0 lines, expected a path a line)", name);
}

static heed_status add_list(cli_state *cli, picture_list *pictures, const char *list) {
  const bool standard = strcmp(list, "-") == 0;
  const char *name = standard ? "stdin" : list;
  const bool folder = !standard && heed_is_directory(list);
  FILE *file = standard ? stdin : folder ? NULL : heed_os_stream(list, "rb");
  if (!file) {
    const int reason = folder ? EISDIR : errno;
    return fail_open(cli, name, "list of images", reason);
  }
  const heed_status status = add_lines(cli, pictures, file, name);
  if (!standard) fclose(file);
  return status;
}

heed_status picture_list_make(cli_state *cli, const char *const *words, uint32_t count,
                              const char *list, bool quiet, picture_list *pictures) {
  for (uint32_t i = 0; i < count; i++) {
    CLI_TRY(heed_is_directory(words[i]) ? add_folder(cli, pictures, words[i], quiet)
                                        : add(cli, pictures, words[i], strlen(words[i])));
  }
  return list ? add_list(cli, pictures, list) : HEED_OK;
}

void picture_list_free(picture_list *pictures) {
  for (uint32_t i = 0; i < pictures->count; i++) {
    free(pictures->path[i]);
    free(pictures->label[i]);
  }
  free(pictures->path);
  free(pictures->label);
  *pictures = (picture_list){.count = 0};
}
