/* The self-check's graph and the comparison of its results, apart from any device. */
#ifndef HEED_GPU_SELF_CHECK_H
#define HEED_GPU_SELF_CHECK_H

#include "heed/heed.h"

/* A graph in which every op of graph/op_list.h stands at least once; its outputs are the results
 * that are compared. */
typedef struct heed_vk_check_graph {
  heed_context *context;
  heed_graph *graph;
  float *numbers; /* where constants and inputs come from */
  size_t used;
  heed_value image, tokens, ids; /* the inputs */
  heed_value patches;            /* of the image; where the layer begins */
} heed_vk_check_graph;

/* Borrows context. heed_vk_check_graph_free also frees what a failed create has made. Statuses:
 * OUT_OF_MEMORY. */
heed_status heed_vk_check_graph_create(heed_context *context, heed_vk_check_graph *check,
                                       heed_error *error);
void heed_vk_check_graph_free(heed_vk_check_graph *check);

/* The id of the result that follows value `id` (0: the first result); 0 where there is none. */
uint32_t heed_vk_check_next(const heed_vk_check_graph *check, uint32_t id);
/* Floats of all results, one after the other. */
size_t heed_vk_check_count(const heed_vk_check_graph *check);
/* Runs the graph on a backend. to [heed_vk_check_count], *steps: nodes of the plan. Statuses: those
 * of plans and sessions. */
heed_status heed_vk_check_run(const heed_vk_check_graph *check, heed_backend *backend, float *to,
                              uint32_t *steps, heed_error *error);

/* What is remembered in the cache. */
typedef struct heed_vk_check_record {
  /* hash of the graph that was run: what a check of other ops has found says nothing about these */
  uint64_t graph;
  uint32_t kernels, passed;
  double max_error;
  char worst[48];
} heed_vk_check_record;

/* Hash of the nodes and shapes of the graph. */
uint64_t heed_vk_check_hash(const heed_vk_check_graph *check);
/* Fills passed, max_error and worst. found, expected [heed_vk_check_count]. */
void heed_vk_check_compare(const heed_vk_check_graph *check, const float *found,
                           const float *expected, double tolerance, heed_vk_check_record *record);
/* Runs the graph on the backend and on the CPU, and compares: fills kernels, passed, max_error and
 * worst. half: weights are in fp16, and the tolerance is wider. Statuses: OUT_OF_MEMORY, and those
 * of the backend. */
heed_status heed_vk_check_backend(const heed_vk_check_graph *check, heed_backend *backend,
                                  bool half, heed_vk_check_record *record, heed_error *error);

#endif
