/* What a score is made of is a weighted sum of one value. For texts that is the embedding over its
 * length, which a norm gives; so the weights do not depend on the picture's values. */
#include "explain/backward.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "graph/gradient/gradient.h"
#include "graph/graph.h"
#include "heed/ops.h"

static heed_status list(const heed_explain_run *run, heed_value **values, size_t *count,
                        size_t *room, heed_value value, const char *what, heed_error *error) {
  if (!value.id)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: the model lacks a value that the method reads",
                     what);
  for (size_t i = 0; i < *count; i++)
    if ((*values)[i].id == value.id) return HEED_OK;
  if (!heed_grow(run->context, values, room, *count + 1, sizeof **values))
    return heed_fail_memory(error, what, sizeof **values);
  (*values)[(*count)++] = value;
  return HEED_OK;
}

heed_status heed_backward_want(const heed_explain_run *run, heed_backward *backward,
                               heed_value value, const char *what, heed_error *error) {
  return list(run, &backward->wanted, &backward->count, &backward->room, value, what, error);
}

heed_status heed_backward_keep(const heed_explain_run *run, heed_backward *backward,
                               heed_value value, const char *what, heed_error *error) {
  return list(run, &backward->kept, &backward->kept_count, &backward->kept_room, value, what,
              error);
}

heed_status heed_backward_want_weights(const heed_explain_run *run, heed_backward *backward,
                                       const char *what, heed_error *error) {
  for (uint32_t l = 0; l < run->info.layers; l++) {
    const heed_value weights = heed_graph_tap(run->pass.graph, HEED_TAP_WEIGHTS, l);
    HEED_TRY(heed_backward_want(run, backward, weights, what, error));
    HEED_TRY(heed_backward_keep(run, backward, weights, what, error));
  }
  return HEED_OK;
}

/* x [..., E] over its length: a norm about 0 without epsilon. */
static heed_value define_unit(heed_graph *graph, heed_value x) {
  heed_value_info info;
  if (heed_graph_value_info(graph, x, &info) != HEED_OK) return (heed_value){0};
  const uint32_t size = info.shape.dim[info.shape.rank - 1];
  float *shares = heed_graph_keep(graph, NULL, size * sizeof *shares);
  for (uint32_t i = 0; shares && i < size; i++) shares[i] = (float)(1.0 / sqrt((double)size));
  const heed_constant_desc gain = {
      .struct_size = sizeof gain, .dtype = HEED_F32, .shape = HEED_SHAPE(size), .data = shares};
  if (!shares) return (heed_value){0};
  const heed_layer_norm_desc norm = {
      .struct_size = sizeof norm, .x = x, .gain = heed_define_constant(graph, &gain), .rms = true};
  return heed_define_layer_norm(graph, &norm);
}

/* Appends the reverse pass from `of` and prepares the session. */
static heed_status prepare(const heed_explain_run *run, heed_backward *to,
                           const heed_gradient_rules *rules, heed_error *error) {
  heed_value_info info;
  HEED_TRY(heed_graph_status(to->graph, error));
  HEED_TRY(heed_graph_value_info(to->graph, to->of, &info));
  to->batch = info.shape.dim[0];
  to->seed = heed_define_input(to->graph, "score.seed", HEED_F32, &info.shape);
  to->gradients = heed_alloc(run->context, to->count + 1, sizeof *to->gradients);
  const size_t all = to->count + to->kept_count + 1;
  heed_value *taps = heed_alloc(run->context, all, sizeof *taps);
  heed_status status =
      to->gradients && taps ? HEED_OK : heed_fail_memory(error, "gradient", all * sizeof *taps);
  const heed_gradient_desc desc = {.of = to->of,
                                   .seed = to->seed,
                                   .wanted = to->wanted,
                                   .wanted_count = (uint32_t)to->count,
                                   .rules = rules};
  if (status == HEED_OK) status = heed_graph_gradient(to->graph, &desc, to->gradients, error);
  if (status == HEED_OK) {
    taps[0] = to->of;
    memcpy(taps + 1, to->gradients, to->count * sizeof *taps);
    if (to->kept_count) memcpy(taps + 1 + to->count, to->kept, to->kept_count * sizeof *taps);
    const heed_plan_desc plan = {sizeof plan, taps, (uint32_t)all, HEED_ATTENTION_MODE_AUTO};
    status = heed_plan_create(to->graph, run->desc->backend, &plan, &to->plan, error);
  }
  if (status == HEED_OK) status = heed_session_create(to->plan, NULL, &to->session, error);
  heed_free(run->context, taps);
  return status;
}

