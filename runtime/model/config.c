/* config.json. Keys and defaults: transformers' ViTConfig, DeiTConfig, Dinov2Config; timm's models
 * on the Hub (hf_hub: save_config). */
#include "model/config.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/architecture.h"
#include "model/config_fields.h"
#include "model/source.h"

#define CONFIG_FILE "config.json"
#define OPEN_CLIP_FILE "open_clip_config.json"
#define PREPROCESSOR_FILE "preprocessor_config.json"
#define MAX_FILE_BYTES (64u << 20)
#define MAX_LABELS HEED_CONFIG_MAX

/* ---------------------------------------------------------------------------------- activations */

static const struct {
  const char *name;
  heed_activation kind;
} known[] = {
    {"gelu", HEED_ACTIVATION_GELU},
    {"gelu_python", HEED_ACTIVATION_GELU},
    {"gelu_new", HEED_ACTIVATION_GELU_TANH},
    {"gelu_fast", HEED_ACTIVATION_GELU_TANH},
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

static heed_status read_activation(const heed_fields *fields, uint8_t *activation) {
  const char *name = NULL;
  HEED_TRY(heed_field_string(fields, "hidden_act", &name));
  if (!name) return HEED_OK;
  for (int i = 0; i < KNOWN; i++)
    if (strcmp(known[i].name, name) == 0) {
      *activation = (uint8_t)known[i].kind;
      return HEED_OK;
    }
  return heed_field_refuse(fields, "hidden_act", name,
                           "gelu, gelu_new, quick_gelu, relu, silu ...");
}

/* --------------------------------------------------------------------------------------- labels */

/* A class number as a key: digits only. */
static bool class_number(const char *text, uint32_t *number) {
  uint32_t sum = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9') return false;
    sum = sum * 10 + (uint32_t)(*text - '0');
    if (sum >= MAX_LABELS) return false;
  }
  *number = sum;
  return true;
}

static heed_status make_labels(heed_config *config, uint32_t count, heed_error *error) {
  config->labels = heed_alloc(config->context, count ? count : 1, sizeof *config->labels);
  if (!config->labels) return heed_fail_memory(error, CONFIG_FILE, count * sizeof *config->labels);
  config->label_count = count;
  return HEED_OK;
}

/* {"0": "tench", "1": "goldfish", ...} in any order. */
static heed_status read_id2label(heed_config *config, const heed_fields *fields,
                                 heed_json_value map) {
  const heed_json *json = fields->json;
  const char *text;
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
  HEED_TRY(make_labels(config, count, fields->error));
  for (heed_json_value v = heed_json_first(json, map); v; v = heed_json_next(json, map, v)) {
    class_number(heed_json_key(json, v, NULL), &number);
    if (!heed_json_string(json, v, &text, NULL))
      return heed_field_fail(fields, "id2label", v, "a string");
    config->labels[number] = text;
  }
  return HEED_OK;
}

static heed_status read_label_list(heed_config *config, const heed_fields *fields,
                                   heed_json_value list) {
  const heed_json *json = fields->json;
  if (heed_json_kind_of(json, list) != HEED_JSON_ARRAY)
    return heed_field_fail(fields, "label_names", list, "an array");
  HEED_TRY(make_labels(config, heed_json_count(json, list), fields->error));
  uint32_t index = 0;
  for (heed_json_value v = heed_json_first(json, list); v; v = heed_json_next(json, list, v))
    if (!heed_json_string(json, v, &config->labels[index++], NULL))
      return heed_field_fail(fields, "label_names", v, "a string");
  return HEED_OK;
}

/* --------------------------------------------------------------------------------- said numbers */

static void take_key(const heed_fields *fields, const char *key, heed_said *to) {
  if (!heed_field(fields, key)) return;
  to->key = key;
  to->by_default = false;
}

