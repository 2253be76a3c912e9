/* Chains of arithmetic that spell one op: gelu in its forms, silu, layer norm and RMS norm; and the
 * vectors that belong to a norm or a linear map. See lower.h. */
#include <math.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* Constants of files in fp16 are rounded. */
static bool is_near(double found, double expected) {
  return fabs(found - expected) <= 5e-4 * fabs(expected);
}

/* The op that a chain of nodes spells reads x once; of the chain `reads` did. */
static void read_once(value *x, uint32_t reads) {
  if (x->readers) x->readers = x->readers > reads ? x->readers - reads + 1 : 1;
}

/* The other operand of a sum or product of which one is `one`; NULL. */
static value *other_than(const value *v, const value *one) {
  if (v->x[0] == one) return v->x[1];
  return v->x[1] == one ? v->x[0] : NULL;
}

/* x of 1 + x; NULL. */
static value *behind_one(heed_lower *l, value *v) {
  double number;
  if (!heed_lower_is_function(v, HEED_LOWER_BINARY, HEED_LOWER_ADD)) return NULL;
  return heed_lower_is_number(l, v->x[1], &number) && number == 1 ? v->x[0] : NULL;
}

static bool is_scaled(const value *v, const value *x, double factor) {
  return heed_lower_is(v, HEED_LOWER_SCALE) && v->x[0] == x && is_near(v->factor, factor);
}

static bool is_cube(const value *v, const value *x) {
  if (!heed_lower_is_function(v, HEED_LOWER_BINARY, HEED_LOWER_MULTIPLY)) return false;
  const value *square = other_than(v, x);
  return heed_lower_is_function(square, HEED_LOWER_BINARY, HEED_LOWER_MULTIPLY) &&
         square->x[0] == x && square->x[1] == x;
}

/* sqrt(2 / pi) (x + 0.044715 x^3), as a sum or with x drawn out. */
static bool is_tanh_inner(heed_lower *l, const value *v, const value *x) {
  if (!heed_lower_is(v, HEED_LOWER_SCALE) || !is_near(v->factor, 0.79788456080286536)) return false;
  const value *inner = v->x[0];
  if (heed_lower_is_function(inner, HEED_LOWER_BINARY, HEED_LOWER_ADD)) {
    const value *cube = other_than(inner, x);
    return heed_lower_is(cube, HEED_LOWER_SCALE) && is_near(cube->factor, 0.044715) &&
           is_cube(cube->x[0], x);
  }
  if (!heed_lower_is_function(inner, HEED_LOWER_BINARY, HEED_LOWER_MULTIPLY)) return false;
  value *sum = other_than(inner, x);
  const value *square = sum ? behind_one(l, sum) : NULL;
  return heed_lower_is(square, HEED_LOWER_SCALE) && is_near(square->factor, 0.044715) &&
         heed_lower_is_function(square->x[0], HEED_LOWER_BINARY, HEED_LOWER_MULTIPLY) &&
         square->x[0]->x[0] == x && square->x[0]->x[1] == x;
}

value *heed_lower_as_gelu(heed_lower *l, value *product, double factor) {
  if (!heed_lower_is_function(product, HEED_LOWER_BINARY, HEED_LOWER_MULTIPLY) ||
      !is_near(factor, 0.5))
    return NULL;
  for (int k = 0; k < 2; k++) {
    value *x = product->x[k], *inner = behind_one(l, product->x[1 - k]);
    if (heed_lower_is_function(inner, HEED_LOWER_UNARY, HEED_LOWER_ERF) &&
        is_scaled(inner->x[0], x, 0.70710678118654752)) {
      read_once(x, 2);
      return heed_lower_activation(l, HEED_ACTIVATION_GELU, x);
    }
    if (heed_lower_is_function(inner, HEED_LOWER_ACTIVATION, HEED_ACTIVATION_TANH) &&
        is_tanh_inner(l, inner->x[0], x)) {
      read_once(x, x->readers < 5 ? 3 : 5); /* the cube by one node, or by two */
      return heed_lower_activation(l, HEED_ACTIVATION_GELU_TANH, x);
    }
  }
  return NULL;
}

value *heed_lower_as_activation(heed_lower *l, value *a, value *b) {
  for (int k = 0; k < 2; k++) {
    value *x = k ? b : a, *y = k ? a : b;
    if (!heed_lower_is_function(y, HEED_LOWER_ACTIVATION, HEED_ACTIVATION_SIGMOID)) continue;
    const bool silu = y->x[0] == x;
    if (!silu && !is_scaled(y->x[0], x, 1.702)) continue;
    read_once(x, 2);
    return heed_lower_activation(l, silu ? HEED_ACTIVATION_SILU : HEED_ACTIVATION_GELU_QUICK, x);
  }
  return NULL;
}

