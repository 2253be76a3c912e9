/* Shapes -> pixels and PDF, and the widths of text: the only place that knows cairo. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/status.h"
#include "figure/paint.h"
#include "late/cairo.h"

#if defined(__SANITIZE_ADDRESS__)
/* fontconfig keeps what it found until the process ends, where LeakSanitizer does not see it: a few
 * blocks of a process, however many figures it draws. Suppressed without a word on stderr. */
#define SANITIZER_HOOK __attribute__((visibility("default"))) const char *
SANITIZER_HOOK __lsan_default_suppressions(void);
SANITIZER_HOOK __lsan_default_options(void);
SANITIZER_HOOK __lsan_default_suppressions(void) { return "leak:libfontconfig.so\n"; }
SANITIZER_HOOK __lsan_default_options(void) { return "print_suppressions=0"; }
#endif

/* ------------------------------------------------------------------------------------ shapes */

static void set_color(cairo_t *cr, uint32_t color, double opacity) {
  cairo_set_source_rgba(cr, (color >> 16) / 255.0, (color >> 8 & 0xFF) / 255.0,
                        (color & 0xFF) / 255.0, opacity);
}

static void set_box(cairo_t *cr, const figure_box *box) {
  cairo_rectangle(cr, box->x, box->y, box->width, box->height);
}

/* Without hinting: a text is as wide as it was measured, at every size of the page. */
static void set_font(cairo_t *cr, const figure_font *font) {
  cairo_font_options_t *options = cairo_font_options_create();
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(cr, options);
  cairo_font_options_destroy(options);
  cairo_select_font_face(cr, FIGURE_FONT, CAIRO_FONT_SLANT_NORMAL,
                         font->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(cr, font->size);
}

/* Where no font is installed cairo draws letters of its own, those of ASCII alone. */
static bool has_no_fonts(cairo_t *cr) {
  return cairo_scaled_font_get_type(cairo_get_scaled_font(cr)) == CAIRO_FONT_TYPE_USER;
}

#define LINE_SIZE 1024 /* of a line on the page, which is shorter */

/* The text in the letters that there are. */
static const char *drawn_text(cairo_t *cr, const char *text, char plain[LINE_SIZE]) {
  static const struct {
    const char *sign, *plain;
  } signs[] = {{"\xC3\x97", "x"}, {"\xE2\x89\xA5", ">="}, {"\xE2\x80\xA6", "..."}};
  size_t size = 0;
  if (!has_no_fonts(cr)) return text;
  while (*text && size + 4 < LINE_SIZE) {
    const char *as = "?";
    size_t bytes = 1;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
      if (strncmp(text, signs[i].sign, strlen(signs[i].sign)) == 0) as = signs[i].plain;
    while ((text[bytes] & 0xC0) == 0x80) bytes++;
    if ((unsigned char)*text < 0x80)
      plain[size++] = *text;
    else
      for (; *as; as++) plain[size++] = *as;
    text += bytes;
  }
  plain[size] = '\0';
  return plain;
}

/* RGBA -> cairo's words of premultiplied alpha, red, green, blue. */
static void premultiply(const figure_shape *shape, cairo_surface_t *surface) {
  unsigned char *words = cairo_image_surface_get_data(surface);
  const size_t stride = (size_t)cairo_image_surface_get_stride(surface);
  cairo_surface_flush(surface);
  for (uint32_t y = 0; y < shape->rows; y++)
    for (uint32_t x = 0; x < shape->columns; x++) {
      const uint8_t *rgba = shape->pixels + ((size_t)y * shape->columns + x) * 4;
      uint32_t word = (uint32_t)rgba[3] << 24;
      for (int c = 0; c < 3; c++) word |= ((uint32_t)rgba[c] * rgba[3] + 127) / 255 << (16 - 8 * c);
      memcpy(words + y * stride + (size_t)x * 4, &word, sizeof word);
    }
  cairo_surface_mark_dirty(surface);
}

static bool is_opaque(const figure_shape *shape) {
  for (size_t i = 0; i < (size_t)shape->rows * shape->columns; i++)
    if (shape->pixels[4 * i + 3] != 255) return false;
  return true;
}

static void paint_image(cairo_t *cr, const figure_shape *shape) {
  cairo_surface_t *surface =
      cairo_image_surface_create(is_opaque(shape) ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32,
                                 (int)shape->columns, (int)shape->rows);
  if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) premultiply(shape, surface);
  cairo_save(cr);
  set_box(cr, &shape->box);
  cairo_clip(cr);
  cairo_translate(cr, shape->box.x, shape->box.y);
  cairo_scale(cr, shape->box.width / shape->columns, shape->box.height / shape->rows);
  cairo_set_source_surface(cr, surface, 0.0, 0.0);
  cairo_pattern_set_filter(cairo_get_source(cr),
                           shape->smooth ? CAIRO_FILTER_BILINEAR : CAIRO_FILTER_NEAREST);
  cairo_pattern_set_extend(cairo_get_source(cr), CAIRO_EXTEND_PAD);
  cairo_paint(cr);
  cairo_restore(cr);
  cairo_surface_destroy(surface);
}

