/* inputxgrad [B, channels, height, width]: pixels times the gradient of the score. */
#include "base/status.h"
#include "base/tensor.h"
#include "explain/backward.h"
#include "explain/method.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  return heed_backward_want(run, &run->backward, heed_graph_find(pass->graph, "pixel_values"),
                            "inputxgrad", error);
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const heed_named_tensor *pixels = heed_explain_find(run, "pixel_values");
  const heed_value input = heed_graph_find(run->backward.graph, "pixel_values");
  const size_t size = heed_backward_size(&run->backward, input);
  float *to = heed_explain_add(run, "inputxgrad", HEED_F32, &pixels->shape, error);
  if (!to) return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < run->pass.batch; b++)
    HEED_TRY(heed_backward_gradient(&run->backward, input, b, to + b * size, error));
  for (size_t i = 0; i < run->pass.batch * size; i++) to[i] *= ((const float *)pixels->data)[i];
  return HEED_OK;
}

const heed_explain_method heed_method_inputxgrad = {
    .name = "inputxgrad", .reverse = true, .prepare = prepare, .compute = compute};
