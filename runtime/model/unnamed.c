/* The JSON files of a model without a family. See unnamed.h. */
#include "model/unnamed.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/config_fields.h"
#include "model/source.h"

static const heed_family unknown = {.processor = "ViT"};

static heed_status read_json(const heed_config *config, const heed_model_file *file,
                             heed_json **json, heed_error *error) {
  return file ? heed_config_read_json(config->context, file, json, error) : HEED_OK;
}

heed_status heed_unnamed_open(const heed_context *context, const heed_model_file *files,
                              uint32_t count, heed_config **config, heed_error *error) {
  heed_config *made = *config = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "config.json", sizeof *made);
  *made = (heed_config){.context = context, .model_type = ""};
  heed_status status =
      read_json(made, heed_find_file(files, count, "config.json"), &made->json, error);
  if (status == HEED_OK)
    status = read_json(made, heed_find_file(files, count, "preprocessor_config.json"),
                       &made->preprocessor, error);
  if (status != HEED_OK) {
    heed_config_destroy(made);
    *config = NULL;
  }
  return status;
}

heed_status heed_unnamed_preprocess(const heed_config *config, uint32_t side,
                                    heed_preprocess *preprocess, heed_error *error) {
  return heed_config_preprocess(config, &unknown, side, preprocess, error);
}

uint32_t heed_unnamed_side(const heed_config *config) {
  heed_preprocess p;
  heed_error ignored;
  uint32_t side = 0;
  if (config->json) {
    heed_fields fields = {config->json, heed_json_root(config->json), "config.json", &ignored};
    if (!heed_field(&fields, "image_size"))
      fields.object = heed_json_get(config->json, fields.object, "vision_config");
    if (fields.object && heed_field_size(&fields, "image_size", 1, &side) != HEED_OK) side = 0;
  }
  if (side || !config->preprocessor ||
      heed_unnamed_preprocess(config, 224, &p, &ignored) != HEED_OK)
    return side;
  return p.crop_height ? p.crop_height : p.height ? p.height : p.short_side;
}

const char *heed_unnamed_label(const heed_config *config, uint32_t index) {
  const heed_json *json = config->json;
  const char *text;
  char key[16];
  snprintf(key, sizeof key, "%u", (unsigned)index);
  const heed_json_value map = json ? heed_json_get(json, heed_json_root(json), "id2label") : 0;
  return map && heed_json_string(json, heed_json_get(json, map, key), &text, NULL) ? text : NULL;
}
