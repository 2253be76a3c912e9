/* Cases of add and multiply: numpy's broadcasting of b into a, each result the nearest float to the
 * one in double. */
#ifndef HEED_TESTS_OPS_BROADCAST_TEST_H
#define HEED_TESTS_OPS_BROADCAST_TEST_H

#include <stdio.h>
#include <stdlib.h>

#include "support/op_test.h"

typedef struct broadcast_op {
  const char *name;
  heed_value (*define)(heed_graph *graph, const heed_add_desc *desc);
  double (*of)(double a, double b);
} broadcast_op;

typedef struct broadcast_case {
  heed_shape a, b;
} broadcast_case;

static const broadcast_case broadcast_cases[] = {
    {{1, {1}}, {1, {1}}},
    {{1, {37}}, {1, {37}}},
    {{1, {37}}, {1, {1}}},
    {{3, {2, 5, 19}}, {3, {2, 5, 19}}},
    {{3, {2, 5, 19}}, {2, {5, 19}}},
    {{3, {2, 5, 19}}, {1, {19}}},
    {{3, {2, 5, 19}}, {3, {2, 1, 1}}},
    {{3, {2, 5, 19}}, {3, {1, 5, 1}}},
    {{3, {2, 5, 19}}, {3, {2, 1, 19}}},
    {{3, {2, 5, 19}}, {2, {5, 1}}},
    {{3, {2, 5, 19}}, {0, {0}}},
    {{4, {3, 1, 4, 1}}, {4, {3, 1, 1, 1}}},
    {{4, {3, 2, 4, 5}}, {4, {1, 2, 1, 5}}},
    {{4, {3, 2, 4, 5}}, {4, {3, 1, 4, 1}}},
    {{6, {2, 3, 2, 3, 2, 3}}, {6, {1, 3, 1, 3, 1, 3}}},
    {{6, {2, 3, 2, 3, 2, 3}}, {6, {2, 1, 2, 1, 2, 1}}},
    {{2, {3, 40000}}, {1, {40000}}},
    {{2, {3, 40000}}, {2, {3, 1}}},
    {{2, {20000, 3}}, {1, {3}}},
    {{3, {2, 197, 192}}, {3, {1, 197, 192}}},
};

static inline void broadcast_run(const broadcast_op *op, const broadcast_case *c, uint64_t seed) {
  char what[240], left[HEED_SHAPE_TEXT_SIZE], right[HEED_SHAPE_TEXT_SIZE];
  test_random random = {seed};
  op_test test;
  const size_t count = (size_t)heed_shape_count(&c->a);
  float *a = op_test_random(&random, count, 1.0f),
        *b = op_test_random(&random, (size_t)heed_shape_count(&c->b), 1.0f);
  double *y = op_test_doubles(count);
  for (size_t i = 0; i < count; i++) {
    size_t at = i, offset = 0, stride = 1;
    for (uint32_t k = 0; k < c->a.rank; k++) { /* from the last axis on */
      const size_t dim = c->a.dim[c->a.rank - 1 - k],
                   have = k < c->b.rank ? c->b.dim[c->b.rank - 1 - k] : 1;
      if (have > 1) offset += at % dim * stride;
      stride *= have;
      at /= dim;
    }
    y[i] = op->of((double)a[i], (double)b[offset]);
  }
  snprintf(what, sizeof what, "%s %s, %s, seed %llu", op->name, heed_shape_text(&c->a, left),
           heed_shape_text(&c->b, right), (unsigned long long)seed);
  op_test_begin(&test);
  test.tolerance = 1e-7;
  heed_add_desc desc = {.struct_size = sizeof desc};
  desc.a = op_test_input(&test, HEED_F32, c->a, a);
  desc.b = seed % 2 ? op_test_constant(&test, HEED_F32, c->b, b)
                    : op_test_input(&test, HEED_F32, c->b, b);
  op_test_expect(&test, op->define(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(a);
  free(b);
  free(y);
}

static inline void broadcast_table(const broadcast_op *op) {
  for (size_t i = 0; i < sizeof broadcast_cases / sizeof *broadcast_cases; i++) {
    broadcast_run(op, &broadcast_cases[i], 2 * i + 2);
    broadcast_run(op, &broadcast_cases[i], 2 * i + 1);
  }
}

static inline void broadcast_random_shapes(const broadcast_op *op) {
  for (uint64_t seed = 100; seed < 180; seed++) {
    test_random random = {seed * 31};
    broadcast_case c = {{1 + test_random_below(&random, 5), {0}}, {0, {0}}};
    for (uint32_t i = 0; i < c.a.rank; i++) c.a.dim[i] = 1 + test_random_below(&random, 7);
    c.b.rank = 1 + test_random_below(&random, c.a.rank);
    for (uint32_t i = 0; i < c.b.rank; i++)
      c.b.dim[i] = test_random_below(&random, 2) ? 1 : c.a.dim[c.a.rank - c.b.rank + i];
    broadcast_run(op, &c, seed);
  }
}

#endif
