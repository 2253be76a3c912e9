/* The files of a config, and which style they are of. */
#include "model/config/config.h"

#include <string.h>

#include "base/alloc.h"
#include "base/list.h"
#include "base/status.h"
#include "model/config/facts.h"
#include "model/config/named.h"
#include "model/config/reader.h"
#include "model/files/source.h"

#define CONFIG_FILE "config.json"
#define OPEN_CLIP_FILE "open_clip_config.json"
#define PREPROCESSOR_FILE "preprocessor_config.json"
#define PROCESSOR_FILE "processor_config.json"
#define MAX_FILE_BYTES (64u << 20)

heed_status heed_config_read_json(const heed_context *context, const heed_model_file *file,
                                  heed_json **json, heed_error *error) {
  char *text;
  HEED_TRY(heed_source_text(context, &file->source, file->name, MAX_FILE_BYTES, &text, error));
  HEED_TRY(
      heed_json_take_python(context, text, (size_t)file->source.size, file->name, json, error));
  const heed_json_kind kind = heed_json_kind_of(*json, heed_json_root(*json));
  if (kind == HEED_JSON_OBJECT) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE, "%s: it is not an object (found %s)", file->name,
                   heed_json_kind_name(kind));
}

/* The member of this name that describes an image processor, whatever its value; 0: none. */
static heed_json_value describes(const heed_json *json, const char *name) {
  static const char *const keys[] = {"image_processor_type", "image_mean", "size", "do_resize"};
  const heed_json_value value = heed_json_get(json, heed_json_root(json), name);
  bool of_images = strcmp(name, "image_processor") == 0; /* else it may be of sounds */
  if (heed_json_kind_of(json, value) == HEED_JSON_NULL) return 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys && !of_images; i++)
    of_images = heed_json_get(json, value, keys[i]) != 0;
  return of_images ? value : 0;
}

/* transformers 5 keeps the description inside processor_config.json, and takes it there first; the
 * files of that name of version 4 have none. */
heed_status heed_config_find_processor(heed_config *config, const heed_model_file *files,
                                       uint32_t file_count, heed_error *error) {
  static const char *const names[] = {PROCESSOR_FILE, PREPROCESSOR_FILE};
  const char *type = NULL;
  for (int i = 0; i < 2 && !config->processor; i++) {
    const heed_model_file *file = heed_find_file(files, file_count, names[i]);
    if (!file) continue;
    heed_json_destroy(config->preprocessor);
    config->preprocessor = NULL;
    HEED_TRY(heed_config_read_json(config->context, file, &config->preprocessor, error));
    config->processor_file = names[i];
    config->processor = describes(config->preprocessor, "image_processor");
    if (!config->processor)
      config->processor = describes(config->preprocessor, "feature_extractor");
    if (!config->processor && i) config->processor = heed_json_root(config->preprocessor);
  }
  /* the class that reads config.json */
  if (config->processor &&
      heed_json_string(
          config->preprocessor,
          heed_json_get(config->preprocessor, config->processor, "image_processor_type"), &type,
          NULL) &&
      strncmp(type, "TimmWrapperImageProcessor", 25) == 0)
    config->processor = 0;
  return HEED_OK;
}

const char *heed_config_class(const heed_json *json) {
  const char *text = "";
  heed_json_string(
      json, heed_json_first(json, heed_json_get(json, heed_json_root(json), "architectures")),
      &text, NULL);
  return text;
}

bool heed_config_is_sequence(const char *class_name) {
  return heed_list_has("HeedTransformer|HeedSeq2Seq", class_name);
}

static heed_status refuse_sequence(const heed_fields *fields) {
  const char *name = heed_config_class(fields->json);
  if (!heed_config_is_sequence(name)) return HEED_OK;
  return heed_fail(fields->error, HEED_UNSUPPORTED,
                   "%s: an encoder-decoder (found %s, expected a vision transformer or a tower of "
                   "texts; heed_sequence_open of heed/sequences.h opens it)",
                   fields->where, name);
}

static heed_status read_files(heed_config *config, const heed_model_file *files,
                              uint32_t file_count, heed_error *error) {
  const heed_model_file *file = heed_find_file(files, file_count, CONFIG_FILE),
                        *open_clip = heed_find_file(files, file_count, OPEN_CLIP_FILE);
  HEED_TRY(heed_config_find_processor(config, files, file_count, error));
  if (!file) file = open_clip;
  if (!file) return HEED_OK;
  HEED_TRY(heed_config_read_json(config->context, file, &config->json, error));
  const heed_fields fields = {config->json, heed_json_root(config->json), file->name, error};
  if (file == open_clip) return heed_config_open_clip(config, &fields);
  if (heed_config_is_radio(&fields)) return heed_config_radio(config, &fields);
  HEED_TRY(refuse_sequence(&fields));
  return heed_field(&fields, "architecture") || heed_field(&fields, "pretrained_cfg")
             ? heed_config_timm(config, &fields)
             : heed_config_hugging_face(config, &fields);
}

heed_status heed_config_open(const heed_context *context, const heed_model_file *files,
                             uint32_t file_count, heed_tower tower, heed_config **config,
                             heed_error *error) {
  *config = NULL;
  heed_config *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, CONFIG_FILE, sizeof *made);
  *made = (heed_config){.context = context, .tower = tower, .model_type = ""};
  heed_status status = read_files(made, files, file_count, error);
  if (status == HEED_OK) status = heed_config_take_facts(made, files, file_count, error);
  if (status == HEED_OK && made->stage.value)
    status = heed_fail(error, HEED_UNSUPPORTED,
                       "%s: stage is of ONNX graphs alone (found weights; --way graph)",
                       made->stage.where);
  if (status == HEED_OK) status = heed_config_take_names(made, error);
  if (status == HEED_OK)
    *config = made;
  else
    heed_config_destroy(made);
  return status;
}

void heed_config_drop_labels(heed_config *config) {
  heed_free(config->context, config->label_numbers);
  heed_free(config->context, config->labels);
  config->label_numbers = NULL;
  config->labels = NULL;
  config->label_count = 0;
}

void heed_config_destroy(heed_config *config) {
  if (!config) return;
  const heed_context *context = config->context;
  heed_config_drop_labels(config);
  for (int i = 0; i < HEED_SAID_FILES; i++) heed_json_destroy(config->said[i]);
  heed_free(context, config->named.text);
  heed_json_destroy(config->preprocessor);
  heed_json_destroy(config->json);
  heed_free(context, config);
}

const char *heed_config_label(const heed_config *config, uint32_t index) {
  return index < config->label_count ? config->labels[index] : NULL;
}
