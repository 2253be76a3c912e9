/* One-op graphs on every backend present, compared with an oracle that the test works out in
 * double. */
#ifndef HEED_TESTS_SUPPORT_OP_TEST_H
#define HEED_TESTS_SUPPORT_OP_TEST_H

#include "base/tensor.h"
#include "support/test.h"

/* ---- backends: every CPU level with 1 and 3 threads, or instead of them what a further library
 * adds */

typedef heed_status (*test_backend_opener)(heed_context *context, uint32_t index,
                                           heed_backend **backend, heed_error *error);
/* name is copied; tolerance replaces the case's own when it is larger. */
void test_backend_add(const char *name, test_backend_opener open, uint32_t index, double tolerance);
/* Defined by a library that brings further backends (linked into the test program): calls
 * test_backend_add. */
void test_backend_add_more(void);
/* Likewise: whether nothing was complained of while the backend ran (asked before it is closed);
 * how many times fewer random cases it takes than the CPU. */
bool test_backend_is_clean(const heed_backend *backend);
uint32_t test_backend_slowness(void);
/* Whether factors of products are fp16 on the backends here. */
bool test_backend_is_half(void);
/* Defined by a test of int8: whether to add the levels that differ from others by their products of
 * int8 alone. */
bool test_backend_wants_int8(void);
/* How many of so many random cases to run on the backends of this program. */
uint32_t op_test_share(uint32_t cases);
uint32_t test_backend_count(void);
const char *test_backend_name(uint32_t index);
/* Opened on first use and kept until test_backend_close_all, which a group's teardown calls. */
heed_backend *test_backend_get(uint32_t index);
heed_context *test_backend_context(void);
int test_backend_close_all(void **state);

/* ---- a graph with its inputs and what must come out */

#define OP_TEST_TENSORS 12

typedef struct op_test_tensor {
  heed_value value;
  const void *data; /* inputs */
  size_t bytes;
  const double *expected; /* results */
  size_t count;
} op_test_tensor;

typedef struct op_test {
  heed_graph *graph;
  op_test_tensor inputs[OP_TEST_TENSORS], results[OP_TEST_TENSORS];
  uint32_t input_count, result_count;
  double tolerance;              /* |a - b| <= tolerance + tolerance |b|; 2e-5 */
  heed_attention_mode attention; /* asked of the plan */
  uint32_t only_backend_below;   /* 0: all; else only backends of lower index (for slow cases) */
} op_test;

void op_test_begin(op_test *test);
/* The data must stay until op_test_end. */
heed_value op_test_input(op_test *test, heed_dtype dtype, heed_shape shape, const void *data);
heed_value op_test_constant(op_test *test, heed_dtype dtype, heed_shape shape, const void *data);
/* This value must come out as `expected`, dense in its shape; NaN matches NaN, Inf its like.
 * expected NULL: only computed. */
void op_test_expect(op_test *test, heed_value value, const double *expected);
/* Runs on every backend and fails the test on the first difference, in one line with `what` (op,
 * shape, seed) and the backend. */
void op_test_run(op_test *test, const char *what);
/* The same on one backend, below test_backend_count(). */
void op_test_run_on(op_test *test, uint32_t backend, const char *what);
/* Whether the first backend runs every attention of the graph in this mode when asked to. */
bool op_test_has_mode(op_test *test, heed_attention_mode mode);
/* Runs on CPU backends of `level` with 1, 2, 3 and 7 threads and asks for the same bits. */
void op_test_same_bits(op_test *test, const char *what);
void op_test_end(op_test *test);

/* malloc'ed arrays of random numbers, freed by the test. */
float *op_test_random(test_random *random, size_t count, float scale);
float *op_test_zeros(size_t count);
double *op_test_doubles(size_t count);

#endif
