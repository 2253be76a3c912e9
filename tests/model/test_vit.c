/* Whole ViTs against float64 results on every CPU level, and chosen rows and rows on demand against
 * the whole map. Vulkan devices run the same oracle in tests/vulkan. */
#include "support/opened_vit.h"

#include <math.h>

/* The value equals the file's expect.<expected> within 2e-5. */
static void assert_value(const vit *v, const char *name, const char *expected, const char *level) {
  heed_error error;
  char key[64];
  snprintf(key, sizeof key, "expect.%s", expected);
  const heed_safetensors_tensor *tensor = heed_safetensors_find(v->io, key);
  assert_non_null(tensor);
  heed_value_info info;
  const heed_value value = heed_graph_find(v->graph, name);
  assert_int_equal(heed_graph_value_info(v->graph, value, &info), HEED_OK);
  assert_true(heed_shape_equal(&info.shape, &tensor->shape));
  float *found = malloc((size_t)tensor->bytes), *want = malloc((size_t)tensor->bytes);
  assert_ok(heed_session_read(v->session, value, 0, tensor->count, found, &error));
  assert_ok(heed_safetensors_read(v->io, tensor, 0, tensor->count, want, &error));
  double worst = 0.0;
  for (uint64_t i = 0; i < tensor->count; i++) {
    const double off = fabs((double)found[i] - (double)want[i]);
    if (!(off <= worst)) worst = off;
  }
  if (!(worst <= 2e-5))
    fail_msg("%s on cpu level %s is off by %g (expected at most 2e-5)", name, level, worst);
  free(found);
  free(want);
}

/* What is pooled, from the rows of the last layer that it reads alone. */
static void check_pooled(const vit_files *files, heed_build_desc build) {
  static const char *const pooled[] = {"logits", "pooler_output", "image_embeds"};
  vit v;
  heed_error error;
  build.classes_only = true;
  assert_ok(open_vit(&v, files, NULL, NULL, 2, &build, NULL, &error));
  for (size_t i = 0; i < sizeof pooled / sizeof *pooled; i++) {
    char expected[64];
    snprintf(expected, sizeof expected, "expect.%s", pooled[i]);
    if (heed_safetensors_find(v.io, expected)) assert_value(&v, pooled[i], pooled[i], "best");
  }
  close_vit(&v);
}

/* Everything that the run expects, on every level. */
static void check_run(vit_files *files) {
  const heed_build_desc build = run_sizes(files);
  for (uint32_t l = 0; heed_cpu_level(l); l++) {
    vit v;
    heed_error error;
    heed_model_info info;
    uint32_t checked = 0;
    assert_ok(open_vit(&v, files, NULL, heed_cpu_level(l), 2, &build, NULL, &error));
    heed_model_get_info(v.model, &info);
    assert_true((info.classes > 0) == (heed_safetensors_find(v.io, "expect.logits") != NULL));
    for (uint32_t i = 0; i < heed_safetensors_count(v.io); i++) {
      const char *expected = heed_safetensors_get(v.io, i)->name;
      char name[64];
      if (strncmp(expected, "expect.", 7) != 0 || strcmp(expected, "expect.rollout") == 0 ||
          strncmp(expected, "expect.map.", 11) == 0)
        continue;
      expected += 7;
      if (strncmp(expected, "attention.", 10) == 0)
        snprintf(name, sizeof name, "layer.%s.attention.weights", expected + 10);
      else
        snprintf(name, sizeof name, "%s", expected);
      assert_value(&v, name, expected, heed_cpu_level(l));
      checked++;
    }
    assert_true(checked > info.layers); /* the maps and a state */
    close_vit(&v);
  }
  check_pooled(files, build);
  free_files(files);
}

static void test_equals_the_oracle(void **state) {
  static const char *const folders[] = {"micro_32", "small_224"};
  (void)state;
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    vit_files files;
    load_files(&files, folders[i]);
    check_run(&files);
  }
}

