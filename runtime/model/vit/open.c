/* Opening a vision transformer: config, checkpoint, every tensor found by its role and its shape
 * checked; no weights are read. */
#include "model/vit/vit.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/tensor.h"
#include "model/config/facts.h"
#include "model/files/other_models.h"
#include "model/vit/builder.h"
#include "model/vit/int8_weights.h"

/* Resolves the roles of the model (row 0) or of layer row - 1. */
static heed_status resolve(heed_vit *model, uint32_t row, heed_error *error) {
  heed_vit_dimensions dims = model->dims;
  if (row) heed_vit_layer_dimensions(&model->dims, row - 1, &dims);
  for (int i = 0; i < HEED_ROLE_COUNT; i++) {
    const heed_role role = (heed_role)i;
    const heed_shape shape = heed_role_shape(role, &dims);
    const bool second = role == HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT ||
                        role == HEED_ROLE_DISTILLATION_CLASSIFIER_BIAS;
    if (heed_role_layered(role) != (row > 0)) continue;
    if (second && !(model->dims.distillation && model->dims.classes)) continue;
    HEED_TRY(heed_checkpoint_role(&model->roles, role, row ? row - 1 : 0, &shape,
                                  &model->refs[row][role], error));
  }
  return HEED_OK;
}

static heed_status name_classes(heed_vit *model, heed_error *error) {
  const uint32_t classes = model->dims.classes;
  if (!classes) return HEED_OK;
  model->class_names = heed_alloc(model->base.context, classes, sizeof *model->class_names);
  if (!model->class_names)
    return heed_fail_memory(error, "model: class names", classes * sizeof *model->class_names);
  for (uint32_t i = 0; i < classes; i++)
    snprintf(model->class_names[i], sizeof model->class_names[i], "class %u", i);
  return HEED_OK;
}

static const char *positions_text(const heed_vit *model) {
  const heed_position_rule *rule = model->dims.position_rows ? model->roles.rules.positions
                                   : model->dims.bias_rows   ? model->roles.rules.bias_positions
                                                             : NULL;
  if (rule) return rule->text;
  if (model->roles.rules.made_positions == HEED_POSITIONS_SINCOS)
    return "computed: sine and cosine of columns and rows";
  if (model->roles.rules.made_positions == HEED_POSITIONS_SINES)
    return "computed: sine and cosine of the tokens' numbers";
  if (model->dims.stages) return "relative in windows";
  return model->dims.position_rows ? "not resized" : "none";
}

/* What the queries and keys are rotated by, after what else the line says. */
static void describe_rotation(const heed_vit *model, char *text, size_t size) {
  const heed_rotation *rule = &model->roles.rules.rotation;
  const bool own = heed_vit_ref(model, HEED_ROLE_FREQUENCIES)->tensor != NULL;
  const char *by = own                                   ? "learned frequencies"
                   : rule->kind == HEED_ROTATION_CENTRED ? "patch centres"
                   : rule->kind == HEED_ROTATION_VIDEO   ? "time, rows and columns"
                   : rule->columns_first                 ? "columns and rows"
                                                         : "rows and columns";
  int at = rule->kind
               ? snprintf(text, size, ", rotary by %s%s", by, rule->in_turn ? " in turn" : "")
               : 0;
  text[at] = '\0';
  if (!rule->kind || own) return;
  at += snprintf(text + at, size - (size_t)at, ", base %g", (double)rule->base);
  if (model->dims.reference)
    snprintf(text + at, size - (size_t)at, ", grid %u", model->dims.reference);
}

/* CLS, distillation token and registers, of which the first may be CLS tokens, in the order of
 * heed_vit_embed. */
