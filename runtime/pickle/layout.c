/* Sizes and strides of tensors. See layout.h. */
#include "pickle/layout.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/utf8.h"

typedef struct reading {
  const heed_pickle_heap *heap;
  const char *name;
  heed_layout *layout;
  heed_error *error;
} reading;

static heed_status fail(const reading *r, const char *found, const char *expected) {
  return heed_fail(r->error, HEED_INVALID_FILE, "%s: tensor %.*s: %s (expected %s)", r->heap->where,
                   HEED_CUT(r->name), found, expected);
}

static heed_status read_number(const reading *r, heed_pickle_id id, const char *what,
                               uint64_t *number) {
  const heed_pickle_value *value = heed_pickle_get(r->heap, id);
  if (value->kind != HEED_PICKLE_INTEGER || value->number < 0)
    return fail(r, what, "a whole number, not negative");
  *number = (uint64_t)value->number;
  return HEED_OK;
}

static heed_status read_numbers(const reading *r, heed_pickle_id tuple, const char *what,
                                uint64_t to[HEED_PICKLE_MAX_RANK], uint32_t *count) {
  const heed_pickle_value *value = heed_pickle_get(r->heap, tuple);
  *count = 0;
  if (value->kind != HEED_PICKLE_TUPLE && value->kind != HEED_PICKLE_LIST)
    return fail(r, what, "a tuple of numbers");
  for (uint32_t cell = value->first; cell; cell = r->heap->cells[cell].next) {
    if (*count == HEED_PICKLE_MAX_RANK)
      return heed_fail(r->error, HEED_UNSUPPORTED,
                       "%s: tensor %.*s is not supported (found more than %u axes)", r->heap->where,
                       HEED_CUT(r->name), HEED_PICKLE_MAX_RANK);
    HEED_TRY(read_number(r, r->heap->cells[cell].value, what, &to[(*count)++]));
  }
  return HEED_OK;
}

/* Axes of more than one element from the smallest stride on: each stride must reach past all that
 * the axes before it span. Then no two elements share a place. */
static heed_status check_strides(const reading *r) {
  heed_layout *l = r->layout;
  uint32_t order[HEED_PICKLE_MAX_RANK], count = 0;
  for (uint32_t axis = 0; axis < l->rank; axis++) {
    if (l->size[axis] <= 1) continue;
    uint32_t at = count++;
    for (; at > 0 && l->stride[order[at - 1]] > l->stride[axis]; at--) order[at] = order[at - 1];
    order[at] = axis;
  }
  uint64_t span = 1, more;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t axis = order[i];
    if (l->stride[axis] < span)
      return fail(r, l->stride[axis] ? "its strides overlap" : "a stride of 0",
                  "each element at a place of its own; save tensor.contiguous()");
    if (!heed_u64_mul(l->size[axis] - 1, l->stride[axis], &more) ||
        !heed_u64_add(span, more, &span))
      return fail(r, "its strides are too large", "those of its storage");
  }
  l->span = span;
  return HEED_OK;
}

static void see_dense(heed_layout *l) {
  uint64_t step = 1;
  l->dense = true;
  for (uint32_t axis = l->rank; axis-- > 0;) {
    if (l->size[axis] > 1 && l->stride[axis] != step) l->dense = l->count == 0;
    step *= l->size[axis];
  }
}

/* What PyTorch 2 says of a tensor beside its elements: {"neg": True}, "conj". None of it is
 * applied, so only what says nothing is taken. */
