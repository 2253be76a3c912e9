/* Checks that several ops' shape rules share. Each returns the record, or NULL with a sentence. */
#ifndef HEED_GRAPH_OP_CHECK_H
#define HEED_GRAPH_OP_CHECK_H

#include "base/status.h"
#include "graph/graph.h"

/* Refuses a desc, with a sentence for who builds the graph. */
#define heed_op_refuse(error, ...) heed_fail(error, HEED_INVALID_ARGUMENT, __VA_ARGS__)

/* Takes the desc's value of this slot, of this dtype, computed or constant, as the node's input. */
const heed_value_record *heed_op_take(const heed_graph *graph, heed_node *node, uint32_t slot,
                                      heed_dtype dtype, heed_error *error);
/* The same of F32 or I32, for ops that copy words. */
const heed_value_record *heed_op_take_words(const heed_graph *graph, heed_node *node, uint32_t slot,
                                            heed_error *error);
/* Of one dtype, and it must be a constant. */
const heed_value_record *heed_op_take_constant(const heed_graph *graph, heed_node *node,
                                               uint32_t slot, heed_dtype dtype, heed_error *error);
/* The desc's value of a slot, whether it was taken or not. */
heed_value heed_op_input_value(const heed_node *node, uint32_t slot);
/* "linear: x", for sentences. */
#define HEED_OP_INPUT_TEXT_SIZE 48
const char *heed_op_input_text(const heed_node *node, uint32_t slot,
                               char text[HEED_OP_INPUT_TEXT_SIZE]);
/* INVALID_ARGUMENT unless the record has exactly this shape. */
heed_status heed_op_check_shape(const heed_value_record *record, const heed_shape *shape,
                                const char *what, heed_error *error);
/* INVALID_ARGUMENT unless the rank lies in [least, most]. */
heed_status heed_op_check_rank(const heed_value_record *record, uint32_t least, uint32_t most,
                               const char *what, heed_error *error);

/* Elements of a value, and of its last axis. */
uint64_t heed_op_count(const heed_graph *graph, heed_value value);
uint32_t heed_op_last(const heed_value_record *record);

#endif
