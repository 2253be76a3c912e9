/* heed run --explain: what the score is made of and what moves it, by heed_explain. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "explained_methods.h"

const heed_named_tensor *run_explained_tensor(const run_explained *explained, const char *name) {
  const heed_named_tensor *tensor;
  for (uint32_t i = 0; (tensor = heed_explanation_get(explained->explanation, i)) != NULL; i++)
    if (strcmp(tensor->name, name) == 0) return tensor;
  return NULL;
}

/* The numbers of one; its axis of pictures is 1. */
static const float *find(const run_explained *explained, const char *name) {
  const heed_named_tensor *tensor = run_explained_tensor(explained, name);
  return tensor ? tensor->data : NULL;
}

static double sum_of(const float *numbers, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; numbers && i < count; i++) sum += (double)numbers[i];
  return sum;
}

static float largest_of(const float *numbers, size_t count) {
  float largest = 0.0f;
  for (size_t i = 0; i < count; i++)
    if (fabsf(numbers[i]) > largest) largest = fabsf(numbers[i]);
  return largest;
}

void run_explained_colour(float value, float rgb[3]) {
  static const float ends[2][3] = {{0.13f, 0.40f, 0.67f}, {0.70f, 0.09f, 0.17f}};
  const float *end = ends[value > 0.0f], share = fminf(fabsf(value), 1.0f);
  for (int c = 0; c < 3; c++) rgb[c] = isnan(value) ? NAN : 1.0f + share * (end[c] - 1.0f);
}

/* The score and the tensors of a method, whose keys are what stands after its name, or `alone`. */
static void json_tensors(json_out *json, const run_explained *explained, const char *method,
                         const char *alone) {
  const heed_named_tensor *tensor;
  const size_t length = strlen(method);
  if (find(explained, "score")) json_number(json, "score", (double)*find(explained, "score"));
  for (uint32_t i = 0; (tensor = heed_explanation_get(explained->explanation, i)) != NULL; i++) {
    const char *rest = tensor->name + length;
    if (strncmp(tensor->name, method, length) != 0 || (*rest && *rest != '.')) continue;
    const char *key = *rest ? rest + 1 : alone;
    if (tensor->shape.rank > 1)
      json_array(json, key, tensor->shape.dim + 1, tensor->shape.rank - 1, tensor->data);
    else
      json_number(json, key, (double)*(const float *)tensor->data);
  }
}

/* Of a table [L, H] the heads that are largest in size: "layer 3 head 1 +2.50, ...". */
static void name_largest(const run_explained *explained, const double *table, char *to,
                         size_t size) {
  enum { NAMED = 3 };
  const uint32_t count = explained->layers * explained->heads;
  uint32_t named[NAMED];
  size_t at = 0;
  to[0] = '\0';
  for (uint32_t n = 0; n < NAMED && n < count && at < size; n++) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
      bool before = false;
      for (uint32_t k = 0; k < n; k++) before = before || named[k] == i;
      if (!before && (best == UINT32_MAX || fabs(table[i]) > fabs(table[best]))) best = i;
    }
    named[n] = best;
    at += (size_t)snprintf(to + at, size - at, "%slayer %u head %u %+.3g", n ? ", " : "",
                           best / explained->heads, best % explained->heads, table[best]);
  }
}

/* --------------------------------------------------------------------------------------- ledger */

static void panels_of_heads(const run_explained *explained, uint32_t *rows, uint32_t *columns) {
  *rows = explained->layers;
  *columns = explained->heads;
}

/* The largest term of a patch. */
static float ledger_end(const run_explained *explained) {
  const float *heads = find(explained, "ledger.heads");
  const size_t tokens = explained->prefix + explained->patches;
  float end = 0.0f;
  for (uint32_t i = 0; i < explained->layers * explained->heads; i++)
    end = fmaxf(end, largest_of(heads + i * tokens + explained->prefix, explained->patches));
  return end;
}

static void json_ledger(json_out *json, const run_explained *explained) {
  json_tensors(json, explained, "ledger", "");
}

static void colour_ledger(const run_explained *explained, float *rgb) {
  const float *heads = find(explained, "ledger.heads"), end = ledger_end(explained);
  for (uint32_t i = 0; i < explained->layers * explained->heads; i++) {
    heads += explained->prefix;
    for (uint32_t p = 0; p < explained->patches; p++, rgb += 3)
      run_explained_colour(end > 0.0f ? *heads++ / end : 0.0f * *heads++, rgb);
  }
}

