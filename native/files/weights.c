/* Files of tensors. See weights.h. */
#include "files/weights.h"

#include <string.h>

#include "base/status.h"
#include "files/given.h"
#include "pickle/foreign.h"

heed_status heed_weights_open(heed_context *context, const char *path, const char *expected,
                              heed_weights *weights, heed_source *source, heed_error *error) {
  weights->pickle = NULL;
  HEED_TRY(heed_regular_open(&weights->regular, path, &source->size, error));
  *source = (heed_source){source->size, NULL, heed_regular_read, &weights->regular};
  HEED_TRY(heed_foreign_open(context, source, path, expected, &weights->pickle, error));
  if (weights->pickle) *source = heed_pickle_source(weights->pickle);
  return HEED_OK;
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
