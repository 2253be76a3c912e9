/* Functions of ONNX files made in memory. See onnx_functions.h. */
#include "support/onnx_functions.h"

#include <stdlib.h>
#include <string.h>

static const char *const own = "my";

/* FunctionProto up to its nodes: comma-separated parameters. */
test_message test_onnx_function(const char *name, const char *inputs, const char *outputs) {
  test_message function = {0};
  test_put_text(&function, 1, name);
  test_put_text(&function, 10, own);
  for (uint32_t field = 4; field < 6; field++)
    for (const char *at = field == 4 ? inputs : outputs; *at;) {
      const size_t length = strcspn(at, ",");
      test_put_bytes(&function, field, at, length);
      at += length + (at[length] == ',');
    }
  return function;
}

void test_put_set(test_message *function, uint64_t version) {
  test_message set = {0};
  test_put_number(&set, 2, version);
  test_put_message(function, 9, &set);
}

/* An attribute that stands for one of the call. */
void test_put_reference(test_message *attributes, const char *name, const char *refers) {
  test_message attribute = {0};
  test_put_text(&attribute, 1, name);
  test_put_number(&attribute, 20, 1);
  test_put_text(&attribute, 21, refers);
  test_put_message(attributes, 5, &attribute);
}

/* The default of an attribute of a function. */
static void put_default(test_message *function, const char *name, float value) {
  test_message attributes = {0};
  test_put_float(&attributes, name, value);
  attributes.data[0] = 11 << 3 | 2;
  function->data = realloc(function->data, function->size + attributes.size);
  memcpy(function->data + function->size, attributes.data, attributes.size);
  function->size += attributes.size;
  free(attributes.data);
}

/* A call as a node of the graph (field 1) or of a function (7). */
void test_put_call(test_message *to, uint32_t field, const char *function, const char *inputs,
                   const char *outputs, test_message *attributes) {
  test_message none = {0}, *all = attributes ? attributes : &none;
  test_put_text(all, 7, own);
  test_put_node_in(to, field, function, "", inputs, outputs, all);
}

/* gate(a, b): e = elu(a) with alpha of the call, or 2; out = e b; and a itself. */
static test_message gate(void) {
  test_message function = test_onnx_function("gate", "a,b", "out,a"), elu = {0};
  test_put_reference(&elu, "alpha", "alpha");
  test_put_node_in(&function, 7, "Elu", "elu", "a", "e", &elu);
  test_put_node_in(&function, 7, "Mul", "mul", "e,b", "out", NULL);
  put_default(&function, "alpha", 2);
  test_put_set(&function, 17);
  return function;
}

/* twice(a): gate(gate(a, a), a), the inner one with alpha `beta` of the call; and a name of gate's
 * for a value of its own. */
static test_message twice(void) {
  test_message function = test_onnx_function("twice", "a", "result"), beta = {0};
  test_put_reference(&beta, "alpha", "beta");
  test_put_call(&function, 7, "gate", "a,a", "e", &beta);
  test_put_call(&function, 7, "gate", "e,a", "result,unused", NULL);
  return function;
}

/* choose(c, a): a + a or, where c is false, 3 a - a; the branches read a value of the body. */
static test_message choose(void) {
  test_message function = test_onnx_function("choose", "c,a", "out"), branches[2] = {{0}, {0}},
               of = {0};
  test_put_node_in(&function, 7, "Add", "add", "a,a", "e", NULL);
  test_put_node(&branches[0], "Identity", "i", "e", "t", NULL);
  test_put_node(&branches[1], "Add", "s", "e,a", "m", NULL);
  test_put_node(&branches[1], "Sub", "d", "m,a", "t", NULL);
  for (int b = 0; b < 2; b++) {
    test_put_value(&branches[b], 12, "t");
    test_put_graph(&of, b ? "else_branch" : "then_branch", &branches[b]);
  }
  test_put_node_in(&function, 7, "If", "if", "c", "out", &of);
  return function;
}

void test_put_functions(test_message *file) {
  test_message functions[] = {gate(), twice(), choose()};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    test_put_message(file, 25, &functions[i]);
}
