/* Maps by the order of their numbers: which come first, how far two maps agree, and how much of one
 * lies inside of a mask. Sources: Zhang et al. 2018 (pointing game); Arras et al. 2022 (mass and
 * rank accuracy). */
#include <math.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/status.h"
#include "heed/explain.h"

/* Larger first, then the smaller index, NaN last: a total order, so any sort gives the same. */
static bool comes_before(const void *user, uint32_t a, uint32_t b) {
  const float *map = user, x = map[a], y = map[b];
  if (x > y || y > x) return x > y;
  return isnan(x) == isnan(y) ? a < b : isnan(y);
}

void heed_map_order(const float *map, uint32_t n, uint32_t *order) {
  for (uint32_t i = 0; i < n; i++) order[i] = i;
  heed_sort(order, n, comes_before, map);
}

/* ------------------------------------------------------------------------------------- spearman */

/* ranks [n] of map from 0 up, equal numbers with the mean of theirs; order [n] is scratch. Returns
 * whether all numbers are numbers. */
static bool rank(const float *map, uint32_t n, uint32_t *order, double *ranks) {
  for (uint32_t i = 0; i < n; i++)
    if (isnan(map[i])) return false;
  heed_map_order(map, n, order);
  for (uint32_t first = 0, end; first < n; first = end) {
    for (end = first + 1; end < n && map[order[end]] == map[order[first]];) end++;
    for (uint32_t i = first; i < end; i++)
      ranks[order[i]] = (double)n - 0.5 * ((double)first + (double)end + 1.0);
  }
  return true;
}

/* Pearson's correlation of two rows of ranks, whose mean is (n - 1) / 2. */
static double correlate(const double *a, const double *b, uint32_t n) {
  const double mean = 0.5 * ((double)n - 1.0);
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa > 0.0 && bb > 0.0 ? ab / (sqrt(aa) * sqrt(bb)) : (double)NAN;
}

heed_status heed_map_rank_correlation(heed_context *context, const float *a, const float *b,
                                      uint32_t n, double *rho, heed_error *error) {
  double *ranks = heed_alloc_raw(context, (size_t)n + 1, 2 * sizeof *ranks);
  uint32_t *order = heed_alloc_raw(context, (size_t)n + 1, sizeof *order);
  const bool room = ranks && order;
  if (room)
    *rho = rank(a, n, order, ranks) && rank(b, n, order, ranks + n) ? correlate(ranks, ranks + n, n)
                                                                    : (double)NAN;
  heed_free(context, ranks);
  heed_free(context, order);
  return room ? HEED_OK : heed_fail_memory(error, "rank correlation", n * 2 * sizeof *ranks);
}

heed_status heed_map_spearman(heed_context *context, const float *a, const float *b, uint32_t n,
                              double *rho, heed_error *error) {
  float *sizes = heed_alloc_raw(context, (size_t)n + 1, 2 * sizeof *sizes);
  if (!sizes) return heed_fail_memory(error, "spearman", n * 2 * sizeof *sizes);
  for (uint32_t i = 0; i < n; i++) {
    sizes[i] = fabsf(a[i]);
    sizes[n + i] = fabsf(b[i]);
  }
  const heed_status status = heed_map_rank_correlation(context, sizes, sizes + n, n, rho, error);
  heed_free(context, sizes);
  return status;
}

/* ---------------------------------------------------------------------------------- localisation
 */

heed_status heed_map_localise(heed_context *context, const float *map, const uint8_t *mask,
                              uint32_t n, heed_localisation *found, heed_error *error) {
  uint32_t *order = heed_alloc_raw(context, (size_t)n + 1, sizeof *order);
  if (!order) return heed_fail_memory(error, "localisation", n * sizeof *order);
  heed_map_order(map, n, order);
  double inside = 0.0, all = 0.0;
  uint32_t size = 0, first = 0;
  bool points = false;
  for (uint32_t i = 0; i < n; i++) {
    const bool in = mask[i] != 0;
    size += in;
    points = points || (in && map[i] == map[order[0]]);
    if (isnan(map[i])) continue;
    all += (double)map[i];
    if (in) inside += (double)map[i];
  }
  for (uint32_t i = 0; i < size; i++) first += mask[order[i]] != 0;
  *found = (heed_localisation){size ? points : HEED_POINTING_NONE,
                               size && all > 0.0 ? inside / all : (double)NAN,
                               size ? (double)first / size : (double)NAN};
  heed_free(context, order);
  return HEED_OK;
}
