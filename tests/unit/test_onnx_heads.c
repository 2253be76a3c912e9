/* Attentions of ONNX graphs beside each other and behind each other: heads of one layer, layers,
 * and what is neither: windows, channels, streams and gates. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "support/onnx_nodes.h"
#include "support/test_context.h"

#define TOKENS 16u
#define MAP (TOKENS * TOKENS)

#define PATCHES "Conv image,kernel grid 2,2;Reshape grid,flat rows;Transpose rows x 0,2,1;"
/* An attention of the value n, whose queries and keys are of the value qk: maps `a`, and what it
 * gives, `o`. */
#define HEAD(n, a, o) HEAD_OF(n, n, a, o)
#define HEAD_OF(qk, n, a, o)                                                                       \
  "MatMul " qk ",q" a " " a "q;MatMul " qk ",k" a " " a "k;MatMul " n ",v" a " " a "v;"            \
  "Transpose " a "k " a "t 0,2,1;MatMul " a "q," a "t " a "s;Softmax " a "s " a ";MatMul " a "," a \
  "v " o ";"
/* Whole layers: the state n is made of x, and y is what the layer gives. */
#define HEADS(x, n, a, b, y)                                          \
  "LayerNormalization " x ",gain,bias " n ";" HEAD(n, a, a "o") HEAD( \
      n, b, b "o") "Concat " a "o," b "o " y "c 2;MatMul " y "c,w " y "p;Add " y "p," x " " y ";"
#define LAYER(x, a, y) HEAD(x, a, a "o") "MatMul " a "o,h " y "p;Add " y "p," x " " y ";"

static void put_weights(test_message *graph) {
  static const char *const names[] = {"qa", "ka", "va", "qb", "kb", "vb",
                                      "qc", "kc", "vc", "qd", "kd", "vd"};
  static const uint32_t kernel[] = {16, 3, 2, 2}, half[] = {16, 8}, back[] = {8, 16},
                        whole[] = {16, 16}, line[] = {16}, one[] = {1, 16, 16};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) put_random(graph, names[i], 2, half);
  put_random(graph, "kernel", 4, kernel);
  put_random(graph, "other", 4, kernel);
  put_random(graph, "w", 2, whole);
  put_random(graph, "h", 2, back);
  put_random(graph, "gain", 1, line);
  put_random(graph, "gain2", 1, line);
  put_random(graph, "bias", 1, line);
  put_random(graph, "places", 3, one);
  put_random(graph, "registers", 3, (const uint32_t[]){1, 3, 16});
  test_put_raw(graph, "lowest", 1, 0, NULL, (const float[]){-1e30f}, sizeof(float));
  put_sizes(graph, "heads", 4, (const int64_t[]){0, 0, 2, 8});
  put_sizes(graph, "merged", 3, (const int64_t[]){0, 0, 16});
  put_sizes(graph, "flat", 3, (const int64_t[]){0, 16, -1});
  put_sizes(graph, "six", 6, (const int64_t[]){1, 2, 2, 2, 2, 16});
  put_sizes(graph, "windows", 3, (const int64_t[]){4, 4, 16});
  put_sizes(graph, "folded", 4, (const int64_t[]){1, 4, 4, 16});
  put_sizes(graph, "tokens", 3, (const int64_t[]){1, 16, 16});
}

