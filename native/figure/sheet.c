/* Contact sheets: what is kept of a picture, and the page of all of them. See heed/native.h. */
#include "figure/sheet.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "explain/colour_rule.h"
#include "figure/compose.h"

#define SIDE 116.0 /* of a tile's picture, in units */
#define GAP 12.0
#define MARGIN 20.0
#define PAGE 800.0
#define DENSITY 2.0 /* pixels that are kept per unit */
#define WORDS 30.0  /* below a picture: two lines and a gap */
#define EDGE 0x8892a0u
#define PALE 153 /* of 255: of the white over what the model did not see */

heed_status heed_sheet_create(heed_context *context, heed_sheet **sheet, heed_error *error) {
  if (!context || !sheet)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "sheet: NULL argument (expected context, sheet)");
  *sheet = heed_alloc(context, 1, sizeof **sheet);
  if (!*sheet) return heed_fail_memory(error, "sheet", sizeof **sheet);
  (*sheet)->context = context;
  return HEED_OK;
}

static void free_tile(heed_context *context, sheet_tile *tile) {
  heed_free(context, tile->pixels);
  heed_free(context, tile->map);
  heed_free(context, tile->name);
  heed_free(context, tile->note);
}

void heed_sheet_destroy(heed_sheet *sheet) {
  if (!sheet) return;
  heed_context *context = sheet->context;
  for (uint32_t i = 0; i < sheet->count; i++) free_tile(context, &sheet->tile[i]);
  heed_free(context, sheet->tile);
  heed_free(context, sheet);
}

uint32_t heed_sheet_count(const heed_sheet *sheet) { return sheet->count; }

/* ----------------------------------------------------------------------------------------- tiles
 */

static heed_status check_tile(const heed_sheet *sheet, const heed_sheet_tile *tile,
                              heed_error *error) {
  const heed_figure_desc as = {.struct_size = sizeof as,
                               .image = tile->image,
                               .region = tile->region,
                               .maps = tile->map,
                               .layers = 1,
                               .heads = 1,
                               .rows = tile->rows,
                               .columns = tile->columns,
                               .tokens = tile->tokens,
                               .query_row = -1,
                               .query_column = -1};
  if (sheet->count >= HEED_SHEET_MOST)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "sheet: too many pictures on a page (found more than %u, expected at most "
                     "that)",
                     HEED_SHEET_MOST);
  return heed_figure_check_desc(&as, error);
}

static char *copied(heed_context *context, const char *text) {
  const size_t size = text ? strlen(text) + 1 : 1;
  char *copy = heed_alloc(context, size, 1);
  if (copy && text) memcpy(copy, text, size);
  return copy;
}

/* The whole picture within SIDE x SIDE, at the foot of its place, so that words stand below it. */
static void place_picture(const heed_sheet_tile *from, sheet_tile *to) {
  const heed_image *image = &from->image;
  const double scale = SIDE / (image->width > image->height ? image->width : image->height),
               width = fmax(image->width * scale, 1.0), height = fmax(image->height * scale, 1.0);
  to->picture = (figure_box){(SIDE - width) / 2.0, SIDE - height, width, height};
  to->region =
      (figure_box){to->picture.x + from->region.x * scale, to->picture.y + from->region.y * scale,
                   from->region.width * scale, from->region.height * scale};
  to->pixel_columns = (uint32_t)fmax(round(width * DENSITY), 1.0);
  to->pixel_rows = (uint32_t)fmax(round(height * DENSITY), 1.0);
}

static heed_status copy_tile(heed_context *context, const heed_sheet_tile *from, sheet_tile *to,
                             heed_error *error) {
  const size_t patches = (size_t)from->rows * from->columns;
  *to = (sheet_tile){.rows = from->rows, .columns = from->columns, .tokens = from->tokens};
  place_picture(from, to);
  const size_t pixels = (size_t)to->pixel_rows * to->pixel_columns;
  to->pixels = heed_alloc(context, pixels, 4);
  to->map = heed_alloc(context, patches, sizeof *to->map);
  to->name = copied(context, from->name);
  to->note = copied(context, from->note);
  if (!to->pixels || !to->map || !to->name || !to->note) {
    free_tile(context, to);
    return heed_fail_memory(error, "sheet", pixels * 4 + patches * sizeof *to->map);
  }
  heed_figure_sample(&from->image, to->pixel_rows, to->pixel_columns, to->pixels);
  memcpy(to->map, from->map, patches * sizeof *to->map);
  return HEED_OK;
}

