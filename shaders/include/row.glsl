// Sums and maxima over the LANES invocations that share a row. Lanes of a row are neighbours; with
// one lane nothing is shared. With HEED_SUBGROUP by shuffles, through shared memory only between
// the subgroups of a row; subgroups of any size. The order is fixed by LANES and the subgroup's
// size, so a device gives the same bits every time.
#ifndef HEED_ROW_GLSL
#define HEED_ROW_GLSL

layout(constant_id = 1) const uint LANES = 1; // a power of two that divides the workgroup's width

shared float heed_partial[gl_WorkGroupSize.x];

#ifdef HEED_SUBGROUP
// A driver may leave subgroups partly empty; then their lanes are not those of the workgroup in
// order.
bool heed_full() { return gl_NumSubgroups * gl_SubgroupSize == gl_WorkGroupSize.x; }
uint heed_index() {
  return heed_full() ? gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID
                     : gl_LocalInvocationID.x;
}
#else
uint heed_index() { return gl_LocalInvocationID.x; }
#endif

uint heed_lane() { return LANES == 1 ? 0 : heed_index() % LANES; }
uint heed_row() { return heed_group() * (gl_WorkGroupSize.x / LANES) + heed_index() / LANES; }

float heed_join(float a, float b, bool sums) { return sums ? a + b : max(a, b); }

float heed_row_tree(float x, bool sums) {
  const uint at = heed_index(), lane = heed_lane();
  heed_partial[at] = x;
  barrier();
  for (uint half_width = LANES / 2; half_width > 0; half_width /= 2) {
    if (lane < half_width)
      heed_partial[at] = heed_join(heed_partial[at], heed_partial[at + half_width], sums);
    barrier();
  }
  const float all = heed_partial[at - lane];
  barrier();
  return all;
}

#ifdef HEED_SUBGROUP
float heed_row_all(float x, bool sums) {
  if (LANES == 1) return x;
  if (!heed_full()) return heed_row_tree(x, sums);
  for (uint step = 1; step < min(LANES, gl_SubgroupSize); step *= 2)
    x = heed_join(x, subgroupShuffleXor(x, step), sums);
  if (LANES <= gl_SubgroupSize) return x;
  if (gl_SubgroupInvocationID == 0) heed_partial[gl_SubgroupID] = x;
  barrier();
  const uint parts = LANES / gl_SubgroupSize, first = gl_SubgroupID / parts * parts;
  x = heed_partial[first];
  for (uint i = 1; i < parts; i++) x = heed_join(x, heed_partial[first + i], sums);
  barrier();
  return x;
}
#else
float heed_row_all(float x, bool sums) { return LANES == 1 ? x : heed_row_tree(x, sums); }
#endif

float heed_row_sum(float x) { return heed_row_all(x, true); }
float heed_row_max(float x) { return heed_row_all(x, false); }

#endif
