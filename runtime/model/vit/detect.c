/* Which model a checkpoint holds: the style by an anchor, the prefix before it, and the family that
 * claims the file. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/config/facts.h"
#include "model/config/named.h"
#include "model/families/timm_architectures.h"
#include "model/files/source.h"
#include "model/vit/role.h"

/* ---------------------------------------------------------------------------------------- style */

/* Whether the name is a prefix followed by the anchor; the prefix must be whole components. '#' of
 * the anchor stands for the first layer's number, or for the first stage's and its first block's.
 */
static bool match_anchor(const char *name, const char *anchor, size_t length, size_t *prefix) {
  char text[HEED_NAME_SIZE];
  size_t size = 0;
  for (size_t i = 0; i < length && size + 2 < sizeof text; i++) {
    text[size++] = anchor[i] == '#' ? '0' : anchor[i];
    if (anchor[i] == '#') text[size++] = '.';
  }
  const size_t whole = strlen(name);
  if (whole < size) return false;
  *prefix = whole - size;
  return (*prefix == 0 || name[*prefix - 1] == '.') && memcmp(name + *prefix, text, size) == 0;
}

/* Whether the file has the first norm of a block of a stage. */
static bool has_block(const heed_roles *roles, const char *second, uint32_t stage, uint32_t block) {
  char name[HEED_NAME_SIZE];
  const char *between = roles->layer + roles->layer_length + 1;
  const int length =
      snprintf(name, sizeof name, "%s%.*s%u.%.*s%u.%.*s", roles->prefix, (int)roles->layer_length,
               roles->layer, stage, (int)(second - between), between, block,
               (int)strcspn(second + 1, "|"), second + 1);
  return length < (int)sizeof name && heed_checkpoint_find(roles->checkpoint, name);
}

/* The blocks of each stage, of a style with stages, and where the merges lie. */
static void count_blocks(heed_roles *roles) {
  const char *second = strchr(roles->layer + roles->layer_length + 1, '#'),
             *end = strchr(roles->layer, '|');
  char name[HEED_NAME_SIZE];
  if (!second || (end && end < second)) return;
  while (roles->stages < HEED_MOST_STAGES && has_block(roles, second, roles->stages, 0)) {
    uint32_t *blocks = &roles->blocks[roles->stages++];
    while (*blocks < HEED_CONFIG_MAX && has_block(roles, second, roles->stages - 1, *blocks))
      ++*blocks;
  }
  snprintf(name, sizeof name, "%s%.*s0.downsample.norm.weight", roles->prefix,
           (int)roles->layer_length, roles->layer);
  roles->merges_first = !heed_checkpoint_find(roles->checkpoint, name);
}

/* The styles of text towers come last. Those without anchors are looked for where none of these is.
 */
static const heed_names *const styles[] = {
    &heed_names_hugging_face,
    &heed_names_hugging_face_clip,
    &heed_names_timm,
    &heed_names_open_clip,
    &heed_names_torchvision,
    &heed_names_aimv2,
    &heed_names_internvit,
    &heed_names_moonvit,
    &heed_names_pixtral,
    &heed_names_swin,
    &heed_names_swin_timm,
    &heed_names_sam,
    &heed_names_hugging_face_text,
    &heed_names_open_clip_text,
};
enum { STYLES = sizeof styles / sizeof *styles, TEXT_STYLES = 2 };

/* "a.vit." -> "a.": a head lies beside the model, not in it. */
static void set_prefix(heed_roles *roles, const char *name, size_t length) {
  memcpy(roles->prefix, name, length);
  roles->prefix[length] = '\0';
  memcpy(roles->outer, roles->prefix, length + 1);
  const heed_family *family;
  for (uint32_t i = 0; (family = heed_family_get(i)); i++) {
    const size_t part = family->inner ? strlen(family->inner) : 0;
    if (!part || length < part || strcmp(roles->prefix + length - part, family->inner) != 0)
      continue;
    if (length == part || roles->prefix[length - part - 1] == '.')
      roles->outer[length - part] = '\0';
  }
}

static heed_status no_model(const heed_roles *roles, heed_error *error) {
  if (heed_is_text(roles->tower))
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: no text tower (expected that of CLIP or SigLIP, with token_embedding)",
                     heed_checkpoint_name(roles->checkpoint));
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: no ViT (found none of encoder.layer.0.layernorm_before.weight, "
                   "blocks.0.norm1.weight ... among %u tensors); --names FILE, in JavaScript "
                   "names, says what yours are called, and its ONNX export opens without names: "
                   "torch.onnx.export(model, x, \"m.onnx\")",
                   heed_checkpoint_name(roles->checkpoint),
                   heed_checkpoint_count(roles->checkpoint));
}

