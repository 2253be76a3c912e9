/* gradcam.l [B, N]: max(0, sum over channels of Y times the mean over patches of its gradient), Y
 * what the attention of layer l reads, of patches alone (Selvaraju et al. 2017, with tokens as
 * pytorch-grad-cam has them). */
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/backward.h"
#include "explain/method.h"
#include "explain/walk.h"
#include "heed/ops.h"

/* What the linear map that gives the values of a layer reads. */
static heed_value find_input(const heed_pass *pass, uint32_t layer) {
  const heed_value value = heed_graph_tap(pass->graph, HEED_TAP_VALUE, layer);
  if (!value.id) return value;
  const heed_value_record *record = heed_graph_record(pass->graph, value.id);
  const heed_node *node = heed_walk_node(
      pass->graph, record->kind == HEED_VALUE_VIEW ? (heed_value){record->base} : value);
  return node && node->op == HEED_OP_KIND_linear ? ((const heed_linear_desc *)node->desc)->x
                                                 : (heed_value){0};
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  for (uint32_t l = 0; l < run->info.layers; l++) {
    const heed_value x = find_input(pass, l);
    HEED_TRY(heed_backward_want(run, &run->backward, x, "gradcam", error));
    HEED_TRY(heed_backward_keep(run, &run->backward, x, "gradcam", error));
  }
  return HEED_OK;
}

/* y and its gradient g [T, C] -> map [T - prefix]. */
static void fill(const float *y, const float *g, uint32_t tokens, uint32_t prefix, uint32_t width,
                 double *means, float *map) {
  for (uint32_t c = 0; c < width; c++) {
    means[c] = 0.0;
    for (uint32_t t = prefix; t < tokens; t++) means[c] += (double)g[(size_t)t * width + c];
    means[c] /= tokens - prefix;
  }
  for (uint32_t t = prefix; t < tokens; t++) {
    double sum = 0.0;
    for (uint32_t c = 0; c < width; c++) sum += (double)y[(size_t)t * width + c] * means[c];
    map[t - prefix] = sum < 0.0 ? 0.0f : (float)sum;
  }
}

static heed_status add_layer(heed_explain_run *run, uint32_t layer, heed_error *error) {
  const heed_value x = find_input(&run->pass, layer);
  const uint32_t tokens = run->pass.tokens, prefix = run->info.prefix_tokens,
                 patches = tokens - prefix;
  const size_t count = heed_backward_size(&run->backward, x);
  const uint32_t width = (uint32_t)(count / tokens);
  char name[24];
  snprintf(name, sizeof name, "gradcam.%u", layer);
  float *to = heed_explain_add(run, name, HEED_F32, &HEED_SHAPE(run->pass.batch, patches), error);
  if (!to) return HEED_OUT_OF_MEMORY;
  float *y = heed_alloc(run->context, 2 * count, sizeof *y);
  double *means = heed_alloc(run->context, width, sizeof *means);
  heed_status status =
      y && means ? HEED_OK : heed_fail_memory(error, "gradcam", 2 * count * sizeof *y);
  for (uint32_t b = 0; b < run->pass.batch && status == HEED_OK; b++) {
    status = heed_backward_value(&run->backward, x, b, y, error);
    if (status == HEED_OK) status = heed_backward_gradient(&run->backward, x, b, y + count, error);
    if (status == HEED_OK)
      fill(y, y + count, tokens, prefix, width, means, to + (size_t)b * patches);
  }
  heed_free(run->context, y);
  heed_free(run->context, means);
  return status;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  for (uint32_t l = 0; l < run->info.layers; l++) HEED_TRY(add_layer(run, l, error));
  return HEED_OK;
}

const heed_explain_method heed_method_gradcam = {
    .name = "gradcam", .reverse = true, .prepare = prepare, .compute = compute};
