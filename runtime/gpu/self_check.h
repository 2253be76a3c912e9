/* The self-check: its graph run on a backend and on the CPU, and the results compared. */
#ifndef HEED_GPU_SELF_CHECK_H
#define HEED_GPU_SELF_CHECK_H

#include "gpu/self_check_graph.h"
#include "heed/session.h"

/* Runs the graph on a backend. to [heed_gpu_check_count], *steps: nodes of the plan. Statuses:
 * those of plans and sessions. */
heed_status heed_gpu_check_run(const heed_gpu_check_graph *check, heed_backend *backend, float *to,
                               uint32_t *steps, heed_error *error);

/* The parts of that, for a backend whose results come later: writes the inputs and runs, on a
 * session of a plan of the graph; reads the results, to [heed_gpu_check_count]. Statuses: those of
 * sessions. */
heed_status heed_gpu_check_start(const heed_gpu_check_graph *check, heed_session *session,
                                 heed_error *error);
heed_status heed_gpu_check_read(const heed_gpu_check_graph *check, heed_session *session, float *to,
                                heed_error *error);

/* What is remembered in the cache. */
typedef struct heed_gpu_check_record {
  /* hash of the graph that was run: what a check of other ops has found says nothing about these */
  uint64_t graph;
  int64_t time; /* of the check, in seconds since 1970 */
  uint32_t kernels, passed;
  double max_error;
  char worst[48];
} heed_gpu_check_record;

/* Hash of the nodes and shapes of the graph. */
uint64_t heed_gpu_check_hash(const heed_gpu_check_graph *check);
/* Fills passed, max_error and worst, which then is an op. found, expected [heed_gpu_check_count].
 */
void heed_gpu_check_compare(const heed_gpu_check_graph *check, const float *found,
                            const float *expected, double tolerance, heed_gpu_check_record *record);
/* The same by the tolerances for weights in fp32, or if half in fp16; worst becomes "linear
 * (linear_half)", an op with its kernel on the backend. Statuses: OUT_OF_MEMORY. */
heed_status heed_gpu_check_judge(const heed_gpu_check_graph *check, heed_backend *backend,
                                 const float *found, const float *expected, bool half,
                                 heed_gpu_check_record *record, heed_error *error);
/* Runs the graph on the backend and on the CPU, and compares: fills kernels, passed, max_error and
 * worst, which then is "linear (linear_half)", an op with its kernel. half: weights are in fp16,
 * and the tolerance is wider. Statuses: OUT_OF_MEMORY, and those of the backend. */
heed_status heed_gpu_check_backend(const heed_gpu_check_graph *check, heed_backend *backend,
                                   bool half, heed_gpu_check_record *record, heed_error *error);

#endif
