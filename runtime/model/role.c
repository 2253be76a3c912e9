/* What each tensor of a ViT is for. Names: transformers' modeling_vit.py, modeling_deit.py,
 * modeling_dinov2.py (and the refactoring of transformers 5, pull request 41693); timm's
 * vision_transformer.py. In timm's fused projection the rows are query, key, value. */
#include "model/role.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"

typedef enum role_need {
  NEEDED,
  OPTIONAL,
  /* Groups: when one of its parts is there, in any layer, all are needed in every layer. */
  QKV_BIASES,
  LAYER_SCALES,
  CLASSIFIER,
  DISTILLATION_CLASSIFIER,
  POOLER
} role_need;

/* In a name: '#' is the layer's number, a leading '/' means outside of the model's prefix, '|'
 * separates alternatives. */
typedef struct role_row {
  const char *name[HEED_STYLE_COUNT];
  role_need need;
  bool fused; /* in timm: one of three parts of the tensor */
  uint32_t part;
} role_row;

#define SAME(name) \
  { name, name, name, NULL }
#define HF_LAYER(name) "encoder.layer.#." name
#define NEW_LAYER(name) "layers.#." name
#define TIMM_LAYER(name) "blocks.#." name
#define LAYER_ROW(old, new, dino, timm) \
  { HF_LAYER(old), NEW_LAYER(new), HF_LAYER(dino), TIMM_LAYER(timm) }

