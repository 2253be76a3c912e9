/* Roles resolved: shapes checked, elements read, and what nothing reads. */
#include "model/vit/role.h"

#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"
#include "model/config/fields.h"

/* The side of rows of positions that are stored as a square grid, [side, side, C] or [1, side,
 * side, C]; 0: they are not. */
static uint32_t stored_square(const heed_shape *stored) {
  const uint32_t rank = stored->rank, *at = stored->dim + (rank == 4);
  const bool square = (rank == 3 || (rank == 4 && stored->dim[0] == 1)) && at[0] == at[1];
  return square && at[0] > 1 && at[0] < 1u << 16 ? at[0] : 0;
}

heed_shape heed_place_shape(const heed_place *place, uint32_t rank) {
  heed_shape shape = place->tensor->info->shape;
  while (place->flat && shape.rank < rank) {
    memmove(shape.dim + 1, shape.dim, shape.rank * sizeof *shape.dim);
    shape.dim[0] = 1;
    shape.rank++;
  }
  if (rank == 4 && shape.rank == 5) { /* of patches of some frames, which are summed */
    const bool frames = shape.dim[2] > 0;
    memmove(shape.dim + 2, shape.dim + 3, 2 * sizeof *shape.dim);
    shape.dim[--shape.rank] = 0;
    if (!frames) shape.rank = 0;
  }
  const uint32_t side = rank == 3 ? stored_square(&shape) : 0;
  if (side) shape = HEED_SHAPE(1, side * side, shape.dim[shape.rank - 1]);
  if (place->transposed && shape.rank == 2)
    shape = HEED_SHAPE(shape.dim[1], shape.dim[0]);
  else if (place->transposed)
    shape.rank = 0;
  if (shape.rank && shape.dim[0] % place->parts) shape.rank = 0;
  if (shape.rank) shape.dim[0] /= place->parts;
  if (shape.rank && place->heads) shape.dim[0] *= place->heads;
  return shape;
}

/* Whether each head reads columns of its own. */
static bool is_diagonal(const heed_place *place, const heed_shape *role) {
  const heed_shape *stored = &place->tensor->info->shape;
  return place->heads > 1 && role->rank == 2 && stored->rank == 2 &&
         (uint64_t)stored->dim[1] * place->heads == role->dim[1];
}

heed_status heed_roles_stored(const heed_roles *roles, heed_role role, uint32_t layer,
                              uint32_t rank, heed_stored_role *stored, heed_error *error) {
  char found[HEED_SHAPE_TEXT_SIZE];
  heed_place place;
  HEED_TRY(heed_roles_find(roles, role, layer, &place, error));
  *stored = (heed_stored_role){.tensor = place.tensor};
  if (!place.tensor) return HEED_OK;
  const heed_safetensors_tensor *info = place.tensor->info;
  const char *file = heed_safetensors_name(place.tensor->file);
  if (info->unsupported)
    return heed_fail(error, HEED_UNSUPPORTED, "%s: tensor %.*s is not supported (found %s: %s)",
                     file, HEED_CUT(info->name), info->dtype_name, info->unsupported);
  stored->shape = heed_place_shape(&place, rank);
  bool sound = stored->shape.rank == rank;
  for (uint32_t i = 0; sound && i < rank; i++)
    sound = stored->shape.dim[i] > 0 && stored->shape.dim[i] <= HEED_CONFIG_MAX;
  if (sound) return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: tensor %.*s has the wrong shape (found %s, expected %u axes of 1 to %u)",
                   file, HEED_CUT(info->name), heed_shape_text(&info->shape, found), rank,
                   HEED_CONFIG_MAX);
}

