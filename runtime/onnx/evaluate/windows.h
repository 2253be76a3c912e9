/* Windows of a kernel over the axes behind [B, C]: those of convolutions and of pools. */
#ifndef HEED_ONNX_EVALUATE_WINDOWS_H
#define HEED_ONNX_EVALUATE_WINDOWS_H

#include "onnx/evaluate/evaluate.h"

typedef struct heed_onnx_windows {
  uint32_t axes;
  uint64_t kernel[HEED_ONNX_MAX_RANK], stride[HEED_ONNX_MAX_RANK], dilation[HEED_ONNX_MAX_RANK];
  uint64_t before[HEED_ONNX_MAX_RANK], after[HEED_ONNX_MAX_RANK]; /* padding */
  uint64_t out[HEED_ONNX_MAX_RANK]; /* windows along an axis; 0: it is shorter than one */
} heed_onnx_windows;

/* What the node's strides, dilations, pads and auto_pad say of `axes` axes of these sizes. With
 * `ceil` a window may end behind the padding, if it begins before that. Statuses: INVALID_FILE. */
heed_status heed_onnx_read_windows(heed_onnx_call *call, uint32_t axes, const uint64_t *size,
                                   const uint64_t *kernel, bool ceil, heed_onnx_windows *w);
/* pools.c: the same of a pool of a value [B, C, ...], whose windows all reach into it. */
heed_status heed_onnx_read_pool(heed_onnx_call *call, uint32_t rank, const uint64_t *dims,
                                heed_onnx_windows *w);

/* Elements of the kernel; UINT64_MAX where they are more. */
uint64_t heed_onnx_window_size(const heed_onnx_windows *w);
/* Of one window: which elements of the kernel lie in the image, along each axis. The others are not
 * walked, however large the kernel is. */
typedef struct heed_onnx_reach {
  uint64_t first[HEED_ONNX_MAX_RANK], count[HEED_ONNX_MAX_RANK];
  uint64_t elements; /* in the image */
  double padded;     /* in the image or its padding */
} heed_onnx_reach;
void heed_onnx_window_reach(const heed_onnx_windows *w, const uint64_t *size, const uint64_t *at,
                            heed_onnx_reach *reach);
/* Elements of the kernel that a window may have in an image of this size; UINT64_MAX: more. */
uint64_t heed_onnx_window_most(const heed_onnx_windows *w, const uint64_t *size);
/* The t-th element of a window in an image: where it is there, and in the kernel. */
uint64_t heed_onnx_window_element(const heed_onnx_windows *w, const heed_onnx_reach *reach,
                                  const uint64_t *size, const uint64_t *at, uint64_t t,
                                  uint64_t *tap);

#endif
