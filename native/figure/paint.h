/* The writers of a figure: a list of shapes -> pixels, PDF or SVG. */
#ifndef HEED_NATIVE_FIGURE_PAINT_H
#define HEED_NATIVE_FIGURE_PAINT_H

#include <stdio.h>

#include "figure/shapes.h"

/* The families that are asked for, the first that is there; a text of SVG names them all. */
#define FIGURE_FONT "DejaVu Sans"
#define FIGURE_FONTS "DejaVu Sans, Liberation Sans, Arial, sans-serif"

/* What the file says of itself. */
typedef struct figure_metadata {
  const char *title, *description, *software;
} figure_metadata;

/* Widths of text, as cairo draws it. `user` of the ruler is the object; free with close. It comes
 * before what else is here: it opens cairo. Statuses: UNSUPPORTED (there is none), OUT_OF_MEMORY.
 */
typedef struct figure_rulers figure_rulers;
heed_status heed_ruler_open(heed_context *context, figure_rulers **rulers, figure_ruler *ruler,
                            heed_error *error);
void heed_ruler_close(heed_context *context, figure_rulers *rulers);

/* Sides of the page in pixels at `density` pixels per unit. */
uint32_t heed_paint_pixels_of(double length, double density);
/* RGB pixels, dense; heed_free them. Statuses: OUT_OF_MEMORY. */
heed_status heed_paint_pixels(heed_context *context, const figure_shapes *shapes, double density,
                              uint8_t **rgb, heed_error *error);
/* One page at `points` points per unit. What cannot be written shows when the file is committed.
 * Statuses: OUT_OF_MEMORY. */
heed_status heed_paint_pdf(const figure_shapes *shapes, const figure_metadata *metadata,
                           double points, FILE *file, heed_error *error);
/* width_mm: of the page, 0: in units. Statuses: OUT_OF_MEMORY. */
heed_status heed_paint_svg(const figure_shapes *shapes, const figure_metadata *metadata,
                           double width_mm, FILE *file, heed_error *error);

#endif
