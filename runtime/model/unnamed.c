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

heed_status heed_unnamed_preprocess(const heed_config *config, uint32_t side, float range,
                                    heed_preprocess *preprocess, heed_error *error) {
  HEED_TRY(heed_config_preprocess(config, &unknown, side, preprocess, error));
  if (!(range > 0.0f)) return HEED_OK;
  preprocess->rescale = range / 255.0f;
  for (uint32_t c = 0; c < 3; c++) {
    preprocess->mean[c] = 0.0f;
    preprocess->std[c] = 1.0f;
  }
  return HEED_OK;
}

void heed_unnamed_assumed(const heed_config *config, float range, const char *before, char *text,
                          size_t size) {
  if (range > 0.0f)
    snprintf(
        text, size, "%s%spixels of 0 to %.0f, which the graph normalises itself%s", before,
        config->preprocessor ? "" : "bilinear resizing; ", (double)range,
        config->preprocessor ? " (mean and std of preprocessor_config.json are not used)" : "");
  else if (!config->preprocessor)
    snprintf(text, size, "%spreprocessing of ViT (mean 0.5, std 0.5)", before);
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
      heed_unnamed_preprocess(config, 224, 0.0f, &p, &ignored) != HEED_OK)
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
