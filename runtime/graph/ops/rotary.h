/* The inputs of a rotary node. */
#ifndef HEED_GRAPH_OPS_ROTARY_H
#define HEED_GRAPH_OPS_ROTARY_H

enum heed_rotary_input {
  HEED_ROTARY_INPUT_X,
  HEED_ROTARY_INPUT_COS,
  HEED_ROTARY_INPUT_SIN,
  HEED_ROTARY_INPUTS
};

#endif
