/* Attentions for tests: what there is to choose, random tensors for it, the definition in double
 * row by row, and the graph. The definition: a logit is an F32 number. A key is hidden from a query
 * by position, by a mask or by a bias of -Inf, and its logit is -Inf then, whatever key and query
 * hold. In an attention that can hide keys, a finite sum that overflows to -Inf hides too. A row
 * of -Inf throughout follows empty_row; a NaN or +Inf among the other logits makes the
 * row NaN. Weights are F32, 0 under its least normal number. Every key that is not hidden takes
 * part with its value, also with weight 0: 0 NaN = 0 Inf = NaN. */
#ifndef HEED_TESTS_SUPPORT_ATTENTION_CASE_H
#define HEED_TESTS_SUPPORT_ATTENTION_CASE_H

#include "support/op_test.h"

enum {
  MASK = 1,
  KEY_PADDING = 2,
  QUERY_PADDING = 4,
  BIAS = 8,
  POISON = 16, /* NaN and Inf in the keys and values that no query sees, NaN in the queries that see
                  no key */
  SPIKE = 32,  /* NaN in the value of the middle key: rows that see it are NaN there, whatever its
                  weight, and no others */
  KEY_SPIKE =
      64,     /* NaN in the middle key itself: rows that see it are NaN throughout, and no others */
  HIDE = 128, /* with BIAS: some entries of it, some rows and some keys throughout are -Inf */
  LOWEST = 256, /* with BIAS: likewise -FLT_MAX, some -3.2e38: these hide nothing */
  /* with a dot score: some queries times some keys, or times all, overflow to -Inf; what else these
   * queries see is 0 */
  OVERFLOWS = 512,
  OFFSETS = 1024 /* causal_offsets */
};

typedef struct attention_case {
  uint32_t batch, heads, key_heads, queries, keys, depth, value_depth;
  uint32_t with;
  heed_norm norm;
  heed_causal causal;
  bool window;
  int32_t left, right;
  int32_t offset; /* causal_offset */
  float softcap, scale, threshold;
  heed_empty_row empty_row;
  heed_score score;
  uint32_t width; /* A of the additive score */
  bool merge, rows;
  /* with MASK: a query sees only keys of its own run of so many tokens; 0: all */
  uint32_t diagonal;
  float spread; /* of query and key; 0 = 1 */
} attention_case;

typedef struct attention_tensors {
  float *query, *key, *value, *bias;
  /* [D, D], [D, A], [D, A], [A], [A]: of the general and the additive score */
  float *w, *wq, *wk, *b, *va;
  uint8_t *mask, *key_padding, *query_padding;
  int32_t *offsets;
  uint32_t mask_dim[4], bias_dim[4];
  double *output, *weights, *logits;
  uint32_t rows[5], row_count;
} attention_tensors;

/* A random case: everything that can be combined is, sometimes. Each `alike` neighbouring seeds
 * share all but their shapes, so that a backend that compiles a kernel for each choice need not do
 * so for each case. */
attention_case attention_case_random(uint64_t seed, uint64_t alike);
/* One line that says what the case is. */
void attention_case_describe(const attention_case *c, uint64_t seed, char *to, size_t size);
/* Random tensors for a case, and what must come out. */
void attention_case_make(const attention_case *c, uint64_t seed, attention_tensors *t);
void attention_case_release(attention_tensors *t);
/* The graph with its expected results; maps: weights and logits too. */
void attention_case_define(op_test *test, const attention_case *c, const attention_tensors *t,
                           bool maps);

#endif
