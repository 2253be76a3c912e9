/* Files from disk. Model files are read by pread when the model asks, so that a 300 MB file never stands in memory whole. */
#define _POSIX_C_SOURCE 200809L
#include "cli/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "cli/embedded.h"
#include "cli/given.h"
#include "files/output.h"
#include "image/kind.h"
#include "model/safetensors.h"

bool cli_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), want = strlen(end);
  return length >= want && strcmp(text + length - want, end) == 0;
}

bool cli_is_directory(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static heed_status read_at(void *user, uint64_t offset, void *to, size_t count, heed_error *error) {
  const cli_open_file *file = user;
  unsigned char *at = to;
  while (count > 0) {
    const ssize_t got = pread(file->descriptor, at, count, (off_t)offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return heed_fail(error, HEED_IO, "%s: cannot be read (%s)", file->path, strerror(errno));
    if (got == 0) return heed_fail(error, HEED_IO, "%s: it ended early (found %llu bytes)", file->path, (unsigned long long)offset);
    at += got;
    offset += (uint64_t)got;
    count -= (size_t)got;
  }
  return HEED_OK;
}

static const char *mode_name(mode_t mode) {
  return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

/* Opens a regular file for reading; the descriptor and size, or a sentence. Never waits for who would write to a pipe. */
static heed_status open_regular(cli_state *cli, const char *path, int *descriptor, uint64_t *size) {
  struct stat info;
  *descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (*descriptor < 0) return heed_fail(&cli->error, heed_status_of_errno(errno), "%s: cannot be opened (%s)", path, strerror(errno));
  if (fstat(*descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(*descriptor);
    *descriptor = -1;
    return heed_fail(&cli->error, HEED_IO, "%s: not a regular file (found %s)", path, mode_name(info.st_mode));
  }
  *size = (uint64_t)info.st_size;
  return HEED_OK;
}

/* Refuses files that begin as those of another kind do. */
static heed_status check_kind(cli_state *cli, cli_open_file *file, uint64_t size, const char *expected) {
  unsigned char first[HEED_KIND_BYTES];
  const size_t count = size < sizeof first ? (size_t)size : sizeof first;
  HEED_TRY(read_at(file, 0, first, count, &cli->error));
  return cli_refuse_kind(cli, file->path, first, count, expected);
}

static heed_status add_file(cli_state *cli, const char *folder, const char *name, void *user) {
  cli_model_files *files = user;
  if (files->count == CLI_MAX_MODEL_FILES)
    return heed_fail(&cli->error, HEED_INVALID_FILE, "%s: too many model files (found more than %d)", folder, CLI_MAX_MODEL_FILES);
  cli_open_file *open_file = &files->open[files->count];
  const size_t length = strlen(folder) + strlen(name) + 2;
  open_file->path = malloc(length);
  open_file->name = malloc(strlen(name) + 1);
  open_file->descriptor = -1;
  files->count++; /* from here on cli_model_close frees it */
  if (!open_file->path || !open_file->name) return heed_fail_memory(&cli->error, folder, length);
  snprintf(open_file->path, length, "%s/%s", folder, name);
  memcpy(open_file->name, name, strlen(name) + 1);
  heed_model_file *file = &files->file[files->count - 1];
  *file = (heed_model_file){open_file->name, {0, NULL, read_at, open_file}};
  HEED_TRY(open_regular(cli, open_file->path, &open_file->descriptor, &file->source.size));
  return check_kind(cli, open_file, file->source.size, cli_ends_with(name, ".json") ? "JSON" : ".safetensors");
}

static bool is_config(const char *name) { return strcmp(name, "config.json") == 0 || strcmp(name, "preprocessor_config.json") == 0; }

static bool is_weights(const char *name) {
  return cli_ends_with(name, ".safetensors") || strcmp(name, "model.safetensors.index.json") == 0;
}

static heed_status fail_folder(cli_state *cli, const char *folder) {
  return heed_fail(&cli->error, heed_status_of_errno(errno), "%s: cannot be opened (%s)", folder, strerror(errno));
}

static heed_status each_of_folder(cli_state *cli, const char *folder, cli_each_file each, void *user) {
  DIR *directory = opendir(folder);
  if (!directory) return fail_folder(cli, folder);
  heed_status status = HEED_OK;
  for (const struct dirent *entry; status == HEED_OK && (entry = readdir(directory));)
    if (is_config(entry->d_name) || is_weights(entry->d_name)) status = each(cli, folder, entry->d_name, user);
  closedir(directory);
  return status;
}

/* One weight file; its folder's config files come along when they are there. */
static heed_status each_of_single(cli_state *cli, const char *path, cli_each_file each, void *user) {
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) : 1;
  char *folder = malloc(length + 2), *sibling = malloc(length + 64);
  heed_status status = folder && sibling ? HEED_OK : heed_fail_memory(&cli->error, path, length);
  if (status == HEED_OK) {
    memcpy(folder, slash ? path : ".", length);
    folder[length] = '\0';
    if (slash == path) memcpy(folder, "/.", 3);
    status = each(cli, folder, slash ? slash + 1 : path, user);
  }
  static const char *const beside[] = {"config.json", "preprocessor_config.json"};
  for (size_t i = 0; i < 2 && status == HEED_OK; i++) {
    snprintf(sibling, length + 64, "%s/%s", folder, beside[i]);
    if (access(sibling, F_OK) == 0) status = each(cli, folder, beside[i], user);
  }
  free(folder);
  free(sibling);
  return status;
}

heed_status cli_model_each_file(cli_state *cli, const char *path, cli_each_file each, void *user) {
  return cli_is_directory(path) ? each_of_folder(cli, path, each, user) : each_of_single(cli, path, each, user);
}

/* The weights of a folder in a format that is not read, in `path`: pytorch_model.bin before an optimizer's state, else the first by name.
 */
static bool find_foreign(const char *folder, char *path, size_t size) {
  char chosen[256] = "";
  DIR *directory = opendir(folder);
  for (const struct dirent *entry; directory && (entry = readdir(directory));) {
    const char *name = entry->d_name;
    if (!cli_is_foreign_name(name) || strlen(name) >= sizeof chosen) continue;
    const bool is_main = strncmp(name, "pytorch_model", 13) == 0, has_main = strncmp(chosen, "pytorch_model", 13) == 0;
    if (!*chosen || is_main > has_main || (is_main == has_main && strcmp(name, chosen) < 0)) strcpy(chosen, name);
  }
  if (directory) closedir(directory);
  snprintf(path, size, "%s/%s", folder, chosen);
  return *chosen != '\0';
}

static heed_status check_folder(cli_state *cli, const char *folder, const cli_model_files *files) {
  char foreign[4096];
  for (uint32_t i = 0; i < files->count; i++)
    if (is_weights(files->open[i].name)) return HEED_OK;
  if (find_foreign(folder, foreign, sizeof foreign)) return cli_refuse_foreign_name(cli, foreign);
  if (files->count) return HEED_OK; /* what is missing beside the config is the model's to say */
  return heed_fail(&cli->error, HEED_INVALID_FILE, "%s: no model here (found neither config.json nor a .safetensors file)", folder);
}

heed_status cli_model_open(cli_state *cli, const char *path, cli_model_files *files) {
  const bool is_folder = cli_is_directory(path);
  files->count = 0;
  if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) return cli_refuse_missing_model(cli, path);
  if (!is_folder && cli_is_foreign_name(path)) return cli_refuse_foreign_name(cli, path);
  heed_status status = cli_model_each_file(cli, path, add_file, files);
  if (status == HEED_OK && is_folder) status = check_folder(cli, path, files);
  if (status != HEED_OK) cli_model_close(files);
  return status;
}

void cli_model_embedded(cli_model_files *files) {
  files->count = 0;
  for (size_t i = 0; i < heed_embedded_model_count; i++) {
    const heed_embedded_file *from = &heed_embedded_model[i];
    files->open[files->count] = (cli_open_file){-1, NULL, NULL};
    files->file[files->count++] = (heed_model_file){from->name, {from->size, from->bytes, NULL, NULL}};
  }
}

void cli_model_close(cli_model_files *files) {
  for (uint32_t i = 0; i < files->count; i++) {
    if (files->open[i].descriptor >= 0) close(files->open[i].descriptor);
    free(files->open[i].path);
    free(files->open[i].name);
  }
  files->count = 0;
}

heed_status cli_read_file(cli_state *cli, const char *path, uint64_t limit, unsigned char **bytes, size_t *size) {
  cli_open_file file = {-1, (char *)path, NULL};
  uint64_t length = 0;
  *bytes = NULL;
  heed_status status = open_regular(cli, path, &file.descriptor, &length);
  if (status == HEED_OK && length > limit)
    status = heed_fail(&cli->error, HEED_INVALID_FILE, "%s: the file is too large (found %llu bytes, expected at most %llu)", path,
                       (unsigned long long)length, (unsigned long long)limit);
  *size = (size_t)length;
  if (status == HEED_OK && !(*bytes = malloc(*size + 1))) status = heed_fail_memory(&cli->error, path, *size);
  if (status == HEED_OK) status = read_at(&file, 0, *bytes, *size, &cli->error);
  if (file.descriptor >= 0) close(file.descriptor);
  if (status != HEED_OK) {
    free(*bytes);
    *bytes = NULL;
  }
  return status;
}

heed_status cli_tensor_file_open(cli_state *cli, const char *path, const char *expected, cli_tensor_file *file) {
  *file = (cli_tensor_file){{-1, (char *)path, NULL}, NULL};
  heed_source source = {0, NULL, read_at, &file->open};
  heed_status status = open_regular(cli, path, &file->open.descriptor, &source.size);
  if (status == HEED_OK) status = check_kind(cli, &file->open, source.size, expected);
  if (status == HEED_OK) status = heed_safetensors_open(cli->context, &source, path, &file->tensors, &cli->error);
  if (status != HEED_OK) cli_tensor_file_close(file);
  return status;
}

void cli_tensor_file_close(cli_tensor_file *file) {
  heed_safetensors_destroy(file->tensors);
  if (file->open.path && file->open.descriptor >= 0) close(file->open.descriptor);
  *file = (cli_tensor_file){{-1, NULL, NULL}, NULL};
}
