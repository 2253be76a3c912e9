/* The reader of the case files of layer_norm and rms_norm, and layer_norm alone, to be timed. */
#include <string.h>

#include "base/tensor.h"
#include "check/bench.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_layer_norm_desc desc = {.struct_size = sizeof desc,
                                     .x = heed_case_input(test, "x"),
                                     .gain = heed_case_constant(test, "gain"),
                                     .bias = heed_case_optional_constant(test, "bias"),
                                     .epsilon = (float)heed_case_number(test, "epsilon", 1e-5),
                                     .rms = strcmp(heed_case_op(test), "rms_norm") == 0};
  heed_case_result(test, "y", heed_define_layer_norm(heed_case_graph(test), &desc));
  return HEED_OK;
}

/* rows x width, as a transformer's tokens have it. */
static void define(heed_graph *graph, const heed_bench_shape *shape) {
  const uint32_t *n = shape->axis;
  const heed_shape x = HEED_SHAPE(n[0], n[1]);
  const heed_layer_norm_desc desc = {.struct_size = sizeof desc,
                                     .x = heed_define_input(graph, "x", HEED_F32, &x),
                                     .gain = heed_bench_constant(graph, HEED_SHAPE(n[1])),
                                     .bias = heed_bench_constant(graph, HEED_SHAPE(n[1])),
                                     .epsilon = 1e-6f};
  heed_graph_output(graph, heed_define_layer_norm(graph, &desc));
}

static const heed_bench_case bench = {{.name = "layer_norm", .axes = "ROWS,WIDTH", .axis_count = 2},
                                      define};

static const char *const names[] = {"layer_norm", "rms_norm", NULL};
const heed_layer_case heed_case_layer_norm = {
    .names = names, .from_case = from_case, .bench = &bench};
