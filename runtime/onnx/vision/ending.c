/* Softmax and sigmoid at the end of a graph. See ending.h. */
#include "onnx/vision/ending.h"

typedef heed_lower_value value;

static bool is_of(const value *v, heed_lower_kind kind, int function) {
  return v->kind == kind && v->function == function;
}

/* What only moves, scales or bounds probabilities: as percent, in another shape. */
static const value *before_moves(const value *v) {
  for (;;) {
    const bool bound = is_of(v, HEED_LOWER_BINARY, HEED_LOWER_MINIMUM) ||
                       is_of(v, HEED_LOWER_BINARY, HEED_LOWER_MAXIMUM);
    if (bound && !heed_lower_is(v->x[1], HEED_LOWER_CONSTANT)) return v;
    if (!bound && v->kind != HEED_LOWER_RESHAPE && v->kind != HEED_LOWER_NAN_TO_ZERO &&
        !(v->kind == HEED_LOWER_SCALE && v->factor > 0))
      return v;
    v = v->x[0];
  }
}

/* e of exp(e) / sum(exp(e)); or NULL. */
static const value *spelled_softmax(const value *v) {
  if (!is_of(v, HEED_LOWER_BINARY, HEED_LOWER_DIVIDE) ||
      !is_of(v->x[1], HEED_LOWER_REDUCE, HEED_LOWER_SUM) || v->x[1]->x[0] != v->x[0] ||
      !is_of(v->x[0], HEED_LOWER_UNARY, HEED_LOWER_EXP))
    return NULL;
  return v->x[0]->x[0];
}

/* x of x - log(sum(exp(x))); or NULL. */
static const value *log_softmax(const value *v) {
  if (!is_of(v, HEED_LOWER_BINARY, HEED_LOWER_ADD)) return NULL;
  for (int k = 0; k < 2; k++) {
    const value *x = v->x[k], *less = v->x[1 - k];
    if (less->kind == HEED_LOWER_SCALE && less->factor == -1 &&
        is_of(less->x[0], HEED_LOWER_REDUCE, HEED_LOWER_LOG_SUM_EXP) && less->x[0]->x[0] == x)
      return x;
  }
  return NULL;
}

static const value *softmax_input(const value *v) {
  if (v->kind == HEED_LOWER_SOFTMAX && !v->owner) return v->x[0];
  return spelled_softmax(v);
}

/* -x of 1 / (1 + exp(-x)); or NULL. */
static const value *spelled_sigmoid(heed_lower *l, const value *v) {
  double one = 0;
  const value *sum = is_of(v, HEED_LOWER_UNARY, HEED_LOWER_RECIPROCAL) ? v->x[0] : NULL;
  if (is_of(v, HEED_LOWER_BINARY, HEED_LOWER_DIVIDE) && heed_lower_is_number(l, v->x[0], &one) &&
      one == 1)
    sum = v->x[1];
  if (!sum || !is_of(sum, HEED_LOWER_BINARY, HEED_LOWER_ADD)) return NULL;
  for (int k = 0; k < 2; k++) {
    const value *power = sum->x[k];
    if (heed_lower_is_number(l, sum->x[1 - k], &one) && one == 1 &&
        is_of(power, HEED_LOWER_UNARY, HEED_LOWER_EXP))
      return power->x[0];
  }
  return NULL;
}

const value *heed_ending_logits(heed_lower *l, const value *output, bool *each, bool *minus) {
  const value *v = before_moves(output), *found = softmax_input(v);
  *each = is_of(v, HEED_LOWER_ACTIVATION, HEED_ACTIVATION_SIGMOID);
  if (*each) found = v->x[0];
  *minus = false;
  if (!found) *minus = *each = (found = spelled_sigmoid(l, v)) != NULL;
  if (!found) found = log_softmax(v);
  if (!found && is_of(v, HEED_LOWER_UNARY, HEED_LOWER_LOG))
    found = softmax_input(before_moves(v->x[0]));
  if (found && found->kind != HEED_LOWER_CONSTANT && found->made.id && found->rank &&
      output->rank && heed_lower_size(found) == heed_lower_size(output) &&
      (*each || found->dims[found->rank - 1] == output->dims[output->rank - 1]))
    return found;
  *each = *minus = false;
  return output;
}
