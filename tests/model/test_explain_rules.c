/* Explanations that rest on no reference: sums and equalities that must hold of any model, by ways
 * of their own. */
#include <math.h>

#include "explain_files.h"

/* All states of any level make the rest of the run that of the other picture, bit for bit. */
static void test_whole_levels(void **state) {
  (void)state;
  static const struct {
    const char *name, *target;
  } all[] = {{"hf_vit", "2"},
             {"timm_avg_fc_norm", "4"},
             {"timm_eva02", "2"},
             {"hf_clip", "2"},
             {"hf_siglip", "vector"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char path[96], folder[64];
    opened o;
    inputs in;
    size_t count, batch;
    heed_explanation *made;
    snprintf(path, sizeof path, "explain/io/%s.safetensors", all[i].name);
    snprintf(folder, sizeof folder, "explain/%s", all[i].name);
    vector_file io = vector_file_open(path);
    open_model(&o, folder, "config.json", heed_safetensors_find(io.file, "input_ids") != NULL);
    read_inputs(&io, &in);
    const heed_explain_desc desc = {.struct_size = sizeof desc,
                                    .model = o.model,
                                    .text = o.text,
                                    .backend = test_backend_get(0),
                                    .methods = "patch",
                                    .target = all[i].target,
                                    .inputs = in.tensor,
                                    .input_count = in.count,
                                    .sites = "levels"};
    assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
    const float *scores = floats(made, "patch.scores", &batch),
                *levels = floats(made, "patch.levels", &count);
    batch /= 2;
    assert_int_equal(count, batch * (o.info.layers + 1));
    for (size_t k = 0; k < count; k++) {
      const float *both = scores + 2 * (k / (o.info.layers + 1));
      assert_true(both[0] != both[1]);
      if (levels[k] != both[1])
        fail_msg("%s level %zu: found %.9g, expected %.9g", all[i].name, k, (double)levels[k],
                 (double)both[1]);
    }
    heed_explanation_destroy(made);
    free_inputs(&in);
    close_model(&o);
    vector_file_close(&io);
  }
}

/* Explanations with an explainer are those without one, whichever pictures and targets come next.
 */
static void check_kept(const char *const *methods, const char *const *targets, size_t count) {
  two_pictures t;
  open_pictures(&t);
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), NULL), kept = desc;
  float *pixels = t.in.data[0];
  const size_t numbers = (size_t)heed_shape_count(&t.in.tensor[0].shape);
  assert_string_equal(t.in.tensor[0].name, "pixel_values");
  assert_ok(heed_explainer_create(test_backend_context(), &kept.explainer, &error));
  for (size_t i = 0; i < count; i++) {
    heed_explanation *made[2];
    desc.target = kept.target = targets[i];
    desc.methods = kept.methods = methods[i];
    assert_ok(heed_explain(test_backend_context(), &desc, &made[0], &error));
    assert_ok(heed_explain(test_backend_context(), &kept, &made[1], &error));
    check_same(made);
    for (size_t k = 0; k < numbers; k++) pixels[k] = 0.5f - pixels[k];
  }
  heed_explainer_destroy(kept.explainer);
  heed_explainer_destroy(NULL);
  close_pictures(&t);
}

static void test_explainer(void **state) {
  (void)state;
  const char *usual = desc_of(&(two_pictures){0}, NULL, NULL).methods;
  const char *const methods[] = {usual, usual, usual, "norms,pca"}, *const targets[] = {NULL, NULL,
                                                                                        "1", NULL};
  check_kept(methods, targets, sizeof targets / sizeof *targets);
}

/* What is kept spares no check: the next explanation may lack an input, or ask for too much. */
static void test_explainer_checks(void **state) {
  (void)state;
  two_pictures t;
  heed_explanation *made;
  open_judged(&t);
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), "1");
  assert_ok(heed_explainer_create(test_backend_context(), &desc.explainer, &error));
  for (uint32_t i = 0; i < 2; i++) {
    desc.methods = i ? "gradcam,ig" : "deletion";
    desc.input_count = t.in.count;
    desc.ig_steps = 2;
    assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
    heed_explanation_destroy(made);
    desc.input_count = 1;
    desc.ig_steps = HEED_IG_MOST_STEPS + 1;
    assert_int_equal(heed_explain(test_backend_context(), &desc, &made, &error),
                     i ? HEED_INVALID_ARGUMENT : HEED_INVALID_FILE);
    assert_non_null(strstr(error.message, i ? "too many steps" : "judge.map"));
  }
  heed_explainer_destroy(desc.explainer);
  close_pictures(&t);
}

/* The reverse pass that is kept serves other classes; a state, and no target, have passes of their
 * own. */
