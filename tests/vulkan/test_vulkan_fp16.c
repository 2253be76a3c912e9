/* The range and the rounding of fp16: values past 65504 make a plan run again in fp32, and a deep
 * ViT whose residuals reach thousands stays within 2e-3 of the largest logit, also where the device
 * rounds toward zero. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "heed/vulkan_test.h"
#include "support/test.h"
#include "vulkan/host/backend_state.h"
#include "vulkan/vulkan_test.h"

/* A graph with one input and one output, and what the log said of fp16. */
typedef struct case_run {
  heed_context *context;
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value x, y;
  heed_value residual; /* of the deep ViT, after its last layer */
  uint32_t warnings;
} case_run;

static void listen(heed_log_level level, const char *line, void *user) {
  case_run *c = user;
  if (level == HEED_LOG_WARNING && strstr(line, "65504")) c->warnings++;
}

static void start(case_run *c) {
  heed_error error;
  const heed_context_desc desc = {.struct_size = sizeof desc, .log = listen, .log_user = c};
  memset(c, 0, sizeof *c);
  assert_ok(heed_context_create(&desc, &c->context, &error));
  assert_ok(heed_graph_create(c->context, &c->graph, &error));
}

/* On Vulkan in fp16 by the kernels of a GPU or of a software device; desc NULL: on the CPU. */
static void open_case(case_run *c, const heed_vulkan_desc *desc) {
  heed_error error;
  if (desc)
    assert_ok(heed_vulkan_backend_create(c->context, desc, &c->backend, &error));
  else
    assert_ok(heed_cpu_backend_create(c->context, NULL, &c->backend, &error));
  heed_graph_output(c->graph, c->y);
  assert_ok(heed_graph_status(c->graph, &error));
  assert_ok(heed_plan_create(c->graph, c->backend, NULL, &c->plan, &error));
  assert_ok(heed_session_create(c->plan, NULL, &c->session, &error));
}

static void run_case(case_run *c, const float *x, size_t x_count, float *y, size_t y_count) {
  heed_error error;
  if (x) assert_ok(heed_session_write(c->session, c->x, x, x_count * sizeof *x, &error));
  assert_ok(heed_session_run(c->session, NULL, &error));
  assert_ok(heed_session_read(c->session, c->y, 0, y_count, y, &error));
}

static void finish(case_run *c) {
  if (c->backend) heed_session_destroy(c->session);
  heed_plan_destroy(c->plan);
  heed_graph_destroy(c->graph);
  heed_backend_destroy(c->backend);
  heed_context_destroy(c->context);
}

/* Uniform in -1 .. 1 by the element's number. */
static float number(uint64_t at, uint32_t seed) {
  uint64_t z =
      (at + 1) * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)seed * UINT64_C(0xD1B54A32D192ED03);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (float)((int64_t)(z >> 40) - (1 << 23)) / (float)(1 << 23);
}

/* ---- past 65504 */

enum { ROWS = 3, DEPTH = 8, HIDDEN = 12, COLUMNS = 4 };

typedef struct product {
  float first[HIDDEN * DEPTH], second[COLUMNS * HIDDEN], x[ROWS * DEPTH], y[ROWS * COLUMNS];
} product;

static heed_value linear(case_run *c, heed_value x, const float *weight, uint32_t rows,
                         uint32_t depth) {
  const heed_constant_desc constant = {.struct_size = sizeof constant,
                                       .dtype = HEED_F32,
                                       .shape = HEED_SHAPE(rows, depth),
                                       .data = weight};
  const heed_linear_desc desc = {
      .struct_size = sizeof desc, .x = x, .weight = heed_define_constant(c->graph, &constant)};
  return heed_define_linear(c->graph, &desc);
}

