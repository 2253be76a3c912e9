/* What nodes that move elements are. See lower.h. */
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* ------------------------------------------------------------------------------------- shapes */

/* Shape 0, Size 1: known, since shapes are. */
static void lower_shape(heed_lower *l, int size) {
  const value *x = heed_lower_input(l, 0);
  heed_onnx_array *array = NULL;
  if (!x) return;
  const int64_t rank = x->rank;
  int64_t first = size ? 0 : heed_onnx_integer(&l->call, "start", 0),
          end = size ? 0 : heed_onnx_integer(&l->call, "end", rank);
  first = first < 0 ? first + rank : first;
  end = end < 0 ? end + rank : end;
  first = first < 0 ? 0 : first > rank ? rank : first;
  end = end > rank ? rank : end;
  const uint64_t count = end > first ? (uint64_t)(end - first) : 0;
  l->status = heed_onnx_make(&l->call, HEED_ONNX_INT64, size ? 0 : 1, &count, &array);
  if (!array) return;
  if (size) array->data[0].i = (int64_t)heed_lower_size(x);
  for (uint64_t i = 0; !size && i < count; i++)
    array->data[i].i = (int64_t)x->dims[(uint64_t)first + i];
  heed_lower_bind_array(l, 0, array);
}

static heed_status read_list(heed_lower *l, const char *attribute, uint32_t index,
                             heed_onnx_list *list) {
  l->status = heed_onnx_read_list(&l->call, attribute, index, list);
  if (l->status == HEED_OK && !list->there && index < l->call.in_count &&
      heed_lower_has_input(l, index))
    heed_lower_refuse(l, HEED_UNSUPPORTED, "a computed shape has no kernel");
  return l->status;
}

static void lower_reshape(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_list list;
  uint64_t dims[HEED_ONNX_MAX_RANK], known = 1;
  int64_t open = -1;
  (void)kind;
  if (!x || read_list(l, "shape", 1, &list) != HEED_OK) return;
  const bool zero_is_zero = heed_onnx_integer(&l->call, "allowzero", 0) != 0;
  if (list.count > HEED_ONNX_MAX_RANK) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "too many axes");
    return;
  }
  for (uint32_t i = 0; i < list.count; i++) {
    const int64_t want = list.item[i];
    const bool copies = want == 0 && !zero_is_zero;
    if (want < -1 || want > INT32_MAX || (want == -1 && open >= 0) || (copies && i >= x->rank)) {
      heed_lower_refuse(l, HEED_INVALID_FILE, "invalid shape");
      return;
    }
    dims[i] = want == -1 ? 1 : copies ? x->dims[i] : (uint64_t)want;
    if (want == -1) open = i;
    known = dims[i] && known > UINT64_MAX / dims[i] ? 0 : known * dims[i];
  }
  if (open >= 0 && known) dims[open] = heed_lower_size(x) / known;
  heed_lower_bind(l, 0, heed_lower_reshape(l, x, list.count, dims), 0);
}

static void lower_flatten(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  const int64_t axis = heed_onnx_integer(&l->call, "axis", 1);
  uint64_t dims[2] = {1, 1};
  (void)kind;
  if (!x) return;
  if (axis < -(int64_t)x->rank || axis > (int64_t)x->rank) {
    heed_lower_refuse(l, HEED_INVALID_FILE, "axis out of range");
    return;
  }
  const uint32_t split = (uint32_t)(axis < 0 ? axis + x->rank : axis);
  for (uint32_t i = 0; i < x->rank; i++) dims[i >= split] *= x->dims[i];
  heed_lower_bind(l, 0, heed_lower_reshape(l, x, 2, dims), 0);
}

/* Squeeze 0, Unsqueeze 1: the axes are those of the longer shape. */
static void lower_squeeze(heed_lower *l, int adds) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_list axes;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  bool chosen[HEED_ONNX_MAX_RANK] = {false};
  uint32_t count = 0, from = 0;
  if (!x || read_list(l, "axes", 1, &axes) != HEED_OK) return;
  const uint32_t rank = x->rank + (adds ? axes.count : 0);
  if (rank > HEED_ONNX_MAX_RANK) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "too many axes");
    return;
  }
  l->status = heed_onnx_mark_axes(&l->call, &axes, rank, chosen);
  if (l->status != HEED_OK) return;
  for (uint32_t i = 0; i < rank; i++) {
    if (adds)
      dims[count++] = chosen[i] ? 1 : x->dims[from++];
    else if (axes.there ? !chosen[i] : x->dims[i] != 1)
      dims[count++] = x->dims[i];
  }
  heed_lower_bind(l, 0, heed_lower_reshape(l, x, count, dims), 0);
}

