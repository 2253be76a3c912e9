/* Reverse mode (graph/gradient): adjoints of single ops and of small graphs against central
 * differences of the same graph, on every CPU level. Whole models are compared with float64
 * autograd in test_explain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/gradient/gradient.h"
#include "support/op_test.h"

enum { INPUTS = 3, MOST = 512 };
static heed_error error;

/* What a case makes of its inputs; the constants are random numbers that stay. */
typedef struct maker {
  heed_graph *graph;
  heed_value in[INPUTS];
  test_random random;
  float *kept[16];
  size_t count;
  int variant;
} maker;
typedef heed_value make_value(maker *m);

static heed_value constant(maker *m, heed_shape shape) {
  const size_t count = (size_t)heed_shape_count(&shape);
  assert_true(m->count < sizeof m->kept / sizeof *m->kept);
  const heed_constant_desc desc = {
      .struct_size = sizeof desc,
      .dtype = HEED_F32,
      .shape = shape,
      .data = m->kept[m->count++] = op_test_random(&m->random, count, 1.0f)};
  return heed_define_constant(m->graph, &desc);
}

static heed_value make_activation(maker *m) {
  const heed_activation_desc desc = {sizeof desc, m->in[0], (heed_activation)m->variant,
                                     HEED_ACTIVATION_VALUE};
  return heed_define_activation(m->graph, &desc);
}
static heed_value make_add(maker *m) {
  const heed_add_desc desc = {sizeof desc, m->in[0], m->in[1]};
  return heed_define_add(m->graph, &desc);
}
static heed_value make_multiply(maker *m) {
  const heed_multiply_desc desc = {sizeof desc, m->in[0], m->in[1]};
  return heed_define_multiply(m->graph, &desc);
}
static heed_value make_square(maker *m) {
  const heed_multiply_desc desc = {sizeof desc, m->in[0], m->in[0]};
  return heed_define_multiply(m->graph, &desc);
}
static heed_value make_softmax(maker *m) {
  const heed_softmax_desc desc = {sizeof desc, m->in[0]};
  return heed_define_softmax(m->graph, &desc);
}
static heed_value make_concat(maker *m) {
  const heed_concat_desc desc = {
      sizeof desc, {m->in[0], m->in[1], m->in[2]}, 3, (uint32_t)m->variant};
  return heed_define_concat(m->graph, &desc);
}
static heed_value make_select_rows(maker *m) {
  const heed_select_rows_desc desc = {sizeof desc, m->in[0], 1, 2};
  return heed_define_select_rows(m->graph, &desc);
}
static heed_value make_permute(maker *m) {
  const heed_permute_desc desc = {sizeof desc, m->in[0], {2, 0, 3, 1}};
  return heed_define_permute(m->graph, &desc);
}
static heed_value make_layer_norm(maker *m) {
  const heed_layer_norm_desc desc = {
      sizeof desc, m->in[0],       constant(m, HEED_SHAPE(7)), constant(m, HEED_SHAPE(7)),
      1e-3f,       m->variant == 1};
  return heed_define_layer_norm(m->graph, &desc);
}
static heed_value make_rotary(maker *m) {
  const heed_shape shape = m->variant & 2 ? HEED_SHAPE(2, 3, 2) : HEED_SHAPE(3, 2);
  const heed_rotary_desc desc = {.struct_size = sizeof desc,
                                 .x = m->in[0],
                                 .cos = constant(m, shape),
                                 .sin = constant(m, shape),
                                 .first = 1,
                                 .interleaved = m->variant & 1};
  return heed_define_rotary(m->graph, &desc);
}
static heed_value make_patches(maker *m) {
  const heed_patch_embedding_desc desc = {
      sizeof desc, m->in[0], constant(m, HEED_SHAPE(5, 2, 3, 3)), constant(m, HEED_SHAPE(5))};
  return heed_define_patch_embedding(m->graph, &desc);
}
/* 0: with an activation; 1: and a residual; 2: head-major, of which overlapping views are read. */
static heed_value make_linear(maker *m) {
  const bool heads = m->variant == 2;
  const heed_linear_desc desc = {.struct_size = sizeof desc,
                                 .x = m->in[0],
                                 .weight = constant(m, HEED_SHAPE(12, 5)),
                                 .bias = constant(m, HEED_SHAPE(12)),
                                 .residual = m->variant == 1 ? m->in[1] : (heed_value){0},
                                 .activation = HEED_ACTIVATION_GELU,
                                 .heads = heads ? 2 : 0,
                                 .parts = heads ? 3 : 0};
  const heed_value y = heed_define_linear(m->graph, &desc);
  if (!heads) return y;
  const heed_shape one = HEED_SHAPE(2, 2, 3, 2), two = HEED_SHAPE(1, 24);
  const heed_value a = heed_define_view(m->graph, y, 30, &one),
                   b = heed_define_view(m->graph, y, 20, &two);
  const heed_multiply_desc product = {sizeof product, heed_define_reshape(m->graph, a, &two), b};
  return heed_define_multiply(m->graph, &product);
}
/* bits: 1 merged, 2 causal, 4 a scale and a bias */
static heed_value make_attention(maker *m) {
  const heed_attention_desc desc = {
      .struct_size = sizeof desc,
      .query = m->in[0],
      .key = m->in[1],
      .value = m->in[2],
      .merge_heads = m->variant & 1,
      .causal = m->variant & 2 ? HEED_CAUSAL_TOP_LEFT : HEED_CAUSAL_NONE,
      .scale = m->variant & 4 ? 0.7f : 0.0f,
      .bias = m->variant & 4 ? constant(m, HEED_SHAPE(1, 2, 4, 5)) : (heed_value){0}};
  return heed_define_attention(m->graph, &desc).output;
}

