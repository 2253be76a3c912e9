/* Layers composed of ops against the same in double: multi-head attention with its weights apart
 * and stacked, the convolution, and what their descs refuse. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/layers/attention_as_convolution.h"
#include "support/op_test.h"

typedef struct mha {
  uint32_t batch, queries, keys, width, source, heads;
  const float *query, *memory, *weight[4], *bias[4]; /* q k v o */
} mha;

/* to[out] = weight [out, in] x + bias. */
static void map(const float *weight, const float *bias, const double *x, uint32_t in, uint32_t out,
                double *to) {
  for (uint32_t o = 0; o < out; o++) {
    to[o] = (double)bias[o];
    for (uint32_t i = 0; i < in; i++) to[o] += (double)weight[o * in + i] * x[i];
  }
}

/* [rows, width] = x [rows, in] mapped by weight `which`. */
static double *map_all(const mha *m, uint32_t which, const float *x, uint32_t rows, uint32_t in) {
  double *to = op_test_doubles((size_t)rows * m->width), *row = op_test_doubles(in);
  for (uint32_t r = 0; r < rows; r++) {
    for (uint32_t i = 0; i < in; i++) row[i] = (double)x[(size_t)r * in + i];
    map(m->weight[which], m->bias[which], row, in, m->width, to + (size_t)r * m->width);
  }
  free(row);
  return to;
}

/* One query row of one head: adds the weighted values to out [depth]. */
static void attend_row(const double *q, const double *k, const double *v, uint32_t keys,
                       uint32_t width, uint32_t depth, double *out) {
  double *score = op_test_doubles(keys), largest = -(double)INFINITY, total = 0.0;
  for (uint32_t j = 0; j < keys; j++) {
    for (uint32_t d = 0; d < depth; d++) score[j] += q[d] * k[(size_t)j * width + d];
    score[j] /= sqrt(depth);
    largest = fmax(largest, score[j]);
  }
  for (uint32_t j = 0; j < keys; j++) total += score[j] = exp(score[j] - largest);
  for (uint32_t j = 0; j < keys; j++)
    for (uint32_t d = 0; d < depth; d++) out[d] += score[j] / total * v[(size_t)j * width + d];
  free(score);
}

static double *expect_mha(const mha *m) {
  double *q = map_all(m, 0, m->query, m->batch * m->queries, m->width);
  double *k = map_all(m, 1, m->memory, m->batch * m->keys, m->source),
         *v = map_all(m, 2, m->memory, m->batch * m->keys, m->source);
  double *y = op_test_doubles((size_t)m->batch * m->queries * m->width),
         *merged = op_test_doubles(m->width);
  const uint32_t depth = m->width / m->heads;
  for (size_t row = 0; row < (size_t)m->batch * m->queries; row++) {
    const size_t first = row / m->queries * m->keys * m->width;
    memset(merged, 0, m->width * sizeof *merged);
    for (uint32_t h = 0; h < m->heads; h++)
      attend_row(q + row * m->width + h * depth, k + first + h * depth, v + first + h * depth,
                 m->keys, m->width, depth, merged + h * depth);
    map(m->weight[3], m->bias[3], merged, m->width, m->width, y + row * m->width);
  }
  free(q);
  free(k);
  free(v);
  free(merged);
  return y;
}

/* self: keys come from the query's tokens. Weights q, k, v lie stacked in one array, so both ways
 * of giving them see the same. */
