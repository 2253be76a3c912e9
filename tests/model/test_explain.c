/* heed_explain against reference cases in float64 (tests/vectors/explain) on every backend present,
 * and by what must hold of any model: parts of a ledger add up to the score, the lens of the token
 * that is read is the score, results are the same bits for any number of threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "explain_files.h"

/* what the reference cases of deletion, insertion and road were made with */
static const double percent[] = {10.0, 30.0, 50.0, 70.0, 90.0};
enum { STEPS = 4, PERCENTAGES = sizeof percent / sizeof *percent, PARTS = 5 };

/* Files of one run: its inputs, and what some methods give. */
static const struct explain_case {
  const char *model, *io, *target;
  int layer;
  uint32_t ig_steps, flip_pixels;
  const char *parts[PARTS];
} cases[] = {
    {"hf_vit", "hf_vit", "2", NONE, 8, 64, {"", ".gradient", ".maps", ".pixels", ".judge"}},
    {"hf_vit", "hf_vit.difference", "1-4", NONE, 0, 0, {"", ".gradient", ".maps"}},
    {"hf_vit", "hf_vit.state", "layer.1.output[5,10]", NONE, 8, 0, {"", ".gradient", ".pixels"}},
    {"hf_deit_distilled",
     "hf_deit_distilled",
     "3",
     NONE,
     8,
     64,
     {"", ".gradient", ".maps", ".pixels", ".judge"}},
    {"timm_avg_fc_norm",
     "timm_avg_fc_norm",
     "4",
     NONE,
     8,
     49,
     {"", ".gradient", ".maps", ".pixels", ".judge"}},
    {"timm_reg4_qk_norm",
     "timm_reg4_qk_norm",
     "0",
     NONE,
     8,
     0,
     {"", ".gradient", ".maps", ".pixels", ".judge"}},
    {"hf_dinov2_registers",
     "hf_dinov2_registers",
     "1",
     NONE,
     8,
     49,
     {"", ".gradient", ".maps", ".pixels", ".judge"}},
    {"hf_dinov2_registers", "hf_dinov2_registers.layer", "1", 0, 0, 0, {""}},
    {"hf_dinov3_gated",
     "hf_dinov3_gated",
     "vector",
     NONE,
     8,
     64,
     {"", ".gradient", ".maps", ".pixels", ".judge"}},
    {"hf_dinov3_gated", "hf_dinov3_gated.other_grid", "vector", NONE, 0, 0, {""}},
    {"timm_eva02", "timm_eva02", "2", NONE, 8, 0, {"", ".gradient", ".maps", ".pixels", ".judge"}},
    {"hf_beit", "hf_beit", "0", NONE, 8, 0, {"", ".gradient", ".maps", ".pixels", ".judge"}},
    {"hf_clip", "hf_clip", "2", NONE, 8, 64, {"", ".gradient", ".maps", ".pixels", ".judge"}},
    {"hf_clip", "hf_clip.difference", "0-2", NONE, 0, 0, {"", ".gradient", ".maps"}},
    {"hf_siglip",
     "hf_siglip",
     "vector",
     NONE,
     8,
     0,
     {"", ".gradient", ".maps", ".pixels", ".judge"}}};
enum { CASES = sizeof cases / sizeof *cases };

/* Elsewhere only the reference cases are run: the rest is the same whatever runs it. */
static bool is_cpu(void) {
  return test_backend_count() && strncmp(test_backend_name(0), "vulkan", 6) != 0;
}

/* ------------------------------------------------------------------------------ reference cases */

/* The method that gives a tensor: what stands before the dot, or after "text.". */
static void method_of(const char *tensor, char *method, size_t size) {
  if (strcmp(tensor, "match") == 0) tensor = "similarity";
  if (strcmp(tensor, "rollout.gradient") == 0) tensor = "gradient_rollout";
  if (strncmp(tensor, "text.", 5) == 0) tensor += 5;
  snprintf(method, size, "%.*s", (int)strcspn(tensor, "."), tensor);
}

/* The expected tensor, its name without "expect."; NULL: this one is no such. */
static const char *expected_name(const vector_file *io, uint32_t index) {
  const char *name = heed_safetensors_get(io->file, index)->name;
  return strncmp(name, "expect.", 7) == 0 ? name + 7 : NULL;
}