static heed_status several(const heed_roles *roles, const char *first, const char *second,
                           heed_error *error) {
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: more than one ViT (found %.*s and %.*s, expected one; of a file of "
                   "PyTorch " HEED_WEIGHTS_KEY " the entry)",
                   heed_checkpoint_name(roles->checkpoint), HEED_CUT(first), HEED_CUT(second));
}

/* Takes the anchor's style and prefix. */
static heed_status take_anchor(heed_roles *roles, const heed_names *names, const char *anchor,
                               const char *name, size_t prefix, heed_error *error) {
  if (prefix >= HEED_PREFIX_SIZE)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: names too long (found %.*s)",
                     heed_checkpoint_name(roles->checkpoint), HEED_CUT(name));
  roles->names = names;
  roles->layer = anchor;
  roles->layer_length = (uint32_t)strcspn(anchor, "#");
  set_prefix(roles, name, prefix);
  roles->stages = 0;
  memset(roles->blocks, 0, sizeof roles->blocks);
  count_blocks(roles);
  return HEED_OK;
}

/* Takes the anchor that the name ends with, of any style: the first under whose prefix patches (of
 * a text tower: tokens) are embedded (*embeds), else the first. `names` NULL: it ends with none. */
static heed_status find_anchor(heed_roles *roles, const char *name, bool *embeds,
                               heed_error *error) {
  const heed_role role =
      heed_is_text(roles->tower) ? HEED_ROLE_TOKEN_EMBEDDINGS : HEED_ROLE_PATCH_WEIGHT;
  const int first = heed_is_text(roles->tower) ? STYLES - TEXT_STYLES : 0,
            end = heed_is_text(roles->tower) ? STYLES : STYLES - TEXT_STYLES;
  *embeds = false;
  for (int style = first; style < end; style++)
    for (const char *at = styles[style]->anchors; at && !*embeds;) {
      const size_t length = strcspn(at, "|");
      size_t prefix;
      heed_roles other = *roles;
      if (match_anchor(name, at, length, &prefix)) {
        HEED_TRY(take_anchor(&other, styles[style], at, name, prefix, error));
        *embeds = heed_roles_have(&other, role, 0);
        if (*embeds || !roles->names) *roles = other;
      }
      at = at[length] ? at + length + 1 : NULL;
    }
  return HEED_OK;
}

/* The same of the style without anchors: the name is that of the first layer's first norm. Nothing
 * else than a prefix under which patches are embedded tells where the layers' own name begins. */
static void find_own(heed_roles *roles, const char *name) {
  heed_roles other = {.checkpoint = roles->checkpoint, .names = &heed_names_own};
  for (const char *zero = strstr(name, ".0."); zero; zero = strstr(zero + 1, ".0.")) {
    for (const char *at = name; at && at <= zero; at = strchr(at, '.'), at += at != NULL) {
      const size_t length = (size_t)(at - name);
      char norm[HEED_NAME_SIZE];
      if (length >= HEED_PREFIX_SIZE || at == zero) continue;
      other.layer = at;
      other.layer_length = (uint32_t)(zero + 1 - at);
      memcpy(other.prefix, name, length);
      other.prefix[length] = '\0';
      memcpy(other.outer, other.prefix, length + 1);
      heed_roles_name(&other, HEED_ROLE_NORM1_WEIGHT, 0, norm);
      if (strcmp(norm, name) != 0) break;
      if (!heed_roles_have(&other, HEED_ROLE_PATCH_WEIGHT, 0)) continue;
      *roles = other;
      return;
    }
  }
}

/* The one ViT of the file of which nobody has published the names. */
static heed_status find_own_style(heed_roles *roles, heed_error *error) {
  const char *found = NULL;
  for (uint32_t i = 0; i < heed_checkpoint_count(roles->checkpoint); i++) {
    const char *name = heed_checkpoint_get(roles->checkpoint, i)->info->name;
    heed_roles other = {.checkpoint = roles->checkpoint};
    find_own(&other, name);
    if (!other.names) continue;
    if (found) return several(roles, found, name, error);
    found = name;
    *roles = other;
  }
  return found ? HEED_OK : no_model(roles, error);
}

/* The one ViT of the file. Where several parts have layers of a known style, it is the one that
 * embeds patches: the vision tower beside a text tower. A text tower embeds tokens. */
