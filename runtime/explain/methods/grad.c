/* grad: the gradient of the score with respect to pixels, embeddings, the states behind each layer
 * and the attention weights, which count as variables of their own. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "explain/backward.h"
#include "explain/method.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  heed_backward *backward = &run->backward;
  const heed_value pool = heed_graph_tap(pass->graph, HEED_TAP_POOL_WEIGHTS, 0);
  HEED_TRY(heed_backward_want(run, backward, heed_graph_find(pass->graph, "pixel_values"), "grad",
                              error));
  for (uint32_t level = 0; level <= run->info.layers; level++)
    HEED_TRY(heed_backward_want(run, backward, heed_pass_states(pass, level), "grad", error));
  HEED_TRY(heed_backward_want_weights(run, backward, "grad", error));
  run->wants_texts = true;
  return pool.id ? heed_backward_want(run, backward, pool, "grad", error) : HEED_OK;
}

/* Adds "<before>grad.<name>". */
static heed_status add(heed_explain_run *run, const heed_backward *backward, heed_value value,
                       const char *before, const char *name, heed_error *error) {
  char text[64];
  heed_value_info info;
  HEED_TRY(heed_graph_value_info(backward->graph, value, &info));
  snprintf(text, sizeof text, "%sgrad.%s", before, name);
  float *to = heed_explain_add(run, text, HEED_F32, &info.shape, error);
  if (!to) return HEED_OUT_OF_MEMORY;
  const size_t size = heed_backward_size(backward, value);
  for (uint32_t b = 0; b < info.shape.dim[0]; b++)
    HEED_TRY(heed_backward_gradient(backward, value, b, to + b * size, error));
  return HEED_OK;
}

static heed_status add_weights(heed_explain_run *run, const heed_backward *backward,
                               uint32_t layers, const char *before, heed_error *error) {
  char name[32];
  for (uint32_t l = 0; l < layers; l++) {
    snprintf(name, sizeof name, "attention.%u", l);
    HEED_TRY(add(run, backward, heed_graph_tap(backward->graph, HEED_TAP_WEIGHTS, l), before, name,
                 error));
  }
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const heed_backward *backward = &run->backward;
  const heed_graph *graph = backward->graph;
  const heed_value pool = heed_graph_tap(graph, HEED_TAP_POOL_WEIGHTS, 0);
  char name[HEED_TAP_NAME_SIZE];
  HEED_TRY(add(run, backward, heed_graph_find(graph, "pixel_values"), "", "pixel_values", error));
  HEED_TRY(add(run, backward, heed_graph_find(graph, "embeddings"), "", "embeddings", error));
  for (uint32_t l = 0; l < run->info.layers; l++)
    HEED_TRY(add(run, backward, heed_graph_tap(graph, HEED_TAP_OUTPUT, l), "",
                 heed_tap_name(HEED_TAP_OUTPUT, l, name), error));
  HEED_TRY(add_weights(run, backward, run->info.layers, "", error));
  if (pool.id) HEED_TRY(add(run, backward, pool, "", "pool.attention", error));
  return run->texts.graph ? add_weights(run, &run->texts, run->target.text.layers, "text.", error)
                          : HEED_OK;
}

const heed_explain_method heed_method_grad = {
    .name = "grad", .reverse = true, .prepare = prepare, .compute = compute};