/* Vulkan sums in another order; components rest on gaps of eigenvalues. */
static double tolerance_of(const heed_backend *backend, const char *name) {
  if (strcmp(heed_backend_name(backend), "cpu") == 0) return 2e-5;
  return strncmp(name, "pca.", 4) == 0 ? 1e-3 : 1e-4;
}

/* ig.delta is a difference of scores: beside them it may be next to nothing. */
static double unit_of(const vector_file *io, const char *name) {
  heed_shape shape;
  double largest = 0.0;
  if (strcmp(name, "ig.delta") != 0) return largest;
  float *score = vector_file_read(io, "expect.score", HEED_F32, &shape);
  for (size_t i = 0; i < (size_t)heed_shape_count(&shape); i++)
    largest = fmax(largest, fabs((double)score[i]));
  free(score);
  return largest;
}

static void compare(const struct explain_case *c, const vector_file *io, const char *name,
                    const heed_backend *backend, const heed_named_tensor *found) {
  char key[80];
  heed_shape shape;
  snprintf(key, sizeof key, "expect.%s", name);
  if (!found) fail_msg("%s: %s is missing", c->io, name);
  if (found->dtype != HEED_F32) {
    void *want = vector_file_read(io, key, found->dtype, &shape);
    assert_true(heed_shape_equal(&shape, &found->shape));
    assert_memory_equal(found->data, want,
                        (size_t)heed_shape_count(&shape) * heed_dtype_size(found->dtype));
    free(want);
    return;
  }
  const float *numbers = found->data;
  float *want = vector_file_read(io, key, HEED_F32, &shape);
  const size_t count = (size_t)heed_shape_count(&shape);
  assert_true(heed_shape_equal(&shape, &found->shape));
  double largest = unit_of(io, name), worst = 0.0;
  for (size_t i = 0; i < count; i++) {
    const double off = fabs((double)numbers[i] - (double)want[i]);
    largest = fmax(largest, fabs((double)want[i]));
    if (!(off <= worst)) worst = off;
  }
  if (!(worst <= tolerance_of(backend, name) * largest))
    fail_msg("%s on %s: %s is off by %g of the largest (expected at most %g)", c->io,
             heed_backend_device(backend), name, worst / largest, tolerance_of(backend, name));
  free(want);
}

static heed_explanation *explain(const struct explain_case *c, const opened *o, const inputs *in,
                                 heed_backend *backend, const char *methods) {
  heed_explanation *explanation = NULL;
  const heed_explain_desc desc = {.struct_size = sizeof desc,
                                  .model = o->model,
                                  .text = o->text,
                                  .backend = backend,
                                  .methods = methods,
                                  .target = c->target,
                                  .layer_given = c->layer != NONE,
                                  .layer = c->layer == NONE ? 0 : (uint32_t)c->layer,
                                  .ig_steps = c->ig_steps,
                                  .inputs = in->tensor,
                                  .input_count = in->count,
                                  .steps = STEPS,
                                  .flip_pixels = c->flip_pixels,
                                  .percent = percent,
                                  .percent_count = PERCENTAGES};
  assert_ok(heed_explain(test_backend_context(), &desc, &explanation, &error));
  return explanation;
}

/* Whether these methods give the tensor; the score comes with any. */
static bool gives(const char *methods, const char *tensor) {
  char method[32];
  method_of(tensor, method, sizeof method);
  if (strcmp(method, "score") == 0) return true;
  for (;; methods++) {
    const size_t length = strcspn(methods, ",");
    if (length == strlen(method) && strncmp(methods, method, length) == 0) return true;
    methods += length;
    if (!*methods) return false;
  }
}

static void check_methods(const struct explain_case *c, const opened *o, const inputs *in,
                          const vector_file *io, heed_backend *backend, const char *methods) {
  heed_explanation *explanation = explain(c, o, in, backend, methods);
  for (uint32_t i = 0; i < heed_safetensors_count(io->file); i++) {
    const char *name = expected_name(io, i);
    if (name && gives(methods, name)) compare(c, io, name, backend, find_result(explanation, name));
  }
  heed_explanation_destroy(explanation);
}

/* "ledger,lens,norms": the methods whose tensors the file expects. Where it expects the score
 * alone, one that any model has. */
static void list_methods(const vector_file *io, char *list, size_t size) {
  list[0] = '\0';
  for (uint32_t i = 0; i < heed_safetensors_count(io->file); i++) {
    const char *name = expected_name(io, i);
    char method[32];
    if (!name || strcmp(name, "score") == 0 || gives(list, name)) continue;
    method_of(name, method, sizeof method);
    snprintf(list + strlen(list), size - strlen(list), "%s%s", *list ? "," : "", method);
  }
  if (!*list) snprintf(list, size, "norms");
}

