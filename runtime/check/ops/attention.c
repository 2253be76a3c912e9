/* The reader of attention's case files, and attention alone, to be timed. */
#include "base/tensor.h"
#include "check/bench.h"

static const char *const scores[] = {"scaled_dot", "dot", "general", "additive", NULL};
static const char *const norms[] = {"softmax", "sparse_softmax", "sparsemax", NULL};
static const char *const causals[] = {"none", "top_left", "bottom_right", NULL};
static const char *const empty_rows[] = {"zero", "nan", "mean", NULL};

static heed_status from_case(heed_case *test, heed_error *error) {
  (void)error;
  int32_t window[2] = {0, 0};
  heed_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = heed_case_input(test, "query"),
      .key = heed_case_input(test, "key"),
      .value = heed_case_input(test, "value"),
      .mask = heed_case_optional_input(test, "mask"),
      .key_padding = heed_case_optional_input(test, "key_padding"),
      .query_padding = heed_case_optional_input(test, "query_padding"),
      .bias = heed_case_optional_input(test, "bias"),
      .score = (heed_score)heed_case_choice(test, "score", scores, 0),
      .scale = (float)heed_case_number(test, "scale", 0.0),
      .norm = (heed_norm)heed_case_choice(test, "norm", norms, 0),
      .threshold = (float)heed_case_number(test, "threshold", 0.0),
      .causal = (heed_causal)heed_case_choice(test, "causal", causals, 0),
      .softcap = (float)heed_case_number(test, "softcap", 0.0),
      .empty_row = (heed_empty_row)heed_case_choice(test, "empty_row", empty_rows, 0)};
  if (desc.score == HEED_SCORE_GENERAL) desc.w = heed_case_constant(test, "w");
  if (desc.score == HEED_SCORE_ADDITIVE) {
    desc.wq = heed_case_constant(test, "wq");
    desc.wk = heed_case_constant(test, "wk");
    desc.b = heed_case_optional_constant(test, "b");
    desc.va = heed_case_constant(test, "va");
  }
  desc.window = heed_case_pair(test, "window", window);
  desc.window_left = window[0];
  desc.window_right = window[1];
  desc.causal_offset = (int32_t)heed_case_integer(test, "causal_offset", 0);
  desc.causal_offsets = heed_case_optional_input(test, "causal_offsets");
  const heed_attention_values values = heed_define_attention(heed_case_graph(test), &desc);
  heed_case_result(test, "output", values.output);
  heed_case_result(test, "weights", values.weights);
  heed_case_result(test, "logits", values.logits);
  return HEED_OK;
}

static void define(heed_graph *graph, const heed_bench_shape *shape) {
  const uint32_t *n = shape->axis;
  const heed_shape query = HEED_SHAPE(n[0], n[1], n[2], n[4]),
                   key = HEED_SHAPE(n[0], n[1], n[3], n[4]);
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = heed_define_input(graph, "query", HEED_F32, &query),
                                    .key = heed_define_input(graph, "key", HEED_F32, &key),
                                    .value = heed_define_input(graph, "value", HEED_F32, &key),
                                    .causal = shape->causal,
                                    .window = shape->window != 0,
                                    .window_left = (int32_t)(shape->window & 0x7FFFFFFFu),
                                    .window_right = (int32_t)(shape->window & 0x7FFFFFFFu)};
  const heed_attention_values values = heed_define_attention(graph, &desc);
  heed_graph_output(graph, values.output);
  if (shape->weights) heed_graph_output(graph, values.weights);
}

static const heed_bench_case bench = {
    {.name = "attention",
     .axes = "B,H,Tq,Tk,D",
     .shape = "1,1,1024,1024,64",
     .axis_count = 5,
     .options = HEED_BENCH_TOKENS | HEED_BENCH_CAUSAL | HEED_BENCH_WINDOW | HEED_BENCH_WEIGHTS |
                HEED_BENCH_MODE},
    define};

static const char *const names[] = {"attention", NULL};
const heed_layer_case heed_case_attention = {
    .names = names, .from_case = from_case, .bench = &bench};
