/* A figure of attention maps, RGB: the picture with the mean map laid over the part that the model
 * saw, and the grid layers x heads.
 *
 *   +---------+   layer  head 0  head 1 ...   x uniform
 *   | note    |     0     [map]   [map]        | | max       maps [layers, heads, rows * columns]
 *   | picture |     1     [map]   [map]        | |           one scale for all maps of the grid and
 *   one for the mean (scale.h), | + mean  |    ...                         | | 0         each with
 *   its bar; never per map, unless asked for +---------+
 *   [ bar of the mean ]
 *   caption, and a line that says what the colours are
 *
 * With one layer or one head the maps are set as a list instead, each with its label. Patches are
 * drawn as squares of whole pixels (nearest). Whole-number arithmetic wherever a pixel is placed,
 * so that a figure has the same bits everywhere. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "explain/bar.h"
#include "explain/text.h"
#include "model/preprocess.h"

#define MARGIN 16
#define GAP 8
#define PICTURE_HEIGHT 448
#define PICTURE_WIDTH 720
#define BAR_THICKNESS 14
#define BAR_COLUMN 120     /* of the vertical bar with its numbers and title, at least */
#define TEXT HEED_BAR_TEXT /* scale of the text but for small labels */
#define LINE (HEED_TEXT_LINE * TEXT)
#define INK HEED_BAR_INK
#define PAPER 0xFFFFFFu
#define OVERLAY                                                                                \
  0.55 /* opacity of the map on the picture, which is made grey so that the map's colours stay \
          themselves */
#define MAX_SIDE 4096u
#define MAX_PIXELS ((int64_t)1 << 28)

typedef struct figure_layout {
  heed_box picture, picture_bar, bar;
  bool list;                       /* one layer or one head */
  int32_t grid_columns, grid_rows; /* in maps */
  int32_t zoom;                    /* pixels a patch */
  int32_t grid_x, grid_y, map_width, map_height, pitch_x, pitch_y;
  int32_t label_scale;
  int32_t caption_y, caption_characters;
  int64_t width, height;
} figure_layout;

typedef struct figure_work {
  const heed_figure_desc *desc;
  figure_layout layout;
  heed_canvas canvas;
  double *mean;    /* [rows * columns] over all maps */
  double *largest; /* [layers * heads] weight of each map */
  double mean_largest;
  heed_scale scale, mean_scale; /* of the grid, and of the overlay */
} figure_work;

/* --------------------------------------------------------------------------------------- labels */

#define LABEL_SIZE 32

/* The label of map (layer, head) in a list, or of a column of the grid. */
static const char *map_label(const heed_figure_desc *desc, uint32_t layer, uint32_t head,
                             char text[LABEL_SIZE]) {
  char digits[HEED_TEXT_NUMBER_SIZE];
  const bool by_layer = desc->heads == 1 && desc->layers > 1;
  if (!by_layer && desc->column_labels && desc->column_labels[head])
    return desc->column_labels[head];
  const uint32_t number = by_layer && desc->layer_numbers ? desc->layer_numbers[layer]
                          : by_layer                      ? layer
                                                          : head;
  strcpy(text, by_layer ? "layer " : "head ");
  return strcat(text, heed_text_number(number, 0, digits));
}

/* --------------------------------------------------------------------------------------- layout */

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* The whole picture within PICTURE_WIDTH x PICTURE_HEIGHT, enlarged when it is small; each side at
 * least one pixel. */
static void place_picture(const heed_figure_desc *desc, figure_layout *layout) {
  const uint64_t w = desc->image.width, h = desc->image.height;
  uint64_t width = (w * PICTURE_HEIGHT + h / 2) / h, height = PICTURE_HEIGHT;
  if (width > PICTURE_WIDTH) {
    width = PICTURE_WIDTH;
    height = (h * PICTURE_WIDTH + w / 2) / w;
  }
  layout->picture =
      (heed_box){MARGIN, MARGIN, larger((int32_t)width, 1), larger((int32_t)height, 1)};
  layout->picture_bar = (heed_box){MARGIN, MARGIN + layout->picture.height + GAP + 2,
                                   larger(layout->picture.width, 240), BAR_THICKNESS};
}

