/* The device is lost at each submission once, for each family of plan: the call says so, later ones
 * say so, everything can be destroyed, and a new backend gives the bits of before. With HEED_SOAK
 * every family of ViT, else some. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/onnx.h"
#include "heed/vulkan_test.h"
#include "model/files/source.h"
#include "support/sequence_test.h"
#include "support/vector_file.h"
#include "vulkan/vulkan_test.h"

static heed_error error;

enum { FILES = 2, MOST_LAYERS = 8, MOST_SUBMISSIONS = 400, MOST_LOST = 20 };

typedef struct work {
  const char *folder, *config;
  heed_vulkan_precision precision;
  bool text;      /* the tower of texts */
  bool demand;    /* maps from query and key, after the run */
  bool intervene; /* with inputs that change attention, which change nothing here */
  bool int8;
  bool parts; /* a submission for every few operations */
} work;

static const work kinds[] = {
    {.folder = "micro_32", .config = "config.json", .demand = true},
    {.folder = "micro_32", .config = "config.json", .intervene = true},
    {.folder = "micro_32", .config = "config.json", .int8 = true},
    {.folder = "micro_32", .config = "config.json", .precision = HEED_VULKAN_PRECISION_F16},
    {.folder = "micro_32", .config = "config.json", .parts = true},
    {.folder = "clip_text", .config = "config.json", .text = true},
    {.folder = "siglip_text", .config = "config.json", .text = true},
};

static const work families[] = {
#define VIT_VECTOR(folder, config) {#folder, config},
#include "vit_vectors.h"
#undef VIT_VECTOR
};

/* One family each of: learned and resized positions, rotary, bias of positions, a pooling layer. */
static const char *const some[] = {"hf_dinov2_registers", "dinov3", "beit", "siglip"};

typedef struct bytes {
  unsigned char *at;
  size_t count;
} bytes;

typedef struct subject {
  vector_file io;
  unsigned char *file[FILES];
  bytes int8;
  heed_model *model;
  heed_model_info info;
  const char *input;
  void *data; /* of `input` */
  heed_shape shape;
} subject;

/* What is closed at the end, wherever that was. */
typedef struct held {
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
} held;

static heed_status take(void *user, const void *from, size_t count, heed_error *unused) {
  bytes *to = user;
  (void)unused;
  to->at = realloc(to->at, to->count + count);
  assert_non_null(to->at);
  memcpy(to->at + to->count, from, count);
  to->count += count;
  return HEED_OK;
}

static void open_model(subject *s, const work *w, size_t size[FILES],
                       const unsigned char *weights) {
  const heed_model_file files[FILES] = {{"model.safetensors", {size[0], weights, NULL, NULL}},
                                        {w->config, {size[1], s->file[1], NULL, NULL}}};
  const heed_model_desc desc = {sizeof desc, files, w->config ? 2 : 1,
                                w->text ? HEED_TOWER_TEXT : HEED_TOWER_VISION};
  assert_ok(heed_model_open(s->io.context, &desc, &s->model, &error));
}

static void open_subject(subject *s, const work *w) {
  char path[128];
  size_t size[FILES] = {0, 0};
  memset(s, 0, sizeof *s);
  snprintf(path, sizeof path, "vit/%s/io.safetensors", w->folder);
  s->io = vector_file_open(path);
  const char *const names[FILES] = {"model.safetensors", w->config};
  for (uint32_t i = 0; i < FILES && names[i]; i++) {
    snprintf(path, sizeof path, "vit/%s/%s", w->folder, names[i]);
    s->file[i] = test_read_vector(path, &size[i]);
  }
  open_model(s, w, size, s->file[0]);
  if (w->int8) {
    const heed_convert_desc desc = {sizeof desc, HEED_STORAGE_INT8, NULL, take, &s->int8};
    assert_ok(heed_model_convert(s->model, &desc, NULL, &error));
    heed_model_destroy(s->model);
    size[0] = s->int8.count;
    open_model(s, w, size, s->int8.at);
  }
  heed_model_get_info(s->model, &s->info);
  assert_true(s->info.layers <= MOST_LAYERS);
  s->input = w->text ? "input_ids" : "pixel_values";
  s->data = vector_file_read(&s->io, s->input, w->text ? HEED_I32 : HEED_F32, &s->shape);
}

static void close_subject(subject *s) {
  heed_model_destroy(s->model);
  vector_file_close(&s->io);
  for (uint32_t i = 0; i < FILES; i++) free(s->file[i]);
  free(s->int8.at);
  free(s->data);
}

static void close_held(held *h) {
  heed_session_destroy(h->session);
  heed_plan_destroy(h->plan);
  heed_graph_destroy(h->graph);
  heed_backend_destroy(h->backend);
}

