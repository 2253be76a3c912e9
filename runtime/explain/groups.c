/* Heads that attend alike: how far their maps are apart, and groups by average linkage (Sokal and
 * Michener 1958); and how much of a map lies on a region. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "heed/explain.h"

static double sum_of(const float *row, uint32_t n) {
  double sum = 0.0;
  for (uint32_t i = 0; i < n; i++) sum += (double)row[i];
  return sum > 0.0 ? sum : 1.0;
}

static double half_of(double p, double q) {
  return p > 0.0 ? 0.5 * p * log(2.0 * p / (p + q)) : 0.0;
}

double heed_map_divergence(const float *a, const float *b, uint32_t n) {
  const double a_sum = sum_of(a, n), b_sum = sum_of(b, n);
  double sum = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    const double p = (double)a[i] / a_sum, q = (double)b[i] / b_sum;
    sum += half_of(p, q) + half_of(q, p);
  }
  return sum > 0.0 ? sum : 0.0;
}

void heed_map_distances(const float *maps, uint32_t heads, uint32_t queries, uint32_t tokens,
                        uint32_t stride, double *distances) {
  const size_t map = (size_t)queries * tokens, step = stride ? stride : 1;
  for (uint32_t a = 0; a < heads; a++)
    for (uint32_t b = 0; b <= a; b++) {
      double sum = 0.0;
      uint32_t count = 0;
      for (size_t t = 0; a != b && t < queries; t += step, count++)
        sum +=
            heed_map_divergence(maps + a * map + t * tokens, maps + b * map + t * tokens, tokens);
      distances[(size_t)a * heads + b] = distances[(size_t)b * heads + a] =
          count ? sum / count : 0.0;
    }
}

/* Groups while they are made. A group is known by its lowest member. */
typedef struct linkage {
  uint32_t count;
  double *sums;              /* [count, count]: of the distances of all pairs of members */
  uint32_t *group;           /* [count]: the lowest member of each one's group */
  uint32_t *size, *smallest; /* [count]: by that member; and, sorted, those members */
} linkage;

/* Group b becomes part of group a. */
static void merge(linkage *l, uint32_t a, uint32_t b) {
  const size_t n = l->count;
  for (size_t i = 0; i < n; i++) {
    l->sums[a * n + i] += l->sums[b * n + i];
    l->sums[i * n + a] += l->sums[i * n + b];
    if (l->group[i] == b) l->group[i] = a;
  }
  l->size[a] += l->size[b];
}

/* Joins the two groups whose mean distance is the least, where it is below the limit. */
static bool join(linkage *l, double limit) {
  uint32_t pair[2] = {0, 0};
  double nearest = limit;
  for (uint32_t a = 0; a < l->count; a++)
    for (uint32_t b = 0; l->group[a] == a && b < a; b++) {
      if (l->group[b] != b) continue;
      const double found =
          l->sums[(size_t)a * l->count + b] / ((double)l->size[a] * (double)l->size[b]);
      if (!(found < nearest)) continue;
      nearest = found;
      pair[0] = b;
      pair[1] = a;
    }
  if (pair[0] == pair[1]) return false;
  merge(l, pair[0], pair[1]);
  return true;
}

/* Numbers groups by their size, the largest first, of equal ones the one with the lowest member. */
static uint32_t number(linkage *l) {
  uint32_t groups = 0;
  for (uint32_t i = 0; i < l->count; i++) {
    if (l->group[i] != i) continue;
    uint32_t at = groups++;
    for (; at > 0 && l->size[l->smallest[at - 1]] < l->size[i]; at--)
      l->smallest[at] = l->smallest[at - 1];
    l->smallest[at] = i;
  }
  for (uint32_t i = l->count; i-- > 0;) { /* a member comes after its lowest one */
    uint32_t g = 0;
    while (l->smallest[g] != l->group[i]) g++;
    l->size[i] = g;
  }
  memcpy(l->group, l->size, l->count * sizeof *l->group);
  return groups;
}

heed_status heed_map_groups(heed_context *context, const double *distances, uint32_t count,
                            double limit, uint32_t *group, uint32_t *groups, heed_error *error) {
  *groups = 0;
  if (!count) return HEED_OK;
  const size_t pairs = (size_t)count * count;
  uint32_t *room = heed_alloc_raw(context, count, 2 * sizeof *room);
  double *sums = heed_alloc_raw(context, pairs, sizeof *sums);
  if (!room || !sums) {
    heed_free(context, sums);
    heed_free(context, room);
    return heed_fail_memory(error, "groups", pairs * sizeof *sums + count * 2 * sizeof *room);
  }
  memcpy(sums, distances, pairs * sizeof *sums);
  linkage l = {count, sums, group, room, room + count};
  for (uint32_t i = 0; i < count; i++) {
    group[i] = i;
    l.size[i] = 1;
  }
  while (join(&l, limit)) continue;
  *groups = number(&l);
  heed_free(context, sums);
  heed_free(context, room);
  return HEED_OK;
}

double heed_map_share(const float *row, const uint8_t *region, uint32_t n) {
  double sum = 0.0;
  for (uint32_t i = 0; i < n; i++)
    if (region[i]) sum += (double)row[i];
  return sum;
}

double heed_map_mean_share(const float *attention, uint32_t tokens, uint32_t prefix,
                           const uint8_t *region) {
  double sum = 0.0;
  uint32_t count = 0;
  for (uint32_t t = prefix; t < tokens; t++) {
    if (region[t]) continue;
    sum += heed_map_share(attention + (size_t)t * tokens, region, tokens);
    count++;
  }
  return count ? sum / count : 0.0;
}
