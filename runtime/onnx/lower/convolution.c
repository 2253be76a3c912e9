/* Convolutions of any stride, padding, dilation and group, made of parts of the image that are
 * moved beside each other, and a product; those of each channel by itself are windows; Pad; parts
 * with steps. See lower.h. */
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"
#include "onnx/lower/windows.h"

typedef heed_lower_value value;

/* ---------------------------------------------------------------------------------------- parts */

static value *reversed(heed_lower *l, value *x, uint32_t axis) {
  const uint64_t count = x->dims[axis];
  if (count > HEED_LOWER_MOST_PARTS)
    return heed_lower_refuse(l, HEED_UNSUPPORTED, "a long axis backwards has no kernel");
  value **parts = heed_lower_take(l, count, sizeof *parts);
  for (uint64_t i = 0; parts && i < count; i++)
    if (!(parts[i] = heed_lower_slice(l, x, axis, count - 1 - i, 1))) return NULL;
  return parts ? heed_lower_concat(l, parts, (uint32_t)count, axis) : NULL;
}

value *heed_lower_pick(heed_lower *l, value *x, uint32_t axis, uint64_t first, int64_t step,
                       uint64_t count) {
  uint64_t dims[HEED_ONNX_MAX_RANK], before = 1, after = 1;
  if (!x || l->status != HEED_OK) return NULL;
  if (step == 1 || count <= 1) return heed_lower_slice(l, x, axis, first, count);
  const uint64_t by = step < 0 ? (uint64_t)-step : (uint64_t)step;
  if (step < 0) {
    value *forward = heed_lower_pick(l, x, axis, first - by * (count - 1), (int64_t)by, count);
    return forward ? reversed(l, forward, axis) : NULL;
  }
  const bool fits = first + count * by <= x->dims[axis];
  const uint64_t whole = fits ? count : count - 1; /* the last stands alone */
  for (uint32_t i = 0; i < axis; i++) before *= x->dims[i];
  for (uint32_t i = axis + 1; i < x->rank; i++) after *= x->dims[i];
  memcpy(dims, x->dims, sizeof dims);
  dims[axis] = whole;
  value *y = heed_lower_slice(l, x, axis, first, whole * by);
  y = heed_lower_reshape(l, y, 3, (uint64_t[]){before * whole, by, after});
  y = heed_lower_reshape(l, heed_lower_slice(l, y, 1, 0, 1), x->rank, dims);
  if (fits || !y) return y;
  value *const both[] = {y, heed_lower_slice(l, x, axis, first + whole * by, 1)};
  return both[1] ? heed_lower_concat(l, both, 2, axis) : NULL;
}

/* ------------------------------------------------------------------------------------------ pad */

static value *filled(heed_lower *l, const value *x, uint32_t axis, uint64_t count, double with) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  memcpy(dims, x->dims, sizeof dims);
  dims[axis] = count;
  heed_onnx_array *array = heed_lower_array(l, x->rank, dims);
  for (uint64_t i = 0; array && i < array->count; i++) array->data[i].f = with;
  return heed_lower_of_array(l, array);
}

value *heed_lower_padded(heed_lower *l, value *x, uint32_t axis, uint64_t before, uint64_t after,
                         double with) {
  value *parts[3];
  uint32_t count = 0;
  if (!x || l->status != HEED_OK) return NULL;
  if (before && !(parts[count++] = filled(l, x, axis, before, with))) return NULL;
  parts[count++] = x;
  if (after && !(parts[count++] = filled(l, x, axis, after, with))) return NULL;
  return heed_lower_concat(l, parts, count, axis);
}

static void lower_pad(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_list pads, axes;
  double with = heed_onnx_float(&l->call, "value", 0);
  bool marked[HEED_ONNX_MAX_RANK] = {false};
  uint32_t axis;
  (void)kind;
  if (!x) return;
  l->status = heed_onnx_read_list(&l->call, "pads", 1, &pads);
  if (l->status == HEED_OK) l->status = heed_onnx_read_list(&l->call, NULL, 3, &axes);
  if (l->status != HEED_OK) return;
  const uint32_t count = axes.there ? axes.count : x->rank;
  l->status = heed_onnx_mark_axes(&l->call, &axes, x->rank, marked);
  if (pads.there && pads.count != 2 * count)
    heed_lower_refuse(l, HEED_INVALID_FILE, "invalid pads");
  if (l->status != HEED_OK) return;
  if (strcmp(heed_onnx_text(&l->call, "mode", "constant"), "constant") != 0 || !pads.there ||
      (heed_lower_has_input(l, 3) && !axes.there) ||
      (heed_lower_has_input(l, 2) && !heed_lower_is_number(l, heed_lower_input(l, 2), &with))) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "this padding has no kernel");
    return;
  }
  for (uint32_t i = 0; i < count && l->status == HEED_OK; i++) {
    const int64_t before = pads.item[i], after = pads.item[i + count];
    l->status = heed_onnx_axis(&l->call, axes.there ? axes.item[i] : (int64_t)i, x->rank, &axis);
    if (l->status != HEED_OK) return;
    if (before < 0 || after < 0 || before > INT32_MAX || after > INT32_MAX) {
      heed_lower_refuse(l, HEED_UNSUPPORTED, "a padding of %lld has no kernel",
                        (long long)(before < after ? before : after));
      return;
    }
    if (!(x = heed_lower_padded(l, x, axis, (uint64_t)before, (uint64_t)after, with))) return;
  }
  heed_lower_bind(l, 0, x, 0);
}

