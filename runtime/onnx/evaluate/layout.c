/* Ops that move elements and make shapes, and compute nothing of them. See evaluate.h. */
#include <string.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

typedef heed_onnx_array array;

static heed_status copy_as(heed_onnx_call *call, const array *x, uint32_t rank,
                           const uint64_t *dims) {
  HEED_TRY(heed_onnx_output(call, 0, x->type, rank, dims));
  if (call->out[0]->count != x->count)
    return heed_onnx_refuse(call, HEED_INVALID_FILE,
                            "wrong number of elements (found %llu, expected %llu)",
                            (unsigned long long)call->out[0]->count, (unsigned long long)x->count);
  memcpy(call->out[0]->data, x->data, (size_t)x->count * sizeof *x->data);
  return HEED_OK;
}

/* y[i, j, ...] = x[offset + i stride[0] + j stride[1] + ...] */
static heed_status strided(heed_onnx_call *call, uint32_t out, const array *x, uint32_t rank,
                           const uint64_t *dims, int64_t offset, const int64_t *stride) {
  heed_onnx_walk walk;
  HEED_TRY(heed_onnx_output(call, out, x->type, rank, dims));
  heed_onnx_walk_start(&walk, call->out[out]);
  if (rank) memcpy(walk.stride[0], stride, rank * sizeof *stride);
  for (uint64_t i = 0; i < call->out[out]->count; i++, heed_onnx_walk_next(&walk))
    call->out[out]->data[i] = x->data[offset + walk.at[0]];
  return HEED_OK;
}

static void strides_of(const array *x, int64_t *stride) {
  int64_t step = 1;
  for (uint32_t i = x->rank; i-- > 0; step *= (int64_t)x->dims[i]) stride[i] = step;
}

/* -------------------------------------------------------------------------------------- shapes */

enum { SHAPE, SIZE };
static int64_t bounded(int64_t at, uint32_t rank) {
  at = at < 0 ? at + rank : at;
  return at < 0 ? 0 : at > rank ? rank : at;
}

static heed_status run_shape(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  if (!x) return HEED_INVALID_FILE;
  if (heed_onnx_kind(call) == SIZE) {
    HEED_TRY(heed_onnx_output(call, 0, HEED_ONNX_INT64, 0, NULL));
    call->out[0]->data[0].i = (int64_t)x->count;
    return HEED_OK;
  }
  const int64_t start = bounded(heed_onnx_integer(call, "start", 0), x->rank),
                end = bounded(heed_onnx_integer(call, "end", x->rank), x->rank);
  const uint64_t count = end > start ? (uint64_t)(end - start) : 0;
  HEED_TRY(heed_onnx_output(call, 0, HEED_ONNX_INT64, 1, &count));
  for (uint64_t i = 0; i < count; i++)
    call->out[0]->data[i].i = (int64_t)x->dims[(uint64_t)start + i];
  return HEED_OK;
}

static heed_status run_reshape(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  heed_onnx_list list;
  uint64_t dims[HEED_ONNX_MAX_RANK], known = 1;
  int open = -1;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_list(call, "shape", 1, &list));
  if (!list.there || list.count > HEED_ONNX_MAX_RANK)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid shape");
  const bool zero = heed_onnx_integer(call, "allowzero", 0) != 0;
  for (uint32_t i = 0; i < list.count; i++) {
    const int64_t size = list.item[i];
    if (size < -1 || size > INT32_MAX || (size == -1 && open >= 0) ||
        (size == 0 && !zero && i >= x->rank))
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid shape (found %lld at %u)",
                              (long long)size, i);
    if (size == -1) open = (int)i;
    dims[i] = size == 0 && !zero ? x->dims[i] : size == -1 ? 1 : (uint64_t)size;
    if (dims[i] && known > HEED_ONNX_MOST_ELEMENTS / dims[i])
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid shape: too many elements");
    known *= dims[i];
  }
  if (open >= 0) dims[open] = known ? x->count / known : 0;
  return copy_as(call, x, list.count, dims);
}

static heed_status run_flatten(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  if (!x) return HEED_INVALID_FILE;
  const int64_t axis = heed_onnx_integer(call, "axis", 1);
  if (axis < -(int64_t)x->rank || axis > (int64_t)x->rank)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "axis out of range");
  const uint32_t at = (uint32_t)(axis < 0 ? axis + x->rank : axis);
  const uint64_t dims[] = {heed_onnx_extent(x, 0, at), heed_onnx_extent(x, at, x->rank - at)};
  return copy_as(call, x, 2, dims);
}

