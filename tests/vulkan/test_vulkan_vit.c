/* Whole ViTs on Vulkan against float64 results: in F32, and with weights and values in F16 within
 * 2e-3 of the largest logit; with HEED_VULKAN_TRUNCATES also where fp16 is rounded toward zero. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/vulkan_test.h"
#include "model/files/safetensors.h"
#include "support/test.h"
#include "vulkan/vulkan_test.h"

#define MOST_LOGITS 64

typedef struct vit {
  unsigned char *bytes[3];
  size_t size[3];
  heed_context *context;
  heed_backend *backend;
  heed_model *model;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_safetensors *io;
  bool shares; /* context and backend are another's */
} vit;

/* `config`: the folder's config file, or NULL; `shared`: whose context and backend it takes, or
 * NULL. */
static void load_run(vit *v, const char *folder, const char *config, const char *io,
                     const vit *shared) {
  const char *const names[] = {"model.safetensors", config, io};
  heed_error error;
  memset(v, 0, sizeof *v);
  v->shares = shared != NULL;
  for (uint32_t i = 0; i < 3; i++) {
    char path[128];
    if (!names[i]) continue;
    snprintf(path, sizeof path, "vit/%s/%s", folder, names[i]);
    v->bytes[i] = test_read_vector(path, &v->size[i]);
  }
  if (shared) {
    v->context = shared->context;
    v->backend = shared->backend;
  } else {
    assert_ok(heed_context_create(NULL, &v->context, &error));
  }
  const heed_model_file file[] = {{names[0], {v->size[0], v->bytes[0], NULL, NULL}},
                                  {names[1], {v->size[1], v->bytes[1], NULL, NULL}}};
  const heed_model_desc desc = {sizeof desc, file, config ? 2 : 1};
  assert_ok(heed_model_open(v->context, &desc, &v->model, &error));
  const heed_source source = {v->size[2], v->bytes[2], NULL, NULL};
  assert_ok(heed_safetensors_open(v->context, &source, "io", &v->io, &error));
}

static void load(vit *v, const char *folder) {
  load_run(v, folder, "config.json", "io.safetensors", NULL);
}

static void release(vit *v) {
  heed_safetensors_destroy(v->io);
  heed_session_destroy(v->session);
  heed_plan_destroy(v->plan);
  heed_graph_destroy(v->graph);
  heed_model_destroy(v->model);
  if (!v->shares) heed_backend_destroy(v->backend);
  if (!v->shares) heed_context_destroy(v->context);
  for (int i = 0; i < 3; i++) free(v->bytes[i]);
}

/* Runs the vector's pictures and reads a value; returns the bytes of the weights on the device. */
static uint64_t run_for(vit *v, const heed_vulkan_desc *desc, bool classes_only, const char *value,
                        float *found, uint64_t count) {
  heed_error error;
  heed_memory memory;
  const heed_safetensors_tensor *pixels = heed_safetensors_find(v->io, "pixel_values");
  heed_build_desc build = test_pixel_sizes(&pixels->shape);
  build.classes_only = classes_only;
  if (!v->backend) assert_ok(heed_vulkan_backend_create(v->context, desc, &v->backend, &error));
  assert_ok(heed_model_build(v->model, &build, &v->graph, &error));
  assert_ok(heed_plan_create(v->graph, v->backend, NULL, &v->plan, &error));
  assert_ok(heed_session_create(v->plan, NULL, &v->session, &error));
  assert_ok(heed_session_write(v->session, heed_graph_find(v->graph, "pixel_values"),
                               v->bytes[2] + pixels->offset, (size_t)pixels->bytes, &error));
  assert_ok(heed_session_run(v->session, NULL, &error));
  assert_ok(
      heed_session_read(v->session, heed_graph_find(v->graph, value), 0, count, found, &error));
  heed_plan_memory(v->plan, &memory);
  return memory.weights;
}

static uint64_t run(vit *v, const heed_vulkan_desc *desc, bool classes_only, float *logits,
                    uint64_t count) {
  return run_for(v, desc, classes_only, "logits", logits, count);
}

/* Asked for by the environment: only where the device has the tier, and only in fp16. */
static bool is_cooperative(void) {
  const char *tier = getenv("HEED_VULKAN_TIER");
  return tier && strcmp(tier, "cooperative") == 0;
}

