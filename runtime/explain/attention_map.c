/* Attention maps: head mean, rollout, entropy, mean distance, mass mask. Matrices are row = query,
 * column = key.
 *
 * Weights come as float; every sum is taken in double, in index order, so that the numbers are the
 * same everywhere. Sources: rollout: Abnar & Zuidema 2020, section 3; mean attention distance:
 * Dosovitskiy et al. 2021, appendix D.7; mass mask: Caron et al. 2021, the published visualisation
 * script. */
#include "explain/attention_map.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/desc.h"
#include "base/sort.h"
#include "base/status.h"

/* The weights of all heads at one place, `step` elements apart, as one. */
static double fuse(const float *weights, uint32_t heads, size_t step, heed_fusion fusion) {
  double result = (double)weights[0];
  for (uint32_t h = 1; h < heads; h++) {
    const double weight = (double)weights[h * step];
    if (fusion == HEED_FUSION_MEAN)
      result += weight;
    else if (isnan(weight) || (fusion == HEED_FUSION_MIN ? weight < result : weight > result))
      result = weight; /* a NaN stays: nothing is less */
  }
  return fusion == HEED_FUSION_MEAN ? result / heads : result;
}

void heed_map_mean_of(const float *weights, uint32_t heads, size_t count, float *mean) {
  if (heads == 0) return;
  for (size_t i = 0; i < count; i++)
    mean[i] = (float)fuse(weights + i, heads, count, HEED_FUSION_MEAN);
}

void heed_map_head_mean(const float *attention, uint32_t heads, uint32_t tokens, float *mean) {
  heed_map_mean_of(attention, heads, (size_t)tokens * tokens, mean);
}

/* -------------------------------------------------------------------------------------- rollout */

typedef struct rollout_work {
  double *row;     /* [N] one row of a layer's matrix */
  uint32_t *order; /* [N] keys, by their weight where some are discarded */
  double *product; /* [N, N] of the layers so far */
  double *next;    /* [N, N] */
} rollout_work;

/* Smaller weights first, a NaN last, then smaller indices. */
static bool weighs_less(const void *user, uint32_t a, uint32_t b) {
  const double *row = user, x = isnan(row[a]) ? (double)INFINITY : row[a],
               y = isnan(row[b]) ? (double)INFINITY : row[b];
  return x < y || (x == y && a < b);
}

static void discard_smallest(const heed_rollout_desc *desc, double *row, uint32_t *order) {
  const uint32_t count = (uint32_t)((double)desc->discard * desc->tokens);
  if (count == 0) return;
  for (uint32_t i = 0; i < desc->tokens; i++) order[i] = i;
  heed_sort(order, desc->tokens, weighs_less, row);
  for (uint32_t i = 0; i < count; i++) row[order[i]] = 0.0;
}

/* Row i of the layer's (1 - r) A + r I, divided by its sum over keys: min and max over heads, rows
 * with weights discarded, and rows with nothing allowed, do not add up to 1 of themselves. */
static void rollout_row(const heed_rollout_desc *desc, const float *layer, uint32_t i,
                        double residual, const rollout_work *work) {
  const size_t n = desc->tokens;
  double sum = 0.0, *row = work->row;
  for (size_t j = 0; j < n; j++) row[j] = fuse(layer + i * n + j, desc->heads, n * n, desc->fusion);
  discard_smallest(desc, row, work->order);
  for (size_t j = 0; j < n; j++) {
    row[j] = (1.0 - residual) * row[j] + (i == j ? residual : 0.0);
    sum += row[j];
  }
  /* sum >= residual > 0 for weights that are not negative */
  for (size_t j = 0; j < n; j++) row[j] /= sum;
}

/* next = matrix of the layer x product. */
static void rollout_layer(const heed_rollout_desc *desc, const float *layer, double residual,
                          rollout_work *work) {
  const size_t n = desc->tokens;
  for (uint32_t i = 0; i < desc->tokens; i++) {
    double *to = work->next + i * n;
    rollout_row(desc, layer, i, residual, work);
    memset(to, 0, n * sizeof *to);
    for (size_t k = 0; k < n; k++) {
      const double weight = work->row[k];
      const double *from = work->product + k * n;
      for (size_t j = 0; j < n; j++) to[j] += weight * from[j];
    }
  }
  double *swapped = work->product;
  work->product = work->next;
  work->next = swapped;
}

static double residual_of(const heed_rollout_desc *desc) {
  return desc->residual == 0.0f ? 0.5 : (double)desc->residual;
}

static heed_status check_rollout(const heed_rollout_desc *desc, heed_error *error) {
  if (desc->layers == 0 || desc->heads == 0 || desc->tokens == 0)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: empty attention (found %u layers, %u heads, %u tokens, expected at "
                     "least 1 of each)",
                     desc->layers, desc->heads, desc->tokens);
  if (desc->first_layer >= desc->layers || desc->layer_count > desc->layers - desc->first_layer)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: layers out of range (found %u from %u, expected within %u)",
                     desc->layer_count, desc->first_layer, desc->layers);
  if (!(desc->residual >= 0.0f && desc->residual <= 1.0f))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: invalid residual (found %g, expected 0 to 1)",
                     (double)desc->residual);
  if (!(desc->discard >= 0.0f && desc->discard < 1.0f))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: invalid discard (found %g, expected 0 to less than 1)",
                     (double)desc->discard);
  if (desc->fusion != HEED_FUSION_MEAN && desc->fusion != HEED_FUSION_MIN &&
      desc->fusion != HEED_FUSION_MAX)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "rollout: unknown fusion (found %d, expected 0 to 2)", (int)desc->fusion);
  return HEED_OK;
}

