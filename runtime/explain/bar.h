/* The colour bar of a figure: a scale's colours from end to end along the longer side, with marks
 * and numbers below or to the right. */
#ifndef HEED_EXPLAIN_BAR_H
#define HEED_EXPLAIN_BAR_H

#include "explain/scale.h"

#define HEED_BAR_TEXT 2 /* scale of its text */
#define HEED_BAR_INK 0x202020u

void heed_bar_draw(heed_canvas *canvas, heed_box bar, heed_colormap colormap,
                   const heed_scale *scale);

#endif
