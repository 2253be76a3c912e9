/* The grid that a row is quantised to (int8.h). */
#ifndef HEED_CPU_WEIGHTS_INT8_GRID_H
#define HEED_CPU_WEIGHTS_INT8_GRID_H

#include <float.h>
#include <math.h>

#include "cpu/simd/f32xN.h"
#include "cpu/weights/int8.h"

typedef struct grid {
  float inverse, zero;
} grid;

/* By the extremes of a row and 0, and whether it has no NaN and no infinity. A row of zeros, or one
 * so small that its step would be denormal, is kept as zeros. */
static inline grid choose_grid(bool finite, float least, float most, heed_cpu_int8_row *row) {
  row->scale = finite ? most / 255.0f - least / 255.0f : NAN;
  if (finite && row->scale < FLT_MIN) row->scale = 1.0f;
  grid g = {0.0f, 0.0f};
  if (!finite) return g;
  g.inverse = 1.0f / row->scale;
  g.zero = -least * g.inverse + HEED_SIMD_MAGIC;
  g.zero -= HEED_SIMD_MAGIC;
  if (g.zero > 255.0f) g.zero = 255.0f;
  return g;
}

#endif