/* Masks that hide nothing, offsets of 0, gains of 1. */
static heed_status write_changes(const held *h) {
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < heed_graph_value_count(h->graph) && status == HEED_OK; i++) {
    heed_value_info info;
    const heed_value value = {i + 1};
    assert_ok(heed_graph_value_info(h->graph, value, &info));
    if (!info.is_input || strcmp(info.name, "pixel_values") == 0) continue;
    const size_t count = (size_t)heed_shape_count(&info.shape),
                 size = count * heed_dtype_size(info.dtype);
    unsigned char *data = calloc(1, size);
    assert_non_null(data);
    if (info.dtype == HEED_U8) memset(data, 1, size);
    if (strstr(info.name, "gain"))
      for (size_t e = 0; e < count; e++) ((float *)(void *)data)[e] = 1.0f;
    status = heed_session_write(h->session, value, data, size, &error);
    free(data);
  }
  return status;
}

static heed_status read_maps(const work *w, const subject *s, const held *h, bytes *found) {
  heed_status status = HEED_OK;
  for (uint32_t layer = 0; layer < s->info.layers && status == HEED_OK; layer++) {
    char name[48];
    heed_value_info info;
    snprintf(name, sizeof name, "layer.%u.attention.weights", layer);
    const heed_value weights = heed_graph_find(h->graph, name);
    assert_ok(heed_graph_value_info(h->graph, weights, &info));
    const uint64_t count = heed_shape_count(&info.shape);
    const uint32_t heads = w->demand ? info.shape.dim[1] : 1;
    const size_t part = (size_t)(w->demand ? count / info.shape.dim[0] / heads : count);
    float *map = malloc(part * sizeof *map);
    assert_non_null(map);
    for (uint32_t head = 0; head < heads && status == HEED_OK; head++) {
      const heed_attention_map_desc desc = {.struct_size = sizeof desc, .head = head};
      status = w->demand ? heed_session_attention_map(h->session, weights, &desc, map, &error)
                         : heed_session_read(h->session, weights, 0, part, map, &error);
      if (status == HEED_OK) status = take(found, map, part * sizeof *map, &error);
    }
    free(map);
  }
  return status;
}

static heed_status open_plan(const work *w, const subject *s, const heed_vulkan_desc *device,
                             held *h) {
  heed_value taps[2 * MOST_LAYERS];
  uint32_t count = 0;
  const heed_build_desc text = {
      .struct_size = sizeof text, .batch = s->shape.dim[0], .source_length = s->shape.dim[1]};
  heed_build_desc build = w->text ? text : test_pixel_sizes(&s->shape);
  build.intervene = w->intervene;
  assert_ok(heed_model_build(s->model, &build, &h->graph, &error));
  static const char *const parts[] = {"query", "key"};
  for (uint32_t layer = 0; layer < s->info.layers; layer++)
    for (uint32_t i = 0; i < (w->demand ? 2 : 1); i++) {
      char name[48];
      snprintf(name, sizeof name, "layer.%u.%s", layer, w->demand ? parts[i] : "attention.weights");
      taps[count++] = heed_graph_find(h->graph, name);
    }
  const heed_plan_desc plan = {.struct_size = sizeof plan, .taps = taps, .tap_count = count};
  heed_status status = heed_vulkan_backend_create(s->io.context, device, &h->backend, &error);
  if (status == HEED_OK) status = heed_plan_create(h->graph, h->backend, &plan, &h->plan, &error);
  if (status == HEED_OK) status = heed_session_create(h->plan, NULL, &h->session, &error);
  return status;
}

/* From the backend to the last map that is read. */
static heed_status attempt(const work *w, const subject *s, const heed_vulkan_desc *device, held *h,
                           bytes *found) {
  heed_value_info info;
  heed_status status = open_plan(w, s, device, h);
  if (status == HEED_OK && w->intervene) status = write_changes(h);
  if (status == HEED_OK)
    status = heed_session_write(h->session, heed_graph_find(h->graph, s->input), s->data,
                                (size_t)heed_shape_count(&s->shape) * 4, &error);
  if (status == HEED_OK) status = heed_session_run(h->session, NULL, &error);
  if (status != HEED_OK) return status;
  const heed_value states = heed_graph_find(h->graph, "last_hidden_state");
  assert_ok(heed_graph_value_info(h->graph, states, &info));
  const uint64_t count = heed_shape_count(&info.shape);
  float *values = malloc((size_t)count * sizeof *values);
  assert_non_null(values);
  status = heed_session_read(h->session, states, 0, count, values, &error);
  if (status == HEED_OK) status = take(found, values, (size_t)count * sizeof *values, &error);
  free(values);
  return status == HEED_OK ? read_maps(w, s, h, found) : status;
}