heed_status heed_sheet_add(heed_sheet *sheet, const heed_sheet_tile *tile, heed_error *error) {
  heed_sheet_tile full;
  if (!sheet)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "sheet: NULL argument (expected a sheet)");
  HEED_TRY(heed_desc_read(&full, sizeof full, tile, "sheet", error));
  HEED_TRY(check_tile(sheet, &full, error));
  if (sheet->count == sheet->capacity) {
    const uint32_t capacity = sheet->capacity ? 2 * sheet->capacity : 16;
    sheet_tile *grown = heed_alloc(sheet->context, capacity, sizeof *grown);
    if (!grown) return heed_fail_memory(error, "sheet", capacity * sizeof *grown);
    if (sheet->count) memcpy(grown, sheet->tile, sheet->count * sizeof *grown);
    heed_free(sheet->context, sheet->tile);
    sheet->tile = grown;
    sheet->capacity = capacity;
  }
  HEED_TRY(copy_tile(sheet->context, &full, &sheet->tile[sheet->count], error));
  sheet->count++;
  return HEED_OK;
}

/* ------------------------------------------------------------------------------------------ page
 */

/* The largest weight of a tile, in times uniform. */
static double largest_of(const sheet_tile *tile) {
  double most = 0.0;
  for (size_t i = 0; i < (size_t)tile->rows * tile->columns; i++) {
    const double times = (double)tile->map[i] * tile->tokens;
    if (isfinite(times) && times > most) most = times;
  }
  return most;
}

/* One scale for all, in times uniform: as if each map had one token, so that tiles compare whatever
 * their number of tokens. */
static heed_status common_scale(const heed_sheet *sheet, const heed_sheet_desc *desc,
                                heed_scale *scale, heed_error *error) {
  const heed_scale_kind kind = desc->scale == HEED_SCALE_SHARE ? HEED_SCALE_UNIFORM : desc->scale;
  const double tokens = sheet->tile[0].tokens;
  double *largest = heed_alloc(sheet->context, sheet->count, sizeof *largest);
  if (!largest) return heed_fail_memory(error, "sheet", sheet->count * sizeof *largest);
  for (uint32_t t = 0; t < sheet->count; t++) largest[t] = largest_of(&sheet->tile[t]) / tokens;
  *scale = heed_scale_of_maps(kind, sheet->tile[0].tokens, largest, sheet->count, 0, 0.0);
  scale->end *= tokens;
  scale->tokens = 1.0;
  heed_free(sheet->context, largest);
  return HEED_OK;
}

static void put_words(figure_shapes *shapes, const figure_ruler *ruler, double x, double y,
                      const figure_font *font, const char *text) {
  char fitted[FIGURE_FITTED_SIZE];
  heed_text_fitted(ruler, font, text, SIDE, fitted);
  heed_shapes_text(shapes, ruler, x, y, FIGURE_START, font, fitted, strlen(fitted));
}

static figure_box moved(figure_box box, double x, double y) {
  return (figure_box){box.x + x, box.y + y, box.width, box.height};
}

/* The patch of a tile that covers a pixel of its picture; -1: the model did not see it. */
static int64_t patch_at(const sheet_tile *tile, uint32_t row, uint32_t column) {
  const double x = tile->picture.x + (column + 0.5) / DENSITY - tile->region.x,
               y = tile->picture.y + (row + 0.5) / DENSITY - tile->region.y;
  const double across = floor(x / tile->region.width * tile->columns),
               down = floor(y / tile->region.height * tile->rows);
  if (!(across >= 0.0 && across < tile->columns && down >= 0.0 && down < tile->rows)) return -1;
  return (int64_t)down * tile->columns + (int64_t)across;
}

/* The picture under its map, pale where the model did not see it, as in a figure. */
static void put_map(const sheet_tile *tile, heed_colormap colormap, const heed_scale *scale,
                    uint8_t *pixels) {
  const double own = largest_of(tile);
  for (uint32_t row = 0; row < tile->pixel_rows; row++)
    for (uint32_t column = 0; column < tile->pixel_columns; column++) {
      const size_t at = 4 * ((size_t)row * tile->pixel_columns + column);
      const int64_t patch = patch_at(tile, row, column);
      uint8_t over[4] = {255, 255, 255, PALE};
      if (patch >= 0)
        heed_overlay_colour(
            colormap, heed_scale_place(scale, (double)tile->map[patch] * tile->tokens, own), over);
      for (size_t c = 0; c < 3; c++)
        pixels[at + c] =
            (uint8_t)((tile->pixels[at + c] * (255 - over[3]) + over[c] * over[3] + 127) / 255);
      pixels[at + 3] = 255;
    }
}

