/* The picture of a figure with the mean of the maps laid over it; the mark and name of the query;
 * the note. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "explain/colour_rule.h"
#include "figure/compose.h"

#define DARK 0x0e1420u
#define PALE 0.6 /* of the white over what the model did not see */
#define CHIP_HEIGHT 15.0
#define CHIP_PAD 5.0
#define INSET 6.0
#define EDGE 0x8892a0u

void heed_figure_put_mark(figure_work *work, figure_box patch, double line) {
  const double out = line / 2.0;
  const figure_box box = {patch.x - out, patch.y - out, patch.width + 2.0 * out,
                          patch.height + 2.0 * out};
  heed_shapes_frame(work->shapes, box, line + 1.5, DARK);
  heed_shapes_frame(work->shapes, box, line, 0xFFFFFFu);
}

/* The region of the picture that the model saw, on the page. */
static figure_box region_box(const figure_work *work) {
  const heed_figure_desc *desc = work->desc;
  const figure_box in = work->layout.picture;
  const double across = in.width / desc->image.width, down = in.height / desc->image.height;
  return (figure_box){in.x + desc->region.x * across, in.y + desc->region.y * down,
                      desc->region.width * across, desc->region.height * down};
}

static void put_photo(figure_work *work) {
  const figure_box box = work->layout.picture;
  const heed_image *image = &work->desc->image;
  const double columns = round(box.width * work->density), rows = round(box.height * work->density);
  const uint32_t across = (uint32_t)fmax(columns, 1.0), down = (uint32_t)fmax(rows, 1.0);
  uint8_t *pixels = heed_shapes_image(work->shapes, box, down, across, true);
  if (pixels) heed_figure_sample(image, down, across, pixels);
}

static void put_overlay(figure_work *work, figure_box region) {
  const heed_figure_desc *desc = work->desc;
  const figure_numbers *numbers = &work->numbers;
  uint8_t *pixels = heed_shapes_image(work->shapes, region, desc->rows, desc->columns, false);
  for (size_t i = 0; pixels && i < (size_t)desc->rows * desc->columns; i++)
    heed_overlay_colour(
        desc->colormap,
        heed_scale_place(&numbers->mean_scale, numbers->mean[i], numbers->mean_largest),
        pixels + 4 * i);
  heed_shapes_clip_last(work->shapes);
}

/* White over what lies beside the region. */
static void put_pale(figure_work *work, figure_box region) {
  const figure_box in = work->layout.picture;
  const double left = fmin(fmax(region.x - in.x, 0.0), in.width),
               right = fmin(fmax(region.x + region.width - in.x, 0.0), in.width),
               top = fmin(fmax(region.y - in.y, 0.0), in.height),
               bottom = fmin(fmax(region.y + region.height - in.y, 0.0), in.height);
  const figure_box sides[4] = {
      {in.x, in.y, in.width, top},
      {in.x, in.y + bottom, in.width, in.height - bottom},
      {in.x, in.y + top, left, bottom - top},
      {in.x + right, in.y + top, in.width - right, bottom - top},
  };
  for (int i = 0; i < 4; i++) heed_shapes_fill(work->shapes, sides[i], 0xFFFFFFu, PALE);
}

/* White words on a dark chip with its upper left corner at (x, y), within the picture's width. */
static double chip_width(const figure_work *work, const char *text,
                         char fitted[FIGURE_FITTED_SIZE]) {
  const double room = fmax(work->layout.picture.width - 2.0 * INSET - 2.0 * CHIP_PAD, 1.0);
  heed_text_fitted(work->ruler, &heed_font_chip, text, room, fitted);
  return work->ruler->width(work->ruler->user, fitted, &heed_font_chip) + 2.0 * CHIP_PAD;
}

static void put_chip(figure_work *work, double x, double y, double width, const char *fitted) {
  if (!*fitted || work->layout.picture.height < CHIP_HEIGHT) return; /* a strip has no room */
  heed_shapes_fill(work->shapes, (figure_box){x, y, width, CHIP_HEIGHT}, DARK, 0.85);
  heed_shapes_text(work->shapes, work->ruler, x + CHIP_PAD, y + CHIP_HEIGHT - 4.2, FIGURE_START,
                   &heed_font_chip, fitted, strlen(fitted));
}

static void query_name(const heed_figure_desc *desc, char text[64]) {
  text[0] = '\0';
  if (desc->query_row >= 0 && desc->query_column >= 0)
    snprintf(text, 64, "query (%d, %d)", (int)desc->query_row, (int)desc->query_column);
  else if (desc->tokens > desc->rows * desc->columns)
    strcpy(text, "query: CLS");
}

/* The mark and, beside it, the name; of a token that has no place, the name in a corner. */
static void put_query(figure_work *work, figure_box region) {
  const heed_figure_desc *desc = work->desc;
  const figure_box in = work->layout.picture;
  char name[64], fitted[FIGURE_FITTED_SIZE];
  query_name(desc, name);
  const double width = chip_width(work, desc->query_name ? desc->query_name : name, fitted);
  double x = in.x + INSET, y = in.y + in.height - INSET - CHIP_HEIGHT;
  if (desc->query_row >= 0 && desc->query_column >= 0) {
    const double w = region.width / desc->columns, h = region.height / desc->rows;
    const figure_box patch = {region.x + w * desc->query_column, region.y + h * desc->query_row, w,
                              h};
    heed_figure_put_mark(work, patch, 2.0);
    const double beside = patch.x + w + INSET;
    x = beside + width <= in.x + in.width - 2.0 ? beside : patch.x - INSET - width;
    y = patch.y + (h - CHIP_HEIGHT) / 2.0;
  }
  x = fmin(fmax(x, in.x + 2.0), fmax(in.x + in.width - width - 2.0, in.x));
  y = fmin(fmax(y, in.y + 2.0), fmax(in.y + in.height - CHIP_HEIGHT - 2.0, in.y));
  if (!desc->plain) put_chip(work, x, y, width, fitted);
}

/* In the upper left corner, or in the lower one where the query is in the upper half. */
static void put_note(figure_work *work) {
  const heed_figure_desc *desc = work->desc;
  const figure_box in = work->layout.picture;
  char fitted[FIGURE_FITTED_SIZE];
  if (!desc->note || !*desc->note) return;
  const double width = chip_width(work, desc->note, fitted);
  const bool low = desc->query_row >= 0 && 2 * (uint32_t)desc->query_row < desc->rows;
  put_chip(work, in.x + INSET, low ? in.y + in.height - INSET - CHIP_HEIGHT : in.y + INSET, width,
           fitted);
}

void heed_figure_put_picture(figure_work *work) {
  const figure_box in = work->layout.picture, region = region_box(work);
  work->shapes->clip = in;
  put_photo(work);
  if (!work->desc->rgb) put_overlay(work, region);
  put_pale(work, region);
  if (!work->desc->plain) heed_shapes_frame(work->shapes, in, 0.5, EDGE);
  put_query(work, region);
  if (!work->desc->plain) put_note(work);
}
