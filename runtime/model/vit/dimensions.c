/* The sizes of a ViT: what the tensors' shapes say, with which config.json must agree where it says
 * anything. Disagreement among tensors shows later, when each role is resolved with the shape that
 * these sizes give. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/config/fields.h"
#include "model/families/timm_architectures.h"
#include "model/files/source.h"
#include "model/vit/role.h"

typedef heed_stored_role stored_role;

/* ------------------------------------------------------------------------------- contradictions */

/* The config says one thing, the file another; state: what of the tensor tells it. */
static heed_status contradict(const heed_config_value *said, const char *found,
                              const char *expected, const char *tensor, const char *state,
                              heed_error *error) {
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: %s%s does not fit the weights (found %s, expected %s: tensor %.*s is %s)",
                   heed_config_where(said), said->key, said->by_default ? " (by default)" : "",
                   found, expected, HEED_CUT(tensor), state);
}

static heed_status contradict_number(const heed_config_value *said, uint32_t seen,
                                     const char *tensor, const char *state, heed_error *error) {
  char found[12], expected[12];
  snprintf(found, sizeof found, "%u", said->value);
  snprintf(expected, sizeof expected, "%u", seen);
  return contradict(said, found, expected, tensor, state, error);
}

/* Takes a size from a tensor's shape when the config says no other. */
static heed_status agree(const heed_config_value *said, const stored_role *stored, uint32_t axis,
                         uint32_t *size, heed_error *error) {
  char text[HEED_SHAPE_TEXT_SIZE];
  *size = stored->shape.dim[axis];
  if (!said->key || said->value == *size) return HEED_OK;
  return contradict_number(said, *size, stored->tensor->info->name,
                           heed_shape_text(&stored->tensor->info->shape, text), error);
}

/* The same by whether the file has a tensor for the role in that layer. */
static heed_status agree_on_presence(const heed_roles *roles, const heed_config_value *said,
                                     uint32_t seen, heed_role role, uint32_t layer,
                                     heed_error *error) {
  char name[HEED_NAME_SIZE]; /* empty: the style has none */
  if (!said->key || said->value == seen) return HEED_OK;
  heed_roles_name(roles, role, layer, name);
  return contradict_number(said, seen, name[0] ? name : heed_role_pattern(role),
                           heed_roles_have(roles, role, layer) ? "there" : "not there", error);
}

/* The same of a flag, which is `seen` as the role is there or not. */
static heed_status agree_on_flag(const heed_roles *roles, const heed_config_value *said, bool seen,
                                 heed_role role, bool there, heed_error *error) {
  char name[HEED_NAME_SIZE];
  if (!said->key || (said->value != 0) == seen) return HEED_OK;
  heed_roles_name(roles, role, 0, name);
  return contradict(said, seen ? "false" : "true", seen ? "true" : "false", name,
                    there ? "there" : "not there", error);
}

/* ---------------------------------------------------------------------------------------- sizes */

static heed_status find_stored(const heed_roles *roles, heed_role role, uint32_t rank,
                               stored_role *stored, heed_error *error) {
  return heed_roles_stored(roles, role, 0, rank, stored, error);
}

/* The same of a role that the sizes need; names.json may leave it out. */
static heed_status need_stored(const heed_roles *roles, heed_role role, uint32_t rank,
                               stored_role *stored, heed_error *error) {
  HEED_TRY(find_stored(roles, role, rank, stored, error));
  if (stored->tensor) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: tensor of the role %s is missing (expected it in the file, and by name in "
                   "names.json where that is there)",
                   heed_checkpoint_name(roles->checkpoint), heed_role_pattern(role));
}

static uint32_t whole_root(uint32_t square) {
  uint32_t root = 0;
  while ((uint64_t)(root + 1) * (root + 1) <= square) root++;
  return root;
}

static heed_status layer_count(const heed_roles *roles, const heed_config *config, uint32_t *layers,
                               heed_error *error) {
  *layers = 0;
  while (*layers < HEED_CONFIG_MAX && heed_roles_have(roles, HEED_ROLE_NORM1_WEIGHT, *layers))
    ++*layers;
  /* The first layer that the config has and the file has not, or the other way round. */
  const uint32_t differing = config->layers.value < *layers ? config->layers.value : *layers;
  return agree_on_presence(roles, &config->layers, *layers, HEED_ROLE_NORM1_WEIGHT, differing,
                           error);
}