static void paint_text(cairo_t *cr, const figure_shape *shape) {
  const double back = shape->anchor == FIGURE_START    ? 0.0
                      : shape->anchor == FIGURE_MIDDLE ? 0.5
                                                       : 1.0;
  char plain[LINE_SIZE];
  set_font(cr, &shape->font);
  set_color(cr, shape->font.color, 1.0);
  cairo_move_to(cr, shape->box.x - back * shape->box.width, shape->box.y);
  cairo_show_text(cr, drawn_text(cr, shape->text, plain));
}

static void paint_shape(cairo_t *cr, const figure_shape *shape) {
  switch (shape->kind) {
    case FIGURE_FILL:
      set_color(cr, shape->color, shape->opacity);
      set_box(cr, &shape->box);
      cairo_fill(cr);
      break;
    case FIGURE_FRAME:
      set_color(cr, shape->color, 1.0);
      cairo_set_line_width(cr, shape->line);
      set_box(cr, &shape->box);
      cairo_stroke(cr);
      break;
    case FIGURE_IMAGE: paint_image(cr, shape); break;
    case FIGURE_TEXT: paint_text(cr, shape); break;
  }
}

static void paint(cairo_t *cr, const figure_shapes *shapes) {
  for (size_t i = 0; i < shapes->count; i++) {
    cairo_save(cr);
    if (shapes->shape[i].clipped) {
      set_box(cr, &shapes->clip);
      cairo_clip(cr);
    }
    paint_shape(cr, &shapes->shape[i]);
    cairo_restore(cr);
  }
}

/* Ends a surface and what draws on it. */
static heed_status finish(cairo_t *cr, cairo_surface_t *surface, heed_error *error) {
  cairo_surface_finish(surface);
  const cairo_status_t of_cr = cairo_status(cr), of_surface = cairo_surface_status(surface);
  const cairo_status_t status = of_cr != CAIRO_STATUS_SUCCESS ? of_cr : of_surface;
  cairo_destroy(cr);
  cairo_surface_destroy(surface);
  if (status == CAIRO_STATUS_SUCCESS) return HEED_OK;
  return heed_fail(error,
                   status == CAIRO_STATUS_NO_MEMORY ? HEED_OUT_OF_MEMORY : HEED_INVALID_ARGUMENT,
                   "figure: cairo cannot draw it (found \"%s\", expected success)",
                   cairo_status_to_string(status));
}

/* ------------------------------------------------------------------------------------- ruler */

struct figure_rulers {
  cairo_surface_t *surface;
  cairo_t *cr;
};

static double width_of(void *user, const char *text, const figure_font *font) {
  const figure_rulers *rulers = user;
  cairo_text_extents_t extents;
  char plain[LINE_SIZE];
  set_font(rulers->cr, font);
  cairo_text_extents(rulers->cr, drawn_text(rulers->cr, text, plain), &extents);
  return extents.x_advance;
}

