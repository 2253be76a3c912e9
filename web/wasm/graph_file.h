/* A lowered graph on its way from heed-import.wasm to the module that runs it, which has the same
 * structs: a block of records, and behind it the elements of constants and of inputs that are known
 * beforehand, one after another. Both are read by heed_host_read. */
#ifndef HEED_WEB_GRAPH_FILE_H
#define HEED_WEB_GRAPH_FILE_H

#include "graph/graph.h"
#include "onnx/vision/vision.h"

/* The block: this, values, nodes, then their descs and names. In records, pointers to those are
 * offsets in the block; 0: none. */
typedef struct heed_web_graph_head {
  double bytes; /* of the block */
  uint32_t value_count, node_count, stage_count;
  heed_vision facts; /* all 0 where the inputs were given */
} heed_web_graph_head;

typedef struct heed_web_graph_value {
  heed_value_record record;
  double at; /* where its elements begin, behind the block; 0: it has none */
} heed_web_graph_value;

/* Where they lie in the block, whose parts begin at multiples of 8. */
static inline size_t heed_web_aligned(size_t size) { return (size + 7) / 8 * 8; }
static inline heed_web_graph_value *heed_web_graph_values(const unsigned char *block) {
  return (void *)(block + heed_web_aligned(sizeof(heed_web_graph_head)));
}
static inline heed_node *heed_web_graph_nodes(const unsigned char *block) {
  const heed_web_graph_head *head = (const void *)block;
  return (void *)((unsigned char *)heed_web_graph_values(block) +
                  heed_web_aligned(head->value_count * sizeof(heed_web_graph_value)));
}

#endif
