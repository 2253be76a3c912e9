/* elementwise: each kind against the same in double, numpy's broadcasting of up to three inputs,
 * every dtype, numbers that are none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"

typedef struct kind_case {
  heed_elementwise kind;
  uint32_t inputs;
  float scale, least; /* random numbers times scale, at least so large */
  double tolerance;
  float alpha, beta;
} kind_case;

#define ANY -HUGE_VALF
static const kind_case kinds[] = {
    {HEED_ELEMENTWISE_IDENTITY, 1, 3, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_NEGATE, 1, 3, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_ABSOLUTE, 1, 3, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_RECIPROCAL, 1, 3, 0.01f, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_SQUARE_ROOT, 1, 30, 0, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_EXP, 1, 30, ANY, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_LOG, 1, 30, 1e-5f, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_ERF, 1, 2, ANY, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_SIN, 1, 50, ANY, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_COS, 1, 50, ANY, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_SOFTPLUS, 1, 20, ANY, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_FLOOR, 1, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_CEIL, 1, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_ROUND, 1, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_SIGN, 1, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_NOT, 1, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_IS_NAN, 1, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_IS_INFINITE, 1, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_LEAKY_RELU, 1, 5, ANY, 1e-6, 0.1f, 0},
    {HEED_ELEMENTWISE_ELU, 1, 5, ANY, 1e-6, 1.5f, 0},
    {HEED_ELEMENTWISE_HARD_SIGMOID, 1, 5, ANY, 1e-6, 0.2f, 0.5f},
    {HEED_ELEMENTWISE_CLIP, 1, 5, ANY, 0, -1, 2},
    {HEED_ELEMENTWISE_ADD, 2, 5, ANY, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_SUBTRACT, 2, 5, ANY, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_MULTIPLY, 2, 5, ANY, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_DIVIDE, 2, 5, 0.01f, 1e-6, 0, 0},
    {HEED_ELEMENTWISE_POWER, 2, 5, 0.01f, 1e-5, 0, 0},
    {HEED_ELEMENTWISE_MINIMUM, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_MAXIMUM, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_EQUAL, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_LESS, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_LESS_EQUAL, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_GREATER, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_GREATER_EQUAL, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_AND, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_OR, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_XOR, 2, 5, ANY, 0, 0, 0},
    {HEED_ELEMENTWISE_SELECT, 3, 5, ANY, 0, 0, 0},
};

static double round_even(double a) {
  const double low = floor(a), rest = a - low;
  if (rest != 0.5) return rest < 0.5 ? low : low + 1;
  return fmod(low, 2.0) == 0.0 ? low : low + 1;
}

static double of_one(const kind_case *k, double a) {
  switch (k->kind) {
    case HEED_ELEMENTWISE_NEGATE: return -a;
    case HEED_ELEMENTWISE_ABSOLUTE: return fabs(a);
    case HEED_ELEMENTWISE_RECIPROCAL: return 1 / a;
    case HEED_ELEMENTWISE_SQUARE_ROOT: return sqrt(a);
    case HEED_ELEMENTWISE_EXP: return exp(a);
    case HEED_ELEMENTWISE_LOG: return log(a);
    case HEED_ELEMENTWISE_ERF: return erf(a);
    case HEED_ELEMENTWISE_SIN: return sin(a);
    case HEED_ELEMENTWISE_COS: return cos(a);
    case HEED_ELEMENTWISE_SOFTPLUS: return a > 40 ? a : log1p(exp(a));
    case HEED_ELEMENTWISE_FLOOR: return floor(a);
    case HEED_ELEMENTWISE_CEIL: return ceil(a);
    case HEED_ELEMENTWISE_ROUND: return isfinite(a) ? round_even(a) : a;
    case HEED_ELEMENTWISE_SIGN: return isnan(a) ? a : (double)((a > 0) - (a < 0));
    case HEED_ELEMENTWISE_NOT: return a == 0;
    case HEED_ELEMENTWISE_IS_NAN: return isnan(a) != 0;
    case HEED_ELEMENTWISE_IS_INFINITE: return isinf(a) != 0;
    case HEED_ELEMENTWISE_LEAKY_RELU: return a < 0 ? (double)k->alpha * a : a;
    case HEED_ELEMENTWISE_ELU: return a < 0 ? (double)k->alpha * expm1(a) : a;
    case HEED_ELEMENTWISE_HARD_SIGMOID: {
      const double y = (double)k->alpha * a + (double)k->beta;
      return y < 0 ? 0 : y > 1 ? 1 : y;
    }
    case HEED_ELEMENTWISE_CLIP:
      return a < (double)k->alpha ? (double)k->alpha : a > (double)k->beta ? (double)k->beta : a;
    default: return a;
  }
}

