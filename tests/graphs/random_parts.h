/* What random graphs are made of: for the files of this folder alone. */
#ifndef HEED_TESTS_GRAPHS_RANDOM_PARTS_H
#define HEED_TESTS_GRAPHS_RANDOM_PARTS_H

#include "graphs/random_graph.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define MOST_NUMBERS 256

enum { F32 = 1, U8, I8, U16, I16, I32, I64, BOOL = 9, F16, F64, U32, U64 };
#define BIT(type) (1u << (type))
#define FLOATS (BIT(F32) | BIT(F16) | BIT(F64))
#define SIGNED (BIT(I8) | BIT(I32) | BIT(I64))
#define WHOLE (SIGNED | BIT(U8))
#define NUMBERS (FLOATS | WHOLE)
#define ANY (NUMBERS | BIT(BOOL))

/* As safetensors name it. */
const char *graph_type_name(uint32_t type);
/* 0 to bound - 1; whether such a number is 0. */
uint32_t random_below(random_graph *g, uint32_t bound);
bool random_one_in(random_graph *g, uint32_t bound);
/* The size of an axis. */
uint32_t random_size(random_graph *g);
/* The product of sizes. */
size_t count_of_dims(uint32_t rank, const uint32_t *dims);
/* Sizes of as many axes as the range says, whose number it returns. */
uint32_t random_dims(random_graph *g, uint32_t least, uint32_t most, uint32_t *dims);
/* Room for a value; no type yet. */
uint32_t graph_add_value(random_graph *g, int node);
/* Values: their index in the graph. A new one; whole numbers of a list; one of these types and of a
 * rank in the range, the last computed one in most cases; and one of that type whose shape
 * broadcasts with another's, in most cases. */
uint32_t random_value(random_graph *g, uint32_t type, uint32_t rank, const uint32_t *dims);
uint32_t value_of_integers(random_graph *g, uint32_t count, const int64_t *list);
uint32_t random_pick(random_graph *g, uint32_t mask, uint32_t least, uint32_t most);
uint32_t random_beside(random_graph *g, uint32_t index, uint32_t type);
/* An axis, now and then beyond the rank; some axes, whose number it returns. */
int64_t random_axis_of(random_graph *g, uint32_t rank);
uint32_t random_axes(random_graph *g, uint32_t rank, int64_t *axes);
/* The next input of a node: a value, none, or axes, which are an attribute before the version. */
void node_takes(random_graph *g, graph_node *node, uint32_t index);
void node_leaves_out(graph_node *node);
void node_takes_axes(random_graph *g, graph_node *node, uint32_t since, uint32_t count,
                     const int64_t *axes);

/* Makes the inputs and attributes of a node whose op is set. */
typedef void maker(random_graph *g, graph_node *node);
maker make_unary, make_cast, make_clip, make_binary, make_where, make_reduce, make_arg, make_cumsum,
    make_topk, make_rows, make_norm, make_channels, make_transpose, make_reshape, make_flatten,
    make_squeeze, make_concat, make_split, make_slice, make_gather, make_nd, make_expand, make_pad,
    make_trilu, make_depth, make_one_hot, make_shape, make_non_zero, make_matmul, make_gemm,
    make_conv, make_pool, make_einsum, make_quantise, make_resize, make_range,
    make_constant_of_shape, make_attention;

#endif
