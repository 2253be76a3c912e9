/* Attention maps: head mean, entropy, mean distance, mass mask. Matrices are row = query,
 * column = key.
 *
 * Weights come as float; every sum is taken in double, in index order, so that the numbers are the
 * same everywhere. Sources: mean attention distance: Dosovitskiy et al. 2021, appendix D.7; mass
 * mask: Caron et al. 2021, the published visualisation script. */
#include "explain/attention_map.h"

#include <math.h>

#include "base/sort.h"

/* Of the weights of all heads at one place, `step` elements apart. */
static double mean_at(const float *weights, uint32_t heads, size_t step) {
  double sum = (double)weights[0];
  for (uint32_t h = 1; h < heads; h++) sum += (double)weights[h * step];
  return sum / heads;
}

void heed_map_mean_of(const float *weights, uint32_t heads, size_t count, float *mean) {
  if (heads == 0) return;
  for (size_t i = 0; i < count; i++) mean[i] = (float)mean_at(weights + i, heads, count);
}

void heed_map_head_mean(const float *attention, uint32_t heads, uint32_t tokens, float *mean) {
  heed_map_mean_of(attention, heads, (size_t)tokens * tokens, mean);
}

/* ----------------------------------------------------------------------------- numbers of a row */

double heed_map_entropy(const float *row, uint32_t n) {
  double sum = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    const double weight = (double)row[i];
    if (!(weight <= 0.0)) sum -= weight * log(weight); /* a NaN goes on into the sum */
  }
  return sum;
}

double heed_map_distance(const float *attention, uint32_t prefix, uint32_t rows, uint32_t columns,
                         double patch, bool renormalise) {
  const size_t patches = (size_t)rows * columns, tokens = prefix + patches;
  double total = 0.0;
  for (size_t q = 0; q < patches; q++) {
    const float *row = attention + (prefix + q) * tokens + prefix;
    double moment = 0.0, mass = 0.0;
    for (size_t k = 0; k < patches; k++) {
      const double down = (double)(k / columns) - (double)(q / columns),
                   across = (double)(k % columns) - (double)(q % columns);
      moment += (double)row[k] * sqrt(down * down + across * across);
      mass += (double)row[k];
    }
    if (!renormalise)
      total += moment;
    else if (mass != 0.0)
      total += moment / mass;
  }
  return patches ? total / (double)patches * patch : 0.0;
}

/* ------------------------------------------------------------------------------------ mass mask */

/* NaN and negative count as 0. */
static double mass_of(const float *weights, uint32_t index) {
  return weights[index] > 0.0f ? (double)weights[index] : 0.0;
}

/* Larger weights first, then smaller indices: a total order, so any sort gives the same. */
static bool comes_before(const void *user, uint32_t a, uint32_t b) {
  const float *weights = user;
  const double mass_a = mass_of(weights, a), mass_b = mass_of(weights, b);
  return mass_a > mass_b || (mass_a == mass_b && a < b);
}

uint32_t heed_map_mass_mask(const float *weights, uint32_t n, double share, uint8_t *mask,
                            uint32_t *order) {
  double total = 0.0, held = 0.0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) order[i] = i;
  heed_sort(order, n, comes_before, weights);
  /* The total in the same order as the sum below, so that a share of 1 is reached exactly. */
  for (uint32_t i = 0; i < n; i++) total += mass_of(weights, order[i]);
  for (uint32_t i = 0; i < n; i++) mask[i] = 0;
  for (; count < n && held < share * total; count++) {
    mask[order[count]] = 1;
    held += mass_of(weights, order[count]);
  }
  return count;
}
