/* Chains of nodes that the lowering takes for one op, and chains that differ in one thing: both
 * give the numbers of a run in double, which takes every node by itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_run.h"
#include "support/test.h"

#define ERF "Erf d e;Add e,one m;Mul x,m t;Mul t,half y"
#define TANH "Mul i,pi d;Tanh d e;Add e,one m;Mul x,m t;Mul t,half y"
#define CENTRED "ReduceMean:1 x m;Sub x,m c;"
#define NORM "ReduceMean:1 s v;Add v,little w;Sqrt w r;Div c,r y"
#define SCORES "Transpose x u;MatMul x,u s;"

/* "Op[:axis] inputs output; ...", over x [2, 3], its neighbour n = x + 1, and the numbers below. */
typedef struct chain {
  const char *name, *nodes;
} chain;

/* Each of these is one op. */
static const chain spelled[] = {
    {"gelu", "Mul x,root d;" ERF},
    {"gelu by a quotient", "Div x,sqrt2 d;" ERF},
    {"gelu halved first", "Mul x,root d;Erf d e;Add e,one m;Mul x,half h;Mul h,m y"},
    {"gelu by tanh", "Mul x,x s;Mul s,x c;Mul c,cube k;Add x,k i;" TANH},
    {"gelu by tanh, x drawn out", "Mul x,x s;Mul s,cube k;Add k,one w;Mul x,w i;" TANH},
    {"silu", "Sigmoid x e;Mul x,e y"},
    {"quick gelu", "Mul x,quick d;Sigmoid d e;Mul x,e y"},
    {"layer norm", CENTRED "Mul c,c s;" NORM},
    {"layer norm by a power", CENTRED "Pow c,two s;" NORM},
    {"layer norm by a factor",
     CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,little w;Sqrt w r;Reciprocal r q;Mul c,q y"},
    {"layer norm without epsilon", CENTRED "Mul c,c s;ReduceMean:1 s v;Sqrt v r;Div c,r y"},
    {"layer norm, gain and bias", CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,little w;Sqrt w r;"
                                          "Div c,r z;Mul z,vector g;Add g,vector y"},
    {"rms norm", "Mul x,x s;ReduceMean:1 s v;Add v,little w;Sqrt w r;Div x,r y"},
    {"a map", "MatMul x,matrix y"},
    {"a map with a bias", "MatMul x,matrix a;Add a,vector y"},
    {"a bias on the left", "MatMul x,matrix a;Add vector,a y"},
    {"a map less a vector", "MatMul x,matrix a;Sub a,vector y"},
    {"rows scaled", "MatMul x,matrix a;Mul a,vector y"},
    {"rows scaled twice", "MatMul x,matrix a;Mul a,vector b;Mul b,vector y"},
    {"a bias, then scaled", "MatMul x,matrix a;Add a,vector b;Mul b,vector y"},
    {"scaled, then a bias", "MatMul x,matrix a;Mul a,vector b;Add b,vector y"},
    {"over a vector", "MatMul x,matrix a;Div a,vector y"},
    {"attention", SCORES "Mul s,half z;Softmax:1 z w;MatMul w,x y"},
    {"attention with a bias", SCORES "Mul s,half z;Add z,pair b;Softmax:1 b w;MatMul w,x y"},
    {"attention whose rows may be NaN",
     SCORES "Softmax:1 s w;IsNaN w b;Where b,zero,w z;MatMul z,x y"},
    {"a soft cap", SCORES "Div s,two a;Tanh a b;Mul b,two z;Softmax:1 z w;MatMul w,x y"},
    {"a soft cap of two numbers",
     SCORES "Div s,two a;Tanh a b;Mul b,three z;Softmax:1 z w;MatMul w,x y"},
};

/* These are not. */
static const chain others[] = {
    {"erf of another factor", "Mul x,half d;" ERF},
    {"erf of x itself", "Identity x d;" ERF},
    {"erf of another value", "Mul n,root d;" ERF},
    {"tanh in the place of erf", "Mul x,root d;Tanh d e;Add e,one m;Mul x,m t;Mul t,half y"},
    {"two beside erf", "Mul x,root d;Erf d e;Add e,two m;Mul x,m t;Mul t,half y"},
    {"a value beside erf", "Mul x,root d;Erf d e;Add e,x m;Mul x,m t;Mul t,half y"},
    {"a product with erf", "Mul x,root d;Erf d e;Mul e,one m;Mul x,m t;Mul t,half y"},
    {"erf times another value", "Mul x,root d;Erf d e;Add e,one m;Mul n,m t;Mul t,half y"},
    {"erf in a sum", "Mul x,root d;Erf d e;Add e,one m;Add x,m t;Mul t,half y"},
    {"erf with a third", "Mul x,root d;Erf d e;Add e,one m;Mul x,m t;Mul t,third y"},
    {"another factor of the cube", "Mul x,x s;Mul s,x c;Mul c,third k;Add x,k i;" TANH},
    {"a fourth power", "Mul x,x s;Mul s,s c;Mul c,cube k;Add x,k i;" TANH},
    {"a square", "Mul x,x s;Mul s,cube k;Add x,k i;" TANH},
    {"a sum of squares", "Mul x,x s;Add s,x c;Mul c,cube k;Add x,k i;" TANH},
    {"the cube of another value", "Mul n,n s;Mul s,n c;Mul c,cube k;Add x,k i;" TANH},
    {"a square of two values", "Mul x,n s;Mul s,x c;Mul c,cube k;Add x,k i;" TANH},
    {"a square of two values, turned", "Mul n,x s;Mul s,x c;Mul c,cube k;Add x,k i;" TANH},
    {"the cube beside another value", "Mul x,x s;Mul s,x c;Mul c,cube k;Add n,k i;" TANH},
    {"drawn out of two", "Mul x,x s;Mul s,cube k;Add k,two w;Mul x,w i;" TANH},
    {"drawn out, another value", "Mul x,x s;Mul s,cube k;Add k,one w;Mul n,w i;" TANH},
    {"drawn out, another factor", "Mul x,x s;Mul s,third k;Add k,one w;Mul x,w i;" TANH},
    {"drawn out, no square", "Mul x,n s;Mul s,cube k;Add k,one w;Mul x,w i;" TANH},
    {"drawn out, no square, turned", "Mul n,x s;Mul s,cube k;Add k,one w;Mul x,w i;" TANH},
    {"drawn out, the square of another", "Mul n,n s;Mul s,cube k;Add k,one w;Mul x,w i;" TANH},
    {"drawn out, a sum", "Add x,x s;Mul s,cube k;Add k,one w;Mul x,w i;" TANH},
    {"another factor of tanh", "Mul x,x s;Mul s,x c;Mul c,cube k;Add x,k i;Mul i,root d;Tanh d e;"
                               "Add e,one m;Mul x,m t;Mul t,half y"},
    {"sigmoid in the place of tanh", "Mul x,x s;Mul s,x c;Mul c,cube k;Add x,k i;Mul i,pi d;"
                                     "Sigmoid d e;Add e,one m;Mul x,m t;Mul t,half y"},
    {"sigmoid of another value", "Sigmoid n e;Mul x,e y"},
    {"sigmoid of another factor", "Mul x,two d;Sigmoid d e;Mul x,e y"},
    {"quick gelu of another value", "Mul n,quick d;Sigmoid d e;Mul x,e y"},
    {"tanh times x", "Tanh x e;Mul x,e y"},
    {"sigmoid beside x", "Sigmoid x e;Add x,e y"},
    {"layer norm, bias and gain", CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,little w;Sqrt w r;"
                                          "Div c,r z;Add z,vector g;Mul g,vector y"},
    {"layer norm, gain twice", CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,little w;Sqrt w r;"
                                       "Div c,r z;Mul z,vector g;Mul g,vector y"},
    {"a mean over the other axis", "ReduceMean:0 x m;Sub x,m c;Mul c,c s;" NORM},
    {"a variance over the other axis",
     CENTRED "Mul c,c s;ReduceMean:0 s v;Add v,little w;Sqrt w r;Div c,r y"},
    {"twice the mean", "ReduceMean:1 x a;Mul a,two m;Sub x,m c;Mul c,c s;" NORM},
    {"the mean of another value", "ReduceMean:1 n m;Sub x,m c;Mul c,c s;" NORM},
    {"a sum with the mean", "ReduceMean:1 x m;Add x,m c;Mul c,c s;" NORM},
    {"the largest in the place of a mean", "ReduceMax:1 x m;Sub x,m c;Mul c,c s;" NORM},
    {"the variance of another value", CENTRED "Mul n,n s;" NORM},
    {"a product that is no square", CENTRED "Mul c,x s;" NORM},
    {"a sum that is no square",
     CENTRED "Add c,c s;Abs s q;ReduceMean:1 q v;Add v,little w;Sqrt w r;"
             "Div c,r y"},
    {"x over the deviation",
     CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,little w;Sqrt w r;Div x,r y"},
    {"another value over the deviation",
     CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,little w;Sqrt w r;Div n,r y"},
    {"over the variance", CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,little w;Div c,w y"},
    {"a vector beside the variance",
     CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,vector w;Abs w u;Sqrt u r;Div c,r y"},
    {"a product with the variance",
     CENTRED "Mul c,c s;ReduceMean:1 s v;Mul v,two w;Sqrt w r;Div c,r y"},
    {"the deviation over x", CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,two w;Sqrt w r;Div r,n y"},
    {"rms of another value", "Mul n,n s;ReduceMean:1 s v;Add v,little w;Sqrt w r;Div x,r y"},
    {"powers", "Abs x a;Pow a,half p;Pow x,three q;Pow x,one r;Add p,q s;Add s,r y"},
    {"an inverse root", "Abs n a;Pow a,minus p;Add p,x y"},
    {"another power", "Abs x a;Pow a,third y"},
    {"one over a sum", "Abs x a;Add a,one b;Div one,b y"},
    {"two over a sum", "Abs x a;Add a,one b;Div two,b y"},
    {"a vector over a sum", "Abs x a;Add a,one b;Div vector,b y"},
    {"a factor on both sides", "Mul x,two a;Mul n,half b;Mul a,b y"},
    {"zero added", "Add x,zero y"},
    {"a map of doubled values", "Mul x,two a;MatMul a,matrix y"},
    {"a bias twice", "MatMul x,matrix a;Add a,vector b;Add b,vector y"},
    {"a vector less a map", "MatMul x,matrix a;Sub vector,a y"},
    {"a bias, then doubled", "MatMul x,matrix a;Add a,vector b;Mul b,two y"},
    {"doubled, a map, a bias", "Mul x,two a;MatMul a,matrix b;Add b,vector y"},
    {"a vector over a map", "MatMul x,matrix a;Abs a b;Add b,one c;Div vector,c y"},
    {"a map that is read twice", "MatMul x,matrix a;Mul a,vector b;Add a,b y"},
    {"maps of two values", "MatMul x,matrix a;MatMul n,matrix b;Mul a,b y"},
    {"a map of a map", "MatMul x,matrix a;MatMul a,matrix b;Add b,vector y"},
    {"a column on each row", "MatMul x,matrix a;Add a,column y"},
    {"rows scaled by a column", "MatMul x,matrix a;Mul a,column y"},
    {"a norm scaled by a column", CENTRED "Mul c,c s;ReduceMean:1 s v;Add v,little w;Sqrt w r;"
                                          "Div c,r z;Mul z,column y"},
    {"attention of two values", "Transpose n u;MatMul x,u s;Softmax:1 s w;MatMul w,x y"},
    {"softmax over the other axis", SCORES "Mul s,half z;Softmax:0 z w;MatMul w,x y"},
    {"weights doubled", SCORES "Softmax:1 s w;Mul w,two d;MatMul d,x y"},
    {"scores times a vector", SCORES "Mul s,pair z;Softmax:1 z w;MatMul w,x y"},
    {"scores doubled by themselves", SCORES "Mul s,s z;Softmax:1 z w;MatMul w,x y"},
    {"ones where rows are NaN", SCORES "Softmax:1 s w;IsNaN w b;Where b,one,w z;MatMul z,x y"},
    {"another value where rows are NaN",
     SCORES "Softmax:1 s w;IsNaN s b;Where b,zero,w z;MatMul z,x y"},
    {"zeros where rows are no NaN", SCORES "Softmax:1 s w;IsNaN w b;Where b,w,zero z;MatMul z,x y"},
    {"tanh of scores", SCORES "Tanh s z;Softmax:1 z w;MatMul w,x y"},
};

static const struct number {
  const char *name;
  uint32_t rank, dims[2];
  float value[9];
} numbers[] = {
    {"zero", 0, {0}, {0}},
    {"one", 0, {0}, {1}},
    {"two", 0, {0}, {2}},
    {"three", 0, {0}, {3}},
    {"half", 0, {0}, {0.5f}},
    {"third", 0, {0}, {0.33333334f}},
    {"minus", 0, {0}, {-0.5f}},
    {"root", 0, {0}, {0.70710678f}},
    {"sqrt2", 0, {0}, {1.41421356f}},
    {"cube", 0, {0}, {0.044715f}},
    {"pi", 0, {0}, {0.7978845608f}},
    {"quick", 0, {0}, {1.702f}},
    {"little", 0, {0}, {1e-5f}},
    {"vector", 1, {3}, {0.5f, -1.5f, 2}},
    {"pair", 1, {2}, {0.25f, -0.75f}},
    {"column", 2, {2, 1}, {1.25f, -0.5f}},
    {"matrix", 2, {3, 3}, {1, -2, 0.5f, 0.25f, 3, -1, -0.75f, 1.5f, 2}},
};

static void put_nodes(test_message *graph, const char *nodes) {
  char op[24], inputs[24], output[8];
  int used = 0;
  for (const char *at = nodes; sscanf(at, "%23s %23s %7[a-z]%n", op, inputs, output, &used) == 3;) {
    test_message attributes = {0};
    char *axis = strchr(op, ':');
    if (axis) {
      const int64_t of = axis[1] - '0';
      *axis = '\0';
      if (strcmp(op, "Softmax") == 0)
        test_put_integer(&attributes, "axis", of);
      else
        test_put_integers(&attributes, "axes", 1, &of);
    }
    test_put_node(graph, op, output, inputs, output, axis ? &attributes : NULL);
    at += used;
    if (*at == ';') at++;
  }
}

static test_message file_of(const char *nodes) {
  test_message graph = {0};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    const struct number *n = &numbers[i];
    size_t count = 1;
    for (uint32_t k = 0; k < n->rank; k++) count *= n->dims[k];
    test_put_raw(&graph, n->name, 1, n->rank, n->dims, n->value, count * sizeof(float));
  }
  test_put_node(&graph, "Add", "n", "x,one", "n", NULL);
  put_nodes(&graph, nodes);
  test_put_value(&graph, 11, "x");
  test_put_value(&graph, 12, "y");
  return test_onnx_file(&graph);
}

static const char input[] =
    "\x40\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}       "
    "\0\0\0\0\0\0\x80\x3F\0\0\0\0\0\0\x80\x3F\0\0\0\0\0\0\x80\x3F";

static heed_context *context;
static heed_backend *backend;
static heed_error error;

static uint32_t count_ops(const test_message *file) {
  heed_onnx *onnx;
  heed_onnx_lowered *lowered;
  const heed_onnx_desc desc = {
      sizeof desc, {file->size, file->data, NULL, NULL}, "m.onnx", NULL, NULL};
  const heed_onnx_lower_desc how = {.struct_size = sizeof how,
                                    .inputs = {sizeof input - 1, input, NULL, NULL}};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  assert_ok(heed_onnx_lower(onnx, &how, &lowered, &error));
  const uint32_t found = heed_graph_node_count(heed_onnx_lowered_graph(lowered));
  heed_onnx_lowered_destroy(lowered);
  heed_onnx_destroy(onnx);
  return found;
}

/* Returns how many ops the chain became. */
static uint32_t try_chain(const chain *c) {
  static const float x[6] = {0.7f, -1.3f, 2.1f, -0.4f, 1.9f, 0.25f};
  float reference[6], found[6];
  test_message file = file_of(c->nodes);
  test_onnx_job job = {context, NULL, x, "y", 6, &error};
  const heed_status first = test_onnx_run(&job, &file, reference, NULL);
  if (first != HEED_OK) fail_msg("%s: %s", c->name, error.message);
  job.backend = backend;
  const heed_status second = test_onnx_run(&job, &file, found, NULL);
  if (second != HEED_OK) fail_msg("%s: %s", c->name, error.message);
  for (int k = 0; k < 6; k++)
    if (!(fabsf(found[k] - reference[k]) <= 1e-5f * fmaxf(1, fabsf(reference[k]))))
      fail_msg("%s: y[%d]: found %g, expected %g", c->name, k, (double)found[k],
               (double)reference[k]);
  const uint32_t count = count_ops(&file);
  free(file.data);
  return count;
}

static void test_spelled(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
    const uint32_t count = try_chain(&spelled[i]);
    if (count != 1) fail_msg("%s: found %u ops, expected one", spelled[i].name, count);
  }
}

static void test_others(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const uint32_t count = try_chain(&others[i]);
    if (count == 1) fail_msg("%s: found one op, expected more", others[i].name);
  }
}

static void test_memory(void **state) {
  (void)state;
  static const float x[6] = {0.7f, -1.3f, 2.1f, -0.4f, 1.9f, 0.25f};
  for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++) {
    test_message file = file_of(spelled[i].nodes);
    assert_true(test_onnx_fail_each(&file, x, true) > 2);
    free(file.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_spelled), cmocka_unit_test(test_others),
                                     cmocka_unit_test(test_memory)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK ||
      heed_cpu_backend_create(context, NULL, &backend, &error) != HEED_OK)
    return 1;
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return failed;
}
