/* The scale of a figure by the rule of explain/colour_rule.h: where its bar ends, a weight's place
 * on it, and the numbers below it. web/plot/scale.ts and grid_scale.ts are the pages', by the same
 * rule; tests/vectors/scale/cases.json is for both. */
#ifndef HEED_NATIVE_FIGURE_SCALE_H
#define HEED_NATIVE_FIGURE_SCALE_H

#include "base/number_text.h"
#include "heed/native.h"

typedef struct heed_scale {
  heed_scale_kind kind; /* not AUTO */
  double tokens;        /* N: a weight of 1 / N is 1 x uniform */
  double end;           /* the weight at the bar's end */
  bool beyond;          /* a locked end is below the largest weight: "≥" stands before it */
} heed_scale;

/* largest: the largest weight that is drawn; what is not finite counts as 0. locked: the weight at
 * the end instead, 1 x uniform to 1; 0: not locked. OWN has no end to lock. AUTO is UNIFORM. */
heed_scale heed_scale_of(heed_scale_kind kind, uint32_t tokens, double largest, double locked);
/* The scale of many maps, whose largest weights these are, in groups of `group`, such as the heads
 * of a layer; 0: one group. AUTO is LOG where in any group more than half of the maps that reach 1
 * x uniform stay below a quarter of the end: nothing would be seen of them. */
heed_scale heed_scale_of_maps(heed_scale_kind kind, uint32_t tokens, const double *largest,
                              size_t count, size_t group, double locked);

/* Along the bar from 0 to 1, more beyond its end; NaN stays NaN. own: the largest weight of the
 * map, which only OWN looks at. */
double heed_scale_place(const heed_scale *scale, double weight, double own);
/* The end in the unit of the bar's numbers. */
double heed_scale_top(const heed_scale *scale);
/* What the numbers are: "× uniform", in UTF-8. */
const char *heed_scale_unit(const heed_scale *scale);

#define HEED_SCALE_TICKS 16
typedef struct heed_scale_tick {
  double at; /* 0 to 1 */
  char text[HEED_TEXT_NUMBER_SIZE + 6];
} heed_scale_tick;
/* Round numbers and the end, those whose labels do not meet on a bar of `length` characters; the
 * end always stands. label: the room that a label takes, 0 = its characters and a gap. Returns how
 * many. */
uint32_t heed_scale_ticks(const heed_scale *scale, double length, double label,
                          heed_scale_tick ticks[HEED_SCALE_TICKS]);

#endif
