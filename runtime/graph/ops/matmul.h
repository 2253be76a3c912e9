/* The inputs of a matmul node. */
#ifndef HEED_GRAPH_OPS_MATMUL_H
#define HEED_GRAPH_OPS_MATMUL_H

enum heed_matmul_input { HEED_MATMUL_INPUT_A, HEED_MATMUL_INPUT_B, HEED_MATMUL_INPUTS };

#endif
