/* What heed guesses where no file tells it: said, as the published models have it, or refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1024 /* tensors */
#include "support/named_model.h"

static char assumed[800];
static heed_model_info info;
static heed_preprocess preprocess;

/* Opens the weights alone; the first failure's status. What is assumed is in `assumed`. */
static heed_status open_alone(const model *m) {
  test_bytes bytes = save(m);
  const heed_model_file file = {"model.safetensors", test_source(bytes.data, bytes.size)};
  const heed_model_desc desc = {sizeof desc, &file, 1};
  heed_model *opened = NULL;
  assumed[0] = '\0';
  const heed_status status = heed_model_open(context, &desc, &opened, &error);
  if (status == HEED_OK) {
    heed_model_get_info(opened, &info);
    heed_model_preprocess(opened, &preprocess);
    snprintf(assumed, sizeof assumed, "%s", info.assumed ? info.assumed : "");
  }
  heed_model_destroy(opened);
  free(bytes.data);
  return status;
}

/* A vision tower in CLIP's names, of few numbers but of that width and depth. */
static void make_clip(model *m, uint32_t width, int layers) {
  static const char *const squares[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                                        "self_attn.out_proj"};
  char name[128];
  m->count = 0;
  add(m, "vision_model.embeddings.class_embedding", 1.0f, HEED_SHAPE(width));
  add(m, "vision_model.embeddings.position_embedding.weight", 1.0f, HEED_SHAPE(5, width));
  add(m, "vision_model.embeddings.patch_embedding.weight", 1.0f, HEED_SHAPE(width, 3, 2, 2));
  add_linear(m, "vision_model.pre_layrnorm", 1.0f, width, 0);
  add_linear(m, "vision_model.post_layernorm", 1.0f, width, 0);
  for (int i = 0; i < layers; i++) {
    for (int part = 0; part < 4; part++) {
      snprintf(name, sizeof name, "vision_model.encoder.layers.%d.%s", i, squares[part]);
      add_linear(m, name, 1.0f, width, width);
    }
    for (int part = 1; part <= 2; part++) {
      snprintf(name, sizeof name, "vision_model.encoder.layers.%d.layer_norm%d", i, part);
      add_linear(m, name, 1.0f, width, 0);
      snprintf(name, sizeof name, "vision_model.encoder.layers.%d.mlp.fc%d", i, part);
      add_linear(m, name, 1.0f, part == 1 ? 4 : width, part == 1 ? width : 4);
    }
  }
}

/* Weights with timm's names whose file holds what only the trainings of DINO, MAE and DeiT write.
 */
static void originals(void **state) {
  (void)state;
  static const struct {
    const char *prefix, *name, *assumed;
    float mean;
  } cases[] = {
      {"", NULL, "preprocessing of timm", 0.5f},
      {"", "decoder_embed.weight", "preprocessing of the original MAE", 0.485f},
      {"", "decoder_blocks.0.norm1.weight", "preprocessing of the original MAE", 0.485f},
      {"backbone.", "head.mlp.0.weight", "preprocessing of the original DINO", 0.485f},
      {"backbone.", "head.last_layer.weight_g", "preprocessing of the original DINO", 0.485f}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    static model m;
    make_model(&m, &timm_names, cases[i].prefix);
    if (cases[i].name) {
      drop(&m, "head.weight");
      drop(&m, "head.bias");
      add(&m, cases[i].name, 0.0f, HEED_SHAPE(WIDTH));
    }
    assert_ok(open_alone(&m));
    if (!strstr(assumed, cases[i].assumed))
      fail_msg("case %zu: found \"%s\", expected %s", i, assumed, cases[i].assumed);
    assert_true(preprocess.mean[0] == cases[i].mean);
    assert_int_equal(preprocess.resample, 3);
    if (cases[i].mean < 0.5f) {
      assert_int_equal(preprocess.resize, HEED_RESIZE_SHORT_SIDE);
      assert_int_equal(preprocess.short_side, GRID * PATCH * 256 / 224);
      assert_int_equal(preprocess.crop_rule, HEED_CROP_EVEN);
    }
    free_model(&m);
  }
}

/* DeiT's distilled models have a token, a row of positions and a classifier more. */
static void original_deit(void **state) {
  (void)state;
  static model m;
  make_model(&m, &timm_names, "");
  drop(&m, "pos_embed");
  add(&m, "pos_embed", 2.0f, HEED_SHAPE(1, GRID * GRID + 2, WIDTH));
  add(&m, "dist_token", 6.0f, HEED_SHAPE(1, 1, WIDTH));
  add_linear(&m, "head_dist", 7.0f, CLASSES, WIDTH);
  assert_ok(open_alone(&m));
  if (!strstr(assumed, "preprocessing of the original DeiT")) fail_msg("found \"%s\"", assumed);
  assert_true(preprocess.mean[0] == 0.485f && preprocess.std[2] == 0.225f);
  assert_int_equal(info.prefix_tokens, 2);
  free_model(&m);
}

static void activations_of_clip(void **state) {
  (void)state;
  static const struct {
    uint32_t width, heads;
    int layers;
    heed_activation activation;
  } cases[] = {{64, 1, 12, HEED_ACTIVATION_GELU_QUICK}, {64, 1, 24, HEED_ACTIVATION_GELU_QUICK},
               {64, 1, 32, HEED_ACTIVATION_GELU},       {64, 1, 40, HEED_ACTIVATION_GELU},
               {64, 1, 48, HEED_ACTIVATION_GELU},       {768, 12, 1, HEED_ACTIVATION_GELU_QUICK},
               {1280, 16, 1, HEED_ACTIVATION_GELU},     {1664, 16, 1, HEED_ACTIVATION_GELU}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    char said[96];
    make_clip(&m, cases[i].width, cases[i].layers);
    assert_ok(open_alone(&m));
    assert_int_equal(info.activation, cases[i].activation);
    assert_int_equal(info.heads, cases[i].heads);
    snprintf(said, sizeof said, "(a guess: %d layers of width %u)", cases[i].layers,
             cases[i].width);
    if (!strstr(assumed, said)) fail_msg("\"%s\" is not in: %s", said, assumed);
    free_model(&m);
  }
}