static void lower_transpose(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  const heed_onnx_attribute *perm = heed_onnx_find_attribute(l->call.node, "perm");
  uint32_t order[HEED_ONNX_MAX_RANK], seen = 0;
  (void)kind;
  if (!x) return;
  for (uint32_t i = 0; i < x->rank; i++) {
    const int64_t axis =
        perm && perm->ints && i < perm->count ? perm->ints[i] : (int64_t)(x->rank - 1 - i);
    if (axis < 0 || axis >= (int64_t)x->rank || seen >> axis & 1 ||
        (perm && perm->count != x->rank)) {
      heed_lower_refuse(l, HEED_INVALID_FILE, "invalid perm");
      return;
    }
    seen |= 1u << axis;
    order[i] = (uint32_t)axis;
  }
  heed_lower_bind(l, 0, heed_lower_permute(l, x, order), 0);
}

/* DepthToSpace and SpaceToDepth. */
static void lower_blocks(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_blocks blocks;
  (void)kind;
  if (!x) return;
  l->status = heed_onnx_read_blocks(&l->call, x->rank, x->dims, &blocks);
  if (l->status != HEED_OK) return;
  value *y = heed_lower_permute(l, heed_lower_reshape(l, x, 6, blocks.six), blocks.order);
  heed_lower_bind(l, 0, heed_lower_reshape(l, y, 4, blocks.out), 0);
}

static void lower_expand(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_list list;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  (void)kind;
  if (!x || read_list(l, NULL, 1, &list) != HEED_OK) return;
  if (list.count > HEED_ONNX_MAX_RANK) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "too many axes");
    return;
  }
  for (uint32_t i = 0; i < list.count; i++) {
    if (list.item[i] < 1 || list.item[i] > INT32_MAX) {
      heed_lower_refuse(l, HEED_UNSUPPORTED, "an empty value has no kernel");
      return;
    }
    dims[i] = (uint64_t)list.item[i];
  }
  heed_lower_bind(l, 0, heed_lower_expand(l, x, list.count, dims), 0);
}

/* Each axis by itself: before it an axis of 1, which is made wider. */
static void lower_tile(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_list list;
  uint64_t dims[HEED_ONNX_MAX_RANK], before = 1;
  (void)kind;
  if (!x || read_list(l, NULL, 1, &list) != HEED_OK) return;
  if (list.count != x->rank) {
    heed_lower_refuse(l, HEED_INVALID_FILE, "invalid repeats");
    return;
  }
  memcpy(dims, x->dims, sizeof dims);
  for (uint32_t i = 0; i < list.count; before *= dims[i++]) {
    if (list.item[i] < 1 || list.item[i] > INT32_MAX) {
      heed_lower_refuse(l, list.item[i] ? HEED_INVALID_FILE : HEED_UNSUPPORTED,
                        list.item[i] ? "invalid repeats" : "an empty value has no kernel");
      return;
    }
    if (list.item[i] == 1) continue;
    const uint64_t times = (uint64_t)list.item[i], after = heed_lower_size(x) / before;
    x = heed_lower_reshape(l, x, 3, (uint64_t[]){before, 1, after});
    x = heed_lower_expand(l, x, 3, (uint64_t[]){before, times, after});
    dims[i] *= times;
    if (!(x = heed_lower_reshape(l, x, list.count, dims))) return;
  }
  heed_lower_bind(l, 0, x, 0);
}

/* -------------------------------------------------------------------------------------- parts */