static heed_status name_tokens(heed_vit *model, heed_error *error) {
  enum { SIZE = 24 };
  const heed_vit_dimensions *dims = &model->dims;
  const uint32_t registers_from = dims->prefix_tokens - dims->registers;
  const size_t entry = sizeof *model->token_names + SIZE;
  model->token_names = heed_alloc(model->base.context, dims->prefix_tokens + 1u, entry);
  if (!model->token_names)
    return heed_fail_memory(error, "model: token names", dims->prefix_tokens * entry);
  char *text = (char *)(model->token_names + dims->prefix_tokens);
  for (uint32_t i = 0; i < dims->prefix_tokens; i++, text += SIZE) {
    model->token_names[i] = text;
    const uint32_t number = i - registers_from, summaries = model->config->summaries;
    if (i >= registers_from && number >= summaries)
      snprintf(text, SIZE, "register %u", number - summaries + 1);
    else if (i >= registers_from && number)
      snprintf(text, SIZE, "CLS %u", number + 1);
    else
      snprintf(text, SIZE, "%s", i == 0 ? "CLS" : "distillation");
  }
  return HEED_OK;
}

/* Windows, and the layers without. */
static void describe_windows(const heed_vit *model, char *text, size_t size) {
  const bool shifted = model->roles.rules.staged;
  const uint32_t layers = model->dims.layers, side = model->dims.stages && !shifted
                                                         ? model->dims.stage[0].window
                                                         : model->dims.window;
  const char *before = ", all of it in layers ";
  int at = side ? snprintf(text, size, ", windows of %u x %u patches", side, side) : 0;
  text[at] = '\0';
  for (uint32_t i = 0; shifted && i < model->dims.stages && (size_t)at + 20 < size; i++)
    at += snprintf(text + at, size - (size_t)at, "%s%u", i ? " " : ", shifted windows by stages ",
                   model->dims.stage[i].window);
  for (uint32_t i = 0; side && i < layers && (size_t)at + 40 < size; i++) {
    if (heed_vit_has_windows(model, i)) continue;
    at += snprintf(text + at, size - (size_t)at, "%s%u", before, i);
    before = ", ";
  }
}

/* The rules in one line. */
static void describe_rules(heed_vit *model) {
  static const char *const pools[] = {"classifier on CLS",
                                      "classifier on the mean of the patches",
                                      "classifier on CLS and the mean of the patches",
                                      "classifier on the pooling attention",
                                      "text on its end",
                                      "text on the last token",
                                      "classifier on the mean of the tokens"};
  const heed_vit_dimensions *dims = &model->dims;
  const heed_rules *rules = &model->roles.rules;
  const bool bare = model->roles.family->names == &heed_names_own &&
                    !heed_vit_ref(model, HEED_ROLE_PATCH_BIAS)->tensor;
  char rotary[80], windows[120];
  describe_rotation(model, rotary, sizeof rotary);
  describe_windows(model, windows, sizeof windows);
  snprintf(model->rules, sizeof model->rules, "%s%s%s%s%s%s, %s, epsilon %g, positions %s%s%s",
           pools[rules->pool], rules->causal ? ", causal" : "",
           bare ? ", patches without a bias" : "",
           rules->norm_after ? ", a norm after each part" : "", rules->rms ? ", RMS norms" : "",
           rules->scale_by_width ? ", scores divided by the root of the width" : "",
           heed_config_activation(dims->activation), (double)dims->epsilon, positions_text(model),
           rotary, windows);
}

static void assume(heed_vit *model, const char *what, const char *of) {
  const size_t at = strlen(model->assumed);
  snprintf(model->assumed + at, sizeof model->assumed - at, "%s%s%s", at ? "; " : "", what, of);
}

/* One of the facts that nothing tells, as a hint would say it. */
static void guess_fact(char text[200], const heed_config_value *said, const char *key,
                       const char *value) {
  const size_t at = strlen(text);
  if (!said->key) snprintf(text + at, 200 - at, "%s%s=%s", at ? ", " : "", key, value);
}

/* The facts that the training's arguments told, as hints would say them, and those that are not
 * so. */
