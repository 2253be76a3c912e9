/* The inputs of an embedding node. */
#ifndef HEED_GRAPH_OPS_EMBEDDING_H
#define HEED_GRAPH_OPS_EMBEDDING_H

enum heed_embedding_input {
  HEED_EMBEDDING_INPUT_IDS,
  HEED_EMBEDDING_INPUT_TABLE,
  HEED_EMBEDDING_INPUTS
};

#endif