static int64_t clamp(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

static void lower_slice(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_list first, end, axes, steps;
  bool marked[HEED_ONNX_MAX_RANK] = {false};
  uint32_t axis;
  (void)kind;
  if (!x || read_list(l, "starts", 1, &first) != HEED_OK ||
      read_list(l, "ends", 2, &end) != HEED_OK || read_list(l, "axes", 3, &axes) != HEED_OK ||
      read_list(l, NULL, 4, &steps) != HEED_OK)
    return;
  l->status = heed_onnx_mark_axes(&l->call, &axes, x->rank, marked);
  if (first.count != end.count || (axes.there && axes.count != first.count) ||
      (steps.there && steps.count != first.count))
    heed_lower_refuse(l, HEED_INVALID_FILE, "lists of several lengths");
  for (uint32_t i = 0; i < first.count && l->status == HEED_OK; i++) {
    l->status = heed_onnx_axis(&l->call, axes.there ? axes.item[i] : (int64_t)i, x->rank, &axis);
    if (l->status != HEED_OK) return;
    const int64_t size = (int64_t)x->dims[axis], step = steps.there ? steps.item[i] : 1;
    if (step == 0) {
      heed_lower_refuse(l, HEED_INVALID_FILE, "a step of 0");
      return;
    }
    /* backwards one may begin at the last entry and end before the first */
    const int64_t least = step < 0 ? -1 : 0, most = step < 0 ? size - 1 : size,
                  from = first.item[i] < 0 ? clamp(first.item[i], -size, 0) + size : first.item[i],
                  to = end.item[i] < 0 ? clamp(end.item[i], -size - 1, 0) + size : end.item[i],
                  begin = clamp(from, 0, most), stop = clamp(to, least, most),
                  apart = step < 0 ? begin - stop : stop - begin,
                  by = step < 0      ? -(step < -size ? -size : step)
                       : step > size ? size
                                     : step;
    x = heed_lower_pick(l, x, axis, (uint64_t)begin, step < 0 ? -by : by,
                        apart > 0 ? (uint64_t)((apart + by - 1) / by) : 0);
    if (!x) return;
  }
  heed_lower_bind(l, 0, x, 0);
}

static void lower_split(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_list sizes;
  uint32_t axis;
  uint64_t first = 0, sum = 0;
  const uint32_t count = l->call.node->output_count;
  (void)kind;
  if (!x || read_list(l, "split", 1, &sizes) != HEED_OK) return;
  l->status = heed_onnx_axis(&l->call, heed_onnx_integer(&l->call, "axis", 0), x->rank, &axis);
  if (l->status != HEED_OK) return;
  const uint64_t even = (x->dims[axis] + count - 1) / count;
  for (uint32_t i = 0; i < sizes.count; i++)
    sum += sizes.item[i] < 0 || sizes.item[i] > INT32_MAX ? INT32_MAX : (uint64_t)sizes.item[i];
  if (sizes.there && (sizes.count != count || sum != x->dims[axis])) {
    heed_lower_refuse(l, HEED_INVALID_FILE, "invalid split");
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    const uint64_t left = x->dims[axis] - first;
    uint64_t size = even < left ? even : left;
    if (sizes.there) size = (uint64_t)sizes.item[i];
    if (size > left || size == 0) {
      heed_lower_refuse(l, size ? HEED_INVALID_FILE : HEED_UNSUPPORTED, "invalid split");
      return;
    }
    if (heed_lower_has_output(l, i))
      heed_lower_bind(l, i, heed_lower_slice(l, x, axis, first, size), 0);
    first += size;
  }
}

static void lower_concat(heed_lower *l, int kind) {
  const uint32_t count = l->call.node->input_count;
  value **x = heed_lower_take(l, count, sizeof *x);
  uint32_t axis;
  (void)kind;
  for (uint32_t i = 0; x && i < count; i++)
    if (!(x[i] = heed_lower_input(l, i))) return;
  if (!x || !count) return;
  l->status = heed_onnx_axis(&l->call, heed_onnx_integer(&l->call, "axis", 0), x[0]->rank, &axis);
  if (l->status == HEED_OK) heed_lower_bind(l, 0, heed_lower_concat(l, x, count, axis), 0);
}

/* Known indices as parts that lie side by side; how many. */
static uint64_t parts_of(const heed_onnx_array *indices) {
  uint64_t count = indices->count > 0;
  for (uint64_t i = 1; i < indices->count; i++)
    count += indices->data[i].i == 0 ||
             (uint64_t)indices->data[i].i != (uint64_t)indices->data[i - 1].i + 1;
  return count;
}

/* Entries by indices: few parts of known ones are slices, which meet what is around them. */
static void lower_gather(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  const heed_onnx_array *indices = l->call.in[1];
  uint64_t dims[2 * HEED_ONNX_MAX_RANK];
  uint32_t axis, rank = 0;
  (void)kind;
  if (!x) return;
  l->status = heed_onnx_axis(&l->call, heed_onnx_integer(&l->call, "axis", 0), x->rank, &axis);
  if (l->status != HEED_OK) return;
  const uint64_t part_count = indices ? parts_of(indices) : 0;
  if (!indices || part_count > HEED_CONCAT_MAX) {
    value *computed = indices ? NULL : heed_lower_input(l, 1);
    heed_lower_bind(l, 0, heed_lower_gather(l, x, axis, indices, computed, false), 0);
    return;
  }
  if (part_count == 0 || indices->rank + x->rank - 1 > HEED_ONNX_MAX_RANK) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "indices of this shape have no kernel");
    return;
  }
  const int64_t size = (int64_t)x->dims[axis];
  value *parts[HEED_CONCAT_MAX];
  uint32_t count = 0;
  for (uint64_t i = 0, end; i < indices->count; i = end) {
    const int64_t at = indices->data[i].i + (indices->data[i].i < 0 ? size : 0);
    if (at < 0 || at >= size) {
      heed_lower_refuse(l, HEED_INVALID_FILE, "index out of range");
      return;
    }
    for (end = i + 1; end < indices->count && indices->data[end].i != 0 &&
                      indices->data[end].i == indices->data[end - 1].i + 1;)
      end++;
    parts[count] = heed_lower_slice(l, x, axis, (uint64_t)at, end - i);
    if (!parts[count++]) return;
  }
  for (uint32_t i = 0; i < axis; i++) dims[rank++] = x->dims[i];
  for (uint32_t i = 0; i < indices->rank; i++) dims[rank++] = indices->dims[i];
  for (uint32_t i = axis + 1; i < x->rank; i++) dims[rank++] = x->dims[i];
  heed_lower_bind(l, 0, heed_lower_reshape(l, heed_lower_concat(l, parts, count, axis), rank, dims),
                  0);
}