/* ---------------------------------------------------------------------------------- convolution */

/* The elements of the image that the k-th weight of the kernel multiplies; rows and columns are the
 * axes `axis` and the next. */
static value *met(heed_lower *l, value *x, uint32_t axis, const heed_onnx_windows *w, uint64_t k) {
  const uint64_t at[] = {k / w->kernel[1], k % w->kernel[1]};
  for (uint32_t i = 0; i < 2; i++)
    x = heed_lower_pick(l, x, axis + i, at[i] * w->dilation[i], (int64_t)w->stride[i], w->out[i]);
  return x;
}

/* A convolution as a product (im2col): the elements for all weights side by side, times the kernel
 * [O, C, ...], give [B, O, out...]. The image is transposed once, before. */
static value *by_product(heed_lower *l, value *x, value *kernel, const heed_onnx_windows *w) {
  static const uint32_t last[] = {0, 2, 3, 1}, turn[] = {0, 2, 1};
  const uint64_t count = w->kernel[0] * w->kernel[1], cells = w->out[0] * w->out[1],
                 batch = x->dims[0], channels = x->dims[1], rows = kernel->dims[0];
  value **parts = heed_lower_take(l, count, sizeof *parts);
  x = heed_lower_permute(l, x, last);
  for (uint64_t k = 0; parts && k < count; k++) {
    parts[k] = heed_lower_reshape(l, met(l, x, 1, w, k), 3, (uint64_t[]){batch, cells, channels});
    if (!parts[k]) return NULL;
  }
  value *all = parts ? heed_lower_concat(l, parts, (uint32_t)count, 2) : NULL;
  kernel = heed_lower_reshape(l, heed_lower_permute(l, kernel, last), 2,
                              (uint64_t[]){rows, count * channels});
  value *y = heed_lower_linear_of(l, all, kernel, false);
  return heed_lower_reshape(l, y ? heed_lower_permute(l, y, turn) : NULL, 4,
                            (uint64_t[]){batch, rows, w->out[0], w->out[1]});
}

/* A kernel that steps by one, row of weights by row of weights. Rows of the image lie one after
 * another, with the padding of each between, so that what a row of weights meets is what it meets
 * at the start, further on. So the image is laid side by side once for each column of the kernel,
 * not for each weight. Each row of weights [O, K C] then makes a product of a part of that; the
 * products are summed. Cells between two rows of the result are made too, and dropped. */
static value *by_rows(heed_lower *l, value *x, value *kernel, const heed_onnx_windows *w) {
  static const uint32_t last[] = {0, 2, 3, 1}, first[] = {0, 3, 1, 2};
  const uint64_t rows = kernel->dims[0], channels = x->dims[1], batch = x->dims[0],
                 beyond = (w->kernel[1] - 1) * w->dilation[1];
  x = heed_lower_permute(l, x, last);
  x = heed_lower_padded(l, x, 2, w->before[1], w->after[1], 0);
  /* The last cells of the last row look beyond it: one row more. */
  x = heed_lower_padded(l, x, 1, w->before[0], w->after[0] + (beyond ? 1 : 0), 0);
  if (!x) return NULL;
  const uint64_t pitch = x->dims[2], cells = w->out[0] * pitch,
                 all = cells + (w->kernel[0] - 1) * w->dilation[0] * pitch,
                 width = w->kernel[1] * channels;
  x = heed_lower_reshape(l, x, 3, (uint64_t[]){batch, x->dims[1] * pitch, channels});
  value **parts = heed_lower_take(l, w->kernel[1], sizeof *parts), *y = NULL;
  for (uint64_t k = 0; parts && k < w->kernel[1]; k++)
    if (!(parts[k] = heed_lower_slice(l, x, 1, k * w->dilation[1], all))) return NULL;
  x = parts ? heed_lower_concat(l, parts, (uint32_t)w->kernel[1], 2) : NULL;
  kernel = heed_lower_reshape(l, heed_lower_permute(l, kernel, last), 3,
                              (uint64_t[]){rows, w->kernel[0], width});
  for (uint64_t k = 0; k < w->kernel[0]; k++) {
    value *weights = heed_lower_reshape(l, heed_lower_slice(l, kernel, 1, k, 1), 2,
                                        (uint64_t[]){rows, width}),
          *met_here = heed_lower_slice(l, x, 1, k * w->dilation[0] * pitch, cells),
          *product = heed_lower_linear_of(l, met_here, weights, false);
    y = k ? heed_lower_binary(l, HEED_LOWER_ADD, y, product) : product;
    if (!y) return NULL;
  }
  y = heed_lower_reshape(l, y, 4, (uint64_t[]){batch, w->out[0], pitch, rows});
  return heed_lower_permute(l, heed_lower_slice(l, y, 2, 0, w->out[1]), first);
}

