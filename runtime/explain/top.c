/* The largest of many values, and their softmax: the most probable classes, the peak of a map. */
#include "explain/softmax.h"
#include "heed/model.h"

/* NaN is below all numbers. */
static bool is_above(float a, float b) { return a > b || (isnan(b) && !isnan(a)); }

/* The largest value that is not among the first `count` of index, the first of equals. */
static uint32_t next_largest(const float *values, uint32_t size, const uint32_t *index,
                             uint32_t count) {
  uint32_t best = UINT32_MAX;
  for (uint32_t v = 0; v < size; v++) {
    bool taken = false;
    for (uint32_t i = 0; i < count; i++) taken = taken || index[i] == v;
    if (!taken && (best == UINT32_MAX || is_above(values[v], values[best]))) best = v;
  }
  return best;
}

uint32_t heed_top(const float *values, uint32_t size, uint32_t most, uint32_t *index,
                  double *probability) {
  const uint32_t count = most < size ? most : size;
  for (uint32_t k = 0; k < count; k++) index[k] = next_largest(values, size, index, k);
  if (!probability || !count) return count;
  const heed_softmax softmax = heed_softmax_over(values, size);
  for (uint32_t k = 0; k < count; k++)
    probability[k] = heed_softmax_share(&softmax, values[index[k]]);
  return count;
}

double heed_probability(const float *values, uint32_t size, uint32_t index) {
  const heed_softmax softmax = heed_softmax_over(values, size);
  return heed_softmax_share(&softmax, values[index]);
}
