/* config.json of timm's models on the Hub (hf_hub: save_config). */
#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "model/config/keys.h"
#include "model/config/reader.h"
#include "model/families/timm_architectures.h"

static heed_status read_label_list(heed_config *config, const heed_fields *fields,
                                   heed_json_value list) {
  const heed_json *json = fields->json;
  if (heed_json_kind_of(json, list) != HEED_JSON_ARRAY)
    return heed_field_fail(fields, "label_names", list, "an array");
  HEED_TRY(heed_config_labels(config, heed_json_count(json, list), fields->error));
  uint32_t index = 0;
  for (heed_json_value v = heed_json_first(json, list); v; v = heed_json_next(json, list, v))
    HEED_TRY(heed_config_take_label(config, fields, "label_names", v, index++));
  return HEED_OK;
}

/* [channels, height, width] */
static heed_status read_input_size(heed_config *config, const heed_fields *fields) {
  const heed_json *json = fields->json;
  const heed_json_value list = heed_field(fields, "input_size");
  uint64_t size[3] = {0, 0, 0};
  uint32_t count = 0;
  if (!list) return HEED_OK;
  for (heed_json_value v = heed_json_first(json, list); v && count < 3;
       v = heed_json_next(json, list, v))
    if (!heed_field_whole(fields, v, &size[count]) || size[count] == 0 ||
        size[count] > HEED_CONFIG_MAX)
      break;
    else
      count++;
  if (count != 3 || heed_json_count(json, list) != 3)
    return heed_field_fail(fields, "input_size", list, "three whole numbers");
  if (size[1] != size[2])
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: input_size is not supported (found %u x %u, expected a square)",
                     fields->where, (unsigned)size[1], (unsigned)size[2]);
  config->channels = (heed_config_value){(uint32_t)size[0], "input_size", false};
  config->image_size = (heed_config_value){(uint32_t)size[1], "input_size", false};
  return HEED_OK;
}

heed_status heed_config_mlp_multiple(heed_config *config, const heed_fields *fields) {
  const heed_json_value ratio = heed_field(fields, "mlp_ratio");
  if (ratio && (!heed_json_double(fields->json, ratio, &config->mlp_ratio) ||
                !(config->mlp_ratio > 0.0 && config->mlp_ratio < 1000.0)))
    return heed_field_fail(fields, "mlp_ratio", ratio, "a number above 0");
  return HEED_OK;
}

/* The place of a word in a list "one of a|b|c"; *index stays where the key is absent. */
static heed_status read_word(const heed_fields *fields, const char *key, const char *expected,
                             uint32_t *index) {
  const char *words = expected + strlen("one of ");
  const char *word = NULL;
  uint32_t place = 0;
  HEED_TRY(heed_field_string(fields, key, &word));
  if (!word) return HEED_OK;
  if (!heed_list_has(words, word)) return heed_field_refuse(fields, key, word, expected);
  while (strncmp(words, word, strcspn(words, "|")) != 0) {
    words = strchr(words, '|') + 1;
    place++;
  }
  *index = place;
  return HEED_OK;
}

/* What eva.py's models are made with. */
static heed_status read_rotation(const heed_fields *args, heed_rules *rules) {
  heed_rotation *rotation = &rules->rotation;
  bool rotate = rotation->kind != HEED_ROTATION_NONE;
  uint32_t type = rotation->kind == HEED_ROTATION_CENTRED, order = rotation->columns_first;
  HEED_TRY(heed_field_bool(args, "use_rot_pos_emb", &rotate));
  HEED_TRY(read_word(args, "rope_type", "one of cat|dinov3|mixed", &type));
  HEED_TRY(read_word(args, "rope_grid_indexing", "one of ij|xy", &order));
  rotation->kind = !rotate     ? HEED_ROTATION_NONE
                   : type == 1 ? HEED_ROTATION_CENTRED
                               : HEED_ROTATION_AXIAL;
  if (rotate && type == 2) rules->needs |= HEED_GROUP(FREQUENCIES);
  rotation->columns_first = order && type != 1; /* DINOv3 has one order */
  /* eva.py leaves it false where a family's rule has halves only by its constructor's caller. */
  HEED_TRY(heed_field_bool(args, "rope_rotate_half", &rotation->half));
  if (rotate && rotation->half != (type == 1))
    return heed_field_refuse(
        args, "rope_rotate_half",
        rotation->half ? "true with another rope_type than dinov3" : "false with rope_type dinov3",
        "halves with dinov3 alone");
  HEED_TRY(heed_field_float(args, "rope_grid_offset", &rotation->offset));
  HEED_TRY(heed_field_square(args, "ref_feat_shape", &rotation->reference));
  return heed_field_above_zero(args, "rope_temperature", &rotation->base);
}

/* Whether one table of relative positions serves all layers of a BEiT. */
static heed_status read_shared_bias(const heed_fields *args, heed_rules *rules) {
  bool shared = false;
  HEED_TRY(heed_field_bool(args, "use_shared_rel_pos_bias", &shared));
  if (shared) rules->needs |= HEED_GROUP(SHARED_POSITION_BIAS);
  return HEED_OK;
}

