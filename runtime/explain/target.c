/* The score that is explained. Source of the logits of texts: Radford et al. 2021, exp(scale) times
 * the cosine. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "explain/method.h"

static bool take_word(const char **at, const char *word) {
  const size_t length = strlen(word);
  if (strncmp(*at, word, length) != 0) return false;
  *at += length;
  return true;
}

static bool take_number(const char **at, uint32_t *number) {
  uint64_t n = 0;
  const char *from = *at;
  for (; **at >= '0' && **at <= '9' && n <= UINT32_MAX; (*at)++)
    n = n * 10 + (uint64_t)(**at - '0');
  *number = (uint32_t)n;
  return *at > from && n <= UINT32_MAX;
}

/* "N" or "N-M" */
static bool read_logits(const char *at, heed_target *target) {
  target->kind = HEED_TARGET_LOGIT;
  if (!take_number(&at, &target->first)) return false;
  target->difference = take_word(&at, "-");
  if (target->difference && !take_number(&at, &target->second)) return false;
  return !*at;
}

/* "embeddings[t,c]" or "layer.l.output[t,c]" */
static bool read_state(const char *at, heed_target *target) {
  uint32_t layer = 0;
  target->kind = HEED_TARGET_STATE;
  if (take_word(&at, "layer.")) {
    if (!take_number(&at, &layer) || layer == UINT32_MAX || !take_word(&at, ".output"))
      return false;
    target->level = layer + 1;
  } else if (take_word(&at, "embeddings")) {
    target->level = 0;
  } else {
    return false;
  }
  return take_word(&at, "[") && take_number(&at, &target->token) && take_word(&at, ",") &&
         take_number(&at, &target->channel) && take_word(&at, "]") && !*at;
}

static bool same_text(const char *a, const char *b, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (tolower((unsigned char)a[i]) != tolower((unsigned char)b[i])) return false;
  return true;
}

/* Whether a text is a label, or one of those that a label lists ("tabby, tabby cat"). */
static bool is_label(const char *label, const char *text) {
  const size_t length = strlen(text);
  if (strlen(label) == length && same_text(label, text, length)) return true;
  for (;;) {
    while (*label == ' ') label++;
    const size_t one = strcspn(label, ",");
    if (one == length && same_text(label, text, length)) return true;
    if (!label[one]) return false;
    label += one + 1;
  }
}

static heed_status read_label(const heed_explain_run *run, const char *text, heed_target *target,
                              heed_error *error) {
  bool found = false;
  *target = (heed_target){.kind = HEED_TARGET_LOGIT};
  for (uint32_t i = 0; i < run->info.classes && *text; i++) {
    if (!is_label(heed_model_label(run->desc->model, i), text)) continue;
    if (found)
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "target: \"%.100s\" is the label of several classes (found %u and %u, "
                       "expected the number of one)",
                       text, target->first, i);
    found = true;
    target->first = i;
  }
  if (found) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "target: unknown target (found \"%.100s\", expected N, N-M, vector, "
                   "layer.l.output[t,c], embeddings[t,c] or the label of a class)",
                   text);
}

static heed_status read_target(heed_explain_run *run, heed_error *error) {
  const char *text = run->desc->target;
  heed_target *target = &run->target;
  *target = (heed_target){.kind = HEED_TARGET_LARGEST};
  if (!text) return HEED_OK;
  if (read_logits(text, target)) return HEED_OK;
  *target = (heed_target){.kind = HEED_TARGET_VECTOR};
  if (strcmp(text, "vector") == 0) return HEED_OK;
  *target = (heed_target){.kind = HEED_TARGET_LARGEST};
  if (read_state(text, target)) return HEED_OK;
  return read_label(run, text, target, error);
}

/* What stands for each text of a tower that has run: its row of token_embeds. */
static heed_status read_texts(heed_explain_run *run, heed_session *session,
                              const heed_named_tensor *ids, heed_error *error) {
  heed_target *target = &run->target;
  const heed_graph *graph = heed_session_graph(session);
  const heed_value value = heed_graph_find(graph, "token_embeds");
  heed_value_info info;
  if (!value.id)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "target: the text tower has no projection (expected a model that compares "
                     "images and texts)");
  HEED_TRY(heed_graph_value_info(graph, value, &info));
  const uint32_t length = ids->shape.dim[1];
  target->count = ids->shape.dim[0];
  target->size = info.shape.dim[2];
  target->texts =
      heed_alloc_raw(run->context, (size_t)target->count * target->size, sizeof *target->texts);
  if (!target->texts)
    return heed_fail_memory(error, "target",
                            (size_t)target->count * target->size * sizeof *target->texts);
  for (uint32_t k = 0; k < target->count; k++) {
    const uint32_t row =
        heed_text_row(&target->text, (const int32_t *)ids->data + (size_t)k * length, length);
    HEED_TRY(heed_session_read(session, value, ((uint64_t)k * length + row) * target->size,
                               target->size, target->texts + (size_t)k * target->size, error));
  }
  return HEED_OK;
}

