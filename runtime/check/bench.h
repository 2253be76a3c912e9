/* How an op is timed alone: its struct's field `bench`. */
#ifndef HEED_CHECK_BENCH_H
#define HEED_CHECK_BENCH_H

#include "check/case.h"
#include "heed/check.h"

struct heed_bench_case {
  heed_bench_op op; /* the first field: what heed_bench_get_op returns */
  void (*define)(heed_graph *graph, const heed_bench_shape *shape);
};

/* A constant F32: a ramp that keeps results small. */
heed_value heed_bench_constant(heed_graph *graph, heed_shape shape);

#endif