static double of(const kind_case *k, const double x[3]) {
  const double a = x[0], b = x[1];
  const bool none = isnan(a) || isnan(b);
  switch (k->kind) {
    case HEED_ELEMENTWISE_ADD: return a + b;
    case HEED_ELEMENTWISE_SUBTRACT: return a - b;
    case HEED_ELEMENTWISE_MULTIPLY: return a * b;
    case HEED_ELEMENTWISE_DIVIDE: return a / b;
    case HEED_ELEMENTWISE_POWER: return pow(a, b);
    case HEED_ELEMENTWISE_MINIMUM: return none ? (double)NAN : a < b ? a : b;
    case HEED_ELEMENTWISE_MAXIMUM: return none ? (double)NAN : a > b ? a : b;
    case HEED_ELEMENTWISE_MODULUS: return b == 0 ? (double)NAN : a - floor(a / b) * b;
    case HEED_ELEMENTWISE_REMAINDER: return fmod(a, b);
    case HEED_ELEMENTWISE_EQUAL: return a == b;
    case HEED_ELEMENTWISE_LESS: return a < b;
    case HEED_ELEMENTWISE_LESS_EQUAL: return a <= b;
    case HEED_ELEMENTWISE_GREATER: return a > b;
    case HEED_ELEMENTWISE_GREATER_EQUAL: return a >= b;
    case HEED_ELEMENTWISE_AND: return a != 0 && b != 0;
    case HEED_ELEMENTWISE_OR: return a != 0 || b != 0;
    case HEED_ELEMENTWISE_XOR: return (a != 0) != (b != 0);
    case HEED_ELEMENTWISE_SELECT: return a != 0 ? b : x[2];
    default: return of_one(k, a);
  }
}

/* Where element `at` of y has its number in x. */
static size_t source(const heed_shape *y, const heed_shape *x, size_t at) {
  size_t from = 0, stride = 1;
  for (uint32_t i = 0; i < y->rank; i++) { /* from the last axis on */
    const size_t size = y->dim[y->rank - 1 - i], have = i < x->rank ? x->dim[x->rank - 1 - i] : 1;
    if (have > 1) from += at % size * stride;
    stride *= have;
    at /= size;
  }
  return from;
}

/* Floats, or the same numbers as whole ones, or as bytes. */
static void *as_dtype(heed_dtype dtype, float *x, size_t count) {
  void *data = malloc(count * sizeof(float));
  assert_non_null(data);
  for (size_t i = 0; i < count; i++) {
    if (dtype == HEED_I32) ((int32_t *)data)[i] = (int32_t)x[i];
    if (dtype == HEED_U8) ((uint8_t *)data)[i] = (uint8_t)(int32_t)fabsf(x[i]);
    if (dtype == HEED_I32) x[i] = (float)((int32_t *)data)[i];
    if (dtype == HEED_U8) x[i] = (float)((uint8_t *)data)[i];
  }
  if (dtype == HEED_F32) memcpy(data, x, count * sizeof *x);
  return data;
}

static double stored(heed_dtype dtype, double v) {
  if (dtype == HEED_U8) return v != 0;
  return dtype == HEED_I32 ? trunc(v) : (double)(float)v;
}

typedef struct shapes {
  heed_shape y, x[3];
} shapes;

