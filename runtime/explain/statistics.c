/* The numbers of one head over a whole picture. attention [N, N], row = query; sums in double. */
#include <math.h>

#include "heed/explain.h"

#define TOP 5

/* The TOP largest weights of a row together, added from the largest down; a NaN stays the first, so
 * that the sum is one. */
static double top_mass(const float *row, uint32_t n) {
  double top[TOP] = {0}, sum = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    const double weight = (double)row[i];
    uint32_t place = TOP;
    for (; place > 0 && (top[place - 1] < weight || isnan(weight)); place--)
      if (place < TOP) top[place] = top[place - 1];
    if (place < TOP) top[place] = weight;
  }
  for (uint32_t i = 0; i < TOP; i++) sum += top[i];
  return sum;
}

void heed_map_get_statistics(const float *attention, uint32_t prefix, uint32_t rows,
                             uint32_t columns, double patch, heed_map_statistics *statistics) {
  const uint32_t patches = rows * columns, tokens = prefix + patches;
  *statistics = (heed_map_statistics){
      .distance = heed_map_distance(attention, prefix, rows, columns, patch, false),
      .distance_renormalised = heed_map_distance(attention, prefix, rows, columns, patch, true)};
  if (prefix) statistics->entropy_cls = heed_map_entropy(attention, tokens);
  for (uint32_t q = prefix; q < tokens; q++) {
    const float *row = attention + (size_t)q * tokens;
    statistics->entropy_patches += heed_map_entropy(row, tokens);
    statistics->self_mass += (double)row[q];
    statistics->top5_mass += top_mass(row, tokens);
    for (uint32_t k = 0; k < prefix; k++) statistics->prefix_mass += (double)row[k];
  }
  statistics->entropy_patches /= patches;
  statistics->self_mass /= patches;
  statistics->prefix_mass /= patches;
  statistics->top5_mass /= patches;
}
