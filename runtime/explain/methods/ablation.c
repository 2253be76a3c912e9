/* ablation [B]: the score without the heads of desc->heads. They give zeros to all tokens or, with
 * source.pixel_values, what they give there, token by token, mean over those pictures (resampling);
 * and ablation.probability [B] of a target that is one logit. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "explain/variant.h"
#include "graph/graph.h"

/* The next head of a list as "3.0,4.1"; false where there is no such head of the model. */
static bool take_head(const heed_explain_run *run, const char **at, uint32_t head[2]) {
  const uint32_t most[2] = {run->info.layers, run->info.heads};
  for (int i = 0; i < 2; i++) {
    uint32_t n = 0;
    const char *from = *at;
    for (; **at >= '0' && **at <= '9' && n < most[i]; (*at)++) n = 10 * n + (uint32_t)(**at - '0');
    if (*at == from || n >= most[i] || (i == 0 && *(*at)++ != '.')) return false;
    head[i] = n;
  }
  return !**at || (**at == ',' && *++*at);
}

/* take(head) of each; changes NULL: they are only read. layers [L]: which have one; or NULL. */
static heed_status take_heads(const heed_explain_run *run, heed_changes *changes, bool *layers,
                              heed_error *error) {
  const char *at = run->desc->heads;
  if (!at || !*at)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "ablation: no heads (expected layer.head, such as %u.0)",
                     run->info.layers - 1);
  while (*at) {
    uint32_t head[2];
    if (!take_head(run, &at, head))
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "ablation: unknown heads (found \"%.64s\", expected layer.head,... below "
                       "%u.%u)",
                       run->desc->heads, run->info.layers, run->info.heads);
    if (layers) layers[head[0]] = true;
    if (changes) HEED_TRY(heed_changes_ablate(changes, head[0], head[1], error));
  }
  return HEED_OK;
}

static heed_status prepare(heed_explain_run *run, heed_pass *pass, heed_error *error) {
  HEED_TRY(take_heads(run, NULL, NULL, error));
  if (pass != &run->source) return HEED_OK;
  HEED_TRY(heed_explain_check_source(run, "ablation", true, error));
  for (uint32_t l = 0; l < run->info.layers; l++)
    HEED_TRY(heed_pass_keep(run, pass, heed_graph_tap(pass->graph, HEED_TAP_HEADS, l), "ablation",
                            error));
  return HEED_OK;
}

/* What the heads of a layer give in the pictures of source.pixel_values, on the average. */
static heed_status resample(const heed_explain_run *run, heed_changes *changes, uint32_t layer,
                            double *sum, float *output, size_t count, heed_error *error) {
  const heed_pass *source = &run->source;
  const heed_value value = heed_graph_tap(source->graph, HEED_TAP_HEADS, layer);
  memset(sum, 0, count * sizeof *sum);
  for (uint32_t b = 0; b < source->batch; b++) {
    HEED_TRY(heed_pass_read(source, value, b, output, error));
    for (size_t i = 0; i < count; i++) sum[i] += (double)output[i];
  }
  for (size_t i = 0; i < count; i++) output[i] = (float)(sum[i] / source->batch);
  return heed_changes_resample(changes, layer, output, error);
}

static heed_status resample_all(const heed_explain_run *run, heed_changes *changes,
                                heed_error *error) {
  const heed_pass *source = &run->source;
  const heed_value first = heed_graph_tap(source->graph, HEED_TAP_HEADS, 0);
  const size_t count =
      (size_t)(heed_shape_count(&heed_graph_record(source->graph, first.id)->shape) /
               source->batch);
  bool *layers = heed_alloc(run->context, run->info.layers, sizeof *layers);
  double *sum = heed_alloc_raw(run->context, count, sizeof *sum);
  float *output = heed_alloc_raw(run->context, count, sizeof *output);
  heed_status status = layers && sum && output
                           ? take_heads(run, NULL, layers, error)
                           : heed_fail_memory(error, "ablation", count * sizeof *sum);
  for (uint32_t l = 0; l < run->info.layers && status == HEED_OK; l++)
    if (layers[l]) status = resample(run, changes, l, sum, output, count, error);
  heed_free(run->context, layers);
  heed_free(run->context, sum);
  heed_free(run->context, output);
  return status;
}

/* A session of the whole model without these heads, which has run. */
static heed_status run_without(const heed_explain_run *run, heed_pass *variant, heed_error *error) {
  heed_changes *changes;
  HEED_TRY(heed_variant_open_changed(run, run->source.graph != NULL, variant, error));
  HEED_TRY(heed_changes_create(run->context, &run->info, run->pass.tokens, &changes, error));
  heed_status status = take_heads(run, changes, NULL, error);
  if (status == HEED_OK && run->source.graph) status = resample_all(run, changes, error);
  if (status == HEED_OK) status = heed_changes_write(changes, variant->session, error);
  heed_changes_destroy(changes);
  if (status == HEED_OK)
    status = heed_variant_write(variant, "pixel_values",
                                heed_explain_find(run, "pixel_values")->data, error);
  return status == HEED_OK ? heed_explain_session(run, variant->session, error) : status;
}

static heed_status compute(heed_explain_run *run, heed_error *error) {
  const uint32_t batch = run->pass.batch;
  float *scores = heed_explain_add(run, "ablation", HEED_F32, &HEED_SHAPE(batch), error),
        *shares = NULL;
  if (!scores || (heed_answer_is_logit(run) &&
                  !(shares = heed_explain_add(run, "ablation.probability", HEED_F32,
                                              &HEED_SHAPE(batch), error))))
    return HEED_OUT_OF_MEMORY;
  heed_pass variant = {0};
  heed_status status = run_without(run, &variant, error);
  for (uint32_t b = 0; b < batch && status == HEED_OK; b++) {
    heed_answer answer;
    status = heed_answer_read(run, &variant, b, &answer, error);
    if (status != HEED_OK) break;
    scores[b] = (float)answer.score;
    if (shares) shares[b] = (float)answer.probability;
  }
  heed_variant_close(&variant);
  return status;
}

const heed_explain_method heed_method_ablation = {
    .name = "ablation", .source = true, .prepare = prepare, .compute = compute};
