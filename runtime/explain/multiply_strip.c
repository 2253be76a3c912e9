/* See multiply_strip.h. Registers of 16 bytes, or what the compiler makes of them. */
#include "explain/multiply_strip.h"

DEFINE_MULTIPLY_STRIP(16, )

void heed_multiply_strip(const float *rows, size_t count, const float *strip, double *to) {
  multiply_strip_16(rows, count, strip, to);
}

void heed_multiply_lanes(const double *rows, size_t count, const double *columns, double *to) {
  multiply_lanes_16(rows, count, columns, to);
}
