/* Nodes of ONNX graphs on heed's kernels, beside the same graph in double. */
#include <stdio.h>
#include <string.h>

#include "support/onnx_pair.h"

static void put_list(test_message *attributes, const char *name, const char *items) {
  test_message attribute = {0};
  test_put_text(&attribute, 1, name);
  for (; *items; items += strcspn(items, ",") + (items[strcspn(items, ",")] == ','))
    test_put_number(&attribute, 8, (uint64_t)strtoll(items, NULL, 10));
  test_put_number(&attribute, 20, 7);
  test_put_message(attributes, 5, &attribute);
}

/* a: relu of p, or its gelu by Erf. */
static void put_active(test_message *graph, bool gelu) {
  static const float root = 1.41421356f, one = 1, half = 0.5f;
  if (!gelu) {
    test_put_node(graph, "Relu", "active", "p", "a", NULL);
    return;
  }
  test_put_small(graph, "root", 1, 0, &root, sizeof root);
  test_put_small(graph, "one", 1, 0, &one, sizeof one);
  test_put_small(graph, "half", 1, 0, &half, sizeof half);
  test_put_node(graph, "Div", "divided", "p,root", "d", NULL);
  test_put_node(graph, "Erf", "erf", "d", "e", NULL);
  test_put_node(graph, "Add", "more", "e,one", "m", NULL);
  test_put_node(graph, "Mul", "times", "p,m", "t", NULL);
  test_put_node(graph, "Mul", "halved", "t,half", "a", NULL);
}

/* A product of which one row is read: made of that row alone, as of x [2, 3] the second. */
static void check_rows_read(bool gelu) {
  static const float weight[] = {1, -2, 3, 0.5f, -1, 4};
  static const int64_t second = 1;
  test_message graph = {0}, tensor = {0};
  test_put_number(&tensor, 1, 3);
  test_put_number(&tensor, 1, 2);
  test_put_number(&tensor, 2, 1);
  test_put_text(&tensor, 8, "w");
  test_put_bytes(&tensor, 9, weight, sizeof weight);
  test_put_message(&graph, 5, &tensor);
  test_put_small(&graph, "i", 7, 0, &second, sizeof second);
  test_put_node(&graph, "MatMul", "product", "x,w", "p", NULL);
  put_active(&graph, gelu);
  test_put_node(&graph, "Gather", "row", "a,i", "y", NULL);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  test_message file = test_onnx_file(&graph);
  heed_onnx *onnx;
  heed_onnx_lowered *lowered;
  heed_node_info node;
  heed_value_info made;
  const heed_source source = {sizeof input - 1, input, NULL, NULL};
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  const heed_onnx_lower_desc how = {.struct_size = sizeof how, .inputs = source};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  assert_ok(heed_onnx_lower(onnx, &how, &lowered, &error));
  heed_graph *ops = heed_onnx_lowered_graph(lowered);
  for (uint32_t n = 0; n < heed_graph_node_count(ops); n++) {
    assert_ok(heed_graph_node_info(ops, n, &node));
    assert_ok(heed_graph_value_info(ops, node.outputs[0], &made));
    assert_true(heed_shape_count(&made.shape) <= 3);
  }
  heed_onnx_lowered_destroy(lowered);
  run kernels = run_graph(onnx, source, backend), reference = run_graph(onnx, source, NULL);
  assert_int_equal(compare(kernels.tensors, reference.tensors, 1e-6, true), 1);
  close_run(&kernels);
  close_run(&reference);
  heed_onnx_destroy(onnx);
  free(file.data);
}

static void test_rows_read(void **state) {
  (void)state;
  check_rows_read(false);
  check_rows_read(true);
}

/* y of x [2, 3] and image [2, 4, 5, 7, 3], which is no constant, by a node with a kernel of these
 * axes. */
