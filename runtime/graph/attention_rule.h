/* What the attention op means, in one place: sizes, which keys a query may see by position, which
 * row of the weights a query has. */
#ifndef HEED_GRAPH_ATTENTION_RULE_H
#define HEED_GRAPH_ATTENTION_RULE_H

#include "graph/graph.h"
#include "heed/ops.h"

typedef struct heed_attention_sizes {
  uint32_t batch, heads, key_heads, queries, keys, depth, value_depth; /* B H Hk Tq Tk D Dv */
  /* of the weights: Tq or row_count */
  uint32_t rows;
  /* strides in elements over batch, head, query and key of mask and bias; 0 where broadcast */
  uint32_t mask_stride[4], bias_stride[4];
} heed_attention_sizes;

/* Sizes of a node that was inferred. */
void heed_attention_get_sizes(const heed_graph *graph, const heed_attention_desc *desc,
                              heed_attention_sizes *sizes);

/* How far the key position of a query is past its own: off of heed_causal, with what causal_offset
 * adds. */
int64_t heed_attention_offset(const heed_attention_desc *desc, uint32_t queries, uint32_t keys);
/* Keys [*first, *end) that causal rule and window leave to a query whose key position is `at`;
 * *first == *end when none. */
void heed_attention_keys_around(const heed_attention_desc *desc, int64_t at, uint32_t keys,
                                uint32_t *first, uint32_t *end);
/* The same of query i. Masks come on top. */
void heed_attention_key_range(const heed_attention_desc *desc, uint32_t queries, uint32_t keys,
                              uint32_t i, uint32_t *first, uint32_t *end);

/* Whether the causal rule or the window can hide a key. */
bool heed_attention_hides_by_position(const heed_attention_desc *desc);
/* Whether a key can be hidden from a query, by a mask, the bias or position. Only then does a logit
 * of -Inf hide its key; else the key takes part with weight 0. */
bool heed_attention_hides(const heed_attention_desc *desc);

/* The norm of one row: logits[n] (masked ones -Inf) -> weights[n]. sorted: n floats of scratch,
 * used by sparsemax. A row of -Inf throughout follows desc->empty_row. Plain and in double: the
 * reference for rows on demand. */
void heed_attention_norm_row(const heed_attention_desc *desc, const float *logits, uint32_t n,
                             float *sorted, float *weights);

#endif
