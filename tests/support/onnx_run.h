/* One run of an ONNX file that was made in memory, for tests: a library beside heed_onnx. */
#ifndef HEED_TESTS_SUPPORT_ONNX_RUN_H
#define HEED_TESTS_SUPPORT_ONNX_RUN_H

#include "heed/onnx.h"
#include "support/onnx_file.h"

typedef struct test_onnx_job {
  heed_context *context;
  heed_backend *backend; /* NULL: in double */
  const float *x;        /* the input x [2, 3] */
  const char *output;
  uint32_t count; /* elements that it must have */
  heed_error *error;
  bool attentions; /* their maps beside the outputs */
} test_onnx_job;

/* The output as floats, or as whole numbers where `whole` is not NULL. The file must open. Returns
 * what the run returned; *job->error has its sentence. */
heed_status test_onnx_run(const test_onnx_job *job, const test_message *file, float *y,
                          int64_t *whole);

/* Each allocation of a run on x [2, 3] fails once, on the CPU's kernels or in double: out of
 * memory, and nothing is kept. Returns how many there are. */
size_t test_onnx_fail_each(const test_message *file, const float *x, bool kernels);

#endif