/* What still can be called says that a new backend is wanted. */
static void check_lost(const subject *s, const held *h) {
  heed_session *another = NULL;
  if (h->session) {
    assert_fails(heed_session_run(h->session, NULL, &error), HEED_DEVICE_LOST, "new backend");
    assert_fails(heed_session_write(h->session, heed_graph_find(h->graph, s->input), s->data,
                                    (size_t)heed_shape_count(&s->shape) * 4, &error),
                 HEED_DEVICE_LOST, "new backend");
  }
  if (h->plan)
    assert_fails(heed_session_create(h->plan, NULL, &another, &error), HEED_DEVICE_LOST,
                 "new backend");
}

static heed_vulkan_desc describe(const work *w, heed_vulkan_test *played) {
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = played;
  desc.precision = w->precision;
  played->submit_flops = w->parts ? 20000 : 0;
  return desc;
}

static uint32_t lose_each(const work *w) {
  subject s;
  held h = {NULL, NULL, NULL, NULL};
  bytes want = {NULL, 0};
  heed_vulkan_test played = {0};
  const heed_vulkan_desc desc = describe(w, &played);
  open_subject(&s, w);
  assert_ok(attempt(w, &s, &desc, &h, &want));
  const uint32_t submissions = heed_vulkan_submission_count(h.backend);
  close_held(&h);
  assert_in_range(submissions, 2, MOST_SUBMISSIONS);
  for (uint32_t n = 1; n <= submissions + 1; n++) {
    bytes found = {NULL, 0};
    h = (held){NULL, NULL, NULL, NULL};
    played.lose_at_submit = n;
    const heed_status status = attempt(w, &s, &desc, &h, &found);
    if (n <= submissions) {
      if (status != HEED_DEVICE_LOST)
        fail_msg("%s, lost at submission %u of %u: status %s", w->folder, n, submissions,
                 heed_status_name(status));
      check_lost(&s, &h);
    } else {
      assert_ok(status);
      assert_int_equal(found.count, want.count);
      assert_memory_equal(found.at, want.at, want.count);
    }
    assert_memory_equal(found.at ? found.at : want.at, want.at, found.count);
    close_held(&h);
    free(found.at);
  }
  printf("%s: lost at each of %u submissions\n", w->folder, submissions);
  free(want.at);
  close_subject(&s);
  return submissions;
}

static void test_kinds(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) lose_each(&kinds[i]);
}

static bool is_taken(const char *folder) {
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    if (strcmp(some[i], folder) == 0) return true;
  return getenv("HEED_SOAK") != NULL;
}

static void test_families(void **state) {
  (void)state;
  uint32_t taken = 0;
  vulkan_test_need_device();
  for (size_t i = 0; i < sizeof families / sizeof *families; i++)
    if (is_taken(families[i].folder)) taken += lose_each(&families[i]) > 0;
  assert_true(taken >= sizeof some / sizeof *some);
}

typedef struct decoded {
  heed_backend *backend;
  heed_decoder *decoder;
  const int32_t *tokens; /* the decoder's */
  uint32_t length;
} decoded;

static heed_status decode(const heed_model *model, heed_context *context, const vector_file *io,
                          const heed_vulkan_desc *device, decoded *d) {
  heed_shape shape;
  const heed_safetensors_tensor *tensor = heed_safetensors_find(io->file, "source");
  void *source = vector_file_read(io, "source", tensor->dtype, &shape);
  const heed_decoder_desc desc = {sizeof desc, shape.dim[0], shape.dim[1], 0, true, true};
  *d = (decoded){.backend = NULL};
  heed_status status = heed_vulkan_backend_create(context, device, &d->backend, &error);
  if (status == HEED_OK)
    status = heed_decoder_create(model, d->backend, &desc, NULL, &d->decoder, &error);
  if (status == HEED_OK)
    status =
        heed_decoder_run(d->decoder, source, (size_t)heed_shape_count(&shape) * 4, NULL, &error);
  if (status == HEED_OK) d->tokens = heed_decoder_tokens(d->decoder, &d->length);
  free(source);
  return status;
}

static void close_decoded(decoded *d) {
  heed_decoder_destroy(d->decoder);
  heed_backend_destroy(d->backend);
}

/* Encoder-decoders have a submission for each token: the first 20 are lost one by one, with
 * HEED_SOAK all. */
