/* What the reverse pass reads of the forward pass: kept, or computed again (Chen et al. 2016,
 * Training deep nets with sublinear memory cost). */
#ifndef HEED_GRAPH_GRADIENT_REMAKE_H
#define HEED_GRAPH_GRADIENT_REMAKE_H

#include "graph/gradient/adjoint.h"

/* To be called for each node that the reverse pass goes through. Of a stage whose results are not
 * kept, *node becomes one that computes the same again; what other stages read is kept. false: the
 * graph failed. */
bool heed_gradient_remake(heed_gradient *g, heed_node *node);

#endif