static heed_status check_metadata(const reading *r, heed_pickle_id metadata) {
  const heed_pickle_value *value = heed_pickle_get(r->heap, metadata);
  if (value->kind == HEED_PICKLE_NONE) return HEED_OK;
  if (value->kind != HEED_PICKLE_DICT) return fail(r, "its metadata are none", "a dictionary");
  for (uint32_t cell = value->first; cell; cell = r->heap->cells[cell].next) {
    const heed_pickle_cell *entry = &r->heap->cells[cell];
    const heed_pickle_value *set = heed_pickle_get(r->heap, entry->value);
    if (set->kind == HEED_PICKLE_NONE || (set->kind == HEED_PICKLE_INTEGER && set->number == 0))
      continue;
    const char *key = heed_pickle_text(r->heap, entry->key);
    return heed_fail(r->error, HEED_UNSUPPORTED,
                     "%s: tensor %.*s is not supported (found a view with \"%.*s\", expected "
                     "elements as they are stored; save tensor.resolve_neg().resolve_conj())",
                     r->heap->where, HEED_CUT(r->name), HEED_CUT(key));
  }
  return HEED_OK;
}

/* The dtype of _rebuild_tensor_v3 takes the place of the storage's. */
static heed_status read_dtype(const reading *r, heed_pickle_id tensor, heed_pickle_id arguments) {
  heed_layout *l = r->layout;
  const bool has_dtype = heed_pickle_has_dtype(r->heap, tensor);
  const heed_pickle_id seventh = heed_pickle_item(r->heap, arguments, 6);
  const heed_pickle_dtype *given = has_dtype ? heed_pickle_dtype_of(r->heap, seventh) : NULL;
  HEED_TRY(check_metadata(r, has_dtype ? heed_pickle_item(r->heap, arguments, 7) : seventh));
  l->storage = heed_pickle_item(r->heap, arguments, 0);
  if (heed_pickle_kind_of(r->heap, l->storage) != HEED_PICKLE_STORAGE)
    return fail(r, "it has no storage", "one");
  l->dtype = given ? given : heed_pickle_dtype_of(r->heap, l->storage);
  return l->dtype->name ? HEED_OK : fail(r, "its storage has no element type", "one");
}

static heed_status check_storage(const reading *r) {
  const heed_layout *l = r->layout;
  const heed_pickle_value *storage = heed_pickle_get(r->heap, l->storage);
  uint64_t bytes, end;
  if (!heed_u64_mul((uint64_t)storage->number, heed_pickle_dtype_of(r->heap, l->storage)->bytes,
                    &bytes))
    return fail(r, "its storage is too large", "less than 2^64 bytes");
  if (!heed_u64_add(l->offset, l->span, &end)) end = UINT64_MAX;
  if (end <= bytes / l->dtype->bytes) return HEED_OK;
  return heed_fail(r->error, HEED_INVALID_FILE,
                   "%s: tensor %.*s reaches past its storage (found elements %" PRIu64
                   " to %" PRIu64 ", expected at most %" PRIu64 ")",
                   r->heap->where, HEED_CUT(r->name), l->offset, end, bytes / l->dtype->bytes);
}

heed_status heed_layout_read(const heed_pickle_heap *heap, heed_pickle_id tensor, const char *name,
                             heed_layout *layout, heed_error *error) {
  const reading r = {heap, name, layout, error};
  const heed_pickle_id arguments = heed_pickle_get(heap, tensor)->of;
  uint32_t strides;
  *layout = (heed_layout){.count = 1};
  HEED_TRY(read_dtype(&r, tensor, arguments));
  HEED_TRY(
      read_number(&r, heed_pickle_item(heap, arguments, 1), "invalid offset", &layout->offset));
  HEED_TRY(read_numbers(&r, heed_pickle_item(heap, arguments, 2), "invalid shape", layout->size,
                        &layout->rank));
  HEED_TRY(read_numbers(&r, heed_pickle_item(heap, arguments, 3), "invalid strides", layout->stride,
                        &strides));
  if (strides != layout->rank) return fail(&r, "it has not a stride per axis", "one per axis");
  for (uint32_t axis = 0; axis < layout->rank; axis++)
    if (!heed_u64_mul(layout->count, layout->size[axis], &layout->count))
      return fail(&r, "the shape is too large", "fewer than 2^64 elements");
  if (layout->count) HEED_TRY(check_strides(&r));
  see_dense(layout);
  return check_storage(&r);
}
