/* Files of tensors. See weight_file.h. */
#include "files/weight_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "files/names.h"
#include "files/relative_file.h"
#include "model/files/source.h"
#include "pickle/foreign.h"
#include "pickle/kind.h"

/* As heed_onnx_external. */
static heed_status open_external(void *user, const char *location, heed_source *source,
                                 heed_error *error) {
  heed_weights *weights = user;
  if (!weights->external) weights->external = calloc(HEED_MOST_EXTERNAL, sizeof *weights->external);
  if (!weights->external || weights->external_count == HEED_MOST_EXTERNAL)
    return heed_fail_memory(error, location, HEED_MOST_EXTERNAL * sizeof *weights->external);
  heed_regular *file = &weights->external[weights->external_count];
  uint64_t size = 0;
  HEED_TRY(heed_beneath_open(file, weights->regular.path, location, &size, error));
  weights->external_count++;
  *source = (heed_source){size, NULL, heed_regular_read, file};
  return HEED_OK;
}

/* A SavedModel of TensorFlow (.pb) begins as the oldest versions of ONNX do. */
static bool is_onnx(const char *name, const unsigned char *first, size_t count) {
  if (heed_onnx_begins(first, count)) return !heed_is_foreign_name(name) || first[1] > 2;
  return heed_ends_with(name, ".onnx") && !heed_file_kind(first, count);
}

bool heed_weights_begin(const char *name, const void *first, size_t count) {
  const char *kind = heed_file_kind(first, count);
  return (kind && strcmp(kind, HEED_KIND_SAFETENSORS) == 0) || heed_pickle_begins(first, count) ||
         (heed_onnx_begins(first, count) && is_onnx(name, first, count));
}

static heed_status begins_as_onnx(const heed_source *source, const char *path, bool *onnx,
                                  heed_error *error) {
  unsigned char first[HEED_KIND_BYTES];
  const size_t count = source->size < sizeof first ? (size_t)source->size : sizeof first;
  HEED_TRY(heed_source_read(source, path, 0, first, count, error));
  *onnx = is_onnx(path, first, count);
  return HEED_OK;
}

heed_status heed_weights_open(heed_context *context, const char *path, const char *expected,
                              const char *key, heed_weights *weights, heed_source *source,
                              heed_error *error) {
  bool onnx = false;
  *weights = (heed_weights){.regular = {-1, path}};
  HEED_TRY(heed_regular_open(&weights->regular, path, &source->size, error));
  *source = (heed_source){source->size, NULL, heed_regular_read, &weights->regular};
  HEED_TRY(begins_as_onnx(source, path, &onnx, error));
  if (onnx && key)
    return heed_fail(
        error, HEED_INVALID_FILE,
        "%s: no weights under that key (found \"%.200s\" for an ONNX file, expected one "
        "of PyTorch)",
        path, key);
  if (onnx) {
    const heed_onnx_desc desc = {sizeof desc, *source, path, open_external, weights};
    HEED_TRY(heed_onnx_open(context, &desc, &weights->onnx, error));
    *source = heed_onnx_source(weights->onnx);
    return HEED_OK;
  }
  HEED_TRY(heed_foreign_open(context, source, path, expected, key, &weights->pickle, error));
  if (weights->pickle) *source = heed_pickle_source(weights->pickle);
  return HEED_OK;
}

void heed_weights_close(heed_weights *weights) {
  heed_pickle_destroy(weights->pickle);
  weights->pickle = NULL;
  heed_onnx_destroy(weights->onnx);
  weights->onnx = NULL;
  for (uint32_t i = 0; i < weights->external_count; i++) heed_regular_close(&weights->external[i]);
  free(weights->external);
  weights->external = NULL;
  weights->external_count = 0;
  heed_regular_close(&weights->regular);
}

/* ------------------------------------------------------------------------------------------- names
 */

static bool begins(const char *name, const char *with) {
  return strncmp(name, with, strlen(with)) == 0;
}

bool heed_is_of_training(const char *name) {
  static const char *const begin[] = {"optimizer", "scheduler", "rng_state", "training_args",
                                      "scaler"};
  for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
    if (begins(name, begin[i])) return true;
  return false;
}

heed_weights_kind heed_weights_kind_of(const char *name) {
  if (heed_ends_with(name, ".safetensors") || strcmp(name, "model.safetensors.index.json") == 0)
    return HEED_WEIGHTS_SAFETENSORS;
  if (strcmp(name, "pytorch_model.bin") == 0) return HEED_WEIGHTS_SINGLE;
  if (strcmp(name, "pytorch_model.bin.index.json") == 0 ||
      (begins(name, "pytorch_model-") && heed_ends_with(name, ".bin")))
    return HEED_WEIGHTS_SHARDS;
  if (heed_ends_with(name, ".onnx")) return HEED_WEIGHTS_ONNX;
  return heed_is_torch_name(name) && !heed_is_of_training(name) ? HEED_WEIGHTS_TORCH
                                                                : HEED_WEIGHTS_NONE;
}

/* The whole model before the part that sees, and the exact weights before those that are rounded.
 */
uint32_t heed_onnx_file_rank(const char *name) {
  static const char *const parts[] = {"model", "vision_model"}, *const ends[] = {
                                                                    "",      "_fp16",  "_quantized",
                                                                    "_int8", "_uint8", "_q4",
                                                                    "_q4f16"};
  const size_t count = sizeof ends / sizeof *ends;
  for (uint32_t part = 0; part < 2; part++)
    for (uint32_t end = 0; end < count; end++) {
      const size_t length = strlen(parts[part]), more = strlen(ends[end]);
      if (strncmp(name, parts[part], length) == 0 && strncmp(name + length, ends[end], more) == 0 &&
          strcmp(name + length + more, ".onnx") == 0)
        return end * 2 + part;
    }
  return UINT32_MAX;
}
