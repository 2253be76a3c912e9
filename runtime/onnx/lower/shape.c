/* Expressions that only move elements. Reshapes and permutations come together and cancel, and
 * factors go outward, so that the ops between them meet. See lower.h. */
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

static bool same_dims(const value *x, uint32_t rank, const uint64_t *dims) {
  return x->rank == rank && (rank == 0 || memcmp(x->dims, dims, rank * sizeof *dims) == 0);
}

/* A reshape that splits an axis of a permuted value: as one of the value before. NULL: it does more
 * than that, or less. */
static value *split_before(heed_lower *l, const value *x, uint32_t rank, const uint64_t *dims) {
  uint32_t begin[HEED_ONNX_MAX_RANK + 1], order[HEED_ONNX_MAX_RANK], at = 0, count = 0;
  uint64_t inner[HEED_ONNX_MAX_RANK];
  bool splits = false;
  for (uint32_t i = 0; i < x->rank; i++) {
    uint64_t size = 1;
    begin[i] = at;
    while (at < rank && size < x->dims[i]) size *= dims[at++];
    while (at < rank && i + 1 == x->rank && dims[at] == 1) at++;
    if (size != x->dims[i]) return NULL;
    for (uint32_t k = begin[i]; k < at; k++)
      splits = splits || (dims[k] != 1 && dims[k] != x->dims[i]);
  }
  begin[x->rank] = at;
  if (at != rank || !splits) return NULL;
  for (uint32_t axis = 0; axis < x->rank; axis++) { /* of the value before */
    uint32_t i = 0;
    while (x->order[i] != axis) i++;
    for (uint32_t k = begin[i]; k < begin[i + 1]; k++) {
      order[k] = count;
      inner[count++] = dims[k];
    }
  }
  return heed_lower_permute(l, heed_lower_reshape(l, x->x[0], rank, inner), order);
}

value *heed_lower_reshape(heed_lower *l, value *x, uint32_t rank, const uint64_t *dims) {
  uint64_t count = 1;
  if (!x || l->status != HEED_OK) return NULL;
  if (same_dims(x, rank, dims)) return x;
  for (uint32_t i = 0; i < rank; i++) count *= dims[i];
  if (count != heed_lower_size(x))
    return heed_lower_refuse(l, HEED_INVALID_FILE, "its shape does not fit its input");
  if (x->kind == HEED_LOWER_RESHAPE) return heed_lower_reshape(l, x->x[0], rank, dims);
  if (x->kind == HEED_LOWER_SCALE)
    return heed_lower_scale(l, heed_lower_reshape(l, x->x[0], rank, dims), x->factor);
  if (x->kind == HEED_LOWER_PERMUTE && rank <= HEED_ONNX_MAX_RANK) {
    value *before = split_before(l, x, rank, dims);
    if (before || l->status != HEED_OK) return before;
  }
  value *made =
      heed_lower_new(l, x->kind == HEED_LOWER_CONSTANT ? HEED_LOWER_CONSTANT : HEED_LOWER_RESHAPE,
                     rank, dims, &x, x->kind == HEED_LOWER_CONSTANT ? 0 : 1);
  if (made && x->kind == HEED_LOWER_CONSTANT)
    made->array = (heed_onnx_array *)heed_lower_elements(l, x);
  return made;
}

/* ------------------------------------------------------------------------------------- permute */

/* Axes of size 1 may go anywhere without that an element moves. */
static bool moves_nothing(const value *x, const uint32_t *order) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (x->dims[order[i]] == 1) continue;
    if (order[i] < last) return false;
    last = order[i];
  }
  return true;
}

static value *permute_constant(heed_lower *l, value *x, const uint32_t *order,
                               const uint64_t *dims) {
  if (x->rank == 2 && x->weight && !x->weight->bits) {
    heed_onnx_weight turned = *x->weight;
    turned.turned = !turned.turned;
    return heed_lower_of_weight(l, &turned);
  }
  const heed_onnx_array *from = heed_lower_elements(l, x);
  heed_onnx_array *to = from ? heed_lower_array(l, x->rank, dims) : NULL;
  uint64_t index[HEED_ONNX_MAX_RANK] = {0}, stride[HEED_ONNX_MAX_RANK], step = 1;
  for (uint32_t i = x->rank; i-- > 0; step *= x->dims[i]) stride[i] = step;
  for (uint64_t i = 0; to && i < to->count; i++) {
    uint64_t at = 0;
    for (uint32_t k = 0; k < x->rank; k++) at += index[k] * stride[order[k]];
    heed_onnx_set(to, i, heed_onnx_number(from, at));
    for (uint32_t k = x->rank; k-- > 0;) {
      if (++index[k] < dims[k]) break;
      index[k] = 0;
    }
  }
  return heed_lower_of_array(l, to);
}

/* Whether each axis of a reshape is one or several whole axes of what it reshapes, in order; begin
 * [rank + 1] says which. */
