/* The reader of rotary's case files, and rotary alone, to be timed. */
#include "base/tensor.h"
#include "check/bench.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_rotary_desc desc = {.struct_size = sizeof desc,
                                 .x = heed_case_input(test, "x"),
                                 .cos = heed_case_constant(test, "cos"),
                                 .sin = heed_case_constant(test, "sin"),
                                 .first = (uint32_t)heed_case_integer(test, "first", 0),
                                 .interleaved = heed_case_flag(test, "interleaved", false)};
  heed_case_result(test, "y", heed_define_rotary(heed_case_graph(test), &desc));
  return HEED_OK;
}

/* All of every head, in halves; no token in front. */
static void define(heed_graph *graph, const heed_bench_shape *shape) {
  const uint32_t *n = shape->axis;
  const heed_shape x = HEED_SHAPE(n[0], n[1], n[2], n[3]);
  const heed_rotary_desc desc = {.struct_size = sizeof desc,
                                 .x = heed_define_input(graph, "x", HEED_F32, &x),
                                 .cos = heed_bench_constant(graph, HEED_SHAPE(n[2], n[3] / 2)),
                                 .sin = heed_bench_constant(graph, HEED_SHAPE(n[2], n[3] / 2))};
  heed_graph_output(graph, heed_define_rotary(graph, &desc));
}

static const heed_bench_case bench = {{.name = "rotary", .axes = "B,H,T,D", .axis_count = 4},
                                      define};

static const char *const names[] = {"rotary", NULL};
const heed_layer_case heed_case_rotary = {.names = names, .from_case = from_case, .bench = &bench};
