/* Expressions of arithmetic. Factors go outward, constants into the op before them, and chains that
 * spell an activation or a norm become it (norm.c). See lower.h. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

static bool broadcast(heed_lower *l, const value *a, const value *b, uint32_t *rank,
                      uint64_t *dims) {
  *rank = a->rank > b->rank ? a->rank : b->rank;
  for (uint32_t i = 0; i < *rank; i++) {
    const uint64_t x = i < a->rank ? a->dims[a->rank - 1 - i] : 1,
                   y = i < b->rank ? b->dims[b->rank - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      heed_lower_refuse(l, HEED_INVALID_FILE, "its inputs do not fit (found axes of %llu and %llu)",
                        (unsigned long long)x, (unsigned long long)y);
      return false;
    }
    dims[*rank - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

static bool keeps_shape(const value *a, uint32_t rank, const uint64_t *dims) {
  return a->rank == rank && memcmp(a->dims, dims, rank * sizeof *dims) == 0;
}

/* -------------------------------------------------------------------------------------- factor */

value *heed_lower_scale(heed_lower *l, value *x, double factor) {
  if (!x || l->status != HEED_OK || factor == 1) return x;
  if (x->kind == HEED_LOWER_SCALE) return heed_lower_scale(l, x->x[0], x->factor * factor);
  value *gelu = heed_lower_as_gelu(l, x, factor);
  if (gelu || l->status != HEED_OK) return gelu;
  if (x->kind == HEED_LOWER_LINEAR && x->matrix->integer && !x->matrix->bias) {
    heed_lower_matrix matrix = *x->matrix;
    float *scale = heed_lower_take(l, matrix.rows, sizeof *scale);
    for (uint64_t i = 0; scale && i < matrix.rows; i++) scale[i] = (float)factor;
    matrix.row_scale = scale;
    matrix.integer = false;
    return scale ? heed_lower_linear(l, x->x[0], &matrix) : NULL;
  }
  value *made = heed_lower_new(l, HEED_LOWER_SCALE, x->rank, x->dims, &x, 1);
  if (made) made->factor = factor;
  return made;
}

/* ---------------------------------------------------------------------------------- a constant */

/* A vector along one axis of x, which has moved to another place before x was moved. */
static value *vector_before(heed_lower *l, value *vector, uint32_t rank, uint32_t axis) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  for (uint32_t i = 0; i < rank; i++) dims[i] = 1;
  dims[axis] = heed_lower_size(vector);
  return heed_lower_reshape(l, vector, rank, dims);
}

/* The axis of what a reshape reshapes that holds the same entries as `axis` of it; rank where none
 * does. */
static uint32_t axis_before(const value *reshape, uint32_t axis) {
  const value *from = reshape->x[0];
  uint64_t before = 1, outer = 1;
  for (uint32_t i = 0; i < axis; i++) before *= reshape->dims[i];
  for (uint32_t i = 0; i < from->rank; outer *= from->dims[i++])
    if (outer == before && from->dims[i] == reshape->dims[axis]) return i;
  return from->rank;
}

/* x and a constant that is a vector along one axis: it goes through reshapes and permutations into
 * the op that it belongs to. NULL: it stays. */
static value *join_vector(heed_lower *l, heed_lower_function function, value *x, value *vector) {
  uint32_t own, axis;
  if (!vector || !heed_lower_is_vector(vector, &own) || x->readers > 1) return NULL;
  axis = own + x->rank - vector->rank;
  if (x->dims[axis] != vector->dims[own]) return NULL;
  if (x->kind == HEED_LOWER_PERMUTE) {
    const uint32_t from = x->order[axis];
    value *inner = join_vector(l, function, x->x[0], vector_before(l, vector, x->rank, from));
    return inner ? heed_lower_permute(l, inner, x->order) : NULL;
  }
  if (x->kind == HEED_LOWER_RESHAPE) {
    const uint32_t from = axis_before(x, axis);
    if (from == x->x[0]->rank) return NULL;
    value *inner = join_vector(l, function, x->x[0], vector_before(l, vector, x->x[0]->rank, from));
    return inner ? heed_lower_reshape(l, inner, x->rank, x->dims) : NULL;
  }
  return axis + 1 == x->rank ? heed_lower_with_vector(l, function, x, vector) : NULL;
}

