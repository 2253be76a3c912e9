/* What nodes of functions of one value are, which networks call activations. See lower.h. */
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

static value *sum(heed_lower *l, value *a, value *b) {
  return heed_lower_binary(l, HEED_LOWER_ADD, a, b);
}

static value *product(heed_lower *l, value *a, value *b) {
  return heed_lower_binary(l, HEED_LOWER_MULTIPLY, a, b);
}

static value *at_least(heed_lower *l, value *x, double least) {
  return heed_lower_binary(l, HEED_LOWER_MAXIMUM, x, heed_lower_number(l, least));
}

static value *at_most(heed_lower *l, value *x, double most) {
  return heed_lower_binary(l, HEED_LOWER_MINIMUM, x, heed_lower_number(l, most));
}

static double attribute(heed_lower *l, const char *name, double otherwise) {
  return heed_onnx_float(&l->call, name, otherwise);
}

static void lower_activation(heed_lower *l, int kind) {
  heed_lower_bind(l, 0, heed_lower_activation(l, (heed_activation)kind, heed_lower_input(l, 0)), 0);
}

/* Gelu; FastGelu and BiasGelu of com.microsoft, of x + bias. */
static void lower_gelu(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  if (strcmp(heed_onnx_text(&l->call, "approximate", "none"), "tanh") == 0)
    kind = HEED_ACTIVATION_GELU_TANH;
  value *bias = heed_lower_has_input(l, 1) ? heed_lower_input(l, 1) : NULL;
  if (bias && (!x || bias->rank != 1)) { /* another shape would make x larger */
    heed_lower_refuse(l, HEED_INVALID_FILE, "its bias is no vector of the last axis");
    return;
  }
  if (bias) x = heed_lower_binary(l, HEED_LOWER_ADD, x, heed_lower_input(l, 1));
  heed_lower_bind(l, 0, heed_lower_activation(l, (heed_activation)kind, x), 0);
}

/* x sigmoid(alpha x): QuickGelu of com.microsoft, and Swish. */
static void lower_swish(heed_lower *l, int kind) {
  const double alpha = heed_onnx_float(&l->call, "alpha", kind ? 1 : (double)1.702f);
  value *x = heed_lower_input(l, 0),
        *gate = heed_lower_activation(l, HEED_ACTIVATION_SIGMOID, heed_lower_scale(l, x, alpha));
  heed_lower_bind(l, 0, heed_lower_binary(l, HEED_LOWER_MULTIPLY, x, gate), 0);
}

/* ------------------------------------------------------------------------------ of two branches */

typedef enum bent {
  LEAKY_RELU, /* x below 0 times alpha */
  ELU,        /* alpha (exp(x) - 1) below 0 */
  SELU,       /* the same times gamma, with constants of its own */
  CELU,       /* alpha (exp(x / alpha) - 1) below 0 */
} bent;

static value *exp_less_one(heed_lower *l, value *x) {
  return sum(l, heed_lower_unary(l, HEED_LOWER_EXP, x), heed_lower_number(l, -1));
}

static void lower_bent(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0), *above = heed_lower_activation(l, HEED_ACTIVATION_RELU, x),
        *below = at_most(l, x, 0);
  const double alpha = attribute(l, "alpha",
                                 kind == LEAKY_RELU ? (double)0.01f
                                 : kind == SELU     ? 1.67326319217681884765625
                                                    : 1);
  if (kind == CELU) below = heed_lower_scale(l, below, 1 / alpha);
  if (kind != LEAKY_RELU) below = exp_less_one(l, below);
  value *y = sum(l, above, heed_lower_scale(l, below, alpha));
  if (kind == SELU) y = heed_lower_scale(l, y, attribute(l, "gamma", 1.05070102214813232421875));
  heed_lower_bind(l, 0, y, 0);
}

/* x below 0 times a slope, which is broadcast to x. */
static void lower_sloped(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0), *slope = heed_lower_input(l, 1),
        *below = heed_lower_binary(l, HEED_LOWER_LESS, x, heed_lower_number(l, 0)),
        *y = heed_lower_select(l, below, product(l, x, slope), x);
  (void)kind;
  if (y && (y->rank != x->rank || heed_lower_size(y) != heed_lower_size(x))) {
    heed_lower_refuse(l, HEED_INVALID_FILE, "its slope is larger than its input");
    return;
  }
  heed_lower_bind(l, 0, y, 0);
}

/* ------------------------------------------------------------------------------------- of gates */

static value *hard_sigmoid(heed_lower *l, value *x, double alpha, double beta) {
  return at_most(
      l, at_least(l, sum(l, heed_lower_scale(l, x, alpha), heed_lower_number(l, beta)), 0), 1);
}

static void lower_hard_sigmoid(heed_lower *l, int kind) {
  const double alpha = attribute(l, "alpha", (double)0.2f), beta = attribute(l, "beta", 0.5);
  (void)kind;
  heed_lower_bind(l, 0, hard_sigmoid(l, heed_lower_input(l, 0), alpha, beta), 0);
}

static void lower_hard_swish(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  (void)kind;
  heed_lower_bind(l, 0, product(l, x, hard_sigmoid(l, x, 1.0 / 6, 0.5)), 0);
}

/* x tanh(softplus(x)) (Misra 2019) */
static void lower_mish(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0),
        *gate = heed_lower_activation(l, HEED_ACTIVATION_TANH,
                                      heed_lower_unary(l, HEED_LOWER_SOFTPLUS, x));
  (void)kind;
  heed_lower_bind(l, 0, product(l, x, gate), 0);
}

static void lower_softsign(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0),
        *below = sum(l, heed_lower_unary(l, HEED_LOWER_ABSOLUTE, x), heed_lower_number(l, 1));
  (void)kind;
  heed_lower_bind(l, 0, heed_lower_binary(l, HEED_LOWER_DIVIDE, x, below), 0);
}

/* x where it is above alpha, else 0 */
static void lower_thresholded(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0),
        *above = heed_lower_binary(l, HEED_LOWER_GREATER, x,
                                   heed_lower_number(l, attribute(l, "alpha", 1)));
  (void)kind;
  heed_lower_bind(l, 0, heed_lower_select(l, above, x, heed_lower_number(l, 0)), 0);
}

const heed_lower_op heed_lower_activations[] = {
    {"Relu", lower_activation, HEED_ACTIVATION_RELU},
    {"Tanh", lower_activation, HEED_ACTIVATION_TANH},
    {"Sigmoid", lower_activation, HEED_ACTIVATION_SIGMOID},
    {"Gelu", lower_gelu, HEED_ACTIVATION_GELU},
    {"BiasGelu", lower_gelu, HEED_ACTIVATION_GELU},
    {"FastGelu", lower_gelu, HEED_ACTIVATION_GELU_TANH},
    {"QuickGelu", lower_swish, 0},
    {"Swish", lower_swish, 1},
    {"LeakyRelu", lower_bent, LEAKY_RELU},
    {"Elu", lower_bent, ELU},
    {"Selu", lower_bent, SELU},
    {"Celu", lower_bent, CELU},
    {"PRelu", lower_sloped, 0},
    {"HardSigmoid", lower_hard_sigmoid, 0},
    {"HardSwish", lower_hard_swish, 0},
    {"Mish", lower_mish, 0},
    {"Softsign", lower_softsign, 0},
    {"ThresholdedRelu", lower_thresholded, 0},
    {NULL, NULL, 0}};