static void test_explainer_of_gradients(void **state) {
  (void)state;
  static const char *const
      targets[] = {"2", "1", "0-3", "1", NULL, "2", "layer.0.output[3,4]", "layer.0.output[3,5]",
                   "4", "4", "4",   "4"},
      *const methods[] = {"grad,gradcam", "grad,gradcam", "grad,gradcam",  "grad,gradcam,norms",
                          "grad,gradcam", "grad,gradcam", "grad,gradcam",  "grad,gradcam",
                          "relevancy",    "relevancy",    "ig,inputxgrad", "ig,inputxgrad"};
  check_kept(methods, targets, sizeof targets / sizeof *targets);
}

/* Without a target a model without classes has no score, and methods that need none do not mind. */
static void test_no_score(void **state) {
  (void)state;
  opened o;
  inputs in;
  heed_explanation *made = NULL;
  vector_file io = vector_file_open("explain/io/hf_dinov3_gated.safetensors");
  open_model(&o, "explain/hf_dinov3_gated", "config.json", false);
  read_inputs(&io, &in);
  heed_explain_desc desc = {.struct_size = sizeof desc,
                            .model = o.model,
                            .backend = test_backend_get(0),
                            .methods = "norms,outliers,pca,similarity,kmeans,attention",
                            .inputs = in.tensor,
                            .input_count = in.count,
                            .clusters = 3};
  assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
  assert_null(find_result(made, "score"));
  heed_explanation_destroy(made);
  /* the same numbers as beside a score */
  desc.methods = "norms";
  assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
  const heed_named_tensor *norms = find_result(made, "norms");
  assert_non_null(norms);
  heed_explanation *other;
  desc.target = "vector";
  assert_ok(heed_explain(test_backend_context(), &desc, &other, &error));
  assert_memory_equal(norms->data, find_result(other, "norms")->data,
                      (size_t)heed_shape_count(&norms->shape) * sizeof(float));
  heed_explanation_destroy(other);
  heed_explanation_destroy(made);
  made = NULL;
  desc.target = NULL;
  desc.methods = "norms,lens";
  assert_fails(heed_explain(test_backend_context(), &desc, &made, &error), HEED_UNSUPPORTED,
               "no classifier");
  assert_null(made);
  free_inputs(&in);
  close_model(&o);
  vector_file_close(&io);
}

/* Groups of unit states: each patch lies nearest to the centre of its own group, which is the mean
 * of its members. */
static void check_kmeans(const heed_explanation *made, const float *states, uint32_t picture,
                         uint32_t patches, uint32_t width, uint32_t clusters) {
  size_t count;
  const heed_named_tensor *groups = find_result(made, "kmeans");
  const int32_t *group = (const int32_t *)groups->data + (size_t)picture * patches;
  const float *centres =
      floats(made, "kmeans.centres", &count) + (size_t)picture * clusters * width;
  uint32_t members[8] = {0};
  for (uint32_t p = 0; p < patches; p++) {
    double length = 0.0, off[8] = {0.0};
    const float *state = states + (size_t)p * width;
    for (uint32_t c = 0; c < width; c++) length += (double)state[c] * (double)state[c];
    for (uint32_t g = 0; g < clusters; g++)
      for (uint32_t c = 0; c < width; c++) {
        const double apart = (double)state[c] / sqrt(length) - (double)centres[g * width + c];
        off[g] += apart * apart;
      }
    assert_in_range(group[p], 0, clusters - 1);
    members[group[p]]++;
    for (uint32_t g = 0; g < clusters; g++) assert_true(off[group[p]] <= off[g] + 1e-6);
  }
  for (uint32_t g = 0; g < clusters; g++) assert_true(members[g] > 0);
}

/* Outliers by another way: a median by counting. */
static double median_of(const double *values, uint32_t count) {
  double sum = 0.0, found = 0.0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t below = 0, same = 0;
    for (uint32_t k = 0; k < count; k++) {
      below += values[k] < values[i];
      same += values[k] == values[i];
    }
    for (uint32_t half = 0; half < 2; half++) {
      const uint32_t rank = half ? count / 2 : (count - 1) / 2;
      if (rank < below || rank >= below + same) continue;
      sum += values[i] / same;
      found += 1.0 / same;
    }
  }
  return sum / found;
}

static void check_outliers(const heed_explanation *made, uint32_t level, uint32_t levels,
                           uint32_t tokens, uint32_t patches) {
  size_t count;
  const float *norms = floats(made, "norms", &count) + (size_t)level * tokens + tokens - patches,
              *bounds = floats(made, "outliers.bound", &count);
  const uint8_t *outlier =
      (const uint8_t *)find_result(made, "outliers")->data + (size_t)level * patches;
  double value[64], apart[64];
  assert_true(patches <= 64 && level < levels);
  for (uint32_t p = 0; p < patches; p++) value[p] = (double)norms[p];
  const double middle = median_of(value, patches);
  for (uint32_t p = 0; p < patches; p++) apart[p] = fabs(value[p] - middle);
  const double bound = middle + 6 * 1.4826 * median_of(apart, patches);
  assert_true(fabs(bound - (double)bounds[level]) <= 1e-5 * bound);
  for (uint32_t p = 0; p < patches; p++) assert_int_equal(outlier[p], norms[p] > bounds[level]);
}

