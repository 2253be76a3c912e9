/* A model of the vectors that is opened and run with changes, and what it then gives; for programs
 * that have the context of test_context.h. */
#ifndef HEED_TESTS_SUPPORT_CHANGED_MODEL_H
#define HEED_TESTS_SUPPORT_CHANGED_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "model/files/safetensors.h"
#include "support/test_context.h"
#include "support/weights.h"

enum { MOST = 128, NAME = 160, OUTPUTS = 8, CONFIG = 4096 };

static const char *const output_names[OUTPUTS] = {"logits",
                                                  "last_hidden_state",
                                                  "pooler_output",
                                                  "image_embeds",
                                                  "layer.0.attention.weights",
                                                  "layer.1.attention.weights",
                                                  "layer.0.output",
                                                  "layer.1.output"};

/* What a model gave: [OUTPUTS], NULL where it lacks one. */
typedef struct outputs {
  float *data[OUTPUTS];
  size_t bytes[OUTPUTS];
  char said[512]; /* rules and assumptions */
} outputs;

typedef struct subject {
  const char *folder, *config_name;
  unsigned char *weights, *io;
  char config[CONFIG];
  heed_safetensors *file, *pixels;
  heed_safetensors_item items[MOST];
  char names[MOST][NAME];
  uint32_t count;
  outputs expected;
  uint32_t refused, same, said, wrong;
} subject;

static heed_backend *backend;

static inline void free_outputs(outputs *o) {
  for (int i = 0; i < OUTPUTS; i++) free(o->data[i]);
  *o = (outputs){{NULL}, {0}, ""};
}

/* The first failure's status; its sentence is in `error`. */
static inline heed_status run_graph(heed_graph *graph, const subject *s, outputs *out) {
  heed_value values[OUTPUTS];
  heed_plan_desc desc = HEED_PLAN_DESC_INIT;
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  const heed_safetensors_tensor *pixels = heed_safetensors_find(s->pixels, "pixel_values");
  for (int i = 0; i < OUTPUTS; i++) {
    const heed_value value = heed_graph_find(graph, output_names[i]);
    if (value.id) values[desc.tap_count++] = value;
  }
  desc.taps = values;
  heed_status status = heed_plan_create(graph, backend, &desc, &plan, &error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, &error);
  if (status == HEED_OK)
    status = heed_session_write(session, heed_graph_find(graph, "pixel_values"),
                                s->io + pixels->offset, (size_t)pixels->bytes, &error);
  if (status == HEED_OK) status = heed_session_run(session, NULL, &error);
  for (int i = 0; i < OUTPUTS && status == HEED_OK; i++) {
    heed_value_info info;
    const heed_value value = heed_graph_find(graph, output_names[i]);
    if (!value.id) continue;
    assert_int_equal(heed_graph_value_info(graph, value, &info), HEED_OK);
    const uint64_t count = heed_shape_count(&info.shape);
    out->bytes[i] = (size_t)count * sizeof(float);
    out->data[i] = malloc(out->bytes[i]);
    status = heed_session_read(session, value, 0, count, out->data[i], &error);
  }
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  return status;
}

static inline heed_status run_files(const subject *s, const heed_safetensors_item *items,
                                    uint32_t count, const char *config, outputs *out) {
  test_bytes bytes = {NULL, 0};
  assert_ok(
      heed_safetensors_write(context, items, count, NULL, 0, test_bytes_append, &bytes, &error));
  const heed_model_file files[] = {
      {"model.safetensors", test_source(bytes.data, bytes.size)},
      {s->config_name ? s->config_name : "config.json", test_source(config, strlen(config))}};
  const heed_model_desc desc = {sizeof desc, files, s->config_name ? 2 : 1};
  const heed_shape *pixels = &heed_safetensors_find(s->pixels, "pixel_values")->shape;
  const heed_build_desc build = test_pixel_sizes(pixels);
  heed_model *model = NULL;
  heed_graph *graph = NULL;
  error.message[0] = '\0';
  heed_status status = heed_model_open(context, &desc, &model, &error);
  if (status == HEED_OK) status = heed_model_build(model, &build, &graph, &error);
  if (status == HEED_OK) status = run_graph(graph, s, out);
  if (status == HEED_OK) {
    heed_model_info info;
    heed_model_get_info(model, &info);
    snprintf(out->said, sizeof out->said, "%s; %s; %u", info.rules,
             info.assumed ? info.assumed : "", info.prefix_tokens);
  }
  heed_graph_destroy(graph);
  heed_model_destroy(model);
  free(bytes.data);
  return status;
}

static inline void open_subject(subject *s, const char *folder, const char *config_name) {
  char path[NAME];
  size_t size;
  memset(s, 0, sizeof *s);
  s->folder = folder;
  s->config_name = config_name;
  snprintf(path, sizeof path, "vit/%s/model.safetensors", folder);
  s->weights = test_read_vector(path, &size);
  const heed_source weights = test_source(s->weights, size);
  assert_ok(heed_safetensors_open(context, &weights, path, &s->file, &error));
  snprintf(path, sizeof path, "vit/%s/io.safetensors", folder);
  s->io = test_read_vector(path, &size);
  const heed_source io = test_source(s->io, size);
  assert_ok(heed_safetensors_open(context, &io, path, &s->pixels, &error));
  if (config_name) {
    snprintf(path, sizeof path, "vit/%s/%s", folder, config_name);
    unsigned char *text = test_read_vector(path, &size);
    assert_true(size < CONFIG);
    memcpy(s->config, text, size);
    free(text);
  }
  s->count = heed_safetensors_count(s->file);
  assert_true(s->count < MOST);
  for (uint32_t i = 0; i < s->count; i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(s->file, i);
    snprintf(s->names[i], NAME, "%s", tensor->name);
    assert_null(tensor->unsupported);
    s->items[i] = (heed_safetensors_item){s->names[i], tensor->dtype, tensor->shape,
                                          s->weights + tensor->offset};
  }
  assert_ok(run_files(s, s->items, s->count, s->config, &s->expected));
}

static inline void close_subject(subject *s) {
  free_outputs(&s->expected);
  heed_safetensors_destroy(s->pixels);
  heed_safetensors_destroy(s->file);
  free(s->weights);
  free(s->io);
}

static inline int open_backend(void **state) {
  const heed_cpu_desc cpu = {sizeof cpu, 1, NULL};
  if (make_context(state) != 0) return -1;
  return heed_cpu_backend_create(context, &cpu, &backend, &error) == HEED_OK ? 0 : -1;
}

static inline int close_backend(void **state) {
  heed_backend_destroy(backend);
  return drop_context(state);
}

#endif
