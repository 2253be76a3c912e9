/* A ViT's checkpoint made in memory, under the names of each style, loaded and looked at role by
 * role; for programs that have the context of test_context.h. */
#ifndef HEED_TESTS_SUPPORT_NAMED_MODEL_H
#define HEED_TESTS_SUPPORT_NAMED_MODEL_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "model/files/checkpoint.h"
#include "model/files/safetensors.h"
#include "model/vit/role.h"
#include "support/test_context.h"
#include "support/weights.h"

/* -------------------------------------------------------------- a model's files, made in memory */

/* A list of tensors whose element i is `seed` + i / 1024, so that every tensor can be told from
 * every other. */
#ifndef MOST
#define MOST 128
#endif
typedef struct model {
  heed_safetensors_item items[MOST];
  char names[MOST][96];
  uint32_t count;
} model;

static inline void add(model *m, const char *name, float seed, heed_shape shape) {
  const size_t count = (size_t)heed_shape_count(&shape);
  float *data = malloc((count ? count : 1) * sizeof *data);
  assert_true(m->count < MOST);
  for (size_t i = 0; i < count; i++) data[i] = seed + (float)i / 1024.0f;
  assert_true(strlen(name) < sizeof m->names[0]);
  memcpy(m->names[m->count], name, strlen(name) + 1);
  m->items[m->count] = (heed_safetensors_item){m->names[m->count], HEED_F32, shape, data};
  m->count++;
}

static inline void free_model(model *m) {
  for (uint32_t i = 0; i < m->count; i++) free((void *)(uintptr_t)m->items[i].data);
  m->count = 0;
}

static inline void drop(model *m, const char *name) {
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

static inline test_bytes save_with(const model *m, const heed_safetensors_pair *metadata,
                                   uint32_t count) {
  test_bytes bytes = {NULL, 0};
  assert_ok(heed_safetensors_write(context, m->items, m->count, metadata, count, test_bytes_append,
                                   &bytes, &error));
  return bytes;
}

static inline test_bytes save(const model *m) { return save_with(m, NULL, 0); }

/* The model of a folder of vectors. */
static inline void take_vector(model *m, const char *folder) {
  char path[128];
  size_t size;
  snprintf(path, sizeof path, "vit/%s/model.safetensors", folder);
  unsigned char *bytes = test_read_vector(path, &size);
  const heed_source source = test_source(bytes, size);
  heed_safetensors *file;
  assert_ok(heed_safetensors_open(context, &source, "vector", &file, &error));
  m->count = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(file); i++) {
    const heed_safetensors_tensor *tensor = heed_safetensors_get(file, i);
    add(m, tensor->name, 0.0f, tensor->shape);
    float *data = (float *)(uintptr_t)m->items[i].data;
    assert_ok(heed_safetensors_read(file, tensor, 0, tensor->count, data, &error));
  }
  heed_safetensors_destroy(file);
  free(bytes);
}

enum { WIDTH = 64, MLP = 96, LAYERS = 2, PATCH = 4, GRID = 3, CLASSES = 5 };

/* name[0..]: the layer's part before the number, norm1, query, key, value, output, norm2, fc1,
 * fc2 */
typedef struct spelling {
  const char *prefix, *embeddings, *positions, *patch, *layer, *part[8], *norm, *head;
} spelling;
static const spelling old_names = {
    "vit.",
    "embeddings.cls_token",
    "embeddings.position_embeddings",
    "embeddings.patch_embeddings.projection",
    "encoder.layer.",
    {"layernorm_before", "attention.attention.query", "attention.attention.key",
     "attention.attention.value", "attention.output.dense", "layernorm_after", "intermediate.dense",
     "output.dense"},
    "layernorm",
    "classifier"};
static const spelling new_names = {
    "vit.",
    "embeddings.cls_token",
    "embeddings.position_embeddings",
    "embeddings.patch_embeddings.projection",
    "layers.",
    {"layernorm_before", "attention.q_proj", "attention.k_proj", "attention.v_proj",
     "attention.o_proj", "layernorm_after", "mlp.fc1", "mlp.fc2"},
    "layernorm",
    "classifier"};
static const spelling dinov2_names = {
    "",
    "embeddings.cls_token",
    "embeddings.position_embeddings",
    "embeddings.patch_embeddings.projection",
    "encoder.layer.",
    {"norm1", "attention.attention.query", "attention.attention.key", "attention.attention.value",
     "attention.output.dense", "norm2", "mlp.fc1", "mlp.fc2"},
    "layernorm",
    "classifier"};
