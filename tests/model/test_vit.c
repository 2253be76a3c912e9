/* Whole ViTs against float64 results: every CPU level, chosen rows, rows on demand, progress,
 * cancel, every allocation failed once. Vulkan devices run the same oracle in tests/vulkan. */
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "model/safetensors.h"

#define FILES 2

typedef struct vit_files {
  heed_model_file file[FILES];
  uint32_t count;
  unsigned char *bytes[FILES], *io;
  size_t io_size;
} vit_files;

/* A folder of vectors with one of its runs. `config`: its config file, or NULL. */
static void load_run(vit_files *files, const char *folder, const char *config, const char *run) {
  const char *const names[FILES] = {"model.safetensors", config};
  char path[128];
  files->count = config ? 2 : 1;
  for (uint32_t i = 0; i < files->count; i++) {
    size_t size;
    snprintf(path, sizeof path, "vit/%s/%s", folder, names[i]);
    files->bytes[i] = test_read_vector(path, &size);
    files->file[i] = (heed_model_file){names[i], {size, files->bytes[i], NULL, NULL}};
  }
  snprintf(path, sizeof path, "vit/%s/%s.safetensors", folder, run);
  files->io = test_read_vector(path, &files->io_size);
}

static void load_files(vit_files *files, const char *folder) {
  load_run(files, folder, "config.json", "io");
}

static void free_files(vit_files *files) {
  for (uint32_t i = 0; i < files->count; i++) free(files->bytes[i]);
  free(files->io);
}

typedef struct vit {
  heed_context *context;
  heed_backend *backend;
  heed_model *model;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_safetensors *io;
} vit;

static void close_vit(vit *v) {
  heed_safetensors_destroy(v->io);
  heed_session_destroy(v->session);
  heed_plan_destroy(v->plan);
  heed_graph_destroy(v->graph);
  heed_model_destroy(v->model);
  heed_backend_destroy(v->backend);
  heed_context_destroy(v->context);
}

#define TRY(call)                           \
  do {                                      \
    const heed_status status_ = (call);     \
    if (status_ != HEED_OK) return status_; \
  } while (0)

/* Opens everything with all attention weights, and query and key of layer 0, kept; runs; the first
 * failure's status. */
static heed_status open_vit(vit *v, const vit_files *files, const heed_context_desc *context,
                            const char *level, uint32_t threads, const heed_build_desc *build,
                            const heed_hooks *hooks, heed_error *error) {
  memset(v, 0, sizeof *v);
  TRY(heed_context_create(context, &v->context, error));
  const heed_cpu_desc cpu = {sizeof cpu, threads, level};
  TRY(heed_cpu_backend_create(v->context, &cpu, &v->backend, error));
  const heed_model_desc desc = {sizeof desc, files->file, files->count};
  TRY(heed_model_open(v->context, &desc, &v->model, error));
  TRY(heed_model_build(v->model, build, &v->graph, error));
  heed_model_info info;
  heed_model_get_info(v->model, &info);
  heed_value taps[32];
  uint32_t count = 0;
  for (uint32_t i = 0; i < info.layers; i++) {
    char name[48];
    snprintf(name, sizeof name, "layer.%u.attention.weights", i);
    taps[count++] = heed_graph_find(v->graph, name);
  }
  taps[count++] = heed_graph_find(v->graph, "layer.0.query");
  taps[count++] = heed_graph_find(v->graph, "layer.0.key");
  const heed_value pool = heed_graph_find(v->graph, "pool.attention.weights");
  if (pool.id) taps[count++] = pool;
  if (build && build->intervene)
    taps[count++] = heed_graph_find(v->graph, "layer.0.attention.output");
  const heed_plan_desc plan = {sizeof plan, taps, count, HEED_ATTENTION_MODE_AUTO};
  TRY(heed_plan_create(v->graph, v->backend, &plan, &v->plan, error));
  TRY(heed_session_create(v->plan, hooks, &v->session, error));
  const heed_source source = {files->io_size, files->io, NULL, NULL};
  TRY(heed_safetensors_open(v->context, &source, "io", &v->io, error));
  const heed_safetensors_tensor *pixels = heed_safetensors_find(v->io, "pixel_values");
  TRY(heed_session_write(v->session, heed_graph_find(v->graph, "pixel_values"),
                         files->io + pixels->offset, (size_t)pixels->bytes, error));
  return heed_session_run(v->session, hooks, error);
}

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

