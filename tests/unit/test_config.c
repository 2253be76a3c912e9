/* config.json and preprocessor_config.json in the spellings that published models have. */
#include "support/test_context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/architecture.h"
#include "model/config.h"
#include "support/weights.h"

/* Either text may be NULL: no such file. */
static heed_status open_texts(const char *config_text, const char *preprocessor,
                              heed_config **config) {
  heed_model_file files[2] = {{NULL, {0}}};
  uint32_t count = 0;
  if (config_text)
    files[count++] =
        (heed_model_file){"config.json", test_source(config_text, strlen(config_text))};
  if (preprocessor)
    files[count++] = (heed_model_file){"preprocessor_config.json",
                                       test_source(preprocessor, strlen(preprocessor))};
  return heed_config_open(context, files, count, HEED_TOWER_VISION, config, &error);
}

static heed_config *open_good(const char *text) {
  heed_config *config;
  assert_ok(open_texts(text, NULL, &config));
  return config;
}

static void refuse(const char *text, heed_status status, const char *part) {
  heed_config *config;
  assert_fails(open_texts(text, NULL, &config), status, part);
  assert_null(config);
}

#define BASE                                                                                      \
  "\"hidden_size\":192,\"num_hidden_layers\":12,\"num_attention_heads\":3,\"intermediate_size\":" \
  "768,\"image_size\":224,\"patch_size\":16"

/* ---------------------------------------------------------------------------------- config.json */

static void oracle_config(void **state) {
  (void)state;
  size_t size;
  char *text = (char *)test_read_vector("vit/micro_32/config.json", &size);
  heed_config *c = open_good(text);
  assert_string_equal(c->model_type, "vit");
  assert_int_equal(c->width.value, 32);
  assert_int_equal(c->layers.value, 2);
  assert_int_equal(c->heads.value, 4);
  assert_int_equal(c->mlp_width.value, 64);
  assert_int_equal(c->image_size.value, 32);
  assert_int_equal(c->patch.value, 16);
  assert_int_equal(c->channels.value, 3);
  assert_int_equal(c->classes.value, 5);
  assert_int_equal(c->rules.activation, HEED_ACTIVATION_GELU);
  assert_true(c->rules.epsilon == 1e-12f);
  assert_true(c->qkv_bias.value);
  assert_false(c->timm);
  assert_null(heed_config_label(c, 0));
  heed_config_destroy(c);
  free(text);
}

static void no_config(void **state) {
  (void)state;
  heed_config *c;
  assert_ok(open_texts(NULL, NULL, &c));
  assert_null(c->json);
  assert_int_equal(c->width.value, 0);
  assert_string_equal(c->model_type, "");
  heed_config_destroy(c);
}

static void defaults(void **state) {
  (void)state;
  heed_config *c = open_good("{" BASE "}");
  assert_true(c->rules.epsilon == 1e-12f);
  assert_int_equal(c->channels.value, 3);
  assert_int_equal(c->rules.activation, HEED_ACTIVATION_GELU);
  assert_true(c->qkv_bias.value);
  heed_config_destroy(c);
  c = open_good("{\"model_type\":\"deit\"," BASE
                ",\"qkv_bias\":false,\"layer_norm_eps\":1e-5,\"num_channels\":1,\"hidden_act\":"
                "\"quick_gelu\",\"image_size_\":0}");
  assert_false(c->qkv_bias.value);
  assert_true(c->rules.epsilon == 1e-5f);
  assert_int_equal(c->channels.value, 1);
  assert_int_equal(c->rules.activation, HEED_ACTIVATION_GELU_QUICK);
  heed_config_destroy(c);
  c = open_good("{\"model_type\":\"dinov2\",\"hidden_size\":384,\"num_hidden_layers\":12,\"num_"
                "attention_heads\":6,\"mlp_ratio\":4,\"image_"
                "size\":518,\"patch_size\":14,"
                "\"num_register_tokens\":4}");
  assert_true(c->rules.epsilon == 1e-6f);
  assert_int_equal(c->mlp_width.value, 1536);
  assert_int_equal(c->registers.value, 4);
  heed_config_destroy(c);
}

