/* host: a node that a function of who builds the graph computes, on the CPU alone. It has no line
 * in op_list.h, as no device has a kernel for it. */
#ifndef HEED_GRAPH_HOST_H
#define HEED_GRAPH_HOST_H

#include "graph/op.h"

/* Computes the outputs, dense F32 of the desc's shapes, of the inputs; NULL: an output that nobody
 * wants. May be called from several threads, and allocates what it needs. */
typedef heed_status (*heed_host_compute)(const void *user, const void *const *inputs,
                                         void *const *outputs, heed_error *error);

typedef struct heed_host_desc {
  size_t struct_size;
  heed_value x[HEED_NODE_INPUTS]; /* F32; the first input_count are there */
  uint32_t input_count, output_count;
  heed_shape shape[HEED_NODE_OUTPUTS];
  heed_host_compute compute;
  const void *user; /* must outlive the graph's sessions */
} heed_host_desc;

/* Gives the outputs, of which those past output_count are 0. */
void heed_define_host(heed_graph *graph, const heed_host_desc *desc,
                      heed_value outputs[HEED_NODE_OUTPUTS]);

#endif
