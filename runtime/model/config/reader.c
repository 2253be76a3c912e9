#include "model/config/reader.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"

heed_status heed_config_labels(heed_config *config, uint32_t count, heed_error *error) {
  const heed_config_value *classes = &config->classes;
  if (classes->value && count > classes->value)
    return heed_fail(error, HEED_INVALID_FILE,
                     "config.json: more labels than classes (found %u, expected at most %s %u)",
                     count, classes->key, classes->value);
  config->labels = heed_alloc(config->context, count ? count : 1, sizeof *config->labels);
  if (!config->labels)
    return heed_fail_memory(error, "config.json", count * sizeof *config->labels);
  config->label_count = count;
  return HEED_OK;
}

heed_status heed_config_take_label(heed_config *config, const heed_fields *fields, const char *key,
                                   heed_json_value value, uint32_t index) {
  int64_t number;
  if (heed_json_string(fields->json, value, &config->labels[index], NULL)) return HEED_OK;
  if (!heed_json_i64(fields->json, value, &number))
    return heed_field_fail(fields, key, value, "a string or a whole number");
  if (!config->label_numbers)
    config->label_numbers =
        heed_alloc(config->context, config->label_count, sizeof *config->label_numbers);
  if (!config->label_numbers)
    return heed_fail_memory(fields->error, fields->where,
                            config->label_count * sizeof *config->label_numbers);
  snprintf(config->label_numbers[index], sizeof *config->label_numbers, "%" PRId64, number);
  config->labels[index] = config->label_numbers[index];
  return HEED_OK;
}

static void take_key(const heed_fields *fields, const char *key, heed_config_value *to) {
  if (!heed_field(fields, key)) return;
  to->key = key;
  to->by_default = false;
}

heed_status heed_read_size(const heed_fields *fields, const char *key, uint32_t least,
                           heed_config_value *to) {
  take_key(fields, key, to);
  return heed_field_size(fields, key, least, &to->value);
}

heed_status heed_read_square(const heed_fields *fields, const char *key, heed_config_value *to) {
  take_key(fields, key, to);
  return heed_field_square(fields, key, &to->value);
}

heed_status heed_read_bool(const heed_fields *fields, const char *key, heed_config_value *to) {
  bool value = to->value;
  take_key(fields, key, to);
  HEED_TRY(heed_field_bool(fields, key, &value));
  to->value = value;
  return HEED_OK;
}

heed_status heed_config_refuse(const heed_fields *fields, const char *what, const char *options) {
  for (const char *at = options; *at; at = heed_next_pattern(at)) {
    bool on = true;
    const heed_json_value value = heed_field(fields, at);
    if (value && (!heed_json_bool(fields->json, value, &on) || on))
      return heed_fail(fields->error, HEED_UNSUPPORTED,
                       "%s: %s with %s is not supported (expected a plain tower)", fields->where,
                       what, at);
  }
  return HEED_OK;
}
