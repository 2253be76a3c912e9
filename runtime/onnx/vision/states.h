/* What the tokens of each attention are made of, to tell heads beside each other from streams. */
#ifndef HEED_ONNX_VISION_STATES_H
#define HEED_ONNX_VISION_STATES_H

#include "onnx/lower/lower.h"

/* [attentions of the finder], in the arena of the lowering: the value that its queries, keys and
 * values are all made of by weights of its own: the norm of a state, or the state. An attention
 * that reads several has a value that no other has; NULL: not found. */
const heed_lower_value **heed_states_find(heed_lower *l);

#endif
