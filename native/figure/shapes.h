/* A figure as a list of shapes, in the order in which they are painted: what layout makes, and what
 * the writers of PNG, PDF and SVG take. Lengths are units of 1/96 inch from the upper left. */
#ifndef HEED_NATIVE_FIGURE_SHAPES_H
#define HEED_NATIVE_FIGURE_SHAPES_H

#include "heed/native.h"

typedef struct figure_box {
  double x, y, width, height;
} figure_box;

typedef enum figure_kind { FIGURE_FILL, FIGURE_FRAME, FIGURE_IMAGE, FIGURE_TEXT } figure_kind;
typedef enum figure_anchor { FIGURE_START, FIGURE_MIDDLE, FIGURE_END } figure_anchor;

typedef struct figure_font {
  double size;
  bool bold;
  uint32_t color; /* 0xRRGGBB */
} figure_font;

typedef struct figure_shape {
  figure_kind kind;
  bool clipped;    /* to figure_shapes.clip */
  figure_box box;  /* of a text: x, y = its anchor on the baseline, width = its advance */
  uint32_t color;  /* 0xRRGGBB, of a fill or frame */
  double opacity;  /* of a fill */
  double line;     /* of a frame: its width, centred on the box's edge */
  uint8_t *pixels; /* of an image: [rows, columns, 4], not premultiplied */
  uint32_t rows, columns;
  bool smooth; /* an image that is interpolated where it is enlarged */
  char *text;
  figure_font font;
  figure_anchor anchor;
} figure_shape;

typedef struct figure_shapes {
  const heed_context *context; /* borrowed */
  figure_shape *shape;
  size_t count, capacity;
  bool failed;          /* out of memory: what was added since is missing */
  double width, height; /* of the page */
  const char *scale;    /* what the colours mean; static */
  figure_box clip;
} figure_shapes;

/* How wide a text is in a font. */
typedef struct figure_ruler {
  double (*width)(void *user, const char *text, const figure_font *font);
  void *user;
} figure_ruler;

void heed_shapes_fill(figure_shapes *shapes, figure_box box, uint32_t color, double opacity);
void heed_shapes_frame(figure_shapes *shapes, figure_box box, double line, uint32_t color);
/* Returns its zeroed pixels, to be filled; NULL when out of memory. */
uint8_t *heed_shapes_image(figure_shapes *shapes, figure_box box, uint32_t rows, uint32_t columns,
                           bool smooth);
/* `bytes` of a text, made safe to show (heed_utf8_clean); nothing where it is empty. */
void heed_shapes_text(figure_shapes *shapes, const figure_ruler *ruler, double x, double y,
                      figure_anchor anchor, const figure_font *font, const char *text,
                      size_t bytes);
/* The last shape that was added is clipped. */
void heed_shapes_clip_last(figure_shapes *shapes);
void heed_shapes_free(figure_shapes *shapes);

/* Bytes of the first line of a text: up to '\n', or as many words as fit into `width`; a word that
 * is longer is split. At least one character. */
size_t heed_text_line(const figure_ruler *ruler, const figure_font *font, const char *text,
                      double width);
/* Where the line after one of `bytes` bytes begins. */
const char *heed_text_next_line(const char *text, size_t bytes);
/* How many lines the text takes. */
uint32_t heed_text_lines(const figure_ruler *ruler, const figure_font *font, const char *text,
                         double width);
/* Writes the text, or its start and an ellipsis, so that it fits into `width`; "" where nothing
 * does. */
#define FIGURE_FITTED_SIZE 256
const char *heed_text_fitted(const figure_ruler *ruler, const figure_font *font, const char *text,
                             double width, char fitted[FIGURE_FITTED_SIZE]);

#endif
