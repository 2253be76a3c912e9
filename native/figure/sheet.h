/* A contact sheet as shapes: tiles of pictures under their maps, each with its words. */
#ifndef HEED_NATIVE_FIGURE_SHEET_H
#define HEED_NATIVE_FIGURE_SHEET_H

#include "figure/paint.h"
#include "heed/native.h"

/* What is kept of a tile: pixels and weights are small, and its words whole. */
typedef struct sheet_tile {
  uint8_t *pixels; /* RGBA [pixel_rows, pixel_columns] */
  uint32_t pixel_rows, pixel_columns;
  figure_box picture, region; /* in the tile, in units */
  float *map;                 /* [rows, columns] */
  uint32_t rows, columns, tokens;
  char *name, *note;
} sheet_tile;

struct heed_sheet {
  heed_context *context;
  sheet_tile *tile;
  uint32_t count, capacity;
};

/* Fills an empty list. Statuses: INVALID_ARGUMENT (no tile, a width), OUT_OF_MEMORY; then the list
 * is empty. */
heed_status heed_sheet_compose(const heed_sheet *sheet, const heed_sheet_desc *desc,
                               const figure_ruler *ruler, figure_shapes *shapes, heed_error *error);

#endif
