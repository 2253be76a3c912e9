/* Reverse mode as nodes of the same graph: the gradient of a weighted sum of one value, with
 * respect to other values (Griewank & Walther 2008, chapter 3). No weight gets a gradient. */
#ifndef HEED_GRAPH_GRADIENT_GRADIENT_H
#define HEED_GRAPH_GRADIENT_GRADIENT_H

#include "graph/gradient/rules.h"
#include "graph/graph.h"

/* The derivative itself. */
extern const heed_gradient_rules heed_gradient_plain;

typedef struct heed_gradient_desc {
  heed_value of;   /* F32: the scalar is the sum of its elements times those of */
  heed_value seed; /* F32 of its shape: an input, a constant or a result */
  /* Results, views or inputs. An attention's weights count as a variable of their own: their
   * gradient is taken after the norm, at fixed values, and is 0 where a pair is masked. */
  const heed_value *wanted;
  uint32_t wanted_count;
  const heed_gradient_rules *rules; /* NULL: heed_gradient_plain */
  /* Bytes of results that the last stages keep for the reverse pass, which computes those of
   * earlier ones again; 0: those of the graph's constants, 64 MiB at least. ViT-B at 224 pixels has
   * 130 MB, and weights of 346. */
  uint64_t held_bytes;
  /* Bytes of attention weights that are held at a time where nobody asks for their gradient; 0: 16
   * MiB. */
  uint64_t block_bytes;
} heed_gradient_desc;

/* Appends the nodes of a reverse pass, each in a stage after all others, in the opposite order.
 * gradients [wanted_count]: one of each wanted value's shape; zeros where the scalar does not
 * depend on it. Activations that are fused into linear nodes become nodes, whose numbers are the
 * same; so this comes before a plan is made of the graph. Statuses: UNSUPPORTED (an op without an
 * adjoint), INVALID_ARGUMENT, OUT_OF_MEMORY; the graph is then of no further use. */
heed_status heed_graph_gradient(heed_graph *graph, const heed_gradient_desc *desc,
                                heed_value *gradients, heed_error *error);

#endif
