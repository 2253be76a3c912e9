/* What a graph does with the scores of its classes at its end. */
#ifndef HEED_ONNX_VISION_ENDING_H
#define HEED_ONNX_VISION_ENDING_H

#include "onnx/lower/lower.h"

/* The logits behind what an output gives: of a softmax, its logarithm or a sigmoid what it reads,
 * else the output itself. *each: a sigmoid, where each class stands by itself. *minus: what is
 * returned is minus the logits. */
const heed_lower_value *heed_ending_logits(heed_lower *l, const heed_lower_value *output,
                                           bool *each, bool *minus);

#endif
