/* Every family's vectors with one thing changed: a tensor dropped, misspelt or added, a number or a
 * key of the config changed. Each is a refusal with a sentence, or every output that is left has
 * the same bits, or its rules or what is assumed are others, which heed reports: nothing is guessed
 * in silence. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "model/safetensors.h"
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

static void free_outputs(outputs *o) {
  for (int i = 0; i < OUTPUTS; i++) free(o->data[i]);
  *o = (outputs){{NULL}, {0}, ""};
}

/* The first failure's status; its sentence is in `error`. */
static heed_status run_graph(heed_graph *graph, const subject *s, outputs *out) {
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

static heed_status run_files(const subject *s, const heed_safetensors_item *items, uint32_t count,
                             const char *config, outputs *out) {
  test_bytes bytes = {NULL, 0};
  assert_ok(
      heed_safetensors_write(context, items, count, NULL, 0, test_bytes_append, &bytes, &error));
  const heed_model_file files[] = {
      {"model.safetensors", test_source(bytes.data, bytes.size)},
      {s->config_name ? s->config_name : "config.json", test_source(config, strlen(config))}};
  const heed_model_desc desc = {sizeof desc, files, s->config_name ? 2 : 1};
  const heed_shape *pixels = &heed_safetensors_find(s->pixels, "pixel_values")->shape;
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = pixels->dim[0],
                                 .height = pixels->dim[2],
                                 .width = pixels->dim[3]};
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

/* what: the change, in words. */
static void check(subject *s, const heed_safetensors_item *items, uint32_t count,
                  const char *config, const char *what, const char *changed) {
  outputs found = {{NULL}, {0}, ""};
  const heed_status status = run_files(s, items, count, config, &found);
  const char *wrong = NULL;
  if (status != HEED_OK) {
    s->refused++;
    if (status == HEED_INTERNAL || status == HEED_OUT_OF_MEMORY || strlen(error.message) < 20)
      wrong = error.message;
  }
  const bool said = strcmp(found.said, s->expected.said) != 0;
  for (int i = 0; i < OUTPUTS && status == HEED_OK; i++) {
    const outputs *e = &s->expected;
    if (found.data[i] && (!e->data[i] || e->bytes[i] != found.bytes[i] ||
                          memcmp(e->data[i], found.data[i], found.bytes[i]) != 0))
      wrong = output_names[i];
  }
  if (status == HEED_OK && wrong && said) {
    s->said++;
    wrong = NULL;
  } else if (status == HEED_OK)
    s->same++;
  if (wrong) {
    print_error("%s: %s %s: %s %s\n", s->folder, what, changed,
                status == HEED_OK ? "another" : "the sentence is", wrong);
    s->wrong++;
  }
  free_outputs(&found);
}

static void open_subject(subject *s, const char *folder, const char *config_name) {
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

static void close_subject(subject *s) {
  free_outputs(&s->expected);
  heed_safetensors_destroy(s->pixels);
  heed_safetensors_destroy(s->file);
  free(s->weights);
  free(s->io);
}

static void change_tensors(subject *s) {
  heed_safetensors_item items[MOST];
  char name[NAME];
  for (uint32_t i = 0; i < s->count; i++) {
    memcpy(items, s->items, sizeof items);
    memmove(&items[i], &items[i + 1], (MOST - i - 1) * sizeof *items);
    check(s, items, s->count - 1, s->config, "without", s->names[i]);
    for (size_t part = 0; part < 3; part++) {
      const size_t length = strlen(s->names[i]), at = part * (length - 1) / 2;
      memcpy(items, s->items, sizeof items);
      snprintf(name, sizeof name, "%s", s->names[i]);
      name[at] = name[at] == 'x' ? 'y' : 'x';
      items[i].name = name;
      check(s, items, s->count, s->config, "misspelt", name);
    }
    memcpy(items, s->items, sizeof items);
    snprintf(name, sizeof name, "%.*sx%s", (int)(strlen(s->names[i]) / 2), s->names[i],
             s->names[i] + strlen(s->names[i]) / 2);
    items[s->count] = items[i];
    items[s->count].name = name;
    check(s, items, s->count + 1, s->config, "with", name);
  }
}

/* Facts that no tensor tells: the model follows them, as its library does. */
static bool is_followed(const char *key) {
  static const char *const keys[] = {
      "layer_norm_eps", "hidden_act", "num_attention_heads", "heads",       "num_heads",
      "head_width",     "quick_gelu", "model_type",          "global_pool", "attn_pool_num_heads"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (strcmp(key, keys[i]) == 0) return true;
  return false;
}

static void change_config(subject *s) {
  char config[2 * CONFIG], key[64];
  for (char *at = s->config; (at = strchr(at, '"')); at++) {
    const size_t length = strcspn(at + 1, "\"");
    char *after = at + length + 2, *value = after + strspn(after, " :");
    snprintf(key, sizeof key, "%.*s", (int)length, at + 1);
    if (value != after && !is_followed(key)) {
      snprintf(config, sizeof config, "%.*sx%s", (int)(at + 1 - s->config), s->config, at + 1);
      check(s, s->items, s->count, config, "misspelt key", key);
      if (isdigit((unsigned char)*value)) {
        static const char *const numbers[] = {"0",  "1",    "3",     "8",   "97",
                                              "-4", "1e99", "\"a\"", "null"};
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
          snprintf(config, sizeof config, "%.*s%s%s", (int)(value - s->config), s->config,
                   numbers[i], value + strspn(value, "0123456789.e-"));
          check(s, s->items, s->count, config, numbers[i], key);
        }
      }
    }
    at += length + 1;
  }
}

static void check_folder(const char *folder, const char *config_name) {
  static subject s;
  open_subject(&s, folder, config_name);
  change_tensors(&s);
  if (config_name) change_config(&s);
  printf("%s: %u refused, %u with the same bits, %u reported\n", folder, s.refused, s.same, s.said);
  const uint32_t wrong = s.wrong, refused = s.refused;
  close_subject(&s);
  assert_true(refused > 40);
  assert_int_equal(wrong, 0);
}

#define VIT_VECTOR(folder, config)          \
  static void test_##folder(void **state) { \
    (void)state;                            \
    check_folder(#folder, config);          \
  }
#include "vit_vectors.h"
#undef VIT_VECTOR

/* A layer scale of ones is none. */
static void layer_scale_of_ones(void **state) {
  (void)state;
  static subject s;
  static const char *const names[] = {"blocks.0.ls1.gamma", "blocks.0.ls2.gamma",
                                      "blocks.1.ls1.gamma", "blocks.1.ls2.gamma"};
  float ones[64];
  outputs found = {{NULL}, {0}, ""};
  for (int i = 0; i < 64; i++) ones[i] = 1.0f;
  open_subject(&s, "timm", "config.json");
  const heed_shape shape = {1, {heed_safetensors_find(s.file, "norm.weight")->shape.dim[0]}};
  for (int i = 0; i < 4; i++)
    s.items[s.count++] = (heed_safetensors_item){names[i], HEED_F32, shape, ones};
  assert_ok(run_files(&s, s.items, s.count, s.config, &found));
  for (int i = 0; i < OUTPUTS; i++) {
    assert_int_equal(found.bytes[i], s.expected.bytes[i]);
    if (found.data[i]) assert_memory_equal(found.data[i], s.expected.data[i], found.bytes[i]);
  }
  free_outputs(&found);
  close_subject(&s);
}

static int open_backend(void **state) {
  const heed_cpu_desc cpu = {sizeof cpu, 1, NULL};
  if (make_context(state) != 0) return -1;
  return heed_cpu_backend_create(context, &cpu, &backend, &error) == HEED_OK ? 0 : -1;
}

static int close_backend(void **state) {
  heed_backend_destroy(backend);
  return drop_context(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define VIT_VECTOR(folder, config) cmocka_unit_test(test_##folder),
#include "vit_vectors.h"
#undef VIT_VECTOR
      cmocka_unit_test(layer_scale_of_ones),
  };
  return cmocka_run_group_tests(tests, open_backend, close_backend);
}
