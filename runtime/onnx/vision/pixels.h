/* What a graph does with the pixels of its image before anything else. */
#ifndef HEED_ONNX_VISION_PIXELS_H
#define HEED_ONNX_VISION_PIXELS_H

#include "onnx/lower/lower.h"

/* Sets *range to the numbers of black and white that the image takes, 0 and *range: 255 for bytes,
 * and where the graph itself scales and shifts them by numbers that say so; 1 for floats of 0 to 1
 * likewise. 0: the graph takes pixels as they come, so that files beside it say what they are.
 * Statuses: UNSUPPORTED (another preprocessing, or channels in another order). */
heed_status heed_pixels_find(heed_lower *l, const heed_lower_value *image, float *range,
                             heed_error *error);

#endif
