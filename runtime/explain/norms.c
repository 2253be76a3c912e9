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

/* Sorts them. Of an even number the mean of the two in the middle. */
static double median(double *values, uint32_t count) {
  sort(values, count);
  return (values[(count - 1) / 2] + values[count / 2]) / 2.0;
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
  const double middle = known ? median(values, known) : (double)NAN;
  for (uint32_t i = 0; i < known; i++) values[i] = fabs(values[i] - middle);
  *bound = known ? (float)(middle + allowed * median(values, known)) : NAN;
  for (uint32_t i = 0; i < count; i++) outlier[i] = norms[i] > *bound;
  heed_free(context, values);
  return HEED_OK;
}