static heed_status run_squeeze(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  heed_onnx_list list;
  bool marked[HEED_ONNX_MAX_RANK] = {false};
  uint64_t dims[HEED_ONNX_MAX_RANK];
  uint32_t rank = 0;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_list(call, "axes", 1, &list));
  HEED_TRY(heed_onnx_mark_axes(call, &list, x->rank, marked));
  for (uint32_t i = 0; i < x->rank; i++) {
    if (list.there && marked[i] && x->dims[i] != 1)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "axis %u is not of size 1", i);
    if (!(list.there ? marked[i] : x->dims[i] == 1)) dims[rank++] = x->dims[i];
  }
  return copy_as(call, x, rank, dims);
}

static heed_status run_unsqueeze(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  heed_onnx_list list;
  bool marked[HEED_ONNX_MAX_RANK] = {false};
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_list(call, "axes", 1, &list));
  const uint32_t rank = x->rank + list.count;
  if (rank > HEED_ONNX_MAX_RANK) return heed_onnx_refuse(call, HEED_UNSUPPORTED, "too many axes");
  HEED_TRY(heed_onnx_mark_axes(call, &list, rank, marked));
  for (uint32_t i = 0, from = 0; i < rank; i++) dims[i] = marked[i] ? 1 : x->dims[from++];
  return copy_as(call, x, rank, dims);
}

/* --------------------------------------------------------------------------- parts and repeats */

static heed_status run_transpose(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  heed_onnx_list order;
  bool marked[HEED_ONNX_MAX_RANK] = {false};
  uint64_t dims[HEED_ONNX_MAX_RANK];
  int64_t strides[HEED_ONNX_MAX_RANK], stride[HEED_ONNX_MAX_RANK];
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_list(call, "perm", UINT32_MAX, &order));
  if (order.there && order.count != x->rank)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "perm has not every axis");
  HEED_TRY(heed_onnx_mark_axes(call, &order, x->rank, marked));
  strides_of(x, strides);
  for (uint32_t i = 0; i < x->rank; i++) {
    uint32_t from = x->rank - 1 - i;
    if (order.there) HEED_TRY(heed_onnx_axis(call, order.item[i], x->rank, &from));
    dims[i] = x->dims[from];
    stride[i] = strides[from];
  }
  return strided(call, 0, x, x->rank, dims, 0, stride);
}

static heed_status run_expand(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  heed_onnx_list list;
  array want = {0}, shape;
  heed_onnx_walk walk;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_list(call, NULL, 1, &list));
  if (list.count > HEED_ONNX_MAX_RANK)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "too many axes");
  want.rank = list.count;
  for (uint32_t i = 0; i < list.count; i++) {
    if (list.item[i] < 0) return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid shape");
    want.dims[i] = (uint64_t)list.item[i];
  }
  HEED_TRY(heed_onnx_broadcast(call, x, &want, &shape));
  HEED_TRY(heed_onnx_output(call, 0, x->type, shape.rank, shape.dims));
  heed_onnx_walk_start(&walk, call->out[0]);
  heed_onnx_walk_broadcast(&walk, 0, x);
  for (uint64_t i = 0; i < call->out[0]->count; i++, heed_onnx_walk_next(&walk))
    call->out[0]->data[i] = x->data[walk.at[0]];
  return HEED_OK;
}

static heed_status run_tile(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  heed_onnx_list list;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_list(call, NULL, 1, &list));
  if (list.count != x->rank) return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid repeats");
  for (uint32_t i = 0; i < x->rank; i++) {
    if (list.item[i] < 0 || list.item[i] > INT32_MAX)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid repeats");
    dims[i] = x->dims[i] * (uint64_t)list.item[i];
  }
  HEED_TRY(heed_onnx_output(call, 0, x->type, x->rank, dims));
  int64_t strides[HEED_ONNX_MAX_RANK];
  heed_onnx_walk walk;
  strides_of(x, strides);
  heed_onnx_walk_start(&walk, call->out[0]);
  for (uint64_t i = 0; i < call->out[0]->count; i++, heed_onnx_walk_next(&walk)) {
    uint64_t from = 0;
    for (uint32_t k = 0; k < x->rank; k++)
      from += walk.index[k] % x->dims[k] * (uint64_t)strides[k];
    call->out[0]->data[i] = x->data[from];
  }
  return HEED_OK;
}

