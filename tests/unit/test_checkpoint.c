/* Checkpoints: one file or shards, names of every style resolved to the same numbers, sizes with and without a config. */
#include "support/test_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "model/role.h"
#include "support/weights.h"

/* ------------------------------------------------------------------------------------------- a model's files, made in memory */

/* A list of tensors whose element i is `seed` + i / 1024, so that every tensor can be told from every other. */
#define MOST 128
typedef struct model {
  heed_safetensors_item items[MOST];
  char names[MOST][96];
  uint32_t count;
} model;

static void add(model *m, const char *name, float seed, heed_shape shape) {
  const size_t count = (size_t)heed_shape_count(&shape);
  float *data = malloc((count ? count : 1) * sizeof *data);
  assert_true(m->count < MOST);
  for (size_t i = 0; i < count; i++) data[i] = seed + (float)i / 1024.0f;
  snprintf(m->names[m->count], sizeof m->names[0], "%s", name);
  m->items[m->count] = (heed_safetensors_item){m->names[m->count], HEED_F32, shape, data};
  m->count++;
}

static void free_model(model *m) {
  for (uint32_t i = 0; i < m->count; i++) free((void *)(uintptr_t)m->items[i].data);
  m->count = 0;
}

static void drop(model *m, const char *name) {
  for (uint32_t i = 0; i < m->count; i++)
    if (strcmp(m->names[i], name) == 0) {
      free((void *)(uintptr_t)m->items[i].data);
      memmove(&m->items[i], &m->items[i + 1], (MOST - i - 1) * sizeof *m->items);
      memmove(&m->names[i], &m->names[i + 1], (MOST - i - 1) * sizeof *m->names);
      m->count--;
      for (uint32_t j = i; j < m->count; j++) m->items[j].name = m->names[j];
      return;
    }
  fail_msg("no tensor %s to drop", name);
}

static test_bytes save(const model *m) {
  test_bytes bytes = {NULL, 0};
  assert_ok(heed_safetensors_write(context, m->items, m->count, NULL, 0, test_bytes_append, &bytes, &error));
  return bytes;
}

enum { WIDTH = 64, MLP = 96, LAYERS = 2, PATCH = 4, GRID = 3, CLASSES = 5 };

/* name[0..]: the layer's part before the number, norm1, query, key, value, output, norm2, fc1, fc2 */
typedef struct spelling {
  const char *prefix, *embeddings, *positions, *patch, *layer, *part[8], *norm, *head;
} spelling;
static const spelling old_names = {"vit.",
                                   "embeddings.cls_token",
                                   "embeddings.position_embeddings",
                                   "embeddings.patch_embeddings.projection",
                                   "encoder.layer.",
                                   {"layernorm_before", "attention.attention.query", "attention.attention.key", "attention.attention.value",
                                    "attention.output.dense", "layernorm_after", "intermediate.dense", "output.dense"},
                                   "layernorm",
                                   "classifier"};
static const spelling new_names = {"vit.",
                                   "embeddings.cls_token",
                                   "embeddings.position_embeddings",
                                   "embeddings.patch_embeddings.projection",
                                   "layers.",
                                   {"layernorm_before", "attention.q_proj", "attention.k_proj", "attention.v_proj", "attention.o_proj",
                                    "layernorm_after", "mlp.fc1", "mlp.fc2"},
                                   "layernorm",
                                   "classifier"};
static const spelling timm_names = {"",          "cls_token",
                                    "pos_embed", "patch_embed.proj",
                                    "blocks.",   {"norm1", "attn.qkv", NULL, NULL, "attn.proj", "norm2", "mlp.fc1", "mlp.fc2"},
                                    "norm",      "head"};

static void add_linear(model *m, const char *name, float seed, uint32_t out, uint32_t in) {
  char full[200];
  snprintf(full, sizeof full, "%s.weight", name);
  add(m, full, seed, in ? HEED_SHAPE(out, in) : HEED_SHAPE(out));
  snprintf(full, sizeof full, "%s.bias", name);
  add(m, full, seed + 50.0f, HEED_SHAPE(out));
}

static void make_model(model *m, const spelling *s, const char *prefix) {
  char name[160];
  m->count = 0;
#define NAME(text) (snprintf(name, sizeof name, "%s%s", prefix, text), name)
  add(m, NAME(s->embeddings), 1.0f, HEED_SHAPE(1, 1, WIDTH));
  add(m, NAME(s->positions), 2.0f, HEED_SHAPE(1, GRID * GRID + 1, WIDTH));
  snprintf(name, sizeof name, "%s%s.weight", prefix, s->patch);
  add(m, name, 3.0f, HEED_SHAPE(WIDTH, 3, PATCH, PATCH));
  snprintf(name, sizeof name, "%s%s.bias", prefix, s->patch);
  add(m, name, 53.0f, HEED_SHAPE(WIDTH));
  for (int layer = 0; layer < LAYERS; layer++)
    for (int part = 0; part < 8; part++) {
      const bool fused = part == 1 && !s->part[2];
      if (!s->part[part]) continue;
      snprintf(name, sizeof name, "%s%s%d.%s", prefix, s->layer, layer, s->part[part]);
      add_linear(m, name, 100.0f * (float)(layer + 1) + (float)part,
                 fused       ? 3 * WIDTH
                 : part == 6 ? MLP
                             : WIDTH,
                 part % 5 == 0 ? 0
                 : part == 7   ? MLP
                               : WIDTH);
    }
  add_linear(m, NAME(s->norm), 4.0f, WIDTH, 0);
  add_linear(m, s->head, 5.0f, CLASSES, WIDTH);
#undef NAME
}