static heed_status find_style(heed_roles *roles, heed_error *error) {
  const char *found = NULL;
  bool embeds = false;
  for (uint32_t i = 0; i < heed_checkpoint_count(roles->checkpoint); i++) {
    const char *name = heed_checkpoint_get(roles->checkpoint, i)->info->name;
    heed_roles other = {.checkpoint = roles->checkpoint, .tower = roles->tower};
    bool patches;
    HEED_TRY(find_anchor(&other, name, &patches, error));
    if (!other.names || (heed_is_text(roles->tower) && !patches)) continue;
    if (found && embeds == patches) return several(roles, found, name, error);
    if (found && embeds) continue;
    found = name;
    embeds = patches;
    *roles = other;
  }
  if (embeds || heed_is_text(roles->tower)) return found ? HEED_OK : no_model(roles, error);
  heed_roles own = {.checkpoint = roles->checkpoint};
  const heed_status status = find_own_style(&own, error);
  if (status == HEED_OK) *roles = own;
  return found && status != HEED_OK ? HEED_OK : status;
}

/* --------------------------------------------------------------------------------------- family */

/* Whether the file has one of the tensors. */
static bool has_mark(const heed_roles *roles, const char *marks) {
  for (const char *at = marks; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
    char name[64];
    const size_t length = strcspn(at, "|:");
    if (length >= sizeof name) continue;
    memcpy(name, at, length);
    name[length] = '\0';
    const heed_checkpoint_tensor *tensor = heed_roles_named(roles, name);
    if (tensor &&
        (at[length] != ':' || (!tensor->info->unsupported &&
                               tensor->info->shape.rank == (uint32_t)(at[length + 1] - '0'))))
      return true;
  }
  return false;
}

/* Whether the file can be of the family. */
static bool fits(const heed_roles *roles, const heed_family *family) {
  const char *end = strchr(roles->layer, '|'),
             *part = family->anchor ? strstr(roles->layer, family->anchor) : roles->layer;
  return family->tower == roles->tower && family->names == roles->names && part &&
         (!end || part < end) && (roles->groups & family->has) == family->has &&
         !has_mark(roles, family->excludes);
}

/* Whether the prefix is the family's own. */
static bool has_inner(const heed_roles *roles, const heed_family *family) {
  const char *inner = roles->prefix + strlen(roles->outer);
  return family->inner && strcmp(inner, family->inner) == 0;
}

/* Whether the prefix or a tensor that no other family has makes the file one of the family. */
static bool claims(const heed_roles *roles, const heed_family *family) {
  return (!family->inner_shared && has_inner(roles, family)) || has_mark(roles, family->marks);
}

/* The same of what others have too. */
static bool hints(const heed_roles *roles, const heed_family *family) {
  return !(roles->groups & family->hints_lack) &&
         (roles->groups & family->hints_have) == family->hints_have &&
         ((family->inner_shared && has_inner(roles, family)) || has_mark(roles, family->hints));
}

/* HEED_GROUP: what the family's files lack, tables of relative positions without a rule included.
 */
static heed_groups lacking(const heed_family *family) {
  return family->lacks |
         (family->rules.bias_positions || family->rules.staged
              ? 0
              : HEED_GROUP(POSITION_BIAS) | HEED_GROUP(SHARED_POSITION_BIAS)) |
         (HEED_GROUP(RELATIVE) & ~family->rules.needs);
}

/* The family of a file. The first of these that there is:
 *  1. that of timm's architecture;
 *  2. that of the config's type, if it lacks nothing that the file has;
 *  3. the first that claims the file;
 *  4. that of the config's type, whatever it lacks;
 *  5. the first at which something hints;
 *  6. of those that take what no family claims, the first that lacks nothing, else the first.
 * *guessed: nothing that is the family's alone told it. */
static const heed_family *find_family(const heed_roles *roles, const heed_config *config,
                                      bool *guessed) {
  enum { TYPED, CLAIMED, HINTED, LEFT, PASSES };
  const heed_family *family, *last = NULL, *typed = NULL;
  *guessed = false;
  const heed_family *said = config->said_family;
  if (said && said->names == roles->names) return said;
  if (config->timm && config->family->names == roles->names) return config->family;
  for (int pass = 0; pass < PASSES && !(pass >= HINTED && typed); pass++)
    for (uint32_t i = 0; (family = heed_family_get(i)); i++) {
      if (!fits(roles, family)) continue;
      const bool of_type = *config->model_type && family == config->family;
      /* The number of registers in the config is a sentence of its own. */
      if (of_type && !(roles->groups & family->lacks & HEED_GROUP(REGISTERS))) typed = family;
      if (family->fallback) last = family;
      if (roles->groups & lacking(family)) continue;
      *guessed = pass >= HINTED;
      if (pass == TYPED     ? of_type
          : pass == CLAIMED ? claims(roles, family)
          : pass == HINTED  ? hints(roles, family)
                            : family->fallback)
        return family;
    }
  *guessed = !typed;
  return typed ? typed : last;
}

