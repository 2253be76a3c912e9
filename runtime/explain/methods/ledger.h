/* The walk of the ledger, from the score back to the states of each level. */
#ifndef HEED_EXPLAIN_METHODS_LEDGER_H
#define HEED_EXPLAIN_METHODS_LEDGER_H

#include "explain/held.h"
#include "graph/graph.h"

/* Up to so many rows that are read are held as they are, and of a layer's weights those rows
 * instead of query and key. */
enum { LEDGER_FEW = 8 };

/* The gradient of some rows of a value of the picture; all others have none. */
typedef struct ledger_rows {
  uint32_t count, width;
  uint32_t *row; /* [count], ascending */
  double *d;     /* [count, width]; NULL before the pass has run */
} ledger_rows;

/* One walk. Before the pass has run nothing is computed: what the walk will read is held. */
typedef struct ledger_walk {
  heed_explain_run *run;
  heed_pass *pass;
  bool ran;
  bool once; /* nothing else reads what this walk reads: it may go at once */
  uint32_t b;
  heed_value stop;     /* the states to go back to; */
  ledger_rows arrived; /* what has arrived there */
  /* of the picture: [L, H, T], [L], [T], [L + 1], [T], [1] */
  float *heads, *mlps, *embeddings, *bias, *tokens, *pool;
} ledger_walk;

/* Takes rows that are the gradient of the value's part of the picture back to the states. */
heed_status ledger_back(ledger_walk *w, heed_value value, const ledger_rows *g, heed_error *error);
/* The same of an attention: of a layer what its heads add, of a pooling one on to the states. */
heed_status ledger_back_heads(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                              heed_error *error);
heed_status ledger_back_pool(ledger_walk *w, const heed_node *node, const ledger_rows *g,
                             heed_error *error);

/* Rows of zeros: those of `like`, or the first `count`. */
heed_status ledger_rows_like(const ledger_walk *w, const ledger_rows *like, uint32_t width,
                             ledger_rows *made, heed_error *error);
heed_status ledger_rows_first(const ledger_walk *w, uint32_t count, uint32_t width,
                              ledger_rows *made, heed_error *error);
void ledger_rows_free(const ledger_walk *w, ledger_rows *rows);

heed_status ledger_refuse(const char *why, heed_error *error);
/* Elements of the picture, and those of its last axis. */
size_t ledger_size(const ledger_walk *w, heed_value value, uint32_t *width);
/* The numbers of a constant; to be freed. */
heed_status ledger_constant(const ledger_walk *w, heed_value value, float **data,
                            heed_error *error);
/* Holds these rows of a value, less another's where there is one; many of them packed. */
heed_status ledger_hold(ledger_walk *w, heed_value value, heed_value less, const ledger_rows *g,
                        heed_error *error);
/* to[row] = d . the held row, and *sum += them; either may be NULL. */
void ledger_add_products(const ledger_walk *w, heed_value value, heed_value less,
                         const ledger_rows *g, float *to, double *sum);
/* to[rows, K] += d[rows, outs] W, d of every `stride` numbers, of rows of W from `first` on. */
heed_status ledger_multiply(const ledger_walk *w, heed_value weight, uint32_t first, uint32_t outs,
                            const double *d, size_t stride, size_t rows, double *to,
                            heed_error *error);
/* The layer of a node, as biases are counted: L for the read-out. */
uint32_t ledger_layer(const heed_node *node);

#endif
