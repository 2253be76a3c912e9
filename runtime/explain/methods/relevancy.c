/* relevancy.chefer [B, T], text.relevancy.chefer [K, T] (Chefer et al. 2021, without
 * normalisation): R = I, R <- R + E_l R from the first layer on, and of it the row that the score
 * reads. As a vector from the last layer back: w <- w + w E_l. */
#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/attention_terms.h"
#include "explain/method.h"
#include "explain/reading.h"

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  (void)pass;
  run->wants_texts = true;
  HEED_TRY(heed_reading_prepare(run, "relevancy", error));
  return heed_backward_want_weights(run, &run->backward, "relevancy", error);
}

/* w [tokens] is what reads the tokens; room: [tokens * tokens + tokens]. */
static heed_status go_back(const heed_explain_run *run, const heed_backward *backward,
                           uint32_t layers, uint32_t b, uint32_t tokens, double *w, double *room,
                           heed_error *error) {
  double *terms = room + tokens;
  for (uint32_t l = layers; l-- > 0;) {
    HEED_TRY(heed_attention_terms(run, backward, l, b, HEED_TERMS_POSITIVE, terms, error));
    for (uint32_t s = 0; s < tokens; s++) {
      room[s] = w[s];
      for (uint32_t t = 0; t < tokens; t++) room[s] += w[t] * terms[(size_t)t * tokens + s];
    }
    for (uint32_t s = 0; s < tokens; s++) w[s] = room[s];
  }
  return HEED_OK;
}

static heed_status add_pictures(heed_explain_run *run, double *w, double *room, heed_error *error) {
  const uint32_t tokens = run->pass.tokens;
  float *to = heed_explain_add(run, "relevancy.chefer", HEED_F32,
                               &HEED_SHAPE(run->pass.batch, tokens), error);
  if (!to) return HEED_OUT_OF_MEMORY;
  for (uint32_t b = 0; b < run->pass.batch; b++) {
    HEED_TRY(heed_reading_weights(run, b, w, error));
    HEED_TRY(go_back(run, &run->backward, run->info.layers, b, tokens, w, room, error));
    for (uint32_t t = 0; t < tokens; t++) to[(size_t)b * tokens + t] = (float)w[t];
  }
  return HEED_OK;
}

static heed_status add_texts(heed_explain_run *run, double *w, double *room, heed_error *error) {
  const heed_named_tensor *ids = heed_explain_find(run, "input_ids");
  const uint32_t count = ids->shape.dim[0], tokens = ids->shape.dim[1];
  float *to =
      heed_explain_add(run, "text.relevancy.chefer", HEED_F32, &HEED_SHAPE(count, tokens), error);
  if (!to) return HEED_OUT_OF_MEMORY;
  for (uint32_t k = 0; k < count; k++) {
    const int32_t *text = (const int32_t *)ids->data + (size_t)k * tokens;
    for (uint32_t t = 0; t < tokens; t++) w[t] = 0.0;
    w[heed_text_row(&run->target.text, text, tokens)] = 1.0;
    HEED_TRY(go_back(run, &run->texts, run->target.text.layers, k, tokens, w, room, error));
    for (uint32_t t = 0; t < tokens; t++) to[(size_t)k * tokens + t] = (float)w[t];
  }
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const heed_named_tensor *ids = heed_explain_find(run, "input_ids");
  size_t tokens = run->pass.tokens;
  if (run->texts.graph && ids->shape.dim[1] > tokens) tokens = ids->shape.dim[1];
  double *w = heed_alloc(run->context, tokens + 2, tokens * sizeof *w);
  if (!w) return heed_fail_memory(error, "relevancy", (tokens + 2) * tokens * sizeof *w);
  heed_status status = add_pictures(run, w, w + tokens, error);
  if (status == HEED_OK && run->texts.graph) status = add_texts(run, w, w + tokens, error);
  heed_free(run->context, w);
  return status;
}

const heed_explain_method heed_method_relevancy = {
    .name = "relevancy", .reverse = true, .prepare = prepare, .compute = compute};
