/* Models opened from files made in memory: what their names and config say, and what heed says of
 * it. */
#include <math.h>

#include "support/named_model.h"

/* ------------------------------------------------------------------------------------ positions */

typedef struct heard {
  uint32_t warnings;
  char last[512];
} heard;

static void hear(heed_log_level level, const char *line, void *user) {
  heard *h = user;
  if (level != HEED_LOG_WARNING) return;
  h->warnings++;
  snprintf(h->last, sizeof h->last, "%s", line);
}

/* Warnings while a graph for pictures of this size is built of a model of these files. */
static void build_and_hear(const model *m, const char *config, uint32_t size, heard *h) {
  test_bytes bytes = save(m);
  heed_model_file files[] = {{"model.safetensors", test_source(bytes.data, bytes.size)},
                             {"config.json", {0}}};
  heed_context *hearing;
  heed_model *opened;
  heed_graph *graph;
  if (config) files[1].source = test_source(config, strlen(config));
  const heed_context_desc context_desc = {
      .struct_size = sizeof context_desc, .log = hear, .log_user = h};
  const heed_model_desc desc = {sizeof desc, files, config ? 2 : 1};
  const heed_build_desc build = {.struct_size = sizeof build, .height = size, .width = size};
  assert_ok(heed_context_create(&context_desc, &hearing, &error));
  assert_ok(heed_model_open(hearing, &desc, &opened, &error));
  *h = (heard){0};
  assert_ok(heed_model_build(opened, &build, &graph, &error));
  heed_graph_destroy(graph);
  heed_model_destroy(opened);
  heed_context_destroy(hearing);
  free(bytes.data);
}

/* timm's names without timm's config may be another's, whose positions are resized otherwise: said
 * where it matters, and there alone. */
