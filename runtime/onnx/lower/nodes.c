/* What nodes of arithmetic and products are. See lower.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* --------------------------------------------------------------------------------- elementwise */

/* Whether the inputs are of one type; the exponent of a power may have its own, if floats hold it.
 */
static bool same_types(heed_lower *l, int kind) {
  double range[2];
  if (l->status != HEED_OK) return false;
  if (kind == HEED_LOWER_POWER && !heed_onnx_is_float(heed_lower_type(l, 1)) &&
      !heed_lower_is_whole(l, heed_lower_input(l, 1), range)) {
    heed_lower_refuse(l, HEED_UNSUPPORTED,
                      "its exponent has no kernel (expected whole numbers of "
                      "at most 2^24)");
    return false;
  }
  for (uint32_t i = 1; i < l->call.node->input_count && kind != HEED_LOWER_POWER; i++)
    if (heed_lower_type(l, i) != heed_lower_type(l, 0)) {
      heed_lower_refuse(l, HEED_INVALID_FILE, "inputs of two types");
      return false;
    }
  return true;
}

static void lower_binary(heed_lower *l, int kind) {
  value *a = heed_lower_input(l, 0);
  if (!a || !same_types(l, kind)) return;
  for (uint32_t i = 1; i < l->call.node->input_count && a; i++)
    a = heed_lower_binary(l, (heed_lower_function)kind, a, heed_lower_input(l, i));
  heed_lower_bind(l, 0, a, 0);
}

static double negate(double x, double by) { return x * by; }

value *heed_lower_negative(heed_lower *l, value *x) {
  return heed_lower_is(x, HEED_LOWER_CONSTANT) ? heed_lower_map(l, x, negate, -1)
                                               : heed_lower_scale(l, x, -1);
}

static void lower_subtract(heed_lower *l, int kind) {
  value *a = heed_lower_input(l, 0), *b = heed_lower_negative(l, heed_lower_input(l, 1));
  if (!a || !b || !same_types(l, kind)) return;
  heed_lower_bind(l, 0, heed_lower_binary(l, HEED_LOWER_ADD, a, b), 0);
}

static void lower_negate(heed_lower *l, int kind) {
  (void)kind;
  heed_lower_bind(l, 0, heed_lower_negative(l, heed_lower_input(l, 0)), 0);
}

static void lower_unary(heed_lower *l, int kind) {
  heed_lower_bind(l, 0, heed_lower_unary(l, (heed_lower_function)kind, heed_lower_input(l, 0)),
                  kind == HEED_LOWER_IS_NAN ? HEED_ONNX_BOOL : 0);
}

/* Identity, Cast, CastLike, Dropout: heed has one type of floats. */
static void lower_same(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  uint32_t type = 0;
  if (!x) return;
  if (kind == 2 && heed_lower_has_input(l, 2)) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "dropout in training has no kernel");
    return;
  }
  if (kind == 1) {
    type = (uint32_t)heed_onnx_integer(&l->call, "to", 0);
    x = heed_lower_cast(l, x, heed_lower_type(l, 0), type);
  }
  heed_lower_bind(l, 0, x, type);
}

static value *bound_of(heed_lower *l, const char *name, uint32_t index) {
  const heed_onnx_attribute *found = heed_onnx_find_attribute(l->call.node, name);
  if (heed_lower_has_input(l, index)) {
    value *bound = heed_lower_input(l, index);
    if (bound && heed_lower_size(bound) != 1)
      return heed_lower_refuse(l, HEED_INVALID_FILE, "a bound is not one number");
    return bound ? heed_lower_reshape(l, bound, 0, NULL) : NULL; /* x keeps its rank */
  }
  if (!found) return NULL;
  return heed_lower_number(l, (double)found->f);
}

static void lower_clip(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0), *low = bound_of(l, "min", 1), *high = bound_of(l, "max", 2);
  (void)kind;
  if (low) x = heed_lower_binary(l, HEED_LOWER_MAXIMUM, x, low);
  if (high) x = heed_lower_binary(l, HEED_LOWER_MINIMUM, x, high);
  heed_lower_bind(l, 0, x, 0);
}

/* -------------------------------------------------------------------------------------- reduce */

/* A reduction over no axis: what the function makes of each element by itself. */
static value *of_each(heed_lower *l, int kind, value *x) {
  switch (kind) {
    case HEED_LOWER_L1:
    case HEED_LOWER_L2: return heed_lower_unary(l, HEED_LOWER_ABSOLUTE, x);
    case HEED_LOWER_SUM_SQUARE: return heed_lower_binary(l, HEED_LOWER_MULTIPLY, x, x);
    case HEED_LOWER_LOG_SUM: return heed_lower_unary(l, HEED_LOWER_LOG, x);
    default: return x;
  }
}

