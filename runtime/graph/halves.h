/* Constants that are stored in fp16: floats to whoever reads them; to a backend that keeps them so,
 * numbers of fp16 and what each row of them is multiplied by. */
#ifndef HEED_GRAPH_HALVES_H
#define HEED_GRAPH_HALVES_H

#include "graph/graph.h"

typedef struct heed_halves {
  heed_constant_read read; /* the numbers of fp16, as floats */
  void *read_user;
  float factor;           /* of all rows */
  const float *row_scale; /* of each row, or NULL */
} heed_halves;

/* Whether models keep them so: in WebAssembly alone, where memory ends at 4 GB. */
#if defined(__wasm__)
enum { HEED_KEEPS_HALVES = 1 };
#else
enum { HEED_KEEPS_HALVES = 0 };
#endif

/* How a value is stored in fp16; NULL: it is not. */
static inline const heed_halves *heed_graph_halves(const heed_graph *graph, uint32_t id) {
  return heed_graph_record(graph, id)->halves;
}

#endif