/* Batch and size of the pictures. */
static heed_build_desc run_sizes(const vit_files *files) {
  heed_context *context;
  heed_safetensors *io;
  heed_error error;
  const heed_source source = {files->io_size, files->io, NULL, NULL};
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_safetensors_open(context, &source, "io", &io, &error));
  const heed_shape pixels = heed_safetensors_find(io, "pixel_values")->shape;
  heed_safetensors_destroy(io);
  heed_context_destroy(context);
  return (heed_build_desc){.struct_size = sizeof(heed_build_desc),
                           .batch = pixels.dim[0],
                           .height = pixels.dim[2],
                           .width = pixels.dim[3]};
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
      if (strncmp(expected, "expect.", 7) != 0 || strcmp(expected, "expect.rollout") == 0) continue;
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

/* Reads a whole value of floats; the caller frees. */
static float *read_value(const vit *v, const char *name, uint64_t *count) {
  heed_error error;
  heed_value_info info;
  const heed_value value = heed_graph_find(v->graph, name);
  assert_int_equal(heed_graph_value_info(v->graph, value, &info), HEED_OK);
  *count = heed_shape_count(&info.shape);
  float *data = malloc((size_t)*count * sizeof *data);
  assert_ok(heed_session_read(v->session, value, 0, *count, data, &error));
  return data;
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

/* -------------------------------------------------------------------------------- interventions */

static void assert_close(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.9g, expected %.9g within %g", found, expected, tolerance);
}

static void write_input(const vit *v, const char *name, const void *data, size_t bytes) {
  heed_error error;
  assert_ok(heed_session_write(v->session, heed_graph_find(v->graph, name), data, bytes, &error));
}

/* A vit of two layers whose attention can be changed, with nothing changed yet. */
static void open_changed(vit *v, const vit_files *files, heed_empty_row empty_row,
                         float temperature) {
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = 2,
                                 .intervene = true,
                                 .empty_row = empty_row,
                                 .temperature = temperature};
  heed_error error;
  heed_value_info info;
  assert_ok(open_vit(v, files, NULL, NULL, 1, &build, NULL, &error));
  for (uint32_t id = 1; id <= heed_graph_value_count(v->graph); id++) {
    assert_ok(heed_graph_value_info(v->graph, (heed_value){id}, &info));
    const size_t count = (size_t)heed_shape_count(&info.shape);
    if (info.is_input && info.dtype == HEED_U8) {
      unsigned char *ones = malloc(count);
      memset(ones, 1, count);
      write_input(v, info.name, ones, count);
      free(ones);
    } else if (info.is_input && strstr(info.name, "gain")) {
      const float ones[] = {1.0f, 1.0f, 1.0f, 1.0f};
      write_input(v, info.name, ones, count * sizeof *ones);
    }
  }
  assert_ok(heed_session_run(v->session, NULL, &error));
}

/* Weights of layer 0 of a vit with `changed` inputs against the plain weights: entry by entry, by
 * `expect`. */
static void test_dropped_tokens_and_temperature(void **state) {
  (void)state;
  vit_files files;
  vit plain, changed;
  heed_error error;
  uint64_t count;
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  load_files(&files, "micro_32");
  assert_ok(open_vit(&plain, &files, NULL, NULL, 1, &build, NULL, &error));
  open_changed(&changed, &files, HEED_EMPTY_ROW_ZERO, 0.0f);
  float *before = read_value(&plain, "layer.0.attention.weights", &count),
        *after = read_value(&changed, "layer.0.attention.weights", &count);
  for (uint64_t i = 0; i < count; i++) assert_close((double)after[i], (double)before[i], 1e-6);
  free(after);
  heed_value_info info;
  assert_ok(heed_graph_value_info(
      plain.graph, heed_graph_find(plain.graph, "layer.0.attention.weights"), &info));
  const uint32_t n = info.shape.dim[3];
  unsigned char *mask = malloc(2 * (size_t)n);
  memset(mask, 1, 2 * (size_t)n);
  mask[1] = mask[3] = 0; /* of the first picture */
  write_input(&changed, "token_mask", mask, 2 * (size_t)n);
  assert_ok(heed_session_run(changed.session, NULL, &error));
  after = read_value(&changed, "layer.0.attention.weights", &count);
  for (uint64_t i = 0; i < count; i++) {
    const bool first = i < count / 2;
    const float *row = before + i / n * n;
    const double kept = first ? 1.0 - (double)row[1] - (double)row[3] : 1.0;
    assert_close((double)after[i],
                 first && (i % n == 1 || i % n == 3) ? 0.0 : (double)before[i] / kept, 1e-5);
  }
  free(after);
  close_vit(&changed);
  open_changed(&changed, &files, HEED_EMPTY_ROW_ZERO, 2.0f);
  after = read_value(&changed, "layer.0.attention.weights", &count);
  for (uint64_t i = 0; i < count; i += n) {
    double sum = 0.0;
    for (uint32_t j = 0; j < n; j++) sum += sqrt((double)before[i + j]);
    for (uint32_t j = 0; j < n; j++)
      assert_close((double)after[i + j], sqrt((double)before[i + j]) / sum, 1e-5);
  }
  free(before);
  free(after);
  free(mask);
  close_vit(&plain);
  close_vit(&changed);
  free_files(&files);
}

