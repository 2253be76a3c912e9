/* Files of tensors. See weights.h. */
#include "files/weights.h"

#include <string.h>

#include "base/status.h"
#include "files/given.h"
#include "files/kind.h"

/* First bytes that begin as PyTorch's files do are for the reader of these to judge, and so are
 * those of no known kind under a name of PyTorch's. A zip file named .npz is numpy's, for which the
 * caller has a sentence. */
static bool is_torch(const char *path, const void *first, size_t count) {
  if (heed_is_foreign_name(path)) return false;
  return heed_pickle_begins(first, count) ||
         (heed_is_torch_name(path) && !heed_file_kind(first, count));
}

static heed_status open_source(heed_context *context, const char *path, const char *expected,
                               heed_weights *weights, heed_source *source, heed_error *error) {
  unsigned char first[HEED_KIND_BYTES];
  const heed_source file = {source->size, NULL, heed_regular_read, &weights->regular};
  const size_t count = file.size < sizeof first ? (size_t)file.size : sizeof first;
  HEED_TRY(heed_regular_read(&weights->regular, 0, first, count, error));
  *source = file;
  if (!is_torch(path, first, count)) return heed_refuse_kind(path, first, count, expected, error);
  HEED_TRY(heed_pickle_open(context, &file, path, &weights->pickle, error));
  *source = heed_pickle_source(weights->pickle);
  return HEED_OK;
}

heed_status heed_weights_open(heed_context *context, const char *path, const char *expected,
                              heed_weights *weights, heed_source *source, heed_error *error) {
  weights->pickle = NULL;
  HEED_TRY(heed_regular_open(&weights->regular, path, &source->size, error));
  return open_source(context, path, expected, weights, source, error);
}

void heed_weights_close(heed_weights *weights) {
  heed_pickle_destroy(weights->pickle);
  weights->pickle = NULL;
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
  return heed_is_torch_name(name) && !is_of_training(name) ? HEED_WEIGHTS_TORCH : HEED_WEIGHTS_NONE;
}
