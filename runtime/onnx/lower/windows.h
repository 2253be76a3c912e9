/* Windows of each channel by itself as expressions: convolutions of one channel each, and pools. */
#ifndef HEED_ONNX_LOWER_WINDOWS_H
#define HEED_ONNX_LOWER_WINDOWS_H

#include "onnx/evaluate/windows.h"
#include "onnx/lower/lower.h"

/* Elements of a kernel that the op takes. */
#define HEED_LOWER_MOST_TAPS 32767u

/* An image of one axis as one of two, the first of size 1, and so its windows. */
heed_lower_value *heed_lower_image(heed_lower *l, heed_lower_value *x, heed_onnx_windows *w);
/* The image without that axis again. */
heed_lower_value *heed_lower_without_axis(heed_lower *l, heed_lower_value *x);
/* Of an image [B, C, height, width]; kernel [O, 1, ...] of a SUM, or NULL. */
heed_lower_value *heed_lower_windows(heed_lower *l, heed_depthwise kind, heed_lower_value *x,
                                     heed_lower_value *kernel, const heed_onnx_windows *w,
                                     bool count_padding);

#endif
