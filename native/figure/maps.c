/* The maps of a figure with their names, and the bars of the scales. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure/compose.h"

#define EDGE 0x566172u
#define DARK 0x0e1420u
#define BAR_PIXELS 256u

static void put_text(figure_work *work, double x, double y, figure_anchor anchor,
                     const figure_font *font, const char *text) {
  heed_shapes_text(work->shapes, work->ruler, x, y, anchor, font, text, strlen(text));
}

/* ---------------------------------------------------------------------------------------- names */

#define NAME_SIZE 32

static uint32_t number_of(const uint32_t *numbers, uint32_t i) { return numbers ? numbers[i] : i; }

/* The name of map (layer, head) in a list, or of a column of the grid. */
static const char *map_name(const figure_work *work, uint32_t layer, uint32_t head,
                            char text[NAME_SIZE]) {
  const heed_figure_desc *desc = work->desc;
  if (work->layout.list && desc->heads == 1 && desc->layers > 1)
    snprintf(text, NAME_SIZE, "layer %u", number_of(desc->layer_numbers, layer));
  else if (desc->column_labels && desc->column_labels[head])
    return desc->column_labels[head];
  else
    snprintf(text, NAME_SIZE, work->layout.list ? "head %u" : "%u",
             number_of(desc->head_numbers, head));
  return text;
}

/* Above the maps from x to x + width: smaller, then shortened, where it does not fit. */
static void put_name(figure_work *work, double x, double y, double width, const char *name) {
  char fitted[FIGURE_FITTED_SIZE];
  figure_font font = heed_font_label;
  if (work->ruler->width(work->ruler->user, name, &font) > width) font.size = heed_font_small.size;
  heed_text_fitted(work->ruler, &font, name, width, fitted);
  put_text(work, x + width / 2.0, y, FIGURE_MIDDLE, &font, fitted);
}

static void put_layer_numbers(figure_work *work) {
  const heed_figure_desc *desc = work->desc;
  const figure_layout *layout = &work->layout;
  const double x = layout->maps_x - 8.0,
               middle = layout->maps_x + (desc->heads * layout->pitch_x) / 2.0;
  put_text(work, x, layout->maps_y - 4.0, FIGURE_END, &heed_font_quiet, "layer");
  put_text(work, middle, layout->maps_y - 4.0 - FIGURE_TEXT_LINE, FIGURE_MIDDLE, &heed_font_quiet,
           "head");
  for (uint32_t layer = 0; layer < desc->layers; layer++) {
    char text[NAME_SIZE];
    snprintf(text, sizeof text, "%u", number_of(desc->layer_numbers, layer));
    put_text(work, x, layout->maps_y + layer * layout->pitch_y + layout->map_height / 2.0 + 4.0,
             FIGURE_END, &heed_font_label, text);
  }
}

/* ----------------------------------------------------------------------------------------- maps */

static void color_pixel(const figure_work *work, double t, uint8_t rgba[4]) {
  heed_colormap_rgb(work->desc->colormap, t, rgba);
  rgba[3] = 255;
}

/* A share of a channel as its byte; ties to even, as a page's raster. */
static uint8_t byte_of(float share) {
  return (uint8_t)nearbyint(255.0 * fmin(fmax((double)share, 0.0), 1.0));
}

static void paint_patch(const figure_work *work, size_t m, size_t i, uint8_t rgba[4]) {
  const heed_figure_desc *desc = work->desc;
  const size_t at = m * desc->rows * desc->columns + i;
  if (!desc->rgb) {
    color_pixel(
        work,
        heed_scale_place(&work->numbers.scale, (double)desc->maps[at], work->numbers.largest[m]),
        rgba);
    return;
  }
  const float *rgb = desc->rgb + 3 * at;
  if (isnan(rgb[0]) || isnan(rgb[1]) || isnan(rgb[2])) {
    color_pixel(work, (double)NAN, rgba);
    return;
  }
  for (size_t c = 0; c < 3; c++) rgba[c] = byte_of(rgb[c]);
  rgba[3] = 255;
}

static void put_map(figure_work *work, size_t m, figure_box box) {
  const heed_figure_desc *desc = work->desc;
  const size_t patches = (size_t)desc->rows * desc->columns;
  uint8_t *pixels = heed_shapes_image(work->shapes, box, desc->rows, desc->columns, false);
  for (size_t i = 0; pixels && i < patches; i++) paint_patch(work, m, i, pixels + 4 * i);
  if (!desc->plain) heed_shapes_frame(work->shapes, box, 0.5, EDGE);
  if (desc->query_row < 0 || desc->query_column < 0 || work->layout.zoom < 6.0) return;
  const double zoom = work->layout.zoom;
  heed_figure_put_mark(
      work,
      (figure_box){box.x + zoom * desc->query_column, box.y + zoom * desc->query_row, zoom, zoom},
      zoom < 12.0 ? 1.0 : 2.0);
}