/* The shape of the tensor in which a role of that shape has this place. */
static heed_shape stored_shape(const heed_place *place, const heed_shape *role) {
  const heed_shape *stored = &place->tensor->info->shape;
  heed_shape shape = *role;
  shape.dim[0] *= place->parts;
  if (place->heads && shape.dim[0] % place->heads == 0) shape.dim[0] /= place->heads;
  if (is_diagonal(place, role)) shape.dim[1] = stored->dim[1];
  if (role->rank == 4 && stored->rank == 2) /* of patches, by a linear map */
    shape = HEED_SHAPE(shape.dim[0], shape.dim[1] * shape.dim[2] * shape.dim[3]);
  if (role->rank == 4 && stored->rank == 5) /* of some frames */
    shape = HEED_SHAPE(shape.dim[0], stored->dim[1], stored->dim[2], shape.dim[2], shape.dim[3]);
  const uint32_t side = role->rank == 3 ? stored_square(stored) : 0;
  if (side && role->dim[1] == side * side) {
    shape = *stored;
    shape.dim[shape.rank - 1] = role->dim[2];
  }
  if (place->transposed) shape = HEED_SHAPE(shape.dim[1], shape.dim[0]);
  while (place->flat && shape.rank > place->tensor->info->shape.rank && shape.dim[0] == 1) {
    memmove(shape.dim, shape.dim + 1, (shape.rank - 1) * sizeof *shape.dim);
    shape.dim[--shape.rank] = 0;
  }
  return shape;
}

/* Whether the role is of pixels that the model has channels last. */
static bool channels_lie_together(const heed_roles *roles, heed_role role,
                                  const heed_shape *expected) {
  const bool pixels = role == HEED_ROLE_PATCH_WEIGHT || role == HEED_ROLE_PATCH_NORM_WEIGHT ||
                      role == HEED_ROLE_PATCH_NORM_BIAS;
  return pixels && roles->patch_channels > 1 && heed_shape_count(expected) > 1;
}

static bool in_blocks(const heed_roles *roles, heed_role role, const heed_place *place) {
  return roles->qkv_block && place->parts == 3 && role >= HEED_ROLE_QUERY_WEIGHT &&
         role <= HEED_ROLE_VALUE_BIAS;
}

/* The tensors of the heads behind the first. */
static heed_status use_heads(const heed_place *place, heed_role role, uint32_t layer,
                             const heed_shape *shape, heed_error *error) {
  for (heed_checkpoint_tensor *head = place->tensor->next_head; head; head = head->next_head) {
    HEED_TRY(heed_checkpoint_use(head, shape, error));
    head->role = heed_role_pattern(role);
    head->layer = layer;
  }
  return HEED_OK;
}

heed_status heed_checkpoint_role(const heed_roles *roles, heed_role role, uint32_t layer,
                                 const heed_shape *expected, heed_role_ref *ref,
                                 heed_error *error) {
  heed_place place;
  *ref = (heed_role_ref){.count = heed_shape_count(expected)};
  HEED_TRY(heed_roles_find(roles, role, layer, &place, error));
  if (!place.tensor) return HEED_OK;
  const heed_shape whole = stored_shape(&place, expected);
  HEED_TRY(heed_checkpoint_use(place.tensor, &whole, error));
  ref->heads = place.heads;
  ref->diagonal = is_diagonal(&place, expected);
  if (place.heads) {
    ref->columns = expected->rank == 2 ? expected->dim[1] : 1;
    HEED_TRY(use_heads(&place, role, layer, &whole, error));
  }
  ref->first = place.part * ref->count;
  if (in_blocks(roles, role, &place)) {
    if (place.transposed)
      return heed_fail(error, HEED_UNSUPPORTED,
                       "%s: tensor %.*s is transposed, and its rows are in another order (expected "
                       "one of both)",
                       heed_safetensors_name(place.tensor->file),
                       HEED_CUT(place.tensor->info->name));
    ref->first = 0;
    ref->columns = expected->rank == 2 ? expected->dim[1] : 1;
    ref->block = roles->qkv_block;
    ref->part = place.part;
    ref->parts = place.parts;
  }
  if (channels_lie_together(roles, role, expected)) {
    const uint32_t axis = expected->rank == 4;
    ref->columns = (uint32_t)(ref->count / (axis ? expected->dim[0] : 1));
    ref->channels = roles->patch_channels;
  }
  if (place.tensor->info->shape.rank == 5) {
    ref->frames = place.tensor->info->shape.dim[2];
    ref->columns = expected->dim[2] * expected->dim[3];
    ref->channels = roles->rules.video ? expected->dim[1] / ref->frames : 0;
  }
  if (place.transposed) {
    ref->first = (uint64_t)place.part * expected->dim[0];
    ref->stride = (uint64_t)place.parts * expected->dim[0];
    ref->columns = expected->dim[1];
  }
  if (!place.tensor->role) {
    place.tensor->role = heed_role_pattern(role);
    place.tensor->layer = layer;
  }
  ref->tensor = place.tensor;
  return HEED_OK;
}