static void test_decoders(void **state) {
  (void)state;
  static const char *const models[] = {"transformer", "captioner", "lstm", "gru"};
  vulkan_test_need_device();
  for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
    heed_context *context;
    sequence_test test;
    decoded d;
    char path[96];
    heed_vulkan_test played = {0};
    heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
    desc.test = &played;
    assert_ok(heed_context_create(NULL, &context, &error));
    sequence_test_open(&test, models[i]);
    assert_ok(heed_sequence_open(context, &test.desc, &test.model, &error));
    snprintf(path, sizeof path, "sequence/%s/expect.safetensors", models[i]);
    vector_file io = vector_file_open(path);
    assert_ok(decode(test.model, context, &io, &desc, &d));
    const uint32_t submissions = heed_vulkan_submission_count(d.backend);
    close_decoded(&d);
    const uint32_t most = getenv("HEED_SOAK") || submissions < MOST_LOST ? submissions : MOST_LOST;
    for (uint32_t n = 1; n <= most; n++) {
      played.lose_at_submit = n;
      const heed_status status = decode(test.model, context, &io, &desc, &d);
      if (status != HEED_DEVICE_LOST)
        fail_msg("%s, lost at submission %u of %u: status %s", models[i], n, submissions,
                 heed_status_name(status));
      close_decoded(&d);
    }
    played.lose_at_submit = 0;
    heed_shape shape;
    int32_t *want = vector_file_read(&io, "tokens", HEED_I32, &shape);
    assert_ok(decode(test.model, context, &io, &desc, &d));
    assert_int_equal(d.length, shape.dim[1]);
    assert_memory_equal(d.tokens, want, (size_t)heed_shape_count(&shape) * sizeof *want);
    printf("%s: lost at each of %u of %u submissions\n", models[i], most, submissions);
    free(want);
    close_decoded(&d);
    vector_file_close(&io);
    sequence_test_close(&test);
    heed_context_destroy(context);
  }
}

typedef struct graph_run {
  heed_context *context;
  heed_onnx *onnx;
  bytes file, inputs;
} graph_run;

/* The results as the bytes of a file, to be freed; nothing after a failure. */
static heed_status evaluate(const graph_run *run, uint32_t lose_at, uint32_t *submissions,
                            bytes *found) {
  heed_backend *backend;
  heed_onnx_result *result;
  heed_vulkan_test played = {.lose_at_submit = lose_at};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  *found = (bytes){NULL, 0};
  heed_status status = heed_vulkan_backend_create(run->context, &desc, &backend, &error);
  if (status != HEED_OK) return status;
  const heed_onnx_evaluate_desc how = {.struct_size = sizeof how,
                                       .inputs = {run->inputs.count, run->inputs.at, NULL, NULL},
                                       .attentions = true,
                                       .backend = backend};
  status = heed_onnx_evaluate(run->onnx, &how, &result, &error);
  *submissions = heed_vulkan_submission_count(backend);
  if (status == HEED_OK) {
    const heed_source source = heed_onnx_result_source(result);
    found->count = (size_t)source.size;
    found->at = malloc(found->count);
    assert_non_null(found->at);
    assert_ok(heed_source_read(&source, "result", 0, found->at, found->count, &error));
    heed_onnx_result_destroy(result);
  } else {
    assert_null(result);
  }
  heed_backend_destroy(backend);
  return status;
}

/* Graphs of ONNX files, lowered to kernels. */
static void test_graphs(void **state) {
  (void)state;
  static const char *const graphs[] = {"deit_17", "dinov2_11_dynamic", "bert_14_dynamic"};
  vulkan_test_need_device();
  for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
    graph_run run;
    bytes want, found;
    uint32_t submissions, now;
    char path[96];
    assert_ok(heed_context_create(NULL, &run.context, &error));
    snprintf(path, sizeof path, "onnx/graphs/%s.safetensors", graphs[i]);
    run.inputs.at = test_read_vector(path, &run.inputs.count);
    snprintf(path, sizeof path, "onnx/graphs/%s.onnx", graphs[i]);
    run.file.at = test_read_vector(path, &run.file.count);
    const heed_onnx_desc file = {
        sizeof file, {run.file.count, run.file.at, NULL, NULL}, path, NULL, NULL};
    assert_ok(heed_onnx_open(run.context, &file, &run.onnx, &error));
    assert_ok(evaluate(&run, 0, &submissions, &want));
    assert_in_range(submissions, 2, MOST_SUBMISSIONS);
    for (uint32_t n = 1; n <= submissions; n++) {
      const heed_status status = evaluate(&run, n, &now, &found);
      if (status != HEED_DEVICE_LOST)
        fail_msg("%s, lost at submission %u of %u: status %s", graphs[i], n, submissions,
                 heed_status_name(status));
    }
    assert_ok(evaluate(&run, 0, &now, &found));
    assert_int_equal(found.count, want.count);
    assert_memory_equal(found.at, want.at, want.count);
    printf("%s: lost at each of %u submissions\n", graphs[i], submissions);
    free(want.at);
    free(found.at);
    heed_onnx_destroy(run.onnx);
    free(run.file.at);
    free(run.inputs.at);
    heed_context_destroy(run.context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kinds), cmocka_unit_test(test_families),
                                     cmocka_unit_test(test_decoders),
                                     cmocka_unit_test(test_graphs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