/* The weights [width] of picture b's score. */
static heed_status fill_seed(const heed_explain_run *run, uint32_t b, uint32_t width, float *seed,
                             double *constant, heed_error *error) {
  float *row = heed_alloc(run->context, width, sizeof *row);
  double *weights = heed_alloc(run->context, width, sizeof *weights);
  const heed_status status =
      row && weights ? HEED_OK : heed_fail_memory(error, "gradient", width * sizeof *weights);
  if (status == HEED_OK) {
    row[0] = 1.0f; /* of length 1: what is weighted is the embedding over its length */
    heed_target_seed(run, b, row, width, weights, constant);
    for (uint32_t i = 0; i < width; i++) seed[i] = (float)weights[i];
  }
  heed_free(run->context, row);
  heed_free(run->context, weights);
  return status;
}

/* The seed of all pictures. */
static heed_status fill_seeds(const heed_explain_run *run, const heed_backward *backward,
                              float *seed, heed_error *error) {
  const size_t size = heed_backward_size(backward, backward->of);
  const heed_target *target = &run->target;
  for (uint32_t b = 0; b < backward->batch; b++) {
    double constant;
    float *to = seed + b * size;
    if (target->kind == HEED_TARGET_STATE)
      to[(size_t)target->token * run->info.width + target->channel] = 1.0f;
    else
      HEED_TRY(fill_seed(run, b, (uint32_t)size, to, &constant, error));
  }
  return HEED_OK;
}

static heed_status write_seed(const heed_backward *backward, const float *seed, heed_error *error) {
  return heed_session_write(
      backward->session, backward->seed, seed,
      backward->batch * heed_backward_size(backward, backward->of) * sizeof *seed, error);
}

heed_status heed_backward_seed(const heed_explain_run *run, const heed_backward *backward,
                               heed_error *error) {
  const size_t count = backward->batch * heed_backward_size(backward, backward->of);
  float *seed = heed_alloc(run->context, count, sizeof *seed);
  if (!seed) return heed_fail_memory(error, "gradient", count * sizeof *seed);
  heed_status status = fill_seeds(run, backward, seed, error);
  if (status == HEED_OK) status = write_seed(backward, seed, error);
  heed_free(run->context, seed);
  return status;
}

heed_status heed_backward_open(const heed_explain_run *run, heed_backward *to,
                               const heed_gradient_rules *rules, heed_error *error) {
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = run->pass.batch,
                                 .height = run->pass.height,
                                 .width = run->pass.width};
  HEED_TRY(heed_model_build(run->desc->model, &build, &to->graph, error));
  to->of = heed_target_value(run, &run->pass);
  if (run->target.texts) to->of = define_unit(to->graph, to->of);
  HEED_TRY(prepare(run, to, rules, error));
  return heed_backward_seed(run, to, error);
}

/* The length of the picture's embedding is held: the score of text k is exp(scale) e^ . t^. */
static heed_status fill_text_seeds(const heed_explain_run *run, uint32_t length, float *seed,
                                   heed_error *error) {
  const heed_target *target = &run->target;
  const heed_value image = heed_target_value(run, &run->pass);
  const heed_named_tensor *ids = heed_explain_find(run, "input_ids");
  const uint32_t size = target->size;
  float *e = heed_alloc(run->context, size, sizeof *e);
  heed_status status = e ? HEED_OK : heed_fail_memory(error, "gradient", size * sizeof *e);
  for (uint32_t b = 0; b < run->pass.batch && status == HEED_OK; b++) {
    const uint32_t chosen[] = {target->largest ? target->largest[b] : target->first,
                               target->second};
    double square = 0.0;
    status = heed_pass_read(&run->pass, image, b, e, error);
    for (uint32_t i = 0; i < size; i++) square += (double)e[i] * (double)e[i];
    const double factor = exp((double)target->text.logit_scale) / sqrt(square);
    for (uint32_t n = 0; n < (target->difference ? 2u : 1u) && status == HEED_OK; n++) {
      const uint32_t k = chosen[n],
                     row = heed_text_row(&target->text,
                                         (const int32_t *)ids->data + (size_t)k * length, length);
      float *to = seed + ((size_t)k * length + row) * size;
      for (uint32_t i = 0; i < size; i++)
        to[i] = (float)((double)to[i] + (n ? -factor : factor) * (double)e[i]);
    }
  }
  heed_free(run->context, e);
  return status;
}

