/* The reader of linear_attention's case files, and linear_attention alone, to be timed. */
#include "base/tensor.h"
#include "check/bench.h"

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  const heed_linear_attention_desc desc = {sizeof desc,
                                           heed_case_input(test, "query"),
                                           heed_case_input(test, "key"),
                                           heed_case_input(test, "value"),
                                           heed_case_flag(test, "causal", false),
                                           heed_case_flag(test, "recurrent", false)};
  heed_case_result(test, "output", heed_define_linear_attention(heed_case_graph(test), &desc));
  return HEED_OK;
}

static void define(heed_graph *graph, const heed_bench_shape *shape) {
  const uint32_t *n = shape->axis;
  const heed_shape query = HEED_SHAPE(n[0], n[1], n[2], n[4]),
                   key = HEED_SHAPE(n[0], n[1], n[3], n[4]);
  const heed_linear_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = heed_define_input(graph, "query", HEED_F32, &query),
      .key = heed_define_input(graph, "key", HEED_F32, &key),
      .value = heed_define_input(graph, "value", HEED_F32, &key),
      .causal = shape->causal != HEED_CAUSAL_NONE};
  heed_graph_output(graph, heed_define_linear_attention(graph, &desc));
}

static const heed_bench_case bench = {{.name = "linear_attention",
                                       .axes = "B,H,Tq,Tk,D",
                                       .shape = "1,1,1024,1024,64",
                                       .axis_count = 5,
                                       .options = HEED_BENCH_TOKENS | HEED_BENCH_CAUSAL},
                                      define};

static const char *const names[] = {"linear_attention", NULL};
const heed_layer_case heed_case_linear_attention = {
    .names = names, .from_case = from_case, .bench = &bench};