/* To JSON 4.0 and 4 are one number, and Python writes either. */
static void whole_numbers(void **state) {
  (void)state;
  heed_config *c = open_good(
      "{\"model_type\":\"dinov2\",\"hidden_size\":384.0,\"num_hidden_layers\":1.2e1,"
      "\"num_attention_heads\":6,\"mlp_ratio\":4.0,\"image_size\":[518.0,518],\"patch_size\":14}");
  assert_int_equal(c->width.value, 384);
  assert_int_equal(c->layers.value, 12);
  assert_int_equal(c->mlp_width.value, 1536);
  assert_int_equal(c->image_size.value, 518);
  heed_config_destroy(c);
  refuse("{\"hidden_size\":384,\"mlp_ratio\":4.5}", HEED_INVALID_FILE,
         "mlp_ratio is not valid (found a number at byte");
  refuse("{\"hidden_size\":384.5}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"hidden_size\":-4.0}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"hidden_size\":1e300}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"hidden_size\":1048577.0}", HEED_INVALID_FILE, "hidden_size is not valid");
}

static void missing_keys(void **state) {
  (void)state;
  static const char *const keys[] = {"hidden_size",         "num_hidden_layers",
                                     "num_attention_heads", "intermediate_size",
                                     "image_size",          "patch_size"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    char text[] = "{" BASE "}", part[100] = "config.json: missing key ";
    *strstr(text, keys[i]) = '_';
    strcat(part, keys[i]);
    refuse(text, HEED_INVALID_FILE, part);
  }
}

static void wrong_values(void **state) {
  (void)state;
  refuse("[]", HEED_INVALID_FILE, "config.json: it is not an object (found an array)");
  refuse("", HEED_INVALID_FILE, "config.json: expected a value");
  refuse("{\"hidden_size\":\"192\"}", HEED_INVALID_FILE,
         "config.json: hidden_size is not valid (found a string at byte");
  refuse("{\"hidden_size\":192.5}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"hidden_size\":-1}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"hidden_size\":0}", HEED_INVALID_FILE, "hidden_size is not valid (found a number");
  refuse("{\"hidden_size\":1048577}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"hidden_size\":99999999999999999999}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"image_size\":[224,192]}", HEED_UNSUPPORTED,
         "image_size is not supported (found 224 x 192, expected a square)");
  refuse("{\"image_size\":[224]}", HEED_INVALID_FILE, "image_size is not valid");
  refuse("{\"image_size\":[]}", HEED_INVALID_FILE, "image_size is not valid");
  refuse("{" BASE ",\"hidden_act\":\"mish\"}", HEED_UNSUPPORTED,
         "hidden_act is not supported (found mish");
  refuse("{" BASE ",\"hidden_act\":3}", HEED_INVALID_FILE, "hidden_act is not valid");
  refuse("{" BASE ",\"layer_norm_eps\":\"x\"}", HEED_INVALID_FILE, "layer_norm_eps is not valid");
  refuse("{" BASE ",\"layer_norm_eps\":1e39}", HEED_INVALID_FILE, "layer_norm_eps is not valid");
  refuse("{" BASE ",\"layer_norm_eps\":-1e-6}", HEED_INVALID_FILE, "layer_norm_eps is not valid");
  refuse("{" BASE ",\"qkv_bias\":1}", HEED_INVALID_FILE, "qkv_bias is not valid");
  refuse("{\"model_type\":\"siglip2\",\"vision_config\":{\"model_type\":"
         "\"siglip2_vision_model\"}}",
         HEED_UNSUPPORTED, "NaFlex models of SigLIP2 are not supported (found model_type siglip2_");
  refuse("{\"model_type\":\"yolos\"," BASE "}", HEED_UNSUPPORTED, "it has detection tokens");
  refuse("{\"model_type\":\"mixer\"," BASE "}", HEED_UNSUPPORTED,
         "model_type is not supported (found mixer, expected vit, deit, dinov2, clip");
  refuse("{\"hidden_size\":1000000,\"mlp_ratio\":1000000}", HEED_INVALID_FILE,
         "mlp_ratio is too large");
  refuse("{\"hidden_size\":100,\"num_hidden_layers\":1,\"num_attention_heads\":3,\"intermediate_"
         "size\":1,\"image_size\":224,\"patch_size\":"
         "16}",
         HEED_INVALID_FILE,
         "hidden_size is not a multiple of num_attention_heads (found 100 and 3)");
}