/* ---------------------------------------------------------------------------------------------------------------- one loaded */

typedef struct loaded {
  test_bytes bytes;
  heed_config *config;
  heed_checkpoint *checkpoint;
  heed_roles roles;
  heed_vit_dimensions d;
} loaded;

static heed_status load(loaded *l, const model *m, const char *config_text) {
  heed_model_file files[2];
  memset(l, 0, sizeof *l);
  l->bytes = save(m);
  files[0] = (heed_model_file){"model.safetensors", test_source(l->bytes.data, l->bytes.size)};
  if (config_text) files[1] = (heed_model_file){"config.json", test_source(config_text, strlen(config_text))};
  heed_status status = heed_config_open(context, files, config_text ? 2 : 1, &l->config, &error);
  if (status == HEED_OK) status = heed_checkpoint_open(context, files, config_text ? 2 : 1, &l->checkpoint, &error);
  if (status == HEED_OK) status = heed_roles_detect(l->checkpoint, l->config, &l->roles, &error);
  if (status == HEED_OK) status = heed_roles_dimensions(&l->roles, l->config, &l->d, &error);
  return status;
}

static void unload(loaded *l) {
  heed_checkpoint_destroy(l->checkpoint);
  heed_config_destroy(l->config);
  free(l->bytes.data);
}

static heed_status take(const loaded *l, heed_role role, uint32_t layer, heed_shape shape, heed_role_ref *ref) {
  return heed_checkpoint_role(&l->roles, role, layer, &shape, ref, &error);
}

static void want(const loaded *l, heed_role role, uint32_t layer, heed_shape shape, float seed, uint64_t skipped) {
  heed_role_ref ref;
  float first;
  assert_ok(take(l, role, layer, shape, &ref));
  assert_non_null(ref.tensor);
  assert_int_equal(ref.count, heed_shape_count(&shape));
  assert_ok(heed_checkpoint_read(ref.tensor, ref.first, 1, &first, &error));
  assert_true(first == seed + (float)skipped / 1024.0f);
}

/* Every role of every layer has the numbers that make_model gave it; nothing is left. */
static void check_all(const loaded *l, bool fused) {
  const heed_shape c = HEED_SHAPE(WIDTH), cc = HEED_SHAPE(WIDTH, WIDTH);
  want(l, HEED_ROLE_CLS_TOKEN, 0, HEED_SHAPE(1, 1, WIDTH), 1.0f, 0);
  want(l, HEED_ROLE_POSITION_EMBEDDINGS, 0, HEED_SHAPE(1, GRID * GRID + 1, WIDTH), 2.0f, 0);
  want(l, HEED_ROLE_PATCH_WEIGHT, 0, HEED_SHAPE(WIDTH, 3, PATCH, PATCH), 3.0f, 0);
  want(l, HEED_ROLE_PATCH_BIAS, 0, c, 53.0f, 0);
  for (uint32_t i = 0; i < LAYERS; i++) {
    const float base = 100.0f * (float)(i + 1);
    want(l, HEED_ROLE_NORM1_WEIGHT, i, c, base, 0);
    want(l, HEED_ROLE_NORM1_BIAS, i, c, base + 50, 0);
    for (uint32_t part = 0; part < 3; part++) { /* query, key, value */
      const float seed = base + (fused ? 1.0f : (float)part + 1);
      want(l, (heed_role)(HEED_ROLE_QUERY_WEIGHT + 2 * part), i, cc, seed, fused ? (uint64_t)part * WIDTH * WIDTH : 0);
      want(l, (heed_role)(HEED_ROLE_QUERY_BIAS + 2 * part), i, c, seed + 50, fused ? (uint64_t)part * WIDTH : 0);
    }
    want(l, HEED_ROLE_ATTENTION_OUTPUT_WEIGHT, i, cc, base + 4, 0);
    want(l, HEED_ROLE_ATTENTION_OUTPUT_BIAS, i, c, base + 54, 0);
    want(l, HEED_ROLE_NORM2_WEIGHT, i, c, base + 5, 0);
    want(l, HEED_ROLE_NORM2_BIAS, i, c, base + 55, 0);
    want(l, HEED_ROLE_FC1_WEIGHT, i, HEED_SHAPE(MLP, WIDTH), base + 6, 0);
    want(l, HEED_ROLE_FC1_BIAS, i, HEED_SHAPE(MLP), base + 56, 0);
    want(l, HEED_ROLE_FC2_WEIGHT, i, HEED_SHAPE(WIDTH, MLP), base + 7, 0);
    want(l, HEED_ROLE_FC2_BIAS, i, c, base + 57, 0);
  }
  want(l, HEED_ROLE_FINAL_NORM_WEIGHT, 0, c, 4.0f, 0);
  want(l, HEED_ROLE_FINAL_NORM_BIAS, 0, c, 54.0f, 0);
  want(l, HEED_ROLE_CLASSIFIER_WEIGHT, 0, HEED_SHAPE(CLASSES, WIDTH), 5.0f, 0);
  want(l, HEED_ROLE_CLASSIFIER_BIAS, 0, HEED_SHAPE(CLASSES), 55.0f, 0);
  assert_ok(heed_roles_check_unused(&l->roles, &error));
}