static void describe_training(heed_vit *model) {
  const heed_vit_dimensions *dims = &model->dims;
  const struct {
    heed_training_fact fact;
    const char *key;
    uint32_t value;
  } facts[] = {{HEED_TRAINING_HEADS, "heads", dims->heads},
               {HEED_TRAINING_HEAD_WIDTH, "heads", dims->heads},
               {HEED_TRAINING_ARCHITECTURE, "heads", dims->heads},
               {HEED_TRAINING_PATCH, "patch_size", dims->patch},
               {HEED_TRAINING_CHANNELS, "channels", dims->channels},
               {HEED_TRAINING_IMAGE_SIZE, "image_size", dims->image_size},
               {HEED_TRAINING_CLASSES, "classes", dims->classes},
               {HEED_TRAINING_NORM_FIRST, "norm_first", 0},
               {HEED_TRAINING_ACTIVATION, "activation", 0},
               {HEED_TRAINING_POOL, "pool", 0}};
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
    const heed_training_hint *hint = &model->roles.training.of[facts[i].fact];
    const uint32_t bit = 1u << facts[i].fact;
    const bool is_name = facts[i].fact == HEED_TRAINING_ARCHITECTURE;
    char number[12], text[240];
    snprintf(number, sizeof number, "%u", facts[i].value);
    if (dims->hinted & bit)
      snprintf(text, sizeof text, "%s=%s (%.60s%s%.60s of the training)", facts[i].key,
               facts[i].value ? number : hint->text, hint->key, is_name ? " " : "",
               is_name ? hint->text : "");
    else if (dims->contradicted & bit)
      snprintf(text, sizeof text, "not %.60s=%.60s of the training: the weights have %s=%s",
               hint->key, hint->text, facts[i].key, number);
    else
      continue;
    assume(model, text, "");
  }
  for (int fact = 0; fact < HEED_TRAINING_FACTS; fact++) {
    char clash[320];
    heed_training_tell_clash(&model->roles.training.of[fact], clash, sizeof clash);
    if (*clash) assume(model, clash, ": neither is taken");
  }
}

/* One number for all channels of an image, or one for each, of 0 to 1. */
static bool take_colours(const heed_vit *model, heed_training_fact fact,
                         float to[HEED_MOST_CHANNELS]) {
  const uint32_t channels = model->dims.channels,
                 count =
                     heed_training_numbers(&model->roles.training.of[fact], to, HEED_MOST_CHANNELS);
  if (!count || (count != 1 && count != channels)) return false;
  for (uint32_t c = count; c < channels; c++) to[c] = to[0];
  for (uint32_t c = 0; c < channels; c++)
    if (!(to[c] <= 1.0f) || (fact == HEED_TRAINING_STD && !(to[c] > 0.0f))) return false;
  return true;
}

/* Whether the training's arguments have mean and std of images, and nothing else says them. */
static bool hints_colours(const heed_vit *model, float mean[HEED_MOST_CHANNELS],
                          float std[HEED_MOST_CHANNELS]) {
  return !heed_config_tells_preprocess(model->config) &&
         take_colours(model, HEED_TRAINING_MEAN, mean) &&
         take_colours(model, HEED_TRAINING_STD, std);
}

/* Where nothing says how images are prepared: what data the training says that it was on. */
static void describe_dataset(heed_vit *model) {
  const heed_training_hint *data = &model->roles.training.of[HEED_TRAINING_DATASET];
  char text[240];
  if (!data->key || !*data->text) return;
  snprintf(text, sizeof text, "trained on %.80s (%.60s), whose mean and std no file has",
           data->text, data->key);
  assume(model, text, "");
}

/* Whether query, key and value are one map of a module whose own code nobody knows. */
static bool is_packed(const heed_vit *model) {
  const heed_checkpoint_tensor *query =
                                   heed_vit_layer_ref(model, 0, HEED_ROLE_QUERY_WEIGHT)->tensor,
                               *key = heed_vit_layer_ref(model, 0, HEED_ROLE_KEY_WEIGHT)->tensor;
  return query == key && !strstr(query->info->name, "in_proj_weight") &&
         model->roles.family != &heed_family_vit_pytorch;
}

