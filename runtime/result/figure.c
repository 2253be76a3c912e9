/* A figure of attention maps, RGB: the picture with the mean map laid over the part that the model saw, and the grid layers x heads.
 *
 *   +---------+   layer  head 0  head 1 ...   x uniform
 *   | picture |     0     [map]   [map]        | | max       maps [layers, heads, rows * columns]
 *   | + mean  |     1     [map]   [map]        | |           colour = weight * tokens ("times uniform": 1 is what an even
 *   +---------+    ...                         | | 0         spread would give), one scale for all maps of the grid and one
 *   [ bar of the mean ]                                      for the mean, both from 0, each with its bar; never per map
 *   caption
 *
 * With one layer or one head the maps are set as a list instead, each with its label. Patches are drawn as squares of whole pixels
 * (nearest). Whole-number arithmetic wherever a pixel is placed, so that a figure has the same bits everywhere. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "model/preprocess.h"
#include "result/text.h"

#define MARGIN 16
#define GAP 8
#define PICTURE_HEIGHT 448
#define PICTURE_WIDTH 720
#define BAR_THICKNESS 14
#define BAR_COLUMN 120 /* of the vertical bar with its numbers and title */
#define TEXT 2         /* scale of the text but for small labels */
#define LINE (HEED_TEXT_LINE * TEXT)
#define INK 0x202020u
#define PAPER 0xFFFFFFu
#define OVERLAY 0.55 /* opacity of the map on the picture, which is made grey so that the map's colours stay themselves */
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
  double *mean;   /* [rows * columns] over all maps */
  double largest; /* of the grid, in times uniform; 1 when nothing is above 0 */
  double mean_largest;
} figure_work;

/* --------------------------------------------------------------------------------------------------------------- labels */

#define LABEL_SIZE 32

/* The label of map (layer, head) in a list, or of a column of the grid. */
static const char *map_label(const heed_figure_desc *desc, uint32_t layer, uint32_t head, char text[LABEL_SIZE]) {
  char digits[HEED_TEXT_NUMBER_SIZE];
  const bool by_layer = desc->heads == 1 && desc->layers > 1;
  if (!by_layer && desc->column_labels && desc->column_labels[head]) return desc->column_labels[head];
  const uint32_t number = by_layer && desc->layer_numbers ? desc->layer_numbers[layer] : by_layer ? layer : head;
  strcpy(text, by_layer ? "layer " : "head ");
  return strcat(text, heed_text_number(number, 0, digits));
}

/* --------------------------------------------------------------------------------------------------------------- layout */

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* The whole picture within PICTURE_WIDTH x PICTURE_HEIGHT, enlarged when it is small; each side at least one pixel. */
static void place_picture(const heed_figure_desc *desc, figure_layout *layout) {
  const uint64_t w = desc->image.width, h = desc->image.height;
  uint64_t width = (w * PICTURE_HEIGHT + h / 2) / h, height = PICTURE_HEIGHT;
  if (width > PICTURE_WIDTH) {
    width = PICTURE_WIDTH;
    height = (h * PICTURE_WIDTH + w / 2) / w;
  }
  layout->picture = (heed_box){MARGIN, MARGIN, larger((int32_t)width, 1), larger((int32_t)height, 1)};
  layout->picture_bar = (heed_box){MARGIN, MARGIN + layout->picture.height + GAP + 2, larger(layout->picture.width, 240), BAR_THICKNESS};
}

/* How many maps across and down, and how large each is. */
static void place_maps(const heed_figure_desc *desc, figure_layout *layout) {
  const int32_t count = (int32_t)(desc->layers * desc->heads), side = (int32_t)(desc->rows > desc->columns ? desc->rows : desc->columns);
  layout->list = desc->layers == 1 || desc->heads == 1;
  layout->grid_columns = (int32_t)desc->heads;
  if (layout->list)
    for (layout->grid_columns = 1; layout->grid_columns * layout->grid_columns * 3 < count * 4;) layout->grid_columns++;
  layout->grid_columns = smaller(layout->grid_columns, count);
  layout->grid_rows = (count + layout->grid_columns - 1) / layout->grid_columns;
  const int32_t text = (layout->list ? LINE : 0) + (desc->prefix_mass ? HEED_TEXT_LINE : 0) + GAP;
  int32_t target = PICTURE_HEIGHT / layout->grid_rows - (layout->grid_rows > 1 || layout->list ? text : 0);
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
      if (heed_text_width(map_label(desc, layer, head, text), SIZE_MAX, TEXT) > layout->pitch_x - GAP) layout->label_scale = 1;
}

