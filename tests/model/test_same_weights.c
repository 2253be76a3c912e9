/* One ViT under the names of every style that can hold it: the same bits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tensor.h"
#include "support/test_context.h"
#include "support/weights.h"

#include "model/files/checkpoint.h"
#include "model/files/safetensors.h"

enum { MOST = 64, TEXT = 160 };

typedef struct renaming {
  const char *from, *to;
} renaming;

/* A style's names, made of Hugging Face's old ones. */
typedef struct style {
  const char *what, *prefix;
  renaming names[12];
  const char *fused; /* the tensor of query, key and value, with its last character; NULL: three */
  const char *layer;
  bool tables; /* of relative positions, of zeros */
  bool scales; /* of the layers, of ones */
} style;

static const style styles[] = {
    {"old", "vit.", {{NULL, NULL}}, NULL, NULL, false, false},
    {"prefixed", "a.b.vit.", {{NULL, NULL}}, NULL, NULL, false, false},
    {"BEiT with tables of zeros", "beit.", {{NULL, NULL}}, NULL, NULL, true},
    {"new",
     "vit.",
     {{"encoder.layer.", "layers."},
      {"attention.attention.query", "attention.q_proj"},
      {"attention.attention.key", "attention.k_proj"},
      {"attention.attention.value", "attention.v_proj"},
      {"attention.output.dense", "attention.o_proj"},
      {"intermediate.dense", "mlp.fc1"},
      {"output.dense", "mlp.fc2"}},
     NULL,
     NULL,
     false},
    {"timm",
     "",
     {{"embeddings.cls_token", "cls_token"},
      {"embeddings.position_embeddings", "pos_embed"},
      {"embeddings.patch_embeddings.projection", "patch_embed.proj"},
      {"encoder.layer.", "blocks."},
      {"layernorm_before", "norm1"},
      {"layernorm_after", "norm2"},
      {"attention.output.dense", "attn.proj"},
      {"intermediate.dense", "mlp.fc1"},
      {"output.dense", "mlp.fc2"},
      {"layernorm", "norm"}},
     "attn.qkv.",
     "blocks.",
     false},
    {"timm with layer scales of ones",
     "",
     {{"embeddings.cls_token", "cls_token"},
      {"embeddings.position_embeddings", "pos_embed"},
      {"embeddings.patch_embeddings.projection", "patch_embed.proj"},
      {"encoder.layer.", "blocks."},
      {"layernorm_before", "norm1"},
      {"layernorm_after", "norm2"},
      {"attention.output.dense", "attn.proj"},
      {"intermediate.dense", "mlp.fc1"},
      {"output.dense", "mlp.fc2"},
      {"layernorm", "norm"}},
     "attn.qkv.",
     "blocks.",
     false,
     true},
    {"torchvision",
     "",
     {{"embeddings.cls_token", "class_token"},
      {"embeddings.position_embeddings", "encoder.pos_embedding"},
      {"embeddings.patch_embeddings.projection", "conv_proj"},
      {"encoder.layer.", "encoder.layers.encoder_layer_"},
      {"layernorm_before", "ln_1"},
      {"layernorm_after", "ln_2"},
      {"attention.output.dense", "self_attention.out_proj"},
      {"intermediate.dense", "mlp.0"},
      {"output.dense", "mlp.3"},
      {"layernorm", "encoder.ln"}},
     "self_attention.in_proj_",
     "encoder.layers.encoder_layer_",
     false},
};

typedef struct file {
  heed_safetensors_item items[MOST];
  char names[MOST][TEXT];
  uint32_t count;
} file;

static void add(file *f, const char *name, heed_shape shape, const float *data) {
  assert_true(f->count < MOST);
  assert_true(strlen(name) < TEXT);
  memcpy(f->names[f->count], name, strlen(name) + 1);
  f->items[f->count] = (heed_safetensors_item){f->names[f->count], HEED_F32, shape, data};
  f->count++;
}

static void rename_into(char name[TEXT], const style *s, const char *old) {
  snprintf(name, TEXT, "%s", old);
  for (int i = 0; i < 12 && s->names[i].from; i++) {
    char tail[TEXT], *at = strstr(name, s->names[i].from);
    if (!at) continue;
    snprintf(tail, TEXT, "%s", at + strlen(s->names[i].from));
    snprintf(at, (size_t)(name + TEXT - at), "%s%s", s->names[i].to, tail);
  }
}

static const float *read_tensor(const heed_safetensors *from, const char *name, heed_shape *shape) {
  const heed_safetensors_tensor *tensor = heed_safetensors_find(from, name);
  assert_non_null(tensor);
  float *data = malloc((size_t)tensor->bytes);
  assert_ok(heed_safetensors_read(from, tensor, 0, tensor->count, data, &error));
  *shape = tensor->shape;
  return data;
}

/* Query, key and value of a layer as one tensor. */
static void add_fused(file *f, const style *s, const heed_safetensors *from, uint32_t layer,
                      const char *kind) {
  static const char *const parts[] = {"query", "key", "value"};
  char name[TEXT];
  heed_shape shape;
  float *joined = NULL;
  for (int part = 0; part < 3; part++) {
    snprintf(name, TEXT, "vit.encoder.layer.%u.attention.attention.%s.%s", layer, parts[part],
             kind);
    const float *one = read_tensor(from, name, &shape);
    const size_t count = (size_t)heed_shape_count(&shape);
    if (!joined) joined = malloc(3 * count * sizeof *joined);
    memcpy(joined + (size_t)part * count, one, count * sizeof *one);
    free((void *)(uintptr_t)one);
  }
  shape.dim[0] *= 3;
  snprintf(name, TEXT, "%s%u.%s%s", s->layer, layer, s->fused, kind);
  add(f, name, shape, joined);
}