/* Two products, the first of which reaches `size`; every weight is a number of fp16. */
static void define_product(case_run *c, product *p, float size) {
  for (int i = 0; i < HIDDEN * DEPTH; i++) p->first[i] = (float)(i % 5 - 2);
  for (int i = 0; i < COLUMNS * HIDDEN; i++) p->second[i] = (float)(i % 7 - 3) / 64.0f;
  for (int i = 0; i < ROWS * DEPTH; i++) p->x[i] = size * (float)(i % 3 - 1) / 16.0f;
  for (int r = 0; r < ROWS; r++)
    for (int n = 0; n < COLUMNS; n++) {
      double sum = 0.0;
      for (int h = 0; h < HIDDEN; h++)
        for (int k = 0; k < DEPTH; k++)
          sum += (double)p->x[r * DEPTH + k] * (double)p->first[h * DEPTH + k] *
                 (double)p->second[n * HIDDEN + h];
      p->y[r * COLUMNS + n] = (float)sum;
    }
  c->x = heed_define_input(c->graph, "x", HEED_F32, &HEED_SHAPE(1, ROWS, DEPTH));
  c->y = linear(c, linear(c, c->x, p->first, HIDDEN, DEPTH), p->second, COLUMNS, HIDDEN);
}

static void expect_product(const product *p, const float *y, float size) {
  for (int i = 0; i < ROWS * COLUMNS; i++)
    if (!(fabsf(y[i] - p->y[i]) <= 1e-3f * size))
      fail_msg("element %d: found %g, expected %g", i, (double)y[i], (double)p->y[i]);
}

static void stream_product(case_run *c, const product *p, float size) {
  heed_error error;
  heed_stream *stream;
  const heed_stream_desc desc = {sizeof desc, 2, &c->x, 1, &c->y, 1};
  assert_ok(heed_stream_create(c->session, &desc, &stream, &error));
  for (int i = 0; i < 4; i++) {
    float y[ROWS * COLUMNS];
    const void *const inputs[] = {p->x};
    void *const outputs[] = {y};
    assert_ok(heed_stream_submit(stream, inputs, &error));
    if (i == 0) assert_ok(heed_stream_submit(stream, inputs, &error)); /* two in flight */
    assert_ok(heed_stream_collect(stream, outputs, &error));
    expect_product(p, y, size);
  }
  heed_stream_destroy(stream);
}

static void check_range(bool gpu_kernels, float size, uint32_t warnings, bool streams) {
  heed_vulkan_test played = {.gpu_kernels = gpu_kernels};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.precision = HEED_VULKAN_PRECISION_F16;
  case_run c;
  product p;
  float y[ROWS * COLUMNS];
  start(&c);
  define_product(&c, &p, size);
  open_case(&c, &desc);
  if (streams) {
    stream_product(&c, &p, size);
  } else {
    run_case(&c, p.x, ROWS * DEPTH, y, ROWS * COLUMNS);
    expect_product(&p, y, size);
    run_case(&c, NULL, 0, y, ROWS * COLUMNS); /* the input is still there */
    expect_product(&p, y, size);
  }
  assert_int_equal(c.warnings, warnings);
  assert_int_equal(heed_vulkan_message_count(c.backend), 0);
  finish(&c);
}

static void test_range(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (int gpu_kernels = 0; gpu_kernels < 2; gpu_kernels++)
    for (int streams = 0; streams < 2; streams++) {
      check_range(gpu_kernels, 1e3f, 0, streams);
      check_range(gpu_kernels, 1e6f, 1, streams); /* the hidden values */
      check_range(gpu_kernels, 4e6f, 1, streams); /* x, which matrices convert */
    }
}

/* ---- rounding of what passes between two products */

/* A power of two plus quarters of its last bit in fp16, in two numbers of fp16. */
static float quarters(int i, float *rest) {
  const float size = ldexpf(i % 2 ? -1.0f : 1.0f, i / 8 % 9 - 4);
  *rest = size * (float)(i % 8) * 0x1p-12f;
  return size;
}

/* The multiple of `unit` nearest to a whole number of quarters of it, of two the even one; or the
 * one toward zero. */
static float rounded(int count, bool truncates) {
  const int whole = count / 4, part = count % 4;
  return (float)(whole + (!truncates && (part > 2 || (part == 2 && whole % 2 == 1))));
}

enum { ROUNDED_ROWS = 80 };