static void place_all(const heed_figure_desc *desc, figure_layout *layout) {
  place_picture(desc, layout);
  place_maps(desc, layout);
  choose_label_scale(desc, layout);
  const int32_t left = larger(layout->picture.width, layout->picture_bar.width);
  layout->grid_x = MARGIN + left + 2 * MARGIN + (layout->list ? 0 : heed_text_width("layer", 5, TEXT) + GAP);
  layout->grid_y = MARGIN + LINE;
  const int64_t grid_width = (int64_t)layout->grid_columns * layout->pitch_x, grid_height = (int64_t)layout->grid_rows * layout->pitch_y;
  const int64_t maps_height = grid_height - layout->pitch_y + layout->map_height; /* from the top of the first to the end of the last */
  const int32_t bar_height = maps_height > PICTURE_HEIGHT ? PICTURE_HEIGHT : larger((int32_t)maps_height, 120);
  layout->width = layout->grid_x + grid_width + MARGIN + BAR_COLUMN + MARGIN;
  /* Half a line lower than the maps: the number at its top stands beside it, below the title. */
  layout->bar =
      (heed_box){(int32_t)(layout->grid_x + grid_width + MARGIN), layout->grid_y + LINE / 2, BAR_THICKNESS, bar_height - LINE / 2};
  const int64_t left_end = layout->picture_bar.y + BAR_THICKNESS + 2 * LINE + GAP;
  int64_t end = layout->grid_y + (grid_height > bar_height ? grid_height : bar_height);
  if (left_end > end) end = left_end;
  layout->caption_y = (int32_t)end + GAP;
  layout->caption_characters = (int32_t)((layout->width - 2 * MARGIN) / (HEED_TEXT_ADVANCE * TEXT));
  layout->height = layout->caption_y + MARGIN;
  for (const char *c = desc->caption ? desc->caption : ""; *c; c = heed_text_next_line(c, heed_text_line(c, layout->caption_characters)))
    layout->height += LINE;
}

/* -------------------------------------------------------------------------------------------------------------- numbers */

/* Largest weights, as times uniform, of the grid and of the mean; what is not finite is left out. */
static void measure(figure_work *work) {
  const heed_figure_desc *desc = work->desc;
  const size_t patches = (size_t)desc->rows * desc->columns, maps = (size_t)desc->layers * desc->heads;
  work->largest = work->mean_largest = 0.0;
  for (size_t m = 0; m < maps; m++) {
    for (size_t i = 0; i < patches; i++) {
      const double weight = (double)desc->maps[m * patches + i] * desc->tokens;
      if (isfinite(weight) && weight > work->largest) work->largest = weight;
      work->mean[i] += weight / (double)maps;
    }
  }
  for (size_t i = 0; i < patches; i++)
    if (isfinite(work->mean[i]) && work->mean[i] > work->mean_largest) work->mean_largest = work->mean[i];
  if (work->largest <= 0.0) work->largest = 1.0;
  if (work->mean_largest <= 0.0) work->mean_largest = 1.0;
}

/* A step of 1, 2 or 5 times a power of ten that gives at most five steps up to `largest`; *decimals: digits it needs. */
static double tick_step(double largest, uint32_t *decimals) {
  double step = 1e-6;
  int32_t power = -6;
  while (step * 10.0 * 5.0 <= largest && power < 9) step *= 10.0, power++;
  while (step * 5.0 < largest && step < 1e9) {
    const double next = step * 2.0 * 5.0 >= largest ? step * 2.0 : step * 5.0 * 5.0 >= largest ? step * 5.0 : step * 10.0;
    if (next >= step * 10.0) power++;
    step = next;
  }
  *decimals = power < 0 ? (uint32_t)-power : 0;
  return step;
}

/* --------------------------------------------------------------------------------------------------------------- picture */