static value *with_constant(heed_lower *l, heed_lower_function function, value *a, value *b,
                            uint32_t rank, const uint64_t *dims) {
  double number;
  const bool is_number = heed_lower_is_number(l, b, &number);
  if (l->status != HEED_OK || !keeps_shape(a, rank, dims)) return NULL;
  if (is_number && function == HEED_LOWER_MULTIPLY) return heed_lower_scale(l, a, number);
  if (is_number && function == HEED_LOWER_ADD && number == 0) return a;
  return join_vector(l, function, a, b);
}

/* -------------------------------------------------------------------------------------- binary */

static double invert(double x, double by) { return by / x; }

/* Whether to multiply by the inverse is as good: not where floats hold it with fewer digits, or not
 * at all. */
static bool can_invert(heed_lower *l, value *constant) {
  const heed_onnx_array *array = heed_lower_elements(l, constant);
  bool can = array != NULL;
  for (uint64_t i = 0; can && i < array->count; i++) {
    const double size = fabs(heed_onnx_number(array, i));
    can = !isfinite(size) || size == 0 || (size >= (double)FLT_MIN && 1 / size >= (double)FLT_MIN);
  }
  return can;
}

/* keeps, turns: whether the result has the shape of a, of b. */
static value *divide(heed_lower *l, value *a, value *b, bool keeps, bool turns) {
  double number;
  if (heed_lower_is(b, HEED_LOWER_CONSTANT) && can_invert(l, b)) {
    if (keeps && heed_lower_is_number(l, b, &number)) return heed_lower_scale(l, a, 1 / number);
    return heed_lower_binary(l, HEED_LOWER_MULTIPLY, a, heed_lower_map(l, b, invert, 1));
  }
  if (turns && heed_lower_is_number(l, a, &number) && number == 1)
    return heed_lower_unary(l, HEED_LOWER_RECIPROCAL, b);
  return heed_lower_as_norm(l, a, b);
}

static value *power(heed_lower *l, value *a, value *b) {
  double number;
  if (!heed_lower_is_number(l, b, &number)) return NULL;
  if (number == 1) return a;
  if (number == 2) return heed_lower_binary(l, HEED_LOWER_MULTIPLY, a, a);
  if (number == 3)
    return heed_lower_binary(l, HEED_LOWER_MULTIPLY,
                             heed_lower_binary(l, HEED_LOWER_MULTIPLY, a, a), a);
  value *root =
      number == 0.5 || number == -0.5 ? heed_lower_unary(l, HEED_LOWER_SQUARE_ROOT, a) : NULL;
  return root && number < 0 ? heed_lower_unary(l, HEED_LOWER_RECIPROCAL, root) : root;
}

static value *multiply(heed_lower *l, value *a, value *b) {
  for (int k = 0; k < 2; k++) {
    value *x = k ? b : a, *y = k ? a : b;
    if (x->kind == HEED_LOWER_SCALE)
      return heed_lower_scale(l, heed_lower_binary(l, HEED_LOWER_MULTIPLY, x->x[0], y), x->factor);
    /* a norm whose divisor came as a factor */
    if (heed_lower_is_function(y, HEED_LOWER_UNARY, HEED_LOWER_RECIPROCAL)) {
      value *norm = heed_lower_as_norm(l, x, y->x[0]);
      if (norm || l->status != HEED_OK) return norm;
    }
  }
  return heed_lower_as_activation(l, a, b);
}

