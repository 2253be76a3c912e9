/* What the two ways of running attention share: one kernel (attention.c), or three dispatches
 * through scratch (attention_split.c). */
#ifndef HEED_GPU_OPS_ATTENTION_PARTS_H
#define HEED_GPU_OPS_ATTENTION_PARTS_H

#include "gpu/builder.h"
#include "graph/attention_rule.h"
#include "graph/ops/attention.h"
#include "heed/ops.h"
#include "params/attention_flags.h"

typedef struct heed_gpu_attention_job {
  heed_gpu_builder *builder;
  const heed_attention_desc *desc;
  const heed_node *node;
  heed_attention_sizes sizes;
  bool wants_weights, wants_logits;
  uint32_t choice; /* of the candidates below; 0: by the tables */
  uint32_t flags;  /* of masks, position, softcap, merge and empty rows */
  int32_t offset, window_left, window_right;
} heed_gpu_attention_job;

/* A workgroup of shaders/attention_matrix.comp. */
typedef struct heed_gpu_attention_tile {
  uint32_t subgroups, block; /* block: keys at a time */
  uint32_t rows;             /* matrices down that a subgroup has; 1 unless it reduces */
  bool reduces;              /* logits stay in registers */
} heed_gpu_attention_tile;
/* Whether the device multiplies by cooperative matrices and has shared memory for these sizes.
 * plain: no more than position stands between products and weights, and no map is stored. */
bool heed_gpu_attention_matrices(const heed_gpu_limits *limits, const heed_attention_sizes *sizes,
                                 uint32_t choice, bool plain, heed_gpu_attention_tile *tile);

/* Ways of running an attention that tuning tries, numbered from 1, for the kernels of each. */
uint32_t heed_gpu_split_candidates(void);
uint32_t heed_gpu_attention_matrix_candidates(const heed_gpu_limits *limits);

/* Scores of a piece of rows, their norm, the product with the values; piece by piece, so that the
 * scratch stays small. */
void heed_gpu_attention_split(const heed_gpu_attention_job *job);

#endif
