/* Where the parts of a figure lie. See layout.h. */
#include "figure/layout.h"

#include <math.h>

#define MARGIN 20.0
#define GUTTER 28.0 /* between picture and maps */
#define GAP 8.0
#define NARROW 460.0       /* a page whose inner width is less has one column */
#define PICTURE_SHARE 0.42 /* of the inner width */
#define PICTURE_LEAST 0.34
#define MAPS_HEIGHT 330.0 /* of picture and maps, where the maps are not too many */
#define MAP_LEAST 28.0    /* sides of a map in a grid, and in a list */
#define LISTED_LEAST 56.0
#define STEP 0.5 /* a pixel of a PNG: patches and the picture are whole pixels */
#define MAP_GAP 4.0

#define INK 0x1a2230u
#define QUIET 0x566172u
const figure_font heed_font_title = {13.0, false, INK}, heed_font_label = {11.0, false, INK},
                  heed_font_quiet = {11.0, false, QUIET}, heed_font_small = {9.5, false, QUIET},
                  heed_font_chip = {9.5, true, 0xFFFFFFu};

/* Width of the page. */
static double figure_width(const heed_figure_desc *desc) {
  return desc->width_mm > 0.0 ? desc->width_mm / 25.4 * 96.0 : 800.0;
}

double heed_figure_caption_width(const figure_layout *layout) {
  return layout->width - layout->picture.x - MARGIN;
}

static double snap(double length) { return floor(length / STEP) * STEP; }

/* ----------------------------------------------------------------------------------------- maps */

/* Maps across a list: about 4 : 3, without empty places at the end where that can be. */
static uint32_t list_columns(uint32_t count) {
  uint32_t columns = 1;
  while (columns * columns * 3 < count * 4) columns++;
  if (count % columns == 0) return columns;
  if (columns > 2 && count % (columns - 1) == 0) return columns - 1;
  return count % (columns + 1) == 0 ? columns + 1 : columns;
}

/* How many maps across and down; the words around each. */
static void count_maps(const heed_figure_desc *desc, const figure_ruler *ruler,
                       figure_layout *layout) {
  const uint32_t count = desc->layers * desc->heads;
  layout->list = desc->layers == 1 || desc->heads == 1;
  layout->grid_columns = layout->list ? list_columns(count) : desc->heads;
  if (layout->grid_columns > count) layout->grid_columns = count;
  layout->grid_rows = (count + layout->grid_columns - 1) / layout->grid_columns;
  layout->label_width =
      layout->list ? 0.0 : ceil(ruler->width(ruler->user, "layer", &heed_font_label)) + GAP;
}

/* What stands around a map, down and across: its name, its prefix mass, a gap. */
static double extra_height(const heed_figure_desc *desc, const figure_layout *layout) {
  const double prefix = !desc->prefix_mass ? 0.0 : layout->numbered_prefix ? 13.0 : 4.0;
  return prefix + (layout->list ? FIGURE_TEXT_LINE + GAP : MAP_GAP);
}
static double extra_width(const figure_layout *layout) { return layout->list ? 12.0 : MAP_GAP; }
/* What a name needs, also of a map that is narrower. */
static double least_width(const figure_layout *layout) { return layout->list ? 40.0 : 18.0; }

/* The largest zoom at which the maps fit into width x height, but not so small that nothing can be
 * seen: the height gives way first, then the width. */
static void size_maps(const heed_figure_desc *desc, double width, double height,
                      figure_layout *layout) {
  const double side = desc->rows > desc->columns ? desc->rows : desc->columns,
               least = (layout->list ? LISTED_LEAST : MAP_LEAST) / side,
               across = (width - layout->label_width + extra_width(layout)) / layout->grid_columns -
                        extra_width(layout);
  double down = height;
  for (int pass = 0; pass < 2; pass++) { /* the words below a map depend on its size */
    layout->numbered_prefix = layout->list || pass == 0;
    down = height / layout->grid_rows - (layout->grid_rows > 1 ? extra_height(desc, layout) : 0.0);
    layout->zoom = fmin(across / desc->columns, fmax(down / desc->rows, least));
    layout->zoom = fmax(snap(layout->zoom), STEP);
    if (layout->list || layout->zoom * desc->columns >= 60.0) break;
  }
  layout->map_width = layout->zoom * desc->columns;
  layout->map_height = layout->zoom * desc->rows;
  layout->cell_width = fmax(layout->map_width, least_width(layout));
  layout->pitch_x = layout->cell_width + extra_width(layout);
  layout->pitch_y = layout->map_height + extra_height(desc, layout);
}

