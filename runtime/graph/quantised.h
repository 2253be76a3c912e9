/* Constants that are stored in int8: floats to whoever reads them, int8 and scales to a backend
 * that multiplies in int8. */
#ifndef HEED_GRAPH_QUANTISED_H
#define HEED_GRAPH_QUANTISED_H

#include "graph/graph.h"

/* Sums of a longer row could leave int32: 65,000 * 255 * 128 < 2^31. Longer ones are floats. */
#define HEED_INT8_MOST_DEPTH 65000u

typedef struct heed_quantised {
  const float *scale; /* one per row */
  uint64_t depth;     /* elements of a row */
  const int8_t *data; /* or NULL and */
  heed_constant_read read;
  void *read_user;
} heed_quantised;

/* How a value is stored in int8; NULL: it is not. */
static inline const heed_quantised *heed_graph_quantised(const heed_graph *graph, uint32_t id) {
  return heed_graph_record(graph, id)->quantised;
}

/* Elements [first, first + count) as they are stored. */
heed_status heed_quantised_read(const heed_quantised *quantised, uint64_t first, uint64_t count,
                                int8_t *to, heed_error *error);

#endif
