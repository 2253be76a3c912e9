/* The session is made once; a step writes pixels and runs. */
#include "explain/methods/changed_pixels.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"

heed_status heed_pixels_open(heed_explain_run *run, heed_backward *backward, const char *what,
                             heed_error *error) {
  HEED_TRY(heed_backward_want(run, backward, heed_graph_find(run->pass.graph, "pixel_values"), what,
                              error));
  return heed_backward_open(run, backward, NULL, error);
}

static heed_status add_step(const heed_explain_run *run, heed_backward *backward, double weight,
                            float *pixels, size_t size, double *to, heed_error *error) {
  const heed_value input = heed_graph_find(backward->graph, "pixel_values");
  HEED_TRY(heed_backward_run(run, backward, pixels, error));
  for (uint32_t b = 0; b < backward->batch; b++) {
    HEED_TRY(heed_backward_gradient(backward, input, b, pixels, error));
    for (size_t i = 0; i < size; i++) to[b * size + i] += weight * (double)pixels[i];
  }
  return HEED_OK;
}

heed_status heed_pixels_sum(heed_explain_run *run, heed_backward *backward, uint32_t steps,
                            heed_pixel_change *change, void *user, const double *weights,
                            double *to, heed_error *error) {
  const heed_named_tensor *x = heed_explain_find(run, "pixel_values");
  const size_t count = (size_t)heed_shape_count(&x->shape), size = count / run->pass.batch;
  float *pixels = heed_alloc(run->context, count, sizeof *pixels);
  heed_status status = pixels ? HEED_OK : heed_fail_memory(error, "pixels", count * sizeof *pixels);
  for (uint32_t step = 0; step < steps && status == HEED_OK; step++) {
    change(user, step, x->data, pixels);
    status = add_step(run, backward, weights[step], pixels, size, to, error);
  }
  heed_free(run->context, pixels);
  return status;
}
