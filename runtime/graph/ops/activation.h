/* The inputs of an activation node. */
#ifndef HEED_GRAPH_OPS_ACTIVATION_H
#define HEED_GRAPH_OPS_ACTIVATION_H

enum heed_activation_input {
  HEED_ACTIVATION_INPUT_X,
  HEED_ACTIVATION_INPUT_TIMES,
  HEED_ACTIVATION_INPUTS
};

#endif