static void draw_overlay_pixel(const figure_work *work, double x, double y, uint8_t *pixel) {
  const heed_figure_desc *desc = work->desc;
  const double across = (x - desc->region.x) / desc->region.width * desc->columns,
               down = (y - desc->region.y) / desc->region.height * desc->rows;
  const double grey = 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]; /* ITU-R BT.601 */
  uint8_t color[3] = {255, 255, 255};
  double opacity = 0.5; /* what the model did not see is paled */
  if (across >= 0.0 && across < desc->columns && down >= 0.0 && down < desc->rows) {
    heed_colormap_rgb(desc->colormap, work->mean[(size_t)down * desc->columns + (size_t)across] / work->mean_largest, color);
    opacity = OVERLAY;
  }
  for (int c = 0; c < 3; c++) pixel[c] = (uint8_t)(color[c] * opacity + grey * (1.0 - opacity) + 0.5);
}

/* The picture in its box, then the map over it: a pixel belongs to the patch that its centre is in. */
static heed_status draw_picture(heed_context *context, figure_work *work, heed_error *error) {
  const heed_image *image = &work->desc->image;
  const heed_box box = work->layout.picture;
  const heed_resize_window window = {(uint32_t)box.width, (uint32_t)box.height, 0, 0, (uint32_t)box.width, (uint32_t)box.height};
  uint8_t *scaled = heed_alloc_raw(context, (size_t)window.width * window.height, 3);
  if (!scaled) return heed_fail_memory(error, "figure", (size_t)window.width * window.height * 3);
  const heed_status status = heed_resize_rgb(context, image, 2, &window, scaled, error);
  for (int32_t y = 0; status == HEED_OK && y < box.height; y++) {
    uint8_t *row = work->canvas.pixels + ((size_t)(box.y + y) * (size_t)work->canvas.width + (size_t)box.x) * 3;
    memcpy(row, scaled + (size_t)y * window.width * 3, (size_t)window.width * 3);
    for (int32_t x = 0; x < box.width; x++)
      draw_overlay_pixel(work, (x + 0.5) * image->width / box.width, (y + 0.5) * image->height / box.height, row + (size_t)x * 3);
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
  const double width = desc->region.width / desc->columns, height = desc->region.height / desc->rows;
  const double x = desc->region.x + width * desc->query_column, y = desc->region.y + height * desc->query_row;
  const heed_box in = work->layout.picture;
  const int32_t left = canvas_edge(x, desc->image.width, in.x, in.width), right = canvas_edge(x + width, desc->image.width, in.x, in.width);
  const int32_t top = canvas_edge(y, desc->image.height, in.y, in.height),
                bottom = canvas_edge(y + height, desc->image.height, in.y, in.height);
  const heed_box patch = {left, top, right - left, bottom - top};
  heed_canvas_frame(&work->canvas, patch, 4, 0x000000u);
  heed_canvas_frame(&work->canvas, patch, 2, 0xFFFFFFu);
}

/* ------------------------------------------------------------------------------------------------------------------ grid */

static uint32_t color_at(const figure_work *work, double t) {
  uint8_t rgb[3];
  heed_colormap_rgb(work->desc->colormap, t, rgb);
  return (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2];
}

static void draw_map(figure_work *work, const float *map, int32_t x, int32_t y) {
  const heed_figure_desc *desc = work->desc;
  const int32_t zoom = work->layout.zoom;
  for (uint32_t i = 0; i < desc->rows * desc->columns; i++) {
    const heed_box patch = {x + (int32_t)(i % desc->columns) * zoom, y + (int32_t)(i / desc->columns) * zoom, zoom, zoom};
    heed_canvas_fill(&work->canvas, patch, color_at(work, (double)map[i] * desc->tokens / work->largest));
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
    const int32_t row = (int32_t)m / layout->grid_columns, column = (int32_t)m % layout->grid_columns;
    const int32_t x = layout->grid_x + column * layout->pitch_x, y = layout->grid_y + row * layout->pitch_y;
    if (layout->list || row == 0)
      heed_text_draw_centred(&work->canvas, x, y - HEED_TEXT_LINE * layout->label_scale, room, map_label(desc, layer, head, text),
                             layout->label_scale, INK);
    draw_map(work, desc->maps + m * patches, x + inset, y);
    if (desc->prefix_mass) draw_prefix_mass(work, (double)desc->prefix_mass[m], x, y + layout->map_height + 3);
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
    const int32_t y = layout->grid_y + (int32_t)layer * layout->pitch_y + (layout->map_height - HEED_TEXT_HEIGHT * TEXT) / 2;
    heed_text_draw(&work->canvas, x + width - heed_text_width(digits, SIZE_MAX, TEXT), y, digits, SIZE_MAX, TEXT, INK);
  }
}

/* ------------------------------------------------------------------------------------------------------------------ bars */

/* The colours from 0 to 1 along the longer side: upwards or to the right. */
static void draw_bar_colors(figure_work *work, heed_box bar) {
  const bool upright = bar.height > bar.width;
  const int32_t length = upright ? bar.height : bar.width;
  for (int32_t i = 0; i < length; i++) {
    const heed_box up = {bar.x, bar.y + length - 1 - i, bar.width, 1}, right = {bar.x + i, bar.y, 1, bar.height};
    heed_canvas_fill(&work->canvas, upright ? up : right, color_at(work, (i + 0.5) / length));
  }
  heed_canvas_frame(&work->canvas, bar, 1, INK);
}

/* A mark and its number at share `t` of the bar. */
static void draw_tick(figure_work *work, heed_box bar, double t, const char *text) {
  const int32_t width = heed_text_width(text, SIZE_MAX, TEXT);
  if (bar.height > bar.width) {
    const int32_t y = bar.y + bar.height - (int32_t)(t * bar.height + 0.5);
    heed_canvas_fill(&work->canvas, (heed_box){bar.x + bar.width, y - (t > 0.5), 5, 1}, INK);
    heed_text_draw(&work->canvas, bar.x + bar.width + 9, y - HEED_TEXT_HEIGHT * TEXT / 2, text, SIZE_MAX, TEXT, INK);
  } else {
    const int32_t x = bar.x + (int32_t)(t * bar.width + 0.5), end = bar.x + bar.width;
    heed_canvas_fill(&work->canvas, (heed_box){x - (t > 0.5), bar.y + bar.height, 1, 5}, INK);
    heed_text_draw(&work->canvas, larger(bar.x, smaller(x - width / 2, end - width)), bar.y + bar.height + 8, text, SIZE_MAX, TEXT, INK);
  }
}

/* Round numbers from 0 on, then the largest itself; round ones too near to it are left out. */
static void draw_bar(figure_work *work, heed_box bar, double largest) {
  char text[HEED_TEXT_NUMBER_SIZE];
  uint32_t decimals;
  const double step = tick_step(largest, &decimals);
  const int32_t room = bar.height > bar.width ? LINE : heed_text_width("00.000000", decimals + 5, TEXT);
  const int32_t length = bar.height > bar.width ? bar.height : bar.width;
  draw_bar_colors(work, bar);
  for (uint32_t i = 0; i < 10; i++) {
    const double t = i * step / largest;
    if (!((1.0 - t) * length >= room)) break;
    draw_tick(work, bar, t, heed_text_number(i * step, decimals, text));
  }
  draw_tick(work, bar, 1.0, heed_text_number(largest, decimals + 1, text));
}

static void draw_bars(figure_work *work) {
  const figure_layout *layout = &work->layout;
  const char *unit = "x uniform", *mean = work->desc->layers * work->desc->heads > 1 ? "mean of all maps, x uniform" : unit;
  draw_bar(work, layout->bar, work->largest);
  heed_text_draw(&work->canvas, layout->bar.x, layout->grid_y - LINE, unit, SIZE_MAX, TEXT, INK);
  draw_bar(work, layout->picture_bar, work->mean_largest);
  const int32_t scale = heed_text_width(mean, SIZE_MAX, TEXT) <= layout->picture_bar.width ? TEXT : 1;
  heed_text_draw(&work->canvas, MARGIN, layout->picture_bar.y + BAR_THICKNESS + GAP + LINE, mean, SIZE_MAX, scale, INK);
}

/* ----------------------------------------------------------------------------------------------------------------- whole */

static heed_status check_numbers(const heed_figure_desc *desc, heed_error *error) {
  const heed_region *region = &desc->region;
  const double sum = region->x + region->y + region->width + region->height;
  if (!isfinite(sum) || !(region->width > 0.0) || !(region->height > 0.0))
    return heed_fail(error, HEED_INVALID_ARGUMENT, "figure: the region is off (found %g x %g, expected a size above 0)", region->width,
                     region->height);
  if (desc->query_row < -1 || desc->query_column < -1 || (desc->query_row >= 0 && (uint32_t)desc->query_row >= desc->rows) ||
      (desc->query_column >= 0 && (uint32_t)desc->query_column >= desc->columns))
    return heed_fail(error, HEED_INVALID_ARGUMENT, "figure: the query patch is off (found %d, %d, expected -1 or within %u x %u)",
                     (int)desc->query_row, (int)desc->query_column, desc->rows, desc->columns);
  return HEED_OK;
}

static heed_status check_desc(const heed_figure_desc *desc, heed_error *error) {
  const heed_image *image = &desc->image;
  if (desc->struct_size != sizeof *desc)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "figure: struct_size is off (found %zu, expected %zu)", desc->struct_size, sizeof *desc);
  if (!image->pixels || image->width == 0 || image->height == 0 || image->width > MAX_PIXELS || image->height > MAX_PIXELS ||
      (image->channels != 1 && image->channels != 3 && image->channels != 4) || image->stride / image->channels < image->width)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "figure: the picture is off (found %u x %u, %u channels, expected 1, 3 or 4 and full rows)", image->width,
                     image->height, image->channels);
  const uint32_t counts[4] = {desc->layers, desc->heads, desc->rows, desc->columns};
  for (int i = 0; i < 4; i++)
    if (counts[i] == 0 || counts[i] > MAX_SIDE)
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "figure: sizes are off (found %u layers, %u heads, %u x %u patches, expected 1 to %u each)", counts[0], counts[1],
                       counts[2], counts[3], MAX_SIDE);
  if (!desc->maps || desc->tokens < desc->rows * desc->columns)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "figure: maps or tokens are off (found %u tokens, expected maps and at least %u)",
                     desc->tokens, desc->rows * desc->columns);
  return check_numbers(desc, error);
}

