/* What nodes of computed whole numbers and truth values are. Kernels have them as floats, so only
 * numbers that a float holds exactly are taken. See lower.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

#define MOST_EXACT 16777216.0 /* 2^24: all whole numbers up to here are floats */
#define MOST_VALUES 256       /* that are looked at: a value may be reached in many ways */

/* ------------------------------------------------------------------------------- what is exact */

static void widen(double range[2], double least, double most) {
  range[0] = fmin(range[0], least);
  range[1] = fmax(range[1], most);
}

static bool is_whole(heed_lower *l, value *v, double range[2], uint32_t *left);

static bool are_whole(heed_lower *l, const value *v, uint32_t from, uint32_t to, double range[2],
                      uint32_t *left) {
  bool all = true;
  for (uint32_t i = from; all && i < to; i++) all = is_whole(l, v->x[i], range, left);
  return all;
}

static bool is_whole_constant(heed_lower *l, value *v, double range[2]) {
  const heed_onnx_array *array = heed_lower_elements(l, v);
  double own[2] = {HUGE_VAL, -HUGE_VAL};
  if (array) l->status = heed_onnx_count_steps(&l->call, array->count, 1, 1);
  if (!array || l->status != HEED_OK) return false;
  for (uint64_t i = 0; i < array->count; i++)
    widen(own, heed_onnx_number(array, i), heed_onnx_number(array, i));
  widen(range, own[0], own[1]);
  return own[0] >= -MOST_EXACT && own[1] <= MOST_EXACT;
}

static bool is_whole(heed_lower *l, value *v, double range[2], uint32_t *left) {
  if (*left == 0) return false;
  (*left)--;
  switch (v->kind) {
    case HEED_LOWER_CONSTANT: return is_whole_constant(l, v, range);
    case HEED_LOWER_UNARY:
      if (v->function == HEED_LOWER_TRUNCATE) widen(range, -HUGE_VAL, HUGE_VAL);
      widen(range, 0, 1);
      return v->function == HEED_LOWER_TRUNCATE || v->function == HEED_LOWER_NOT ||
             v->function == HEED_LOWER_IS_NAN;
    case HEED_LOWER_BINARY:
      widen(range, 0, 1);
      return v->function >= HEED_LOWER_EQUAL && v->function <= HEED_LOWER_XOR;
    case HEED_LOWER_REDUCE:
      if (v->function != HEED_LOWER_ARGMAX && v->function != HEED_LOWER_ARGMIN) return false;
      widen(range, 0, (double)(heed_lower_size(v->x[0]) / heed_lower_size(v) - 1));
      return true;
    case HEED_LOWER_RESHAPE:
    case HEED_LOWER_PERMUTE:
    case HEED_LOWER_SLICE:
    case HEED_LOWER_EXPAND:
    case HEED_LOWER_GATHER: return are_whole(l, v, 0, 1, range, left);
    case HEED_LOWER_HOST_RESULT:
      widen(range, -MOST_EXACT, MOST_EXACT); /* a run in which they are others ends */
      return !heed_onnx_is_float(heed_lower_host_type(v));
    case HEED_LOWER_CONCAT: return are_whole(l, v, 0, v->count, range, left);
    case HEED_LOWER_SELECT: return are_whole(l, v, 1, 3, range, left);
    default: return false;
  }
}

bool heed_lower_is_whole(heed_lower *l, value *v, double range[2]) {
  range[0] = HUGE_VAL;
  range[1] = -HUGE_VAL;
  uint32_t left = MOST_VALUES;
  return v && is_whole(l, v, range, &left);
}

/* Whether inputs [first, end) of the node are floats, or whole numbers that floats hold. */
static bool are_exact(heed_lower *l, uint32_t first, uint32_t end) {
  double range[2];
  for (uint32_t i = first; i < end; i++) {
    value *x = heed_lower_input(l, i);
    if (!x) return false;
    if (heed_onnx_is_float(heed_lower_type(l, i)) || heed_lower_is_whole(l, x, range)) continue;
    heed_lower_refuse(l, HEED_UNSUPPORTED, "computed whole numbers have no kernel");
    return false;
  }
  return true;
}

