/* When a result equals what is expected: for cases and for profiles. */
#ifndef HEED_CHECK_CLOSE_H
#define HEED_CHECK_CLOSE_H

#include <math.h>

#include "base/tensor.h"

typedef struct heed_check_tolerance {
  double absolute, relative;
} heed_check_tolerance;

/* As a tensor of this dtype holds it. */
static inline double heed_check_round(heed_dtype dtype, double value) {
  if (dtype == HEED_F16) return (double)heed_f16_to_f32(heed_f32_to_f16((float)value));
  if (dtype == HEED_BF16) return (double)heed_bf16_to_f32(heed_f32_to_bf16((float)value));
  return value;
}

/* Half a step of the dtype at a number: so far apart are numbers that round to it. */
static inline double heed_check_half_step(heed_dtype dtype, double value) {
  if (dtype == HEED_F16) return fmax(fabs(value) * 0x1p-11, 0x1p-25);
  return dtype == HEED_BF16 ? fabs(value) * 0x1p-8 : 0.0;
}

/* `expected` is a number of `dtype`. Equal after rounding to it, or within the tolerance of a
 * number that rounds to `expected`. NaN equals NaN, an infinity itself. */
static inline bool heed_check_is_close(heed_dtype dtype, double found, double expected,
                                       heed_check_tolerance tolerance) {
  const double rounded = heed_check_round(dtype, found);
  if (rounded == expected || (isnan(found) && isnan(expected))) return true;
  return isfinite(rounded) && isfinite(expected) &&
         fabs(found - expected) <= tolerance.absolute + tolerance.relative * fabs(expected) +
                                       heed_check_half_step(dtype, expected);
}

#endif