/* What may lie among the model's own names and changes no state: what training leaves, numbers that
 * the config and the rules say too, and heads, which read the states. A '*' ends those of which
 * only the beginning counts, and begins those of which only the end does; '#' begins those of a
 * layer. */
static const char harmless[] = "mask_token\0"
                               "masked_embed\0"
                               "embeddings.mask_token\0"
                               "embeddings.position_ids\0"
                               "*relative_position_index\0"
                               "*relative_coords_table\0"
                               "*attn_mask\0"
                               "local_cls_norm.*\0"
                               "projectors.*\0"
                               "#attn.qkv.bias_mask\0"
                               "#attn.rope.freqs_*\0"
                               "rope.freqs_*\0"
                               "optimizer.*\0"
                               "decoder*\0"
                               "merger.*\0"
                               "neck.*\0"
                               "deepstack_merger_list.*\0"
                               "head*\0"
                               "dino_head.*\0"
                               "ibot_head.*\0"
                               "classifier*\0"
                               "fc.*\0";

static heed_status refuse_tensor(const heed_roles *roles, const heed_checkpoint_tensor *tensor,
                                 heed_error *error) {
  return heed_fail(error, HEED_UNSUPPORTED,
                   "%s: tensor %.*s does not fit family %s; without it the results could be wrong",
                   heed_safetensors_name(tensor->file), HEED_CUT(tensor->info->name),
                   roles->family->name);
}

/* What lies beside a text tower that has no prefix. */
static const char beside[] = "visual.*\0"
                             "logit_scale\0"
                             "logit_bias\0";

static bool matches(const char *text, const char *pattern) {
  const size_t length = strcspn(pattern, "*"), size = strlen(text), rest = strlen(pattern) - 1;
  if (length == 0) return size >= rest && strcmp(text + size - rest, pattern + 1) == 0;
  return strncmp(text, pattern, length) == 0 && (pattern[length] || !text[length]);
}

/* Whether they are the positions of a model that reads none. */
static bool is_left_positions(const heed_roles *roles, const char *name) {
  const heed_checkpoint_tensor *stored = heed_roles_named(roles, "pos_embed");
  return roles->rules.rotation.kind == HEED_ROTATION_VIDEO && stored &&
         strcmp(stored->info->name, name) == 0;
}

/* Whether results could depend on a tensor of this name. What lies beside the model is
 * another's. */
static bool matters(const heed_roles *roles, const char *name) {
  const size_t length = strlen(roles->prefix);
  if (is_left_positions(roles, name)) return false;
  if (heed_roles_name_one(roles, name)) return true;
  if (strncmp(name, roles->prefix, length) != 0) return false;
  name += length;
  for (const char *at = beside; *at && heed_is_text(roles->tower); at = heed_next_pattern(at))
    if (matches(name, at)) return false;
  const char *part = name; /* of a layer */
  if (strncmp(name, roles->layer, roles->layer_length) == 0) {
    part += roles->layer_length;
    part += strspn(part, "0123456789");
    if (*part == '.') part++;
  }
  for (const char *at = harmless; *at; at = heed_next_pattern(at))
    if (strstr(at, "rope.") && !roles->rules.rotation.kind)
      continue; /* a rotation that would not be made */
    else if (*at == '#' ? matches(part, at + 1) : matches(name, at))
      return false;
  return true;
}

/* The length of a name up to the number of a module of nn.Sequential, "head.", or 0; *index: that
 * number. */
static size_t sequential(const char *name, uint32_t *index) {
  const char *end = strrchr(name, '.');
  const char *at = end;
  while (at && at > name && at[-1] >= '0' && at[-1] <= '9') at--;
  if (!end || at == end || at == name || at[-1] != '.') return 0;
  *index = (uint32_t)(*at - '0');
  return (size_t)(at - name);
}

