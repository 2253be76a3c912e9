/* A model's files on disk. They are read by pread when the model asks, so that a 300 MB file never
 * stands in memory whole. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/status.h"
#include "files/given.h"
#include "files/output.h"
#include "files/regular.h"
#include "heed/native.h"

#define MOST_FILES 512

struct heed_model_files {
  heed_context *context;
  heed_model_desc desc;
  heed_model_file file[MOST_FILES];
  heed_regular regular[MOST_FILES];
  char *path[MOST_FILES];
  uint32_t count;
};

static const char *name_of(const char *path) {
  return strrchr(path, '/') + 1;
} /* a path from heed_model_files_each has a folder */

static heed_status add_file(void *user, const char *path, heed_error *error) {
  heed_model_files *files = user;
  const char *name = name_of(path);
  const int folder = (int)(name - path) - 1;
  const uint32_t at = files->count;
  if (at == MOST_FILES)
    return heed_fail(error, HEED_INVALID_FILE, "%.*s: too many model files (found more than %d)",
                     folder, path, MOST_FILES);
  files->path[at] = heed_copy_string(files->context, path, strlen(path));
  if (!files->path[at]) return heed_fail_memory(error, path, strlen(path) + 1);
  heed_source *source = &files->file[at].source;
  *source = (heed_source){0, NULL, heed_regular_read, &files->regular[at]};
  files->file[at].name = name_of(files->path[at]);
  files->regular[at].descriptor = -1;
  files->count++; /* from here on heed_model_files_destroy frees it */
  HEED_TRY(heed_regular_open(&files->regular[at], files->path[at], &source->size, error));
  return heed_regular_check_kind(&files->regular[at], source->size,
                                 heed_ends_with(name, ".json") ? "JSON" : ".safetensors", error);
}

/* -------------------------------------------------------------------------------- what is there */

static const char *const configs[] = {"config.json", "preprocessor_config.json",
                                      "open_clip_config.json"};

static bool is_config(const char *name) {
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
    if (strcmp(name, configs[i]) == 0) return true;
  return false;
}

static bool is_weights(const char *name) {
  return heed_ends_with(name, ".safetensors") || strcmp(name, "model.safetensors.index.json") == 0;
}

/* A file of a folder. */
static heed_status visit_in(const char *folder, size_t length, const char *name,
                            heed_model_file_visit visit, void *user, heed_error *error) {
  char path[HEED_PATH_SIZE];
  const int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
  if (written < 0 || (size_t)written >= sizeof path)
    return heed_fail(error, HEED_IO, "%s: cannot open (%s)", folder, strerror(ENAMETOOLONG));
  return visit(user, path, error);
}

static heed_status each_of_folder(const char *folder, heed_model_file_visit visit, void *user,
                                  heed_error *error) {
  DIR *directory = opendir(folder);
  if (!directory)
    return heed_fail(error, heed_status_of_errno(errno), "%s: cannot open (%s)", folder,
                     strerror(errno));
  heed_status status = HEED_OK;
  for (const struct dirent *entry; status == HEED_OK && (entry = readdir(directory));)
    if (is_config(entry->d_name) || is_weights(entry->d_name))
      status = visit_in(folder, strlen(folder), entry->d_name, visit, user, error);
  closedir(directory);
  return status;
}

typedef struct visiting {
  heed_model_file_visit visit;
  void *user;
} visiting;

static heed_status visit_there(void *user, const char *path, heed_error *error) {
  const visiting *to = user;
  return access(path, F_OK) == 0 ? to->visit(to->user, path, error) : HEED_OK;
}

/* One weight file; its folder's config files come along when they are there. */
static heed_status each_of_single(const char *path, heed_model_file_visit visit, void *user,
                                  heed_error *error) {
  const char *slash = strrchr(path, '/'), *folder = !slash ? "." : slash == path ? "/." : path;
  const size_t length = slash && slash != path ? (size_t)(slash - path) : strlen(folder);
  HEED_TRY(visit_in(folder, length, slash ? slash + 1 : path, visit, user, error));
  visiting there = {visit, user};
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
    HEED_TRY(visit_in(folder, length, configs[i], visit_there, &there, error));
  return HEED_OK;
}

heed_status heed_model_files_each(const char *path, heed_model_file_visit visit, void *user,
                                  heed_error *error) {
  return heed_is_directory(path) ? each_of_folder(path, visit, user, error)
                                 : each_of_single(path, visit, user, error);
}

/* The weights of a folder in a format that is not read, in `path`: pytorch_model.bin before an
 * optimizer's state, else the first by name.
 */
static bool find_foreign(const char *folder, char *path, size_t size) {
  char chosen[256] = "";
  DIR *directory = opendir(folder);
  for (const struct dirent *entry; directory && (entry = readdir(directory));) {
    const char *name = entry->d_name;
    if (!heed_is_foreign_name(name) || strlen(name) >= sizeof chosen) continue;
    const bool is_main = strncmp(name, "pytorch_model", 13) == 0,
               has_main = strncmp(chosen, "pytorch_model", 13) == 0;
    if (!*chosen || is_main > has_main || (is_main == has_main && strcmp(name, chosen) < 0))
      strcpy(chosen, name);
  }
  if (directory) closedir(directory);
  snprintf(path, size, "%s/%s", folder, chosen);
  return *chosen != '\0';
}

static heed_status check_folder(const char *folder, const heed_model_files *files,
                                heed_error *error) {
  char foreign[HEED_PATH_SIZE];
  for (uint32_t i = 0; i < files->count; i++)
    if (is_weights(files->file[i].name)) return HEED_OK;
  if (find_foreign(folder, foreign, sizeof foreign))
    return heed_refuse_foreign_name(foreign, error);
  if (files->count) return HEED_OK; /* what is missing beside the config is the model's to say */
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: no model here (found neither config.json nor a .safetensors file)", folder);
}

/* ----------------------------------------------------------------------------------------- open */

static heed_status open_all(const char *path, heed_model_files *files, heed_error *error) {
  const bool is_folder = heed_is_directory(path);
  if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
    return heed_refuse_missing_model(path, error);
  if (!is_folder && heed_is_foreign_name(path)) return heed_refuse_foreign_name(path, error);
  HEED_TRY(heed_model_files_each(path, add_file, files, error));
  return is_folder ? check_folder(path, files, error) : HEED_OK;
}

heed_status heed_model_files_open(heed_context *context, const char *path, heed_model_files **files,
                                  heed_error *error) {
  *files = NULL;
  heed_model_files *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, path, sizeof *made);
  made->context = context;
  const heed_status status = open_all(path, made, error);
  made->desc = (heed_model_desc){sizeof made->desc, made->file, made->count};
  if (status == HEED_OK)
    *files = made;
  else
    heed_model_files_destroy(made);
  return status;
}

const heed_model_desc *heed_model_files_desc(const heed_model_files *files) { return &files->desc; }

void heed_model_files_destroy(heed_model_files *files) {
  if (!files) return;
  for (uint32_t i = 0; i < files->count; i++) {
    heed_regular_close(&files->regular[i]);
    heed_free(files->context, files->path[i]);
  }
  heed_free(files->context, files);
}
