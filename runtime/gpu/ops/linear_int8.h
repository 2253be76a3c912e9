/* linear by a weight in int8 (docs/quantisation.md): its rows are quantised by a dispatch of their
 * own, into the scratch, for the product that follows. */
#ifndef HEED_GPU_OPS_LINEAR_INT8_H
#define HEED_GPU_OPS_LINEAR_INT8_H

#include "gpu/tile.h"
#include "graph/quantised.h"
#include "params/linear.h"

/* How the weight of a linear node is multiplied in int8; NULL: as floats. */
static inline const heed_quantised *heed_gpu_int8_of(const heed_graph *graph, uint32_t weight) {
  const heed_quantised *quantised = heed_graph_quantised(graph, weight);
  return quantised && quantised->depth <= HEED_INT8_MOST_DEPTH ? quantised : NULL;
}

/* Adds the dispatch that quantises x, and binds what it wrote and the scales of the weight's rows
 * from `first` on to the product. params->depth becomes what a row has then. Returns the product's
 * tile. */
heed_gpu_tile heed_gpu_int8_begin(heed_gpu_builder *builder, uint32_t x,
                                  const heed_quantised *quantised, uint32_t first,
                                  heed_linear_params *params, heed_gpu_dispatch *product);

#endif
