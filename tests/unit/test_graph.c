/* The graph: shape rules, slots of inputs, sticking errors, names, views. */
#include "support/test.h"

#include <string.h>

#include "base/tensor.h"
#include "graph/graph.h"
#include "graph/ops/attention.h"
#include "graph/ops/linear.h"

typedef struct fixture {
  heed_context *context;
  heed_graph *graph;
  heed_error error;
} fixture;

static int setup(void **state) {
  static fixture f;
  heed_error error;
  memset(&f, 0, sizeof f);
  assert_ok(heed_context_create(NULL, &f.context, &error));
  assert_ok(heed_graph_create(f.context, &f.graph, &error));
  *state = &f;
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  heed_graph_destroy(f->graph);
  heed_context_destroy(f->context);
  return 0;
}

static heed_value input(fixture *f, const char *name, heed_shape shape) {
  return heed_define_input(f->graph, name, HEED_F32, &shape);
}

static const float zeros[4096];

static heed_value constant(fixture *f, heed_shape shape) {
  const heed_constant_desc desc = {sizeof desc, NULL, HEED_F32, shape, zeros, NULL, NULL};
  return heed_define_constant(f->graph, &desc);
}

static void assert_shape(fixture *f, heed_value value, heed_shape expected) {
  heed_value_info info;
  heed_error error = {HEED_OK, ""};
  assert_ok(heed_graph_status(f->graph, &error));
  assert_int_equal(heed_graph_value_info(f->graph, value, &info), HEED_OK);
  char found[HEED_SHAPE_TEXT_SIZE], want[HEED_SHAPE_TEXT_SIZE];
  assert_string_equal(heed_shape_text(&info.shape, found), heed_shape_text(&expected, want));
}

/* The graph failed with this sentence in it. */
static void assert_graph_fails(fixture *f, const char *part) {
  heed_error error;
  assert_fails(heed_graph_status(f->graph, &error), HEED_INVALID_ARGUMENT, part);
}

static void test_linear_infers_its_shape(void **state) {
  fixture *f = *state;
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = input(f, "x", HEED_SHAPE(2, 5, 8)),
                                 .weight = constant(f, HEED_SHAPE(12, 8)),
                                 .bias = constant(f, HEED_SHAPE(12))};
  assert_shape(f, heed_define_linear(f->graph, &desc), HEED_SHAPE(2, 5, 12));
}

static void test_linear_splits_heads(void **state) {
  fixture *f = *state;
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = input(f, "x", HEED_SHAPE(2, 5, 8)),
                                 .weight = constant(f, HEED_SHAPE(24, 8)),
                                 .heads = 4,
                                 .parts = 3};
  assert_shape(f, heed_define_linear(f->graph, &desc), HEED_SHAPE(3, 2, 4, 5, 2));
}

static void test_linear_refuses_a_wrong_weight(void **state) {
  fixture *f = *state;
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = input(f, "x", HEED_SHAPE(2, 5, 8)),
                                 .weight = constant(f, HEED_SHAPE(12, 9))};
  assert_int_equal(heed_define_linear(f->graph, &desc).id, 0);
  assert_graph_fails(f, "linear: weight: wrong shape (found [12, 9], expected [12, 8])");
}

static void test_the_first_error_sticks(void **state) {
  fixture *f = *state;
  const heed_linear_desc bad = {.struct_size = sizeof bad,
                                .x = input(f, "x", HEED_SHAPE(1, 8)),
                                .weight = constant(f, HEED_SHAPE(3, 9))};
  heed_define_linear(f->graph, &bad);
  const heed_softmax_desc next = {sizeof next, {99}};
  assert_int_equal(heed_define_softmax(f->graph, &next).id, 0);
  assert_graph_fails(f, "linear: weight");
}

static void test_struct_size_is_checked(void **state) {
  fixture *f = *state;
  const heed_softmax_desc desc = {3, input(f, "x", HEED_SHAPE(2, 2))};
  assert_int_equal(heed_define_softmax(f->graph, &desc).id, 0);
  assert_graph_fails(f, "struct_size");
}