/* ------------------------------------------------------------------------------ the training */

/* What the training's arguments say, 0: nothing; also of what the config says too. */
static uint32_t hint_of(const heed_roles *roles, heed_training_fact fact) {
  return roles->training.of[fact].value;
}

static uint32_t take_hint(heed_vit_dimensions *d, heed_training_fact fact, uint32_t value) {
  d->hinted |= 1u << fact;
  return value;
}

/* Notes a hint that the weights contradict, unless a file of the user says the number anyway. */
static void compare_hint(const heed_roles *roles, const heed_config_value *said,
                         heed_training_fact fact, uint32_t seen, heed_vit_dimensions *d) {
  const uint32_t hint = hint_of(roles, fact);
  if (hint && hint != seen && !said->key) d->contradicted |= 1u << fact;
}

/* Their number, or that of each one's channels; 0: neither, or none that the width has. */
static uint32_t hinted_heads(const heed_roles *roles, heed_vit_dimensions *d) {
  const uint32_t width = d->attention_width, heads = hint_of(roles, HEED_TRAINING_HEADS),
                 each = hint_of(roles, HEED_TRAINING_HEAD_WIDTH);
  if (heads && width % heads == 0) return take_hint(d, HEED_TRAINING_HEADS, heads);
  if (heads || !each || width % each) return 0;
  return take_hint(d, HEED_TRAINING_HEAD_WIDTH, width / each);
}

/* By the architecture's name, of libraries that publish theirs. MoCo v3 has heads of its own under
 * names such as "vit_small", which its files have as "arch". */
static uint32_t architecture_heads(const heed_roles *roles, heed_vit_dimensions *d) {
  const heed_training_hint *arch = &roles->training.of[HEED_TRAINING_ARCHITECTURE];
  const char *name = arch->text;
  if (!arch->key || heed_roles_own(roles) || heed_roles_of_moco(roles)) return 0;
  if (strcmp(arch->key, "arch") == 0 && !strstr(name, "_patch")) return 0;
  const uint32_t heads =
      heed_architecture_heads(strncmp(name, "mae_", 4) == 0 ? name + 4 : name, d->width);
  return heads ? take_hint(d, HEED_TRAINING_ARCHITECTURE, heads) : 0;
}

/* By tensors that are of one head: *told 0 where there is none, else which of them told it. */
static heed_status told_heads(const heed_roles *roles, uint32_t width, uint32_t *told,
                              const heed_checkpoint_tensor **teller, heed_error *error) {
  heed_place query;
  stored_role relative;
  HEED_TRY(heed_roles_find(roles, HEED_ROLE_QUERY_WEIGHT, 0, &query, error));
  HEED_TRY(find_stored(roles, HEED_ROLE_RELATIVE_ROWS, 2, &relative, error));
  *told = relative.tensor ? width / relative.shape.dim[1] : query.heads;
  *teller = relative.tensor ? relative.tensor : query.tensor;
  return HEED_OK;
}

/* What the config says, else the training's arguments, else the architecture's name, else the
 * family; else a guess. */
static heed_status head_count(const heed_roles *roles, const heed_config *config,
                              heed_vit_dimensions *d, heed_error *error) {
  const heed_config_value *said = &config->heads;
  const uint32_t width = d->attention_width;
  if (roles->stages) return heed_vit_stage_heads(roles, 0, &d->heads, error);
  uint32_t told;
  const heed_checkpoint_tensor *teller;
  HEED_TRY(told_heads(roles, width, &told, &teller, error));
  d->heads = said->key ? said->value : told;
  if (told && d->heads != told)
    return contradict_number(said, told, teller->info->name, "of one head of them", error);
  if (!d->heads && config->timm) d->heads = heed_architecture_heads(config->model_type, d->width);
  if (!d->heads && !said->key) d->heads = hinted_heads(roles, d);
  if (!d->heads && !said->key && roles->rules.architecture)
    d->heads = heed_architecture_heads(roles->rules.architecture, d->width);
  if (!d->heads && !said->key) d->heads = architecture_heads(roles, d);
  if (!d->heads && !said->key) {
    d->heads_guessed = true;
    if (heed_roles_of_moco(roles)) d->heads = heed_architecture_heads("moco", d->width);
    if (!d->heads && width % 64 == 0) d->heads = heed_architecture_heads("a guess", width);
  }
  if (d->heads) compare_hint(roles, said, HEED_TRAINING_HEADS, d->heads, d);
  if (said->key && width % said->value)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: %s does not divide the width (found %u, expected a divisor of %u)",
                     heed_config_where(said), said->key, said->value, width);
  if (d->heads && width % d->heads == 0) return HEED_OK;
  char clash[300];
  heed_training_tell_clash(&roles->training.of[HEED_TRAINING_HEADS], clash, sizeof clash);
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: cannot infer the number of heads (found width %u%s%s, expected a multiple "
                   "of 64, config.json, or " HEED_HINT("heads=N") ")",
                   heed_checkpoint_name(roles->checkpoint), width, *clash ? "; " : "", clash);
}

