/* The inputs of a softmax node. */
#ifndef HEED_GRAPH_OPS_SOFTMAX_H
#define HEED_GRAPH_OPS_SOFTMAX_H

enum heed_softmax_input { HEED_SOFTMAX_INPUT_X, HEED_SOFTMAX_INPUT_GRADIENT, HEED_SOFTMAX_INPUTS };

#endif
