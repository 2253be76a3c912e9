/* attention.last and attention.rollout [B, T]: where CLS looks in the last layer, the mean over
 * heads, and what of the tokens reaches it by the attention of all layers (Abnar & Zuidema 2020).
 * Without CLS both are the mean over the patches. No target changes them. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/method.h"

static heed_value weights_of(const heed_pass *pass, uint32_t layer) {
  return heed_graph_tap(pass->graph, HEED_TAP_WEIGHTS, layer);
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  for (uint32_t l = 0; l < run->info.layers; l++)
    HEED_TRY(heed_pass_keep(run, pass, weights_of(pass, l), "attention", error));
  return HEED_OK;
}

/* The share of each token in what is read. */
static void fill_start(const heed_explain_run *run, float *start) {
  const uint32_t prefix = run->info.prefix_tokens, tokens = run->pass.tokens;
  const bool cls = prefix && strcmp(run->info.token_names[0], "CLS") == 0;
  for (uint32_t t = 0; t < tokens; t++)
    start[t] = cls ? (float)(t == 0) : t < prefix ? 0.0f : 1.0f / (float)(tokens - prefix);
}

/* What one picture needs. */
typedef struct maps {
  float *start;  /* [T] */
  float *heads;  /* [H, T, T] of a layer */
  float *layers; /* [L, T, T]: the means over heads */
} maps;

static heed_status read_layers(const heed_explain_run *run, uint32_t b, const maps *m,
                               heed_error *error) {
  const size_t square = (size_t)run->pass.tokens * run->pass.tokens;
  for (uint32_t l = 0; l < run->info.layers; l++) {
    HEED_TRY(heed_pass_read(&run->pass, weights_of(&run->pass, l), b, m->heads, error));
    heed_map_head_mean(m->heads, run->info.heads, run->pass.tokens, m->layers + l * square);
  }
  return HEED_OK;
}

static void read_last(const heed_explain_run *run, const maps *m, float *last) {
  const size_t tokens = run->pass.tokens;
  const float *map = m->layers + (run->info.layers - 1) * tokens * tokens;
  for (size_t key = 0; key < tokens; key++) {
    double sum = 0.0;
    for (size_t query = 0; query < tokens; query++)
      sum += (double)m->start[query] * (double)map[query * tokens + key];
    last[key] = (float)sum;
  }
}

static heed_status fill(heed_explain_run *run, const maps *m, float *last, float *rollout,
                        heed_error *error) {
  const uint32_t tokens = run->pass.tokens;
  const heed_rollout_desc desc = {
      .struct_size = sizeof desc, .layers = run->info.layers, .heads = 1, .tokens = tokens};
  fill_start(run, m->start);
  for (uint32_t b = 0; b < run->pass.batch; b++, last += tokens, rollout += tokens) {
    HEED_TRY(read_layers(run, b, m, error));
    read_last(run, m, last);
    HEED_TRY(heed_map_rollout_row(run->context, &desc, m->layers, m->start, rollout, error));
  }
  return HEED_OK;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const size_t tokens = run->pass.tokens, row = tokens * sizeof(float);
  const heed_shape shape = HEED_SHAPE(run->pass.batch, run->pass.tokens);
  float *last = heed_explain_add(run, "attention.last", HEED_F32, &shape, error),
        *rollout =
            last ? heed_explain_add(run, "attention.rollout", HEED_F32, &shape, error) : NULL;
  if (!rollout) return HEED_OUT_OF_MEMORY;
  const maps m = {heed_alloc_raw(run->context, 1, row),
                  heed_alloc_raw(run->context, run->info.heads * tokens, row),
                  heed_alloc_raw(run->context, run->info.layers * tokens, row)};
  const heed_status status =
      m.start && m.heads && m.layers
          ? fill(run, &m, last, rollout, error)
          : heed_fail_memory(error, "attention",
                             (run->info.heads + run->info.layers) * tokens * row);
  heed_free(run->context, m.start);
  heed_free(run->context, m.heads);
  heed_free(run->context, m.layers);
  return status;
}

const heed_explain_method heed_method_attention = {
    .name = "attention", .scoreless = true, .prepare = prepare, .compute = compute};