static heed_status run_texts(heed_explain_run *run, const heed_named_tensor *ids,
                             heed_error *error) {
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = ids->shape.dim[0], .source_length = ids->shape.dim[1]};
  const heed_plan_desc all = {.struct_size = sizeof all};
  heed_graph *graph = NULL;
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  if (!run->desc->text)
    return heed_fail(error, HEED_UNSUPPORTED, "target: input_ids need a model with a text tower");
  heed_model_get_info(run->desc->text, &run->target.text);
  heed_status status = heed_model_build(run->desc->text, &build, &graph, error);
  if (status == HEED_OK) {
    const heed_value outputs[] = {heed_graph_find(graph, "token_embeds")};
    const heed_plan_desc desc = {sizeof desc, outputs, 1, HEED_ATTENTION_MODE_AUTO};
    status =
        heed_plan_create(graph, run->desc->backend, outputs[0].id ? &desc : &all, &plan, error);
  }
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, error);
  if (status == HEED_OK)
    status = heed_session_write(session, heed_graph_find(graph, "input_ids"), ids->data,
                                (size_t)heed_shape_count(&ids->shape) * sizeof(int32_t), error);
  if (status == HEED_OK) status = heed_session_run(session, NULL, error);
  if (status == HEED_OK) status = read_texts(run, session, ids, error);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  return status;
}

heed_status heed_target_open(heed_explain_run *run, heed_error *error) {
  const heed_named_tensor *ids = heed_explain_find(run, "input_ids");
  HEED_TRY(read_target(run, error));
  const heed_target_kind kind = run->target.kind;
  return ids && kind != HEED_TARGET_STATE && kind != HEED_TARGET_VECTOR ? run_texts(run, ids, error)
                                                                        : HEED_OK;
}

heed_value heed_target_value(const heed_explain_run *run, const heed_pass *pass) {
  const heed_target *target = &run->target;
  if (target->kind == HEED_TARGET_STATE) return heed_pass_states(pass, target->level);
  return heed_graph_find(pass->graph, target->kind == HEED_TARGET_VECTOR ? "pooler_output"
                                      : target->texts                    ? "image_embeds"
                                                                         : "logits");
}

static uint32_t width_of(const heed_pass *pass, heed_value value) {
  heed_value_info info;
  if (heed_graph_value_info(pass->graph, value, &info) != HEED_OK) return 0;
  return info.shape.dim[info.shape.rank - 1];
}

static heed_status check_state(const heed_explain_run *run, heed_error *error) {
  const heed_target *target = &run->target;
  if (target->level <= run->info.layers && target->token < run->pass.tokens &&
      target->channel < run->info.width)
    return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "target: outside of the states (found \"%s\", expected layers below %u, tokens "
                   "below %u, channels below %u)",
                   run->desc->target, run->info.layers, run->pass.tokens, run->info.width);
}

static heed_status check_vector(const heed_explain_run *run, uint32_t width, heed_error *error) {
  const heed_named_tensor *vector = heed_explain_find(run, "target.vector");
  char text[HEED_SHAPE_TEXT_SIZE];
  if (!vector)
    return heed_fail(error, HEED_INVALID_FILE,
                     "target: missing tensor target.vector (expected F32 [%u])", width);
  if (heed_shape_count(&vector->shape) == width) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "target: wrong shape of target.vector (found %s, expected [%u])",
                   heed_shape_text(&vector->shape, text), width);
}

heed_status heed_target_prepare(heed_explain_run *run, heed_error *error) {
  heed_target *target = &run->target;
  const heed_value value = heed_target_value(run, &run->pass);
  if (target->kind == HEED_TARGET_STATE) {
    HEED_TRY(check_state(run, error));
    return heed_pass_keep(run, &run->pass, value, "target", error);
  }
  if (!value.id && target->kind == HEED_TARGET_VECTOR)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "target: the model has no pooler_output (expected another target than "
                     "vector)");
  if (!value.id && run->scoreless) return HEED_OK;
  run->scoreless = false;
  if (!value.id)
    return heed_fail(error, HEED_UNSUPPORTED,
                     target->texts
                         ? "target: the model makes no embedding of images (expected a target that "
                           "it has)"
                         : "target: the model has no classifier (expected vector with the tensor "
                           "target.vector, or a state such as layer.0.output[0,0])");
  const uint32_t width = width_of(&run->pass, value);
  if (target->kind == HEED_TARGET_VECTOR) return check_vector(run, width, error);
  if (target->texts && width != target->size)
    return heed_fail(error, HEED_INVALID_FILE,
                     "target: the embeddings of images and texts differ in size (found %u and %u)",
                     width, target->size);
  const uint32_t most = target->texts ? target->count : width,
                 found = target->difference && target->second > target->first ? target->second
                                                                              : target->first;
  if (target->kind == HEED_TARGET_LOGIT && found >= most)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "target: %s out of range (found %u, expected less than %u)",
                     target->texts ? "text" : "class", found, most);
  return HEED_OK;
}