static void lower_reduce(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_list axes;
  uint32_t set = 0, axis, rank = 0;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (!x) return;
  l->status = heed_onnx_read_list(&l->call, "axes", 1, &axes);
  for (uint32_t i = 0; l->status == HEED_OK && i < axes.count; i++) {
    l->status = heed_onnx_axis(&l->call, axes.item[i], x->rank, &axis);
    if (l->status == HEED_OK) set |= 1u << axis;
  }
  if (!axes.there && heed_lower_has_input(l, 1))
    heed_lower_refuse(l, HEED_UNSUPPORTED, "computed axes have no kernel");
  const bool none = axes.count == 0 && heed_onnx_integer(&l->call, "noop_with_empty_axes", 0);
  if (axes.count == 0 && !none) set = (1u << x->rank) - 1;
  value *y = none ? of_each(l, kind, x) : heed_lower_reduce(l, (heed_lower_function)kind, x, set);
  for (uint32_t i = 0; i < x->rank; i++)
    if (!(set >> i & 1)) dims[rank++] = x->dims[i];
  if (!heed_onnx_integer(&l->call, "keepdims", 1)) y = heed_lower_reshape(l, y, rank, dims);
  heed_lower_bind(l, 0, y, 0);
}

/* ------------------------------------------------------------------------------------ products */

static void lower_matmul(heed_lower *l, int kind) {
  (void)kind;
  value *a = heed_lower_input(l, 0);
  heed_lower_bind(l, 0, heed_lower_matmul(l, a, heed_lower_input(l, 1)), 0);
}

static void lower_gemm(heed_lower *l, int kind) {
  value *a = heed_lower_input(l, 0), *b = heed_lower_input(l, 1);
  const double beta = heed_onnx_float(&l->call, "beta", 1);
  const bool turned = !heed_onnx_integer(&l->call, "transB", 0);
  (void)kind;
  if (!a || !b) return;
  if (a->rank != 2 || b->rank != 2) {
    heed_lower_refuse(l, HEED_INVALID_FILE, "its factors have two axes");
    return;
  }
  if (heed_onnx_integer(&l->call, "transA", 0)) a = heed_lower_swap(l, a);
  value *y = heed_lower_is(b, HEED_LOWER_CONSTANT)
                 ? heed_lower_linear_of(l, a, b, turned)
                 : heed_lower_matmul(l, a, turned ? b : heed_lower_swap(l, b));
  y = heed_lower_scale(l, y, heed_onnx_float(&l->call, "alpha", 1));
  if (heed_lower_has_input(l, 2) && beta != 0) {
    value *c = heed_lower_input(l, 2);
    if (beta != 1)
      c = heed_lower_is(c, HEED_LOWER_CONSTANT) ? heed_lower_map(l, c, negate, beta)
                                                : heed_lower_scale(l, c, beta);
    y = heed_lower_binary(l, HEED_LOWER_ADD, y, c);
  }
  heed_lower_bind(l, 0, y, 0);
}

/* Whether a convolution takes patches side by side. */
static bool takes_patches(heed_lower *l, const value *x, const value *w) {
  heed_onnx_list strides, pads, dilations;
  const char *pad = heed_onnx_text(&l->call, "auto_pad", "NOTSET");
  bool fits = x->rank == 4 && w->rank == 4 && w->kind == HEED_LOWER_CONSTANT &&
              w->dims[2] == w->dims[3] && x->dims[1] == w->dims[1] && x->dims[2] >= w->dims[2] &&
              x->dims[3] >= w->dims[2] && heed_onnx_integer(&l->call, "group", 1) == 1 &&
              (strcmp(pad, "NOTSET") == 0 || strcmp(pad, "VALID") == 0);
  if (heed_onnx_read_list(&l->call, "strides", UINT32_MAX, &strides) != HEED_OK ||
      heed_onnx_read_list(&l->call, "pads", UINT32_MAX, &pads) != HEED_OK ||
      heed_onnx_read_list(&l->call, "dilations", UINT32_MAX, &dilations) != HEED_OK)
    return false;
  for (uint32_t i = 0; fits && i < 2; i++)
    fits = (uint64_t)(i < strides.count ? strides.item[i] : 1) == w->dims[2];
  for (uint32_t i = 0; i < pads.count; i++) fits = fits && pads.item[i] == 0;
  for (uint32_t i = 0; i < dilations.count; i++) fits = fits && dilations.item[i] == 1;
  return fits;
}

