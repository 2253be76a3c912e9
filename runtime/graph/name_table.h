/* Which value of a graph has a name, without asking each of them. */
#ifndef HEED_GRAPH_NAME_TABLE_H
#define HEED_GRAPH_NAME_TABLE_H

#include "graph/graph.h"

/* Makes room for one more name; false: no memory. Nothing else of the table can fail. */
bool heed_names_reserve(heed_graph *graph);
/* Notes a value that has a name by now. */
void heed_names_add(heed_graph *graph, uint32_t id);
/* The value of this name, or 0. */
uint32_t heed_names_find(const heed_graph *graph, const char *name);

#endif
