/* Weights of other makers. See foreign.h. */
#include "pickle/foreign.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "model/files/source.h"
#include "pickle/kind.h"

/* Whether a name ends so, in whichever case; `end` is in small letters. */
static bool ends_as(const char *name, const char *end) {
  const size_t length = strlen(name), want = strlen(end);
  if (length <= want) return false;
  for (name += length - want; *name; name++, end++)
    if (*name != *end && !(*name >= 'A' && *name <= 'Z' && *name + 32 == *end)) return false;
  return true;
}

bool heed_is_torch_name(const char *name) {
  return ends_as(name, ".pth") || ends_as(name, ".pt") || ends_as(name, ".bin") ||
         ends_as(name, ".ckpt");
}

#define FROM_TENSORFLOW \
  "with transformers: AutoModel.from_pretrained(FOLDER, from_tf=True).save_pretrained(FOLDER)"

/* Weights in formats that are not read: what they are, and what to do. */
static const struct {
  const char *end, *kind, *remedy;
} foreign[] = {
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

heed_status heed_refuse_foreign_name(const char *name, heed_error *error) {
  const size_t i = find_foreign(name);
  return heed_fail(error, HEED_UNSUPPORTED, "%s: format not supported (found %s, expected %s); %s",
                   name, foreign[i].kind, HEED_EXPECTED_WEIGHTS, foreign[i].remedy);
}

bool heed_is_plain_location(const char *location) {
  if (strpbrk(location, "\\:")) return false;
  for (;;) {
    const size_t length = strcspn(location, "/");
    if (length == 0 || (length == 1 && location[0] == '.') ||
        (length == 2 && location[0] == '.' && location[1] == '.'))
      return false;
    if (location[length] == '\0') return true;
    location += length + 1;
  }
}

heed_status heed_refuse_location(const char *path, const char *location, const char *why,
                                 heed_error *error) {
  return heed_fail(error, HEED_INVALID_FILE,
                   "%.200s: external data %.*s: %s (expected a file in the folder of the model)",
                   path, heed_utf8_cut(location, 120), location, why);
}

/* What nobody knows, by its first four bytes. */
static const char *spell(const void *bytes, size_t size, char to[20]) {
  const unsigned char *first = bytes;
  snprintf(to, 20, "bytes");
  for (size_t i = 0; i < 4 && i < size; i++)
    snprintf(to + 5 + 3 * i, 20 - 5 - 3 * i, " %02X", first[i]);
  return size ? to : "an empty file";
}

static heed_status refuse(const char *name, const char *found, const char *expected,
                          heed_error *error) {
  return heed_fail(error, HEED_UNSUPPORTED, "%s: format not supported (found %s, expected %s)",
                   name, found, expected);
}

heed_status heed_refuse_kind(const char *name, const void *bytes, size_t size, const char *expected,
                             heed_error *error) {
  const char *kind = heed_file_kind(bytes, size);
  if (!kind || strcmp(kind, HEED_KIND_SAFETENSORS) == 0) return HEED_OK;
  if (strcmp(kind, HEED_KIND_LFS) == 0)
    return heed_fail(
        error, HEED_INVALID_FILE,
        "%s: only a git-lfs pointer (found no content, expected the file from git lfs pull)", name);
  return refuse(name, kind, expected, error);
}

/* Whether the file stands in the place of a model: its makers' files are named with how to go on.
 */
static bool is_model(const char *expected) { return strcmp(expected, HEED_EXPECTED_WEIGHTS) == 0; }

/* What is neither PyTorch's nor ONNX: .safetensors, or refused. */
static heed_status check_safetensors(const char *name, const void *first, size_t count,
                                     const char *expected, heed_error *error) {
  char found[20];
  const char *kind = heed_file_kind(first, count);
  if (kind && strcmp(kind, HEED_KIND_SAFETENSORS) == 0) return HEED_OK;
  if (heed_is_foreign_name(name) && is_model(expected) &&
      (!kind || strcmp(kind, HEED_KIND_LFS) != 0))
    return heed_refuse_foreign_name(name, error);
  if (kind) return heed_refuse_kind(name, first, count, expected, error);
  if (ends_as(name, ".json") && count && ((const char *)first)[0] == '{')
    return refuse(name, "a JSON text", "weights, or the folder with it and them", error);
  /* what is called .safetensors, its reader names */
  return ends_as(name, ".safetensors") ? HEED_OK
                                       : refuse(name, spell(first, count, found), expected, error);
}

/* Whether a zip file is numpy's or Keras', by its name. */
static bool is_other_zip(const char *name) {
  return ends_as(name, ".npz") || ends_as(name, ".keras");
}

static bool is_torch(const char *name, const char *expected, const void *first, size_t count) {
  if (is_other_zip(name) && !is_model(expected)) return false;
  return heed_pickle_begins(first, count) ||
         (heed_is_torch_name(name) && !heed_file_kind(first, count));
}

/* First bytes that begin as PyTorch's files do are for the reader of these to judge, and so are
 * those of no known kind under a name of PyTorch's. */
heed_status heed_foreign_open(heed_context *context, const heed_source *source, const char *name,
                              const char *expected, const char *key, heed_pickle **file,
                              heed_error *error) {
  unsigned char first[HEED_KIND_BYTES];
  const size_t count = source->size < sizeof first ? (size_t)source->size : sizeof first;
  *file = NULL;
  HEED_TRY(heed_source_read(source, name, 0, first, count, error));
  if (!is_torch(name, expected, first, count)) {
    HEED_TRY(check_safetensors(name, first, count, expected, error));
    return key ? heed_fail(error, HEED_INVALID_FILE,
                           "%s: no weights under that key (found \"%.*s\" for a file without "
                           "entries, expected one of PyTorch)",
                           name, HEED_CUT(key))
               : HEED_OK;
  }
  const heed_status status = heed_pickle_open_key(context, source, name, key, file, error);
  const bool is_bad = status == HEED_UNSUPPORTED || status == HEED_INVALID_FILE;
  return is_bad && is_other_zip(name) ? heed_refuse_foreign_name(name, error) : status;
}