static void words_of_ledger(const run_explained *explained, const char *query,
                            char title[RUN_EXPLAINED_TITLE_SIZE],
                            char caption[RUN_EXPLAINED_CAPTION_SIZE]) {
  const uint32_t count = explained->layers * explained->heads,
                 tokens = explained->prefix + explained->patches;
  const float *heads = find(explained, "ledger.heads");
  double *table = malloc(count * sizeof *table), all = 0.0;
  char largest[160] = "";
  (void)query;
  for (uint32_t i = 0; table && i < count; i++)
    all += table[i] = sum_of(heads + (size_t)i * tokens, tokens);
  if (table) name_largest(explained, table, largest, sizeof largest);
  free(table);
  snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "what each head adds to %s, by the patch that it read",
           explained->target);
  snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE,
           "Red adds, blue takes away, up to %.3g a patch. Score %.4g: heads %+.3g, MLPs %+.3g, "
           "embeddings %+.3g, biases %+.3g.\nLargest heads, with tokens that have no place: %s. A "
           "large term is no proof that the answer would change without it.",
           (double)ledger_end(explained), (double)*find(explained, "score"), all,
           sum_of(find(explained, "ledger.mlps"), explained->layers) +
               sum_of(find(explained, "ledger.pool"), 1),
           sum_of(find(explained, "ledger.embeddings"), tokens),
           sum_of(find(explained, "ledger.bias"), explained->layers + 1), largest);
}

const run_explained_method run_explained_ledger = {.name = "ledger",
                                                   .json = json_ledger,
                                                   .panels = panels_of_heads,
                                                   .colour = colour_ledger,
                                                   .words = words_of_ledger};

/* -------------------------------------------------------------------------------- lens and norms
 */

static void panels_of_levels(const run_explained *explained, uint32_t *rows, uint32_t *columns) {
  *rows = 1;
  *columns = explained->layers + 1;
}

/* The largest number of a patch of [L + 1, T], in size. */
static float level_end(const run_explained *explained, const char *name) {
  const float *levels = find(explained, name);
  const size_t tokens = explained->prefix + explained->patches;
  float end = 0.0f;
  for (uint32_t i = 0; i <= explained->layers; i++)
    end = fmaxf(end, largest_of(levels + i * tokens + explained->prefix, explained->patches));
  return end;
}

static void json_lens(json_out *json, const run_explained *explained) {
  json_tensors(json, explained, "lens", "levels");
}

static void json_norms(json_out *json, const run_explained *explained) {
  json_tensors(json, explained, "norms", "levels");
}

static void colour_lens(const run_explained *explained, float *rgb) {
  const float *levels = find(explained, "lens"), end = level_end(explained, "lens");
  for (uint32_t i = 0; i <= explained->layers; i++) {
    levels += explained->prefix;
    for (uint32_t p = 0; p < explained->patches; p++, rgb += 3)
      run_explained_colour(end > 0.0f ? *levels++ / end : 0.0f * *levels++, rgb);
  }
}

static void colour_norms(const run_explained *explained, float *rgb) {
  const float *levels = find(explained, "norms"), end = level_end(explained, "norms");
  for (uint32_t i = 0; i <= explained->layers; i++) {
    levels += explained->prefix;
    for (uint32_t p = 0; p < explained->patches; p++, rgb += 3, levels++) {
      uint8_t bytes[3];
      heed_colormap_rgb(HEED_COLORMAP_CIVIDIS, end > 0.0f ? (double)(*levels / end) : 0.0, bytes);
      for (int c = 0; c < 3; c++) rgb[c] = isnan(*levels) ? NAN : (float)bytes[c] / 255.0f;
    }
  }
}

static void words_of_lens(const run_explained *explained, const char *query,
                          char title[RUN_EXPLAINED_TITLE_SIZE],
                          char caption[RUN_EXPLAINED_CAPTION_SIZE]) {
  (void)query;
  snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "%s by one patch alone, level by level",
           explained->target);
  snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE,
           "What the head of the model says of each patch's state: red above 0, blue below, up to "
           "%.3g. Level 0: the embeddings; then after each layer. The head was trained on the last "
           "one, so that early levels say little.",
           (double)level_end(explained, "lens"));
}

static void words_of_norms(const run_explained *explained, const char *query,
                           char title[RUN_EXPLAINED_TITLE_SIZE],
                           char caption[RUN_EXPLAINED_CAPTION_SIZE]) {
  (void)query;
  snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "lengths of the patches' states, level by level");
  snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE,
           "From 0 (dark) to %.3g (bright), before any norm. Level 0: the embeddings; then after "
           "each layer. A few patches far above all others hold no picture of their place.",
           (double)level_end(explained, "norms"));
}

