/* Names of roles: patterns read, composed under the model's prefix, and looked up in the file. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "model/vit/role.h"

/* One after the other, in the order of the roles. */
#define HEED_ROLE(name, group, shape, text) text "\0"
#define HEED_ROLE_PAIR(name, group, bias_group, shape, text) text ".weight\0" text ".bias\0"
static const char role_names[] =
#include "model/names/role_list.h"
    ;
#undef HEED_ROLE
#undef HEED_ROLE_PAIR

#define HEED_ROLE(name, group, shape, text) HEED_GROUP_##group,
#define HEED_ROLE_PAIR(name, group, bias_group, shape, text) \
  HEED_GROUP_##group, HEED_GROUP_##bias_group,
static const uint8_t role_groups[HEED_ROLE_COUNT] = {
#include "model/names/role_list.h"
};
#undef HEED_ROLE
#undef HEED_ROLE_PAIR

/* "": the first axis of the weight before it. */
#define HEED_ROLE(name, group, shape, text) shape,
#define HEED_ROLE_PAIR(name, group, bias_group, shape, text) shape, "",
static const char role_shapes[HEED_ROLE_COUNT][5] = {
#include "model/names/role_list.h"
};
#undef HEED_ROLE
#undef HEED_ROLE_PAIR

/* One name of a pattern with its marks. */
typedef struct spelling {
  const char *text;
  size_t length;
  uint32_t part, parts; /* parts 0: the whole tensor */
  bool packed;          /* only if its shape says so */
  bool transposed, flat, open;
} spelling;

/* Reads the name that `at` begins with; returns the one after it, or NULL. */
static const char *read_spelling(const char *at, spelling *s) {
  *s = (spelling){.text = at, .length = strcspn(at, "|@~^<?")};
  s->open = s->length && (at[s->length - 1] == '.' || at[s->length - 1] == '_');
  for (at += s->length; *at && *at != '|'; at++) {
    s->transposed = s->transposed || *at == '^';
    s->flat = s->flat || *at == '<';
    if (*at != '@' && *at != '~') continue;
    s->packed = *at == '~';
    s->part = (uint32_t)(at[1] - '0');
    s->parts = (uint32_t)(at[3] - '0');
    at += 3;
  }
  return *at ? at + 1 : NULL;
}

/* False when the name does not fit. `bias`: of the second role of a pair. */
static bool compose(const heed_roles *roles, const spelling *s, bool bias, uint32_t layer,
                    char name[HEED_NAME_SIZE]) {
  const char *text = s->text, *prefix = roles->prefix;
  size_t length = s->length;
  char at[80] = "";
  if (length && *text == '/') prefix = roles->outer;
  if (length && *text == '#')
    snprintf(at, sizeof at, "%.*s%u.", (int)roles->layer_length, roles->layer, layer);
  if (length && (*text == '/' || *text == '#')) text++, length--;
  const int written = snprintf(name, HEED_NAME_SIZE, "%s%s%.*s%s", prefix, at, (int)length, text,
                               !s->open ? ""
                               : bias   ? "bias"
                                        : "weight");
  return written >= 0 && written < HEED_NAME_SIZE;
}

/* The pattern of a role in the style, or NULL; whether it is the bias of the row's pair. */
static const char *find_pattern(const heed_roles *roles, heed_role role, bool *bias) {
  const uint8_t *row = roles->names->roles;
  if (roles->rules.classifier_embeds && role >= HEED_ROLE_PROJECTION_WEIGHT)
    role -= HEED_ROLE_PROJECTION_WEIGHT - HEED_ROLE_CLASSIFIER_WEIGHT;
  for (const char *at = roles->names->patterns; *at; at = heed_next_pattern(at), row++) {
    spelling first;
    read_spelling(at + (*at == '?'), &first);
    *bias = *row != role;
    if (*row == role || (first.open && *row + 1u == role)) return at;
  }
  return NULL;
}

/* Whether a tensor of the MLP has `parts` rows for each column of its second map. */
static bool is_packed(const heed_roles *roles, const heed_checkpoint_tensor *tensor, uint32_t parts,
                      uint32_t layer) {
  heed_place fc2;
  heed_error error;
  if (heed_roles_find(roles, HEED_ROLE_FC2_WEIGHT, layer, &fc2, &error) != HEED_OK || !fc2.tensor)
    return false;
  const heed_shape *in = &tensor->info->shape, *out = &fc2.tensor->info->shape;
  return !tensor->info->unsupported && !fc2.tensor->info->unsupported && in->rank &&
         out->rank == 2 && in->dim[0] == (uint64_t)parts * out->dim[1];
}

/* The place of a role; `name` is what the file calls it, else the name by which it is missed: the
 * one by which the first layer has the weight, or the first. */