/* How many maps across and down, and how large each is. */
static void place_maps(const heed_figure_desc *desc, figure_layout *layout) {
  const int32_t count = (int32_t)(desc->layers * desc->heads),
                side = (int32_t)(desc->rows > desc->columns ? desc->rows : desc->columns);
  layout->list = desc->layers == 1 || desc->heads == 1;
  layout->grid_columns = (int32_t)desc->heads;
  if (layout->list)
    for (layout->grid_columns = 1; layout->grid_columns * layout->grid_columns * 3 < count * 4;)
      layout->grid_columns++;
  layout->grid_columns = smaller(layout->grid_columns, count);
  layout->grid_rows = (count + layout->grid_columns - 1) / layout->grid_columns;
  const int32_t text = (layout->list ? LINE : 0) + (desc->prefix_mass ? HEED_TEXT_LINE : 0) + GAP;
  int32_t target =
      PICTURE_HEIGHT / layout->grid_rows - (layout->grid_rows > 1 || layout->list ? text : 0);
  target = larger(smaller(target, 1100 / layout->grid_columns), 56);
  layout->zoom = larger((target + side / 2) / side, 1);
  layout->map_width = layout->zoom * (int32_t)desc->columns;
  layout->map_height = layout->zoom * (int32_t)desc->rows;
  layout->pitch_x = larger(layout->map_width, 60) + GAP;
  layout->pitch_y = layout->map_height + text;
}

/* Labels at the large scale if all of them fit over their maps. */
static void choose_label_scale(const heed_figure_desc *desc, figure_layout *layout) {
  char text[LABEL_SIZE];
  layout->label_scale = TEXT;
  for (uint32_t layer = 0; layer < (layout->list ? desc->layers : 1); layer++)
    for (uint32_t head = 0; head < desc->heads; head++)
      if (heed_text_width(map_label(desc, layer, head, text), SIZE_MAX, TEXT) >
          layout->pitch_x - GAP)
        layout->label_scale = 1;
}

static void place_all(const heed_figure_desc *desc, figure_layout *layout) {
  place_picture(desc, layout);
  place_maps(desc, layout);
  choose_label_scale(desc, layout);
  const int32_t left = larger(layout->picture.width, layout->picture_bar.width);
  layout->grid_x =
      MARGIN + left + 2 * MARGIN + (layout->list ? 0 : heed_text_width("layer", 5, TEXT) + GAP);
  layout->grid_y = MARGIN + LINE;
  const int64_t grid_width = (int64_t)layout->grid_columns * layout->pitch_x,
                grid_height = (int64_t)layout->grid_rows * layout->pitch_y;
  /* from the top of the first to the end of the last */
  const int64_t maps_height = grid_height - layout->pitch_y + layout->map_height;
  const int32_t bar_height =
      maps_height > PICTURE_HEIGHT ? PICTURE_HEIGHT : larger((int32_t)maps_height, 120);
  layout->width = layout->grid_x + grid_width + MARGIN + BAR_COLUMN + MARGIN;
  /* Half a line lower than the maps: the number at its top stands beside it, below the title. */
  layout->bar = (heed_box){(int32_t)(layout->grid_x + grid_width + MARGIN),
                           layout->grid_y + LINE / 2, BAR_THICKNESS, bar_height - LINE / 2};
  const int64_t left_end = layout->picture_bar.y + BAR_THICKNESS + 2 * LINE + GAP;
  int64_t end = layout->grid_y + (grid_height > bar_height ? grid_height : bar_height);
  if (left_end > end) end = left_end;
  layout->caption_y = (int32_t)end + GAP;
  layout->height = layout->caption_y + MARGIN;
}

/* -------------------------------------------------------------------------------------- numbers */

/* The largest of `count` weights; what is not finite is left out. */
static double largest_of(const double *weights, size_t count) {
  double largest = 0.0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(weights[i]) && weights[i] > largest) largest = weights[i];
  return largest;
}