/* The width of the MLP. */
static heed_status mlp_sizes(const heed_roles *roles, const heed_config *config,
                             heed_vit_dimensions *d, heed_error *error) {
  stored_role fc1;
  const bool gate = heed_roles_need(roles, HEED_ROLE_GATE_WEIGHT);
  HEED_TRY(agree_on_flag(roles, &config->gated_mlp, gate, HEED_ROLE_GATE_WEIGHT, gate, error));
  HEED_TRY(need_stored(roles, HEED_ROLE_FC1_WEIGHT, 2, &fc1, error));
  /* eva.py's pooling attention has exact GELU. */
  d->pool_activation = roles->rules.probe_reads_all && roles->rules.rotation.kind
                           ? HEED_ACTIVATION_GELU
                           : d->activation;
  if (gate && !roles->rules.gate_activation) d->activation = HEED_ACTIVATION_SILU;
  /* eva.py rounds what its ratio gives for a gate. */
  if (!(config->mlp_ratio > 0.0) || (gate && roles->rules.rotation.kind))
    return agree(&config->mlp_width, &fc1, 0, &d->mlp_width, error);
  /* timm's ratio counts both halves of a packed gate. */
  const heed_config_value multiple = {
      (uint32_t)(d->width * config->mlp_ratio),
      config->timm ? "embed_dim times mlp_ratio" : "width times mlp_ratio", false};
  stored_role rows = fc1;
  uint32_t whole;
  d->mlp_width = fc1.shape.dim[0];
  rows.shape = fc1.tensor->info->shape;
  return agree(&multiple, &rows, 0, &whole, error);
}

/* CLIP's files do not say their activation: OpenAI's and LAION's differ. Nor do those of DINOv3 in
 * transformers' names: all published ones with a gate have SiLU. */
static void guess_activation(const heed_roles *roles, const heed_config *config,
                             heed_vit_dimensions *d) {
  const heed_rules *rules = &roles->rules;
  const bool gate = rules->gate_activation && heed_roles_have(roles, HEED_ROLE_GATE_WEIGHT, 0);
  if (config->activation_said || config->family == roles->family) return;
  d->activation_guessed = rules->exact_layers || gate;
  if (gate) d->activation = HEED_ACTIVATION_SILU;
  if (rules->exact_layers && (d->layers >= rules->exact_layers || d->width >= rules->exact_width))
    d->activation = HEED_ACTIVATION_GELU;
}

static heed_status check_biases(const heed_roles *roles, const heed_config *config,
                                heed_error *error) {
  const bool key = heed_roles_have(roles, HEED_ROLE_KEY_BIAS, 0);
  heed_role role = HEED_ROLE_QUERY_BIAS;
  while (role < HEED_ROLE_VALUE_BIAS && !heed_roles_have(roles, role, 0))
    role = (heed_role)(role + 2);
  const bool biases = heed_roles_need(roles, role);
  HEED_TRY(agree_on_flag(roles, &config->qkv_bias, biases, biases ? role : HEED_ROLE_QUERY_BIAS,
                         biases, error));
  return agree_on_flag(roles, &config->key_bias, key, HEED_ROLE_KEY_BIAS, key, error);
}

