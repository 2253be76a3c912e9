/* One call from a path to a model of any kind, its description, and the names of its taps. */
#include <stdio.h>
#include <string.h>

#include "heed/native.h"
#include "support/test_context.h"

static const char *vector(const char *name) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s", HEED_TEST_VECTORS, name);
  return path;
}

typedef struct loaded {
  heed_model_files *files;
  heed_model *model;
  heed_model_info info;
  char text[4096];
} loaded;

static loaded load(const char *name, const heed_load_desc *desc) {
  loaded l;
  assert_ok(heed_model_load(context, vector(name), desc, &l.files, &l.model, &error));
  heed_model_get_info(l.model, &l.info);
  const size_t length = heed_model_describe(l.model, l.text, sizeof l.text);
  assert_int_equal(length, strlen(l.text));
  return l;
}

static void unload(loaded *l) {
  heed_model_destroy(l->model);
  heed_model_files_destroy(l->files);
}

/* ---------------------------------------------------------------------------------- one call */

static void test_kinds(void **state) {
  (void)state;
  loaded folder = load("vit/micro_32", NULL), file = load("vit/micro_32/model.safetensors", NULL);
  assert_string_equal(folder.info.family, "vit");
  assert_int_equal(folder.info.layers, file.info.layers);
  unload(&file);
  unload(&folder);
  loaded graph = load("onnx/graphs/dinov2_11_dynamic.onnx", NULL); /* no config.json is there */
  assert_non_null(heed_model_files_onnx(graph.files));
  assert_true(graph.info.layers > 0 && graph.info.heads > 0);
  unload(&graph);
  const heed_load_desc text = {.struct_size = sizeof text, .tower = HEED_TOWER_TEXT};
  loaded tower = load("vit/clip_text", &text);
  assert_int_equal(tower.info.kind, HEED_MODEL_TEXT);
  assert_non_null(strstr(tower.text, "texts of "));
  unload(&tower);
}

static void test_refused(void **state) {
  (void)state;
  heed_model_files *files = (heed_model_files *)context;
  heed_model *model = (heed_model *)context;
  const heed_load_desc key = {.struct_size = sizeof key, .weights_key = "ema"},
                       small = {.struct_size = 1};
  assert_fails(heed_model_load(context, vector("nowhere"), NULL, &files, &model, &error), HEED_IO,
               "model not found");
  assert_null(files);
  assert_null(model);
  assert_fails(heed_model_load(context, vector("preprocess"), NULL, &files, &model, &error),
               HEED_INVALID_FILE, "found 14 weight files");
  assert_null(files);
  for (int i = 0; i < 2; i++)
    assert_fails(heed_model_load(context, vector(i ? "sequence/lstm" : "sequence/transformer"),
                                 NULL, &files, &model, &error),
                 HEED_UNSUPPORTED, "heed_sequence_open of heed/sequences.h opens it)");
  assert_null(files);
  assert_int_not_equal(
      heed_model_load(context, vector("vit/micro_32"), &key, &files, &model, &error), HEED_OK);
  assert_null(model);
  assert_fails(heed_model_load(context, vector("vit/micro_32"), &small, &files, &model, &error),
               HEED_INVALID_ARGUMENT, "model: struct_size");
  assert_fails(heed_model_load(context, NULL, NULL, &files, &model, &error), HEED_INVALID_ARGUMENT,
               "NULL argument");
}

/* ------------------------------------------------------------------------------- description */

static void test_description(void **state) {
  (void)state;
  char part[16];
  loaded l = load("vit/micro_32", NULL);
  assert_string_equal(
      l.text,
      "family vit: 32 px, patch 16, 2 layers x 4 heads, width 32, mlp 64, 1 prefix tokens, 5 "
      "classes\n"
      "positions resized: bicubic\n"
      "rules: classifier on CLS, gelu, epsilon 1e-12, positions bicubic\n"
      "assumed: preprocessing of ViT\n"
      "preprocessing: resize to 32 x 32 pixels, bilinear, x 0.00392157, mean 0.5 0.5 0.5, std 0.5 "
      "0.5 0.5\n"
      "42117 parameters, 168468 bytes of weights in the file, 40 tensors used, 0 unused\n");
  /* as snprintf: what fits, with a 0, and the length of the whole */
  assert_int_equal(heed_model_describe(l.model, part, sizeof part), strlen(l.text));
  assert_int_equal(strlen(part), sizeof part - 1);
  assert_memory_equal(part, l.text, sizeof part - 1);
  assert_int_equal(heed_model_describe(l.model, NULL, 0), strlen(l.text));
  unload(&l);
  l = load("vit/clip_tower", NULL);
  assert_non_null(strstr(l.text, "preprocessing: "));
  unload(&l);
}

/* -------------------------------------------------------------------------------------- taps */

static void check_taps(const char *name, heed_tap first, heed_tap last, const char *const *names) {
  loaded l = load(name, NULL);
  heed_graph *graph;
  assert_ok(heed_model_build(l.model, NULL, &graph, &error));
  for (int tap = first; tap <= (int)last; tap++) {
    const heed_value value = heed_graph_tap(graph, (heed_tap)tap, 1);
    assert_true(value.id != 0);
    assert_int_equal(value.id, heed_graph_find(graph, names[tap - (int)first]).id);
  }
  assert_int_equal(heed_graph_tap(graph, HEED_TAP_WEIGHTS, l.info.layers).id, 0);
  assert_int_equal(heed_graph_tap(graph, (heed_tap)HEED_TAP_COUNT, 0).id, 0);
  heed_graph_destroy(graph);
  unload(&l);
}

static void test_taps(void **state) {
  (void)state;
  static const char *const layer[] = {"embeddings",
                                      "layer.1.query",
                                      "layer.1.key",
                                      "layer.1.value",
                                      "layer.1.attention.weights",
                                      "layer.1.attention.logits",
                                      "layer.1.attention.output",
                                      "layer.1.output"},
                           *const pool[] = {"pool.query",
                                            "pool.key",
                                            "pool.value",
                                            "pool.attention.weights",
                                            "pool.attention.logits",
                                            "pool.attention.output"},
                           *const sequence[] = {"encoder.7.self.weights", "encoder.7.self.logits",
                                                "encoder.7.output",       "decoder.7.self.weights",
                                                "decoder.7.self.logits",  "decoder.7.cross.weights",
                                                "decoder.7.cross.logits", "decoder.7.output"};
  char name[HEED_TAP_NAME_SIZE];
  check_taps("vit/micro_32", HEED_TAP_EMBEDDINGS, HEED_TAP_OUTPUT, layer);
  check_taps("vit/siglip", HEED_TAP_POOL_QUERY, HEED_TAP_POOL_HEADS, pool);
  for (int tap = HEED_TAP_ENCODER_WEIGHTS; tap < HEED_TAP_COUNT; tap++)
    assert_string_equal(heed_tap_name((heed_tap)tap, 7, name),
                        sequence[tap - (int)HEED_TAP_ENCODER_WEIGHTS]);
  assert_string_equal(heed_tap_name(HEED_TAP_WEIGHTS, UINT32_MAX, name),
                      "layer.4294967295.attention.weights");
  assert_string_equal(heed_tap_name((heed_tap)-1, 0, name), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_refused),
                                     cmocka_unit_test(test_description),
                                     cmocka_unit_test(test_taps)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