bool heed_roles_of_moco(const heed_roles *roles) {
  return strstr(roles->prefix, "base_encoder.") || strstr(roles->prefix, "momentum_encoder.");
}

/* The groups of which all roles must be there: what was lost must not pass for a model that never
 * had it. */
static heed_groups needed_groups(const heed_roles *roles) {
  heed_groups needs = roles->rules.needs;
  /* A norm takes the place of another, and of the bias of the patches before it. */
  if (roles->groups & HEED_GROUP(POOL_NORM)) needs &= ~HEED_GROUP(FINAL_NORM);
  if (roles->groups & HEED_GROUP(PRE_NORM)) needs &= ~HEED_GROUP(PATCH_BIAS);
  if (!roles->rules.rotation.kind && !roles->rules.made_positions &&
      !(roles->groups & (HEED_GROUP(POSITION_BIAS) | HEED_GROUP(SHARED_POSITION_BIAS))))
    needs |= HEED_GROUP(POSITIONS);
  heed_groups groups = (roles->groups & ~roles->lacks) | needs;
  if (groups & HEED_GROUP(CLASSIFIER)) groups |= roles->rules.classifier_needs;
  if (groups & HEED_GROUP(KEY_BIAS)) groups |= HEED_GROUP(QKV_BIASES);
  if (groups & HEED_GROUP(QKV_BIASES) && roles->rules.key_bias == HEED_KEY_BIAS_ALIKE)
    groups |= HEED_GROUP(KEY_BIAS);
  for (const char *at = roles->names->two_classifiers; at;) {
    char name[64];
    const size_t length = strcspn(at, "&");
    memcpy(name, at, length);
    name[length] = '\0';
    if (!heed_roles_named(roles, name)) return groups;
    at = at[length] ? at + length + 1 : NULL;
  }
  return roles->names->two_classifiers ? groups | HEED_GROUP(DISTILLATION_CLASSIFIER) : groups;
}

/* Positions of a ViT that its authors wrote themselves, where the file stores none: what the user
 * says, or SimpleViT's. */
static heed_status choose_positions(heed_roles *roles, const heed_config *config,
                                    heed_error *error) {
  const heed_config_value *said = &config->made_positions;
  const bool stored = roles->groups & HEED_GROUP(POSITIONS);
  if (said->key && stored != (said->value == HEED_POSITIONS_STORED))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: positions does not fit the weights (found %s, expected %s)",
                     heed_config_where(said), heed_position_words[said->value],
                     stored ? "stored: the file has them" : "none, sincos or sines");
  if (stored || roles->family->names != &heed_names_own || roles->rules.rotation.kind)
    return HEED_OK;
  if (said->key)
    roles->rules.made_positions = (uint8_t)said->value;
  else if (roles->family == &heed_family_vit_pytorch && !(roles->groups & HEED_GROUP(CLS)) &&
           heed_roles_named(roles, "linear_head.{1.,}weight"))
    roles->rules.made_positions = HEED_POSITIONS_SINCOS;
  else
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: no position embeddings (found none of their names, expected "
                     "pos_embedding or the like, which --names can say, or " HEED_HINT(
                         "positions=sincos, sines or none") ")",
                     heed_checkpoint_name(roles->checkpoint));
  return HEED_OK;
}

/* What the config says; else the patches, where there is no CLS or a norm that follows their mean.
 */