static heed_status said_size(const heed_fields *fields, const char *key, uint32_t least,
                             heed_said *to) {
  take_key(fields, key, to);
  return heed_field_size(fields, key, least, &to->value);
}

static heed_status said_square(const heed_fields *fields, const char *key, heed_said *to) {
  take_key(fields, key, to);
  return heed_field_square(fields, key, &to->value);
}

static heed_status said_bool(const heed_fields *fields, const char *key, heed_said *to) {
  bool value = to->value;
  take_key(fields, key, to);
  HEED_TRY(heed_field_bool(fields, key, &value));
  to->value = value;
  return HEED_OK;
}

/* --------------------------------------------------------------------------------- Hugging Face */

/* The family of a model type; NULL: none. */
static const heed_family *family_of(const heed_config *config, const char *type) {
#if HEED_VISION_TOWERS
  if (!*type && !heed_is_text(config->tower)) return &heed_family_vit;
#endif
  return heed_family_of_type(*type ? type : "clip", config->tower);
}

/* The object of the tower: the file's own, or the member in which models of several parts
 * keep it. A member without a type is of the type that the file names. */
static heed_status find_tower(heed_config *config, heed_fields *fields) {
  static const char *const vision[] = {"vision_config", "backbone_config", "encoder", NULL},
                           *const text[] = {"text_config", NULL};
  const char *const *members = heed_is_text(config->tower) ? text : vision;
  HEED_TRY(heed_field_string(fields, "model_type", &config->model_type));
  config->family = family_of(config, config->model_type);
  for (size_t i = 0; members[i]; i++) {
    heed_fields tower = *fields;
    const char *type = config->model_type;
    tower.object = heed_field(fields, members[i]);
    if (heed_json_kind_of(fields->json, tower.object) != HEED_JSON_OBJECT) continue;
    HEED_TRY(heed_field_string(&tower, "model_type", &type));
    config->model_type = type;
    config->family = family_of(config, type);
    *fields = tower;
    break;
  }
  if (config->family) return HEED_OK;
  if (heed_list_has("siglip2|siglip2_vision_model", config->model_type))
    return heed_fail(
        fields->error, HEED_UNSUPPORTED,
        "%s: NaFlex models of SigLIP2 are not supported (found model_type %s, expected "
        "siglip, which those of a fixed size have)",
        fields->where, config->model_type);
  if (strcmp(config->model_type, "yolos") == 0)
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: YOLOS is not supported: it has detection tokens (found model_type yolos)",
                     fields->where);
  if (heed_is_text(config->tower))
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: no text tower (found model_type %.*s, expected clip or siglip)",
                     fields->where, HEED_CUT(config->model_type));
  return heed_field_refuse(fields, "model_type", config->model_type,
                           "vit, deit, dinov2, clip or another of docs/models.md");
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
  const char *missing = NULL;
  for (int i = 0; i < SIZES; i++) {
    if (i >= BOTH && (i >= BOTH + 2) != heed_is_text(config->tower)) continue;
    heed_said *said = (heed_said *)(void *)((char *)config + sizes[i].said);
    const uint16_t value =
        *(const uint16_t *)(const void *)((const char *)&config->family->defaults +
                                          sizes[i].by_default);
    if (!said->key && value) *said = (heed_said){value, sizes[i].key, true};
    HEED_TRY(said_square(fields, sizes[i].key, said));
    if (!said->key && !missing) missing = sizes[i].key;
  }
  if (missing)
    return heed_fail(fields->error, HEED_INVALID_FILE,
                     "%s: missing key %s (expected a whole number)", fields->where, missing);
  if (config->width.value % config->heads.value == 0) return HEED_OK;
  return heed_fail(fields->error, HEED_INVALID_FILE,
                   "%s: hidden_size is not a multiple of num_attention_heads (found %u and %u)",
                   fields->where, config->width.value, config->heads.value);
}

/* DINOv2 gives the width of its MLP as a multiple of hidden_size, of which a gated one takes two
 * thirds, rounded up to 8. */
