/* Shapes -> SVG. Written here and not by cairo, which turns text into outlines, smooths maps and
 * numbers its parts by what else the process has drawn: text stays text, as wide as cairo measured
 * it, and a patch stays square. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number_text.h"
#include "base/status.h"
#include "figure/paint.h"
#include "image/image.h"

static void put_number(FILE *file, const char *name, double value) {
  char text[HEED_TEXT_NUMBER_SIZE];
  fprintf(file, " %s=\"%s\"", name, heed_text_number(value, 2, text));
}

static void put_box(FILE *file, const figure_box *box) {
  put_number(file, "x", box->x);
  put_number(file, "y", box->y);
  put_number(file, "width", box->width);
  put_number(file, "height", box->height);
}

static void put_escaped(FILE *file, const char *text) {
  for (; *text; text++) {
    if (*text == '&')
      fputs("&amp;", file);
    else if (*text == '<')
      fputs("&lt;", file);
    else if (*text == '>')
      fputs("&gt;", file);
    else
      fputc(*text, file);
  }
}

/* ------------------------------------------------------------------------------------ images */

typedef struct base64 {
  FILE *file;
  uint32_t bits, bytes; /* of a group of three */
} base64;

static void put_group(base64 *to, uint32_t characters) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (uint32_t i = 0; i < 4; i++)
    fputc(i < characters ? digits[to->bits >> (18 - 6 * i) & 63] : '=', to->file);
  to->bits = to->bytes = 0;
}

static bool to_base64(void *user, const void *bytes, size_t count) {
  base64 *to = user;
  for (size_t i = 0; i < count; i++) {
    to->bits |= (uint32_t)((const uint8_t *)bytes)[i] << (16 - 8 * to->bytes);
    if (++to->bytes == 3) put_group(to, 4);
  }
  return true;
}

/* A patch as a square of pixels, about one per unit: programs that smooth what they enlarge,
 * against image-rendering, blur its edge alone. NULL without memory; heed_free it. */
static uint8_t *enlarge(const heed_context *context, const figure_shape *shape, uint32_t rows,
                        uint32_t columns) {
  const uint32_t down = rows / shape->rows, across = columns / shape->columns;
  uint8_t *to = heed_alloc_raw(context, (size_t)rows * columns, 4);
  for (size_t y = 0; to && y < rows; y++)
    for (size_t x = 0; x < columns; x++)
      memcpy(to + (y * columns + x) * 4,
             shape->pixels + (y / down * shape->columns + x / across) * 4, 4);
  return to;
}

static bool put_pixels(FILE *file, const figure_shape *shape, const uint8_t *pixels, uint32_t rows,
                       uint32_t columns) {
  base64 to = {file, 0, 0};
  const heed_png png = {.pixels = pixels, .width = columns, .height = rows, .alpha = true};
  fputs("<image", file);
  put_box(file, &shape->box);
  fprintf(file, " preserveAspectRatio=\"none\"%s xlink:href=\"data:image/png;base64,",
          shape->smooth ? "" : " style=\"image-rendering:pixelated\"");
  const bool written = heed_png_emit(&png, to_base64, &to);
  if (to.bytes) put_group(&to, to.bytes + 1);
  fputs("\"/>", file);
  return written;
}

static bool put_image(const heed_context *context, FILE *file, const figure_shape *shape) {
  if (shape->smooth) return put_pixels(file, shape, shape->pixels, shape->rows, shape->columns);
  const uint32_t rows = shape->rows * (uint32_t)fmax(ceil(shape->box.height / shape->rows), 1.0),
                 columns =
                     shape->columns * (uint32_t)fmax(ceil(shape->box.width / shape->columns), 1.0);
  uint8_t *pixels = enlarge(context, shape, rows, columns);
  const bool written = pixels && put_pixels(file, shape, pixels, rows, columns);
  heed_free(context, pixels);
  return written;
}

/* ------------------------------------------------------------------------------------ shapes */

