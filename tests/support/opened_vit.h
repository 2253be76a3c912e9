/* A ViT of the vectors with one of its runs: opened, run, and read. */
#ifndef HEED_TESTS_SUPPORT_OPENED_VIT_H
#define HEED_TESTS_SUPPORT_OPENED_VIT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "model/files/safetensors.h"
#include "support/test.h"

#define FILES 2

typedef struct vit_files {
  heed_model_file file[FILES];
  uint32_t count;
  unsigned char *bytes[FILES], *io;
  size_t io_size;
} vit_files;

/* A folder of vectors with one of its runs. `config`: its config file, or NULL. */
static inline void load_run(vit_files *files, const char *folder, const char *config,
                            const char *run) {
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

static inline void load_files(vit_files *files, const char *folder) {
  load_run(files, folder, "config.json", "io");
}

static inline void free_files(vit_files *files) {
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

static inline void close_vit(vit *v) {
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

/* Opens the model on the backend that is there, with all attention weights, and query and key of
 * layer 0, kept; runs; the first failure's status. */
static inline heed_status open_vit_on(vit *v, const vit_files *files, const heed_build_desc *build,
                                      const heed_hooks *hooks, heed_error *error) {
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

/* The same with a context and a CPU backend of its own. */
static inline heed_status open_vit(vit *v, const vit_files *files, const heed_context_desc *context,
                                   const char *level, uint32_t threads,
                                   const heed_build_desc *build, const heed_hooks *hooks,
                                   heed_error *error) {
  memset(v, 0, sizeof *v);
  TRY(heed_context_create(context, &v->context, error));
  const heed_cpu_desc cpu = {sizeof cpu, threads, level};
  TRY(heed_cpu_backend_create(v->context, &cpu, &v->backend, error));
  return open_vit_on(v, files, build, hooks, error);
}

/* Batch and size of the pictures. */
static inline heed_build_desc run_sizes(const vit_files *files) {
  heed_context *context;
  heed_safetensors *io;
  heed_error error;
  const heed_source source = {files->io_size, files->io, NULL, NULL};
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_safetensors_open(context, &source, "io", &io, &error));
  const heed_shape pixels = heed_safetensors_find(io, "pixel_values")->shape;
  heed_safetensors_destroy(io);
  heed_context_destroy(context);
  return test_pixel_sizes(&pixels);
}

/* Reads a whole value of floats; the caller frees. */
static inline float *read_value(const vit *v, const char *name, uint64_t *count) {
  heed_error error;
  heed_value_info info;
  const heed_value value = heed_graph_find(v->graph, name);
  assert_int_equal(heed_graph_value_info(v->graph, value, &info), HEED_OK);
  *count = heed_shape_count(&info.shape);
  float *data = malloc((size_t)*count * sizeof *data);
  assert_ok(heed_session_read(v->session, value, 0, *count, data, &error));
  return data;
}

#endif
