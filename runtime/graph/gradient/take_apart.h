/* Fused nodes as several. */
#ifndef HEED_GRAPH_GRADIENT_TAKE_APART_H
#define HEED_GRAPH_GRADIENT_TAKE_APART_H

#include "graph/graph.h"

/* Makes nodes of the activations and residuals behind them that are fused into linear nodes, so
 * that what an activation reads is a value. Ids and names stay. */
void heed_graph_take_apart(heed_graph *graph);

#endif
