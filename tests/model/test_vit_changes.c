/* A ViT whose attention is changed: against its own plain weights. test_interventions.c compares
 * all changes with the whole ViT in double. */
#include "support/opened_vit.h"

#include <math.h>

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
    double kept = 0.0; /* the sum of what stays: 1 less the others would lose digits */
    for (uint32_t j = 0; j < n; j++) kept += first && (j == 1 || j == 3) ? 0.0 : (double)row[j];
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dropped_tokens_and_temperature),
      cmocka_unit_test(test_a_head_taken_out),
      cmocka_unit_test(test_a_temperature_that_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