/* The first product adds two numbers of fp16, the second one copies the sum. */
static void check_rounding(bool gpu_kernels, bool truncates) {
  heed_vulkan_test played = {.gpu_kernels = gpu_kernels, .truncates = truncates};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.precision = HEED_VULKAN_PRECISION_F16;
  float first[HIDDEN * DEPTH] = {0}, second[COLUMNS * HIDDEN] = {0};
  float x[ROUNDED_ROWS * DEPTH] = {0}, y[ROUNDED_ROWS * COLUMNS];
  for (int i = 0; i < ROUNDED_ROWS; i++) x[i * DEPTH] = quarters(i, &x[i * DEPTH + 1]);
  for (int h = 0; h < HIDDEN; h++) first[h * DEPTH] = first[h * DEPTH + 1] = 1.0f;
  for (int n = 0; n < COLUMNS; n++) second[n * HIDDEN + n] = 1.0f;
  case_run c;
  start(&c);
  c.x = heed_define_input(c.graph, "x", HEED_F32, &HEED_SHAPE(1, ROUNDED_ROWS, DEPTH));
  c.y = linear(&c, linear(&c, c.x, first, HIDDEN, DEPTH), second, COLUMNS, HIDDEN);
  open_case(&c, &desc);
  run_case(&c, x, ROUNDED_ROWS * DEPTH, y, ROUNDED_ROWS * COLUMNS);
  for (int i = 0; i < ROUNDED_ROWS; i++) {
    const float want = x[i * DEPTH] * (1.0f + rounded(i % 8, truncates) * 0x1p-10f);
    for (int n = 0; n < COLUMNS; n++)
      if (y[i * COLUMNS + n] != want)
        fail_msg("row %d: found %.9g, expected %.9g", i, (double)y[i * COLUMNS + n], (double)want);
  }
  finish(&c);
}

static void test_rounding(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (int gpu_kernels = 0; gpu_kernels < 2; gpu_kernels++)
    for (int truncates = 0; truncates < 2; truncates++) check_rounding(gpu_kernels, truncates);
}

enum { HALVES = 0x7C00, SQUARE = 8, HALF_ROWS = 4 * HALVES / SQUARE };

/* A number of fp16; the middle between it and the next one; the floats beside that. */
static float near_half(int i) {
  const uint16_t low = (uint16_t)(i / 4);
  const float here = heed_f16_to_f32(low);
  if (i % 4 == 0 || low == HALVES - 1) return here; /* past 65504 a plan runs again */
  const float middle = 0.5f * (here + heed_f16_to_f32(low + 1));
  return i % 4 == 1 ? nextafterf(middle, 0.0f) : i % 4 == 2 ? middle : nextafterf(middle, 1e6f);
}

static void check_halves(bool gpu_kernels) {
  heed_vulkan_test played = {.gpu_kernels = gpu_kernels};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.precision = HEED_VULKAN_PRECISION_F16;
  static float x[HALF_ROWS * SQUARE], y[HALF_ROWS * SQUARE];
  float copies[SQUARE * SQUARE] = {0};
  for (int i = 0; i < SQUARE; i++) copies[i * SQUARE + i] = 1.0f;
  for (int i = 0; i < HALF_ROWS * SQUARE; i++) x[i] = i / 4 % 3 == 1 ? -near_half(i) : near_half(i);
  case_run c;
  start(&c);
  c.x = heed_define_input(c.graph, "x", HEED_F32, &HEED_SHAPE(1, HALF_ROWS, SQUARE));
  c.y = linear(&c, linear(&c, c.x, copies, SQUARE, SQUARE), copies, SQUARE, SQUARE);
  open_case(&c, &desc);
  run_case(&c, x, HALF_ROWS * SQUARE, y, HALF_ROWS * SQUARE);
  const bool converts = ((heed_vk_backend *)c.backend)->device.limits.matrix.rows != 0;
  for (int i = 0; i < HALF_ROWS * SQUARE && !converts; i++) {
    const float want = heed_f16_to_f32(heed_f32_to_f16(x[i]));
    if (y[i] != want)
      fail_msg("%a: found %a, expected %a", (double)x[i], (double)y[i], (double)want);
  }
  assert_int_equal(c.warnings, 0);
  finish(&c);
}