/* The range of one axis, bounded as ONNX and numpy do. */
static uint64_t slice_axis(int64_t size, int64_t *start, int64_t end, int64_t step) {
  const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
  if (*start < 0) *start = *start < -size ? 0 : *start + size;
  if (end < 0) end = end < -size ? least : end + size;
  if (*start > most) *start = most;
  if (*start < 0) *start = step > 0 ? 0 : -1;
  if (end > most) end = most;
  if (end < least) end = least;
  const int64_t span = step > 0 ? end - *start : *start - end;
  if (span <= 0) return 0;
  const uint64_t by = step > 0 ? (uint64_t)step : 0 - (uint64_t)step;
  return ((uint64_t)span - 1) / by + 1;
}

static heed_status run_slice(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  heed_onnx_list starts, ends, axes, steps;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  int64_t stride[HEED_ONNX_MAX_RANK], offset = 0;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_list(call, "starts", 1, &starts));
  HEED_TRY(heed_onnx_read_list(call, "ends", 2, &ends));
  HEED_TRY(heed_onnx_read_list(call, "axes", 3, &axes));
  HEED_TRY(heed_onnx_read_list(call, NULL, 4, &steps));
  if (starts.count != ends.count || (axes.there && axes.count != starts.count) ||
      (steps.there && steps.count != starts.count))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "lists of several lengths");
  bool marked[HEED_ONNX_MAX_RANK] = {false};
  HEED_TRY(heed_onnx_mark_axes(call, &axes, x->rank, marked));
  memcpy(dims, x->dims, sizeof dims);
  strides_of(x, stride);
  for (uint32_t i = 0; i < starts.count; i++) {
    uint32_t axis;
    int64_t start = starts.item[i];
    const int64_t step = steps.there ? steps.item[i] : 1;
    HEED_TRY(heed_onnx_axis(call, axes.there ? axes.item[i] : (int64_t)i, x->rank, &axis));
    if (step == 0) return heed_onnx_refuse(call, HEED_INVALID_FILE, "a step of 0");
    dims[axis] = slice_axis((int64_t)x->dims[axis], &start, ends.item[i], step);
    if (dims[axis]) offset += start * stride[axis];
    if (dims[axis] > 1) stride[axis] *= step;
  }
  return strided(call, 0, x, x->rank, dims, offset, stride);
}

static heed_status split_sizes(heed_onnx_call *call, uint64_t size, heed_onnx_list *list) {
  const uint32_t parts = call->node->output_count;
  HEED_TRY(heed_onnx_read_list(call, "split", 1, list));
  if (!list->there) {
    const uint64_t each = parts ? (size + parts - 1) / parts : 0;
    for (uint32_t i = 0; i < parts && i < HEED_ONNX_MOST_LIST; i++) {
      const uint64_t begin = each * i < size ? each * i : size;
      list->item[i] = (int64_t)(size - begin < each ? size - begin : each);
    }
    list->count = parts;
  }
  uint64_t sum = 0;
  for (uint32_t i = 0; i < list->count && i < HEED_ONNX_MOST_LIST; i++)
    sum += list->item[i] < 0 || list->item[i] > INT32_MAX ? size + 1 : (uint64_t)list->item[i];
  return list->count == parts && sum == size
             ? HEED_OK
             : heed_onnx_refuse(
                   call, HEED_INVALID_FILE,
                   "invalid split (found %u sizes with a sum of %llu, expected %u of %llu)",
                   list->count, (unsigned long long)sum, parts, (unsigned long long)size);
}

static heed_status run_split(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  heed_onnx_list list;
  uint32_t axis;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  int64_t stride[HEED_ONNX_MAX_RANK], offset = 0;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", 0), x->rank, &axis));
  HEED_TRY(split_sizes(call, x->dims[axis], &list));
  memcpy(dims, x->dims, sizeof dims);
  strides_of(x, stride);
  for (uint32_t i = 0; i < list.count; i++) {
    dims[axis] = (uint64_t)list.item[i];
    HEED_TRY(strided(call, i, x, x->rank, dims, offset, stride));
    offset += list.item[i] * stride[axis];
  }
  return HEED_OK;
}

