/* config.json of Hugging Face transformers. Keys and defaults: ViTConfig, DeiTConfig, Dinov2Config
 * and those of the other families. */
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/config/keys.h"
#include "model/config/reader.h"

static const struct {
  const char *name;
  heed_activation kind;
} known[] = {
    {"gelu", HEED_ACTIVATION_GELU},
    {"gelu_python", HEED_ACTIVATION_GELU},
    {"gelu_new", HEED_ACTIVATION_GELU_TANH},
    {"gelu_fast", HEED_ACTIVATION_GELU_TANH},
    {"gelu_tanh", HEED_ACTIVATION_GELU_TANH}, /* timm */
    {"gelu_pytorch_tanh", HEED_ACTIVATION_GELU_TANH},
    {"gelu_accurate", HEED_ACTIVATION_GELU_TANH},
    {"quick_gelu", HEED_ACTIVATION_GELU_QUICK},
    {"relu", HEED_ACTIVATION_RELU},
    {"silu", HEED_ACTIVATION_SILU},
    {"swish", HEED_ACTIVATION_SILU},
    {"tanh", HEED_ACTIVATION_TANH},
    {"sigmoid", HEED_ACTIVATION_SIGMOID},
    {"linear", HEED_ACTIVATION_NONE},
};
enum { KNOWN = sizeof known / sizeof *known };

const char *heed_config_activation(heed_activation kind) {
  int i = 0;
  while (i + 1 < KNOWN && known[i].kind != kind) i++;
  return known[i].name;
}

bool heed_config_activation_named(const char *name, uint8_t *activation) {
  int i = 0;
  while (i < KNOWN && strcmp(known[i].name, name) != 0) i++;
  if (i < KNOWN) *activation = (uint8_t)known[i].kind;
  return i < KNOWN;
}

heed_status heed_config_read_activation(const heed_fields *fields, const char *key,
                                        uint8_t *activation) {
  const char *name = NULL;
  HEED_TRY(heed_field_string(fields, key, &name));
  if (!name || heed_config_activation_named(name, activation)) return HEED_OK;
  return heed_field_refuse(fields, key, name, "gelu, gelu_new, quick_gelu, relu, silu ...");
}

/* A class number as a key: digits only. */
static bool class_number(const char *text, uint32_t *number) {
  uint32_t sum = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return false;
    sum = sum * 10 + (uint32_t)(*text - '0');
    if (sum >= HEED_CONFIG_MAX) return false;
  }
  *number = sum;
  return true;
}

/* {"0": "tench", "1": "goldfish", ...} in any order. */
static heed_status read_id2label(heed_config *config, const heed_fields *fields,
                                 heed_json_value map) {
  const heed_json *json = fields->json;
  uint32_t number = 0, count = 0;
  if (heed_json_kind_of(json, map) != HEED_JSON_OBJECT)
    return heed_field_fail(fields, "id2label", map, "an object");
  for (heed_json_value v = heed_json_first(json, map); v; v = heed_json_next(json, map, v)) {
    if (!class_number(heed_json_key(json, v, NULL), &number))
      return heed_fail(
          fields->error, HEED_INVALID_FILE,
          "%s: a key of id2label is not a class number (found %.*s, expected 0 to 1048575)",
          fields->where, HEED_CUT(heed_json_key(json, v, NULL)));
    if (number >= count) count = number + 1;
  }
  HEED_TRY(heed_config_labels(config, count, fields->error));
  for (heed_json_value v = heed_json_first(json, map); v; v = heed_json_next(json, map, v)) {
    class_number(heed_json_key(json, v, NULL), &number);
    if (config->labels[number])
      return heed_fail(fields->error, HEED_INVALID_FILE, "%s: id2label has class %u twice",
                       fields->where, number);
    HEED_TRY(heed_config_take_label(config, fields, "id2label", v, number));
  }
  return HEED_OK;
}

/* The family of a model type; NULL: none. */
static const heed_family *family_of(const heed_config *config, const char *type) {
  if (!*type && !heed_is_text(config->tower)) return &heed_family_vit;
  return heed_family_of_type(*type ? type : "clip", config->tower);
}

