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
  test_put_value(&graph, 12, "logits");
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
static void run_pixels(const heed_model *model, const float *pixels, size_t count,
                       float logits[3]) {
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
                               count * sizeof *pixels, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  assert_ok(heed_session_read(session, heed_graph_find(graph, "logits"), 0, 3, logits, &error));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_backend_destroy(backend);
}

/* A layer's map for these pixels. */
static void run_map(const heed_model *model, const float *pixels, size_t bytes, uint32_t layer,
                    size_t count, float *map) {
  const heed_build_desc build = {.struct_size = sizeof build};
  char name[48];
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  snprintf(name, sizeof name, "layer.%u.attention.weights", (unsigned)layer);
  assert_ok(heed_cpu_backend_create(context, NULL, &backend, &error));
  assert_ok(heed_model_build(model, &build, &graph, &error));
  const heed_value tap = heed_graph_find(graph, name);
  const heed_plan_desc desc = {.struct_size = sizeof desc, .taps = &tap, .tap_count = 1};
  assert_ok(heed_plan_create(graph, backend, &desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(
      heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels, bytes, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  assert_ok(heed_session_read(session, tap, 0, count, map, &error));
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
  run_pixels(model, pixels, 48, logits);
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
      {"Div c127;Exp", 1, false, 0, "another preprocessing"},
      {"NonZero", 1, false, 0,
       "op has no kernel (found NonZero of opset 17); heed eval runs the graph"}};
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

/* Images of other channels than three, whose first layer, [3, C, 1, 1], makes three of them; grey
 * ones also last, repeated, and normalised by the graph. */
typedef struct channel_case {
  uint32_t channels;
  bool last, repeated;
  float range; /* that the graph takes; 0: as files say */
} channel_case;

static test_message channel_file(const channel_case *c) {
  const uint32_t first[] = {1, c->channels, 4, 4}, last[] = {1, 4, 4, c->channels},
                 kernel[] = {3, c->repeated ? 3 : c->channels, 1, 1};
  static const float half = 0.5f;
  const char *from = "image";
  test_message graph = {0}, order = {0}, axis = {0};
  test_put_floats(&graph, "lead", 4, kernel);
  test_put_raw(&graph, "half", 1, 0, NULL, &half, sizeof half);
  if (c->last) {
    test_put_integers(&order, "perm", 4, (const int64_t[]){0, 3, 1, 2});
    test_put_node(&graph, "Transpose", "first", "image", from = "first", &order);
  }
  if (c->repeated) {
    test_put_integer(&axis, "axis", 1);
    test_put_node(&graph, "Concat", "three", "image,image,image", from = "three", &axis);
  }
  if (c->range > 0) {
    char inputs[32];
    snprintf(inputs, sizeof inputs, "%s,half", from);
    test_put_node(&graph, "Sub", "less", inputs, "less", NULL);
    test_put_node(&graph, "Div", "scaled", "less,half", from = "scaled", NULL);
  }
  char inputs[32];
  snprintf(inputs, sizeof inputs, "%s,lead", from);
  test_put_node(&graph, "Conv", "colours", inputs, "colours", NULL);
  test_put_vision_of(&graph, "colours", 1);
  test_put_typed(&graph, 11, "image", 1, 4, c->last ? last : first);
  test_put_value(&graph, 12, "logits");
  return test_onnx_file(&graph);
}

/* An image of 8 bits through the model's preprocessing and kernels, and through the file in
 * double. */
static void check_channels(const channel_case *c, heed_onnx *onnx, const heed_model *model) {
  enum { MOST = 20 * 16 };
  uint8_t image[MOST];
  float pixels[MOST], logits[3], want[3];
  unsigned char file[2048] = {0};
  heed_preprocess how;
  heed_onnx_result *result;
  const uint32_t count = c->channels * 16;
  for (uint32_t i = 0; i < count; i++) image[i] = (uint8_t)(i * 37);
  const heed_image picture = {image, 4, 4, c->channels, (size_t)4 * c->channels};
  heed_model_preprocess(model, &how);
  assert_int_equal(how.channels, c->channels);
  assert_ok(heed_preprocess_image(context, &how, &picture, pixels, NULL, &error));
  const int length =
      sprintf((char *)file + 8,
              "{\"image\":{\"dtype\":\"F32\",\"shape\":[1,%u,4,%u],\"data_offsets\":[0,%u]}}",
              c->last ? 4 : (unsigned)c->channels, c->last ? (unsigned)c->channels : 4,
              4 * (unsigned)count);
  file[0] = (unsigned char)length;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t channel = i / 16, place = i % 16;
    const float level = image[place * c->channels + channel] / 255.0f,
                value = c->range > 0 ? level : (level - 0.5f) / 0.5f;
    memcpy(file + 8 + length + 4 * (c->last ? place * c->channels + channel : i), &value, 4);
  }
  const heed_onnx_evaluate_desc desc = {
      .struct_size = sizeof desc, .inputs = {8 + (size_t)length + 4 * count, file, NULL, NULL}};
  assert_ok(heed_onnx_reference(onnx, &desc, &result, &error));
  const heed_source source = heed_onnx_result_source(result);
  assert_ok(source.read(source.user, source.size - sizeof want, want, sizeof want, &error));
  run_pixels(model, pixels, count, logits);
  for (uint32_t i = 0; i < 3; i++)
    if (!(fabsf(logits[i] - want[i]) <= 2e-5f * (1 + fabsf(want[i]))))
      fail_msg("%u channels: found %g, expected %g", c->channels, (double)logits[i],
               (double)want[i]);
  heed_onnx_result_destroy(result);
}

static void test_channels(void **state) {
  static const channel_case cases[] = {
      {1, false, false, 0}, {1, true, false, 0},  {1, false, false, 1}, {1, false, true, 0},
      {1, false, true, 1},  {2, false, false, 0}, {5, false, false, 1}, {20, false, false, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_message file = channel_file(&cases[i]);
    heed_onnx *onnx = open_file(context, &file);
    heed_model *model;
    heed_model_info info;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    heed_model_get_info(model, &info);
    assert_int_equal(info.channels, cases[i].channels);
    assert_int_equal(info.patch, 2);
    check_channels(&cases[i], onnx, model);
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* ------------------------------------------------------------------------------------- endings */

typedef struct ending_case {
  const char
      *nodes; /* "op inputs output axis;..." behind the logits l; the last gives the output */
  bool each;
  double factor; /* of what the graph gives, to be probabilities; 0: its logarithm is given */
} ending_case;

static test_message ending_file(const ending_case *c, const char **output) {
  static const float one = 1, percent = 100, least = 1e-7f, small = 1e-3f;
  static char to[16];
  test_message graph = {0};
  test_put_vision_of(&graph, "image", 1);
  test_put_raw(&graph, "one", 1, 0, NULL, &one, sizeof one);
  test_put_raw(&graph, "percent", 1, 0, NULL, &percent, sizeof percent);
  test_put_raw(&graph, "least", 1, 0, NULL, &least, sizeof least);
  test_put_raw(&graph, "small", 1, 0, NULL, &small, sizeof small);
  test_put_node(&graph, "Mul", "l", "logits,small", "l", NULL);
  for (const char *at = c->nodes; *at;) {
    char op[24], from[24];
    int axis = -2, next = 0;
    test_message attributes = {0};
    assert_true(sscanf(at, "%23s %23s %15[^ ;]%n %d%n", op, from, to, &next, &axis, &next) >= 3);
    at += next + (at[next] == ';');
    if (axis != -2) test_put_integer(&attributes, "axis", axis);
    test_put_node(&graph, op, to, from, to, &attributes);
  }
  *output = to;
  test_put_value(&graph, 12, to);
  const uint32_t image[] = {1, 3, 4, 4};
  test_put_shaped(&graph, 11, "image", 4, image);
  return test_onnx_file(&graph);
}

/* Probabilities from the model's logits are those that the graph gives, whatever it ends with. */
static void test_endings(void **state) {
  static const ending_case cases[] = {{"Softmax l p -1", false, 1},
                                      {"Softmax l p 1", false, 1},
                                      {"Softmax l p 1;Identity p logits2", false, 1},
                                      {"LogSoftmax l p -1", false, 0},
                                      {"Softmax l s -1;Log s p", false, 0},
                                      {"Softmax l s -1;Mul s,percent p", false, 0.01},
                                      {"Softmax l s -1;Clip s,least,one p", false, 1},
                                      {"Exp l e;ReduceSum e t;Div e,t p", false, 1},
                                      {"Sigmoid l p", true, 1},
                                      {"Sigmoid l s;Mul s,percent p", true, 0.01},
                                      {"Neg l n;Exp n e;Add e,one t;Div one,t p", true, 1},
                                      {"Neg l n;Exp n e;Add one,e t;Reciprocal t p", true, 1}};
  const pixel_case plain = {"", 1, false, 0, NULL};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *output;
    test_message file = ending_file(&cases[i], &output);
    heed_onnx *onnx = open_file(context, &file);
    heed_model *model;
    heed_onnx_result *result;
    float pixels[48], logits[3], want[3];
    unsigned char bytes[1024];
    double sum = 0;
    for (uint32_t k = 0; k < 48; k++) pixels[k] = (float)(k * 7 % 5) / 8 - 0.25f;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    assert_int_equal(heed_onnx_each_class(model), cases[i].each);
    const heed_onnx_evaluate_desc desc = {
        .struct_size = sizeof desc,
        .inputs = {put_picture(&plain, pixels, bytes), bytes, NULL, NULL}};
    assert_ok(heed_onnx_reference(onnx, &desc, &result, &error));
    const heed_source source = heed_onnx_result_source(result);
    assert_ok(source.read(source.user, source.size - sizeof want, want, sizeof want, &error));
    run_pixels(model, pixels, 48, logits);
    for (uint32_t k = 0; k < 3; k++) sum += exp((double)logits[k]);
    for (uint32_t k = 0; k < 3; k++) {
      const double power = exp((double)logits[k]),
                   found = cases[i].each ? power / (1 + power) : power / sum,
                   given = cases[i].factor > 0 ? cases[i].factor * (double)want[k]
                                               : exp((double)want[k]);
      if (!(fabs(found - given) <= 1e-6))
        fail_msg("%s: found %g, expected %g", cases[i].nodes, found, given);
    }
    heed_onnx_result_destroy(result);
    heed_model_destroy(model);
    heed_onnx_destroy(onnx);
    free(file.data);
  }
}

/* ------------------------------------------------------------------------------ order of tokens */

#define PATCHES 16u
#define MOST_TOKENS 32u

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 16;
}

static void put_small(test_message *graph, const char *name, uint32_t rank, const uint32_t *dims,
                      uint32_t *seed) {
  float values[1024];
  uint32_t count = 1;
  for (uint32_t i = 0; i < rank; i++) count *= dims[i];
  for (uint32_t i = 0; i < count; i++) values[i] = (float)(next_random(seed) % 200) / 100 - 1;
  test_put_raw(graph, name, 1, rank, dims, values, count * sizeof *values);
}

static void put_slice(test_message *graph, const char *name, int64_t from, int64_t to) {
  static const uint32_t one[] = {1};
  char first[24], last[24], inputs[80];
  snprintf(first, sizeof first, "%sf", name);
  snprintf(last, sizeof last, "%sl", name);
  snprintf(inputs, sizeof inputs, "tokens,%s,%s,axis1", first, last);
  test_put_raw(graph, first, 7, 1, one, &from, sizeof from);
  test_put_raw(graph, last, 7, 1, one, &to, sizeof to);
  test_put_node(graph, "Slice", name, inputs, name, NULL);
}

/* 4 x 4 patches [1, 16, 4] as "tokens", row by row or column by column. */
static void put_patches(test_message *graph, bool columns, uint32_t *seed) {
  static const uint32_t kernel[] = {4, 3, 2, 2}, image[] = {1, 3, 8, 8}, matrix[] = {4, 4},
                        one[] = {1}, three[] = {3};
  static const int64_t rows[] = {0, 4, -1}, axis = 1;
  test_message strides = {0}, turned = {0}, order = {0};
  put_small(graph, "kernel", 4, kernel, seed);
  put_small(graph, "w", 2, matrix, seed);
  test_put_raw(graph, "rows", 7, 1, three, rows, sizeof rows);
  test_put_raw(graph, "axis1", 7, 1, one, &axis, sizeof axis);
  test_put_integers(&strides, "strides", 2, (const int64_t[]){2, 2});
  test_put_node(graph, "Conv", "c", "image,kernel", "patches", &strides);
  test_put_integers(&turned, "perm", 4,
                    columns ? (const int64_t[]){0, 1, 3, 2} : (const int64_t[]){0, 1, 2, 3});
  test_put_node(graph, "Transpose", "tc", "patches", "turned", &turned);
  test_put_node(graph, "Reshape", "r", "turned,rows", "flat", NULL);
  test_put_integers(&order, "perm", 3, (const int64_t[]){0, 2, 1});
  test_put_node(graph, "Transpose", "t", "flat", "tokens", &order);
  test_put_shaped(graph, 11, "image", 4, image);
}

/* Patches in up to three parts, in any order, with CLS and registers anywhere between; place[t] is
 * the patch that token t is, or -1. How many tokens there are. */
static uint32_t put_order(test_message *graph, uint32_t *seed, int32_t place[MOST_TOKENS]) {
  static const uint32_t one[] = {1, 1, 4}, three[] = {1, 3, 4};
  const bool columns = next_random(seed) % 2, cls = next_random(seed) % 4 > 0,
             registers = next_random(seed) % 2;
  const uint32_t cuts[] = {0, 1 + next_random(seed) % 7, 8 + next_random(seed) % 7, PATCHES};
  char inputs[64] = "";
  uint32_t pieces[5], count = 0, tokens = 0;
  test_message axis = {0};
  put_patches(graph, columns, seed);
  put_small(graph, "cls", 3, one, seed);
  put_small(graph, "registers", 3, three, seed);
  for (uint32_t i = 0; i < 3; i++) pieces[count++] = i;
  if (cls) pieces[count++] = 3;
  if (registers) pieces[count++] = 4;
  for (uint32_t i = count; i > 1; i--) {
    const uint32_t other = next_random(seed) % i, kept = pieces[i - 1];
    pieces[i - 1] = pieces[other];
    pieces[other] = kept;
  }
  for (uint32_t i = 0; i < count; i++) {
    static const char *const names[] = {"p0", "p1", "p2", "cls", "registers"};
    const uint32_t piece = pieces[i];
    snprintf(inputs + strlen(inputs), sizeof inputs - strlen(inputs), "%s%s", i ? "," : "",
             names[piece]);
    if (piece < 3) put_slice(graph, names[piece], cuts[piece], cuts[piece + 1]);
    for (uint32_t k = piece < 3 ? cuts[piece] : 0; k < (piece < 3    ? cuts[piece + 1]
                                                        : piece == 3 ? 1u
                                                                     : 3u);
         k++)
      place[tokens++] = piece >= 3 ? -1 : (int32_t)(columns ? k % 4 * 4 + k / 4 : k);
  }
  test_put_integer(&axis, "axis", 1);
  test_put_node(graph, "Concat", "j", inputs, "x", &axis);
  return tokens;
}

/* The map of a layer of the model's graph, beside that of the file in double with its tokens put in
 * order: those that are no patches, then the patches row by row. */
static void check_order(heed_onnx *onnx, const heed_model *model, uint32_t tokens,
                        const int32_t *place, uint32_t seed) {
  static float pixels[192], found[2 * MOST_TOKENS * MOST_TOKENS],
      want[2 * MOST_TOKENS * MOST_TOKENS];
  uint32_t order[MOST_TOKENS], count = 0;
  unsigned char bytes[2048];
  for (uint32_t i = 0; i < 192; i++) pixels[i] = (float)(i * 31 % 64) / 64 - 0.5f;
  for (uint32_t i = 0; i < tokens; i++)
    if (place[i] < 0) order[count++] = i;
  for (int32_t k = 0; k < (int32_t)PATCHES; k++)
    for (uint32_t i = 0; i < tokens; i++)
      if (place[i] == k) order[count++] = i;
  assert_int_equal(count, tokens);
  const int length =
      sprintf((char *)bytes + 8,
              "{\"image\":{\"dtype\":\"F32\",\"shape\":[1,3,8,8],\"data_offsets\":[0,768]}}");
  memset(bytes, 0, 8);
  bytes[0] = (unsigned char)length;
  memcpy(bytes + 8 + length, pixels, sizeof pixels);
  const heed_onnx_evaluate_desc desc = {
      .struct_size = sizeof desc,
      .attentions = true,
      .inputs = {8 + (size_t)length + sizeof pixels, bytes, NULL, NULL}};
  heed_onnx_result *result;
  assert_ok(heed_onnx_reference(onnx, &desc, &result, &error));
  const heed_source source = heed_onnx_result_source(result);
  const size_t map = (size_t)tokens * tokens;
  assert_ok(source.read(source.user, source.size - 2 * map * sizeof *want, want,
                        2 * map * sizeof *want, &error));
  heed_onnx_result_destroy(result);
  for (uint32_t layer = 0; layer < 2; layer++) {
    run_map(model, pixels, sizeof pixels, layer, map, found);
    for (uint32_t i = 0; i < map; i++) {
      const float expected =
          want[layer * map + (size_t)order[i / tokens] * tokens + order[i % tokens]];
      if (!(fabsf(found[i] - expected) <= 2e-5f))
        fail_msg("seed %u, layer %u, element %u: found %g, expected %g", seed, layer, i,
                 (double)found[i], (double)expected);
    }
  }
}

static void test_orders(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed <= 40; seed++) {
    test_message graph = {0};
    int32_t place[MOST_TOKENS];
    uint32_t random = seed;
    const uint32_t tokens = put_order(&graph, &random, place), dims[] = {1, tokens, 4};
    test_put_layer(&graph, "x", "y");
    test_put_layer(&graph, "y", "z");
    test_put_shaped(&graph, 12, "z", 3, dims);
    test_message file = test_onnx_file(&graph);
    heed_onnx *onnx = open_file(context, &file);
    heed_model *model;
    heed_model_info info;
    assert_ok(heed_onnx_vision(onnx, &none, 0, 0, &model, &error));
    heed_model_get_info(model, &info);
    assert_int_equal(info.prefix_tokens, tokens - PATCHES);
    assert_int_equal(info.patch, 2);
    check_order(onnx, model, tokens, place, seed);
    bool straight = true;
    for (uint32_t i = 0; i < tokens; i++)
      straight =
          straight && place[i] == (i < tokens - PATCHES ? -1 : (int32_t)(i - (tokens - PATCHES)));
    assert_int_equal(strstr(info.assumed, "tokens in heed's order") != NULL, !straight);
    heed_model_destroy(model);
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
      cmocka_unit_test(test_found),           cmocka_unit_test(test_prefix),
      cmocka_unit_test(test_pixels),          cmocka_unit_test(test_channels),
      cmocka_unit_test(test_orders),          cmocka_unit_test(test_endings),
      cmocka_unit_test(test_maps_as_outputs), cmocka_unit_test(test_memory),
      cmocka_unit_test(test_many_tables)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