static void measure(figure_work *work) {
  const heed_figure_desc *desc = work->desc;
  const size_t patches = (size_t)desc->rows * desc->columns,
               maps = (size_t)desc->layers * desc->heads;
  for (size_t m = 0; m < maps; m++) {
    work->largest[m] = 0.0;
    for (size_t i = 0; i < patches; i++) {
      const double weight = (double)desc->maps[m * patches + i];
      if (isfinite(weight) && weight > work->largest[m]) work->largest[m] = weight;
      work->mean[i] += weight / (double)maps;
    }
  }
  work->mean_largest = largest_of(work->mean, patches);
  work->scale = heed_scale_of_maps(desc->scale, desc->tokens, work->largest, maps);
  work->mean_scale = heed_scale_of(desc->scale, desc->tokens, work->mean_largest);
}

/* What the colours are, as the last lines of the caption. */
static const char *scale_words(const figure_work *work) {
  static const char *const words[] = {
      "", "colour: weight x tokens, 1 = uniform", "colour: weight in % of the query's row",
      "colour: weight x tokens, 1 = uniform, on a logarithmic scale",
      "colour: each map to its own largest weight, so that maps do not compare"};
  const heed_scale_kind kind = work->scale.kind;
  return kind == HEED_SCALE_LOG && work->desc->scale == HEED_SCALE_AUTO
             ? "colour: weight x tokens, 1 = uniform, on a logarithmic scale, since one map would "
               "have nearly all of a linear one"
             : words[kind];
}

static int32_t count_lines(const char *text, const figure_layout *layout) {
  int32_t count = 0;
  for (const char *c = text ? text : ""; *c;
       c = heed_text_next_line(c, heed_text_line(c, layout->caption_characters)))
    count++;
  return count;
}

/* The title of the bar and the caption, once the scale is known. */
static void place_words(figure_work *work) {
  figure_layout *layout = &work->layout;
  layout->width +=
      larger(heed_text_width(heed_scale_unit(&work->scale), SIZE_MAX, TEXT) - BAR_COLUMN, 0);
  layout->caption_characters = (int32_t)((layout->width - 2 * MARGIN) / (HEED_TEXT_ADVANCE * TEXT));
  layout->height +=
      (int64_t)(count_lines(work->desc->caption, layout) + count_lines(scale_words(work), layout)) *
      LINE;
}

/* -------------------------------------------------------------------------------------- picture */

static void draw_overlay_pixel(const figure_work *work, double x, double y, uint8_t *pixel) {
  const heed_figure_desc *desc = work->desc;
  const double across = (x - desc->region.x) / desc->region.width * desc->columns,
               down = (y - desc->region.y) / desc->region.height * desc->rows;
  const double grey = 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]; /* ITU-R BT.601 */
  uint8_t color[3] = {255, 255, 255};
  double opacity = 0.5; /* what the model did not see is paled */
  if (across >= 0.0 && across < desc->columns && down >= 0.0 && down < desc->rows) {
    const double mean = work->mean[(size_t)down * desc->columns + (size_t)across];
    heed_colormap_rgb(desc->colormap, heed_scale_place(&work->mean_scale, mean, work->mean_largest),
                      color);
    opacity = OVERLAY;
  }
  for (int c = 0; c < 3; c++)
    pixel[c] = (uint8_t)(color[c] * opacity + grey * (1.0 - opacity) + 0.5);
}

/* The picture in its box, then the map over it: a pixel belongs to the patch that its centre is
 * in. */
static heed_status draw_picture(heed_context *context, figure_work *work, heed_error *error) {
  const heed_image *image = &work->desc->image;
  const heed_box box = work->layout.picture;
  const heed_resize_window window = {(uint32_t)box.width, (uint32_t)box.height, 0, 0,
                                     (uint32_t)box.width, (uint32_t)box.height};
  uint8_t *scaled = heed_alloc_raw(context, (size_t)window.width * window.height, 3);
  if (!scaled) return heed_fail_memory(error, "figure", (size_t)window.width * window.height * 3);
  const heed_status status = heed_resize_rgb(context, image, 2, &window, scaled, error);
  for (int32_t y = 0; status == HEED_OK && y < box.height; y++) {
    uint8_t *row = work->canvas.pixels +
                   ((size_t)(box.y + y) * (size_t)work->canvas.width + (size_t)box.x) * 3;
    memcpy(row, scaled + (size_t)y * window.width * 3, (size_t)window.width * 3);
    for (int32_t x = 0; x < box.width; x++)
      draw_overlay_pixel(work, (x + 0.5) * image->width / box.width,
                         (y + 0.5) * image->height / box.height, row + (size_t)x * 3);
  }
  heed_free(context, scaled);
  return status;
}