static heed_status read_mlp_ratio(heed_config *config, const heed_fields *fields) {
  uint32_t ratio = config->family->defaults.mlp_ratio, hidden = config->family->defaults.width;
  uint64_t width;
  if (config->gated_mlp.key)
    HEED_TRY(said_bool(fields, config->family->defaults.gated, &config->gated_mlp));
  HEED_TRY(heed_field_size(fields, "mlp_ratio", 1, &ratio));
  HEED_TRY(heed_field_size(fields, "hidden_size", 1, &hidden));
  if (!heed_u64_mul(ratio, hidden, &width) || width > HEED_CONFIG_MAX)
    return heed_fail(fields->error, HEED_INVALID_FILE, "%s: mlp_ratio is too large (found %u)",
                     fields->where, ratio);
  if (config->gated_mlp.value) width = (width * 2 / 3 + 7) / 8 * 8;
  if (width) config->mlp_width = (heed_said){(uint32_t)width, "hidden_size times mlp_ratio", false};
  return HEED_OK;
}

static heed_status read_sizes(heed_config *config, const heed_fields *fields) {
  HEED_TRY(read_mlp_ratio(config, fields));
  HEED_TRY(read_needed(config, fields));
  HEED_TRY(said_size(fields, "num_channels", 1, &config->channels));
  HEED_TRY(said_size(fields, "num_labels", 0, &config->classes));
  HEED_TRY(said_size(fields, "num_register_tokens", 0, &config->registers));
  HEED_TRY(said_bool(fields, "vision_use_head", &config->probe));
  HEED_TRY(said_bool(fields, config->qkv_bias.key, &config->qkv_bias));
  return config->key_bias.key ? said_bool(fields, "key_bias", &config->key_bias) : HEED_OK;
}

/* The base of rotary positions. */
static heed_status read_base(const heed_fields *fields, const char *key, float *base) {
  HEED_TRY(heed_field_float(fields, key, base));
  const heed_json_value value = heed_field(fields, key);
  return !value || *base > 0.0f ? HEED_OK : heed_field_fail(fields, key, value, "a number above 0");
}

/* The base of rotary positions, which transformers 5 keeps in an object. */
static heed_status read_rope(const heed_fields *fields, float *base) {
  heed_fields rope = *fields;
  const char *type = "default";
  rope.object = heed_field(fields, "rope_parameters");
  HEED_TRY(read_base(fields, "rope_theta", base));
  if (heed_json_kind_of(fields->json, rope.object) != HEED_JSON_OBJECT) return HEED_OK;
  HEED_TRY(heed_field_string(&rope, "rope_type", &type));
  if (strcmp(type, "default") != 0) return heed_field_refuse(&rope, "rope_type", type, "default");
  return read_base(&rope, "rope_theta", base);
}

/* What BEiT has, by the flags of its config. */
static heed_status read_beit(heed_config *config, const heed_fields *fields) {
  config->mean_pooling = (heed_said){true, "use_mean_pooling", true};
  config->absolute_positions = (heed_said){false, "use_absolute_position_embeddings", true};
  config->position_bias = (heed_said){false, "use_relative_position_bias", true};
  config->shared_position_bias = (heed_said){false, "use_shared_relative_position_bias", true};
  HEED_TRY(said_bool(fields, config->mean_pooling.key, &config->mean_pooling));
  HEED_TRY(said_bool(fields, config->absolute_positions.key, &config->absolute_positions));
  HEED_TRY(said_bool(fields, config->position_bias.key, &config->position_bias));
  config->pool = config->mean_pooling;
  config->pool.value = config->mean_pooling.value ? HEED_POOL_PATCHES : HEED_POOL_CLS;
  return said_bool(fields, config->shared_position_bias.key, &config->shared_position_bias);
}