/* Around every number of fp16, those below 2^-14 too, to the nearest, of two the even one. */
static void test_halves(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (int gpu_kernels = 0; gpu_kernels < 2; gpu_kernels++) check_halves(gpu_kernels);
}

enum { CHAIN = 12, CHAIN_WIDE = 64, CHAIN_ROWS = 8 };

/* How far a chain of products of positive numbers is off, relative to the largest result. */
static double chain_error(bool gpu_kernels, bool truncates) {
  static float weight[CHAIN][CHAIN_WIDE * CHAIN_WIDE];
  static float x[CHAIN_ROWS * CHAIN_WIDE], y[CHAIN_ROWS * CHAIN_WIDE];
  static double want[CHAIN_ROWS * CHAIN_WIDE], next[CHAIN_ROWS * CHAIN_WIDE];
  heed_vulkan_test played = {.gpu_kernels = gpu_kernels, .truncates = truncates};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.precision = HEED_VULKAN_PRECISION_F16;
  for (int i = 0; i < CHAIN_ROWS * CHAIN_WIDE; i++)
    x[i] = (float)(1 + i * 37 % 101) / 128.0f, want[i] = (double)x[i];
  case_run c;
  start(&c);
  c.y = c.x = heed_define_input(c.graph, "x", HEED_F32, &HEED_SHAPE(1, CHAIN_ROWS, CHAIN_WIDE));
  for (int l = 0; l < CHAIN; l++) {
    for (int i = 0; i < CHAIN_WIDE * CHAIN_WIDE; i++) /* numbers of fp16, 1 in a row */
      weight[l][i] = (float)(1 + (i * 29 + i / CHAIN_WIDE * 7 + l * 13) % 31) / 1024.0f;
    c.y = linear(&c, c.y, weight[l], CHAIN_WIDE, CHAIN_WIDE);
    for (int i = 0; i < CHAIN_ROWS * CHAIN_WIDE; i++) {
      next[i] = 0.0;
      for (int k = 0; k < CHAIN_WIDE; k++)
        next[i] += want[i / CHAIN_WIDE * CHAIN_WIDE + k] *
                   (double)weight[l][i % CHAIN_WIDE * CHAIN_WIDE + k];
    }
    memcpy(want, next, sizeof want);
  }
  open_case(&c, &desc);
  run_case(&c, x, CHAIN_ROWS * CHAIN_WIDE, y, CHAIN_ROWS * CHAIN_WIDE);
  finish(&c);
  double off = 0.0, largest = 0.0;
  for (int i = 0; i < CHAIN_ROWS * CHAIN_WIDE; i++) {
    off = fmax(off, fabs((double)y[i] - want[i]));
    largest = fmax(largest, fabs(want[i]));
  }
  return off / largest;
}

/* Truncation makes every number smaller, so its errors add up: packing by the device's own rule
 * would miss the bound of 2e-3 where that rule is toward zero. */
static void test_chain(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (int gpu_kernels = 0; gpu_kernels < 2; gpu_kernels++) {
    const double nearest = chain_error(gpu_kernels, false), zero = chain_error(gpu_kernels, true);
    printf("%d products: off by %.3g to nearest, %.3g toward zero\n", CHAIN, nearest, zero);
    assert_true(nearest <= 1e-3);
    assert_true(zero > 2e-3);
  }
}

/* ---- attention whose factors fp16 does not hold, or whose weights it hardly does */

enum { QUERIES = 4, HEAD = 16 };

/* One head, [query, key, value] one after the other in x; logits are 0 for key 0 and `others` for
 * the rest. Query and key are multiplied and divided by `size`. */
