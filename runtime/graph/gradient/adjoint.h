/* What an op's adjoint works with (heed_op.adjoint): the gradient of the node's results, and where
 * its inputs' parts go. An adjoint defines nodes; the graph keeps the first error. */
#ifndef HEED_GRAPH_GRADIENT_ADJOINT_H
#define HEED_GRAPH_GRADIENT_ADJOINT_H

#include "graph/gradient/rules.h"
#include "graph/graph.h"
#include "heed/ops.h"

struct heed_gradient {
  heed_graph *graph;
  heed_gradient_rules rules;
  const heed_value *wanted; /* [wanted_count] */
  uint32_t wanted_count;
  bool *depends;        /* by id: on a wanted value, or one itself; of what owns the memory */
  heed_value *gradient; /* by id: the sum of the parts of the whole value so far, or none */
  struct heed_gradient_part *parts; /* what views of a value got, in no order */
  size_t part_count, part_room;
  uint64_t held_bytes, block_bytes;
  /* remake.c */
  uint32_t count;    /* values of the forward pass */
  uint32_t stage;    /* the last one that was gone through; UINT32_MAX: none yet */
  uint64_t held;     /* bytes of the results of stages that are kept */
  uint32_t *again;   /* by id of the forward pass: what equals it in the reverse pass, or 0 */
  uint32_t *forward; /* by id, less `count`: what of the forward pass equals it, or 0 */
  size_t forward_count, forward_room;
};

/* The id under which a value's gradient is kept: of what owns the memory, in the forward pass. */
uint32_t heed_gradient_own(const heed_gradient *g, uint32_t id);
/* The gradient of a result of the node; value 0: the scalar does not depend on it. */
heed_value heed_gradient_of(heed_gradient *g, uint32_t id);
/* Whether the input gets a part at all. */
bool heed_gradient_wants(const heed_gradient *g, heed_value input);
/* Whether a further result of the node was asked for itself. */
bool heed_gradient_is_wanted(const heed_gradient *g, uint32_t id);
/* Adds a part, which has the input's number of elements in its order. */
void heed_gradient_add(heed_gradient *g, heed_value input, heed_value part);
/* Fails the graph with UNSUPPORTED: "gradient: softcap of attention has no adjoint". */
void heed_gradient_refuse(heed_gradient *g, const char *what);

/* Words: each defines a node or two. */

/* Valid until the next value is defined. */
const heed_shape *heed_gradient_shape(const heed_gradient *g, heed_value value);
/* sum + more; `more` where there is no sum yet. */
heed_value heed_gradient_sum(heed_gradient *g, heed_value sum, heed_value more);
/* a b, b broadcast to a. */
heed_value heed_gradient_product(heed_gradient *g, heed_value a, heed_value b);
/* A constant F32 [1]. */
heed_value heed_gradient_number(heed_gradient *g, float number);
/* x times a number; x itself where that is 1. */
heed_value heed_gradient_times(heed_gradient *g, heed_value x, float number);
heed_value heed_gradient_permute(heed_gradient *g, heed_value x, const uint32_t *order);
/* What the input of a softmax that gave y gets, times a factor that is not 0. */
heed_value heed_gradient_softmax(heed_gradient *g, heed_value y, heed_value gradient, float factor);
/* The sum over the axes that `like` was repeated along to become as large as x. */
heed_value heed_gradient_unbroadcast(heed_gradient *g, heed_value x, heed_value like);

#define HEED_ADJOINT(op) void heed_adjoint_##op(heed_gradient *g, const heed_node *node)
HEED_ADJOINT(activation);
HEED_ADJOINT(add);
HEED_ADJOINT(attention);
HEED_ADJOINT(concat);
HEED_ADJOINT(layer_norm);
HEED_ADJOINT(linear);
HEED_ADJOINT(multiply);
HEED_ADJOINT(patch_embedding);
HEED_ADJOINT(permute);
HEED_ADJOINT(rotary);
HEED_ADJOINT(select_rows);
HEED_ADJOINT(softmax);

#endif