static void test_groups_and_outliers(void **state) {
  (void)state;
  two_pictures t;
  heed_explanation *made;
  open_pictures(&t);
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), NULL);
  desc.methods = "norms,outliers,kmeans";
  desc.clusters = 3;
  desc.layer_given = true;
  assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
  const heed_named_tensor *norms = find_result(made, "norms");
  const uint32_t levels = norms->shape.dim[1], tokens = norms->shape.dim[2], patches = 12;
  for (uint32_t i = 0; i < 2 * levels; i++) check_outliers(made, i, 2 * levels, tokens, patches);
  /* the states after layer 0 */
  const heed_build_desc build = {.struct_size = sizeof build,
                                 .batch = 2,
                                 .height = t.in.tensor[0].shape.dim[2],
                                 .width = t.in.tensor[0].shape.dim[3]};
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  assert_ok(heed_model_build(t.o.model, &build, &graph, &error));
  const heed_value tap = heed_graph_find(graph, "layer.0.output");
  const heed_plan_desc plan_desc = {sizeof plan_desc, &tap, 1, HEED_ATTENTION_MODE_AUTO};
  assert_ok(heed_plan_create(graph, test_backend_get(0), &plan_desc, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_write(session, heed_graph_find(graph, "pixel_values"), t.in.data[0],
                               (size_t)heed_shape_count(&t.in.tensor[0].shape) * sizeof(float),
                               &error));
  assert_ok(heed_session_run(session, NULL, &error));
  const uint32_t width = t.o.info.width;
  float *states = malloc((size_t)patches * width * sizeof *states);
  for (uint32_t b = 0; b < 2; b++) {
    assert_ok(heed_session_read(session, tap, ((uint64_t)b * tokens + tokens - patches) * width,
                                (uint64_t)patches * width, states, &error));
    check_kmeans(made, states, b, patches, width, 3);
  }
  free(states);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_explanation_destroy(made);
  desc.clusters = 13;
  assert_fails(heed_explain(test_backend_context(), &desc, &made, &error), HEED_INVALID_ARGUMENT,
               "kmeans: too many clusters (found 13, expected at most the 12 patches)");
  close_pictures(&t);
}

/* The score of a square is that of the picture with it covered by hand; a picture of one colour
 * loses nothing. */
static void test_occlusion(void **state) {
  (void)state;
  two_pictures t;
  heed_explanation *made, *by_hand;
  size_t count;
  open_pictures(&t);
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), "4");
  const heed_shape *shape = &t.in.tensor[0].shape;
  const uint32_t channels = shape->dim[1], height = shape->dim[2], width = shape->dim[3], patch = 7;
  const size_t plane = (size_t)height * width;
  float *pixels = t.in.data[0];
  desc.methods = "occlusion";
  desc.square = 3; /* the second square has one column of patches */
  assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
  const float *found = floats(made, "occlusion", &count),
              *share = floats(made, "occlusion.probability", &count);
  assert_int_equal(count, 24);
  for (size_t i = 0; i < 2 * (size_t)channels; i++) {
    double sum = 0.0;
    for (size_t p = 0; p < plane; p++) sum += (double)pixels[i * plane + p];
    for (uint32_t y = 0; y < height; y++)
      for (uint32_t x = 3 * patch; x < width; x++)
        pixels[i * plane + (size_t)y * width + x] = (float)(sum / (double)plane);
  }
  desc.methods = "norms";
  assert_ok(heed_explain(test_backend_context(), &desc, &by_hand, &error));
  const float *score = floats(by_hand, "score", &count);
  for (size_t b = 0; b < 2; b++)
    for (size_t row = 0; row < 3; row++) {
      assert_true(found[12 * b + 4 * row + 3] == score[b]);
      assert_true(found[12 * b + 4 * row] == found[12 * b] && found[12 * b] != score[b]);
      assert_true(share[12 * b + 4 * row + 3] > 0.0f && share[12 * b + 4 * row + 3] < 1.0f);
    }
  heed_explanation_destroy(by_hand);
  heed_explanation_destroy(made);
  close_pictures(&t);
}

/* One ablated head that gives what it gives in other pictures, on the average, is a patch of their
 * mean; without other pictures it is a patch of zeros, as changes of the attention make it. */
