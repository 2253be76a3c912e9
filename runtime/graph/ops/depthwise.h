/* The inputs of a depthwise node, and what its windows hold. */
#ifndef HEED_GRAPH_OPS_DEPTHWISE_H
#define HEED_GRAPH_OPS_DEPTHWISE_H

#include <stdint.h>

enum heed_depthwise_input {
  HEED_DEPTHWISE_INPUT_X,
  HEED_DEPTHWISE_INPUT_WEIGHT,
  HEED_DEPTHWISE_INPUT_BIAS,
  HEED_DEPTHWISE_INPUTS
};

/* Elements i of a window, from <= i < to, at place at + i step of a line, that lie in [low, high).
 */
typedef struct heed_depthwise_part {
  uint32_t from, to;
} heed_depthwise_part;

/* Places from `at` on, a step apart, that lie below `to`. */
static inline int64_t heed_depthwise_below(int64_t at, int64_t to, uint32_t step) {
  if (to <= at) return 0;
  return step == 1 ? to - at : (to - at + step - 1) / step;
}

static inline heed_depthwise_part heed_depthwise_inside(int64_t at, uint32_t step, uint32_t count,
                                                        int64_t low, int64_t high) {
  const int64_t below = heed_depthwise_below(at, low, step),
                end = heed_depthwise_below(at, high, step);
  const uint32_t to = end < count ? (uint32_t)end : count;
  return (heed_depthwise_part){below < to ? (uint32_t)below : to, to};
}

#endif
