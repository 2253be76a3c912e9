/* Typed reading of the members of a config's object, with the sentence for each way to be wrong. */
#ifndef HEED_MODEL_CONFIG_FIELDS_H
#define HEED_MODEL_CONFIG_FIELDS_H

#include "base/json.h"

/* No size in a config may be larger; keeps every product of three of them within 64 bits. */
#define HEED_CONFIG_MAX 1048576u

typedef struct heed_fields {
  const heed_json *json;
  heed_json_value object;
  const char *where; /* the file */
  heed_error *error;
} heed_fields;

/* The member, or 0 when absent or null. */
heed_json_value heed_field(const heed_fields *fields, const char *key);
/* INVALID_FILE: "where: key is not valid (found ..., expected ...)". */
heed_status heed_field_fail(const heed_fields *fields, const char *key, heed_json_value found,
                            const char *expected);

/* UNSUPPORTED: "where: what is not supported (found ..., expected ...)". */
heed_status heed_field_refuse(const heed_fields *fields, const char *what, const char *found,
                              const char *expected);

/* A whole number of at least 0, also one written as 4.0 or 4e0. *number stays as it is where it is
 * none. */
bool heed_field_whole(const heed_fields *fields, heed_json_value value, uint64_t *number);

/* Each leaves *to as it is when the member is absent. Of pixels: up to 2^30. */
heed_status heed_field_pixels(const heed_fields *fields, const char *key, uint32_t *to);
heed_status heed_field_size(const heed_fields *fields, const char *key, uint32_t least,
                            uint32_t *to);
heed_status heed_field_float(const heed_fields *fields, const char *key, float *to);
heed_status heed_field_above_zero(const heed_fields *fields, const char *key, float *to);
heed_status heed_field_bool(const heed_fields *fields, const char *key, bool *to);
heed_status heed_field_string(const heed_fields *fields, const char *key, const char **to);
/* The fields of the member, which is an object; where it is absent each of them is. */
heed_status heed_field_object(const heed_fields *fields, const char *key, heed_fields *object);
/* A size, or a list of two equal sizes; a list of two others is UNSUPPORTED. */
heed_status heed_field_square(const heed_fields *fields, const char *key, uint32_t *to);

#endif
