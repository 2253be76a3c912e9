/* The map of a row as colours over a picture. See heed.h. */
#include <math.h>

#include "explain/colour_rule.h"

void heed_map_overlay(heed_colormap map, const float *weights, uint32_t n, uint32_t tokens,
                      uint8_t *rgba) {
  double largest = 0.0;
  for (uint32_t i = 0; i < n; i++)
    if (isfinite(weights[i]) && (double)weights[i] > largest) largest = (double)weights[i];
  const double end = heed_scale_end(tokens, largest, 0.0);
  for (uint32_t i = 0; i < n; i++)
    heed_overlay_colour(map, heed_linear_place((double)weights[i], end), rgba + 4 * (size_t)i);
}
