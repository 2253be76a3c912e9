/* Floats of 8 and 4 bits, as numbers and as bits. See array.h. */
#include <math.h>

#include "onnx/file/array.h"

/* Exponents are biased; without `infinity` the largest exponent has numbers too. `not_number`: the
 * code of NaN; -1: none. Without a minus zero, that is it. */
typedef struct format {
  int exponent, mantissa, bias, not_number;
  bool infinity, minus_zero;
  double most;
} format;

static const format *format_of(uint32_t type) {
  static const format formats[] = {{4, 3, 7, 0x7F, false, true, 448},
                                   {4, 3, 8, 0x80, false, false, 240},
                                   {5, 2, 15, 0x7E, true, true, 57344},
                                   {5, 2, 16, 0x80, false, false, 57344},
                                   {2, 1, 1, -1, false, true, 6}};
  switch (type) {
    case HEED_ONNX_FLOAT8E4M3FN: return &formats[0];
    case HEED_ONNX_FLOAT8E4M3FNUZ: return &formats[1];
    case HEED_ONNX_FLOAT8E5M2: return &formats[2];
    case HEED_ONNX_FLOAT8E5M2FNUZ: return &formats[3];
    case HEED_ONNX_FLOAT4E2M1: return &formats[4];
    default: return NULL;
  }
}

bool heed_onnx_is_small_float(uint32_t type) {
  return format_of(type) || type == HEED_ONNX_FLOAT8E8M0;
}

/* A power of two from 2^-127 on; the sign has no place. `how` says which one beside. */
static double round_power(double value, unsigned how) {
  int exponent;
  if (!isfinite(value)) return (double)NAN;
  const double part = frexp(fabs((double)(float)value), &exponent) * 2; /* 1 to 2; 0 of 0 */
  if (part == 0 || exponent < -126)
    return ldexp(1, part > 0 && !(how & (HEED_ONNX_DOWN | HEED_ONNX_NEAREST)) ? -126 : -127);
  const bool up = how & HEED_ONNX_DOWN ? false : how & HEED_ONNX_NEAREST ? part >= 1.5 : part > 1;
  if (up && exponent > 127) return how & HEED_ONNX_SATURATE ? ldexp(1, 127) : (double)NAN;
  return ldexp(1, exponent - 1 + (up ? 1 : 0));
}

double heed_onnx_round_small(uint32_t type, double value, unsigned how) {
  const format *f = format_of(type);
  int exponent;
  if (!f) return round_power(value, how);
  if (isnan(value)) return f->not_number < 0 ? -0.0 : value; /* ONNX's tests have -0, its text 6 */
  double size = fabs(value);
  if (isfinite(size) && size > 0) {
    frexp(size, &exponent);
    if (exponent < 2 - f->bias) exponent = 2 - f->bias; /* below, steps stay as long */
    const int step = exponent - 1 - f->mantissa;
    size = ldexp(nearbyint(ldexp(size, -step)), step);
  }
  if (size > f->most)
    size = how & HEED_ONNX_SATURATE || f->not_number < 0 ? f->most
           : f->infinity                                 ? HUGE_VAL
                                                         : (double)NAN;
  return size == 0 && !f->minus_zero ? 0 : copysign(size, value);
}

double heed_onnx_decode_small(uint32_t type, uint8_t bits) {
  const format *f = format_of(type);
  if (!f) return bits == 0xFF ? (double)NAN : ldexp(1, bits - 127);
  const int sign = bits >> (f->exponent + f->mantissa) & 1,
            exponent = bits >> f->mantissa & ((1 << f->exponent) - 1),
            mantissa = bits & ((1 << f->mantissa) - 1);
  const int magnitude = bits & ((1 << (f->exponent + f->mantissa)) - 1);
  if (f->infinity && magnitude >= 0x7C) return mantissa ? (double)NAN : sign ? -HUGE_VAL : HUGE_VAL;
  if ((f->minus_zero ? magnitude : bits) == f->not_number) return (double)NAN;
  const double size = exponent
                          ? ldexp((1 << f->mantissa) + mantissa, exponent - f->bias - f->mantissa)
                          : ldexp(mantissa, 1 - f->bias - f->mantissa);
  return sign ? -size : size;
}

/* The codes of one sign are in order of their numbers: the first that is as large. */
uint8_t heed_onnx_encode_small(uint32_t type, double value) {
  const format *f = format_of(type);
  int exponent;
  if (!f) {
    frexp(value, &exponent);
    return isnan(value) ? 0xFF : (uint8_t)(exponent - 1 + 127);
  }
  const unsigned sign = signbit(value) ? 1u << (f->exponent + f->mantissa) : 0;
  if (isnan(value)) return (uint8_t)((unsigned)f->not_number | (f->minus_zero ? sign : 0));
  unsigned low = 0, high = (1u << (f->exponent + f->mantissa)) - 1;
  if (isinf(value)) return (uint8_t)(sign | 0x7C); /* the format has infinities */
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (heed_onnx_decode_small(type, (uint8_t)middle) < fabs(value))
      low = middle + 1;
    else
      high = middle;
  }
  return (uint8_t)(sign | low);
}