static double maps_width(const figure_layout *layout) {
  return layout->label_width + layout->grid_columns * layout->pitch_x - extra_width(layout);
}

static double maps_height(const heed_figure_desc *desc, const figure_layout *layout) {
  const double below = !desc->prefix_mass ? 0.0 : layout->numbered_prefix ? 13.0 : 4.0;
  return (layout->grid_rows - 1) * layout->pitch_y + layout->map_height + below;
}

/* -------------------------------------------------------------------------------------- columns */

/* The whole picture within width x height. */
static void size_picture(const heed_figure_desc *desc, double width, double height,
                         figure_layout *layout) {
  const double scale = fmin(width / desc->image.width, height / desc->image.height);
  layout->picture.width = fmax(snap(desc->image.width * scale), 1.0);
  layout->picture.height = fmax(snap(desc->image.height * scale), 1.0);
}

/* Picture and one map are equally high. */
static void size_pair(const heed_figure_desc *desc, double inner, figure_layout *layout) {
  const double picture = (double)desc->image.width / desc->image.height,
               map = (double)desc->columns / desc->rows,
               height = fmin(MAPS_HEIGHT, (inner - GUTTER) / (picture + map));
  size_picture(desc, inner, fmax(height, 1.0), layout);
  if (layout->picture.height < 120.0) /* a strip: the map is larger */
    size_picture(desc, inner * 0.5, MAPS_HEIGHT, layout);
  size_maps(desc, inner - GUTTER - fmax(layout->picture.width, 160.0),
            fmax(layout->picture.height, 120.0), layout);
  if (layout->picture.height > layout->map_height)
    size_picture(desc, inner, layout->map_height, layout);
}

static void size_columns(const heed_figure_desc *desc, double inner, figure_layout *layout) {
  const uint32_t count = desc->layers * desc->heads;
  if (inner < NARROW) {
    size_picture(desc, inner, MAPS_HEIGHT, layout);
    size_maps(desc, inner, MAPS_HEIGHT, layout);
  } else if (count == 1) {
    size_pair(desc, inner, layout);
  } else {
    const double need = layout->label_width + layout->grid_columns * (MAP_LEAST + MAP_GAP),
                 left = fmax(PICTURE_LEAST * inner,
                             fmin(PICTURE_SHARE * inner, inner - GUTTER - need));
    size_picture(desc, left, MAPS_HEIGHT, layout);
    size_maps(desc, inner - GUTTER - fmax(layout->picture.width, 0.3 * inner), MAPS_HEIGHT, layout);
  }
}

/* ---------------------------------------------------------------------------------------- plain */

#define PLAIN_GAP 8.0   /* between picture and maps */
#define PLAIN_SHARE 0.6 /* of the width, that a picture much wider than high takes at most */

/* Picture and maps side by side, equally high and together as wide as the page: one equation for
 * the zoom. */
static void lay_out_plain(const heed_figure_desc *desc, figure_layout *layout) {
  const double width = figure_width(desc), aspect = (double)desc->image.width / desc->image.height,
               across = layout->grid_columns * (double)desc->columns,
               down = layout->grid_rows * (double)desc->rows,
               gaps_across = (layout->grid_columns - 1) * MAP_GAP,
               gaps_down = (layout->grid_rows - 1) * MAP_GAP;
  double zoom = (width - PLAIN_GAP - gaps_across - aspect * gaps_down) / (aspect * down + across);
  const bool strip = aspect * (zoom * down + gaps_down) > PLAIN_SHARE * width;
  if (strip) zoom = ((1.0 - PLAIN_SHARE) * width - PLAIN_GAP - gaps_across) / across;
  /* whole pixels, but not of a page whose millimetres are given */
  layout->zoom = fmax(desc->width_mm > 0.0 ? zoom : snap(zoom), STEP);
  layout->map_width = layout->cell_width = layout->zoom * desc->columns;
  layout->map_height = layout->zoom * desc->rows;
  layout->pitch_x = layout->map_width + MAP_GAP;
  layout->pitch_y = layout->map_height + MAP_GAP;
  const double high = layout->zoom * down + gaps_down;
  if (strip)
    size_picture(desc, PLAIN_SHARE * width, high, layout);
  else
    size_picture(desc, 2.0 * aspect * high, high, layout); /* as wide as its height makes it */
  layout->maps_x = layout->picture.width + PLAIN_GAP;
  layout->width = layout->maps_x + layout->zoom * across + gaps_across;
  layout->height = fmax(layout->picture.height, high);
}

