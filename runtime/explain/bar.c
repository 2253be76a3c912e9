/* Colour bars. See bar.h. */
#include "explain/bar.h"

#define TEXT HEED_BAR_TEXT
#define INK HEED_BAR_INK

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* The colours from 0 to 1: upwards or to the right. */
static void draw_colors(heed_canvas *canvas, heed_box bar, heed_colormap colormap) {
  const bool upright = bar.height > bar.width;
  const int32_t length = upright ? bar.height : bar.width;
  for (int32_t i = 0; i < length; i++) {
    const heed_box up = {bar.x, bar.y + length - 1 - i, bar.width, 1},
                   right = {bar.x + i, bar.y, 1, bar.height};
    uint8_t rgb[3];
    heed_colormap_rgb(colormap, (i + 0.5) / length, rgb);
    heed_canvas_fill(canvas, upright ? up : right,
                     (uint32_t)rgb[0] << 16 | (uint32_t)rgb[1] << 8 | rgb[2]);
  }
  heed_canvas_frame(canvas, bar, 1, INK);
}

/* A mark and its number at share `t` of the bar. */
static void draw_tick(heed_canvas *canvas, heed_box bar, double t, const char *text) {
  const int32_t width = heed_text_width(text, SIZE_MAX, TEXT);
  if (bar.height > bar.width) {
    const int32_t y = bar.y + bar.height - (int32_t)(t * bar.height + 0.5);
    heed_canvas_fill(canvas, (heed_box){bar.x + bar.width, y - (t > 0.5), 5, 1}, INK);
    heed_text_draw(canvas, bar.x + bar.width + 9, y - HEED_TEXT_HEIGHT * TEXT / 2, text, SIZE_MAX,
                   TEXT, INK);
  } else {
    const int32_t x = bar.x + (int32_t)(t * bar.width + 0.5), end = bar.x + bar.width;
    heed_canvas_fill(canvas, (heed_box){x - (t > 0.5), bar.y + bar.height, 1, 5}, INK);
    heed_text_draw(canvas, larger(bar.x, smaller(x - width / 2, end - width)),
                   bar.y + bar.height + 8, text, SIZE_MAX, TEXT, INK);
  }
}

void heed_bar_draw(heed_canvas *canvas, heed_box bar, heed_colormap colormap,
                   const heed_scale *scale) {
  heed_scale_tick ticks[HEED_SCALE_TICKS];
  const bool upright = bar.height > bar.width;
  const double length = upright ? (double)bar.height / (HEED_TEXT_LINE * TEXT)
                                : (double)bar.width / (HEED_TEXT_ADVANCE * TEXT);
  const uint32_t count = heed_scale_ticks(scale, length, upright ? 1.0 : 0.0, ticks);
  draw_colors(canvas, bar, colormap);
  for (uint32_t i = 0; i < count; i++) draw_tick(canvas, bar, ticks[i].at, ticks[i].text);
}
