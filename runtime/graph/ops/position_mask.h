/* The inputs of a position_mask node. */
#ifndef HEED_GRAPH_OPS_POSITION_MASK_H
#define HEED_GRAPH_OPS_POSITION_MASK_H

enum heed_position_mask_input {
  HEED_POSITION_MASK_INPUT_OFFSETS,
  HEED_POSITION_MASK_INPUT_MASK,
  HEED_POSITION_MASK_INPUTS
};

#endif