static void define_heads(case_run *c, float *x, uint32_t keys, float others, float size) {
  const heed_shape query = HEED_SHAPE(1, 1, QUERIES, HEAD), key = HEED_SHAPE(1, 1, keys, HEAD);
  memset(x, 0, (QUERIES + 2 * (size_t)keys) * HEAD * sizeof *x);
  for (uint32_t i = 0; i < QUERIES; i++) x[i * HEAD] = size;
  for (uint32_t j = 1; j < keys; j++) {
    x[(QUERIES + j) * HEAD] = others / size;
    x[(QUERIES + keys + j) * HEAD + 3] = 1.0f;
  }
  const uint64_t at = (uint64_t)QUERIES * HEAD, count = (uint64_t)keys * HEAD;
  c->x = heed_define_input(c->graph, "x", HEED_F32, &HEED_SHAPE(1, QUERIES + 2 * keys, HEAD));
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = heed_define_view(c->graph, c->x, 0, &query),
                                    .key = heed_define_view(c->graph, c->x, at, &key),
                                    .value = heed_define_view(c->graph, c->x, at + count, &key),
                                    .scale = 1.0f};
  c->y = heed_define_attention(c->graph, &desc).output;
}

/* converted: matrices would have to convert what fp16 does not hold, and the plan runs again. */
static void check_heads(uint32_t keys, float others, float size, bool converted) {
  const heed_vulkan_test played = {.gpu_kernels = true};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.precision = HEED_VULKAN_PRECISION_F16;
  const size_t count = (QUERIES + 2 * (size_t)keys) * HEAD;
  float *x = malloc(count * sizeof *x), y[QUERIES * HEAD];
  assert_non_null(x);
  case_run c;
  start(&c);
  define_heads(&c, x, keys, others, size);
  open_case(&c, &desc);
  run_case(&c, x, count, y, QUERIES * HEAD);
  const double rest = (keys - 1) * exp((double)others), want = rest / (1.0 + rest);
  for (int i = 0; i < QUERIES; i++)
    if (!(fabs((double)y[i * HEAD + 3] - want) <= 0.01 * want))
      fail_msg("query %d: found %g, expected %g", i, (double)y[i * HEAD + 3], want);
  const bool matrices = ((heed_vk_backend *)c.backend)->device.limits.matrix.rows != 0;
  assert_int_equal(c.warnings, converted && matrices);
  assert_int_equal(heed_vulkan_message_count(c.backend), 0);
  finish(&c);
  free(x);
}

static void test_large_factors(void **state) {
  (void)state;
  vulkan_test_need_device();
  check_heads(40, -2.0f, 1.0f, false);
  check_heads(40, -2.0f, 131072.0f, true);        /* the query */
  check_heads(40, -2.0f, 1.0f / 131072.0f, true); /* keys */
}

/* Weights of 8.8e-8 are 1.5 of the smallest steps of fp16, but together they are a part in 2800. */
static void test_long_rows(void **state) {
  (void)state;
  vulkan_test_need_device();
  check_heads(4096, -16.25f, 1.0f, false);
}

/* ---- what is hidden, and what is not, between two products in fp16 */

enum { SEEN = 20, BODY = 32, HIDERS = 2, BIASED = 5, LOWEST = 6 };
static const int odd_tokens[] = {3, 7, 11}; /* with NaN, Inf and -Inf */

typedef struct hidden_case {
  float qkv[3 * BODY * BODY], out[BODY * BODY], bias[SEEN * SEEN], x[SEEN * BODY];
  uint8_t padding[SEEN]; /* 0 hides the odd tokens */
} hidden_case;

static void fill_hidden(hidden_case *h, bool hides) {
  const float odd[] = {NAN, INFINITY, -INFINITY};
  for (uint32_t i = 0; i < 3 * BODY * BODY; i++) h->qkv[i] = 0.3f * number(i, 1);
  for (uint32_t i = 0; i < BODY * BODY; i++) h->out[i] = 0.3f * number(i, 2);
  for (uint32_t i = 0; i < SEEN * BODY; i++) h->x[i] = number(i, 3);
  for (uint32_t i = 0; i < SEEN * SEEN; i++)
    h->bias[i] = i % SEEN == BIASED ? -INFINITY : i % SEEN == LOWEST ? -FLT_MAX : 0.0f;
  memset(h->padding, 1, sizeof h->padding);
  for (int i = 0; i < 3; i++) {
    h->x[odd_tokens[i] * BODY + 4] = odd[i];
    h->padding[odd_tokens[i]] = !hides;
  }
  h->x[BIASED * BODY] = NAN; /* hidden by its bias, and LOWEST hides nothing */
}

