/* Text in lines and shortened. See shapes.h. Widths are measured of pieces of at most
 * FIGURE_FITTED_SIZE bytes: no line of a figure holds more. */
#include <string.h>

#include "base/utf8.h"
#include "figure/shapes.h"

#define ELLIPSIS "\xE2\x80\xA6"

/* Bytes of the character at text[at]; 1 for a byte that is none. */
static size_t character(const char *text, size_t at) {
  size_t size = 0;
  while (size < 4 && text[at + size]) size++;
  const size_t length = heed_utf8_length(text, at, at + size);
  return length ? length : 1;
}

static double width_of(const figure_ruler *ruler, const figure_font *font, const char *text,
                       size_t bytes, const char *end) {
  char piece[FIGURE_FITTED_SIZE + 8];
  memcpy(piece, text, bytes);
  strcpy(piece + bytes, end);
  heed_utf8_clean(piece);
  return ruler->width(ruler->user, piece, font);
}

size_t heed_text_line(const figure_ruler *ruler, const figure_font *font, const char *text,
                      double width) {
  size_t end = 0, space = 0;
  while (text[end] && text[end] != '\n') {
    const size_t next = end + character(text, end);
    if (end && (next > FIGURE_FITTED_SIZE || width_of(ruler, font, text, next, "") > width))
      return space && text[end] != ' ' ? space : end;
    if (text[end] == ' ' && end) space = end;
    end = next;
  }
  return end;
}

const char *heed_text_next_line(const char *text, size_t bytes) {
  text += bytes;
  return *text == '\n' || *text == ' ' ? text + 1 : text;
}

uint32_t heed_text_lines(const figure_ruler *ruler, const figure_font *font, const char *text,
                         double width) {
  uint32_t count = 0;
  for (; text && *text; count++)
    text = heed_text_next_line(text, heed_text_line(ruler, font, text, width));
  return count;
}

const char *heed_text_fitted(const figure_ruler *ruler, const figure_font *font, const char *text,
                             double width, char fitted[FIGURE_FITTED_SIZE]) {
  const size_t line = strcspn(text, "\n");
  size_t bytes = 0, fits = 0;
  fitted[0] = '\0';
  if (line < FIGURE_FITTED_SIZE && width_of(ruler, font, text, line, "") <= width) {
    memcpy(fitted, text, line);
    fitted[line] = '\0';
    return fitted;
  }
  while (bytes < line && bytes + 8 < FIGURE_FITTED_SIZE) {
    bytes += character(text, bytes);
    if (width_of(ruler, font, text, bytes, ELLIPSIS) > width) break;
    fits = bytes;
  }
  if (!fits) return fitted;
  memcpy(fitted, text, fits);
  strcpy(fitted + fits, ELLIPSIS);
  return fitted;
}
