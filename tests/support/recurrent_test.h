/* What the tests of lstm and gru share: the loop over time in double, and the cases. */
#ifndef HEED_TESTS_SUPPORT_RECURRENT_TEST_H
#define HEED_TESTS_SUPPORT_RECURRENT_TEST_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

typedef struct recurrent_kind {
  const char *name;
  uint32_t gates;
  bool cell_state;
  /* One hidden element; x and gates point at its first gate, the others lie `hidden` apart. */
  void (*cell)(const double *x, const double *gates, size_t hidden, double *h, double *c);
  heed_recurrent_values (*define)(heed_graph *graph, const heed_recurrent_desc *desc);
} recurrent_kind;

typedef struct recurrent_case {
  uint32_t batch, tokens, inputs, hidden;
  bool reverse, bias, states;
} recurrent_case;

/* to[rows] = weight [rows, depth] times x + bias. */
static inline void recurrent_product(const float *weight, const float *bias, const double *x,
                                     size_t rows, size_t depth, double *to) {
  for (size_t r = 0; r < rows; r++) {
    to[r] = bias ? (double)bias[r] : 0.0;
    for (size_t i = 0; i < depth; i++) to[r] += (double)weight[r * depth + i] * x[i];
  }
}

typedef struct recurrent_data {
  float *x, *weight_ih, *weight_hh, *bias_ih, *bias_hh, *h0, *c0;
  double *y, *h, *c;
} recurrent_data;

/* One batch row. */
static inline void recurrent_expect(const recurrent_kind *kind, const recurrent_case *s,
                                    const recurrent_data *d, size_t b) {
  const size_t width = (size_t)kind->gates * s->hidden;
  double *x = op_test_doubles(s->inputs), *from_x = op_test_doubles(width),
         *from_h = op_test_doubles(width);
  double *h = d->h + b * s->hidden, *c = d->c + b * s->hidden;
  for (size_t i = 0; s->states && i < s->hidden; i++) {
    h[i] = (double)d->h0[b * s->hidden + i];
    c[i] = (double)d->c0[b * s->hidden + i];
  }
  for (size_t step = 0; step < s->tokens; step++) {
    const size_t t = s->reverse ? s->tokens - 1 - step : step, row = b * s->tokens + t;
    for (size_t i = 0; i < s->inputs; i++) x[i] = (double)d->x[row * s->inputs + i];
    recurrent_product(d->weight_ih, s->bias ? d->bias_ih : NULL, x, width, s->inputs, from_x);
    recurrent_product(d->weight_hh, s->bias ? d->bias_hh : NULL, h, width, s->hidden, from_h);
    for (size_t i = 0; i < s->hidden; i++)
      kind->cell(from_x + i, from_h + i, s->hidden, &h[i], &c[i]);
    memcpy(d->y + row * s->hidden, h, s->hidden * sizeof *h);
  }
  free(x);
  free(from_x);
  free(from_h);
}

static inline recurrent_data recurrent_make(const recurrent_kind *kind, const recurrent_case *s,
                                            uint64_t seed) {
  test_random random = {seed};
  const size_t width = (size_t)kind->gates * s->hidden, state = (size_t)s->batch * s->hidden;
  const float scale = 1.0f / sqrtf((float)s->hidden);
  recurrent_data d;
  d.x = op_test_random(&random, (size_t)s->batch * s->tokens * s->inputs, 1.0f);
  d.weight_ih = op_test_random(&random, width * s->inputs, scale);
  d.weight_hh = op_test_random(&random, width * s->hidden, scale);
  d.bias_ih = op_test_random(&random, width, 0.5f);
  d.bias_hh = op_test_random(&random, width, 0.5f);
  d.h0 = op_test_random(&random, state, 0.5f);
  d.c0 = op_test_random(&random, state, 1.0f);
  d.y = op_test_doubles(state * s->tokens);
  d.h = op_test_doubles(state);
  d.c = op_test_doubles(state);
  for (size_t b = 0; b < s->batch; b++) recurrent_expect(kind, s, &d, b);
  return d;
}

