/* What a Resize makes of each axis, for the evaluator and the lowering. */
#ifndef HEED_ONNX_EVALUATE_RESIZE_H
#define HEED_ONNX_EVALUATE_RESIZE_H

#include "onnx/evaluate/evaluate.h"

typedef enum heed_onnx_filter {
  HEED_ONNX_FILTER_NEAREST,
  HEED_ONNX_FILTER_LINEAR,
  HEED_ONNX_FILTER_CUBIC
} heed_onnx_filter;

typedef struct heed_onnx_resizing {
  heed_onnx_filter filter;
  const char *place, *nearest; /* coordinate_transformation_mode, nearest_mode */
  double a;                    /* of the cubic */
  bool outside, antialias;     /* outside: elements beyond the edge have no weight */
  double scale[HEED_ONNX_MAX_RANK];
  uint64_t size[HEED_ONNX_MAX_RANK];
  /* tf_crop_and_resize: the part of each axis, and what lies beyond it */
  bool crop;
  double start[HEED_ONNX_MAX_RANK], end[HEED_ONNX_MAX_RANK], beyond;
} heed_onnx_resizing;

/* Elements [first, first + count) of an axis with their weights; those beyond an edge are its last
 * element. No element: what lies beyond. */
typedef struct heed_onnx_taps {
  int64_t first;
  uint64_t count;
  double *weight; /* [heed_onnx_most_taps] */
} heed_onnx_taps;

/* Reads the node for an input of this shape. */
heed_status heed_onnx_read_resize(heed_onnx_call *call, uint32_t rank, const uint64_t *dims,
                                  heed_onnx_resizing *r);
bool heed_onnx_resize_keeps(const heed_onnx_resizing *r, uint32_t axis, uint64_t n);
/* Whether places along an axis of n elements are ones; and how many weights an element may have. */
heed_status heed_onnx_check_places(heed_onnx_call *call, const heed_onnx_resizing *r, uint32_t axis,
                                   uint64_t n);
uint64_t heed_onnx_most_taps(const heed_onnx_resizing *r, uint32_t axis);
/* Of output element i. */
void heed_onnx_find_taps(const heed_onnx_resizing *r, uint32_t axis, uint64_t n, uint64_t i,
                         heed_onnx_taps *taps);
/* The element of an axis of n that a tap stands for. */
uint64_t heed_onnx_tap_index(int64_t at, uint64_t n);

#endif
