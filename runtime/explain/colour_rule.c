/* See colour_rule.h. */
#include "explain/colour_rule.h"

#include <math.h>

#define FLOOR 4.0      /* the least end, in times uniform */
#define LOG_LOW (-2.0) /* where a logarithmic scale begins, as a power of ten of times uniform */
#define NOTHING 1e-12  /* weights below it have the logarithm of this, in times uniform */
#define OUTLIER 4.0    /* below this part of the end a map has few colours */
#define TENTH 0.1
#define STRENGTH 0.8 /* opacity at the scale's end */
#define TINY 1e-300  /* no power of ten is sure to be below it */

/* What is not a number as the first stays so in the larger, and is the second in the smaller. */
static double larger(double a, double b) { return a < b ? b : a; }
static double smaller(double a, double b) { return a < b ? a : b; }

double heed_scale_end(double tokens, double largest, double locked) {
  if (locked > 0.0) return smaller(larger(locked, 1.0 / tokens), 1.0);
  const double least = smaller(FLOOR, tokens) / tokens; /* no weight is above 1 */
  return largest > least && largest < (double)INFINITY ? largest : least;
}

double heed_linear_place(double weight, double end) {
  return end > 0.0 ? weight / end : weight * 0.0;
}

double heed_log_place(double weight, double tokens, double end) {
  return larger(
      (log10(larger(weight * tokens, NOTHING)) - LOG_LOW) / (log10(end * tokens) - LOG_LOW), 0.0);
}

double heed_log_tick(double before) {
  return before > 0.0 ? before * 10.0 : 0.01; /* 0.1 and 1 to the bit */
}

double heed_scale_step(double least) {
  double power = 1.0;
  if (!(least > TINY && least < (double)INFINITY)) return least;
  while (power > least) power /= 10.0;
  while (power * 10.0 <= least) power *= 10.0;
  least *= 0.999 / power;
  return power * (least <= 1.0   ? 1.0
                  : least <= 2.0 ? 2.0
                  : least <= 2.5 ? 2.5
                  : least <= 5.0 ? 5.0
                                 : 10.0);
}

double heed_scale_vote(double largest, double tokens, double end) {
  if (!(largest * tokens >= 1.0)) return 0.0;
  return largest < end / OUTLIER ? -1.0 : 1.0;
}

double heed_place_opacity(double place) { return smaller(larger(place, 0.0), 1.0); }

void heed_overlay_colour(heed_colormap map, double place, uint8_t rgba[4]) {
  heed_colormap_rgb(map, place, rgba);
  /* Ties to even, as a page's raster. */
  rgba[3] = (uint8_t)nearbyint(STRENGTH * heed_place_opacity(place) * 255.0);
}

int heed_row_is_elsewhere(double total, double held) { return total - held < TENTH * total; }
int heed_holder_is_named(double total, double weight) { return weight >= TENTH * total; }