static void check_part(const struct explain_case *c, const char *part) {
  char path[128], folder[64], all[256], one[32];
  opened o;
  inputs in;
  snprintf(folder, sizeof folder, "explain/%s", c->model);
  snprintf(path, sizeof path, "explain/io/%s%s.safetensors", c->io, part);
  vector_file io = vector_file_open(path);
  open_model(&o, folder, "config.json", heed_safetensors_find(io.file, "input_ids") != NULL);
  read_inputs(&io, &in);
  list_methods(&io, all, sizeof all);
  for (uint32_t i = 0; i < test_backend_count(); i++)
    check_methods(c, &o, &in, &io, test_backend_get(i), all);
  /* each method alone; a device would compile its kernels again and again */
  for (const char *at = is_cpu() ? all : ""; *at;
       at += at[strcspn(at, ",")] ? strcspn(at, ",") + 1 : strlen(at)) {
    snprintf(one, sizeof one, "%.*s", (int)strcspn(at, ","), at);
    check_methods(c, &o, &in, &io, test_backend_get(0), one);
  }
  free_inputs(&in);
  close_model(&o);
  vector_file_close(&io);
}

static void test_cases(void **state) {
  (void)state;
  for (uint32_t i = 0; i < CASES; i++)
    for (uint32_t k = 0; k < PARTS && cases[i].parts[k]; k++)
      check_part(&cases[i], cases[i].parts[k]);
}

/* --------------------------------------------------------------------------------- every family */

static const struct {
  const char *folder, *config;
} families[] = {
#define VIT_VECTOR(folder, config) {#folder, config},
#include "vit_vectors.h"
#undef VIT_VECTOR
};
enum { FAMILIES = sizeof families / sizeof *families };

/* Adds a result's part of picture b; keeps the largest term. */
static double sum_part(const heed_explanation *explanation, const char *name, uint32_t batch,
                       uint32_t b, double *largest) {
  size_t count;
  double sum = 0.0;
  if (!find_result(explanation, name)) return 0.0; /* ledger.pool, without a pooling attention */
  const float *numbers = floats(explanation, name, &count);
  count /= batch;
  for (size_t i = 0; i < count; i++) {
    sum += (double)numbers[b * count + i];
    *largest = fmax(*largest, fabs((double)numbers[b * count + i]));
  }
  return sum;
}

/* Both sums of a ledger give the score, within 1e-5 of the largest term. */
static void check_sums(const heed_explanation *explanation, const char *folder, uint32_t layers) {
  size_t batch, count;
  const float *score = floats(explanation, "score", &batch),
              *bias = floats(explanation, "ledger.bias", &count);
  for (uint32_t b = 0; b < batch; b++) {
    static const char *const parts[] = {"ledger.heads", "ledger.mlps", "ledger.embeddings",
                                        "ledger.bias", "ledger.pool"};
    double largest = 0.0, sum = 0.0, most = 0.0,
           read = (double)bias[b * (layers + 1) + layers] +
                  sum_part(explanation, "ledger.tokens", (uint32_t)batch, b, &most) +
                  sum_part(explanation, "ledger.pool", (uint32_t)batch, b, &most);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
      sum += sum_part(explanation, parts[i], (uint32_t)batch, b, &largest);
    if (!(fabs(sum - (double)score[b]) <= 1e-5 * largest) ||
        !(fabs(read - (double)score[b]) <= 1e-5 * fmax(most, largest)))
      fail_msg("%s: picture %u: parts add up to %.9g and %.9g, the score is %.9g, the largest part "
               "is %.9g",
               folder, b, sum, read, (double)score[b], largest);
  }
}

/* What a read-out takes of the lens of the last level: one token, two, or a mean. */
static bool lens_reads(const float *lens, uint32_t tokens, uint32_t prefix, double score) {
  double all = 0.0, patches = 0.0, largest = fabs(score);
  for (uint32_t t = 0; t < tokens; t++) {
    all += (double)lens[t] / tokens;
    if (t >= prefix) patches += (double)lens[t] / (tokens - prefix);
    largest = fmax(largest, fabs((double)lens[t]));
  }
  const double two = tokens > 1 ? ((double)lens[0] + (double)lens[1]) / 2 : score;
  const double off = fmin(fmin(fabs((double)lens[0] - score), fabs(two - score)),
                          fmin(fabs(all - score), fabs(patches - score)));
  return off <= 1e-5 * largest;
}

