/* rollout.gradient [B, T]: attention rollout (Abnar & Zuidema 2020) of max(0, mean over heads of
 * A dA) in place of A: rows of half of that and half of I, divided by their sums. Of the product
 * the row that the score reads, which sums to 1; zeros where the score reads nothing. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/attention_terms.h"
#include "explain/method.h"
#include "explain/reading.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  (void)pass;
  HEED_TRY(heed_reading_prepare(run, "gradient_rollout", error));
  return heed_backward_want_weights(run, &run->backward, "gradient_rollout", error);
}

/* w <- w times the rows of (terms + I) / sum. */
static void roll(const double *terms, uint32_t tokens, double *w, double *next) {
  for (uint32_t s = 0; s < tokens; s++) next[s] = 0.0;
  for (uint32_t t = 0; t < tokens; t++) {
    const double *row = terms + (size_t)t * tokens;
    double sum = 1.0;
    for (uint32_t s = 0; s < tokens; s++) sum += row[s];
    for (uint32_t s = 0; s < tokens; s++) next[s] += w[t] * row[s] / sum;
    next[t] += w[t] / sum;
  }
  for (uint32_t s = 0; s < tokens; s++) w[s] = next[s];
}

static heed_status add_picture(heed_explain_run *run, uint32_t b, double *w, float *to,
                               heed_error *error) {
  const uint32_t tokens = run->pass.tokens;
  double sum = 0.0, *next = w + tokens, *terms = next + tokens;
  HEED_TRY(heed_reading_weights(run, b, w, error));
  for (uint32_t t = 0; t < tokens; t++) sum += w[t];
  for (uint32_t t = 0; t < tokens; t++) w[t] = sum == 0.0 ? 0.0 : w[t] / sum;
  for (uint32_t l = run->info.layers; l-- > 0;) {
    HEED_TRY(heed_attention_terms(run, &run->backward, l, b, HEED_TERMS_MEAN, terms, error));
    roll(terms, tokens, w, next);
  }
  for (uint32_t t = 0; t < tokens; t++) to[t] = (float)w[t];
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const size_t tokens = run->pass.tokens;
  float *to = heed_explain_add(run, "rollout.gradient", HEED_F32,
                               &HEED_SHAPE(run->pass.batch, run->pass.tokens), error);
  double *w = to ? heed_alloc(run->context, tokens + 2, tokens * sizeof *w) : NULL;
  if (!to) return HEED_OUT_OF_MEMORY;
  heed_status status =
      w ? HEED_OK : heed_fail_memory(error, "gradient_rollout", (tokens + 2) * tokens * sizeof *w);
  for (uint32_t b = 0; b < run->pass.batch && status == HEED_OK; b++)
    status = add_picture(run, b, w, to + b * tokens, error);
  heed_free(run->context, w);
  return status;
}

const heed_explain_method heed_method_gradient_rollout = {
    .name = "gradient_rollout", .reverse = true, .prepare = prepare, .compute = compute};