/* What the branch that is taken gives; see branches.c. */
static void lower_if(heed_lower *l, int kind) {
  const uint32_t each = l->call.node->output_count;
  bool truth = false;
  (void)kind;
  if (!heed_lower_branch(l, l->call.node, l->call.node->in[0], &truth)) return;
  if (l->call.in_count != 1 + 2 * each) {
    heed_lower_refuse(l, HEED_INVALID_FILE, "its branches do not fit its outputs");
    return;
  }
  for (uint32_t i = 0; i < each; i++) {
    const uint32_t from = 1 + i + (truth ? 0 : each);
    value *x = heed_lower_input(l, from);
    if (!x) return;
    heed_lower_bind(l, i, x, heed_lower_type(l, from));
    if (l->call.node->out[i]) l->given[l->call.node->out[i]] = l->given[l->call.node->in[from]];
  }
}

const heed_lower_op heed_lower_layouts[] = {{"Shape", lower_shape, 0},
                                            {"Size", lower_shape, 1},
                                            {"Reshape", lower_reshape, 0},
                                            {"Flatten", lower_flatten, 0},
                                            {"Squeeze", lower_squeeze, 0},
                                            {"Unsqueeze", lower_squeeze, 1},
                                            {"Expand", lower_expand, 0},
                                            {"Tile", lower_tile, 0},
                                            {"DepthToSpace", lower_blocks, 0},
                                            {"SpaceToDepth", lower_blocks, 0},
                                            {"Transpose", lower_transpose, 0},
                                            {"Slice", lower_slice, 0},
                                            {"Split", lower_split, 0},
                                            {"Concat", lower_concat, 0},
                                            {"Gather", lower_gather, 0},
                                            {"If", lower_if, 0},
                                            {NULL, NULL, 0}};