static value *of_one_group(heed_lower *l, value *x, value *kernel, const heed_onnx_windows *w) {
  if (w->stride[0] == 1 && w->stride[1] == 1 && w->kernel[0] > 1) return by_rows(l, x, kernel, w);
  for (uint32_t i = 0; i < 2; i++) x = heed_lower_padded(l, x, 2 + i, w->before[i], w->after[i], 0);
  return x ? by_product(l, x, kernel, w) : NULL;
}

value *heed_lower_by_group(heed_lower *l, value *x, value *kernel, const heed_onnx_windows *w,
                           uint64_t groups) {
  const uint64_t channels = x->dims[1] / groups, rows = kernel->dims[0] / groups;
  if (channels == 1 && (groups > 1 || rows == 1) &&
      w->kernel[0] * w->kernel[1] <= HEED_LOWER_MOST_TAPS)
    return heed_lower_windows(l, HEED_DEPTHWISE_SUM, x, kernel, w, false);
  if (w->kernel[0] * w->kernel[1] > HEED_LOWER_MOST_PARTS ||
      groups * w->kernel[0] > HEED_LOWER_MOST_PARTS)
    return heed_lower_refuse(l, HEED_UNSUPPORTED, "a convolution of so many parts has no kernel");
  if (groups == 1) return of_one_group(l, x, kernel, w);
  value **parts = heed_lower_take(l, groups, sizeof *parts);
  for (uint64_t g = 0; parts && g < groups; g++) {
    value *some = heed_lower_slice(l, x, 1, g * channels, channels),
          *own = heed_lower_slice(l, kernel, 0, g * rows, rows);
    parts[g] = some && own ? of_one_group(l, some, own, w) : NULL;
    if (!parts[g]) return NULL;
  }
  return parts ? heed_lower_concat(l, parts, (uint32_t)groups, 1) : NULL;
}

value *heed_lower_convolution_of(heed_lower *l, value *x, value *kernel) {
  const int64_t groups = heed_onnx_integer(&l->call, "group", 1);
  heed_onnx_windows w;
  if (kernel->kind != HEED_LOWER_CONSTANT || x->rank != kernel->rank || x->rank < 3 || x->rank > 5)
    return heed_lower_refuse(l, HEED_UNSUPPORTED,
                             "a convolution by a computed kernel or of other than one to three "
                             "axes has no kernel");
  const uint32_t axes = x->rank - 2;
  if (groups < 1 || x->dims[1] % (uint64_t)groups || kernel->dims[0] % (uint64_t)groups ||
      x->dims[1] / (uint64_t)groups != kernel->dims[1])
    return heed_lower_refuse(l, HEED_INVALID_FILE, "its channels do not fit its kernel");
  l->status = heed_onnx_read_windows(&l->call, axes, x->dims + 2, kernel->dims + 2, false, &w);
  if (l->status != HEED_OK) return NULL;
  if (axes == 3) return heed_lower_volume(l, x, kernel, &w, (uint64_t)groups);
  x = heed_lower_image(l, x, &w);
  kernel = axes == 2 ? kernel
                     : heed_lower_reshape(
                           l, kernel, 4,
                           (uint64_t[]){kernel->dims[0], kernel->dims[1], 1, kernel->dims[2]});
  if (!x || !kernel) return NULL;
  value *y = heed_lower_by_group(l, x, kernel, &w, (uint64_t)groups);
  return axes == 2 ? y : heed_lower_without_axis(l, y);
}

const heed_lower_op heed_lower_pads[] = {{"Pad", lower_pad, 0}, {NULL, NULL, 0}};