static void convolve(uint32_t axes, const uint32_t *kernel, const char *strides, const char *pads,
                     const char *dilations, int64_t group) {
  static const uint32_t image[] = {2, 4, 5, 7, 3};
  test_message graph = {0}, attributes = {0};
  test_put_floats(&graph, "i", axes + 2, image);
  test_put_floats(&graph, "w", axes + 2, kernel);
  test_put_floats(&graph, "b", 1, kernel);
  test_put_node(&graph, "ReduceSum", "sum", "x", "t", NULL);
  if (axes == 1) {
    static const int64_t shape[] = {1, 1, 1};
    test_put_small(&graph, "shape", 7, 3, shape, sizeof shape);
    test_put_node(&graph, "Reshape", "flat", "t,shape", "t1", NULL);
  }
  test_put_node(&graph, "Sin", "sin", axes == 1 ? "t1" : "t", "u", NULL);
  test_put_node(&graph, "Mul", "image", "i,u", "image", NULL);
  put_list(&attributes, "strides", strides);
  put_list(&attributes, "pads", pads);
  put_list(&attributes, "dilations", dilations);
  test_put_integer(&attributes, "group", group);
  test_put_node(&graph, "Conv", "one", "image,w,b", "y", &attributes);
  check_rounded(&graph, "y", 2e-5, 0);
}

static void test_convolutions(void **state) {
  (void)state;
  convolve(2, (const uint32_t[]){3, 4, 3, 3}, "1,1", "1,1,1,1", "1,1", 1);
  convolve(2, (const uint32_t[]){3, 4, 3, 2}, "1,1", "2,0,1,3", "1,2", 1);
  convolve(2, (const uint32_t[]){3, 4, 2, 3}, "1,1", "0,0,0,0", "3,1", 1);
  convolve(2, (const uint32_t[]){3, 4, 3, 1}, "1,1", "0,1,0,1", "2,1", 1);
  convolve(2, (const uint32_t[]){3, 4, 5, 7}, "1,1", "0,0,0,0", "1,1", 1);
  convolve(2, (const uint32_t[]){3, 4, 1, 1}, "2,3", "0,0,0,0", "1,1", 1);
  convolve(2, (const uint32_t[]){2, 4, 2, 3}, "2,1", "0,2,1,0", "2,3", 1);
  convolve(2, (const uint32_t[]){4, 1, 3, 2}, "1,2", "1,0,0,1", "1,1", 4);
  convolve(2, (const uint32_t[]){6, 2, 2, 2}, "1,1", "0,0,0,0", "1,1", 2);
  convolve(1, (const uint32_t[]){3, 4, 3}, "2", "1,0", "1", 1);
}

/* Of three axes: tubelets, planes that overlap, that are apart, of groups and of each channel. */
static void test_volumes(void **state) {
  (void)state;
  convolve(3, (const uint32_t[]){3, 4, 2, 3, 3}, "2,3,3", "0,0,0,0,0,0", "1,1,1", 1);
  convolve(3, (const uint32_t[]){3, 4, 3, 3, 2}, "1,1,1", "1,1,1,1,1,0", "1,1,1", 1);
  convolve(3, (const uint32_t[]){2, 4, 2, 2, 1}, "2,1,2", "0,2,0,1,0,1", "2,3,1", 1);
  convolve(3, (const uint32_t[]){3, 4, 1, 3, 3}, "1,2,1", "0,1,1,0,1,1", "1,1,1", 1);
  convolve(3, (const uint32_t[]){6, 2, 2, 2, 2}, "1,1,1", "0,0,0,0,0,0", "1,1,1", 2);
  convolve(3, (const uint32_t[]){4, 1, 3, 3, 3}, "1,2,1", "1,1,1,1,1,1", "1,1,1", 4);
  convolve(3, (const uint32_t[]){8, 1, 2, 2, 1}, "2,1,1", "1,0,0,0,0,0", "2,1,1", 4);
}

