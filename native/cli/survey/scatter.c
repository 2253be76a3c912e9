/* The scatter of heads in a page: dots, and labels that lie on nothing else. See page.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page.h"

enum { LEFT = 52, RIGHT = 690, TOP = 14, BOTTOM = 396 };

typedef struct axes {
  double share, sharp; /* ends */
} axes;

static double across(const axes *of, double share) {
  return LEFT + share / of->share * (RIGHT - LEFT);
}

/* Logarithmic from 1 on. */
static double up(const axes *of, double sharp) {
  const double at = sharp > 1.0 ? log(sharp) / log(of->sharp) : 0.0;
  return BOTTOM - at * (BOTTOM - TOP);
}

static axes axes_of(const survey_dot *dots, size_t count, bool moved) {
  axes of = {0.1, 2.0};
  for (size_t i = 0; i < count; i++)
    for (int k = 0; k <= moved; k++) {
      const survey_place *place = k ? &dots[i].from : &dots[i].place;
      while (of.share < place->share) of.share += 0.1;
      while (of.sharp < place->sharpness) of.sharp *= 2.0;
    }
  return of;
}

static void draw_axes(const survey_page *page, const axes *of) {
  FILE *file = page->file;
  for (int i = 0; i * 0.1 < of->share + 0.05; i++)
    fprintf(file,
            "<path class=\"g\" d=\"M%.1f %dV%d\"/><text x=\"%.1f\" y=\"%d\" "
            "text-anchor=\"middle\">%d %%</text>",
            across(of, i * 0.1), TOP, BOTTOM, across(of, i * 0.1), BOTTOM + 16, 10 * i);
  for (double sharp = 1.0; sharp < 1.5 * of->sharp; sharp *= 2.0)
    fprintf(file,
            "<path class=\"g\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
            "text-anchor=\"end\">%g ×</text>",
            LEFT, up(of, sharp), RIGHT, LEFT - 6, up(of, sharp) + 4.0, sharp);
  fprintf(file,
          "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">explained by the offset between patches "
          "(share of the variance of weights) →</text><text transform=\"translate(12 %d) "
          "rotate(-90)\" text-anchor=\"middle\">how sharply it looks (× uniform) →</text>",
          (LEFT + RIGHT) / 2, BOTTOM + 34, (TOP + BOTTOM) / 2);
}

/* ----------------------------------------------------------------------------------------- labels
 */

#define DOT 6.0     /* half the side of a dot with its edge */
#define TEXT_UP 9.0 /* of letters of 11 pixels, from their line */
#define TEXT_HEIGHT 12.0
#define LETTER 6.9 /* the width of one, at most on average, also in bold */
#define MOST_LABELS 160
#define MOST_TICKS 64

typedef struct box {
  double left, top, right, bottom;
} box;

typedef struct labels {
  size_t count; /* boxes of all dots in their order, of the numbers at the left, of labels */
  box boxes[2 * MOST_LABELS + MOST_TICKS];
} labels;

static bool meet(const box *a, const box *b) {
  return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

static bool is_free(const labels *all, const box *of) {
  if (of->left < 22 || of->right > RIGHT + 28 || of->top < 0 || of->bottom > BOTTOM) return false;
  for (size_t i = 0; i < all->count; i++)
    if (meet(of, &all->boxes[i])) return false;
  return true;
}

/* Whether a line from the middle of a dot to that of a box passes between all others. */
static bool is_clear(const labels *all, size_t dot, double x, double y, const box *of) {
  const double to_x = (of->left + of->right) / 2, to_y = (of->top + of->bottom) / 2;
  for (int step = 1; step < 16; step++) {
    const double at_x = x + (to_x - x) * step / 16, at_y = y + (to_y - y) * step / 16;
    const box here = {at_x - 0.5, at_y - 0.5, at_x + 0.5, at_y + 0.5};
    for (size_t i = 0; i < all->count; i++)
      if (i != dot && meet(&here, &all->boxes[i])) return false;
  }
  return true;
}

/* The nearest free place around a dot, on rings that grow; to the right first. */
static bool place_label(labels *all, size_t dot, double x, double y, double width, box *found,
                        bool *far) {
  static const double ways[][2] = {{1, 0},  {-1, 0}, {0, -1},  {0, 1},
                                   {1, -1}, {1, 1},  {-1, -1}, {-1, 1}};
  for (int ring = 0; ring < 15; ring++)
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      const double away = DOT + 1.0 + 8.0 * ring, middle_x = x + ways[w][0] * (away + width / 2),
                   middle_y = y + ways[w][1] * (away + TEXT_HEIGHT / 2);
      *found = (box){middle_x - width / 2, middle_y - TEXT_HEIGHT / 2, middle_x + width / 2,
                     middle_y + TEXT_HEIGHT / 2};
      *far = ring > 0;
      if (!is_free(all, found) || (*far && !is_clear(all, dot, x, y, found))) continue;
      all->boxes[all->count++] = *found;
      return true;
    }
  return false;
}

