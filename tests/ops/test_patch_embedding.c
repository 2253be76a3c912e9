/* patch_embedding against a convolution in double: odd patches, a rest that is left out, several
 * pictures. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/op_test.h"

typedef struct patch_case {
  uint32_t batch, channels, height, width, patch, columns;
  bool bias;
} patch_case;

static const patch_case cases[] = {
    {1, 1, 1, 1, 1, 1, false},   {1, 3, 8, 8, 4, 5, true},   {2, 3, 17, 13, 4, 33, true},
    {1, 2, 9, 30, 3, 16, false}, {3, 1, 7, 7, 7, 31, true},  {1, 3, 96, 80, 16, 40, true},
    {2, 3, 64, 64, 8, 64, true}, {1, 5, 25, 35, 5, 7, true}, {1, 1, 50, 50, 2, 3, false},
};

static double convolve(const patch_case *c, const float *image, const float *weight, size_t b,
                       size_t top, size_t left, size_t n) {
  double sum = 0.0;
  for (size_t k = 0; k < c->channels; k++)
    for (size_t y = 0; y < c->patch; y++)
      for (size_t x = 0; x < c->patch; x++)
        sum += (double)image[((b * c->channels + k) * c->height + top + y) * c->width + left + x] *
               (double)weight[((n * c->channels + k) * c->patch + y) * c->patch + x];
  return sum;
}

static void run(const patch_case *c, uint64_t seed) {
  char what[160];
  test_random random = {seed};
  op_test test;
  const size_t depth = (size_t)c->channels * c->patch * c->patch, down = c->height / c->patch,
               across = c->width / c->patch;
  float *image =
      op_test_random(&random, (size_t)c->batch * c->channels * c->height * c->width, 1.0f);
  float *weight = op_test_random(&random, c->columns * depth, 1.0f / sqrtf((float)depth)),
        *bias = op_test_random(&random, c->columns, 1.0f);
  double *y = op_test_doubles(c->batch * down * across * c->columns);
  for (size_t b = 0; b < c->batch; b++)
    for (size_t p = 0; p < down * across; p++)
      for (size_t n = 0; n < c->columns; n++)
        y[(b * down * across + p) * c->columns + n] =
            convolve(c, image, weight, b, p / across * c->patch, p % across * c->patch, n) +
            (c->bias ? (double)bias[n] : 0.0);
  snprintf(what, sizeof what, "patch_embedding [%u, %u, %u, %u], P %u, C %u, bias %d, seed %llu",
           c->batch, c->channels, c->height, c->width, c->patch, c->columns, c->bias,
           (unsigned long long)seed);
  op_test_begin(&test);
  heed_patch_embedding_desc desc = {.struct_size = sizeof desc};
  desc.image =
      op_test_input(&test, HEED_F32, HEED_SHAPE(c->batch, c->channels, c->height, c->width), image);
  desc.weight = op_test_constant(&test, HEED_F32,
                                 HEED_SHAPE(c->columns, c->channels, c->patch, c->patch), weight);
  if (c->bias) desc.bias = op_test_constant(&test, HEED_F32, HEED_SHAPE(c->columns), bias);
  op_test_expect(&test, heed_define_patch_embedding(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_same_bits(&test, what);
  op_test_end(&test);
  free(image);
  free(weight);
  free(bias);
  free(y);
}

static void test_table(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run(&cases[i], i + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_table)};
  return cmocka_run_group_tests_name("patch_embedding", tests, NULL, test_backend_close_all);
}