/* What people who write a ViT or its classifier themselves do in more than one way. */
static void describe_own(heed_vit *model) {
  const heed_config *config = model->config;
  const heed_rules *rules = &model->roles.rules;
  const heed_vit_dimensions *dims = &model->dims;
  const heed_config_value hinted = {.key = "of the training"},
                          activation = {.key = config->activation_said ? "activation" : NULL};
#define SAID(fact, value) (dims->hinted >> (fact)&1 ? &hinted : (value))
  char text[200] = "", all[280];
  const bool own = model->roles.family->names == &heed_names_own;
  if (own) {
    guess_fact(text, SAID(HEED_TRAINING_NORM_FIRST, &config->norm_after), "norm",
               rules->norm_after ? "after" : "before");
    guess_fact(text, SAID(HEED_TRAINING_ACTIVATION, &activation), "activation",
               heed_config_activation(dims->activation));
  }
  if (own && dims->classes && model->roles.groups & HEED_GROUP(CLS))
    guess_fact(text, SAID(HEED_TRAINING_POOL, &config->pool), "pool",
               heed_pool_word((heed_pool)rules->pool));
  if (dims->hidden && model->roles.family != &heed_family_torchvision)
    guess_fact(text, &config->head_activation, "head_activation",
               heed_config_activation((heed_activation)rules->head_activation));
  if (rules->made_positions == HEED_POSITIONS_SINCOS)
    guess_fact(text, &config->made_positions, "positions", "sincos");
  if (own && is_packed(model)) guess_fact(text, &config->qkv_order, "qkv", "thirds");
  if (rules->scale_by_width) guess_fact(text, &config->scale_by_width, "scale", "width");
  if (dims->linear_patch && dims->channels > 1 && !rules->flat_patches)
    guess_fact(text, &config->channels_last, "pixels",
               rules->channels_last ? "channels_last" : "channels_first");
  snprintf(all, sizeof all, "%s (guesses; --hints, in JavaScript hints, says otherwise)", text);
#undef SAID
  if (*text) assume(model, all, "");
}

/* Labels of a classifier that no tensor is: it may be called otherwise than the library calls it.
 */
static void describe_lost_classifier(heed_vit *model) {
  const heed_checkpoint *checkpoint = model->base.checkpoint;
  char text[200];
  int at =
      snprintf(text, sizeof text,
               "no classes: %u labels and no classifier; not used: ", model->config->label_count);
  uint32_t unused = 0;
  for (uint32_t i = 0; i < heed_checkpoint_count(checkpoint); i++) {
    const heed_checkpoint_tensor *tensor = heed_checkpoint_get(checkpoint, i);
    if (tensor->used || unused++ >= 2) continue;
    at += snprintf(text + at, sizeof text - (size_t)at, "%s%.50s", unused > 1 ? ", " : "",
                   tensor->info->name);
  }
  if (unused > 2) snprintf(text + at, sizeof text - (size_t)at, " and %u more", unused - 2);
  if (unused == 0) snprintf(text + at, sizeof text - (size_t)at, "no tensor");
  assume(model, text, "");
}

/* Defaults of preprocessing: those of the family or, in timm's names, of who trained it. */
static const char *processor_of(const heed_vit *model) {
  const heed_family *family = model->roles.family;
  const char *original = family->fallback ? heed_roles_maker(&model->roles) : NULL;
  return original ? original : family->processor;
}

static void assume_preprocess(heed_vit *model) {
  const heed_training *training = &model->roles.training;
  const heed_training_hint *mean = &training->of[HEED_TRAINING_MEAN],
                           *std = &training->of[HEED_TRAINING_STD];
  const char *processor = processor_of(model);
  float numbers[2][HEED_MOST_CHANNELS];
  char text[240];
  if (hints_colours(model, numbers[0], numbers[1])) {
    snprintf(text, sizeof text, "%s, mean and std by %.60s and %.60s of the training", processor,
             mean->key, std->key);
    assume(model, "preprocessing of ", text);
    return;
  }
  if (training->maker && strcmp(processor, training->maker) == 0) {
    snprintf(text, sizeof text, "%s, by %.60s of the training", processor, training->maker_key);
    processor = text;
  }
  assume(model, "preprocessing of ", processor);
  if (mean->key || std->key) {
    snprintf(text, sizeof text,
             "not %.60s of the training (expected mean and std of 0 to 1, for %u channels)",
             mean->key ? mean->key : std->key, model->dims.channels);
    assume(model, text, "");
  }
  describe_dataset(model);
}

/* What of the sizes, rules and preprocessing no file tells. Without preprocessing most images still
 * give an answer, so the log leaves that out: families have their own, and many files tell none. */
