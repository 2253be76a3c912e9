/* Attention weights times their gradient, of one layer and picture: what the maps of Chefer et al.
 * 2021 and gradient rollout are made of. */
#ifndef HEED_EXPLAIN_ATTENTION_TERMS_H
#define HEED_EXPLAIN_ATTENTION_TERMS_H

#include "explain/backward.h"

typedef enum heed_terms {
  HEED_TERMS_POSITIVE, /* mean over heads of max(0, A dA) */
  HEED_TERMS_MEAN      /* max(0, mean over heads of A dA) */
} heed_terms;

/* to [T, T], from the weights and the gradient of a run; b is a picture or a text. Statuses: those
 * of a session, OUT_OF_MEMORY. */
heed_status heed_attention_terms(const heed_explain_run *run, const heed_backward *backward,
                                 uint32_t layer, uint32_t b, heed_terms kind, double *to,
                                 heed_error *error);

#endif
