#version 450
// Rows of x as whole numbers of 8 bits, in the grid of docs/quantisation.md, with the CPU's bits:
// 1 extremes of the row and 0 2 numbers. Past the row's end stands what x = 0 becomes. Bindings: 0
// x, 1 numbers [rows, padded], 2 grids [rows].
#extension GL_GOOGLE_include_directive : require
#include "include/base.glsl"
#include "include/half.glsl"
#include "include/row.glsl"
#include "params/quantise_rows.h"

layout(constant_id = 2) const uint VECTOR = 0; // x can be read as vec4; 2: and is fp16
// of a number: 1 byte, q - 128; else q - zero, in fp32 or in fp16, which holds it
layout(constant_id = 3) const uint BYTES = 2;

layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 0) readonly buffer X4 { vec4 x4[]; };
layout(std430, binding = 0) readonly buffer XHalf { uvec2 x_half[]; };
layout(std430, binding = 1) writeonly buffer Q { uint bytes4[]; };
layout(std430, binding = 1) writeonly buffer QHalf { uvec2 halves4[]; };
layout(std430, binding = 1) writeonly buffer QFloat { vec4 floats4[]; };
layout(std430, binding = 2) writeonly buffer Grids { uvec2 grids[]; };

uint from; // the row in x

vec4 four(uint f) {
  if (4 * f >= params.width) return vec4(0.0);
  if (VECTOR == 2) return heed_unpack(x_half[(from >> 2) + f]);
  if (VECTOR != 0) return x4[(from >> 2) + f];
  vec4 v = vec4(0.0);
  for (uint c = 0; c < 4; c++)
    if (4 * f + c < params.width) v[c] = x[from + 4 * f + c];
  return v;
}

// Divisions are rounded as C rounds them, which Vulkan does not ask of a driver: by whole numbers.
// Of v = m 2^(e - 150), m with 24 bits.
uint exponent_of(float v) { return floatBitsToUint(v) >> 23 & 0xFFu; } // v may be -0
uint digits_of(float v) { return (floatBitsToUint(v) & 0x7FFFFFu) | 0x800000u; }
// r 2^(e - 150), r from 2^23 to 2^24.
float number(uint e, uint r) { return uintBitsToFloat((e << 23) + (r - 0x800000u)); }

// v / 255, v at least 0 and finite; a quotient that is no normal number becomes 0.
float by_255(float v) {
  const uint e = exponent_of(v), scaled = digits_of(v) << 8;
  if (e < 9) return 0.0;
  const uint q = scaled / 255, rest = scaled - q * 255;
  if (q < 0x1000000u) return number(e - 8, q + (2 * rest > 255 ? 1 : 0));
  const bool up = (q & 1) != 0 && (rest != 0 || (q >> 1 & 1) != 0);
  return number(e - 7, (q >> 1) + (up ? 1 : 0));
}

// 1 / v, v a normal number of at most 2^125: floor(2^47 / m), found by the driver's division up to
// some units, then its rounding.
float inverse_of(float v) {
  const uint m = digits_of(v);
  uint r = uint(16777216.0 / uintBitsToFloat(0x3F800000u | (m & 0x7FFFFFu)));
  int rest = -int(r * m); // 2^47 is 0 modulo 2^32
  for (uint i = 0; i < 8; i++) {
    const int step = rest < 0 ? -1 : rest >= int(m) ? 1 : 0;
    r += step;
    rest -= step * int(m);
  }
  return number(253 - exponent_of(v), r + (2 * rest > int(m) ? 1 : 0));
}

void main() {
  const uint row = min(heed_row(), params.rows - 1), lane = heed_lane();
  from = params.x_origin + row * params.width;
  float below = 0.0, above = 0.0, odd = 0.0;
  for (uint f = lane; 4 * f < params.width; f += LANES) {
    const vec4 v = four(f);
    const uvec4 size = floatBitsToUint(v) & 0x7FFFFFFFu;
    if (max(max(size.x, size.y), max(size.z, size.w)) >= 0x7F800000u) odd = 1.0;
    above = max(above, max(max(v.x, v.y), max(v.z, v.w)));
    below = max(below, -min(min(v.x, v.y), min(v.z, v.w)));
  }
  odd = heed_row_max(odd);
  above = heed_row_max(above);
  below = heed_row_max(below);
  if (heed_row() >= params.rows) return;
  precise float scale = 1.0, offset = 0.0, inverse = 0.0;
  if (odd == 0.0) {
    scale = by_255(above) + by_255(below);
    if (scale < uintBitsToFloat(0x00800000u)) scale = 1.0;
    inverse = inverse_of(scale);
    offset = min(roundEven(below * inverse), 255.0);
  }
  if (lane == 0)
    grids[row] = uvec2(odd != 0.0 ? 0x7FC00000u : floatBitsToUint(scale),
                       uint(BYTES == 1 ? int(offset) - 128 : 0));
  for (uint f = lane; 4 * f < params.padded; f += LANES) {
    precise const vec4 scaled = odd != 0.0 ? vec4(0.0) : four(f) * inverse;
    const vec4 q = clamp(roundEven(scaled) + offset, vec4(0.0), vec4(255.0));
    const uint at = row * (params.padded >> 2) + f;
    if (BYTES == 1) {
      const uvec4 b = uvec4(q);
      bytes4[at] = (b.x | b.y << 8 | b.z << 16 | b.w << 24) ^ 0x80808080u;
    } else if (BYTES == 2) {
      halves4[at] = heed_pack(q - offset);
    } else {
      floats4[at] = q - offset;
    }
  }
}