/* seed += factor times the gradient of the logit of text k by the embedding e, its length held. */
static void add_text(const heed_target *target, uint32_t k, double factor, double length,
                     double *seed, double *constant) {
  const float *text = target->texts + (size_t)k * target->size;
  double square = 0.0;
  for (uint32_t i = 0; i < target->size; i++) square += (double)text[i] * (double)text[i];
  const double share = factor * exp((double)target->text.logit_scale) / (sqrt(square) * length);
  for (uint32_t i = 0; i < target->size; i++) seed[i] += share * (double)text[i];
  *constant += factor * (double)target->text.logit_bias;
}

static double length_of(const float *x, uint32_t size) {
  double square = 0.0;
  for (uint32_t i = 0; i < size; i++) square += (double)x[i] * (double)x[i];
  return sqrt(square);
}

static uint32_t largest_text(const heed_target *target, const float *row) {
  double most = -(double)INFINITY;
  uint32_t chosen = 0;
  for (uint32_t k = 0; k < target->count; k++) {
    const double cosine =
        (double)heed_cosine(row, target->texts + (size_t)k * target->size, target->size);
    if (!(cosine > most)) continue;
    most = cosine;
    chosen = k;
  }
  return chosen;
}

heed_status heed_target_settle(heed_explain_run *run, heed_error *error) {
  heed_target *target = &run->target;
  if (target->kind != HEED_TARGET_LARGEST || run->scoreless) return HEED_OK;
  const heed_value value = heed_target_value(run, &run->pass);
  const uint32_t width = width_of(&run->pass, value), batch = run->pass.batch;
  target->largest = heed_alloc(run->context, batch, sizeof *target->largest);
  float *row = heed_alloc_raw(run->context, width, sizeof *row);
  heed_status status =
      target->largest && row ? HEED_OK : heed_fail_memory(error, "target", width * sizeof *row);
  for (uint32_t b = 0; b < batch && status == HEED_OK; b++) {
    status = heed_pass_read(&run->pass, value, b, row, error);
    if (status == HEED_OK && target->texts)
      target->largest[b] = largest_text(target, row);
    else if (status == HEED_OK)
      (void)heed_top(row, width, 1, &target->largest[b], NULL);
  }
  heed_free(run->context, row);
  return status;
}

void heed_target_seed(const heed_explain_run *run, uint32_t b, const float *row, uint32_t width,
                      double *seed, double *constant) {
  const heed_target *target = &run->target;
  const float *vector =
      target->kind == HEED_TARGET_VECTOR ? heed_explain_find(run, "target.vector")->data : NULL;
  const uint32_t first = target->largest ? target->largest[b] : target->first;
  *constant = 0.0;
  for (uint32_t i = 0; i < width; i++) seed[i] = vector ? (double)vector[i] : 0.0;
  if (vector) return;
  if (target->texts) {
    const double length = length_of(row, width);
    add_text(target, first, 1.0, length, seed, constant);
    if (target->difference) add_text(target, target->second, -1.0, length, seed, constant);
    return;
  }
  seed[first] += 1.0;
  if (target->difference) seed[target->second] -= 1.0;
}

heed_status heed_target_row(const heed_explain_run *run, uint32_t b, const float *row,
                            uint32_t width, double *score, heed_error *error) {
  double *seed = heed_alloc_raw(run->context, width, sizeof *seed);
  if (!seed) return heed_fail_memory(error, "target", width * sizeof *seed);
  heed_target_seed(run, b, row, width, seed, score);
  for (uint32_t i = 0; i < width; i++) *score += seed[i] == 0.0 ? 0.0 : seed[i] * (double)row[i];
  heed_free(run->context, seed);
  return HEED_OK;
}

heed_status heed_target_score(const heed_explain_run *run, const heed_pass *pass, uint32_t b,
                              double *score, heed_error *error) {
  const heed_target *target = &run->target;
  const heed_value value = heed_target_value(run, pass);
  const uint32_t width = width_of(pass, value);
  if (target->kind == HEED_TARGET_STATE) {
    float one;
    const uint64_t at = ((uint64_t)b * pass->tokens + target->token) * width + target->channel;
    HEED_TRY(heed_session_read(pass->session, value, at, 1, &one, error));
    *score = (double)one;
    return HEED_OK;
  }
  float *row = heed_alloc_raw(run->context, width, sizeof *row);
  heed_status status = row ? heed_pass_read(pass, value, b, row, error)
                           : heed_fail_memory(error, "target", width * sizeof *row);
  if (status == HEED_OK) status = heed_target_row(run, b, row, width, score, error);
  heed_free(run->context, row);
  return status;
}

void heed_target_close(heed_explain_run *run) {
  heed_free(run->context, run->target.texts);
  heed_free(run->context, run->target.largest);
}
