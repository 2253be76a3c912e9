/* A model's files on disk. They are read by range when the model asks, so that a 300 MB file never
 * stands in memory whole. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "files/hints.h"
#include "files/missing_model.h"
#include "files/names.h"
#include "files/os.h"
#include "files/output.h"
#include "files/regular_file.h"
#include "files/unnamed_weights.h"
#include "files/weight_file.h"
#include "heed/native.h"
#include "pickle/foreign.h"

#define MOST_FILES 512

struct heed_model_files {
  heed_context *context;
  heed_model_desc desc;
  char *hints; /* the text of hints.json; or NULL */
  heed_model_file file[MOST_FILES];
  heed_weights open[MOST_FILES]; /* a config file has no pickle */
  char *path[MOST_FILES];
  uint32_t count;
  const char *single; /* the file that was given, which is weights whatever its name; or NULL */
  const char *key;    /* the entry of a file of PyTorch that is read, or NULL */
  bool has_weights;
  char note[512];
};

static const char *name_of(const char *path) {
  return strrchr(path, '/') + 1;
} /* a path from heed_model_files_each has a folder */

static const char *const configs[] = {"config.json",
                                      "preprocessor_config.json",
                                      "processor_config.json",
                                      "open_clip_config.json",
                                      "names.json",
                                      "tokenizer.json",
                                      "tokenizer_config.json",
                                      "vocab.json",
                                      "merges.txt",
                                      "spiece.model",
                                      "tokenizer.model"};
/* Of these, those without a kind that the first bytes tell. */
static bool is_plain(const char *name) {
  return heed_ends_with(name, ".txt") || heed_ends_with(name, ".model");
}

static bool is_config(const char *name) {
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
    if (strcmp(name, configs[i]) == 0) return true;
  return false;
}

static heed_status open_text(heed_model_files *files, uint32_t at, heed_error *error) {
  heed_regular *regular = &files->open[at].regular;
  heed_source *source = &files->file[at].source;
  *source = (heed_source){0, NULL, heed_regular_read, regular};
  HEED_TRY(heed_regular_open(regular, files->path[at], &source->size, error));
  if (is_plain(files->path[at])) return HEED_OK;
  return heed_regular_check_kind(regular, source->size, "JSON", error);
}

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
  files->file[at].name = name_of(files->path[at]);
  files->open[at].regular.descriptor = -1;
  files->count++; /* from here on heed_model_files_destroy closes it */
  const bool is_given = files->single && at == 0;
  if (!is_given && (heed_ends_with(name, ".json") || is_config(name)))
    return open_text(files, at, error);
  files->has_weights = true;
  return heed_weights_open(files->context, files->path[at], HEED_EXPECTED_WEIGHTS, files->key,
                           &files->open[at], &files->file[at].source, error);
}

/* -------------------------------------------------------------------------------- what is there */

/* A file of a folder. */
static heed_status visit_in(const char *folder, size_t length, const char *name,
                            heed_model_file_visit visit, void *user, heed_error *error) {
  char path[HEED_PATH_SIZE];
  const int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, name);
  if ((size_t)written >= sizeof path)
    return heed_fail(error, HEED_IO, "%.200s: cannot open (%s)", folder, strerror(ENAMETOOLONG));
  return visit(user, path, error);
}

/* What the names in a folder say: the kind of weights that is read, how many files of it there are,
 * and the first two by name. */
typedef struct folder_weights {
  heed_weights_kind kind;
  uint32_t count;
  char first[2][HEED_OS_NAME_SIZE];
} folder_weights;

/* Whether a name comes first: of ONNX files by what they hold. */
static bool name_before(heed_weights_kind kind, const char *a, const char *b) {
  const uint32_t ranks[] = {heed_onnx_file_rank(a), heed_onnx_file_rank(b)};
  if (kind == HEED_WEIGHTS_ONNX && ranks[0] != ranks[1]) return ranks[0] < ranks[1];
  return strcmp(a, b) < 0;
}

static void note_name(folder_weights *folder, const char *name) {
  const heed_weights_kind kind = heed_weights_kind_of(name);
  if (kind > folder->kind || kind == HEED_WEIGHTS_NONE || strlen(name) >= HEED_OS_NAME_SIZE) return;
  if (kind < folder->kind) *folder = (folder_weights){.kind = kind};
  const bool is_first = folder->count == 0 || name_before(kind, name, folder->first[0]);
  if (is_first) strcpy(folder->first[1], folder->first[0]);
  if (is_first || folder->count == 1 || name_before(kind, name, folder->first[1]))
    strcpy(folder->first[is_first ? 0 : 1], name);
  folder->count++;
}

