/* The inputs of a reduce node. */
#ifndef HEED_GRAPH_OPS_REDUCE_H
#define HEED_GRAPH_OPS_REDUCE_H

enum heed_reduce_input { HEED_REDUCE_INPUT_X, HEED_REDUCE_INPUTS };

#endif