/* Runs a kind on inputs of these numbers; dtypes: of a, b, c and y. */
static void run(const kind_case *k, const shapes *s, float *const x[3], const heed_dtype dtypes[4],
                uint64_t seed) {
  char what[200], text[HEED_SHAPE_TEXT_SIZE];
  op_test test;
  if (!test_takes()) return;
  heed_elementwise_desc desc = {.struct_size = sizeof desc,
                                .kind = k->kind,
                                .dtype = dtypes[3],
                                .shape = s->y,
                                .alpha = k->alpha,
                                .beta = k->beta};
  heed_value *const slots[3] = {&desc.a, &desc.b, &desc.c};
  void *data[3] = {NULL, NULL, NULL};
  op_test_begin(&test);
  for (uint32_t i = 0; i < k->inputs; i++) {
    data[i] = as_dtype(dtypes[i], x[i], (size_t)heed_shape_count(&s->x[i]));
    *slots[i] = (seed + i) % 3 == 0 ? op_test_constant(&test, dtypes[i], s->x[i], data[i])
                                    : op_test_input(&test, dtypes[i], s->x[i], data[i]);
  }
  const size_t count = (size_t)heed_shape_count(&s->y);
  double *y = op_test_doubles(count);
  for (size_t i = 0; i < count; i++) {
    double v[3] = {0};
    for (uint32_t n = 0; n < k->inputs; n++) v[n] = (double)x[n][source(&s->y, &s->x[n], i)];
    y[i] = stored(dtypes[3], of(k, v));
  }
  snprintf(what, sizeof what, "elementwise kind %d, %s, seed %llu", (int)k->kind,
           heed_shape_text(&s->y, text), (unsigned long long)seed);
  test.tolerance = k->tolerance;
  op_test_expect(&test, heed_define_elementwise(test.graph, &desc), y);
  op_test_run(&test, what);
  op_test_end(&test);
  for (uint32_t i = 0; i < k->inputs; i++) free(data[i]);
  free(y);
}

static const heed_dtype floats[4] = {HEED_F32, HEED_F32, HEED_F32, HEED_F32};

/* Random numbers of the kind; every fifth a whole one, every eleventh 0, if the kind takes them. */
static float *numbers(const kind_case *k, test_random *random, size_t count) {
  float *x = op_test_random(random, count, k->scale);
  for (size_t i = 0; i < count; i++) {
    if (k->least != ANY) x[i] = fabsf(x[i]) + k->least;
    if (k->least == ANY && i % 5 == 0) x[i] = floorf(x[i]) * 0.5f;
    if (k->least == ANY && i % 11 == 0) x[i] = 0.0f;
  }
  return x;
}

static void run_random(const kind_case *k, const shapes *s, const heed_dtype dtypes[4],
                       uint64_t seed) {
  test_random random = {seed * 77 + 1};
  float *x[3] = {NULL, NULL, NULL};
  for (uint32_t i = 0; i < k->inputs; i++)
    x[i] = numbers(k, &random, (size_t)heed_shape_count(&s->x[i]));
  run(k, s, x, dtypes, seed);
  for (uint32_t i = 0; i < 3; i++) free(x[i]);
}

static void test_kinds(void **state) {
  (void)state;
  static const uint32_t widths[] = {1, 37, 611};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
      const heed_shape shape = HEED_SHAPE(widths[w]);
      run_random(&kinds[i], &(shapes){shape, {shape, shape, shape}}, floats, i + 1);
    }
}

/* Infinities, NaN, zeros of both signs, halves, and numbers at the ends of F32. */
static void test_special(void **state) {
  (void)state;
  static const float special[] = {NAN,   INFINITY,   -INFINITY,   0.0f,  -0.0f,       0.5f,
                                  -0.5f, 1.5f,       2.5f,        -2.5f, 1e9f,        -1e9f,
                                  88.5f, 8388609.0f, -4194304.5f, 1.0f,  0.49999997f, 3e38f};
  enum { COUNT = sizeof special / sizeof *special };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    const kind_case *k = &kinds[i];
    /* the sine of what is beyond 8192 is not promised; a power has its own test */
    if (k->kind == HEED_ELEMENTWISE_SIN || k->kind == HEED_ELEMENTWISE_COS ||
        k->kind == HEED_ELEMENTWISE_POWER)
      continue;
    kind_case near = *k;
    if (near.tolerance == 0) near.tolerance = 1e-7;
    static float a[COUNT * COUNT], b[COUNT * COUNT], c[COUNT * COUNT];
    for (size_t n = 0; n < COUNT * COUNT; n++) {
      a[n] = special[n / COUNT];
      b[n] = special[n % COUNT];
      c[n] = (float)n;
    }
    /* Vulkan does not promise the quotients of such numbers */
    if (k->kind == HEED_ELEMENTWISE_DIVIDE || k->kind == HEED_ELEMENTWISE_RECIPROCAL)
      for (size_t n = 0; n < COUNT * COUNT; n++) {
        if (fabsf(a[n]) > 1e10f || a[n] == 0.0f || !isfinite(a[n])) a[n] = 3.0f;
        if (b[n] == 0.0f || !isfinite(b[n])) b[n] = 3.0f;
      }
    const heed_shape shape = HEED_SHAPE(COUNT * COUNT);
    float *const x[3] = {a, b, c};
    run(&near, &(shapes){shape, {shape, shape, shape}}, x, floats, 1000 + i);
  }
}

