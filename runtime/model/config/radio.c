/* config.json of RADIO in Hugging Face's form: the arguments of its training, of which `model` is
 * the name of timm's architecture. Source: NVlabs/RADIO's hf_model.py, radio_model.py. */
#include <string.h>

#include "base/status.h"
#include "model/config/reader.h"
#include "model/families/timm_architectures.h"

/* The first token of each teacher is a CLS; teachers of one name share theirs. */
static heed_status count_teachers(const heed_fields *args, uint32_t *count) {
  const heed_json *json = args->json;
  const heed_json_value list = heed_field(args, "teachers");
  bool each = false;
  *count = 1;
  HEED_TRY(heed_field_bool(args, "cls_token_per_teacher", &each));
  if (!each) return HEED_OK;
  *count = 0;
  for (heed_json_value v = heed_json_first(json, list); v; v = heed_json_next(json, list, v)) {
    const char *name = "", *other = "";
    bool seen = false;
    (void)heed_json_string(json, heed_json_get(json, v, "name"), &name, NULL);
    for (heed_json_value w = heed_json_first(json, list); *name && !seen && w != v;
         w = heed_json_next(json, list, w))
      seen = heed_json_string(json, heed_json_get(json, w, "name"), &other, NULL) &&
             strcmp(name, other) == 0;
    *count += !seen;
  }
  return HEED_OK;
}

bool heed_config_is_radio(const heed_fields *fields) {
  const heed_json_value args = heed_field(fields, "args");
  if (!heed_field(fields, "max_resolution")) return false; /* another training's */
  return heed_json_kind_of(fields->json, heed_json_get(fields->json, args, "model")) ==
         HEED_JSON_STRING;
}

heed_status heed_config_radio(heed_config *config, const heed_fields *fields) {
  heed_fields args;
  HEED_TRY(heed_field_object(fields, "args", &args));
  HEED_TRY(heed_config_architecture(config, &args, "model"));
  if (strncmp(config->model_type, "vit_", 4) != 0)
    return heed_field_refuse(&args, "model", config->model_type, "RADIO of vit_...");
  if (heed_field(fields, "vitdet_window_size"))
    return heed_field_refuse(fields, "vitdet_window_size", "windows", "none");
  config->plain_pixels = true;
  config->family = &heed_family_radio;
  config->rules = heed_family_radio.rules;
  HEED_TRY(
      heed_architecture_rules(config->model_type, fields->where, &config->rules, fields->error));
  HEED_TRY(heed_config_model_args(config, &args, "model_kwargs"));
  HEED_TRY(heed_read_square(fields, "patch_size", &config->patch));
  HEED_TRY(heed_read_square(fields, "preferred_resolution", &config->preferred_size));
  return count_teachers(&args, &config->summaries);
}
