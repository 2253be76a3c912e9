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

/* Of a norm its bias. */
#define HEED_ROLE(name, group, shape, text) false,
#define HEED_ROLE_PAIR(name, group, bias_group, shape, text) false, false,
#define HEED_ROLE_NORM(name, group, shape, text) false, true,
static const bool norm_biases[HEED_ROLE_COUNT] = {
#include "model/names/role_list.h"
};
#undef HEED_ROLE
#undef HEED_ROLE_PAIR

/* Whether the rules say that there is no such role. */
static bool is_ruled_out(const heed_roles *roles, heed_role role) {
  return norm_biases[role]
             ? roles->rules.rms
             : roles->rules.unbiased && !role_shapes[role][0] && heed_role_layered(role);
}

/* One name of a pattern with its marks. */
typedef struct spelling {
  const char *text;
  size_t length;
  uint32_t part, parts; /* parts 0: the whole tensor */
  uint32_t choices;     /* the names that its braces make of it */
  bool packed;          /* only if its shape says so */
  bool transposed, flat, open, ranked;
} spelling;

/* Where a choice of names begins: behind its brace, or in its list. */
static const char *choices_of(const char *at) {
  return *at == '$' ? heed_name_lists[at[1] - '0'] : at + 1;
}

static uint32_t count_choices(const char *at) {
  uint32_t count = 1;
  for (; *at != '}'; at++) count += *at == ',';
  return count;
}