static void activations(void **state) {
  (void)state;
  static const struct {
    const char *name;
    heed_activation kind;
  } known[] = {{"gelu", HEED_ACTIVATION_GELU},
               {"gelu_new", HEED_ACTIVATION_GELU_TANH},
               {"gelu_pytorch_tanh", HEED_ACTIVATION_GELU_TANH},
               {"gelu_fast", HEED_ACTIVATION_GELU_TANH},
               {"quick_gelu", HEED_ACTIVATION_GELU_QUICK},
               {"relu", HEED_ACTIVATION_RELU},
               {"silu", HEED_ACTIVATION_SILU},
               {"swish", HEED_ACTIVATION_SILU},
               {"tanh", HEED_ACTIVATION_TANH}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    char text[512] = "{" BASE ",\"hidden_act\":\"";
    strcat(strcat(text, known[i].name), "\"}");
    heed_config *c = open_good(text);
    assert_int_equal(c->rules.activation, known[i].kind);
    heed_config_destroy(c);
  }
}

static void labels(void **state) {
  (void)state;
  heed_config *c = open_good(
      "{" BASE
      ",\"id2label\":{\"2\":\"two\",\"0\":\"z\\u00e9ro\",\"1\":\"one\"},\"label2id\":{\"one\":1}}");
  assert_int_equal(c->classes.value, 3);
  assert_string_equal(heed_config_label(c, 0), "z\xC3\xA9ro");
  assert_string_equal(heed_config_label(c, 2), "two");
  assert_null(heed_config_label(c, 3));
  heed_config_destroy(c);
  refuse("{" BASE ",\"id2label\":{\"x\":\"two\"}}", HEED_INVALID_FILE,
         "a key of id2label is not a class number (found x");
  refuse("{" BASE ",\"id2label\":{\"4294967296\":\"two\"}}", HEED_INVALID_FILE,
         "not a class number");
  refuse("{" BASE ",\"id2label\":{\"\":\"two\"}}", HEED_INVALID_FILE, "not a class number");
  refuse("{" BASE ",\"id2label\":{\"0\":2}}", HEED_INVALID_FILE,
         "id2label is not valid (found a number");
  refuse("{" BASE ",\"id2label\":[\"a\"]}", HEED_INVALID_FILE,
         "id2label is not valid (found an array");
}

static void timm(void **state) {
  (void)state;
  heed_config *c = open_good("{\"architecture\":\"vit_tiny_patch16_224\",\"num_classes\":1000,"
                             "\"num_features\":192,\"global_pool\":\"token\",\"pretrained_cfg\":{"
                             "\"input_size\":[3,224,224],\"label_names\":[\"a\",\"b\"]}}");
  assert_true(c->timm);
  assert_int_equal(c->image_size.value, 224);
  assert_int_equal(c->channels.value, 3);
  assert_int_equal(c->classes.value, 1000);
  assert_int_equal(c->width.value, 0);
  assert_true(c->rules.epsilon == 1e-6f);
  assert_string_equal(heed_config_label(c, 1), "b");
  heed_config_destroy(c);
  c = open_good("{\"architecture\":\"vit_x\",\"input_size\":[1,28,28],\"model_args\":{\"num_"
                "heads\":4,\"embed_dim\":100,\"depth\":2,\"img_"
                "size\":32,\"patch_size\":[4,4]}}");
  assert_int_equal(c->channels.value, 1);
  assert_int_equal(c->image_size.value, 32);
  assert_int_equal(c->heads.value, 4);
  assert_int_equal(c->patch.value, 4);
  heed_config_destroy(c);
  refuse("{\"architecture\":\"vit_x\",\"global_pool\":\"avgmax\"}", HEED_UNSUPPORTED,
         "global_pool is not supported (found avgmax, expected token, avg or map)");
  refuse("{\"architecture\":\"vit_x\",\"input_size\":[3,224,192]}", HEED_UNSUPPORTED,
         "input_size is not supported (found 224 x 192");
  refuse("{\"architecture\":\"vit_x\",\"input_size\":[3,224]}", HEED_INVALID_FILE,
         "input_size is not valid");
  refuse("{\"architecture\":\"vit_x\",\"input_size\":[3,224,224,1]}", HEED_INVALID_FILE,
         "input_size is not valid");
  refuse("{\"architecture\":\"vit_x\",\"input_size\":7}", HEED_INVALID_FILE,
         "input_size is not valid");
  refuse("{\"architecture\":\"vit_x\",\"input_size\":[3,0,0]}", HEED_INVALID_FILE,
         "input_size is not valid");
  refuse("{\"architecture\":7}", HEED_INVALID_FILE, "architecture is not valid");
  refuse("{\"architecture\":\"vit_x\",\"pretrained_cfg\":3,\"label_names\":[1]}", HEED_INVALID_FILE,
         "label_names is not valid");
}