/* Each family by its own rules, with positions resized to two grids that are not the stored one:
 * every folder that has them. */
static void check_family(const char *folder, const char *config) {
  static const char *const runs[] = {"io", "io_wide"};
  for (size_t run = 0; run < 2; run++) {
    vit_files files;
    load_run(&files, folder, config, runs[run]);
    check_run(&files);
  }
}

#define VIT_VECTOR(folder, config)                 \
  static void test_family_##folder(void **state) { \
    (void)state;                                   \
    check_family(#folder, config);                 \
  }
#include "vit_vectors.h"
#undef VIT_VECTOR

/* Layers in stages: a grid that windows divide, one that they do not, and one whose last stage is
 * one window. */
static void check_stages(const char *folder, const char *config) {
  static const char *const runs[] = {"io", "io_uneven", "io_small"};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    vit_files files;
    load_run(&files, folder, config, runs[i]);
    check_run(&files);
  }
}

static void test_stages(void **state) {
  (void)state;
#define STAGE_VECTOR(folder, config) check_stages(#folder, config);
#include "stage_vectors.h"
#undef STAGE_VECTOR
}

/* Rows of windows as rows over all tokens, against the published code's own windows. */
static void check_window_rows(const char *folder) {
  vit_files files;
  vit v;
  heed_error error;
  load_run(&files, folder, "config.json", "io_small");
  const heed_build_desc build = run_sizes(&files);
  assert_ok(open_vit(&v, &files, NULL, NULL, 1, &build, NULL, &error));
  for (uint32_t i = 0; i < 4; i++) {
    char name[64];
    uint64_t count;
    heed_layer_info layer;
    snprintf(name, sizeof name, "layer.%u.attention.weights", i);
    float *windows = read_value(&v, name, &count);
    assert_ok(heed_model_layer(v.model, &build, i, &layer, &error));
    const uint32_t tokens = layer.rows * layer.columns, side = i < 2 ? 5 : 3;
    assert_int_equal(layer.rows, side);
    assert_int_equal(layer.columns, side);
    assert_int_equal(layer.patch, i < 2 ? 4 : 8);
    assert_int_equal(count, layer.down * layer.across * layer.heads * layer.window * layer.window *
                                layer.window * layer.window);
    snprintf(name, sizeof name, "expect.map.%u", i);
    const heed_safetensors_tensor *tensor = heed_safetensors_find(v.io, name);
    assert_int_equal(tensor->count, layer.heads * tokens * tokens);
    float *want = malloc((size_t)tensor->bytes), row[25];
    assert_ok(heed_safetensors_read(v.io, tensor, 0, tensor->count, want, &error));
    for (uint32_t h = 0; h < layer.heads; h++)
      for (uint32_t q = 0; q < tokens; q++) {
        heed_window_row(&layer, windows, h, q, row);
        for (uint32_t t = 0; t < tokens; t++)
          assert_float_equal(row[t], want[((size_t)h * tokens + q) * tokens + t], 2e-5);
      }
    free(want);
    free(windows);
  }
  close_vit(&v);
  free_files(&files);
}

static void test_window_rows(void **state) {
  (void)state;
  check_window_rows("swin");
  check_window_rows("swinv2");
}

/* Of a layer without windows beside those with: the row of its map. */
static void test_rows_without_windows(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  heed_layer_info layer;
  uint64_t count;
  load_run(&files, "sam", "config.json", "io_small");
  const heed_build_desc build = run_sizes(&files);
  assert_ok(open_vit(&v, &files, NULL, NULL, 1, &build, NULL, &error));
  assert_ok(heed_model_layer(v.model, &build, 0, &layer, &error));
  assert_int_equal(layer.window, 3);
  assert_int_equal(layer.shift, 0);
  assert_ok(heed_model_layer(v.model, &build, 1, &layer, &error));
  assert_int_equal(layer.window, 0);
  float *map = read_value(&v, "layer.1.attention.weights", &count), row[4];
  assert_int_equal(count, layer.heads * 4 * 4);
  for (uint32_t h = 0; h < layer.heads; h++)
    for (uint32_t q = 0; q < 4; q++) {
      heed_window_row(&layer, map, h, q, row);
      assert_memory_equal(row, map + ((size_t)h * 4 + q) * 4, sizeof row);
    }
  free(map);
  close_vit(&v);
  free_files(&files);
}

