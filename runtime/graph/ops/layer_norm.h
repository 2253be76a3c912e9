/* The inputs of a layer_norm node. */
#ifndef HEED_GRAPH_OPS_LAYER_NORM_H
#define HEED_GRAPH_OPS_LAYER_NORM_H

enum heed_layer_norm_input {
  HEED_LAYER_NORM_INPUT_X,
  HEED_LAYER_NORM_INPUT_GAIN,
  HEED_LAYER_NORM_INPUT_BIAS,
  HEED_LAYER_NORM_INPUTS
};

#endif
