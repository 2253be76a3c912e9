/* Opening a vision transformer: config, checkpoint, every tensor found by its role and its shape
 * checked; no weights are read. */
#include "model/vit.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "base/tensor.h"

/* Weight and bias of a linear map; the bias is optional where its role is. */
static heed_status pair(heed_vit *model, heed_role weight, uint32_t layer, heed_shape weight_shape,
                        heed_shape bias_shape, heed_role_ref refs[2], heed_error *error) {
  HEED_TRY(heed_checkpoint_role(&model->roles, weight, layer, &weight_shape, &refs[0], error));
  return heed_checkpoint_role(&model->roles, (heed_role)(weight + 1), layer, &bias_shape, &refs[1],
                              error);
}

static heed_status resolve_layer(heed_vit *model, uint32_t i, heed_error *error) {
  const uint32_t width = model->dims.width, mlp = model->dims.mlp_width;
  const heed_shape vector = HEED_SHAPE(width), square = HEED_SHAPE(width, width),
                   head = HEED_SHAPE(width / model->dims.heads);
  heed_layer_refs *layer = &model->layers[i];
  HEED_TRY(pair(model, HEED_ROLE_NORM1_WEIGHT, i, vector, vector, layer->norm1, error));
  HEED_TRY(pair(model, HEED_ROLE_NORM2_WEIGHT, i, vector, vector, layer->norm2, error));
  layer->qkv[0].count = layer->qkv[1].count = 3;
  for (int part = 0; part < 3; part++) {
    heed_role_ref refs[2];
    HEED_TRY(pair(model, (heed_role)(HEED_ROLE_QUERY_WEIGHT + 2 * part), i, square, vector, refs,
                  error));
    layer->qkv[0].part[part] = refs[0];
    layer->qkv[1].part[part] = refs[1];
  }
  HEED_TRY(pair(model, HEED_ROLE_ATTENTION_OUTPUT_WEIGHT, i, square, vector,
                layer->attention_output, error));
  HEED_TRY(pair(model, HEED_ROLE_QUERY_NORM_WEIGHT, i, head, head, layer->query_norm, error));
  HEED_TRY(pair(model, HEED_ROLE_KEY_NORM_WEIGHT, i, head, head, layer->key_norm, error));
  HEED_TRY(pair(model, HEED_ROLE_GATE_WEIGHT, i, HEED_SHAPE(mlp, width), HEED_SHAPE(mlp),
                layer->gate, error));
  HEED_TRY(pair(model, HEED_ROLE_FC1_WEIGHT, i, HEED_SHAPE(mlp, width), HEED_SHAPE(mlp), layer->fc1,
                error));
  HEED_TRY(pair(model, HEED_ROLE_FC2_WEIGHT, i, HEED_SHAPE(width, mlp), vector, layer->fc2, error));
  HEED_TRY(heed_checkpoint_role(&model->roles, HEED_ROLE_LAYER_SCALE1, i, &vector, &layer->scale1,
                                error));
  return heed_checkpoint_role(&model->roles, HEED_ROLE_LAYER_SCALE2, i, &vector, &layer->scale2,
                              error);
}

static heed_status resolve_embeddings(heed_vit *model, heed_error *error) {
  const heed_vit_dimensions *dims = &model->dims;
  const heed_shape token = HEED_SHAPE(1, 1, dims->width),
                   positions = HEED_SHAPE(1, dims->position_rows, dims->width);
  const heed_shape registers = HEED_SHAPE(1, dims->registers ? dims->registers : 1, dims->width);
  HEED_TRY(heed_checkpoint_role(&model->roles, HEED_ROLE_CLS_TOKEN, 0, &token, &model->cls, error));
  if (dims->distillation)
    HEED_TRY(heed_checkpoint_role(&model->roles, HEED_ROLE_DISTILLATION_TOKEN, 0, &token,
                                  &model->distillation, error));
  if (dims->registers)
    HEED_TRY(heed_checkpoint_role(&model->roles, HEED_ROLE_REGISTER_TOKENS, 0, &registers,
                                  &model->registers, error));
  HEED_TRY(heed_checkpoint_role(&model->roles, HEED_ROLE_POSITION_EMBEDDINGS, 0, &positions,
                                &model->positions, error));
  HEED_TRY(pair(model, HEED_ROLE_PRE_NORM_WEIGHT, 0, HEED_SHAPE(dims->width),
                HEED_SHAPE(dims->width), model->pre_norm, error));
  return pair(model, HEED_ROLE_PATCH_WEIGHT, 0,
              HEED_SHAPE(dims->width, dims->channels, dims->patch, dims->patch),
              HEED_SHAPE(dims->width), model->patch, error);
}