/* Of the classes ...Config of transformers, for what the file leaves out. */
static void set_class_defaults(heed_config *config) {
  const heed_family *family = config->family;
  const bool alike = family->rules.key_bias == HEED_KEY_BIAS_ALIKE;
  config->rules = family->rules;
  config->channels = (heed_said){3, "num_channels", true};
  config->qkv_bias = (heed_said){true, alike ? "qkv_bias" : "query_bias", true};
  if (!alike) config->key_bias = (heed_said){false, "key_bias", true};
  if (family->head) config->probe = (heed_said){true, "vision_use_head", true};
  if (family->defaults.gated) config->gated_mlp = (heed_said){false, family->defaults.gated, true};
  if (*config->model_type)
    config->registers = (heed_said){family->defaults.registers, "num_register_tokens", true};
}

static heed_status read_hugging_face(heed_config *config, const heed_fields *whole) {
  heed_fields fields = *whole;
  const char *pooler = "tanh";
  HEED_TRY(find_tower(config, &fields));
  set_class_defaults(config);
  HEED_TRY(read_sizes(config, &fields));
  if (config->family->rules.pools) HEED_TRY(read_beit(config, &fields));
  HEED_TRY(read_activation(&fields, &config->rules.activation));
  HEED_TRY(read_rope(&fields, &config->rules.rotation.base));
  HEED_TRY(heed_field_string(&fields, "pooler_act", &pooler));
  if (strcmp(pooler, "tanh") != 0) return heed_field_refuse(&fields, "pooler_act", pooler, "tanh");
  HEED_TRY(heed_field_float(&fields, "layer_norm_eps", &config->rules.epsilon));
  if (config->rules.epsilon < 0.0f)
    return heed_field_fail(&fields, "layer_norm_eps", heed_field(&fields, "layer_norm_eps"),
                           "no negative number");
  HEED_TRY(said_size(whole, "num_labels", 0, &config->classes));
  HEED_TRY(said_size(whole, "projection_dim", 1, &config->projection));
  if (heed_is_text(config->tower)) {
    config->end = (heed_said){config->family->defaults.end, "eos_token_id", true};
    HEED_TRY(said_size(&fields, "projection_size", 1, &config->projection));
    HEED_TRY(said_size(&fields, "eos_token_id", 0, &config->end));
  }
  const heed_json_value labels = heed_field(whole, "id2label");
  if (!labels) return HEED_OK;
  HEED_TRY(read_id2label(config, whole, labels));
  if (!config->classes.key && config->label_count)
    config->classes = (heed_said){config->label_count, "id2label", false};
  return HEED_OK;
}

/* ----------------------------------------------------------------------------------------- timm */

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
  config->channels = (heed_said){(uint32_t)size[0], "input_size", false};
  config->image_size = (heed_said){(uint32_t)size[1], "input_size", false};
  return HEED_OK;
}

static heed_status read_mlp_multiple(heed_config *config, const heed_fields *fields) {
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
  HEED_TRY(heed_field_bool(args, "rope_rotate_half", &rotation->half));
  HEED_TRY(heed_field_float(args, "rope_grid_offset", &rotation->offset));
  HEED_TRY(heed_field_square(args, "ref_feat_shape", &rotation->reference));
  return read_base(args, "rope_temperature", &rotation->base);
}

/* Whether one table of relative positions serves all layers of a BEiT. */
static heed_status read_shared_bias(const heed_fields *args, heed_rules *rules) {
  bool shared = false;
  HEED_TRY(heed_field_bool(args, "use_shared_rel_pos_bias", &shared));
  if (shared) rules->needs |= HEED_GROUP(SHARED_POSITION_BIAS);
  return HEED_OK;
}