static void describe_assumptions(heed_vit *model, bool text) {
  const heed_vit_dimensions *dims = &model->dims;
  const heed_config *config = model->config;
  char guess[160] = "";
  if (dims->heads_guessed) {
    snprintf(guess, sizeof guess,
             dims->heads * 64 == dims->width ? "%u heads (a guess: width %u / 64)"
                                             : "%u heads (a guess: width %u)",
             dims->heads, dims->width);
    assume(model, guess, "");
  }
  if (dims->image_guessed) {
    snprintf(guess, sizeof guess, "image_size=%u (a guess)", dims->image_size);
    assume(model, guess, "");
  }
  if (dims->activation_guessed) {
    snprintf(guess, sizeof guess, "%s (a guess: %u layers of width %u)",
             dims->activation == HEED_ACTIVATION_GELU         ? "exact GELU, as in LAION's files"
             : dims->activation == HEED_ACTIVATION_GELU_QUICK ? "quick GELU, as in OpenAI's files"
                                                              : "SiLU, as there is a gate",
             dims->layers, dims->width);
    assume(model, guess, "");
  }
  if (dims->frames_guessed) {
    snprintf(guess, sizeof guess, "%u frames (a guess)", dims->frames);
    assume(model, guess, "");
  }
  if (model->roles.assumption) assume(model, model->roles.assumption, "");
  describe_own(model);
  describe_training(model);
  if (config->json && config->family != model->roles.family)
    assume(model, "the rules of the tensors' names, not of model_type ",
           *config->model_type ? config->model_type : "vit");
  if (*model->assumed)
    heed_log(model->base.context, HEED_LOG_WARNING, "%s: %s; assumed: %s",
             heed_checkpoint_name(model->base.checkpoint),
             config->json ? "config.json does not fit" : "no config.json", model->assumed);
  if (!text && !heed_config_tells_preprocess(model->config)) assume_preprocess(model);
  if (!text) {
    heed_config_left_out(config, processor_of(model), guess, sizeof guess);
    if (*guess) assume(model, guess, "");
  }
  if (!text && !dims->classes && config->label_count) describe_lost_classifier(model);
  if (dims->classes && model->config->problem_type)
    assume(model, "a softmax over the classes, not ", model->config->problem_type);
  else if (dims->classes == 1)
    assume(model, "a softmax over one class: 1", "");
}

/* Of a model without a projection what the pooling attention gives. */
static uint32_t embedding_size(const heed_vit *model) {
  const heed_vit_dimensions *dims = &model->dims;
  const bool pooled = dims->pool_heads && !dims->classes;
  return dims->projection ? dims->projection : pooled ? dims->width : 0;
}

/* Whether what a model answers is a mean over patches, or an attention to them alone. */
static bool gathers_patches(const heed_vit *model) {
  const heed_rules *rules = &model->roles.rules;
  const bool pools = model->dims.classes || rules->pools || rules->pooled_without_classes,
             mean = rules->pool == HEED_POOL_PATCHES || rules->pool == HEED_POOL_CLS_AND_PATCHES;
  return (pools && mean) ||
         (model->dims.pool_heads && !rules->pool_heads && !rules->probe_reads_all);
}

static void fill_info(heed_vit *model) {
  const heed_vit_dimensions *dims = &model->dims;
  heed_checkpoint_totals totals;
  heed_checkpoint_total(model->base.checkpoint, &totals);
  model->base.info =
      (heed_model_info){.kind = HEED_MODEL_VISION,
                        .family = model->roles.family->name,
                        .image_size = dims->image_size,
                        .channels = dims->channels,
                        .patch = dims->patch,
                        .frames = dims->frames,
                        .stages = dims->stages,
                        .tubelet = dims->tubelet,
                        .width = dims->width,
                        .layers = dims->layers,
                        .heads = dims->heads,
                        .attention_width = dims->attention_width,
                        .mlp_width = dims->mlp_width,
                        .prefix_tokens = dims->prefix_tokens,
                        .token_names = model->token_names,
                        .pool_heads = dims->pool_heads,
                        .classes = dims->classes,
                        .projection = embedding_size(model),
                        .positions = positions_text(model),
                        .family_assumed = model->roles.assumption != NULL,
                        .heads_guessed = dims->heads_guessed,
                        .rules = model->rules,
                        .assumed = *model->assumed ? model->assumed : NULL,
                        .fewest_patches = !dims->prefix_tokens || gathers_patches(model),
                        .epsilon = dims->epsilon,
                        .activation = dims->activation,
                        .parameters = totals.elements,
                        .weight_bytes = totals.bytes,
                        .tensors_used = totals.used,
                        .tensors_unused = totals.unused};
}