static heed_status fail_several(const char *folder, uint32_t count, const char *a, const char *b,
                                heed_error *error) {
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: several weight files (found %u, such as %.200s and %.200s, expected one; "
                   "give the file itself)",
                   folder, count, a, b);
}

/* Files of PyTorch with names of their own are often epochs of a training: nobody says which. Of
 * ONNX files one is the model, by its name. */
static heed_status check_one(const char *folder, const folder_weights *found, heed_error *error) {
  const bool by_name =
      found->kind == HEED_WEIGHTS_ONNX && heed_onnx_file_rank(found->first[0]) != UINT32_MAX;
  if ((found->kind != HEED_WEIGHTS_TORCH && found->kind != HEED_WEIGHTS_ONNX) ||
      found->count == 1 || by_name)
    return HEED_OK;
  return fail_several(folder, found->count, found->first[0], found->first[1], error);
}

/* Whether a file of a folder is one of its weights that are read. */
static bool is_chosen(const folder_weights *found, const char *name) {
  if (found->kind == HEED_WEIGHTS_ONNX) return strcmp(name, found->first[0]) == 0;
  return found->kind != HEED_WEIGHTS_NONE && heed_weights_kind_of(name) == found->kind;
}

static heed_status fail_open_folder(const char *folder, heed_error *error) {
  return heed_fail(error, heed_status_of_errno(errno), "%s: cannot open (%s)", folder,
                   strerror(errno));
}

/* The next name in a folder; NULL after the last. */
static heed_status next_name(heed_os_folder *directory, const char *folder, const char **name,
                             heed_error *error) {
  *name = heed_os_folder_next(directory);
  if (*name || errno == 0) return HEED_OK;
  return heed_fail(error, heed_status_of_errno(errno), "%s: cannot read the folder (%s)", folder,
                   strerror(errno));
}

/* transformers.js has ONNX files in a folder onnx/ beside the config files. */
static heed_status visit_onnx_folder(const char *folder, heed_model_file_visit visit, void *user,
                                     bool *has, heed_error *error) {
  char path[HEED_PATH_SIZE];
  folder_weights found = {.kind = HEED_WEIGHTS_NONE};
  *has = false;
  const int written = snprintf(path, sizeof path, "%s/onnx", folder);
  if ((size_t)written >= sizeof path) return HEED_OK; /* nor is anything else of such a path */
  heed_os_folder *directory = heed_os_folder_open(path);
  if (!directory && (errno == ENOENT || errno == ENOTDIR)) return HEED_OK;
  if (!directory) return fail_open_folder(path, error);
  const char *name;
  heed_status status;
  while ((status = next_name(directory, path, &name, error)) == HEED_OK && name)
    if (heed_weights_kind_of(name) == HEED_WEIGHTS_ONNX) note_name(&found, name);
  heed_os_folder_close(directory);
  if (status != HEED_OK || found.kind == HEED_WEIGHTS_NONE) return status;
  *has = true;
  HEED_TRY(check_one(path, &found, error));
  return visit_in(path, strlen(path), found.first[0], visit, user, error);
}

/* Where no name says what the weights are: those in onnx/, else by first bytes. */
static heed_status visit_others(const char *folder, heed_model_file_visit visit, void *user,
                                heed_error *error) {
  bool has;
  heed_unnamed found;
  HEED_TRY(visit_onnx_folder(folder, visit, user, &has, error));
  if (has) return HEED_OK;
  HEED_TRY(heed_unnamed_find(folder, &found, error));
  if (found.count > 1)
    return fail_several(folder, found.count, found.first[0], found.first[1], error);
  return found.count ? visit_in(folder, strlen(folder), found.first[0], visit, user, error)
                     : HEED_OK;
}

static heed_status each_of_folder(const char *folder, heed_model_file_visit visit, void *user,
                                  heed_error *error) {
  folder_weights found = {.kind = HEED_WEIGHTS_NONE};
  heed_os_folder *directory = heed_os_folder_open(folder);
  if (!directory) return fail_open_folder(folder, error);
  const char *name;
  heed_status status;
  while ((status = next_name(directory, folder, &name, error)) == HEED_OK && name)
    note_name(&found, name);
  if (status == HEED_OK) status = check_one(folder, &found, error);
  heed_os_folder_rewind(directory);
  while (status == HEED_OK && (status = next_name(directory, folder, &name, error)) == HEED_OK &&
         name)
    if (is_config(name) || is_chosen(&found, name))
      status = visit_in(folder, strlen(folder), name, visit, user, error);
  heed_os_folder_close(directory);
  return status == HEED_OK && found.kind == HEED_WEIGHTS_NONE
             ? visit_others(folder, visit, user, error)
             : status;
}