static const role_row rows[HEED_ROLE_COUNT] = {
    [HEED_ROLE_CLS_TOKEN] = {{"embeddings.cls_token", "embeddings.cls_token",
                              "embeddings.cls_token", "cls_token"},
                             NEEDED,
                             false,
                             0},
    [HEED_ROLE_DISTILLATION_TOKEN] = {{"embeddings.distillation_token",
                                       "embeddings.distillation_token", NULL, "dist_token"},
                                      OPTIONAL,
                                      false,
                                      0},
    [HEED_ROLE_REGISTER_TOKENS] = {{NULL, NULL, "embeddings.register_tokens",
                                    "reg_token|register_tokens|storage_tokens"},
                                   OPTIONAL,
                                   false,
                                   0},
    [HEED_ROLE_POSITION_EMBEDDINGS] = {{"embeddings.position_embeddings",
                                        "embeddings.position_embeddings",
                                        "embeddings.position_embeddings", "pos_embed"},
                                       NEEDED,
                                       false,
                                       0},
    [HEED_ROLE_PATCH_WEIGHT] = {{"embeddings.patch_embeddings.projection.weight",
                                 "embeddings.patch_embeddings.projection.weight",
                                 "embeddings.patch_embeddings.projection.weight",
                                 "patch_embed.proj.weight"},
                                NEEDED,
                                false,
                                0},
    [HEED_ROLE_PATCH_BIAS] = {{"embeddings.patch_embeddings.projection.bias",
                               "embeddings.patch_embeddings.projection.bias",
                               "embeddings.patch_embeddings.projection.bias",
                               "patch_embed.proj.bias"},
                              NEEDED,
                              false,
                              0},
#define PAIR(role, bias, fused, part, old, new, dino, timm)                                        \
  [HEED_ROLE_##role##                                                                              \
      _WEIGHT] = {LAYER_ROW(old ".weight", new ".weight", dino ".weight", timm ".weight"), NEEDED, \
                  fused, part},                                                                    \
      [HEED_ROLE_##role##_BIAS] = {                                                                \
          LAYER_ROW(old ".bias", new ".bias", dino ".bias", timm ".bias"), bias, fused, part}
    PAIR(NORM1, NEEDED, false, 0, "layernorm_before", "layernorm_before", "norm1", "norm1"),
    PAIR(QUERY, QKV_BIASES, true, 0, "attention.attention.query", "attention.q_proj",
         "attention.attention.query", "attn.qkv"),
    PAIR(KEY, QKV_BIASES, true, 1, "attention.attention.key", "attention.k_proj",
         "attention.attention.key", "attn.qkv"),
    PAIR(VALUE, QKV_BIASES, true, 2, "attention.attention.value", "attention.v_proj",
         "attention.attention.value", "attn.qkv"),
    PAIR(ATTENTION_OUTPUT, NEEDED, false, 0, "attention.output.dense", "attention.o_proj",
         "attention.output.dense", "attn.proj"),
    PAIR(NORM2, NEEDED, false, 0, "layernorm_after", "layernorm_after", "norm2", "norm2"),
    PAIR(FC1, NEEDED, false, 0, "intermediate.dense", "mlp.fc1", "mlp.fc1", "mlp.fc1"),
    PAIR(FC2, NEEDED, false, 0, "output.dense", "mlp.fc2", "mlp.fc2", "mlp.fc2"),
#undef PAIR
    [HEED_ROLE_LAYER_SCALE1] = {{NULL, NULL, HF_LAYER("layer_scale1.lambda1"),
                                 TIMM_LAYER("ls1.gamma")},
                                LAYER_SCALES,
                                false,
                                0},
    [HEED_ROLE_LAYER_SCALE2] = {{NULL, NULL, HF_LAYER("layer_scale2.lambda1"),
                                 TIMM_LAYER("ls2.gamma")},
                                LAYER_SCALES,
                                false,
                                0},
    [HEED_ROLE_FINAL_NORM_WEIGHT] = {{"layernorm.weight", "layernorm.weight", "layernorm.weight",
                                      "norm.weight"},
                                     NEEDED,
                                     false,
                                     0},
    [HEED_ROLE_FINAL_NORM_BIAS] =
        {{"layernorm.bias", "layernorm.bias", "layernorm.bias", "norm.bias"}, NEEDED, false, 0},
    [HEED_ROLE_CLASSIFIER_WEIGHT] = {{"/classifier.weight|/cls_classifier.weight",
                                      "/classifier.weight|/cls_classifier.weight",
                                      "/classifier.weight", "head.weight"},
                                     CLASSIFIER,
                                     false,
                                     0},
    [HEED_ROLE_CLASSIFIER_BIAS] = {{"/classifier.bias|/cls_classifier.bias",
                                    "/classifier.bias|/cls_classifier.bias", "/classifier.bias",
                                    "head.bias"},
                                   CLASSIFIER,
                                   false,
                                   0},
    [HEED_ROLE_DISTILLATION_CLASSIFIER_WEIGHT] = {{"/distillation_classifier.weight",
                                                   "/distillation_classifier.weight", NULL,
                                                   "head_dist.weight"},
                                                  DISTILLATION_CLASSIFIER,
                                                  false,
                                                  0},
    [HEED_ROLE_DISTILLATION_CLASSIFIER_BIAS] = {{"/distillation_classifier.bias",
                                                 "/distillation_classifier.bias", NULL,
                                                 "head_dist.bias"},
                                                DISTILLATION_CLASSIFIER,
                                                false,
                                                0},
    [HEED_ROLE_POOLER_WEIGHT] = {SAME("pooler.dense.weight"), POOLER, false, 0},
    [HEED_ROLE_POOLER_BIAS] = {SAME("pooler.dense.bias"), POOLER, false, 0},
};

/* What may lie among the model's own names and changes no state: what training leaves, numbers that
 * the config says too, and heads, which read the states. A '*' ends those of which only the
 * beginning counts. */
static const char *const harmless[] = {"mask_token",
                                       "masked_embed",
                                       "embeddings.mask_token",
                                       "embeddings.position_ids",
                                       "local_cls_norm.*",
                                       "optimizer.*",
                                       "decoder*",
                                       "head*",
                                       "dino_head.*",
                                       "ibot_head.*",
                                       "classifier*",
                                       "fc.*"};

/* ---------------------------------------------------------------------------------------- names */

/* Composes one alternative of a name; false when it does not fit. */
static bool compose(const heed_roles *roles, const char *pattern, size_t length, uint32_t layer,
                    char name[HEED_NAME_SIZE]) {
  const bool outside = length && pattern[0] == '/';
  const char *hash = memchr(pattern, '#', length);
  const char *head = pattern + outside;
  const size_t head_length = (size_t)((hash ? hash : pattern + length) - head);
  char number[12] = "";
  if (hash) snprintf(number, sizeof number, "%u", layer);
  const char *tail = hash ? hash + 1 : pattern + length;
  const int written =
      snprintf(name, HEED_NAME_SIZE, "%s%.*s%s%.*s", outside ? roles->outer : roles->prefix,
               (int)head_length, head, number, (int)(pattern + length - tail), tail);
  return written >= 0 && written < HEED_NAME_SIZE;
}