/* The first canvas pixel whose centre is at or after position `at` of the picture's axis. */
static int32_t canvas_edge(double at, uint32_t size, int32_t start, int32_t length) {
  const double pixel = ceil(at * length / size - 0.5);
  return start + (pixel < 0.0 ? 0 : pixel > length ? length : (int32_t)pixel);
}

/* Two tones, so that it shows on any photograph. */
static void draw_query(figure_work *work) {
  const heed_figure_desc *desc = work->desc;
  if (desc->query_row < 0 || desc->query_column < 0) return;
  const double width = desc->region.width / desc->columns,
               height = desc->region.height / desc->rows;
  const double x = desc->region.x + width * desc->query_column,
               y = desc->region.y + height * desc->query_row;
  const heed_box in = work->layout.picture;
  const int32_t left = canvas_edge(x, desc->image.width, in.x, in.width),
                right = canvas_edge(x + width, desc->image.width, in.x, in.width);
  const int32_t top = canvas_edge(y, desc->image.height, in.y, in.height),
                bottom = canvas_edge(y + height, desc->image.height, in.y, in.height);
  const heed_box patch = {left, top, right - left, bottom - top};
  heed_canvas_frame(&work->canvas, patch, 4, 0x000000u);
  heed_canvas_frame(&work->canvas, patch, 2, 0xFFFFFFu);
}

/* White on black in a corner of the picture, smaller where it would not fit. */
static void draw_note(figure_work *work) {
  const char *note = work->desc->note;
  if (!note || !*note) return;
  const heed_box picture = work->layout.picture;
  const int32_t scale = heed_text_width(note, SIZE_MAX, TEXT) + 4 * GAP <= picture.width ? TEXT : 1;
  const int32_t width =
      smaller(heed_text_width(note, SIZE_MAX, scale) + 2 * GAP, picture.width - GAP);
  heed_canvas_fill(
      &work->canvas,
      (heed_box){picture.x + GAP, picture.y + GAP, width, HEED_TEXT_LINE * scale + GAP}, 0x101010u);
  heed_text_draw_centred(&work->canvas, picture.x + GAP, picture.y + GAP + GAP / 2 + scale, width,
                         note, scale, PAPER);
}

/* ----------------------------------------------------------------------------------------- grid */

