/* Gradients and relevance of every family of models: the gradient of the pixels along a random
 * direction against the five-point rule, and sums that hold of any map. Elements are compared with
 * float64 autograd in test_explain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/op_test.h"
#include "support/vector_file.h"

static heed_error error;

static const struct {
  const char *folder, *config;
} families[] = {
#define VIT_VECTOR(folder, config) {#folder, config},
#include "vit_vectors.h"
#undef VIT_VECTOR
};
enum { FAMILIES = sizeof families / sizeof *families, FILES = 2 };

typedef struct opened {
  const char *folder;
  unsigned char *bytes[FILES];
  heed_model *model;
  heed_model_info info;
  heed_shape shape;
  float *pixels, *vector;
} opened;

static void open_family(opened *o, uint32_t index) {
  const char *const names[FILES] = {"model.safetensors", families[index].config};
  heed_model_file files[FILES];
  char path[128];
  *o = (opened){.folder = families[index].folder};
  for (uint32_t i = 0; i < FILES && names[i]; i++) {
    size_t size;
    snprintf(path, sizeof path, "vit/%s/%s", o->folder, names[i]);
    o->bytes[i] = test_read_vector(path, &size);
    files[i] = (heed_model_file){names[i], {size, o->bytes[i], NULL, NULL}};
  }
  const heed_model_desc desc = {sizeof desc, files, names[1] ? 2 : 1, HEED_TOWER_VISION};
  assert_ok(heed_model_open(test_backend_context(), &desc, &o->model, &error));
  heed_model_get_info(o->model, &o->info);
  snprintf(path, sizeof path, "vit/%s/io_wide.safetensors", o->folder);
  vector_file io = vector_file_open(path);
  o->pixels = vector_file_read(&io, "pixel_values", HEED_F32, &o->shape);
  vector_file_close(&io);
  test_random random = {index + 1};
  o->vector = op_test_random(&random, o->info.width, 1.0f);
}

static void close_family(opened *o) {
  heed_model_destroy(o->model);
  free(o->pixels);
  free(o->vector);
  for (uint32_t i = 0; i < FILES; i++) free(o->bytes[i]);
}

static heed_status explain(const opened *o, const float *pixels, const char *methods,
                           const char *target, heed_explanation **made) {
  const heed_named_tensor inputs[] = {
      {"pixel_values", HEED_F32, o->shape, pixels},
      {"target.vector", HEED_F32, HEED_SHAPE(o->info.width), o->vector}};
  const heed_explain_desc desc = {.struct_size = sizeof desc,
                                  .model = o->model,
                                  .backend = test_backend_get(0),
                                  .methods = methods,
                                  .target = target,
                                  .inputs = inputs,
                                  .input_count = 2};
  return heed_explain(test_backend_context(), &desc, made, &error);
}

static const float *find(const heed_explanation *explanation, const char *name, size_t *count) {
  const heed_named_tensor *tensor;
  *count = 0;
  for (uint32_t i = 0; (tensor = heed_explanation_get(explanation, i)) != NULL; i++)
    if (strcmp(tensor->name, name) == 0) {
      *count = (size_t)heed_shape_count(&tensor->shape);
      return tensor->data;
    }
  fail_msg("%s: missing", name);
  return NULL;
}

/* The sum of the pictures' scores. */
static double score_of(const opened *o, const float *pixels, const char *target) {
  heed_explanation *made;
  size_t count;
  double sum = 0.0;
  assert_ok(explain(o, pixels, "norms", target, &made));
  const float *score = find(made, "score", &count);
  for (size_t i = 0; i < count; i++) sum += (double)score[i];
  heed_explanation_destroy(made);
  return sum;
}