/* The tensor for a role, or NULL; name is then what was looked for first. */
static heed_checkpoint_tensor *lookup(const heed_roles *roles, heed_role role, uint32_t layer,
                                      char name[HEED_NAME_SIZE]) {
  const char *pattern = rows[role].name[roles->style];
  char first[HEED_NAME_SIZE] = "";
  for (; pattern; pattern = strchr(pattern, '|') ? strchr(pattern, '|') + 1 : NULL) {
    if (!compose(roles, pattern, strcspn(pattern, "|"), layer, name)) continue;
    heed_checkpoint_tensor *tensor = heed_checkpoint_find(roles->checkpoint, name);
    if (tensor) return tensor;
    if (!first[0]) memcpy(first, name, HEED_NAME_SIZE);
  }
  memcpy(name, first, HEED_NAME_SIZE);
  return NULL;
}

heed_checkpoint_tensor *heed_roles_named(const heed_roles *roles, const char *part) {
  char name[HEED_NAME_SIZE];
  return compose(roles, part, strlen(part), 0, name) ? heed_checkpoint_find(roles->checkpoint, name)
                                                     : NULL;
}

const char *heed_role_pattern(heed_role role) {
  const char *const *name = rows[role].name;
  const char *pattern = name[HEED_STYLE_HF] ? name[HEED_STYLE_HF] : name[HEED_STYLE_DINOV2];
  return pattern + (pattern[0] == '/');
}

void heed_roles_name(const heed_roles *roles, heed_role role, uint32_t layer,
                     char name[HEED_NAME_SIZE]) {
  const char *pattern = rows[role].name[roles->style];
  if (!pattern || !compose(roles, pattern, strcspn(pattern, "|"), layer, name)) name[0] = '\0';
}

bool heed_roles_need(const heed_roles *roles, heed_role role) {
  const role_need need = rows[role].need;
  return need == NEEDED || (need != OPTIONAL && roles->groups >> need & 1);
}

bool heed_roles_have(const heed_roles *roles, heed_role role, uint32_t layer) {
  char name[HEED_NAME_SIZE];
  return lookup(roles, role, layer, name) != NULL;
}

/* ------------------------------------------------------------------------------------ detection */

/* Names that only one style has, and every model of it. */
static const char *const anchors[HEED_STYLE_COUNT] = {
    "encoder.layer.0.layernorm_before.weight", "layers.0.layernorm_before.weight",
    "encoder.layer.0.norm1.weight", "blocks.0.norm1.weight"};

/* Whether the name is a prefix followed by the anchor; the prefix must be whole components. */
static bool match_anchor(const char *name, const char *anchor, size_t *prefix) {
  const size_t length = strlen(name), suffix = strlen(anchor);
  if (length < suffix || strcmp(name + length - suffix, anchor) != 0) return false;
  *prefix = length - suffix;
  return *prefix == 0 || name[*prefix - 1] == '.';
}

/* "a.vit." -> "a.": a head lies beside the model, not in it. */
static void set_prefix(heed_roles *roles, const char *name, size_t length) {
  static const char *const inner[] = {"vit.", "deit.", "dinov2.", "dinov2_with_registers."};
  memcpy(roles->prefix, name, length);
  roles->prefix[length] = '\0';
  memcpy(roles->outer, roles->prefix, length + 1);
  for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
    const size_t part = strlen(inner[i]);
    if (length < part || strcmp(roles->prefix + length - part, inner[i]) != 0) continue;
    if (length == part || roles->prefix[length - part - 1] == '.')
      roles->outer[length - part] = '\0';
  }
}

/* facebookresearch's DINOv2 names its tensors as timm does, but for these. A mask token of three
 * axes is MAE's. */
