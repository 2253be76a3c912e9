/* Roles resolved: shapes checked, elements read, and what nothing reads. */
#include "model/vit/role.h"

#include <string.h>

#include "base/status.h"
#include "base/tensor.h"
#include "base/utf8.h"

heed_shape heed_place_shape(const heed_place *place, uint32_t rank) {
  heed_shape shape = place->tensor->info->shape;
  while (place->flat && shape.rank < rank) {
    memmove(shape.dim + 1, shape.dim, shape.rank * sizeof *shape.dim);
    shape.dim[0] = 1;
    shape.rank++;
  }
  if (place->transposed && shape.rank == 2)
    shape = HEED_SHAPE(shape.dim[1], shape.dim[0]);
  else if (place->transposed)
    shape.rank = 0;
  if (shape.rank && shape.dim[0] % place->parts) shape.rank = 0;
  if (shape.rank) shape.dim[0] /= place->parts;
  return shape;
}

/* The shape of the tensor in which a role of that shape has this place. */
static heed_shape stored_shape(const heed_place *place, const heed_shape *role) {
  heed_shape shape = *role;
  shape.dim[0] *= place->parts;
  if (place->transposed) shape = HEED_SHAPE(shape.dim[1], shape.dim[0]);
  while (place->flat && shape.rank > place->tensor->info->shape.rank && shape.dim[0] == 1) {
    memmove(shape.dim, shape.dim + 1, (shape.rank - 1) * sizeof *shape.dim);
    shape.dim[--shape.rank] = 0;
  }
  return shape;
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
  ref->first = place.part * ref->count;
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
                               "local_cls_norm.*\0"
                               "#attn.qkv.bias_mask\0"
                               "#attn.rope.freqs_*\0"
                               "rope.freqs_*\0"
                               "optimizer.*\0"
                               "decoder*\0"
                               "head*\0"
                               "dino_head.*\0"
                               "ibot_head.*\0"
                               "classifier*\0"
                               "fc.*\0";

/* What lies beside a text tower that has no prefix. */
static const char beside[] = "visual.*\0"
                             "logit_scale\0"
                             "logit_bias\0";

static bool matches(const char *text, const char *pattern) {
  const size_t length = strcspn(pattern, "*"), size = strlen(text), rest = strlen(pattern) - 1;
  if (length == 0) return size >= rest && strcmp(text + size - rest, pattern + 1) == 0;
  return strncmp(text, pattern, length) == 0 && (pattern[length] || !text[length]);
}

/* Whether results could depend on a tensor of this name. What lies beside the model is
 * another's. */
static bool matters(const heed_roles *roles, const char *name) {
  const size_t length = strlen(roles->prefix);
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

heed_status heed_roles_check_unused(const heed_roles *roles, heed_error *error) {
  for (uint32_t i = 0; i < heed_checkpoint_count(roles->checkpoint); i++) {
    const heed_checkpoint_tensor *tensor = heed_checkpoint_get(roles->checkpoint, i);
    if (!tensor->used && matters(roles, tensor->info->name))
      return heed_fail(
          error, HEED_UNSUPPORTED,
          "%s: tensor %.*s does not fit family %s; without it the results could be wrong",
          heed_safetensors_name(tensor->file), HEED_CUT(tensor->info->name), roles->family->name);
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

heed_status heed_role_read(const heed_role_ref *ref, uint64_t first, uint64_t count, float *to,
                           heed_error *error) {
  if (!ref->tensor) memset(to, 0, (size_t)count * sizeof *to);
  if (!ref->tensor) return HEED_OK;
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
