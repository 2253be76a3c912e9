/* A file of PyTorch opened as its readers have it: for tests with a `context` and an `error`. */
#ifndef HEED_TESTS_SUPPORT_OPENED_PICKLE_H
#define HEED_TESTS_SUPPORT_OPENED_PICKLE_H

#include "heed/pickle.h"
#include "model/files/safetensors.h"
#include "support/test_context.h"
#include "support/torch_file.h"

typedef struct opened_pickle {
  heed_pickle *pickle;
  heed_source source;
  heed_safetensors *file;
} opened_pickle;

static inline heed_status open_pickle(const heed_source *source, opened_pickle *opened) {
  *opened = (opened_pickle){NULL};
  heed_status status = heed_pickle_open(context, source, "w.pth", &opened->pickle, &error);
  if (status != HEED_OK) return status;
  opened->source = heed_pickle_source(opened->pickle);
  status = heed_safetensors_open(context, &opened->source, "w.pth", &opened->file, &error);
  if (status != HEED_OK) heed_pickle_destroy(opened->pickle);
  return status;
}

static inline void close_pickle(opened_pickle *opened) {
  heed_safetensors_destroy(opened->file);
  heed_pickle_destroy(opened->pickle);
}

#endif