/* A ViT in timm's names of that width. */
static void make_timm(model *m, uint32_t width, const char *prefix) {
  char name[128];
  m->count = 0;
#define NAME(text) (snprintf(name, sizeof name, "%s%s", prefix, text), name)
  add(m, NAME("cls_token"), 1.0f, HEED_SHAPE(1, 1, width));
  add(m, NAME("pos_embed"), 1.0f, HEED_SHAPE(1, 5, width));
  add(m, NAME("patch_embed.proj.weight"), 1.0f, HEED_SHAPE(width, 3, 2, 2));
  add(m, NAME("patch_embed.proj.bias"), 1.0f, HEED_SHAPE(width));
  add_linear(m, NAME("norm"), 1.0f, width, 0);
  add_linear(m, NAME("blocks.0.norm1"), 1.0f, width, 0);
  add_linear(m, NAME("blocks.0.norm2"), 1.0f, width, 0);
  add_linear(m, NAME("blocks.0.attn.qkv"), 1.0f, 3 * width, width);
  add_linear(m, NAME("blocks.0.attn.proj"), 1.0f, width, width);
  add_linear(m, NAME("blocks.0.mlp.fc1"), 1.0f, 4, width);
  add_linear(m, NAME("blocks.0.mlp.fc2"), 1.0f, width, 4);
#undef NAME
}

static void heads_of_published_widths(void **state) {
  (void)state;
  static const struct {
    uint32_t width, heads;
    const char *prefix;
  } cases[] = {{192, 3, ""},
               {384, 6, ""},
               {768, 12, ""},
               {1024, 16, ""},
               {1152, 16, ""},
               {1280, 16, ""},
               {1408, 16, ""},
               {1536, 24, ""},
               {384, 12, "module.base_encoder."},
               {384, 12, "momentum_encoder."}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    char said[64];
    make_timm(&m, cases[i].width, cases[i].prefix);
    assert_ok(open_alone(&m));
    assert_int_equal(info.heads, cases[i].heads);
    assert_true(info.heads_guessed);
    snprintf(said, sizeof said, "%u heads (a guess: width %u", cases[i].heads, cases[i].width);
    if (!strstr(assumed, said)) fail_msg("\"%s\" is not in: %s", said, assumed);
    free_model(&m);
  }
}

static void other_models(void **state) {
  (void)state;
  static const struct {
    const char *extra[2], *sentence;
    heed_shape shape;
    bool rename; /* of the first: what the file has for blocks */
  } cases[] = {
      {{"refpoint_embed.weight", "transformer.decoder.layers.0.norm1.weight"},
       "RF-DETR",
       {2, {3, 4}},
       false},
      {{"blocks.1.proj.weight", NULL}, "a hierarchical model", {2, {128, 64}}, false},
      {{"blocks.0.attn.temperature", NULL}, "XCiT", {3, {1, 1, 1}}, false},
      {{"blocks.0.attn.gating_param", NULL}, "ConViT", {1, {1}}, false},
      {{"blocks.0.attn.rel_pos_h", NULL}, "attends in windows", {2, {3, 64}}, false},
      {{"patch_embed.backbone.stem.conv.weight", NULL}, "convolutional network", {1, {8}}, false},
      {{"blocks_token_only.0.norm1.weight", NULL}, "CaiT", {1, {64}}, false},
      {{"layers.0.blocks.0.norm1.weight", NULL}, "a hierarchical model", {1, {64}}, true},
      {{"stages.0.blocks.0.norm1.weight", NULL}, "a hierarchical model", {1, {64}}, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    model m;
    make_timm(&m, 64, "");
    if (cases[i].rename) {
      free_model(&m);
      m.count = 0;
    }
    for (int extra = 0; extra < 2 && cases[i].extra[extra]; extra++)
      add(&m, cases[i].extra[extra], 1.0f, cases[i].shape);
    assert_int_equal(open_alone(&m), HEED_UNSUPPORTED);
    if (!strstr(error.message, cases[i].sentence) || !strstr(error.message, cases[i].extra[0]) ||
        !strstr(error.message, "ONNX"))
      fail_msg("%s: the sentence is %s", cases[i].extra[0], error.message);
    free_model(&m);
  }
}

/* A norm after each part leaves no trace in the tensors: one without CLS and biases may have it. */
static void blocks_with_norms_behind(void **state) {
  (void)state;
  model m;
  make_timm(&m, 64, "");
  drop(&m, "cls_token");
  drop(&m, "pos_embed");
  drop(&m, "norm.weight");
  drop(&m, "norm.bias");
  add(&m, "pos_embed", 1.0f, HEED_SHAPE(1, 4, 64));
  add_linear(&m, "fc_norm", 1.0f, 64, 0);
  assert_ok(open_alone(&m));
  drop(&m, "blocks.0.attn.qkv.bias");
  assert_fails(open_alone(&m), HEED_UNSUPPORTED, "vit_*_rpn_*");
  free_model(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(activations_of_clip), cmocka_unit_test(heads_of_published_widths),
      cmocka_unit_test(other_models),        cmocka_unit_test(originals),
      cmocka_unit_test(original_deit),       cmocka_unit_test(blocks_with_norms_behind)};
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