static void test_stages_refuse(void **state) {
  static const uint32_t rows[] = {0};
  const struct {
    heed_build_desc build;
    heed_status status;
    const char *sentence;
  } refused[] = {
      {{.intervene = true}, HEED_UNSUPPORTED, "changes of the attention of a model with stages"},
      {{.rows = rows, .row_count = 1}, HEED_UNSUPPORTED, "rows of a model with stages"},
      {{.shortened = true, .patches = 4}, HEED_UNSUPPORTED, "with windows cannot be shortened"},
      {{.height = 16, .width = 40},
       HEED_INVALID_ARGUMENT,
       "image too small (found 2 x 5 patches in layer 2, expected windows of 3 x 3 to fit)"}};
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    vit_files files;
    vit v;
    heed_error error;
    heed_build_desc build = refused[i].build;
    build.struct_size = sizeof build;
    load_run(&files, "swin", "config.json", "io_small");
    assert_fails(open_vit(&v, &files, NULL, NULL, 1, &build, NULL, &error), refused[i].status,
                 refused[i].sentence);
    close_vit(&v);
    free_files(&files);
  }
}

/* One patch, and of a model of videos one time step more than that. */
static void check_smallest(const char *folder, const char *config) {
  vit_files files;
  load_run(&files, folder, config, "io_small");
  check_run(&files);
}

static void test_smallest_pictures(void **state) {
  (void)state;
#define SMALLEST_VECTOR(folder, config) check_smallest(#folder, config);
#include "smallest_vectors.h"
#undef SMALLEST_VECTOR
}

static void test_frames_that_do_not_fit(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  load_run(&files, "videomae", "config.json", "io");
  heed_build_desc build = run_sizes(&files);
  build.frames = 3;
  assert_fails(open_vit(&v, &files, NULL, NULL, 1, &build, NULL, &error), HEED_INVALID_ARGUMENT,
               "wrong number of frames (found 3, expected a multiple of 2)");
  close_vit(&v);
  free_files(&files);
  load_files(&files, "micro_32");
  build = (heed_build_desc){.struct_size = sizeof build, .frames = 2};
  assert_fails(open_vit(&v, &files, NULL, NULL, 1, &build, NULL, &error), HEED_INVALID_ARGUMENT,
               "not a model of videos (found 2 frames, expected 0)");
  close_vit(&v);
  free_files(&files);
}

static void test_rows_on_demand_equal_the_map(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  uint64_t count;
  load_files(&files, "small_224");
  assert_ok(open_vit(&v, &files, NULL, NULL, 1, NULL, NULL, &error));
  float *map = read_value(&v, "layer.0.attention.weights", &count);
  float row[197];
  for (uint32_t head = 0; head < 4; head++)
    for (uint32_t query = 0; query < 197; query += 49) {
      assert_ok(heed_session_attention_row(v.session,
                                           heed_graph_find(v.graph, "layer.0.attention.weights"), 0,
                                           head, query, row, NULL, &error));
      for (uint32_t k = 0; k < 197; k++)
        assert_float_equal(row[k], map[(head * 197 + query) * 197 + k], 2e-6);
    }
  assert_fails(
      heed_session_attention_row(v.session, heed_graph_find(v.graph, "layer.0.attention.weights"),
                                 0, 4, 0, row, NULL, &error),
      HEED_INVALID_ARGUMENT, "out of range");
  assert_fails(
      heed_session_attention_row(v.session, heed_graph_find(v.graph, "layer.1.attention.weights"),
                                 0, 0, 0, row, NULL, &error),
      HEED_INVALID_ARGUMENT, "layer.1.key not retained");
  free(map);
  close_vit(&v);
  free_files(&files);
}