static bool is_original_dinov2(const heed_roles *roles) {
  const heed_checkpoint_tensor *mask = heed_roles_named(roles, "mask_token");
  return (mask && !mask->info->unsupported && mask->info->shape.rank == 2) ||
         heed_roles_named(roles, "register_tokens") || heed_roles_named(roles, "storage_tokens");
}

static heed_family find_family(const heed_roles *roles, const heed_config *config) {
  const char *inner = roles->prefix + strlen(roles->outer);
  const bool registers = heed_roles_have(roles, HEED_ROLE_REGISTER_TOKENS, 0);
  if (roles->style == HEED_STYLE_TIMM && !config->timm && is_original_dinov2(roles))
    return registers ? HEED_FAMILY_DINOV2_ORIGINAL_REGISTERS : HEED_FAMILY_DINOV2_ORIGINAL;
  if (roles->style == HEED_STYLE_TIMM) return HEED_FAMILY_TIMM;
  if (roles->style == HEED_STYLE_DINOV2)
    return registers ? HEED_FAMILY_DINOV2_REGISTERS : HEED_FAMILY_DINOV2;
  const bool deit = strcmp(inner, "deit.") == 0 || strcmp(config->model_type, "deit") == 0;
  return deit || heed_roles_have(roles, HEED_ROLE_DISTILLATION_TOKEN, 0) ? HEED_FAMILY_DEIT
                                                                         : HEED_FAMILY_VIT;
}

/* The groups of which the file has a part. What was lost must not pass for a model that never had
 * it. */
static uint32_t find_groups(const heed_roles *roles) {
  uint32_t groups = roles->rules->layer_scale ? 1u << LAYER_SCALES : 0;
  /* DeiT's two classifiers: cls_classifier is never alone, nor is timm's head in a distilled
   * model. */
  if (heed_roles_named(roles, "/cls_classifier.weight") ||
      (heed_roles_named(roles, "dist_token") && heed_roles_named(roles, "head.weight")))
    groups |= 1u << DISTILLATION_CLASSIFIER;
  for (int role = 0; role < HEED_ROLE_COUNT; role++) {
    const char *pattern = rows[role].name[roles->style];
    const uint32_t group = rows[role].need > OPTIONAL ? 1u << rows[role].need : 0;
    const bool layered = pattern && strchr(pattern, '#');
    for (uint32_t layer = 0;
         group & ~groups &&
         (layer == 0 || (layered && heed_roles_have(roles, HEED_ROLE_NORM1_WEIGHT, layer)));
         layer++)
      if (heed_roles_have(roles, (heed_role)role, layer)) groups |= group;
  }
  return groups;
}