static heed_vulkan_desc describe(heed_vulkan_precision precision, bool gpu_kernels) {
  static heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.precision = precision;
  played.gpu_kernels = gpu_kernels || is_cooperative();
  played.truncates = getenv("HEED_VULKAN_TRUNCATES") != NULL;
  if (is_cooperative()) {
    const char *validate = getenv("HEED_VULKAN_VALIDATE");
    desc.tier = HEED_VULKAN_TIER_COOPERATIVE;
    if (validate)
      desc.validate =
          strcmp(validate, "sync") == 0 ? HEED_VULKAN_VALIDATE_SYNC : HEED_VULKAN_VALIDATE_GPU;
  }
  return desc;
}

/* tolerance: of the largest. */
static void expect_close(const char *folder, const float *found, const float *want, uint64_t count,
                         double tolerance) {
  double largest = 0.0, off = 0.0;
  for (uint64_t i = 0; i < count; i++) {
    largest = fmax(largest, fabs((double)want[i]));
    if (!(fabs((double)found[i] - (double)want[i]) <= off))
      off = fabs((double)found[i] - (double)want[i]);
  }
  printf("%s: off by %.3g of the largest\n", folder, off / largest);
  if (!(off <= tolerance * largest))
    fail_msg("%s: off by %g of the largest (expected at most %g)", folder, off / largest,
             tolerance);
}

/* Returns the bytes of the weights. tolerance: of the largest logit. */
static uint64_t check(const char *folder, heed_vulkan_precision precision, bool gpu_kernels,
                      double tolerance) {
  heed_error error;
  vit v;
  float found[MOST_LOGITS], want[MOST_LOGITS];
  const heed_vulkan_desc desc = describe(precision, gpu_kernels);
  load(&v, folder);
  const heed_safetensors_tensor *tensor = heed_safetensors_find(v.io, "expect.logits");
  assert_true(tensor->count <= MOST_LOGITS);
  assert_ok(heed_safetensors_read(v.io, tensor, 0, tensor->count, want, &error));
  const uint64_t bytes = run(&v, &desc, false, found, tensor->count);
  assert_int_equal(heed_vulkan_message_count(v.backend), 0);
  expect_close(folder, found, want, tensor->count, tolerance);
  release(&v);
  return bytes;
}

/* The outputs of a family's model on another grid than its positions'. */
static void check_family(const vit *shared, const char *folder, const char *config, const char *io,
                         double tolerance) {
  heed_error error;
  vit v;
  bool ran = false;
  load_run(&v, folder, config, io, shared);
  for (uint32_t i = 0; i < heed_safetensors_count(v.io); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(v.io, i);
    if (strncmp(tensor->name, "expect.", 7) != 0 || strstr(tensor->name, "attention") ||
        strstr(tensor->name, ".map."))
      continue;
    float *want = malloc((size_t)tensor->bytes), *found = malloc((size_t)tensor->bytes);
    assert_true(want && found);
    assert_ok(heed_safetensors_read(v.io, tensor, 0, tensor->count, want, &error));
    if (ran)
      assert_ok(heed_session_read(v.session, heed_graph_find(v.graph, tensor->name + 7), 0,
                                  tensor->count, found, &error));
    else
      run_for(&v, NULL, false, tensor->name + 7, found, tensor->count);
    ran = true;
    expect_close(folder, found, want, tensor->count, tolerance);
    free(want);
    free(found);
  }
  assert_true(ran);
  assert_int_equal(heed_vulkan_message_count(v.backend), 0);
  release(&v);
}

static void test_families(void **state) {
  (void)state;
  static const struct {
    const char *folder, *config, *second;
  } families[] = {
#define VIT_VECTOR(folder, config) {#folder, config, "io_wide.safetensors"},
#include "vit_vectors.h"
#undef VIT_VECTOR
#define STAGE_VECTOR(folder, config) {#folder, config, "io_uneven.safetensors"},
#include "stage_vectors.h"
#undef STAGE_VECTOR
  };
  /* Cooperative matrices take both factors of all products in fp16. Largest found:
   * eva02_map 3.6e-3, there pixtral 4.1e-3. */
  const double half_bound = is_cooperative() ? 6e-3 : 4e-3;
  vulkan_test_need_device();
  for (int half = is_cooperative(); half < 2; half++) {
    heed_error error;
    vit shared = {0};
    const heed_vulkan_desc desc =
        describe(half ? HEED_VULKAN_PRECISION_F16 : HEED_VULKAN_PRECISION_F32, false);
    assert_ok(heed_context_create(NULL, &shared.context, &error));
    assert_ok(heed_vulkan_backend_create(shared.context, &desc, &shared.backend, &error));
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
      for (int run = 0; run < 2; run++)
        if (test_takes()) {
          /* SwinV2 multiplies cosines, and so what fp16 rounds of them, by up to 100: 5.2e-3. */
          const bool cosines = strncmp(families[i].folder, "swinv2", 6) == 0;
          check_family(&shared, families[i].folder, families[i].config,
                       run ? families[i].second : "io.safetensors",
                       !half     ? 1e-4
                       : cosines ? 2 * half_bound
                                 : half_bound);
        }
    heed_backend_destroy(shared.backend);
    heed_context_destroy(shared.context);
  }
}

