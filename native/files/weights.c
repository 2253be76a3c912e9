/* Files of tensors. See weights.h. */
#include "files/weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "files/beneath.h"
#include "files/given.h"
#include "model/source.h"
#include "pickle/foreign.h"

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

static heed_status begins_as_onnx(const heed_source *source, const char *path, bool *is_onnx,
                                  heed_error *error) {
  unsigned char first[16];
  const size_t count = source->size < sizeof first ? (size_t)source->size : sizeof first;
  HEED_TRY(heed_source_read(source, path, 0, first, count, error));
  *is_onnx = heed_onnx_begins(first, count) || heed_ends_with(path, ".onnx");
  return HEED_OK;
}

heed_status heed_weights_open(heed_context *context, const char *path, const char *expected,
                              heed_weights *weights, heed_source *source, heed_error *error) {
  bool is_onnx = false;
  *weights = (heed_weights){.regular = {-1, path}};
  HEED_TRY(heed_regular_open(&weights->regular, path, &source->size, error));
  *source = (heed_source){source->size, NULL, heed_regular_read, &weights->regular};
  HEED_TRY(begins_as_onnx(source, path, &is_onnx, error));
  if (is_onnx) {
    const heed_onnx_desc desc = {sizeof desc, *source, path, open_external, weights};
    HEED_TRY(heed_onnx_open(context, &desc, &weights->onnx, error));
    *source = heed_onnx_source(weights->onnx);
    return HEED_OK;
  }
  HEED_TRY(heed_foreign_open(context, source, path, expected, &weights->pickle, error));
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

/* What training leaves beside weights. */
static bool is_of_training(const char *name) {
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
  return heed_is_torch_name(name) && !is_of_training(name) ? HEED_WEIGHTS_TORCH : HEED_WEIGHTS_NONE;
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