/* The heads of a pooling attention of eva.py; another's are those of the layers. */
static heed_status read_pool_heads(const heed_fields *args, heed_rules *rules) {
  uint32_t heads = 0;
  HEED_TRY(heed_field_size(args, "attn_pool_num_heads", 1, &heads));
  if (heads && !rules->probe_reads_all)
    return heed_field_refuse(args, "attn_pool_num_heads", "a model that is not of eva.py",
                             "EVA, PE, DINOv3 or RoPE-ViT");
  if (heads > UINT8_MAX)
    return heed_field_fail(args, "attn_pool_num_heads", heed_field(args, "attn_pool_num_heads"),
                           "at most 255");
  if (heads) rules->pool_heads = (uint8_t)heads;
  return HEED_OK;
}

heed_status heed_config_model_args(heed_config *config, const heed_fields *fields,
                                   const char *key) {
  heed_fields args;
  HEED_TRY(heed_field_object(fields, key, &args));
  HEED_TRY(heed_config_pool(config, &args, "global_pool"));
  HEED_TRY(heed_config_read_activation(&args, "act_layer", &config->rules.activation));
  HEED_TRY(heed_config_refuse(&args, key,
                              "norm_layer\0"
                              "embed_norm_layer\0"
                              "block_fn\0"
                              "mlp_layer\0"
                              "attn_layer\0"
                              "embed_layer\0"
                              "use_post_norm\0"
                              "pool_include_prefix\0"
                              "dynamic_img_pad\0"));
  HEED_TRY(heed_config_check_keys(&args, HEED_KEYS_TIMM_ARGS, NULL, key));
  HEED_TRY(heed_read_square(&args, "img_size", &config->image_size));
  HEED_TRY(heed_read_square(&args, "patch_size", &config->patch));
  HEED_TRY(heed_read_size(&args, "in_chans", 1, &config->channels));
  HEED_TRY(heed_read_size(&args, "embed_dim", 1, &config->width));
  HEED_TRY(heed_read_size(&args, "depth", 1, &config->layers));
  HEED_TRY(heed_read_size(&args, "reg_tokens", 0, &config->registers));
  HEED_TRY(heed_read_size(&args, "num_reg_tokens", 0, &config->registers));
  HEED_TRY(read_rotation(&args, &config->rules));
  HEED_TRY(heed_read_bool(&args, "qkv_bias", &config->qkv_bias));
  HEED_TRY(heed_config_mlp_multiple(config, &args));
  HEED_TRY(read_shared_bias(&args, &config->rules));
  HEED_TRY(read_pool_heads(&args, &config->rules));
  return heed_read_size(&args, "num_heads", 1, &config->heads);
}

static const heed_family *family_of_architecture(const char *name) {
  uint32_t i = 0;
  while (!heed_architecture_is(name, heed_family_get(i)->architectures)) i++;
  return heed_family_get(i);
}

/* What timm's classifier reads. */
heed_status heed_config_pool(heed_config *config, const heed_fields *fields, const char *key) {
  static const struct {
    const char *name;
    heed_pool pool;
  } pools[] = {{"token", HEED_POOL_CLS}, {"avg", HEED_POOL_PATCHES}, {"map", HEED_POOL_PROBE}};
  const char *found = "";
  HEED_TRY(heed_field_string(fields, key, &found));
  for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
    if (strcmp(found, pools[i].name) == 0)
      config->pool = (heed_config_value){pools[i].pool, key, false};
  if (!*found || config->pool.key) return HEED_OK;
  return heed_field_refuse(fields, key, found, "token, avg or map");
}

/* The facts of an architecture's name. */
heed_status heed_config_architecture(heed_config *config, const heed_fields *fields,
                                     const char *key) {
  config->timm = true;
  HEED_TRY(heed_field_string(fields, key, &config->model_type));
  config->family = family_of_architecture(config->model_type);
  config->rules = config->family->rules;
  config->rules.pooled_without_classes = !config->rules.neck;
  if (config->family->defaults.stage_window) heed_config_named_windows(config, config->model_type);
  return heed_architecture_rules(config->model_type, fields->where, &config->rules, fields->error);
}

heed_status heed_config_timm(heed_config *config, const heed_fields *fields) {
  heed_fields cfg;
  HEED_TRY(heed_field_object(fields, "pretrained_cfg", &cfg));
  if (!cfg.object) cfg = *fields;
  HEED_TRY(heed_config_architecture(config, fields, "architecture"));
  HEED_TRY(heed_read_size(fields, "num_classes", 0, &config->classes));
  HEED_TRY(read_input_size(config, &cfg));
  HEED_TRY(heed_config_model_args(config, fields,
                                  "model_args")); /* what it says of pooling, timm takes */
  if (!config->pool.key) HEED_TRY(heed_config_pool(config, fields, "global_pool"));
  heed_json_value labels = heed_field(&cfg, "label_names");
  if (!labels) labels = heed_field(fields, "label_names");
  return labels ? read_label_list(config, fields, labels) : HEED_OK;
}
