/* What readers of stacked weights share with heed_define_multi_head_attention. */
#ifndef HEED_GRAPH_LAYERS_MULTI_HEAD_ATTENTION_H
#define HEED_GRAPH_LAYERS_MULTI_HEAD_ATTENTION_H

#include "heed/graph.h"

/* Rows [part C, (part + count) C) of a stacked weight [3C, K] or bias [3C], a constant; value 0 of
 * none. Another shape is the graph's error. */
heed_value heed_multi_head_part(heed_graph *graph, heed_value stacked, uint32_t part,
                                uint32_t count);

#endif