/* Parts of x with steps, also backwards, and x between constants. */
static void test_parts(void **state) {
  static const struct {
    int64_t first[2], end[2], step[2];
  } parts[] = {{{0, 0}, {2, 3}, {1, 2}},
               {{-1, 2}, {INT64_MIN, INT64_MIN}, {-1, -2}},
               {{0, -1}, {INT64_MAX, -3}, {2, -1}},
               {{1, 0}, {2, 3}, {INT64_MAX, INT64_MAX}}};
  static const int64_t pads[] = {1, 0, 2, 1};
  (void)state;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    static const int64_t axes[] = {0, 1};
    test_message graph = {0};
    test_put_small(&graph, "first", 7, 2, parts[i].first, sizeof parts[i].first);
    test_put_small(&graph, "end", 7, 2, parts[i].end, sizeof parts[i].end);
    test_put_small(&graph, "axes", 7, 2, axes, sizeof axes);
    test_put_small(&graph, "step", 7, 2, parts[i].step, sizeof parts[i].step);
    test_put_node(&graph, "Sin", "sin", "x", "s", NULL);
    test_put_node(&graph, "Slice", "part", "s,first,end,axes,step", "p", NULL);
    test_put_node(&graph, "Abs", "abs", "p", "y", NULL);
    check_rounded(&graph, "y", 1e-6, 0);
  }
  test_message graph = {0};
  static const float with = 0.25f;
  test_put_small(&graph, "pads", 7, 4, pads, sizeof pads);
  test_put_small(&graph, "with", 1, 0, &with, sizeof with);
  test_put_node(&graph, "Sin", "sin", "x", "s", NULL);
  test_put_node(&graph, "Pad", "pad", "s,pads,with", "y", NULL);
  check_rounded(&graph, "y", 1e-6, 0);
}

/* Activations on kernels beside the same ones in double, of attributes that are given and not. */
static void test_activations(void **state) {
  static const struct {
    const char *op, *inputs, *attributes; /* comma-separated, each 0.75 */
  } nodes[] = {{"LeakyRelu", "x", ""},
               {"LeakyRelu", "x", "alpha"},
               {"Elu", "x", ""},
               {"Elu", "x", "alpha"},
               {"Selu", "x", ""},
               {"Selu", "x", "alpha,gamma"},
               {"Celu", "x", ""},
               {"Celu", "x", "alpha"},
               {"PRelu", "x,slope", ""},
               {"PRelu", "x,slopes", ""},
               {"HardSigmoid", "x", ""},
               {"HardSigmoid", "x", "alpha,beta"},
               {"HardSwish", "x", ""},
               {"Softsign", "x", ""},
               {"ThresholdedRelu", "x", ""},
               {"ThresholdedRelu", "x", "alpha"},
               {"Softplus", "x", ""}};
  static const float slopes[] = {0.25f, -2, 3};
  (void)state;
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    test_message graph = {0}, attributes = {0};
    char names[16];
    snprintf(names, sizeof names, "%s", nodes[i].attributes);
    for (char *name = strtok(names, ","); name; name = strtok(NULL, ","))
      test_put_float(&attributes, name, 0.75f);
    test_put_small(&graph, "slope", 1, 0, slopes, sizeof *slopes);
    test_put_small(&graph, "slopes", 1, 3, slopes, sizeof slopes);
    test_put_node(&graph, nodes[i].op, "one", nodes[i].inputs, "y", &attributes);
    check_rounded(&graph, "y", 2e-6, 0);
  }
}

/* What the nodes make, as floats, beside the same in double. */
static void check_floats(test_message *graph, const char *from) {
  test_message cast = {0};
  test_put_integer(&cast, "to", 1);
  test_put_node(graph, "Cast", "floats", from, "y", &cast);
  check_rounded(graph, "y", 2e-5, 0);
}

/* Comparisons and truth values of computed values, and what chooses by them. */
static void test_truth(void **state) {
  static const char *const comparisons[] = {"Equal", "Less", "LessOrEqual", "Greater",
                                            "GreaterOrEqual"},
                           *const both[] = {"And", "Or", "Xor"};
  static const float half = 0.25f;
  (void)state;
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
    test_message graph = {0}, between = {0};
    test_put_small(&graph, "h", 1, 0, &half, sizeof half);
    test_put_node(&graph, comparisons[i], "one", "x,h", "b", NULL);
    check_floats(&graph, "b");
    test_put_node(&between, "ReduceMax", "most", "x", "m", NULL);
    test_put_node(&between, comparisons[i], "one", "x,m", "b", NULL);
    test_put_node(&between, "Neg", "minus", "x", "n", NULL);
    test_put_node(&between, "Where", "choose", "b,x,n", "y", NULL);
    check_rounded(&between, "y", 2e-5, 0);
  }
  for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
    test_message graph = {0}, cast = {0};
    test_put_small(&graph, "h", 1, 0, &half, sizeof half);
    test_put_integer(&cast, "to", 9);
    test_put_node(&graph, "Cast", "any", "x", "a", &cast);
    test_put_node(&graph, "Greater", "more", "x,h", "g", NULL);
    test_put_node(&graph, "Not", "less", "g", "l", NULL);
    test_put_node(&graph, both[i], "two", "a,l", "b", NULL);
    check_floats(&graph, "b");
  }
}