value *heed_lower_binary(heed_lower *l, heed_lower_function function, value *a, value *b) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  uint32_t rank;
  value *made = NULL;
  if (!a || !b || l->status != HEED_OK) return NULL;
  if (!broadcast(l, a, b, &rank, dims)) return NULL;
  const bool turns = function == HEED_LOWER_ADD || function == HEED_LOWER_MULTIPLY;
  if (turns && heed_lower_is(a, HEED_LOWER_CONSTANT) && !heed_lower_is(b, HEED_LOWER_CONSTANT)) {
    value *swap = a;
    a = b;
    b = swap;
  }
  if (turns && heed_lower_is(b, HEED_LOWER_CONSTANT))
    made = with_constant(l, function, a, b, rank, dims);
  if (!made && function == HEED_LOWER_MULTIPLY) made = multiply(l, a, b);
  if (!made && function == HEED_LOWER_DIVIDE)
    made = divide(l, a, b, keeps_shape(a, rank, dims), keeps_shape(b, rank, dims));
  if (!made && function == HEED_LOWER_POWER && keeps_shape(a, rank, dims)) made = power(l, a, b);
  if (made || l->status != HEED_OK) return made;
  made = heed_lower_new(l, HEED_LOWER_BINARY, rank, dims, (value *[]){a, b}, 2);
  if (made) made->function = (int)function;
  return made;
}

/* --------------------------------------------------------------------------------------- unary */

value *heed_lower_activation(heed_lower *l, heed_activation kind, value *x) {
  if (!x || l->status != HEED_OK) return NULL;
  if (x->kind == HEED_LOWER_RESHAPE)
    return heed_lower_reshape(l, heed_lower_activation(l, kind, x->x[0]), x->rank, x->dims);
  value *made = heed_lower_new(l, HEED_LOWER_ACTIVATION, x->rank, x->dims, &x, 1);
  if (made) made->function = (int)kind;
  return made;
}

value *heed_lower_unary(heed_lower *l, heed_lower_function function, value *x) {
  if (!x || l->status != HEED_OK) return NULL;
  value *made = heed_lower_new(l, HEED_LOWER_UNARY, x->rank, x->dims, &x, 1);
  if (made) made->function = (int)function;
  return made;
}

value *heed_lower_reduce(heed_lower *l, heed_lower_function function, value *x, uint32_t axes) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (!x || l->status != HEED_OK) return NULL;
  for (uint32_t i = 0; i < x->rank; i++) dims[i] = axes >> i & 1 ? 1 : x->dims[i];
  value *made = heed_lower_new(l, HEED_LOWER_REDUCE, x->rank, dims, &x, 1);
  if (made) {
    made->function = (int)function;
    made->axis = axes;
  }
  return made;
}

/* -------------------------------------------------------------------------------------- select */

/* A condition that is known, with -Inf or nearly so where it does not hold, is an added bias. */
static value *as_bias(heed_lower *l, value *c, value *x, double other, bool when) {
  const heed_onnx_array *from = heed_lower_elements(l, c);
  heed_onnx_array *to = from ? heed_lower_array(l, c->rank, c->dims) : NULL;
  for (uint64_t i = 0; to && i < to->count; i++)
    heed_onnx_set(to, i, (heed_onnx_number(from, i) != 0) == when ? 0 : other);
  return heed_lower_binary(l, HEED_LOWER_ADD, x, heed_lower_of_array(l, to));
}

value *heed_lower_select(heed_lower *l, value *c, value *a, value *b) {
  double number;
  if (!a || !b || !c || l->status != HEED_OK) return NULL;
  if (heed_lower_is_function(c, HEED_LOWER_UNARY, HEED_LOWER_IS_NAN) && c->x[0] == b &&
      heed_lower_is_number(l, a, &number) && number == 0)
    return heed_lower_new(l, HEED_LOWER_NAN_TO_ZERO, b->rank, b->dims, &b, 1);
  if (heed_lower_is(c, HEED_LOWER_CONSTANT)) {
    if (heed_lower_is_number(l, b, &number) && number < -1e30)
      return as_bias(l, c, a, number, true);
    if (heed_lower_is_number(l, a, &number) && number < -1e30)
      return as_bias(l, c, b, number, false);
  }
  uint64_t dims[HEED_ONNX_MAX_RANK], whole[HEED_ONNX_MAX_RANK];
  uint32_t rank, most;
  value shape = {0};
  if (l->status != HEED_OK || !broadcast(l, a, b, &rank, dims)) return NULL;
  shape.rank = rank;
  memcpy(shape.dims, dims, sizeof dims);
  if (!broadcast(l, c, &shape, &most, whole)) return NULL;
  return heed_lower_new(l, HEED_LOWER_SELECT, most, whole, (value *[]){c, a, b}, 3);
}
