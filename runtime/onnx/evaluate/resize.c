/* Resize: axis after axis, each output element a weighted sum of input elements. See resize.h. */
#include "onnx/evaluate/resize.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

#define MOST_PLACE 1e9

typedef heed_onnx_array array;
typedef heed_onnx_resizing resizing;

/* Where output element i lies in the input. */
static double place_of(const resizing *r, uint32_t axis, uint64_t n, uint64_t i) {
  const double s = r->scale[axis], m = (double)r->size[axis], x = (double)i;
  if (strcmp(r->place, "asymmetric") == 0) return x / s;
  const double whole = s * (double)n,
               last = (double)n - 1; /* whole: a size that may be fractional */
  if (strcmp(r->place, "align_corners") == 0) return whole != 1 ? x * last / (whole - 1) : 0;
  if (r->crop && m <= 1) return 0.5 * (r->start[axis] + r->end[axis]) * last;
  if (r->crop) return r->start[axis] * last + x * (r->end[axis] - r->start[axis]) * last / (m - 1);
  if (strcmp(r->place, "tf_half_pixel_for_nn") == 0) return (x + 0.5) / s;
  if (strcmp(r->place, "pytorch_half_pixel") == 0 && m <= 1) return 0;
  if (strcmp(r->place, "half_pixel_symmetric") == 0)
    return (double)n / 2 * (1 - m / ((double)n * s)) + (x + 0.5) / s - 0.5;
  return (x + 0.5) / s - 0.5;
}

/* The place is rounded to a float: by a scale of 0.33333334, a third, element 1 lies at 3. */
static double nearest_of(const resizing *r, uint32_t axis, double place) {
  const double x = (double)(float)place;
  if (strcmp(r->nearest, "simple") == 0) return r->scale[axis] < 1 ? ceil(x) : floor(x);
  if (strcmp(r->nearest, "floor") == 0) return floor(x);
  if (strcmp(r->nearest, "ceil") == 0) return ceil(x);
  return strcmp(r->nearest, "round_prefer_ceil") == 0 ? floor(x + 0.5) : ceil(x - 0.5);
}

/* Of a distance in elements. */
static double weight_of(const resizing *r, double distance) {
  const double t = fabs(distance), a = r->a;
  if (r->filter == HEED_ONNX_FILTER_LINEAR) return t < 1 ? 1 - t : 0;
  if (t <= 1) return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

uint64_t heed_onnx_tap_index(int64_t at, uint64_t n) {
  return at < 0 ? 0 : (uint64_t)at >= n ? n - 1 : (uint64_t)at;
}

/* How much narrower an antialiased axis is; and to how many elements on each side a filter reaches.
 */
static double shrink_of(const resizing *r, uint32_t axis) {
  return r->antialias && r->scale[axis] < 1 ? r->scale[axis] : 1;
}
static double reach_of(const resizing *r, uint32_t axis) {
  return (r->filter == HEED_ONNX_FILTER_LINEAR ? 1 : 2) / shrink_of(r, axis);
}

uint64_t heed_onnx_most_taps(const resizing *r, uint32_t axis) {
  return 2 * (uint64_t)reach_of(r, axis) + 4;
}

/* Places and reaches are counted in whole numbers, so they must be ones. */
heed_status heed_onnx_check_places(heed_onnx_call *call, const resizing *r, uint32_t axis,
                                   uint64_t n) {
  const double reach = reach_of(r, axis), first = place_of(r, axis, n, 0),
               last = r->size[axis] ? place_of(r, axis, n, r->size[axis] - 1) : first;
  if (reach < MOST_PLACE && fabs(first) < MOST_PLACE && fabs(last) < MOST_PLACE) return HEED_OK;
  return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                          "places out of range (found %g to %g along axis %u)", first, last, axis);
}

