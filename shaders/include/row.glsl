// Sums and maxima over the LANES invocations that share a row. Lanes of a row are neighbours; with one lane nothing is shared.
// The tree has a fixed shape, so a device gives the same bits every time.
#ifndef HEED_ROW_GLSL
#define HEED_ROW_GLSL

layout(constant_id = 1) const uint LANES = 1; // a power of two that divides the workgroup's width

shared float heed_partial[gl_WorkGroupSize.x];

uint heed_lane() { return LANES == 1 ? 0 : gl_LocalInvocationID.x % LANES; }
uint heed_row() { return heed_group() * (gl_WorkGroupSize.x / LANES) + gl_LocalInvocationID.x / LANES; }

float heed_row_sum(float x) {
  if (LANES == 1) return x;
  const uint at = gl_LocalInvocationID.x, lane = heed_lane();
  heed_partial[at] = x;
  barrier();
  for (uint half_width = LANES / 2; half_width > 0; half_width /= 2) {
    if (lane < half_width) heed_partial[at] += heed_partial[at + half_width];
    barrier();
  }
  const float sum = heed_partial[at - lane];
  barrier();
  return sum;
}

float heed_row_max(float x) {
  if (LANES == 1) return x;
  const uint at = gl_LocalInvocationID.x, lane = heed_lane();
  heed_partial[at] = x;
  barrier();
  for (uint half_width = LANES / 2; half_width > 0; half_width /= 2) {
    if (lane < half_width) heed_partial[at] = max(heed_partial[at], heed_partial[at + half_width]);
    barrier();
  }
  const float largest = heed_partial[at - lane];
  barrier();
  return largest;
}

#endif