heed_status heed_map_rollout_back(heed_context *context, const heed_rollout_desc *desc,
                                  const float *layer, double *row, heed_error *error) {
  HEED_TRY(check_rollout(desc, error));
  const size_t n = desc->tokens;
  const double residual = residual_of(desc);
  double *next = heed_alloc(context, n, 2 * sizeof *next);
  uint32_t *order = heed_alloc_raw(context, n, sizeof *order);
  const rollout_work work = {next ? next + n : NULL, order, NULL, NULL};
  for (uint32_t q = 0; next && order && q < desc->tokens; q++) {
    if (row[q] == 0.0) continue;
    rollout_row(desc, layer, q, residual, &work);
    for (size_t k = 0; k < n; k++) next[k] += row[q] * work.row[k];
  }
  if (next && order) memcpy(row, next, n * sizeof *row);
  const bool made = next && order;
  heed_free(context, next);
  heed_free(context, order);
  return made ? HEED_OK : heed_fail_memory(error, "rollout", n * sizeof *row);
}

heed_status heed_map_rollout(heed_context *context, const heed_rollout_desc *desc,
                             const float *attention, float *rollout, heed_error *error) {
  heed_rollout_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "rollout", error));
  desc = &full;
  HEED_TRY(check_rollout(desc, error));
  const size_t n = desc->tokens;
  size_t square, per_layer, memory;
  if (!heed_size_mul(n, n, &square) || !heed_size_mul(square, desc->heads, &per_layer) ||
      !heed_size_mul(square, 2 * sizeof(double), &memory))
    return heed_fail_memory(error, "rollout", SIZE_MAX);
  rollout_work work = {
      heed_alloc_raw(context, n, sizeof(double)), heed_alloc_raw(context, n, sizeof(uint32_t)),
      heed_alloc(context, square, sizeof(double)), heed_alloc_raw(context, square, sizeof(double))};
  const bool made = work.row && work.order && work.product && work.next;
  if (made) {
    const double residual = residual_of(desc);
    const uint32_t end = desc->layer_count ? desc->first_layer + desc->layer_count : desc->layers;
    for (size_t i = 0; i < n; i++) work.product[i * n + i] = 1.0;
    for (uint32_t layer = desc->first_layer; layer < end; layer++)
      rollout_layer(desc, attention + layer * per_layer, residual, &work);
    for (size_t i = 0; i < square; i++) rollout[i] = (float)work.product[i];
  }
  heed_free(context, work.row);
  heed_free(context, work.order);
  heed_free(context, work.product);
  heed_free(context, work.next);
  return made ? HEED_OK : heed_fail_memory(error, "rollout", memory);
}

/* ----------------------------------------------------------------------------- numbers of a row */

double heed_map_entropy(const float *row, uint32_t n) {
  double sum = 0.0;
  for (uint32_t i = 0; i < n; i++) {
    const double weight = (double)row[i];
    if (!(weight <= 0.0)) sum -= weight * log(weight); /* a NaN goes on into the sum */
  }
  return sum;
}

double heed_map_distance(const float *attention, uint32_t prefix, uint32_t rows, uint32_t columns,
                         double patch, bool renormalise) {
  const size_t patches = (size_t)rows * columns, tokens = prefix + patches;
  double total = 0.0;
  for (size_t q = 0; q < patches; q++) {
    const float *row = attention + (prefix + q) * tokens + prefix;
    double moment = 0.0, mass = 0.0;
    for (size_t k = 0; k < patches; k++) {
      const double down = (double)(k / columns) - (double)(q / columns),
                   across = (double)(k % columns) - (double)(q % columns);
      moment += (double)row[k] * sqrt(down * down + across * across);
      mass += (double)row[k];
    }
    if (!renormalise)
      total += moment;
    else if (mass != 0.0)
      total += moment / mass;
  }
  return patches ? total / (double)patches * patch : 0.0;
}

/* ------------------------------------------------------------------------------------ mass mask */

/* NaN and negative count as 0. */
static double mass_of(const float *weights, uint32_t index) {
  return weights[index] > 0.0f ? (double)weights[index] : 0.0;
}

/* Larger weights first, then smaller indices: a total order, so any sort gives the same. */
static bool comes_before(const void *user, uint32_t a, uint32_t b) {
  const float *weights = user;
  const double mass_a = mass_of(weights, a), mass_b = mass_of(weights, b);
  return mass_a > mass_b || (mass_a == mass_b && a < b);
}

uint32_t heed_map_mass_mask(const float *weights, uint32_t n, double share, uint8_t *mask,
                            uint32_t *order) {
  double total = 0.0, held = 0.0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) order[i] = i;
  heed_sort(order, n, comes_before, weights);
  /* The total in the same order as the sum below, so that a share of 1 is reached exactly. */
  for (uint32_t i = 0; i < n; i++) total += mass_of(weights, order[i]);
  for (uint32_t i = 0; i < n; i++) mask[i] = 0;
  for (; count < n && held < share * total; count++) {
    mask[order[count]] = 1;
    held += mass_of(weights, order[count]);
  }
  return count;
}