heed_status heed_roles_detect(heed_checkpoint *checkpoint, const heed_config *config,
                              heed_roles *roles, heed_error *error) {
  const char *file = heed_checkpoint_name(checkpoint), *found = NULL;
  *roles = (heed_roles){.checkpoint = checkpoint};
  for (uint32_t i = 0; i < heed_checkpoint_count(checkpoint); i++)
    for (int style = 0; style < HEED_STYLE_COUNT; style++) {
      const char *name = heed_checkpoint_get(checkpoint, i)->info->name;
      size_t prefix;
      if (!match_anchor(name, anchors[style], &prefix)) continue;
      if (found)
        return heed_fail(error, HEED_UNSUPPORTED,
                         "%s: more than one ViT (found %.*s and %.*s, expected one)", file,
                         HEED_CUT(found), HEED_CUT(name));
      if (prefix >= HEED_PREFIX_SIZE)
        return heed_fail(error, HEED_UNSUPPORTED, "%s: names too long (found %.*s)", file,
                         HEED_CUT(name));
      found = name;
      roles->style = (heed_style)style;
      set_prefix(roles, name, prefix);
    }
  if (!found)
    return heed_fail(
        error, HEED_UNSUPPORTED,
        "%s: no ViT (found none of %s, %s, %s and %s under any prefix among %u tensors)", file,
        anchors[0], anchors[1], anchors[2], anchors[3], heed_checkpoint_count(checkpoint));
  roles->family = find_family(roles, config);
  roles->rules = heed_family_rules(roles->family);
  roles->assumed = roles->family == HEED_FAMILY_TIMM && !config->timm;
  roles->groups = find_groups(roles);
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------ resolving */

heed_status heed_roles_find(const heed_roles *roles, heed_role role, uint32_t layer,
                            heed_checkpoint_tensor **tensor, heed_error *error) {
  char name[HEED_NAME_SIZE];
  *tensor = lookup(roles, role, layer, name);
  if (*tensor || !heed_roles_need(roles, role)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE, "%s: tensor %.*s is missing",
                   heed_checkpoint_name(roles->checkpoint), HEED_CUT(name));
}

heed_status heed_checkpoint_role(const heed_roles *roles, heed_role role, uint32_t layer,
                                 const heed_shape *expected, heed_role_ref *ref,
                                 heed_error *error) {
  const role_row *row = &rows[role];
  heed_checkpoint_tensor *tensor;
  heed_shape whole = *expected;
  *ref = (heed_role_ref){NULL, 0, heed_shape_count(expected)};
  HEED_TRY(heed_roles_find(roles, role, layer, &tensor, error));
  if (!tensor) return HEED_OK;
  const bool fused = row->fused && roles->style == HEED_STYLE_TIMM;
  if (fused) whole.dim[0] *= 3;
  HEED_TRY(heed_checkpoint_use(tensor, &whole, error));
  if (fused) ref->first = row->part * ref->count;
  if (!tensor->role) {
    tensor->role = heed_role_pattern(role);
    tensor->layer = layer;
  }
  ref->tensor = tensor;
  return HEED_OK;
}

static bool matches(const char *text, const char *pattern) {
  const size_t length = strcspn(pattern, "*");
  return strncmp(text, pattern, length) == 0 && (pattern[length] || !text[length]);
}

/* Whether it is what a part of the whole model is called, under any of the part's names. */
static bool names_a_role(const heed_roles *roles, const char *text) {
  char name[HEED_NAME_SIZE];
  for (int role = 0; role < HEED_ROLE_COUNT; role++)
    for (const char *at = rows[role].name[roles->style]; at;
         at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
      if (compose(roles, at, strcspn(at, "|"), 0, name) && strcmp(name, text) == 0) return true;
  return false;
}

/* Whether results could depend on a tensor of this name. What lies beside the model is
 * another's. */
static bool matters(const heed_roles *roles, const char *name) {
  const size_t length = strlen(roles->prefix);
  if (names_a_role(roles, name)) return true;
  if (strncmp(name, roles->prefix, length) != 0) return false;
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
    if (matches(name + length, harmless[i])) return false;
  return true;
}

heed_status heed_roles_check_unused(const heed_roles *roles, heed_error *error) {
  for (uint32_t i = 0; i < heed_checkpoint_count(roles->checkpoint); i++) {
    const heed_checkpoint_tensor *tensor = heed_checkpoint_get(roles->checkpoint, i);
    if (!tensor->used && matters(roles, tensor->info->name))
      return heed_fail(
          error, HEED_UNSUPPORTED,
          "%s: tensor %.*s does not fit family %s; without it the results could be wrong",
          heed_safetensors_name(tensor->file), HEED_CUT(tensor->info->name), roles->rules->name);
  }
  return HEED_OK;
}

heed_status heed_weight_read(void *user, uint64_t first, uint64_t count, void *to,
                             heed_error *error) {
  const heed_weight *weight = user;
  float *out = to;
  for (uint32_t i = 0; i < weight->count && count; i++) {
    const heed_role_ref *part = &weight->part[i];
    if (first >= part->count) {
      first -= part->count;
      continue;
    }
    const uint64_t here = count < part->count - first ? count : part->count - first;
    if (part->tensor)
      HEED_TRY(heed_checkpoint_read(part->tensor, part->first + first, here, out, error));
    else
      memset(out, 0, (size_t)here * sizeof *out);
    out += here;
    count -= here;
    first = 0;
  }
  if (count) return heed_fail(error, HEED_INVALID_ARGUMENT, "weight: range exceeds its end");
  return HEED_OK;
}