/* A head of layer 0 with an empty mask: its mean of values by empty_row, and the same mean as an
 * offset in the place of zeros. */
static void test_a_head_taken_out(void **state) {
  (void)state;
  vit_files files;
  vit uniform, zero;
  heed_error error;
  uint64_t count;
  heed_value_info info, width;
  load_files(&files, "micro_32");
  open_changed(&uniform, &files, HEED_EMPTY_ROW_MEAN, 0.0f);
  open_changed(&zero, &files, HEED_EMPTY_ROW_ZERO, 0.0f);
  float *whole = read_value(&zero, "logits", &count);
  assert_ok(heed_graph_value_info(zero.graph, heed_graph_find(zero.graph, "layer.0.attention.mask"),
                                  &info));
  assert_ok(heed_graph_value_info(zero.graph,
                                  heed_graph_find(zero.graph, "layer.0.attention.offset"), &width));
  const size_t square = (size_t)info.shape.dim[2] * info.shape.dim[3],
               bytes = (size_t)heed_shape_count(&info.shape);
  unsigned char *mask = malloc(bytes);
  memset(mask, 1, bytes);
  memset(mask + square, 0, square);
  write_input(&uniform, "layer.0.attention.mask", mask, bytes);
  write_input(&zero, "layer.0.attention.mask", mask, bytes);
  assert_ok(heed_session_run(uniform.session, NULL, &error));
  assert_ok(heed_session_run(zero.session, NULL, &error));
  float *mean = read_value(&uniform, "logits", &count), *none = read_value(&zero, "logits", &count);
  float *weights = read_value(&uniform, "layer.0.attention.weights", &count);
  assert_close((double)weights[square + 7], 1.0 / info.shape.dim[3], 1e-7);
  const uint32_t channels = width.shape.dim[2], depth = channels / info.shape.dim[1];
  float *offset = calloc(channels, sizeof *offset);
  /* The offset is one for all pictures, the mean of values is each picture's own: so the second
   * picture is made the first. */
  const heed_value pixels = heed_graph_find(zero.graph, "pixel_values");
  assert_ok(heed_graph_value_info(zero.graph, pixels, &width));
  const size_t picture = (size_t)heed_shape_count(&width.shape) / 2;
  float *twice = malloc(2 * picture * sizeof *twice);
  const heed_safetensors_tensor *tensor = heed_safetensors_find(zero.io, "pixel_values");
  memcpy(twice, files.io + tensor->offset, picture * sizeof *twice);
  memcpy(twice + picture, twice, picture * sizeof *twice);
  write_input(&zero, "pixel_values", twice, 2 * picture * sizeof *twice);
  write_input(&uniform, "pixel_values", twice, 2 * picture * sizeof *twice);
  assert_ok(heed_session_run(uniform.session, NULL, &error));
  float *output = read_value(&uniform, "layer.0.attention.output", &count);
  memcpy(offset + depth, output + depth, depth * sizeof *offset); /* the same in every token */
  write_input(&zero, "layer.0.attention.offset", offset, channels * sizeof *offset);
  assert_ok(heed_session_run(zero.session, NULL, &error));
  float *given = read_value(&zero, "logits", &count);
  double moved = 0.0;
  for (uint64_t i = 0; i < count / 2; i++) {
    assert_close((double)given[i], (double)mean[i], 1e-5);
    moved += fabs((double)whole[i] - (double)none[i]);
  }
  assert_true(moved > 1e-4);
  free(whole), free(mean), free(none), free(weights), free(mask), free(offset), free(twice),
      free(output), free(given);
  close_vit(&uniform);
  close_vit(&zero);
  free_files(&files);
}