static void choose_pool(heed_roles *roles, const heed_config *config) {
  const bool cls = roles->groups & HEED_GROUP(CLS) && !(roles->groups & HEED_GROUP(POOL_NORM));
  if (config->pool.key)
    roles->rules.pool = (uint8_t)config->pool.value;
  else if (roles->rules.pool == HEED_POOL_CLS && roles->groups & HEED_GROUP(PROBE))
    roles->rules.pool = HEED_POOL_PROBE;
  else if (!cls && roles->rules.pool == HEED_POOL_CLS)
    roles->rules.pool = HEED_POOL_PATCHES;
  if (roles->rules.pool == HEED_POOL_PROBE) roles->groups |= HEED_GROUP(PROBE);
  if (roles->rules.pools && roles->rules.pool == HEED_POOL_CLS)
    roles->groups |= HEED_GROUP(FINAL_NORM);
  else if (roles->rules.pools && roles->groups & HEED_GROUP(CLASSIFIER))
    roles->groups |= HEED_GROUP(POOL_NORM);
  if (config->pool.key && roles->rules.pool == HEED_POOL_CLS) roles->groups |= HEED_GROUP(CLS);
}

/* timm's vit_*_rpn_* have a norm after each part, and the tensors of a plain model that has no CLS
 * and no biases of query, key and value. */
static heed_status refuse_post_norm(const heed_roles *roles, heed_error *error) {
  const heed_groups absent = HEED_GROUP(CLS) | HEED_GROUP(QKV_BIASES) | HEED_GROUP(KEY_BIAS) |
                             HEED_GROUP(LAYER_SCALES) | HEED_GROUP(FINAL_NORM) |
                             HEED_GROUP(REGISTERS) | HEED_GROUP(GATE);
  if (!roles->assumption || roles->names != &heed_names_timm || roles->groups & absent ||
      !(roles->groups & HEED_GROUP(POOL_NORM)))
    return HEED_OK;
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: plain blocks and those with a norm after each part (timm's vit_*_rpn_*) "
                   "have these tensors (expected a config.json with \"architecture\")",
                   heed_checkpoint_name(roles->checkpoint));
}

/* The style and the family of a names.json that names every part. */
static heed_status take_named(heed_roles *roles, const heed_config *config, heed_error *error) {
  const char *prefix = config->said_prefix ? config->said_prefix : "";
  roles->names = &config->named.names;
  roles->layer = "";
  if (strlen(prefix) >= HEED_PREFIX_SIZE)
    return heed_fail(error, HEED_UNSUPPORTED, "names.json: prefix too long (found %.*s)",
                     HEED_CUT(prefix));
  memcpy(roles->prefix, prefix, strlen(prefix) + 1);
  memcpy(roles->outer, roles->prefix, sizeof roles->outer);
  const char *norm = heed_named_pattern(roles->names, HEED_ROLE_NORM1_WEIGHT) + 1;
  if (strncmp(norm, prefix, strlen(prefix)) == 0) {
    roles->layer = norm + strlen(prefix);
    roles->layer_length = (uint32_t)strcspn(roles->layer, "#");
  }
  roles->family = config->said_family ? config->said_family
                  : config->family    ? config->family
                                      : &heed_family_own;
  return HEED_OK;
}

static bool hints_at(heed_roles *roles, heed_training_fact fact, bool takes) {
  const bool there = takes && roles->training.of[fact].key;
  if (there) roles->hinted |= 1u << fact;
  return there;
}

/* What the arguments of a training tell of a ViT that its authors wrote themselves. */
static void take_training(heed_roles *roles, const heed_config *config) {
  const heed_training_hint *of = roles->training.of;
  heed_rules *rules = &roles->rules;
  const bool pools = roles->family == &heed_family_vit_pytorch && !config->pool.key &&
                     roles->groups & HEED_GROUP(CLS) && rules->pool == HEED_POOL_CLS;
  uint8_t activation;
  if (hints_at(roles, HEED_TRAINING_ACTIVATION,
               !config->activation_said && of[HEED_TRAINING_ACTIVATION].key &&
                   heed_config_activation_named(of[HEED_TRAINING_ACTIVATION].text, &activation)))
    rules->activation = activation;
  if (hints_at(roles, HEED_TRAINING_NORM_FIRST,
               !config->norm_after.key && roles->family == &heed_family_torch_encoder))
    rules->norm_after = !of[HEED_TRAINING_NORM_FIRST].value;
  if (hints_at(roles, HEED_TRAINING_POOL, pools) &&
      strcmp(of[HEED_TRAINING_POOL].text, "mean") == 0)
    rules->pool = HEED_POOL_TOKENS;
}

/* The rules of those whose names timm's are: the original DINO's, and those of the architecture
 * that a training of timm names. */