/* A number that stands beside the towers. */
static heed_status read_scale(const heed_vit *model, const char *name, float *to, bool *there,
                              heed_error *error) {
  heed_checkpoint_tensor *tensor = heed_roles_named(&model->roles, name);
  const heed_shape one = HEED_SHAPE(1);
  *there = tensor != NULL;
  if (!tensor) return HEED_OK;
  HEED_TRY(
      heed_checkpoint_use(tensor, tensor->info->count == 1 ? &tensor->info->shape : &one, error));
  tensor->used = false; /* what is counted are the tower's */
  return heed_checkpoint_read(tensor, 0, 1, to, error);
}

static heed_status fill_text_info(heed_vit *model, heed_error *error) {
  heed_model_info *info = &model->base.info;
  const heed_vit_dimensions *dims = &model->dims;
  const heed_config_value *end = &model->config->end;
  const bool ends = model->roles.rules.pool == HEED_POOL_END && end->key;
  if (ends && end->value != 2 && end->value >= dims->vocabulary)
    return heed_fail(error, HEED_INVALID_FILE,
                     "config.json: %s%s is out of range (found %u, expected less than %u)",
                     end->key, end->by_default ? " (by default)" : "", end->value,
                     dims->vocabulary);
  info->kind = HEED_MODEL_TEXT;
  info->source_vocabulary = dims->vocabulary;
  info->max_length = dims->position_rows;
  /* Files of before 2023 say 2 and mean the largest. */
  info->end = ends && end->value != 2 ? (int32_t)end->value : -1;
  info->text_padded = model->roles.rules.pool == HEED_POOL_LAST;
  info->causal = model->roles.rules.causal;
  HEED_TRY(read_scale(model, "/logit_scale", &info->logit_scale, &info->scaled, error));
  HEED_TRY(read_scale(model, "/logit_bias", &info->logit_bias, &info->biased, error));
  if (!info->scaled) assume(model, "logit_scale 0", "");
  if (model->roles.family->rules.pool == HEED_POOL_LAST && !info->biased)
    assume(model, "a softmax over texts: no logit_bias", "");
  if (*model->assumed) info->assumed = model->assumed;
  return HEED_OK;
}

/* An order of rows that a user says, of maps that are apart. */
static heed_status check_qkv(const heed_vit *model, heed_error *error) {
  const heed_config_value *said = &model->config->qkv_order;
  const heed_checkpoint_tensor *query =
                                   heed_vit_layer_ref(model, 0, HEED_ROLE_QUERY_WEIGHT)->tensor,
                               *key = heed_vit_layer_ref(model, 0, HEED_ROLE_KEY_WEIGHT)->tensor;
  if (!said->key || query == key) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: qkv does not fit the weights (found %s, expected it left out: query and "
                   "key are tensors apart)",
                   heed_config_where(said), heed_qkv_words[said->value]);
}

/* Every tensor by its role. */
static heed_status find_tensors(heed_vit *model, heed_error *error) {
  HEED_TRY(heed_roles_detect(model->base.checkpoint, model->config, &model->roles, error));
  HEED_TRY(heed_roles_dimensions(&model->roles, model->config, &model->dims, error));
  if (model->dims.linear_patch && model->roles.rules.channels_last)
    model->roles.patch_channels = model->dims.channels;
  if (model->roles.rules.qkv_order)
    model->roles.qkv_block = model->roles.rules.qkv_order == HEED_QKV_HEADS
                                 ? model->dims.attention_width / model->dims.heads
                                 : 1;
  const uint32_t rows = 1 + model->dims.layers;
  model->refs = heed_alloc(model->base.context, rows, sizeof *model->refs);
  if (!model->refs) return heed_fail_memory(error, "model: layers", rows * sizeof *model->refs);
  for (uint32_t row = 0; row < rows; row++) HEED_TRY(resolve(model, row, error));
  HEED_TRY(check_qkv(model, error));
  return heed_roles_check_unused(&model->roles, error);
}

