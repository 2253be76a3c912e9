/* ONNX graphs of 1 to 5 random nodes, the same of a seed everywhere. A node is kept where the
 * evaluator in double takes it, so the shapes of what follows are known. */
#ifndef HEED_TESTS_GRAPHS_RANDOM_GRAPH_H
#define HEED_TESTS_GRAPHS_RANDOM_GRAPH_H

#include "heed/onnx.h"
#include "support/onnx_file.h"
#include "support/test.h"

#define GRAPH_AXES 8
#define GRAPH_VALUES 48
#define GRAPH_NODES 5
#define GRAPH_INPUTS 8

typedef struct graph_value {
  char name[8];
  uint32_t type, rank, dims[GRAPH_AXES]; /* type: of ONNX */
  unsigned char *bytes;                  /* what it is, or is in double */
  size_t size;
  int node; /* that gives it, or -1 */
  bool initializer;
} graph_value;

typedef struct graph_node {
  const char *op;
  test_message body; /* without outputs */
  uint32_t inputs[GRAPH_INPUTS], input_count, output_count;
} graph_node;

typedef struct random_graph {
  test_random random;
  heed_context *context;
  uint32_t opset, special; /* 0: plain numbers, 1: also NaN and Inf, 2: also the ends of types */
  bool empty, odd;         /* whether axes may be 0; whether numbers are no halves */
  graph_value values[GRAPH_VALUES];
  uint32_t value_count;
  graph_node nodes[GRAPH_NODES];
  uint32_t node_count;
  bool outputs[GRAPH_VALUES];
} random_graph;

/* A tensor of a result. `name` etc. point into the result. */
typedef struct graph_tensor {
  char name[8];
  uint32_t type, rank, dims[GRAPH_AXES];
  const unsigned char *bytes;
  size_t size;
} graph_tensor;
typedef struct graph_result {
  unsigned char *file; /* of safetensors; NULL: none */
  size_t size;
  graph_tensor tensors[GRAPH_VALUES];
  uint32_t count;
} graph_result;

/* The seed's graph, with at most `nodes` nodes; free with random_graph_free. */
void random_graph_make(random_graph *graph, heed_context *context, uint64_t seed, uint32_t nodes);
void random_graph_free(random_graph *graph);
/* The ops of the graph, "Add, Relu". */
void random_graph_ops(const random_graph *graph, char *text, size_t size);

/* The file. Where noise is not 0, each computed float that rounding may reach is moved a little,
 * another way for each noise; *moved says whether there is one. */
test_message random_graph_file(const random_graph *graph, uint64_t noise, bool *moved);
/* The inputs as a file of safetensors. */
test_bytes random_graph_inputs(const random_graph *graph);

/* Runs a file. backend NULL: in double. Returns what the run returned; other statuses than those of
 * a graph that is refused end the program. */
heed_status graph_run(heed_context *context, heed_backend *backend, bool parts,
                      const test_message *file, const test_bytes *inputs, graph_result *result,
                      heed_error *error);
void graph_result_free(graph_result *result);
const graph_tensor *graph_result_find(const graph_result *result, const char *name);

/* Whether an op is one of "Add|Mul". */
bool graph_op_is_in(const char *op, const char *list);
/* Whether its results are sums of products of its inputs. */
bool graph_op_sums(const char *op);

/* The largest finite size of a value's numbers; 1 for whole numbers. */
double graph_largest(const graph_value *value);

uint32_t graph_type_size(uint32_t type);
bool graph_type_is_float(uint32_t type);
/* The number at an index of a tensor of floats. */
double graph_float(uint32_t type, const unsigned char *bytes, size_t index);

#endif