/* Whether the score is what the lens says of the tokens that are read. */
static bool check_lens(const heed_explanation *explanation, const heed_model_info *info) {
  size_t batch, count;
  const float *score = floats(explanation, "score", &batch),
              *lens = floats(explanation, "lens", &count);
  const uint32_t tokens = (uint32_t)(count / batch / (info->layers + 1));
  bool all = true;
  for (uint32_t b = 0; b < batch; b++)
    all = all && lens_reads(lens + ((size_t)(b + 1) * (info->layers + 1) - 1) * tokens, tokens,
                            info->prefix_tokens, (double)score[b]);
  return all;
}

/* A model without a classifier has the score that a vector makes of pooler_output, if any. */
static heed_status explain_family(const opened *o, inputs *in, heed_explanation **explanation) {
  heed_explain_desc desc = {.struct_size = sizeof desc,
                            .model = o->model,
                            .backend = test_backend_get(0),
                            .methods = "ledger,lens",
                            .target = o->info.classes ? NULL : "vector",
                            .inputs = in->tensor,
                            .input_count = in->count};
  return heed_explain(test_backend_context(), &desc, explanation, &error);
}

/* Read-outs that norm a mean of states, or pool them by attention: no lens of a token is their
 * score. */
static bool gathers(const char *folder) {
  return heed_list_has(
      "beit|beit_original|data2vec|eva02|eva02_map|eva02_unfused|own_linear|pe_core|"
      "pe_core_original|rope_registers|siglip|siglip2|timm_beit|timm_beit_shared|"
      "timm_eva_giant|timm_gap|timm_map|timm_map_registers|timm_siglip_trunk",
      folder);
}

/* Those whose classifier has a hidden layer. */
static bool has_hidden_layer(const char *folder) {
  return strcmp(folder, "own_after") == 0 || strcmp(folder, "vit_pytorch_2020") == 0;
}

static void check_family(const char *folder, const opened *o, inputs *in) {
  heed_explanation *explanation = NULL;
  const heed_status status = explain_family(o, in, &explanation);
  if (status == HEED_OK) {
    check_sums(explanation, folder, o->info.layers);
    if (check_lens(explanation, &o->info) == gathers(folder))
      fail_msg("%s: the lens of what is read is%s the score", folder,
               gathers(folder) ? "" : " not");
    heed_explanation_destroy(explanation);
    return;
  }
  assert_int_equal(status, HEED_UNSUPPORTED);
  const char *reason = has_hidden_layer(folder) ? "not linear" : "no pooler_output";
  if (!strstr(error.message, reason) || (o->info.classes && !has_hidden_layer(folder)))
    fail_msg("%s: %s", folder, error.message);
}

static void test_families(void **state) {
  (void)state;
  for (uint32_t i = 0; i < FAMILIES; i++) {
    char path[128], folder[96];
    opened o;
    inputs in = {.count = 0};
    heed_shape shape;
    snprintf(folder, sizeof folder, "vit/%s", families[i].folder);
    snprintf(path, sizeof path, "%s/io_wide.safetensors", folder);
    vector_file io = vector_file_open(path);
    open_model(&o, folder, families[i].config, false);
    float *pixels = vector_file_read(&io, "pixel_values", HEED_F32, &shape);
    take_input(&in, "pixel_values", HEED_F32, shape, pixels);
    test_random random = {i + 1};
    float *vector = malloc(o.info.width * sizeof *vector);
    for (uint32_t c = 0; c < o.info.width; c++) vector[c] = test_random_normal(&random);
    take_input(&in, "target.vector", HEED_F32, HEED_SHAPE(o.info.width), vector);
    if (!o.info.frames) check_family(families[i].folder, &o, &in); /* videos are refused */
    free_inputs(&in);
    close_model(&o);
    vector_file_close(&io);
  }
}

/* -------------------------------------------------------------------------- one model of two
 * pictures */

#define GRADIENTS                                                                        \
  "grad,gradcam,attention_gradient,gradient_rollout,relevancy,inputxgrad,ig,smoothgrad," \
  "cplrp,attnlrp,atp"

