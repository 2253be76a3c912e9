/* Whole ViTs whose weights are int8: on Vulkan against the CPU, which quantises rows alike, and
 * each way of multiplying against the others. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heed/vulkan_test.h"
#include "model/files/safetensors.h"
#include "support/test.h"
#include "vulkan/vulkan_test.h"

#define MOST_LOGITS 64

typedef struct bytes {
  unsigned char *at;
  size_t count;
} bytes;

typedef struct subject {
  heed_context *context;
  bytes config, io, weights; /* weights: in int8 */
  heed_safetensors *tensors; /* of io */
  heed_model *model, *floats;
} subject;

typedef struct result {
  float logits[MOST_LOGITS];
  float *map; /* of layer 1 */
  uint64_t logit_count, map_count, weights;
} result;

static heed_status take(void *user, const void *from, size_t count, heed_error *error) {
  bytes *to = user;
  (void)error;
  to->at = realloc(to->at, to->count + count);
  assert_non_null(to->at);
  memcpy(to->at + to->count, from, count);
  to->count += count;
  return HEED_OK;
}

static heed_model *open_model(subject *s, const bytes *weights) {
  heed_error error;
  heed_model *model;
  const heed_model_file files[] = {{"model.safetensors", {weights->count, weights->at, NULL, NULL}},
                                   {"config.json", {s->config.count, s->config.at, NULL, NULL}}};
  const heed_model_desc desc = {sizeof desc, files, 2};
  assert_ok(heed_model_open(s->context, &desc, &model, &error));
  return model;
}

static bytes read_file(const char *folder, const char *name) {
  char path[128];
  bytes file;
  snprintf(path, sizeof path, "vit/%s/%s", folder, name);
  file.at = test_read_vector(path, &file.count);
  return file;
}

static void load(subject *s, const char *folder, bytes *whole) {
  heed_error error;
  memset(s, 0, sizeof *s);
  assert_ok(heed_context_create(NULL, &s->context, &error));
  *whole = read_file(folder, "model.safetensors");
  s->config = read_file(folder, "config.json");
  s->io = read_file(folder, "io.safetensors");
  s->floats = open_model(s, whole);
  const heed_convert_desc desc = {sizeof desc, HEED_STORAGE_INT8, NULL, take, &s->weights};
  assert_ok(heed_model_convert(s->floats, &desc, NULL, &error));
  s->model = open_model(s, &s->weights);
  const heed_source source = {s->io.count, s->io.at, NULL, NULL};
  assert_ok(heed_safetensors_open(s->context, &source, "io", &s->tensors, &error));
}

static void release(subject *s, bytes *whole) {
  heed_safetensors_destroy(s->tensors);
  heed_model_destroy(s->model);
  heed_model_destroy(s->floats);
  free(whole->at);
  free(s->config.at);
  free(s->io.at);
  free(s->weights.at);
  heed_context_destroy(s->context);
}

static void read(heed_session *session, heed_value value, float *to, uint64_t count) {
  heed_error error;
  assert_ok(heed_session_read(session, value, 0, count, to, &error));
}