static void write_label(const survey_page *page, labels *all, const survey_dot *dots, size_t at,
                        double x, double y) {
  const survey_dot *dot = &dots[at];
  const bool twins = survey_habit_of(&dot->place) == SURVEY_TWINS;
  char text[48];
  box of;
  bool far;
  snprintf(text, sizeof text, "%u.%u%s", dot->layer, dot->head, twins ? " twins" : "");
  if (!place_label(all, at, x, y, LETTER * (double)strlen(text), &of, &far)) return;
  const double middle = (of.left + of.right) / 2;
  if (far)
    fprintf(page->file, "<path class=\"g\" d=\"M%.1f %.1fL%.1f %.1f\"/>", x, y,
            middle < x   ? of.right
            : middle > x ? of.left
                         : middle,
            of.top > y      ? of.top
            : of.bottom < y ? of.bottom
                            : y);
  fprintf(page->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"%s>%s</text>", middle,
          of.top + TEXT_UP, twins ? " style=\"font-weight:bold\"" : "", text);
}

static void write_labels(const survey_page *page, const axes *of, const survey_dot *dots,
                         size_t count) {
  labels all = {.count = count};
  if (count > MOST_LABELS) return; /* too many to be read */
  for (size_t i = 0; i < count; i++) {
    const double x = across(of, dots[i].place.share), y = up(of, dots[i].place.sharpness);
    all.boxes[i] = (box){x - DOT, y - DOT, x + DOT, y + DOT};
  }
  for (double sharp = 1.0; sharp < 1.5 * of->sharp && all.count < count + MOST_TICKS; sharp *= 2.0)
    all.boxes[all.count++] = (box){0.0, up(of, sharp) - 6.0, LEFT - 2, up(of, sharp) + 6.0};
  for (size_t i = 0; i < count; i++)
    write_label(page, &all, dots, i, across(of, dots[i].place.share),
                up(of, dots[i].place.sharpness));
}

static void write_dot(const survey_page *page, const axes *of, const survey_dot *dot,
                      uint32_t layers) {
  uint8_t rgb[3];
  heed_colormap_rgb(HEED_COLORMAP_VIRIDIS, layers > 1 ? dot->layer / (layers - 1.0) : 0.0, rgb);
  fprintf(page->file,
          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"rgb(%u,%u,%u)\" stroke=\"currentColor\" "
          "stroke-width=\".5\"><title>layer %u, head %u, %s: %.1f %% by offset, %.1f × "
          "uniform</title></circle>",
          across(of, dot->place.share), up(of, dot->place.sharpness), rgb[0], rgb[1], rgb[2],
          dot->layer, dot->head, survey_habit_names[survey_habit_of(&dot->place)],
          100.0 * dot->place.share, dot->place.sharpness);
}

void survey_page_scatter(const survey_page *page, const survey_dot *dots, size_t count,
                         uint32_t layers, bool moved) {
  const axes of = axes_of(dots, count, moved);
  fprintf(page->file,
          "<svg viewBox=\"0 0 720 436\" width=\"960\" role=\"img\" aria-label=\"A dot for each "
          "head\">");
  draw_axes(page, &of);
  for (size_t i = 0; moved && i < count; i++)
    fprintf(page->file, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"currentColor\"/>",
            across(&of, dots[i].from.share), up(&of, dots[i].from.sharpness),
            across(&of, dots[i].place.share), up(&of, dots[i].place.sharpness));
  for (size_t i = 0; i < count; i++) write_dot(page, &of, &dots[i], layers);
  write_labels(page, &of, dots, count);
  fputs("</svg>\n", page->file);
}