/* The slope of the score along a direction: the five-point rule. */
static double slope_of(const opened *o, const float *direction, double h, size_t count,
                       const char *target) {
  static const double weights[] = {1.0, -8.0, 0.0, 8.0, -1.0};
  double slope = 0.0;
  float *moved = op_test_zeros(count);
  for (int k = 0; k < 5; k++) {
    for (size_t i = 0; i < count; i++)
      moved[i] = (float)((double)o->pixels[i] + (k - 2) * h * (double)direction[i]);
    if (k != 2) slope += weights[k] * score_of(o, moved, target) / (12.0 * h);
  }
  free(moved);
  return slope;
}

/* Along a direction of normal numbers, gradient . direction is about as long as the gradient. A
 * step may cross a kink of ReLU; then a smaller one is asked, whose sums in F32 are rougher. */
static void check_direction(const opened *o, const heed_explanation *made, const char *target,
                            test_random *random) {
  static const double steps[] = {1e-3, 2.5e-4, 6e-5};
  size_t count;
  const float *gradient = find(made, "grad.pixel_values", &count);
  float *direction = op_test_random(random, count, 1.0f);
  double expected = 0.0, found = 0.0, length = 0.0;
  bool near = false;
  for (size_t i = 0; i < count; i++) {
    found += (double)gradient[i] * (double)direction[i];
    length += (double)gradient[i] * (double)gradient[i];
  }
  for (size_t i = 0; i < sizeof steps / sizeof *steps && !near; i++) {
    expected = slope_of(o, direction, steps[i], count, target);
    near = fabs(found - expected) <= 5e-3 * sqrt(length) + 2e-4;
  }
  if (!near)
    fail_msg("%s: along a direction the gradient is %.7g, the difference %.7g, its length %.7g",
             o->folder, found, expected, sqrt(length));
  free(direction);
}

/* The rows of a rollout sum to 1, unless the score reads nothing; a relevancy is not negative. */
static void check_sums(const opened *o, const heed_explanation *made) {
  size_t count;
  const float *rollout = find(made, "rollout.gradient", &count),
              *relevancy = find(made, "relevancy.chefer", &count);
  const size_t tokens = count / o->shape.dim[0];
  for (uint32_t b = 0; b < o->shape.dim[0]; b++) {
    double sum = 0.0;
    for (size_t t = 0; t < tokens; t++) sum += (double)rollout[b * tokens + t];
    if (!(fabs(sum - 1.0) <= 1e-5 || sum == 0.0)) fail_msg("%s: %.7g", o->folder, sum);
  }
  for (size_t i = 0; i < count; i++)
    if (!(relevancy[i] >= 0.0f)) fail_msg("%s: relevancy %.7g", o->folder, (double)relevancy[i]);
}

static void test_families(void **state) {
  (void)state;
  assert_true(test_backend_count() > 0);
  for (uint32_t i = 0; i < FAMILIES; i++) {
    opened o;
    heed_explanation *made = NULL;
    test_random random = {1};
    open_family(&o, i);
    for (const char *at = o.folder; *at; at++) random.state = random.state * 31 + (uint64_t)*at;
    const char *target = o.info.classes ? "0" : "vector";
    heed_status status =
        explain(&o, o.pixels, "grad,relevancy,gradient_rollout,attnlrp,cplrp", target, &made);
    if (status == HEED_UNSUPPORTED && strstr(error.message, "no pooler_output")) {
      target = "layer.0.output[1,2]"; /* a model that gives states alone */
      status =
          explain(&o, o.pixels, "grad,relevancy,gradient_rollout,attnlrp,cplrp", target, &made);
    }
    if (o.info.frames) { /* of videos, which are refused */
      assert_int_equal(status, HEED_UNSUPPORTED);
      assert_non_null(strstr(error.message, "a model of videos is not supported"));
      close_family(&o);
      continue;
    }
    if (status != HEED_OK) fail_msg("%s: %s", o.folder, error.message);
    check_direction(&o, made, target, &random);
    check_sums(&o, made);
    heed_explanation_destroy(made);
    close_family(&o);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_families)};
  return cmocka_run_group_tests_name("explain_gradients", tests, NULL, test_backend_close_all);
}