/* The object of the tower: the file's own, or the member in which models of several parts
 * keep it, which Qwen2.5-Omni has in the part that thinks. A member without a type is of the type
 * that the file names. */
static heed_status find_tower(heed_config *config, heed_fields *fields) {
  static const char *const vision[] = {"vision_config", "backbone_config", "encoder", NULL},
                           *const text[] = {"text_config", NULL};
  const char *const *members = heed_is_text(config->tower) ? text : vision;
  heed_fields thinker;
  HEED_TRY(heed_field_string(fields, "model_type", &config->model_type));
  config->family = family_of(config, config->model_type);
  HEED_TRY(heed_field_object(fields, "thinker_config", &thinker));
  if (thinker.object) *fields = thinker;
  for (size_t i = 0; members[i]; i++) {
    heed_fields tower;
    const char *type = config->model_type;
    HEED_TRY(heed_field_object(fields, members[i], &tower));
    if (!tower.object) continue;
    HEED_TRY(heed_field_string(&tower, "model_type", &type));
    config->model_type = type;
    config->family = family_of(config, type);
    *fields = tower;
    break;
  }
  if (config->family) return HEED_OK;
  if (strcmp(config->model_type, "yolos") == 0)
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: a tower with detection tokens is not supported (found yolos, expected a "
                     "plain tower); its ONNX export opens",
                     fields->where);
  if (heed_is_text(config->tower))
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: no text tower (found model_type %.*s, expected clip or siglip)",
                     fields->where, HEED_CUT(config->model_type));
  return heed_fail(fields->error, HEED_UNSUPPORTED,
                   "%s: model_type is not supported (found %.*s, expected vit, deit, dinov2, clip "
                   "or another of docs/models.md); its ONNX export opens",
                   fields->where, HEED_CUT(config->model_type));
}

/* The side of the image of a model whose config says how many patches it has. */
static heed_status read_patches(heed_config *config, const heed_fields *fields) {
  uint32_t patches = heed_family_defaults(config->family, config->model_type)->patches, side = 0;
  if (!patches) return HEED_OK;
  HEED_TRY(heed_field_size(fields, "num_patches", 1, &patches));
  while (side * side < patches) side++;
  if (side * side != patches)
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: num_patches is not supported (found %u, expected those of a square)",
                     fields->where, patches);
  config->image_size = (heed_config_value){side * config->patch.value, "num_patches", false};
  return HEED_OK;
}

/* What the family's config calls what most call `usual`. */
static const char *key_of(const heed_config *config, const char *usual) {
  const heed_config_keys *keys = &config->family->keys;
  const struct {
    const char *usual, *own;
  } known_keys[] = {{"hidden_size", keys->width},
                    {"num_hidden_layers", keys->layers},
                    {"num_attention_heads", keys->heads},
                    {"layer_norm_eps", keys->epsilon},
                    {"intermediate_size", keys->mlp_width},
                    {"image_size", keys->image_size},
                    {"num_channels", keys->channels},
                    {"num_frames", keys->frames},
                    {"qkv_bias", keys->biases}};
  for (size_t i = 0; i < sizeof known_keys / sizeof *known_keys; i++)
    if (known_keys[i].own && strcmp(known_keys[i].usual, usual) == 0) return known_keys[i].own;
  return usual;
}

