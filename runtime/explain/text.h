/* A canvas of RGB pixels: filled rectangles, frames and text in a small built-in font. Everything
 * is clipped to the canvas. */
#ifndef HEED_EXPLAIN_TEXT_H
#define HEED_EXPLAIN_TEXT_H

#include "heed/heed.h"

typedef struct heed_canvas {
  uint8_t *pixels; /* [height, width, 3] */
  int32_t width, height;
} heed_canvas;

typedef struct heed_box {
  int32_t x, y, width, height;
} heed_box;

/* Colours are 0xRRGGBB. */
void heed_canvas_fill(heed_canvas *canvas, heed_box box, uint32_t color);
/* A frame of `thickness` pixels around the outside of the box. */
void heed_canvas_frame(heed_canvas *canvas, heed_box box, int32_t thickness, uint32_t color);

/* Cells of the font at scale 1: a character takes 6 x 7 pixels, gap included; two rows below the
 * line for g, j, p, q, y. */
#define HEED_TEXT_ADVANCE 6
#define HEED_TEXT_HEIGHT 7
#define HEED_TEXT_LINE 11 /* from line to line */

/* Characters drawn for the first `bytes` bytes of UTF-8: each character counts once. */
uint32_t heed_text_count(const char *text, size_t bytes);
/* Pixels across at a scale, without the last gap; 0 for an empty text. */
int32_t heed_text_width(const char *text, size_t bytes, int32_t scale);
/* Draws up to a NUL or `bytes` bytes with its upper left corner at (x, y). ASCII is drawn; other
 * characters as '?'. */
void heed_text_draw(heed_canvas *canvas, int32_t x, int32_t y, const char *text, size_t bytes,
                    int32_t scale, uint32_t color);

/* The same in the middle of [x, x + width), cut to what fits. */
void heed_text_draw_centred(heed_canvas *canvas, int32_t x, int32_t y, int32_t width,
                            const char *text, int32_t scale, uint32_t color);

/* Bytes of the first line of a text: up to '\n', or at most `characters` (>= 1) characters, broken
 * at a space where there is one. */
size_t heed_text_line(const char *text, int32_t characters);
/* Where the line after one of `bytes` bytes begins; the '\n' or the space between them is passed
 * over. */
const char *heed_text_next_line(const char *text, size_t bytes);

/* A number with `decimals` (0..9) digits after a point, whatever the locale; at most 31 characters.
 * Returns text. */
#define HEED_TEXT_NUMBER_SIZE 32
const char *heed_text_number(double value, uint32_t decimals, char text[HEED_TEXT_NUMBER_SIZE]);

#endif