/* Once in a process, which may draw thousands of figures. */
static void warn_of_fonts(const heed_context *context, cairo_t *cr) {
  static atomic_flag warned = ATOMIC_FLAG_INIT;
  set_font(cr, &(figure_font){12.0, false, 0});
  if (has_no_fonts(cr) && !atomic_flag_test_and_set(&warned))
    heed_log(context, HEED_LOG_WARNING,
             "figures: no fonts are installed: plain letters are drawn, and ? for what is not "
             "ASCII (expected a font such as DejaVu Sans; Debian: fonts-dejavu-core)");
}

heed_status heed_ruler_open(heed_context *context, figure_rulers **rulers, figure_ruler *ruler,
                            heed_error *error) {
  HEED_TRY(heed_late_open_cairo(error));
  figure_rulers *made = *rulers = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "figure", sizeof *made);
  made->surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
  made->cr = cairo_create(made->surface);
  warn_of_fonts(context, made->cr);
  *ruler = (figure_ruler){width_of, made};
  return HEED_OK;
}

void heed_ruler_close(heed_context *context, figure_rulers *rulers) {
  cairo_destroy(rulers->cr);
  cairo_surface_destroy(rulers->surface);
  heed_free(context, rulers);
}

/* ------------------------------------------------------------------------------------ pixels */

uint32_t heed_paint_pixels_of(double length, double density) {
  return (uint32_t)fmax(round(length * density), 1.0);
}

heed_status heed_paint_pixels(heed_context *context, const figure_shapes *shapes, double density,
                              uint8_t **rgb, heed_error *error) {
  const uint32_t width = heed_paint_pixels_of(shapes->width, density),
                 height = heed_paint_pixels_of(shapes->height, density);
  uint8_t *pixels = *rgb = heed_alloc_raw(context, (size_t)width * height, 3);
  if (!pixels) return heed_fail_memory(error, "figure", (size_t)width * height * 3);
  cairo_surface_t *surface =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)width, (int)height);
  cairo_t *cr = cairo_create(surface);
  cairo_scale(cr, density, density);
  paint(cr, shapes);
  cairo_surface_flush(surface);
  const unsigned char *words = cairo_image_surface_get_data(surface);
  const size_t stride = (size_t)cairo_image_surface_get_stride(surface);
  for (uint32_t y = 0; words && y < height; y++)
    for (uint32_t x = 0; x < width; x++) {
      uint32_t word;
      memcpy(&word, words + y * stride + (size_t)x * 4, sizeof word);
      for (int c = 0; c < 3; c++) *pixels++ = (uint8_t)(word >> (16 - 8 * c) & 0xFF);
    }
  const heed_status status = finish(cr, surface, error);
  if (status == HEED_OK) return HEED_OK;
  heed_free(context, *rgb);
  *rgb = NULL;
  return status;
}

/* --------------------------------------------------------------------------------------- PDF */

/* The file keeps its own errors, for who closes it: cairo 1.18 leaks what it draws once it is told
 * of one. */
static cairo_status_t to_file(void *user, const unsigned char *bytes, unsigned int count) {
  fwrite(bytes, 1, count, user);
  return CAIRO_STATUS_SUCCESS;
}

heed_status heed_paint_pdf(const figure_shapes *shapes, const figure_metadata *metadata,
                           double points, FILE *file, heed_error *error) {
  cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(
      to_file, file, shapes->width * points, shapes->height * points);
  /* cairo 1.18 would pack title and description away, where search tools do not look */
  cairo_pdf_surface_restrict_to_version(surface, CAIRO_PDF_VERSION_1_4);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, metadata->title);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_SUBJECT, metadata->description);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, metadata->software);
  /* what is no date leaves the date out: equal figures are equal files */
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "none");
  cairo_t *cr = cairo_create(surface);
  cairo_scale(cr, points, points);
  paint(cr, shapes);
  cairo_show_page(cr);
  return finish(cr, surface, error);
}
