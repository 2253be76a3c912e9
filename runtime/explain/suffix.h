/* What follows some values of a graph, as a graph of its own. */
#ifndef HEED_EXPLAIN_SUFFIX_H
#define HEED_EXPLAIN_SUFFIX_H

#include "graph/graph.h"

#define HEED_SUFFIX_CUTS 2

/* A graph that computes `wanted` from the values `cuts`, which are its inputs. Its constants are
 * those of `from`, which must outlive it. */
typedef struct heed_suffix {
  const heed_graph *from;
  heed_graph *graph;
  heed_value cuts[HEED_SUFFIX_CUTS], inputs[HEED_SUFFIX_CUTS];
  uint32_t cut_count;
  heed_value wanted, output; /* `output` keeps the name */
  uint32_t *made;            /* [values of `from` + 1]: ids in `graph`; 0: not needed so far */
} heed_suffix;

/* Fills graph, inputs and output from the rest. Statuses: UNSUPPORTED (`wanted` needs another
 * input), OUT_OF_MEMORY. */
heed_status heed_suffix_open(heed_context *context, heed_suffix *suffix, heed_error *error);
void heed_suffix_close(heed_context *context, heed_suffix *suffix);

#endif