static const spelling timm_names = {
    "",          "cls_token",
    "pos_embed", "patch_embed.proj",
    "blocks.",   {"norm1", "attn.qkv", NULL, NULL, "attn.proj", "norm2", "mlp.fc1", "mlp.fc2"},
    "norm",      "head"};

static inline void add_linear(model *m, const char *name, float seed, uint32_t out, uint32_t in) {
  char full[200];
  snprintf(full, sizeof full, "%s.weight", name);
  add(m, full, seed, in ? HEED_SHAPE(out, in) : HEED_SHAPE(out));
  snprintf(full, sizeof full, "%s.bias", name);
  add(m, full, seed + 50.0f, HEED_SHAPE(out));
}

static inline void make_model(model *m, const spelling *s, const char *prefix) {
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

/* ----------------------------------------------------------------------------------- one loaded */

typedef struct loaded {
  test_bytes bytes;
  heed_config *config;
  heed_checkpoint *checkpoint;
  heed_roles roles;
  heed_vit_dimensions d;
} loaded;

static inline heed_status load(loaded *l, const model *m, const char *config_text) {
  heed_model_file files[2];
  memset(l, 0, sizeof *l);
  l->bytes = save(m);
  files[0] = (heed_model_file){"model.safetensors", test_source(l->bytes.data, l->bytes.size)};
  if (config_text)
    files[1] = (heed_model_file){"config.json", test_source(config_text, strlen(config_text))};
  heed_status status =
      heed_config_open(context, files, config_text ? 2 : 1, HEED_TOWER_VISION, &l->config, &error);
  if (status == HEED_OK)
    status = heed_checkpoint_open(context, files, config_text ? 2 : 1, &l->checkpoint, &error);
  if (status == HEED_OK) status = heed_roles_detect(l->checkpoint, l->config, &l->roles, &error);
  if (status == HEED_OK) status = heed_roles_dimensions(&l->roles, l->config, &l->d, &error);
  return status;
}

/* The whole model, opened and closed again. */
static inline heed_status open_model(const model *m, const char *config) {
  test_bytes bytes = save(m);
  heed_model_file files[] = {{"model.safetensors", test_source(bytes.data, bytes.size)},
                             {"config.json", {0}}};
  heed_model *opened = NULL;
  if (config) files[1].source = test_source(config, strlen(config));
  const heed_model_desc desc = {sizeof desc, files, config ? 2 : 1};
  const heed_status status = heed_model_open(context, &desc, &opened, &error);
  heed_model_destroy(opened);
  free(bytes.data);
  return status;
}

static inline void unload(loaded *l) {
  heed_checkpoint_destroy(l->checkpoint);
  heed_config_destroy(l->config);
  free(l->bytes.data);
}

static inline heed_status take(const loaded *l, heed_role role, uint32_t layer, heed_shape shape,
                               heed_role_ref *ref) {
  return heed_checkpoint_role(&l->roles, role, layer, &shape, ref, &error);
}

static inline void want(const loaded *l, heed_role role, uint32_t layer, heed_shape shape,
                        float seed, uint64_t skipped) {
  heed_role_ref ref;
  float first;
  assert_ok(take(l, role, layer, shape, &ref));
  assert_non_null(ref.tensor);
  assert_int_equal(ref.count, heed_shape_count(&shape));
  assert_ok(heed_checkpoint_read(ref.tensor, ref.first, 1, &first, &error));
  assert_true(first == seed + (float)skipped / 1024.0f);
}

/* Every role of every layer has the numbers that make_model gave it; nothing is left. */
static inline void check_all(const loaded *l, bool fused) {
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
      want(l, (heed_role)(HEED_ROLE_QUERY_WEIGHT + 2 * part), i, cc, seed,
           fused ? (uint64_t)part * WIDTH * WIDTH : 0);
      want(l, (heed_role)(HEED_ROLE_QUERY_BIAS + 2 * part), i, c, seed + 50,
           fused ? (uint64_t)part * WIDTH : 0);
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

static const char config_text[] = "{\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_"
                                  "heads\":4,\"intermediate_size\":96,\"image_"
                                  "size\":12,\"patch_size\":4,\"num_labels\":5}";

#endif