static void test_a_temperature_that_is_none(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  const heed_build_desc build = {.struct_size = sizeof build, .temperature = -1.0f};
  load_files(&files, "micro_32");
  assert_fails(open_vit(&v, &files, NULL, NULL, 1, &build, NULL, &error), HEED_INVALID_ARGUMENT,
               "invalid temperature (found -1");
  close_vit(&v);
  free_files(&files);
}

static void test_it_has_no_part_and_does_not_decode(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  heed_decoder *decoder;
  const heed_build_desc whole = {.struct_size = sizeof whole, .batch = 2},
                        wrong[] = {{.struct_size = sizeof whole, .part = HEED_PART_STEP},
                                   {.struct_size = sizeof whole, .source_length = 3},
                                   {.struct_size = sizeof whole, .target_length = 3}};
  const heed_decoder_desc desc = {.struct_size = sizeof desc, .source_length = 3};
  load_files(&files, "micro_32");
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    assert_fails(open_vit(&v, &files, NULL, NULL, 1, &wrong[i], NULL, &error),
                 HEED_INVALID_ARGUMENT, "a vision transformer has no parts and no lengths");
    close_vit(&v);
  }
  assert_ok(open_vit(&v, &files, NULL, NULL, 1, &whole, NULL, &error));
  assert_fails(heed_decoder_create(v.model, v.backend, &desc, NULL, &decoder, &error),
               HEED_INVALID_ARGUMENT, "the model does not decode (found family vit");
  assert_null(decoder);
  close_vit(&v);
  free_files(&files);
}

static void test_the_number_of_threads_changes_no_bit(void **state) {
  (void)state;
  vit_files files;
  load_files(&files, "small_224");
  for (uint32_t l = 0; heed_cpu_level(l); l++) {
    float *first = NULL;
    for (size_t t = 0; t < 4; t++) {
      static const uint32_t threads[] = {1, 2, 3, 7};
      vit v;
      heed_error error;
      uint64_t count;
      assert_ok(open_vit(&v, &files, NULL, heed_cpu_level(l), threads[t], NULL, NULL, &error));
      float *states = read_value(&v, "last_hidden_state", &count);
      if (first) assert_memory_equal(states, first, (size_t)count * sizeof *states);
      if (first)
        free(states);
      else
        first = states;
      close_vit(&v);
    }
    free(first);
  }
  free_files(&files);
}

typedef struct told {
  uint32_t run_calls, last_done, stop_after, asked;
} told;

static void hear(const char *phase, uint64_t done, uint64_t total, void *user) {
  told *t = user;
  if (strcmp(phase, "run") != 0) return;
  assert_true(done <= total && done >= t->last_done);
  t->last_done = (uint32_t)done;
  t->run_calls++;
}

static bool stop(void *user) {
  told *t = user;
  return t->stop_after && ++t->asked > t->stop_after;
}

static void test_progress_and_cancel(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  told all = {0}, some = {.stop_after = 2};
  load_files(&files, "micro_32");
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  heed_hooks hooks = {sizeof hooks, hear, stop, &all};
  assert_ok(open_vit(&v, &files, NULL, NULL, 1, &build, &hooks, &error));
  assert_true(all.run_calls >= 4); /* embeddings, two layers, heads */
  hooks.user = &some;
  assert_fails(heed_session_run(v.session, &hooks, &error), HEED_CANCELLED, "cancelled");
  assert_true(some.run_calls < all.run_calls);
  assert_ok(heed_session_run(v.session, NULL, &error)); /* and it goes on working */
  close_vit(&v);
  free_files(&files);
}

static void test_parts_that_the_file_has_and_has_not(void **state) {
  (void)state;
  vit_files files;
  heed_context *context;
  heed_model *model;
  heed_error error;
  bool registers = false;
  load_files(&files, "micro_32");
  const heed_model_desc desc = {sizeof desc, files.file, files.count};
  assert_int_equal(heed_context_create(NULL, &context, &error), HEED_OK);
  assert_int_equal(heed_model_open(context, &desc, &model, &error), HEED_OK);
  for (uint32_t i = 0; i < heed_model_tensor_count(model); i++) {
    heed_tensor_info info;
    heed_model_tensor(model, i, &info);
    assert_true(info.used == (info.role != NULL));
  }
  for (uint32_t i = 0; heed_model_absent(model, i); i++)
    registers = registers || strcmp(heed_model_absent(model, i), "embeddings.register_tokens") == 0;
  assert_true(registers);
  heed_model_destroy(model);
  heed_context_destroy(context);
  free_files(&files);
}

