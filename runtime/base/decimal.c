/* Decimal text to double.
 *
 * The number is digits * 10^exponent. Short ones are one exact product or quotient (Clinger 1990).
 * The rest are the quotient of two big integers, digits * 10^e and 10^-e, brought to a ratio in [1,
 * 2); 64 bits of it by long division, then one rounding. */
#include "base/decimal.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* 768 digits decide every double; one more stands for all that are cut off. */
#define MAX_DIGITS 800
#define LARGEST_POINT 310     /* 0.d * 10^310 and more overflows */
#define SMALLEST_POINT (-330) /* less than half of the smallest subnormal */
/* The largest number is 10^(MAX_DIGITS + 1 - SMALLEST_POINT), 3760 bits, with room for a shift by
 * one. */
#define WORDS 120

typedef struct digits {
  uint8_t digit[MAX_DIGITS + 1];
  int count, exponent; /* value = digit[0..count) as an integer * 10^exponent */
  bool negative;
} digits;

typedef struct big {
  uint32_t word[WORDS]; /* least significant first */
  int count;
} big;

static void big_multiply_add(big *a, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (int i = 0; i < a->count; i++) {
    carry += (uint64_t)a->word[i] * factor;
    a->word[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry) a->word[a->count++] = (uint32_t)carry;
}

static void big_times_power_of_ten(big *a, int power) {
  for (; power >= 9; power -= 9) big_multiply_add(a, 1000000000u, 0);
  for (; power > 0; power--) big_multiply_add(a, 10u, 0);
}

static int big_bits(const big *a) {
  int bits = 32 * (a->count - 1);
  for (uint32_t top = a->word[a->count - 1]; top; top >>= 1) bits++;
  return bits;
}

static void big_shift_left(big *a, int bits) {
  const int words = bits / 32;
  if (words) {
    memmove(a->word + words, a->word, (size_t)a->count * sizeof *a->word);
    memset(a->word, 0, (size_t)words * sizeof *a->word);
    a->count += words;
  }
  big_multiply_add(a, 1u << (bits % 32), 0);
}

static int big_compare(const big *a, const big *b) {
  if (a->count != b->count) return a->count < b->count ? -1 : 1;
  for (int i = a->count; i-- > 0;)
    if (a->word[i] != b->word[i]) return a->word[i] < b->word[i] ? -1 : 1;
  return 0;
}

/* a -= b, a >= b */
static void big_subtract(big *a, const big *b) {
  uint64_t borrow = 0;
  for (int i = 0; i < a->count; i++) {
    const uint64_t part = (uint64_t)a->word[i] - (i < b->count ? b->word[i] : 0u) - borrow;
    a->word[i] = (uint32_t)part;
    borrow = part >> 63;
  }
  while (a->count > 0 && a->word[a->count - 1] == 0) a->count--;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Leading zeros are skipped; the exponent saturates far outside of what a double holds. */
static void read_digits(const char *text, size_t length, digits *d) {
  size_t at = 0;
  bool fraction = false;
  int64_t exponent = 0;
  d->count = 0;
  d->negative = length > 0 && text[0] == '-';
  for (at = d->negative; at < length && (is_digit(text[at]) || text[at] == '.'); at++) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    const uint8_t digit = (uint8_t)(text[at] - '0');
    if (d->count < MAX_DIGITS) {
      if (d->count || digit) d->digit[d->count++] = digit;
      exponent -= fraction;
    } else {
      if (d->count == MAX_DIGITS) {
        d->digit[d->count++] = 0;
        exponent--;
      }
      if (digit) d->digit[MAX_DIGITS] = 1; /* sticky */
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

/* Both operands and the power are exact doubles, so one operation rounds once. */
static bool short_value(const digits *d, double *value) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  uint64_t whole = 0;
  if (FLT_EVAL_METHOD != 0 || d->count > 15 || d->exponent > 22 || d->exponent < -22) return false;
  for (int i = 0; i < d->count; i++) whole = whole * 10 + d->digit[i];
  *value =
      d->exponent < 0 ? (double)whole / powers[-d->exponent] : (double)whole * powers[d->exponent];
  return true;
}

/* bits / 2^63 * 2^exponent with bits >= 2^63, rounded to the 53 bits (fewer for a subnormal) that a
 * double keeps. */
static double assemble(uint64_t bits, int exponent, bool sticky) {
  int drop = 11;
  if (exponent < -1022) drop += -1022 - exponent;
  if (drop > 64) return 0.0;
  const uint64_t kept = drop == 64 ? 0 : bits >> drop;
  const uint64_t rest = drop == 64 ? bits : bits & ((UINT64_C(1) << drop) - 1);
  const uint64_t half = UINT64_C(1) << (drop - 1);
  const bool up = rest > half || (rest == half && (sticky || (kept & 1u)));
  return ldexp((double)(kept + up), exponent - 63 + drop);
}

static double long_value(const digits *d) {
  big above = {{0}, 1}, below = {{1}, 1};
  for (int i = 0; i < d->count; i++) big_multiply_add(&above, 10u, d->digit[i]);
  while (above.count > 1 && above.word[above.count - 1] == 0) above.count--;
  big_times_power_of_ten(&above, d->exponent);
  big_times_power_of_ten(&below, -d->exponent);
  int exponent = big_bits(&above) - big_bits(&below);
  if (exponent > 0) big_shift_left(&below, exponent);
  if (exponent < 0) big_shift_left(&above, -exponent);
  if (big_compare(&above, &below) < 0) {
    big_shift_left(&above, 1);
    exponent--;
  }
  uint64_t bits = 0;
  for (int i = 0; i < 64; i++) {
    bits <<= 1;
    if (big_compare(&above, &below) >= 0) {
      big_subtract(&above, &below);
      bits |= 1;
    }
    if (above.count) big_shift_left(&above, 1);
  }
  return assemble(bits, exponent, above.count > 0);
}

bool heed_decimal_to_double(const char *text, size_t length, double *value) {
  digits d;
  double magnitude;
  read_digits(text, length, &d);
  const int point = d.count + d.exponent; /* value = 0.ddd * 10^point */
  if (d.count == 0 || point < SMALLEST_POINT)
    magnitude = 0.0;
  else if (point > LARGEST_POINT)
    return false;
  else if (!short_value(&d, &magnitude))
    magnitude = long_value(&d);
  if (magnitude > DBL_MAX) return false;
  *value = d.negative ? -magnitude : magnitude;
  return true;
}