/* The index of the largest entry, what it takes, and casts. */
static void test_indices(void **state) {
  static const int64_t many[] = {2, 0, 1, 1, 2, 0, 2, -3, 1, 0, 0, 2, 1, 0};
  (void)state;
  for (int least = 0; least < 2; least++)
    for (int axis = 0; axis < 2; axis++)
      for (int keep = 0; keep < 2; keep++) {
        test_message graph = {0}, where = {0};
        test_put_integer(&where, "axis", axis - (least ? 2 : 0));
        test_put_integer(&where, "keepdims", keep);
        test_put_integer(&where, "select_last_index", axis);
        test_put_node(&graph, least ? "ArgMin" : "ArgMax", "index", "x", "i", &where);
        check_floats(&graph, "i");
      }
  test_message rows = {0}, elements = {0}, known = {0}, cut = {0}, across = {0}, down = {0},
               whole = {0}, axis = {0};
  /* the entry of each row where it is largest: [2, 1] of an axis of 3 */
  test_put_integer(&across, "axis", 1);
  test_put_node(&rows, "ArgMax", "index", "x", "i", &across);
  test_put_integer(&down, "axis", 1);
  test_put_node(&rows, "GatherElements", "take", "x,i", "y", &down);
  check_rounded(&rows, "y", 0, 0);
  test_put_integer(&axis, "axis", 1);
  test_put_node(&elements, "ArgMax", "index", "x", "i", NULL); /* [1, 3], below 2 */
  test_put_node(&elements, "Gather", "take", "x,i", "y", &axis);
  check_rounded(&elements, "y", 0, 0);
  /* more parts than are joined */
  test_message take = {0};
  test_put_small(&known, "p", 7, 14, many, sizeof many);
  test_put_integer(&take, "axis", 1);
  test_put_node(&known, "Gather", "take", "x,p", "y", &take);
  check_rounded(&known, "y", 0, 0);
  test_put_integer(&whole, "to", 7);
  test_put_node(&cut, "Exp", "exp", "x", "e", NULL);
  test_put_node(&cut, "Neg", "minus", "e", "n", NULL);
  test_put_node(&cut, "Cast", "whole", "n", "i", &whole);
  check_floats(&cut, "i");
}

