/* The encoder-decoder models of tests/vectors/sequence as files in memory. */
#ifndef HEED_TESTS_SUPPORT_SEQUENCE_TEST_H
#define HEED_TESTS_SUPPORT_SEQUENCE_TEST_H

#include <stdio.h>
#include <stdlib.h>

#include "heed/sequences.h"
#include "support/test.h"

typedef struct sequence_test {
  unsigned char *config, *weights;
  heed_model_file file[2];
  heed_model_desc desc;
  heed_model *model; /* the test's; closed here */
} sequence_test;

/* desc points into *test. */
static inline void sequence_test_open(sequence_test *test, const char *name) {
  char path[96];
  size_t size;
  *test = (sequence_test){.config = NULL};
  snprintf(path, sizeof path, "sequence/%s/config.json", name);
  test->config = test_read_vector(path, &size);
  test->file[0] = (heed_model_file){"config.json", {size, test->config, NULL, NULL}};
  snprintf(path, sizeof path, "sequence/%s/model.safetensors", name);
  test->weights = test_read_vector(path, &size);
  test->file[1] = (heed_model_file){"model.safetensors", {size, test->weights, NULL, NULL}};
  test->desc = (heed_model_desc){sizeof test->desc, test->file, 2};
}

static inline void sequence_test_close(sequence_test *test) {
  heed_model_destroy(test->model);
  free(test->config);
  free(test->weights);
}

#endif