static bool only_joins(const value *reshape, uint32_t *begin) {
  const value *from = reshape->x[0];
  uint32_t at = 0;
  for (uint32_t i = 0; i < reshape->rank; i++) {
    uint64_t size = 1;
    begin[i] = at;
    while (at < from->rank && size * from->dims[at] <= reshape->dims[i] &&
           (size < reshape->dims[i] || from->dims[at] == 1))
      size *= from->dims[at++];
    if (size != reshape->dims[i]) return false;
  }
  begin[reshape->rank] = at;
  return at == from->rank;
}

static value *permute_before(heed_lower *l, const value *x, const uint32_t *order,
                             const uint64_t *dims, const uint32_t *begin) {
  uint32_t inner[HEED_ONNX_MAX_RANK], count = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    for (uint32_t k = begin[order[i]]; k < begin[order[i] + 1]; k++) inner[count++] = k;
  return heed_lower_reshape(l, heed_lower_permute(l, x->x[0], inner), x->rank, dims);
}

value *heed_lower_permute(heed_lower *l, value *x, const uint32_t *order) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  uint32_t inner[HEED_ONNX_MAX_RANK], begin[HEED_ONNX_MAX_RANK + 1];
  if (!x || l->status != HEED_OK) return NULL;
  for (uint32_t i = 0; i < x->rank; i++) dims[i] = x->dims[order[i]];
  if (moves_nothing(x, order)) return heed_lower_reshape(l, x, x->rank, dims);
  if (x->kind == HEED_LOWER_CONSTANT) return permute_constant(l, x, order, dims);
  if (x->kind == HEED_LOWER_SCALE)
    return heed_lower_scale(l, heed_lower_permute(l, x->x[0], order), x->factor);
  if (x->kind == HEED_LOWER_PERMUTE) {
    for (uint32_t i = 0; i < x->rank; i++) inner[i] = x->order[order[i]];
    return heed_lower_permute(l, x->x[0], inner);
  }
  if (x->kind == HEED_LOWER_RESHAPE && only_joins(x, begin))
    return permute_before(l, x, order, dims, begin);
  value *made = heed_lower_new(l, HEED_LOWER_PERMUTE, x->rank, dims, &x, 1);
  if (made) memcpy(made->order, order, x->rank * sizeof *order);
  return made;
}

value *heed_lower_swap(heed_lower *l, value *x) {
  uint32_t order[HEED_ONNX_MAX_RANK];
  if (!x || x->rank < 2) return NULL;
  for (uint32_t i = 0; i < x->rank; i++) order[i] = i;
  order[x->rank - 1] = x->rank - 2;
  order[x->rank - 2] = x->rank - 1;
  return heed_lower_permute(l, x, order);
}

/* --------------------------------------------------------------------------------------- slice */

static value *slice_constant(heed_lower *l, value *x, uint32_t axis, uint64_t first,
                             const uint64_t *dims) {
  const heed_onnx_array *from = heed_lower_elements(l, x);
  heed_onnx_array *to = from ? heed_lower_array(l, x->rank, dims) : NULL;
  uint64_t inner = 1;
  for (uint32_t i = axis + 1; i < x->rank; i++) inner *= dims[i];
  const uint64_t run = dims[axis] * inner, whole = x->dims[axis] * inner;
  for (uint64_t i = 0; to && i < to->count; i++)
    heed_onnx_set(to, i, heed_onnx_number(from, i / run * whole + first * inner + i % run));
  return heed_lower_of_array(l, to);
}

/* A slice of a reshaped value as one of the value, where an axis of it has the sliced elements as
 * whole entries: the part of a stacked projection. */
static value *slice_before(heed_lower *l, const value *x, uint32_t axis, uint64_t first,
                           uint64_t count, const uint64_t *dims) {
  value *from = x->x[0];
  uint64_t before = 1, after = 1, outer = 1;
  for (uint32_t i = 0; i < axis; i++) before *= x->dims[i];
  for (uint32_t i = axis + 1; i < x->rank; i++) after *= x->dims[i];
  for (uint32_t i = 0; i < from->rank; outer *= from->dims[i++]) {
    uint64_t inner = 1;
    if (outer != before || from->dims[i] == 1) continue;
    for (uint32_t k = i + 1; k < from->rank; k++) inner *= from->dims[k];
    if (from->dims[i] * inner != x->dims[axis] * after || first * after % inner ||
        count * after % inner)
      return NULL;
    return heed_lower_reshape(
        l, heed_lower_slice(l, from, i, first * after / inner, count * after / inner), x->rank,
        dims);
  }
  return NULL;
}

/* A part of what broadcasts to `whole`: where its axis is 1, or it has none, it stays. */
static value *slice_operand(heed_lower *l, value *x, const value *whole, uint32_t axis,
                            uint64_t first, uint64_t count) {
  const uint32_t missing = whole->rank - x->rank;
  if (axis < missing || x->dims[axis - missing] != whole->dims[axis]) return x;
  return heed_lower_slice(l, x, axis - missing, first, count);
}

