/* A session of a model with a reverse pass; backward.h works on it. */
#ifndef HEED_EXPLAIN_REVERSE_PASS_H
#define HEED_EXPLAIN_REVERSE_PASS_H

#include "heed/session.h"

typedef struct heed_backward {
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  uint32_t batch;
  heed_value of, seed; /* the score is their product, and a constant */
  heed_value *wanted;  /* [count]; gradients: theirs once it is open */
  heed_value *gradients;
  heed_value *kept; /* values that stay readable themselves */
  size_t count, room, kept_count, kept_room;
} heed_backward;

#endif
