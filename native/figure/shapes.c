/* The list of a figure's shapes. See shapes.h. */
#include "figure/shapes.h"

#include "base/alloc.h"
#include "base/utf8.h"

static figure_shape *add(figure_shapes *shapes, figure_kind kind, figure_box box) {
  if (shapes->failed || !heed_grow(shapes->context, &shapes->shape, &shapes->capacity,
                                   shapes->count + 1, sizeof *shapes->shape)) {
    shapes->failed = true;
    return NULL;
  }
  figure_shape *shape = &shapes->shape[shapes->count++];
  *shape = (figure_shape){.kind = kind, .box = box, .opacity = 1.0};
  return shape;
}

void heed_shapes_fill(figure_shapes *shapes, figure_box box, uint32_t color, double opacity) {
  figure_shape *shape = box.width > 0.0 && box.height > 0.0 ? add(shapes, FIGURE_FILL, box) : NULL;
  if (!shape) return;
  shape->color = color;
  shape->opacity = opacity;
}

void heed_shapes_frame(figure_shapes *shapes, figure_box box, double line, uint32_t color) {
  figure_shape *shape = add(shapes, FIGURE_FRAME, box);
  if (!shape) return;
  shape->color = color;
  shape->line = line;
}

uint8_t *heed_shapes_image(figure_shapes *shapes, figure_box box, uint32_t rows, uint32_t columns,
                           bool smooth) {
  figure_shape *shape = add(shapes, FIGURE_IMAGE, box);
  if (!shape) return NULL;
  shape->rows = rows;
  shape->columns = columns;
  shape->smooth = smooth;
  shape->pixels = heed_alloc(shapes->context, (size_t)rows * columns, 4);
  if (shape->pixels) return shape->pixels;
  shapes->failed = true;
  shapes->count--;
  return NULL;
}

void heed_shapes_text(figure_shapes *shapes, const figure_ruler *ruler, double x, double y,
                      figure_anchor anchor, const figure_font *font, const char *text,
                      size_t bytes) {
  figure_shape *shape = bytes ? add(shapes, FIGURE_TEXT, (figure_box){x, y, 0.0, 0.0}) : NULL;
  if (!shape) return;
  shape->text = heed_copy_string(shapes->context, text, bytes);
  if (!shape->text) {
    shapes->failed = true;
    shapes->count--;
    return;
  }
  heed_utf8_clean(shape->text);
  shape->anchor = anchor;
  shape->font = *font;
  shape->box.width = ruler->width(ruler->user, shape->text, font);
}

void heed_shapes_clip_last(figure_shapes *shapes) {
  if (shapes->count) shapes->shape[shapes->count - 1].clipped = true;
}

void heed_shapes_free(figure_shapes *shapes) {
  for (size_t i = 0; i < shapes->count; i++) {
    heed_free(shapes->context, shapes->shape[i].pixels);
    heed_free(shapes->context, shapes->shape[i].text);
  }
  heed_free(shapes->context, shapes->shape);
  *shapes = (figure_shapes){.context = shapes->context};
}