/* ---------------------------------------------------------------------------------------- whole */

/* Below picture and maps. */
static double bar_room(const heed_figure_desc *desc) { return desc->rgb ? 0.0 : FIGURE_BAR_ROOM; }

static void place_left(const heed_figure_desc *desc, const figure_texts *texts,
                       const figure_ruler *ruler, double x, double y, figure_layout *layout) {
  const uint32_t lines = heed_text_lines(ruler, &heed_font_title, texts->title, layout->left_width);
  layout->picture.x = x;
  layout->picture.y = y;
  layout->picture_bar = (figure_box){x, y + layout->picture.height + GAP,
                                     fmin(layout->left_width, 320.0), FIGURE_BAR_HEIGHT};
  layout->title_y = layout->picture_bar.y + bar_room(desc) + GAP;
  layout->title_height = lines * FIGURE_TITLE_LINE;
}

static void place_right(const heed_figure_desc *desc, double x, double y, double width,
                        figure_layout *layout) {
  layout->maps_x = x + layout->label_width;
  layout->maps_y = y;
  layout->bar = (figure_box){layout->maps_x, y + maps_height(desc, layout) + GAP,
                             fmin(width - layout->label_width, 320.0), FIGURE_BAR_HEIGHT};
}

/* The two bars of a page stand on one line where they nearly do. */
static void align_bars(figure_layout *layout) {
  const double y = fmax(layout->bar.y, layout->picture_bar.y);
  if (fabs(layout->bar.y - layout->picture_bar.y) >= 30.0) return;
  layout->title_y += y - layout->picture_bar.y;
  layout->picture_bar.y = layout->bar.y = y;
}

void heed_figure_lay_out(const heed_figure_desc *desc, const figure_texts *texts,
                         const figure_ruler *ruler, figure_layout *layout) {
  double inner = figure_width(desc) - 2.0 * MARGIN;
  *layout = (figure_layout){.zoom = 0.0};
  count_maps(desc, ruler, layout);
  if (desc->plain) {
    lay_out_plain(desc, layout);
    return;
  }
  size_columns(desc, inner, layout);
  const bool stacked = inner < NARROW;
  const double least = fmin(200.0, inner), heading = (layout->list ? 1.0 : 2.0) * FIGURE_TEXT_LINE;
  const double right = fmax(maps_width(layout), least);
  layout->left_width = stacked ? inner : fmax(layout->picture.width, least);
  const double content = stacked ? fmax(inner, right) : layout->left_width + GUTTER + right;
  inner = fmax(inner, content);
  layout->width = inner + 2.0 * MARGIN;
  const double x = MARGIN + snap((inner - content) / 2.0), top = MARGIN + heading;
  place_left(desc, texts, ruler, x, stacked ? MARGIN + FIGURE_TEXT_LINE : top, layout);
  if (stacked)
    place_right(desc, x, layout->title_y + layout->title_height + GAP + heading, right, layout);
  else
    place_right(desc, x + layout->left_width + GUTTER, top, right, layout);
  if (!stacked) align_bars(layout);
  layout->caption_y =
      fmax(layout->title_y + layout->title_height, layout->bar.y + bar_room(desc)) + GAP;
  const uint32_t lines =
      heed_text_lines(ruler, &heed_font_quiet, texts->caption, heed_figure_caption_width(layout));
  layout->height = layout->caption_y + lines * FIGURE_TEXT_LINE + MARGIN - 6.0;
}
