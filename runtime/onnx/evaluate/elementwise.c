/* Ops of one element of the output from one of each input: functions, arithmetic with broadcasting,
 * comparisons, conversions. See evaluate.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

/* ------------------------------------------------------------------------------- one argument */

typedef enum unary {
  ABS,
  NEG,
  EXP,
  LOG,
  SQRT,
  RECIPROCAL,
  FLOOR,
  CEIL,
  ROUND,
  SIGN,
  ERF,
  SIN,
  COS,
  TAN,
  ASIN,
  ACOS,
  ATAN,
  SINH,
  COSH,
  ASINH,
  ACOSH,
  ATANH,
  SIGMOID,
  TANH,
  RELU,
  LEAKY_RELU,
  ELU,
  SELU,
  CELU,
  HARD_SIGMOID,
  HARD_SWISH,
  SOFTPLUS,
  SOFTSIGN,
  MISH,
  GELU,
  QUICK_GELU,
  FAST_GELU,
  THRESHOLDED_RELU,
  IDENTITY,
  SWISH
} unary;

static double gelu(double x) { return 0.5 * x * (1 + erf(x * 0.70710678118654752440)); }
static double gelu_tanh(double x) {
  return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}
static double softplus(double x) { return x > 30 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double clamp01(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/* Functions with parameters. */
static double bent(int kind, double x, double alpha, double beta) {
  switch (kind) {
    case LEAKY_RELU: return x < 0 ? alpha * x : x;
    case ELU: return x < 0 ? alpha * expm1(x) : x;
    case SELU: return x > 0 ? beta * x : beta * (alpha * expm1(x));
    case CELU: return x < 0 ? alpha * expm1(x / alpha) : x;
    case HARD_SIGMOID: return clamp01(alpha * x + beta);
    case HARD_SWISH: return x * clamp01(x / 6 + 0.5);
    case THRESHOLDED_RELU: return x > alpha ? x : 0;
    case QUICK_GELU:
    case SWISH: return x / (1 + exp(-alpha * x));
    default: return x;
  }
}

static double curve(int kind, double x) {
  switch (kind) {
    case ERF: return erf(x);
    case SIN: return sin(x);
    case COS: return cos(x);
    case TAN: return tan(x);
    case ASIN: return asin(x);
    case ACOS: return acos(x);
    case ATAN: return atan(x);
    case SINH: return sinh(x);
    case COSH: return cosh(x);
    case ASINH: return asinh(x);
    case ACOSH: return x < 1 ? (double)NAN : acosh(x); /* musl's is -Inf in places */
    case ATANH: return atanh(x);
    case SIGMOID: return 1 / (1 + exp(-x));
    case TANH: return tanh(x);
    case SOFTPLUS: return softplus(x);
    case SOFTSIGN: return x / (1 + fabs(x));
    case MISH: return x * tanh(softplus(x));
    case GELU: return gelu(x);
    default: return gelu_tanh(x);
  }
}

static double apply(int kind, double x, double alpha, double beta) {
  switch (kind) {
    case ABS: return fabs(x);
    case NEG: return -x;
    case EXP: return exp(x);
    case LOG: return log(x);
    case SQRT: return sqrt(x);
    case RECIPROCAL: return 1 / x;
    case FLOOR: return floor(x);
    case CEIL: return ceil(x);
    case ROUND: return nearbyint(x);
    case SIGN: return x > 0 ? 1 : x < 0 ? -1 : x;
    case RELU: return x > 0 || isnan(x) ? x : 0;
    case LEAKY_RELU:
    case ELU:
    case SELU:
    case CELU:
    case HARD_SIGMOID:
    case HARD_SWISH:
    case THRESHOLDED_RELU:
    case QUICK_GELU:
    case SWISH:
    case IDENTITY: return bent(kind, x, alpha, beta);
    default: return curve(kind, x);
  }
}

static double alpha_of(const heed_onnx_call *call, int kind) {
  const double otherwise = kind == LEAKY_RELU     ? 0.01
                           : kind == SELU         ? 1.67326319217681884765625
                           : kind == HARD_SIGMOID ? 0.2
                           : kind == QUICK_GELU   ? 1.702
                                                  : 1.0;
  return heed_onnx_float(call, "alpha", otherwise);
}

static heed_status run_unary(heed_onnx_call *call) {
  int kind = heed_onnx_kind(call);
  const heed_onnx_array *x = heed_onnx_input(call, 0);
  if (!x) return HEED_INVALID_FILE;
  if (kind == GELU && strcmp(heed_onnx_text(call, "approximate", "none"), "tanh") == 0)
    kind = FAST_GELU;
  const double alpha = alpha_of(call, kind),
               beta = kind == SELU ? heed_onnx_float(call, "gamma", 1.05070102214813232421875)
                                   : heed_onnx_float(call, "beta", 0.5);
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  if (kind == IDENTITY || !heed_onnx_is_float(x->type)) {
    for (uint64_t i = 0; i < x->count; i++) {
      const int64_t value = x->data[i].i;
      const bool below = value < 0 && x->type != HEED_ONNX_UINT64;
      call->out[0]->data[i] = x->data[i];
      if (kind == NEG || (kind == ABS && below))
        call->out[0]->data[i].i = heed_onnx_wrap(x->type, (int64_t)(0 - (uint64_t)value));
      if (kind == SIGN) call->out[0]->data[i].i = below ? -1 : value != 0;
      if (kind == RELU && below) call->out[0]->data[i].i = 0;
    }
    return HEED_OK;
  }
  for (uint64_t i = 0; i < x->count; i++)
    heed_onnx_set(call->out[0], i, apply(kind, x->data[i].f, alpha, beta));
  return HEED_OK;
}

/* FastGelu and BiasGelu of com.microsoft: of the sum with a bias of the last axis. */
static heed_status run_bias_gelu(heed_onnx_call *call) {
  const heed_onnx_array *x = heed_onnx_input(call, 0),
                        *bias = call->in_count > 1 ? call->in[1] : NULL;
  if (!x) return HEED_INVALID_FILE;
  if (bias &&
      (x->rank == 0 || bias->rank != 1 || bias->count != x->dims[x->rank - 1] || bias->count == 0))
    return heed_onnx_refuse(call, HEED_INVALID_FILE,
                            "the bias has another size than the last axis");
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  for (uint64_t i = 0; i < x->count; i++)
    heed_onnx_set(
        call->out[0], i,
        apply(heed_onnx_kind(call),
              heed_onnx_number(x, i) + (bias ? heed_onnx_number(bias, i % bias->count) : 0), 1, 0));
  return HEED_OK;
}

/* ------------------------------------------------------------------------------ two arguments */

typedef enum binary {
  ADD,
  SUB,
  MUL,
  DIV,
  POW,
  MOD,
  MIN,
  MAX,
  AND,
  OR,
  XOR,
  EQUAL,
  LESS,
  LESS_EQUAL,
  GREATER,
  GREATER_EQUAL,
  PRELU,
  BIT_AND,
  BIT_OR,
  BIT_XOR,
  MEAN
} binary;

static bool compares(int kind) { return kind >= AND && kind <= GREATER_EQUAL; }

static double of_floats(int kind, double a, double b, bool fmod_) {
  switch (kind) {
    case ADD:
    case MEAN: return a + b;
    case SUB: return a - b;
    case MUL: return a * b;
    case DIV: return a / b;
    case POW: return pow(a, b);
    case MOD: return fmod_ ? fmod(a, b) : a - floor(a / b) * b;
    case MIN: return isnan(a) || isnan(b) ? (double)NAN : a < b ? a : b;
    case MAX: return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b;
    case PRELU: return a < 0 ? a * b : a;
    case EQUAL: return a == b;
    case LESS: return a < b;
    case LESS_EQUAL: return a <= b;
    case GREATER: return a > b;
    case GREATER_EQUAL: return a >= b;
    default: return 0;
  }
}

static int64_t power(int64_t a, int64_t b) {
  uint64_t product = 1, base = (uint64_t)a;
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  for (; b; b >>= 1, base *= base)
    if (b & 1) product *= base;
  return (int64_t)product;
}

/* Division rounds to zero, as in C; the least number has no quotient by -1. */
static int64_t divide(int64_t a, int64_t b, bool is_unsigned) {
  if (b == 0) return 0;
  if (is_unsigned) return (int64_t)((uint64_t)a / (uint64_t)b);
  return b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}

static int64_t remainder_of(int64_t a, int64_t b, bool toward_zero, bool is_unsigned) {
  if (b == 0 || (b == -1 && !is_unsigned)) return 0;
  if (is_unsigned) return (int64_t)((uint64_t)a % (uint64_t)b);
  const int64_t rest = a % b;
  return !toward_zero && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static bool less(int64_t a, int64_t b, bool is_unsigned) {
  return is_unsigned ? (uint64_t)a < (uint64_t)b : a < b;
}

static int64_t of_integers(int kind, int64_t a, int64_t b, bool toward_zero, bool is_unsigned) {
  switch (kind) {
    case ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case DIV: return divide(a, b, is_unsigned);
    case POW: return power(a, b);
    case MOD: return remainder_of(a, b, toward_zero, is_unsigned);
    case MIN: return less(a, b, is_unsigned) ? a : b;
    case MAX: return less(a, b, is_unsigned) ? b : a;
    case AND: return a && b;
    case OR: return a || b;
    case XOR: return !a != !b;
    case EQUAL: return a == b;
    case LESS: return less(a, b, is_unsigned);
    case LESS_EQUAL: return !less(b, a, is_unsigned);
    case GREATER: return less(b, a, is_unsigned);
    case GREATER_EQUAL: return !less(a, b, is_unsigned);
    case PRELU: return a < 0 ? (int64_t)((uint64_t)a * (uint64_t)b) : a;
    case BIT_AND: return a & b;
    case BIT_OR: return a | b;
    case BIT_XOR: return a ^ b;
    default: return 0;
  }
}

/* a and b as an array of a type. */
static heed_status combine(heed_onnx_call *call, const heed_onnx_array *a, const heed_onnx_array *b,
                           uint32_t type, heed_onnx_array **result) {
  const int kind = heed_onnx_kind(call);
  const bool mode = heed_onnx_integer(call, "fmod", 0) != 0;
  heed_onnx_array shape;
  heed_onnx_walk walk;
  HEED_TRY(heed_onnx_broadcast(call, a, b, &shape));
  if (kind == PRELU &&
      (shape.rank != a->rank || heed_onnx_extent(&shape, 0, shape.rank) != a->count))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "its slope is larger than its input");
  HEED_TRY(heed_onnx_make(call, type, shape.rank, shape.dims, result));
  heed_onnx_array *y = *result;
  heed_onnx_walk_start(&walk, y);
  heed_onnx_walk_broadcast(&walk, 0, a);
  heed_onnx_walk_broadcast(&walk, 1, b);
  const bool floats = heed_onnx_is_float(a->type) || heed_onnx_is_float(b->type),
             is_unsigned = a->type == HEED_ONNX_UINT64;
  for (uint64_t i = 0; i < y->count; i++, heed_onnx_walk_next(&walk)) {
    const uint64_t from = (uint64_t)walk.at[0], with = (uint64_t)walk.at[1];
    if (floats)
      heed_onnx_set(y, i,
                    of_floats(kind, heed_onnx_number(a, from), heed_onnx_number(b, with), mode));
    else
      y->data[i].i = heed_onnx_wrap(
          y->type, of_integers(kind, a->data[from].i, b->data[with].i, mode, is_unsigned));
  }
  return HEED_OK;
}

/* The last sum, or the mean, rounded once. */
static heed_status round_sum(heed_onnx_call *call, const heed_onnx_array *sum, uint32_t type) {
  const double by = heed_onnx_kind(call) == MEAN ? (double)call->in_count : 1;
  HEED_TRY(heed_onnx_output(call, 0, type, sum->rank, sum->dims));
  for (uint64_t i = 0; i < sum->count; i++) heed_onnx_set(call->out[0], i, sum->data[i].f / by);
  return HEED_OK;
}

/* Sum, Mean, Min and Max take any number of inputs. Sums of several floats stay in double until
 * all are there. */
static heed_status run_binary(heed_onnx_call *call) {
  heed_onnx_array *so_far = NULL;
  const heed_onnx_array *a = heed_onnx_input(call, 0);
  const int kind = heed_onnx_kind(call);
  heed_status status = HEED_OK;
  if (!a) return HEED_INVALID_FILE;
  for (uint32_t i = 1; i < call->in_count; i++) {
    const heed_onnx_array *b = heed_onnx_input(call, i);
    if (!b) return HEED_INVALID_FILE;
    if (a->type != b->type && kind != POW)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "inputs of two types");
  }
  if (call->in_count == 1) {
    HEED_TRY(heed_onnx_output_like(call, 0, a));
    memcpy(call->out[0]->data, a->data, (size_t)a->count * sizeof *a->data);
    return HEED_OK;
  }
  const bool sums =
      heed_onnx_is_float(a->type) && (kind == MEAN || (kind == ADD && call->in_count > 2));
  const uint32_t type = compares(kind) ? HEED_ONNX_BOOL : sums ? HEED_ONNX_DOUBLE : a->type;
  for (uint32_t i = 1; status == HEED_OK && i < call->in_count; i++) {
    heed_onnx_array *next = NULL;
    status = combine(call, so_far ? so_far : a, call->in[i], type, &next);
    heed_onnx_drop(call->evaluator, so_far);
    so_far = next;
  }
  if (status == HEED_OK && sums) status = round_sum(call, so_far, a->type);
  if (status == HEED_OK && !sums)
    call->out[0] = so_far;
  else
    heed_onnx_drop(call->evaluator, so_far);
  return status;
}

/* -------------------------------------------------------------------------------------- others */

static heed_status run_where(heed_onnx_call *call) {
  const heed_onnx_array *condition = heed_onnx_input(call, 0), *a = heed_onnx_input(call, 1),
                        *b = heed_onnx_input(call, 2);
  heed_onnx_array both, shape;
  heed_onnx_walk walk;
  if (!condition || !a || !b) return HEED_INVALID_FILE;
  if (a->type != b->type) return heed_onnx_refuse(call, HEED_INVALID_FILE, "inputs of two types");
  HEED_TRY(heed_onnx_broadcast(call, a, b, &both));
  HEED_TRY(heed_onnx_broadcast(call, &both, condition, &shape));
  HEED_TRY(heed_onnx_output(call, 0, a->type, shape.rank, shape.dims));
  heed_onnx_walk_start(&walk, call->out[0]);
  heed_onnx_walk_broadcast(&walk, 0, condition);
  heed_onnx_walk_broadcast(&walk, 1, a);
  heed_onnx_walk_broadcast(&walk, 2, b);
  for (uint64_t i = 0; i < call->out[0]->count; i++, heed_onnx_walk_next(&walk))
    call->out[0]->data[i] = heed_onnx_number(condition, (uint64_t)walk.at[0]) != 0
                                ? a->data[walk.at[1]]
                                : b->data[walk.at[2]];
  return HEED_OK;
}

static heed_status clip_whole(heed_onnx_call *call, const heed_onnx_array *x,
                              const heed_onnx_array *low, const heed_onnx_array *high) {
  const bool is_unsigned = x->type == HEED_ONNX_UINT64;
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  for (uint64_t i = 0; i < x->count; i++) {
    int64_t value = x->data[i].i;
    if (low && less(value, low->data[0].i, is_unsigned)) value = low->data[0].i;
    if (high && less(high->data[0].i, value, is_unsigned)) value = high->data[0].i;
    call->out[0]->data[i].i = value;
  }
  return HEED_OK;
}

static heed_status run_clip(heed_onnx_call *call) {
  const heed_onnx_array *x = heed_onnx_input(call, 0);
  if (!x) return HEED_INVALID_FILE;
  const heed_onnx_array *low = call->in_count > 1 ? call->in[1] : NULL,
                        *high = call->in_count > 2 ? call->in[2] : NULL;
  if ((low && low->count != 1) || (high && high->count != 1))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "a bound is not one number");
  if ((low && low->type != x->type) || (high && high->type != x->type))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "inputs of two types");
  if (!heed_onnx_is_float(x->type)) return clip_whole(call, x, low, high);
  const double least = low ? heed_onnx_number(low, 0) : heed_onnx_float(call, "min", -HUGE_VAL),
               most = high ? heed_onnx_number(high, 0) : heed_onnx_float(call, "max", HUGE_VAL);
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  for (uint64_t i = 0; i < x->count; i++) {
    double value = heed_onnx_number(x, i); /* min(max(x, least), most), each with NaN as NaN */
    call->out[0]->data[i] = x->data[i];
    if (isnan(value)) continue;
    if (value < least || isnan(least)) value = least;
    if (value > most || isnan(most)) value = most;
    heed_onnx_set(call->out[0], i, isnan(least) ? least : value);
  }
  return HEED_OK;
}

