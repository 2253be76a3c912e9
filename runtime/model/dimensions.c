/* The sizes of a ViT: what config.json says, and what the tensors' shapes say where it is silent or missing. Disagreement shows later,
 * when each role is resolved with the shape that these sizes give. */
#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/config_fields.h"
#include "model/role.h"

/* The shape that the file has for a role; rank 0 when it has no such tensor. */
static heed_status stored_shape(const heed_roles *roles, heed_role role, uint32_t rank, heed_shape *shape, heed_error *error) {
  heed_checkpoint_tensor *tensor;
  char found[HEED_SHAPE_TEXT_SIZE];
  memset(shape, 0, sizeof *shape);
  HEED_TRY(heed_roles_find(roles, role, 0, &tensor, error));
  if (!tensor) return HEED_OK;
  const char *file = heed_safetensors_name(tensor->file), *name = tensor->info->name;
  if (tensor->info->unsupported)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: tensor %.*s is not supported (found %s: %s)", file, HEED_CUT(name),
                     tensor->info->dtype_name, tensor->info->unsupported);
  bool sound = tensor->info->shape.rank == rank;
  for (uint32_t i = 0; sound && i < rank; i++) sound = tensor->info->shape.dim[i] > 0 && tensor->info->shape.dim[i] <= HEED_CONFIG_MAX;
  if (!sound)
    return heed_fail(error, HEED_INVALID_FILE, "%s: tensor %.*s has the wrong shape (found %s, expected %u axes of 1 to %u)", file,
                     HEED_CUT(name), heed_shape_text(&tensor->info->shape, found), rank, HEED_CONFIG_MAX);
  *shape = tensor->info->shape;
  return HEED_OK;
}

static uint32_t count_layers(const heed_roles *roles) {
  uint32_t layers = 0;
  while (layers < HEED_CONFIG_MAX && heed_roles_have(roles, HEED_ROLE_NORM1_WEIGHT, layers)) layers++;
  return layers;
}

static void use(uint32_t *size, uint32_t said, uint32_t seen) { *size = said ? said : seen; }

static heed_status body_sizes(const heed_roles *roles, const heed_config *config, heed_vit_dimensions *d, heed_error *error) {
  const char *file = heed_checkpoint_name(roles->checkpoint);
  heed_shape patch, fc1;
  HEED_TRY(stored_shape(roles, HEED_ROLE_PATCH_WEIGHT, 4, &patch, error));
  HEED_TRY(stored_shape(roles, HEED_ROLE_FC1_WEIGHT, 2, &fc1, error));
  if (patch.dim[2] != patch.dim[3])
    return heed_fail(error, HEED_UNSUPPORTED, "%s: patches are not square (found %u x %u)", file, patch.dim[2], patch.dim[3]);
  use(&d->width, config->width, patch.dim[0]);
  use(&d->channels, config->channels, patch.dim[1]);
  use(&d->patch, config->patch, patch.dim[2]);
  use(&d->mlp_width, config->mlp_width, fc1.dim[0]);
  use(&d->layers, config->layers, count_layers(roles));
  use(&d->heads, config->heads, d->width / 64);
  if (d->heads && d->width % d->heads == 0 && (config->heads || d->width % 64 == 0)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: the number of heads is not known (found width %u, expected a multiple of 64 or a config.json that says it)", file,
                   d->width);
}

static heed_status head_sizes(const heed_roles *roles, const heed_config *config, heed_vit_dimensions *d, heed_error *error) {
  heed_shape registers, classifier;
  HEED_TRY(stored_shape(roles, HEED_ROLE_REGISTER_TOKENS, 3, &registers, error));
  HEED_TRY(stored_shape(roles, HEED_ROLE_CLASSIFIER_WEIGHT, 2, &classifier, error));
  use(&d->registers, config->registers, registers.dim[1]);
  d->distillation = heed_roles_have(roles, HEED_ROLE_DISTILLATION_TOKEN, 0);
  d->prefix_tokens = 1 + d->distillation + d->registers;
  if (!classifier.rank) return HEED_OK;
  use(&d->classes, config->classes, classifier.dim[0]);
  return HEED_OK;
}

static uint32_t whole_root(uint32_t square) {
  uint32_t root = 0;
  while ((uint64_t)(root + 1) * (root + 1) <= square) root++;
  return root;
}

/* How many rows of positions may be for prefix tokens. timm with no_embed_class has none, which its models with registers are, so that this
 * is tried first where no config tells a grid of 2 x 2 with 5 rows more from one of 3 x 3. */
static uint32_t possible_prefixes(heed_position_tokens tokens, const heed_vit_dimensions *d, uint32_t prefixes[3]) {
  const bool none_first = d->registers > 0;
  prefixes[0] = tokens == HEED_POSITION_TOKENS_CLS ? 1 : tokens == HEED_POSITION_TOKENS_ANY && none_first ? 0 : d->prefix_tokens;
  prefixes[1] = none_first ? d->prefix_tokens : 1;
  prefixes[2] = none_first ? 1 : 0;
  return tokens == HEED_POSITION_TOKENS_ANY ? 3 : 1;
}

/* The grid is square. */
static heed_status position_sizes(const heed_roles *roles, const heed_config *config, heed_vit_dimensions *d, heed_error *error) {
  uint32_t prefixes[3];
  const uint32_t prefix_count = possible_prefixes(roles->rules->position_tokens, d, prefixes);
  const uint64_t grid = config->image_size / d->patch;
  const char *file = heed_checkpoint_name(roles->checkpoint);
  heed_shape positions;
  HEED_TRY(stored_shape(roles, HEED_ROLE_POSITION_EMBEDDINGS, 3, &positions, error));
  if (config->image_size && (grid == 0 || grid * grid > HEED_CONFIG_MAX))
    return heed_fail(error, HEED_INVALID_FILE, "%s: image and patch do not fit each other (found %u and %u, expected 1 to %u patches)",
                     file, config->image_size, d->patch, HEED_CONFIG_MAX);
  d->image_size = config->image_size;
  d->position_rows = positions.dim[1];
  for (uint32_t i = 0; i < prefix_count; i++) {
    if (positions.dim[1] <= prefixes[i]) continue;
    const uint32_t patches = positions.dim[1] - prefixes[i];
    const uint64_t side = config->image_size ? grid : whole_root(patches);
    if (side * side != patches) continue;
    d->position_prefix = prefixes[i];
    if (!d->image_size) d->image_size = (uint32_t)side * d->patch;
    return HEED_OK;
  }
  if (!config->image_size)
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: the position embeddings are not those of a square image (found %u rows, expected %u and a square)", file,
                     positions.dim[1], prefixes[0]);
  /* What the config asks for; the wrong shape shows when the role is resolved. */
  d->position_prefix = prefixes[0];
  d->position_rows = (uint32_t)(grid * grid) + prefixes[0];
  return HEED_OK;
}

heed_status heed_roles_dimensions(const heed_roles *roles, const heed_config *config, heed_vit_dimensions *dimensions, heed_error *error) {
  *dimensions = (heed_vit_dimensions){.activation = config->activation, .epsilon = config->json ? config->epsilon : roles->rules->epsilon};
  HEED_TRY(body_sizes(roles, config, dimensions, error));
  HEED_TRY(head_sizes(roles, config, dimensions, error));
  return position_sizes(roles, config, dimensions, error);
}