void heed_onnx_find_taps(const resizing *r, uint32_t axis, uint64_t n, uint64_t i,
                         heed_onnx_taps *taps) {
  const double place = place_of(r, axis, n, i), shrink = shrink_of(r, axis),
               reach = reach_of(r, axis);
  double weights = 0;
  taps->count = 0;
  if (r->crop && (place < 0 || place > (double)n - 1)) return;
  if (r->filter == HEED_ONNX_FILTER_NEAREST) {
    taps->first = (int64_t)nearest_of(r, axis, place);
    taps->weight[taps->count++] = 1;
    return;
  }
  taps->first = (int64_t)floor(place - reach);
  for (int64_t at = taps->first; at <= (int64_t)ceil(place + reach); at++) {
    double weight = weight_of(r, ((double)at - place) * shrink);
    if (r->outside && (at < 0 || at >= (int64_t)n)) weight = 0;
    taps->weight[taps->count++] = weight;
    weights += weight;
  }
  for (uint64_t k = 0; weights != 0 && (r->outside || shrink < 1) && k < taps->count; k++)
    taps->weight[k] /= weights;
}

static heed_status resize_axis(heed_onnx_call *call, const resizing *r, uint32_t axis,
                               const array *x, uint32_t type, array **made) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  array *weights;
  const uint64_t n = x->dims[axis], most = heed_onnx_most_taps(r, axis),
                 inner = heed_onnx_extent(x, axis + 1, x->rank - axis - 1),
                 outer = heed_onnx_extent(x, 0, axis);
  memcpy(dims, x->dims, sizeof dims);
  dims[axis] = r->size[axis];
  HEED_TRY(heed_onnx_check_places(call, r, axis, n));
  HEED_TRY(heed_onnx_count_steps(call, r->size[axis], most, outer * inner));
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_DOUBLE, 1, &most, &weights));
  heed_onnx_taps taps = {.weight = &weights->data[0].f};
  const heed_status status = heed_onnx_make(call, type, x->rank, dims, made);
  for (uint64_t i = 0; status == HEED_OK && i < r->size[axis]; i++) {
    heed_onnx_find_taps(r, axis, n, i, &taps);
    for (uint64_t lane = 0; lane < outer * inner; lane++) {
      const uint64_t o = lane / inner, base = o * n * inner + lane % inner;
      double sum = taps.count ? 0 : r->beyond;
      for (uint64_t k = 0; k < taps.count; k++)
        sum += taps.weight[k] *
               heed_onnx_number(x, base + heed_onnx_tap_index(taps.first + (int64_t)k, n) * inner);
      heed_onnx_set(*made, (o * r->size[axis] + i) * inner + lane % inner, sum);
    }
  }
  heed_onnx_drop(call->evaluator, weights);
  return status;
}

/* One scale for the axes that are named, so that none is larger, or smaller, than asked for. */
static void keep_aspect(resizing *r, const uint64_t *dims, const heed_onnx_list *axes,
                        bool larger) {
  double scale = larger ? 0 : HUGE_VAL;
  for (uint32_t i = 0; i < axes->count; i++) {
    const uint32_t axis = (uint32_t)axes->item[i];
    const double want = (double)r->size[axis] / (double)dims[axis];
    scale = larger ? fmax(scale, want) : fmin(scale, want);
  }
  for (uint32_t i = 0; i < axes->count; i++) {
    const uint32_t axis = (uint32_t)axes->item[i];
    r->scale[axis] = scale;
    r->size[axis] = (uint64_t)floor(scale * (double)dims[axis] + 0.5);
  }
}