/* What timm's names tell and its files do not: of timm 1.0.29. */
static void architectures(void **state) {
  (void)state;
  static const struct {
    const char *name;
    uint32_t width, heads;
    float epsilon;
    heed_activation activation;
  } cases[] = {{"vit_tiny_patch16_224", 192, 3, 1e-6f, HEED_ACTIVATION_GELU},
               {"vit_huge_patch14_224", 1280, 16, 1e-6f, HEED_ACTIVATION_GELU},
               {"deit3_huge_patch14_224", 1280, 16, 1e-6f, HEED_ACTIVATION_GELU},
               {"vit_huge_plus_patch16_dinov3", 1280, 20, 1e-5f, HEED_ACTIVATION_GELU},
               {"vit_giant_patch14_dinov2", 1536, 24, 1e-6f, HEED_ACTIVATION_GELU},
               {"vit_giant_patch14_clip_224", 1408, 16, 1e-5f, HEED_ACTIVATION_GELU},
               {"vit_base_patch16_gap_224", 768, 16, 1e-6f, HEED_ACTIVATION_GELU},
               {"vit_base_patch16_clip_quickgelu_224", 768, 12, 1e-5f, HEED_ACTIVATION_GELU_QUICK},
               {"eva02_base_patch16_clip_224", 768, 12, 1e-6f, HEED_ACTIVATION_SILU},
               {"vit_so400m_patch16_siglip_384", 1152, 16, 1e-6f, HEED_ACTIVATION_GELU_TANH},
               {"vit_so400m_patch14_siglip_384", 1152, 16, 1e-6f, HEED_ACTIVATION_GELU},
               {"vit_base_patch32_siglip_gap_256", 768, 12, 1e-6f, HEED_ACTIVATION_GELU_TANH},
               {"test_vit", 64, 2, 1e-6f, HEED_ACTIVATION_GELU},
               {"nobody_knows_this_one", 768, 0, 1e-6f, HEED_ACTIVATION_GELU}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[128];
    snprintf(text, sizeof text, "{\"architecture\":\"%s\"}", cases[i].name);
    heed_config *c = open_good(text);
    assert_true(c->rules.epsilon == cases[i].epsilon);
    assert_int_equal(c->rules.activation, cases[i].activation);
    assert_int_equal(heed_architecture_heads(cases[i].name, cases[i].width), cases[i].heads);
    heed_config_destroy(c);
  }
  refuse("{\"architecture\":\"vit_base_patch16_18x2_224\"}", HEED_UNSUPPORTED,
         "architecture vit_base_patch16_18x2_224 is not supported (found blocks with attention and "
         "MLP in parallel");
  refuse("{\"architecture\":\"vit_dlittle_patch16_reg1_gap_256\"}", HEED_UNSUPPORTED,
         "differential attention");
  refuse("{\"architecture\":\"vit_base_patch16_rpn_224\"}", HEED_UNSUPPORTED,
         "a norm after each part");
}

#define AXIAL(...) \
  { .kind = HEED_ROTATION_AXIAL, .base = 10000, __VA_ARGS__ }
#define EVA AXIAL(.reference = 16)
#define PE AXIAL(.offset = 1, .own_grid = true, .columns_first = true)
#define ROPE_VIT \
  { .kind = HEED_ROTATION_AXIAL, .base = 100, .columns_first = true }
static const struct {
  const char *name, *args, *family;
  heed_rotation rotation;
  uint32_t width, reference; /* of that width, beside the rule's own */
} rotation_cases[] = {
    {"vit_small_patch16_dinov3_qkvb",
     "",
     "dinov3 (timm, original)",
     {.kind = HEED_ROTATION_CENTRED, .base = 100, .half = true},
     384,
     0},
    {"eva02_large_patch14_448", "", "eva02", EVA, 1024, 0},
    {"vit_medium_patch16_rope_reg1_gap_256", "", "rope_registers", EVA, 512, 0},
    {"vit_base_patch16_rope_224", "", "rope_vit", ROPE_VIT, 768, 0},
    {"vit_large_patch16_rope_mixed_ape_224", "", "rope_vit", ROPE_VIT, 1024, 0},
    {"vit_pe_lang_large_patch14_448", "", "pe", PE, 1024, 32},
    {"vit_pe_spatial_tiny_patch16_512", "", "pe", PE, 192, 32},
    {"vit_pe_core_base_patch16_224", "", "pe_core", PE, 768, 14},
    {"vit_pe_core_large_patch14_336", "", "pe_core", PE, 1024, 24},
    {"vit_pe_core_gigantic_patch14_448", "", "pe_core", PE, 1536, 32},
    {"vit_pe_core_x", "", "pe_core", PE, 48, 0},
    {"eva_giant_patch14_224", "", "timm", {.base = 10000}, 1408, 0},
    {"vit_base_patch16_224", "", "timm", {.base = 10000}, 768, 0},
    {"vit_base_patch16_224", "\"use_rot_pos_emb\":true", "timm", AXIAL(.half = false), 768, 0},
    {"eva02_base_patch14_448",
     "\"use_rot_pos_emb\":false",
     "eva02",
     {.base = 10000, .reference = 16},
     768,
     0},
    {"eva02_base_patch14_448",
     "\"rope_type\":\"dinov3\",\"rope_temperature\":50,\"rope_rotate_half\":true,"
     "\"rope_grid_indexing\":\"xy\"",
     "eva02",
     {.kind = HEED_ROTATION_CENTRED, .base = 50, .reference = 16, .half = true},
     768,
     0},
    {"eva02_base_patch14_448",
     "\"rope_grid_offset\":0.5,\"rope_grid_indexing\":\"xy\",\"ref_feat_shape\":[7,7]", "eva02",
     AXIAL(.offset = 0.5f, .reference = 7, .columns_first = true), 768, 0}};