static heed_explanation *explain_pictures(const two_pictures *t, heed_backend *backend,
                                          const char *target) {
  heed_explanation *explanation;
  heed_explain_desc desc = desc_of(t, backend, target);
  desc.methods = "norms,lens,ledger," GRADIENTS;
  desc.ig_steps = 2;
  assert_ok(heed_explain(test_backend_context(), &desc, &explanation, &error));
  return explanation;
}

#define JUDGES "attention,deletion,insertion,flipping,road,localisation,spearman"

static void check_threads(const two_pictures *t, const char *methods) {
  heed_explanation *made[2];
  heed_backend *backends[2];
  for (uint32_t i = 0; i < 2; i++) {
    const heed_cpu_desc cpu = {sizeof cpu, i ? 3 : 1, NULL};
    assert_ok(heed_cpu_backend_create(test_backend_context(), &cpu, &backends[i], &error));
    heed_explain_desc desc = desc_of(t, backends[i], NULL);
    desc.methods = methods;
    desc.ig_steps = 2;
    desc.flip_pixels = 100;
    assert_ok(heed_explain(test_backend_context(), &desc, &made[i], &error));
  }
  check_same(made);
  for (uint32_t i = 0; i < 2; i++) heed_backend_destroy(backends[i]);
}

static void test_threads(void **state) {
  (void)state;
  two_pictures t;
  open_pictures(&t);
  check_threads(&t, "norms,lens,ledger," GRADIENTS);
  close_pictures(&t);
  open_judged(&t);
  check_threads(&t, JUDGES);
  close_pictures(&t);
}

/* What explains N-M is what explains N less what explains M. */
static void test_difference(void **state) {
  (void)state;
  two_pictures t;
  open_pictures(&t);
  heed_explanation *both = explain_pictures(&t, test_backend_get(0), "4-1"),
                   *first = explain_pictures(&t, test_backend_get(0), "4"),
                   *second = explain_pictures(&t, test_backend_get(0), "1");
  static const char *const names[] = {"score",
                                      "ledger.heads",
                                      "ledger.mlps",
                                      "ledger.embeddings",
                                      "ledger.bias",
                                      "ledger.tokens",
                                      "lens",
                                      "grad.pixel_values",
                                      "grad.layer.0.output",
                                      "grad.attention.1",
                                      "inputxgrad",
                                      "ig",
                                      "smoothgrad",
                                      "cplrp.tokens",
                                      "attnlrp.tokens"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    size_t count;
    const float *a = floats(first, names[i], &count), *b = floats(second, names[i], &count),
                *found = floats(both, names[i], &count);
    for (size_t k = 0; k < count; k++)
      if (!(fabs((double)a[k] - (double)b[k] - (double)found[k]) <= 1e-5))
        fail_msg("%s %zu: found %.9g, expected %.9g", names[i], k, (double)found[k],
                 (double)a[k] - (double)b[k]);
  }
  heed_explanation_destroy(both);
  heed_explanation_destroy(first);
  heed_explanation_destroy(second);
  close_pictures(&t);
}

/* Without a target each picture has its own largest logit: that of no other is larger. */
static void test_largest(void **state) {
  (void)state;
  two_pictures t;
  open_pictures(&t);
  heed_explanation *largest = explain_pictures(&t, test_backend_get(0), NULL);
  size_t count;
  const float *score = floats(largest, "score", &count);
  bool reached[2] = {false, false};
  assert_int_equal(count, 2);
  for (uint32_t n = 0; n < t.o.info.classes; n++) {
    char target[16];
    snprintf(target, sizeof target, "%u", n);
    heed_explanation *one = explain_pictures(&t, test_backend_get(0), target);
    const float *other = floats(one, "score", &count);
    for (uint32_t b = 0; b < 2; b++) {
      assert_true(other[b] <= score[b]);
      reached[b] = reached[b] || other[b] == score[b];
    }
    heed_explanation_destroy(one);
  }
  assert_true(reached[0] && reached[1]);
  heed_explanation_destroy(largest);
  close_pictures(&t);
}

/* What all patches of a tensor must be, bit for bit. */
static void assert_all(const heed_explanation *explanation, const char *name, size_t first,
                       size_t count, float expected) {
  size_t all;
  const float *found = floats(explanation, name, &all);
  assert_true(first + count <= all);
  for (size_t i = first; i < first + count; i++)
    if (found[i] != expected)
      fail_msg("%s %zu: found %.9g, expected %.9g", name, i, (double)found[i], (double)expected);
}

/* A CLS model: CLS of the last level is all that is read of it; a picture patched into itself is as
 * it was. */