/* The sizes that every config has, or the family's defaults. */
static heed_status read_needed(heed_config *config, const heed_fields *fields) {
  static const struct {
    const char *key;
    uint16_t by_default, said; /* offsets */
  } sizes[] = {
#define SIZE(key, field) {key, offsetof(heed_config_defaults, field), offsetof(heed_config, field)}
      SIZE("hidden_size", width),         SIZE("num_hidden_layers", layers),
      SIZE("num_attention_heads", heads), SIZE("intermediate_size", mlp_width),
      SIZE("image_size", image_size),     SIZE("patch_size", patch),
      SIZE("vocab_size", vocabulary),     SIZE("max_position_embeddings", positions)};
#undef SIZE
  enum { SIZES = sizeof sizes / sizeof *sizes, BOTH = SIZES - 4 };
  const heed_config_defaults *defaults = heed_family_defaults(config->family, config->model_type);
  const char *missing = NULL;
  for (int i = 0; i < SIZES; i++) {
    if (i >= BOTH && (i >= BOTH + 2) != heed_is_text(config->tower)) continue;
    heed_config_value *said = (heed_config_value *)(void *)((char *)config + sizes[i].said);
    const uint16_t value =
        *(const uint16_t *)(const void *)((const char *)defaults + sizes[i].by_default);
    const char *key = key_of(config, sizes[i].key);
    const bool listed =
        defaults->stage_window && (said == &config->layers || said == &config->heads ||
                                   said == &config->mlp_width); /* heed_config_stages reads it */
    if (listed) continue;
    if (!said->key && value) *said = (heed_config_value){value, key, true};
    HEED_TRY(heed_read_square(fields, key, said));
    const bool any = said == &config->image_size && defaults->any_size;
    if (!said->key && !missing && !any) missing = key;
  }
  if (missing)
    return heed_fail(fields->error, HEED_INVALID_FILE,
                     "%s: missing key %s (expected a whole number)", fields->where, missing);
  HEED_TRY(read_patches(config, fields));
  if (defaults->stage_window || config->width.value % config->heads.value == 0) return HEED_OK;
  return heed_fail(fields->error, HEED_INVALID_FILE,
                   "%s: %s is not a multiple of %s (found %u and %u)", fields->where,
                   config->width.key, config->heads.key, config->width.value, config->heads.value);
}

/* DINOv2 gives the width of its MLP as a multiple of hidden_size, rounded down, of which a gated
 * one takes two thirds, rounded up to 8. */
static heed_status read_mlp_ratio(heed_config *config, const heed_fields *fields) {
  const heed_config_defaults *defaults = heed_family_defaults(config->family, config->model_type);
  const heed_json_value said = heed_field(fields, "mlp_ratio");
  uint32_t hidden = defaults->width;
  double ratio = defaults->mlp_ratio;
  if (config->gated_mlp.key) HEED_TRY(heed_read_bool(fields, defaults->gated, &config->gated_mlp));
  HEED_TRY(heed_field_size(fields, key_of(config, "hidden_size"), 1, &hidden));
  if (said && (!heed_json_double(fields->json, said, &ratio) || !(ratio > 0.0)))
    return heed_field_fail(fields, "mlp_ratio", said, "a number above 0");
  if (!(ratio * hidden <= HEED_CONFIG_MAX))
    return heed_fail(fields->error, HEED_INVALID_FILE, "%s: mlp_ratio is too large (found %g)",
                     fields->where, ratio);
  uint64_t width = (uint64_t)(ratio * hidden);
  if (config->gated_mlp.value) width = (width * 2 / 3 + 7) / 8 * 8;
  if (width)
    config->mlp_width = (heed_config_value){
        (uint32_t)width,
        config->family->keys.width ? "the width times mlp_ratio" : "hidden_size times mlp_ratio",
        false};
  return HEED_OK;
}

static heed_status read_sizes(heed_config *config, const heed_fields *fields) {
  HEED_TRY(read_mlp_ratio(config, fields));
  HEED_TRY(read_needed(config, fields));
  HEED_TRY(heed_read_size(fields, key_of(config, "num_channels"), 1, &config->channels));
  HEED_TRY(heed_read_size(fields, "num_labels", 0, &config->classes));
  HEED_TRY(heed_read_size(fields, "num_register_tokens", 0, &config->registers));
  HEED_TRY(heed_read_bool(fields, "vision_use_head", &config->probe));
  HEED_TRY(heed_read_bool(fields, config->qkv_bias.key, &config->qkv_bias));
  return config->key_bias.key ? heed_read_bool(fields, "key_bias", &config->key_bias) : HEED_OK;
}