heed_status heed_backward_open_texts(const heed_explain_run *run, heed_backward *to,
                                     heed_error *error) {
  const heed_named_tensor *ids = heed_explain_find(run, "input_ids");
  const uint32_t length = ids->shape.dim[1];
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = ids->shape.dim[0], .source_length = length};
  HEED_TRY(heed_model_build(run->desc->text, &build, &to->graph, error));
  for (uint32_t l = 0; l < run->target.text.layers; l++) {
    const heed_value weights = heed_graph_tap(to->graph, HEED_TAP_WEIGHTS, l);
    HEED_TRY(heed_backward_want(run, to, weights, "gradient", error));
    HEED_TRY(heed_backward_keep(run, to, weights, "gradient", error));
  }
  to->of = define_unit(to->graph, heed_graph_find(to->graph, "token_embeds"));
  HEED_TRY(prepare(run, to, NULL, error));
  const size_t count = to->batch * heed_backward_size(to, to->of);
  float *seed = heed_alloc(run->context, count, sizeof *seed);
  if (!seed) return heed_fail_memory(error, "gradient", count * sizeof *seed);
  heed_status status = fill_text_seeds(run, length, seed, error);
  if (status == HEED_OK) status = write_seed(to, seed, error);
  if (status == HEED_OK)
    status = heed_session_write(to->session, heed_graph_find(to->graph, "input_ids"), ids->data,
                                (size_t)heed_shape_count(&ids->shape) * sizeof(int32_t), error);
  if (status == HEED_OK) status = heed_explain_session(run, to->session, error);
  heed_free(run->context, seed);
  return status;
}

heed_status heed_backward_run(const heed_explain_run *run, heed_backward *backward,
                              const float *pixels, heed_error *error) {
  const heed_value input = heed_graph_find(backward->graph, "pixel_values");
  HEED_TRY(heed_session_write(
      backward->session, input, pixels,
      backward->batch * heed_backward_size(backward, input) * sizeof *pixels, error));
  return heed_explain_session(run, backward->session, error);
}

void heed_backward_close(const heed_explain_run *run, heed_backward *backward) {
  heed_session_destroy(backward->session);
  heed_plan_destroy(backward->plan);
  heed_graph_destroy(backward->graph);
  heed_free(run->context, backward->wanted);
  heed_free(run->context, backward->gradients);
  heed_free(run->context, backward->kept);
  *backward = (heed_backward){.graph = NULL};
}

size_t heed_backward_size(const heed_backward *backward, heed_value value) {
  const heed_shape *shape = &heed_graph_record(backward->graph, value.id)->shape;
  return (size_t)(heed_shape_count(shape) / shape->dim[0]);
}

heed_status heed_backward_value(const heed_backward *backward, heed_value value, uint32_t b,
                                float *to, heed_error *error) {
  const uint64_t count = heed_backward_size(backward, value);
  return heed_session_read(backward->session, value, b * count, count, to, error);
}

heed_status heed_backward_gradient(const heed_backward *backward, heed_value value, uint32_t b,
                                   float *to, heed_error *error) {
  for (size_t i = 0; i < backward->count; i++)
    if (backward->wanted[i].id == value.id)
      return heed_backward_value(backward, backward->gradients[i], b, to, error);
  return heed_fail(error, HEED_INVALID_ARGUMENT, "gradient: of a value that was not wanted");
}

heed_status heed_backward_score(const heed_explain_run *run, const heed_backward *backward,
                                uint32_t b, double *score, heed_error *error) {
  const size_t size = heed_backward_size(backward, backward->of);
  const heed_target *target = &run->target;
  float *seed = heed_alloc(run->context, 2 * size, sizeof *seed), *of = seed ? seed + size : NULL;
  heed_status status = seed ? heed_backward_value(backward, backward->of, b, of, error)
                            : heed_fail_memory(error, "gradient", 2 * size * sizeof *seed);
  *score = 0.0;
  if (status == HEED_OK && target->kind == HEED_TARGET_STATE)
    *score = (double)of[(size_t)target->token * run->info.width + target->channel];
  else if (status == HEED_OK)
    status = fill_seed(run, b, (uint32_t)size, seed, score, error);
  for (size_t i = 0; i < size && status == HEED_OK && target->kind != HEED_TARGET_STATE; i++)
    if (seed[i] != 0.0f) *score += (double)seed[i] * (double)of[i];
  heed_free(run->context, seed);
  return status;
}
