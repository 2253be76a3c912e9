/* Options of patching: sites alone, the mean over several pictures, progress and cancelling. The
 * scores themselves are compared in test_explain. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"
#include "support/vector_file.h"

static heed_error error;

/* hf_vit and the pictures of its case. */
typedef struct opened {
  unsigned char *bytes[2];
  heed_model *model;
  heed_model_info info;
  vector_file io;
  float *own, *other; /* [B, 3, h, w] */
  heed_shape shape;
} opened;

static void open_case(opened *o) {
  static const char *const names[] = {"model.safetensors", "config.json"};
  heed_model_file files[2];
  char path[128];
  heed_shape shape;
  for (uint32_t i = 0; i < 2; i++) {
    size_t size;
    snprintf(path, sizeof path, "explain/hf_vit/%s", names[i]);
    o->bytes[i] = test_read_vector(path, &size);
    files[i] = (heed_model_file){names[i], {size, o->bytes[i], NULL, NULL}};
  }
  const heed_model_desc desc = {sizeof desc, files, 2, HEED_TOWER_VISION};
  assert_ok(heed_model_open(test_backend_context(), &desc, &o->model, &error));
  heed_model_get_info(o->model, &o->info);
  o->io = vector_file_open("explain/io/hf_vit.safetensors");
  o->own = vector_file_read(&o->io, "pixel_values", HEED_F32, &o->shape);
  o->other = vector_file_read(&o->io, "source.pixel_values", HEED_F32, &shape);
  assert_true(heed_shape_equal(&shape, &o->shape));
}

static void close_case(opened *o) {
  heed_model_destroy(o->model);
  vector_file_close(&o->io);
  free(o->own);
  free(o->other);
  for (uint32_t i = 0; i < 2; i++) free(o->bytes[i]);
}

/* Patches of one picture, taken from `count` pictures. */
static heed_status patch(const opened *o, heed_explain_desc desc, const float *source,
                         uint32_t count, heed_explanation **explanation) {
  heed_named_tensor inputs[] = {{"pixel_values", HEED_F32, o->shape, o->own},
                                {"source.pixel_values", HEED_F32, o->shape, source}};
  inputs[0].shape.dim[0] = 1;
  inputs[1].shape.dim[0] = count;
  desc.struct_size = sizeof desc;
  desc.model = o->model;
  assert_true(test_backend_count() > 0);
  desc.backend = test_backend_get(0);
  desc.methods = "patch";
  desc.inputs = inputs;
  desc.input_count = 2;
  return heed_explain(test_backend_context(), &desc, explanation, &error);
}

static const heed_named_tensor *find(const heed_explanation *explanation, const char *name) {
  const heed_named_tensor *tensor;
  for (uint32_t i = 0; (tensor = heed_explanation_get(explanation, i)) != NULL; i++)
    if (strcmp(tensor->name, name) == 0) return tensor;
  return NULL;
}

static void expect_same(const heed_explanation *a, const heed_explanation *b, const char *name) {
  const heed_named_tensor *one = find(a, name), *two = find(b, name);
  assert_non_null(one);
  assert_non_null(two);
  assert_true(heed_shape_equal(&one->shape, &two->shape));
  assert_memory_equal(one->data, two->data, (size_t)heed_shape_count(&one->shape) * sizeof(float));
}

static void test_sites(void **state) {
  (void)state;
  opened o = {.model = NULL};
  heed_explanation *all, *some;
  open_case(&o);
  assert_ok(patch(&o, (heed_explain_desc){.target = "2"}, o.other, 1, &all));
  assert_ok(
      patch(&o, (heed_explain_desc){.target = "2", .sites = "mlps,heads"}, o.other, 1, &some));
  expect_same(all, some, "patch.heads");
  expect_same(all, some, "patch.mlps");
  assert_non_null(find(all, "patch.states"));
  assert_null(find(some, "patch.states"));
  heed_explanation_destroy(all);
  heed_explanation_destroy(some);
  assert_int_equal(patch(&o, (heed_explain_desc){.sites = "heads,neurons"}, o.other, 1, &all),
                   HEED_INVALID_ARGUMENT);
  assert_non_null(strstr(error.message, "found \"neurons\""));
  close_case(&o);
}