static heed_status resolve_heads(heed_vit *model, heed_error *error) {
  const heed_vit_dimensions *dims = &model->dims;
  const heed_shape vector = HEED_SHAPE(dims->width),
                   embedding = HEED_SHAPE(dims->projection, dims->width);
  const uint32_t pooled = model->roles.rules.pool == HEED_POOL_CLS_AND_PATCHES ? 2 : 1;
  HEED_TRY(pair(model, HEED_ROLE_FINAL_NORM_WEIGHT, 0, vector, vector, model->final_norm, error));
  HEED_TRY(pair(model, HEED_ROLE_POOL_NORM_WEIGHT, 0, vector, vector, model->pool_norm, error));
  HEED_TRY(heed_checkpoint_role(&model->roles, HEED_ROLE_PROJECTION, 0, &embedding,
                                &model->projection, error));
  if (dims->classes) {
    const heed_shape classifier = HEED_SHAPE(dims->classes, dims->width * pooled),
                     bias = HEED_SHAPE(dims->classes);
    HEED_TRY(
        pair(model, HEED_ROLE_CLASSIFIER_WEIGHT, 0, classifier, bias, model->classifier, error));
    if (dims->distillation &&
        heed_roles_need(&model->roles, HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT))
      HEED_TRY(pair(model, HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT, 0, classifier, bias,
                    model->distillation_classifier, error));
  }
  if (heed_roles_need(&model->roles, HEED_ROLE_POOLER_WEIGHT))
    HEED_TRY(pair(model, HEED_ROLE_POOLER_WEIGHT, 0, HEED_SHAPE(dims->width, dims->width), vector,
                  model->pooler, error));
  return heed_roles_check_unused(&model->roles, error);
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

/* The rules in one line, and what of them and of the sizes no file tells. */
static void describe_rules(heed_vit *model) {
  static const char *const pools[] = {"CLS", "the mean of the patches",
                                      "CLS and the mean of the patches"};
  const heed_vit_dimensions *dims = &model->dims;
  const heed_rules *rules = &model->roles.rules;
  snprintf(model->rules, sizeof model->rules, "classifier on %s, %s, epsilon %g, positions %s",
           pools[rules->pool], heed_config_activation(dims->activation), (double)dims->epsilon,
           rules->positions->text);
  const char *assumption = model->roles.assumption;
  char heads[64] = "";
  if (dims->heads_guessed)
    snprintf(heads, sizeof heads, "%u heads (a guess: width %u / 64)", dims->heads, dims->width);
  snprintf(model->assumed, sizeof model->assumed, "%s%s%s", heads, *heads && assumption ? "; " : "",
           assumption ? assumption : "");
  if (*model->assumed)
    heed_log(model->base.context, HEED_LOG_WARNING, "%s: no config.json; assumed: %s",
             heed_checkpoint_name(model->base.checkpoint), model->assumed);
}

static void fill_info(heed_vit *model) {
  const heed_vit_dimensions *dims = &model->dims;
  heed_checkpoint_totals totals;
  heed_checkpoint_total(model->base.checkpoint, &totals);
  model->base.info = (heed_model_info){.kind = HEED_MODEL_VISION,
                                       .family = model->roles.family->name,
                                       .image_size = dims->image_size,
                                       .channels = dims->channels,
                                       .patch = dims->patch,
                                       .width = dims->width,
                                       .layers = dims->layers,
                                       .heads = dims->heads,
                                       .mlp_width = dims->mlp_width,
                                       .prefix_tokens = dims->prefix_tokens,
                                       .classes = dims->classes,
                                       .positions = model->roles.rules.positions->text,
                                       .family_assumed = model->roles.assumption != NULL,
                                       .heads_guessed = dims->heads_guessed,
                                       .rules = model->rules,
                                       .assumed = *model->assumed ? model->assumed : NULL,
                                       .epsilon = dims->epsilon,
                                       .activation = dims->activation,
                                       .parameters = totals.elements,
                                       .weight_bytes = totals.bytes,
                                       .tensors_used = totals.used,
                                       .tensors_unused = totals.unused};
}

static heed_status open_vit(heed_model *base, const heed_model_desc *desc, heed_error *error) {
  heed_vit *model = (heed_vit *)base;
  HEED_TRY(
      heed_config_open(model->base.context, desc->files, desc->file_count, &model->config, error));
  HEED_TRY(heed_checkpoint_open(model->base.context, desc->files, desc->file_count,
                                &model->base.checkpoint, error));
  HEED_TRY(heed_roles_detect(model->base.checkpoint, model->config, &model->roles, error));
  HEED_TRY(heed_roles_dimensions(&model->roles, model->config, &model->dims, error));
  model->layers = heed_alloc(model->base.context, model->dims.layers, sizeof *model->layers);
  if (!model->layers)
    return heed_fail_memory(error, "model: layers", model->dims.layers * sizeof *model->layers);
  HEED_TRY(resolve_embeddings(model, error));
  for (uint32_t i = 0; i < model->dims.layers; i++) HEED_TRY(resolve_layer(model, i, error));
  HEED_TRY(resolve_heads(model, error));
  HEED_TRY(name_classes(model, error));
  describe_rules(model);
  fill_info(model);
  return heed_config_preprocess(model->config, model->roles.family, model->dims.image_size,
                                &model->preprocess, error);
}

static void close_vit(heed_model *base) {
  heed_vit *model = (heed_vit *)base;
  heed_free(base->context, model->class_names);
  heed_free(base->context, model->layers);
  heed_config_destroy(model->config);
}

const heed_model_type heed_vit_type = {sizeof(heed_vit), open_vit, close_vit, heed_vit_build};

/* NULL of another kind. */
static const heed_vit *as_vit(const heed_model *model) {
  return model->type == &heed_vit_type ? (const heed_vit *)model : NULL;
}

void heed_model_preprocess(const heed_model *model, heed_preprocess *preprocess) {
  const heed_vit *vit = as_vit(model);
  *preprocess = vit ? vit->preprocess : (heed_preprocess){.resize = HEED_RESIZE_NONE};
}

const char *heed_model_label(const heed_model *model, uint32_t index) {
  const heed_vit *vit = as_vit(model);
  const char *label = vit ? heed_config_label(vit->config, index) : NULL;
  if (label) return label;
  return vit && index < vit->dims.classes ? vit->class_names[index] : "unknown class";
}

const char *heed_model_absent(const heed_model *model, uint32_t index) {
  const heed_vit *vit = as_vit(model);
  for (int role = 0; vit && role < HEED_ROLE_COUNT; role++)
    if (heed_roles_spell(&vit->roles, (heed_role)role) &&
        !heed_roles_have(&vit->roles, (heed_role)role, 0) && index-- == 0)
      return heed_role_pattern((heed_role)role);
  return NULL;
}