/* Whether a list of the node has `times` entries of each axis of an image, if it is there. */
static bool fits_axes(heed_lower *l, const char *name, uint32_t times, const value *x) {
  const heed_onnx_attribute *found = heed_onnx_find_attribute(l->call.node, name);
  return !found || found->count == (uint64_t)times * (x->rank - 2);
}

value *heed_lower_convolution(heed_lower *l, value *x, value *w) {
  if (!x || !w || l->status != HEED_OK) return NULL;
  if (x->rank > 2 && !(fits_axes(l, "strides", 1, x) && fits_axes(l, "dilations", 1, x) &&
                       fits_axes(l, "pads", 2, x)))
    return heed_lower_refuse(l, HEED_INVALID_FILE, "strides, dilations or pads of other axes");
  if (!takes_patches(l, x, w)) return heed_lower_convolution_of(l, x, w);
  return heed_lower_patches(l, x, w);
}

static void lower_conv(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0), *w = heed_lower_input(l, 1),
        *y = heed_lower_convolution(l, x, w);
  (void)kind;
  if (y && heed_lower_has_input(l, 2)) {
    const uint64_t dims[] = {w->dims[0], 1, 1, 1};
    y = heed_lower_binary(l, HEED_LOWER_ADD, y,
                          heed_lower_reshape(l, heed_lower_input(l, 2), y->rank - 1, dims));
  }
  heed_lower_bind(l, 0, y, 0);
}

const heed_lower_op heed_lower_nodes[] = {{"Add", lower_binary, HEED_LOWER_ADD},
                                          {"Sum", lower_binary, HEED_LOWER_ADD},
                                          {"Sub", lower_subtract, HEED_LOWER_ADD},
                                          {"Mul", lower_binary, HEED_LOWER_MULTIPLY},
                                          {"Div", lower_binary, HEED_LOWER_DIVIDE},
                                          {"Pow", lower_binary, HEED_LOWER_POWER},
                                          {"Min", lower_binary, HEED_LOWER_MINIMUM},
                                          {"Max", lower_binary, HEED_LOWER_MAXIMUM},
                                          {"Neg", lower_negate, 0},
                                          {"Erf", lower_unary, HEED_LOWER_ERF},
                                          {"Exp", lower_unary, HEED_LOWER_EXP},
                                          {"Log", lower_unary, HEED_LOWER_LOG},
                                          {"Sqrt", lower_unary, HEED_LOWER_SQUARE_ROOT},
                                          {"Reciprocal", lower_unary, HEED_LOWER_RECIPROCAL},
                                          {"Abs", lower_unary, HEED_LOWER_ABSOLUTE},
                                          {"Sin", lower_unary, HEED_LOWER_SIN},
                                          {"Cos", lower_unary, HEED_LOWER_COS},
                                          {"Floor", lower_unary, HEED_LOWER_FLOOR},
                                          {"Ceil", lower_unary, HEED_LOWER_CEIL},
                                          {"Round", lower_unary, HEED_LOWER_ROUND},
                                          {"Sign", lower_unary, HEED_LOWER_SIGN},
                                          {"Softplus", lower_unary, HEED_LOWER_SOFTPLUS},
                                          {"IsNaN", lower_unary, HEED_LOWER_IS_NAN},
                                          {"Identity", lower_same, 0},
                                          {"Dropout", lower_same, 2},
                                          {"Cast", lower_same, 1},
                                          {"Clip", lower_clip, 0},
                                          {"ReduceSum", lower_reduce, HEED_LOWER_SUM},
                                          {"ReduceMean", lower_reduce, HEED_LOWER_MEAN},
                                          {"ReduceMax", lower_reduce, HEED_LOWER_MAX},
                                          {"ReduceMin", lower_reduce, HEED_LOWER_MIN},
                                          {"ReduceL1", lower_reduce, HEED_LOWER_L1},
                                          {"ReduceL2", lower_reduce, HEED_LOWER_L2},
                                          {"ReduceSumSquare", lower_reduce, HEED_LOWER_SUM_SQUARE},
                                          {"ReduceProd", lower_reduce, HEED_LOWER_PRODUCT},
                                          {"ReduceLogSum", lower_reduce, HEED_LOWER_LOG_SUM},
                                          {"ReduceLogSumExp", lower_reduce, HEED_LOWER_LOG_SUM_EXP},
                                          {"MatMul", lower_matmul, 0},
                                          {"Gemm", lower_gemm, 0},
                                          {"Conv", lower_conv, 0},
                                          {NULL, NULL, 0}};