static heed_status rotation_sizes(const heed_roles *roles, const heed_config *config,
                                  heed_vit_dimensions *d, heed_error *error) {
  const uint32_t size = d->attention_width / d->heads, kind = roles->rules.rotation.kind;
  d->reference = roles->rules.rotation.reference;
  if (!d->reference && config->timm)
    d->reference = heed_architecture_reference(config->model_type, d->width);
  if (!kind || kind == HEED_ROTATION_VIDEO || size % 4 == 0) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: heads of %u numbers cannot be rotated (expected a multiple of 4)",
                   heed_checkpoint_name(roles->checkpoint), size);
}

/* Windows hold whole squares of patches that become one token after the tower. */
static heed_status window_sizes(const heed_roles *roles, const heed_config *config,
                                heed_vit_dimensions *d, heed_error *error) {
  const heed_config_defaults *defaults = &roles->family->defaults;
  const heed_config_value *said = &config->window;
  const uint32_t merge = config->merge.key ? config->merge.value : defaults->merge;
  const uint64_t square = (uint64_t)merge * d->patch;
  const uint32_t pixels = said->key ? said->value : defaults->window;
  if (!defaults->window) return HEED_OK;
  d->window = (uint32_t)(pixels / square * merge);
  if (d->window) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: %s does not fit the weights (found %u pixels, expected at least %llu: "
                   "%u x %u patches)",
                   heed_config_where(said), said->key ? said->key : "window_size", pixels,
                   (unsigned long long)square, merge, merge);
}

/* The channels and the side of patches that a linear map embeds, by the number of its columns and
 * what is said of them; without a word they are of 3 channels, or of 1. */
static heed_status linear_patch(const heed_roles *roles, const heed_checkpoint_tensor *tensor,
                                const heed_config *config, heed_vit_dimensions *d,
                                heed_error *error) {
  const uint32_t numbers = tensor->info->shape.dim[1], hinted = hint_of(roles, HEED_TRAINING_PATCH);
  uint32_t channels = config->channels.key ? config->channels.value : 0, side = config->patch.value;
  if (!channels && !side && hinted && hinted <= 1024 && numbers % (hinted * hinted) == 0)
    side = take_hint(d, HEED_TRAINING_PATCH, hinted);
  const uint64_t square = (uint64_t)side * side; /* of a side that the config has */
  if (!channels && side && numbers % square == 0) channels = (uint32_t)(numbers / square);
  const uint32_t third = whole_root(numbers / 3);
  if (!channels) channels = numbers % 3 == 0 && third * third == numbers / 3 ? 3 : 1;
  d->linear_patch = true;
  d->channels = channels;
  d->patch = whole_root(numbers / channels);
  if (d->patch * d->patch * channels == numbers && channels <= 1024) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: tensor %.*s does not tell the side of a patch (found %u columns, expected "
                   "channels times a square, or " HEED_HINT("channels=N") ")",
                   heed_safetensors_name(tensor->file), HEED_CUT(tensor->info->name), numbers);
}

/* The frames of a model of videos: of pixel_values, and of a patch. */
static heed_status frame_sizes(const heed_roles *roles, const heed_checkpoint_tensor *patch,
                               const heed_config *config, heed_vit_dimensions *d,
                               heed_error *error) {
  const stored_role stored = {patch, patch->info->shape};
  if (!roles->rules.video) return HEED_OK;
  if (stored.shape.rank != 5)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: tensor %.*s is of no model of videos (found %u axes, expected 5)",
                     heed_safetensors_name(patch->file), HEED_CUT(patch->info->name),
                     stored.shape.rank);
  HEED_TRY(agree(&config->tubelet, &stored, 2, &d->tubelet, error));
  d->frames = config->frames.key ? config->frames.value : roles->family->defaults.frames;
  d->frames_guessed = !config->frames.key;
  if (d->tubelet && d->frames % d->tubelet == 0 &&
      (uint64_t)d->channels * d->tubelet <= HEED_CONFIG_MAX)
    return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: %s does not fit the weights (found %u, expected a multiple of %u)",
                   heed_config_where(&config->frames),
                   config->frames.key ? config->frames.key : "num_frames", d->frames, d->tubelet);
}

