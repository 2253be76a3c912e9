/* A figure of maps as a PNG, SVG or PDF file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/status.h"
#include "base/utf8.h"
#include "figure/compose.h"
#include "figure/format.h"
#include "figure/paint.h"
#include "figure/sheet.h"
#include "files/output.h"
#include "image/image.h"

#define SCREEN 2.0           /* pixels per unit */
#define PRINT (300.0 / 96.0) /* 300 per inch */

static double density_of(const heed_figure_desc *desc, figure_format format) {
  return desc->width_mm > 0.0 || format != FIGURE_PNG ? PRINT : SCREEN;
}

static heed_status write_png(heed_context *context, const figure_shapes *shapes,
                             const figure_metadata *metadata, double density, const char *path,
                             heed_error *error) {
  const heed_png_text texts[] = {{"Title", metadata->title},
                                 {"Description", metadata->description},
                                 {"Software", metadata->software}};
  uint8_t *pixels;
  HEED_TRY(heed_paint_pixels(context, shapes, density, &pixels, error));
  const heed_png png = {.pixels = pixels,
                        .width = heed_paint_pixels_of(shapes->width, density),
                        .height = heed_paint_pixels_of(shapes->height, density),
                        .pixels_per_metre = (uint32_t)(density * 96.0 / 0.0254 + 0.5),
                        .texts = texts,
                        .text_count = sizeof texts / sizeof *texts};
  const heed_status status = heed_png_save(path, &png, error);
  heed_free(context, pixels);
  return status;
}

static heed_status write_vector(const figure_shapes *shapes, const figure_metadata *metadata,
                                double width_mm, bool pdf, const char *path, heed_error *error) {
  const double points = width_mm > 0.0 ? width_mm / 25.4 * 72.0 / shapes->width : 72.0 / 96.0;
  heed_output output;
  HEED_TRY(heed_output_begin(&output, path, error));
  const heed_status status = pdf ? heed_paint_pdf(shapes, metadata, points, output.file, error)
                                 : heed_paint_svg(shapes, metadata, width_mm, output.file, error);
  if (ferror(output.file)) return heed_output_failed(&output, errno, error);
  if (status == HEED_OK) return heed_output_commit(&output, error);
  heed_output_abort(&output);
  return status;
}

/* Two texts as one for metadata, each line safe to show; the caller frees. */
static char *joined(heed_context *context, const char *text, const char *more) {
  const size_t size = strlen(text) + strlen(more) + 3;
  char *copy = heed_alloc(context, size, 1);
  if (copy) snprintf(copy, size, "%s%s%s", text, *text && *more ? "\n" : "", more);
  for (char *line = copy, *end = NULL; line; line = end) {
    end = strchr(line, '\n');
    if (end) *end = '\0';
    heed_utf8_clean(line);
    if (end) *end++ = '\n';
  }
  return copy;
}

static heed_status write_shapes(heed_context *context, const heed_figure_desc *desc,
                                figure_format format, const figure_shapes *shapes, const char *path,
                                heed_error *error) {
  char software[64];
  char *title = joined(context, desc->title ? desc->title : "attention maps", "");
  const char *from = desc->provenance ? desc->provenance : desc->caption ? desc->caption : "";
  char *description = joined(context, from, shapes->scale);
  snprintf(software, sizeof software, "heed %s", heed_version());
  const figure_metadata metadata = {title, description, software};
  const double width_mm = desc->width_mm;
  const double density = width_mm > 0.0 ? width_mm / 25.4 * 300.0 / shapes->width : SCREEN;
  heed_status status;
  if (!title || !description)
    status = heed_fail_memory(error, "figure", 256);
  else if (format == FIGURE_PNG)
    status = write_png(context, shapes, &metadata, density, path, error);
  else
    status = write_vector(shapes, &metadata, width_mm, format == FIGURE_PDF, path, error);
  heed_free(context, title);
  heed_free(context, description);
  return status;
}

static heed_status write_figure(heed_context *context, const heed_figure_desc *desc,
                                figure_format format, const figure_ruler *ruler, const char *path,
                                heed_error *error) {
  figure_shapes shapes;
  HEED_TRY(heed_figure_compose(context, desc, ruler, density_of(desc, format), &shapes, error));
  const heed_status status = write_shapes(context, desc, format, &shapes, path, error);
  heed_shapes_free(&shapes);
  return status;
}

heed_status heed_figure_write(heed_context *context, const heed_figure_desc *desc, const char *path,
                              heed_error *error) {
  heed_figure_desc full;
  figure_format format;
  figure_rulers *rulers;
  figure_ruler ruler;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "figure", error));
  HEED_TRY(heed_figure_check(path, error));
  HEED_TRY(heed_figure_format(path, &format, error));
  HEED_TRY(heed_ruler_open(context, &rulers, &ruler, error));
  const heed_status status = write_figure(context, &full, format, &ruler, path, error);
  heed_ruler_close(context, rulers);
  return status;
}

static heed_status write_sheet(const heed_sheet *sheet, const heed_sheet_desc *desc,
                               const figure_ruler *ruler, const char *path, heed_error *error) {
  const heed_figure_desc as = {.title = desc->title ? desc->title : "contact sheet",
                               .caption = desc->caption,
                               .provenance = desc->provenance,
                               .width_mm = desc->width_mm};
  figure_format format;
  figure_shapes shapes;
  HEED_TRY(heed_figure_format(path, &format, error));
  HEED_TRY(heed_sheet_compose(sheet, desc, ruler, &shapes, error));
  const heed_status status = write_shapes(sheet->context, &as, format, &shapes, path, error);
  heed_shapes_free(&shapes);
  return status;
}

heed_status heed_sheet_write(const heed_sheet *sheet, const heed_sheet_desc *desc, const char *path,
                             heed_error *error) {
  heed_sheet_desc full = {.struct_size = sizeof full};
  figure_rulers *rulers;
  figure_ruler ruler;
  if (!sheet)
    return heed_fail(error, HEED_INVALID_ARGUMENT, "sheet: NULL argument (expected a sheet)");
  if (desc) HEED_TRY(heed_desc_read(&full, sizeof full, desc, "sheet", error));
  HEED_TRY(heed_figure_check(path, error));
  HEED_TRY(heed_ruler_open(sheet->context, &rulers, &ruler, error));
  const heed_status status = write_sheet(sheet, &full, &ruler, path, error);
  heed_ruler_close(sheet->context, rulers);
  return status;
}