static void check_ablation(const opened *o, const inputs *in, const char *target) {
  heed_explain_desc desc = {.struct_size = sizeof desc,
                            .model = o->model,
                            .text = o->text,
                            .backend = test_backend_get(0),
                            .target = target,
                            .inputs = in->tensor,
                            .input_count = in->count,
                            .sites = "heads",
                            .source_mean = true};
  heed_explanation *made, *ablated;
  size_t count, batch;
  desc.methods = "patch";
  assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
  const float *patched = floats(made, "patch.heads", &count), *score;
  float largest = 0.0f;
  desc.methods = "ablation";
  for (size_t i = 0; i < count; i++)
    if (fabsf(patched[i]) > largest) largest = fabsf(patched[i]);
  const size_t heads = (size_t)o->info.layers * o->info.heads;
  for (size_t i = 0; i < heads; i++) {
    char head[32];
    snprintf(head, sizeof head, "%zu.%zu", i / o->info.heads, i % o->info.heads);
    desc.heads = head;
    assert_ok(heed_explain(test_backend_context(), &desc, &ablated, &error));
    score = floats(ablated, "ablation", &batch);
    assert_int_equal(batch * heads, count);
    for (size_t b = 0; b < batch; b++)
      assert_true(fabsf(score[b] - patched[b * heads + i]) <= 2e-5f * largest);
    heed_explanation_destroy(ablated);
  }
  heed_explanation_destroy(made);
}

static void test_ablation(void **state) {
  (void)state;
  static const struct {
    const char *name, *target;
  } all[] = {
      {"hf_vit", "2"},     {"hf_vit", "1-4"}, {"hf_beit", "0"},        {"hf_deit_distilled", "3"},
      {"timm_eva02", "2"}, {"hf_clip", "2"},  {"hf_siglip", "vector"}, {"timm_avg_fc_norm", "4"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char path[96], folder[64];
    opened o;
    inputs in;
    snprintf(path, sizeof path, "explain/io/%s.safetensors", all[i].name);
    snprintf(folder, sizeof folder, "explain/%s", all[i].name);
    vector_file io = vector_file_open(path);
    open_model(&o, folder, "config.json", heed_safetensors_find(io.file, "input_ids") != NULL);
    read_inputs(&io, &in);
    check_ablation(&o, &in, all[i].target);
    free_inputs(&in);
    close_model(&o);
    vector_file_close(&io);
  }
}

/* Several heads, and none in the list that the model has not. */
static void test_ablated_heads(void **state) {
  (void)state;
  two_pictures t;
  heed_explanation *made;
  size_t count;
  open_pictures(&t);
  heed_explain_desc desc = desc_of(&t, test_backend_get(0), "4");
  desc.methods = "ablation";
  desc.input_count = 1; /* zeros */
  assert_string_equal(t.in.tensor[0].name, "pixel_values");
  float zeros[2][2], *share;
  for (int twice = 0; twice < 2; twice++) { /* named twice is once */
    desc.heads = twice ? "0.1,1.0,0.1" : "1.0,0.1";
    assert_ok(heed_explain(test_backend_context(), &desc, &made, &error));
    memcpy(zeros[twice], floats(made, "ablation", &count), sizeof zeros[twice]);
    assert_int_equal(count, 2);
    share = (float *)(size_t)floats(made, "ablation.probability", &count);
    assert_true(share[0] > 0.0f && share[0] < 1.0f);
    heed_explanation_destroy(made);
  }
  assert_memory_equal(zeros[0], zeros[1], sizeof zeros[0]);
  static const char *const wrong[] = {"1",     "1.",           ".0",    "1.0,",  "1.0,,0.1",
                                      ",1.0",  "99.0",         "0.99",  "1.0 ",  "-1.0",
                                      "1.0.0", "4294967296.0", "0x1.0", "1,0.1", "1.0;0.1"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    desc.heads = wrong[i];
    assert_fails(heed_explain(test_backend_context(), &desc, &made, &error), HEED_INVALID_ARGUMENT,
                 "ablation: unknown heads (found \"");
  }
  static const char *const empty[] = {NULL, ""};
  for (size_t i = 0; i < 2; i++) {
    desc.heads = empty[i];
    assert_fails(heed_explain(test_backend_context(), &desc, &made, &error), HEED_INVALID_ARGUMENT,
                 "ablation: no heads");
  }
  close_pictures(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_levels),
                                     cmocka_unit_test(test_explainer),
                                     cmocka_unit_test(test_explainer_of_gradients),
                                     cmocka_unit_test(test_explainer_checks),
                                     cmocka_unit_test(test_no_score),
                                     cmocka_unit_test(test_groups_and_outliers),
                                     cmocka_unit_test(test_occlusion),
                                     cmocka_unit_test(test_ablation),
                                     cmocka_unit_test(test_ablated_heads)};
  if (!test_backend_count()) return 1;
  return cmocka_run_group_tests_name("explain_rules", tests, NULL, test_backend_close_all);
}
