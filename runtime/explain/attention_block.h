/* The attention of a kept layer made again, some queries at a time, by the attention op on the
 * session's own backend. */
#ifndef HEED_EXPLAIN_ATTENTION_BLOCK_H
#define HEED_EXPLAIN_ATTENTION_BLOCK_H

#include "graph/attention_rule.h"
#include "graph/graph.h"
#include "heed/explain.h"

enum { HEED_ATTENTION_BLOCK = 64 }; /* queries at a time */

typedef struct heed_attention_block {
  heed_backend *backend;
  heed_session *from; /* it kept query and key, and the bias where that is an input */
  /* NULL: heed_session_read; else what reads them of what was held elsewhere, whole rows */
  heed_status (*read)(const void *user, heed_value value, uint64_t first, uint64_t count, float *to,
                      heed_error *error);
  const void *user;
  const heed_graph *graph;
  uint32_t batch;
  const heed_attention_desc *attention;
  heed_attention_sizes sizes;
  float *numbers; /* what is written or read; after a run the weights [H, BLOCK, Tk], or `moved` */
  /* the op for a block: a graph of one attention, whose value is zero and is not read */
  heed_graph *op;
  heed_plan *plan;
  heed_session *session;
  heed_value query, key, bias, weights;
  /* with `back`: u [1, H, BLOCK, Dv] -> moved [1, H, Tk, Dv], the weights' transpose times u */
  bool back;
  heed_value u, moved;
} heed_attention_block;

/* Finds the attention of these weights. Statuses: INVALID_ARGUMENT, UNSUPPORTED (a row of it
 * depends on more than its query, all keys and a bias). */
heed_status heed_attention_block_find(heed_attention_block *block, heed_value weights,
                                      heed_error *error);
/* Opens the op and writes the keys. Statuses: OUT_OF_MEMORY, those of a session. */
heed_status heed_attention_block_open(heed_attention_block *block, heed_error *error);
/* Runs it for `count` queries from `first` on, and reads the weights; with `back`, `moved` instead,
 * of u [H, BLOCK, Dv]. */
heed_status heed_attention_block_run(heed_attention_block *block, uint32_t first, uint32_t count,
                                     const float *u, heed_error *error);
void heed_attention_block_close(heed_attention_block *block);

#endif
