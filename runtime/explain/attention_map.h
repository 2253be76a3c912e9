/* Maps of parts of an attention, for who has not the whole of it. The whole: heed.h. */
#ifndef HEED_EXPLAIN_ATTENTION_MAP_H
#define HEED_EXPLAIN_ATTENTION_MAP_H

#include "heed/explain.h"

/* mean[count] = mean over heads of weights[heads, count]. */
void heed_map_mean_of(const float *weights, uint32_t heads, size_t count, float *mean);

/* What both kinds of rollout refuse. Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
heed_status heed_map_rollout_check(const heed_rollout_desc *desc, heed_error *error);
/* Of the matrix that heed_map_rollout has of one layer, some rows: next[N] += row[first + r] times
 * row first + r. weights: [H, count, N] of these queries, `stride` from head to head. scratch [N],
 * order [N]. */
void heed_map_rollout_add(const heed_rollout_desc *desc, const float *weights, size_t stride,
                          uint32_t first, uint32_t count, const double *row, double *next,
                          double *scratch, uint32_t *order);

/* One layer of one row of a rollout, from the last layer back: row [N] becomes row times the
 * layer's matrix of heed_map_rollout. A row that begins as a token's unit vector and went through
 * all layers is that token's row of the rollout. desc: as there, with layers 1; layer [H, N, N].
 * Statuses: INVALID_ARGUMENT, OUT_OF_MEMORY. */
heed_status heed_map_rollout_back(heed_context *context, const heed_rollout_desc *desc,
                                  const float *layer, double *row, heed_error *error);
/* The same of `count` rows [count, N], from the queries and keys that a session kept: the layer's
 * weights are made once for all of them. weights: the layer's. Statuses: those of
 * heed_session_rollout_row. */
heed_status heed_session_rollout_back(heed_session *session, const heed_rollout_desc *desc,
                                      heed_value weights, uint32_t batch, uint32_t count,
                                      double *rows, heed_error *error);

#endif