static const char config_text[] = "{\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":96,\"image_"
                                  "size\":12,\"patch_size\":4,\"num_labels\":5}";

/* -------------------------------------------------------------------------------------------------------------------- styles */

static void every_style(void **state) {
  (void)state;
  static const struct {
    const spelling *names;
    const char *prefix;
    heed_style style;
    heed_family family;
    const char *text;
  } cases[] = {{&old_names, "vit.", HEED_STYLE_HF, HEED_FAMILY_VIT, "Hugging Face names, prefix vit., family vit"},
               {&old_names, "", HEED_STYLE_HF, HEED_FAMILY_VIT, "Hugging Face names, prefix none, family vit"},
               {&old_names, "deit.", HEED_STYLE_HF, HEED_FAMILY_DEIT, "Hugging Face names, prefix deit., family deit"},
               {&new_names, "vit.", HEED_STYLE_HF_NEW, HEED_FAMILY_VIT, "Hugging Face names of 2025, prefix vit., family vit"},
               {&new_names, "", HEED_STYLE_HF_NEW, HEED_FAMILY_VIT, "Hugging Face names of 2025, prefix none, family vit"},
               {&timm_names, "", HEED_STYLE_TIMM, HEED_FAMILY_TIMM, "timm names, prefix none, family timm"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int with_config = 0; with_config < 2; with_config++) {
      model m;
      loaded l;
      char text[128];
      heed_checkpoint_totals totals;
      make_model(&m, cases[i].names, cases[i].prefix);
      assert_ok(load(&l, &m, with_config ? config_text : NULL));
      assert_int_equal(l.roles.style, cases[i].style);
      assert_int_equal(l.roles.family, cases[i].family);
      assert_string_equal(l.roles.prefix, cases[i].prefix);
      assert_string_equal(heed_roles_text(&l.roles, text, sizeof text), cases[i].text);
      assert_int_equal(l.d.width, WIDTH);
      assert_int_equal(l.d.layers, LAYERS);
      assert_int_equal(l.d.heads, with_config ? 4 : 1);
      assert_int_equal(l.d.mlp_width, MLP);
      assert_int_equal(l.d.image_size, GRID * PATCH);
      assert_int_equal(l.d.patch, PATCH);
      assert_int_equal(l.d.channels, 3);
      assert_int_equal(l.d.classes, CLASSES);
      assert_int_equal(l.d.prefix_tokens, 1);
      assert_int_equal(l.d.position_rows, GRID * GRID + 1);
      assert_int_equal(l.d.position_prefix, 1);
      assert_true(l.d.epsilon == (cases[i].style == HEED_STYLE_TIMM && !with_config ? 1e-6f : 1e-12f));
      check_all(&l, cases[i].style == HEED_STYLE_TIMM);
      heed_checkpoint_total(l.checkpoint, &totals);
      assert_int_equal(totals.used, m.count);
      assert_int_equal(totals.unused, 0);
      assert_int_equal(totals.bytes, 4 * totals.elements);
      unload(&l);
      free_model(&m);
    }
}

static void wrapped_prefix(void **state) {
  (void)state;
  model m;
  loaded l;
  make_model(&m, &timm_names, "timm_model.");
  drop(&m, "head.weight");
  drop(&m, "head.bias");
  add_linear(&m, "timm_model.head", 5.0f, CLASSES, WIDTH);
  assert_ok(load(&l, &m, NULL));
  assert_string_equal(l.roles.prefix, "timm_model.");
  check_all(&l, true);
  unload(&l);
  free_model(&m);
  make_model(&m, &old_names, "module.vit.");
  drop(&m, "classifier.weight");
  drop(&m, "classifier.bias");
  add_linear(&m, "module.classifier", 5.0f, CLASSES, WIDTH);
  assert_ok(load(&l, &m, NULL));
  assert_string_equal(l.roles.outer, "module.");
  check_all(&l, false);
  unload(&l);
  free_model(&m);
}

static void distilled_deit(void **state) {
  (void)state;
  model m;
  loaded l;
  heed_role_ref ref;
  make_model(&m, &old_names, "deit.");
  drop(&m, "deit.embeddings.position_embeddings");
  drop(&m, "classifier.weight");
  drop(&m, "classifier.bias");
  add(&m, "deit.embeddings.position_embeddings", 2.0f, HEED_SHAPE(1, GRID * GRID + 2, WIDTH));
  add(&m, "deit.embeddings.distillation_token", 6.0f, HEED_SHAPE(1, 1, WIDTH));
  add_linear(&m, "cls_classifier", 7.0f, CLASSES, WIDTH);
  add_linear(&m, "distillation_classifier", 8.0f, CLASSES, WIDTH);
  add_linear(&m, "deit.pooler.dense", 9.0f, WIDTH, WIDTH);
  assert_ok(load(&l, &m, config_text));
  assert_int_equal(l.roles.family, HEED_FAMILY_DEIT);
  assert_true(l.d.distillation);
  assert_int_equal(l.d.prefix_tokens, 2);
  assert_int_equal(l.d.position_prefix, 2);
  assert_int_equal(l.d.position_rows, GRID * GRID + 2);
  want(&l, HEED_ROLE_DISTILLATION_TOKEN, 0, HEED_SHAPE(1, 1, WIDTH), 6.0f, 0);
  want(&l, HEED_ROLE_CLASSIFIER_WEIGHT, 0, HEED_SHAPE(CLASSES, WIDTH), 7.0f, 0);
  want(&l, HEED_ROLE_DISTILLATION_CLASSIFIER_BIAS, 0, HEED_SHAPE(CLASSES), 58.0f, 0);
  want(&l, HEED_ROLE_POOLER_WEIGHT, 0, HEED_SHAPE(WIDTH, WIDTH), 9.0f, 0);
  assert_ok(take(&l, HEED_ROLE_LAYER_SCALE1, 0, HEED_SHAPE(WIDTH), &ref));
  assert_null(ref.tensor);
  unload(&l);
  free_model(&m);
}

static void timm_registers_and_scales(void **state) {
  (void)state;
  model m;
  loaded l;
  make_model(&m, &timm_names, "");
  drop(&m, "pos_embed");
  add(&m, "pos_embed", 2.0f, HEED_SHAPE(1, GRID * GRID, WIDTH)); /* no_embed_class */
  add(&m, "reg_token", 6.0f, HEED_SHAPE(1, 4, WIDTH));
  add(&m, "blocks.1.ls1.gamma", 7.0f, HEED_SHAPE(WIDTH));
  assert_ok(load(&l, &m, NULL));
  assert_int_equal(l.d.registers, 4);
  assert_int_equal(l.d.prefix_tokens, 5);
  assert_int_equal(l.d.position_prefix, 0);
  assert_int_equal(l.d.image_size, GRID * PATCH);
  want(&l, HEED_ROLE_REGISTER_TOKENS, 0, HEED_SHAPE(1, 4, WIDTH), 6.0f, 0);
  want(&l, HEED_ROLE_LAYER_SCALE1, 1, HEED_SHAPE(WIDTH), 7.0f, 0);
  unload(&l);
  free_model(&m);
}

static void stacked_projection(void **state) {
  (void)state;
  const spelling *names[] = {&old_names, &timm_names};
  for (int n = 0; n < 2; n++) {
    model m;
    loaded l;
    enum { WHOLE = 3 * WIDTH };
    float all[WHOLE], part[WHOLE];
    heed_weight weight = {.count = 3};
    make_model(&m, names[n], names[n]->prefix);
    assert_ok(load(&l, &m, config_text));
    for (uint32_t i = 0; i < 3; i++) assert_ok(take(&l, (heed_role)(HEED_ROLE_QUERY_BIAS + 2 * i), 1, HEED_SHAPE(WIDTH), &weight.part[i]));
    if (n == 0) weight.part[1].tensor = NULL; /* as an optional one that is absent */
    assert_ok(heed_weight_read(&weight, 0, WHOLE, all, &error));
    assert_true(all[0] == 251.0f);
    assert_true(all[WIDTH] == (n ? 251.0f + WIDTH / 1024.0f : 0.0f));
    assert_true(all[2 * WIDTH + 1] == (n ? 251.0f + (2 * WIDTH + 1) / 1024.0f : 253.0f + 1.0f / 1024.0f));
    for (uint64_t first = 0; first < WHOLE; first += 31)
      for (uint64_t count = 0; first + count <= WHOLE; count += 29) {
        assert_ok(heed_weight_read(&weight, first, count, part, &error));
        assert_memory_equal(part, all + first, (size_t)count * sizeof *part);
      }
    assert_fails(heed_weight_read(&weight, 1, WHOLE, part, &error), HEED_INVALID_ARGUMENT, "past its end");
    unload(&l);
    free_model(&m);
  }
}

/* Without any bias of query, key and value when neither config nor file has one; a bias that is lost is missing. */
static void lost_biases(void **state) {
  (void)state;
  static const char *const all[] = {
      "vit.encoder.layer.0.attention.attention.query.bias", "vit.encoder.layer.0.attention.attention.key.bias",
      "vit.encoder.layer.0.attention.attention.value.bias", "vit.encoder.layer.1.attention.attention.query.bias",
      "vit.encoder.layer.1.attention.attention.key.bias",   "vit.encoder.layer.1.attention.attention.value.bias"};
  static const char *const needed[] = {"classifier.bias", "vit.embeddings.patch_embeddings.projection.bias"};
  static const heed_role roles[] = {HEED_ROLE_CLASSIFIER_BIAS, HEED_ROLE_PATCH_BIAS};
  model m;
  loaded l;
  heed_role_ref ref;
  make_model(&m, &old_names, "vit.");
  for (int i = 0; i < 5; i++) drop(&m, all[i]);
  assert_ok(load(&l, &m, NULL));
  assert_fails(take(&l, HEED_ROLE_QUERY_BIAS, 0, HEED_SHAPE(WIDTH), &ref), HEED_INVALID_FILE, "query.bias is missing");
  unload(&l);
  drop(&m, all[5]);
  assert_ok(load(&l, &m, NULL));
  assert_ok(take(&l, HEED_ROLE_QUERY_BIAS, 0, HEED_SHAPE(WIDTH), &ref));
  assert_null(ref.tensor);
  unload(&l);
  assert_ok(load(&l, &m, config_text));
  assert_fails(take(&l, HEED_ROLE_VALUE_BIAS, 1, HEED_SHAPE(WIDTH), &ref), HEED_INVALID_FILE, "value.bias is missing");
  unload(&l);
  for (int i = 0; i < 2; i++) {
    drop(&m, needed[i]);
    assert_ok(load(&l, &m, NULL));
    assert_fails(take(&l, roles[i], 0, HEED_SHAPE(WIDTH), &ref), HEED_INVALID_FILE, needed[i]);
    unload(&l);
  }
  free_model(&m);
}

static void oracle_model(void **state) {
  (void)state;
  size_t size, config_size;
  unsigned char *bytes = test_read_vector("vit/micro_32/model.safetensors", &size),
                *text = test_read_vector("vit/micro_32/config.json", &config_size);
  const heed_model_file files[] = {{"config.json", test_source(text, config_size)}, {"model.safetensors", test_source(bytes, size)}};
  heed_config *config;
  heed_checkpoint *checkpoint;
  heed_roles roles;
  heed_vit_dimensions d;
  assert_ok(heed_config_open(context, files, 2, &config, &error));
  assert_ok(heed_checkpoint_open(context, files, 2, &checkpoint, &error));
  assert_ok(heed_roles_detect(checkpoint, config, &roles, &error));
  assert_ok(heed_roles_dimensions(&roles, config, &d, &error));
  assert_int_equal(d.width, 32);
  assert_int_equal(d.heads, 4);
  assert_int_equal(d.position_rows, 5);
  assert_int_equal(d.classes, 5);
  assert_int_equal(heed_checkpoint_count(checkpoint), 40);
  heed_checkpoint_destroy(checkpoint);
  heed_config_destroy(config);
  free(bytes);
  free(text);
}

/* ---------------------------------------------------------------------------------------------------------------- wrong models */

static void wrong_tensors(void **state) {
  (void)state;
  model m;
  loaded l;
  heed_role_ref ref;
  make_model(&m, &old_names, "vit.");
  drop(&m, "vit.encoder.layer.1.output.dense.weight");
  add(&m, "vit.encoder.layer.1.output.dense.more", 0.0f, HEED_SHAPE(1));
  assert_ok(load(&l, &m, config_text));
  assert_fails(take(&l, HEED_ROLE_FC2_WEIGHT, 1, HEED_SHAPE(WIDTH, MLP), &ref), HEED_INVALID_FILE,
               "model.safetensors: tensor vit.encoder.layer.1.output.dense.weight is missing");
  assert_fails(
      take(&l, HEED_ROLE_FC1_WEIGHT, 0, HEED_SHAPE(MLP, WIDTH + 1), &ref), HEED_INVALID_FILE,
      "model.safetensors: tensor vit.encoder.layer.0.intermediate.dense.weight has the wrong shape (found [96, 64], expected [96, 65])");
  assert_fails(take(&l, HEED_ROLE_CLS_TOKEN, 0, HEED_SHAPE(WIDTH), &ref), HEED_INVALID_FILE,
               "has the wrong shape (found [1, 1, 64], expected [64])");
  assert_fails(heed_roles_check_unused(&l.roles, &error), HEED_UNSUPPORTED, "is not part of a model of the family vit");
  unload(&l);
  free_model(&m);
  make_model(&m, &timm_names, "");
  assert_ok(load(&l, &m, NULL));
  assert_fails(take(&l, HEED_ROLE_KEY_WEIGHT, 0, HEED_SHAPE(32, WIDTH), &ref), HEED_INVALID_FILE,
               "tensor blocks.0.attn.qkv.weight has the wrong shape (found [192, 64], expected [96, 64])");
  unload(&l);
  free_model(&m);
}

static void wrong_dtypes(void **state) {
  (void)state;
  model m;
  loaded l;
  heed_role_ref ref;
  make_model(&m, &old_names, "vit.");
  for (uint32_t i = 0; i < m.count; i++)
    if (strcmp(m.names[i], "vit.layernorm.weight") == 0) m.items[i].dtype = HEED_I32;
  assert_ok(load(&l, &m, config_text));
  assert_fails(take(&l, HEED_ROLE_FINAL_NORM_WEIGHT, 0, HEED_SHAPE(WIDTH), &ref), HEED_UNSUPPORTED,
               "tensor vit.layernorm.weight has the wrong dtype (found I32, expected F32, F16 or BF16)");
  unload(&l);
  free_model(&m);
  test_bytes bytes = test_safetensors("{\"x\":{\"dtype\":\"F64\",\"shape\":[1],\"data_offsets\":[0,8]}}", 8);
  const heed_model_file file = {"any.safetensors", test_source(bytes.data, bytes.size)};
  heed_checkpoint *checkpoint;
  heed_checkpoint_tensor *tensor;
  assert_ok(heed_checkpoint_open(context, &file, 1, &checkpoint, &error));
  assert_fails(heed_checkpoint_need(checkpoint, "x", &HEED_SHAPE(1), &tensor, &error), HEED_UNSUPPORTED,
               "any.safetensors: tensor x is not supported (found F64");
  assert_fails(heed_checkpoint_need(checkpoint, "y", &HEED_SHAPE(1, 2), &tensor, &error), HEED_INVALID_FILE,
               "any.safetensors: tensor y is missing (expected shape [1, 2])");
  heed_checkpoint_destroy(checkpoint);
  free(bytes.data);
}

/* What heed does not know in a layer, or in the model's own part of the names, is refused; heads and training's leftovers are not. */
static void unknown_tensors(void **state) {
  (void)state;
  static const struct {
    const spelling *names;
    const char *extra;
    bool fine;
  } cases[] = {{&old_names, "vit.encoder.layer.0.attention.attention.relative_position_bias.table", false},
               {&old_names, "vit.encoder.layer.2.output.dense.weight", false},
               {&old_names, "vit.embeddings.mask_token", true},
               {&old_names, "decoder.0.weight", true},
               {&timm_names, "blocks.0.attn.q_norm.weight", false},
               {&timm_names, "norm_pre.weight", false},
               {&timm_names, "head_dist_.weight", true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    loaded l;
    make_model(&m, cases[i].names, cases[i].names->prefix);
    add(&m, cases[i].extra, 0.0f, HEED_SHAPE(3));
    assert_ok(load(&l, &m, config_text));
    for (uint32_t t = 0; t < m.count - 1; t++)
      assert_ok(heed_checkpoint_use(heed_checkpoint_find(l.checkpoint, m.names[t]), &m.items[t].shape, &error));
    if (cases[i].fine)
      assert_ok(heed_roles_check_unused(&l.roles, &error));
    else
      assert_fails(heed_roles_check_unused(&l.roles, &error), HEED_UNSUPPORTED, cases[i].extra);
    unload(&l);
    free_model(&m);
  }
}

static void no_model(void **state) {
  (void)state;
  model m = {.count = 0};
  loaded l;
  add(&m, "encoder.weight", 0.0f, HEED_SHAPE(1));
  assert_fails(
      load(&l, &m, NULL), HEED_UNSUPPORTED,
      "model.safetensors: no ViT is in it (found none of encoder.layer.0.layernorm_before.weight, layers.0.layernorm_before.weight");
  unload(&l);
  add(&m, "a.blocks.0.norm1.weight", 0.0f, HEED_SHAPE(1));
  add(&m, "b.blocks.0.norm1.weight", 0.0f, HEED_SHAPE(1));
  assert_fails(load(&l, &m, NULL), HEED_UNSUPPORTED,
               "more than one ViT is in it (found a.blocks.0.norm1.weight and b.blocks.0.norm1.weight");
  unload(&l);
  free_model(&m);
}

static void replace(model *m, const char *name, heed_shape shape) {
  drop(m, name);
  add(m, name, 0.0f, shape);
}

static void refuse_sizes(model *m, const char *text, heed_status status, const char *part) {
  loaded l;
  assert_fails(load(&l, m, text), status, part);
  unload(&l);
  free_model(m);
}

static void sizes_that_do_not_fit(void **state) {
  (void)state;
  model m;
  loaded l;
  heed_role_ref ref;
  make_model(&m, &timm_names, "");
  replace(&m, "patch_embed.proj.weight", HEED_SHAPE(WIDTH, 3, PATCH, 5));
  refuse_sizes(&m, NULL, HEED_UNSUPPORTED, "patches are not square (found 4 x 5)");
  make_model(&m, &timm_names, "");
  replace(&m, "patch_embed.proj.weight", HEED_SHAPE(WIDTH, 3, 0, 0));
  refuse_sizes(&m, NULL, HEED_INVALID_FILE,
               "patch_embed.proj.weight has the wrong shape (found [64, 3, 0, 0], expected 4 axes of 1 to 1048576)");
  make_model(&m, &timm_names, "");
  replace(&m, "patch_embed.proj.weight", HEED_SHAPE(48, 3, PATCH, PATCH));
  refuse_sizes(&m, NULL, HEED_INVALID_FILE, "the number of heads is not known (found width 48");
  make_model(&m, &timm_names, "");
  replace(&m, "pos_embed", HEED_SHAPE(1, 8, WIDTH));
  refuse_sizes(&m, NULL, HEED_INVALID_FILE, "not those of a square image (found 8 rows");
  make_model(&m, &timm_names, "");
  replace(&m, "pos_embed", HEED_SHAPE(8, WIDTH));
  refuse_sizes(&m, NULL, HEED_INVALID_FILE, "pos_embed has the wrong shape (found [8, 64], expected 3 axes");
  make_model(&m, &timm_names, "");
  drop(&m, "pos_embed");
  refuse_sizes(&m, NULL, HEED_INVALID_FILE, "tensor pos_embed is missing");
  make_model(&m, &timm_names, "");
  drop(&m, "patch_embed.proj.weight");
  refuse_sizes(&m, NULL, HEED_INVALID_FILE, "tensor patch_embed.proj.weight is missing");
  make_model(&m, &old_names, "");
  refuse_sizes(
      &m,
      "{\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":96,\"image_size\":3,\"patch_size\":4}",
      HEED_INVALID_FILE, "image and patch do not fit each other (found 3 and 4");
  make_model(&m, &old_names, "");
  refuse_sizes(&m,
               "{\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":96,\"image_size\":1048576,"
               "\"patch_size\":4}",
               HEED_INVALID_FILE, "image and patch do not fit each other");
  make_model(&m, &old_names, "");
  assert_ok(load(&l, &m,
                 "{\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":96,\"image_size\":16,\"patch_"
                 "size\":4}"));
  assert_fails(take(&l, HEED_ROLE_POSITION_EMBEDDINGS, 0, HEED_SHAPE(1, l.d.position_rows, WIDTH), &ref), HEED_INVALID_FILE,
               "has the wrong shape (found [1, 10, 64], expected [1, 17, 64])");
  unload(&l);
  free_model(&m);
}

/* -------------------------------------------------------------------------------------------------------------------- shards */

static heed_status open_shards(const char *index, const model *first, const model *second, const char *second_name,
                               heed_checkpoint **checkpoint) {
  test_bytes a = save(first), b = save(second);
  const heed_model_file files[] = {{"model.safetensors.index.json", test_source(index, strlen(index))},
                                   {"model-00001-of-00002.safetensors", test_source(a.data, a.size)},
                                   {second_name, test_source(b.data, b.size)}};
  const heed_status status = heed_checkpoint_open(context, files, 3, checkpoint, &error);
  float value;
  if (status == HEED_OK) {
    assert_ok(heed_checkpoint_read(heed_checkpoint_find(*checkpoint, "in.b"), 0, 1, &value, &error));
    assert_true(value == 2.0f);
    assert_int_equal(heed_checkpoint_count(*checkpoint), 3);
    heed_checkpoint_destroy(*checkpoint);
  }
  free(a.data);
  free(b.data);
  return status;
}

#define ONE "model-00001-of-00002.safetensors"
#define TWO "model-00002-of-00002.safetensors"

static void shards(void **state) {
  (void)state;
  model a = {.count = 0}, b = {.count = 0};
  heed_checkpoint *checkpoint;
  add(&a, "in.a", 1.0f, HEED_SHAPE(2));
  add(&b, "in.b", 2.0f, HEED_SHAPE(2));
  add(&b, "not.listed", 3.0f, HEED_SHAPE(2));
#define INDEX(map) "{\"metadata\":{\"total_size\":16},\"weight_map\":" map "}"
  assert_ok(open_shards(INDEX("{\"in.a\":\"" ONE "\",\"in.b\":\"" TWO "\"}"), &a, &b, TWO, &checkpoint));
  assert_fails(open_shards(INDEX("{\"in.a\":\"" ONE "\",\"in.b\":\"" TWO "\"}"), &a, &b, "other.safetensors", &checkpoint),
               HEED_INVALID_FILE, "model.safetensors.index.json: the file " TWO " is missing");
  assert_fails(open_shards(INDEX("{\"in.a\":\"" TWO "\"}"), &a, &b, TWO, &checkpoint), HEED_INVALID_FILE,
               TWO ": tensor in.a is missing (expected it there by model.safetensors.index.json)");
  assert_fails(open_shards(INDEX("{\"in.a\":3}"), &a, &b, TWO, &checkpoint), HEED_INVALID_FILE, "tensor in.a has no file (found a number");
  static const char *const bad[] = {"../" ONE, "/etc/x.safetensors", "a\\\\b.safetensors",  "model.bin",
                                    "",        ".safetensors",       "x.safetensors\\u0000"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    char index[256];
    snprintf(index, sizeof index, INDEX("{\"in.a\":\"%s\"}"), bad[i]);
    assert_fails(open_shards(index, &a, &b, TWO, &checkpoint), HEED_INVALID_FILE, "tensor in.a is not in a plain file");
  }
  assert_fails(open_shards(INDEX("[]"), &a, &b, TWO, &checkpoint), HEED_INVALID_FILE, "it has no weight_map (found an array");
  assert_fails(open_shards(INDEX("{}"), &a, &b, TWO, &checkpoint), HEED_INVALID_FILE, "it has no weight_map");
  assert_fails(open_shards("{}", &a, &b, TWO, &checkpoint), HEED_INVALID_FILE, "it has no weight_map (found nothing");
  assert_fails(open_shards("[", &a, &b, TWO, &checkpoint), HEED_INVALID_FILE, "model.safetensors.index.json: expected a value");
  add(&a, "in.b", 4.0f, HEED_SHAPE(1));
  assert_fails(open_shards(INDEX("{\"in.a\":\"" ONE "\",\"in.b\":\"" TWO "\"}"), &a, &b, TWO, &checkpoint), HEED_INVALID_FILE,
               TWO ": tensor in.b is in another file too (found it in " ONE ")");
  free_model(&a);
  free_model(&b);
}

static void which_file(void **state) {
  (void)state;
  model m = {.count = 0};
  heed_checkpoint *checkpoint;
  add(&m, "x", 1.0f, HEED_SHAPE(1));
  test_bytes bytes = save(&m);
  const heed_source source = test_source(bytes.data, bytes.size);
  const heed_model_file files[] = {
      {"config.json", source}, {"vit_tiny.safetensors", source}, {"model.safetensors", source}, {"b.safetensors", source}};
  assert_fails(heed_checkpoint_open(context, files, 0, &checkpoint, &error), HEED_INVALID_FILE,
               "model.safetensors: it is missing (found 0 other files");
  assert_fails(heed_checkpoint_open(context, files, 1, &checkpoint, &error), HEED_INVALID_FILE,
               "model.safetensors: it is missing (found 1 other files");
  assert_ok(heed_checkpoint_open(context, files, 2, &checkpoint, &error));
  assert_string_equal(heed_checkpoint_name(checkpoint), "vit_tiny.safetensors");
  heed_checkpoint_destroy(checkpoint);
  assert_ok(heed_checkpoint_open(context, files, 4, &checkpoint, &error));
  assert_string_equal(heed_checkpoint_name(checkpoint), "model.safetensors");
  heed_checkpoint_destroy(checkpoint);
  const heed_model_file two[] = {files[1], files[3]};
  assert_fails(heed_checkpoint_open(context, two, 2, &checkpoint, &error), HEED_INVALID_FILE,
               "model.safetensors.index.json: it is missing (found 2 files");
  assert_null(checkpoint);
  free(bytes.data);
  free_model(&m);
}

static void allocation_failures(void **state) {
  (void)state;
  model a = {.count = 0}, b = {.count = 0};
  add(&a, "in.a", 1.0f, HEED_SHAPE(2));
  add(&b, "in.b", 2.0f, HEED_SHAPE(2));
  test_bytes first = save(&a), second = save(&b);
  static const char index[] = "{\"weight_map\":{\"in.a\":\"" ONE "\",\"in.b\":\"" TWO "\"}}";
  const heed_model_file files[] = {{"model.safetensors.index.json", test_source(index, sizeof index - 1)},
                                   {ONE, test_callback_source(&first)},
                                   {TWO, test_source(second.data, second.size)}};
  bool done = false;
  for (size_t n = 1; !done; n++) {
    test_allocator allocator = {0};
    heed_context_desc desc = test_context_desc(&allocator);
    heed_context *failing;
    heed_checkpoint *checkpoint;
    assert_ok(heed_context_create(&desc, &failing, &error));
    allocator.total = 0;
    allocator.fail_at = n;
    const heed_status status = heed_checkpoint_open(failing, files, 3, &checkpoint, &error);
    done = allocator.total < n;
    assert_int_equal(status, done ? HEED_OK : HEED_OUT_OF_MEMORY);
    heed_checkpoint_destroy(checkpoint);
    heed_context_destroy(failing);
    assert_int_equal(allocator.live, 0);
  }
  free(first.data);
  free(second.data);
  free_model(&a);
  free_model(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_style),
      cmocka_unit_test(wrapped_prefix),
      cmocka_unit_test(distilled_deit),
      cmocka_unit_test(timm_registers_and_scales),
      cmocka_unit_test(stacked_projection),
      cmocka_unit_test(lost_biases),
      cmocka_unit_test(oracle_model),
      cmocka_unit_test(wrong_tensors),
      cmocka_unit_test(wrong_dtypes),
      cmocka_unit_test(unknown_tensors),
      cmocka_unit_test(no_model),
      cmocka_unit_test(sizes_that_do_not_fit),
      cmocka_unit_test(shards),
      cmocka_unit_test(which_file),
      cmocka_unit_test(allocation_failures),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
