/* See onnx_run.h. */
#include "support/onnx_run.h"

#include <string.h>

#include "model/files/safetensors.h"
#include "model/files/source.h"
#include "support/test.h"

static const char header[65] =
    "{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]}}       ";

static void read_output(const test_onnx_job *job, heed_onnx_result *result, float *y,
                        int64_t *whole) {
  heed_safetensors *given;
  heed_error *error = job->error;
  const heed_source source = heed_onnx_result_source(result);
  assert_int_equal(heed_safetensors_open(job->context, &source, "results", &given, error), HEED_OK);
  const heed_safetensors_tensor *tensor = heed_safetensors_find(given, job->output);
  assert_non_null(tensor);
  assert_int_equal(tensor->count, job->count);
  const heed_status status = whole ? heed_source_read(&source, job->output, tensor->offset, whole,
                                                      job->count * sizeof *whole, error)
                                   : heed_safetensors_read(given, tensor, 0, job->count, y, error);
  assert_int_equal(status, HEED_OK);
  heed_safetensors_destroy(given);
}

heed_status test_onnx_run(const test_onnx_job *job, const test_message *file, float *y,
                          int64_t *whole) {
  unsigned char inputs[8 + 64 + 24] = {64};
  const heed_onnx_desc desc = {
      sizeof desc, {file->size, file->data, NULL, NULL}, "m.onnx", NULL, NULL};
  const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                       .inputs = {sizeof inputs, inputs, NULL, NULL},
                                       .attentions = job->attentions,
                                       .backend = job->backend};
  heed_onnx *onnx;
  heed_onnx_result *result;
  memcpy(inputs + 8, header, 64);
  memcpy(inputs + 72, job->x, 24);
  heed_status status = heed_onnx_open(job->context, &desc, &onnx, job->error);
  if (status != HEED_OK) fail_msg("%s", job->error->message);
  status = heed_onnx_evaluate(onnx, &how, &result, job->error);
  if (status == HEED_OK) {
    read_output(job, result, y, whole);
    heed_onnx_result_destroy(result);
  }
  heed_onnx_destroy(onnx);
  return status;
}

size_t test_onnx_fail_each(const test_message *file, const float *x, bool kernels) {
  unsigned char inputs[8 + 64 + 24] = {64};
  memcpy(inputs + 8, header, 64);
  memcpy(inputs + 72, x, 24);
  for (size_t fail_at = 1;; fail_at++) {
    test_allocator allocator = {0};
    const heed_context_desc counting = test_context_desc(&allocator);
    const heed_cpu_desc one = {sizeof one, 1, NULL};
    const heed_onnx_desc desc = {
        sizeof desc, {file->size, file->data, NULL, NULL}, "m.onnx", NULL, NULL};
    heed_error error;
    heed_context *context;
    heed_backend *cpu;
    heed_onnx *onnx;
    heed_onnx_result *result = NULL;
    assert_int_equal(heed_context_create(&counting, &context, &error), HEED_OK);
    assert_int_equal(heed_cpu_backend_create(context, &one, &cpu, &error), HEED_OK);
    assert_int_equal(heed_onnx_open(context, &desc, &onnx, &error), HEED_OK);
    const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                         .inputs = {sizeof inputs, inputs, NULL, NULL},
                                         .backend = kernels ? cpu : NULL};
    allocator.fail_at = allocator.total + fail_at;
    const heed_status status = heed_onnx_evaluate(onnx, &how, &result, &error);
    if (status == HEED_OK) heed_onnx_result_destroy(result);
    heed_onnx_destroy(onnx);
    heed_backend_destroy(cpu);
    heed_context_destroy(context);
    assert_int_equal(allocator.live, 0);
    if (status == HEED_OK) return fail_at - 1;
    if (status != HEED_OUT_OF_MEMORY)
      fail_msg("allocation %zu: %s", fail_at, heed_status_name(status));
  }
}