static heed_status read_model_args(heed_config *config, const heed_fields *fields) {
  const heed_json_value object = heed_field(fields, "model_args");
  if (!object) return HEED_OK;
  const heed_fields args = {fields->json, object, fields->where, fields->error};
  HEED_TRY(said_square(&args, "img_size", &config->image_size));
  HEED_TRY(said_square(&args, "patch_size", &config->patch));
  HEED_TRY(said_size(&args, "in_chans", 1, &config->channels));
  HEED_TRY(said_size(&args, "embed_dim", 1, &config->width));
  HEED_TRY(said_size(&args, "depth", 1, &config->layers));
  HEED_TRY(said_size(&args, "reg_tokens", 0, &config->registers));
  HEED_TRY(said_size(&args, "num_reg_tokens", 0, &config->registers));
  HEED_TRY(read_rotation(&args, &config->rules));
  HEED_TRY(said_bool(&args, "qkv_bias", &config->qkv_bias));
  HEED_TRY(read_mlp_multiple(config, &args));
  HEED_TRY(read_shared_bias(&args, &config->rules));
  return said_size(&args, "num_heads", 1, &config->heads);
}

static const heed_family *family_of_architecture(const char *name) {
  uint32_t i = 0;
  while (!heed_architecture_is(name, heed_family_get(i)->architectures)) i++;
  return heed_family_get(i);
}

/* What timm's classifier reads. */
static heed_status read_pool(heed_config *config, const heed_fields *fields, const char *key) {
  static const struct {
    const char *name;
    heed_pool pool;
  } pools[] = {{"token", HEED_POOL_CLS}, {"avg", HEED_POOL_PATCHES}, {"map", HEED_POOL_PROBE}};
  const char *found = "";
  HEED_TRY(heed_field_string(fields, key, &found));
  for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
    if (strcmp(found, pools[i].name) == 0) config->pool = (heed_said){pools[i].pool, key, false};
  if (!*found || config->pool.key) return HEED_OK;
  return heed_field_refuse(fields, key, found, "token, avg or map");
}

/* The facts of an architecture's name. */
static heed_status take_architecture(heed_config *config, const heed_fields *fields,
                                     const char *key) {
  config->timm = true;
  HEED_TRY(heed_field_string(fields, key, &config->model_type));
  config->family = family_of_architecture(config->model_type);
  config->rules = config->family->rules;
  config->rules.pooled_without_classes = true;
  return heed_architecture_rules(config->model_type, fields->where, &config->rules, fields->error);
}

static heed_status read_timm(heed_config *config, const heed_fields *fields) {
  const heed_json_value pretrained = heed_field(fields, "pretrained_cfg");
  const heed_fields cfg = {fields->json, pretrained ? pretrained : fields->object, fields->where,
                           fields->error};
  HEED_TRY(take_architecture(config, fields, "architecture"));
  HEED_TRY(read_pool(config, fields, "global_pool"));
  HEED_TRY(said_size(fields, "num_classes", 0, &config->classes));
  HEED_TRY(read_input_size(config, &cfg));
  HEED_TRY(read_model_args(config, fields));
  heed_json_value labels = heed_field(&cfg, "label_names");
  if (!labels) labels = heed_field(fields, "label_names");
  return labels ? read_label_list(config, fields, labels) : HEED_OK;
}

/* ------------------------------------------------------------------------------------ open_clip */

/* Options of open_clip's towers that change them. Of texts the first two are read. */
static heed_status refuse_options(const heed_fields *tower, const char *name, bool text) {
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
  for (const char *at = options + (text ? sizeof "act_kwargs\0norm_kwargs" : 0); *at;
       at = heed_next_pattern(at)) {
    bool on = true;
    const heed_json_value value = heed_field(tower, at);
    if (value && (!heed_json_bool(tower->json, value, &on) || on))
      return heed_fail(tower->error, HEED_UNSUPPORTED,
                       "%s: %s with %s is not supported (expected a plain tower)", tower->where,
                       name, at);
  }
  return HEED_OK;
}

