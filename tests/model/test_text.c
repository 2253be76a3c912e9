/* Text towers against float64 results (tests/vectors/vit/make_text.py) on every backend present:
 * every attention, the final states, the text's embedding; which tower a file opens as; sentences.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"
#include "support/vector_file.h"

static heed_error error;

static const struct {
  const char *folder, *config, *family;
} models[] = {{"clip_text", "config.json", "clip"},
              {"siglip_text", "config.json", "siglip"},
              {"open_clip_text", "open_clip_config.json", "open_clip"},
              {"open_clip_text_openai", NULL, "open_clip"}};
enum { MODELS = sizeof models / sizeof *models };

typedef struct opened {
  unsigned char *bytes[2];
  heed_model_file file[2];
  heed_model *model;
  heed_model_info info;
} opened;

static heed_status open_model(opened *o, const char *folder, const char *config, heed_tower tower) {
  const char *const names[] = {"model.safetensors", config};
  char path[96];
  *o = (opened){.model = NULL};
  const uint32_t count = config ? 2 : 1;
  for (uint32_t i = 0; i < count; i++) {
    size_t size;
    snprintf(path, sizeof path, "vit/%s/%s", folder, names[i]);
    o->bytes[i] = test_read_vector(path, &size);
    o->file[i] = (heed_model_file){names[i], {size, o->bytes[i], NULL, NULL}};
  }
  const heed_model_desc desc = {sizeof desc, o->file, count, tower};
  const heed_status status = heed_model_open(test_backend_context(), &desc, &o->model, &error);
  if (status == HEED_OK) heed_model_get_info(o->model, &o->info);
  return status;
}

static void close_model(opened *o) {
  heed_model_destroy(o->model);
  free(o->bytes[0]);
  free(o->bytes[1]);
}

/* Vulkan sums in another order than the oracle, and has an exp of its own. */
static double tolerance_of(const heed_backend *backend) {
  return strcmp(heed_backend_name(backend), "cpu") == 0 ? 2e-5 : 1e-4;
}

static void compare(const vector_file *io, const char *name, const heed_backend *backend,
                    const float *found, size_t count) {
  char key[64];
  heed_shape shape;
  snprintf(key, sizeof key, "expect.%s", name);
  float *expected = vector_file_read(io, key, HEED_F32, &shape);
  assert_int_equal(heed_shape_count(&shape), count);
  for (size_t i = 0; i < count; i++) {
    const double off = fabs((double)found[i] - (double)expected[i]);
    if (!(off <= tolerance_of(backend) * fmax(1.0, fabs((double)expected[i]))))
      fail_msg("%s on %s: element %zu is %.9g (expected %.9g)", name, heed_backend_name(backend), i,
               (double)found[i], (double)expected[i]);
  }
  free(expected);
}

static float *read_value(heed_session *session, const char *name, heed_shape *shape) {
  heed_value_info info;
  const heed_graph *graph = heed_session_graph(session);
  const heed_value value = heed_graph_find(graph, name);
  assert_int_equal(heed_graph_value_info(graph, value, &info), HEED_OK);
  *shape = info.shape;
  const size_t count = (size_t)heed_shape_count(shape);
  float *data = malloc(count * sizeof *data);
  assert_ok(heed_session_read(session, value, 0, count, data, &error));
  return data;
}

/* Of every text the row that heed_text_row says. */
static void check_rows(const opened *o, heed_session *session, const vector_file *io,
                       const heed_backend *backend, const char *value, const char *expected,
                       const int32_t *ids) {
  heed_shape shape;
  float *all = read_value(session, value, &shape);
  const uint32_t batch = shape.dim[0], tokens = shape.dim[1], width = shape.dim[2];
  float *rows = malloc((size_t)batch * width * sizeof *rows);
  for (uint32_t b = 0; b < batch; b++) {
    const uint32_t row = heed_text_row(&o->info, ids + (size_t)b * tokens, tokens);
    memcpy(rows + (size_t)b * width, all + ((size_t)b * tokens + row) * width,
           width * sizeof *rows);
  }
  compare(io, expected, backend, rows, (size_t)batch * width);
  free(rows);
  free(all);
}

