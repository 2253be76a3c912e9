/* What was given in the place of a model. See missing_model.h. */
#include "files/missing_model.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "files/names.h"
#include "files/os.h"
#include "files/regular_file.h"
#include "files/weight_file.h"
#include "heed/native.h"
#include "pickle/foreign.h"

static bool is_weights_name(const char *path) {
  return heed_ends_with(path, ".safetensors") || heed_is_torch_name(path) ||
         heed_ends_with(path, ".onnx") || heed_is_foreign_name(path);
}

/* First bytes of weights or of a picture say it, whatever the name is. Then the name does: what
 * turns out to be no model is named as what it is. */
bool heed_is_model_path(const char *path) {
  unsigned char first[HEED_KIND_BYTES];
  size_t count;
  heed_os_info info;
  if (heed_is_directory(path)) return true;
  const bool is_read = heed_regular_first(path, first, &count);
  if (is_read && heed_weights_begin(path, first, count)) return true;
  if (is_weights_name(path)) return true;
  if (is_read && heed_is_picture(first, count)) return false;
  const bool is_pipe = heed_os_look(path, &info) && info.kind != HEED_OS_REGULAR; /* or a device */
  return !is_pipe && !heed_is_picture_name(path);
}

bool heed_is_picture_path(const char *path) {
  unsigned char first[HEED_KIND_BYTES];
  size_t count;
  return heed_regular_first(path, first, &count) && heed_is_picture(first, count);
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
  return *name && !name[plain_length(name)] && !is_weights_name(name) && !heed_is_directory(folder);
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
