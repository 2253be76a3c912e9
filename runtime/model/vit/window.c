/* Attention inside windows: squares of patches from the picture's corner on, cut at its borders
 * (Qwen2.5-VL). Maps stay [T, T]; what lies outside the window has weight 0. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "model/vit/builder.h"

/* A larger one is refused. */
#define MOST_BYTES (2ull << 30)

bool heed_vit_has_windows(const heed_vit *model, uint32_t layer) {
  const heed_config *config = model->config;
  const uint8_t *defaults = model->roles.family->defaults.full_layers;
  if (model->dims.stages) return !(model->dims.whole_layers >> layer % 64 & 1);
  if (!model->dims.window) return false;
  for (uint32_t i = 0; i < config->full_layer_count; i++)
    if (config->full_layers[i] == layer) return false;
  if (!config->window.key) /* no config of the family */
    for (uint32_t i = 0; i < HEED_DEFAULT_FULL_LAYERS; i++)
      if (defaults[i] && defaults[i] == layer) return false;
  return true;
}

/* The grid behind the constant. */
typedef struct windows {
  uint32_t side, prefix, rows, columns;
} windows;

/* The window of a token; what comes before the patches is in all of them. */
static bool are_together(const windows *w, uint32_t a, uint32_t b) {
  if (a < w->prefix || b < w->prefix) return true;
  a -= w->prefix;
  b -= w->prefix;
  return a / w->columns / w->side == b / w->columns / w->side &&
         a % w->columns / w->side == b % w->columns / w->side;
}

static heed_status read_windows(void *user, uint64_t first, uint64_t count, void *to,
                                heed_error *error) {
  const windows *w = user;
  const uint32_t tokens = w->prefix + w->rows * w->columns;
  float *out = to;
  (void)error;
  for (uint64_t at = first; at < first + count; at++)
    *out++ = are_together(w, (uint32_t)(at / tokens), (uint32_t)(at % tokens)) ? 0.0f : -INFINITY;
  return HEED_OK;
}

heed_status heed_vit_window_bias(heed_vit_builder *b, uint32_t layer, heed_value *bias,
                                 heed_error *error) {
  const heed_vit_dimensions *dims = &b->model->dims;
  const windows made = {dims->window, dims->prefix_tokens, b->rows, b->columns};
  const uint32_t tokens = dims->prefix_tokens + b->rows * b->columns;
  const bool all = b->rows <= dims->window && b->columns <= dims->window;
  uint64_t bytes = 0;
  if (all || !heed_vit_has_windows(b->model, layer)) return HEED_OK;
  if (!heed_u64_mul(tokens, tokens, &bytes) || !heed_u64_mul(bytes, 4, &bytes) ||
      bytes > MOST_BYTES)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "build: the mask of windows is too large (found %llu bytes for %u x %u "
                     "patches, expected at most %llu)",
                     (unsigned long long)bytes, b->rows, b->columns, MOST_BYTES);
  if (!b->window_bias.id) {
    void *kept = heed_graph_keep(b->graph, &made, sizeof made);
    const heed_constant_desc desc = {sizeof desc, NULL,
                                     HEED_F32,    HEED_SHAPE(1, 1, tokens, tokens),
                                     NULL,        kept ? read_windows : NULL,
                                     kept};
    b->window_bias = heed_define_constant(b->graph, &desc);
  }
  *bias = b->window_bias;
  return HEED_OK;
}