/* `map`: another output, [1, 2, 19, 19] or, of a head alone, [1, 19, 19]; or NULL. */
static heed_onnx *open_with(const char *nodes, const char *output, const char *map,
                            test_message *file) {
  static const uint32_t image[] = {1, 3, 8, 8}, dims[] = {1, 16, 16}, whole[] = {1, 2, 19, 19};
  test_message graph = {0};
  heed_onnx *onnx;
  put_weights(&graph);
  put_nodes(&graph, nodes);
  test_put_shaped(&graph, 11, "image", 4, image);
  test_put_shaped(&graph, 12, output, 3, dims);
  if (map && strlen(map) > 1) test_put_shaped(&graph, 12, map, 4, whole);
  if (map && strlen(map) == 1) test_put_shaped(&graph, 12, map, 3, whole + 1);
  *file = test_onnx_file(&graph);
  const heed_onnx_desc desc = {
      sizeof desc, {file->size, file->data, NULL, NULL}, "m.onnx", NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  return onnx;
}

static heed_onnx *open_nodes(const char *nodes, const char *output, test_message *file) {
  return open_with(nodes, output, NULL, file);
}

static const heed_model_desc none = {.struct_size = sizeof none};

/* ------------------------------------------------------------------------------------- heads */

/* The maps of the file in double, in the order of its nodes. */
static void read_maps(heed_onnx *onnx, const float *pixels, uint32_t count, float *maps) {
  unsigned char bytes[1024];
  heed_onnx_result *result;
  const int length =
      sprintf((char *)bytes + 8,
              "{\"image\":{\"dtype\":\"F32\",\"shape\":[1,3,8,8],\"data_offsets\":[0,768]}}");
  memset(bytes, 0, 8);
  bytes[0] = (unsigned char)length;
  memcpy(bytes + 8 + length, pixels, 768);
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .attentions = true,
                                        .inputs = {8 + (size_t)length + 768, bytes, NULL, NULL}};
  assert_ok(heed_onnx_reference(onnx, &desc, &result, &error));
  const heed_source source = heed_onnx_result_source(result);
  const size_t size = (size_t)count * MAP * sizeof *maps;
  assert_ok(source.read(source.user, source.size - size, maps, size, &error));
  heed_onnx_result_destroy(result);
}