/* The rotation of timm's models by their names, and what model_args change of it: timm 1.0.29. */
static void rotations(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rotation_cases / sizeof *rotation_cases; i++) {
    char text[256];
    const heed_rotation *want = &rotation_cases[i].rotation;
    snprintf(text, sizeof text, "{\"architecture\":\"%s\",\"model_args\":{%s}}",
             rotation_cases[i].name, rotation_cases[i].args);
    heed_config *c = open_good(text);
    const heed_rotation *found = &c->rules.rotation;
    assert_string_equal(c->family->name, rotation_cases[i].family);
    assert_int_equal(found->kind, want->kind);
    assert_true(found->base == want->base);
    assert_true(found->offset == want->offset);
    assert_int_equal(found->reference, want->reference);
    assert_int_equal(found->own_grid, want->own_grid);
    assert_int_equal(found->columns_first, want->columns_first);
    assert_int_equal(found->half, want->half);
    assert_int_equal(heed_architecture_reference(rotation_cases[i].name, rotation_cases[i].width),
                     rotation_cases[i].reference);
    heed_config_destroy(c);
  }
}

/* What transformers says of rotary positions and of the pooler, where it would change numbers. */
static void silent_changes(void **state) {
  (void)state;
  heed_config *c =
      open_good("{\"model_type\":\"dinov3_vit\"," BASE ",\"rope_parameters\":{\"rope_theta\":50}}");
  assert_true(c->rules.rotation.base == 50.0f);
  heed_config_destroy(c);
  refuse("{\"model_type\":\"dinov3_vit\"," BASE ",\"rope_parameters\":{\"rope_type\":\"yarn\"}}",
         HEED_UNSUPPORTED, "rope_type is not supported (found yarn, expected default)");
  refuse("{\"model_type\":\"vit\"," BASE ",\"pooler_act\":\"gelu\"}", HEED_UNSUPPORTED,
         "pooler_act is not supported (found gelu, expected tanh)");
}

/* -------------------------------------------------------------------------- preprocessor_config */

static heed_preprocess read_preprocess(const char *config_text, const char *text,
                                       const heed_family *family, uint32_t image_size) {
  heed_config *c;
  heed_preprocess p;
  assert_ok(open_texts(config_text, text, &c));
  assert_ok(heed_config_preprocess(c, family, image_size, &p, &error));
  heed_config_destroy(c);
  return p;
}

static void check(heed_preprocess p, heed_resize_mode mode, uint32_t height, uint32_t width,
                  uint32_t short_side, uint32_t crop, uint32_t resample, float mean) {
  assert_int_equal(p.resize, mode);
  assert_int_equal(p.height, height);
  assert_int_equal(p.width, width);
  assert_int_equal(p.short_side, short_side);
  assert_int_equal(p.crop_height, crop);
  assert_int_equal(p.crop_width, crop);
  assert_int_equal(p.resample, resample);
  assert_true(p.mean[0] == mean);
  assert_true(p.rescale == 1.0f / 255.0f);
}

#define VIT &heed_family_vit
#define SQUASH HEED_RESIZE_SQUASH
#define SHORT HEED_RESIZE_SHORT_SIDE

