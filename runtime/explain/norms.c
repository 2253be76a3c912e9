/* How large states are, and which of them stand out (Darcet et al. 2024: "Vision transformers need
 * registers"). */
#include <math.h>

#include "base/alloc.h"
#include "base/sort.h"
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

static bool is_smaller(const void *user, uint32_t a, uint32_t b) {
  const double *values = user;
  return values[a] < values[b] || (values[a] == values[b] && a < b);
}

/* order[count] is scratch. Of an even number the mean of the two in the middle. */
static double median(const double *values, uint32_t *order, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) order[i] = i;
  heed_sort(order, count, is_smaller, values);
  return (values[order[(count - 1) / 2]] + values[order[count / 2]]) / 2.0;
}

heed_status heed_patches_outliers(heed_context *context, const float *norms, uint32_t count,
                                  uint8_t *outlier, float *bound, heed_error *error) {
  if (count == 0) {
    *bound = NAN;
    return HEED_OK;
  }
  double *values = heed_alloc_raw(context, count, sizeof *values);
  uint32_t *order = heed_alloc_raw(context, count, sizeof *order);
  const bool made = values && order;
  if (made) {
    uint32_t known = 0;
    for (uint32_t i = 0; i < count; i++)
      if (!isnan(norms[i])) values[known++] = (double)norms[i];
    const double middle = known ? median(values, order, known) : (double)NAN;
    for (uint32_t i = 0; i < known; i++) values[i] = fabs(values[i] - middle);
    *bound = known ? (float)(middle + allowed * median(values, order, known)) : NAN;
    for (uint32_t i = 0; i < count; i++) outlier[i] = norms[i] > *bound;
  }
  heed_free(context, values);
  heed_free(context, order);
  return made ? HEED_OK : heed_fail_memory(error, "outliers", count * sizeof *values);
}