static void define_hidden(case_run *c, const hidden_case *h) {
  const heed_shape part = HEED_SHAPE(1, HIDERS, SEEN, BODY / HIDERS);
  const heed_constant_desc weight = {.struct_size = sizeof weight,
                                     .dtype = HEED_F32,
                                     .shape = HEED_SHAPE(3 * BODY, BODY),
                                     .data = h->qkv},
                           bias = {.struct_size = sizeof bias,
                                   .dtype = HEED_F32,
                                   .shape = HEED_SHAPE(1, 1, SEEN, SEEN),
                                   .data = h->bias},
                           padding = {.struct_size = sizeof padding,
                                      .dtype = HEED_U8,
                                      .shape = HEED_SHAPE(1, SEEN),
                                      .data = h->padding};
  c->x = heed_define_input(c->graph, "x", HEED_F32, &HEED_SHAPE(1, SEEN, BODY));
  const heed_linear_desc qkv = {.struct_size = sizeof qkv,
                                .x = c->x,
                                .weight = heed_define_constant(c->graph, &weight),
                                .heads = HIDERS,
                                .parts = 3};
  const heed_value all = heed_define_linear(c->graph, &qkv);
  const heed_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = heed_define_view(c->graph, all, 0, &part),
      .key = heed_define_view(c->graph, all, SEEN * BODY, &part),
      .value = heed_define_view(c->graph, all, UINT64_C(2) * SEEN * BODY, &part),
      .bias = heed_define_constant(c->graph, &bias),
      .key_padding = heed_define_constant(c->graph, &padding),
      .merge_heads = true};
  c->y = linear(c, heed_define_attention(c->graph, &desc).output, h->out, BODY, BODY);
}

static void run_hidden(hidden_case *h, const heed_vulkan_desc *desc, float *y) {
  case_run c;
  start(&c);
  define_hidden(&c, h);
  open_case(&c, desc);
  run_case(&c, h->x, SEEN * BODY, y, SEEN * BODY);
  assert_int_equal(c.warnings, 0); /* Inf and NaN are no numbers past 65504 */
  finish(&c);
}

static void check_hidden(bool hides, bool gpu_kernels, bool truncates) {
  static hidden_case h;
  float want[SEEN * BODY], found[SEEN * BODY];
  heed_vulkan_test played = {.gpu_kernels = gpu_kernels, .truncates = truncates};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.precision = HEED_VULKAN_PRECISION_F16;
  fill_hidden(&h, hides);
  run_hidden(&h, NULL, want);
  run_hidden(&h, &desc, found);
  int numbers = 0;
  for (int i = 0; i < SEEN * BODY; i++) {
    numbers += isfinite(want[i]) != 0;
    if (isnan(want[i]) ? !isnan(found[i]) : !(fabsf(found[i] - want[i]) <= 2e-3f))
      fail_msg("token %d (%s, kernels of a %s, %s): found %g, expected %g", i / BODY,
               hides ? "odd tokens hidden" : "all seen", gpu_kernels ? "GPU" : "software device",
               truncates ? "toward zero" : "to nearest", (double)found[i], (double)want[i]);
  }
  assert_int_equal(numbers, hides ? (SEEN - 4) * BODY : 0);
}

/* A NaN or an Inf that is hidden reaches no other token, and one that is not reaches all, also
 * where what is packed is rounded toward zero. */
static void test_hidden(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (int way = 0; way < 8; way++) check_hidden(way & 1, way & 2, way & 4);
}

/* ---- a deep ViT */

enum { LAYERS = 24, WIDE = 1024, HEADS = 16, MLP = 4096, TOKENS = 17, CLASSES = 16, SETS = 3 };
enum { MARKED_LAYER = 3, MARKED_CHANNEL = 7, MARKED_TOKEN = 5 };

/* A weight by its seed. `marked`: the layer whose first hidden unit sees the marked channel, and
 * whose second product makes thousands of it in two channels of the residual. */
