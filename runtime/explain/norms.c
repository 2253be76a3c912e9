/* How large states are, and which of them stand out (Darcet et al. 2024: "Vision transformers need
 * registers"). */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "heed/explain.h"

/* Deviations from the median that a norm may have. 1.4826 times the median deviation is the
 * standard deviation of a normal distribution. */
static const double allowed = 6.0 * 1.4826;

void heed_patches_norms(const float *states, uint32_t count, uint32_t channels, float *norms) {
  for (size_t i = 0; i < count; i++) {
    double square = 0.0;
    for (size_t c = 0; c < channels; c++) {
      const double value = (double)states[i * channels + c];
      square += value * value;
    }
    norms[i] = (float)sqrt(square);
  }
}

/* Shell's sort with Knuth's steps: short, and never quadratic. */
static void sort(double *values, size_t count) {
  size_t gap = 1;
  while (gap < count / 3) gap = 3 * gap + 1;
  for (; gap; gap /= 3)
    for (size_t i = gap; i < count; i++) {
      const double value = values[i];
      size_t at = i;
      for (; at >= gap && values[at - gap] > value; at -= gap) values[at] = values[at - gap];
      values[at] = value;
    }
}

/* Of sorted values; of an even number the mean of the two in the middle. */
static double median(const double *values, uint32_t count) {
  return (values[(count - 1) / 2] + values[count / 2]) / 2.0;
}

/* The median of their distances from a number between them: the next larger distance is that of the
 * next value below it, or of the next above. */
static double median_distance(const double *values, uint32_t count, double middle) {
  uint32_t above = 0;
  double last = 0.0, before = 0.0;
  while (above < count && values[above] < middle) above++;
  for (uint32_t below = above, taken = 0; taken <= count / 2; taken++) {
    before = last;
    const bool down =
        below && (above == count || middle - values[below - 1] < values[above] - middle);
    last = down ? middle - values[--below] : values[above++] - middle;
  }
  return count % 2 ? last : (before + last) / 2.0;
}

heed_status heed_patches_outliers(heed_context *context, const float *norms, uint32_t count,
                                  uint8_t *outlier, float *bound, heed_error *error) {
  if (count == 0) {
    *bound = NAN;
    return HEED_OK;
  }
  double *values = heed_alloc_raw(context, count, sizeof *values);
  if (!values) return heed_fail_memory(error, "outliers", count * sizeof *values);
  uint32_t known = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!isnan(norms[i])) values[known++] = (double)norms[i];
  sort(values, known);
  const double middle = known ? median(values, known) : (double)NAN;
  *bound = known ? (float)(middle + allowed * median_distance(values, known, middle)) : NAN;
  for (uint32_t i = 0; i < count; i++) outlier[i] = norms[i] > *bound;
  heed_free(context, values);
  return HEED_OK;
}