static void test_patches(void **state) {
  (void)state;
  static const struct explain_case one = {"hf_vit", "hf_vit", "2", NONE, 0, 0, {NULL}};
  opened o;
  inputs in;
  size_t count;
  vector_file io = vector_file_open("explain/io/hf_vit.safetensors");
  open_model(&o, "explain/hf_vit", "config.json", false);
  read_inputs(&io, &in);
  heed_explanation *other = explain(&one, &o, &in, test_backend_get(0), "patch");
  const float *scores = floats(other, "patch.scores", &count);
  (void)floats(other, "patch.states", &count);
  const size_t tokens = count / (o.info.layers + 1), last = o.info.layers * tokens;
  assert_true(scores[0] != scores[1]);
  assert_all(other, "patch.states", last, 1, scores[1]);
  assert_all(other, "patch.states", last + 1, tokens - 1, scores[0]);
  for (uint32_t i = 0; i < in.count; i++)
    if (strcmp(in.tensor[i].name, "source.pixel_values") == 0) in.tensor[i].data = in.data[0];
  heed_explanation *same = explain(&one, &o, &in, test_backend_get(0), "patch");
  assert_all(same, "patch.scores", 0, 2, scores[0]);
  assert_all(same, "patch.states", 0, last + tokens, scores[0]);
  assert_all(same, "patch.heads", 0, (size_t)o.info.layers * o.info.heads, scores[0]);
  assert_all(same, "patch.mlps", 0, last, scores[0]);
  heed_explanation_destroy(other);
  heed_explanation_destroy(same);
  free_inputs(&in);
  close_model(&o);
  vector_file_close(&io);
}

/* The score is a number of a state: patches behind it change nothing, those at it that number
 * alone. */
static void test_patched_state(void **state) {
  (void)state;
  static const struct explain_case one = {"hf_vit", "hf_vit", "layer.0.output[3,5]", NONE, 0,
                                          0,        {NULL}};
  opened o;
  inputs in;
  size_t count;
  vector_file io = vector_file_open("explain/io/hf_vit.safetensors");
  open_model(&o, "explain/hf_vit", "config.json", false);
  read_inputs(&io, &in);
  heed_explanation *made = explain(&one, &o, &in, test_backend_get(0), "patch");
  const float *scores = floats(made, "patch.scores", &count),
              *states = floats(made, "patch.states", &count);
  const size_t tokens = count / (o.info.layers + 1);
  for (size_t t = 0; t < tokens; t++) {
    assert_true(t != 3 || states[t] != scores[0]);
    assert_all(made, "patch.states", tokens + t, 1, scores[t == 3]);
  }
  assert_all(made, "patch.states", 2 * tokens, (o.info.layers - 1) * tokens, scores[0]);
  assert_all(made, "patch.heads", o.info.heads, (o.info.layers - 1) * (size_t)o.info.heads,
             scores[0]);
  assert_all(made, "patch.mlps", tokens, (o.info.layers - 1) * tokens, scores[0]);
  heed_explanation_destroy(made);
  free_inputs(&in);
  close_model(&o);
  vector_file_close(&io);
}

static void check_target(const two_pictures *t, const char *target, heed_status status,
                         const char *part) {
  heed_explanation *none = NULL;
  heed_explain_desc desc = desc_of(t, test_backend_get(0), target);
  assert_fails(heed_explain(test_backend_context(), &desc, &none, &error), status, part);
  assert_null(none);
}

