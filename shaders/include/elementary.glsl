// log, sine, cosine and what is made of them, with known errors: GLSL leaves them to the driver.
// heed_log: Cephes logf, below 2 ulp; sine and cosine: Cephes sinf, absolute error below 2e-7 for
// |x| up to 8192.
#ifndef HEED_ELEMENTARY_GLSL
#define HEED_ELEMENTARY_GLSL

#include "include/math.glsl"

float heed_nan() { return uintBitsToFloat(0x7FC00000u); }
float heed_infinity() { return uintBitsToFloat(0x7F800000u); }
bool heed_is_infinite(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) == 0x7F800000u; }

float heed_log(float x) {
  if (heed_is_nan(x) || floatBitsToUint(x) == 0x7F800000u) return x;
  if (x < 0.0) return heed_nan();
  const uint bits = floatBitsToUint(x);
  if (bits << 1 < 0x01000000u) return -heed_infinity(); // 0, and what a device may take for it
  float exponent = float(int(bits >> 23) - 126);
  float m = uintBitsToFloat((bits & 0x007FFFFFu) | 0x3F000000u);
  if (m < 0.70710678118) {
    exponent -= 1.0;
    m += m;
  }
  m -= 1.0;
  const float z = m * m;
  float p = 7.0376836292e-2;
  p = p * m - 1.1514610310e-1;
  p = p * m + 1.1676998740e-1;
  p = p * m - 1.2420140846e-1;
  p = p * m + 1.4249322787e-1;
  p = p * m - 1.6668057665e-1;
  p = p * m + 2.0000714765e-1;
  p = p * m - 2.4999993993e-1;
  p = p * m + 3.3333331174e-1;
  const float rest = p * m * z - 2.12194440e-4 * exponent - 0.5 * z;
  return m + rest + 0.693359375 * exponent;
}

// exp over the whole range; heed_exp ends at 88.
float heed_exp_all(float x) {
  if (heed_is_nan(x)) return x;
  if (x <= 87.0) return heed_exp(x);
  if (x > 88.722839) return heed_infinity();
  const float e = heed_exp(0.5 * x);
  return e * e;
}

// log(1 + e) for e from 0 to 1.
float heed_log_one_more(float e) {
  precise const float sum = 1.0 + e;
  precise const float there = sum - 1.0;
  return there == 0.0 ? e : heed_log(sum) * (e / there);
}

// sin(x + quarters pi / 2)
float heed_sine(float x, uint quarters) {
  if ((floatBitsToUint(x) & 0x7F800000u) == 0x7F800000u) return heed_nan();
  const float turns = floor(x * 0.63661977237 + 0.5);
  precise float r = x - turns * 1.5703125;
  r = r - turns * 4.837512969970703125e-4;
  r = r - turns * 7.54978995489188216e-8;
  const uint quarter = uint(int(turns)) + quarters;
  const float z = r * r;
  const float s = ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * r + r;
  const float c =
      ((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z -
      0.5 * z + 1.0;
  const float y = (quarter & 1u) != 0 ? c : s;
  return (quarter & 2u) != 0 ? -y : y;
}

float heed_power(float a, float b) {
  if (b == 0.0 || a == 1.0) return 1.0;
  if (heed_is_nan(a) || heed_is_nan(b)) return heed_nan();
  if (b == 2.0) return a * a;
  const float size = abs(a);
  float y;
  if (size == 0.0 || heed_is_infinite(a))
    y = (size == 0.0) == (b > 0.0) ? 0.0 : heed_infinity();
  else if (heed_is_infinite(b))
    y = size == 1.0 ? 1.0 : (size > 1.0) == (b > 0.0) ? heed_infinity() : 0.0;
  else
    y = heed_exp_all(b * heed_log(size));
  const bool negative = floatBitsToUint(a) >> 31 != 0, whole = floor(b) == b,
             odd = whole && abs(b) < 16777216.0 && (int(b) & 1) != 0;
  if (!negative || (whole && !odd)) return y;
  return odd ? -y : size == 0.0 || heed_is_infinite(a) || heed_is_infinite(b) ? y : heed_nan();
}

// C's fmod: the quotient may be one off, which the remainder shows.
float heed_remainder(float a, float b) {
  if (heed_is_nan(a) || heed_is_nan(b) || b == 0.0 || heed_is_infinite(a)) return heed_nan();
  if (heed_is_infinite(b) || a == 0.0) return a;
  const float size = abs(a), by = abs(b);
  precise float r = fma(-trunc(size / by), by, size);
  if (r < 0.0) r += by;
  if (r >= by) r -= by;
  return a < 0.0 ? -r : r;
}

#endif