/* What a device computes in by itself: fp16 on most GPUs, fp32 on a software device. */
static double automatic_bound(void) {
  heed_error error;
  heed_context *context;
  heed_vulkan_device_info first;
  uint32_t count = 1;
  assert_ok(heed_context_create(NULL, &context, &error));
  assert_ok(heed_vulkan_device_list(context, &first, &count, &error));
  heed_context_destroy(context);
  return first.type == HEED_VULKAN_CPU ? 1e-4 : 2e-3;
}

static void test_micro(void **state) {
  (void)state;
  vulkan_test_need_device();
  if (is_cooperative()) {
    check("micro_32", HEED_VULKAN_PRECISION_F16, true, 2e-3);
    return;
  }
  const uint64_t whole = check("micro_32", HEED_VULKAN_PRECISION_F32, false, 1e-4);
  assert_true(check("micro_32", HEED_VULKAN_PRECISION_F16, false, 2e-3) < whole);
  assert_true(check("micro_32", HEED_VULKAN_PRECISION_AUTO, false, automatic_bound()) <= whole);
  check("micro_32", HEED_VULKAN_PRECISION_F16, true, 2e-3);
}

static void test_small(void **state) {
  (void)state;
  vulkan_test_need_device();
  if (is_cooperative()) {
    check("small_224", HEED_VULKAN_PRECISION_F16, true, 2e-3);
    return;
  }
  const uint64_t whole = check("small_224", HEED_VULKAN_PRECISION_F32, false, 1e-4);
  assert_true(check("small_224", HEED_VULKAN_PRECISION_F16, false, 2e-3) < whole * 7 / 10);
}

/* One submission a run; cut into many by a budget, the same bits. */
static void test_submissions(void **state) {
  (void)state;
  vulkan_test_need_device();
  heed_error error;
  vit v;
  float whole[MOST_LOGITS], cut[MOST_LOGITS];
  heed_vulkan_test played = {0};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  load(&v, "micro_32");
  const uint64_t count = heed_safetensors_find(v.io, "expect.logits")->count;
  run(&v, &desc, false, whole, count);
  uint32_t before = heed_vulkan_submission_count(v.backend);
  assert_ok(heed_session_run(v.session, NULL, &error));
  assert_int_equal(heed_vulkan_submission_count(v.backend), before + 1);
  release(&v);
  played.submit_flops = 20000;
  load(&v, "micro_32");
  run(&v, &desc, false, cut, count);
  before = heed_vulkan_submission_count(v.backend);
  assert_ok(heed_session_run(v.session, NULL, &error));
  assert_true(heed_vulkan_submission_count(v.backend) > before + 5);
  assert_memory_equal(whole, cut, count * sizeof *cut);
  release(&v);
}

/* A last layer of the tokens alone that the classifier reads gives the numbers of the whole. */
static void test_classes_only(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (int half = is_cooperative(); half < 2; half++) {
    heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
    desc.precision = half ? HEED_VULKAN_PRECISION_F16 : HEED_VULKAN_PRECISION_F32;
    float logits[2][MOST_LOGITS];
    uint64_t arena[2], count = 0;
    for (int only = 0; only < 2; only++) {
      vit v;
      heed_memory memory;
      load(&v, "micro_32");
      count = heed_safetensors_find(v.io, "expect.logits")->count;
      run(&v, &desc, only, logits[only], count);
      heed_plan_memory(v.plan, &memory);
      arena[only] = memory.arena;
      release(&v);
    }
    assert_true(arena[1] <= arena[0]);
    for (uint64_t i = 0; i < count; i++)
      if (!(fabsf(logits[1][i] - logits[0][i]) <=
            (half ? 2e-3f : 1e-5f) * (1.0f + fabsf(logits[0][i]))))
        fail_msg("logit %llu: found %g, of the whole %g", (unsigned long long)i,
                 (double)logits[1][i], (double)logits[0][i]);
  }
}