/* A classifier that is nn.Sequential: all of its tensors are used, and a norm comes first. */
static heed_status check_sequential(const heed_roles *roles, heed_error *error) {
  char name[HEED_NAME_SIZE], norm[HEED_NAME_SIZE] = "";
  uint32_t first = 0, at = 0;
  const heed_role map = heed_roles_have(roles, HEED_ROLE_HEAD_HIDDEN_WEIGHT, 0)
                            ? HEED_ROLE_HEAD_HIDDEN_WEIGHT
                            : HEED_ROLE_CLASSIFIER_WEIGHT;
  heed_roles_name(roles, map, 0, name);
  if (heed_roles_have(roles, HEED_ROLE_HEAD_NORM_WEIGHT, 0))
    heed_roles_name(roles, HEED_ROLE_HEAD_NORM_WEIGHT, 0, norm);
  const size_t stem = heed_roles_have(roles, map, 0) ? sequential(name, &first) : 0;
  if (!stem) return HEED_OK;
  if (sequential(norm, &at) == stem && at > first)
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: tensor %.*s is not supported (found a norm behind %.*s, expected it "
                     "before the classifier's first map)",
                     heed_checkpoint_name(roles->checkpoint), HEED_CUT(norm), HEED_CUT(name));
  for (uint32_t i = 0; i < heed_checkpoint_count(roles->checkpoint); i++) {
    const heed_checkpoint_tensor *tensor = heed_checkpoint_get(roles->checkpoint, i);
    if (!tensor->used && strncmp(tensor->info->name, name, stem) == 0)
      return refuse_tensor(roles, tensor, error);
  }
  return HEED_OK;
}

heed_status heed_roles_check_unused(const heed_roles *roles, heed_error *error) {
  HEED_TRY(check_sequential(roles, error));
  for (uint32_t i = 0; i < heed_checkpoint_count(roles->checkpoint); i++) {
    const heed_checkpoint_tensor *tensor = heed_checkpoint_get(roles->checkpoint, i);
    if (!tensor->used && matters(roles, tensor->info->name))
      return refuse_tensor(roles, tensor, error);
  }
  return HEED_OK;
}

/* -------------------------------------------------------------------------------------- reading */

/* Elements [first, first + count) of a role that is stored transposed, up to BLOCK rows of it at a
 * time. */
static heed_status read_transposed(const heed_role_ref *ref, uint64_t first, uint64_t count,
                                   float *out, heed_error *error) {
  enum { BLOCK = 64 };
  float column[BLOCK];
  const uint64_t end = first + count;
  for (uint64_t row = first / ref->columns; row * ref->columns < end; row += BLOCK) {
    const uint64_t left = (end - row * ref->columns + ref->columns - 1) / ref->columns,
                   rows = left < BLOCK ? left : BLOCK;
    for (uint32_t c = 0; c < ref->columns; c++) {
      HEED_TRY(heed_checkpoint_read(ref->tensor, ref->first + c * ref->stride + row, rows, column,
                                    error));
      for (uint64_t r = 0; r < rows; r++) {
        const uint64_t at = (row + r) * ref->columns + c;
        if (at >= first && at < end) out[at - first] = column[r];
      }
    }
  }
  return HEED_OK;
}

/* A row, from column `from` on, of a head whose columns are its own: zeros but in those. */
static heed_status read_diagonal(const heed_role_ref *ref, const heed_checkpoint_tensor *tensor,
                                 uint32_t head, uint64_t row, uint64_t from, uint64_t count,
                                 float *to, heed_error *error) {
  const uint64_t own = ref->columns / ref->heads, begin = head * own;
  for (uint64_t i = 0; i < count; i++) to[i] = 0.0f;
  const uint64_t first = from > begin ? from : begin,
                 end = from + count < begin + own ? from + count : begin + own;
  if (first >= end) return HEED_OK;
  return heed_checkpoint_read(tensor, row * own + first - begin, end - first, to + (first - from),
                              error);
}

/* Of a tensor per head, which are rows one after the other. */
static heed_status read_heads(const heed_role_ref *ref, uint64_t first, uint64_t count, float *to,
                              heed_error *error) {
  const uint64_t each = ref->count / ref->heads;
  const heed_checkpoint_tensor *tensor = ref->tensor;
  uint32_t head = 0;
  for (; head < first / each; head++) tensor = tensor->next_head;
  while (count) {
    const uint64_t at = first - head * each, left = each - at,
                   row_left = ref->columns - at % ref->columns,
                   most = ref->diagonal ? row_left : left, here = count < most ? count : most;
    HEED_TRY(ref->diagonal ? read_diagonal(ref, tensor, head, at / ref->columns, at % ref->columns,
                                           here, to, error)
                           : heed_checkpoint_read(tensor, at, here, to, error));
    first += here, count -= here, to += here;
    if (here == left) tensor = tensor->next_head, head++;
  }
  return HEED_OK;
}

