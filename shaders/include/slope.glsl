// Slopes f'(x) of activations and their ratios f(x) / x, by the numbers of heed_activation.
#ifndef HEED_SLOPE_GLSL
#define HEED_SLOPE_GLSL
#include "math.glsl"

vec4 heed_sigmoid(vec4 x) { return 1.0 / (1.0 + heed_exp(-x)); }
vec4 heed_normal(vec4 x) { return 0.5 + 0.5 * heed_erf(x * 0.70710678118); }

// 1 above 0, else 0. By the bits, since a device may take a subnormal number for 0.
vec4 heed_step(vec4 x) { return vec4(greaterThan(floatBitsToInt(x), ivec4(0))); }

vec4 heed_keep_nan(vec4 y, vec4 x) {
  return mix(y, x, bvec4(heed_is_nan(x.x), heed_is_nan(x.y), heed_is_nan(x.z), heed_is_nan(x.w)));
}

// f(x) / x; at 0 its limit.
vec4 heed_ratio(uint kind, vec4 x) {
  const vec4 z = clamp(x, vec4(-13.0), vec4(13.0)), wide = clamp(x, vec4(-1e30), vec4(1e30));
  vec4 y = vec4(1.0);
  switch (kind) {
    case 0: return y;
    case 1: y = heed_step(x); break;
    case 2: y = heed_normal(z); break;
    case 3: y = heed_sigmoid(1.59576912161 * (z + 0.044715 * z * z * z)); break;
    case 4: y = heed_sigmoid(1.702 * wide); break;
    case 5: y = mix(heed_tanh(wide) / wide, vec4(1.0), lessThan(abs(wide), vec4(1e-4))); break;
    case 7: y = heed_sigmoid(wide); break;
  }
  return heed_keep_nan(y, x);
}

// Beyond what is cut off the slope has come to its limit.
vec4 heed_slope(uint kind, vec4 x) {
  const vec4 z = clamp(x, vec4(-13.0), vec4(13.0)), low = clamp(x, vec4(-90.0), vec4(90.0));
  vec4 y = vec4(1.0), s;
  switch (kind) {
    case 0: return y;
    case 1: y = heed_step(x); break;
    case 2: y = heed_normal(z) + z * 0.39894228040 * heed_exp(-0.5 * z * z); break;
    case 3:
      s = heed_ratio(3, z);
      y = s + s * heed_sigmoid(-1.59576912161 * (z + 0.044715 * z * z * z)) * 1.59576912161 * z *
                  (1.0 + 0.134145 * z * z);
      break;
    case 4:
      s = clamp(1.702 * x, vec4(-90.0), vec4(90.0));
      y = heed_sigmoid(s) + heed_sigmoid(s) * heed_sigmoid(-s) * s;
      break;
    case 5:
      s = heed_tanh(x);
      y = (1.0 - s) * (1.0 + s);
      break;
    case 6: y = heed_sigmoid(x) * heed_sigmoid(-x); break;
    case 7: y = heed_sigmoid(low) + heed_sigmoid(low) * heed_sigmoid(-low) * low; break;
    case 8: y = heed_exp(min(x, vec4(0.0))); break;
  }
  return heed_keep_nan(y, x);
}

#endif
