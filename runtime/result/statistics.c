/* The numbers of one head over a whole picture. attention [N, N], row = query; sums in double. */
#include "heed/heed.h"

void heed_map_get_statistics(const float *attention, uint32_t prefix, uint32_t rows, uint32_t columns, double patch, heed_map_statistics *statistics) {
  const uint32_t patches = rows * columns, tokens = prefix + patches;
  *statistics = (heed_map_statistics){.distance = heed_map_distance(attention, prefix, rows, columns, patch, false),
                                      .distance_renormalised = heed_map_distance(attention, prefix, rows, columns, patch, true)};
  if (prefix) statistics->entropy_cls = heed_map_entropy(attention, tokens);
  for (uint32_t q = prefix; q < tokens; q++) {
    const float *row = attention + (size_t)q * tokens;
    statistics->entropy_patches += heed_map_entropy(row, tokens);
    statistics->self_mass += (double)row[q];
    for (uint32_t k = 0; k < prefix; k++) statistics->prefix_mass += (double)row[k];
  }
  statistics->entropy_patches /= patches;
  statistics->self_mass /= patches;
  statistics->prefix_mass /= patches;
}