/* Two blocks of a stage each: x + W gelu(norm(x)), and attention of the sum to itself. */
static heed_value make_stages(maker *m) {
  const heed_shape apart = HEED_SHAPE(1, 1, 4, 6), joined = HEED_SHAPE(1, 4, 6);
  heed_value x = m->in[0];
  for (uint32_t stage = 1; stage <= 2; stage++) {
    heed_graph_stage(m->graph, stage);
    const heed_layer_norm_desc norm = {
        sizeof norm, x, constant(m, HEED_SHAPE(6)), constant(m, HEED_SHAPE(6)), 1e-3f, false};
    const heed_linear_desc linear = {.struct_size = sizeof linear,
                                     .x = heed_define_layer_norm(m->graph, &norm),
                                     .weight = constant(m, HEED_SHAPE(6, 6)),
                                     .bias = constant(m, HEED_SHAPE(6)),
                                     .residual = x,
                                     .activation = HEED_ACTIVATION_GELU};
    const heed_value y =
        heed_define_reshape(m->graph, heed_define_linear(m->graph, &linear), &apart);
    const heed_attention_desc attention = {
        .struct_size = sizeof attention, .query = y, .key = y, .value = y};
    x = heed_define_reshape(m->graph, heed_define_attention(m->graph, &attention).output, &joined);
  }
  return x;
}

static const struct gradient_case {
  const char *name;
  make_value *make;
  heed_shape in[INPUTS];
  int variants;
} cases[] = {
    {"activation", make_activation, {{2, {3, 11}}}, HEED_ACTIVATION_ELU_PLUS_ONE + 1},
    {"add", make_add, {{3, {2, 3, 4}}, {2, {3, 1}}}, 1},
    {"add, same", make_add, {{2, {2, 3}}, {2, {2, 3}}}, 1},
    {"multiply", make_multiply, {{3, {2, 3, 4}}, {2, {3, 1}}}, 1},
    {"square", make_square, {{3, {2, 3, 4}}}, 1},
    {"softmax", make_softmax, {{2, {3, 9}}}, 1},
    {"concat", make_concat, {{3, {2, 3, 4}}, {3, {1, 3, 4}}, {3, {3, 3, 4}}}, 1},
    {"select_rows", make_select_rows, {{3, {2, 4, 3}}}, 1},
    {"permute", make_permute, {{4, {2, 3, 4, 2}}}, 1},
    {"layer_norm", make_layer_norm, {{2, {3, 7}}}, 2},
    {"rotary", make_rotary, {{4, {2, 2, 4, 5}}}, 4},
    {"patch_embedding", make_patches, {{4, {2, 2, 7, 9}}}, 1},
    {"linear", make_linear, {{3, {2, 3, 5}}, {3, {2, 3, 12}}}, 3},
    {"stages", make_stages, {{3, {1, 4, 6}}}, 1},
    {"attention", make_attention, {{4, {2, 2, 4, 3}}, {4, {2, 2, 5, 3}}, {4, {2, 2, 5, 4}}}, 8}};