typedef struct visiting {
  heed_model_file_visit visit;
  void *user;
} visiting;

/* A link to nothing is there too: what cannot be opened must be said, not taken for no file. */
static heed_status visit_there(void *user, const char *path, heed_error *error) {
  const visiting *to = user;
  return heed_os_is_absent(path) ? HEED_OK : to->visit(to->user, path, error);
}

/* The length of the folder whose config files belong to a file in this one: of an ONNX file in a
 * folder onnx/, the one above. */
static size_t config_folder(const char *path, const char *folder, size_t length) {
  heed_os_info info;
  char config[HEED_PATH_SIZE];
  if (!heed_ends_with(path, ".onnx") || length < 5 || !heed_os_separates(folder[length - 5]) ||
      strncmp(folder + length - 4, "onnx", 4) != 0)
    return length;
  snprintf(config, sizeof config, "%.*s/config.json", (int)length, folder);
  return heed_os_look(config, &info) ? length : length - 5;
}

/* One weight file; its folder's config files come along when they are there. */
static heed_status each_of_single(const char *path, heed_model_file_visit visit, void *user,
                                  heed_error *error) {
  const char *name = heed_last_name(path), *folder = name == path       ? "."
                                                     : name == path + 1 ? "/."
                                                                        : path;
  const size_t length = folder == path ? (size_t)(name - path) - 1 : strlen(folder);
  HEED_TRY(visit_in(folder, length, name, visit, user, error));
  visiting there = {visit, user};
  const size_t beside = config_folder(path, folder, length);
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++)
    HEED_TRY(visit_in(folder, beside, configs[i], visit_there, &there, error));
  return HEED_OK;
}

heed_status heed_model_files_each(const char *path, heed_model_file_visit visit, void *user,
                                  heed_error *error) {
  return heed_is_directory(path) ? each_of_folder(path, visit, user, error)
                                 : each_of_single(path, visit, user, error);
}

/* The first file by name in a format that is not read, in `path`; "" where there is none. */
static heed_status find_foreign(const char *folder, char *path, size_t size, heed_error *error) {
  char chosen[HEED_OS_NAME_SIZE] = "";
  heed_os_folder *directory = heed_os_folder_open(folder);
  if (!directory) return fail_open_folder(folder, error);
  const char *name;
  heed_status status;
  while ((status = next_name(directory, folder, &name, error)) == HEED_OK && name) {
    if (!heed_is_foreign_name(name) || strlen(name) >= sizeof chosen) continue;
    if (!*chosen || strcmp(name, chosen) < 0) strcpy(chosen, name);
  }
  heed_os_folder_close(directory);
  *path = '\0';
  if (*chosen) snprintf(path, size, "%s/%s", folder, chosen);
  return status;
}

/* A folder with pictures alone, or with a download that has not ended. */
static heed_status refuse_found(const char *folder, const heed_model_files *files,
                                const heed_unnamed *found, heed_error *error) {
  if (found->part[0])
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s/%s: a download that has not ended (expected the whole file; download it "
                     "again)",
                     folder, found->part);
  if (found->pictures && !files->count)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: images and no model (found %u image%s, expected a folder with "
                     "config.json and weights; images come after the model: heed run MODEL %s)",
                     folder, found->pictures, found->pictures == 1 ? "" : "s", folder);
  if (files->count) return HEED_OK; /* what is missing beside the config is the model's to say */
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: no model here (found neither config.json nor " HEED_EXPECTED_WEIGHTS ")",
                   folder);
}

static heed_status check_folder(const char *folder, const heed_model_files *files,
                                heed_error *error) {
  char foreign[HEED_PATH_SIZE];
  heed_unnamed found;
  if (files->has_weights) return HEED_OK;
  for (uint32_t i = 0; i < files->count; i++)
    if (heed_weights_kind_of(files->file[i].name) != HEED_WEIGHTS_NONE) return HEED_OK;
  HEED_TRY(find_foreign(folder, foreign, sizeof foreign, error));
  if (*foreign) return heed_refuse_foreign_name(foreign, error);
  /* of a download by huggingface_hub, whose models have names of their own there */
  if (snprintf(foreign, sizeof foreign, "%s/snapshots", folder) < (int)sizeof foreign &&
      !files->count && heed_is_directory(foreign))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: no model here (found snapshots, expected one of them: "
                     "%s/snapshots/NAME)",
                     folder, folder);
  HEED_TRY(heed_unnamed_find(folder, &found, error));
  return refuse_found(folder, files, &found, error);
}

