/* The graph of an ONNX file as a vision transformer: what is found in a small one, how its size is
 * found, each allocation that fails, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "support/onnx_file.h"
#include "support/test_context.h"

static const heed_model_desc none = {.struct_size = sizeof none};

static heed_onnx *open_file(heed_context *in, const test_message *file) {
  const heed_onnx_desc desc = {
      sizeof desc, {file->size, file->data, NULL, NULL}, "m.onnx", NULL, NULL};
  heed_onnx *onnx;
  assert_ok(heed_onnx_open(in, &desc, &onnx, &error));
  return onnx;
}

/* Both sides left open: 224 pixels do not fit the positions, and 4 do. */
static void test_found(void **state) {
  (void)state;
  for (uint32_t side = 0; side <= 4; side += 4) {
    test_message file = test_onnx_vision(side);
    heed_onnx *onnx = open_file(context, &file);
    heed_model *model;
    heed_model_info info;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    heed_model_get_info(model, &info);
    assert_int_equal(info.image_size, 4);
    assert_int_equal(info.patch, 2);
    assert_int_equal(info.layers, 2);
    assert_int_equal(info.heads, 1);
    assert_int_equal(info.prefix_tokens, 1);
    assert_int_equal(info.classes, 3);
    assert_non_null(info.assumed);
    assert_int_equal(strstr(info.assumed, "images of 4 x 4 pixels") != NULL, side == 0);
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* Classes and layers are those of the graph, whatever maps it gives out beside its classes: those
 * of each layer, of both, and the last alone. */
static void test_maps_as_outputs(void **state) {
  static const uint32_t map[] = {1, 5, 5}, two[] = {2, 5, 5};
  (void)state;
  for (uint32_t i = 0; i < 3; i++) {
    test_message graph = {0}, axis = {0};
    test_put_vision(&graph, 4, 1);
    test_put_integer(&axis, "axis", 0);
    test_put_node(&graph, "Concat", "both", "ya,za", "maps", &axis);
    if (i == 0) test_put_shaped(&graph, 12, "ya", 3, map);
    if (i == 1) test_put_shaped(&graph, 12, "maps", 3, two);
    if (i != 1) test_put_shaped(&graph, 12, "za", 3, map);
    test_message file = test_onnx_file(&graph);
    heed_onnx *onnx = open_file(context, &file);
    const heed_build_desc build = {.struct_size = sizeof build};
    heed_model *model;
    heed_model_info info;
    heed_graph *built;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    heed_model_get_info(model, &info);
    assert_int_equal(info.layers, 2);
    assert_int_equal(info.classes, 3);
    assert_ok(heed_model_build(model, &build, &built, &error));
    assert_true(heed_graph_find(built, "layer.1.attention.weights").id != 0);
    heed_graph_destroy(built);
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* ------------------------------------------------------------------------------ preprocessing */

/* Nodes "Op input constant;..." from the input "image" to "y"; constants are below. */
typedef struct pixel_case {
  const char *nodes;
  uint32_t type;    /* of the input: 1 floats, 2 bytes, 7 whole numbers of 8 bytes */
  bool last;        /* [1, 4, 4, 3] */
  float range;      /* that it takes; 0: as files say */
  const char *part; /* of the sentence that refuses it, or NULL */
} pixel_case;

static const float numbers[][3] = {{0.485f, 0.456f, 0.406f},     {0.229f, 0.224f, 0.225f},
                                   {123.675f, 116.28f, 103.53f}, {58.395f, 57.12f, 57.375f},
                                   {103.53f, 116.28f, 123.675f}, {0.458f, 0.448f, 0.45f},
                                   {-0.03f, -0.088f, -0.188f}};
static const char *const number_names[] = {"mean",   "std",  "mean255", "std255",
                                           "bgr255", "half", "less"};

static void put_constants(test_message *graph) {
  static const uint32_t dims[] = {1, 3, 1, 1}, four[] = {1, 1, 1, 3}, three[] = {3};
  static const int64_t turned[] = {2, 1, 0}, swapped[] = {1, 0, 2};
  static const float scalars[] = {255, 127.5f, 1, 2};
  static const char *const scalar_names[] = {"c255", "c127", "one", "two"};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    char name[16];
    test_put_raw(graph, number_names[i], 1, 4, dims, numbers[i], sizeof numbers[i]);
    snprintf(name, sizeof name, "%s_", number_names[i]);
    test_put_raw(graph, name, 1, 4, four, numbers[i], sizeof numbers[i]);
  }
  for (size_t i = 0; i < 4; i++)
    test_put_raw(graph, scalar_names[i], 1, 0, NULL, &scalars[i], sizeof *scalars);
  test_put_raw(graph, "turned", 7, 1, three, turned, sizeof turned);
  test_put_raw(graph, "swapped", 7, 1, three, swapped, sizeof swapped);
}

static test_message pixel_file(const pixel_case *c) {
  static const uint32_t first[] = {1, 3, 4, 4}, last[] = {1, 4, 4, 3};
  test_message graph = {0};
  char from[16] = "image", to[16] = "image";
  uint32_t count = 0;
  put_constants(&graph);
  for (const char *at = c->nodes; *at; count++) {
    test_message attributes = {0};
    char op[16], with[16] = "", inputs[40];
    int next = 0;
    assert_true(sscanf(at, "%15[^ ;]%n %15[^ ;]%n", op, &next, with, &next) >= 1);
    at += next + (at[next] == ';');
    snprintf(to, sizeof to, "y%u", (unsigned)count);
    snprintf(inputs, sizeof inputs, *with && strcmp(with, "3") != 0 ? "%s,%s" : "%s", from, with);
    if (strcmp(op, "Cast") == 0) test_put_integer(&attributes, "to", 1);
    if (strcmp(op, "Gather") == 0) test_put_integer(&attributes, "axis", c->last ? 3 : 1);
    if (strcmp(op, "Transpose") == 0)
      test_put_integers(&attributes, "perm", 4, (const int64_t[]){0, 3, 1, 2});
    test_put_node(&graph, op, to, inputs, to, &attributes);
    snprintf(from, sizeof from, "%s", to);
  }
  test_put_vision_of(&graph, to, 1);
  test_put_typed(&graph, 11, "image", c->type, 4, c->last ? last : first);
  return test_onnx_file(&graph);
}

/* The picture as the file takes it: a .safetensors file of pixels [3, 4, 4]. */
static size_t put_picture(const pixel_case *c, const float *pixels, unsigned char *to) {
  const uint32_t size = c->type == 2 ? 1 : c->type == 7 ? 8 : 4;
  char *text = (char *)to + 8;
  const int length =
      sprintf(text, "{\"image\":{\"dtype\":\"%s\",\"shape\":[1,%s],\"data_offsets\":[0,%u]}}",
              c->type == 2   ? "U8"
              : c->type == 7 ? "I64"
                             : "F32",
              c->last ? "4,4,3" : "3,4,4", 48 * size);
  memset(to, 0, 8);
  to[0] = (unsigned char)length;
  for (uint32_t i = 0; i < 48; i++) {
    const float pixel = pixels[c->last ? i % 3 * 16 + i / 3 : i];
    const int64_t whole = (int64_t)pixel;
    memcpy(text + length + (size_t)i * size, c->type == 1 ? (const void *)&pixel : &whole, size);
  }
  return 8 + (size_t)length + 48 * size;
}

/* The logits of the model's graph for these pixels. */
static void run_pixels(const heed_model *model, const float *pixels, float logits[3]) {
  const heed_build_desc build = {.struct_size = sizeof build};
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  assert_ok(heed_cpu_backend_create(context, NULL, &backend, &error));
  assert_ok(heed_model_build(model, &build, &graph, &error));
  assert_ok(heed_plan_create(graph, backend, NULL, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels,
                               48 * sizeof *pixels, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  assert_ok(heed_session_read(session, heed_graph_find(graph, "logits"), 0, 3, logits, &error));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_backend_destroy(backend);
}

/* A picture of bytes, preprocessed as the model says, gives what the file makes of it in double. */
static void check_pixels(const pixel_case *c, heed_onnx *onnx, const heed_model *model) {
  heed_preprocess how;
  float given[48], pixels[48], logits[3], want[3];
  unsigned char bytes[1024];
  heed_onnx_result *result;
  heed_model_preprocess(model, &how);
  for (uint32_t i = 0; i < 48; i++) {
    const float byte = (float)(i * 37 % 256), range = c->range > 0 ? c->range : 1;
    given[i] = c->range > 0 ? byte / 255 * range : (byte / 255 - 0.5f) / 0.5f;
    pixels[i] = (byte * how.rescale - how.mean[i / 16]) / how.std[i / 16];
  }
  const heed_onnx_evaluate_desc desc = {
      .struct_size = sizeof desc, .inputs = {put_picture(c, given, bytes), bytes, NULL, NULL}};
  assert_ok(heed_onnx_reference(onnx, &desc, &result, &error));
  const heed_source source = heed_onnx_result_source(result);
  assert_ok(source.read(source.user, source.size - sizeof want, want, sizeof want, &error));
  run_pixels(model, pixels, logits);
  for (uint32_t i = 0; i < 3; i++)
    if (!(fabsf(logits[i] - want[i]) <= 2e-5f * (1 + fabsf(want[i]))))
      fail_msg("%s: found %g, expected %g", c->nodes, (double)logits[i], (double)want[i]);
  heed_onnx_result_destroy(result);
}

/* Pixels as bytes and as floats of several ranges, in both orders of axes; channels in another
 * order, and what is no scale and shift, are refused. */
static void test_pixels(void **state) {
  static const char blue[] = "as blue, green, red", unknown[] = "a range that heed does not know";
  static const pixel_case cases[] = {
      {"", 1, false, 0, NULL},
      {"Transpose", 1, true, 0, NULL},
      {"Cast;Transpose;Sub mean255;Div std255", 2, true, 255, NULL},
      {"Transpose;Cast;Div c255;Sub mean;Div std", 2, true, 255, NULL},
      {"Cast;Sub mean255_;Div std255_;Transpose", 2, true, 255, NULL},
      {"Cast;Div c255;Sub mean;Div std", 2, false, 255, NULL},
      {"Cast", 2, false, 255, NULL},
      {"Cast;Div c127;Sub one", 7, false, 255, NULL},
      {"Div c255", 1, false, 255, NULL},
      {"Sub mean255", 1, false, 255, NULL},
      {"Sub mean255;Div std255", 1, false, 255, NULL},
      {"Div c255;Sub mean;Div std", 1, false, 255, NULL},
      {"Sub mean;Div std", 1, false, 1, NULL},
      {"Mul two;Sub one", 1, false, 1, NULL},
      {"Mul c255;Gather turned;Sub bgr255", 1, false, 1, NULL},
      {"Sub bgr255", 1, false, 0, blue},
      {"Gather turned", 1, false, 0, blue},
      {"Gather turned;Div c255", 1, false, 0, blue},
      {"Gather turned;Sub mean255;Div std255", 1, false, 0, blue},
      {"Gather turned;Cast;Transpose", 2, true, 0, blue},
      {"Gather swapped;Div c255", 1, false, 0, "takes its channels apart"},
      {"Mul half;Add less", 1, false, 0, unknown},
      {"Pow two", 1, false, 0, "another preprocessing"},
      {"Sqrt", 1, false, 0, "another preprocessing"},
      {"Div c127;Exp", 1, false, 0, "another preprocessing"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const pixel_case *c = &cases[i];
    test_message file = pixel_file(c);
    heed_onnx *onnx = open_file(context, &file);
    heed_model *model;
    const heed_status status = heed_onnx_vision(onnx, &none, 0, 0, &model, &error);
    if ((status == HEED_UNSUPPORTED) != (c->part != NULL) ||
        (c->part && !strstr(error.message, c->part)))
      fail_msg("%s: %s", c->nodes, status == HEED_OK ? "taken" : error.message);
    if (status == HEED_OK) {
      check_pixels(c, onnx, model);
      heed_model_destroy(model);
    }
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* As many tokens before the patches as there may be, and one more. */
static void test_prefix(void **state) {
  (void)state;
  for (uint32_t above = 0; above < 2; above++) {
    test_message graph = {0};
    test_put_vision(&graph, 4, 16 + above);
    test_message file = test_onnx_file(&graph);
    heed_onnx *onnx = open_file(context, &file);
    heed_model *model;
    heed_model_info info;
    if (above) {
      assert_fails(heed_onnx_vision(onnx, &none, 0, 0, &model, &error), HEED_UNSUPPORTED,
                   "not the patches of the image and at most 16 before them (found 21 tokens of 4 "
                   "x 4 pixels");
    } else {
      assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
      heed_model_get_info(model, &info);
      assert_int_equal(info.prefix_tokens, 16);
      assert_string_equal(info.token_names[15], "token 15");
      heed_model_destroy(model);
    }
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* Opens and builds with the n-th allocation failed; *count is how many there were. */
static heed_status open_failing(const test_message *file, const heed_model_desc *desc, size_t n,
                                size_t *count) {
  test_allocator allocator = {0};
  const heed_context_desc own = test_context_desc(&allocator);
  const heed_build_desc build = {.struct_size = sizeof build};
  heed_context *other;
  heed_model *model;
  heed_graph *graph = NULL;
  assert_ok(heed_context_create(&own, &other, &error));
  heed_onnx *onnx = open_file(other, file);
  const size_t before = allocator.total;
  allocator.fail_at = n ? before + n : 0;
  heed_status status = heed_onnx_vision(onnx, desc, 0, 0, &model, &error);
  if (status == HEED_OK) status = heed_model_build(model, &build, &graph, &error);
  *count = allocator.total - before;
  heed_graph_destroy(graph);
  heed_model_destroy(model);
  heed_onnx_destroy(onnx);
  heed_context_destroy(other);
  assert_int_equal(allocator.live, 0);
  return status;
}

/* Each allocation of opening and building fails once: of a file whose size is known, and of one
 * whose size is found by its positions, beside config files and without. */
static void test_memory(void **state) {
  static const char config[] = "{\"id2label\": {\"0\": \"a cat\"}}",
                    processor[] = "{\"do_resize\": true, \"size\": 4}";
  const heed_model_file files[] = {
      {"config.json", {sizeof config - 1, config, NULL, NULL}},
      {"preprocessor_config.json", {sizeof processor - 1, processor, NULL, NULL}}};
  const heed_model_desc with[] = {{.struct_size = sizeof *with},
                                  {.struct_size = sizeof *with, .files = files, .file_count = 2}};
  (void)state;
  for (uint32_t i = 0; i < 4; i++) {
    test_message file = test_onnx_vision(i % 2 ? 4 : 0);
    size_t count, ignored;
    assert_ok(open_failing(&file, &with[i / 2], 0, &count));
    assert_true(count > 100);
    for (size_t n = 1; n <= count; n++) {
      error.message[0] = '\0';
      const heed_status status = open_failing(&file, &with[i / 2], n, &ignored);
      if (status != HEED_OUT_OF_MEMORY || !strstr(error.message, "out of memory"))
        fail_msg("file %u, allocation %zu of %zu: %s: %s", i, n, count, heed_status_name(status),
                 error.message);
    }
    free(file.data);
  }
}

/* Allocations of opening a model with so many more tables of positions, all for 4 x 4 pixels, with
 * which its last sum does not fit. */
static size_t allocations(uint32_t tables) {
  static const uint32_t positions[] = {1, 5, 2}, others[] = {1, 7, 2};
  test_message graph = {0};
  size_t count;
  test_put_vision(&graph, 0, 1);
  test_put_floats(&graph, "others", 3, others);
  test_put_node(&graph, "Add", "misfit", "z,others", "sum", NULL);
  test_put_text(&graph, 12, "\x0A\x03sum");
  for (uint32_t i = 0; i < tables; i++) {
    char name[16];
    snprintf(name, sizeof name, "t%u", (unsigned)i);
    test_put_floats(&graph, name, 3, positions);
  }
  test_message file = test_onnx_file(&graph);
  assert_int_equal(open_failing(&file, &none, 0, &count), HEED_UNSUPPORTED);
  if (!strstr(error.message, "with images of 224 x 224 pixels")) fail_msg("%s", error.message);
  free(file.data);
  return count;
}

/* The graph is read again for each size that tables name, not for each table. */
static void test_many_tables(void **state) {
  (void)state;
  assert_true(allocations(100) < allocations(10) + 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_found),  cmocka_unit_test(test_prefix),
      cmocka_unit_test(test_pixels), cmocka_unit_test(test_maps_as_outputs),
      cmocka_unit_test(test_memory), cmocka_unit_test(test_many_tables)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
