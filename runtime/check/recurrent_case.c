/* lstm and gru as heed check knows them: PyTorch's names of nn.LSTM and nn.GRU, weight_ih_l0,
 * weight_ih_l0_reverse, weight_ih_l1 ..., any number of layers in one direction or two. States h0,
 * c0 and results h, c are [B, H] of one layer in one direction and PyTorch's [layers directions, B,
 * H] of more (h0 and c0 may have three axes then and always). */
#include "check/recurrent_case.h"

#include <stdio.h>

#include "base/status.h"
#include "base/tensor.h"
#include "heed/ops.h"

typedef heed_recurrent_values (*define_recurrent)(heed_graph *graph,
                                                  const heed_recurrent_desc *desc);

typedef struct stack {
  heed_case *test;
  define_recurrent define;
  heed_value h0, c0;
  uint32_t layers, directions;
  heed_value h, c; /* of the layers so far, one over the other: [n B, H] */
} stack;

static heed_value weight(const stack *s, const char *what, uint32_t layer, bool reverse,
                         bool required) {
  char name[48];
  snprintf(name, sizeof name, "%s_l%u%s", what, layer, reverse ? "_reverse" : "");
  return required ? heed_case_constant(s->test, name) : heed_case_optional_constant(s->test, name);
}

/* State `index` of a stacked [n, B, H]; a [B, H] as it is. */
static heed_value state_of(const stack *s, heed_value states, uint32_t index) {
  heed_value_info info;
  heed_graph *graph = heed_case_graph(s->test);
  if (heed_graph_value_info(graph, states, &info) != HEED_OK || info.shape.rank != 3) return states;
  const heed_shape shape = HEED_SHAPE(info.shape.dim[1], info.shape.dim[2]);
  return heed_define_view(graph, states, index * heed_shape_count(&shape), &shape);
}

static heed_value join(const stack *s, heed_value first, heed_value second, uint32_t axis) {
  const heed_concat_desc desc = {sizeof desc, {first, second}, 2, axis};
  return first.id && second.id ? heed_define_concat(heed_case_graph(s->test), &desc) : second;
}

static heed_value run_direction(stack *s, heed_value x, uint32_t layer, bool reverse) {
  const bool back = reverse && s->directions == 2; /* else it has the only direction's names */
  const uint32_t index = layer * s->directions + back;
  const heed_recurrent_desc desc = {.struct_size = sizeof desc,
                                    .x = x,
                                    .weight_ih = weight(s, "weight_ih", layer, back, true),
                                    .weight_hh = weight(s, "weight_hh", layer, back, true),
                                    .bias_ih = weight(s, "bias_ih", layer, back, false),
                                    .bias_hh = weight(s, "bias_hh", layer, back, false),
                                    .h = state_of(s, s->h0, index),
                                    .c = state_of(s, s->c0, index),
                                    .reverse = reverse};
  const heed_recurrent_values values = s->define(heed_case_graph(s->test), &desc);
  s->h = join(s, s->h, values.h, 0);
  s->c = join(s, s->c, values.c, 0);
  return values.y;
}

/* h or c as PyTorch has it. */
static heed_value stacked(const stack *s, heed_value states) {
  heed_value_info info;
  heed_graph *graph = heed_case_graph(s->test);
  const uint32_t count = s->layers * s->directions;
  if (count == 1 || heed_graph_value_info(graph, states, &info) != HEED_OK) return states;
  const heed_shape shape = HEED_SHAPE(count, info.shape.dim[0] / count, info.shape.dim[1]);
  return heed_define_reshape(graph, states, &shape);
}

/* Attributes, where they stand, must say what the tensors do. */
static heed_status check_attributes(const stack *s, heed_error *error) {
  const int64_t layers = heed_case_integer(s->test, "num_layers", s->layers);
  const bool both = heed_case_flag(s->test, "bidirectional", s->directions == 2);
  if (layers != s->layers || both != (s->directions == 2))
    return heed_fail(error, HEED_INVALID_FILE,
                     "%s: num_layers or bidirectional contradicts the weights (found %lld and %s, "
                     "expected %u and %s)",
                     heed_case_op(s->test), (long long)layers, both ? "true" : "false", s->layers,
                     s->directions == 2 ? "true" : "false");
  return HEED_OK;
}

/* [layers directions, B, H] or, of one, [B, H]. */
static heed_status check_states(const stack *s, heed_value states, const char *name,
                                heed_error *error) {
  heed_value_info info;
  const uint32_t count = s->layers * s->directions;
  if (heed_graph_value_info(heed_case_graph(s->test), states, &info) != HEED_OK) return HEED_OK;
  char text[HEED_SHAPE_TEXT_SIZE];
  if ((info.shape.rank == 2 && count == 1) || (info.shape.rank == 3 && info.shape.dim[0] == count))
    return HEED_OK;
  return heed_fail(error, HEED_INVALID_FILE,
                   "%s: wrong shape of %s (found %s, expected [%u, B, H])", heed_case_op(s->test),
                   name, heed_shape_text(&info.shape, text), count);
}

heed_status heed_recurrent_from_case(heed_case *test, bool lstm, heed_error *error) {
  stack s = {.test = test,
             .define = lstm ? heed_define_lstm : heed_define_gru,
             .layers = 1,
             .directions = 1};
  const bool reverse = heed_case_flag(test, "reverse", false);
  heed_value x = heed_case_input(test, "x");
  s.h0 = heed_case_optional_input(test, "h0");
  if (lstm) s.c0 = heed_case_optional_input(test, "c0");
  while (weight(&s, "weight_ih", s.layers, false, false).id) s.layers++;
  if (!reverse && weight(&s, "weight_ih", 0, true, false).id) s.directions = 2;
  HEED_TRY(check_attributes(&s, error));
  HEED_TRY(check_states(&s, s.h0, "h0", error));
  HEED_TRY(check_states(&s, s.c0, "c0", error));
  for (uint32_t i = 0; i < s.layers; i++) {
    const heed_value forward = run_direction(&s, x, i, reverse);
    x = s.directions == 2 ? join(&s, forward, run_direction(&s, x, i, true), 2) : forward;
  }
  heed_case_result(test, "y", x);
  heed_case_result(test, "h", stacked(&s, s.h));
  if (lstm) heed_case_result(test, "c", stacked(&s, s.c));
  return HEED_OK;
}