/* ---------------------------------------------------------------------------------------- norm */

static bool is_mean(const value *v) {
  return heed_lower_is_function(v, HEED_LOWER_REDUCE, HEED_LOWER_MEAN) && v->rank > 0 &&
         v->axis == 1u << (v->rank - 1);
}

/* x of x - mean(x); NULL. */
static value *centred(const value *v) {
  if (!heed_lower_is_function(v, HEED_LOWER_BINARY, HEED_LOWER_ADD) ||
      !heed_lower_is(v->x[1], HEED_LOWER_SCALE) || v->x[1]->factor != -1)
    return NULL;
  const value *mean = v->x[1]->x[0];
  return is_mean(mean) && mean->x[0] == v->x[0] ? v->x[0] : NULL;
}

value *heed_lower_norm(heed_lower *l, value *x, double epsilon, bool rms) {
  if (!x || l->status != HEED_OK) return NULL;
  value *made = heed_lower_new(l, HEED_LOWER_NORM, x->rank, x->dims, &x, 1);
  if (!made) return NULL;
  made->factor = epsilon;
  made->rms = rms;
  return made;
}

/* a / sqrt(mean(a^2) + epsilon), where a may be x - mean(x). */
value *heed_lower_as_norm(heed_lower *l, value *a, value *divisor) {
  double epsilon = 0;
  if (!heed_lower_is_function(divisor, HEED_LOWER_UNARY, HEED_LOWER_SQUARE_ROOT)) return NULL;
  value *sum = divisor->x[0], *mean = sum;
  if (heed_lower_is_function(sum, HEED_LOWER_BINARY, HEED_LOWER_ADD)) {
    if (!heed_lower_is_number(l, sum->x[1], &epsilon) || !(epsilon >= 0)) return NULL;
    mean = sum->x[0];
  }
  if (!is_mean(mean) ||
      !heed_lower_is_function(mean->x[0], HEED_LOWER_BINARY, HEED_LOWER_MULTIPLY) ||
      mean->x[0]->x[0] != mean->x[0]->x[1])
    return NULL;
  value *squared = mean->x[0]->x[0], *x = centred(a);
  if (squared != a && (!x || centred(squared) != x)) return NULL;
  read_once(x ? x : a, 2); /* by the mean and the difference; by the square and the quotient */
  return x ? heed_lower_norm(l, x, epsilon, false) : heed_lower_norm(l, a, epsilon, true);
}

/* ------------------------------------------------------------------------------------- vectors */

static value *norm_with(heed_lower *l, heed_lower_function function, const value *x,
                        value *vector) {
  if (x->bias || (function == HEED_LOWER_MULTIPLY && x->gain)) return NULL;
  value *made = heed_lower_norm(l, x->x[0], x->factor, x->rms);
  const float *floats = made ? heed_lower_floats(l, vector) : NULL;
  if (!floats) return NULL;
  made->gain = function == HEED_LOWER_MULTIPLY ? floats : x->gain;
  made->bias = function == HEED_LOWER_ADD ? floats : NULL;
  return made;
}

static float *product_of(heed_lower *l, const float *a, const float *b, uint64_t count) {
  float *to = heed_lower_take(l, count, sizeof *to);
  for (uint64_t i = 0; to && i < count; i++) to[i] = a[i] * b[i];
  return to;
}

/* Rows of the matrix and its bias are scaled while they are read. */
static value *linear_with(heed_lower *l, heed_lower_function function, const value *x,
                          value *vector) {
  heed_lower_matrix *matrix = heed_lower_take(l, 1, sizeof *matrix);
  const float *floats = matrix ? heed_lower_floats(l, vector) : NULL;
  if (!floats || (function == HEED_LOWER_ADD && x->matrix->bias)) return NULL;
  *matrix = *x->matrix;
  if (function == HEED_LOWER_ADD) {
    matrix->bias = floats;
  } else {
    if (matrix->bias) matrix->bias = product_of(l, matrix->bias, floats, matrix->rows);
    matrix->row_scale =
        matrix->row_scale ? product_of(l, matrix->row_scale, floats, matrix->rows) : floats;
  }
  matrix->integer = false;
  value *made = heed_lower_new(l, x->kind, x->rank, x->dims, x->x, 1);
  if (!made) return NULL;
  made->matrix = matrix;
  made->first = x->first;
  return made;
}

value *heed_lower_with_vector(heed_lower *l, heed_lower_function function, value *x,
                              value *vector) {
  if (x->kind == HEED_LOWER_NORM) return norm_with(l, function, x, vector);
  if (x->kind == HEED_LOWER_LINEAR || x->kind == HEED_LOWER_PATCHES)
    return linear_with(l, function, x, vector);
  return NULL;
}