static void an_assumed_rule_is_said(void **state) {
  (void)state;
  static const char timm_config[] = "{\"architecture\":\"vit_x\",\"num_classes\":5,\"model_args\":{"
                                    "\"img_size\":12,\"patch_size\":4,\"num_heads\":4}}";
  static const struct {
    const spelling *names;
    const char *config, *extra;
    uint32_t size, warnings;
  } cases[] = {{&timm_names, NULL, NULL, 16, 1},
               {&timm_names, NULL, NULL, 12, 0},
               {&timm_names, timm_config, NULL, 16, 0},
               {&timm_names, NULL, "mask_token", 16, 0},
               {&old_names, config_text, NULL, 16, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    heard h;
    make_model(&m, cases[i].names, cases[i].names->prefix);
    if (cases[i].extra) add(&m, cases[i].extra, 0.0f, HEED_SHAPE(1, WIDTH));
    build_and_hear(&m, cases[i].config, cases[i].size, &h);
    assert_int_equal(h.warnings, cases[i].warnings);
    if (h.warnings && !strstr(h.last, "as in timm, bicubic, antialiased"))
      fail_msg("the warning is: %s", h.last);
    free_model(&m);
  }
}

/* heed shows classes by a softmax. Where that is not what the file means, what is assumed says so.
 */
static void a_softmax_that_is_not_meant_is_said(void **state) {
  (void)state;
  static const struct {
    const char *more;
    uint32_t classes;
    const char *assumed;
  } cases[] = {
      {"\"problem_type\":\"multi_label_classification\"", CLASSES,
       "a softmax over the classes, not multi_label_classification"},
      {"\"problem_type\":\"regression\"", CLASSES, "a softmax over the classes, not regression"},
      {"\"problem_type\":\"regression\"", 1, "a softmax over the classes, not regression"},
      {"\"num_channels\":3", 1, "a softmax over one class: 1"},
      {"\"problem_type\":\"single_label_classification\"", CLASSES, NULL},
      {"\"problem_type\":null", CLASSES, NULL},
      {"\"problem_type\":\"regression\"", 0, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    char config[512];
    make_model(&m, &old_names, "vit.");
    if (cases[i].classes != CLASSES) drop(&m, "classifier.weight"), drop(&m, "classifier.bias");
    if (cases[i].classes == 1) add_linear(&m, "classifier", 5.0f, 1, WIDTH);
    snprintf(config, sizeof config, "{%s,\"num_labels\":%u,%.*s}", cases[i].more, cases[i].classes,
             (int)(strstr(config_text, ",\"num_labels\"") - config_text - 1), config_text + 1);
    test_bytes bytes = save(&m);
    const heed_model_file files[] = {{"model.safetensors", test_source(bytes.data, bytes.size)},
                                     {"config.json", test_source(config, strlen(config))},
                                     {"preprocessor_config.json", test_source("{}", 2)}};
    const heed_model_desc desc = {sizeof desc, files, 3};
    heed_model *opened;
    heed_model_info info;
    assert_ok(heed_model_open(context, &desc, &opened, &error));
    heed_model_get_info(opened, &info);
    if (cases[i].assumed && info.assumed)
      assert_string_equal(info.assumed, cases[i].assumed);
    else
      assert_true(!cases[i].assumed && !info.assumed);
    heed_model_destroy(opened);
    free(bytes.data);
    free_model(&m);
  }
}

/* The first failure on the way to a session. */
static heed_status make_session(const model *m) {
  test_bytes bytes = save(m);
  const heed_model_file files[] = {{"model.safetensors", test_source(bytes.data, bytes.size)},
                                   {"config.json", test_source(config_text, strlen(config_text))}};
  const heed_model_desc desc = {sizeof desc, files, 2};
  const heed_build_desc build = {.struct_size = sizeof build, .height = 12, .width = 12};
  const heed_plan_desc plans = HEED_PLAN_DESC_INIT;
  heed_model *opened = NULL;
  heed_backend *backend = NULL;
  heed_graph *graph = NULL;
  heed_plan *plan = NULL;
  heed_session *session = NULL;
  heed_status status = heed_cpu_backend_create(context, NULL, &backend, &error);
  if (status == HEED_OK) status = heed_model_open(context, &desc, &opened, &error);
  if (status == HEED_OK) status = heed_model_build(opened, &build, &graph, &error);
  if (status == HEED_OK) status = heed_plan_create(graph, backend, &plans, &plan, &error);
  if (status == HEED_OK) status = heed_session_create(plan, NULL, &session, &error);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_model_destroy(opened);
  heed_backend_destroy(backend);
  free(bytes.data);
  return status;
}

/* A weight that is no number makes results that are none: its tensor is named, and nothing runs. */
static void weights_that_are_not_numbers(void **state) {
  (void)state;
  static const struct {
    const char *tensor;
    float number;
    const char *found;
  } cases[] = {{"vit.layernorm.weight", NAN, "found NaN in element 7"},
               {"classifier.weight", INFINITY, "found an infinity in element 7"},
               {"vit.embeddings.cls_token", -INFINITY, "found an infinity in element 7"},
               {"vit.encoder.layer.1.output.dense.bias", NAN, "found NaN in element 7"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    make_model(&m, &old_names, "vit.");
    assert_ok(make_session(&m));
    for (uint32_t t = 0; t < m.count; t++)
      if (strcmp(m.names[t], cases[i].tensor) == 0)
        ((float *)(uintptr_t)m.items[t].data)[7] = cases[i].number;
    assert_fails(make_session(&m), HEED_INVALID_FILE, cases[i].found);
    assert_non_null(strstr(error.message, cases[i].tensor));
    free_model(&m);
  }
}

/* Labels without a classifier: the tensors that may be one are named. */
static void a_classifier_of_another_name_is_said(void **state) {
  (void)state;
  model m;
  heed_model *opened;
  heed_model_info info;
  char config[600];
  make_model(&m, &old_names, "vit.");
  drop(&m, "classifier.weight"), drop(&m, "classifier.bias");
  add_linear(&m, "scores.1", 5.0f, CLASSES, WIDTH);
  snprintf(config, sizeof config, "{\"id2label\":{\"0\":\"a\",\"1\":\"b\"},%.*s}",
           (int)(strstr(config_text, ",\"num_labels\"") - config_text - 1), config_text + 1);
  test_bytes bytes = save(&m);
  const heed_model_file files[] = {{"model.safetensors", test_source(bytes.data, bytes.size)},
                                   {"config.json", test_source(config, strlen(config))},
                                   {"preprocessor_config.json", test_source("{}", 2)}};
  const heed_model_desc desc = {sizeof desc, files, 3};
  assert_ok(heed_model_open(context, &desc, &opened, &error));
  heed_model_get_info(opened, &info);
  assert_int_equal(info.classes, 0);
  assert_string_equal(info.assumed, "no classes: 2 labels and no classifier; not used: "
                                    "scores.1.bias, scores.1.weight");
  heed_model_destroy(opened);
  free(bytes.data);
  free_model(&m);
}

/* ------------------------------------------------------------------------------ unknown tensors */

/* No tensor that may belong to the computation is left out without a word: everything under the
 * model's prefix that no part reads is refused, but for what training leaves and for heads; what
 * has a part's name and is not read is refused wherever it lies. */
static void tensors_that_nothing_reads(void **state) {
  (void)state;
  static const struct {
    const spelling *names;
    const char *prefix, *extra;
    bool fine;
  } cases[] = {
      {&old_names, "vit.", "vit.encoder.layer.0.attention.attention.q_norm.weight", false},
      {&old_names, "vit.", "vit.encoder.layer.2.output.dense.weight", false},
      {&old_names, "vit.", "vit.embeddings.token_type_embeddings", false},
      {&old_names, "vit.", "vit.embeddings.register_tokens", false},
      {&old_names, "vit.", "vit.pre_norm.weight", false},
      {&old_names, "vit.", "vit.rotary.freqs", false},
      {&old_names, "", "pre_norm.weight", false},
      {&new_names, "vit.", "vit.layers.1.attention.gate.weight", false},
      {&new_names, "vit.", "vit.encoder.extra", false},
      {&timm_names, "", "blocks.0.attn.rel_pos.weight", false},
      {&timm_names, "", "blocks.0.head.weight", false},
      {&timm_names, "", "norm_mid.weight", false},
      {&timm_names, "", "mid_norm.weight", false},
      {&timm_names, "", "rope.bands", false},
      {&timm_names, "", "rope.freqs_cos", false}, /* of a rotation that is not made */
      {&timm_names, "", "rope_embed.periods", false},
      {&timm_names, "", "token_gate", false},
      {&timm_names, "", "head_dist.weight", false}, /* without a distillation token */
      {&timm_names, "", "mask_token_scale", false},
      {&old_names, "vit.", "distillation_classifier.weight", false},
      {&old_names, "vit.", "cls_classifier.weight", false}, /* beside "classifier" */
      {&old_names, "vit.", "vit.embeddings.mask_token", true},
      {&old_names, "vit.", "vit.embeddings.position_ids", true},
      {&old_names, "vit.", "decoder.0.weight", true},
      {&old_names, "vit.", "segmentation.weight", true}, /* beside the model */
      {&old_names, "", "decoder.0.weight", true},
      {&old_names, "", "head.weight", true},
      {&timm_names, "", "mask_token", true},
      {&timm_names, "", "masked_embed", true},
      {&timm_names, "", "decoder_blocks.0.norm1.weight", true},
      {&timm_names, "", "decoder_pos_embed", true},
      {&timm_names, "", "head_age.weight", true},
      {&timm_names, "", "dino_head.mlp.0.weight", true},
      {&timm_names, "", "local_cls_norm.weight", true},
      {&timm_names, "", "optimizer.state.0.exp_avg", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    make_model(&m, cases[i].names, cases[i].prefix);
    assert_int_equal(open_model(&m, config_text), HEED_OK);
    add(&m, cases[i].extra, 0.0f, HEED_SHAPE(3));
    const heed_status status = open_model(&m, config_text);
    if (status != (cases[i].fine ? HEED_OK : HEED_UNSUPPORTED))
      fail_msg("%s: found %s (%s)", cases[i].extra, heed_status_name(status),
               status == HEED_OK ? "" : error.message);
    if (!cases[i].fine && !strstr(error.message, cases[i].extra))
      fail_msg("%s: not named in: %s", cases[i].extra, error.message);
    free_model(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_assumed_rule_is_said),
      cmocka_unit_test(weights_that_are_not_numbers),
      cmocka_unit_test(a_classifier_of_another_name_is_said),
      cmocka_unit_test(a_softmax_that_is_not_meant_is_said),
      cmocka_unit_test(tensors_that_nothing_reads),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