/* Who asks for classes alone gets the same bits, on every level, and one row of the last layer. */
static void test_classes_only_are_the_same_bits(void **state) {
  (void)state;
  vit_files files;
  load_files(&files, "small_224");
  for (uint32_t l = 0; heed_cpu_level(l); l++) {
    float *logits[2], *last[2];
    uint64_t classes[2], states[2];
    for (uint32_t only = 0; only < 2; only++) {
      vit v;
      heed_error error;
      const heed_build_desc build = {.struct_size = sizeof build, .classes_only = only};
      assert_ok(open_vit(&v, &files, NULL, heed_cpu_level(l), 2, &build, NULL, &error));
      logits[only] = read_value(&v, "logits", &classes[only]);
      last[only] = read_value(&v, "last_hidden_state", &states[only]);
      close_vit(&v);
    }
    assert_int_equal(classes[1], classes[0]);
    assert_memory_equal(logits[1], logits[0], (size_t)classes[0] * sizeof(float));
    assert_int_equal(states[0] % states[1], 0);
    assert_true(states[1] < states[0]);
    assert_memory_equal(last[1], last[0], (size_t)states[1] * sizeof(float));
    for (uint32_t only = 0; only < 2; only++) {
      free(logits[only]);
      free(last[only]);
    }
  }
  free_files(&files);
}

static void test_no_allocation_in_run(void **state) {
  (void)state;
  vit_files files;
  vit v;
  heed_error error;
  test_allocator counter = {0};
  const heed_context_desc context = test_context_desc(&counter);
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  load_files(&files, "micro_32");
  assert_ok(open_vit(&v, &files, &context, NULL, 2, &build, NULL, &error));
  const size_t before = counter.total;
  assert_ok(heed_session_run(v.session, NULL, &error));
  assert_int_equal(counter.total, before);
  close_vit(&v);
  assert_int_equal(counter.live, 0);
  free_files(&files);
}

static void test_every_allocation_failed_once(void **state) {
  (void)state;
  vit_files files;
  load_files(&files, "micro_32");
  const heed_build_desc build = {.struct_size = sizeof build, .batch = 2};
  size_t n = 1;
  for (;; n++) {
    vit v;
    heed_error error = {HEED_OK, ""};
    test_allocator counter = {.fail_at = n};
    const heed_context_desc context = test_context_desc(&counter);
    const heed_status status = open_vit(&v, &files, &context, NULL, 2, &build, NULL, &error);
    close_vit(&v);
    if (counter.live) fail_msg("%zu blocks leaked when allocation %zu failed", counter.live, n);
    if (counter.total < n) {
      assert_int_equal(status, HEED_OK);
      break;
    }
    if (status != HEED_OUT_OF_MEMORY)
      fail_msg("allocation %zu failed and the status was %s (%s)", n, heed_status_name(status),
               error.message);
  }
  assert_true(n > 50);
  free_files(&files);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equals_the_oracle),
#define VIT_VECTOR(folder, config) cmocka_unit_test(test_family_##folder),
#include "vit_vectors.h"
#undef VIT_VECTOR
      cmocka_unit_test(test_rows_on_demand_equal_the_map),
      cmocka_unit_test(test_rows_of_biased_and_pooling_attentions),
      cmocka_unit_test(test_chosen_rows_equal_the_map),
      cmocka_unit_test(test_the_number_of_threads_changes_no_bit),
      cmocka_unit_test(test_progress_and_cancel),
      cmocka_unit_test(test_parts_that_the_file_has_and_has_not),
      cmocka_unit_test(test_dropped_tokens_and_temperature),
      cmocka_unit_test(test_a_head_taken_out),
      cmocka_unit_test(test_a_temperature_that_is_none),
      cmocka_unit_test(test_it_has_no_part_and_does_not_decode),
      cmocka_unit_test(test_classes_only_are_the_same_bits),
      cmocka_unit_test(test_no_allocation_in_run),
      cmocka_unit_test(test_every_allocation_failed_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
