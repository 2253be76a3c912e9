/* positional_encoding: sin on even and cos on odd columns (Vaswani et al. 2017, 3.5), a constant
 * made when a session is created. */
#include <math.h>

#include "base/tensor.h"
#include "graph/graph.h"
#include "heed/ops.h"

/* Angles are worked out in double: in float sin(position) loses its digits as positions grow. */
static heed_status read_encoding(void *user, uint64_t first, uint64_t count, void *to,
                                 heed_error *error) {
  const uint32_t width = *(const uint32_t *)user;
  float *y = to;
  (void)error;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t position = (first + i) / width, column = (first + i) % width;
    const double angle = (double)position * pow(10000.0, -(double)(column / 2 * 2) / width);
    y[i] = (float)(column % 2 ? cos(angle) : sin(angle));
  }
  return HEED_OK;
}

heed_value heed_define_positional_encoding(heed_graph *graph, uint32_t length, uint32_t width) {
  void *kept = heed_graph_keep(graph, &width, sizeof width);
  if (!kept) return (heed_value){0};
  const heed_constant_desc desc = {sizeof desc, NULL,          HEED_F32, HEED_SHAPE(length, width),
                                   NULL,        read_encoding, kept};
  return heed_define_constant(graph, &desc);
}
