/* The JSON files of a model without a family. See unknown_family.h. */
#include "model/config/unknown_family.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/config/facts.h"
#include "model/config/fields.h"
#include "model/files/source.h"

static const heed_family unknown = {.processor = "ViT"};

/* config.json, else that of open_clip. */
static heed_status read_json(heed_config *config, const heed_model_file *files, uint32_t count,
                             heed_error *error) {
  const heed_model_file *file = heed_find_file(files, count, "config.json");
  if (!file) file = heed_find_file(files, count, "open_clip_config.json");
  if (!file) return HEED_OK;
  HEED_TRY(heed_config_read_json(config->context, file, &config->json, error));
  const heed_fields fields = {config->json, heed_json_root(config->json), file->name, error};
  config->timm = heed_field(&fields, "pretrained_cfg") != 0;
  return HEED_OK;
}

heed_status heed_unnamed_open(const heed_context *context, const heed_model_file *files,
                              uint32_t count, heed_config **config, heed_error *error) {
  heed_config *made = *config = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "config.json", sizeof *made);
  *made = (heed_config){.context = context, .model_type = ""};
  heed_status status = read_json(made, files, count, error);
  if (status == HEED_OK) status = heed_config_find_processor(made, files, count, error);
  if (status == HEED_OK) status = heed_config_take_facts(made, files, count, error);
  if (status != HEED_OK) {
    heed_config_destroy(made);
    *config = NULL;
  }
  return status;
}

uint32_t heed_unnamed_stage(const heed_config *config) { return config->stage.value; }

heed_status heed_unnamed_preprocess(const heed_config *config, uint32_t side, uint32_t channels,
                                    float range, heed_preprocess *preprocess, heed_error *error) {
  HEED_TRY(heed_config_preprocess(config, &unknown, side, channels, preprocess, error));
  if (!(range > 0.0f)) return HEED_OK;
  preprocess->rescale = range / 255.0f;
  for (uint32_t c = 0; c < channels; c++) {
    preprocess->mean[c] = 0.0f;
    preprocess->std[c] = 1.0f;
  }
  return HEED_OK;
}

void heed_unnamed_assumed(const heed_config *config, float range, uint32_t order,
                          const char *before, char *text, size_t size) {
  static const char *const orders[] = {
      "", "tokens in heed's order, CLS and registers before the patches (the graph has another)",
      "order of tokens: CLS and registers, then the patches row by row",
      "maps of windows put where they lie, patches row by row",
      "maps put where they lie, patches row by row; patches share the weight of their merged key"};
  char left_out[160];
  heed_config_left_out(config, unknown.processor, left_out, sizeof left_out);
  const bool told = heed_config_tells_preprocess(config);
  char unused[80] = "";
  size_t at = 0;
  if (told)
    snprintf(unused, sizeof unused, " (mean and std of %s are not used)",
             config->processor ? config->processor_file : "config.json");
  if (range > 0.0f)
    at =
        (size_t)snprintf(text, size, "%s%spixels of 0 to %.0f, which the graph normalises itself%s",
                         before, told ? "" : "bilinear resizing; ", (double)range, unused);
  else if (!told)
    at = (size_t)snprintf(text, size, "%spreprocessing of ViT (mean 0.5, std 0.5)", before);
  if (*left_out && at < size) snprintf(text + at, size - at, "%s%s", at ? "; " : before, left_out);
  at = strlen(text);
  if (order != HEED_ORDER_OWN && at < size)
    snprintf(text + at, size - at, "%s%s", at ? "; " : before, orders[order]);
}

/* The height of pretrained_cfg's input_size [channels, height, width]; 0: it has none. */
static uint32_t timm_side(const heed_fields *root) {
  const heed_json *json = root->json;
  const heed_json_value cfg = heed_json_get(json, root->object, "pretrained_cfg"),
                        list = heed_json_get(json, cfg, "input_size");
  uint64_t side = 0;
  if (heed_json_kind_of(json, list) != HEED_JSON_ARRAY || heed_json_count(json, list) != 3 ||
      !heed_field_whole(root, heed_json_next(json, list, heed_json_first(json, list)), &side) ||
      side > HEED_CONFIG_MAX)
    return 0;
  return (uint32_t)side;
}

/* image_size of the root or of the objects that have it in configs of images and texts. */
static uint32_t image_size_of(const heed_fields *root) {
  static const char *const inside[] = {"", "vision_config", "model_cfg", "vision_cfg"};
  heed_fields fields = *root;
  uint32_t side = 0;
  for (int i = 0; i < 4 && !side; i++) {
    const heed_json_value at =
        i ? heed_json_get(root->json, fields.object, inside[i]) : root->object;
    if (!at) continue;
    fields.object = at;
    if (heed_field_size(&fields, "image_size", 1, &side) != HEED_OK) side = 0;
  }
  return side;
}

uint32_t heed_unnamed_side(const heed_config *config) {
  heed_preprocess p;
  heed_error ignored;
  uint32_t side = 0;
  if (config->json) {
    const heed_fields root = {config->json, heed_json_root(config->json), "config.json", &ignored};
    side = config->timm ? timm_side(&root) : image_size_of(&root);
  }
  if (side || !config->processor ||
      heed_unnamed_preprocess(config, 224, 3, 0.0f, &p, &ignored) != HEED_OK)
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
