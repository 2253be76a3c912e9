/* What was given in the place of a model. See given.h. */
#define _POSIX_C_SOURCE 200809L
#include "files/given.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "files/kind.h"
#include "heed/native.h"

bool heed_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), want = strlen(end);
  return length >= want && strcmp(text + length - want, end) == 0;
}

bool heed_is_directory(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool has_end(const char *name, const char *const *ends) {
  const size_t length = strlen(name);
  for (; *ends; ends++)
    if (length > strlen(*ends) && strcasecmp(name + length - strlen(*ends), *ends) == 0)
      return true;
  return false;
}

static const char *const torch_ends[] = {".pt", ".pth", ".bin", ".ckpt", NULL};
static const char *const other_ends[] = {".onnx",   ".gguf",    ".ggml", ".h5",  ".keras", ".pb",
                                         ".tflite", ".msgpack", ".npz",  ".npy", NULL};

bool heed_is_foreign_name(const char *name) {
  return has_end(name, torch_ends) || has_end(name, other_ends);
}

/* Whether a name ends as a picture's does, of whatever kind. */
static bool is_picture_name(const char *name) {
  static const char *const ends[] = {".png",  ".jpg", ".jpeg", ".jpe",  ".jfif", ".webp",
                                     ".gif",  ".bmp", ".tif",  ".tiff", ".heic", ".heif",
                                     ".avif", ".jxl", ".svg",  NULL};
  return has_end(name, ends);
}

/* What is there says it, else the name; what then is no model is named as what it is. */
bool heed_is_model_path(const char *path) {
  if (heed_is_directory(path) || heed_ends_with(path, ".safetensors") || heed_is_foreign_name(path))
    return true;
  return access(path, F_OK) != 0 && !is_picture_name(path);
}

/* Letters, digits and . _ - alone: a name that may stand in a line to be copied into a shell. */
static size_t plain_length(const char *text) {
  return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* "google/vit-base-patch16-224": two plain parts, the first of them no folder here. */
static bool is_hub_name(const char *path) {
  const size_t owner = plain_length(path);
  if (owner == 0 || path[0] == '.' || path[owner] != '/' || owner > 96) return false;
  const char *name = path + owner + 1;
  char folder[97];
  snprintf(folder, sizeof folder, "%.*s", (int)owner, path);
  return *name && !name[plain_length(name)] && !heed_ends_with(name, ".safetensors") &&
         !heed_is_foreign_name(name) && !heed_is_directory(folder);
}

heed_status heed_refuse_missing_model(const char *path, heed_error *error) {
  if (is_hub_name(path))
    return heed_fail(error, HEED_IO,
                     "%s: model not found (found what looks like a name on the Hugging Face hub, "
                     "expected a folder: hf download %s --local-dir %s, then that folder)",
                     path, path, base_name(path));
  return heed_fail(error, HEED_IO,
                   "%s: model not found (found neither a folder nor a file of this name, expected "
                   "a folder with config.json and .safetensors, or a .safetensors file)",
                   path);
}

/* A line of Python that makes of PyTorch's file one that is read. The name stands in it only where
 * it means nothing to a shell. */
static heed_status refuse_torch(const char *path, heed_error *error) {
  const char *name = base_name(path);
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: PyTorch's own format is not supported (expected .safetensors). To convert, "
                   "in its folder: python3 -c \"import torch; from safetensors.torch import "
                   "save_file; save_file({k: v.clone().contiguous() for k, v in torch.load('%s', "
                   "map_location='cpu', weights_only=True).items()}, 'model.safetensors')\"",
                   path, name[plain_length(name)] ? "FILE" : name);
}

heed_status heed_refuse_foreign_name(const char *name, heed_error *error) {
  if (has_end(name, torch_ends)) return refuse_torch(name, error);
  const char *end = strrchr(name, '.');
  char kind[24] = "a ";
  if (strcasecmp(end, ".onnx") == 0)
    snprintf(kind, sizeof kind, "an ONNX file");
  else
    snprintf(kind, sizeof kind, "a %s file", strcasecmp(end, ".gguf") == 0 ? "GGUF" : end);
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: format not supported (found %s, expected .safetensors)", name, kind);
}

heed_status heed_refuse_kind(const char *path, const void *bytes, size_t size, const char *expected,
                             heed_error *error) {
  const char *kind = heed_file_kind(bytes, size);
  if (!kind || strcmp(kind, HEED_KIND_SAFETENSORS) == 0) return HEED_OK;
  if (strcmp(kind, HEED_KIND_LFS) == 0)
    return heed_fail(
        error, HEED_INVALID_FILE,
        "%s: only a git-lfs pointer (found no content, expected the file from git lfs pull)", path);
  return heed_fail(error, HEED_UNSUPPORTED, "%s: format not supported (found %s, expected %s)",
                   path, kind, expected);
}