/* The base of rotary positions, which transformers 5 keeps in an object. */
static heed_status read_rope(const heed_fields *fields, float *base) {
  heed_fields rope;
  const char *type = "default";
  HEED_TRY(heed_field_object(fields, "rope_parameters", &rope));
  HEED_TRY(heed_field_above_zero(fields, "rope_theta", base));
  HEED_TRY(heed_field_string(&rope, "rope_type", &type));
  if (strcmp(type, "default") != 0)
    return heed_field_refuse(&rope, "rope_parameters.rope_type", type, "default");
  return heed_field_above_zero(&rope, "rope_theta", base);
}

/* What BEiT has, by the flags of its config. */
static heed_status read_beit(heed_config *config, const heed_fields *fields) {
  config->mean_pooling = (heed_config_value){true, "use_mean_pooling", true};
  config->absolute_positions = (heed_config_value){false, "use_absolute_position_embeddings", true};
  config->position_bias = (heed_config_value){false, "use_relative_position_bias", true};
  config->shared_position_bias =
      (heed_config_value){false, "use_shared_relative_position_bias", true};
  HEED_TRY(heed_read_bool(fields, config->mean_pooling.key, &config->mean_pooling));
  HEED_TRY(heed_read_bool(fields, config->absolute_positions.key, &config->absolute_positions));
  HEED_TRY(heed_read_bool(fields, config->position_bias.key, &config->position_bias));
  config->pool = config->mean_pooling;
  config->pool.value = config->mean_pooling.value ? HEED_POOL_PATCHES : HEED_POOL_CLS;
  return heed_read_bool(fields, config->shared_position_bias.key, &config->shared_position_bias);
}

/* Of the classes ...Config of transformers, for what the file leaves out. */
static void set_class_defaults(heed_config *config) {
  const heed_family *family = config->family;
  const heed_config_defaults *defaults = heed_family_defaults(family, config->model_type);
  const bool alike = family->rules.key_bias == HEED_KEY_BIAS_ALIKE;
  config->rules = family->rules;
  if (defaults->epsilon > 0.0f) config->rules.epsilon = defaults->epsilon;
  config->channels = (heed_config_value){3, key_of(config, "num_channels"), true};
  const bool own_key = family->keys.biases != NULL;
  config->qkv_bias =
      (heed_config_value){!family->rules.unbiased && (!own_key || defaults->biased),
                          alike || own_key ? key_of(config, "qkv_bias") : "query_bias", true};
  if (!alike) config->key_bias = (heed_config_value){false, "key_bias", true};
  if (family->head) config->probe = (heed_config_value){true, "vision_use_head", true};
  if (defaults->gated) config->gated_mlp = (heed_config_value){false, defaults->gated, true};
  if (*config->model_type)
    config->registers = (heed_config_value){defaults->registers, "num_register_tokens", true};
}

/* Which norms there are, of a family whose config says it. */
static heed_status read_norms(heed_config *config, const heed_fields *fields) {
  const heed_config_keys *keys = &config->family->keys;
  const heed_config_defaults *defaults = &config->family->defaults;
  const char *kind = defaults->rms ? "rms_norm" : "layer_norm";
  if (keys->norm) HEED_TRY(heed_field_string(fields, keys->norm, &kind));
  if (!heed_list_has("rms_norm|layer_norm", kind))
    return heed_field_refuse(fields, keys->norm, kind, "layer_norm or rms_norm");
  if (keys->norm)
    config->rms = (heed_config_value){strcmp(kind, "rms_norm") == 0, keys->norm,
                                      !heed_field(fields, keys->norm), NULL};
  if (keys->query_norm)
    config->query_norm = (heed_config_value){defaults->query_norm, keys->query_norm, true};
  if (keys->no_final_norm)
    config->mean_pooling = (heed_config_value){true, keys->no_final_norm, true};
  if (keys->query_norm) HEED_TRY(heed_read_bool(fields, keys->query_norm, &config->query_norm));
  return keys->no_final_norm ? heed_read_bool(fields, keys->no_final_norm, &config->mean_pooling)
                             : HEED_OK;
}

