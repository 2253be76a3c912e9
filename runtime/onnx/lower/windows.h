/* Windows of each channel by itself as expressions: convolutions of one channel each, and pools. */
#ifndef HEED_ONNX_LOWER_WINDOWS_H
#define HEED_ONNX_LOWER_WINDOWS_H

#include "onnx/evaluate/windows.h"
#include "onnx/lower/lower.h"

/* Elements of a kernel that the op takes. */
#define HEED_LOWER_MOST_TAPS 32767u

/* What a lowered graph may have of one node: windows of a kernel, groups, single entries. */
#define HEED_LOWER_MOST_PARTS 4096u

/* convolution.c: `with` before and after x along an axis. */
heed_lower_value *heed_lower_padded(heed_lower *l, heed_lower_value *x, uint32_t axis,
                                    uint64_t before, uint64_t after, double with);
/* An image [B, C, height, width] by a constant kernel [O, C / groups, ...]. */
heed_lower_value *heed_lower_by_group(heed_lower *l, heed_lower_value *x, heed_lower_value *kernel,
                                      const heed_onnx_windows *w, uint64_t groups);
/* volume.c: the same of three axes, [B, C, depth, height, width]. */
heed_lower_value *heed_lower_volume(heed_lower *l, heed_lower_value *x, heed_lower_value *kernel,
                                    const heed_onnx_windows *w, uint64_t groups);
/* An image of one axis as one of two, the first of size 1, and so its windows. */
heed_lower_value *heed_lower_image(heed_lower *l, heed_lower_value *x, heed_onnx_windows *w);
/* The image without that axis again. */
heed_lower_value *heed_lower_without_axis(heed_lower *l, heed_lower_value *x);
/* Of an image [B, C, height, width]; kernel [O, 1, ...] of a SUM, or NULL. */
heed_lower_value *heed_lower_windows(heed_lower *l, heed_depthwise kind, heed_lower_value *x,
                                     heed_lower_value *kernel, const heed_onnx_windows *w,
                                     bool count_padding);

#endif
