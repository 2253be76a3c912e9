/* A figure's numbers, and whether they can be drawn. See numbers.h. */
#include "figure/numbers.h"

#include <math.h>

#include "base/alloc.h"
#include "base/status.h"

#define MAX_SIDE 4096u
#define MAX_PIXELS ((int64_t)1 << 28)

static heed_status check_numbers(const heed_figure_desc *desc, heed_error *error) {
  const heed_region *region = &desc->region;
  const double sum = region->x + region->y + region->width + region->height;
  if (!isfinite(sum) || !(region->width > 0.0) || !(region->height > 0.0))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "figure: region out of range (found %g x %g, expected a size above 0)",
                     region->width, region->height);
  if (desc->scale < HEED_SCALE_AUTO || desc->scale > HEED_SCALE_OWN)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "figure: unknown scale (found %d, expected 0 to %d)", (int)desc->scale,
                     (int)HEED_SCALE_OWN);
  if (desc->end != 0.0 && !(desc->end >= 1.0 && desc->end <= (double)desc->tokens))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "figure: end of the scale out of range (found %g, expected 1 to %u times "
                     "uniform)",
                     desc->end, desc->tokens);
  if (desc->end != 0.0 && desc->scale == HEED_SCALE_OWN)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "figure: maps on scales of their own have no common end (found %g)",
                     desc->end);
  if (desc->query_row < -1 || desc->query_column < -1 ||
      (desc->query_row >= 0 && (uint32_t)desc->query_row >= desc->rows) ||
      (desc->query_column >= 0 && (uint32_t)desc->query_column >= desc->columns))
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "figure: query patch out of range (found %d, %d, expected -1 or within %u x %u)",
        (int)desc->query_row, (int)desc->query_column, desc->rows, desc->columns);
  if (desc->width_mm != 0.0 && !(desc->width_mm >= 60.0 && desc->width_mm <= 1000.0))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "figure: width out of range (found %g mm, expected 60 to 1000)",
                     desc->width_mm);
  return HEED_OK;
}

heed_status heed_figure_check_desc(const heed_figure_desc *desc, heed_error *error) {
  const heed_image *image = &desc->image;
  if (!image->pixels || image->width == 0 || image->height == 0 || image->width > MAX_PIXELS ||
      image->height > MAX_PIXELS ||
      (image->channels != 1 && image->channels != 3 && image->channels != 4) ||
      image->stride / image->channels < image->width)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "figure: invalid image (found %u x %u, %u channels, expected 1, 3 or 4 and full rows)",
        image->width, image->height, image->channels);
  const uint32_t counts[4] = {desc->layers, desc->heads, desc->rows, desc->columns};
  for (int i = 0; i < 4; i++)
    if (counts[i] == 0 || counts[i] > MAX_SIDE)
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "figure: sizes out of range (found %u layers, %u heads, %u x %u patches, "
                       "expected 1 to %u each)",
                       counts[0], counts[1], counts[2], counts[3], MAX_SIDE);
  if (!desc->maps == !desc->rgb || desc->tokens < desc->rows * desc->columns)
    return heed_fail(
        error, HEED_INVALID_ARGUMENT,
        "figure: maps or tokens are off (found %u tokens, expected maps or rgb, and at least %u)",
        desc->tokens, desc->rows * desc->columns);
  return check_numbers(desc, error);
}

/* The larger of two weights; what is not finite is left out. */
static double larger_weight(double a, double b) { return isfinite(b) && b > a ? b : a; }

heed_status heed_figure_measure(heed_context *context, const heed_figure_desc *desc,
                                figure_numbers *numbers, heed_error *error) {
  const size_t patches = (size_t)desc->rows * desc->columns,
               maps = (size_t)desc->layers * desc->heads;
  *numbers = (figure_numbers){.mean = heed_alloc(context, patches + maps, sizeof(double))};
  if (!numbers->mean) return heed_fail_memory(error, "figure", (patches + maps) * sizeof(double));
  numbers->largest = numbers->mean + patches;
  for (size_t m = 0; desc->maps && m < maps; m++)
    for (size_t i = 0; i < patches; i++) {
      const double weight = (double)desc->maps[m * patches + i];
      numbers->largest[m] = larger_weight(numbers->largest[m], weight);
      numbers->mean[i] += weight / (double)maps;
    }
  for (size_t i = 0; i < patches; i++)
    numbers->mean_largest = larger_weight(numbers->mean_largest, numbers->mean[i]);
  numbers->scale = heed_scale_of_maps(desc->scale, desc->tokens, numbers->largest, maps,
                                      desc->heads, desc->end / desc->tokens);
  numbers->mean_scale =
      heed_scale_of(desc->scale, desc->tokens, numbers->mean_largest, desc->end / desc->tokens);
  return HEED_OK;
}

void heed_figure_numbers_free(heed_context *context, figure_numbers *numbers) {
  heed_free(context, numbers->mean);
  *numbers = (figure_numbers){.mean = NULL};
}

const char *heed_figure_prefix_name(const heed_figure_desc *desc) {
  if (desc->prefix_name) return desc->prefix_name;
  return desc->tokens == desc->rows * desc->columns + 1 ? "CLS" : "CLS and registers";
}

const char *heed_figure_scale_words(const heed_figure_desc *desc, const figure_numbers *numbers) {
  static const char *const words[] = {
      "", "Scale: attention weight \xC3\x97 tokens; 1 = uniform.",
      "Scale: attention weight in % of the query's row.",
      "Scale: attention weight \xC3\x97 tokens, logarithmic; 1 = uniform.",
      "Scale: each map ends at its own largest weight, so maps do not compare."};
  const heed_scale_kind kind = numbers->scale.kind;
  if (desc->rgb) return "";
  return kind == HEED_SCALE_LOG && desc->scale == HEED_SCALE_AUTO
             ? "Scale: attention weight \xC3\x97 tokens, logarithmic, since one map would use up a "
               "linear scale; 1 = uniform."
             : words[kind];
}