static void test_sentences(void **state) {
  (void)state;
  two_pictures t;
  heed_explanation *none = NULL;
  open_pictures(&t);
  static const char *const unknown[] = {"",
                                        "-1",
                                        "1-",
                                        "1 ",
                                        "4294967296",
                                        "no such class",
                                        "layer.",
                                        "layer.0.output",
                                        "layer.0.output[1]",
                                        "embeddings[0,1",
                                        "layer.0.output[0,0]x"};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    check_target(&t, unknown[i], HEED_INVALID_ARGUMENT, "target: unknown target (found \"");
  check_target(&t, "999", HEED_INVALID_ARGUMENT, "target: class out of range (found 999, expected");
  check_target(&t, "0-999", HEED_INVALID_ARGUMENT, "target: class out of range (found 999,");
  check_target(&t, "layer.99.output[0,0]", HEED_INVALID_ARGUMENT, "target: outside of the states");
  check_target(&t, "embeddings[0,9999]", HEED_INVALID_ARGUMENT, "target: outside of the states");
  check_target(&t, "vector", HEED_UNSUPPORTED, "pooler_output");
  check_target(&t, "layer.0.output[0,0]", HEED_UNSUPPORTED, "expected a logit or vector");
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), NULL);
  static const char *const methods[] = {"",     "gradients", "lens,", "lens,,norms",
                                        "Lens", "lensnorms"};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    desc.methods = methods[i];
    assert_fails(heed_explain(test_backend_context(), &desc, &none, &error), HEED_INVALID_ARGUMENT,
                 "methods: unknown method (found \"");
  }
  desc = desc_of(&t, test_backend_get(0), NULL);
  desc.input_count = 0;
  assert_fails(heed_explain(test_backend_context(), &desc, &none, &error), HEED_INVALID_FILE,
               "missing tensor pixel_values");
  heed_named_tensor wrong[] = {t.in.tensor[0]};
  desc.inputs = wrong;
  desc.input_count = 1;
  wrong[0].shape = HEED_SHAPE(2, 2, 21, 28);
  assert_fails(heed_explain(test_backend_context(), &desc, &none, &error), HEED_INVALID_FILE,
               "pixel_values: wrong size (found 2 channels");
  wrong[0].shape = HEED_SHAPE(3, 21, 28);
  assert_fails(heed_explain(test_backend_context(), &desc, &none, &error), HEED_INVALID_FILE,
               "pixel_values: invalid tensor");
  close_pictures(&t);
}

/* Both ends of the curves: all patches give the score, bit for bit, and so does the other curve. */
static void test_curves(void **state) {
  (void)state;
  two_pictures t;
  heed_explanation *made;
  static const char *const forms[] = {"tokens", "pixels"};
  open_judged(&t);
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), "4");
  desc.methods = "deletion,insertion";
  desc.steps = 3;
  assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
  size_t count;
  const float *score = floats(made, "score", &count);
  for (size_t f = 0; f < 2; f++) {
    char name[64];
    snprintf(name, sizeof name, "deletion.%s", forms[f]);
    const float *out = floats(made, name, &count);
    snprintf(name, sizeof name, "insertion.%s", forms[f]);
    const float *in = floats(made, name, &count);
    assert_int_equal(count, 8);
    for (size_t b = 0; b < 2; b++) {
      assert_true(out[4 * b] == score[b] && in[4 * b + 3] == score[b]);
      assert_true(out[4 * b + 1] != score[b] && in[4 * b] != score[b]);
    }
  }
  heed_explanation_destroy(made);
  close_pictures(&t);
}

/* The maps to be judged: all of them can be made, and those of attention are shares. */
static void test_patch_maps(void **state) {
  (void)state;
  two_pictures t;
  heed_explanation *made;
  const char *name;
  float map[12];
  open_pictures(&t);
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), "4");
  desc.methods = "attention,ledger,lens,norms,pca,similarity," GRADIENTS;
  desc.ig_steps = 2;
  assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
  for (uint32_t i = 0; (name = heed_patch_map_name(i)) != NULL; i++) {
    assert_ok(heed_patch_map(made, i, 1, (heed_patches){3, 4}, map, &error));
    double sum = 0.0;
    bool even = true;
    for (size_t p = 0; p < 12; p++) {
      sum += (double)map[p];
      even = even && map[p] == map[0];
    }
    assert_true(isfinite(sum) && !even);
    if (strcmp(name, "attention") == 0) assert_true(sum > 0.0 && sum < 1.0);
    if (heed_patch_map_method(i))
      assert_fails(heed_patch_map(NULL, i, 1, (heed_patches){3, 4}, map, &error),
                   HEED_INVALID_ARGUMENT, "needs what method");
  }
  assert_fails(heed_patch_map(made, 1000, 0, (heed_patches){3, 4}, map, &error),
               HEED_INVALID_ARGUMENT, "unknown map");
  heed_explanation_destroy(made);
  close_pictures(&t);
}

static void check_judge(const heed_explain_desc *desc, heed_status status, const char *part) {
  heed_explanation *none = NULL;
  assert_fails(heed_explain(test_backend_context(), desc, &none, &error), status, part);
  assert_null(none);
}