/* Logits, a map and the bytes of the weights. */
static result run(const subject *s, const heed_model *model, heed_backend *backend) {
  heed_error error;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_memory memory;
  result r = {.map = NULL};
  const heed_safetensors_tensor *pixels = heed_safetensors_find(s->tensors, "pixel_values");
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = pixels->shape.dim[0],
                                 .height = pixels->shape.dim[2],
                                 .width = pixels->shape.dim[3]};
  assert_ok(heed_model_build(model, &build, &graph, &error));
  const heed_value map = heed_graph_find(graph, "layer.1.attention.weights");
  const heed_plan_desc taps = {.struct_size = sizeof taps, .taps = &map, .tap_count = 1};
  assert_ok(heed_plan_create(graph, backend, &taps, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_write(session, heed_graph_find(graph, "pixel_values"),
                               s->io.at + pixels->offset, (size_t)pixels->bytes, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  r.logit_count = heed_safetensors_find(s->tensors, "expect.logits")->count;
  r.map_count = heed_safetensors_find(s->tensors, "expect.attention.1")->count;
  r.map = malloc((size_t)r.map_count * sizeof *r.map);
  assert_true(r.map && r.logit_count <= MOST_LOGITS);
  read(session, heed_graph_find(graph, "logits"), r.logits, r.logit_count);
  read(session, map, r.map, r.map_count);
  heed_plan_memory(plan, &memory);
  r.weights = memory.weights;
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  return r;
}

static result run_vulkan(const subject *s, const heed_model *model, uint32_t integer_dot,
                         bool gpu_kernels) {
  heed_error error;
  heed_backend *backend;
  const heed_vulkan_test played = {.integer_dot = integer_dot, .gpu_kernels = gpu_kernels};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.tier = HEED_VULKAN_TIER_FLOOR;
  desc.validate = HEED_VULKAN_VALIDATE_SYNC;
  assert_ok(heed_vulkan_backend_create(s->context, &desc, &backend, &error));
  const result r = run(s, model, backend);
  assert_int_equal(heed_vulkan_message_count(backend), 0);
  heed_backend_destroy(backend);
  return r;
}

static double far_apart(const float *a, const float *b, uint64_t count) {
  double most = 0.0, largest = 0.0;
  for (uint64_t i = 0; i < count; i++) {
    assert_true(isfinite(a[i]) && isfinite(b[i]));
    most = fmax(most, fabs((double)a[i] - (double)b[i]));
    largest = fmax(largest, fabs((double)b[i]));
  }
  return most / largest;
}

/* Sums of whole numbers are the same, so equal rows give equal results, up to fp32's rounding
 * behind them. Norms, softmax and activations round in other ways than the CPU's. Where a number
 * then lies on the other side of the middle of two steps, it moves by a step, 1/255 of its row's
 * range, and what follows moves with it: so do the CPU's own levels differ. What int8 costs against
 * fp32 is half a step at every number; a step at some of them has to stay below that. The small
 * model has so few numbers that none moves. */
#define ROUNDING 1e-6

typedef struct distance {
  double logits, map;
} distance;

static distance measure(const result *a, const result *b) {
  return (distance){far_apart(a->logits, b->logits, b->logit_count),
                    far_apart(a->map, b->map, b->map_count)};
}

static result run_cpu(const subject *s, const heed_model *model) {
  heed_error error;
  heed_backend *cpu;
  assert_ok(heed_cpu_backend_create(s->context, NULL, &cpu, &error));
  const result r = run(s, model, cpu);
  heed_backend_destroy(cpu);
  return r;
}

/* most: how far from the CPU; 0: as far as int8 is from fp32. */
static void check(const char *folder, double most) {
  subject s;
  bytes whole;
  load(&s, folder, &whole);
  result want = run_cpu(&s, s.model), floats = run_cpu(&s, s.floats), found[3];
  const distance cost = measure(&want, &floats);
  for (uint32_t way = 0; way < 3; way++) {
    found[way] = run_vulkan(&s, s.model, way == 2 ? 2 : 1, way > 0);
    const distance off = measure(&found[way], &want);
    printf("%s, way %u: logits off by %.3g (int8 itself %.3g), map by %.3g (%.3g)\n", folder, way,
           off.logits, cost.logits, off.map, cost.map);
    assert_true(off.logits <= (most > 0.0 ? most : cost.logits));
    assert_true(off.map <= (most > 0.0 ? most : cost.map));
  }
  /* floats hold the sums of these models: the bits are those of the dot products */
  assert_memory_equal(found[1].logits, found[2].logits, want.logit_count * sizeof(float));
  assert_memory_equal(found[1].map, found[2].map, (size_t)want.map_count * sizeof(float));
  result large = run_vulkan(&s, s.floats, 1, false);
  printf("%s: weights take %llu bytes, of %llu in fp32\n", folder,
         (unsigned long long)found[0].weights, (unsigned long long)large.weights);
  assert_true(found[0].weights < large.weights);
  for (uint32_t way = 0; way < 3; way++) free(found[way].map);
  free(large.map);
  free(want.map);
  free(floats.map);
  release(&s, &whole);
}

static void test_micro(void **state) {
  (void)state;
  vulkan_test_need_device();
  check("micro_32", ROUNDING);
}

static void test_small(void **state) {
  (void)state;
  vulkan_test_need_device();
  check("small_224", 0.0);
}

/* The kernel of the first product with weights in int8. */
static void expect_kernel(const subject *s, uint32_t wrong, const char *name) {
  heed_error error;
  heed_backend *backend;
  heed_graph *graph;
  heed_plan *plan;
  bool found = false;
  const heed_vulkan_test played = {.integer_dot = 2, .gpu_kernels = true, .wrong_int8 = wrong};
  const heed_build_desc build = {.struct_size = sizeof build};
  heed_vulkan_desc desc = HEED_VULKAN_DESC_INIT;
  desc.test = &played;
  desc.tier = HEED_VULKAN_TIER_FLOOR;
  assert_ok(heed_vulkan_backend_create(s->context, &desc, &backend, &error));
  assert_ok(heed_model_build(s->model, &build, &graph, &error));
  assert_ok(heed_plan_create(graph, backend, NULL, &plan, &error));
  for (uint32_t i = 0; i < heed_plan_step_count(plan); i++) {
    heed_plan_step step;
    heed_plan_step_info(plan, i, &step);
    for (uint32_t k = 0; k < step.kernel_count; k++) {
      if (strncmp(step.kernel[k].name, "linear_int8", 11) != 0) continue;
      assert_string_equal(step.kernel[k].name, name);
      found = true;
    }
  }
  assert_true(found);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_backend_destroy(backend);
}

/* A kernel that the check finds wrong is not used. */
static void test_fall_back(void **state) {
  (void)state;
  subject s;
  bytes whole;
  vulkan_test_need_device();
  load(&s, "micro_32", &whole);
  expect_kernel(&s, 0, "linear_int8_dot");
  expect_kernel(&s, 1, "linear_int8");
  release(&s, &whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_micro), cmocka_unit_test(test_small),
                                     cmocka_unit_test(test_fall_back)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
