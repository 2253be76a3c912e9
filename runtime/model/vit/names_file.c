/* A model's names and facts as the names.json that opens it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "model/config/facts.h"
#include "model/config/named.h"
#include "model/vit/vit.h"

typedef struct writing {
  heed_sink sink;
  void *user;
  bool more; /* a member comes before */
} writing;

static heed_status put(const writing *w, const char *text, heed_error *error) {
  return w->sink(w->user, text, strlen(text), error);
}

/* A string; controls, which no name should have, are escaped too. */
static heed_status put_string(const writing *w, const char *text, heed_error *error) {
  HEED_TRY(put(w, "\"", error));
  for (; *text; text++) {
    char escaped[8] = {*text, '\0'};
    if (*text == '"' || *text == '\\')
      snprintf(escaped, sizeof escaped, "\\%c", *text);
    else if ((unsigned char)*text < 0x20)
      snprintf(escaped, sizeof escaped, "\\u%04x", (unsigned)*text);
    HEED_TRY(put(w, escaped, error));
  }
  return put(w, "\"", error);
}

static heed_status put_key(writing *w, const char *key, heed_error *error) {
  HEED_TRY(put(w, w->more ? ",\n  " : "{\n  ", error));
  w->more = true;
  HEED_TRY(put_string(w, key, error));
  return put(w, ": ", error);
}

static heed_status word(writing *w, const char *key, const char *value, heed_error *error) {
  HEED_TRY(put_key(w, key, error));
  return put_string(w, value, error);
}

static heed_status number(writing *w, const char *key, double value, heed_error *error) {
  char text[32];
  HEED_TRY(put_key(w, key, error));
  for (int digits = value < 1.0 ? 1 : 9; digits <= 9;
       digits++) { /* as few as give the same float */
    snprintf(text, sizeof text, "%.*g", digits, value);
    if ((float)strtod(text, NULL) == (float)value) break;
  }
  for (char *at = text; *at; at++) /* whatever the locale's point is */
    if (*at == ',') *at = '.';
  return put(w, text, error);
}

/* The names of a role and, of a pair, of its bias: one with '*' where they differ in that alone. */
static heed_status put_role(writing *w, const heed_roles *roles, heed_role role, bool pair,
                            heed_error *error) {
  char name[HEED_NAME_SIZE], bias[HEED_NAME_SIZE] = "", both[HEED_NAME_SIZE], key[72];
  heed_role_key(role, key);
  heed_roles_spelling(roles, role, name);
  if (pair) heed_roles_spelling(roles, (heed_role)(role + 1), bias);
  const size_t length = strcspn(name, " "), size = strlen("weight");
  if (*bias && length > size && strncmp(name + length - size, "weight", size) == 0) {
    snprintf(both, sizeof both, "%.*sbias%s", (int)(length - size), name, name + length);
    if (strcmp(both, bias) == 0) {
      snprintf(both, sizeof both, "%.*s*%s", (int)(length - size), name, name + length);
      return word(w, key, both, error);
    }
  }
  const size_t end = strlen(key);
  if (pair) snprintf(key + end, sizeof key - end, ".weight");
  if (*name) HEED_TRY(word(w, key, name, error));
  snprintf(key + end, sizeof key - end, ".bias");
  return *bias ? word(w, key, bias, error) : HEED_OK;
}

static heed_status put_roles(writing *w, const heed_roles *roles, heed_error *error) {
  for (int i = 0; i < HEED_ROLE_COUNT; i++) {
    const heed_role role = (heed_role)i;
    const char *name = heed_role_pattern(role);
    const bool pair =
        role == HEED_ROLE_CLASSIFIER_WEIGHT ||
        (strlen(name) > 7 && strcmp(name + strlen(name) - 7, ".weight") == 0 &&
         i + 1 < HEED_ROLE_COUNT &&
         strcmp(heed_role_pattern((heed_role)(i + 1)) + strlen(name) - 7, ".bias") == 0);
    HEED_TRY(put_role(w, roles, role, pair, error));
    if (pair) i++;
  }
  return HEED_OK;
}

/* What no tensor tells. Rules that only config.json says are not among them. */
static heed_status put_facts(writing *w, const heed_vit *model, heed_error *error) {
  const heed_vit_dimensions *dims = &model->dims;
  const heed_rules *rules = &model->roles.rules;
  HEED_TRY(word(w, "family", model->roles.family->name, error));
  if (*model->roles.prefix) HEED_TRY(word(w, "prefix", model->roles.prefix, error));
  HEED_TRY(number(w, "heads", dims->heads, error));
  if (!model->config->preferred_size.key) /* else the positions are of another */
    HEED_TRY(number(w, "image_size", dims->image_size, error));
  HEED_TRY(word(w, "activation", heed_config_activation(dims->activation), error));
  HEED_TRY(number(w, "epsilon", (double)dims->epsilon, error));
  if (dims->classes) HEED_TRY(word(w, "pool", heed_pool_word((heed_pool)rules->pool), error));
  if (dims->position_rows && rules->positions)
    HEED_TRY(word(w, "interpolation_grid", rules->positions->name, error));
  if (!heed_roles_own(&model->roles) && !dims->hidden) return HEED_OK;
  if (dims->hidden)
    HEED_TRY(word(w, "head_activation",
                  heed_config_activation((heed_activation)rules->head_activation), error));
  if (rules->made_positions)
    HEED_TRY(word(w, "positions", heed_position_words[rules->made_positions], error));
  if (rules->qkv_order) HEED_TRY(word(w, "qkv", heed_qkv_words[rules->qkv_order], error));
  HEED_TRY(word(w, "norm", rules->norm_after ? "after" : "before", error));
  HEED_TRY(word(w, "scale", rules->scale_by_width ? "width" : "head", error));
  if (!dims->linear_patch) return HEED_OK;
  HEED_TRY(number(w, "channels", dims->channels, error));
  return word(w, "pixels", rules->channels_last ? "channels_last" : "channels_first", error);
}

heed_status heed_model_write_names(const heed_model *model, heed_sink sink, void *user,
                                   heed_error *error) {
  if (!model || !sink)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "names: NULL argument (expected model and sink)");
  const heed_vit *vit = (const heed_vit *)model;
  if (model->type != &heed_vit_type || heed_is_text(vit->roles.tower))
    return heed_fail(error, HEED_UNSUPPORTED,
                     "names: only those of a vision transformer can be written");
  if (vit->roles.stages)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "names: those of layers in stages are not supported (found %u stages)",
                     vit->roles.stages);
  writing w = {sink, user, false};
  HEED_TRY(put_facts(&w, vit, error));
  HEED_TRY(put_roles(&w, &vit->roles, error));
  return put(&w, "\n}\n", error);
}
