/* The inputs of a permute node. */
#ifndef HEED_GRAPH_OPS_PERMUTE_H
#define HEED_GRAPH_OPS_PERMUTE_H

enum heed_permute_input { HEED_PERMUTE_INPUT_X, HEED_PERMUTE_INPUTS };

#endif
