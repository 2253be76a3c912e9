/* open_clip_config.json: the towers of open_clip, or one of timm behind a projection. */
#include <string.h>

#include "base/status.h"
#include "model/config/keys.h"
#include "model/config/reader.h"

/* Options of open_clip's towers that change them. Of texts the first two are read. */
static const char options[] = "act_kwargs\0"
                              "norm_kwargs\0"
                              "no_ln_pre\0"
                              "attentional_pool\0"
                              "scaled_cosine_attn\0"
                              "scale_heads\0"
                              "scale_attn_inner\0"
                              "scale_attn\0"
                              "scale_fc\0"
                              "hf_model_name\0"
                              "embed_cls\0";

/* A vision tower of timm, "visual.trunk.", and the map behind it. */
static heed_status read_trunk(heed_config *config, const heed_fields *model,
                              const heed_fields *vision) {
  const bool absent = !heed_json_get(vision->json, vision->object, "timm_proj");
  const char *map = absent ? "linear" : "";
  HEED_TRY(heed_config_architecture(config, vision, "timm_model_name"));
  HEED_TRY(heed_config_pool(config, vision, "timm_pool"));
  HEED_TRY(heed_read_square(vision, "image_size", &config->image_size));
  HEED_TRY(heed_field_string(vision, "timm_proj", &map));
  config->rules.classifier_embeds = !*map;
  if (!*map) config->rules.needs |= HEED_GROUP(PROJECTION_BIAS);
  if (!*map || strcmp(map, "linear") == 0) {
    config->rules.needs |= HEED_GROUP(PROJECTION);
    return heed_read_size(model, "embed_dim", 1, &config->projection);
  }
  if (strcmp(map, "none") == 0) return HEED_OK;
  return heed_field_refuse(vision, "timm_proj", map, "linear, none or null");
}

/* What PyTorch's GELU and norms take beside their input. */
static heed_status read_arguments(heed_config *config, const heed_fields *text) {
  const char *approximate = "none";
  heed_fields gelu, norm;
  HEED_TRY(heed_field_object(text, "act_kwargs", &gelu));
  HEED_TRY(heed_field_object(text, "norm_kwargs", &norm));
  HEED_TRY(heed_field_string(&gelu, "approximate", &approximate));
  if (strcmp(approximate, "tanh") == 0)
    config->rules.activation = HEED_ACTIVATION_GELU_TANH;
  else if (strcmp(approximate, "none") != 0)
    return heed_field_refuse(&gelu, "approximate", approximate, "none or tanh");
  return heed_field_above_zero(&norm, "eps", &config->rules.epsilon);
}

/* text_cfg */
static heed_status read_open_clip_text(heed_config *config, const heed_fields *text) {
  const char *pool = "argmax";
  bool open = false;
  config->heads = (heed_config_value){8, "heads", true};
  HEED_TRY(heed_read_size(text, "heads", 1, &config->heads));
  HEED_TRY(heed_read_size(text, "context_length", 1, &config->positions));
  HEED_TRY(heed_read_size(text, "vocab_size", 1, &config->vocabulary));
  HEED_TRY(heed_field_bool(text, "no_causal_mask", &open));
  HEED_TRY(read_arguments(config, text));
  HEED_TRY(heed_field_string(text, "pool_type", &pool));
  config->rules.causal = !open;
  config->pool = (heed_config_value){HEED_POOL_END, "pool_type", false};
  if (strcmp(pool, "last") == 0) config->pool.value = HEED_POOL_LAST;
  if (strcmp(pool, "argmax") == 0 || strcmp(pool, "last") == 0) return HEED_OK;
  return heed_field_refuse(text, "pool_type", pool, "argmax or last");
}

heed_status heed_config_open_clip(heed_config *config, const heed_fields *fields) {
  const char *name = heed_is_text(config->tower) ? "text_cfg" : "vision_cfg";
  heed_fields model, tower;
  const char *pool = "tok";
  bool quick = false;
  uint32_t head_width = 64;
  HEED_TRY(heed_field_object(fields, "model_cfg", &model));
  HEED_TRY(heed_field_object(&model, name, &tower));
  HEED_TRY(heed_config_refuse(
      &tower, name,
      options + (heed_is_text(config->tower) ? sizeof "act_kwargs\0norm_kwargs" : 0)));
  HEED_TRY(heed_config_check_keys(&model, HEED_KEYS_OPEN_CLIP_MODEL, NULL, "model_cfg"));
  HEED_TRY(heed_config_check_keys(
      &tower, heed_is_text(config->tower) ? HEED_KEYS_OPEN_CLIP_TEXT : HEED_KEYS_OPEN_CLIP_VISION,
      NULL, name));
  if (heed_field(&tower, "timm_model_name"))
    return heed_is_text(config->tower)
               ? heed_field_fail(&tower, "timm_model_name", heed_field(&tower, "timm_model_name"),
                                 "none in a text tower")
               : read_trunk(config, &model, &tower);
  config->family = heed_family_of_type("open_clip", config->tower);
  config->model_type = config->family->types;
  config->rules = config->family->rules;
  config->mlp_ratio = 4.0;
  HEED_TRY(heed_field_bool(&model, "quick_gelu", &quick));
  config->rules.activation = quick ? HEED_ACTIVATION_GELU_QUICK : HEED_ACTIVATION_GELU;
  config->activation_said = true; /* also where it leaves the key out */
  HEED_TRY(heed_read_size(&model, "embed_dim", 1, &config->projection));
  HEED_TRY(heed_read_size(&tower, "width", 1, &config->width));
  HEED_TRY(heed_read_size(&tower, "layers", 1, &config->layers));
  HEED_TRY(heed_config_mlp_multiple(config, &tower));
  if (heed_is_text(config->tower)) return read_open_clip_text(config, &tower);
  HEED_TRY(heed_field_string(&tower, "pool_type", &pool));
  if (strcmp(pool, "tok") != 0) return heed_field_refuse(&tower, "pool_type", pool, "tok");
  HEED_TRY(heed_read_square(&tower, "image_size", &config->image_size));
  HEED_TRY(heed_read_square(&tower, "patch_size", &config->patch));
  HEED_TRY(heed_field_size(&tower, "head_width", 1, &head_width));
  if (config->width.key && config->width.value % head_width)
    return heed_fail(fields->error, HEED_INVALID_FILE,
                     "%s: head_width does not divide width (found %u and %u)", fields->where,
                     head_width, config->width.value);
  if (config->width.key)
    config->heads = (heed_config_value){config->width.value / head_width, "head_width", false};
  return HEED_OK;
}