static void check_run(const opened *o, const char *folder, const char *run, heed_backend *backend) {
  char path[96], name[64];
  heed_shape shape;
  snprintf(path, sizeof path, "vit/%s/%s.safetensors", folder, run);
  vector_file io = vector_file_open(path);
  int32_t *ids = vector_file_read(&io, "input_ids", HEED_I32, &shape);
  const heed_build_desc build = {
      .struct_size = sizeof build, .batch = shape.dim[0], .source_length = shape.dim[1]};
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value taps[2];
  assert_ok(heed_model_build(o->model, &build, &graph, &error));
  for (uint32_t i = 0; i < 2; i++) {
    snprintf(name, sizeof name, "layer.%u.attention.weights", i);
    taps[i] = heed_graph_find(graph, name);
  }
  const heed_plan_desc desc = {sizeof desc, taps, 2, HEED_ATTENTION_MODE_AUTO};
  assert_ok(heed_plan_create(graph, backend, &desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_write(session, heed_graph_find(graph, "input_ids"), ids,
                               (size_t)heed_shape_count(&shape) * sizeof *ids, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  for (uint32_t i = 0; i < 2; i++) {
    snprintf(name, sizeof name, "layer.%u.attention.weights", i);
    float *found = read_value(session, name, &shape);
    snprintf(name, sizeof name, "text.attention.%u", i);
    compare(&io, name, backend, found, (size_t)heed_shape_count(&shape));
    free(found);
  }
  float *states = read_value(session, "last_hidden_state", &shape);
  compare(&io, "text.last_hidden_state", backend, states, (size_t)heed_shape_count(&shape));
  free(states);
  check_rows(o, session, &io, backend, o->info.text_padded ? "token_embeds" : "last_hidden_state",
             "text.pooler_output", ids);
  check_rows(o, session, &io, backend, "token_embeds", "text_embeds", ids);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  free(ids);
  vector_file_close(&io);
}

static void every_model(void **state) {
  (void)state;
  for (int m = 0; m < MODELS; m++) {
    opened o;
    assert_ok(open_model(&o, models[m].folder, models[m].config, HEED_TOWER_TEXT));
    assert_int_equal(o.info.kind, HEED_MODEL_TEXT);
    assert_string_equal(o.info.family, models[m].family);
    assert_int_equal(o.info.source_vocabulary, 30);
    assert_int_equal(o.info.max_length, 9);
    assert_true(o.info.scaled);
    assert_true(fabsf(o.info.logit_scale - 2.3f) < 0.5f);
    for (uint32_t b = 0; b < test_backend_count(); b++) {
      check_run(&o, models[m].folder, "io", test_backend_get(b));
      check_run(&o, models[m].folder, "io_short", test_backend_get(b));
    }
    close_model(&o);
  }
}

/* What the towers of one file are, and what a file without one says. */
static void towers(void **state) {
  (void)state;
  opened o;
  assert_ok(open_model(&o, "clip_text", "config.json", HEED_TOWER_VISION));
  assert_int_equal(o.info.kind, HEED_MODEL_VISION);
  assert_int_equal(o.info.width, 24);
  close_model(&o);
  assert_ok(open_model(&o, "clip_text", "config.json", HEED_TOWER_TEXT));
  assert_int_equal(o.info.width, 32);
  assert_int_equal(o.info.end, 29);
  assert_false(o.info.biased);
  assert_false(o.info.text_padded);
  assert_string_equal(o.info.rules,
                      "text on its end, causal, quick_gelu, epsilon 1e-05, positions not resized");
  close_model(&o);
  assert_ok(open_model(&o, "siglip_text", "config.json", HEED_TOWER_TEXT));
  assert_true(o.info.biased);
  assert_true(o.info.text_padded);
  const heed_build_desc build = {.struct_size = sizeof build, .source_length = 10};
  heed_graph *graph;
  assert_fails(heed_model_build(o.model, &build, &graph, &error), HEED_INVALID_ARGUMENT,
               "text too long (found 10 tokens, expected at most 9)");
  close_model(&o);
  assert_fails(open_model(&o, "timm", "config.json", HEED_TOWER_TEXT), HEED_UNSUPPORTED, "");
  close_model(&o);
  assert_fails(open_model(&o, "timm", NULL, HEED_TOWER_TEXT), HEED_UNSUPPORTED, "no text tower");
  close_model(&o);
}

/* Logits of the oracle's embeddings as the oracle has them; probabilities by their definitions. */
static void comparison(void **state) {
  (void)state;
  opened o;
  heed_shape images, texts, shape;
  float found[3];
  double probability[3];
  assert_ok(open_model(&o, "clip_text", "config.json", HEED_TOWER_TEXT));
  vector_file io = vector_file_open("vit/clip_text/io.safetensors");
  float *image = vector_file_read(&io, "expect.image_embeds", HEED_F32, &images),
        *text = vector_file_read(&io, "expect.text_embeds", HEED_F32, &texts),
        *logits = vector_file_read(&io, "expect.logits_per_image", HEED_F32, &shape);
  assert_int_equal(texts.dim[0], 3);
  for (uint32_t i = 0; i < images.dim[0]; i++) {
    heed_compare(&o.info, image + (size_t)i * images.dim[1], text, 3, found, probability);
    for (uint32_t k = 0; k < 3; k++) {
      double sum = 0.0;
      for (uint32_t j = 0; j < 3; j++)
        sum += exp((double)logits[i * 3 + j] - (double)logits[i * 3 + k]);
      assert_true(fabs((double)found[k] - (double)logits[i * 3 + k]) <= 2e-5);
      assert_true(fabs(probability[k] - 1.0 / sum) <= 2e-5);
    }
  }
  o.info.biased = true;
  o.info.logit_bias = -3.0f;
  heed_compare(&o.info, image, text, 1, found, probability);
  assert_true(fabs((double)found[0] - ((double)logits[0] - 3.0)) <= 2e-5);
  assert_true(fabs(probability[0] - 1.0 / (1.0 + exp(3.0 - (double)logits[0]))) <= 2e-5);
  free(image);
  free(text);
  free(logits);
  vector_file_close(&io);
  close_model(&o);
}

static void rows(void **state) {
  (void)state;
  const int32_t ids[] = {5, 9, 2, 9, 7};
  heed_model_info info = {.end = -1};
  assert_int_equal(heed_text_row(&info, ids, 5), 1);
  info.end = 2;
  assert_int_equal(heed_text_row(&info, ids, 5), 2);
  info.end = 9;
  assert_int_equal(heed_text_row(&info, ids, 5), 1);
  info.end = 5;
  assert_int_equal(heed_text_row(&info, ids, 5), 0);
  info.end = 100;
  assert_int_equal(heed_text_row(&info, ids, 5), 0);
  info.text_padded = true;
  assert_int_equal(heed_text_row(&info, ids, 5), 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_model), cmocka_unit_test(towers),
                                     cmocka_unit_test(comparison), cmocka_unit_test(rows)};
  return cmocka_run_group_tests(tests, NULL, test_backend_close_all);
}
