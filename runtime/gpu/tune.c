/* Every shape that has tiles to choose from, alone in a graph of its own, once for each tile. */
#include "gpu/tune.h"

#include <string.h>

#include "backend/backend.h"
#include "base/status.h"
#include "gpu/op.h"

#define RUNS 3
#define GAIN 0.97 /* a tile that is not at least 3 % faster than the table's is noise */

/* Of the op that the shape belongs to; NULL: of none. */
static const heed_gpu_op_tune *find_op(const heed_gpu_shape_key *key) {
  for (uint32_t op = 0; op < HEED_OP_KIND_COUNT; op++) {
    const heed_gpu_op_tune *tune = heed_gpu_ops[op]->tune;
    if (tune && tune->has_key(key)) return tune;
  }
  return NULL;
}

uint32_t heed_gpu_count_candidates(const heed_gpu_limits *limits, const heed_gpu_shape_key *key) {
  const heed_gpu_op_tune *tune = find_op(key);
  return tune ? tune->count_candidates(limits) : 0;
}

static double no_time(void *user) {
  (void)user;
  return 0.0;
}

/* The least of some runs. */
static heed_status time_graph(heed_backend *backend, heed_graph *graph, double *microseconds,
                              heed_error *error) {
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  const heed_clock clock = {no_time, NULL};
  heed_status status = heed_plan_create(graph, backend, NULL, &plan, error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, error);
  for (int i = 0; i < RUNS && status == HEED_OK; i++) {
    heed_step_time time;
    status = heed_session_profile(session, &clock, &time, error);
    if (status == HEED_OK && (i == 0 || time.microseconds < *microseconds))
      *microseconds = time.microseconds;
  }
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  return status;
}

/* Candidate 0 is what the tables say. */
heed_status heed_gpu_measure_tiles(heed_backend *backend, heed_gpu_limits *limits,
                                   heed_gpu_tuned *shape, double *before, double *after,
                                   heed_error *error) {
  heed_graph *graph = NULL;
  double least = 0.0, table = 0.0;
  uint32_t best = 0;
  const uint32_t most = heed_gpu_count_candidates(limits, &shape->key), forced = limits->choice;
  heed_status status = heed_graph_create(backend->context, &graph, error);
  if (status == HEED_OK) {
    heed_graph_output(graph, find_op(&shape->key)->define(graph, &shape->key));
    status = heed_graph_status(graph, error);
  }
  for (limits->choice = 0; status == HEED_OK && limits->choice <= most; limits->choice++) {
    double time = 0.0;
    status = time_graph(backend, graph, &time, error);
    if (limits->choice == 0)
      table = least = time;
    else if (time < least && time < table * GAIN) {
      least = time;
      best = limits->choice;
    }
  }
  limits->choice = forced;
  heed_graph_destroy(graph);
  shape->choice = best;
  *before = table;
  *after = least;
  return status;
}

static bool is_known(const heed_gpu_tuned *shapes, uint32_t count, const heed_gpu_shape_key *key) {
  for (uint32_t i = 0; i < count; i++)
    if (memcmp(&shapes[i].key, key, sizeof *key) == 0) return true;
  return false;
}

uint32_t heed_gpu_list_shapes(const heed_graph *graph, const heed_gpu_limits *limits,
                              heed_gpu_tuned shapes[HEED_GPU_MOST_TUNED]) {
  uint32_t count = 0;
  for (size_t i = 0; i < graph->node_count && count < HEED_GPU_MOST_TUNED; i++) {
    const heed_node *node = &graph->nodes[i];
    const heed_gpu_op_tune *tune = heed_gpu_ops[node->op]->tune;
    heed_gpu_shape_key key;
    if (tune && tune->get_key(graph, node, limits, &key) && !is_known(shapes, count, &key))
      shapes[count++] = (heed_gpu_tuned){.key = key};
  }
  return count;
}
