/* Measures which tile is the fastest for the products and attentions of a graph, on any GPU backend
 * that has a profile of its steps. */
#ifndef HEED_GPU_TUNE_H
#define HEED_GPU_TUNE_H

#include "gpu/limits.h"
#include "graph/graph.h"
#include "heed/session.h"

/* How many tiles there are for the shape, numbered from 1; 0 is what the tables say. */
uint32_t heed_gpu_count_candidates(const heed_gpu_limits *limits, const heed_gpu_shape_key *key);
/* Reads what a file kept: false, and no tiles, where it is not of this size or names a tile that
 * the device has not. */
bool heed_gpu_take_tiles(const heed_gpu_limits *limits, const void *bytes, size_t size,
                         heed_gpu_tiles *tiles);
/* The different shapes of a graph, as many as are kept; their choices are 0. Returns how many. */
uint32_t heed_gpu_list_shapes(const heed_graph *graph, const heed_gpu_limits *limits,
                              heed_gpu_tuned shapes[HEED_GPU_MOST_TUNED]);
/* Sets shape->choice to the fastest tile, 0 if it is the tables'. limits: those that the backend
 * reads; its choice is changed while it is measured. *before, *after: microseconds with the tables'
 * tile, with the fastest. Statuses: those of plans, sessions and profiles. */
heed_status heed_gpu_measure_tiles(heed_backend *backend, heed_gpu_limits *limits,
                                   heed_gpu_tuned *shape, double *before, double *after,
                                   heed_error *error);

#endif
