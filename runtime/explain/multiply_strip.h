/* Products of rows with a strip of columns, for rollouts, products.c and eigen.c: multiply_strip.c,
 * and on x86-64 multiply_strip_x86.c, which takes the widest registers that the processor has. */
#ifndef HEED_EXPLAIN_MULTIPLY_STRIP_H
#define HEED_EXPLAIN_MULTIPLY_STRIP_H

#include <stddef.h>

/* Columns of a strip, rows of a tile. */
enum { STRIP = 32, ROWS = 4 };

/* Factors are kept that many times as large: products of weights of 1e-25 are still no denormal
 * floats, which lose bits and take some processors a hundred cycles. Exact, as a power of 2. */
static const double scale = 0x1p40;

/* Adds to to[ROWS, STRIP] what rows[count, ROWS] (keys of a tile's rows) x strip[count, STRIP] are,
 * over the scale. */
void heed_multiply_strip(const float *rows, size_t count, const float *strip, double *to);

/* Doubles of a lane, and rows that are multiplied at a time. */
enum { LANES = 8, LANE_ROWS = 4 };
/* to[LANE_ROWS, LANES] = rows[count, LANE_ROWS] x columns [count, LANES], which lie STRIP apart. */
void heed_multiply_lanes(const double *rows, size_t count, const double *columns, double *to);

/* Defines the first for registers of BYTES, as multiply_strip_BYTES. Each width runs the same
 * operations in the same order: no bit differs. A pass over the keys takes as many columns as two
 * registers hold, so that sums stay in them. */
typedef double wide_lanes __attribute__((vector_size(64)));
typedef double stored_wide_lanes __attribute__((vector_size(64), aligned(8), may_alias));
typedef float half_lanes __attribute__((vector_size(32), aligned(4), may_alias));
#define DEFINE_MULTIPLY_STRIP(BYTES, ...)                                                        \
  typedef float lanes_##BYTES __attribute__((vector_size(BYTES)));                               \
  typedef float stored_lanes_##BYTES __attribute__((vector_size(BYTES), aligned(4), may_alias)); \
  __VA_ARGS__ static void multiply_strip_##BYTES(const float *restrict rows, size_t count,       \
                                                 const float *restrict strip,                    \
                                                 double *restrict to) {                          \
    for (size_t c = 0; c < STRIP; c += (BYTES) / 2) {                                            \
      lanes_##BYTES sum[ROWS][2] = {0};                                                          \
      for (size_t k = 0; k < count; k++) {                                                       \
        const stored_lanes_##BYTES *from = (const void *)(strip + k * STRIP + c);                \
        for (size_t r = 0; r < ROWS; r++) {                                                      \
          sum[r][0] += rows[k * ROWS + r] * from[0];                                             \
          sum[r][1] += rows[k * ROWS + r] * from[1];                                             \
        }                                                                                        \
      }                                                                                          \
      for (size_t r = 0; r < ROWS; r++) {                                                        \
        stored_wide_lanes *out = (void *)(to + r * STRIP + c);                                   \
        const half_lanes *half = (const void *)sum[r];                                           \
        for (size_t i = 0; i < (BYTES) / 16; i++)                                                \
          out[i] += __builtin_convertvector(half[i], wide_lanes) * (1.0 / scale);                \
      }                                                                                          \
    }                                                                                            \
  }                                                                                              \
  __VA_ARGS__ static void multiply_lanes_##BYTES(const double *restrict rows, size_t count,      \
                                                 const double *restrict columns,                 \
                                                 double *restrict to) {                          \
    wide_lanes sum[LANE_ROWS] = {0};                                                             \
    for (size_t k = 0; k < count; k++) {                                                         \
      const wide_lanes row = *(const stored_wide_lanes *)(const void *)(columns + k * STRIP);    \
      for (size_t r = 0; r < LANE_ROWS; r++) sum[r] += rows[k * LANE_ROWS + r] * row;            \
    }                                                                                            \
    for (size_t r = 0; r < LANE_ROWS; r++)                                                       \
      *(stored_wide_lanes *)(void *)(to + r * LANES) = sum[r];                                   \
  }

#endif
