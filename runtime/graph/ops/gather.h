/* The inputs of a gather node. */
#ifndef HEED_GRAPH_OPS_GATHER_H
#define HEED_GRAPH_OPS_GATHER_H

enum heed_gather_input { HEED_GATHER_INPUT_X, HEED_GATHER_INPUT_INDICES, HEED_GATHER_INPUTS };

#endif
