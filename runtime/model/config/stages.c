/* What the config of a family with stages says of them, as transformers' SwinConfig has it. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "model/config/reader.h"

/* A list of whole numbers from `least` on, one a stage; an absent key changes nothing. */
static heed_status read_list(const heed_fields *fields, const char *key, uint32_t least,
                             uint32_t numbers[HEED_MOST_STAGES], uint32_t *count) {
  const heed_json *json = fields->json;
  const heed_json_value list = heed_field(fields, key);
  if (!list) return HEED_OK;
  bool sound = heed_json_kind_of(json, list) == HEED_JSON_ARRAY &&
               heed_json_count(json, list) <= HEED_MOST_STAGES;
  for (heed_json_value v = sound ? heed_json_first(json, list) : 0; v && sound;
       v = heed_json_next(json, list, v)) {
    uint64_t number = 0;
    sound = heed_field_whole(fields, v, &number) && number >= least && number < HEED_CONFIG_MAX;
    numbers[(*count)++] = (uint32_t)number;
  }
  return sound ? HEED_OK : heed_field_fail(fields, key, list, "a list of at most 8 whole numbers");
}

heed_status heed_config_stages(heed_config *config, const heed_fields *fields) {
  const heed_config_defaults *defaults = &config->family->defaults;
  if (!defaults->stage_window) return HEED_OK;
  HEED_TRY(read_list(fields, "depths", 1, config->stage_blocks, &config->stage_blocks_count));
  HEED_TRY(read_list(fields, "num_heads", 1, config->stage_heads, &config->stage_heads_count));
  HEED_TRY(read_list(fields, "pretrained_window_sizes", 0, config->trained_windows,
                     &config->trained_windows_count));
  config->absolute_positions = (heed_config_value){false, "use_absolute_embeddings", true};
  HEED_TRY(heed_read_bool(fields, "use_absolute_embeddings", &config->absolute_positions));
  config->stage_window = (heed_config_value){defaults->stage_window, "window_size", true};
  return heed_read_square(fields, "window_size", &config->stage_window);
}

void heed_config_named_windows(heed_config *config, const char *architecture) {
  const char *at = strstr(architecture, "window");
  char *end = NULL;
  const unsigned long first = at ? strtoul(at + strlen("window"), &end, 10) : 0;
  if (!first || first >= HEED_CONFIG_MAX) return;
  const unsigned long later = strncmp(end, "to", 2) == 0 ? strtoul(end + 2, NULL, 10) : 0;
  if (later >= HEED_CONFIG_MAX) return;
  for (uint32_t i = 0; later && i < 4;
       i++) /* trained with `first`; the last stage has half of it */
    config->trained_windows[config->trained_windows_count++] =
        (uint32_t)(i < 3 ? first : first / 2);
  config->stage_window =
      (heed_config_value){(uint32_t)(later ? later : first), "architecture", false};
}