static void family_defaults(void **state) {
  (void)state;
  check(read_preprocess(NULL, NULL, VIT, 224), SQUASH, 224, 224, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, NULL, VIT, 32), SQUASH, 32, 32, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, NULL, &heed_family_deit, 224), SQUASH, 256, 256, 0, 224, 3, 0.5f);
  check(read_preprocess(NULL, NULL, &heed_family_deit, 384), SQUASH, 438, 438, 0, 384, 3, 0.5f);
  check(read_preprocess(NULL, NULL, &heed_family_dinov2, 518), SHORT, 0, 0, 256, 224, 3, 0.485f);
  check(read_preprocess(NULL, NULL, &heed_family_dinov2_registers, 518), SHORT, 0, 0, 256, 224, 3,
        0.485f);
  check(read_preprocess(NULL, NULL, &heed_family_dinov2_original, 518), SHORT, 0, 0, 256, 224, 3,
        0.485f);
  check(read_preprocess(NULL, NULL, &heed_family_timm, 224), SHORT, 0, 0, 248, 224, 3, 0.5f);
  check(read_preprocess(NULL, "{}", VIT, 384), SQUASH, 384, 384, 0, 0, 2, 0.5f);
}

static void size_spellings(void **state) {
  (void)state;
  check(read_preprocess(NULL, "{\"size\":384}", VIT, 224), SQUASH, 384, 384, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, "{\"size\":{\"height\":240,\"width\":256}}", VIT, 224), SQUASH, 240,
        256, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, "{\"size\":[240,256]}", VIT, 224), SQUASH, 240, 256, 0, 0, 2, 0.5f);
  check(read_preprocess(
            NULL, "{\"size\":{\"shortest_edge\":256},\"do_center_crop\":true,\"crop_size\":224}",
            VIT, 224),
        SHORT, 0, 0, 256, 224, 2, 0.5f);
  check(read_preprocess(NULL, "{\"do_resize\":false,\"size\":256}", VIT, 224), HEED_RESIZE_NONE, 0,
        0, 0, 0, 2, 0.5f);
  check(read_preprocess(NULL, "{\"size\":null,\"resample\":3,\"do_center_crop\":true}", VIT, 96),
        SQUASH, 96, 96, 0, 96, 3, 0.5f);
  check(read_preprocess(NULL, "{\"resample\":\"bicubic\"}", VIT, 96), SQUASH, 96, 96, 0, 0, 3,
        0.5f);
}

/* As published: google/vit-base-patch16-224, facebook/deit-base-distilled-patch16-224,
 * facebook/dinov2-base, openai/clip. */
static void published_files(void **state) {
  (void)state;
  check(read_preprocess(NULL,
                        "{\"do_normalize\":true,\"do_resize\":true,\"image_mean\":[0.5,0.5,0.5],"
                        "\"image_std\":[0.5,0.5,0.5],\"size\":224}",
                        VIT, 224),
        SQUASH, 224, 224, 0, 0, 2, 0.5f);
  heed_preprocess p =
      read_preprocess(NULL,
                      "{\"crop_size\":224,\"do_center_crop\":true,\"do_normalize\":true,\"do_"
                      "resize\":true,\"feature_extractor_type\":"
                      "\"DeiTFeatureExtractor\",\"image_mean\":[0.485,0.456,0.406],\"image_std\":["
                      "0.229,0.224,0.225],\"resample\":3,\"size\":256}",
                      &heed_family_deit, 224);
  check(p, SQUASH, 256, 256, 0, 224, 3, 0.485f);
  assert_true(p.mean[1] == 0.456f && p.mean[2] == 0.406f && p.std[0] == 0.229f &&
              p.std[1] == 0.224f && p.std[2] == 0.225f);
  check(
      read_preprocess(
          NULL,
          "{\"crop_size\":{\"height\":224,\"width\":224},\"do_center_crop\":true,\"do_convert_"
          "rgb\":true,\"do_normalize\":"
          "true,\"do_rescale\":true,"
          "\"do_resize\":true,\"image_mean\":[0.485,0.456,0.406],\"image_processor_type\":"
          "\"BitImageProcessor\",\"image_"
          "std\":[0.229,0.224,0.225],"
          "\"resample\":3,\"rescale_factor\":0.00392156862745098,\"size\":{\"shortest_edge\":256}}",
          &heed_family_dinov2, 518),
      SHORT, 0, 0, 256, 224, 3, 0.485f);
  check(read_preprocess(
            NULL,
            "{\"feature_extractor_type\":\"CLIPFeatureExtractor\",\"size\":224,\"crop_size\":224}",
            VIT, 224),
        SHORT, 0, 0, 224, 224, 3, 0.48145466f);
  check(read_preprocess(NULL,
                        "{\"image_processor_type\":\"ViTImageProcessorFast\",\"size\":{\"height\":"
                        "256,\"width\":256}}",
                        VIT, 224),
        SQUASH, 256, 256, 0, 0, 2, 0.5f);
}