/* Powers of negative numbers, and by 0, halves, infinite ones; remainders of whole numbers. */
static void test_power_and_remainder(void **state) {
  (void)state;
  static float a[] = {2, -2, -2, -8, 0, 0, 4, 9, -3, 1.5f, NAN, 1, 2, 0.5f, -2, -1.5f},
               b[] = {10, 3, 2, 0.5f, 2, -1, 0.5f, -0.5f, 0, 2.5f, 0, NAN, 100, INFINITY, -3, 1.5f};
  enum { COUNT = sizeof a / sizeof *a };
  const heed_shape shape = HEED_SHAPE(COUNT), grid = HEED_SHAPE(15, 15);
  float *const x[3] = {a, b, NULL};
  const kind_case power = {HEED_ELEMENTWISE_POWER, 2, 1, ANY, 1e-5, 0, 0};
  run(&power, &(shapes){shape, {shape, shape, shape}}, x, floats, 1);
  float top[225], bottom[225];
  for (int i = 0; i < 225; i++) {
    top[i] = (float)(i / 15 - 7);
    bottom[i] = (float)(i % 15 < 7 ? i % 15 - 7 : i % 15 - 6);
  }
  float *const whole[3] = {top, bottom, NULL};
  const kind_case modulus = {HEED_ELEMENTWISE_MODULUS, 2, 1, ANY, 0, 0, 0},
                  remainder = {HEED_ELEMENTWISE_REMAINDER, 2, 1, ANY, 0, 0, 0};
  run(&modulus, &(shapes){grid, {grid, grid, grid}}, whole, floats, 2);
  run(&remainder, &(shapes){grid, {grid, grid, grid}}, whole, floats, 3);
}

static const kind_case subtract = {HEED_ELEMENTWISE_SUBTRACT, 2, 5, ANY, 1e-6, 0, 0},
                       choose = {HEED_ELEMENTWISE_SELECT, 3, 5, ANY, 0, 0, 0},
                       expand = {HEED_ELEMENTWISE_IDENTITY, 1, 5, ANY, 0, 0, 0};

static void test_broadcast(void **state) {
  (void)state;
  static const shapes table[] = {
      {{3, {2, 5, 19}}, {{3, {2, 5, 19}}, {1, {19}}, {0, {0}}}},
      {{3, {2, 5, 19}}, {{1, {19}}, {3, {2, 5, 1}}, {3, {2, 1, 1}}}},
      {{3, {2, 5, 19}}, {{2, {5, 1}}, {2, {1, 19}}, {3, {2, 1, 1}}}},
      {{3, {2, 5, 19}}, {{0, {0}}, {0, {0}}, {0, {0}}}},
      {{6, {2, 3, 2, 3, 2, 3}}, {{6, {1, 3, 1, 3, 1, 3}}, {6, {2, 1, 2, 1, 2, 1}}, {1, {3}}}},
      {{4, {3, 1, 4, 700}}, {{4, {3, 1, 1, 700}}, {4, {1, 1, 4, 1}}, {1, {700}}}},
      {{2, {3, 40000}}, {{2, {3, 40000}}, {2, {3, 1}}, {1, {40000}}}},
      {{2, {20000, 3}}, {{1, {3}}, {2, {20000, 1}}, {2, {20000, 3}}}},
      {{0, {0}}, {{0, {0}}, {0, {0}}, {0, {0}}}},
  };
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    run_random(&subtract, &table[i], floats, i + 1);
    run_random(&choose, &table[i], floats, i + 2);
    run_random(&expand, &table[i], floats, i + 3);
  }
}

static void test_random_shapes(void **state) {
  (void)state;
  for (uint64_t seed = 100; seed < 100 + op_test_share(80); seed++) {
    test_random random = {seed * 31};
    shapes s = {{test_random_below(&random, 7), {0}}, {{0, {0}}}};
    for (uint32_t i = 0; i < s.y.rank; i++) s.y.dim[i] = 1 + test_random_below(&random, 6);
    for (uint32_t n = 0; n < 3; n++) {
      s.x[n].rank = test_random_below(&random, s.y.rank + 1);
      for (uint32_t i = 0; i < s.x[n].rank; i++)
        s.x[n].dim[i] = test_random_below(&random, 2) ? 1 : s.y.dim[s.y.rank - s.x[n].rank + i];
    }
    run_random(&choose, &s, floats, seed);
    run_random(&subtract, &s, floats, seed);
  }
}

