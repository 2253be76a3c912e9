/* attention_gradient.l [B, T, T]: mean over heads of max(0, A dA) (Chefer et al. 2021). */
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/attention_terms.h"
#include "explain/method.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  (void)pass;
  return heed_backward_want_weights(run, &run->backward, "attention_gradient", error);
}

static heed_status add_layer(heed_explain_run *run, uint32_t layer, double *terms,
                             heed_error *error) {
  const uint32_t tokens = run->pass.tokens;
  const size_t count = (size_t)tokens * tokens;
  char name[40];
  snprintf(name, sizeof name, "attention_gradient.%u", layer);
  float *to =
      heed_explain_add(run, name, HEED_F32, &HEED_SHAPE(run->pass.batch, tokens, tokens), error);
  if (!to) return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < run->pass.batch; b++) {
    HEED_TRY(
        heed_attention_terms(run, &run->backward, layer, b, HEED_TERMS_POSITIVE, terms, error));
    for (size_t i = 0; i < count; i++) to[b * count + i] = (float)terms[i];
  }
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const size_t count = (size_t)run->pass.tokens * run->pass.tokens;
  double *terms = heed_alloc(run->context, count, sizeof *terms);
  heed_status status =
      terms ? HEED_OK : heed_fail_memory(error, "attention_gradient", count * sizeof *terms);
  for (uint32_t l = 0; l < run->info.layers && status == HEED_OK; l++)
    status = add_layer(run, l, terms, error);
  heed_free(run->context, terms);
  return status;
}

const heed_explain_method heed_method_attention_gradient = {
    .name = "attention_gradient", .reverse = true, .prepare = prepare, .compute = compute};