/* Every row of a kept map, recomputed from kept query and key. */
static void check_rows(const char *folder, const char *prefix) {
  vit_files files;
  vit v;
  heed_error error;
  heed_value taps[3];
  static const char *const what[] = {"attention.weights", "query", "key"};
  load_run(&files, folder, "config.json", "io_wide");
  const heed_build_desc build = run_sizes(&files);
  assert_ok(open_vit(&v, &files, NULL, NULL, 1, &build, NULL, &error));
  heed_session_destroy(v.session);
  heed_plan_destroy(v.plan);
  for (int i = 0; i < 3; i++) {
    char name[48];
    snprintf(name, sizeof name, "%s.%s", prefix, what[i]);
    taps[i] = heed_graph_find(v.graph, name);
    assert_true(taps[i].id);
  }
  const heed_plan_desc plan = {sizeof plan, taps, 3, HEED_ATTENTION_MODE_AUTO};
  assert_ok(heed_plan_create(v.graph, v.backend, &plan, &v.plan, &error));
  assert_ok(heed_session_create(v.plan, NULL, &v.session, &error));
  const heed_safetensors_tensor *pixels = heed_safetensors_find(v.io, "pixel_values");
  assert_ok(heed_session_write(v.session, heed_graph_find(v.graph, "pixel_values"),
                               files.io + pixels->offset, (size_t)pixels->bytes, &error));
  assert_ok(heed_session_run(v.session, NULL, &error));
  heed_value_info info;
  uint64_t count;
  assert_int_equal(heed_graph_value_info(v.graph, taps[0], &info), HEED_OK);
  char name[48];
  snprintf(name, sizeof name, "%s.attention.weights", prefix);
  float *map = read_value(&v, name, &count), row[64];
  const uint32_t heads = info.shape.dim[1], queries = info.shape.dim[2], keys = info.shape.dim[3];
  assert_true(keys <= 64);
  for (uint32_t head = 0; head < heads; head++)
    for (uint32_t query = 0; query < queries; query++) {
      assert_ok(heed_session_attention_row(v.session, taps[0], 0, head, query, row, NULL, &error));
      for (uint32_t k = 0; k < keys; k++)
        assert_float_equal(row[k], map[((size_t)head * queries + query) * keys + k], 2e-6);
    }
  free(map);
  close_vit(&v);
  free_files(&files);
}

static void test_rows_of_biased_and_pooling_attentions(void **state) {
  (void)state;
  check_rows("beit", "layer.1");
  check_rows("beit_shared", "layer.0");
  check_rows("siglip", "pool");
  check_rows("timm_map", "pool");
}