static void put_text(FILE *file, const figure_shape *shape) {
  static const char *const anchors[] = {"start", "middle", "end"};
  fprintf(file, "<text fill=\"#%06x\" text-anchor=\"%s\"", shape->font.color,
          anchors[shape->anchor]);
  put_number(file, "x", shape->box.x);
  put_number(file, "y", shape->box.y);
  put_number(file, "font-size", shape->font.size);
  put_number(file, "textLength", shape->box.width);
  fprintf(file, " lengthAdjust=\"spacingAndGlyphs\"%s>",
          shape->font.bold ? " font-weight=\"bold\"" : "");
  put_escaped(file, shape->text);
  fputs("</text>", file);
}

static void put_rect(FILE *file, const figure_shape *shape) {
  fputs("<rect", file);
  put_box(file, &shape->box);
  if (shape->kind == FIGURE_FRAME) {
    fprintf(file, " fill=\"none\" stroke=\"#%06x\"", shape->color);
    put_number(file, "stroke-width", shape->line);
  } else {
    fprintf(file, " fill=\"#%06x\"", shape->color);
    if (shape->opacity < 1.0) put_number(file, "fill-opacity", shape->opacity);
  }
  fputs("/>", file);
}

static bool put_shape(const heed_context *context, FILE *file, const figure_shape *shape) {
  bool written = true;
  if (shape->clipped) fputs("<g clip-path=\"url(#picture)\">", file);
  if (shape->kind == FIGURE_IMAGE)
    written = put_image(context, file, shape);
  else if (shape->kind == FIGURE_TEXT)
    put_text(file, shape);
  else
    put_rect(file, shape);
  fputs(shape->clipped ? "</g>\n" : "\n", file);
  return written;
}

/* ------------------------------------------------------------------------------------- whole */

static void put_head(FILE *file, const figure_shapes *shapes, double width_mm) {
  const double scale = width_mm > 0.0 ? width_mm / shapes->width : 1.0;
  const char *unit = width_mm > 0.0 ? "mm" : "";
  char width[HEED_TEXT_NUMBER_SIZE], height[HEED_TEXT_NUMBER_SIZE];
  fprintf(file,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
          "xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"%s%s\" height=\"%s%s\"",
          heed_text_number(shapes->width * scale, 2, width), unit,
          heed_text_number(shapes->height * scale, 2, height), unit);
  fprintf(file, " viewBox=\"0 0 %s %s\" role=\"img\">\n", heed_text_number(shapes->width, 2, width),
          heed_text_number(shapes->height, 2, height));
}

static void put_element(FILE *file, const char *name, const char *text) {
  fprintf(file, "<%s>", name);
  put_escaped(file, text);
  fprintf(file, "</%s>\n", name);
}

static void put_metadata(FILE *file, const figure_metadata *metadata) {
  put_element(file, "title", metadata->title);
  put_element(file, "desc", metadata->description);
  fputs("<metadata><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" "
        "xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><rdf:Description rdf:about=\"\">\n",
        file);
  put_element(file, "dc:title", metadata->title);
  put_element(file, "dc:description", metadata->description);
  put_element(file, "dc:creator", metadata->software);
  fputs("</rdf:Description></rdf:RDF></metadata>\n", file);
}

heed_status heed_paint_svg(const figure_shapes *shapes, const figure_metadata *metadata,
                           double width_mm, FILE *file, heed_error *error) {
  bool written = true;
  put_head(file, shapes, width_mm);
  put_metadata(file, metadata);
  fputs("<clipPath id=\"picture\"><rect", file);
  put_box(file, &shapes->clip);
  fputs("/></clipPath>\n<g font-family=\"" FIGURE_FONTS "\">\n", file);
  for (size_t i = 0; written && i < shapes->count; i++)
    written = put_shape(shapes->context, file, &shapes->shape[i]);
  fputs("</g>\n</svg>\n", file);
  return written ? HEED_OK : heed_fail_memory(error, "figure", shapes->capacity);
}