/* --------------------------------------------------------------------------------- truth values */

/* Comparisons, and functions of two truth values. */
static void lower_compare(heed_lower *l, int kind) {
  value *a = heed_lower_input(l, 0), *b = heed_lower_input(l, 1);
  if (!a || !b || !are_exact(l, 0, 2)) return;
  if (heed_lower_type(l, 0) != heed_lower_type(l, 1)) {
    heed_lower_refuse(l, HEED_INVALID_FILE, "inputs of two types");
    return;
  }
  heed_lower_bind(l, 0, heed_lower_binary(l, (heed_lower_function)kind, a, b), HEED_ONNX_BOOL);
}

static void lower_not(heed_lower *l, int kind) {
  (void)kind;
  heed_lower_bind(l, 0, heed_lower_unary(l, HEED_LOWER_NOT, heed_lower_input(l, 0)),
                  HEED_ONNX_BOOL);
}

static void lower_where(heed_lower *l, int kind) {
  value *c = heed_lower_input(l, 0), *a = heed_lower_input(l, 1), *b = heed_lower_input(l, 2);
  (void)kind;
  if (!a || !b || !c || !are_exact(l, 1, 3)) return;
  heed_lower_bind(l, 0, heed_lower_select(l, c, a, b), heed_lower_type(l, 1));
}

/* --------------------------------------------------------------------------------------- casts */

/* Whether numbers of a range are those of a type of whole numbers. */
static bool fits(const double range[2], uint32_t type) {
  const double bits = (double)heed_onnx_type_bits(type);
  const bool is_signed = type == HEED_ONNX_INT8 || type == HEED_ONNX_INT16 ||
                         type == HEED_ONNX_INT32 || type == HEED_ONNX_INT64;
  return is_signed ? range[0] >= -exp2(bits - 1) && range[1] < exp2(bits - 1)
                   : range[0] >= 0 && range[1] < exp2(bits);
}

value *heed_lower_cast(heed_lower *l, value *x, uint32_t from, uint32_t to) {
  double range[2];
  char text[16];
  if (!x || l->status != HEED_OK || from == to || heed_onnx_is_kernel_float(to)) return x;
  if (to == HEED_ONNX_BOOL)
    return heed_lower_unary(l, HEED_LOWER_NOT, heed_lower_unary(l, HEED_LOWER_NOT, x));
  if (!heed_onnx_is_float(to) && !heed_onnx_is_float(from) && heed_lower_is_whole(l, x, range) &&
      fits(range, to))
    return x;
  if (heed_onnx_is_float(from) && (to == HEED_ONNX_INT32 || to == HEED_ONNX_INT64))
    return heed_lower_unary(l, HEED_LOWER_TRUNCATE, x);
  return heed_lower_refuse(l, HEED_UNSUPPORTED, "computed values as %s have no kernel",
                           heed_onnx_type_name(to, text));
}

/* -------------------------------------------------------------------------------------- indices */

static void lower_argument(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  uint64_t dims[HEED_ONNX_MAX_RANK];
  uint32_t axis, rank = 0;
  if (!x || !are_exact(l, 0, 1)) return;
  l->status = heed_onnx_axis(&l->call, heed_onnx_integer(&l->call, "axis", 0), x->rank, &axis);
  if (l->status != HEED_OK) return;
  if (x->rank == 0 || (double)x->dims[axis] > MOST_EXACT) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "an axis of this size has no kernel");
    return;
  }
  value *y = heed_lower_reduce(l, (heed_lower_function)kind, x, 1u << axis);
  if (!y) return;
  y->first = heed_onnx_integer(&l->call, "select_last_index", 0) != 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != axis) dims[rank++] = x->dims[i];
  if (!heed_onnx_integer(&l->call, "keepdims", 1)) y = heed_lower_reshape(l, y, rank, dims);
  heed_lower_bind(l, 0, y, HEED_ONNX_INT64);
}