static heed_place look_up(const heed_roles *roles, heed_role role, uint32_t layer,
                          char name[HEED_NAME_SIZE]) {
  bool bias, first = true;
  char tried[HEED_NAME_SIZE];
  const char *at = find_pattern(roles, role, &bias);
  name[0] = '\0';
  if (roles->lacks >> role_groups[role] & 1) at = NULL;
  at = at && *at == '?' ? at + 1 : at;
  while (at) {
    spelling s;
    at = read_spelling(at, &s);
    if (compose(roles, &s, false, 0, tried) && heed_checkpoint_find(roles->checkpoint, tried))
      first = true;
    if (!compose(roles, &s, bias, layer, tried)) continue;
    if (first) memcpy(name, tried, HEED_NAME_SIZE);
    first = false;
    heed_checkpoint_tensor *tensor = heed_checkpoint_find(roles->checkpoint, tried);
    if (!tensor || (s.packed && !is_packed(roles, tensor, s.parts, layer))) continue;
    memcpy(name, tried, HEED_NAME_SIZE);
    return (heed_place){tensor, s.part, s.parts ? s.parts : 1, s.transposed, s.flat};
  }
  return (heed_place){.tensor = NULL};
}

heed_checkpoint_tensor *heed_roles_named(const heed_roles *roles, const char *part) {
  char name[HEED_NAME_SIZE];
  spelling s;
  read_spelling(part, &s);
  return compose(roles, &s, false, 0, name) ? heed_checkpoint_find(roles->checkpoint, name) : NULL;
}

bool heed_roles_name_one(const heed_roles *roles, const char *name) {
  char composed[HEED_NAME_SIZE];
  for (const char *row = roles->names->patterns; *row; row = heed_next_pattern(row))
    for (const char *at = row + (*row == '?'); at;) {
      spelling s;
      at = read_spelling(at, &s);
      for (int bias = 0; bias <= s.open; bias++)
        if (compose(roles, &s, bias, 0, composed) && strcmp(composed, name) == 0) return true;
    }
  return false;
}

void heed_roles_name(const heed_roles *roles, heed_role role, uint32_t layer,
                     char name[HEED_NAME_SIZE]) {
  look_up(roles, role, layer, name);
}

bool heed_roles_spell(const heed_roles *roles, heed_role role) {
  bool bias;
  return find_pattern(roles, role, &bias) != NULL;
}

bool heed_roles_have(const heed_roles *roles, heed_role role, uint32_t layer) {
  char name[HEED_NAME_SIZE];
  return look_up(roles, role, layer, name).tensor != NULL;
}

heed_status heed_roles_find(const heed_roles *roles, heed_role role, uint32_t layer,
                            heed_place *place, heed_error *error) {
  char name[HEED_NAME_SIZE];
  *place = look_up(roles, role, layer, name);
  if (place->tensor || !heed_roles_need(roles, role)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE, "%s: tensor %.*s is missing",
                   heed_checkpoint_name(roles->checkpoint), HEED_CUT(name));
}

const char *heed_role_pattern(heed_role role) {
  const char *name = role_names;
  for (int i = 0; i < (int)role; i++) name = heed_next_pattern(name);
  return name;
}

bool heed_role_layered(heed_role role) { return strchr(heed_role_pattern(role), '#') != NULL; }

heed_shape heed_role_shape(heed_role role, const heed_vit_dimensions *d) {
  const struct {
    char axis;
    uint32_t size;
  } axes[] = {{'1', 1},
              {'2', 2},
              {'L', d->layers},
              {'H', d->heads},
              {'A', d->width / d->heads / 2},
              {'F', d->width / d->heads / 4},
              {'C', d->width},
              {'M', d->mlp_width},
              {'D', d->width / d->heads},
              {'K', d->classes},
              {'Q', d->pooled},
              {'E', d->projection},
              {'R', d->registers},
              {'T', d->position_rows},
              {'B', d->bias_rows},
              {'V', d->pool_mlp_width},
              {'G', d->width / (d->pool_heads ? d->pool_heads : 1)},
              {'N', d->vocabulary},
              {'I', d->channels},
              {'P', d->patch}};
  const bool bias = !role_shapes[role][0];
  const char *text = role_shapes[bias ? role - 1 : role];
  heed_shape shape = {0};
  do {
    size_t i = 0;
    while (axes[i].axis != *text) i++;
    shape.dim[shape.rank++] = axes[i].size;
  } while (!bias && *++text);
  return shape;
}

bool heed_roles_need(const heed_roles *roles, heed_role role) {
  bool bias;
  const char *pattern = find_pattern(roles, role, &bias);
  if (!pattern) return false;
  const bool optional = *pattern == '?' || (bias && pattern[strlen(pattern) - 1] == '?');
  return !optional || (role_groups[role] && roles->groups >> role_groups[role] & 1);
}

uint32_t heed_roles_groups(const heed_roles *roles) {
  uint32_t groups = 0;
  for (int role = 0; role < HEED_ROLE_COUNT; role++) {
    bool bias;
    const char *pattern = find_pattern(roles, (heed_role)role, &bias);
    const bool layered = pattern && pattern[*pattern == '?'] == '#';
    const uint32_t group = 1u << role_groups[role];
    for (uint32_t layer = 0;
         pattern && !(groups & group) && role_groups[role] &&
         (layer == 0 || (layered && heed_roles_have(roles, HEED_ROLE_NORM1_WEIGHT, layer)));
         layer++)
      if (heed_roles_have(roles, (heed_role)role, layer)) groups |= group;
  }
  return groups;
}
