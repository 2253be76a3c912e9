/* Decimal text to double.
 *
 * The number is digits * 5^e * 2^e. Its first 19 digits are an integer of 64 bits, and 5^27 is the
 * largest power of five that fits into 64 bits. So one product or quotient, of which 64 bits and
 * whether anything is left are kept, is rounded once: up to 19 digits and |e| <= 27 the double is
 * the nearest one. A larger power takes more steps, each of which drops less than one of 2^63, and
 * further digits are dropped: then the double is the nearest one or its neighbour.
 *
 * That is what callers need. All but two of them keep a float. mlp_ratio and crop_pct are
 * multiplied and rounded down, and are written with at most 17 digits, between 0.01 and 1000. */
#include "base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#define MOST_DIGITS 19
#define MOST_FIVES 27
#define LARGEST_POINT 310     /* 0.d * 10^310 and more overflows */
#define SMALLEST_POINT (-330) /* less than half of the smallest subnormal */
#define TOP_BIT (UINT64_C(1) << 63)

typedef struct decimal {
  uint64_t digits;
  int count, exponent; /* value = digits, which has `count` of them, * 10^exponent */
  bool negative;
} decimal;

/* bits * 2^exponent, bits >= 2^63; and a little more if something was dropped. */
typedef struct binary {
  uint64_t bits;
  int exponent;
  bool dropped;
} binary;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Leading zeros are skipped; the exponent saturates far outside of what a double holds. */
static void read_decimal(const char *text, size_t length, decimal *d) {
  size_t at;
  bool fraction = false;
  int64_t exponent = 0;
  *d = (decimal){.negative = length > 0 && text[0] == '-'};
  for (at = d->negative; at < length && (is_digit(text[at]) || text[at] == '.'); at++) {
    if (text[at] == '.') {
      fraction = true;
    } else if (d->count < MOST_DIGITS) {
      d->digits = d->digits * 10 + (uint64_t)(text[at] - '0');
      d->count += d->digits != 0;
      exponent -= fraction;
    } else {
      exponent += !fraction;
    }
  }
  if (at < length) { /* 'e' */
    const bool down = text[at + 1] == '-';
    int64_t written = 0;
    for (at += is_digit(text[at + 1]) ? 1 : 2; at < length; at++)
      if (written < INT64_C(1000000000000000)) written = written * 10 + (text[at] - '0');
    exponent += down ? -written : written;
  }
  if (exponent > 1000000) exponent = 1000000;
  if (exponent < -1000000) exponent = -1000000;
  d->exponent = (int)exponent;
}

static binary normalise(uint64_t bits) {
  binary b = {bits, 0, false};
  for (; b.bits < TOP_BIT; b.exponent--) b.bits <<= 1;
  return b;
}

static void multiply(binary *a, const binary *b) {
  uint64_t high = 0, low = 0;
  for (int i = 63; i >= 0; i--) {
    high = high << 1 | low >> 63;
    low <<= 1;
    if (!(b->bits >> i & 1)) continue;
    low += a->bits;
    high += low < a->bits;
  }
  a->exponent += b->exponent + 64;
  if (high < TOP_BIT) {
    high = high << 1 | low >> 63;
    low <<= 1;
    a->exponent--;
  }
  a->bits = high;
  a->dropped |= low != 0;
}

static void divide(binary *a, const binary *b) {
  uint64_t rest = a->bits, quotient = rest >= b->bits;
  if (quotient) rest -= b->bits;
  a->exponent -= b->exponent;
  for (; quotient < TOP_BIT; a->exponent--) {
    const bool over = rest >> 63;
    rest <<= 1;
    quotient <<= 1;
    if (!over && rest < b->bits) continue;
    rest -= b->bits;
    quotient |= 1;
  }
  a->bits = quotient;
  a->dropped |= rest != 0;
}

/* Rounds to the 53 bits (fewer for a subnormal) that a double keeps, ties to even. */
static double assemble(const binary *b) {
  const int least = -1074 - b->exponent, drop = least > 11 ? least : 11;
  if (drop > 64) return 0.0;
  const uint64_t kept = drop == 64 ? 0 : b->bits >> drop;
  const uint64_t rest = b->bits << (64 - drop);
  const bool up = rest > TOP_BIT || (rest == TOP_BIT && (b->dropped || (kept & 1u)));
  return ldexp((double)(kept + up), b->exponent + drop);
}

/* d->digits > 0 */
static double value_of(const decimal *d) {
  binary value = normalise(d->digits);
  const bool down = d->exponent < 0;
  int left = down ? -d->exponent : d->exponent;
  value.exponent += d->exponent;
  while (left) {
    uint64_t five = 1;
    int step = 0;
    for (; step < left && step < MOST_FIVES; step++) five *= 5;
    const binary power = normalise(five);
    if (down)
      divide(&value, &power);
    else
      multiply(&value, &power);
    left -= step;
  }
  return assemble(&value);
}

bool heed_decimal_to_double(const char *text, size_t length, double *value) {
  decimal d;
  read_decimal(text, length, &d);
  const int point = d.count + d.exponent; /* value = 0.ddd * 10^point */
  double magnitude = 0.0;
  if (d.count && point > LARGEST_POINT) return false;
  if (d.count && point >= SMALLEST_POINT) magnitude = value_of(&d);
  if (magnitude > DBL_MAX) return false;
  *value = d.negative ? -magnitude : magnitude;
  return true;
}