static heed_status run_concat(heed_onnx_call *call) {
  const array *first = heed_onnx_input(call, 0);
  uint32_t axis;
  uint64_t dims[HEED_ONNX_MAX_RANK], at = 0;
  if (!first) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", 0), first->rank, &axis));
  memcpy(dims, first->dims, sizeof dims);
  dims[axis] = 0;
  for (uint32_t i = 0; i < call->in_count; i++) {
    const array *x = heed_onnx_input(call, i);
    if (!x) return HEED_INVALID_FILE;
    bool fits = x->rank == first->rank && x->type == first->type;
    for (uint32_t k = 0; fits && k < x->rank; k++) fits = k == axis || x->dims[k] == dims[k];
    if (!fits)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "input %u does not fit the first", i);
    dims[axis] += x->dims[axis];
  }
  HEED_TRY(heed_onnx_output(call, 0, first->type, first->rank, dims));
  array *y = call->out[0];
  const uint64_t outer = heed_onnx_extent(y, 0, axis),
                 inner = heed_onnx_extent(y, axis + 1, y->rank - axis - 1);
  for (uint32_t i = 0; i < call->in_count; i++) {
    const uint64_t run = call->in[i]->dims[axis] * inner;
    for (uint64_t o = 0; run && o < outer; o++)
      memcpy(y->data + o * dims[axis] * inner + at, call->in[i]->data + o * run,
             (size_t)run * sizeof *y->data);
    at += run;
  }
  return HEED_OK;
}

/* ----------------------------------------------------------------------------- chosen elements */

static heed_status index_of(heed_onnx_call *call, const array *indices, uint64_t i, uint64_t size,
                            uint64_t *index) {
  const int64_t found = indices->data[i].i;
  if (heed_onnx_is_float(indices->type))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "indices that are no whole numbers");
  if (found < -(int64_t)size || found >= (int64_t)size)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "index out of range (found %lld of %llu)",
                            (long long)found, (unsigned long long)size);
  *index = (uint64_t)(found < 0 ? found + (int64_t)size : found);
  return HEED_OK;
}

static heed_status run_gather(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0), *indices = x ? heed_onnx_input(call, 1) : NULL;
  uint32_t axis, rank = 0;
  uint64_t dims[2 * HEED_ONNX_MAX_RANK];
  if (!indices) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", 0), x->rank, &axis));
  for (uint32_t i = 0; i < axis; i++) dims[rank++] = x->dims[i];
  for (uint32_t i = 0; i < indices->rank; i++) dims[rank++] = indices->dims[i];
  for (uint32_t i = axis + 1; i < x->rank; i++) dims[rank++] = x->dims[i];
  HEED_TRY(heed_onnx_output(call, 0, x->type, rank, dims));
  const uint64_t outer = heed_onnx_extent(x, 0, axis), size = x->dims[axis],
                 inner = heed_onnx_extent(x, axis + 1, x->rank - axis - 1);
  for (uint64_t o = 0; o < outer; o++)
    for (uint64_t i = 0; i < indices->count; i++) {
      uint64_t index = 0;
      HEED_TRY(index_of(call, indices, i, size, &index));
      memcpy(call->out[0]->data + (o * indices->count + i) * inner,
             x->data + (o * size + index) * inner, (size_t)inner * sizeof *x->data);
    }
  return HEED_OK;
}

static heed_status run_gather_elements(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0), *indices = x ? heed_onnx_input(call, 1) : NULL;
  uint32_t axis;
  int64_t stride[HEED_ONNX_MAX_RANK];
  heed_onnx_walk walk;
  if (!indices) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", 0), x->rank, &axis));
  for (uint32_t i = 0; i < x->rank; i++)
    if (indices->rank != x->rank || (i != axis && indices->dims[i] > x->dims[i]))
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "indices of another shape");
  HEED_TRY(heed_onnx_output(call, 0, x->type, x->rank, indices->dims));
  strides_of(x, stride);
  heed_onnx_walk_start(&walk, call->out[0]);
  for (uint64_t i = 0; i < indices->count; i++, heed_onnx_walk_next(&walk)) {
    uint64_t from = 0, index = 0;
    HEED_TRY(index_of(call, indices, i, x->dims[axis], &index));
    for (uint32_t k = 0; k < x->rank; k++)
      from += (k == axis ? index : walk.index[k]) * (uint64_t)stride[k];
    call->out[0]->data[i] = x->data[from];
  }
  return HEED_OK;
}

