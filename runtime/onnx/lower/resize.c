/* Resize of a computed value: along each axis entries by indices, or a linear map. An element of
 * the map that is Inf or NaN spreads along its axis. See lower.h, resize.h. */
#include "onnx/evaluate/resize.h"

#include <string.h>

#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* The nearest elements of an axis as indices. */
static value *take_nearest(heed_lower *l, const heed_onnx_resizing *r, uint32_t axis, value *x,
                           heed_onnx_taps *taps) {
  heed_onnx_array *indices = heed_lower_array(l, 1, &r->size[axis]);
  for (uint64_t i = 0; indices && i < indices->count; i++) {
    heed_onnx_find_taps(r, axis, x->dims[axis], i, taps);
    indices->data[i].i = (int64_t)heed_onnx_tap_index(taps->first, x->dims[axis]);
  }
  if (indices) indices->type = HEED_ONNX_INT64;
  return heed_lower_gather(l, x, axis, indices, NULL, false);
}

/* The weights of an axis as a matrix [size, n]. */
static value *weigh(heed_lower *l, const heed_onnx_resizing *r, uint32_t axis, value *x,
                    heed_onnx_taps *taps) {
  const uint64_t n = x->dims[axis], dims[] = {r->size[axis], n};
  heed_onnx_array *rows = heed_lower_array(l, 2, dims);
  uint32_t order[HEED_ONNX_MAX_RANK];
  for (uint64_t i = 0; rows && i < dims[0]; i++) {
    heed_onnx_find_taps(r, axis, n, i, taps);
    for (uint64_t k = 0; k < taps->count; k++)
      rows->data[i * n + heed_onnx_tap_index(taps->first + (int64_t)k, n)].f += taps->weight[k];
  }
  for (uint32_t i = 0; i < x->rank; i++) order[i] = i;
  order[axis] = x->rank - 1;
  order[x->rank - 1] = axis;
  x = heed_lower_linear_of(l, heed_lower_permute(l, x, order), heed_lower_of_array(l, rows), false);
  return x ? heed_lower_permute(l, x, order) : NULL;
}

static void lower_resize(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_resizing r;
  (void)kind;
  if (!x) return;
  for (uint32_t i = 1; i < l->call.in_count && l->status == HEED_OK; i++)
    if (heed_lower_has_input(l, i) && !l->call.in[i])
      heed_lower_refuse(l, HEED_UNSUPPORTED, "a computed size has no kernel");
  if (l->status == HEED_OK) l->status = heed_onnx_read_resize(&l->call, x->rank, x->dims, &r);
  if (l->status == HEED_OK && r.crop)
    heed_lower_refuse(l, HEED_UNSUPPORTED, "tf_crop_and_resize has no kernel");
  for (uint32_t axis = 0; l->status == HEED_OK && x && axis < x->rank; axis++) {
    if (heed_onnx_resize_keeps(&r, axis, x->dims[axis])) continue;
    l->status = heed_onnx_check_places(&l->call, &r, axis, x->dims[axis]);
    const uint64_t most = heed_onnx_most_taps(&r, axis);
    heed_onnx_array *weights = heed_lower_array(l, 1, &most);
    if (!weights) return;
    heed_onnx_taps taps = {.weight = &weights->data[0].f};
    x = r.filter == HEED_ONNX_FILTER_NEAREST ? take_nearest(l, &r, axis, x, &taps)
                                             : weigh(l, &r, axis, x, &taps);
  }
  heed_lower_bind(l, 0, x, 0);
}

const heed_lower_op heed_lower_resizes[] = {{"Resize", lower_resize, 0}, {NULL, NULL, 0}};