/* ----------------------------------------------------------------------------------------- open */

static heed_status open_all(const char *path, heed_model_files *files, heed_error *error) {
  heed_os_info info;
  const bool is_there = heed_os_look(path, &info);
  if (!is_there && (errno == ENOENT || errno == ENOTDIR))
    return heed_refuse_missing_model(path, error);
  const bool is_folder = is_there && info.kind == HEED_OS_FOLDER;
  files->single = is_folder ? NULL : path;
  HEED_TRY(heed_model_files_each(path, add_file, files, error));
  return is_folder ? check_folder(path, files, error) : HEED_OK;
}

static void write_note(heed_model_files *files) {
  for (uint32_t i = 0; i < files->count; i++)
    if (files->open[i].onnx)
      snprintf(files->note, sizeof files->note, HEED_ONNX_NOTE,
               heed_utf8_cut(files->file[i].name, 100), files->file[i].name,
               heed_onnx_summary(files->open[i].onnx));
}

heed_status heed_model_files_open(heed_context *context, const char *path, heed_model_files **files,
                                  heed_error *error) {
  return heed_model_files_open_key(context, path, NULL, files, error);
}

heed_status heed_model_files_open_key(heed_context *context, const char *path, const char *key,
                                      heed_model_files **files, heed_error *error) {
  const heed_files_desc desc = {.struct_size = sizeof desc, .key = key};
  return heed_model_files_open_as(context, path, &desc, files, error);
}

/* Takes another file for the folder's names.json. */
static heed_status add_names(heed_model_files *files, const char *path, heed_error *error) {
  uint32_t at = 0;
  while (at < files->count && strcmp(files->file[at].name, "names.json") != 0) at++;
  if (at == MOST_FILES)
    return heed_fail(error, HEED_INVALID_FILE, "%.200s: too many model files", path);
  if (at < files->count) {
    heed_weights_close(&files->open[at]);
    heed_free(files->context, files->path[at]);
  } else {
    files->count++;
  }
  files->open[at] = (heed_weights){.regular.descriptor = -1};
  files->file[at].name = "names.json";
  files->path[at] = heed_copy_string(files->context, path, strlen(path));
  if (!files->path[at]) return heed_fail_memory(error, path, strlen(path) + 1);
  return open_text(files, at, error);
}

/* Takes hints as the file hints.json. */
static heed_status add_hints(heed_model_files *files, const char *hints, heed_error *error) {
  const uint32_t at = files->count;
  if (at == MOST_FILES) return heed_fail(error, HEED_INVALID_FILE, "hints: too many model files");
  HEED_TRY(heed_hints_json(files->context, hints, &files->hints, error));
  files->file[at] =
      (heed_model_file){"hints.json", {strlen(files->hints), files->hints, NULL, NULL}};
  files->open[at].regular.descriptor = -1;
  files->count++;
  return HEED_OK;
}

heed_status heed_model_files_open_as(heed_context *context, const char *path,
                                     const heed_files_desc *desc, heed_model_files **files,
                                     heed_error *error) {
  heed_files_desc full;
  *files = NULL;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "files", error));
  heed_model_files *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, path, sizeof *made);
  made->context = context;
  made->key = full.key;
  heed_status status = open_all(path, made, error);
  if (status == HEED_OK && full.names) status = add_names(made, full.names, error);
  if (status == HEED_OK && full.hints) status = add_hints(made, full.hints, error);
  made->desc = (heed_model_desc){sizeof made->desc, made->file, made->count};
  if (status == HEED_OK) write_note(made);
  if (status == HEED_OK)
    *files = made;
  else
    heed_model_files_destroy(made);
  return status;
}

const heed_model_desc *heed_model_files_desc(const heed_model_files *files) { return &files->desc; }

struct heed_onnx *heed_model_files_onnx(const heed_model_files *files) {
  for (uint32_t i = 0; i < files->count; i++)
    if (files->open[i].onnx) return files->open[i].onnx;
  return NULL;
}

const char *heed_model_files_note(const heed_model_files *files) {
  return *files->note ? files->note : NULL;
}

void heed_model_files_destroy(heed_model_files *files) {
  if (!files) return;
  for (uint32_t i = 0; i < files->count; i++) {
    heed_weights_close(&files->open[i]);
    heed_free(files->context, files->path[i]);
  }
  heed_free(files->context, files->hints);
  heed_free(files->context, files);
}
