/* What an op is to the graph: its shape rule and its cost. One struct an op, in
 * graph/ops/<op>.c. */
#ifndef HEED_GRAPH_OP_H
#define HEED_GRAPH_OP_H

#include <stddef.h>

#include "heed/graph.h"

typedef enum heed_op_kind {
#define HEED_OP(name) HEED_OP_KIND_##name,
#include "graph/op_list.h"
#undef HEED_OP
  HEED_OP_KIND_host, /* graph/host.h */
  HEED_OP_KIND_COUNT
} heed_op_kind;

typedef struct heed_node {
  heed_op_kind op;
  uint32_t stage;
  /* value ids this node depends on, each in the slot that its op's enum names; 0: absent */
  uint32_t input[HEED_NODE_INPUTS];
  uint32_t output[HEED_NODE_OUTPUTS]; /* value ids; 0 = the op has fewer */
  const void *desc;                   /* the graph's copy of the public heed_<op>_desc */
} heed_node;

/* One result of a shape rule. */
typedef struct heed_op_result {
  heed_dtype dtype;
  heed_shape shape;
} heed_op_result;

/* What a slot of heed_node.input holds: a value of the desc. An op without a shared rule names its
 * slots in graph/ops/<op>.h. */
typedef struct heed_op_input {
  const char *name;
  size_t offset; /* in the desc */
} heed_op_input;
#define HEED_OP_INPUT(desc, field) \
  { #field, offsetof(desc, field) }

typedef struct heed_gradient heed_gradient; /* graph/gradient/adjoint.h */

typedef struct heed_op {
  const char *name;
  size_t desc_size;
  const heed_op_input *inputs; /* [input_count], by slot */
  uint32_t input_count;
  /* Checks node->desc (inputs exist, attributes, shapes), fills defaults in it, takes the inputs
   * into their slots and gives the results. Returns the number of results through `count`. */
  heed_status (*infer)(const heed_graph *graph, heed_node *node, void *desc,
                       heed_op_result results[HEED_NODE_OUTPUTS], uint32_t *count,
                       heed_error *error);
  /* Floating-point operations of one run; a multiply and an add are 2. */
  uint64_t (*flops)(const heed_graph *graph, const heed_node *node);
  /* bit i: result i is a map, which a node that runs in a mode (heed_plan_step) has on demand */
  uint32_t maps;
  /* Bytes of a whole map, were it stored; NULL: it has none. */
  uint64_t (*map_bytes)(const heed_graph *graph, const heed_node *node);
  /* Token t of the first result comes from token t of the inputs [B, T, C], so that a mask of the
   * tokens is carried on. */
  bool keeps_tokens;
  /* Adds what each input gets of the gradient of the first result; NULL: the op has no adjoint. */
  void (*adjoint)(heed_gradient *gradient, const heed_node *node);
} heed_op;

#define HEED_OP(name) extern const heed_op heed_op_##name;
#include "graph/op_list.h"
#undef HEED_OP
extern const heed_op heed_op_host;

/* Table by kind. */
extern const heed_op *const heed_ops[HEED_OP_KIND_COUNT];

#endif