/* Reads the name that `at` begins with; returns the one after it, or NULL. */
static const char *read_spelling(const char *at, spelling *s) {
  *s = (spelling){.text = at, .length = strcspn(at, "|@~^<?!"), .choices = 1};
  s->open = s->length && (at[s->length - 1] == '.' || at[s->length - 1] == '_');
  for (size_t i = 0; i < s->length; i++)
    if (at[i] == '{' || at[i] == '$') s->choices *= count_choices(choices_of(at + i));
  for (at += s->length; *at && *at != '|'; at++) {
    s->ranked = s->ranked || *at == '!';
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

/* A name that grows. */
typedef struct composing {
  char *name;
  size_t length;
} composing;

static void append(composing *c, const char *text, size_t length) {
  if (c->length + length < HEED_NAME_SIZE) memcpy(c->name + c->length, text, length);
  c->length += length;
}

/* A number, or what stands for it. */
static void append_number(composing *c, const char *generic, uint32_t number) {
  char text[16];
  if (!generic) snprintf(text, sizeof text, "%u", number);
  if (!generic) generic = text;
  append(c, generic, strlen(generic));
}

/* What the layers lie in. */
static void append_around(composing *c, const heed_roles *roles) {
  size_t length = roles->layer_length ? roles->layer_length - 1 : 0;
  while (length && roles->layer[length - 1] != '.') length--;
  append(c, roles->layer, length);
}

/* The stage and the block of a layer; false: there is no such layer. */
static bool find_block(const heed_roles *roles, uint32_t layer, uint32_t *stage, uint32_t *block) {
  *block = layer;
  for (*stage = 0; *stage < roles->stages; ++*stage) {
    if (*block < roles->blocks[*stage]) return true;
    *block -= roles->blocks[*stage];
  }
  return false;
}

/* The layer, as the anchor spells it: "encoder.layer.3.", "layers.1.blocks.0."; false: the file has
 * no such layer. */
static bool append_layer(composing *c, const heed_roles *roles, const char *generic,
                         uint32_t layer) {
  uint32_t stage, block;
  append(c, roles->layer, roles->layer_length);
  if (roles->stages) {
    const char *between = roles->layer + roles->layer_length + 1;
    if (!find_block(roles, layer, &stage, &block)) return false;
    append_number(c, NULL, stage);
    append(c, ".", 1);
    append(c, between, strcspn(between, "#"));
    layer = block;
  }
  append_number(c, generic, layer);
  append(c, ".", 1);
  return true;
}

/* The stage that has the merge before a layer; false: there is none before it. */
static bool append_merge(composing *c, const heed_roles *roles, uint32_t layer) {
  uint32_t stage, block;
  if (!find_block(roles, layer, &stage, &block) || stage == 0 || block > 0) return false;
  append(c, roles->layer, roles->layer_length);
  append_number(c, NULL, roles->merges_first ? stage : stage - 1);
  append(c, ".", 1);
  return true;
}

/* One of the names of a choice; returns the choice's last character. */
static const char *append_choice(composing *c, const heed_roles *roles, const char *begin,
                                 uint32_t index) {
  const char *at = choices_of(begin);
  for (; index; at++) index -= *at == ',';
  if (*at == '&') append_around(c, roles);
  append(c, at + (*at == '&'), strcspn(at, ",}") - (*at == '&'));
  return *begin == '$' ? begin + 1 : strchr(begin, '}');
}

/* Which of the names that a spelling stands for. */
typedef struct variant {
  uint32_t layer, head, choice;
  bool bias;    /* of the second role of a pair */
  bool generic; /* "{i}" and "{h}" for the numbers */
} variant;

/* What a name must be for its other choices to be worth a look: some tensor's, or this one. */
typedef struct wanted {
  const heed_checkpoint *checkpoint;
  const char *name;
} wanted;

static bool is_hopeless(const wanted *want, const composing *c) {
  if (c->length >= HEED_NAME_SIZE) return true;
  return want->name ? strncmp(want->name, c->name, c->length) != 0
                    : !heed_checkpoint_begins(want->checkpoint, c->name, c->length);
}

/* There is no such name, whatever the choice. */
static bool skip(const spelling *s, uint32_t *next, char name[HEED_NAME_SIZE]) {
  name[0] = '\0';
  if (next) *next = s->choices;
  return false;
}

/* False when the name does not fit, or is not wanted. *next is the next choice that may be: the
 * first braces change last. want, next NULL: any name. */
static bool compose_wanted(const heed_roles *roles, const spelling *s, variant which,
                           const wanted *want, uint32_t *next, char name[HEED_NAME_SIZE]) {
  composing c = {.name = name};
  uint32_t left = s->choices;
  const char *end = s->text + s->length, *at = s->text;
  const bool whole = s->length && *at == '=', outer = s->length && *at == '/';
  const char *prefix = outer ? roles->outer : whole ? "" : roles->prefix;
  append(&c, prefix, strlen(prefix));
  for (at += outer || whole; at < end; at++)
    if (*at == '#' && at == s->text) {
      if (!append_layer(&c, roles, which.generic ? "{i}" : NULL, which.layer))
        return skip(s, next, name);
    } else if (*at == '>' && at == s->text) {
      if (!append_merge(&c, roles, which.layer)) return skip(s, next, name);
    } else if (*at == '#') {
      append_number(&c, which.generic ? "{i}" : NULL, which.layer);
    } else if (*at == '%') {
      append_number(&c, which.generic ? "{h}" : NULL, which.head);
    } else if (*at == '{' || *at == '$') {
      const uint32_t count = count_choices(choices_of(at));
      left /= count;
      at = append_choice(&c, roles, at, which.choice / left % count);
      if (!want || !is_hopeless(want, &c)) continue;
      *next = (which.choice / left + 1) * left;
      return false;
    } else {
      append(&c, at, 1);
    }
  if (s->open) append(&c, which.bias ? "bias" : "weight", which.bias ? 4 : 6);
  if (c.length >= HEED_NAME_SIZE) return false;
  name[c.length] = '\0';
  return true;
}

static const char *find_row(const heed_names *names, heed_role role, bool *bias) {
  const uint8_t *row = names->roles;
  for (const char *at = names->patterns; *at; at = heed_next_pattern(at), row++) {
    spelling first;
    read_spelling(at + (*at == '?'), &first);
    *bias = *row != role;
    if (*row == role || (first.open && *row + 1u == role)) return at;
  }
  return NULL;
}

static bool compose(const heed_roles *roles, const spelling *s, variant which,
                    char name[HEED_NAME_SIZE]) {
  return compose_wanted(roles, s, which, NULL, NULL, name);
}

/* The pattern of a role in the style, or NULL; whether it is the bias of the row's pair. */
static const char *find_pattern(const heed_roles *roles, heed_role role, bool *bias) {
  const char *own = roles->named ? find_row(roles->named, role, bias) : NULL;
  if (own || roles->named == roles->names) return own;
  if (roles->rules.classifier_embeds && role >= HEED_ROLE_PROJECTION_WEIGHT)
    role -= HEED_ROLE_PROJECTION_WEIGHT - HEED_ROLE_CLASSIFIER_WEIGHT;
  return find_row(roles->names, role, bias);
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

/* Whether the tensor, of a bias its weight, can be of the role: one axis or more. */
static bool has_rank(const heed_roles *roles, const spelling *s, variant which, heed_role role) {
  char name[HEED_NAME_SIZE];
  const char *shape = role_shapes[which.bias ? role - 1 : role];
  which.bias = false;
  const heed_checkpoint_tensor *tensor =
      compose(roles, s, which, name) ? heed_checkpoint_find(roles->checkpoint, name) : NULL;
  return tensor && !tensor->info->unsupported && (tensor->info->shape.rank == 1) == !shape[1];
}

/* Joins the tensors of all heads behind that of the first; returns their number. */
static uint32_t join_heads(const heed_roles *roles, const spelling *s, variant which,
                           heed_checkpoint_tensor *first) {
  char name[HEED_NAME_SIZE];
  heed_checkpoint_tensor *last = first;
  uint32_t heads = 1;
  for (; (which.head = heads, compose(roles, s, which, name)); heads++) {
    last->next_head = heed_checkpoint_find(roles->checkpoint, name);
    if (!last->next_head) break;
    last = last->next_head;
  }
  return heads;
}

/* The tensor that a spelling names, of all its choices the first that is there. */
static heed_checkpoint_tensor *find_choice(const heed_roles *roles, const spelling *s,
                                           heed_role role, variant *which,
                                           char name[HEED_NAME_SIZE]) {
  char tried[HEED_NAME_SIZE];
  const wanted want = {roles->checkpoint, NULL};
  which->choice = 0;
  if (!compose(roles, s, *which, name)) name[0] = '\0';
  for (uint32_t next; which->choice < s->choices; which->choice = next) {
    next = which->choice + 1;
    if (!compose_wanted(roles, s, *which, &want, &next, tried)) continue;
    heed_checkpoint_tensor *tensor = heed_checkpoint_find(roles->checkpoint, tried);
    if (tensor) memcpy(name, tried, HEED_NAME_SIZE);
    if (!tensor || (s->ranked && !has_rank(roles, s, *which, role))) continue;
    return tensor;
  }
  return NULL;
}

/* Whether the tensor is the classifier's own: then there is no hidden layer before it. */
static bool is_classifier(const heed_roles *roles, heed_role role,
                          const heed_checkpoint_tensor *tensor);

/* What a place is found by. */
typedef struct found_name {
  spelling spelling;
  variant which;
} found_name;

/* The place of a role; `name` is what the file calls it, else the name by which it is missed: the
 * one by which the first layer has the weight, or the first. */
static heed_place look_up_by(const heed_roles *roles, heed_role role, uint32_t layer,
                             char name[HEED_NAME_SIZE], found_name *by) {
  bool bias, first = true;
  char tried[HEED_NAME_SIZE];
  const char *at = find_pattern(roles, role, &bias);
  name[0] = '\0';
  if (roles->lacks >> role_groups[role] & 1 || is_ruled_out(roles, role)) at = NULL;
  at = at && *at == '?' ? at + 1 : at;
  while (at) {
    spelling s;
    at = read_spelling(at, &s);
    variant of_first = {.choice = 0}, which = {.layer = layer, .bias = bias};
    if (find_choice(roles, &s, role, &of_first, tried)) first = true;
    tried[0] = '\0';
    heed_checkpoint_tensor *tensor = find_choice(roles, &s, role, &which, tried);
    if (!tried[0]) continue;
    if (first) memcpy(name, tried, HEED_NAME_SIZE);
    first = false;
    if (!tensor || (s.packed && !is_packed(roles, tensor, s.parts, layer))) continue;
    if (is_classifier(roles, role, tensor)) continue;
    memcpy(name, tried, HEED_NAME_SIZE);
    *by = (found_name){s, which};
    const bool heads = memchr(s.text, '%', s.length) != NULL;
    return (heed_place){tensor,
                        s.part,
                        s.parts ? s.parts : 1,
                        heads ? join_heads(roles, &s, which, tensor) : 0,
                        s.transposed,
                        s.flat};
  }
  return (heed_place){.tensor = NULL};
}

static heed_place look_up(const heed_roles *roles, heed_role role, uint32_t layer,
                          char name[HEED_NAME_SIZE]) {
  found_name by;
  return look_up_by(roles, role, layer, name, &by);
}

void heed_roles_spelling(const heed_roles *roles, heed_role role, char name[HEED_NAME_SIZE]) {
  char marks[24] = "";
  found_name by;
  const heed_place place = look_up_by(roles, role, 0, name, &by);
  name[0] = '\0';
  if (!place.tensor) return;
  by.which.generic = true;
  compose(roles, &by.spelling, by.which, name);
  if (place.parts > 1)
    snprintf(marks, sizeof marks, " %u/%u", (place.part + 1) % 10, place.parts % 10);
  const size_t length = strlen(name);
  snprintf(name + length, HEED_NAME_SIZE - length, "%s%s", marks,
           place.transposed ? " transposed" : "");
}

static bool is_classifier(const heed_roles *roles, heed_role role,
                          const heed_checkpoint_tensor *tensor) {
  char name[HEED_NAME_SIZE];
  if (role != HEED_ROLE_HEAD_HIDDEN_WEIGHT && role != HEED_ROLE_HEAD_HIDDEN_BIAS) return false;
  const heed_role own = role == HEED_ROLE_HEAD_HIDDEN_WEIGHT ? HEED_ROLE_CLASSIFIER_WEIGHT
                                                             : HEED_ROLE_CLASSIFIER_BIAS;
  return look_up(roles, own, 0, name).tensor == tensor;
}

heed_checkpoint_tensor *heed_roles_named(const heed_roles *roles, const char *part) {
  char name[HEED_NAME_SIZE];
  spelling s;
  read_spelling(part, &s);
  for (variant which = {.choice = 0}; which.choice < s.choices; which.choice++) {
    heed_checkpoint_tensor *found =
        compose(roles, &s, which, name) ? heed_checkpoint_find(roles->checkpoint, name) : NULL;
    if (found) return found;
  }
  return NULL;
}

static bool names_one(const heed_roles *roles, const heed_names *names, const char *name) {
  char composed[HEED_NAME_SIZE];
  for (const char *row = names->patterns; *row; row = heed_next_pattern(row))
    for (const char *at = row + (*row == '?'); at;) {
      spelling s;
      at = read_spelling(at, &s);
      for (int bias = 0; bias <= s.open; bias++)
        for (uint32_t choice = 0, next; choice < s.choices; choice = next) {
          const variant which = {.choice = choice, .bias = bias};
          const wanted want = {NULL, name};
          next = choice + 1;
          if (compose_wanted(roles, &s, which, &want, &next, composed) &&
              strcmp(composed, name) == 0)
            return true;
        }
    }
  return false;
}

bool heed_roles_name_one(const heed_roles *roles, const char *name) {
  return names_one(roles, roles->names, name) ||
         (roles->named && names_one(roles, roles->named, name));
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
              {'D', d->query_norm},
              {'J', d->attention_width},
              {'S', d->hidden},
              {'Y', d->channels * d->patch * d->patch},
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
              {'U', d->embedded ? d->embedded : d->width},
              {'W', d->merged},
              {'Z', d->merge_norm},
              {'O', d->position_hidden},
              {'r', d->distances},
              {'X', d->channels * (d->tubelet ? d->tubelet : 1)},
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
  if (!pattern || is_ruled_out(roles, role)) return false;
  const bool optional = *pattern == '?' || (bias && pattern[strlen(pattern) - 1] == '?');
  return !optional || (role_groups[role] && roles->groups >> role_groups[role] & 1);
}

heed_groups heed_roles_groups(const heed_roles *roles) {
  heed_groups groups = 0;
  for (int role = 0; role < HEED_ROLE_COUNT; role++) {
    bool bias;
    const char *pattern = find_pattern(roles, (heed_role)role, &bias);
    const bool layered = pattern && heed_role_layered((heed_role)role);
    const heed_groups group = (heed_groups)1 << role_groups[role];
    for (uint32_t layer = 0;
         pattern && !(groups & group) && role_groups[role] &&
         (layer == 0 || (layered && heed_roles_have(roles, HEED_ROLE_NORM1_WEIGHT, layer)));
         layer++)
      if (heed_roles_have(roles, (heed_role)role, layer)) groups |= group;
  }
  return groups;
}