static uint32_t color_at(const figure_work *work, double t) {
  uint8_t rgb[3];
  heed_colormap_rgb(work->desc->colormap, t, rgb);
  return (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
}

static void draw_map(figure_work *work, const float *map, double largest, int32_t x, int32_t y) {
  const heed_figure_desc *desc = work->desc;
  const int32_t zoom = work->layout.zoom;
  for (uint32_t i = 0; i < desc->rows * desc->columns; i++) {
    const heed_box patch = {x + (int32_t)(i % desc->columns) * zoom,
                            y + (int32_t)(i / desc->columns) * zoom, zoom, zoom};
    heed_canvas_fill(&work->canvas, patch,
                     color_at(work, heed_scale_place(&work->scale, (double)map[i], largest)));
  }
}

/* "CLS 12%": weight on the tokens before the patches. */
static void draw_prefix_mass(figure_work *work, double mass, int32_t x, int32_t y) {
  const heed_figure_desc *desc = work->desc;
  const bool only_cls = desc->tokens == desc->rows * desc->columns + 1;
  char text[LABEL_SIZE + HEED_TEXT_NUMBER_SIZE], digits[HEED_TEXT_NUMBER_SIZE];
  strcpy(text, only_cls ? "CLS " : "prefix ");
  strcat(strcat(text, heed_text_number(mass * 100.0, 0, digits)), "%");
  heed_text_draw_centred(&work->canvas, x, y, work->layout.pitch_x - GAP, text, 1, INK);
}

static void draw_grid(figure_work *work) {
  const heed_figure_desc *desc = work->desc;
  const figure_layout *layout = &work->layout;
  const size_t patches = (size_t)desc->rows * desc->columns;
  const int32_t room = layout->pitch_x - GAP, inset = (room - layout->map_width) / 2;
  char text[LABEL_SIZE];
  for (uint32_t m = 0; m < desc->layers * desc->heads; m++) {
    const uint32_t layer = m / desc->heads, head = m % desc->heads;
    const int32_t row = (int32_t)m / layout->grid_columns,
                  column = (int32_t)m % layout->grid_columns;
    const int32_t x = layout->grid_x + column * layout->pitch_x,
                  y = layout->grid_y + row * layout->pitch_y;
    if (layout->list || row == 0)
      heed_text_draw_centred(&work->canvas, x, y - HEED_TEXT_LINE * layout->label_scale, room,
                             map_label(desc, layer, head, text), layout->label_scale, INK);
    draw_map(work, desc->maps + m * patches, work->largest[m], x + inset, y);
    if (desc->prefix_mass)
      draw_prefix_mass(work, (double)desc->prefix_mass[m], x, y + layout->map_height + 3);
  }
}

static void draw_layer_numbers(figure_work *work) {
  const heed_figure_desc *desc = work->desc;
  const figure_layout *layout = &work->layout;
  if (layout->list) return;
  const int32_t width = heed_text_width("layer", 5, TEXT), x = layout->grid_x - GAP - width;
  heed_text_draw(&work->canvas, x, layout->grid_y - LINE, "layer", 5, TEXT, INK);
  for (uint32_t layer = 0; layer < desc->layers; layer++) {
    char digits[HEED_TEXT_NUMBER_SIZE];
    heed_text_number(desc->layer_numbers ? desc->layer_numbers[layer] : layer, 0, digits);
    const int32_t y = layout->grid_y + (int32_t)layer * layout->pitch_y +
                      (layout->map_height - HEED_TEXT_HEIGHT * TEXT) / 2;
    heed_text_draw(&work->canvas, x + width - heed_text_width(digits, SIZE_MAX, TEXT), y, digits,
                   SIZE_MAX, TEXT, INK);
  }
}

/* ----------------------------------------------------------------------------------------- bars */

static void draw_bars(figure_work *work) {
  const figure_layout *layout = &work->layout;
  const char *of = work->desc->layers * work->desc->heads > 1 ? "mean of all maps, " : "";
  char mean[LABEL_SIZE * 2];
  heed_bar_draw(&work->canvas, layout->bar, work->desc->colormap, &work->scale);
  heed_text_draw(&work->canvas, layout->bar.x, layout->grid_y - LINE, heed_scale_unit(&work->scale),
                 SIZE_MAX, TEXT, INK);
  heed_bar_draw(&work->canvas, layout->picture_bar, work->desc->colormap, &work->mean_scale);
  strcat(strcpy(mean, of), heed_scale_unit(&work->mean_scale));
  const int32_t scale =
      heed_text_width(mean, SIZE_MAX, TEXT) <= layout->picture_bar.width ? TEXT : 1;
  heed_text_draw(&work->canvas, MARGIN, layout->picture_bar.y + BAR_THICKNESS + GAP + LINE, mean,
                 SIZE_MAX, scale, INK);
}

/* ---------------------------------------------------------------------------------------- whole */

static heed_status check_numbers(const heed_figure_desc *desc, heed_error *error) {
  const heed_region *region = &desc->region;
  const double sum = region->x + region->y + region->width + region->height;
  if (!isfinite(sum) || !(region->width > 0.0) || !(region->height > 0.0))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "figure: the region is off (found %g x %g, expected a size above 0)",
                     region->width, region->height);
  if (desc->scale < HEED_SCALE_AUTO || desc->scale > HEED_SCALE_OWN)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "figure: scale is off (found %d, expected 0 to %d)", (int)desc->scale,
                     (int)HEED_SCALE_OWN);
  if (desc->query_row < -1 || desc->query_column < -1 ||
      (desc->query_row >= 0 && (uint32_t)desc->query_row >= desc->rows) ||
      (desc->query_column >= 0 && (uint32_t)desc->query_column >= desc->columns))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "figure: the query patch is off (found %d, %d, expected -1 or within %u x %u)",
                     (int)desc->query_row, (int)desc->query_column, desc->rows, desc->columns);
  return HEED_OK;
}