static void test_judge_sentences(void **state) {
  (void)state;
  static const double whole[] = {100.0};
  two_pictures t;
  open_judged(&t);
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), "embeddings[0,0]");
  desc.methods = "deletion";
  check_judge(&desc, HEED_UNSUPPORTED, "deletion: the target is a state that leaves");
  desc.target = "layer.0.output[1,0]";
  check_judge(&desc, HEED_UNSUPPORTED, "deletion: the target is a state that leaves");
  desc.target = NULL;
  desc.steps = UINT32_MAX;
  check_judge(&desc, HEED_INVALID_ARGUMENT, "deletion: too many steps");
  desc.steps = 0;
  desc.input_count = 1;
  check_judge(&desc, HEED_INVALID_FILE, "deletion: missing tensor judge.map (expected [2, 12])");
  desc.methods = "localisation";
  check_judge(&desc, HEED_INVALID_FILE, "localisation: missing tensor judge.mask");
  desc.methods = "road";
  check_judge(&desc, HEED_INVALID_FILE, "road: missing tensor judge.pixels");
  desc.input_count = t.in.count;
  desc.percent = whole;
  desc.percent_count = 1;
  check_judge(&desc, HEED_INVALID_ARGUMENT, "road: percentage out of range (found 100");
  desc.percent_count = 0;
  check_judge(&desc, HEED_INVALID_ARGUMENT, "road: no percentages");
  heed_named_tensor wrong[] = {t.in.tensor[0],
                               {"judge.map", HEED_F32, HEED_SHAPE(2, 11), t.in.data[0]}};
  desc.inputs = wrong;
  desc.input_count = 2;
  desc.methods = "flipping";
  check_judge(&desc, HEED_INVALID_FILE,
              "flipping: judge.map does not fit pixel_values (found [2, 11]");
  close_pictures(&t);
}

/* The n-th allocation fails; nothing stays behind. */
static heed_status explain_without(const heed_explain_desc *desc, size_t n) {
  test_allocator allocator = {0};
  const heed_context_desc context_desc = test_context_desc(&allocator);
  heed_context *context;
  heed_explanation *explanation = NULL;
  assert_ok(heed_context_create(&context_desc, &context, &error));
  allocator.total = 0;
  allocator.fail_at = n;
  const heed_status status = heed_explain(context, desc, &explanation, &error);
  if (status != HEED_OK) assert_int_equal(status, HEED_OUT_OF_MEMORY);
  assert_true((status == HEED_OK) == (explanation != NULL));
  heed_explanation_destroy(explanation);
  heed_context_destroy(context);
  assert_int_equal(allocator.live, 0);
  return status;
}

/* Each allocation fails once, and of many patches some. */
static void test_memory(void **state) {
  (void)state;
  two_pictures t;
  open_pictures(&t);
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), NULL);
  for (size_t n = 1; explain_without(&desc, n) != HEED_OK;) n++;
  desc.methods = "norms,outliers,kmeans,occlusion,ablation";
  desc.heads = "0.0,1.1";
  for (size_t n = 1; explain_without(&desc, n) != HEED_OK;) n += 1 + n / 16;
  desc.methods = "patch";
  for (size_t n = 1; explain_without(&desc, n) != HEED_OK;) n += 1 + n / 16;
  desc.methods = GRADIENTS;
  desc.ig_steps = 2;
  for (size_t n = 1; explain_without(&desc, n) != HEED_OK;) n += 1 + n / 16;
  close_pictures(&t);
  open_judged(&t);
  desc = desc_of(&t, test_backend_get(0), NULL);
  desc.methods = JUDGES;
  desc.steps = 2;
  desc.flip_pixels = 294;
  desc.percent = percent;
  desc.percent_count = 1;
  for (size_t n = 1; explain_without(&desc, n) != HEED_OK;) n += 1 + n / 16;
  close_pictures(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cases),           cmocka_unit_test(test_families),
      cmocka_unit_test(test_threads),         cmocka_unit_test(test_difference),
      cmocka_unit_test(test_largest),         cmocka_unit_test(test_sentences),
      cmocka_unit_test(test_patches),         cmocka_unit_test(test_patched_state),
      cmocka_unit_test(test_curves),          cmocka_unit_test(test_patch_maps),
      cmocka_unit_test(test_judge_sentences), cmocka_unit_test(test_memory)};
  const struct CMUnitTest elsewhere[] = {cmocka_unit_test(test_cases)};
  return is_cpu() ? cmocka_run_group_tests_name("explain", tests, NULL, test_backend_close_all)
                  : cmocka_run_group_tests_name("explain", elsewhere, NULL, test_backend_close_all);
}