typedef struct weight {
  uint32_t rows, depth, seed, marked;
  float scale;
} weight;

static heed_status read_weight(void *user, uint64_t first, uint64_t count, void *to,
                               heed_error *error) {
  const weight *w = user;
  (void)error;
  for (uint64_t i = 0; i < count; i++) {
    const uint64_t row = (first + i) / w->depth, column = (first + i) % w->depth;
    float v = w->scale * number(first + i, w->seed);
    if (w->marked == 1 && row == 0) v = column == MARKED_CHANNEL ? 1.0f : 0.0f;
    if (w->marked == 2 && column == 0) v = row == 100 ? 250.0f : row == 700 ? -160.0f : 0.0f;
    ((float *)to)[i] = v;
  }
  return HEED_OK;
}

typedef struct deep {
  weight weights[4 * (SETS + 1) + 1];
  heed_value constants[4 * (SETS + 1) + 1];
  float gain[WIDE], bias[MLP], marked_bias[MLP], x[TOKENS * WIDE];
  heed_value gain_value, bias_value[2];
} deep;

static heed_value vector(case_run *c, const float *data, uint32_t count) {
  const heed_constant_desc desc = {
      .struct_size = sizeof desc, .dtype = HEED_F32, .shape = HEED_SHAPE(count), .data = data};
  return heed_define_constant(c->graph, &desc);
}

static void define_weight(case_run *c, deep *d, uint32_t at, weight w) {
  d->weights[at] = w;
  const heed_constant_desc desc = {.struct_size = sizeof desc,
                                   .dtype = HEED_F32,
                                   .shape = HEED_SHAPE(w.rows, w.depth),
                                   .read = read_weight,
                                   .read_user = &d->weights[at]};
  d->constants[at] = heed_define_constant(c->graph, &desc);
}

static heed_value norm(case_run *c, const deep *d, heed_value x) {
  const heed_layer_norm_desc desc = {
      .struct_size = sizeof desc, .x = x, .gain = d->gain_value, .epsilon = 1e-6f};
  return heed_define_layer_norm(c->graph, &desc);
}

static heed_value attend(case_run *c, heed_value qkv) {
  const heed_shape part = HEED_SHAPE(1, HEADS, TOKENS, WIDE / HEADS);
  const uint64_t size = (uint64_t)TOKENS * WIDE;
  const heed_attention_desc desc = {.struct_size = sizeof desc,
                                    .query = heed_define_view(c->graph, qkv, 0, &part),
                                    .key = heed_define_view(c->graph, qkv, size, &part),
                                    .value = heed_define_view(c->graph, qkv, 2 * size, &part),
                                    .merge_heads = true};
  return heed_define_attention(c->graph, &desc).output;
}

static heed_value define_layer(case_run *c, const deep *d, uint32_t layer, heed_value x) {
  const heed_value *w = d->constants + 4 * (layer == MARKED_LAYER ? SETS : layer % SETS);
  const heed_linear_desc qkv = {
      .struct_size = sizeof qkv, .x = norm(c, d, x), .weight = w[0], .heads = HEADS, .parts = 3};
  const heed_linear_desc out = {.struct_size = sizeof out,
                                .x = attend(c, heed_define_linear(c->graph, &qkv)),
                                .weight = w[1],
                                .residual = x};
  const heed_value y = heed_define_linear(c->graph, &out);
  const heed_linear_desc up = {.struct_size = sizeof up,
                               .x = norm(c, d, y),
                               .weight = w[2],
                               .bias = d->bias_value[layer == MARKED_LAYER],
                               .activation = HEED_ACTIVATION_GELU};
  const heed_linear_desc down = {.struct_size = sizeof down,
                                 .x = heed_define_linear(c->graph, &up),
                                 .weight = w[3],
                                 .residual = y};
  return heed_define_linear(c->graph, &down);
}

