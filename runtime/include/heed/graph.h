/* The chapter of graphs in heed.h: values and nodes, whatever their ops are. */
#ifndef HEED_GRAPH_H
#define HEED_GRAPH_H

#include "heed/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------- graph */

typedef struct heed_graph heed_graph;

/* A tensor of one graph. id 0 means no value: an absent optional input, or a failed define. */
typedef struct heed_value {
  uint32_t id;
} heed_value;

/* Creates an empty graph. Statuses: OUT_OF_MEMORY. */
HEED_NODISCARD HEED_API heed_status heed_graph_create(heed_context *context, heed_graph **graph,
                                                      heed_error *error);
HEED_API void heed_graph_destroy(heed_graph *graph);

/* The first error of a graph. heed_define_<op> checks its desc, infers the output shape and appends
 * a node. When it fails it returns the value 0, and the graph keeps the error. A define on a failed
 * graph, or with a failed value as a required input, does nothing. Build the whole graph, then
 * check the status once. */
HEED_NODISCARD HEED_API heed_status heed_graph_status(const heed_graph *graph, heed_error *error);

/* Names a value, in place of an older name. Copies name. Names are unique in a graph. Does nothing
 * for value 0. */
HEED_API void heed_graph_name(heed_graph *graph, heed_value value, const char *name);
/* Marks a value as an output: it is computed, and can be read after a run. */
HEED_API void heed_graph_output(heed_graph *graph, heed_value value);
/* Sets the stage (layer) of the nodes defined from here on. The first stage is 0. Progress is
 * reported and cancellation checked between stages. */
HEED_API void heed_graph_stage(heed_graph *graph, uint32_t stage);
/* Attaches the padding mask U8 [B, T], 1 = real token, to value x [B, T, C]; mask 0 removes it.
 * activation, add, layer_norm, linear, softmax, lstm and gru propagate it to their results. Inputs
 * with different masks are an error. Multi-head attention, transformer blocks and Luong's attention
 * use it where no padding is given: query AND key (AND causal), as Keras' MultiHeadAttention does.
 * Their results carry the query's mask. */
HEED_API void heed_graph_carry_mask(heed_graph *graph, heed_value value, heed_value mask);
/* The mask that a value carries, or 0. */
HEED_API heed_value heed_graph_mask_of(const heed_graph *graph, heed_value value);
/* The value of this name, or 0. */
HEED_API heed_value heed_graph_find(const heed_graph *graph, const char *name);
/* The number of values; ids run from 1 to this. */
HEED_API uint32_t heed_graph_value_count(const heed_graph *graph);

typedef struct heed_value_info {
  const char *name; /* "" when unnamed; valid as long as the graph */
  heed_dtype dtype;
  heed_shape shape;
  bool is_input, is_constant, is_output;
} heed_value_info;
/* Statuses: INVALID_ARGUMENT (no such value). */
HEED_NODISCARD HEED_API heed_status heed_graph_value_info(const heed_graph *graph, heed_value value,
                                                          heed_value_info *info);

/* EXPERIMENTAL: may change. Returns the value whose memory a view shares. That value is never a
 * view itself. Returns 0 for a value that is not a view. */
HEED_API heed_value heed_graph_view_base(const heed_graph *graph, heed_value value);

#define HEED_NODE_INPUTS 8
#define HEED_NODE_OUTPUTS 3

/* EXPERIMENTAL: may change. One node of a graph. heed_graph_value_info has names and shapes of its
 * values. */
typedef struct heed_node_info {
  const char *op; /* "linear"; a static string */
  uint32_t stage; /* that of heed_graph_stage when the node was defined */
  uint32_t input_count, output_count;
  heed_value inputs[HEED_NODE_INPUTS]; /* in the op's own order, without absent ones */
  heed_value outputs[HEED_NODE_OUTPUTS];
} heed_node_info;
/* The number of nodes, and each of them. Nodes are in an order in which they can run. Statuses:
 * INVALID_ARGUMENT (no such node). */