/* Cast and CastLike. */
static heed_status run_cast(heed_onnx_call *call) {
  const heed_onnx_array *x = heed_onnx_input(call, 0),
                        *like = heed_onnx_kind(call) ? heed_onnx_input(call, 1) : NULL;
  if (!x || (heed_onnx_kind(call) && !like)) return HEED_INVALID_FILE;
  const int64_t to = like ? (int64_t)like->type : heed_onnx_integer(call, "to", 0);
  char text[16];
  if (to < 1 || to > 255 || heed_onnx_type_bits((uint32_t)to) == 0)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "a conversion to %s is not supported",
                            heed_onnx_type_name((uint32_t)to, text));
  HEED_TRY(heed_onnx_output(call, 0, (uint32_t)to, x->rank, x->dims));
  const bool whole = !heed_onnx_is_float(x->type) && !heed_onnx_is_float((uint32_t)to),
             small = heed_onnx_is_small_float((uint32_t)to);
  const char *mode = heed_onnx_text(call, "round_mode", "up");
  const unsigned how = (heed_onnx_integer(call, "saturate", 1) ? HEED_ONNX_SATURATE : 0u) |
                       (strcmp(mode, "down") == 0      ? HEED_ONNX_DOWN
                        : strcmp(mode, "nearest") == 0 ? HEED_ONNX_NEAREST
                                                       : 0u);
  for (uint64_t i = 0; i < x->count; i++)
    if (small)
      call->out[0]->data[i].f = heed_onnx_round_small((uint32_t)to, heed_onnx_number(x, i), how);
    else if (whole)
      call->out[0]->data[i].i = heed_onnx_wrap((uint32_t)to, x->data[i].i);
    else if (to == HEED_ONNX_FLOAT && !heed_onnx_is_float(x->type)) /* rounded once */
      call->out[0]->data[i].f = x->type == HEED_ONNX_UINT64 ? (double)(float)(uint64_t)x->data[i].i
                                                            : (double)(float)x->data[i].i;
    else
      heed_onnx_set(call->out[0], i, heed_onnx_number(x, i));
  return HEED_OK;
}

