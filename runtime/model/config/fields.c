/* Typed reading of the members of a config's object. */
#include "model/config/fields.h"

#include <math.h>

#include "base/status.h"
#include "base/utf8.h"

heed_json_value heed_field(const heed_fields *fields, const char *key) {
  const heed_json_value value = heed_json_get(fields->json, fields->object, key);
  return heed_json_kind_of(fields->json, value) == HEED_JSON_NULL ? 0 : value;
}

heed_status heed_field_fail(const heed_fields *fields, const char *key, heed_json_value found,
                            const char *expected) {
  const heed_json_kind kind = heed_json_kind_of(fields->json, found);
  return heed_fail(fields->error, HEED_INVALID_FILE,
                   "%s: %s is not valid (found %s at byte %zu, expected %s)", fields->where, key,
                   kind == HEED_JSON_NUMBER && !heed_json_finite(fields->json, found)
                       ? "NaN or an infinity"
                       : heed_json_kind_name(kind),
                   heed_json_offset(fields->json, found), expected);
}

heed_status heed_field_refuse(const heed_fields *fields, const char *what, const char *found,
                              const char *expected) {
  return heed_fail(fields->error, HEED_UNSUPPORTED,
                   "%s: %s is not supported (found %.*s, expected %s)", fields->where, what,
                   HEED_CUT(found), expected);
}

bool heed_field_whole(const heed_fields *fields, heed_json_value value, uint64_t *number) {
  double written;
  if (heed_json_u64(fields->json, value, number)) return true;
  if (!heed_json_double(fields->json, value, &written) || !(written >= 0.0 && written < 0x1p53) ||
      (double)(uint64_t)written != written)
    return false;
  *number = (uint64_t)written;
  return true;
}

static bool is_size(const heed_fields *fields, heed_json_value value, uint32_t least,
                    uint32_t *to) {
  uint64_t number;
  if (!heed_field_whole(fields, value, &number) || number < least || number > HEED_CONFIG_MAX)
    return false;
  *to = (uint32_t)number;
  return true;
}

heed_status heed_field_size(const heed_fields *fields, const char *key, uint32_t least,
                            uint32_t *to) {
  const heed_json_value value = heed_field(fields, key);
  if (!value || is_size(fields, value, least, to)) return HEED_OK;
  return heed_field_fail(
      fields, key, value,
      least ? "a whole number from 1 to 1048576" : "a whole number from 0 to 1048576");
}

heed_status heed_field_pixels(const heed_fields *fields, const char *key, uint32_t *to) {
  const heed_json_value value = heed_field(fields, key);
  uint64_t number = 0;
  if (!value) return HEED_OK;
  if (!heed_field_whole(fields, value, &number) || number == 0 || number > 1u << 30)
    return heed_field_fail(fields, key, value, "a whole number from 1 to 1073741824");
  *to = (uint32_t)number;
  return HEED_OK;
}

heed_status heed_field_float(const heed_fields *fields, const char *key, float *to) {
  const heed_json_value value = heed_field(fields, key);
  double number;
  if (!value) return HEED_OK;
  if (!heed_json_double(fields->json, value, &number) || !isfinite((float)number))
    return heed_field_fail(fields, key, value, "a number");
  *to = (float)number;
  return HEED_OK;
}

heed_status heed_field_bool(const heed_fields *fields, const char *key, bool *to) {
  const heed_json_value value = heed_field(fields, key);
  if (!value || heed_json_bool(fields->json, value, to)) return HEED_OK;
  return heed_field_fail(fields, key, value, "true or false");
}

heed_status heed_field_string(const heed_fields *fields, const char *key, const char **to) {
  const heed_json_value value = heed_field(fields, key);
  if (!value || heed_json_string(fields->json, value, to, NULL)) return HEED_OK;
  return heed_field_fail(fields, key, value, "a string");
}

heed_status heed_field_object(const heed_fields *fields, const char *key, heed_fields *object) {
  const heed_json_value value = heed_field(fields, key);
  *object = (heed_fields){fields->json, value, fields->where, fields->error};
  if (!value || heed_json_kind_of(fields->json, value) == HEED_JSON_OBJECT) return HEED_OK;
  return heed_field_fail(fields, key, value, "an object");
}

heed_status heed_field_square(const heed_fields *fields, const char *key, uint32_t *to) {
  const heed_json_value value = heed_field(fields, key);
  if (heed_json_kind_of(fields->json, value) != HEED_JSON_ARRAY)
    return heed_field_size(fields, key, 1, to);
  const heed_json_value first = heed_json_first(fields->json, value),
                        second = first ? heed_json_next(fields->json, value, first) : 0;
  uint32_t height, width;
  if (heed_json_count(fields->json, value) != 2 || !is_size(fields, first, 1, &height) ||
      !is_size(fields, second, 1, &width))
    return heed_field_fail(fields, key, value, "a whole number or two of them");
  if (height != width)
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: %s is not supported (found %u x %u, expected a square)", fields->where,
                     key, height, width);
  *to = height;
  return HEED_OK;
}

heed_status heed_field_above_zero(const heed_fields *fields, const char *key, float *to) {
  HEED_TRY(heed_field_float(fields, key, to));
  const heed_json_value value = heed_field(fields, key);
  return !value || *to > 0.0f ? HEED_OK : heed_field_fail(fields, key, value, "a number above 0");
}