/* Of rows in blocks, a piece of a block at a time. */
static heed_status read_blocks(const heed_role_ref *ref, uint64_t first, uint64_t count, float *to,
                               heed_error *error) {
  const uint64_t block = (uint64_t)ref->block * ref->columns;
  while (count) {
    const uint64_t at = first / block, within = first % block, left = block - within,
                   here = count < left ? count : left;
    HEED_TRY(heed_checkpoint_read(ref->tensor, (at * ref->parts + ref->part) * block + within, here,
                                  to, error));
    first += here, count -= here, to += here;
  }
  return HEED_OK;
}

/* Of patches that are stored channels last, a piece of a row at a time. */
static heed_status read_pixels(const heed_role_ref *ref, uint64_t first, uint64_t count, float *to,
                               heed_error *error) {
  enum { PIECE = 1024 };
  float piece[PIECE];
  const uint64_t row = ref->columns, channels = ref->channels, pixels = row / channels,
                 step = PIECE / channels, end = first + count;
  for (uint64_t r = first / row; r * row < end; r++)
    for (uint64_t p = 0; p < pixels; p += step) {
      const uint64_t some = pixels - p < step ? pixels - p : step;
      HEED_TRY(
          heed_checkpoint_read(ref->tensor, r * row + p * channels, some * channels, piece, error));
      for (uint64_t i = 0; i < some * channels; i++) {
        const uint64_t at = r * row + i % channels * pixels + p + i / channels;
        if (at >= first && at < end) to[at - first] = piece[i];
      }
    }
  return HEED_OK;
}

/* Of patches of some frames, whose sum is what a picture that stands still meets, a piece of a
 * channel at a time. */
static heed_status read_frames(const heed_role_ref *ref, uint64_t first, uint64_t count, float *to,
                               heed_error *error) {
  enum { PIECE = 256 };
  float piece[PIECE];
  while (count) {
    const uint64_t at = first % ref->columns, left = ref->columns - at,
                   most = left < PIECE ? left : PIECE, here = count < most ? count : most,
                   begin = first / ref->columns * ref->frames * ref->columns + at;
    memset(to, 0, (size_t)here * sizeof *to);
    for (uint64_t frame = 0; frame < ref->frames; frame++) {
      HEED_TRY(heed_checkpoint_read(ref->tensor, begin + frame * ref->columns, here, piece, error));
      for (uint64_t i = 0; i < here; i++) to[i] += piece[i];
    }
    first += here, count -= here, to += here;
  }
  return HEED_OK;
}

/* Of patches of some frames that are apart, a piece of a channel of a frame at a time. */
static heed_status read_video(const heed_role_ref *ref, uint64_t first, uint64_t count, float *to,
                              heed_error *error) {
  while (count) {
    const uint64_t at = first % ref->columns, left = ref->columns - at,
                   plane = first / ref->columns, channel = plane % ref->channels,
                   frame = plane / ref->channels % ref->frames,
                   row = plane / ref->channels / ref->frames, here = count < left ? count : left;
    const uint64_t stored = (row * ref->channels + channel) * ref->frames + frame;
    HEED_TRY(heed_checkpoint_read(ref->tensor, stored * ref->columns + at, here, to, error));
    first += here, count -= here, to += here;
  }
  return HEED_OK;
}

heed_status heed_role_read(const heed_role_ref *ref, uint64_t first, uint64_t count, float *to,
                           heed_error *error) {
  if (!ref->tensor) memset(to, 0, (size_t)count * sizeof *to);
  if (!ref->tensor) return HEED_OK;
  if (ref->heads) return read_heads(ref, first, count, to, error);
  if (ref->block) return read_blocks(ref, first, count, to, error);
  if (ref->frames) return (ref->channels ? read_video : read_frames)(ref, first, count, to, error);
  if (ref->channels) return read_pixels(ref, first, count, to, error);
  return ref->stride ? read_transposed(ref, first, count, to, error)
                     : heed_checkpoint_read(ref->tensor, ref->first + first, count, to, error);
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
    HEED_TRY(heed_role_read(part, first, here, out, error));
    out += here;
    count -= here;
    first = 0;
  }
  if (count) return heed_fail(error, HEED_INVALID_ARGUMENT, "weight: range exceeds its end");
  return HEED_OK;
}
