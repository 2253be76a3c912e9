/* A graph of an ONNX file on heed's kernels beside the same graph in double. For programs that have
 * the context of test_context.h: cmocka_run_group_tests(tests, open_backend, close_backend). */
#ifndef HEED_TESTS_SUPPORT_ONNX_PAIR_H
#define HEED_TESTS_SUPPORT_ONNX_PAIR_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "model/files/safetensors.h"
#include "support/onnx_file.h"
#include "support/test_context.h"

static heed_backend *backend;

static inline int open_backend(void **state) {
  if (make_context(state) != 0) return -1;
  return heed_cpu_backend_create(context, NULL, &backend, &error) == HEED_OK ? 0 : -1;
}

static inline int close_backend(void **state) {
  heed_backend_destroy(backend);
  return drop_context(state);
}

typedef struct run {
  heed_onnx_result *result;
  heed_safetensors *tensors;
} run;

static inline run run_graph(heed_onnx *onnx, heed_source inputs, heed_backend *on) {
  const heed_onnx_evaluate_desc desc = {
      .struct_size = sizeof desc, .inputs = inputs, .attentions = true, .backend = on};
  run made;
  assert_ok(heed_onnx_evaluate(onnx, &desc, &made.result, &error));
  const heed_source source = heed_onnx_result_source(made.result);
  assert_ok(heed_safetensors_open(context, &source, "result", &made.tensors, &error));
  return made;
}

static inline void close_run(run *made) {
  heed_safetensors_destroy(made->tensors);
  heed_onnx_result_destroy(made->result);
}

/* Every tensor of `a` that `b` has, within `tolerance`; how many. A map has the shape that the file
 * gives it in onnxruntime, which may be [B H, Tq, Tk]. */
static inline uint32_t compare(const heed_safetensors *a, const heed_safetensors *b,
                               double tolerance, bool same_shape) {
  uint32_t compared = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(a); i++) {
    const heed_safetensors_tensor *x = heed_safetensors_get(a, i),
                                  *y = heed_safetensors_find(b, x->name);
    if (!y) continue;
    assert_true(same_shape ? heed_shape_equal(&x->shape, &y->shape) : x->count == y->count);
    float *found = malloc((size_t)x->count * sizeof *found),
          *want = malloc((size_t)x->count * sizeof *want);
    assert_ok(heed_safetensors_read(a, x, 0, x->count, found, &error));
    assert_ok(heed_safetensors_read(b, y, 0, x->count, want, &error));
    for (uint64_t k = 0; k < x->count; k++)
      if (!(fabs((double)found[k] - (double)want[k]) <= tolerance * (1 + fabs((double)want[k]))))
        fail_msg("%s[%llu]: found %g, expected %g", x->name, (unsigned long long)k,
                 (double)found[k], (double)want[k]);
    free(found);
    free(want);
    compared++;
  }
  return compared;
}

/* x [2, 3] for files that are made here. */
static const unsigned char input[] =
    "\x40\0\0\0\0\0\0\0{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}       "
    "\0\0\x80\x3F\0\0\0\x40\0\0\0\xBF\0\0\x40\x3F\0\0\x80\x3E\0\0\0\0";

static inline void check_made(test_message file, uint32_t outputs) {
  heed_onnx *onnx;
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  const heed_source source = {sizeof input - 1, input, NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  run kernels = run_graph(onnx, source, backend), reference = run_graph(onnx, source, NULL);
  assert_int_equal(compare(kernels.tensors, reference.tensors, 2e-5, true), outputs);
  close_run(&kernels);
  close_run(&reference);
  heed_onnx_destroy(onnx);
  free(file.data);
}

/* The kernels' outputs are those in double, and so many activations were not rounded. */
static inline void check_rounded(test_message *graph, const char *outputs, double tolerance,
                                 uint32_t unrounded) {
  char name[] = "y";
  uint32_t count = 0;
  test_put_value(graph, 11, "x");
  for (; outputs[count]; count++) {
    name[0] = outputs[count];
    test_put_value(graph, 12, name);
  }
  test_message file = test_onnx_file(graph);
  heed_onnx *onnx;
  const heed_onnx_desc desc = {sizeof desc, {file.size, file.data, NULL, NULL}, "made", NULL, NULL};
  const heed_source source = {sizeof input - 1, input, NULL, NULL};
  assert_ok(heed_onnx_open(context, &desc, &onnx, &error));
  run kernels = run_graph(onnx, source, backend), reference = run_graph(onnx, source, NULL);
  assert_int_equal(heed_onnx_result_unrounded(kernels.result), unrounded);
  assert_int_equal(heed_onnx_result_unrounded(reference.result), 0);
  assert_int_equal(compare(kernels.tensors, reference.tensors, tolerance, true), count);
  close_run(&kernels);
  close_run(&reference);
  heed_onnx_destroy(onnx);
  free(file.data);
}

#endif
