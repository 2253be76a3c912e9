/* One row of attention on its way from scores to weights: 2 scale, cap, bias, mask 3 maximum 4 exp
 * and sum, or sparsemax. */
#ifndef HEED_CPU_ATTENTION_ROW_H
#define HEED_CPU_ATTENTION_ROW_H

#include <float.h>
#include <math.h>

#include "cpu/softmax_row.h"
#include "graph/attention_rule.h"
#include "heed/ops.h"

/* x = scale x, then softcap tanh(x / softcap) unless softcap is 0. */
static inline void heed_cpu_scale_logits(float *x, size_t count, float scale, float softcap) {
  heed_cpu_scale_row(x, count, scale, x);
  if (softcap == 0.0f) return;
  heed_cpu_scale_row(x, count, 1.0f / softcap, x);
  heed_cpu_activate(HEED_ACTIVATION_TANH, x, x, count);
  heed_cpu_scale_row(x, count, softcap, x);
}

/* x += bias, -Inf where bias is, also when x is NaN or Inf; bias is one element when step is 0. */
static inline void heed_cpu_bias_logits(float *x, size_t count, const float *bias, size_t step) {
  const f32xN lowest = f32_set1(-FLT_MAX);
  size_t i = 0;
  for (; i + HEED_SIMD_WIDTH <= count; i += HEED_SIMD_WIDTH) {
    const f32xN add = step ? f32_load(bias + i) : f32_set1(*bias);
    f32_store(x + i, f32_select_less(add, lowest, add, f32_add(f32_load(x + i), add)));
  }
  if (i == count) return;
  const uint32_t rest = (uint32_t)(count - i);
  const f32xN add = step ? f32_load_tail(bias + i, rest) : f32_set1(*bias);
  f32_store_tail(x + i, f32_select_less(add, lowest, add, f32_add(f32_load_tail(x + i, rest), add)),
                 rest);
}

static inline void heed_cpu_mask_logits(float *x, size_t count, const uint8_t *mask) {
  for (size_t i = 0; i < count; i++) x[i] = mask[i] ? x[i] : -INFINITY;
}

/* Whether there is a logit that no norm can take: NaN or +Inf. */
static inline bool heed_cpu_broken(const float *x, size_t count) {
  bool broken = false;
  for (size_t i = 0; i < count; i++) broken = broken || !(x[i] < INFINITY);
  return broken;
}

/* Cuts what lies under threshold times the sum; the largest, exp(0) = 1, stays. Returns the sum of
 * the rest. */
static inline float heed_cpu_cut_row(float *x, size_t count, float least) {
  float kept = 0.0f;
  for (size_t i = 0; i < count; i++) {
    x[i] = x[i] < least && x[i] != 1.0f ? 0.0f : x[i];
    kept += x[i];
  }
  return kept;
}

/* Sparsemax (Martins & Astudillo 2016) by Michelot's iteration: starting under the threshold tau,
 * it rises to it in finitely many steps, each the tau of those still above. x finite or -Inf, the
 * largest given. */
static inline void heed_cpu_sparsemax_row(float *x, size_t count, float largest) {
  double tau = -1.0;
  for (size_t before = SIZE_MAX, active = 0; active != before;) {
    double sum = 0.0;
    before = active;
    active = 0;
    for (size_t i = 0; i < count; i++) {
      const double z = (double)x[i] - (double)largest;
      if (z <= tau) continue;
      sum += z;
      active++;
    }
    tau = (sum - 1.0) / (double)active;
  }
  for (size_t i = 0; i < count; i++) {
    const double z = (double)x[i] - (double)largest;
    x[i] = z > tau ? (float)(z - tau) : 0.0f;
  }
}

typedef enum heed_cpu_row {
  HEED_CPU_ROW_WEIGHTS,
  HEED_CPU_ROW_EMPTY,
  HEED_CPU_ROW_BROKEN
} heed_cpu_row;

/* logits -> weights before the factor, in place: weight = x factor. */
static inline heed_cpu_row heed_cpu_norm_row(const heed_attention_desc *desc, float *x,
                                             size_t count, float *factor) {
  const float largest = heed_cpu_max_row(x, count);
  /* A NaN may hide behind a maximum of -Inf. */
  if (largest == -INFINITY)
    return heed_cpu_broken(x, count) ? HEED_CPU_ROW_BROKEN : HEED_CPU_ROW_EMPTY;
  *factor = 1.0f;
  if (desc->norm == HEED_NORM_SPARSEMAX) {
    if (heed_cpu_broken(x, count)) return HEED_CPU_ROW_BROKEN;
    heed_cpu_sparsemax_row(x, count, largest);
    return HEED_CPU_ROW_WEIGHTS;
  }
  float sum = heed_cpu_exp_row(x, count, largest, x);
  if (isnan(sum)) return HEED_CPU_ROW_BROKEN;
  if (desc->norm == HEED_NORM_SPARSE_SOFTMAX)
    sum = heed_cpu_cut_row(x, count, desc->threshold * sum);
  *factor = 1.0f / sum;
  return HEED_CPU_ROW_WEIGHTS;
}

#endif
