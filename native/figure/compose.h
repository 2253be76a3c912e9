/* A figure: its desc -> a list of shapes. */
#ifndef HEED_NATIVE_FIGURE_COMPOSE_H
#define HEED_NATIVE_FIGURE_COMPOSE_H

#include "figure/layout.h"
#include "figure/numbers.h"

typedef struct figure_work {
  const heed_figure_desc *desc;
  const figure_ruler *ruler;
  figure_numbers numbers;
  figure_layout layout;
  figure_shapes *shapes;
  double density; /* pixels per unit that the picture is sampled with */
} figure_work;

/* Fills an empty list. density: pixels per unit, at which the picture is sampled. The desc has been
 * read and checked. Statuses: INVALID_ARGUMENT (too large), OUT_OF_MEMORY; then the list is empty.
 */
heed_status heed_figure_compose(heed_context *context, const heed_figure_desc *desc,
                                const figure_ruler *ruler, double density, figure_shapes *shapes,
                                heed_error *error);

/* The parts, each to its place in the layout. */
void heed_figure_put_picture(figure_work *work);
void heed_figure_put_maps(figure_work *work);
/* A bar of the scale with ticks, numbers and unit. Below the picture too it has the plain colours,
 * as on the pages: thinned over white, it would be pale from end to end, in colours that no picture
 * has. The heading says that the opacity follows. */
void heed_figure_put_bar(figure_work *work, figure_box bar, const heed_scale *scale);
/* Two tones, so that it shows on any picture. */
void heed_figure_put_mark(figure_work *work, figure_box patch, double line);

/* The picture as rows x columns RGBA pixels: each is the mean of the part of the picture that it
 * covers. */
void heed_figure_sample(const heed_image *image, uint32_t rows, uint32_t columns, uint8_t *rgba);

#endif
