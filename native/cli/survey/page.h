/* What the parts of a report share: HTML and SVG out. The page has no script and asks for nothing:
 * plots are SVG, maps and pictures are PNGs in data addresses. */
#ifndef HEED_CLI_SURVEY_PAGE_H
#define HEED_CLI_SURVEY_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "heed/native.h"
#include "places.h"

typedef struct survey_page {
  FILE *file;
  heed_error *error;
} survey_page;

void survey_page_begin(survey_page *page, const char *title);
void survey_page_end(survey_page *page);
/* Text of HTML, also in an attribute. Controls and bytes that are no UTF-8 become U+FFFD. */
void survey_page_text(const survey_page *page, const char *text);
/* "data:image/png;base64,...". channels: 3 or 4. Statuses: OUT_OF_MEMORY, IO. */
heed_status survey_page_png(const survey_page *page, const uint8_t *pixels, uint32_t width,
                            uint32_t height, uint32_t channels);
/* An img of weights [rows, columns], 0 to `end` in the colours of maps; NaN is grey. class_: of the
 * img. Statuses: OUT_OF_MEMORY, IO. */
heed_status survey_page_map(const survey_page *page, const double *weights, uint32_t rows,
                            uint32_t columns, double end, const char *class_, const char *alt);

/* A dot a head: across the share of the offset, up how sharply it looks. `from`: where the head was
 * in another survey, a line each; or NULL. */
typedef struct survey_dot {
  survey_place place, from;
  uint32_t layer, head;
} survey_dot;
void survey_page_scatter(const survey_page *page, const survey_dot *dots, size_t count,
                         uint32_t layers, bool moved);

#endif
