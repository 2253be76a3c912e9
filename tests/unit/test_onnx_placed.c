/* Attention of ONNX graphs over windows of the image, over merged keys, and over tokens whose order
 * changes: the maps of all patches, beside those of the graph in double, put there by arithmetic.
 * And weights that are mixed, gated or turned before they meet their values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "support/onnx_nodes.h"
#include "support/test_context.h"

#define SIDE 4u /* patches of 2 x 2 pixels in a row, of images [3, 8, 8] */
#define TOKENS (SIDE * SIDE)
#define MAP (2u * TOKENS * TOKENS) /* of two heads */

static const heed_model_desc none = {.struct_size = sizeof none};

/* x [B, T, 16] of an image, and the grid [B, 4, 4, 16] of it. */
#define PATCHES "Conv image,kernel grid 2,2;Reshape grid,flat rows;Transpose rows x 0,2,1;"
#define GRID(x, g) "Reshape " x ",square " g ";"
/* Windows of 2 x 2 of a grid g, [4 B, 4, 16], and back. */
#define PART(g, u) \
  "Reshape " g ",six " u "6;Transpose " u "6 " u "t 0,1,3,2,4,5;Reshape " u "t,windows " u ";"
#define JOIN(u, g) \
  "Reshape " u ",six " g "6;Transpose " g "6 " g "t 0,1,3,2,4,5;Reshape " g "t,square " g ";"
/* The grid one patch on along both axes, and back. */
#define ROLL(g, r, first, last)                                                                  \
  "Slice " g "," first ",axis1 " r "a;Slice " g "," last ",axis1 " r "b;Concat " r "a," r "b " r \
  "c 1;Slice " r "c," first ",axis2 " r "d;Slice " r "c," last ",axis2 " r "e;Concat " r "d," r  \
  "e " r " 2;"
#define FORTH(g, r) ROLL(g, r, "one,four", "zero,one")
#define BACK(g, r) ROLL(g, r, "three,four", "zero,three")
/* An attention of queries and keys of two heads: a [.., T, 16] from n and m. */
#define HEADS(w, n, y, order) \
  "MatMul " n "," w " " y "p;Reshape " y "p,heads " y "s;Transpose " y "s " y " " order ";"
#define ATTEND(n, m, a)                                                                        \
  HEADS("wq", n, a "q", "0,2,1,3")                                                             \
  HEADS("wk", m, a "k", "0,2,3,1")                                                             \
  HEADS("wv", m, a "v", "0,2,1,3")                                                             \
  "MatMul " a "q," a "k " a "l;Softmax " a "l " a "w;MatMul " a "w," a "v " a "o;Transpose " a \
  "o " a "r 0,2,1,3;Reshape " a "r,merged " a ";"
#define BEHIND(x, a, y) "MatMul " a ",w " y "m;Add " y "m," x " " y ";"

static void put_pair(test_message *graph, const char *name, int64_t item) {
  test_put_raw(graph, name, 7, 1, (const uint32_t[]){1}, &item, sizeof item);
}