static heed_status run_trilu(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  if (!x) return HEED_INVALID_FILE;
  if (x->rank < 2) return heed_onnx_refuse(call, HEED_INVALID_FILE, "a matrix is expected");
  const array *shift = call->in_count > 1 ? call->in[1] : NULL;
  if (shift && (shift->count != 1 || heed_onnx_is_float(shift->type)))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "k is not one whole number");
  const double k = shift ? (double)shift->data[0].i : 0;
  const bool upper = heed_onnx_integer(call, "upper", 1) != 0;
  const uint64_t columns = x->dims[x->rank - 1], rows = x->dims[x->rank - 2];
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  for (uint64_t i = 0; i < x->count; i++) {
    const double row = (double)(i / columns % rows), column = (double)(i % columns);
    if (upper ? column - row >= k : column - row <= k) call->out[0]->data[i] = x->data[i];
  }
  return HEED_OK;
}

/* -------------------------------------------------------------------------------- made of nothing
 */

static heed_status run_constant(heed_onnx_call *call) {
  const heed_onnx_node *node = call->node;
  for (uint32_t i = 0; i < node->attribute_count; i++) {
    const heed_onnx_attribute *a = &node->attributes[i];
    const bool list = a->type == 6 || a->type == 7, floats = a->type == 1 || a->type == 6;
    const uint64_t count = a->count;
    if (a->tensor) return heed_onnx_load(call, a->tensor, &call->out[0]);
    if (strncmp(a->name, "value_", 6) != 0 || (a->type != 1 && a->type != 2 && !list)) continue;
    HEED_TRY(heed_onnx_output(call, 0, floats ? HEED_ONNX_FLOAT : HEED_ONNX_INT64, list, &count));
    for (uint64_t k = 0; k < call->out[0]->count; k++)
      if (floats)
        call->out[0]->data[k].f = list ? (double)a->floats[k] : (double)a->f;
      else
        call->out[0]->data[k].i = list ? a->ints[k] : a->i;
    return HEED_OK;
  }
  return heed_onnx_refuse(call, HEED_UNSUPPORTED, "a constant of numbers is expected");
}

static heed_status run_constant_of_shape(heed_onnx_call *call) {
  heed_onnx_list list;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  array *value = NULL;
  HEED_TRY(heed_onnx_read_list(call, NULL, 0, &list));
  if (!list.there || list.count > HEED_ONNX_MAX_RANK)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid shape");
  for (uint32_t i = 0; i < list.count; i++) {
    if (list.item[i] < 0) return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid shape");
    dims[i] = (uint64_t)list.item[i];
  }
  const heed_onnx_attribute *attribute = heed_onnx_find_attribute(call->node, "value");
  if (attribute && attribute->tensor) HEED_TRY(heed_onnx_load(call, attribute->tensor, &value));
  const heed_onnx_cell fill = value && value->count ? value->data[0] : (heed_onnx_cell){.i = 0};
  const uint32_t type = value ? value->type : HEED_ONNX_FLOAT;
  heed_onnx_drop(call->evaluator, value);
  HEED_TRY(heed_onnx_output(call, 0, type, list.count, dims));
  for (uint64_t i = 0; i < call->out[0]->count; i++) call->out[0]->data[i] = fill;
  return HEED_OK;
}

static heed_status range_of_whole(heed_onnx_call *call, uint32_t type, int64_t first, int64_t limit,
                                  int64_t step) {
  const bool up = step > 0, some = up ? first < limit : first > limit;
  const uint64_t by = up ? (uint64_t)step : 0 - (uint64_t)step,
                 span = up ? (uint64_t)limit - (uint64_t)first : (uint64_t)first - (uint64_t)limit;
  if (step == 0) return heed_onnx_refuse(call, HEED_INVALID_FILE, "a step of 0");
  const uint64_t count = some ? (span - 1) / by + 1 : 0;
  if (count > HEED_ONNX_MOST_ELEMENTS)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "the range is too long");
  HEED_TRY(heed_onnx_output(call, 0, type, 1, &count));
  for (uint64_t i = 0; i < count; i++)
    call->out[0]->data[i].i = heed_onnx_wrap(type, (int64_t)((uint64_t)first + i * (uint64_t)step));
  return HEED_OK;
}