/* The frames of a model of videos. */
static heed_status read_frames(heed_config *config, const heed_fields *fields) {
  const heed_config_defaults *defaults = &config->family->defaults;
  if (!defaults->frames) return HEED_OK;
  const char *key = key_of(config, "num_frames");
  config->frames = (heed_config_value){defaults->frames, key, true};
  config->tubelet = (heed_config_value){defaults->tubelet, "tubelet_size", true};
  HEED_TRY(heed_read_size(fields, key, 1, &config->frames));
  return heed_read_size(fields, "tubelet_size", 1, &config->tubelet);
}

/* The numbers of the layers whose attention knows no windows. */
static heed_status read_full_layers(heed_config *config, const heed_fields *fields, const char *key,
                                    heed_json_value list) {
  const heed_json *json = fields->json;
  uint64_t layer = 0;
  bool sound = heed_json_kind_of(json, list) == HEED_JSON_ARRAY &&
               heed_json_count(json, list) <= HEED_MOST_FULL_LAYERS;
  for (heed_json_value v = sound ? heed_json_first(json, list) : 0; v && sound;
       v = heed_json_next(json, list, v)) {
    sound = heed_field_whole(fields, v, &layer) && layer < HEED_CONFIG_MAX;
    config->full_layers[config->full_layer_count++] = (uint32_t)layer;
  }
  return sound ? HEED_OK
               : heed_field_fail(fields, key, list, "a list of at most 64 numbers of layers");
}

/* SAM's, in patches, which tables of relative positions tell too. */
static heed_status read_table_windows(heed_config *config, const heed_fields *fields) {
  static const char key[] = "global_attn_indexes";
  const heed_json_value list = heed_field(fields, key);
  if (list) HEED_TRY(read_full_layers(config, fields, key, list));
  config->full_layers_key = list ? key : NULL;
  return heed_read_size(fields, "window_size", 0, &config->stage_window);
}

/* Windows of the attention, and the layers that go without. */
static heed_status read_windows(heed_config *config, const heed_fields *fields) {
  const heed_config_defaults *defaults = &config->family->defaults;
  static const char key[] = "fullatt_block_indexes";
  const heed_json_value list = heed_field(fields, key);
  if (config->family->rules.needs & HEED_GROUP(RELATIVE)) return read_table_windows(config, fields);
  if (!defaults->window) return HEED_OK;
  config->window = (heed_config_value){defaults->window, "window_size", true};
  config->merge = (heed_config_value){defaults->merge, "spatial_merge_size", true};
  HEED_TRY(heed_read_size(fields, "window_size", 1, &config->window));
  HEED_TRY(heed_read_size(fields, "spatial_merge_size", 1, &config->merge));
  if (list) return read_full_layers(config, fields, key, list);
  for (size_t i = 0; i < HEED_DEFAULT_FULL_LAYERS && defaults->full_layers[i]; i++)
    config->full_layers[config->full_layer_count++] = defaults->full_layers[i];
  return HEED_OK;
}

/* What the classes are to each other, of which heed_top knows one answer. */
static heed_status read_problem(heed_config *config, const heed_fields *fields) {
  static const char usual[] = "single_label_classification";
  const char *type = usual;
  HEED_TRY(heed_field_string(fields, "problem_type", &type));
  if (strcmp(type, usual) == 0) return HEED_OK;
  if (!heed_list_has("multi_label_classification|regression", type))
    return heed_field_refuse(fields, "problem_type", type, usual);
  config->problem_type = type;
  return HEED_OK;
}

/* A null is no default: transformers fails on it, or takes another number than it was trained with.
 */
static heed_status refuse_nulls(const heed_fields *fields) {
  static const char *const keys[] = {"hidden_act",        "layer_norm_eps",      "hidden_size",
                                     "num_hidden_layers", "num_attention_heads", "image_size",
                                     "patch_size",        "num_channels"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const heed_json_value value = heed_json_get(fields->json, fields->object, keys[i]);
    if (heed_json_kind_of(fields->json, value) == HEED_JSON_NULL)
      return heed_field_fail(fields, keys[i], value, "a value or no key");
  }
  return HEED_OK;
}

