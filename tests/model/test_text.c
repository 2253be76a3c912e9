/* Text towers against float64 results (tests/vectors/vit/make_text.py) on every backend present:
 * every attention, the final states, the text's embedding; which tower a file opens as; sentences.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/files/safetensors.h"
#include "support/op_test.h"
#include "support/vector_file.h"
#include "support/weights.h"

static heed_error error;

static const struct {
  const char *folder, *config, *family;
} models[] = {{"clip_text", "config.json", "clip"},
              {"siglip_text", "config.json", "siglip"},
              {"open_clip_text", "open_clip_config.json", "open_clip"},
              {"open_clip_text_openai", NULL, "open_clip"},
              {"pe_text", NULL, "pe_core (original)"}};
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

/* clip_text with one tensor left out (rank 0, F32) or of another shape of as many numbers at most.
 */
static test_bytes change_tensor(const opened *o, const char *name, heed_dtype dtype,
                                const heed_shape *shape) {
  heed_safetensors *file;
  heed_safetensors_item items[128];
  test_bytes made = {NULL, 0};
  uint32_t count = 0;
  assert_ok(heed_safetensors_open(test_backend_context(), &o->file[0].source, "model.safetensors",
                                  &file, &error));
  assert_true(heed_safetensors_count(file) < sizeof items / sizeof *items);
  for (uint32_t i = 0; i < heed_safetensors_count(file); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(file, i);
    const bool changed = strcmp(tensor->name, name) == 0;
    if (changed && !shape->rank && dtype == HEED_F32) continue;
    items[count++] =
        (heed_safetensors_item){tensor->name, changed ? dtype : tensor->dtype,
                                changed ? *shape : tensor->shape, o->bytes[0] + tensor->offset};
  }
  assert_ok(heed_safetensors_write(test_backend_context(), items, count, NULL, 0, test_bytes_append,
                                   &made, &error));
  heed_safetensors_destroy(file);
  return made;
}

/* What embeds tokens and what projects the text are as the config and each other say. */
#define TOKENS "text_model.embeddings.token_embedding.weight"
#define POSITIONS "text_model.embeddings.position_embedding.weight"
#define PROJECTION "text_projection.weight"
static const struct {
  const char *name;
  heed_dtype dtype;
  heed_shape shape;
  const char *from, *to; /* of the config */
  heed_status status;
  const char *sentence;
} tower_changes[] = {
    {TOKENS, HEED_F32, {0}, NULL, NULL, HEED_UNSUPPORTED, "no text tower"},
    {TOKENS, HEED_F32, {1, {960}}, NULL, NULL, HEED_INVALID_FILE, TOKENS},
    {TOKENS, HEED_F32, {2, {30, 16}}, NULL, NULL, HEED_INVALID_FILE, "hidden_size"},
    {TOKENS, HEED_U8, {2, {30, 32}}, NULL, NULL, HEED_UNSUPPORTED, TOKENS},
    {POSITIONS, HEED_F32, {0}, NULL, NULL, HEED_INVALID_FILE, POSITIONS},
    {POSITIONS, HEED_F32, {1, {288}}, NULL, NULL, HEED_INVALID_FILE, POSITIONS},
    {POSITIONS, HEED_F32, {2, {9, 16}}, NULL, NULL, HEED_INVALID_FILE, POSITIONS},
    {PROJECTION, HEED_F32, {1, {224}}, NULL, NULL, HEED_INVALID_FILE, PROJECTION},
    {PROJECTION, HEED_F32, {2, {7, 16}}, NULL, NULL, HEED_INVALID_FILE, PROJECTION},
    {"logit_scale", HEED_I32, {0, {0}}, NULL, NULL, HEED_UNSUPPORTED, "logit_scale"},
    {"",
     0,
     {0},
     "\"eos_token_id\": 29",
     "\"eos_token_id\": 30",
     HEED_INVALID_FILE,
     "eos_token_id is out of range (found 30, expected less than 30)"},
    {"",
     0,
     {0},
     "\"eos_token_id\": 29",
     "\"pad_token_id\": 29",
     HEED_INVALID_FILE,
     "eos_token_id (by default) is out of range (found 49407, expected less than 30)"},
    {"", 0, {0}, "\"vocab_size\": 30", "\"vocab_size\": 31", HEED_INVALID_FILE, "vocab_size"},
    {"", 0, {0}, "\"hidden_size\": 32", "\"hidden_size\": 36", HEED_INVALID_FILE, "hidden_size"},
    {"",
     0,
     {0},
     "embeddings\": 9",
     "embeddings\": 8",
     HEED_INVALID_FILE,
     "max_position_embeddings"},
    {"",
     0,
     {0},
     "\"projection_dim\": 7",
     "\"projection_dim\": 8",
     HEED_INVALID_FILE,
     "projection_dim"},
    {"",
     0,
     {0},
     "\"num_attention_heads\": 4",
     "\"num_attention_heads\": 5",
     HEED_INVALID_FILE,
     "hidden_size is not a multiple of num_attention_heads (found 32 and 5)"},
};

