/* The inputs of a concat node: part i lies in slot i. */
#ifndef HEED_GRAPH_OPS_CONCAT_H
#define HEED_GRAPH_OPS_CONCAT_H

#include "heed/ops.h"

enum heed_concat_input { HEED_CONCAT_INPUT_X, HEED_CONCAT_INPUTS = HEED_CONCAT_MAX };

#endif