/* y and z of a graph of x, in double, are the same numbers. */
static void check_same(test_message *graph) {
  heed_onnx *onnx;
  const heed_source source = {sizeof input - 1, input, NULL, NULL};
  test_put_value(graph, 11, "x");
  test_put_value(graph, 12, "y");
  test_put_value(graph, 12, "z");
  test_message file = test_onnx_file(graph);
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  run reference = run_graph(onnx, source, NULL);
  const heed_safetensors_tensor *y = heed_safetensors_find(reference.tensors, "y"),
                                *z = heed_safetensors_find(reference.tensors, "z");
  float found[6], wanted[6];
  assert_true(heed_shape_equal(&y->shape, &z->shape));
  assert_ok(heed_safetensors_read(reference.tensors, y, 0, y->count, found, &error));
  assert_ok(heed_safetensors_read(reference.tensors, z, 0, z->count, wanted, &error));
  assert_memory_equal(found, wanted, (size_t)y->count * sizeof *found);
  close_run(&reference);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* Entries by tuples of indices, beside what spells the same. */
static void test_tuples(void **state) {
  (void)state;
  static const uint32_t pair[] = {2, 2}, column[] = {2, 1}, one[] = {1, 1}, row[] = {1, 3},
                        none[] = {0, 1}, empty[] = {0, 3};
  static const int64_t places[] = {0, 2, 1, -3}, rows[] = {-1, 0}, flat[] = {2, 3}, first[] = {0},
                       long_list[] = {6}, last[] = {2, 0};
  static const float update[] = {7, 8, 9};
  test_message some = {0}, known = {0}, batch = {0}, set = {0}, add = {0}, items = {0}, join = {0},
               of = {0}, sum = {0}, under = {0}, nothing = {0};
  test_put_raw(&some, "p", 7, 2, pair, places, sizeof places);
  test_put_small(&some, "f", 7, 2, flat, sizeof flat);
  test_put_small(&some, "l", 7, 1, long_list, sizeof long_list);
  test_put_node(&some, "GatherND", "take", "x,p", "y", NULL); /* x[0][2], x[1][0] */
  test_put_node(&some, "Reshape", "list", "x,l", "a", NULL);
  test_put_node(&some, "Gather", "same", "a,f", "z", NULL);
  check_same(&some);
  test_put_raw(&known, "p", 7, 2, pair, places, sizeof places);
  test_put_raw(&known, "r", 7, 2, column, rows, sizeof rows);
  test_put_node(&known, "GatherND", "take", "x,p", "y", NULL);
  test_put_node(&known, "GatherND", "rows", "x,r", "z", NULL);
  check_rounded(&known, "yz", 0, 0);
  /* of each item of a batch one: x[0][2], x[1][0] again */
  test_put_integer(&items, "batch_dims", 1);
  test_put_raw(&batch, "p", 7, 2, pair, places, sizeof places);
  test_put_raw(&batch, "r", 7, 2, column, last, sizeof last);
  test_put_node(&batch, "GatherND", "take", "x,r", "y", &items);
  test_put_node(&batch, "GatherND", "same", "x,p", "z", NULL);
  check_same(&batch);
  /* the second row is the update; and the first has it added */
  test_put_raw(&set, "r", 7, 2, one, rows, sizeof *rows);
  test_put_raw(&set, "u", 1, 2, row, update, sizeof update);
  test_put_raw(&set, "o", 7, 1, one, first, sizeof first);
  test_put_node(&set, "ScatterND", "put", "x,r,u", "y", NULL);
  test_put_node(&set, "Gather", "upper", "x,o", "a", NULL);
  test_put_integer(&join, "axis", 0);
  test_put_node(&set, "Concat", "both", "a,u", "z", &join);
  check_same(&set);
  test_put_raw(&nothing, "r", 7, 2, none, rows, 0);
  test_put_raw(&nothing, "u", 1, 2, empty, update, 0);
  test_put_node(&nothing, "ScatterND", "put", "x,r,u", "y", NULL);
  test_put_node(&nothing, "Identity", "same", "x", "z", NULL);
  check_same(&nothing);
  test_put_raw(&add, "r", 7, 2, one, first, sizeof first);
  test_put_raw(&add, "u", 1, 2, row, update, sizeof update);
  test_put_raw(&add, "n", 1, 2, row, (const float[]){0, 0, 0}, sizeof update);
  test_put_text(&of, 1, "reduction");
  test_put_text(&of, 4, "add");
  test_put_number(&of, 20, 3);
  test_put_message(&sum, 5, &of);
  test_put_node(&add, "ScatterND", "put", "x,r,u", "y", &sum);
  test_put_integer(&under, "axis", 0);
  test_put_node(&add, "Concat", "below", "u,n", "b", &under);
  test_put_node(&add, "Add", "more", "x,b", "z", NULL);
  check_same(&add);
}

/* Updates of a computed value, which replace its entries or are joined with them. */
static void test_scatter(void **state) {
  static const uint32_t pairs[] = {3, 2}, rows[] = {2, 1}, three[] = {3}, two[] = {2, 3};
  static const int64_t places[] = {0, 2, 1, -3, 0, 1}, again[] = {0, 2, 1, 0, 0, -1},
                       row[] = {-1, 0};
  static const float update[] = {7, -8, 0.5f, 2, -0.25f, 4};
  static const char *const how[] = {"none", "add", "mul", "max", "min"};
  (void)state;
  for (size_t i = 0; i < sizeof how / sizeof *how; i++)
    for (int whole = 0; whole < 3; whole++) {
      test_message graph = {0}, attributes = {0};
      if (whole == 2 && i > 0) continue; /* joined ones of one entry have no kernel */
      test_put_raw(&graph, "p", 7, 2, whole == 1 ? rows : pairs,
                   whole == 1 ? row
                   : whole    ? again
                              : places,
                   (whole == 1 ? 2 : 6) * sizeof *places);
      test_put_raw(&graph, "u", 1, whole == 1 ? 2 : 1, whole == 1 ? two : three, update,
                   (whole == 1 ? 6 : 3) * sizeof *update);
      test_put_node(&graph, "Sin", "sin", "x", "s", NULL);
      test_put_word(&attributes, "reduction", how[i]);
      test_put_node(&graph, "ScatterND", "put", "s,p,u", "y", &attributes);
      check_rounded(&graph, "y", 1e-6, 0);
    }
}

/* The numbers of y, on kernels and in double. */
static void check_numbers(test_message *graph, uint32_t count, const float *wanted) {
  heed_onnx *onnx;
  const heed_source source = {sizeof input - 1, input, NULL, NULL};
  test_put_value(graph, 11, "x");
  test_put_value(graph, 12, "y");
  test_message file = test_onnx_file(graph);
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  for (int kernels = 0; kernels < 2; kernels++) {
    float found[24];
    run made = run_graph(onnx, source, kernels ? backend : NULL);
    const heed_safetensors_tensor *y = heed_safetensors_find(made.tensors, "y");
    assert_int_equal(y->count, count);
    assert_ok(heed_safetensors_read(made.tensors, y, 0, count, found, &error));
    for (uint32_t i = 0; i < count; i++)
      if (found[i] != wanted[i])
        fail_msg("%u: found %g, expected %g", i, (double)found[i], (double)wanted[i]);
    close_run(&made);
  }
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* x [[1, 2, -0.5], [0.75, 0.25, 0]] side by side. */
static void test_tile(void **state) {
  static const int64_t both[] = {2, 2}, down[] = {2, 1}, once[] = {1, 1};
  static const float wanted[] = {1, 2, -0.5f, 1, 2, -0.5f, 0.75f, 0.25f, 0, 0.75f, 0.25f, 0,
                                 1, 2, -0.5f, 1, 2, -0.5f, 0.75f, 0.25f, 0, 0.75f, 0.25f, 0},
                     rows[] = {1, 2, -0.5f, 0.75f, 0.25f, 0, 1, 2, -0.5f, 0.75f, 0.25f, 0};
  static const struct {
    const int64_t *times;
    uint32_t count;
    const float *wanted;
  } cases[] = {{both, 24, wanted}, {down, 12, rows}, {once, 6, rows}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0};
    test_put_small(&graph, "n", 7, 2, cases[i].times, 2 * sizeof *both);
    test_put_node(&graph, "Tile", "tile", "x,n", "y", NULL);
    check_numbers(&graph, cases[i].count, cases[i].wanted);
  }
}

/* Squares of 2 x 2 of two channels, of the numbers from 0 to 7. */
static void test_blocks(void **state) {
  static const uint32_t deep[] = {1, 8, 1, 1}, wide[] = {1, 2, 2, 2};
  static const float numbers[] = {0, 1, 2, 3, 4, 5, 6, 7}, zero = 0;
  static const struct {
    const char *op, *mode;
    const uint32_t *dims;
    float wanted[8];
  } cases[] = {{"DepthToSpace", NULL, deep, {0, 2, 4, 6, 1, 3, 5, 7}},
               {"DepthToSpace", "DCR", deep, {0, 2, 4, 6, 1, 3, 5, 7}},
               {"DepthToSpace", "CRD", deep, {0, 1, 2, 3, 4, 5, 6, 7}},
               {"SpaceToDepth", NULL, wide, {0, 4, 1, 5, 2, 6, 3, 7}}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0}, attributes = {0};
    test_put_raw(&graph, "n", 1, 4, cases[i].dims, numbers, sizeof numbers);
    test_put_small(&graph, "zero", 1, 0, &zero, sizeof zero);
    test_put_node(&graph, "ReduceSum", "sum", "x", "s", NULL);
    test_put_node(&graph, "Mul", "nothing", "s,zero", "z", NULL);
    test_put_node(&graph, "Add", "image", "n,z", "i", NULL); /* which is no constant */
    test_put_integer(&attributes, "blocksize", 2);
    if (cases[i].mode) test_put_word(&attributes, "mode", cases[i].mode);
    test_put_node(&graph, cases[i].op, "blocks", "i", "y", &attributes);
    check_numbers(&graph, 8, cases[i].wanted);
  }
}