/* A vision tower of timm, "visual.trunk.", and the map behind it. */
static heed_status read_trunk(heed_config *config, const heed_fields *model,
                              const heed_fields *vision) {
  const bool absent = !heed_json_get(vision->json, vision->object, "timm_proj");
  const char *map = absent ? "linear" : "";
  HEED_TRY(take_architecture(config, vision, "timm_model_name"));
  HEED_TRY(read_pool(config, vision, "timm_pool"));
  HEED_TRY(said_square(vision, "image_size", &config->image_size));
  HEED_TRY(heed_field_string(vision, "timm_proj", &map));
  config->rules.classifier_embeds = !*map;
  if (!*map) config->rules.needs |= HEED_GROUP(PROJECTION_BIAS);
  if (!*map || strcmp(map, "linear") == 0) {
    config->rules.needs |= HEED_GROUP(PROJECTION);
    return said_size(model, "embed_dim", 1, &config->projection);
  }
  if (strcmp(map, "none") == 0) return HEED_OK;
  return heed_field_refuse(vision, "timm_proj", map, "linear, none or null");
}

/* What PyTorch's GELU and norms take beside their input. */
static heed_status read_arguments(heed_config *config, const heed_fields *text) {
  const char *approximate = "none";
  heed_fields gelu = *text, norm = *text;
  gelu.object = heed_field(text, "act_kwargs");
  norm.object = heed_field(text, "norm_kwargs");
  HEED_TRY(heed_field_string(&gelu, "approximate", &approximate));
  if (strcmp(approximate, "tanh") == 0)
    config->rules.activation = HEED_ACTIVATION_GELU_TANH;
  else if (strcmp(approximate, "none") != 0)
    return heed_field_refuse(&gelu, "approximate", approximate, "none or tanh");
  return read_base(&norm, "eps", &config->rules.epsilon);
}

/* text_cfg */
static heed_status read_open_clip_text(heed_config *config, const heed_fields *text) {
  const char *pool = "argmax";
  bool open = false;
  config->heads = (heed_said){8, "heads", true};
  HEED_TRY(said_size(text, "heads", 1, &config->heads));
  HEED_TRY(said_size(text, "context_length", 1, &config->positions));
  HEED_TRY(said_size(text, "vocab_size", 1, &config->vocabulary));
  HEED_TRY(heed_field_bool(text, "no_causal_mask", &open));
  HEED_TRY(read_arguments(config, text));
  HEED_TRY(heed_field_string(text, "pool_type", &pool));
  config->rules.causal = !open;
  config->pool = (heed_said){HEED_POOL_END, "pool_type", false};
  if (strcmp(pool, "last") == 0) config->pool.value = HEED_POOL_LAST;
  if (strcmp(pool, "argmax") == 0 || strcmp(pool, "last") == 0) return HEED_OK;
  return heed_field_refuse(text, "pool_type", pool, "argmax or last");
}