static void changed_towers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof tower_changes / sizeof *tower_changes; i++) {
    opened o;
    char config[2048];
    assert_ok(open_model(&o, "clip_text", "config.json", HEED_TOWER_TEXT));
    test_bytes weights =
        change_tensor(&o, tower_changes[i].name, tower_changes[i].dtype, &tower_changes[i].shape);
    const int length = (int)o.file[1].source.size;
    snprintf(config, sizeof config, "%.*s", length, (const char *)o.bytes[1]);
    if (tower_changes[i].from) {
      const char *at = strstr(config, tower_changes[i].from);
      assert_non_null(at);
      snprintf(config, sizeof config, "%.*s%s%s", (int)(at - config), (const char *)o.bytes[1],
               tower_changes[i].to,
               (const char *)o.bytes[1] + (at - config) + strlen(tower_changes[i].from));
      config[(size_t)length - strlen(tower_changes[i].from) + strlen(tower_changes[i].to)] = '\0';
    }
    const heed_model_file files[] = {{"model.safetensors", test_source(weights.data, weights.size)},
                                     {"config.json", test_source(config, strlen(config))}};
    const heed_model_desc desc = {sizeof desc, files, 2, HEED_TOWER_TEXT};
    heed_model *model;
    const heed_status status = heed_model_open(test_backend_context(), &desc, &model, &error);
    if (status != tower_changes[i].status || !strstr(error.message, tower_changes[i].sentence))
      fail_msg("change %zu: found %s (%s), expected %s (%s)", i, heed_status_name(status),
               status == HEED_OK ? "" : error.message, heed_status_name(tower_changes[i].status),
               tower_changes[i].sentence);
    free(weights.data);
    close_model(&o);
  }
}

/* A factor or a bias that the file has not is reported. */
static void missing_scales(void **state) {
  (void)state;
  static const struct {
    const char *folder, *tensor, *assumed;
  } cases[] = {{"clip_text", "logit_scale", "logit_scale 0"},
               {"siglip_text", "logit_bias", "a softmax over texts: no logit_bias"},
               {"clip_text", "no such tensor", NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    opened o;
    const heed_shape none = {0};
    heed_model *model;
    heed_model_info info;
    assert_ok(open_model(&o, cases[i].folder, "config.json", HEED_TOWER_TEXT));
    test_bytes weights = change_tensor(&o, cases[i].tensor, HEED_F32, &none);
    o.file[0].source = test_source(weights.data, weights.size);
    const heed_model_desc desc = {sizeof desc, o.file, 2, HEED_TOWER_TEXT};
    assert_ok(heed_model_open(test_backend_context(), &desc, &model, &error));
    heed_model_get_info(model, &info);
    assert_true(!cases[i].assumed == !info.assumed);
    if (info.assumed) assert_string_equal(info.assumed, cases[i].assumed);
    heed_model_destroy(model);
    free(weights.data);
    close_model(&o);
  }
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_model),    cmocka_unit_test(towers),
      cmocka_unit_test(changed_towers), cmocka_unit_test(missing_scales),
      cmocka_unit_test(comparison),     cmocka_unit_test(rows)};
  return cmocka_run_group_tests(tests, NULL, test_backend_close_all);
}
