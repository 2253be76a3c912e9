/* The picture in the resolution of a figure. See compose.h. */
#include <math.h>
#include <string.h>

#include "figure/compose.h"

/* Pixels [first, end) of a side of `size` that cell `at` of `cells` covers, and how much of the
 * first and the last. */
typedef struct cover {
  uint32_t first, end;
  double of_first, of_last;
} cover;

static cover cover_of(uint32_t at, uint32_t cells, uint32_t size) {
  const double from = (double)at * size / cells, to = (double)(at + 1) * size / cells;
  cover c = {(uint32_t)from, (uint32_t)ceil(to - 1e-9), 1.0, 1.0};
  if (c.first > size - 1) c.first = size - 1;
  if (c.end > size) c.end = size;
  if (c.end <= c.first) c.end = c.first + 1;
  if (c.end == c.first + 1) return c;
  c.of_first = 1.0 - (from - c.first);
  c.of_last = 1.0 - (c.end - to);
  return c;
}

static double share_of(const cover *c, uint32_t i) {
  return i == c->first ? c->of_first : i + 1 == c->end ? c->of_last : 1.0;
}

static void sample(const heed_image *image, const cover *down, const cover *across,
                   uint8_t rgba[4]) {
  double sum[3] = {0.0, 0.0, 0.0}, total = 0.0;
  for (uint32_t y = down->first; y < down->end; y++) {
    const uint8_t *row = image->pixels + (size_t)y * image->stride;
    for (uint32_t x = across->first; x < across->end; x++) {
      const uint8_t *pixel = row + (size_t)x * image->channels;
      const double share = share_of(down, y) * share_of(across, x);
      for (int c = 0; c < 3; c++) sum[c] += share * pixel[image->channels == 1 ? 0 : c];
      total += share;
    }
  }
  for (int c = 0; c < 3; c++) rgba[c] = (uint8_t)(sum[c] / total + 0.5);
  rgba[3] = 255;
}

void heed_figure_sample(const heed_image *image, uint32_t rows, uint32_t columns, uint8_t *rgba) {
  for (uint32_t y = 0; y < rows; y++) {
    const cover down = cover_of(y, rows, image->height);
    for (uint32_t x = 0; x < columns; x++) {
      const cover across = cover_of(x, columns, image->width);
      sample(image, &down, &across, rgba + ((size_t)y * columns + x) * 4);
    }
  }
}