/* A layer's table, for the distances of 5 x 5 patches and 3 heads. */
static void add_table(file *f, const style *s, uint32_t layer) {
  const heed_shape shape = HEED_SHAPE(9 * 9 + 3, 3);
  char name[TEXT];
  snprintf(name, TEXT,
           "%sencoder.layer.%u.attention.attention.relative_position_bias."
           "relative_position_bias_table",
           s->prefix, layer);
  add(f, name, shape, calloc((size_t)heed_shape_count(&shape), sizeof(float)));
}

/* A layer's two scales. */
static void add_scales(file *f, const style *s, uint32_t layer) {
  for (int scale = 1; scale <= 2; scale++) {
    char name[TEXT];
    float *ones = malloc(24 * sizeof *ones);
    for (int i = 0; i < 24; i++) ones[i] = 1.0f;
    snprintf(name, TEXT, "%s%u.ls%d.gamma", s->layer, layer, scale);
    add(f, name, HEED_SHAPE(24), ones);
  }
}

/* The vector's model without its classifier, in the style's names. */
static test_bytes write_style(const style *s, const heed_safetensors *from) {
  static file f;
  test_bytes bytes = {NULL, 0};
  f.count = 0;
  for (uint32_t i = 0; i < heed_safetensors_count(from); i++) {
    const char *old = heed_safetensors_get(from, i)->name;
    char renamed[TEXT], name[2 * TEXT];
    heed_shape shape;
    if (strncmp(old, "vit.", 4) != 0 || (s->fused && strstr(old, "attention.attention."))) continue;
    rename_into(renamed, s, old + 4);
    snprintf(name, sizeof name, "%s%s", s->prefix, renamed);
    const float *data = read_tensor(from, old, &shape);
    add(&f, name, shape, data);
  }
  for (uint32_t layer = 0; s->fused && layer < 2; layer++) {
    add_fused(&f, s, from, layer, "weight");
    add_fused(&f, s, from, layer, "bias");
  }
  for (uint32_t layer = 0; s->tables && layer < 2; layer++) add_table(&f, s, layer);
  for (uint32_t layer = 0; s->scales && layer < 2; layer++) add_scales(&f, s, layer);
  assert_ok(heed_safetensors_write(context, f.items, f.count, NULL, 0, test_bytes_append, &bytes,
                                   &error));
  for (uint32_t i = 0; i < f.count; i++) free((void *)(uintptr_t)f.items[i].data);
  return bytes;
}

/* The final states of one made-up image on the stored grid; the caller frees. */
static float *run_style(const style *s, const heed_safetensors *from, uint64_t *count) {
  static const char config[] =
      "{\"hidden_size\":24,\"num_hidden_layers\":2,\"num_attention_heads\":3,"
      "\"intermediate_size\":40,\"image_size\":20,\"patch_size\":4,\"layer_norm_eps\":1e-6}";
  static float pixels[3 * 20 * 20];
  test_bytes bytes = write_style(s, from);
  const heed_model_file files[] = {{"model.safetensors", test_source(bytes.data, bytes.size)},
                                   {"config.json", test_source(config, sizeof config - 1)}};
  const heed_model_desc desc = {sizeof desc, files, 2};
  const heed_cpu_desc cpu = {sizeof cpu, 1, NULL};
  heed_backend *backend;
  heed_model *model;
  heed_graph *graph;
  heed_plan *plan;
  heed_session *session;
  heed_value_info info;
  for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
    pixels[i] = (float)((i * 7919) % 1000) / 500.0f - 1.0f;
  assert_ok(heed_cpu_backend_create(context, &cpu, &backend, &error));
  if (heed_model_open(context, &desc, &model, &error) != HEED_OK)
    fail_msg("%s: %s", s->what, error.message);
  assert_ok(heed_model_build(model, NULL, &graph, &error));
  assert_ok(heed_plan_create(graph, backend, NULL, &plan, &error));
  assert_ok(heed_session_create(plan, NULL, &session, &error));
  assert_ok(heed_session_write(session, heed_graph_find(graph, "pixel_values"), pixels,
                               sizeof pixels, &error));
  assert_ok(heed_session_run(session, NULL, &error));
  const heed_value states = heed_graph_find(graph, "last_hidden_state");
  assert_int_equal(heed_graph_value_info(graph, states, &info), HEED_OK);
  *count = heed_shape_count(&info.shape);
  float *found = malloc((size_t)*count * sizeof *found);
  assert_ok(heed_session_read(session, states, 0, *count, found, &error));
  heed_session_destroy(session);
  heed_plan_destroy(plan);
  heed_graph_destroy(graph);
  heed_model_destroy(model);
  heed_backend_destroy(backend);
  free(bytes.data);
  return found;
}

static void every_style_gives_the_same_bits(void **state) {
  (void)state;
  size_t size;
  unsigned char *bytes = test_read_vector("vit/hf_vit/model.safetensors", &size);
  const heed_source source = test_source(bytes, size);
  heed_safetensors *from;
  float *first = NULL;
  uint64_t wanted = 0;
  assert_ok(heed_safetensors_open(context, &source, "vector", &from, &error));
  for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
    uint64_t count;
    float *found = run_style(&styles[i], from, &count);
    if (!first) {
      first = found;
      wanted = count;
      continue;
    }
    assert_int_equal(count, wanted);
    if (memcmp(found, first, (size_t)count * sizeof *found) != 0)
      fail_msg("%s: other bits than under the old names", styles[i].what);
    free(found);
  }
  free(first);
  heed_safetensors_destroy(from);
  free(bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_style_gives_the_same_bits)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
