/* HTML and SVG. See page.h. */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/system.h"

static const char style[] =
    ":root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 25%,transparent)}"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:78rem;margin:0 auto;padding:1rem}"
    "h1{font-size:1.6rem}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}"
    "h3{font-size:1rem;margin:1.2rem 0 .3rem}"
    "p{max-width:46rem}.scroll{overflow-x:auto}table{border-collapse:collapse}"
    "td,th{padding:.15rem .6rem;text-align:right;font-variant-numeric:tabular-nums}"
    "th{font-weight:600}tbody tr:nth-child(even){background:color-mix(in srgb,currentColor "
    "6%,transparent)}td.t,th.t{text-align:left}"
    ".maps td{text-align:center;font-size:.75rem;line-height:1.25;padding:.3rem;background:none}"
    ".maps tr{background:none!important}img.m{width:84px;image-rendering:pixelated;display:block;"
    "margin:0 auto .15rem}.shots{display:flex;flex-wrap:wrap;gap:.5rem}"
    "figure{margin:0;width:112px;font-size:.72rem;line-height:1.25;overflow-wrap:anywhere}"
    ".s{display:block;margin-bottom:2px;width:112px;height:112px;background-size:100% "
    "100%;background-color:#8884}"
    ".s img{width:100%;height:100%;display:block;image-rendering:pixelated}"
    "svg{max-width:100%;height:auto}svg text{fill:currentColor;font:11px system-ui,sans-serif}"
    ".g{stroke:currentColor;stroke-opacity:.15}.b{display:inline-block;height:.7em;"
    "background:#4a7ab5}.q{opacity:.7}";

void survey_page_begin(survey_page *page, const char *title) {
  fputs("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width\">\n<title>",
        page->file);
  survey_page_text(page, title);
  fprintf(page->file, "</title>\n<style>%s</style>\n<h1>", style);
  survey_page_text(page, title);
  fputs("</h1>\n", page->file);
}

void survey_page_end(survey_page *page) {
  fprintf(page->file, "<p class=\"q\">heed %s</p>\n</html>\n", heed_version());
}

void survey_page_text(const survey_page *page, const char *text) {
  const size_t size = strlen(text);
  for (size_t at = 0, length; at < size; at += length) {
    uint32_t point;
    bool shown;
    length = heed_text_next(text + at, size - at, &point, &shown);
    if (!shown)
      fputs("\xEF\xBF\xBD", page->file);
    else if (strchr("<>&\"'", text[at]))
      fprintf(page->file, "&#%u;", (unsigned)point);
    else
      fwrite(text + at, 1, length, page->file);
  }
}

static void write_base64(FILE *file, const uint8_t *bytes, size_t size) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    const size_t left = size - i;
    const uint32_t three = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                           (left > 2 ? bytes[i + 2] : 0);
    fputc(digits[three >> 18], file);
    fputc(digits[three >> 12 & 63], file);
    fputc(left > 1 ? digits[three >> 6 & 63] : '=', file);
    fputc(left > 2 ? digits[three & 63] : '=', file);
  }
}

heed_status survey_page_png(const survey_page *page, const uint8_t *pixels, uint32_t width,
                            uint32_t height, uint32_t channels) {
  const size_t most = (size_t)width * height * channels;
  cli_memory memory;
  if (!cli_memory_open(&memory)) return heed_fail_memory(page->error, "report", most);
  heed_status status = heed_png_put(memory.file, pixels, width, height, channels, page->error);
  if (!cli_memory_close(&memory) && status == HEED_OK)
    status = heed_fail_memory(page->error, "report", most);
  if (status == HEED_OK) {
    fputs("data:image/png;base64,", page->file);
    write_base64(page->file, (const uint8_t *)memory.bytes, memory.size);
  }
  free(memory.bytes);
  return status;
}

heed_status survey_page_map(const survey_page *page, const double *weights, uint32_t rows,
                            uint32_t columns, double end, const char *class_, const char *alt) {
  const size_t count = (size_t)rows * columns;
  uint8_t *rgb = malloc(count * 3 + 1);
  if (!rgb) return heed_fail_memory(page->error, "report", count * 3);
  for (size_t i = 0; i < count; i++)
    heed_colormap_rgb(HEED_COLORMAP_VIRIDIS, end > 0.0 ? weights[i] / end : weights[i],
                      rgb + 3 * i);
  fprintf(page->file, "<img class=\"%s\" alt=\"%s\" src=\"", class_, alt);
  const heed_status status = survey_page_png(page, rgb, columns, rows, 3);
  fputs("\">", page->file);
  free(rgb);
  return status;
}