/* "CLS 12 %" below a map, or a line as long as that share of the map is wide. */
static void put_prefix_mass(figure_work *work, double mass, figure_box map) {
  const heed_figure_desc *desc = work->desc;
  char text[NAME_SIZE + HEED_TEXT_NUMBER_SIZE], digits[HEED_TEXT_NUMBER_SIZE];
  const double y = map.y + map.height;
  if (!work->layout.numbered_prefix) {
    const double share = mass >= 0.0 ? fmin(mass, 1.0) : 0.0;
    heed_shapes_fill(work->shapes, (figure_box){map.x, y + 1.5, map.width, 2.0}, 0xd9dee6u, 1.0);
    heed_shapes_fill(work->shapes, (figure_box){map.x, y + 1.5, map.width * share, 2.0}, DARK, 1.0);
    return;
  }
  snprintf(
      text, sizeof text, "%.24s %s %%",
      desc->tokens == desc->rows * desc->columns + 1 ? heed_figure_prefix_name(desc) : "prefix",
      heed_text_number(mass * 100.0, 0, digits));
  const char *shown = text;
  if (work->ruler->width(work->ruler->user, text, &heed_font_small) > work->layout.pitch_x - 2.0)
    for (shown = strrchr(text, ' '); shown > text && shown[-1] != ' '; shown--)
      ; /* the number alone */
  put_text(work, map.x + map.width / 2.0, y + 10.5, FIGURE_MIDDLE, &heed_font_small, shown);
}

void heed_figure_put_maps(figure_work *work) {
  const heed_figure_desc *desc = work->desc;
  const figure_layout *layout = &work->layout;
  char text[NAME_SIZE];
  for (uint32_t m = 0; m < desc->layers * desc->heads; m++) {
    const uint32_t row = m / layout->grid_columns, column = m % layout->grid_columns;
    const double x = layout->maps_x + column * layout->pitch_x;
    const figure_box map = {x + (layout->cell_width - layout->map_width) / 2.0,
                            layout->maps_y + row * layout->pitch_y, layout->map_width,
                            layout->map_height};
    put_map(work, m, map);
    if (desc->plain) continue;
    if (layout->list || row == 0)
      put_name(work, x, map.y - 4.0, layout->cell_width,
               map_name(work, m / desc->heads, m % desc->heads, text));
    if (desc->prefix_mass) put_prefix_mass(work, (double)desc->prefix_mass[m], map);
  }
  if (!layout->list && !desc->plain) put_layer_numbers(work);
}

/* ----------------------------------------------------------------------------------------- bars */

static void put_ticks(figure_work *work, figure_box bar, const heed_scale *scale) {
  heed_scale_tick ticks[HEED_SCALE_TICKS];
  const double y = bar.y + bar.height,
               digit = work->ruler->width(work->ruler->user, "0", &heed_font_small);
  const uint32_t count = heed_scale_ticks(scale, bar.width / digit, 0.0, ticks);
  for (uint32_t i = 0; i < count; i++) {
    const double x = bar.x + ticks[i].at * bar.width;
    heed_shapes_fill(work->shapes, (figure_box){x - 0.25, y, 0.5, 3.0}, EDGE, 1.0);
    put_text(work, x, y + 12.5,
             ticks[i].at <= 0.0   ? FIGURE_START
             : ticks[i].at >= 1.0 ? FIGURE_END
                                  : FIGURE_MIDDLE,
             &heed_font_small, ticks[i].text);
  }
}

/* Where 1 x uniform is: a line across. */
static void put_uniform(figure_work *work, figure_box bar, const heed_scale *scale) {
  const double at = heed_scale_place(scale, 1.0 / scale->tokens, 1.0), x = bar.x + at * bar.width;
  if (scale->kind == HEED_SCALE_OWN || !(at < 1.0)) return;
  heed_shapes_fill(work->shapes, (figure_box){x - 1.25, bar.y - 3.0, 2.5, bar.height + 3.0}, DARK,
                   1.0);
  heed_shapes_fill(work->shapes, (figure_box){x - 0.5, bar.y - 2.25, 1.0, bar.height + 2.25},
                   0xFFFFFFu, 1.0);
}

void heed_figure_put_bar(figure_work *work, figure_box bar, const heed_scale *scale) {
  const char *unit = heed_scale_unit(scale);
  bar.width -= work->ruler->width(work->ruler->user, unit, &heed_font_small) + 8.0;
  uint8_t *pixels = heed_shapes_image(work->shapes, bar, 1, BAR_PIXELS, false);
  for (uint32_t i = 0; pixels && i < BAR_PIXELS; i++)
    color_pixel(work, (i + 0.5) / BAR_PIXELS, pixels + 4 * i);
  heed_shapes_frame(work->shapes, bar, 0.5, EDGE);
  put_uniform(work, bar, scale);
  put_ticks(work, bar, scale);
  put_text(work, bar.x + bar.width + 8.0, bar.y + bar.height, FIGURE_START, &heed_font_small, unit);
}