/* The maps [2, 2, T, T] of a model of two layers of two heads. */
static void run_maps(const heed_model *model, const float *pixels, float *maps) {
  const heed_build_desc build = {.struct_size = sizeof build};
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  assert_ok(heed_cpu_backend_create(context, NULL, &backend, &error));
  assert_ok(heed_model_build(model, &build, &graph, &error));
  const heed_value taps[] = {heed_graph_find(graph, "layer.0.attention.weights"),
                             heed_graph_find(graph, "layer.1.attention.weights")};
  const heed_plan_desc desc = {.struct_size = sizeof desc, .taps = taps, .tap_count = 2};
  assert_ok(heed_plan_create(graph, backend, &desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(
      heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels, 768, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  for (size_t i = 0; i < 2; i++)
    assert_ok(heed_session_read(session, taps[i], 0, (size_t)2 * MAP, maps + i * 2 * MAP, &error));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_backend_destroy(backend);
}

/* The rollout of two layers of two heads, in double. */
static void roll_out(const float *maps, double *rollout) {
  double mixed[2][MAP];
  for (uint32_t l = 0; l < 2; l++)
    for (uint32_t i = 0; i < MAP; i++)
      mixed[l][i] = 0.25 * ((double)maps[(size_t)2 * l * MAP + i] +
                            (double)maps[((size_t)2 * l + 1) * MAP + i]) +
                    0.5 * (i / TOKENS == i % TOKENS);
  for (uint32_t i = 0; i < MAP; i++) {
    rollout[i] = 0;
    for (uint32_t k = 0; k < TOKENS; k++)
      rollout[i] += mixed[1][i / TOKENS * TOKENS + k] * mixed[0][k * TOKENS + i % TOKENS];
  }
}

/* Heads that are modules of their own are heads of their layer, in their order. */
static void test_heads_in_a_list(void **state) {
  static const char nodes[] = PATCHES HEADS("x", "n", "a", "b", "y") HEADS("y", "m", "c", "d", "z");
  static float pixels[192], found[4 * MAP], want[4 * MAP], rollout[MAP];
  static double expected[MAP];
  test_message file;
  heed_onnx *onnx = open_nodes(nodes, "z", &file);
  heed_model *model;
  heed_model_info info;
  (void)state;
  for (uint32_t i = 0; i < 192; i++) pixels[i] = (float)(i * 31 % 64) / 64 - 0.5f;
  assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
  heed_model_get_info(model, &info);
  assert_int_equal(info.layers, 2);
  assert_int_equal(info.heads, 2);
  read_maps(onnx, pixels, 4, want);
  run_maps(model, pixels, found);
  for (uint32_t i = 0; i < 4 * MAP; i++)
    if (!(fabsf(found[i] - want[i]) <= 2e-5f))
      fail_msg("element %u: found %g, expected %g", i, (double)found[i], (double)want[i]);
  const heed_rollout_desc desc = {
      .struct_size = sizeof desc, .layers = 2, .heads = 2, .tokens = TOKENS, .residual = 0.5f};
  assert_ok(heed_map_rollout(context, &desc, found, rollout, &error));
  roll_out(want, expected);
  for (uint32_t i = 0; i < MAP; i++)
    if (!(fabs((double)rollout[i] - expected[i]) <= 2e-5))
      fail_msg("rollout %u: found %g, expected %g", i, (double)rollout[i], expected[i]);
  heed_model_destroy(model);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* Queries and keys with positions, and turned by them, are of the state that the values are of. */
static void test_heads_with_positions(void **state) {
  static const char *const nodes[] = {
      PATCHES "LayerNormalization x,gain,bias n;Add n,places u;" HEAD_OF("u", "n", "a", "ao")
          HEAD_OF("u", "n", "b", "bo") "Concat ao,bo yc 2;MatMul yc,w yp;Add yp,x y;",
      PATCHES "LayerNormalization x,gain,bias n;Mul n,places u;MatMul n,w r;Mul r,places m;"
              "Add u,m s;" HEAD_OF("s", "n", "a", "ao")
                  HEAD_OF("s", "n", "b", "bo") "Concat ao,bo yc 2;MatMul yc,w yp;Add yp,x y;"};
  (void)state;
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    test_message file;
    heed_onnx *onnx = open_nodes(nodes[i], "y", &file);
    heed_model *model;
    heed_model_info info;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    heed_model_get_info(model, &info);
    assert_int_equal(info.layers, 1);
    assert_int_equal(info.heads, 2);
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* Layers behind each other are layers also where places would be too much work to follow: an image
 * that passes many nodes. */
static void test_places_unknown(void **state) {
  enum { NODES = 600, SIDE = 512 };
  static char nodes[NODES * 24 + 600];
  static const uint32_t image[] = {1, 3, SIDE, SIDE}, dims[] = {1, 16, 16}, widen[] = {3, 16};
  test_message graph = {0};
  heed_onnx *onnx;
  heed_model *model;
  heed_model_info info;
  size_t at = 0;
  (void)state;
  for (int i = 0; i < NODES; i++)
    at += (size_t)snprintf(nodes + at, sizeof nodes - at, "Max i%d,lowest i%d;", i, i + 1);
  snprintf(
      nodes + at, sizeof nodes - at,
      "Reshape i%d,cells c;ReduceMean c m 3,5;Reshape m,flat3 f;Transpose f g 0,2,1;MatMul g,wide "
      "x;" LAYER("x", "a", "z") LAYER("z", "b", "y"),
      NODES);
  put_weights(&graph);
  put_random(&graph, "wide", 2, widen);
  put_sizes(&graph, "cells", 6, (const int64_t[]){1, 3, 4, SIDE / 4, 4, SIDE / 4});
  put_sizes(&graph, "flat3", 3, (const int64_t[]){1, 3, 16});
  put_nodes(&graph, nodes);
  test_put_shaped(&graph, 11, "i0", 4, image);
  test_put_shaped(&graph, 12, "y", 3, dims);
  test_message file = test_onnx_file(&graph);
  const heed_onnx_desc desc = {
      sizeof desc, {file.size, file.data, NULL, NULL}, "m.onnx", NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
  heed_model_get_info(model, &info);
  assert_non_null(strstr(info.assumed, "order of tokens: CLS and registers"));
  assert_int_equal(info.layers, 2);
  assert_int_equal(info.heads, 1);
  heed_model_destroy(model);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* ----------------------------------------------------------------------------------- changes */

#define ALL 19u /* tokens: 3 registers and the patches */
#define REGISTERS_FIRST PATCHES "Concat registers,x t 1;"
#define REGISTERS_LAST PATCHES "Concat x,registers t 1;"
/* The same layers as HEADS makes, by one attention of two heads. */
#define SPLIT(x, w, y, order) \
  "MatMul " x "," w " " y "p;Reshape " y "p,heads " y "s;Transpose " y "s " y " " order ";"
#define FUSED(x, n, a, b, y) JOINED(x, n, a, b, y, "l", "")
/* The same, whose scores go through an op that no attention of heed's has. */
#define SEVERAL(x, n, a, b, y) JOINED(x, n, a, b, y, "l2", "Max " y "l,lowest " y "l2;")
#define JOINED(x, n, a, b, y, scores, between)                                                  \
  "LayerNormalization " x ",gain,bias " n ";Concat q" a ",q" b " " y "wq 1;Concat k" a ",k" b   \
  " " y "wk 1;Concat v" a ",v" b " " y                                                          \
  "wv 1;" SPLIT(n, y "wq", y "q", "0,2,1,3") SPLIT(n, y "wk", y "k", "0,2,3,1")                 \
      SPLIT(n, y "wv", y "v", "0,2,1,3") "MatMul " y "q," y "k " y "l;" between                 \
                                         "Softmax " y scores " " y "a;MatMul " y "a," y "v " y  \
                                         "o;Transpose " y "o " y "r 0,2,1,3;Reshape " y         \
                                         "r,merged " y "c;MatMul " y "c,w " y "m;Add " y "m," x \
                                         " " y ";"

typedef struct changed_run {
  float maps[2][2 * ALL * ALL], attended[ALL * 16], output[ALL * 16];
} changed_run;

static const uint32_t some[] = {7, 0, 4};

static void write_changes(const heed_model *model, heed_session *session) {
  float mean[ALL * 16];
  heed_model_info info;
  heed_changes *changes;
  heed_model_get_info(model, &info);
  for (uint32_t i = 0; i < ALL * 16; i++) mean[i] = (float)(i % 16) / 16 - 0.25f;
  assert_ok(heed_changes_create(context, &info, ALL, &changes, &error));
  assert_ok(heed_changes_ablate(changes, 0, 1, &error));
  assert_ok(heed_changes_replace(changes, 0, mean, &error));
  assert_ok(heed_changes_gain(changes, 1, 0, 0.25f, &error));
  assert_ok(heed_changes_drop(changes, 8, &error));
  assert_ok(heed_changes_cut(changes, 0, 2, &error));
  assert_ok(heed_changes_cut(changes, 7, 4, &error));
  assert_ok(heed_changes_cut(changes, 4, 18, &error));
  assert_ok(heed_changes_write(changes, session, &error));
  heed_changes_destroy(changes);
}

/* Maps of two layers, what the second's heads give, and the graph's output z. */
static void run_changed(const heed_model *model, const float *pixels, bool rows, float temperature,
                        changed_run *to) {
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .rows = rows ? some : NULL,
                                 .row_count = rows ? 3 : 0,
                                 .intervene = true,
                                 .temperature = temperature};
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  assert_ok(heed_cpu_backend_create(context, NULL, &backend, &error));
  assert_ok(heed_model_build(model, &build, &graph, &error));
  const heed_value taps[] = {heed_graph_find(graph, "layer.0.attention.weights"),
                             heed_graph_find(graph, "layer.1.attention.weights"),
                             heed_graph_find(graph, "layer.1.attention.output")};
  const heed_plan_desc desc = {
      .struct_size = sizeof desc, .taps = taps, .tap_count = taps[2].id ? 3 : 2};
  assert_ok(heed_plan_create(graph, backend, &desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(
      heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels, 768, &error));
  write_changes(model, session);
  assert_ok(heed_session_run(session, NULL, &error));
  for (size_t i = 0; i < 2; i++) {
    heed_value_info info;
    assert_ok(heed_graph_value_info(graph, taps[i], &info));
    assert_int_equal(info.shape.dim[2], rows ? 3 : ALL);
    assert_ok(
        heed_session_read(session, taps[i], 0, heed_shape_count(&info.shape), to->maps[i], &error));
  }
  if (taps[2].id) assert_ok(heed_session_read(session, taps[2], 0, ALL * 16, to->attended, &error));
  assert_ok(
      heed_session_read(session, heed_graph_find(graph, "z"), 0, ALL * 16, to->output, &error));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_backend_destroy(backend);
}

static void expect_near(const char *what, const float *found, const float *want, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    if (!(fabsf(found[i] - want[i]) <= 4e-6f))
      fail_msg("%s %u: found %.9g, expected %.9g", what, i, (double)found[i], (double)want[i]);
}

static void expect_rows(const changed_run *found, const changed_run *want) {
  for (uint32_t l = 0; l < 2; l++)
    for (uint32_t h = 0; h < 2; h++)
      for (uint32_t r = 0; r < 3; r++)
        expect_near("row", found->maps[l] + (h * 3 + r) * ALL,
                    want->maps[l] + (h * ALL + some[r]) * ALL, ALL);
}

/* One network whose heads are one attention or each its own, and whose registers stand before the
 * patches or behind them, without and with a map as an output of the graph: changes, by the heads
 * and tokens of heed, have the same effect. The first is that of graphs as heed's own. */
static void test_changes(void **state) {
  static const struct {
    const char *name, *nodes;
    bool last, map;
  } cases[] = {
      {"fused", REGISTERS_FIRST FUSED("t", "n", "a", "b", "y") FUSED("y", "m", "c", "d", "z"),
       false, false},
      {"a list", REGISTERS_FIRST HEADS("t", "n", "a", "b", "y") HEADS("y", "m", "c", "d", "z"),
       false, false},
      {"fused, registers last",
       REGISTERS_LAST FUSED("t", "n", "a", "b", "y") FUSED("y", "m", "c", "d", "z"), true, false},
      {"a list, registers last",
       REGISTERS_LAST HEADS("t", "n", "a", "b", "y") HEADS("y", "m", "c", "d", "z"), true, false},
      {"a map goes out",
       REGISTERS_FIRST FUSED("t", "n", "a", "b", "y") FUSED("y", "m", "c", "d", "z"), false, true},
      {"a list and registers last, a map goes out",
       REGISTERS_LAST HEADS("t", "n", "a", "b", "y") HEADS("y", "m", "c", "d", "z"), true, true}};
  static float pixels[192];
  static changed_run want, found;
  (void)state;
  for (uint32_t i = 0; i < 192; i++) pixels[i] = (float)(i * 31 % 64) / 64 - 0.5f;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message file;
    heed_onnx *onnx =
        open_with(cases[i].nodes, "z", cases[i].map ? i == 4 ? "ya" : "a" : NULL, &file);
    heed_model *model;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    run_changed(model, pixels, false, 1.5f, i ? &found : &want);
    for (uint32_t t = 0; i && t < ALL; t++) {
      const uint32_t at = !cases[i].last ? t : t < 3 ? 16 + t : t - 3;
      expect_near(cases[i].name, found.output + at * 16, want.output + t * 16, 16);
    }
    for (size_t l = 0; i && l < 2; l++)
      expect_near(cases[i].name, found.maps[l], want.maps[l], 2 * ALL * ALL);
    if (i) expect_near(cases[i].name, found.attended, want.attended, ALL * 16);
    run_changed(model, pixels, true, 1.5f, &found);
    expect_rows(&found, &want);
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
  assert_true(want.maps[1][8] == 0 && want.maps[1][2] == 0 && want.maps[1][1] > 0);
}

/* Attentions that run in several ops: the same changes have the same effect, but for a temperature,
 * which is refused, and for weights that change before they meet values. */
static void test_several_ops(void **state) {
  static const char *const cases[] = {
      REGISTERS_FIRST FUSED("t", "n", "a", "b", "y") FUSED("y", "m", "c", "d", "z"),
      REGISTERS_FIRST SEVERAL("t", "n", "a", "b", "y") SEVERAL("y", "m", "c", "d", "z"),
      REGISTERS_LAST SEVERAL("t", "n", "a", "b", "y") SEVERAL("y", "m", "c", "d", "z")};
  static const heed_build_desc warm = {.struct_size = sizeof warm, .temperature = 1.5f};
  static float pixels[192];
  static changed_run want, found;
  (void)state;
  for (uint32_t i = 0; i < 192; i++) pixels[i] = (float)(i * 31 % 64) / 64 - 0.5f;
  for (size_t i = 0; i < 3; i++) {
    test_message file;
    heed_onnx *onnx = open_nodes(cases[i], "z", &file);
    heed_model *model;
    heed_graph *graph;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    run_changed(model, pixels, false, 0, i ? &found : &want);
    for (uint32_t k = 0; i && k < ALL; k++)
      expect_near("output",
                  found.output + (i == 1  ? k
                                  : k < 3 ? 16 + k
                                          : k - 3) *
                                     16,
                  want.output + k * 16, 16);
    for (size_t k = 0; i && k < 2; k++)
      expect_near("map", found.maps[k], want.maps[k], 2 * ALL * ALL);
    if (i) expect_near("heads", found.attended, want.attended, ALL * 16);
    run_changed(model, pixels, true, 0, &found);
    expect_rows(&found, &want);
    if (i)
      assert_fails(heed_model_build(model, &warm, &graph, &error), HEED_UNSUPPORTED,
                   "a temperature has no kernel in this graph, as attention 0 runs in several ops");
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

static void test_rows_refused(void **state) {
  static const char nodes[] = PATCHES HEADS("x", "n", "a", "b", "y") HEADS("y", "m", "c", "d", "z");
  static const uint32_t row = TOKENS;
  const heed_build_desc build = {.struct_size = sizeof build, .rows = &row, .row_count = 1};
  test_message file;
  heed_onnx *onnx = open_nodes(nodes, "z", &file);
  heed_model *model;
  heed_graph *graph;
  (void)state;
  assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
  assert_int_equal(heed_model_build(model, &build, &graph, &error), HEED_INVALID_ARGUMENT);
  assert_non_null(strstr(error.message, "row out of range (found 16, expected less than 16)"));
  heed_model_destroy(model);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* ----------------------------------------------------------------------------------- refused */

typedef struct refused_case {
  const char *name, *nodes, *output, *part;
} refused_case;

#define TOGETHER(y) "Concat ao,bo " y "c 2;MatMul " y "c,w " y "p;Add " y "p,x " y ";"
#define WINDOWS "Reshape x,six e;Transpose e s "

static void test_refused(void **state) {
  static const char streams[] = "beside it is one of another state", windows[] = "over windows";
  static const refused_case cases[] = {
      {"two norms",
       PATCHES "LayerNormalization x,gain,bias n;LayerNormalization x,gain2,bias m;" HEAD(
           "n", "a", "ao") HEAD("m", "b", "bo") TOGETHER("y"),
       "y", streams},
      {"two embeddings",
       PATCHES "Conv image,other g2 2,2;Reshape g2,flat f2;Transpose f2 u 0,2,1;" HEAD(
           "x", "a", "ao") HEAD("u", "b", "bo") TOGETHER("y"),
       "y", streams},
      {"windows in the batch",
       PATCHES WINDOWS "0,1,3,2,4,5;Reshape s,windows u;" HEAD("u", "a", "ao")
           HEAD("u", "b", "bo") "Concat ao,bo o 2;Reshape o,tokens p;Add p,x y;",
       "y", windows},
      {"MobileViT's",
       PATCHES WINDOWS
       "0,2,4,1,3,5;Reshape s,windows u;" LAYER("u", "a", "o2") "Reshape o2,tokens p;Add p,x y;",
       "y", windows},
      {"windows as heads",
       PATCHES WINDOWS
       "0,1,3,2,4,5;Reshape s,folded u;"
       "MatMul u,qa q;MatMul u,ka k;MatMul u,va v;Transpose k t 0,1,3,2;MatMul q,t l;"
       "Softmax l a;MatMul a,v o;MatMul o,h p;Add p,u r;Reshape r,tokens y;",
       "y", windows},
      {"channels",
       PATCHES "MatMul x,w q;MatMul x,w k;MatMul x,w v;Transpose q s 0,2,1;Transpose v r 0,2,1;"
               "MatMul s,k l;Softmax l a;MatMul a,r o;Transpose o p 0,2,1;Add p,x y;",
       "y", "it is over channels"},
      {"gated before two layers",
       PATCHES "MatMul x,qa q;MatMul x,ka k;MatMul x,va v;Transpose k t 0,2,1;MatMul q,t l;"
               "Softmax l m;Mul m,gain g;Add g,places e;MatMul e,v o;MatMul o,h p;Add p,x y;" LAYER(
                   "y", "b", "z") LAYER("z", "c", "u"),
       "u", "a layer would lack its map"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message file;
    heed_onnx *onnx = open_nodes(cases[i].nodes, cases[i].output, &file);
    heed_model *model;
    const heed_status status = heed_onnx_vision(onnx, &none, 0, 0, &model, &error);
    if (status != HEED_UNSUPPORTED || !strstr(error.message, cases[i].part))
      fail_msg("%s: %s", cases[i].name, status == HEED_OK ? "taken" : error.message);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_heads_in_a_list), cmocka_unit_test(test_heads_with_positions),
      cmocka_unit_test(test_places_unknown),  cmocka_unit_test(test_changes),
      cmocka_unit_test(test_several_ops),     cmocka_unit_test(test_rows_refused),
      cmocka_unit_test(test_refused)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
