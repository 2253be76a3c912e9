/* See variant.h. */
#include "explain/variant.h"

#include <math.h>

#include "base/alloc.h"
#include "base/status.h"

bool heed_answer_is_logit(const heed_explain_run *run) {
  const heed_target *target = &run->target;
  return target->kind == HEED_TARGET_LARGEST ||
         (target->kind == HEED_TARGET_LOGIT && !target->difference);
}

double heed_answer_number(const heed_explain_run *run, const heed_answer *answer) {
  return heed_answer_is_logit(run) ? answer->probability : answer->score;
}

/* The logit of the target among all of a picture; row [width] is what they are made of. */
static heed_status judge_logits(const heed_explain_run *run, uint32_t b, const float *row,
                                uint32_t width, heed_answer *answer, heed_error *error) {
  const heed_target *target = &run->target;
  const uint32_t wanted = target->largest ? target->largest[b] : target->first,
                 count = target->texts ? target->count : width;
  const float *logits = row;
  float *made = NULL;
  uint32_t first;
  if (target->texts) {
    made = heed_alloc_raw(run->context, count, sizeof *made);
    if (!made) return heed_fail_memory(error, "target", count * sizeof *made);
    heed_compare(&target->text, row, target->texts, count, made, NULL);
    logits = made;
  }
  (void)heed_top(logits, count, 1, &first, NULL);
  answer->kept = first == wanted;
  answer->probability = heed_probability(logits, count, wanted);
  heed_free(run->context, made);
  return HEED_OK;
}

heed_status heed_answer_read(const heed_explain_run *run, const heed_pass *pass, uint32_t b,
                             heed_answer *answer, heed_error *error) {
  *answer = (heed_answer){.probability = (double)NAN};
  HEED_TRY(heed_target_score(run, pass, b, &answer->score, error));
  if (!heed_answer_is_logit(run)) return HEED_OK;
  const heed_value value = heed_target_value(run, pass);
  heed_value_info info;
  HEED_TRY(heed_graph_value_info(pass->graph, value, &info));
  const uint32_t width = info.shape.dim[info.shape.rank - 1];
  float *row = heed_alloc_raw(run->context, width, sizeof *row);
  heed_status status = row ? heed_pass_read(pass, value, b, row, error)
                           : heed_fail_memory(error, "target", width * sizeof *row);
  if (status == HEED_OK) status = judge_logits(run, b, row, width, answer, error);
  heed_free(run->context, row);
  return status;
}

/* build: what the variant's graph is, but for its batch and its size. */
static heed_status open_as(const heed_explain_run *run, heed_build_desc *build, heed_pass *variant,
                           heed_error *error) {
  const bool state = run->target.kind == HEED_TARGET_STATE;
  *variant = run->pass;
  variant->graph = NULL;
  variant->plan = NULL;
  variant->session = NULL;
  variant->kept = NULL;
  variant->kept_count = 0;
  if (build->shortened) variant->tokens = run->info.prefix_tokens + build->patches;
  build->struct_size = sizeof *build;
  build->batch = variant->batch;
  build->height = variant->height;
  build->width = variant->width;
  build->classes_only = !state;
  HEED_TRY(heed_model_build(run->desc->model, build, &variant->graph, error));
  const heed_value value = heed_target_value(run, variant);
  const heed_plan_desc plan = {sizeof plan, &value, state, HEED_ATTENTION_MODE_AUTO};
  HEED_TRY(heed_plan_create(variant->graph, run->desc->backend, &plan, &variant->plan, error));
  return heed_session_create(variant->plan, NULL, &variant->session, error);
}

heed_status heed_variant_open(const heed_explain_run *run, bool shortened, uint32_t patches,
                              heed_pass *variant, heed_error *error) {
  heed_build_desc build = {.shortened = shortened, .patches = shortened ? patches : 0};
  return open_as(run, &build, variant, error);
}

heed_status heed_variant_open_changed(const heed_explain_run *run, bool offset_rows,
                                      heed_pass *variant, heed_error *error) {
  heed_build_desc build = {.intervene = true, .offset_rows = offset_rows};
  return open_as(run, &build, variant, error);
}

heed_status heed_variant_write(const heed_pass *variant, const char *name, const void *data,
                               heed_error *error) {
  const heed_value value = heed_graph_find(variant->graph, name);
  heed_value_info info;
  if (!value.id) return HEED_OK;
  HEED_TRY(heed_graph_value_info(variant->graph, value, &info));
  return heed_session_write(variant->session, value, data,
                            (size_t)heed_shape_count(&info.shape) * heed_dtype_size(info.dtype),
                            error);
}

void heed_variant_close(heed_pass *variant) {
  heed_session_destroy(variant->session);
  heed_plan_destroy(variant->plan);
  heed_graph_destroy(variant->graph);
}