static heed_status open_vit(heed_model *base, const heed_model_desc *desc, heed_error *error) {
  heed_vit *model = (heed_vit *)base;
  HEED_TRY(heed_config_open(model->base.context, desc->files, desc->file_count, desc->tower,
                            &model->config, error));
  HEED_TRY(heed_checkpoint_open(model->base.context, desc->files, desc->file_count,
                                &model->base.checkpoint, error));
  HEED_TRY(heed_config_check_int8(model->config, model->base.checkpoint, error));
  const bool text = heed_is_text(desc->tower);
  if (!text) HEED_TRY(heed_refuse_other_models(model->base.checkpoint, false, error));
  const heed_status status = find_tensors(model, error);
  const heed_rules *rules = &model->roles.rules;
  const bool other = !text && !(model->roles.family && (rules->staged || rules->neck));
  if (other && (status == HEED_UNSUPPORTED || status == HEED_INVALID_FILE))
    HEED_TRY(heed_refuse_other_models(model->base.checkpoint, true, error));
  HEED_TRY(status);
  HEED_TRY(name_classes(model, error));
  HEED_TRY(name_tokens(model, error));
  describe_rules(model);
  describe_assumptions(model, text);
  fill_info(model);
  if (text) return fill_text_info(model, error);
  heed_error why;
  heed_family prepared = *model->roles.family;
  prepared.processor = processor_of(model);
  (void)heed_model_keep_preprocess(
      base,
      heed_config_preprocess(model->config, &prepared, model->dims.image_size, model->dims.channels,
                             &base->preprocess, &why),
      &why);
  float mean[HEED_MOST_CHANNELS], std[HEED_MOST_CHANNELS];
  if (hints_colours(model, mean, std)) {
    memcpy(base->preprocess.mean, mean, model->dims.channels * sizeof *mean);
    memcpy(base->preprocess.std, std, model->dims.channels * sizeof *std);
  }
  return HEED_OK;
}

static void close_vit(heed_model *base) {
  heed_vit *model = (heed_vit *)base;
  heed_free(base->context, model->class_names);
  heed_free(base->context, model->token_names);
  heed_free(base->context, model->refs);
  heed_config_destroy(model->config);
}

static const char *label_of(const heed_model *base, uint32_t index) {
  const heed_vit *model = (const heed_vit *)base;
  const char *label = heed_config_label(model->config, index);
  return label || index >= model->dims.classes ? label : model->class_names[index];
}

/* Of layers in stages: each merges 2 x 2 patches of the one before. */
static heed_status tell_layer(const heed_model *base, uint32_t layer, heed_layer_info *info,
                              heed_error *error) {
  const heed_vit *model = (const heed_vit *)base;
  const heed_vit_dimensions *dims = &model->dims;
  if (!dims->stages) return HEED_OK;
  const uint32_t number = heed_vit_stage_of(dims, layer);
  for (uint32_t i = 0; i < number; i++) {
    info->rows = (info->rows + 1) / 2;
    info->columns = (info->columns + 1) / 2;
    info->patch *= 2;
  }
  heed_vit_windows windows;
  HEED_TRY(heed_vit_find_windows(model, layer, info->rows, info->columns, &windows, error));
  info->width = dims->stage[number].width;
  info->heads = dims->stage[number].heads;
  info->window = windows.side;
  info->shift = windows.shift;
  info->down = windows.down;
  info->across = windows.across;
  return HEED_OK;
}

const heed_model_type heed_vit_type = {sizeof(heed_vit), open_vit, close_vit,
                                       heed_vit_build,   label_of, tell_layer};

const char *heed_model_absent(const heed_model *model, uint32_t index) {
  const heed_vit *vit = model->type == &heed_vit_type ? (const heed_vit *)model : NULL;
  for (int role = 0; vit && role < HEED_ROLE_COUNT; role++)
    if (heed_roles_spell(&vit->roles, (heed_role)role) &&
        !heed_roles_have(&vit->roles, (heed_role)role, 0) && index-- == 0)
      return heed_role_pattern((heed_role)role);
  return NULL;
}