/* What works row by row, and whose other rows nobody reads, makes those of the part alone: after
 * the last attention the classifier's token. NULL: it is to be cut itself. */
static value *slice_rows(heed_lower *l, value *x, uint32_t axis, uint64_t first, uint64_t count,
                         const uint64_t *dims) {
  const bool by_row = x->kind == HEED_LOWER_LINEAR || x->kind == HEED_LOWER_NORM ||
                      x->kind == HEED_LOWER_ACTIVATION ||
                      (x->kind == HEED_LOWER_BINARY && x->count == 2);
  value *inputs[2];
  if (!by_row || x->readers != 1 || !count || axis + 1 >= x->rank) return NULL;
  for (uint32_t i = 0; i < x->count; i++) {
    inputs[i] = slice_operand(l, x->x[i], x, axis, first, count);
    if (!inputs[i]) return NULL;
  }
  value *made = heed_lower_new(l, x->kind, x->rank, dims, inputs, x->count);
  if (!made) return NULL;
  made->function = x->function;
  made->factor = x->factor;
  made->matrix = x->matrix;
  made->gain = x->gain;
  made->bias = x->bias;
  made->rms = x->rms;
  return made;
}

value *heed_lower_slice(heed_lower *l, value *x, uint32_t axis, uint64_t first, uint64_t count) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (!x || l->status != HEED_OK) return NULL;
  if (axis >= x->rank || first > x->dims[axis] || count > x->dims[axis] - first)
    return heed_lower_refuse(l, HEED_INVALID_FILE, "its part is outside of its input");
  if (count == x->dims[axis]) return x;
  memcpy(dims, x->dims, sizeof dims);
  dims[axis] = count;
  if (x->kind == HEED_LOWER_CONSTANT && count) return slice_constant(l, x, axis, first, dims);
  if (x->kind == HEED_LOWER_SCALE)
    return heed_lower_scale(l, heed_lower_slice(l, x->x[0], axis, first, count), x->factor);
  if (x->kind == HEED_LOWER_PERMUTE)
    return heed_lower_permute(l, heed_lower_slice(l, x->x[0], x->order[axis], first, count),
                              x->order);
  if (x->kind == HEED_LOWER_LINEAR && axis + 1 == x->rank && count)
    return heed_lower_linear_rows(l, x, first, count);
  if (x->kind == HEED_LOWER_RESHAPE && count) {
    value *before = slice_before(l, x, axis, first, count, dims);
    if (before || l->status != HEED_OK) return before;
  }
  value *made = slice_rows(l, x, axis, first, count, dims);
  if (made || l->status != HEED_OK) return made;
  made = heed_lower_new(l, HEED_LOWER_SLICE, x->rank, dims, &x, 1);
  if (made) {
    made->axis = axis;
    made->first = first;
  }
  return made;
}

/* --------------------------------------------------------------------------- concat and expand */

value *heed_lower_concat(heed_lower *l, value *const *x, uint32_t count, uint32_t axis) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (l->status != HEED_OK || count == 0 || !x[0]) return NULL;
  if (count == 1) return x[0];
  memcpy(dims, x[0]->dims, sizeof dims);
  for (uint32_t i = 1; i < count; i++) {
    if (!x[i]) return NULL;
    bool fits = x[i]->rank == x[0]->rank;
    for (uint32_t k = 0; fits && k < x[0]->rank; k++)
      fits = k == axis || x[i]->dims[k] == x[0]->dims[k];
    if (!fits) return heed_lower_refuse(l, HEED_INVALID_FILE, "its inputs do not fit together");
    dims[axis] += x[i]->dims[axis];
  }
  value *made = heed_lower_new(l, HEED_LOWER_CONCAT, x[0]->rank, dims, x, count);
  if (made) made->axis = axis;
  return made;
}

value *heed_lower_expand(heed_lower *l, value *x, uint32_t rank, const uint64_t *dims) {
  uint64_t whole[HEED_ONNX_MAX_RANK];
  if (!x || l->status != HEED_OK) return NULL;
  const uint32_t most = rank > x->rank ? rank : x->rank;
  for (uint32_t i = 0; i < most; i++) {
    const uint64_t a = i < x->rank ? x->dims[x->rank - 1 - i] : 1,
                   b = i < rank ? dims[rank - 1 - i] : 1;
    if (a != b && a != 1 && b != 1)
      return heed_lower_refuse(l, HEED_INVALID_FILE, "its shape does not fit its input");
    whole[most - 1 - i] = a == 1 ? b : a;
  }
  uint64_t count = 1;
  for (uint32_t i = 0; i < most; i++) count *= whole[i];
  if (count == heed_lower_size(x)) return heed_lower_reshape(l, x, most, whole);
  return heed_lower_new(l, HEED_LOWER_EXPAND, most, whole, &x, 1);
}