/* A graph with its reverse pass, ready to run. */
typedef struct ready {
  maker m;
  heed_value y, gradient[INPUTS];
  heed_plan *plan;
  heed_session *session;
  float in[INPUTS][MOST], seed[MOST];
  size_t in_count[INPUTS], count;
} ready;

/* frugal: nothing is kept for the reverse pass, and two queries go back at a time. */
static void open_case(ready *r, const struct gradient_case *c, int variant, bool frugal,
                      heed_backend *backend) {
  *r = (ready){.m = {.random = {17 + (uint64_t)variant}, .variant = variant}};
  assert_ok(heed_graph_create(test_backend_context(), &r->m.graph, &error));
  uint32_t inputs = 0;
  for (; inputs < INPUTS && c->in[inputs].rank; inputs++) {
    char name[8];
    snprintf(name, sizeof name, "x%u", inputs);
    r->m.in[inputs] = heed_define_input(r->m.graph, name, HEED_F32, &c->in[inputs]);
    r->in_count[inputs] = (size_t)heed_shape_count(&c->in[inputs]);
    assert_true(r->in_count[inputs] <= MOST);
    for (size_t i = 0; i < r->in_count[inputs]; i++)
      r->in[inputs][i] = test_random_normal(&r->m.random);
  }
  heed_value_info info;
  r->y = c->make(&r->m);
  assert_ok(heed_graph_status(r->m.graph, &error));
  assert_ok(heed_graph_value_info(r->m.graph, r->y, &info));
  r->count = (size_t)heed_shape_count(&info.shape);
  assert_true(r->count <= MOST);
  for (size_t i = 0; i < r->count; i++) r->seed[i] = test_random_normal(&r->m.random);
  const heed_constant_desc seed = {
      .struct_size = sizeof seed, .dtype = HEED_F32, .shape = info.shape, .data = r->seed};
  const heed_gradient_desc desc = {.of = r->y,
                                   .seed = heed_define_constant(r->m.graph, &seed),
                                   .wanted = r->m.in,
                                   .wanted_count = inputs,
                                   .held_bytes = frugal,
                                   .block_bytes = frugal ? 160 : 0};
  assert_ok(heed_graph_gradient(r->m.graph, &desc, r->gradient, &error));
  const heed_value taps[] = {r->y, r->gradient[0], r->gradient[1], r->gradient[2]};
  const heed_plan_desc plan = {sizeof plan, taps, 1 + inputs, HEED_ATTENTION_MODE_AUTO};
  assert_ok(heed_plan_create(r->m.graph, backend, &plan, &r->plan, &error));
  assert_ok(heed_session_create(r->plan, NULL, &r->session, &error));
}

static void close_case(ready *r) {
  heed_session_destroy(r->session);
  heed_plan_destroy(r->plan);
  heed_graph_destroy(r->m.graph);
  for (size_t i = 0; i < r->m.count; i++) free(r->m.kept[i]);
}

/* The scalar; differences are taken of it in double. */
static double run_case(ready *r) {
  float y[MOST];
  double sum = 0.0;
  for (uint32_t i = 0; i < INPUTS && r->in_count[i]; i++)
    assert_ok(heed_session_write(r->session, r->m.in[i], r->in[i], r->in_count[i] * sizeof(float),
                                 &error));
  assert_ok(heed_session_run(r->session, NULL, &error));
  assert_ok(heed_session_read(r->session, r->y, 0, r->count, y, &error));
  for (size_t i = 0; i < r->count; i++) sum += (double)y[i] * (double)r->seed[i];
  return sum;
}