/* Of what embeds patches. */
static heed_status patch_sizes(const heed_roles *roles, const heed_config *config,
                               heed_vit_dimensions *d, heed_error *error) {
  stored_role patch;
  heed_place place;
  HEED_TRY(heed_roles_find(roles, HEED_ROLE_PATCH_WEIGHT, 0, &place, error));
  if (place.tensor->info->shape.rank == 5 && !roles->rules.still && !roles->rules.video)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: this model of videos is not supported (found tensor %.*s of 5 axes, "
                     "expected 4, VideoMAE or V-JEPA 2)",
                     heed_safetensors_name(place.tensor->file), HEED_CUT(place.tensor->info->name));
  if (place.tensor->info->shape.rank == 2 && (heed_roles_own(roles) || roles->rules.flat_patches)) {
    HEED_TRY(find_stored(roles, HEED_ROLE_PATCH_WEIGHT, 2, &patch, error));
    HEED_TRY(linear_patch(roles, place.tensor, config, d, error));
    patch.shape.dim[1] = d->channels;
    patch.shape.dim[2] = d->patch;
    HEED_TRY(agree(&config->width, &patch, 0, &d->width, error));
    HEED_TRY(agree(&config->channels, &patch, 1, &d->channels, error));
    return agree(&config->patch, &patch, 2, &d->patch, error);
  }
  HEED_TRY(find_stored(roles, HEED_ROLE_PATCH_WEIGHT, 4, &patch, error));
  if (patch.shape.dim[2] != patch.shape.dim[3])
    return heed_fail(error, HEED_UNSUPPORTED, "%s: patches are not square (found %u x %u)",
                     heed_safetensors_name(patch.tensor->file), patch.shape.dim[2],
                     patch.shape.dim[3]);
  HEED_TRY(agree(&config->width, &patch, 0, &d->width, error));
  HEED_TRY(agree(&config->channels, &patch, 1, &d->channels, error));
  HEED_TRY(agree(&config->patch, &patch, 2, &d->patch, error));
  return frame_sizes(roles, place.tensor, config, d, error);
}

/* Of what embeds tokens. */
static heed_status token_sizes(const heed_roles *roles, const heed_config *config,
                               heed_vit_dimensions *d, heed_error *error) {
  stored_role tokens, positions, projection;
  HEED_TRY(need_stored(roles, HEED_ROLE_TOKEN_EMBEDDINGS, 2, &tokens, error));
  HEED_TRY(need_stored(roles, HEED_ROLE_POSITION_EMBEDDINGS, 3, &positions, error));
  HEED_TRY(find_stored(roles, HEED_ROLE_PROJECTION_WEIGHT, 2, &projection, error));
  HEED_TRY(agree(&config->vocabulary, &tokens, 0, &d->vocabulary, error));
  HEED_TRY(agree(&config->width, &tokens, 1, &d->width, error));
  HEED_TRY(agree(&config->positions, &positions, 1, &d->position_rows, error));
  return projection.tensor ? agree(&config->projection, &projection, 0, &d->projection, error)
                           : HEED_OK;
}

/* The width of all heads together. */
static heed_status attention_width(const heed_roles *roles, uint32_t *width, heed_error *error) {
  stored_role query;
  HEED_TRY(need_stored(roles, HEED_ROLE_QUERY_WEIGHT, 2, &query, error));
  *width = query.shape.dim[0];
  return HEED_OK;
}

static heed_status body_sizes(const heed_roles *roles, const heed_config *config,
                              heed_vit_dimensions *d, heed_error *error) {
  HEED_TRY((heed_is_text(roles->tower) ? token_sizes : patch_sizes)(roles, config, d, error));
  if (d->patch) {
    compare_hint(roles, &config->patch, HEED_TRAINING_PATCH, d->patch, d);
    compare_hint(roles, &config->channels, HEED_TRAINING_CHANNELS, d->channels, d);
  }
  HEED_TRY(layer_count(roles, config, &d->layers, error));
  d->attention_width = d->width;
  if (roles->rules.own_width) HEED_TRY(attention_width(roles, &d->attention_width, error));
  HEED_TRY(head_count(roles, config, d, error));
  d->query_norm = roles->rules.wide_norms ? d->attention_width : d->attention_width / d->heads;
  guess_activation(roles, config, d);
  HEED_TRY(check_biases(roles, config, error));
  HEED_TRY(rotation_sizes(roles, config, d, error));
  HEED_TRY(window_sizes(roles, config, d, error));
  HEED_TRY(mlp_sizes(roles, config, d, error));
  return heed_vit_stages(roles, config, d, error);
}

