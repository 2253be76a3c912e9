/* Scores of a token with every token of one head, stage by stage. See heed.h. Sums in double, in
 * index order. */
#include <math.h>

#include "explain/softmax.h"
#include "heed/explain.h"

void heed_score_products(const float *one, const float *all, uint32_t tokens, uint32_t depth,
                         bool scaled, float *scores) {
  const double divisor = scaled ? sqrt(depth) : 1.0;
  for (uint32_t i = 0; i < tokens; i++) {
    const float *other = all + (size_t)i * depth;
    double sum = 0.0;
    for (uint32_t d = 0; d < depth; d++) sum += (double)one[d] * (double)other[d];
    scores[i] = (float)(sum / divisor);
  }
}

void heed_score_mask(const heed_changes *changes, uint32_t layer, uint32_t head, uint32_t token,
                     bool reverse, double temperature, uint32_t tokens, float *scores) {
  for (uint32_t i = 0; i < tokens; i++)
    scores[i] = heed_changes_allow(changes, layer, head, reverse ? i : token, reverse ? token : i)
                    ? (float)((double)scores[i] / temperature)
                    : -INFINITY;
}

void heed_score_softmax(const float *scores, uint32_t n, double *weights) {
  const heed_softmax softmax = heed_softmax_over(scores, n);
  for (uint32_t i = 0; i < n; i++) weights[i] = heed_softmax_share(&softmax, scores[i]);
}

static double length_of(const float *value, uint32_t depth) {
  double square = 0.0;
  for (uint32_t d = 0; d < depth; d++) square += (double)value[d] * (double)value[d];
  return sqrt(square);
}

void heed_score_values(const float *weights, const float *values, uint32_t tokens, uint32_t depth,
                       bool reverse, float *scores) {
  for (uint32_t i = 0; i < tokens; i++)
    scores[i] =
        (float)((double)weights[i] * length_of(values + (reverse ? 0 : (size_t)i * depth), depth));
}

void heed_score_mean(const float *scores, uint32_t heads, uint32_t tokens, float *mean) {
  for (uint32_t i = 0; i < tokens; i++) {
    double sum = 0.0;
    uint32_t open = 0;
    for (uint32_t h = 0; h < heads; h++) {
      const double score = (double)scores[(size_t)h * tokens + i];
      if (score <= -(double)INFINITY) continue;
      sum += score;
      open++;
    }
    mean[i] = open ? (float)(sum / open) : -INFINITY;
  }
}
