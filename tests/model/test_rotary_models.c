/* Models with rotary positions and gates, changed in ways that must change no bit: weights in one
 * tensor or in several, other names, angles of zero; in ways that must change no attention; and in
 * ways that must be refused. */
#include <math.h>

#include "support/named_model.h"

#define TIMM_OF(architecture, width, heads, more)                                             \
  "{\"architecture\":\"" architecture                                                         \
  "\",\"model_args\":{\"img_size\":20,\"patch_size\":4,\"embed_dim\":" #width ",\"depth\":2," \
  "\"num_heads\":" #heads more "}}"

/* --------------------------------------------------------------------------------------- editing
 */

static uint32_t find(const model *m, const char *name) {
  uint32_t i = 0;
  while (i < m->count && strcmp(m->names[i], name) != 0) i++;
  if (i == m->count) fail_msg("no tensor %s", name);
  return i;
}

static float *data_of(const model *m, const char *name) {
  return (float *)(uintptr_t)m->items[find(m, name)].data;
}

/* Tensors of each layer, "blocks.#.attn.qkv.weight", take the place of one or of several whose rows
 * they have; of those that the model lacks the rows are 0. */
static void move_rows(model *m, const char *const *from, const char *const *to) {
  for (uint32_t layer = 0; layer < 2; layer++) {
    float rows[6144] = {0};
    heed_shape shape = {0};
    uint32_t parts[2] = {0, 0};
    char name[96];
#define NAMED(pattern)                                                                 \
  (snprintf(name, sizeof name, "%.*s%u%s", (int)strcspn(pattern, "#"), pattern, layer, \
            strchr(pattern, '#') + 1),                                                 \
   name)
    for (; from[parts[0]]; parts[0]++) {
      uint32_t i = 0;
      NAMED(from[parts[0]]);
      while (i < m->count && strcmp(m->names[i], name) != 0) i++;
      if (i == m->count) continue;
      shape = m->items[i].shape;
      const size_t count = (size_t)heed_shape_count(&shape);
      assert_true((parts[0] + 1) * count <= sizeof rows / sizeof *rows);
      memcpy(rows + parts[0] * count, m->items[i].data, count * sizeof *rows);
      drop(m, name);
    }
    while (to[parts[1]]) parts[1]++;
    shape.dim[0] = shape.dim[0] * parts[0] / parts[1];
    const size_t count = (size_t)heed_shape_count(&shape);
    for (uint32_t part = 0; part < parts[1]; part++) {
      add(m, NAMED(to[part]), 0.0f, shape);
      memcpy(data_of(m, name), rows + part * count, count * sizeof *rows);
    }
#undef NAMED
  }
}
#define LIST(...) \
  (const char *const[]) { __VA_ARGS__, NULL }

static void rename_all(model *m, const char *from, const char *to) {
  for (uint32_t i = 0; i < m->count; i++) {
    char old[96];
    memcpy(old, m->names[i], sizeof old);
    const char *at = strstr(old, from);
    if (!at) continue;
    const int written = snprintf(m->names[i], sizeof m->names[i], "%.*s%s%s", (int)(at - old), old,
                                 to, at + strlen(from));
    assert_true(written < (int)sizeof m->names[i]);
  }
}

/* --------------------------------------------------------------------------------------- running
 */

/* What a model gives for a made-up image of 3 x 6 patches; the caller frees. */
typedef struct result {
  float *states, *weights, *query;
  uint64_t count[3];
} result;

static float *read_value(heed_session *session, const heed_graph *graph, const char *name,
                         uint64_t *count) {
  heed_value_info info;
  const heed_value value = heed_graph_find(graph, name);
  assert_int_equal(heed_graph_value_info(graph, value, &info), HEED_OK);
  *count = heed_shape_count(&info.shape);
  float *found = malloc((size_t)*count * sizeof *found);
  assert_ok(heed_session_read(session, value, 0, *count, found, &error));
  return found;
}

