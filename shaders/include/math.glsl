// Elementary functions with a known error everywhere: GLSL leaves the precision of exp and tanh to
// the driver. heed_exp: Cephes expf, below 2 ulp; heed_tanh: Cephes tanhf; heed_erf: Abramowitz &
// Stegun 7.1.26, absolute error 1.5e-7, and 1e-7 more by exp2, of which Vulkan allows 3 + 2 |x|
// ulp: that counts little where the exponential is small.
#ifndef HEED_MATH_GLSL
#define HEED_MATH_GLSL

// -FLT_MAX: where a running maximum of logits starts, as no logit but -Inf lies under it. -Inf
// relative to it or to more is -Inf, so that exp of it is 0. A sum of exponentials with any other
// logit is 1 or more, so that a sum of 0 says that all of them were -Inf.
const float HEED_LOWEST = -3.40282347e+38;

// Results under 2^-126 are 0. NaN is the caller's business: a clamp may swallow it.
#ifdef HEED_MATRIX_GLSL
// Beside factors of fp16 the driver's own: Vulkan bounds its error by 3 + 2 |x log2 e| ulp.
vec4 heed_exp(vec4 x) { return exp2(x * 1.44269504); }
#else
vec4 heed_exp(vec4 x) {
  const vec4 inside = clamp(x, vec4(-88.0), vec4(88.3));
  const vec4 n = floor(inside * 1.44269504 + 0.5);
  const vec4 r = (inside - n * 0.693359375) + n * 2.12194440e-4;
  vec4 p = vec4(1.9875691500e-4);
  p = p * r + 1.3981999507e-3;
  p = p * r + 8.3334519073e-3;
  p = p * r + 4.1665795894e-2;
  p = p * r + 1.6666665459e-1;
  p = p * r + 5.0000001201e-1;
  const vec4 y = p * (r * r) + r + 1.0;
  // 2^n in two factors: n reaches 127, and n under -126 would not be a normal number
  const vec4 scaled = y * uintBitsToFloat(uvec4(max(ivec4(n), ivec4(-126)) + 127) << 23u);
  return mix(scaled, vec4(0.0), lessThan(x, vec4(-87.3)));
}
#endif
float heed_exp(float x) { return heed_exp(vec4(x)).x; }

vec4 heed_tanh(vec4 x) {
  const vec4 z = x * x;
  vec4 p = vec4(-5.70498872745e-3);
  p = p * z + 2.06390887954e-2;
  p = p * z - 5.37397155531e-2;
  p = p * z + 1.33314422036e-1;
  p = p * z - 3.33332819422e-1;
  const vec4 small = p * z * x + x;
  const vec4 large = sign(x) * (1.0 - 2.0 / (heed_exp(2.0 * abs(x)) + 1.0));
  // NaN is neither: it goes through the polynomial
  return mix(small, large, greaterThanEqual(abs(x), vec4(0.625)));
}
float heed_tanh(float x) { return heed_tanh(vec4(x)).x; }

vec4 heed_erf(vec4 x) {
  const vec4 t = 1.0 / (1.0 + 0.3275911 * abs(x));
  vec4 p = vec4(1.061405429);
  p = p * t - 1.453152027;
  p = p * t + 1.421413741;
  p = p * t - 0.284496736;
  p = p * t + 0.254829592;
  return sign(x) * (1.0 - p * t * exp2(max(x * x * -1.44269504, vec4(-126.0))));
}

// Bits decide, since a compiler may assume that neither NaN nor Inf exists.
bool heed_is_nan(float x) { return (floatBitsToUint(x) & 0x7FFFFFFFu) > 0x7F800000u; }

bool heed_is_minus_infinity(float x) { return floatBitsToUint(x) == 0xFF800000u; }

// Components that are NaN or Inf become 0.
vec4 heed_finite(vec4 v) {
  const uvec4 exponent = floatBitsToUint(v) & 0x7F800000u;
  return mix(v, vec4(0.0), equal(exponent, uvec4(0x7F800000u)));
}

// Numbers as in heed_activation. Kinds whose formula would lose a NaN take it from x.
vec4 heed_activate(uint kind, vec4 x) {
  vec4 y = x;
  // x times something that vanishes: -Inf would give NaN, and under -100 the product is 0 in 24
  // bits
  const vec4 above = max(x, vec4(-100.0));
  switch (kind) {
    case 1: y = max(x, vec4(0.0)); break;
    case 2: y = 0.5 * above * (1.0 + heed_erf(above * 0.70710678118)); break;
    case 3:
      y = 0.5 * above *
          (1.0 + heed_tanh(0.79788456080 * (above + 0.044715 * above * above * above)));
      break;
    case 4: y = above / (1.0 + heed_exp(-1.702 * above)); break;
    case 5: y = heed_tanh(x); break;
    case 6: y = 1.0 / (1.0 + heed_exp(-x)); break;
    case 7: y = above / (1.0 + heed_exp(-above)); break;
    case 8: y = mix(heed_exp(x), x + 1.0, greaterThan(x, vec4(0.0))); break;
  }
  return mix(y, x, bvec4(heed_is_nan(x.x), heed_is_nan(x.y), heed_is_nan(x.z), heed_is_nan(x.w)));
}

#endif