const run_explained_method run_explained_lens = {.name = "lens",
                                                 .json = json_lens,
                                                 .panels = panels_of_levels,
                                                 .colour = colour_lens,
                                                 .words = words_of_lens,
                                                 .levels = true};
const run_explained_method run_explained_norms = {.name = "norms",
                                                  .json = json_norms,
                                                  .panels = panels_of_levels,
                                                  .colour = colour_norms,
                                                  .words = words_of_norms,
                                                  .levels = true};

/* ---------------------------------------------------------------------------------------- patch */

static void json_patch(json_out *json, const run_explained *explained) {
  json_tensors(json, explained, "patch", "");
}

/* (patched - own) / (other - own) of a head; NaN where both scores are nearly the same. */
static double effect_of(const run_explained *explained, uint32_t i) {
  const float *scores = find(explained, "patch.scores");
  const double own = (double)scores[0], other = (double)scores[1], apart = other - own;
  if (fabs(apart) < 1e-6 * fmax(fabs(own), fabs(other))) return NAN;
  return ((double)find(explained, "patch.heads")[i] - own) / apart;
}

/* A head has no place: its panel has one colour. */
static void colour_patch(const run_explained *explained, float *rgb) {
  for (uint32_t i = 0; i < explained->layers * explained->heads; i++) {
    const float effect = (float)effect_of(explained, i);
    for (uint32_t p = 0; p < explained->patches; p++, rgb += 3) run_explained_colour(effect, rgb);
  }
}

static void words_of_patch(const run_explained *explained, const char *query,
                           char title[RUN_EXPLAINED_TITLE_SIZE],
                           char caption[RUN_EXPLAINED_CAPTION_SIZE]) {
  const uint32_t count = explained->layers * explained->heads;
  const float *scores = find(explained, "patch.scores");
  double *table = malloc(count * sizeof *table);
  char largest[160] = "";
  (void)query;
  for (uint32_t i = 0; table && i < count; i++) table[i] = effect_of(explained, i);
  if (table) name_largest(explained, table, largest, sizeof largest);
  free(table);
  snprintf(title, RUN_EXPLAINED_TITLE_SIZE, "%s with one head's output of another picture",
           explained->target);
  snprintf(caption, RUN_EXPLAINED_CAPTION_SIZE,
           "White: the score stays at %.4g. Red: it becomes that of the other picture, %.4g. Blue: "
           "it goes the other way. Largest effects, as a share of the way: %s. Other heads may "
           "carry the same.",
           (double)scores[0], (double)scores[1], largest);
}

const run_explained_method run_explained_patch = {.name = "patch",
                                                  .json = json_patch,
                                                  .panels = panels_of_heads,
                                                  .colour = colour_patch,
                                                  .words = words_of_patch};

/* -------------------------------------------------------------------------------------- the run */

static void name_target(const cli_pipeline *pipeline, const run_options *options,
                        const run_result *result, char to[160]) {
  uint32_t index;
  double probability;
  if (options->target) {
    snprintf(to, 160, "the score %.100s", options->target);
  } else if (result->logits && pipeline->info.classes) {
    run_top(pipeline, result->logits, 1, &index, &probability);
    snprintf(to, 160, "the logit of \"%.100s\"", heed_model_label(pipeline->model, index));
  } else {
    snprintf(to, 160, "the score");
  }
}

heed_status run_explain_score(cli_state *cli, const cli_pipeline *pipeline,
                              const run_options *options, const run_result *result,
                              const char *methods, run_explained *to) {
  const heed_shape shape = {
      4, {1, pipeline->info.channels, result->batch_height, result->batch_width}};
  heed_named_tensor inputs[2] = {{"pixel_values", HEED_F32, shape, result->pixels}};
  heed_explain_desc desc = {.struct_size = sizeof desc,
                            .model = pipeline->model,
                            .backend = options->choice.opened,
                            .methods = methods,
                            .target = options->target,
                            .inputs = inputs,
                            .input_count = 1,
                            .sites = "heads"};
  run_result other = {.picture = NULL};
  heed_status status = HEED_OK;
  name_target(pipeline, options, result, to->target);
  if (options->patch_from) {
    status = run_load_picture(cli, pipeline, options, options->patch_from, &other);
    inputs[desc.input_count++] = (heed_named_tensor){
        "source.pixel_values",
        HEED_F32,
        {4, {1, pipeline->info.channels, other.batch_height, other.batch_width}},
        other.pixels};
  }
  if (status == HEED_OK) status = heed_explain(cli->context, &desc, &to->explanation, &cli->error);
  heed_picture_free(cli->context, &other.image);
  free(other.pixels);
  return status;
}