static bool are_inside(heed_lower *l, const value *x, uint32_t axis, const heed_onnx_array *known,
                       value *computed) {
  const double size = (double)x->dims[axis];
  double range[2] = {HUGE_VAL, -HUGE_VAL};
  for (uint64_t i = 0; known && i < known->count; i++)
    widen(range, (double)known->data[i].i, (double)known->data[i].i);
  if (!known && !heed_lower_is_whole(l, computed, range)) range[1] = HUGE_VAL;
  if (range[0] >= -size && range[1] < size) return true;
  heed_lower_refuse(
      l, known ? HEED_INVALID_FILE : HEED_UNSUPPORTED,
      known ? "index out of range" : "computed indices that may be out of range have no kernel");
  return false;
}

value *heed_lower_gather(heed_lower *l, value *x, uint32_t axis, const heed_onnx_array *known,
                         value *computed, bool elements) {
  uint64_t dims[2 * HEED_ONNX_MAX_RANK];
  uint32_t rank = 0;
  if (!x || (!known && !computed) || l->status != HEED_OK) return NULL;
  const uint32_t index_rank = known ? known->rank : computed->rank;
  const uint64_t *index_dims = known ? known->dims : computed->dims;
  if (!are_inside(l, x, axis, known, computed)) return NULL;
  if (elements) {
    bool smaller = index_rank == x->rank;
    for (uint32_t i = 0; smaller && i < x->rank; i++)
      smaller = i == axis || index_dims[i] <= x->dims[i];
    if (!smaller) return heed_lower_refuse(l, HEED_INVALID_FILE, "indices of another shape");
  }
  for (uint32_t i = 0; !elements && i < axis; i++) dims[rank++] = x->dims[i];
  for (uint32_t i = 0; i < index_rank; i++) dims[rank++] = index_dims[i];
  for (uint32_t i = axis + 1; !elements && i < x->rank; i++) dims[rank++] = x->dims[i];
  value *made =
      heed_lower_new(l, HEED_LOWER_GATHER, rank, dims, (value *[]){x, computed}, known ? 1 : 2);
  if (!made) return NULL;
  made->axis = axis;
  made->function = elements;
  made->indices = known;
  return made;
}

static void lower_elements(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  const heed_onnx_array *known = l->call.in[1];
  uint32_t axis;
  (void)kind;
  if (!x) return;
  l->status = heed_onnx_axis(&l->call, heed_onnx_integer(&l->call, "axis", 0), x->rank, &axis);
  value *computed = known ? NULL : heed_lower_input(l, 1);
  heed_lower_bind(l, 0, heed_lower_gather(l, x, axis, known, computed, true), 0);
}

const heed_lower_op heed_lower_wholes[] = {
    {"Equal", lower_compare, HEED_LOWER_EQUAL},
    {"Less", lower_compare, HEED_LOWER_LESS},
    {"LessOrEqual", lower_compare, HEED_LOWER_LESS_EQUAL},
    {"Greater", lower_compare, HEED_LOWER_GREATER},
    {"GreaterOrEqual", lower_compare, HEED_LOWER_GREATER_EQUAL},
    {"And", lower_compare, HEED_LOWER_AND},
    {"Or", lower_compare, HEED_LOWER_OR},
    {"Xor", lower_compare, HEED_LOWER_XOR},
    {"Not", lower_not, 0},
    {"Where", lower_where, 0},
    {"ArgMax", lower_argument, HEED_LOWER_ARGMAX},
    {"ArgMin", lower_argument, HEED_LOWER_ARGMIN},
    {"GatherElements", lower_elements, 0},
    {NULL, NULL, 0}};