static void values(void **state) {
  (void)state;
  heed_preprocess p = read_preprocess(
      NULL, "{\"do_rescale\":false,\"do_normalize\":false,\"image_mean\":[1,2,3]}", VIT, 224);
  assert_true(p.rescale == 1.0f && p.mean[1] == 0.0f && p.std[2] == 1.0f);
  p = read_preprocess(NULL, "{\"rescale_factor\":0.5,\"image_mean\":0.25,\"image_std\":[0.75]}",
                      VIT, 224);
  assert_true(p.rescale == 0.5f && p.mean[0] == 0.25f && p.mean[2] == 0.25f && p.std[1] == 0.75f);
}

static void whole_numbers_of_a_preprocessor(void **state) {
  (void)state;
  heed_preprocess p = read_preprocess(
      NULL, "{\"size\":{\"height\":224.0,\"width\":224},\"resample\":3.0}", VIT, 224);
  assert_int_equal(p.height, 224);
  assert_int_equal(p.resample, 3);
  p = read_preprocess(NULL, "{\"size\":[192.0,192]}", VIT, 224);
  assert_int_equal(p.width, 192);
}

static void refuse_preprocess(const char *text, heed_status status, const char *part) {
  heed_config *c;
  heed_preprocess p;
  assert_ok(open_texts(NULL, text, &c));
  assert_fails(heed_config_preprocess(c, VIT, 224, &p, &error), status, part);
  assert_int_equal(strncmp(error.message, "preprocessor_config.json: ", 26), 0);
  heed_config_destroy(c);
}

static void wrong_preprocess(void **state) {
  (void)state;
  heed_config *c;
  assert_fails(open_texts(NULL, "[]", &c), HEED_INVALID_FILE,
               "preprocessor_config.json: it is not an object");
  refuse_preprocess("{\"size\":\"224\"}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":0}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":{}}", HEED_INVALID_FILE, "size is not valid (found an object");
  refuse_preprocess("{\"size\":{\"height\":224}}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":{\"height\":224,\"width\":224,\"shortest_edge\":3}}",
                    HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":{\"height\":-1,\"width\":224}}", HEED_INVALID_FILE,
                    "height is not valid");
  refuse_preprocess("{\"size\":{\"shortest_edge\":224,\"longest_edge\":300}}", HEED_UNSUPPORTED,
                    "longest_edge is not supported");
  refuse_preprocess("{\"size\":[1,2,3]}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"size\":[0,2]}", HEED_INVALID_FILE, "size is not valid");
  refuse_preprocess("{\"crop_size\":\"x\"}", HEED_INVALID_FILE, "crop_size is not valid");
  refuse_preprocess("{\"resample\":6}", HEED_INVALID_FILE, "resample is not valid");
  refuse_preprocess("{\"resample\":\"cubic\"}", HEED_INVALID_FILE, "resample is not valid");
  refuse_preprocess("{\"resample\":2.5}", HEED_INVALID_FILE, "resample is not valid");
  refuse_preprocess("{\"do_resize\":\"yes\"}", HEED_INVALID_FILE, "do_resize is not valid");
  refuse_preprocess("{\"image_mean\":[1,2]}", HEED_INVALID_FILE, "image_mean is not valid");
  refuse_preprocess("{\"image_mean\":[]}", HEED_INVALID_FILE, "image_mean is not valid");
  refuse_preprocess("{\"image_mean\":[1,2,\"3\"]}", HEED_INVALID_FILE, "image_mean is not valid");
  refuse_preprocess("{\"image_mean\":{}}", HEED_INVALID_FILE, "image_mean is not valid");
  refuse_preprocess("{\"image_std\":[1,0,1]}", HEED_INVALID_FILE, "image_std is not valid");
  refuse_preprocess("{\"image_std\":[1,1e-60,1]}", HEED_INVALID_FILE, "image_std is not valid");
  refuse_preprocess("{\"rescale_factor\":1e40}", HEED_INVALID_FILE, "rescale_factor is not valid");
  refuse_preprocess("{\"image_processor_type\":\"SamImageProcessor\"}", HEED_UNSUPPORTED,
                    "the kind of processor is not supported (found SamImageProcessor");
  refuse_preprocess("{\"image_processor_type\":\"ViTPoseImageProcessor\"}", HEED_UNSUPPORTED,
                    "the kind of processor is not supported");
}

