/* Dispatches split so that no submission takes long: watchdogs end one of some seconds, and with it
 * the device. */
#ifndef HEED_GPU_SPLIT_SUBMISSIONS_H
#define HEED_GPU_SPLIT_SUBMISSIONS_H

#include "gpu/builder.h"

/* Workgroups [base, base + groups) of a dispatch, by an index into the builder's list. */
typedef struct heed_gpu_subdispatch {
  size_t dispatch;
  uint32_t base[3], groups[3];
  bool begins, ends;      /* the dispatch */
  bool new_stage, breaks; /* before it: a stage begins; the submission so far is to end */
} heed_gpu_subdispatch;

/* A walk over all subdispatches in order. Starts as {builder, budget}. */
typedef struct heed_gpu_subdispatches {
  const heed_gpu_builder *builder;
  uint64_t budget; /* operations a submission; 0: all in one */
  size_t dispatch;
  /* where the next subdispatch begins; groups a subdispatch along each axis */
  uint32_t base[3], step[3];
  bool inside;  /* a dispatch */
  double taken; /* operations since the last break */
} heed_gpu_subdispatches;

/* False at the end. */
bool heed_gpu_next_subdispatch(heed_gpu_subdispatches *walk, heed_gpu_subdispatch *subdispatch);
/* Operations of all dispatches. */
uint64_t heed_gpu_count_flops(const heed_gpu_builder *builder);

#endif