/* The five-point rule, whose error here is that of the sums in F32: 3e-5 or so. */
static double difference(ready *r, float *x) {
  const float at = *x, h = 0.02f;
  double sum = 0.0;
  static const double weights[] = {1.0, -8.0, 0.0, 8.0, -1.0};
  for (int i = 0; i < 5; i++) {
    *x = at + (float)(i - 2) * h;
    if (i != 2) sum += weights[i] * run_case(r);
  }
  *x = at;
  return sum / (12.0 * (double)h);
}

static void check_case(const struct gradient_case *c, int variant, bool frugal, uint32_t backend) {
  ready r;
  float found[INPUTS][MOST];
  open_case(&r, c, variant, frugal, test_backend_get(backend));
  (void)run_case(&r);
  for (uint32_t k = 0; k < INPUTS && r.in_count[k]; k++)
    assert_ok(heed_session_read(r.session, r.gradient[k], 0, r.in_count[k], found[k], &error));
  for (uint32_t k = 0; k < INPUTS && r.in_count[k]; k++)
    for (size_t i = 0; i < r.in_count[k]; i++) {
      if (c->make == make_activation && variant == HEED_ACTIVATION_RELU &&
          fabsf(r.in[k][i]) < 0.05f)
        continue; /* a kink */
      const double expected = difference(&r, &r.in[k][i]), got = (double)found[k][i];
      if (!(fabs(got - expected) <= 4e-4 * (1.0 + fabs(expected))))
        fail_msg("%s, variant %d, %s: gradient of input %u element %zu: found %.7g, the difference "
                 "is %.7g",
                 c->name, variant, test_backend_name(backend), k, i, got, expected);
    }
  close_case(&r);
}

static void test_adjoints(void **state) {
  (void)state;
  for (uint32_t b = 0; b < test_backend_count(); b++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
      for (int v = 0; v < cases[i].variants; v++) {
        check_case(&cases[i], v, false, b);
        check_case(&cases[i], v, true, b);
      }
}

/* The same bits with 1 and 3 threads: what each input gets. */
static void test_threads(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    float found[2][MOST];
    ready r;
    for (uint32_t t = 0; t < 2; t++) {
      heed_backend *backend;
      const heed_cpu_desc cpu = {sizeof cpu, t ? 3 : 1, NULL};
      assert_ok(heed_cpu_backend_create(test_backend_context(), &cpu, &backend, &error));
      open_case(&r, &cases[i], 0, false, backend);
      (void)run_case(&r);
      assert_ok(heed_session_read(r.session, r.gradient[0], 0, r.in_count[0], found[t], &error));
      close_case(&r);
      heed_backend_destroy(backend);
    }
    assert_memory_equal(found[0], found[1], r.in_count[0] * sizeof(float));
  }
}

/* What is not kept is computed again, and queries go back in blocks: other nodes, the same numbers
 * but for the order of sums in attention, which sums otherwise where nobody reads its weights. */
static void test_frugal(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (cases[i].make != make_stages && cases[i].make != make_attention) continue;
    float found[2][MOST];
    uint32_t nodes[2];
    ready r;
    for (uint32_t frugal = 0; frugal < 2; frugal++) {
      open_case(&r, &cases[i], 0, frugal, test_backend_get(0));
      (void)run_case(&r);
      nodes[frugal] = heed_graph_node_count(r.m.graph);
      assert_ok(
          heed_session_read(r.session, r.gradient[0], 0, r.in_count[0], found[frugal], &error));
      close_case(&r);
    }
    assert_true(nodes[1] > nodes[0]);
    /* A peaked softmax takes nearly equal numbers from each other: what rounding leaves is as large
     * as the terms, not as what remains of them. */
    float largest = 0.0f;
    for (size_t k = 0; k < r.in_count[0]; k++) largest = fmaxf(largest, fabsf(found[0][k]));
    for (size_t k = 0; k < r.in_count[0]; k++)
      if (!(fabsf(found[0][k] - found[1][k]) <= 1e-5f * largest))
        fail_msg("%s, element %zu: found %.9g, kept %.9g", cases[i].name, k, (double)found[1][k],
                 (double)found[0][k]);
  }
}