/* The pictures [A, A'] one after the other, in this order. */
static float *both(const opened *o, const float *first, const float *second) {
  const size_t count = (size_t)heed_shape_count(&o->shape) / o->shape.dim[0];
  float *pixels = malloc(2 * count * sizeof *pixels);
  assert_non_null(pixels);
  memcpy(pixels, first, count * sizeof *pixels);
  memcpy(pixels + count, second, count * sizeof *pixels);
  return pixels;
}

/* A number of the state that is patched is the mean of both pictures' numbers; A twice is A. */
static void test_mean(void **state) {
  (void)state;
  opened o = {.model = NULL};
  heed_explanation *one, *twice, *mixed;
  open_case(&o);
  float *same = both(&o, o.other, o.other), *two = both(&o, o.other, o.own);
  const heed_explain_desc desc = {.target = "layer.1.output[5,10]", .source_mean = true};
  assert_ok(patch(&o, (heed_explain_desc){.target = desc.target}, o.other, 1, &one));
  assert_ok(patch(&o, desc, same, 2, &twice));
  assert_ok(patch(&o, desc, two, 2, &mixed));
  for (uint32_t i = 0; i < 4; i++) {
    static const char *const names[] = {"patch.scores", "patch.states", "patch.heads",
                                        "patch.mlps"};
    expect_same(one, twice, names[i]);
  }
  const heed_named_tensor *states = find(mixed, "patch.states");
  const float *scores = find(one, "patch.scores")->data, *mean = find(mixed, "patch.scores")->data,
              *patched = (const float *)states->data + (size_t)2 * states->shape.dim[2] + 5;
  assert_float_equal(*patched, (scores[0] + scores[1]) / 2.0f, 1e-6f);
  assert_float_equal(mean[1], (scores[0] + scores[1]) / 2.0f, 1e-6f);
  assert_true(scores[0] != scores[1]);
  heed_explanation_destroy(one);
  heed_explanation_destroy(twice);
  heed_explanation_destroy(mixed);
  assert_int_equal(patch(&o, (heed_explain_desc){.target = "2"}, two, 2, &mixed),
                   HEED_INVALID_FILE); /* two pictures, and no mean */
  free(same);
  free(two);
  close_case(&o);
}

typedef struct watch {
  uint64_t done, total, stop_at; /* 0: never */
} watch;

static void tell(const char *phase, uint64_t done, uint64_t total, void *user) {
  watch *w = user;
  if (strcmp(phase, "patch") != 0) return;
  assert_int_equal(done, w->done + 1);
  w->done = done;
  w->total = total;
}

static bool stop(void *user) {
  const watch *w = user;
  return w->stop_at && w->done == w->stop_at;
}

static void test_hooks(void **state) {
  (void)state;
  opened o = {.model = NULL};
  heed_explanation *explanation;
  watch w = {0};
  const heed_hooks hooks = {sizeof hooks, tell, stop, &w};
  open_case(&o);
  assert_ok(
      patch(&o, (heed_explain_desc){.target = "2", .hooks = &hooks}, o.other, 1, &explanation));
  heed_explanation_destroy(explanation);
  assert_true(w.total > 3);
  assert_int_equal(w.done, w.total);
  w = (watch){.stop_at = 3};
  assert_int_equal(
      patch(&o, (heed_explain_desc){.target = "2", .hooks = &hooks}, o.other, 1, &explanation),
      HEED_CANCELLED);
  assert_int_equal(w.done, 3);
  close_case(&o);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sites), cmocka_unit_test(test_mean),
                                     cmocka_unit_test(test_hooks)};
  return cmocka_run_group_tests_name("explain_patch", tests, NULL, test_backend_close_all);
}