static void put_tile(figure_shapes *shapes, const figure_ruler *ruler, const sheet_tile *tile,
                     heed_colormap colormap, const heed_scale *scale, double x, double y) {
  const figure_box picture = moved(tile->picture, x, y);
  uint8_t *pixels = heed_shapes_image(shapes, picture, tile->pixel_rows, tile->pixel_columns, true);
  if (pixels) put_map(tile, colormap, scale, pixels);
  heed_shapes_frame(shapes, picture, 0.5, EDGE);
  put_words(shapes, ruler, x, y + SIDE + 11.0, &heed_font_small, tile->name);
  put_words(shapes, ruler, x, y + SIDE + 22.0, &heed_font_small, tile->note);
}

static heed_status check_page(const heed_sheet *sheet, const heed_sheet_desc *desc,
                              heed_error *error) {
  if (!sheet->count)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "sheet: no pictures (found 0, expected at least 1)");
  if (desc->width_mm == 0.0 || (desc->width_mm >= 60.0 && desc->width_mm <= 1000.0)) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "sheet: width out of range (found %g mm, expected 60 to 1000)", desc->width_mm);
}

/* The bar of the scale and the caption, at the foot. */
static void put_foot(figure_shapes *shapes, const figure_ruler *ruler, const heed_sheet_desc *desc,
                     const heed_scale *scale, double y) {
  const double inner = shapes->width - 2.0 * MARGIN;
  const char *caption = desc->caption ? desc->caption : "";
  const heed_figure_desc as = {.colormap = desc->colormap};
  figure_work work = {.desc = &as, .ruler = ruler, .shapes = shapes};
  heed_figure_put_bar(&work, (figure_box){MARGIN, y, fmin(320.0, inner), FIGURE_BAR_HEIGHT}, scale);
  heed_shapes_text(shapes, ruler, MARGIN, y + FIGURE_BAR_ROOM + 12.0, FIGURE_START,
                   &heed_font_quiet, caption,
                   heed_text_line(ruler, &heed_font_quiet, caption, inner));
}

heed_status heed_sheet_compose(const heed_sheet *sheet, const heed_sheet_desc *desc,
                               const figure_ruler *ruler, figure_shapes *shapes,
                               heed_error *error) {
  const double page = desc->width_mm > 0.0 ? desc->width_mm / 25.4 * 96.0 : PAGE;
  *shapes = (figure_shapes){.context = sheet->context};
  HEED_TRY(check_page(sheet, desc, error));
  figure_numbers numbers = {.mean = NULL};
  HEED_TRY(common_scale(sheet, desc, &numbers.scale, error));
  const uint32_t columns = (uint32_t)fmax(floor((page - 2.0 * MARGIN + GAP) / (SIDE + GAP)), 1.0);
  const uint32_t rows = (sheet->count + columns - 1) / columns;
  const double foot = MARGIN + rows * (SIDE + WORDS + GAP);
  shapes->width = page;
  shapes->height = foot + FIGURE_BAR_ROOM + 12.0 + MARGIN;
  shapes->scale = heed_figure_scale_words(&(heed_figure_desc){.scale = desc->scale}, &numbers);
  heed_shapes_fill(shapes, (figure_box){0.0, 0.0, shapes->width, shapes->height}, 0xFFFFFFu, 1.0);
  for (uint32_t t = 0; t < sheet->count; t++)
    put_tile(shapes, ruler, &sheet->tile[t], desc->colormap, &numbers.scale,
             MARGIN + t % columns * (SIDE + GAP), MARGIN + t / columns * (SIDE + WORDS + GAP));
  put_foot(shapes, ruler, desc, &numbers.scale, foot);
  if (!shapes->failed) return HEED_OK;
  const size_t bytes = shapes->capacity * sizeof(figure_shape);
  heed_shapes_free(shapes);
  return heed_fail_memory(error, "sheet", bytes);
}
