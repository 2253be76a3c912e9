/* By which rules a reverse pass goes back. */
#ifndef HEED_GRAPH_GRADIENT_RULES_H
#define HEED_GRAPH_GRADIENT_RULES_H

#include <stdbool.h>

/* How relevance is passed on, where that is not by the derivative (docs/explain.md). */
typedef struct heed_gradient_rules {
  bool hold_norms; /* the divisor of a norm counts as a constant */
  bool ratios;     /* an activation passes f(x) / x on in place of f'(x) */
  bool hold_gates; /* the second factor of a product counts as a constant */
  float products;  /* times what both factors of a product get, where both depend on the wanted */
  float scores;    /* times what query and key of an attention get */
  float values;    /* times what its value gets */
} heed_gradient_rules;

#endif
