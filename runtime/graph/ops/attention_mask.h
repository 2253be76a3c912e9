/* The inputs of an attention_mask node. */
#ifndef HEED_GRAPH_OPS_ATTENTION_MASK_H
#define HEED_GRAPH_OPS_ATTENTION_MASK_H

enum heed_attention_mask_input {
  HEED_ATTENTION_MASK_INPUT_KEY_IDS,
  HEED_ATTENTION_MASK_INPUT_QUERY_IDS,
  HEED_ATTENTION_MASK_INPUTS
};

#endif