static void run_mha(uint32_t batch, uint32_t queries, uint32_t keys, uint32_t width, uint32_t heads,
                    bool self, bool stacked, uint64_t seed) {
  char what[160];
  test_random random = {seed};
  op_test test;
  const size_t square = (size_t)width * width;
  if (self) keys = queries;
  float *query = op_test_random(&random, (size_t)batch * queries * width, 1.0f),
        *memory = op_test_random(&random, (size_t)batch * keys * width, 1.0f);
  float *weights = op_test_random(&random, 4 * square, 1.0f / sqrtf((float)width)),
        *biases = op_test_random(&random, 4 * (size_t)width, 0.5f);
  mha m = {batch, queries, keys, width, width, heads, query, self ? query : memory, {0}, {0}};
  for (uint32_t i = 0; i < 4; i++) {
    m.weight[i] = weights + i * square;
    m.bias[i] = biases + i * width;
  }
  double *y = expect_mha(&m);
  snprintf(what, sizeof what, "multi_head_attention B %u Tq %u Tk %u C %u H %u%s%s, seed %llu",
           batch, queries, keys, width, heads, self ? " self" : "", stacked ? " stacked" : "",
           (unsigned long long)seed);
  op_test_begin(&test);
  heed_multi_head_attention_desc desc = {.struct_size = sizeof desc, .heads = heads};
  desc.query = op_test_input(&test, HEED_F32, HEED_SHAPE(batch, queries, width), query);
  if (!self)
    desc.key_value = op_test_input(&test, HEED_F32, HEED_SHAPE(batch, keys, width), memory);
  if (stacked) {
    desc.in_weight = op_test_constant(&test, HEED_F32, HEED_SHAPE(3 * width, width), weights);
    desc.in_bias = op_test_constant(&test, HEED_F32, HEED_SHAPE(3 * width), biases);
  } else {
    heed_value *const weight[3] = {&desc.q_weight, &desc.k_weight, &desc.v_weight},
                      *const bias[3] = {&desc.q_bias, &desc.k_bias, &desc.v_bias};
    for (uint32_t i = 0; i < 3; i++) {
      *weight[i] = op_test_constant(&test, HEED_F32, HEED_SHAPE(width, width), m.weight[i]);
      *bias[i] = op_test_constant(&test, HEED_F32, HEED_SHAPE(width), m.bias[i]);
    }
  }
  desc.o_weight = op_test_constant(&test, HEED_F32, HEED_SHAPE(width, width), m.weight[3]);
  desc.o_bias = op_test_constant(&test, HEED_F32, HEED_SHAPE(width), m.bias[3]);
  op_test_expect(&test, heed_define_multi_head_attention(test.graph, &desc).output, y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(query);
  free(memory);
  free(weights);
  free(biases);
  free(y);
}

static void test_multi_head_attention(void **state) {
  (void)state;
  for (uint32_t form = 0; form < 4; form++) {
    run_mha(1, 1, 1, 4, 1, form & 1, form >> 1, 10 + form);
    run_mha(2, 7, 12, 24, 3, form & 1, form >> 1, 20 + form);
    run_mha(3, 17, 5, 65, 5, form & 1, form >> 1, 30 + form);
  }
}

/* y[o, r, c] = sum of kernel[o, i, a, b] x[i, r + a - K/2, c + b - K/2]. */
static void run_convolution(uint32_t batch, uint32_t channels, uint32_t outputs, int rows,
                            int columns, int side, uint64_t seed) {
  char what[160];
  test_random random = {seed};
  op_test test;
  const size_t pixels = (size_t)rows * (size_t)columns, places = (size_t)side * (size_t)side;
  float *x = op_test_random(&random, batch * channels * pixels, 1.0f),
        *kernel = op_test_random(&random, outputs * channels * places, 1.0f);
  double *y = op_test_doubles(batch * outputs * pixels);
  for (size_t at = 0; at < batch * outputs * pixels; at++) {
    const size_t b = at / pixels / outputs, o = at / pixels % outputs;
    const int r = (int)(at % pixels) / columns, c = (int)(at % pixels) % columns;
    for (size_t i = 0; i < channels; i++)
      for (int p = 0; p < side * side; p++) {
        const int from_r = r + p / side - side / 2, from_c = c + p % side - side / 2;
        if (from_r < 0 || from_r >= rows || from_c < 0 || from_c >= columns) continue;
        y[at] += (double)kernel[(o * channels + i) * places + (size_t)p] *
                 (double)x[(b * channels + i) * pixels + (size_t)(from_r * columns + from_c)];
      }
  }
  snprintf(what, sizeof what, "attention_as_convolution B %u C %u O %u %d x %d K %d, seed %llu",
           batch, channels, outputs, rows, columns, side, (unsigned long long)seed);
  op_test_begin(&test);
  const heed_value image = op_test_input(
      &test, HEED_F32, HEED_SHAPE(batch, channels, (uint32_t)rows, (uint32_t)columns), x);
  const heed_value weight = op_test_constant(
      &test, HEED_F32, HEED_SHAPE(outputs, channels, (uint32_t)side, (uint32_t)side), kernel);
  op_test_expect(&test, heed_attention_as_convolution(test.graph, image, weight), y);
  op_test_run(&test, what);
  op_test_end(&test);
  free(x);
  free(kernel);
  free(y);
}

static void test_convolution(void **state) {
  (void)state;
  run_convolution(1, 1, 1, 1, 1, 1, 40);
  run_convolution(2, 3, 5, 9, 7, 3, 41);
  run_convolution(1, 4, 2, 8, 8, 5, 42);
  run_convolution(1, 2, 3, 2, 3, 7, 43);
}

static void test_wrong(void **state) {
  (void)state;
  heed_error error = {HEED_OK, ""};
  static const float zeros[64];
  op_test test;
  op_test_begin(&test);
  heed_multi_head_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 2, 4), zeros)};
  assert_int_equal(heed_define_multi_head_attention(test.graph, &desc).output.id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "multi_head_attention: no heads");
  op_test_end(&test);
  op_test_begin(&test);
  desc = (heed_multi_head_attention_desc){.struct_size = sizeof desc, .heads = 3};
  desc.query = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 2, 4), zeros);
  desc.in_weight = op_test_constant(&test, HEED_F32, HEED_SHAPE(12, 4), zeros);
  assert_int_equal(heed_define_multi_head_attention(test.graph, &desc).output.id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "linear: heads do not divide the width");
  op_test_end(&test);
  op_test_begin(&test);
  const heed_value image = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 1, 3, 3), zeros),
                   even = op_test_constant(&test, HEED_F32, HEED_SHAPE(1, 1, 2, 2), zeros);
  assert_int_equal(heed_attention_as_convolution(test.graph, image, even).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, "K odd");
  op_test_end(&test);
  op_test_begin(&test);
  const heed_luong_attention_desc luong = {
      .struct_size = sizeof luong,
      .decoder = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 2, 4), zeros),
      .encoder = op_test_input(&test, HEED_F32, HEED_SHAPE(1, 3, 4), zeros)};
  assert_int_equal(heed_define_luong_attention(test.graph, &luong).output.id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT,
               "luong_attention: unknown score");
  op_test_end(&test);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_multi_head_attention),
                                     cmocka_unit_test(test_convolution),
                                     cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("layers", tests, NULL, test_backend_close_all);
}