static heed_status check_desc(const heed_figure_desc *desc, heed_error *error) {
  const heed_image *image = &desc->image;
  if (!image->pixels || image->width == 0 || image->height == 0 || image->width > MAX_PIXELS ||
      image->height > MAX_PIXELS ||
      (image->channels != 1 && image->channels != 3 && image->channels != 4) ||
      image->stride / image->channels < image->width)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "figure: the picture is off (found %u x %u, %u channels, expected 1, 3 or 4 and full rows)",
        image->width, image->height, image->channels);
  const uint32_t counts[4] = {desc->layers, desc->heads, desc->rows, desc->columns};
  for (int i = 0; i < 4; i++)
    if (counts[i] == 0 || counts[i] > MAX_SIDE)
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "figure: sizes are off (found %u layers, %u heads, %u x %u patches, "
                       "expected 1 to %u each)",
                       counts[0], counts[1], counts[2], counts[3], MAX_SIDE);
  if (!desc->maps || desc->tokens < desc->rows * desc->columns)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "figure: maps or tokens are off (found %u tokens, expected maps and at least %u)",
        desc->tokens, desc->rows * desc->columns);
  return check_numbers(desc, error);
}

/* Returns where the line after the text begins. */
static int32_t draw_lines(figure_work *work, const char *text, int32_t y) {
  for (const char *c = text ? text : ""; *c; y += LINE) {
    const size_t bytes = heed_text_line(c, work->layout.caption_characters);
    heed_text_draw(&work->canvas, MARGIN, y, c, bytes, TEXT, INK);
    c = heed_text_next_line(c, bytes);
  }
  return y;
}

static heed_status draw_all(heed_context *context, figure_work *work, heed_error *error) {
  heed_canvas_fill(&work->canvas, (heed_box){0, 0, work->canvas.width, work->canvas.height}, PAPER);
  HEED_TRY(draw_picture(context, work, error));
  draw_query(work);
  draw_note(work);
  draw_grid(work);
  draw_layer_numbers(work);
  draw_bars(work);
  draw_lines(work, scale_words(work),
             draw_lines(work, work->desc->caption, work->layout.caption_y));
  return HEED_OK;
}

static heed_status check_size(const figure_layout *layout, heed_error *error) {
  if (layout->width * layout->height <= MAX_PIXELS) return HEED_OK;
  return heed_fail(
      error, HEED_INVALID_ARGUMENT,
      "figure: too large to draw (found %lld x %lld pixels, expected at most %lld in all)",
      (long long)layout->width, (long long)layout->height, (long long)MAX_PIXELS);
}

static heed_status draw_figure(heed_context *context, figure_work *work, heed_error *error) {
  const int64_t width = work->layout.width, height = work->layout.height;
  HEED_TRY(check_size(&work->layout, error));
  work->canvas = (heed_canvas){heed_alloc_raw(context, (size_t)(width * height), 3), (int32_t)width,
                               (int32_t)height};
  if (!work->canvas.pixels) return heed_fail_memory(error, "figure", (size_t)(width * height * 3));
  return draw_all(context, work, error);
}

heed_status heed_figure_draw(heed_context *context, const heed_figure_desc *desc,
                             heed_figure *figure, heed_error *error) {
  *figure = (heed_figure){NULL, 0, 0};
  heed_figure_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "figure", error));
  desc = &full;
  HEED_TRY(check_desc(desc, error));
  const size_t patches = (size_t)desc->rows * desc->columns,
               maps = (size_t)desc->layers * desc->heads;
  figure_work work = {.desc = desc};
  place_all(desc, &work.layout);
  HEED_TRY(check_size(&work.layout, error)); /* before a map is read */
  work.mean = heed_alloc(context, patches + maps, sizeof *work.mean);
  if (!work.mean) return heed_fail_memory(error, "figure", (patches + maps) * sizeof *work.mean);
  work.largest = work.mean + patches;
  measure(&work);
  place_words(&work);
  const heed_status status = draw_figure(context, &work, error);
  heed_free(context, work.mean);
  if (status == HEED_OK)
    *figure = (heed_figure){work.canvas.pixels, (uint32_t)work.canvas.width,
                            (uint32_t)work.canvas.height};
  else
    heed_free(context, work.canvas.pixels);
  return status;
}

void heed_figure_free(heed_context *context, heed_figure *figure) {
  heed_free(context, figure->pixels);
  *figure = (heed_figure){NULL, 0, 0};
}
