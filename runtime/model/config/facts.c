/* See facts.h. */
#include "model/config/facts.h"

#include <string.h>

#include "base/list.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/config/reader.h"
#include "model/files/source.h"

const char heed_fact_names[] =
    "family, prefix, heads, image_size, patch_size, channels, activation, head_activation, "
    "epsilon, norm, pool, scale, pixels, labels, interpolation_grid, "
    "positions, qkv, stage";

bool heed_is_fact(const char *key) {
  return heed_list_has(
      "family|prefix|heads|image_size|patch_size|channels|activation|head_activation|epsilon|norm|"
      "pool|scale|pixels|labels|interpolation_grid|positions|qkv|stage",
      key);
}

static const char *const pools[] = {[HEED_POOL_CLS] = "cls",
                                    [HEED_POOL_PATCHES] = "patches",
                                    [HEED_POOL_CLS_AND_PATCHES] = "both",
                                    [HEED_POOL_PROBE] = "probe",
                                    [HEED_POOL_END] = "end",
                                    [HEED_POOL_LAST] = "last",
                                    [HEED_POOL_TOKENS] = "tokens"};

const char *const heed_position_words[] = {[HEED_POSITIONS_STORED] = "stored",
                                           [HEED_POSITIONS_NONE] = "none",
                                           [HEED_POSITIONS_SINCOS] = "sincos",
                                           [HEED_POSITIONS_SINES] = "sines"};
const char *const heed_qkv_words[] = {[HEED_QKV_THIRDS] = "thirds",
                                      [HEED_QKV_HEADS] = "heads",
                                      [HEED_QKV_INTERLEAVED] = "interleaved"};

const char *heed_pool_word(heed_pool pool) { return pools[pool]; }

/* Takes the place of a word among some; *to stays where the key is absent. */
static heed_status take_word(const heed_fields *fields, const char *key, const char *const *words,
                             uint32_t count, const char *expected, heed_config_value *to) {
  const char *word = NULL;
  HEED_TRY(heed_field_string(fields, key, &word));
  if (!word) return HEED_OK;
  for (uint32_t i = 0; i < count; i++)
    if (strcmp(words[i], word) == 0) {
      *to = (heed_config_value){i, key, false, fields->where};
      return HEED_OK;
    }
  return heed_field_refuse(fields, key, word, expected);
}

static heed_status take_size(const heed_fields *fields, const char *key, heed_config_value *to) {
  if (!heed_field(fields, key)) return HEED_OK;
  to->where = fields->where;
  return heed_read_size(fields, key, 1, to);
}

static heed_status take_labels(heed_config *config, const heed_fields *fields) {
  const heed_json *json = fields->json;
  const heed_json_value list = heed_field(fields, "labels");
  uint32_t index = 0;
  if (!list) return HEED_OK;
  if (heed_json_kind_of(json, list) != HEED_JSON_ARRAY)
    return heed_field_fail(fields, "labels", list, "a list of strings");
  heed_config_drop_labels(config);
  HEED_TRY(heed_config_labels(config, heed_json_count(json, list), fields->error));
  for (heed_json_value v = heed_json_first(json, list); v; v = heed_json_next(json, list, v))
    HEED_TRY(heed_config_take_label(config, fields, "labels", v, index++));
  return HEED_OK;
}

static heed_status take_family(heed_config *config, const heed_fields *fields) {
  const char *name = NULL;
  HEED_TRY(heed_field_string(fields, "family", &name));
  if (!name) return HEED_OK;
  const heed_family *family;
  for (uint32_t i = 0; (family = heed_family_get(i)); i++)
    if (strcmp(family->name, name) == 0 && family->tower == config->tower) {
      config->said_family = family;
      return HEED_OK;
    }
  return heed_field_refuse(fields, "family", name, "one of those in docs/models.md");
}

static heed_status take_grid(heed_config *config, const heed_fields *fields) {
  const char *name = NULL;
  HEED_TRY(heed_field_string(fields, "interpolation_grid", &name));
  if (!name) return HEED_OK;
  config->said_grid = heed_positions_named(name);
  return config->said_grid
             ? HEED_OK
             : heed_field_refuse(fields, "interpolation_grid", name, heed_position_names);
}

/* What changes rules, by words. */
static heed_status take_rules(heed_config *config, const heed_fields *fields) {
  static const char *const norms[] = {"before", "after"}, *const scales[] = {"head", "width"},
                           *const orders[] = {"channels_first", "channels_last"};
  HEED_TRY(take_word(fields, "norm", norms, 2, "before or after", &config->norm_after));
  HEED_TRY(take_word(fields, "scale", scales, 2, "head or width", &config->scale_by_width));
  HEED_TRY(take_word(fields, "pixels", orders, 2, "channels_first or channels_last",
                     &config->channels_last));
  HEED_TRY(take_word(fields, "positions", heed_position_words, 4, "stored, none, sincos or sines",
                     &config->made_positions));
  HEED_TRY(take_word(fields, "qkv", heed_qkv_words, 3, "thirds, heads or interleaved",
                     &config->qkv_order));
  HEED_TRY(take_word(fields, "pool", pools, sizeof pools / sizeof *pools,
                     "cls, patches, tokens, both or probe", &config->pool));
  uint8_t activation = 0;
  HEED_TRY(heed_config_read_activation(fields, "head_activation", &activation));
  if (heed_field(fields, "head_activation"))
    config->head_activation =
        (heed_config_value){activation, "head_activation", false, fields->where};
  if (heed_field(fields, "activation")) config->activation_said = true;
  HEED_TRY(heed_config_read_activation(fields, "activation", &config->rules.activation));
  if (heed_field(fields, "epsilon")) config->epsilon_said = true;
  return heed_field_above_zero(fields, "epsilon", &config->rules.epsilon);
}

static heed_status take(heed_config *config, const heed_fields *fields) {
  HEED_TRY(take_family(config, fields));
  HEED_TRY(take_size(fields, "heads", &config->heads));
  HEED_TRY(take_size(fields, "image_size", &config->image_size));
  HEED_TRY(take_size(fields, "patch_size", &config->patch));
  HEED_TRY(take_size(fields, "channels", &config->channels));
  HEED_TRY(take_size(fields, "stage", &config->stage));
  HEED_TRY(heed_field_string(fields, "prefix", &config->said_prefix));
  HEED_TRY(take_grid(config, fields));
  HEED_TRY(take_rules(config, fields));
  return take_labels(config, fields);
}

const char *const heed_said_files[HEED_SAID_FILES] = {"names.json", "hints.json"};

heed_status heed_config_take_facts(heed_config *config, const heed_model_file *files,
                                   uint32_t file_count, heed_error *error) {
  for (uint32_t i = 0; i < HEED_SAID_FILES; i++) {
    const heed_model_file *file = heed_find_file(files, file_count, heed_said_files[i]);
    if (!file) continue;
    HEED_TRY(heed_config_read_json(config->context, file, &config->said[i], error));
    const heed_fields fields = {config->said[i], heed_json_root(config->said[i]),
                                heed_said_files[i], error};
    HEED_TRY(take(config, &fields));
  }
  return HEED_OK;
}
