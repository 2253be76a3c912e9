/* Models and inputs of tests/vectors/explain, for tests of heed_explain. */
#ifndef HEED_TESTS_MODEL_EXPLAIN_FILES_H
#define HEED_TESTS_MODEL_EXPLAIN_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"
#include "support/vector_file.h"

static heed_error error;

enum { FILES = 2, INPUTS = 12, NONE = -1 };

typedef struct opened {
  unsigned char *bytes[FILES];
  heed_model *model, *text;
  heed_model_info info;
} opened;

static inline void open_model(opened *o, const char *folder, const char *config, bool text) {
  const char *const names[FILES] = {"model.safetensors", config};
  heed_model_file files[FILES];
  char path[128];
  *o = (opened){.model = NULL};
  for (uint32_t i = 0; i < FILES && names[i]; i++) {
    size_t size;
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    o->bytes[i] = test_read_vector(path, &size);
    files[i] = (heed_model_file){names[i], {size, o->bytes[i], NULL, NULL}};
  }
  heed_model_desc desc = {sizeof desc, files, config ? 2 : 1, HEED_TOWER_VISION};
  assert_ok(heed_model_open(test_backend_context(), &desc, &o->model, &error));
  heed_model_get_info(o->model, &o->info);
  desc.tower = HEED_TOWER_TEXT;
  if (text) assert_ok(heed_model_open(test_backend_context(), &desc, &o->text, &error));
}

static inline void close_model(opened *o) {
  heed_model_destroy(o->model);
  heed_model_destroy(o->text);
  for (uint32_t i = 0; i < FILES; i++) free(o->bytes[i]);
}

typedef struct inputs {
  heed_named_tensor tensor[INPUTS];
  void *data[INPUTS];
  uint32_t count;
} inputs;

static inline void take_input(inputs *to, const char *name, heed_dtype dtype, heed_shape shape,
                              void *data) {
  assert_true(to->count < INPUTS);
  to->data[to->count] = data;
  to->tensor[to->count++] = (heed_named_tensor){name, dtype, shape, data};
}

static inline void read_inputs(const vector_file *io, inputs *to) {
  const char *name;
  *to = (inputs){.count = 0};
  for (uint32_t i = 0; (name = heed_explain_input_name(i)) != NULL; i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_find(io->file, name);
    heed_shape shape;
    if (!tensor) continue;
    void *data = vector_file_read(io, name, tensor->dtype, &shape);
    take_input(to, name, tensor->dtype, shape, data);
  }
}

static inline void free_inputs(inputs *to) {
  for (uint32_t i = 0; i < to->count; i++) free(to->data[i]);
}

static inline const heed_named_tensor *find_result(const heed_explanation *explanation,
                                                   const char *name) {
  const heed_named_tensor *tensor;
  for (uint32_t i = 0; (tensor = heed_explanation_get(explanation, i)) != NULL; i++)
    if (strcmp(tensor->name, name) == 0) return tensor;
  return NULL;
}

/* The numbers of a result; fails the test when it is absent. */
static inline const float *floats(const heed_explanation *explanation, const char *name,
                                  size_t *count) {
  const heed_named_tensor *tensor = find_result(explanation, name);
  if (!tensor) fail_msg("%s: missing", name);
  *count = (size_t)heed_shape_count(&tensor->shape);
  return tensor->data;
}

typedef struct two_pictures {
  opened o;
  inputs in;
} two_pictures;

static inline void open_part(two_pictures *t, const char *path) {
  vector_file io = vector_file_open(path);
  open_model(&t->o, "explain/timm_avg_fc_norm", "config.json", false);
  read_inputs(&io, &t->in);
  vector_file_close(&io);
}

static inline void open_pictures(two_pictures *t) {
  open_part(t, "explain/io/timm_avg_fc_norm.safetensors");
}

/* With maps to be judged. */
static inline void open_judged(two_pictures *t) {
  open_part(t, "explain/io/timm_avg_fc_norm.judge.safetensors");
}

static inline void close_pictures(two_pictures *t) {
  free_inputs(&t->in);
  close_model(&t->o);
}

static inline heed_explain_desc desc_of(const two_pictures *t, heed_backend *backend,
                                        const char *target) {
  return (heed_explain_desc){.struct_size = sizeof(heed_explain_desc),
                             .model = t->o.model,
                             .backend = backend,
                             .methods = "norms,lens,ledger",
                             .target = target,
                             .inputs = t->in.tensor,
                             .input_count = t->in.count};
}

/* Whether two explanations are the same bits; both are destroyed. */
static inline void check_same(heed_explanation *const made[2]) {
  const heed_named_tensor *one;
  for (uint32_t i = 0; (one = heed_explanation_get(made[0], i)) != NULL; i++) {
    const heed_named_tensor *other = heed_explanation_get(made[1], i);
    assert_string_equal(one->name, other->name);
    assert_memory_equal(one->data, other->data,
                        (size_t)heed_shape_count(&one->shape) * heed_dtype_size(one->dtype));
  }
  for (uint32_t i = 0; i < 2; i++) heed_explanation_destroy(made[i]);
}

#endif
