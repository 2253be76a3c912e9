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

static bool ends_as(const char *name, const char *end) {
  const size_t length = strlen(name), want = strlen(end);
  return length > want && strcasecmp(name + length - want, end) == 0;
}

static bool has_end(const char *name, const char *const *ends) {
  for (; *ends; ends++)
    if (ends_as(name, *ends)) return true;
  return false;
}

bool heed_is_torch_name(const char *name) {
  static const char *const ends[] = {".pt", ".pth", ".bin", ".ckpt", NULL};
  return has_end(name, ends);
}

#define FROM_TENSORFLOW \
  "with transformers: AutoModel.from_pretrained(FOLDER, from_tf=True).save_pretrained(FOLDER)"

/* Weights in formats that are not read: what they are, and what to do. */
static const struct {
  const char *end, *kind, *remedy;
} foreign[] = {
    {".onnx", "an ONNX file", NULL},
    {".gguf", "a GGUF file", "its model's page has the .safetensors that it was made of"},
    {".ggml", "a GGML file", "its model's page has the .safetensors that it was made of"},
    {".h5", "a TensorFlow or Keras file (.h5)", FROM_TENSORFLOW},
    {".keras", "a Keras file", FROM_TENSORFLOW},
    {".pb", "a TensorFlow SavedModel or graph (.pb)", FROM_TENSORFLOW},
    {".tflite", "a TensorFlow Lite file", "its model's page may have .safetensors"},
    {".ckpt.index", "a TensorFlow checkpoint", FROM_TENSORFLOW},
    {".index", "a TensorFlow checkpoint", FROM_TENSORFLOW},
    {".data-00000-of-00001", "a TensorFlow checkpoint", FROM_TENSORFLOW},
    {".msgpack", "a Flax file",
     "with transformers: AutoModel.from_pretrained(FOLDER, "
     "from_flax=True).save_pretrained(FOLDER)"},
    {".npz", "a numpy file",
     "timm loads those of ViT: timm.create_model(NAME, "
     "checkpoint_path='FILE.npz'), then torch.save(model.state_dict(), "
     "'model.pth')"},
    {".npy", "a numpy file", "a model has many tensors, each with its name"},
};
#define FOREIGN_COUNT (sizeof foreign / sizeof *foreign)

static size_t find_foreign(const char *name) {
  size_t i = 0;
  while (i < FOREIGN_COUNT && !ends_as(name, foreign[i].end)) i++;
  return i;
}

bool heed_is_foreign_name(const char *name) { return find_foreign(name) < FOREIGN_COUNT; }

/* Whether a name ends as a picture's does, of whatever kind. */
static bool is_picture_name(const char *name) {
  static const char *const ends[] = {".png",  ".jpg", ".jpeg", ".jpe",  ".jfif", ".webp",
                                     ".gif",  ".bmp", ".tif",  ".tiff", ".heic", ".heif",
                                     ".avif", ".jxl", ".svg",  NULL};
  return has_end(name, ends);
}

/* What is there says it, else the name; what then is no model is named as what it is. */
bool heed_is_model_path(const char *path) {
  if (heed_is_directory(path) || heed_ends_with(path, ".safetensors") || heed_is_torch_name(path) ||
      heed_is_foreign_name(path))
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
         !heed_is_torch_name(name) && !heed_is_foreign_name(name) && !heed_is_directory(folder);
}

heed_status heed_refuse_missing_model(const char *path, heed_error *error) {
  if (is_hub_name(path))
    return heed_fail(error, HEED_IO,
                     "%s: model not found (found what looks like a name on the Hugging Face hub, "
                     "expected a folder: hf download %s --local-dir %s, then that folder)",
                     path, path, base_name(path));
  return heed_fail(error, HEED_IO,
                   "%s: model not found (found neither a folder nor a file of this name, expected "
                   "a folder with config.json and weights, or a file: " HEED_EXPECTED_WEIGHTS ")",
                   path);
}

heed_status heed_refuse_foreign_name(const char *name, heed_error *error) {
  const size_t i = find_foreign(name);
  const char *remedy = foreign[i].remedy;
  return heed_fail(error, HEED_UNSUPPORTED, "%s: format not supported (found %s, expected %s)%s%s",
                   name, foreign[i].kind, HEED_EXPECTED_WEIGHTS, remedy ? "; " : "",
                   remedy ? remedy : "");
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