static result run(const model *m, const char *config) {
  static float pixels[3 * 12 * 24];
  test_bytes bytes = save(m);
  const heed_model_file files[] = {
      {"model.safetensors", test_source(bytes.data, bytes.size)},
      {"config.json", test_source(config, config ? strlen(config) : 0)}};
  const heed_model_desc desc = {sizeof desc, files, config ? 2 : 1};
  const heed_build_desc build = {.struct_size = sizeof build, .height = 12, .width = 24};
  const heed_cpu_desc cpu = {sizeof cpu, 1, NULL};
  heed_backend *backend;
  heed_model *opened;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
    pixels[i] = (float)((i * 7919) % 1000) / 500.0f - 1.0f;
  assert_ok(heed_cpu_backend_create(context, &cpu, &backend, &error));
  assert_ok(heed_model_open(context, &desc, &opened, &error));
  assert_ok(heed_model_build(opened, &build, &graph, &error));
  const heed_value taps[] = {heed_graph_find(graph, "layer.1.attention.weights"),
                             heed_graph_find(graph, "layer.0.query")};
  const heed_plan_desc plans = {.struct_size = sizeof plans, .taps = taps, .tap_count = 2};
  assert_ok(heed_plan_create(graph, backend, &plans, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels,
                               sizeof pixels, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  result r;
  r.states = read_value(session, graph, "last_hidden_state", &r.count[0]);
  r.weights = read_value(session, graph, "layer.1.attention.weights", &r.count[1]);
  r.query = read_value(session, graph, "layer.0.query", &r.count[2]);
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_model_destroy(opened);
  heed_backend_destroy(backend);
  free(bytes.data);
  return r;
}

static void free_result(result *r) {
  free(r->states);
  free(r->weights);
  free(r->query);
}

/* The model, after its changes, gives what it gave before them. */
static void expect_same(const char *what, const result *first, const model *m, const char *config) {
  result r = run(m, config);
  assert_int_equal(r.count[0], first->count[0]);
  if (memcmp(r.states, first->states, (size_t)r.count[0] * sizeof *r.states) != 0 ||
      memcmp(r.weights, first->weights, (size_t)r.count[1] * sizeof *r.weights) != 0 ||
      memcmp(r.query, first->query, (size_t)r.count[2] * sizeof *r.query) != 0)
    fail_msg("%s: other bits", what);
  free_result(&r);
}

static void expect_other(const char *what, const result *first, const model *m,
                         const char *config) {
  result r = run(m, config);
  if (memcmp(r.weights, first->weights, (size_t)r.count[1] * sizeof *r.weights) == 0)
    fail_msg("%s: the same bits", what);
  free_result(&r);
}

/* ----------------------------------------------------------------------------------------- tests
 */

static const char *const qkv[] = {"blocks.#.attn.qkv.weight", NULL};
static const char *const projections[] = {"blocks.#.attn.q_proj.weight",
                                          "blocks.#.attn.k_proj.weight",
                                          "blocks.#.attn.v_proj.weight", NULL};
static const char eva02[] = TIMM_OF("eva02_x", 24, 2, "");

static void fused_and_split_projections(void **state) {
  (void)state;
  model m;
  take_vector(&m, "eva02");
  result first = run(&m, eva02);
  move_rows(&m, LIST("blocks.#.attn.q_bias", "blocks.#.attn.none", "blocks.#.attn.v_bias"),
            LIST("blocks.#.attn.qkv.bias"));
  expect_same("biases fused", &first, &m, eva02);
  move_rows(&m, qkv, projections);
  move_rows(&m, LIST("blocks.#.attn.qkv.bias"),
            LIST("blocks.#.attn.q_bias", "blocks.#.attn.k_bias", "blocks.#.attn.v_bias"));
  expect_same("all split", &first, &m, eva02);
  drop(&m, "blocks.0.attn.k_bias");
  drop(&m, "blocks.1.attn.k_bias");
  rename_all(&m, "q_bias", "q_proj.bias");
  rename_all(&m, "v_bias", "v_proj.bias");
  expect_same("keys without a bias", &first, &m, eva02);
  data_of(&m, "blocks.0.attn.q_proj.bias")[5] += 0.5f;
  expect_other("another bias", &first, &m, eva02);
  free_result(&first);
  free_model(&m);
}

static void packed_and_split_gates(void **state) {
  (void)state;
  model m;
  take_vector(&m, "eva02");
  result first = run(&m, eva02);
  for (int bias = 0; bias < 2; bias++)
    move_rows(&m, LIST(bias ? "blocks.#.mlp.fc1.bias" : "blocks.#.mlp.fc1.weight"),
              LIST(bias ? "blocks.#.mlp.fc1_g.bias" : "blocks.#.mlp.fc1_g.weight",
                   bias ? "blocks.#.mlp.fc1_x.bias" : "blocks.#.mlp.fc1_x.weight"));
  expect_same("timm's", &first, &m, eva02);
  rename_all(&m, "mlp.fc1_g", "mlp.w1");
  rename_all(&m, "mlp.fc1_x", "mlp.w2");
  rename_all(&m, "mlp.fc2", "mlp.w3");
  expect_same("the original's", &first, &m, eva02);
  rename_all(&m, "mlp.w1", "mlp.w");
  rename_all(&m, "mlp.w2", "mlp.w1");
  rename_all(&m, "mlp.w.", "mlp.w2.");
  expect_other("halves exchanged", &first, &m, eva02);
  free_result(&first);
  free_model(&m);
}

/* DINOv3 as Hugging Face, timm and facebookresearch call it. */
static void dinov3_under_three_names(void **state) {
  (void)state;
  static const char hf[] =
      "{\"model_type\":\"dinov3_vit\",\"hidden_size\":24,\"intermediate_size\":40,"
      "\"num_hidden_layers\":2,\"num_attention_heads\":2,\"image_size\":20,\"patch_size\":4,"
      "\"num_register_tokens\":3}";
  static const char timm[] = TIMM_OF("vit_small_patch16_dinov3_qkvb", 24, 2, "");
  static const char *const names[][2] = {{"embeddings.cls_token", "cls_token"},
                                         {"embeddings.register_tokens", "reg_token"},
                                         {"embeddings.mask_token", "mask_token"},
                                         {"embeddings.patch_embeddings", "patch_embed.proj"},
                                         {"layer.", "blocks."},
                                         {"attention.q_proj", "attn.q_proj"},
                                         {"attention.k_proj", "attn.k_proj"},
                                         {"attention.v_proj", "attn.v_proj"},
                                         {"attention.o_proj", "attn.proj"},
                                         {"mlp.up_proj", "mlp.fc1"},
                                         {"mlp.down_proj", "mlp.fc2"},
                                         {"layer_scale1.lambda1", "gamma_1"},
                                         {"layer_scale2.lambda1", "gamma_2"}};
  model m;
  take_vector(&m, "dinov3");
  result first = run(&m, hf);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    rename_all(&m, names[i][0], names[i][1]);
  expect_same("timm", &first, &m, timm);
  move_rows(&m, projections, qkv);
  move_rows(&m,
            LIST("blocks.#.attn.q_proj.bias", "blocks.#.attn.none", "blocks.#.attn.v_proj.bias"),
            LIST("blocks.#.attn.qkv.bias"));
  expect_same("timm, fused", &first, &m, timm);
  rename_all(&m, "reg_token", "storage_tokens");
  rename_all(&m, "gamma_", "ls.gamma_");
  rename_all(&m, "ls.gamma_1", "ls1.gamma");
  rename_all(&m, "ls.gamma_1", "ls1.gamma");
  rename_all(&m, "ls.gamma_2", "ls2.gamma");
  rename_all(&m, "ls.gamma_2", "ls2.gamma");
  expect_same("the original names", &first, &m, timm);
  free_result(&first);
  free_model(&m);
}

/* What an original file stores as the bias of the keys is masked. */
static void the_masked_bias_counts_as_zeros(void **state) {
  (void)state;
  model m;
  take_vector(&m, "dinov3_original");
  result first = run(&m, NULL);
  for (int i = 64; i < 128; i++) data_of(&m, "blocks.1.attn.qkv.bias")[i] = (float)i;
  expect_same("the part of the keys", &first, &m, NULL);
  data_of(&m, "blocks.1.attn.qkv.bias")[3] += 1.0f;
  expect_other("the part of the queries", &first, &m, NULL);
  free_result(&first);
  free_model(&m);
}

static void angles_of_zero_are_no_rotation(void **state) {
  (void)state;
  model m;
  take_vector(&m, "rope_vit_mixed_ape");
  const size_t count = (size_t)heed_shape_count(&m.items[find(&m, "rope.freqs")].shape);
  memset(data_of(&m, "rope.freqs"), 0, count * sizeof(float));
  result first = run(&m, TIMM_OF("vit_x_rope_mixed_ape_224", 24, 6, ""));
  drop(&m, "rope.freqs");
  expect_same("frequencies of 0", &first, &m, TIMM_OF("vit_x", 24, 6, ""));
  expect_other("a rotation", &first, &m, TIMM_OF("vit_x_rope_ape_224", 24, 6, ""));
  free_result(&first);
  free_model(&m);
}

static void periods_without_end_are_no_rotation(void **state) {
  (void)state;
  model m;
  take_vector(&m, "dinov3_original");
  for (int i = 64; i < 128; i++)
    data_of(&m, "blocks.0.attn.qkv.bias")[i] = data_of(&m, "blocks.1.attn.qkv.bias")[i] = 0.0f;
  result turned = run(&m, NULL);
  for (int i = 0; i < 16; i++) data_of(&m, "rope_embed.periods")[i] = 1e30f;
  result first = run(&m, NULL);
  assert_true(memcmp(turned.weights, first.weights, (size_t)first.count[1] * sizeof(float)) != 0);
  drop(&m, "rope_embed.periods");
  add(&m, "pos_embed", 0.0f, HEED_SHAPE(1, 25, 64));
  memset(data_of(&m, "pos_embed"), 0, 25 * 64 * sizeof(float));
  expect_same("periods of 1e30", &first, &m, TIMM_OF("vit_x_clip_x", 64, 1, ""));
  free_result(&turned);
  free_result(&first);
  free_model(&m);
}

/* A period of 0 would make every number NaN. */
static void periods_of_zero_are_refused(void **state) {
  (void)state;
  model m;
  take_vector(&m, "dinov3_original");
  data_of(&m, "rope_embed.periods")[3] = 0.0f;
  test_bytes bytes = save(&m);
  const heed_model_file file = {"model.safetensors", test_source(bytes.data, bytes.size)};
  const heed_model_desc desc = {sizeof desc, &file, 1};
  heed_model *opened;
  heed_graph *graph;
  assert_ok(heed_model_open(context, &desc, &opened, &error));
  assert_fails(heed_model_build(opened, NULL, &graph, &error), HEED_INVALID_FILE,
               "periods is not valid (found 0, expected a number above 0)");
  heed_model_destroy(opened);
  free(bytes.data);
  free_model(&m);
}

/* ------------------------------------------------------------------------------- what is refused
 */

typedef struct refusal {
  const char *folder, *config;
  const char *without; /* a tensor left out, or NULL */
  const char *with;    /* one put in, [24] */
  const char *sentence;
} refusal;

#define HF_SIZES(heads, mlp, more)                                                                 \
  "{\"model_type\":\"dinov3_vit\",\"hidden_size\":24,\"intermediate_size\":" #mlp ","              \
  "\"num_hidden_layers\":2,\"num_attention_heads\":" #heads ",\"image_size\":20,\"patch_size\":4," \
  "\"num_register_tokens\":3" more "}"
#define HF_DINOV3(more) HF_SIZES(2, 40, more)
#define DINOV3 "dinov3", HF_DINOV3("")

static const refusal refusals[] = {
    {DINOV3, "layer.1.attention.q_proj.bias", NULL, "layer.1.attention.q_proj.bias is missing"},
    {DINOV3, "layer.0.attention.v_proj.bias", NULL, "layer.0.attention.v_proj.bias is missing"},
    {DINOV3, NULL, "layer.0.attention.k_proj.bias",
     "key_bias (by default) does not fit the weights"},
    {DINOV3, NULL, "layer.1.attention.k_proj.bias", "layer.0.attention.k_proj.bias is missing"},
    {DINOV3, NULL, "embeddings.position_embeddings", "does not fit family dinov3"},
    {DINOV3, NULL, "cls_norm.weight", "tensor cls_norm.weight does not fit family dinov3"},
    {DINOV3, NULL, "classifier.weight", "tensor classifier.weight does not fit family dinov3"},
    {DINOV3, "embeddings.cls_token", NULL, "embeddings.cls_token is missing"},
    {DINOV3, "embeddings.register_tokens", NULL, "num_register_tokens does not fit"},
    {DINOV3, "norm.weight", NULL, "norm.weight is missing"},
    {"dinov3", HF_DINOV3(",\"key_bias\":true"), NULL, NULL, "key_bias does not fit the weights"},
    {"dinov3", HF_DINOV3(",\"query_bias\":false"), NULL, NULL,
     "query_bias does not fit the weights"},
    {"dinov3", HF_DINOV3(",\"use_gated_mlp\":true"), NULL, NULL, "use_gated_mlp does not fit"},
    {"dinov3", HF_DINOV3(",\"rope_theta\":0"), NULL, NULL, "rope_theta is not valid"},
    {"dinov3", HF_DINOV3(",\"rope_theta\":\"100\""), NULL, NULL, "rope_theta is not valid"},
    {"dinov3", HF_SIZES(4, 40, ""), NULL, NULL, "heads of 6 numbers cannot be rotated"},
    {"dinov3_gated", HF_SIZES(3, 32, ",\"query_bias\":false"), NULL, NULL,
     "use_gated_mlp (by default) does not fit"},
    {"dinov3_original", NULL, "cls_token", NULL, "cls_token is missing"},
    {"dinov3_original", NULL, "rope_embed.periods", "rope_embed.periods",
     "rope_embed.periods has the wrong shape"},
    {"dinov3_timm", TIMM_OF("vit_small_patch16_dinov3", 24, 6, ""), "reg_token", NULL,
     "reg_token is missing"},
    {"dinov3_timm", TIMM_OF("vit_small_patch16_dinov3", 24, 6, ""), "blocks.1.attn.v_bias", NULL,
     "is missing"},
    {"dinov3_timm", TIMM_OF("vit_tiny_patch16_224", 24, 6, ""), NULL, NULL, "pos_embed is missing"},
    {"eva02", eva02, "pos_embed", NULL, "pos_embed is missing"},
    {"eva02", eva02, NULL, "blocks.0.attn.norm.weight", "blocks.0.attn.norm.bias is missing"},
    {"eva02", eva02, NULL, "rope.freqs", "rope.freqs has the wrong shape"},
    {"eva02", TIMM_OF("eva02_enormous_patch14_clip_224", 24, 2, ""), NULL, NULL,
     "(found eva02_enormous_patch14_clip_224 with a norm after each part"},
    {"eva02", TIMM_OF("eva02_x", 24, 2, ",\"rope_type\":\"mrope\""), NULL, NULL,
     "rope_type is not supported (found mrope, expected one of cat|dinov3|mixed)"},
    {"eva02", TIMM_OF("eva02_x", 24, 2, ",\"rope_grid_indexing\":\"yx\""), NULL, NULL,
     "rope_grid_indexing is not supported (found yx, expected one of ij|xy)"},
    {"eva02", TIMM_OF("eva02_x", 24, 2, ",\"rope_temperature\":-1"), NULL, NULL,
     "rope_temperature is not valid"},
    {"eva02", TIMM_OF("eva02_x", 24, 2, ",\"rope_type\":\"mixed\""), NULL, NULL,
     "rope.freqs is missing"},
    {"eva02_unfused", TIMM_OF("vit_tiny_patch16_224", 24, 3, ""), NULL, "timm_model.rope.freqs",
     "rope.freqs"},
    {"pe", TIMM_OF("vit_pe_lang_x", 24, 3, ""), "norm_pre.bias", NULL, "norm_pre.bias is missing"},
    {"pe", TIMM_OF("vit_pe_lang_x", 24, 3, ""), NULL, "norm.weight", "does not fit family pe"},
    {"rope_vit_mixed", TIMM_OF("vit_x_rope_mixed_224", 24, 3, ""), "rope.freqs", NULL,
     "rope.freqs is missing"},
    {"rope_vit_ape", TIMM_OF("vit_x_rope_ape_224", 24, 3, ""), "pos_embed", NULL,
     "pos_embed is missing"},
};

/* eva.py turns halves with cosines of pairs where rope_rotate_half is not that of the rope_type: no
 * rotation, and refused. */
static void mixed_layouts(void **state) {
  (void)state;
  static const char *const configs[] = {
      TIMM_OF("eva02_x", 24, 2, ",\"rope_rotate_half\":true"),
      TIMM_OF("eva02_x", 24, 2, ",\"rope_type\":\"dinov3\""),
      TIMM_OF("vit_x_dinov3", 24, 2, ",\"rope_rotate_half\":false"),
      TIMM_OF("vit_x_rope_mixed_224", 24, 2, ",\"rope_rotate_half\":true")};
  for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
    model m;
    take_vector(&m, "eva02");
    assert_fails(open_model(&m, configs[i]), HEED_UNSUPPORTED, "rope_rotate_half is not supported");
    free_model(&m);
  }
}

static void what_does_not_fit_is_named(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const refusal *r = &refusals[i];
    model m;
    take_vector(&m, r->folder);
    assert_int_equal(r->without == NULL && r->with == NULL && r->config == NULL, 0);
    if (r->without) drop(&m, r->without);
    if (r->with) add(&m, r->with, 0.0f, HEED_SHAPE(24));
    const heed_status status = open_model(&m, r->config);
    if (status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED)
      fail_msg("%s: found %s (expected: %s)", r->folder, heed_status_name(status), r->sentence);
    if (!strstr(error.message, r->sentence))
      fail_msg("%s: \"%s\" is not in: %s", r->folder, r->sentence, error.message);
    free_model(&m);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(fused_and_split_projections),
                                     cmocka_unit_test(packed_and_split_gates),
                                     cmocka_unit_test(dinov3_under_three_names),
                                     cmocka_unit_test(the_masked_bias_counts_as_zeros),
                                     cmocka_unit_test(angles_of_zero_are_no_rotation),
                                     cmocka_unit_test(periods_without_end_are_no_rotation),
                                     cmocka_unit_test(periods_of_zero_are_refused),
                                     cmocka_unit_test(mixed_layouts),
                                     cmocka_unit_test(what_does_not_fit_is_named)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