static heed_onnx *open_nodes(const char *nodes, uint32_t batch, test_message *file) {
  const uint32_t image[] = {batch, 3, 8, 8}, dims[] = {batch, TOKENS, 16}, kernel[] = {16, 3, 2, 2},
                 merge[] = {16, 16, 2, 2}, whole[] = {16, 16};
  static const char *const weights[] = {"wq", "wk", "wv", "w"};
  static const int64_t turned[] = {3, 1, 2, 0, 7, 5, 6, 4, 15, 9, 8, 11, 10, 13, 12, 14},
                       again[] = {3, 1, 2, 0, 7, 5, 6, 4, 10, 9, 12, 11, 14, 13, 15, 8};
  const int64_t items = batch;
  test_message graph = {0};
  heed_onnx *onnx;
  put_random(&graph, "kernel", 4, kernel);
  put_random(&graph, "merge", 4, merge);
  for (size_t i = 0; i < 4; i++) put_random(&graph, weights[i], 2, whole);
  put_random(&graph, "carrier", 3, (const uint32_t[]){4, 1, 16});
  put_random(&graph, "one_token", 3, (const uint32_t[]){1, 1, 16});
  put_sizes(&graph, "heads", 4, (const int64_t[]){0, 0, 2, 8});
  put_sizes(&graph, "merged", 3, (const int64_t[]){0, 0, 16});
  put_sizes(&graph, "flat", 3, (const int64_t[]){0, 16, -1});
  put_sizes(&graph, "small", 4, (const int64_t[]){0, 16, 4, 4});
  put_sizes(&graph, "square", 4, (const int64_t[]){items, 4, 4, 16});
  put_sizes(&graph, "six", 6, (const int64_t[]){items, 2, 2, 2, 2, 16});
  put_sizes(&graph, "windows", 3, (const int64_t[]){4 * items, 4, 16});
  put_sizes(&graph, "five", 5, (const int64_t[]){items, 4, 4, 2, 8});
  put_sizes(&graph, "tokens", 3, (const int64_t[]){items, 16, 16});
  put_sizes(&graph, "turned", 16, turned);
  put_sizes(&graph, "again", 16, again);
  put_random(&graph, "talk", 2, (const uint32_t[]){2, 2});
  put_random(&graph, "bias", 1, (const uint32_t[]){2});
  put_random(&graph, "gate", 4, (const uint32_t[]){1, 2, 1, 1});
  put_random(&graph, "other", 4, (const uint32_t[]){1, 1, 16, 16});
  put_pair(&graph, "last", -1);
  test_put_raw(&graph, "lowest", 1, 0, NULL, (const float[]){-1e30f}, sizeof(float));
  test_put_raw(&graph, "ten", 1, 1, (const uint32_t[]){1}, (const float[]){10}, sizeof(float));
  test_put_raw(&graph, "corner", 7, 2, (const uint32_t[]){1, 4}, (const int64_t[]){0, 1, 2, 3},
               4 * sizeof(int64_t));
  test_put_raw(&graph, "tenth", 1, 0, NULL, (const float[]){0.1f}, sizeof(float));
  put_pair(&graph, "zero", 0);
  put_pair(&graph, "one", 1);
  put_pair(&graph, "axis1", 1);
  put_pair(&graph, "axis2", 2);
  put_pair(&graph, "three", 3);
  put_pair(&graph, "four", 4);
  put_nodes(&graph, nodes);
  test_put_shaped(&graph, 11, "image", 4, image);
  test_put_shaped(&graph, 12, "y", 3, dims);
  *file = test_onnx_file(&graph);
  const heed_onnx_desc desc = {
      sizeof desc, {file->size, file->data, NULL, NULL}, "m.onnx", NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  return onnx;
}

/* ---------------------------------------------------------------------------------------- runs */

/* The maps of the file in double, `count` floats at the end of the result. */
static void read_maps(heed_onnx *onnx, const float *pixels, uint32_t batch, uint32_t count,
                      float *maps) {
  unsigned char bytes[2048] = {0};
  const uint32_t size = batch * 768;
  heed_onnx_result *result;
  const int length = sprintf(
      (char *)bytes + 8,
      "{\"image\":{\"dtype\":\"F32\",\"shape\":[%u,3,8,8],\"data_offsets\":[0,%u]}}", batch, size);
  bytes[0] = (unsigned char)length;
  memcpy(bytes + 8 + length, pixels, size);
  const heed_onnx_evaluate_desc desc = {.struct_size = sizeof desc,
                                        .attentions = true,
                                        .inputs = {8 + (size_t)length + size, bytes, NULL, NULL}};
  assert_ok(heed_onnx_reference(onnx, &desc, &result, &error));
  const heed_source source = heed_onnx_result_source(result);
  assert_ok(source.read(source.user, source.size - count * sizeof *maps, maps, count * sizeof *maps,
                        &error));
  heed_onnx_result_destroy(result);
}

static const uint32_t some[] = {7, 0, 13};

/* The maps of `layers` layers, one behind another, of all rows or of some. */
static void run_maps(const heed_model *model, const float *pixels, uint32_t batch, uint32_t layers,
                     bool rows, float *maps) {
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = batch,
                                 .rows = rows ? some : NULL,
                                 .row_count = rows ? 3 : 0};
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value taps[2];
  assert_ok(heed_cpu_backend_create(context, NULL, &backend, &error));
  assert_ok(heed_model_build(model, &build, &graph, &error));
  for (uint32_t i = 0; i < layers; i++)
    taps[i] = heed_graph_find(graph, i ? "layer.1.attention.weights" : "layer.0.attention.weights");
  const heed_plan_desc desc = {.struct_size = sizeof desc, .taps = taps, .tap_count = layers};
  assert_ok(heed_plan_create(graph, backend, &desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels,
                               (size_t)batch * 768, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  for (uint32_t i = 0; i < layers; i++) {
    heed_value_info info;
    assert_ok(heed_graph_value_info(graph, taps[i], &info));
    const heed_shape want = {4, {batch, 2, rows ? 3 : TOKENS, TOKENS}};
    assert_true(heed_shape_equal(&info.shape, &want));
    const size_t size = (size_t)heed_shape_count(&want);
    assert_ok(heed_session_read(session, taps[i], 0, size, maps + i * size, &error));
  }
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_backend_destroy(backend);
}

/* The map [1, 2, 4, 4] of the only layer of a stage. */
static void run_stage(const heed_model *model, const float *pixels, float *map) {
  const heed_build_desc build = {.struct_size = sizeof build};
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  assert_ok(heed_cpu_backend_create(context, NULL, &backend, &error));
  assert_ok(heed_model_build(model, &build, &graph, &error));
  const heed_value tap = heed_graph_find(graph, "layer.0.attention.weights");
  const heed_plan_desc desc = {.struct_size = sizeof desc, .taps = &tap, .tap_count = 1};
  assert_ok(heed_plan_create(graph, backend, &desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(
      heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels, 768, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  assert_ok(heed_session_read(session, tap, 0, 32, map, &error));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_backend_destroy(backend);
}

/* ------------------------------------------------------------------------------------- places */

/* The weight that patch q gives to patch k, of maps of the graph. */
typedef double (*placed_weight)(const float *maps, uint32_t item, uint32_t head, uint32_t q,
                                uint32_t k);

/* Of maps [4 B, 2, 4, 4] of windows of 2 x 2, of the grid `shift` patches on. */
static double in_windows(const float *maps, uint32_t item, uint32_t head, uint32_t q, uint32_t k,
                         uint32_t shift) {
  uint32_t window[2], at[2];
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t token = i ? k : q, row = (token / SIDE + SIDE - shift) % SIDE,
                   column = (token % SIDE + SIDE - shift) % SIDE;
    window[i] = row / 2 * 2 + column / 2;
    at[i] = row % 2 * 2 + column % 2;
  }
  if (window[0] != window[1]) return 0;
  return (double)maps[(((item * 4 + window[0]) * 2 + head) * 4 + at[0]) * 4 + at[1]];
}

static double plain_windows(const float *maps, uint32_t item, uint32_t head, uint32_t q,
                            uint32_t k) {
  return in_windows(maps, item, head, q, k, 0);
}

static double shifted_windows(const float *maps, uint32_t item, uint32_t head, uint32_t q,
                              uint32_t k) {
  return in_windows(maps, item, head, q, k, 1);
}

/* The same, of maps [B, 2, 4, 4, 4] and [B, 4, 2, 4, 4]. */
static double heads_first(const float *maps, uint32_t item, uint32_t head, uint32_t q, uint32_t k) {
  float turned[128];
  for (uint32_t h = 0; h < 2; h++)
    for (uint32_t w = 0; w < 4; w++)
      memcpy(turned + (w * 2 + h) * 16, maps + ((item * 2 + h) * 4 + w) * 16, 16 * sizeof *maps);
  return in_windows(turned, 0, head, q, k, 0);
}

/* Of maps [B, 2, 16, 4], of keys of 2 x 2 patches. */
static double merged_keys(const float *maps, uint32_t item, uint32_t head, uint32_t q, uint32_t k) {
  const uint32_t key = k / SIDE / 2 * 2 + k % SIDE / 2;
  return (double)maps[((item * 2 + head) * TOKENS + q) * 4 + key] / 4;
}

static double whole(const float *maps, uint32_t item, uint32_t head, uint32_t q, uint32_t k) {
  return (double)maps[((item * 2 + head) * TOKENS + q) * TOKENS + k];
}

/* Of tokens that are patches 3, 1, 2, 0 and so on. */
static double turned_tokens(const float *maps, uint32_t item, uint32_t head, uint32_t q,
                            uint32_t k) {
  static const uint32_t at[] = {3, 1, 2, 0, 7, 5, 6, 4, 10, 9, 12, 11, 14, 13, 15, 8};
  return whole(maps, item, head, at[q], at[k]);
}

typedef struct placed_case {
  const char *name, *nodes;
  uint32_t batch, layers, sizes[2]; /* of the maps of the graph, for one image */
  placed_weight weight[2];
  const char *assumed;
} placed_case;

static void check_case(const placed_case *c) {
  static float pixels[384], maps[2 * 2 * MAP], found[2 * 2 * MAP], part[2 * 2 * MAP];
  const uint32_t first = c->batch * c->sizes[0], size = c->batch * MAP;
  test_message file;
  heed_onnx *onnx = open_nodes(c->nodes, c->batch, &file);
  heed_model *model;
  heed_model_info info;
  for (uint32_t i = 0; i < 384; i++) pixels[i] = (float)(i * 37 % 101) / 101 - 0.5f;
  assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
  heed_model_get_info(model, &info);
  assert_int_equal(info.layers, c->layers);
  assert_int_equal(info.heads, 2);
  assert_int_equal(info.patch, 2);
  assert_int_equal(info.prefix_tokens, 0);
  if (!strstr(info.assumed, c->assumed)) fail_msg("%s: %s", c->name, info.assumed);
  read_maps(onnx, pixels, c->batch, first + (c->layers > 1 ? c->batch * c->sizes[1] : 0), maps);
  run_maps(model, pixels, c->batch, c->layers, false, found);
  run_maps(model, pixels, c->batch, c->layers, true, part);
  for (uint32_t i = 0; i < c->layers * size; i++) {
    const uint32_t layer = i / size, item = i % size / MAP, head = i % MAP / (TOKENS * TOKENS),
                   q = i / TOKENS % TOKENS, k = i % TOKENS;
    const double want = c->weight[layer](maps + (layer ? first : 0), item, head, q, k);
    if (!(fabs((double)found[i] - want) <= 2e-5))
      fail_msg("%s: layer %u, image %u, head %u, %u to %u: found %.9g, expected %.9g", c->name,
               layer, item, head, q, k, (double)found[i], want);
    for (uint32_t r = 0; r < 3; r++)
      if (q == some[r]) assert_true(part[(i / (TOKENS * TOKENS) * 3 + r) * TOKENS + k] == found[i]);
  }
  heed_model_destroy(model);
  heed_onnx_destroy(onnx);
  free(file.data);
}

#define WINDOW_LAYER PATCHES GRID("x", "g") PART("g", "u") ATTEND("u", "u", "a")
#define SHIFTED_LAYER                                                                     \
  WINDOW_LAYER JOIN("a", "j") "Reshape j,tokens t;" BEHIND("x", "t", "z") GRID("z", "zg") \
      FORTH("zg", "f") PART("f", "v") ATTEND("v", "v", "b") JOIN("b", "k")                \
          BACK("k", "h") "Reshape h,tokens s;" BEHIND("z", "s", "y")
#define MERGED_LAYER(x, a)                                                        \
  "Transpose " x " " a "n 0,2,1;Reshape " a "n,small " a "i;Conv " a "i,merge " a \
  "c 2,2;Reshape " a "c,flat " a "e;Transpose " a "e " a "m 0,2,1;" ATTEND(x, a "m", a)
#define FIVE(order_q, order_k, order_o)                                                          \
  PATCHES GRID("x",                                                                              \
               "g") "Reshape g,six g6;Transpose g6 gt 0,1,3,2,4,5;Reshape gt,tokens u;MatMul "   \
                    "u,wq qp;Reshape "                                                           \
                    "qp,five qs;Transpose qs q " order_q                                         \
                    ";MatMul u,wk kp;Reshape kp,five ks;Transpose ks k " order_k                 \
                    ";MatMul u,wv vp;Reshape vp,five vs;Transpose vs v " order_q                 \
                    ";MatMul q,k l;Softmax l a;MatMul a,v o;Transpose o r " order_o              \
                    ";Reshape r,six r6;Transpose r6 rt 0,1,3,2,4,5;Reshape rt,tokens t;" BEHIND( \
                        "x", "t", "y")

static void test_places(void **state) {
  static const char windows[] = "maps of windows put where they lie",
                    keys[] = "patches share the weight of their merged key";
  static const placed_case cases[] = {
      {"windows",
       WINDOW_LAYER JOIN("a", "j") "Reshape j,tokens t;" BEHIND("x", "t", "y"),
       1,
       1,
       {128, 0},
       {plain_windows, NULL},
       windows},
      {"windows of two images",
       WINDOW_LAYER JOIN("a", "j") "Reshape j,tokens t;" BEHIND("x", "t", "y"),
       2,
       1,
       {128, 0},
       {plain_windows, NULL},
       windows},
      {"shifted windows",
       SHIFTED_LAYER,
       1,
       2,
       {128, 128},
       {plain_windows, shifted_windows},
       windows},
      {"windows behind heads",
       FIVE("0,3,1,2,4", "0,3,1,4,2", "0,2,3,1,4"),
       1,
       1,
       {128, 0},
       {heads_first, NULL},
       windows},
      {"windows before heads",
       FIVE("0,1,3,2,4", "0,1,3,4,2", "0,1,3,2,4"),
       1,
       1,
       {128, 0},
       {plain_windows, NULL},
       windows},
      {"merged keys",
       PATCHES MERGED_LAYER("x", "a") BEHIND("x", "a", "y"),
       2,
       1,
       {128, 0},
       {merged_keys, NULL},
       keys},
      {"merged keys in several ops",
       PATCHES
       "Transpose x an 0,2,1;Reshape an,small ai;Conv ai,merge ac 2,2;Reshape ac,flat ae;"
       "Transpose ae am 0,2,1;" HEADS("wq", "x", "aq", "0,2,1,3") HEADS("wk", "am", "ak", "0,2,3,1")
           HEADS("wv", "am", "av",
                 "0,2,1,3") "MatMul aq,ak al;Max al,lowest ab;ScatterND ab,corner,ten as;"
                            "Softmax as aw;MatMul aw,av ao;Transpose ao ar 0,2,1,3;Reshape "
                            "ar,merged a;" BEHIND("x", "a", "y"),
       1,
       1,
       {128, 0},
       {merged_keys, NULL},
       keys},
      {"windows, then merged keys",
       WINDOW_LAYER JOIN("a", "j") "Reshape j,tokens t;" BEHIND("x", "t", "z")
           MERGED_LAYER("z", "b") BEHIND("z", "b", "y"),
       1,
       2,
       {128, 128},
       {plain_windows, merged_keys},
       keys},
      {"another order behind the first",
       PATCHES ATTEND("x", "x", "a") BEHIND("x", "a", "z") "Gather z,turned zt 1;" ATTEND(
           "zt", "zt", "b") BEHIND("zt", "b", "s") "Gather s,again y 1;",
       1,
       2,
       {MAP, MAP},
       {whole, turned_tokens},
       "tokens in heed's order"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_case(&cases[i]);
}

/* ------------------------------------------------------------------------------------- refused */

static void expect_refused(const char *nodes, const char *part) {
  test_message file;
  heed_onnx *onnx = open_nodes(nodes, 1, &file);
  heed_model *model;
  const heed_status status = heed_onnx_vision(onnx, &none, 0, 0, &model, &error);
  if (status != HEED_UNSUPPORTED || !strstr(error.message, part))
    fail_msg("%s: %s", part, status == HEED_OK ? "taken" : error.message);
  heed_onnx_destroy(onnx);
  free(file.data);
}

static void test_refused(void **state) {
  (void)state;
  /* a token of each window that is no patch */
  expect_refused(PATCHES GRID("x", "g")
                     PART("g", "u") "Concat carrier,u e 1;" ATTEND("e", "e", "a") "ReduceMean a y;",
                 "some of its tokens are no patches");
  /* two of the same patches beside each other */
  expect_refused(
      WINDOW_LAYER ATTEND("u", "u", "b") "Add a,b c;" JOIN("c", "j") "Reshape j,tokens "
                                                                     "t;" BEHIND("x", "t", "y"),
      "beside it are others");
  /* four times the same tokens */
  expect_refused(PATCHES "Concat x,x,x,x e 0;" ATTEND("e", "e", "a") "ReduceMean a y;",
                 "its windows are of the same place");
}

/* ---------------------------------------------------------------------------------------- mixed */

/* Queries, keys, values and scores s of x; what follows makes a of the weights and v, or y. */
#define SCORES                                                              \
  PATCHES HEADS("wq", "x", "q", "0,2,1,3") HEADS("wk", "x", "k", "0,2,3,1") \
      HEADS("wv", "x", "v", "0,2,1,3") "MatMul q,k l;Mul l,tenth s;"
#define TALK(x, y)                                                                               \
  "Transpose " x " " y "1 0,2,3,1;MatMul " y "1,talk " y "2;Add bias," y "2 " y "3;Transpose " y \
  "3 " y " 0,3,1,2;"
#define ATTENDED "Transpose o r 0,2,1,3;Reshape r,merged a;" BEHIND("x", "a", "y")

/* The maps of a graph of one layer on kernels, which are those of the file in double. */
static void take_maps(const char *nodes, const char *assumed, float *maps) {
  static float pixels[384], exact[MAP];
  test_message file;
  heed_onnx *onnx = open_nodes(nodes, 1, &file);
  heed_model *model;
  heed_model_info info;
  for (uint32_t i = 0; i < 384; i++) pixels[i] = (float)(i * 37 % 101) / 101 - 0.5f;
  assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
  heed_model_get_info(model, &info);
  assert_int_equal(info.layers, 1);
  assert_int_equal(info.heads, 2);
  if (!strstr(info.assumed, assumed)) fail_msg("%s", info.assumed);
  read_maps(onnx, pixels, 1, MAP, exact);
  run_maps(model, pixels, 1, 1, false, maps);
  for (uint32_t i = 0; i < MAP; i++)
    if (!(fabsf(maps[i] - exact[i]) <= 2e-6f))
      fail_msg("%u: found %g, expected %g", i, (double)maps[i], (double)exact[i]);
  heed_model_destroy(model);
  heed_onnx_destroy(onnx);
  free(file.data);
}

static float sigmoid(float x) { return 1 / (1 + expf(-x)); }

/* The numbers that put_random gives. */
static void take_random(const char *name, uint32_t count, float *values) {
  uint32_t seed = (uint32_t)name[0] * 31 + (uint32_t)name[1];
  for (uint32_t i = 0; i < count; i++) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)(seed >> 16) / 32768 - 1;
  }
}

static void test_mixed(void **state) {
  static float plain[MAP], found[MAP];
  float gate[2], other[TOKENS * TOKENS];
  (void)state;
  take_maps(SCORES "Softmax s e;MatMul e,v o;" ATTENDED, "", plain);
  /* heads that are mixed behind the softmax, and before it; its weights stay the map */
  take_maps(SCORES "Softmax s e;" TALK("e", "t") "MatMul t,v o;" ATTENDED, "mixes its heads",
            found);
  for (uint32_t i = 0; i < MAP; i++) assert_true(fabsf(found[i] - plain[i]) <= 2e-6f);
  take_maps(SCORES TALK("s", "u") "Softmax u e;" TALK("e", "t") "MatMul t,v o;" ATTENDED,
            "mixes its heads", found);
  /* the values first, and the weights turned */
  take_maps(SCORES "Softmax s e;Transpose v vt 0,1,3,2;Transpose e wt 0,1,3,2;MatMul vt,wt ot;"
                   "Transpose ot o 0,1,3,2;" ATTENDED,
            "", found);
  for (uint32_t i = 0; i < MAP; i++) assert_true(fabsf(found[i] - plain[i]) <= 2e-6f);
  /* joined with others by a gate, and divided by their sum: that is the map */
  take_maps(SCORES "Softmax s e;Sigmoid gate g;Sigmoid other p;Mul e,g wg;Add wg,p wp;"
                   "ReduceSum wp,last ws;Div wp,ws wd;MatMul wd,v o;" ATTENDED,
            "", found);
  take_random("gate", 2, gate);
  take_random("other", TOKENS * TOKENS, other);
  for (uint32_t row = 0; row < 2 * TOKENS; row++) {
    double sum = 0;
    for (uint32_t pass = 0; pass < 2; pass++)
      for (uint32_t k = 0; k < TOKENS; k++) {
        const double joined =
            (double)plain[row * TOKENS + k] * (double)sigmoid(gate[row / TOKENS]) +
            (double)sigmoid(other[row % TOKENS * TOKENS + k]);
        if (pass == 0) sum += joined;
        if (pass == 1 && !(fabs((double)found[row * TOKENS + k] - joined / sum) <= 2e-6))
          fail_msg("row %u: found %g, expected %g", row, (double)found[row * TOKENS + k],
                   joined / sum);
      }
  }
  /* no quotient: what meets the values is no distribution */
  expect_refused(SCORES "Softmax s e;Sigmoid gate g;Mul e,g wg;MatMul wg,v o;" ATTENDED,
                 "found no attention");
}

/* What each attention is over, in words. */
static void test_reach(void **state) {
  static const struct {
    const char *nodes, *reach;
  } cases[] = {
      {WINDOW_LAYER "ReduceMean a y;", "4 x 4 patches in 4 windows"},
      {PATCHES MERGED_LAYER("x", "a") "ReduceMean a y;", "4 x 4 patches, keys of 2 x 2 of them"},
      {PATCHES ATTEND("x", "x", "a") "ReduceMean a y;", "4 x 4 patches"},
      {PATCHES "Concat one_token,x e 1;" ATTEND("e", "e", "a") "ReduceMean a y;",
       "1 token and 4 x 4 patches"},
      {PATCHES "MatMul x,wq q;MatMul x,wk k;MatMul x,wv v;Transpose q s 0,2,1;Transpose v r 0,2,1;"
               "MatMul s,k l;Softmax l a;MatMul a,r o;ReduceMean o y;",
       "over channels"},
      {PATCHES "ReduceMax x m;Mul m,x n;" ATTEND("n", "n", "a") "ReduceMean a y;", "4 x 4 patches"},
      {PATCHES "ReduceMax x m;Add m,carrier n;" ATTEND("n", "n", "a") "ReduceMean a y;", ""}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const heed_onnx_lower_desc desc = {.struct_size = sizeof desc, .picture = true};
    heed_onnx_lowered *lowered;
    test_message file;
    heed_onnx *onnx = open_nodes(cases[i].nodes, 1, &file);
    char text[64];
    assert_ok(heed_onnx_lower(onnx, &desc, &lowered, &error));
    for (int again = 0; again < 2; again++) {
      heed_onnx_lowered_reach(lowered, 0, text, sizeof text);
      if (strcmp(text, cases[i].reach) != 0) fail_msg("%zu: %s", i, text);
    }
    heed_onnx_lowered_reach(lowered, 0, text, 5);
    assert_true(strlen(text) <= 4 && strncmp(text, cases[i].reach, strlen(text)) == 0);
    heed_onnx_lowered_reach(lowered, 1, text, sizeof text);
    assert_string_equal(text, "");
    heed_onnx_lowered_destroy(lowered);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* Layers of the second grid, which hints ask for: of 2 x 2 patches of 4 pixels. */
static void test_stages(void **state) {
  static const char nodes[] = WINDOW_LAYER JOIN("a", "j") "Reshape j,tokens t;" BEHIND(
      "x", "t",
      "z") "Transpose z zn 0,2,1;Reshape zn,small zi;Conv zi,merge zc 2,2;Reshape zc,flat ze;"
           "Transpose ze n 0,2,1;" ATTEND("n", "n", "b") BEHIND("n", "b", "y");
  static const struct {
    const char *hints, *why, *assumed;
  } cases[] = {{"{}", NULL, "the first of 2 stages"},
               {"{\"stage\": 1}", NULL, "maps of windows put where they lie"},
               {"{\"stage\": 2}", NULL, "preprocessing of ViT"},
               {"{\"stage\": 3}", "unknown stage (found 3, expected at most 2", NULL},
               {"{\"stage\": 0}", "stage", NULL}};
  test_message file;
  heed_onnx *onnx = open_nodes(nodes, 1, &file);
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const heed_model_file hints = {"hints.json",
                                   test_source(cases[i].hints, strlen(cases[i].hints))};
    const heed_model_desc desc = {.struct_size = sizeof desc, .files = &hints, .file_count = 1};
    heed_model *model;
    heed_model_info info;
    const heed_status status = heed_onnx_vision(onnx, &desc, 0, 0, &model, &error);
    if (cases[i].why) {
      if (status == HEED_OK || !strstr(error.message, cases[i].why))
        fail_msg("%s: %s", cases[i].hints, status == HEED_OK ? "taken" : error.message);
      continue;
    }
    assert_ok(status);
    heed_model_get_info(model, &info);
    assert_int_equal(info.layers, 1);
    assert_int_equal(info.patch, i == 2 ? 4 : 2);
    if (!strstr(info.assumed, cases[i].assumed)) fail_msg("%s", info.assumed);
    if (i == 2) assert_null(strstr(info.assumed, "windows"));
    if (i == 2) { /* [1, 2, 4, 4] behind the windows' [4, 2, 4, 4] */
      float pixels[192], maps[160], found[32];
      for (uint32_t k = 0; k < 192; k++) pixels[k] = (float)(k * 37 % 101) / 101 - 0.5f;
      read_maps(onnx, pixels, 1, 160, maps);
      run_stage(model, pixels, found);
      for (uint32_t k = 0; k < 32; k++) assert_true(fabsf(found[k] - maps[128 + k]) <= 2e-5f);
    }
    heed_model_destroy(model);
  }
  heed_onnx_destroy(onnx);
  free(file.data);
}

static void test_changes(void **state) {
  test_message file;
  heed_onnx *onnx = open_nodes(SHIFTED_LAYER, 1, &file);
  heed_model *model;
  heed_graph *graph;
  const heed_build_desc builds[] = {{.struct_size = sizeof *builds, .intervene = true},
                                    {.struct_size = sizeof *builds, .temperature = 2}};
  (void)state;
  assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
  for (size_t i = 0; i < 2; i++)
    assert_fails(heed_model_build(model, &builds[i], &graph, &error), HEED_UNSUPPORTED,
                 "takes no changes");
  heed_model_destroy(model);
  heed_onnx_destroy(onnx);
  free(file.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_places), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_mixed),  cmocka_unit_test(test_stages),
                                     cmocka_unit_test(test_reach),  cmocka_unit_test(test_changes)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