/* Of many rows: on the CPU the weight's own panels are turned, and no second copy is kept. */
static void test_many_rows(void **state) {
  (void)state;
  enum { ROWS = 1030, WIDE = 37, NARROW = 21 };
  static float x[ROWS * WIDE], seed[ROWS * NARROW], weight[NARROW * WIDE], found[ROWS * WIDE];
  test_random random = {5};
  for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = test_random_normal(&random);
  for (size_t i = 0; i < sizeof seed / sizeof *seed; i++) seed[i] = test_random_normal(&random);
  for (size_t i = 0; i < sizeof weight / sizeof *weight; i++)
    weight[i] = test_random_normal(&random);
  for (uint32_t b = 0; b < test_backend_count(); b++) {
    uint64_t bytes[2];
    for (uint32_t rows = 1000; rows <= ROWS; rows += ROWS - 1000) {
      heed_graph *graph;
      heed_plan *plan;
      heed_session *session;
      heed_value gradient;
      heed_memory memory;
      assert_ok(heed_graph_create(test_backend_context(), &graph, &error));
      const heed_constant_desc matrix = {.struct_size = sizeof matrix,
                                         .dtype = HEED_F32,
                                         .shape = HEED_SHAPE(NARROW, WIDE),
                                         .data = weight};
      const heed_value in = heed_define_input(graph, "x", HEED_F32, &HEED_SHAPE(rows, WIDE)),
                       of = heed_define_input(graph, "seed", HEED_F32, &HEED_SHAPE(rows, NARROW));
      const heed_linear_desc linear = {
          .struct_size = sizeof linear, .x = in, .weight = heed_define_constant(graph, &matrix)};
      const heed_value y = heed_define_linear(graph, &linear);
      const heed_gradient_desc desc = {.of = y, .seed = of, .wanted = &in, .wanted_count = 1};
      assert_ok(heed_graph_gradient(graph, &desc, &gradient, &error));
      const heed_value taps[] = {y, gradient};
      const heed_plan_desc all = {sizeof all, taps, 2, HEED_ATTENTION_MODE_AUTO};
      assert_ok(heed_plan_create(graph, test_backend_get(b), &all, &plan, &error));
      memory = (heed_memory){0};
      heed_plan_memory(plan, &memory);
      bytes[rows == ROWS] = memory.weights;
      assert_ok(heed_session_create(plan, NULL, &session, &error));
      assert_ok(heed_session_write(session, in, x, rows * WIDE * sizeof *x, &error));
      assert_ok(heed_session_write(session, of, seed, rows * NARROW * sizeof *seed, &error));
      assert_ok(heed_session_run(session, NULL, &error));
      assert_ok(heed_session_read(session, gradient, 0, (uint64_t)rows * WIDE, found, &error));
      for (size_t i = 0; i < (size_t)rows * WIDE; i++) {
        double expected = 0.0;
        for (size_t n = 0; n < NARROW; n++)
          expected += (double)seed[i / WIDE * NARROW + n] * (double)weight[n * WIDE + i % WIDE];
        if (!(fabs((double)found[i] - expected) <= 2e-5 * (1.0 + fabs(expected))))
          fail_msg("%s, %u rows, element %zu: found %g, expected %g", test_backend_name(b), rows, i,
                   (double)found[i], expected);
      }
      heed_session_destroy(session);
      heed_plan_destroy(plan);
      heed_graph_destroy(graph);
    }
    if (strncmp(test_backend_name(b), "cpu", 3) == 0) assert_true(bytes[1] < bytes[0]);
  }
}