static void draw_caption(figure_work *work) {
  int32_t y = work->layout.caption_y;
  for (const char *c = work->desc->caption ? work->desc->caption : ""; *c; y += LINE) {
    const size_t bytes = heed_text_line(c, work->layout.caption_characters);
    heed_text_draw(&work->canvas, MARGIN, y, c, bytes, TEXT, INK);
    c = heed_text_next_line(c, bytes);
  }
}

static heed_status draw_all(heed_context *context, figure_work *work, heed_error *error) {
  measure(work);
  heed_canvas_fill(&work->canvas, (heed_box){0, 0, work->canvas.width, work->canvas.height}, PAPER);
  HEED_TRY(draw_picture(context, work, error));
  draw_query(work);
  draw_grid(work);
  draw_layer_numbers(work);
  draw_bars(work);
  draw_caption(work);
  return HEED_OK;
}

heed_status heed_figure_draw(heed_context *context, const heed_figure_desc *desc, heed_figure *figure, heed_error *error) {
  *figure = (heed_figure){NULL, 0, 0};
  HEED_TRY(check_desc(desc, error));
  figure_work work = {.desc = desc};
  place_all(desc, &work.layout);
  const int64_t width = work.layout.width, height = work.layout.height;
  if (width * height > MAX_PIXELS)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "figure: too large to draw (found %lld x %lld pixels, expected at most %lld in all)",
                     (long long)width, (long long)height, (long long)MAX_PIXELS);
  work.canvas = (heed_canvas){heed_alloc_raw(context, (size_t)(width * height), 3), (int32_t)width, (int32_t)height};
  work.mean = heed_alloc(context, (size_t)desc->rows * desc->columns, sizeof *work.mean);
  heed_status status = HEED_OK;
  if (!work.canvas.pixels || !work.mean)
    status = heed_fail_memory(error, "figure", (size_t)(width * height * 3));
  else
    status = draw_all(context, &work, error);
  heed_free(context, work.mean);
  if (status == HEED_OK)
    *figure = (heed_figure){work.canvas.pixels, (uint32_t)width, (uint32_t)height};
  else
    heed_free(context, work.canvas.pixels);
  return status;
}

void heed_figure_free(heed_context *context, heed_figure *figure) {
  heed_free(context, figure->pixels);
  *figure = (heed_figure){NULL, 0, 0};
}