static void timm_preprocess(void **state) {
  (void)state;
#define TIMM(cfg) "{\"architecture\":\"vit_x\",\"pretrained_cfg\":{" cfg "}}"
  heed_preprocess p = read_preprocess(
      TIMM(
          "\"input_size\":[3,224,224],\"interpolation\":\"bicubic\",\"crop_pct\":0.9,\"crop_mode\":"
          "\"center\",\"mean\":[0.5,0.5,0.5],\"std\":[0.5,0.5,0.5]"),
      NULL, &heed_family_timm, 224);
  check(p, SHORT, 0, 0, 248, 224, 3, 0.5f);
  check(read_preprocess(TIMM("\"interpolation\":\"bilinear\",\"crop_pct\":0.875"), NULL,
                        &heed_family_timm, 224),
        SHORT, 0, 0, 256, 224, 2, 0.5f);
  check(read_preprocess(
            TIMM("\"crop_pct\":1.0,\"crop_mode\":\"squash\",\"mean\":[0.485,0.456,0.406]"), NULL,
            &heed_family_timm, 384),
        SQUASH, 384, 384, 0, 384, 3, 0.485f);
  check(read_preprocess("{\"architecture\":\"vit_x\",\"crop_pct\":0.95}", NULL, &heed_family_timm,
                        224),
        SHORT, 0, 0, 235, 224, 3, 0.5f);
  heed_config *c;
  static const struct {
    const char *text;
    heed_status status;
    const char *part;
  } bad[] = {
      {TIMM("\"crop_mode\":\"border\""), HEED_UNSUPPORTED,
       "crop_mode is not supported (found border"},
      {TIMM("\"crop_pct\":0"), HEED_INVALID_FILE, "crop_pct is not valid"},
      {TIMM("\"crop_pct\":\"1\""), HEED_INVALID_FILE, "crop_pct is not valid"},
      {TIMM("\"crop_pct\":1.5"), HEED_INVALID_FILE, "crop_pct is not valid"},
      {TIMM("\"interpolation\":\"random\""), HEED_INVALID_FILE, "interpolation is not valid"},
      {TIMM("\"std\":[0,0,0]"), HEED_INVALID_FILE, "std is not valid"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_ok(open_texts(bad[i].text, NULL, &c));
    assert_fails(heed_config_preprocess(c, &heed_family_timm, 224, &p, &error), bad[i].status,
                 bad[i].part);
    heed_config_destroy(c);
  }
}

static void allocation_failures(void **state) {
  (void)state;
  static const char text[] = "{" BASE ",\"id2label\":{\"2\":\"two\",\"0\":\"zero\",\"1\":\"one\"}}";
  const heed_model_file files[] = {{"config.json", test_source(text, sizeof text - 1)},
                                   {"preprocessor_config.json", test_source("{}", 2)}};
  bool done = false;
  for (size_t n = 1; !done; n++) {
    test_allocator allocator = {0};
    heed_context_desc desc = test_context_desc(&allocator);
    heed_context *failing;
    heed_config *c;
    assert_ok(heed_context_create(&desc, &failing, &error));
    allocator.total = 0;
    allocator.fail_at = n;
    const heed_status status = heed_config_open(failing, files, 2, HEED_TOWER_VISION, &c, &error);
    done = allocator.total < n;
    assert_int_equal(status, done ? HEED_OK : HEED_OUT_OF_MEMORY);
    heed_config_destroy(c);
    heed_context_destroy(failing);
    assert_int_equal(allocator.live, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(oracle_config),
      cmocka_unit_test(no_config),
      cmocka_unit_test(defaults),
      cmocka_unit_test(whole_numbers),
      cmocka_unit_test(missing_keys),
      cmocka_unit_test(wrong_values),
      cmocka_unit_test(activations),
      cmocka_unit_test(labels),
      cmocka_unit_test(timm),
      cmocka_unit_test(family_defaults),
      cmocka_unit_test(size_spellings),
      cmocka_unit_test(published_files),
      cmocka_unit_test(values),
      cmocka_unit_test(whole_numbers_of_a_preprocessor),
      cmocka_unit_test(wrong_preprocess),
      cmocka_unit_test(timm_preprocess),
      cmocka_unit_test(allocation_failures),
      cmocka_unit_test(architectures),
      cmocka_unit_test(rotations),
      cmocka_unit_test(silent_changes),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
