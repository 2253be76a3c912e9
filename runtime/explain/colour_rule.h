/* How weights become colours and words, for every picture that heed makes: the end of a scale, a
 * weight's place on it, how much of the picture its colour hides, and when words stand instead.
 * web/plot/parts/colour_rule.ts has the same functions for the pages; tests/vectors/scale holds
 * both to the same numbers. Weights and ends are shares of a row, 0 to 1; tokens is N, the length
 * of the row: a weight of 1 / N is 1 x uniform. */
#ifndef HEED_EXPLAIN_COLOUR_RULE_H
#define HEED_EXPLAIN_COLOUR_RULE_H

#include "heed/explain.h"

/* The weight at a scale's end. largest: the largest weight that is drawn; what is not finite counts
 * as 0. No end is below four times uniform, so that what has next to nothing has the colour of
 * nothing, or below once uniform where somebody locked it. locked: that end; 0: none. */
double heed_scale_end(double tokens, double largest, double locked);

/* The place of a weight on a scale from 0, in its end; more than 1 beyond it. NaN stays NaN; 0
 * where the end is not above 0. */
double heed_linear_place(double weight, double end);
/* The same on a logarithmic scale, which begins at heed_log_tick(0). */
double heed_log_place(double weight, double tokens, double end);
/* The power of ten that stands on a logarithmic scale after another, in times uniform; after 0 the
 * first. */
double heed_log_tick(double before);
/* The first of 1, 2, 2.5, 5 and 10 times a power of ten that is at least `least`, but for rounding:
 * the step between the numbers of a scale. `least` itself where it is not above 1e-300 or not
 * finite. */
double heed_scale_step(double least);

/* One map's vote on the scale that many share: 0 where it does not reach 1 x uniform, -1 where it
 * stays below a quarter of the end, 1 else. Below 0 in sum, one map would have a linear scale to
 * itself. largest: the map's largest weight. */
double heed_scale_vote(double largest, double tokens, double end);

/* The opacity of the colour at a place, 0 to 1: of NaN, which is drawn grey, 1. */
double heed_place_opacity(double place);
/* The colour over a picture at a place, RGBA: as opaque as the weight is large, so that a
 * photograph stays one; grey where the place is not a number. web/plot/overlay.ts has the same. */
void heed_overlay_colour(heed_colormap map, double place, uint8_t rgba[4]);

/* Not 0 where words stand on the picture: tokens without a place on it, and the query itself, hold
 * more than nine tenths of the row. total: the sum of the row; held: the sum of theirs. */
int heed_row_is_elsewhere(double total, double held);
/* Not 0 where one of them is named: it holds a tenth. */
int heed_holder_is_named(double total, double weight);

#endif