static heed_status head_sizes(const heed_roles *roles, const heed_config *config,
                              heed_vit_dimensions *d, heed_error *error) {
  stored_role cls, registers, classifier, projection, hidden;
  HEED_TRY(find_stored(roles, HEED_ROLE_CLS_TOKEN, 3, &cls, error));
  HEED_TRY(find_stored(roles, HEED_ROLE_PROJECTION_WEIGHT, 2, &projection, error));
  if (projection.tensor)
    HEED_TRY(agree(&config->projection, &projection, 0, &d->projection, error));
  HEED_TRY(find_stored(roles, HEED_ROLE_REGISTER_TOKENS, 3, &registers, error));
  HEED_TRY(find_stored(roles, HEED_ROLE_CLASSIFIER_WEIGHT, 2, &classifier, error));
  if (registers.tensor)
    HEED_TRY(agree(&config->registers, &registers, 1, &d->registers, error));
  else
    HEED_TRY(agree_on_presence(roles, &config->registers, 0, HEED_ROLE_REGISTER_TOKENS, 0, error));
  HEED_TRY(find_stored(roles, HEED_ROLE_HEAD_HIDDEN_WEIGHT, 2, &hidden, error));
  d->hidden = hidden.tensor ? hidden.shape.dim[0] : 0;
  d->pooled =
      d->hidden ? d->hidden : d->width * (roles->rules.pool == HEED_POOL_CLS_AND_PATCHES ? 2 : 1);
  d->distillation = heed_roles_have(roles, HEED_ROLE_DISTILLATION_TOKEN, 0);
  d->prefix_tokens = (cls.tensor ? 1u : 0u) + (d->distillation ? 1u : 0u) + d->registers;
  /* A file without classifier is a base model, whatever number of classes its config keeps. */
  if (!classifier.tensor) return HEED_OK;
  HEED_TRY(agree(&config->classes, &classifier, 0, &d->classes, error));
  compare_hint(roles, &config->classes, HEED_TRAINING_CLASSES, d->classes, d);
  return HEED_OK;
}

/* How many rows of positions may be for prefix tokens. timm with no_embed_class has none, which its
 * models with registers are, so that this is tried first where no config tells a grid of 2 x 2 with
 * 5 rows more from one of 3 x 3. */
static uint32_t possible_prefixes(heed_position_tokens tokens, const heed_vit_dimensions *d,
                                  uint32_t prefixes[3]) {
  const bool none_first = d->registers > 0;
  prefixes[0] = tokens == HEED_POSITION_TOKENS_CLS                 ? 1
                : tokens == HEED_POSITION_TOKENS_ANY && none_first ? 0
                                                                   : d->prefix_tokens;
  prefixes[1] = none_first ? d->prefix_tokens : 1;
  prefixes[2] = none_first ? 1 : 0;
  return tokens == HEED_POSITION_TOKENS_ANY ? 3 : 1;
}

/* Which norms the config means: RMS norms have no bias. */
static heed_status check_norms(const heed_roles *roles, const heed_config *config,
                               heed_error *error) {
  const heed_config_value *said = &config->rms;
  const bool rms = roles->rules.rms;
  if (!said->key || said->value == rms) return HEED_OK;
  return contradict(said, rms ? "layer_norm" : "rms_norm", rms ? "rms_norm" : "layer_norm",
                    heed_role_pattern(HEED_ROLE_NORM1_BIAS), rms ? "not there" : "there", error);
}

/* Flags of the config, and roles that tell whether they are true. */
static heed_status check_flags(const heed_roles *roles, const heed_config *config,
                               heed_error *error) {
  const struct {
    const heed_config_value *said;
    heed_role role;
    bool absent; /* true means that the role is absent */
  } flags[] = {{&config->absolute_positions, HEED_ROLE_POSITION_EMBEDDINGS, false},
               {&config->position_bias, HEED_ROLE_POSITION_BIAS, false},
               {&config->shared_position_bias, HEED_ROLE_SHARED_POSITION_BIAS, false},
               {&config->mean_pooling, HEED_ROLE_FINAL_NORM_WEIGHT, true},
               {&config->query_norm, HEED_ROLE_QUERY_NORM_WEIGHT, false},
               {&config->probe, HEED_ROLE_PROBE, false}};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
    const bool there = heed_roles_have(roles, flags[i].role, 0);
    HEED_TRY(
        agree_on_flag(roles, flags[i].said, there != flags[i].absent, flags[i].role, there, error));
  }
  return HEED_OK;
}

