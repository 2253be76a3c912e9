/* The reader of linear's case files, and linear alone, to be timed. */
#include "base/tensor.h"
#include "check/bench.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_linear_desc desc = {sizeof desc,
                                 heed_case_input(test, "x"),
                                 heed_case_constant(test, "weight"),
                                 heed_case_optional_constant(test, "bias"),
                                 {0},
                                 HEED_ACTIVATION_NONE,
                                 0,
                                 0};
  heed_case_result(test, "y", heed_define_linear(heed_case_graph(test), &desc));
  return HEED_OK;
}

static void define(heed_graph *graph, const heed_bench_shape *shape) {
  const uint32_t *n = shape->axis;
  const heed_shape x = HEED_SHAPE(n[0], n[1]);
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = heed_define_input(graph, "x", HEED_F32, &x),
                                 .weight = heed_bench_constant(graph, HEED_SHAPE(n[2], n[1]))};
  heed_graph_output(graph, heed_define_linear(graph, &desc));
}

static const heed_bench_case bench = {{.name = "linear", .axes = "M,K,N", .axis_count = 3}, define};

static const char *const names[] = {"linear", NULL};
const heed_layer_case heed_case_linear = {.names = names, .from_case = from_case, .bench = &bench};