#define MANY 200 /* pictures */

static const float *expected(const vit *v, const char *name, uint64_t *count) {
  const heed_safetensors_tensor *tensor = heed_safetensors_find(v->io, name);
  float *values = malloc((size_t)tensor->count * sizeof *values);
  heed_error error;
  assert_non_null(values);
  assert_ok(heed_safetensors_read(v->io, tensor, 0, tensor->count, values, &error));
  *count = tensor->count;
  return values;
}

/* The vector's pictures over and over: a value of the graph against what the vector has for one
 * round. */
static void check_many(const vit *v, const char *value, const char *name, double tolerance) {
  heed_error error;
  uint64_t count;
  const float *want = expected(v, name, &count);
  float *found = malloc((size_t)count * (MANY / 2) * sizeof *found);
  assert_non_null(found);
  assert_ok(heed_session_read(v->session, heed_graph_find(v->graph, value), 0, count * (MANY / 2),
                              found, &error));
  for (uint64_t i = 0; i < count * (MANY / 2); i++)
    if (!(fabs((double)found[i] - (double)want[i % count]) <=
          tolerance * (1.0 + fabs((double)want[i % count]))))
      fail_msg("%s: element %llu: found %g, expected %g", value, (unsigned long long)i,
               (double)found[i], (double)want[i % count]);
  free(found);
  free((void *)(uintptr_t)want);
}

/* A batch whose values are larger than a binding may be runs in pieces: the hidden layer takes 250
 * KiB in fp32, a query 125, the pictures 2400. */
static void test_ranges(void **state) {
  (void)state;
  vulkan_test_need_device();
  for (int half = is_cooperative(); half < 2; half++) {
    heed_error error;
    vit v;
    uint32_t dispatches = 0;
    heed_vulkan_test played = {0};
    heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
    desc.test = &played;
    desc.precision = half ? HEED_VULKAN_PRECISION_F16 : HEED_VULKAN_PRECISION_F32;
    played.range_limit =
        half ? 50 << 10 : 100 << 10; /* the weight of the patches takes 48 and 96 */
    load(&v, "micro_32");
    const heed_safetensors_tensor *pixels = heed_safetensors_find(v.io, "pixel_values");
    const heed_build_desc build = {.struct_size = sizeof build, .batch = MANY};
    assert_ok(heed_vulkan_backend_create(v.context, &desc, &v.backend, &error));
    assert_ok(heed_model_build(v.model, &build, &v.graph, &error));
    const heed_value tap = heed_graph_find(v.graph, "layer.1.attention.weights");
    const heed_plan_desc plan = {.struct_size = sizeof plan, .taps = &tap, .tap_count = 1};
    assert_ok(heed_plan_create(v.graph, v.backend, &plan, &v.plan, &error));
    for (uint32_t i = 0; i < heed_plan_step_count(v.plan); i++) {
      heed_plan_step step;
      heed_plan_step_info(v.plan, i, &step);
      dispatches += step.dispatches;
    }
    assert_true(dispatches > 3 * heed_plan_step_count(v.plan));
    assert_ok(heed_session_create(v.plan, NULL, &v.session, &error));
    char *many = malloc((size_t)pixels->bytes * (MANY / 2));
    assert_non_null(many);
    for (size_t i = 0; i < MANY / 2; i++)
      memcpy(many + i * pixels->bytes, v.bytes[2] + pixels->offset, (size_t)pixels->bytes);
    assert_ok(heed_session_write(v.session, heed_graph_find(v.graph, "pixel_values"), many,
                                 (size_t)pixels->bytes * (MANY / 2), &error));
    free(many);
    assert_ok(heed_session_run(v.session, NULL, &error));
    check_many(&v, "logits", "expect.logits", half ? 2e-3 : 1e-4);
    check_many(&v, "layer.1.attention.weights", "expect.attention.1", half ? 2e-3 : 1e-4);
    release(&v);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_micro),  cmocka_unit_test(test_families),
      cmocka_unit_test(test_small),  cmocka_unit_test(test_submissions),
      cmocka_unit_test(test_ranges), cmocka_unit_test(test_classes_only)};
  /* no device rounds like this any more: the bound is that of the ViTs alone */
  const struct CMUnitTest truncated[] = {cmocka_unit_test(test_micro),
                                         cmocka_unit_test(test_small)};
  if (getenv("HEED_VULKAN_TRUNCATES")) return cmocka_run_group_tests(truncated, NULL, NULL);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