static heed_attention_desc attention(fixture *f, heed_shape query, heed_shape key,
                                     heed_shape value) {
  return (heed_attention_desc){.struct_size = sizeof(heed_attention_desc),
                               .query = input(f, "query", query),
                               .key = input(f, "key", key),
                               .value = input(f, "value", value)};
}

static void test_attention_shapes(void **state) {
  fixture *f = *state;
  heed_attention_desc desc =
      attention(f, HEED_SHAPE(2, 8, 11, 32), HEED_SHAPE(2, 2, 13, 32), HEED_SHAPE(2, 2, 13, 20));
  const uint32_t rows[] = {0, 10, 3};
  desc.rows = rows;
  desc.row_count = 3;
  desc.merge_heads = true;
  const heed_attention_values values = heed_define_attention(f->graph, &desc);
  assert_shape(f, values.output, HEED_SHAPE(2, 11, 160));
  assert_shape(f, values.weights, HEED_SHAPE(2, 8, 3, 13));
  assert_shape(f, values.logits, HEED_SHAPE(2, 8, 3, 13));
}

static void test_attention_refuses(void **state) {
  const struct {
    heed_shape query, key, value;
    const char *part;
  } cases[] = {
      {HEED_SHAPE(1, 8, 4, 16), HEED_SHAPE(1, 3, 4, 16), HEED_SHAPE(1, 3, 4, 16),
       "key heads do not divide query heads"},
      {HEED_SHAPE(1, 8, 4, 16), HEED_SHAPE(1, 8, 4, 15), HEED_SHAPE(1, 8, 4, 16),
       "attention: key: wrong shape"},
      {HEED_SHAPE(1, 8, 4, 16), HEED_SHAPE(1, 8, 4, 16), HEED_SHAPE(1, 8, 5, 16),
       "attention: value: wrong shape"},
      {HEED_SHAPE(8, 4, 16), HEED_SHAPE(1, 8, 4, 16), HEED_SHAPE(1, 8, 4, 16),
       "attention: query: wrong number of axes"},
      {HEED_SHAPE(1, 8, 4, 0), HEED_SHAPE(1, 8, 4, 0), HEED_SHAPE(1, 8, 4, 16),
       "at least one element"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    fixture *f = *state;
    const heed_attention_desc desc = attention(f, cases[i].query, cases[i].key, cases[i].value);
    heed_define_attention(f->graph, &desc);
    assert_graph_fails(f, cases[i].part);
    teardown(state);
    setup(state);
  }
}

static void test_attention_refuses_attributes(void **state) {
  for (int i = 0; i < 8; i++) {
    fixture *f = *state;
    heed_attention_desc desc =
        attention(f, HEED_SHAPE(1, 2, 4, 16), HEED_SHAPE(1, 2, 4, 16), HEED_SHAPE(1, 2, 4, 16));
    const uint32_t row = 4;
    const char *part = "";
    if (i == 0) desc.window = true, desc.window_left = -2, part = "invalid window";
    if (i == 1) desc.softcap = -1.0f, part = "invalid softcap";
    if (i == 2)
      desc.norm = HEED_NORM_SPARSE_SOFTMAX, desc.threshold = 1.5f, part = "invalid threshold";
    if (i == 3)
      desc.rows = &row, desc.row_count = 1,
      part = "row out of range (found 4, expected less than 4)";
    if (i == 4) desc.causal = (heed_causal)7, part = "unknown score, norm, causal";
    if (i == 5)
      desc.bias = input(f, "bias", HEED_SHAPE(1, 2, 3, 4)), part = "attention: bias: wrong shape";
    if (i == 6)
      desc.key_padding = input(f, "padding", HEED_SHAPE(1, 4)),
      part = "key_padding: wrong dtype (found F32, expected U8)";
    if (i == 7) desc.scale = __builtin_nanf(""), part = "invalid scale";
    heed_define_attention(f->graph, &desc);
    assert_graph_fails(f, part);
    teardown(state);
    setup(state);
  }
}

static void test_concat_repeats_a_leading_one(void **state) {
  fixture *f = *state;
  const heed_concat_desc desc = {
      sizeof desc, {constant(f, HEED_SHAPE(1, 1, 8)), input(f, "x", HEED_SHAPE(3, 4, 8))}, 2, 1};
  assert_shape(f, heed_define_concat(f->graph, &desc), HEED_SHAPE(3, 5, 8));
}

static void test_patch_embedding_leaves_the_rest_out(void **state) {
  fixture *f = *state;
  const heed_patch_embedding_desc desc = {sizeof desc,
                                          input(f, "x", HEED_SHAPE(2, 3, 37, 50)),
                                          constant(f, HEED_SHAPE(5, 3, 16, 16)),
                                          {0}};
  assert_shape(f, heed_define_patch_embedding(f->graph, &desc), HEED_SHAPE(2, 6, 5));
}

static const heed_node *last_node(const fixture *f) {
  assert_int_equal(f->graph->status, HEED_OK);
  return &f->graph->nodes[f->graph->node_count - 1];
}

/* An input that is absent leaves its slot empty; those after it stay where they are. */
static void test_absent_inputs_leave_holes(void **state) {
  fixture *f = *state;
  const heed_linear_desc linear = {.struct_size = sizeof linear,
                                   .x = input(f, "x", HEED_SHAPE(2, 5, 8)),
                                   .weight = constant(f, HEED_SHAPE(12, 8)),
                                   .residual = input(f, "residual", HEED_SHAPE(2, 5, 12))};
  heed_define_linear(f->graph, &linear);
  const uint32_t *slots = last_node(f)->input;
  assert_int_equal(slots[HEED_LINEAR_INPUT_X], linear.x.id);
  assert_int_equal(slots[HEED_LINEAR_INPUT_WEIGHT], linear.weight.id);
  assert_int_equal(slots[HEED_LINEAR_INPUT_BIAS], 0);
  assert_int_equal(slots[HEED_LINEAR_INPUT_RESIDUAL], linear.residual.id);

  heed_attention_desc attends =
      attention(f, HEED_SHAPE(1, 2, 3, 4), HEED_SHAPE(1, 2, 5, 4), HEED_SHAPE(1, 2, 5, 4));
  attends.bias = input(f, "bias", HEED_SHAPE(1, 1, 3, 5));
  attends.va = constant(f, HEED_SHAPE(4)); /* of another score: ignored */
  heed_define_attention(f->graph, &attends);
  slots = last_node(f)->input;
  assert_int_equal(slots[HEED_ATTENTION_INPUT_QUERY], attends.query.id);
  assert_int_equal(slots[HEED_ATTENTION_INPUT_VALUE], attends.value.id);
  assert_int_equal(slots[HEED_ATTENTION_INPUT_MASK], 0);
  assert_int_equal(slots[HEED_ATTENTION_INPUT_QUERY_PADDING], 0);
  assert_int_equal(slots[HEED_ATTENTION_INPUT_BIAS], attends.bias.id);
  assert_int_equal(slots[HEED_ATTENTION_INPUT_VA], 0);
}

/* Every slot of every op has a name and a value of the desc of its own. */
static void test_slots_of_every_op(void **state) {
  (void)state;
  for (uint32_t kind = 0; kind < HEED_OP_KIND_COUNT; kind++) {
    const heed_op *op = heed_ops[kind];
    assert_in_range(op->input_count, 1, HEED_NODE_INPUTS);
    for (uint32_t i = 0; i < op->input_count; i++) {
      if (!op->inputs[i].name) fail_msg("%s: slot %u has no name", op->name, i);
      assert_true(op->inputs[i].offset + sizeof(heed_value) <= op->desc_size);
      for (uint32_t k = 0; k < i; k++)
        if (op->inputs[k].offset == op->inputs[i].offset)
          fail_msg("%s: slots %u and %u are the same value of the desc", op->name, k, i);
    }
  }
}

static void test_names_are_unique(void **state) {
  fixture *f = *state;
  input(f, "x", HEED_SHAPE(2));
  input(f, "x", HEED_SHAPE(2));
  assert_graph_fails(f, "duplicate name");
}

static void test_views_stay_inside(void **state) {
  fixture *f = *state;
  const heed_value x = input(f, "x", HEED_SHAPE(3, 4));
  const heed_shape row = HEED_SHAPE(4), wide = HEED_SHAPE(5);
  assert_shape(f, heed_define_view(f->graph, x, 8, &row), HEED_SHAPE(4));
  heed_define_view(f->graph, x, 8, &wide);
  assert_graph_fails(f, "view: outside its base");
}

/* What a caller sees of nodes: absent inputs are left out, and a view leads to its base. */
static void test_nodes_are_listed(void **state) {
  fixture *f = *state;
  heed_node_info node;
  const heed_value x = input(f, "x", HEED_SHAPE(2, 3));
  const heed_value weight = constant(f, HEED_SHAPE(4, 3));
  const heed_shape row = HEED_SHAPE(1, 3);
  const heed_value view = heed_define_view(f->graph, x, 3, &row);
  heed_graph_stage(f->graph, 2);
  const heed_linear_desc desc = {.struct_size = sizeof desc, .x = view, .weight = weight};
  const heed_value y = heed_define_linear(f->graph, &desc);
  const heed_activation_desc gelu = {
      .struct_size = sizeof gelu, .x = y, .kind = HEED_ACTIVATION_GELU};
  const heed_value z = heed_define_activation(f->graph, &gelu);
  assert_shape(f, z, HEED_SHAPE(1, 4));
  assert_int_equal(heed_graph_node_count(f->graph), 2);
  assert_int_equal(heed_graph_node_info(f->graph, 0, &node), HEED_OK);
  assert_string_equal(node.op, "linear");
  assert_int_equal(node.stage, 2);
  assert_int_equal(node.input_count, 2);
  assert_int_equal(node.inputs[0].id, view.id);
  assert_int_equal(node.inputs[1].id, weight.id);
  assert_int_equal(node.output_count, 1);
  assert_int_equal(node.outputs[0].id, y.id);
  assert_int_equal(heed_graph_node_info(f->graph, 1, &node), HEED_OK);
  assert_string_equal(node.op, "activation");
  assert_int_equal(node.inputs[0].id, y.id);
  assert_int_equal(heed_graph_node_info(f->graph, 2, &node), HEED_INVALID_ARGUMENT);
  assert_int_equal(heed_graph_view_base(f->graph, view).id, x.id);
  assert_int_equal(heed_graph_view_base(f->graph, y).id, 0);
  assert_int_equal(heed_graph_view_base(f->graph, (heed_value){99}).id, 0);
}

static void test_sizes_that_overflow_are_refused(void **state) {
  fixture *f = *state;
  input(f, "x", HEED_SHAPE(4294967295u, 4294967295u, 4294967295u));
  assert_graph_fails(f, "invalid shape");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_linear_infers_its_shape, setup, teardown),
      cmocka_unit_test_setup_teardown(test_linear_splits_heads, setup, teardown),
      cmocka_unit_test_setup_teardown(test_linear_refuses_a_wrong_weight, setup, teardown),
      cmocka_unit_test_setup_teardown(test_the_first_error_sticks, setup, teardown),
      cmocka_unit_test_setup_teardown(test_struct_size_is_checked, setup, teardown),
      cmocka_unit_test_setup_teardown(test_attention_shapes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_attention_refuses, setup, teardown),
      cmocka_unit_test_setup_teardown(test_attention_refuses_attributes, setup, teardown),
      cmocka_unit_test_setup_teardown(test_concat_repeats_a_leading_one, setup, teardown),
      cmocka_unit_test_setup_teardown(test_patch_embedding_leaves_the_rest_out, setup, teardown),
      cmocka_unit_test_setup_teardown(test_absent_inputs_leave_holes, setup, teardown),
      cmocka_unit_test(test_slots_of_every_op),
      cmocka_unit_test_setup_teardown(test_names_are_unique, setup, teardown),
      cmocka_unit_test_setup_teardown(test_views_stay_inside, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nodes_are_listed, setup, teardown),
      cmocka_unit_test_setup_teardown(test_sizes_that_overflow_are_refused, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
