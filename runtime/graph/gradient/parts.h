/* What views of a value got, until all of it is known. */
#ifndef HEED_GRAPH_GRADIENT_PARTS_H
#define HEED_GRAPH_GRADIENT_PARTS_H

#include "graph/gradient/adjoint.h"

/* Keeps a part of elements [first, first + count) of value `root`. */
void heed_gradient_keep_part(heed_gradient *g, uint32_t root, uint64_t first, uint64_t count,
                             heed_value part);
/* One tensor of root's shape from parts that do not overlap, zeros between them, which are then no
 * longer kept; value 0 where there is no part. */
heed_value heed_gradient_join_parts(heed_gradient *g, uint32_t root);

#endif
