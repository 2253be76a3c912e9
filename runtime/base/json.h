/* A strict JSON reader (RFC 8259) for the small documents that come with models: safetensors
 * headers, configs, attributes.
 *
 * No recursion; nesting is at most HEED_JSON_MAX_DEPTH. Text must be UTF-8; escapes are decoded, an
 * unpaired surrogate is an error, and so is a key that occurs twice in one object. Numbers stay
 * text until they are asked for. Nothing depends on the locale. A document is one array of nodes
 * over its own copy of the text; every sentence of an error names the byte it is about. */
#ifndef HEED_BASE_JSON_H
#define HEED_BASE_JSON_H

#include "base/context.h"

#define HEED_JSON_MAX_DEPTH 64

typedef enum heed_json_kind {
  HEED_JSON_NONE = 0, /* of the value 0 */
  HEED_JSON_NULL,
  HEED_JSON_FALSE,
  HEED_JSON_TRUE,
  HEED_JSON_NUMBER,
  HEED_JSON_STRING,
  HEED_JSON_ARRAY,
  HEED_JSON_OBJECT
} heed_json_kind;

typedef struct heed_json heed_json;
/* A value of one document; 0 = none. Every function here accepts 0. */
typedef uint32_t heed_json_value;

/* Copies the text; `where` begins the sentences of errors and is not kept. Statuses: INVALID_FILE,
 * OUT_OF_MEMORY. */
heed_status heed_json_parse(const heed_context *context, const void *text, size_t size,
                            const char *where, heed_json **json, heed_error *error);
/* The same over text from heed_alloc, which it owns from here on, also when it fails. */
heed_status heed_json_take(const heed_context *context, char *text, size_t size, const char *where,
                           heed_json **json, heed_error *error);
/* The same of what Python writes and editors add: NaN, Infinity and -Infinity are numbers that no
 * function gives, and a byte-order mark may come first. */
heed_status heed_json_take_python(const heed_context *context, char *text, size_t size,
                                  const char *where, heed_json **json, heed_error *error);
void heed_json_destroy(heed_json *json);

heed_json_value heed_json_root(const heed_json *json);
heed_json_kind heed_json_kind_of(const heed_json *json, heed_json_value value);
/* "an object": for sentences. */
const char *heed_json_kind_name(heed_json_kind kind);
/* Where the value starts in the text. */
size_t heed_json_offset(const heed_json *json, heed_json_value value);

/* Elements of an array or members of an object; 0 for everything else. */
uint32_t heed_json_count(const heed_json *json, heed_json_value container);
/* for (v = first(json, c); v; v = next(json, c, v)) visits elements, or the values of members, in
 * order. */
heed_json_value heed_json_first(const heed_json *json, heed_json_value container);
heed_json_value heed_json_next(const heed_json *json, heed_json_value container,
                               heed_json_value value);
/* The key of a member visited that way. NUL-terminated; may hold further NULs, so `length`
 * (nullable) is what counts. */
const char *heed_json_key(const heed_json *json, heed_json_value member, size_t *length);
/* The member of this key; 0 when absent or when `object` is not one. Takes time linear in the
 * members. */
heed_json_value heed_json_get(const heed_json *json, heed_json_value object, const char *key);

/* The value as C; false, and nothing written, when it is of another kind or does not fit. Strings
 * as for keys.
 * u64 and i64 take integers written without fraction or exponent. A double is the nearest one (ties
 * to even). */
bool heed_json_string(const heed_json *json, heed_json_value value, const char **text,
                      size_t *length);
bool heed_json_u64(const heed_json *json, heed_json_value value, uint64_t *number);
bool heed_json_i64(const heed_json *json, heed_json_value value, int64_t *number);
bool heed_json_double(const heed_json *json, heed_json_value value, double *number);
/* False of NaN and infinities, and of what is no number. */
bool heed_json_finite(const heed_json *json, heed_json_value value);
bool heed_json_bool(const heed_json *json, heed_json_value value, bool *flag);

#endif
