/* BatchNormalization, InstanceNormalization and global pools of ONNX, in double and on kernels,
 * beside their formulas; and what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/onnx_run.h"
#include "support/test.h"

static heed_error error;
static heed_context *context;
static heed_backend *backend;

static const float x[6] = {1.0f, -2.5f, 3.25f, 0.5f, 4.0f, -1.75f};
static const float parts[4][3] = {
    {1.5f, -0.25f, 2.0f}, {0.1f, 0.2f, -0.3f}, {0.5f, -1.0f, 2.0f}, {0.04f, 2.25f, 1.0f}};
static const char *const names[4] = {"scale", "bias", "mean", "variance"};

/* A file with one such node behind x as [1, 2, 3], or as it is, [2, 3]. */
static test_message make(const char *op, bool norm, bool reshaped, uint32_t channels,
                         test_message *attributes) {
  static const int64_t shape[3] = {1, 2, 3};
  const uint32_t three = 3;
  test_message graph = {0};
  if (reshaped) {
    test_put_raw(&graph, "shape", 7, 1, &three, shape, sizeof shape);
    test_put_node(&graph, "Reshape", "r", "x,shape", "image", NULL);
  }
  for (uint32_t i = 0; norm && i < 4; i++)
    test_put_raw(&graph, names[i], 1, 1, &channels, parts[i], channels * sizeof(float));
  test_put_node(
      &graph, op, "n",
      reshaped ? norm ? "image,scale,bias,mean,variance" : "image" : "x,scale,bias,mean,variance",
      "y", attributes);
  test_put_value(&graph, 11, "x");
  test_put_text(&graph, 12, "\x0A\x01y"); /* without a shape */
  return test_onnx_file(&graph);
}

static heed_status run(test_message *file, bool kernels, uint32_t count, float *y) {
  const test_onnx_job job = {context, kernels ? backend : NULL, x, "y", count, &error};
  return test_onnx_run(&job, file, y, NULL);
}

static void assert_near(float found, double expected) {
  if (!(fabs((double)found - expected) <= 2e-6 * (1 + fabs(expected))))
    fail_msg("found %.9g, expected %.9g", (double)found, expected);
}

/* The channel of an element: a column of [2, 3], a row of [1, 2, 3]. */
static void test_batch_norm(void **state) {
  (void)state;
  for (int reshaped = 0; reshaped < 2; reshaped++) {
    test_message attributes = {0};
    test_put_float(&attributes, "epsilon", 0.01f);
    test_put_float(&attributes, "momentum", 0.9f);
    test_message file = make("BatchNormalization", true, reshaped, reshaped ? 2 : 3, &attributes);
    for (int kernels = 0; kernels < 2; kernels++) {
      float y[6];
      assert_ok(run(&file, kernels, 6, y));
      for (int i = 0; i < 6; i++) {
        const int c = reshaped ? i / 3 : i % 3;
        const double expected = ((double)x[i] - (double)parts[2][c]) /
                                    sqrt((double)parts[3][c] + (double)0.01f) *
                                    (double)parts[0][c] +
                                (double)parts[1][c];
        assert_near(y[i], expected);
      }
    }
    free(file.data);
  }
}

/* In training each channel has its own mean and variance: columns of [2, 3], rows of [1, 2, 3].
 * Kernels leave that to the evaluator, which folds it where a weight is standardised. */
static void test_training(void **state) {
  (void)state;
  for (int reshaped = 0; reshaped < 2; reshaped++) {
    test_message attributes = {0};
    test_put_float(&attributes, "epsilon", 0.01f);
    test_put_integer(&attributes, "training_mode", 1);
    test_message file = make("BatchNormalization", true, reshaped, reshaped ? 2 : 3, &attributes);
    float y[6];
    assert_fails(run(&file, true, 6, y), HEED_UNSUPPORTED, "a norm in training has no kernel");
    assert_ok(run(&file, false, 6, y));
    for (int i = 0; i < 6; i++) {
      const int c = reshaped ? i / 3 : i % 3, count = reshaped ? 3 : 2,
                first = reshaped ? 3 * c : c, step = reshaped ? 1 : 3;
      double mean = 0, squares = 0;
      for (int k = 0; k < count; k++) mean += (double)x[first + step * k] / count;
      for (int k = 0; k < count; k++) squares += pow((double)x[first + step * k] - mean, 2) / count;
      assert_near(y[i],
                  ((double)x[i] - mean) / sqrt(squares + (double)0.01f) * (double)parts[0][c] +
                      (double)parts[1][c]);
    }
    free(file.data);
  }
}

