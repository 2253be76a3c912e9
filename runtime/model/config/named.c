/* See named.h. */
#include "model/config/named.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "model/config/facts.h"

enum { MOST_NAME = 300 }; /* bytes of a name; a pattern has a few more */

/* Of each role: its key in capitals, "" of the bias of a pair; whether layers have it; its shape's
 * first letter. */
typedef struct role_facts {
  const char *key, *name;
  char first;
  bool pair;
} role_facts;
#define HEED_ROLE(key, group, shape, name) {#key, name, shape[0], false},
#define HEED_ROLE_PAIR(key, group, bias_group, shape, name) \
  {#key, name, shape[0], true}, {"", name, 'C', false},
static const role_facts roles[HEED_ROLE_COUNT] = {
#include "model/names/role_list.h"
};
#undef HEED_ROLE
#undef HEED_ROLE_PAIR

static char small(char c) { return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c; }

void heed_role_key(heed_role role, char key[64]) {
  const char *from = *roles[role].key ? roles[role].key : roles[role - 1].key;
  const bool classifier = role == HEED_ROLE_CLASSIFIER_WEIGHT || role == HEED_ROLE_CLASSIFIER_BIAS;
  size_t length = 0;
  if (classifier) from = "CLASSIFIER";
  for (; from[length] && length < 63; length++) key[length] = small(from[length]);
  key[length] = '\0';
}

static bool is_pair(heed_role role) {
  return roles[role].pair || role == HEED_ROLE_CLASSIFIER_WEIGHT;
}

/* The role of a key; `*end` is what follows it: "", ".weight" or ".bias". HEED_ROLE_COUNT: none. */
static heed_role find_role(const char *key, const char **end) {
  for (int i = 0; i < HEED_ROLE_COUNT; i++) {
    const heed_role role = (heed_role)i;
    char own[64];
    if (!*roles[i].key || role == HEED_ROLE_CLASSIFIER_BIAS) continue;
    heed_role_key(role, own);
    const size_t length = strlen(own);
    if (strncmp(key, own, length) != 0) continue;
    *end = key + length;
    if (!**end || (is_pair(role) && (strcmp(*end, ".weight") == 0 || strcmp(*end, ".bias") == 0)))
      return role;
  }
  return HEED_ROLE_COUNT;
}

/* A value that is read: its name as a pattern, then its marks. */
typedef struct reading {
  const heed_fields *fields;
  const char *key;
  heed_json_value value;
  char *out;
  size_t length;
} reading;

static heed_status refuse(const reading *r, const char *expected) {
  return heed_field_fail(r->fields, r->key, r->value, expected);
}

static void put(reading *r, char c) { r->out[r->length++] = c; }

/* The name up to a space or the end; `layered`: whether it must have the layer's number. */
static heed_status read_name(reading *r, const char **text, bool layered, bool pair) {
  bool has_layer = false;
  const char *at = *text;
  put(r, '=');
  for (; *at && *at != ' '; at++) {
    if (r->length > MOST_NAME) return refuse(r, "a name of at most 300 bytes");
    if (strncmp(at, "{i}", 3) == 0 || strncmp(at, "{h}", 3) == 0) {
      has_layer = has_layer || at[1] == 'i';
      put(r, at[1] == 'i' ? '#' : '%');
      at += 2;
    } else if (*at == '*') {
      if (!pair || (at[1] && at[1] != ' ') || (at[-1] != '.' && at[-1] != '_'))
        return refuse(r, "* at the end alone, behind . or _, where weight and bias follow");
    } else if (strchr("|@~^<?!#%{}$&=", *at)) {
      return refuse(r, "a name with {i} for the layer, {h} for the head and * for weight and bias");
    } else {
      put(r, *at);
    }
  }
  if (at == *text || (at[-1] != '*' && (at[-1] == '.' || at[-1] == '_')))
    return refuse(r, "the name of a tensor, or one that ends with .* or _*");
  *text = at;
  if (has_layer == layered) return HEED_OK;
  return refuse(r, layered ? "a name with {i} for the layer" : "a name without {i}");
}

static bool is_digit(char c) { return c >= '1' && c <= '9'; }

static heed_status read_marks(reading *r, const char *at) {
  while (*at == ' ') {
    at++;
    if (is_digit(at[0]) && at[1] == '/' && is_digit(at[2]) && at[0] <= at[2]) {
      put(r, '@');
      put(r, (char)(at[0] - 1));
      put(r, '/');
      put(r, at[2]);
      at += 3;
    } else if (strncmp(at, "transposed", 10) == 0) {
      put(r, '^');
      at += 10;
    }
  }
  return *at ? refuse(r, "after the name nothing, 1/3 for a third of the rows, or transposed")
             : HEED_OK;
}

static heed_status take_name(heed_config *config, const heed_fields *fields, const char *key,
                             heed_json_value value) {
  const char *end, *text;
  size_t length;
  reading r = {fields, key, value, NULL, 0};
  const heed_role role = find_role(key, &end);
  if (role == HEED_ROLE_COUNT)
    return heed_fail(fields->error, HEED_INVALID_FILE,
                     "%s: unknown key (found %.*s, expected a role, such as query, or one of %s)",
                     fields->where, HEED_CUT(key), heed_fact_names);
  if (!heed_json_string(fields->json, value, &text, &length) || strlen(text) != length)
    return refuse(&r, "a string");
  heed_named *named = &config->named;
  if (!heed_grow(config->context, &named->text, &named->capacity, named->length + MOST_NAME + 16,
                 1))
    return heed_fail_memory(fields->error, fields->where, named->length + MOST_NAME);
  r.out = named->text + named->length;
  HEED_TRY(read_name(&r, &text, strchr(roles[role].name, '#') != NULL, is_pair(role) && !*end));
  HEED_TRY(read_marks(&r, text));
  if (roles[role].first == '1') put(&r, '<');
  put(&r, '\0');
  named->text[named->length + r.length] = '\0';
  named->length += r.length;
  named->roles[named->count++] = (uint8_t)(role + (strcmp(end, ".bias") == 0));
  return HEED_OK;
}

static heed_status take_names(heed_config *config, const heed_fields *fields) {
  const heed_json *json = fields->json;
  for (heed_json_value v = heed_json_first(json, fields->object); v;
       v = heed_json_next(json, fields->object, v)) {
    const char *key = heed_json_key(json, v, NULL);
    if (heed_is_fact(key)) continue;
    if (config->named.count == HEED_MOST_NAMED)
      return heed_fail(fields->error, HEED_INVALID_FILE, "%s: too many names (expected at most %d)",
                       fields->where, HEED_MOST_NAMED);
    HEED_TRY(take_name(config, fields, key, v));
  }
  return HEED_OK;
}

heed_status heed_config_take_names(heed_config *config, heed_error *error) {
  for (int i = HEED_SAID_FILES - 1; i >= 0; i--) { /* the first name of a role counts */
    const heed_fields fields = {config->said[i], heed_json_root(config->said[i]),
                                heed_said_files[i], error};
    if (config->said[i]) HEED_TRY(take_names(config, &fields));
  }
  if (config->named.count)
    config->named.names = (heed_names){NULL, NULL, config->named.text, config->named.roles};
  return HEED_OK;
}

const char *heed_named_pattern(const heed_names *names, heed_role role) {
  const uint8_t *row = names->roles;
  for (const char *at = names->patterns; at && *at; at = heed_next_pattern(at), row++)
    if (*row == role) return at;
  return NULL;
}

bool heed_named_whole(const heed_names *names) {
  return heed_named_pattern(names, HEED_ROLE_NORM1_WEIGHT) &&
         heed_named_pattern(names, HEED_ROLE_PATCH_WEIGHT);
}