/* Maps and states that are there between stages alone, beside those that stay to the end. */
static void test_taps_that_pass(void **state) {
  (void)state;
  enum { TAPS = 6 }; /* of three layers */
  vit_files files;
  vit v;
  heed_error error;
  heed_value taps[TAPS];
  float *kept[TAPS];
  uint64_t count[TAPS];
  heed_memory stay, pass;
  char name[48];
  const void *data;
  load_files(&files, "small_224");
  assert_ok(open_vit(&v, &files, NULL, NULL, 1, NULL, NULL, &error));
  for (uint32_t i = 0; i < TAPS; i++) {
    snprintf(name, sizeof name, i % 2 ? "layer.%u.output" : "layer.%u.attention.weights", i / 2);
    taps[i] = heed_graph_find(v.graph, name);
    assert_true(taps[i].id);
  }
  const heed_safetensors_tensor *pixels = heed_safetensors_find(v.io, "pixel_values");
  heed_plan_desc desc = {.struct_size = sizeof desc, .taps = taps, .tap_count = TAPS};
  for (int passing = 0; passing < 2; passing++) {
    heed_session_destroy(v.session);
    heed_plan_destroy(v.plan);
    desc.passing_taps = passing;
    assert_ok(heed_plan_create(v.graph, v.backend, &desc, &v.plan, &error));
    heed_plan_memory(v.plan, passing ? &pass : &stay);
    assert_ok(heed_session_create(v.plan, NULL, &v.session, &error));
    assert_ok(heed_session_write(v.session, heed_graph_find(v.graph, "pixel_values"),
                                 files.io + pixels->offset, (size_t)pixels->bytes, &error));
    if (passing) break;
    assert_ok(heed_session_run(v.session, NULL, &error));
    for (uint32_t i = 0; i < TAPS; i++) {
      snprintf(name, sizeof name, i % 2 ? "layer.%u.output" : "layer.%u.attention.weights", i / 2);
      kept[i] = read_value(&v, name, &count[i]);
    }
  }
  assert_true(pass.arena + 2 * count[0] * sizeof(float) <= stay.arena);
  uint32_t seen = 0;
  for (uint32_t step = 0; step < heed_plan_step_count(v.plan);) {
    assert_ok(heed_session_run_part(v.session, &step, &error));
    while (seen < TAPS && heed_session_view(v.session, taps[seen], &data, &error) == HEED_OK) {
      assert_memory_equal(data, kept[seen], (size_t)count[seen] * sizeof(float));
      free(kept[seen++]);
    }
  }
  assert_int_equal(seen, TAPS);
  assert_fails(heed_session_view(v.session, taps[0], &data, &error), HEED_INVALID_ARGUMENT,
               "not retained");
  assert_ok(heed_session_run(v.session, NULL, &error));
  assert_fails(heed_session_view(v.session, taps[0], &data, &error), HEED_INVALID_ARGUMENT,
               "not retained");
  close_vit(&v);
  free_files(&files);
}

static void test_chosen_rows_equal_the_map(void **state) {
  (void)state;
  vit_files files;
  vit whole, chosen;
  heed_error error;
  uint64_t count;
  const uint32_t rows[] = {0, 196, 70};
  const heed_build_desc build = {.struct_size = sizeof build, .rows = rows, .row_count = 3};
  load_files(&files, "small_224");
  assert_ok(open_vit(&whole, &files, NULL, NULL, 1, NULL, NULL, &error));
  assert_ok(open_vit(&chosen, &files, NULL, NULL, 1, &build, NULL, &error));
  float *map = read_value(&whole, "layer.2.attention.weights", &count),
        *some = read_value(&chosen, "layer.2.attention.weights", &count);
  assert_int_equal(count, 4 * 3 * 197);
  for (uint32_t head = 0; head < 4; head++)
    for (uint32_t r = 0; r < 3; r++)
      assert_memory_equal(some + (head * 3 + r) * 197, map + (head * 197 + rows[r]) * 197,
                          197 * sizeof *map);
  free(map);
  free(some);
  close_vit(&whole);
  close_vit(&chosen);
  free_files(&files);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equals_the_oracle),
#define VIT_VECTOR(folder, config) cmocka_unit_test(test_family_##folder),
#include "vit_vectors.h"
#undef VIT_VECTOR
      cmocka_unit_test(test_stages),
      cmocka_unit_test(test_taps_that_pass),
      cmocka_unit_test(test_window_rows),
      cmocka_unit_test(test_rows_without_windows),
      cmocka_unit_test(test_stages_refuse),
      cmocka_unit_test(test_smallest_pictures),
      cmocka_unit_test(test_frames_that_do_not_fit),
      cmocka_unit_test(test_rows_on_demand_equal_the_map),
      cmocka_unit_test(test_rows_of_biased_and_pooling_attentions),
      cmocka_unit_test(test_chosen_rows_equal_the_map),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