/* The first of the largest entries of each row or column, also of equal ones. */
static void test_hardmax(void **state) {
  static const struct {
    const char *before, *from;
    int64_t axis;
    float wanted[6];
  } cases[] = {{"Abs", "x", -1, {0, 1, 0, 1, 0, 0}},
               {"Abs", "x", 0, {1, 1, 0, 0, 0, 1}},
               {"Sign", "b", 1, {1, 0, 0, 1, 0, 0}},
               {"Neg", "b", -1, {0, 0, 1, 0, 0, 1}}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0}, axis = {0};
    test_put_integer(&axis, "axis", cases[i].axis);
    test_put_node(&graph, cases[i].before, "before", "x", "b", NULL);
    test_put_node(&graph, "Hardmax", "most", cases[i].from, "y", &axis);
    check_numbers(&graph, 6, cases[i].wanted);
  }
}

/* Sums of products by equations: of constants, of a value by itself, and an attention. */
static void test_einsum(void **state) {
  static const struct {
    const char *equation, *inputs;
  } cases[] = {{"ij->ji", "x"},
               {"ij", "x"},
               {"ij->i", "x"},
               {"ij->", "x"},
               {"ij,jk->ik", "x,w"},
               {"ij,jk->ki", "x,w"},
               {"ij,ij->ij", "x,x"},
               {"ij,kj->ik", "x,x"},
               {"ij,ij", "x,x"},
               {"ij,kl->lijk", "x,x"},
               {"i...,k...->...ki", "x,x"},
               {"...j,jk->...k", "x,w"},
               {"ij,kj->k", "x,x"},
               {"jk,ij->ik", "w,x"},
               {" i j , j k -> i k ", "x,w"}};
  static const uint32_t w[] = {3, 4};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message graph = {0}, attributes = {0};
    test_put_floats(&graph, "w", 2, w);
    test_put_word(&attributes, "equation", cases[i].equation);
    test_put_node(&graph, "Einsum", "sum", cases[i].inputs, "y", &attributes);
    check_rounded(&graph, "y", 2e-5, 0);
  }
  /* as products, two of them around a softmax are an attention with a map */
  test_message graph = {0}, scores = {0}, sum = {0};
  test_put_word(&scores, "equation", "ij,kj->ik");
  test_put_word(&sum, "equation", "ik,kd->id");
  test_put_node(&graph, "Einsum", "scores", "x,x", "s", &scores);
  test_put_node(&graph, "Softmax", "weights", "s", "w", NULL);
  test_put_node(&graph, "Einsum", "sum", "w,x", "y", &sum);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  check_made(test_onnx_file(&graph), 2);
}