/* What the scalar does not depend on gets zeros. */
static void test_independent(void **state) {
  (void)state;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value gradient;
  float zeros[6] = {1, 1, 1, 1, 1, 1};
  const float seed[] = {1, 2};
  assert_ok(heed_graph_create(test_backend_context(), &graph, &error));
  const heed_value x = heed_define_input(graph, "x", HEED_F32, &HEED_SHAPE(2)),
                   other = heed_define_input(graph, "other", HEED_F32, &HEED_SHAPE(2, 3));
  const heed_softmax_desc softmax = {sizeof softmax, x};
  const heed_constant_desc weights = {
      .struct_size = sizeof weights, .dtype = HEED_F32, .shape = HEED_SHAPE(2), .data = seed};
  const heed_gradient_desc desc = {.of = heed_define_softmax(graph, &softmax),
                                   .seed = heed_define_constant(graph, &weights),
                                   .wanted = &other,
                                   .wanted_count = 1};
  assert_ok(heed_graph_gradient(graph, &desc, &gradient, &error));
  const heed_plan_desc taps = {sizeof taps, &gradient, 1, HEED_ATTENTION_MODE_AUTO};
  assert_ok(heed_plan_create(graph, test_backend_get(0), &taps, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  assert_ok(heed_session_read(session, gradient, 0, 6, zeros, &error));
  for (int i = 0; i < 6; i++) assert_true(zeros[i] == 0.0f);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
}

/* Fails with this sentence for the gradient of y with respect to x. */
static void refuse(heed_graph *graph, heed_value y, heed_value x, heed_status status,
                   const char *part) {
  static const float ones[64];
  heed_value_info info;
  heed_value gradient;
  assert_ok(heed_graph_status(graph, &error));
  assert_ok(heed_graph_value_info(graph, y, &info));
  const heed_constant_desc weights = {
      .struct_size = sizeof weights, .dtype = HEED_F32, .shape = info.shape, .data = ones};
  const heed_gradient_desc desc = {
      .of = y, .seed = heed_define_constant(graph, &weights), .wanted = &x, .wanted_count = 1};
  assert_fails(heed_graph_gradient(graph, &desc, &gradient, &error), status, part);
  heed_graph_destroy(graph);
}

static heed_value begin(heed_graph **graph, heed_shape shape) {
  assert_ok(heed_graph_create(test_backend_context(), graph, &error));
  return heed_define_input(*graph, "x", HEED_F32, &shape);
}

static void test_refused(void **state) {
  (void)state;
  heed_graph *graph;
  heed_value x = begin(&graph, HEED_SHAPE(2, 3));
  const heed_reduce_desc reduce = {.struct_size = sizeof reduce, .x = x};
  refuse(graph, heed_define_reduce(graph, &reduce), x, HEED_UNSUPPORTED,
         "gradient: reduce has no adjoint");
  x = begin(&graph, HEED_SHAPE(1, 2, 3, 4));
  heed_attention_desc attention = {
      .struct_size = sizeof attention, .query = x, .key = x, .value = x, .softcap = 5.0f};
  refuse(graph, heed_define_attention(graph, &attention).output, x, HEED_UNSUPPORTED,
         "gradient: softcap of attention has no adjoint");
  x = begin(&graph, HEED_SHAPE(1, 2, 3, 4));
  attention = (heed_attention_desc){.struct_size = sizeof attention,
                                    .query = x,
                                    .key = x,
                                    .value = x,
                                    .norm = HEED_NORM_SPARSEMAX};
  refuse(graph, heed_define_attention(graph, &attention).output, x, HEED_UNSUPPORTED,
         "gradient: a norm of attention other than softmax has no adjoint");
  x = begin(&graph, HEED_SHAPE(1, 2, 3, 3));
  attention =
      (heed_attention_desc){.struct_size = sizeof attention, .query = x, .key = x, .value = x};
  const heed_softmax_desc softmax = {sizeof softmax,
                                     heed_define_attention(graph, &attention).weights};
  refuse(graph, heed_define_softmax(graph, &softmax), x, HEED_UNSUPPORTED,
         "gradient: a map that other nodes read has no adjoint");
  x = begin(&graph, HEED_SHAPE(2, 3));
  refuse(graph, x, (heed_value){99}, HEED_INVALID_ARGUMENT, "gradient: wanted value");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_adjoints),    cmocka_unit_test(test_threads),
      cmocka_unit_test(test_frugal),      cmocka_unit_test(test_many_rows),
      cmocka_unit_test(test_independent), cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests_name("gradient", tests, NULL, test_backend_close_all);
}