static heed_status run_range(heed_onnx_call *call) {
  const array *start = heed_onnx_input(call, 0), *limit = start ? heed_onnx_input(call, 1) : NULL,
              *delta = limit ? heed_onnx_input(call, 2) : NULL;
  if (!delta) return HEED_INVALID_FILE;
  if (start->count != 1 || limit->count != 1 || delta->count != 1)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "three numbers are expected");
  if (start->type != limit->type || start->type != delta->type)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "inputs of two types");
  if (!heed_onnx_is_float(start->type))
    return range_of_whole(call, start->type, start->data[0].i, limit->data[0].i, delta->data[0].i);
  const double first = heed_onnx_number(start, 0), step = heed_onnx_number(delta, 0),
               span = (heed_onnx_number(limit, 0) - first) / step;
  if (!(span < (double)HEED_ONNX_MOST_ELEMENTS))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "the range is too long");
  uint64_t count = span > 0 ? (uint64_t)span : 0;
  if ((double)count < span) count++;
  HEED_TRY(heed_onnx_output(call, 0, start->type, 1, &count));
  for (uint64_t i = 0; i < count; i++) heed_onnx_set(call->out[0], i, first + (double)i * step);
  return HEED_OK;
}

static heed_status run_nonzero(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  uint64_t dims[2], found = 0;
  if (!x) return HEED_INVALID_FILE;
  for (uint64_t i = 0; i < x->count; i++) found += heed_onnx_number(x, i) != 0;
  dims[0] = x->rank;
  dims[1] = found;
  HEED_TRY(heed_onnx_output(call, 0, HEED_ONNX_INT64, 2, dims));
  uint64_t at = 0;
  for (uint64_t i = 0; i < x->count; i++) {
    if (heed_onnx_number(x, i) == 0) continue;
    uint64_t rest = i;
    for (uint32_t axis = x->rank; axis-- > 0; rest /= x->dims[axis])
      call->out[0]->data[axis * found + at].i = (int64_t)(rest % x->dims[axis]);
    at++;
  }
  return HEED_OK;
}

/* -------------------------------------------------------------------------------------- padding */

/* Where element `at` of a padded axis comes from; false: from nothing. */
static bool padded_from(const char *mode, int64_t at, int64_t size, int64_t *from) {
  *from = at;
  if (at >= 0 && at < size) return true;
  if (size == 0 || strcmp(mode, "constant") == 0) return false;
  if (strcmp(mode, "edge") == 0) *from = at < 0 ? 0 : size - 1;
  if (strcmp(mode, "wrap") == 0) *from = (at % size + size) % size;
  if (strcmp(mode, "reflect") == 0) {
    const int64_t period = size > 1 ? 2 * size - 2 : 1, folded = (at % period + period) % period;
    *from = folded < size ? folded : period - folded;
  }
  return true;
}

static heed_status pad_sizes(heed_onnx_call *call, const array *x, int64_t *begin, uint64_t *dims) {
  heed_onnx_list pads, axes;
  HEED_TRY(heed_onnx_read_list(call, "pads", 1, &pads));
  HEED_TRY(heed_onnx_read_list(call, NULL, 3, &axes));
  const uint32_t count = axes.there ? axes.count : x->rank;
  if (pads.count != 2 * count) return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid pads");
  bool marked[HEED_ONNX_MAX_RANK] = {false};
  HEED_TRY(heed_onnx_mark_axes(call, &axes, x->rank, marked));
  memcpy(dims, x->dims, sizeof x->dims);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t axis;
    HEED_TRY(heed_onnx_axis(call, axes.there ? axes.item[i] : (int64_t)i, x->rank, &axis));
    const int64_t low = pads.item[i], high = pads.item[count + i];
    if (low > INT32_MAX || low < -INT32_MAX || high > INT32_MAX || high < -INT32_MAX ||
        (int64_t)x->dims[axis] + low + high < 0)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid pads");
    begin[axis] = low;
    dims[axis] = (uint64_t)((int64_t)x->dims[axis] + low + high);
  }
  return HEED_OK;
}

