/* The inputs of an elementwise node. */
#ifndef HEED_GRAPH_OPS_ELEMENTWISE_H
#define HEED_GRAPH_OPS_ELEMENTWISE_H

enum heed_elementwise_input {
  HEED_ELEMENTWISE_INPUT_A,
  HEED_ELEMENTWISE_INPUT_B,
  HEED_ELEMENTWISE_INPUT_C,
  HEED_ELEMENTWISE_INPUTS
};

#endif