HEED_API uint32_t heed_graph_node_count(const heed_graph *graph);
HEED_NODISCARD HEED_API heed_status heed_graph_node_info(const heed_graph *graph, uint32_t index,
                                                         heed_node_info *info);

/* An input, written with heed_session_write before a run. Copies name, which is required. */
HEED_API heed_value heed_define_input(heed_graph *graph, const char *name, heed_dtype dtype,
                                      const heed_shape *shape);

/* Reads elements [first, first + count) of a constant, as F32 or as the constant's own U8 or
 * I32. */
typedef heed_status (*heed_constant_read)(void *user, uint64_t first, uint64_t count, void *to,
                                          heed_error *error);

typedef struct heed_constant_desc {
  size_t struct_size;
  const char *name; /* may be NULL */
  /* F32, U8 or I32, as the graph sees it; behind `read` a file may store F16 or BF16 */
  heed_dtype dtype;
  heed_shape shape;
  const void *data;        /* borrowed until the graph is destroyed; or NULL and */
  heed_constant_read read; /* called when a session is created */
  void *read_user;
} heed_constant_desc;
HEED_API heed_value heed_define_constant(heed_graph *graph, const heed_constant_desc *desc);

/* EXPERIMENTAL. A constant F32 [N, ...] that is stored in int8 with one scale per row: element (n,
 * ...) is scale[n] times the stored number. Every op takes it as its floats. As the weight of a
 * linear node a backend keeps it in int8 and quantises each row of x to 8 bits
 * (docs/quantisation.md). `read` gives elements as int8_t. */
typedef struct heed_quantised_desc {
  size_t struct_size;
  const char *name; /* may be NULL */
  heed_shape shape;
  const float *scale;      /* [N], finite; borrowed until the graph is destroyed */
  const int8_t *data;      /* borrowed until the graph is destroyed; or NULL and */
  heed_constant_read read; /* called when a session is created */
  void *read_user;
} heed_quantised_desc;
HEED_API heed_value heed_define_quantised(heed_graph *graph, const heed_quantised_desc *desc);

/* A view of `base` from element `offset` on, with another shape; no copy. It names the parts of a
 * stacked result. */
HEED_API heed_value heed_define_view(heed_graph *graph, heed_value base, uint64_t offset,
                                     const heed_shape *shape);

/* Reinterprets x as another shape with the same number of elements; no copy. The result is a view,
 * or of a constant a constant. Elements keep their order. So [B, T, H D] as [B, H, T, D] is not a
 * split into heads: reshape to [B, T, H, D], then use heed_define_permute with order 0 2 1 3. */
HEED_API heed_value heed_define_reshape(heed_graph *graph, heed_value x, const heed_shape *shape);

/* ---------------------------------------------------------------------- named by ops and models */

typedef enum heed_activation {
  HEED_ACTIVATION_NONE = 0,
  HEED_ACTIVATION_RELU = 1,
  HEED_ACTIVATION_GELU = 2,       /* x Phi(x), the exact form (Hendrycks & Gimpel 2016) */
  HEED_ACTIVATION_GELU_TANH = 3,  /* its tanh approximation */
  HEED_ACTIVATION_GELU_QUICK = 4, /* x sigmoid(1.702 x) */
  HEED_ACTIVATION_TANH = 5,
  HEED_ACTIVATION_SIGMOID = 6,
  HEED_ACTIVATION_SILU = 7,        /* x sigmoid(x) */
  HEED_ACTIVATION_ELU_PLUS_ONE = 8 /* x > 0 ? x + 1 : exp(x) */
} heed_activation;

/* The output of a query that may attend to no key. MEAN is over all values of the row; a masked
 * value that is not finite counts as 0. */
typedef enum heed_empty_row {
  HEED_EMPTY_ROW_ZERO = 0,
  HEED_EMPTY_ROW_NAN = 1,
  HEED_EMPTY_ROW_MEAN = 2 /* the mean of all values; one that is not finite counts as 0 */
} heed_empty_row;

#ifdef __cplusplus
}
#endif

#endif