static heed_status run_pad(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  const char *mode = heed_onnx_text(call, "mode", "constant");
  int64_t begin[HEED_ONNX_MAX_RANK] = {0}, stride[HEED_ONNX_MAX_RANK];
  uint64_t dims[HEED_ONNX_MAX_RANK];
  heed_onnx_walk walk;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(pad_sizes(call, x, begin, dims));
  HEED_TRY(heed_onnx_output(call, 0, x->type, x->rank, dims));
  const array *value = call->in_count > 2 ? call->in[2] : NULL;
  heed_onnx_cell fill = {.i = 0};
  if (value && (value->count != 1 || value->type != x->type))
    return heed_onnx_refuse(call, HEED_INVALID_FILE,
                            "its value is not one number of the type of its input");
  if (value) fill = value->data[0];
  if (!value && heed_onnx_is_float(x->type)) fill.f = heed_onnx_float(call, "value", 0);
  strides_of(x, stride);
  heed_onnx_walk_start(&walk, call->out[0]);
  for (uint64_t i = 0; i < call->out[0]->count; i++, heed_onnx_walk_next(&walk)) {
    int64_t from = 0, at = 0;
    bool inside = true;
    for (uint32_t k = 0; inside && k < x->rank; k++) {
      inside = padded_from(mode, (int64_t)walk.index[k] - begin[k], (int64_t)x->dims[k], &at);
      from += at * stride[k];
    }
    call->out[0]->data[i] = inside ? x->data[from] : fill;
  }
  return HEED_OK;
}

static heed_status run_dropout(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  if (!x) return HEED_INVALID_FILE;
  const array *ratio = call->in_count > 1 ? call->in[1] : NULL;
  const double part = ratio && ratio->count ? heed_onnx_number(ratio, 0) : 0.5;
  if (call->in_count > 2 && call->in[2] && call->in[2]->count && call->in[2]->data[0].i &&
      part != 0)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                            "dropout in training is not supported (found a ratio of %g)", part);
  HEED_TRY(copy_as(call, x, x->rank, x->dims));
  if (call->node->output_count < 2) return HEED_OK;
  HEED_TRY(heed_onnx_output(call, 1, HEED_ONNX_BOOL, x->rank, x->dims));
  for (uint64_t i = 0; i < x->count; i++) call->out[1]->data[i].i = 1;
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------- branches */

heed_status heed_onnx_truth(heed_onnx_call *call, const array *condition, bool *truth) {
  if (condition->type != HEED_ONNX_BOOL || condition->count != 1)
    return heed_onnx_refuse(call, HEED_INVALID_FILE,
                            "its condition is no truth value (found %llu elements)",
                            (unsigned long long)condition->count);
  *truth = condition->data[0].i != 0;
  return HEED_OK;
}

bool heed_onnx_takes_input(const heed_onnx_call *call, uint32_t index) {
  if (index == 0 || strcmp(call->node->op, "If") != 0 || !call->in[0]) return true;
  const bool second = (index - 1) / call->node->output_count != 0;
  return call->in[0]->count == 1 && second == (call->in[0]->data[0].i == 0);
}

/* The values of the branch that was taken; see branches.c. */
static heed_status run_if(heed_onnx_call *call) {
  const uint32_t each = call->node->output_count;
  const array *condition = heed_onnx_input(call, 0);
  bool truth = false;
  if (!condition) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_truth(call, condition, &truth));
  if (call->in_count != 1 + 2 * each)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "its branches do not fit its outputs");
  for (uint32_t i = 0; i < each; i++) {
    const array *x = heed_onnx_input(call, 1 + i + (truth ? 0 : each));
    if (!x) return HEED_INVALID_FILE;
    HEED_TRY(heed_onnx_output_like(call, i, x));
    memcpy(call->out[i]->data, x->data, (size_t)x->count * sizeof *x->data);
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_layout[] = {{"Shape", run_shape, SHAPE},
                                               {"Size", run_shape, SIZE},
                                               {"Reshape", run_reshape, 0},
                                               {"Flatten", run_flatten, 0},
                                               {"Squeeze", run_squeeze, 0},
                                               {"Unsqueeze", run_unsqueeze, 0},
                                               {"Transpose", run_transpose, 0},
                                               {"Expand", run_expand, 0},
                                               {"Tile", run_tile, 0},
                                               {"Slice", run_slice, 0},
                                               {"Split", run_split, 0},
                                               {"Concat", run_concat, 0},
                                               {"Gather", run_gather, 0},
                                               {"GatherElements", run_gather_elements, 0},
                                               {"Trilu", run_trilu, 0},
                                               {"Constant", run_constant, 0},
                                               {"ConstantOfShape", run_constant_of_shape, 0},
                                               {"Range", run_range, 0},
                                               {"NonZero", run_nonzero, 0},
                                               {"Pad", run_pad, 0},
                                               {"Dropout", run_dropout, 0},
                                               {"If", run_if, 0},
                                               {NULL, NULL, 0}};
