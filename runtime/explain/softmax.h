/* The softmax of values at one place, in double, in index order: what all that names probabilities
 * computes them by. */
#ifndef HEED_EXPLAIN_SOFTMAX_H
#define HEED_EXPLAIN_SOFTMAX_H

#include <math.h>
#include <stdint.h>

typedef struct heed_softmax {
  double largest, sum; /* sum: of exp(value - largest) */
} heed_softmax;

/* exp(value - largest): 0 for -Inf, also where all are; a NaN stays. */
static inline double heed_softmax_term(const heed_softmax *of, float value) {
  return (double)value <= -(double)INFINITY ? 0.0 : exp((double)value - of->largest);
}

static inline heed_softmax heed_softmax_over(const float *values, uint32_t size) {
  heed_softmax made = {-(double)INFINITY, 0.0};
  for (uint32_t i = 0; i < size; i++) /* not by fmax: gcc 12 for arm64 crashes on it at -O3 */
    if ((double)values[i] > made.largest) made.largest = (double)values[i];
  for (uint32_t i = 0; i < size; i++) made.sum += heed_softmax_term(&made, values[i]);
  return made;
}

static inline double heed_softmax_share(const heed_softmax *of, float value) {
  const double term = heed_softmax_term(of, value);
  return of->sum != 0.0 ? term / of->sum : term;
}

#endif