/* A computed image [2, 4, 5, 7] made larger along one axis and smaller along another. */
static void test_resize(void **state) {
  static const char *const modes[] = {"nearest", "linear", "cubic"}, *const places[] = {
                                                                         "half_pixel",
                                                                         "align_corners",
                                                                         "asymmetric",
                                                                         "pytorch_half_pixel"};
  static const uint32_t image[] = {2, 4, 5, 7};
  static const int64_t size[] = {2, 4, 11, 3};
  (void)state;
  for (size_t m = 0; m < 3; m++)
    for (size_t p = 0; p < 4; p++) {
      test_message graph = {0}, attributes = {0};
      test_put_floats(&graph, "i", 4, image);
      test_put_small(&graph, "size", 7, 4, size, sizeof size);
      test_put_node(&graph, "ReduceSum", "sum", "x", "t", NULL);
      test_put_node(&graph, "Sin", "sin", "t", "u", NULL);
      test_put_node(&graph, "Mul", "image", "i,u", "v", NULL);
      test_put_node(&graph, "Sin", "waves", "v", "image", NULL);
      test_put_word(&attributes, "mode", modes[m]);
      test_put_word(&attributes, "coordinate_transformation_mode", places[p]);
      if (p == 0) test_put_integer(&attributes, "antialias", m > 0);
      test_put_node(&graph, "Resize", "resize", "image,,,size", "y", &attributes);
      check_rounded(&graph, "y", 2e-5, 0);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_read),   cmocka_unit_test(test_convolutions),
      cmocka_unit_test(test_volumes),     cmocka_unit_test(test_scatter),
      cmocka_unit_test(test_tile),        cmocka_unit_test(test_hardmax),
      cmocka_unit_test(test_blocks),      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_activations), cmocka_unit_test(test_truth),
      cmocka_unit_test(test_indices),     cmocka_unit_test(test_tuples),
      cmocka_unit_test(test_einsum),      cmocka_unit_test(test_resize)};
  return cmocka_run_group_tests(tests, open_backend, close_backend);
}
