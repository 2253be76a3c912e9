/* The inputs of a slice node, and what of a window lies in the tensor. */
#ifndef HEED_GRAPH_OPS_SLICE_H
#define HEED_GRAPH_OPS_SLICE_H

#include <stdint.h>

enum heed_slice_input { HEED_SLICE_INPUT_X, HEED_SLICE_INPUTS };

/* Along an axis: elements [from, to) of the `size` of the window are among the `length` of x. */
typedef struct heed_slice_part {
  uint32_t from, to;
} heed_slice_part;

static inline heed_slice_part heed_slice_inside(int64_t start, int64_t step, uint32_t length,
                                                uint32_t size) {
  /* counted from the end where the step is negative */
  const int64_t at = step < 0 ? (int64_t)length - 1 - start : start, by = step < 0 ? -step : step;
  const int64_t from = at < 0 ? (by - 1 - at) / by : 0,
                to = at < (int64_t)length ? ((int64_t)length - at + by - 1) / by : 0;
  const heed_slice_part part = {(uint32_t)(from < size ? from : size),
                                (uint32_t)(to < size ? to : size)};
  return part.from < part.to ? part : (heed_slice_part){0, 0};
}

#endif