/* Each row of [1, 2, 3] by its own mean and variance; of [2, 3] each element is a channel. */
static void test_instance_norm(void **state) {
  (void)state;
  for (int reshaped = 0; reshaped < 2; reshaped++) {
    test_message graph = {0}, attributes = {0};
    const uint32_t channels = reshaped ? 2 : 3, three = 3;
    static const int64_t shape[3] = {1, 2, 3};
    test_put_float(&attributes, "epsilon", 0.01f);
    test_put_raw(&graph, "shape", 7, 1, &three, shape, sizeof shape);
    test_put_node(&graph, "Reshape", "r", "x,shape", "image", NULL);
    for (uint32_t i = 0; i < 2; i++)
      test_put_raw(&graph, names[i], 1, 1, &channels, parts[i], channels * sizeof(float));
    test_put_node(&graph, "InstanceNormalization", "n",
                  reshaped ? "image,scale,bias" : "x,scale,bias", "y", &attributes);
    test_put_value(&graph, 11, "x");
    test_put_text(&graph, 12, "\x0A\x01y"); /* without a shape */
    test_message file = test_onnx_file(&graph);
    for (int kernels = 0; kernels < 2; kernels++) {
      float y[6];
      assert_ok(run(&file, kernels, 6, y));
      for (int i = 0; i < 6; i++) {
        const int c = reshaped ? i / 3 : i % 3;
        double mean = 0, squares = 0;
        for (int k = 0; k < 3; k++) mean += (double)x[c % 2 * 3 + k] / 3;
        for (int k = 0; k < 3; k++) squares += pow((double)x[c % 2 * 3 + k] - mean, 2) / 3;
        const double normed = ((double)x[i] - mean) / sqrt(squares + (double)0.01f);
        assert_near(y[i], (double)parts[1][c] + (reshaped ? normed * (double)parts[0][c] : 0));
      }
    }
    free(file.data);
  }
}

static void test_pools(void **state) {
  (void)state;
  const double expected[2][2] = {{1.75 / 3, 2.75 / 3}, {3.25, 4.0}};
  for (int most = 0; most < 2; most++) {
    test_message file = make(most ? "GlobalMaxPool" : "GlobalAveragePool", false, true, 0, NULL);
    for (int kernels = 0; kernels < 2; kernels++) {
      float y[2];
      assert_ok(run(&file, kernels, 2, y));
      for (int c = 0; c < 2; c++) assert_near(y[c], expected[most][c]);
    }
    free(file.data);
  }
}

static void test_refused(void **state) {
  (void)state;
  for (int kernels = 0; kernels < 2; kernels++) {
    float y[6];
    test_message few = make("BatchNormalization", true, false, 2, NULL);
    assert_fails(run(&few, kernels, 6, y), HEED_INVALID_FILE,
                 "input 1 does not fit (found 2 elements, expected 3 floats)");
    test_message graph = {0};
    test_put_raw(&graph, "scale", 1, 1, (const uint32_t[]){2}, parts[0], 8);
    test_put_node(&graph, "InstanceNormalization", "n", "x,scale,scale", "y", NULL);
    test_put_value(&graph, 11, "x");
    test_put_text(&graph, 12, "\x0A\x01y");
    test_message narrow = test_onnx_file(&graph);
    assert_fails(run(&narrow, kernels, 6, y), HEED_INVALID_FILE,
                 "input 1 does not fit (found 2 elements, expected 3 floats)");
    free(narrow.data);
    free(few.data);
  }
}

static void test_memory(void **state) {
  (void)state;
  for (int kernels = 0; kernels < 2; kernels++) {
    test_message files[] = {make("BatchNormalization", true, true, 2, NULL),
                            make("GlobalMaxPool", false, true, 0, NULL)};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
      assert_true(test_onnx_fail_each(&files[i], x, kernels != 0) > 2);
      free(files[i].data);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_batch_norm), cmocka_unit_test(test_instance_norm),
      cmocka_unit_test(test_training),   cmocka_unit_test(test_pools),
      cmocka_unit_test(test_refused),    cmocka_unit_test(test_memory)};
  if (heed_context_create(NULL, &context, &error) != HEED_OK ||
      heed_cpu_backend_create(context, NULL, &backend, &error) != HEED_OK)
    return 1;
  const int failed = cmocka_run_group_tests_name("onnx channels", tests, NULL, NULL);
  heed_backend_destroy(backend);
  heed_context_destroy(context);
  return failed;
}