static inline void recurrent_free(const recurrent_data *d) {
  void *const all[] = {d->x,  d->weight_ih, d->weight_hh, d->bias_ih, d->bias_hh,
                       d->h0, d->c0,        d->y,         d->h,       d->c};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* last: the last states are asked for too. */
static inline void recurrent_run(const recurrent_kind *kind, recurrent_case s, bool last, bool bits,
                                 uint64_t seed) {
  char what[200];
  op_test test;
  const uint32_t width = kind->gates * s.hidden;
  const recurrent_data d = recurrent_make(kind, &s, seed);
  snprintf(what, sizeof what, "%s B %u T %u I %u H %u%s%s%s, seed %llu", kind->name, s.batch,
           s.tokens, s.inputs, s.hidden, s.reverse ? " reverse" : "", s.bias ? " bias" : "",
           s.states ? " states" : "", (unsigned long long)seed);
  op_test_begin(&test);
  heed_recurrent_desc desc = {.struct_size = sizeof desc, .reverse = s.reverse};
  desc.x = op_test_input(&test, HEED_F32, HEED_SHAPE(s.batch, s.tokens, s.inputs), d.x);
  desc.weight_ih = op_test_constant(&test, HEED_F32, HEED_SHAPE(width, s.inputs), d.weight_ih);
  desc.weight_hh = op_test_constant(&test, HEED_F32, HEED_SHAPE(width, s.hidden), d.weight_hh);
  if (s.bias) {
    desc.bias_ih = op_test_constant(&test, HEED_F32, HEED_SHAPE(width), d.bias_ih);
    desc.bias_hh = op_test_constant(&test, HEED_F32, HEED_SHAPE(width), d.bias_hh);
  }
  if (s.states) desc.h = op_test_input(&test, HEED_F32, HEED_SHAPE(s.batch, s.hidden), d.h0);
  if (s.states && kind->cell_state)
    desc.c = op_test_input(&test, HEED_F32, HEED_SHAPE(s.batch, s.hidden), d.c0);
  const heed_recurrent_values values = kind->define(test.graph, &desc);
  op_test_expect(&test, values.y, d.y);
  if (last) op_test_expect(&test, values.h, d.h);
  if (last && kind->cell_state) op_test_expect(&test, values.c, d.c);
  op_test_run(&test, what);
  if (bits) op_test_same_bits(&test, what);
  op_test_end(&test);
  recurrent_free(&d);
}

static inline void recurrent_sizes(const recurrent_kind *kind) {
  static const uint32_t hidden[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100};
  recurrent_run(kind, (recurrent_case){1, 1, 1, 1, false, false, false}, true, false, 1);
  for (uint32_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
    recurrent_run(kind,
                  (recurrent_case){1 + i % 3, 1 + i, 1 + 5 * i, hidden[i], i % 2 == 1, i % 3 != 0,
                                   i % 4 != 0},
                  i % 5 != 0, false, 10 + i);
  recurrent_run(kind, (recurrent_case){13, 5, 20, 40, false, true, true}, true, false, 40);
  recurrent_run(kind, (recurrent_case){1, 200, 3, 5, true, true, false}, true, false, 41);
}

/* Large enough that the products are shared out. */
static inline void recurrent_bits(const recurrent_kind *kind) {
  recurrent_run(kind, (recurrent_case){2, 9, 30, 150, false, true, true}, true, true, 50);
}

static inline void recurrent_wrong(const recurrent_kind *kind, const char *sentence, uint32_t rows,
                                   uint32_t hidden) {
  heed_error error = {HEED_OK, ""};
  static const float zeros[64];
  op_test test;
  op_test_begin(&test);
  const heed_recurrent_desc desc = {
      .struct_size = sizeof desc,
      .x = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 2, 2), zeros),
      .weight_ih = op_test_constant(&test, HEED_F32, HEED_SHAPE(rows, 2), zeros),
      .weight_hh = op_test_constant(&test, HEED_F32, HEED_SHAPE(rows, hidden), zeros)};
  assert_int_equal(kind->define(test.graph, &desc).y.id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

#endif