static heed_status read_sizes(heed_onnx_call *call, uint32_t rank, const uint64_t *dims,
                              resizing *r) {
  const array *scales = call->opset < 11     ? heed_onnx_input(call, 1)
                        : call->in_count > 2 ? call->in[2]
                                             : NULL;
  heed_onnx_list axes, sizes;
  HEED_TRY(heed_onnx_read_list(call, "axes", UINT32_MAX, &axes));
  HEED_TRY(heed_onnx_read_list(call, NULL, call->opset < 11 ? UINT32_MAX : 3, &sizes));
  for (uint32_t i = 0; !axes.there && i < rank; i++) axes.item[axes.count++] = i;
  const bool by_size = sizes.count > 0;
  if ((by_size ? sizes.count : scales ? scales->count : 0) != axes.count)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "scales or sizes of another number than axes");
  const array *part = r->crop && call->in_count > 1 ? call->in[1] : NULL;
  if (r->crop && (!part || part->count != 2 * (uint64_t)axes.count))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "a roi of another number than axes");
  for (uint32_t i = 0; i < rank; i++) {
    r->end[i] = 1;
    r->scale[i] = 1;
    r->size[i] = dims[i];
  }
  for (uint32_t i = 0; i < axes.count; i++) {
    uint32_t axis;
    HEED_TRY(heed_onnx_axis(call, axes.item[i], rank, &axis));
    axes.item[i] = axis;
    if (part) r->start[axis] = heed_onnx_number(part, i);
    if (part) r->end[axis] = heed_onnx_number(part, axes.count + i);
    /* 14 by a scale of 2.6428571 is 37 in float, and less in double */
    const double n = (double)dims[axis],
                 scale = by_size ? (double)sizes.item[i] / n : heed_onnx_number(scales, i),
                 size = by_size ? (double)sizes.item[i] : floor((double)(float)(n * scale));
    if (!(scale > 0) || !(size >= 1) || size > INT32_MAX || n < 1)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid scale or size");
    r->scale[axis] = scale;
    r->size[axis] = (uint64_t)size;
  }
  const char *policy = heed_onnx_text(call, "keep_aspect_ratio_policy", "stretch");
  if (by_size && strcmp(policy, "stretch") != 0)
    keep_aspect(r, dims, &axes, strcmp(policy, "not_smaller") == 0);
  return HEED_OK;
}

heed_status heed_onnx_read_resize(heed_onnx_call *call, uint32_t rank, const uint64_t *dims,
                                  resizing *r) {
  const char *mode = heed_onnx_text(call, "mode", "nearest");
  if (call->opset < 11 && strcmp(mode, "cubic") == 0)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "opset 10 has no cubic mode");
  *r = (resizing){.filter = strcmp(mode, "linear") == 0  ? HEED_ONNX_FILTER_LINEAR
                            : strcmp(mode, "cubic") == 0 ? HEED_ONNX_FILTER_CUBIC
                                                         : HEED_ONNX_FILTER_NEAREST,
                  .place = heed_onnx_text(call, "coordinate_transformation_mode",
                                          call->opset < 11 ? "asymmetric" : "half_pixel"),
                  .nearest = call->opset < 11 /* which rounds up where an axis shrinks */
                                 ? "simple"
                                 : heed_onnx_text(call, "nearest_mode", "round_prefer_floor"),
                  .a = heed_onnx_float(call, "cubic_coeff_a", -0.75),
                  .outside = heed_onnx_integer(call, "exclude_outside", 0) != 0,
                  .antialias = heed_onnx_integer(call, "antialias", 0) != 0};
  r->crop = strcmp(r->place, "tf_crop_and_resize") == 0;
  r->beyond = heed_onnx_float(call, "extrapolation_value", 0);
  return read_sizes(call, rank, dims, r);
}

bool heed_onnx_resize_keeps(const resizing *r, uint32_t axis, uint64_t n) {
  return r->scale[axis] == 1 && r->size[axis] == n &&
         (!r->crop || (r->start[axis] == 0 && r->end[axis] == 1));
}

static heed_status run_resize(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  resizing r;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_resize(call, x->rank, x->dims, &r));
  array *so_far = NULL;
  heed_status status = HEED_OK;
  for (uint32_t axis = 0; status == HEED_OK && axis < x->rank; axis++) {
    const array *from = so_far ? so_far : x;
    array *next = NULL;
    if (heed_onnx_resize_keeps(&r, axis, x->dims[axis])) continue;
    status = resize_axis(call, &r, axis, from,
                         r.filter == HEED_ONNX_FILTER_NEAREST ? x->type : HEED_ONNX_DOUBLE, &next);
    heed_onnx_drop(call->evaluator, so_far);
    so_far = next;
  }
  if (status == HEED_OK) status = heed_onnx_output(call, 0, x->type, x->rank, r.size);
  for (uint64_t i = 0; status == HEED_OK && i < call->out[0]->count; i++)
    if (so_far && so_far->type == HEED_ONNX_DOUBLE)
      heed_onnx_set(call->out[0], i, so_far->data[i].f);
    else
      call->out[0]->data[i] = so_far ? so_far->data[i] : x->data[i];
  heed_onnx_drop(call->evaluator, so_far);
  return status;
}

const heed_onnx_op_entry heed_onnx_resizes[] = {{"Resize", run_resize, 0}, {NULL, NULL, 0}};