static heed_status read_open_clip(heed_config *config, const heed_fields *fields) {
  const char *name = heed_is_text(config->tower) ? "text_cfg" : "vision_cfg";
  const heed_fields model = {fields->json, heed_field(fields, "model_cfg"), fields->where,
                             fields->error},
                    tower = {fields->json, heed_field(&model, name), fields->where, fields->error};
  const char *pool = "tok";
  bool quick = false;
  uint32_t head_width = 64;
  HEED_TRY(refuse_options(&tower, name, heed_is_text(config->tower)));
  if (heed_field(&tower, "timm_model_name"))
    return HEED_VISION_TOWERS
               ? read_trunk(config, &model, &tower)
               : heed_field_fail(&tower, "timm_model_name", heed_field(&tower, "timm_model_name"),
                                 "none in a text tower");
  config->family = heed_family_of_type("open_clip", config->tower);
  config->model_type = config->family->types;
  config->rules = config->family->rules;
  config->mlp_ratio = 4.0;
  HEED_TRY(heed_field_bool(&model, "quick_gelu", &quick));
  config->rules.activation = quick ? HEED_ACTIVATION_GELU_QUICK : HEED_ACTIVATION_GELU;
  HEED_TRY(said_size(&model, "embed_dim", 1, &config->projection));
  HEED_TRY(said_size(&tower, "width", 1, &config->width));
  HEED_TRY(said_size(&tower, "layers", 1, &config->layers));
  HEED_TRY(read_mlp_multiple(config, &tower));
  if (heed_is_text(config->tower)) return read_open_clip_text(config, &tower);
  HEED_TRY(heed_field_string(&tower, "pool_type", &pool));
  if (strcmp(pool, "tok") != 0) return heed_field_refuse(&tower, "pool_type", pool, "tok");
  HEED_TRY(said_square(&tower, "image_size", &config->image_size));
  HEED_TRY(said_square(&tower, "patch_size", &config->patch));
  HEED_TRY(heed_field_size(&tower, "head_width", 1, &head_width));
  if (config->width.key && config->width.value % head_width)
    return heed_fail(fields->error, HEED_INVALID_FILE,
                     "%s: head_width does not divide width (found %u and %u)", fields->where,
                     head_width, config->width.value);
  if (config->width.key)
    config->heads = (heed_said){config->width.value / head_width, "head_width", false};
  return HEED_OK;
}

/* ---------------------------------------------------------------------------------------- files */

heed_status heed_config_read_json(const heed_context *context, const heed_model_file *file,
                                  heed_json **json, heed_error *error) {
  char *text;
  HEED_TRY(heed_source_text(context, &file->source, file->name, MAX_FILE_BYTES, &text, error));
  HEED_TRY(heed_json_take(context, text, (size_t)file->source.size, file->name, json, error));
  const heed_json_kind kind = heed_json_kind_of(*json, heed_json_root(*json));
  if (kind == HEED_JSON_OBJECT) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE, "%s: it is not an object (found %s)", file->name,
                   heed_json_kind_name(kind));
}

static heed_status read_files(heed_config *config, const heed_model_file *files,
                              uint32_t file_count, heed_error *error) {
  const heed_model_file *file = heed_find_file(files, file_count, CONFIG_FILE),
                        *open_clip = heed_find_file(files, file_count, OPEN_CLIP_FILE);
  const heed_model_file *preprocessor = heed_find_file(files, file_count, PREPROCESSOR_FILE);
  if (preprocessor)
    HEED_TRY(heed_config_read_json(config->context, preprocessor, &config->preprocessor, error));
  if (!file) file = open_clip;
  if (!file) return HEED_OK;
  HEED_TRY(heed_config_read_json(config->context, file, &config->json, error));
  const heed_fields fields = {config->json, heed_json_root(config->json), file->name, error};
  if (file == open_clip) return read_open_clip(config, &fields);
  /* timm has no text towers. */
  return HEED_VISION_TOWERS &&
                 (heed_field(&fields, "architecture") || heed_field(&fields, "pretrained_cfg"))
             ? read_timm(config, &fields)
             : read_hugging_face(config, &fields);
}

heed_status heed_config_open(const heed_context *context, const heed_model_file *files,
                             uint32_t file_count, heed_tower tower, heed_config **config,
                             heed_error *error) {
  *config = NULL;
  heed_config *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, CONFIG_FILE, sizeof *made);
  *made = (heed_config){.context = context, .tower = tower, .model_type = ""};
  const heed_status status = read_files(made, files, file_count, error);
  if (status == HEED_OK)
    *config = made;
  else
    heed_config_destroy(made);
  return status;
}

void heed_config_destroy(heed_config *config) {
  if (!config) return;
  const heed_context *context = config->context;
  heed_free(context, config->labels);
  heed_json_destroy(config->preprocessor);
  heed_json_destroy(config->json);
  heed_free(context, config);
}

const char *heed_config_label(const heed_config *config, uint32_t index) {
  return index < config->label_count ? config->labels[index] : NULL;
}
