/* Relevance as input times a gradient by other rules, as LXT computes it (Achtibat et al. 2024). */
#include "explain/methods/lrp.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"

/* Relevance of the pixels, and of each token the sum over its channels. */
static heed_status add(heed_explain_run *run, const heed_backward *backward, const char *name,
                       heed_value pixels, heed_value embeddings, float *room, heed_error *error) {
  const heed_named_tensor *x = heed_explain_find(run, "pixel_values");
  const size_t size = heed_backward_size(backward, pixels),
               count = heed_backward_size(backward, embeddings);
  const uint32_t tokens = run->pass.tokens;
  char text[32];
  snprintf(text, sizeof text, "%s.pixel_values", name);
  float *by_pixel = heed_explain_add(run, text, HEED_F32, &x->shape, error);
  snprintf(text, sizeof text, "%s.tokens", name);
  float *by_token =
      by_pixel ? heed_explain_add(run, text, HEED_F32, &HEED_SHAPE(run->pass.batch, tokens), error)
               : NULL;
  if (!by_token) return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < run->pass.batch; b++) {
    HEED_TRY(heed_backward_gradient(backward, pixels, b, by_pixel + b * size, error));
    for (size_t i = b * size; i < (b + 1) * size; i++) by_pixel[i] *= ((const float *)x->data)[i];
    HEED_TRY(heed_backward_value(backward, embeddings, b, room, error));
    HEED_TRY(heed_backward_gradient(backward, embeddings, b, room + count, error));
    for (size_t t = 0; t < tokens; t++) {
      const size_t width = count / tokens;
      double sum = 0.0;
      for (size_t i = t * width; i < (t + 1) * width; i++)
        sum += (double)room[i] * (double)room[count + i];
      by_token[b * tokens + t] = (float)sum;
    }
  }
  return HEED_OK;
}

heed_status heed_lrp(heed_explain_run *run, const char *name, const heed_gradient_rules *rules,
                     heed_error *error) {
  const heed_value pixels = heed_graph_find(run->pass.graph, "pixel_values"),
                   embeddings = heed_pass_states(&run->pass, 0);
  heed_backward backward = {.graph = NULL};
  float *room = NULL;
  heed_status status = heed_backward_want(run, &backward, pixels, name, error);
  if (status == HEED_OK) status = heed_backward_want(run, &backward, embeddings, name, error);
  if (status == HEED_OK) status = heed_backward_keep(run, &backward, embeddings, name, error);
  if (status == HEED_OK) status = heed_backward_open(run, &backward, rules, error);
  if (status == HEED_OK)
    status = heed_backward_run(run, &backward, heed_explain_find(run, "pixel_values")->data, error);
  if (status == HEED_OK) {
    const size_t count = 2 * heed_backward_size(&backward, embeddings);
    room = heed_alloc(run->context, count, sizeof *room);
    status = room ? add(run, &backward, name, pixels, embeddings, room, error)
                  : heed_fail_memory(error, name, count * sizeof *room);
  }
  heed_free(run->context, room);
  heed_backward_close(run, &backward);
  return status;
}