/* The pooling attention, which a model of timm has exactly when its classifier reads it. */
static heed_status pool_sizes(const heed_roles *roles, const heed_config *config,
                              heed_vit_dimensions *d, heed_error *error) {
  stored_role probe, fc1;
  char name[HEED_NAME_SIZE];
  HEED_TRY(find_stored(roles, HEED_ROLE_PROBE, 3, &probe, error));
  if (!probe.tensor) return HEED_OK;
  heed_roles_name(roles, HEED_ROLE_PROBE, 0, name);
  if (config->timm && config->pool.key && config->pool.value != HEED_POOL_PROBE)
    return contradict(&config->pool, "another pooling", "map", name, "there", error);
  HEED_TRY(find_stored(roles, HEED_ROLE_PROBE_FC1_WEIGHT, 2, &fc1, error));
  d->pool_mlp_width = fc1.shape.dim[0];
  d->pool_heads = roles->rules.pool_heads ? roles->rules.pool_heads : d->heads;
  if (d->width % d->pool_heads == 0) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: %u heads of the pooling attention do not divide the width (found %u)",
                   heed_checkpoint_name(roles->checkpoint), d->pool_heads, d->width);
}

/* A table of relative positions has a row for each distance in a square grid, and 3 of CLS. */
static heed_status bias_sizes(const heed_roles *roles, heed_vit_dimensions *d, heed_error *error) {
  stored_role own, shared;
  HEED_TRY(find_stored(roles, HEED_ROLE_POSITION_BIAS, 2, &own, error));
  HEED_TRY(find_stored(roles, HEED_ROLE_SHARED_POSITION_BIAS, 2, &shared, error));
  const stored_role *table = own.tensor ? &own : &shared;
  if (!table->tensor || d->stages) return HEED_OK;
  d->bias_rows = table->shape.dim[0];
  const uint32_t span = d->bias_rows > 3 ? whole_root(d->bias_rows - 3) : 0;
  d->bias_side = (span + 1) / 2;
  if (d->bias_rows == span * span + 3 && span % 2 && d->prefix_tokens == 1) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: tensor %.*s is not for a square grid and CLS (found %u rows)",
                   heed_safetensors_name(table->tensor->file), HEED_CUT(table->tensor->info->name),
                   d->bias_rows);
}

/* Of a model whose positions are relative alone. */
static heed_status relative_size(const heed_config *config, heed_vit_dimensions *d,
                                 heed_error *error) {
  const heed_config_value *image = &config->image_size;
  const uint32_t side = image->key ? image->value / d->patch : d->bias_side;
  d->image_size = image->key ? image->value : side * d->patch;
  if (side == d->bias_side) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: %s does not fit the weights (found %u, expected %u patches a side)",
                   heed_config_where(image), image->key, image->value, d->bias_side);
}

/* The size without one in a config: that of the training's arguments, if it has as many patches. */
static uint32_t hinted_size(const heed_roles *roles, uint32_t side, heed_vit_dimensions *d) {
  const uint32_t size = side * d->patch, hinted = hint_of(roles, HEED_TRAINING_IMAGE_SIZE);
  if (!hinted || hinted == size) return size;
  if (hinted / d->patch == side) return take_hint(d, HEED_TRAINING_IMAGE_SIZE, hinted);
  d->contradicted |= 1u << HEED_TRAINING_IMAGE_SIZE;
  return size;
}

/* Of positions that are computed: which tokens have them, and of what width they can be. */
static heed_status made_sizes(const heed_roles *roles, heed_vit_dimensions *d, heed_error *error) {
  const uint8_t made = roles->rules.made_positions;
  const uint32_t parts = made == HEED_POSITIONS_SINCOS ? 4 : 2;
  if (made == HEED_POSITIONS_SINES) d->position_prefix = d->prefix_tokens;
  if (made <= HEED_POSITIONS_NONE || (d->width % parts == 0 && d->width > parts)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: positions cannot be computed (found width %u, expected a multiple of %u)",
                   heed_checkpoint_name(roles->checkpoint), d->width, parts);
}

