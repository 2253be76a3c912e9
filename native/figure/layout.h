/* Where the parts of a figure lie, in units of 1/96 inch.
 *
 *   +-----------+            head                  The picture and the maps stand side by side, or,
 *   |  picture  |   layer   0    1    2            on a narrow page, one above the other. With one
 *   |           |     0   [map][map][map]          layer or one head the maps are a list instead,
 *   +-----------+     1   [map][map][map]          each with its name. A figure is as high as it
 *   bar of the mean       bar of the maps          needs, and wider than asked for only where the
 *   title                                          patches would be smaller than half a unit.
 *   caption
 */
#ifndef HEED_NATIVE_FIGURE_LAYOUT_H
#define HEED_NATIVE_FIGURE_LAYOUT_H

#include "figure/shapes.h"

/* Heights of a line of text. */
#define FIGURE_TITLE_LINE 18.0
#define FIGURE_TEXT_LINE 15.0
#define FIGURE_BAR_HEIGHT 7.0
#define FIGURE_BAR_ROOM 24.0 /* with ticks and numbers */

extern const figure_font heed_font_title, heed_font_label, heed_font_quiet, heed_font_small,
    heed_font_chip;

typedef struct figure_layout {
  double width, height;
  double left_width; /* of the picture's column: for heading, bar and title */
  figure_box picture, picture_bar, bar;
  double title_y, title_height, caption_y; /* tops of the first lines */
  bool list;                               /* one layer or one head */
  uint32_t grid_rows, grid_columns;
  double zoom; /* of a patch */
  double map_width, map_height, pitch_x, pitch_y;
  double cell_width;     /* of a map and its words; the map stands in its middle */
  double maps_x, maps_y; /* of the first cell */
  double label_width;    /* of the column of layer numbers; 0 in a list */
  bool numbered_prefix;  /* the prefix mass is a number below each map, not a line */
} figure_layout;

typedef struct figure_texts {
  const char *title, *caption; /* caption: all lines, the scale's words too */
} figure_texts;

void heed_figure_lay_out(const heed_figure_desc *desc, const figure_texts *texts,
                         const figure_ruler *ruler, figure_layout *layout);
/* Width of the caption. */
double heed_figure_caption_width(const figure_layout *layout);

#endif