enum { NOT, IS_NAN, IS_INF, BIT_NOT };
static heed_status run_test(heed_onnx_call *call) {
  const int kind = heed_onnx_kind(call);
  const heed_onnx_array *x = heed_onnx_input(call, 0);
  if (!x) return HEED_INVALID_FILE;
  const bool minus = heed_onnx_integer(call, "detect_negative", 1) != 0,
             plus = heed_onnx_integer(call, "detect_positive", 1) != 0;
  HEED_TRY(heed_onnx_output(call, 0, kind == BIT_NOT ? x->type : HEED_ONNX_BOOL, x->rank, x->dims));
  for (uint64_t i = 0; i < x->count; i++) {
    const double value = heed_onnx_number(x, i);
    call->out[0]->data[i].i = kind == NOT       ? !x->data[i].i
                              : kind == BIT_NOT ? heed_onnx_wrap(x->type, ~x->data[i].i)
                              : kind == IS_NAN  ? isnan(value)
                                                : isinf(value) && (value > 0 ? plus : minus);
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_elementwise[] = {
    {"Abs", run_unary, ABS},
    {"Neg", run_unary, NEG},
    {"Exp", run_unary, EXP},
    {"Log", run_unary, LOG},
    {"Sqrt", run_unary, SQRT},
    {"Reciprocal", run_unary, RECIPROCAL},
    {"Floor", run_unary, FLOOR},
    {"Ceil", run_unary, CEIL},
    {"Round", run_unary, ROUND},
    {"Sign", run_unary, SIGN},
    {"Erf", run_unary, ERF},
    {"Sin", run_unary, SIN},
    {"Cos", run_unary, COS},
    {"Tan", run_unary, TAN},
    {"Asin", run_unary, ASIN},
    {"Acos", run_unary, ACOS},
    {"Atan", run_unary, ATAN},
    {"Sinh", run_unary, SINH},
    {"Cosh", run_unary, COSH},
    {"Asinh", run_unary, ASINH},
    {"Acosh", run_unary, ACOSH},
    {"Atanh", run_unary, ATANH},
    {"Sigmoid", run_unary, SIGMOID},
    {"Tanh", run_unary, TANH},
    {"Relu", run_unary, RELU},
    {"LeakyRelu", run_unary, LEAKY_RELU},
    {"Elu", run_unary, ELU},
    {"Selu", run_unary, SELU},
    {"Celu", run_unary, CELU},
    {"HardSigmoid", run_unary, HARD_SIGMOID},
    {"HardSwish", run_unary, HARD_SWISH},
    {"Softplus", run_unary, SOFTPLUS},
    {"Softsign", run_unary, SOFTSIGN},
    {"Mish", run_unary, MISH},
    {"Gelu", run_unary, GELU},
    {"QuickGelu", run_unary, QUICK_GELU},
    {"ThresholdedRelu", run_unary, THRESHOLDED_RELU},
    {"Identity", run_unary, IDENTITY},
    {"Swish", run_unary, SWISH},
    {"FastGelu", run_bias_gelu, FAST_GELU},
    {"BiasGelu", run_bias_gelu, GELU},
    {"Add", run_binary, ADD},
    {"Sum", run_binary, ADD},
    {"Sub", run_binary, SUB},
    {"Mul", run_binary, MUL},
    {"Div", run_binary, DIV},
    {"Pow", run_binary, POW},
    {"Mod", run_binary, MOD},
    {"Min", run_binary, MIN},
    {"Max", run_binary, MAX},
    {"And", run_binary, AND},
    {"Or", run_binary, OR},
    {"Xor", run_binary, XOR},
    {"Equal", run_binary, EQUAL},
    {"Less", run_binary, LESS},
    {"LessOrEqual", run_binary, LESS_EQUAL},
    {"Greater", run_binary, GREATER},
    {"GreaterOrEqual", run_binary, GREATER_EQUAL},
    {"PRelu", run_binary, PRELU},
    {"BitwiseAnd", run_binary, BIT_AND},
    {"BitwiseOr", run_binary, BIT_OR},
    {"BitwiseXor", run_binary, BIT_XOR},
    {"Mean", run_binary, MEAN},
    {"Where", run_where, 0},
    {"Clip", run_clip, 0},
    {"Cast", run_cast, 0},
    {"CastLike", run_cast, 1},
    {"Not", run_test, NOT},
    {"IsNaN", run_test, IS_NAN},
    {"IsInf", run_test, IS_INF},
    {"BitwiseNot", run_test, BIT_NOT},
    {NULL, NULL, 0}};
