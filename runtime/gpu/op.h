/* What an op is to a GPU host: one struct an op, in gpu/ops/<op>.c. */
#ifndef HEED_GPU_OP_H
#define HEED_GPU_OP_H

#include "gpu/limits.h"
#include "graph/graph.h"
#include "heed/session.h"

typedef struct heed_gpu_builder heed_gpu_builder;         /* gpu/builder.h */
typedef struct heed_gpu_check_graph heed_gpu_check_graph; /* gpu/self_check_graph.h */

/* Leading axes of a value along which a node can be split: whatever else has them is split
 * alike. */
typedef struct heed_gpu_split_axes {
  uint32_t value, count; /* the first `count` axes of the value */
  /* not 0: output 0 is so many of them one after the other, and is bound by the op itself */
  uint32_t parts;
} heed_gpu_split_axes;

/* How an op's fastest tile is found (gpu/tune.h). */
typedef struct heed_gpu_op_tune {
  /* The shape of a node; false for a node that is not measured. */
  bool (*get_key)(const heed_graph *graph, const heed_node *node, const heed_gpu_limits *limits,
                  heed_gpu_shape_key *key);
  /* Whether the shape is one of this op's nodes. */
  bool (*has_key)(const heed_gpu_shape_key *key);
  /* How many tiles there are to choose from, numbered from 1. */
  uint32_t (*count_candidates)(const heed_gpu_limits *limits);
  /* Defines a node of this shape, with its inputs; returns its first result. */
  heed_value (*define)(heed_graph *graph, const heed_gpu_shape_key *key);
} heed_gpu_op_tune;

typedef struct heed_gpu_op {
  /* Adds the dispatches of a node. */
  void (*build)(heed_gpu_builder *builder, const heed_node *node);
  /* Adds a small case of the op to the self-check's graph, and keeps its results. */
  void (*check)(heed_gpu_check_graph *check);
  /* What a node can be split along (gpu/split_values.h); NULL: nothing. */
  heed_gpu_split_axes (*split_axes)(const heed_gpu_builder *builder, const heed_node *node);
  /* bit i: the input in slot i is the same for every piece of a split node */
  uint32_t whole;
  /* A value that only seems to have the axes along which a node is split; NULL: none does. */
  bool (*is_unsplit)(const heed_gpu_builder *builder, const heed_node *node, uint32_t value);
  /* Whether the first result can be written, the input in a slot be read, as fp16
   * (gpu/fp16_values.h); NULL: no. */
  bool (*writes_fp16)(const heed_plan *plan, const heed_gpu_limits *limits, const heed_node *node);
  bool (*reads_fp16)(const heed_graph *graph, const heed_node *node, uint32_t slot);
  /* As heed_plan_support.mode; NULL: its nodes have no map. */
  heed_attention_mode (*mode)(const heed_gpu_limits *limits, const heed_plan *plan,
                              const heed_node *node);
  const heed_gpu_op_tune *tune; /* NULL: it has no tiles to choose from */
} heed_gpu_op;

#define HEED_OP(name) extern const heed_gpu_op heed_gpu_##name;
#include "graph/op_list.h"
#undef HEED_OP
extern const heed_gpu_op heed_gpu_host;

/* Table by kind. */
extern const heed_gpu_op *const heed_gpu_ops[HEED_OP_KIND_COUNT];

#endif