/* The grid is square. */
static heed_status position_sizes(const heed_roles *roles, const heed_config *config,
                                  heed_vit_dimensions *d, heed_error *error) {
  uint32_t prefixes[3];
  const uint32_t prefix_count =
      possible_prefixes((heed_position_tokens)roles->rules.position_tokens, d, prefixes);
  const heed_config_value *image = &config->image_size;
  const uint64_t grid = image->value / d->patch;
  stored_role positions;
  HEED_TRY(find_stored(roles, HEED_ROLE_POSITION_EMBEDDINGS, 3, &positions, error));
  if (!positions.tensor && d->bias_rows) return relative_size(config, d, error);
  if (image->key && (grid == 0 || grid * grid > HEED_CONFIG_MAX))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: image and patch do not fit each other (found %s %u and %u, "
                     "expected 1 to %u patches)",
                     heed_config_where(image), image->key, image->value, d->patch, HEED_CONFIG_MAX);
  if (!positions.tensor) {
    const uint32_t hinted = hint_of(roles, HEED_TRAINING_IMAGE_SIZE),
                   own = roles->rules.made_positions ? roles->family->defaults.image_size : 0,
                   usual = own ? own : 224;
    d->image_size = image->key           ? image->value
                    : hinted >= d->patch ? take_hint(d, HEED_TRAINING_IMAGE_SIZE, hinted)
                                         : usual / d->patch * d->patch;
    d->image_guessed = roles->rules.made_positions && !image->key && hinted < d->patch;
    return made_sizes(roles, d, error);
  }
  d->position_rows = positions.shape.dim[1];
  for (uint32_t i = 0; i < prefix_count; i++) {
    if (prefixes[i] > d->prefix_tokens || d->position_rows <= prefixes[i]) continue;
    const uint32_t patches = d->position_rows - prefixes[i];
    const uint64_t side = image->key ? grid : whole_root(patches);
    if (side * side != patches) continue;
    d->position_prefix = prefixes[i];
    d->image_size = image->key ? image->value : hinted_size(roles, (uint32_t)side, d);
    if (roles->rules.rotation.own_grid && !d->reference) d->reference = (uint32_t)side;
    return HEED_OK;
  }
  if (!image->key)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: position embeddings are not for a square image (found %u rows, expected "
                     "%u and a square)",
                     heed_safetensors_name(positions.tensor->file), d->position_rows, prefixes[0]);
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: %s does not fit the weights (found %u, which makes %u rows of "
                   "positions, expected %u: tensor %.*s has them)",
                   heed_config_where(image), image->key, image->value,
                   (uint32_t)(grid * grid) + prefixes[0], d->position_rows,
                   HEED_CUT(positions.tensor->info->name));
}

heed_status heed_roles_dimensions(const heed_roles *roles, const heed_config *config,
                                  heed_vit_dimensions *dimensions, heed_error *error) {
  /* roles->rules are the config's where its family is that of the weights. */
  const heed_rules *rules = &roles->rules;
  *dimensions = (heed_vit_dimensions){
      .activation =
          (heed_activation)(config->activation_said ? config->rules.activation : rules->activation),
      .epsilon = config->epsilon_said ? config->rules.epsilon : rules->epsilon,
      .hinted = roles->hinted};
  HEED_TRY(body_sizes(roles, config, dimensions, error));
  if (heed_is_text(roles->tower)) return HEED_OK;
  HEED_TRY(head_sizes(roles, config, dimensions, error));
  HEED_TRY(check_norms(roles, config, error));
  HEED_TRY(check_flags(roles, config, error));
  HEED_TRY(pool_sizes(roles, config, dimensions, error));
  HEED_TRY(bias_sizes(roles, dimensions, error));
  HEED_TRY(position_sizes(roles, config, dimensions, error));
  HEED_TRY(heed_vit_relative(roles, config, dimensions, error));
  if (config->preferred_size.key) dimensions->image_size = config->preferred_size.value;
  return HEED_OK;
}