static void test_dtypes(void **state) {
  (void)state;
  static const heed_dtype all[] = {HEED_F32, HEED_I32, HEED_U8};
  const shapes s = {{3, {3, 5, 7}}, {{3, {3, 5, 7}}, {2, {5, 1}}, {3, {3, 1, 7}}}};
  for (uint32_t i = 0; i < 81; i += op_test_share(81) < 81 ? 10 : 1) {
    const heed_dtype dtypes[4] = {all[i % 3], all[i / 3 % 3], all[i / 9 % 3], all[i / 27]};
    run_random(&choose, &s, dtypes, i + 1);
    run_random(&subtract, &s, dtypes, i + 1);
  }
  float big[] = {3e9f, -3e9f, NAN, 2147483648.0f, -2147483648.0f, -1.9f, 1.9f, INFINITY};
  const double cut[] = {INT32_MAX, INT32_MIN, 0, INT32_MAX, INT32_MIN, -1, 1, INT32_MAX};
  op_test test;
  op_test_begin(&test);
  test.tolerance = 0;
  const heed_elementwise_desc desc = {.struct_size = sizeof desc,
                                      .a = op_test_input(&test, HEED_F32, HEED_SHAPE(8), big),
                                      .dtype = HEED_I32};
  op_test_expect(&test, heed_define_elementwise(test.graph, &desc), cut);
  op_test_run(&test, "elementwise to I32");
  op_test_end(&test);
}

static void test_same_bits(void **state) {
  (void)state;
  test_random random = {5};
  float *x = op_test_random(&random, 100000, 4.0f);
  op_test test;
  op_test_begin(&test);
  const heed_elementwise_desc desc = {.struct_size = sizeof desc,
                                      .a = op_test_input(&test, HEED_F32, HEED_SHAPE(100000), x),
                                      .kind = HEED_ELEMENTWISE_EXP};
  op_test_expect(&test, heed_define_elementwise(test.graph, &desc), NULL);
  op_test_same_bits(&test, "elementwise exp");
  op_test_end(&test);
  free(x);
}

static void wrong(heed_elementwise_desc desc, heed_shape a, heed_shape b, const char *sentence) {
  heed_error error = {HEED_OK, ""};
  op_test test;
  op_test_begin(&test);
  desc.struct_size = sizeof desc;
  desc.a = heed_define_input(test.graph, "a", HEED_F32, &a);
  desc.b = heed_define_input(test.graph, "b", HEED_F32, &b);
  assert_int_equal(heed_define_elementwise(test.graph, &desc).id, 0);
  assert_fails(heed_graph_status(test.graph, &error), HEED_INVALID_ARGUMENT, sentence);
  op_test_end(&test);
}

static void test_wrong(void **state) {
  (void)state;
  wrong((heed_elementwise_desc){.kind = HEED_ELEMENTWISE_ADD}, HEED_SHAPE(2, 3), HEED_SHAPE(2),
        "elementwise: b cannot be broadcast (found [2], expected axes of 1 or of [2, 3])");
  wrong((heed_elementwise_desc){.kind = (heed_elementwise)60}, HEED_SHAPE(2), HEED_SHAPE(2),
        "elementwise: unknown kind (found 60)");
  wrong((heed_elementwise_desc){.kind = HEED_ELEMENTWISE_EXP}, HEED_SHAPE(2), HEED_SHAPE(2),
        "elementwise: too many inputs (found 2, expected 1)");
  wrong((heed_elementwise_desc){.kind = HEED_ELEMENTWISE_SELECT}, HEED_SHAPE(2), HEED_SHAPE(2),
        "elementwise: c: unknown value");
  wrong((heed_elementwise_desc){.kind = HEED_ELEMENTWISE_ADD, .dtype = HEED_F16}, HEED_SHAPE(2),
        HEED_SHAPE(2), "elementwise: wrong dtype (found F16, expected F32, I32 or U8)");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds),
                                     cmocka_unit_test(test_special),
                                     cmocka_unit_test(test_power_and_remainder),
                                     cmocka_unit_test(test_broadcast),
                                     cmocka_unit_test(test_random_shapes),
                                     cmocka_unit_test(test_dtypes),
                                     cmocka_unit_test(test_same_bits),
                                     cmocka_unit_test(test_wrong)};
  return cmocka_run_group_tests_name("elementwise", tests, NULL, test_backend_close_all);
}