static void define_deep(case_run *c, deep *d) {
  memset(d, 0, sizeof *d);
  for (uint32_t set = 0; set <= SETS; set++) {
    const uint32_t seed = 10 * set, marked = set == SETS;
    define_weight(c, d, 4 * set, (weight){3 * WIDE, WIDE, seed + 1, 0, 0.06f});
    define_weight(c, d, 4 * set + 1, (weight){WIDE, WIDE, seed + 2, 0, 0.06f});
    define_weight(c, d, 4 * set + 2, (weight){MLP, WIDE, seed + 3, marked, 0.06f});
    define_weight(c, d, 4 * set + 3, (weight){WIDE, MLP, seed + 4, 2 * marked, 0.03f});
  }
  define_weight(c, d, 4 * (SETS + 1), (weight){CLASSES, WIDE, 99, 0, 0.06f});
  for (int i = 0; i < WIDE; i++) d->gain[i] = i == 100 || i == 700 ? 0.05f : 1.0f;
  d->marked_bias[0] = -5.0f; /* the unit sleeps for all other tokens */
  for (uint32_t i = 0; i < TOKENS * WIDE; i++) d->x[i] = number(i, 7);
  d->x[MARKED_TOKEN * WIDE + MARKED_CHANNEL] = 40.0f;
  d->gain_value = vector(c, d->gain, WIDE);
  d->bias_value[0] = vector(c, d->bias, MLP);
  d->bias_value[1] = vector(c, d->marked_bias, MLP);
  c->x = heed_define_input(c->graph, "x", HEED_F32, &HEED_SHAPE(1, TOKENS, WIDE));
  heed_value x = c->x;
  for (uint32_t layer = 0; layer < LAYERS; layer++) x = define_layer(c, d, layer, x);
  c->residual = x;
  const heed_linear_desc head = {
      .struct_size = sizeof head, .x = norm(c, d, x), .weight = d->constants[4 * (SETS + 1)]};
  c->y = heed_define_linear(c->graph, &head);
}

/* The residual has outliers like those of pretrained models. */
static void expect_thousands(case_run *c) {
  static float residual[TOKENS * WIDE];
  float largest = 0.0f;
  heed_error error;
  assert_ok(heed_session_read(c->session, c->residual, 0, TOKENS * WIDE, residual, &error));
  for (int i = 0; i < TOKENS * WIDE; i++) largest = fmaxf(largest, fabsf(residual[i]));
  printf("24 layers: the residual reaches %.0f\n", (double)largest);
  assert_true(largest > 2000.0f);
}

static void run_deep(deep *d, const heed_vulkan_desc *desc, float *logits) {
  case_run c;
  start(&c);
  define_deep(&c, d);
  if (!desc) heed_graph_output(c.graph, c.residual);
  open_case(&c, desc);
  run_case(&c, d->x, TOKENS * WIDE, logits, TOKENS * CLASSES);
  if (!desc) expect_thousands(&c);
  assert_int_equal(c.warnings, 0);
  finish(&c);
}

static void test_deep(void **state) {
  (void)state;
  vulkan_test_need_device();
  static float want[TOKENS * CLASSES], found[TOKENS * CLASSES];
  deep *d = malloc(sizeof *d);
  assert_non_null(d);
  run_deep(d, NULL, want);
  for (int truncates = 0; truncates < 2; truncates++) {
    heed_vulkan_test played = {.truncates = truncates};
    heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
    double largest = 0.0, off = 0.0;
    desc.test = &played;
    desc.precision = HEED_VULKAN_PRECISION_F16;
    run_deep(d, &desc, found);
    for (int i = 0; i < TOKENS * CLASSES; i++) {
      largest = fmax(largest, fabs((double)want[i]));
      off = fmax(off, fabs((double)found[i] - (double)want[i]));
      assert_true(isfinite(found[i]));
    }
    printf("24 layers, %s: off by %.3g of the largest logit (%.3g)\n",
           truncates ? "toward zero" : "to nearest", off / largest, largest);
    assert_true(off <= 2e-3 * largest);
  }
  free(d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_range),         cmocka_unit_test(test_rounding),
      cmocka_unit_test(test_halves),        cmocka_unit_test(test_chain),
      cmocka_unit_test(test_large_factors), cmocka_unit_test(test_long_rows),
      cmocka_unit_test(test_hidden),        cmocka_unit_test(test_deep)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
