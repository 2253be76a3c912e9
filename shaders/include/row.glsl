// Sums and maxima over the LANES invocations that share a row. Lanes of a row are neighbours; with
// one lane nothing is shared. With HEED_SUBGROUP by shuffles, through shared memory only between
// the subgroups of a row; subgroups of any size. The order is fixed by LANES and the subgroup's
// size, so a device gives the same bits every time.
#ifndef HEED_ROW_GLSL
#define HEED_ROW_GLSL

layout(constant_id = 1) const uint LANES = 1; // a power of two that divides the workgroup's width

// Loops have a constant number of steps: compilers unroll no loop around one that they cannot
// unroll, and an array that such a loop indexes goes through memory.
const uint HEED_MOST_STEPS = 10; // LANES are 1024 at most
const uint HEED_MOST_PARTS = 8;  // of a row, in subgroups

#ifndef HEED_PARTIAL // the includer may have a place for them: a float an invocation
shared float heed_partial[gl_WorkGroupSize.x];
#define HEED_PARTIAL(i) heed_partial[i]
#endif

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

float heed_row_tree(float x, uint apart, bool sums) {
  const uint at = heed_index(), lane = heed_lane();
  HEED_PARTIAL(at) = x;
  barrier();
  [[unroll]] for (uint n = 1; n <= HEED_MOST_STEPS; n++) {
    const uint half_width = LANES >> n;
    if (half_width >= apart) {
      if (lane < half_width)
        HEED_PARTIAL(at) = heed_join(HEED_PARTIAL(at), HEED_PARTIAL(at + half_width), sums);
      barrier();
    }
  }
  const float all = HEED_PARTIAL(at - lane + lane % apart);
  barrier();
  return all;
}

// Joins what every `apart`-th lane of a row has; apart is a power of two, at least 1.
#ifdef HEED_SUBGROUP
float heed_row_join(float x, uint apart, bool sums) {
  if (LANES == 1 || LANES == apart) return x;
  const uint parts = LANES / gl_SubgroupSize;
  if (!heed_full() || (apart > 1 && parts > 1) || parts > HEED_MOST_PARTS)
    return heed_row_tree(x, apart, sums);
  [[unroll]] for (uint n = 0; n < HEED_MOST_STEPS; n++) {
    if (apart << n < min(LANES, gl_SubgroupSize))
      x = heed_join(x, subgroupShuffleXor(x, apart << n), sums);
  }
  if (LANES <= gl_SubgroupSize) return x;
  if (gl_SubgroupInvocationID == 0) HEED_PARTIAL(gl_SubgroupID) = x;
  barrier();
  const uint first = gl_SubgroupID / parts * parts;
  x = HEED_PARTIAL(first);
  [[unroll]] for (uint i = 1; i < HEED_MOST_PARTS; i++) if (i < parts) x =
      heed_join(x, HEED_PARTIAL(first + i), sums);
  barrier();
  return x;
}
#else
float heed_row_join(float x, uint apart, bool sums) {
  if (LANES == 1) return x;
  return LANES == apart ? x : heed_row_tree(x, apart, sums);
}
#endif

float heed_row_sum(float x) { return heed_row_join(x, 1, true); }
float heed_row_max(float x) { return heed_row_join(x, 1, false); }

#endif