static heed_status take_original(heed_roles *roles, const heed_config *config, heed_error *error) {
  const char *maker = heed_roles_maker(roles),
             *arch = roles->training.of[HEED_TRAINING_ARCHITECTURE].text;
  if (roles->family != &heed_family_timm || config->json) return HEED_OK;
  if (maker && strcmp(maker, HEED_ORIGINAL_DINO) == 0)
    roles->rules.positions = &heed_positions_offset;
  if (!arch || !strstr(arch, "_patch") || strncmp(arch, "mae_", 4) == 0) return HEED_OK;
  return heed_architecture_rules(arch, heed_checkpoint_name(roles->checkpoint), &roles->rules,
                                 error);
}

/* What names.json says of rules; else what torch's nn.TransformerEncoder has by itself, unless a
 * final norm shows that its parts have theirs before, and most then have GELU. */
static void take_facts(heed_roles *roles, const heed_config *config) {
  heed_rules *rules = &roles->rules;
  if (config->said_grid && rules->positions) rules->positions = config->said_grid;
  const heed_groups norms = HEED_GROUP(FINAL_NORM) | HEED_GROUP(HEAD_NORM);
  if (roles->family == &heed_family_torch_encoder) {
    rules->norm_after = !(roles->groups & norms);
    if (!rules->norm_after) rules->activation = HEED_ACTIVATION_GELU;
  }
  if (heed_roles_own(roles)) take_training(roles, config);
  if (roles->family == &heed_family_vit_pytorch)
    rules->scale_by_width = heed_roles_named(roles, "#0.fn.fn.to_qkv.weight") != NULL;
  if (!rules->head_activation) rules->head_activation = HEED_ACTIVATION_RELU;
  if (config->norm_after.key) rules->norm_after = config->norm_after.value;
  if (config->scale_by_width.key) rules->scale_by_width = config->scale_by_width.value;
  if (config->qkv_order.key) rules->qkv_order = (uint8_t)config->qkv_order.value;
  if (config->channels_last.key) rules->channels_last = config->channels_last.value;
  if (config->head_activation.key) rules->head_activation = (uint8_t)config->head_activation.value;
}

/* A teacher or a student around a backbone is DINO's, also where only the encoder was kept. */
static void read_training(heed_roles *roles) {
  heed_training *training = &roles->training;
  heed_training_read(roles->checkpoint, training);
  if (training->maker || !training->teacher_key || !strstr(roles->prefix, "backbone.")) return;
  training->maker = HEED_ORIGINAL_DINO;
  training->maker_key = training->teacher_key;
}

heed_status heed_roles_detect(heed_checkpoint *checkpoint, const heed_config *config,
                              heed_roles *roles, heed_error *error) {
  bool guessed = false;
  *roles = (heed_roles){.checkpoint = checkpoint, .tower = config->tower};
  if (config->named.names.patterns && heed_named_whole(&config->named.names))
    HEED_TRY(take_named(roles, config, error));
  else
    HEED_TRY(find_style(roles, error));
  read_training(roles);
  if (config->named.names.patterns) roles->named = &config->named.names;
  roles->groups = heed_roles_groups(roles);
  if (!roles->family) roles->family = find_family(roles, config, &guessed);
  if (!roles->family) return no_model(roles, error);
  roles->rules = config->family == roles->family ? config->rules : roles->family->rules;
  /* A config without a type means ViT. */
  if (guessed && !(config->json && config->family == roles->family))
    roles->assumption = roles->family->assumption;
  HEED_TRY(take_original(roles, config, error));
  HEED_TRY(refuse_post_norm(roles, error));
  roles->lacks = lacking(roles->family);
  if (roles->rules.classifier_embeds) roles->lacks |= HEED_GROUP(CLASSIFIER);
  if (roles->rules.rotation.kind == HEED_ROTATION_VIDEO) roles->lacks |= HEED_GROUP(POSITIONS);
  if (roles->rules.rotation.kind != HEED_ROTATION_AXIAL) roles->lacks |= HEED_GROUP(FREQUENCIES);
  if (roles->rules.rotation.kind != HEED_ROTATION_CENTRED) roles->lacks |= HEED_GROUP(PERIODS);
  HEED_TRY(choose_positions(roles, config, error));
  roles->groups = needed_groups(roles);
  choose_pool(roles, config);
  if (roles->rules.norms_tell) roles->rules.rms = !heed_roles_have(roles, HEED_ROLE_NORM1_BIAS, 0);
  take_facts(roles, config);
  if (!config->said_grid || roles->groups & HEED_GROUP(POSITIONS)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: no position embeddings are stored, and interpolation_grid is of those "
                   "(found %s, expected it left out)",
                   heed_checkpoint_name(checkpoint), config->said_grid->name);
}