/* What changes a tower and stands in no tensor. */
static heed_status refuse_changes(const heed_fields *fields) {
  const heed_json_value pruned = heed_field(fields, "pruned_heads");
  bool hybrid = false;
  HEED_TRY(refuse_nulls(fields));
  if (heed_json_count(fields->json, pruned))
    return heed_field_refuse(fields, "pruned_heads", "layers with fewer heads", "none");
  HEED_TRY(heed_field_bool(fields, "is_hybrid", &hybrid));
  return hybrid ? heed_field_refuse(fields, "is_hybrid", "true", "false") : HEED_OK;
}

/* A pooler of another width than the tokens. */
static heed_status check_pooler(const heed_config *config, const heed_fields *fields) {
  uint32_t size = config->width.value;
  HEED_TRY(heed_field_size(fields, "pooler_output_size", 1, &size));
  if (size == config->width.value) return HEED_OK;
  return heed_fail(fields->error, HEED_UNSUPPORTED,
                   "%s: pooler_output_size is not supported (found %u, expected hidden_size %u)",
                   fields->where, size, config->width.value);
}

heed_status heed_config_hugging_face(heed_config *config, const heed_fields *whole) {
  heed_fields fields = *whole;
  const char *pooler = "tanh";
  HEED_TRY(find_tower(config, &fields));
  HEED_TRY(refuse_changes(&fields));
  set_class_defaults(config);
  HEED_TRY(read_sizes(config, &fields));
  HEED_TRY(check_pooler(config, &fields));
  if (config->family->rules.pools) HEED_TRY(read_beit(config, &fields));
  HEED_TRY(heed_config_read_activation(&fields, "hidden_act", &config->rules.activation));
  config->activation_said = heed_field(&fields, "hidden_act") != 0;
  const char *epsilon = key_of(config, "layer_norm_eps");
  config->epsilon_said = heed_field(&fields, epsilon) != 0;
  HEED_TRY(read_rope(&fields, &config->rules.rotation.base));
  HEED_TRY(heed_field_string(&fields, "pooler_act", &pooler));
  if (strcmp(pooler, "tanh") != 0) return heed_field_refuse(&fields, "pooler_act", pooler, "tanh");
  HEED_TRY(heed_field_float(&fields, epsilon, &config->rules.epsilon));
  if (config->rules.epsilon < 0.0f)
    return heed_field_fail(&fields, epsilon, heed_field(&fields, epsilon), "no negative number");
  HEED_TRY(read_norms(config, &fields));
  HEED_TRY(read_windows(config, &fields));
  HEED_TRY(read_frames(config, &fields));
  HEED_TRY(heed_config_stages(config, &fields));
  HEED_TRY(heed_config_check_keys(
      &fields,
      fields.object == whole->object ? HEED_KEYS_HUGGING_FACE : HEED_KEYS_HUGGING_FACE_MEMBER,
      config->family->keys.others, "a vision transformer"));
  HEED_TRY(heed_read_size(whole, "num_labels", 0, &config->classes));
  HEED_TRY(read_problem(config, whole));
  HEED_TRY(heed_read_size(whole, "projection_dim", 1, &config->projection));
  if (heed_is_text(config->tower)) {
    config->end = (heed_config_value){heed_family_defaults(config->family, config->model_type)->end,
                                      "eos_token_id", true};
    HEED_TRY(heed_read_size(&fields, "projection_size", 1, &config->projection));
    HEED_TRY(heed_read_size(&fields, "eos_token_id", 0, &config->end));
  }
  const heed_json_value labels = heed_field(whole, "id2label");
  if (!labels) return HEED_OK;
  HEED_TRY(read_id2label(config, whole, labels));
  if (!config->classes.key && config->label_count)
    config->classes = (heed_config_value){config->label_count, "id2label", false};
  return HEED_OK;
}
