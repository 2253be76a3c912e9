/* config.json in the spellings that published models have. */
#include <stdio.h>
#include <stdlib.h>

#include "model/families/timm_architectures.h"
#include "support/config_text.h"

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

/* RADIO's file: the arguments of its training. */
static void radio(void **state) {
  (void)state;
#define RADIO(args, rest)                              \
  "{\"args\":{\"model\":\"vit_huge_patch16_224\"" args \
  "},\"patch_size\":16,\"max_resolution\":2048" rest "}"
  static const char teachers[] = RADIO(",\"cls_token_per_teacher\":true,\"teachers\":[{\"name\":"
                                       "\"clip\"},{\"name\":\"sam\"},{\"name\":\"clip\"},{}]",
                                       ",\"preferred_resolution\":[432,432],"
                                       "\"vitdet_window_size\":null");
  heed_config *c = open_good(teachers);
  assert_ptr_equal(c->family, &heed_family_radio);
  assert_string_equal(c->model_type, "vit_huge_patch16_224");
  assert_int_equal(c->patch.value, 16);
  assert_int_equal(c->preferred_size.value, 432);
  assert_null(c->image_size.key);
  assert_int_equal(c->summaries, 3); /* clip, sam, and one without a name */
  heed_config_destroy(c);
  c = open_good(RADIO(",\"teachers\":[{\"name\":\"clip\"},{\"name\":\"sam\"}]", ""));
  assert_int_equal(c->summaries, 1);
  heed_config_destroy(c);
  refuse(RADIO("", ",\"vitdet_window_size\":8"), HEED_UNSUPPORTED,
         "vitdet_window_size is not supported (found windows, expected none)");
  refuse(RADIO("", ",\"preferred_resolution\":[432,768]"), HEED_UNSUPPORTED,
         "preferred_resolution is not supported (found 432 x 768, expected a square)");
  refuse(RADIO(",\"cls_token_per_teacher\":3", ""), HEED_INVALID_FILE,
         "cls_token_per_teacher is not valid");
  refuse("{\"args\":{\"model\":\"eradio\"},\"max_resolution\":2048}", HEED_UNSUPPORTED,
         "model is not supported (found eradio, expected RADIO of vit_...)");
  refuse("{\"args\":{\"model\":\"vit_relpos_base_patch16_224\"},\"max_resolution\":2048}",
         HEED_UNSUPPORTED, "architecture is not supported");
  refuse("{\"args\":{\"model\":\"vit_base_patch16_224\"}}", HEED_INVALID_FILE,
         "missing key hidden_size");
#undef RADIO
}

/* What the classes of transformers mean by a key that the file leaves out. */
static void class_defaults(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t width, mlp, layers, heads, image, patch;
    float epsilon;
  } cases[] = {
#define TOWER(type, rest) "{\"model_type\":\"" type "\",\"vision_config\":{" rest "}}"
      /* SmolVLM-256M as it is published */
      {TOWER("smolvlm", "\"model_type\":\"smolvlm_vision\",\"hidden_size\":768,\"image_size\":512,"
                        "\"num_attention_heads\":12,\"patch_size\":16"),
       768, 3072, 12, 12, 512, 16, 1e-6f},
      {TOWER("idefics3", "\"model_type\":\"idefics3_vision\""), 1152, 3072, 12, 16, 224, 32, 1e-6f},
      {TOWER("idefics3", ""), 1152, 3072, 12, 16, 224, 32, 1e-6f},
      {TOWER("idefics2", "\"model_type\":\"idefics2_vision\""), 768, 3072, 12, 12, 224, 32, 1e-6f},
      {TOWER("owlvit", "\"model_type\":\"owlvit_vision_model\""), 768, 3072, 12, 12, 768, 32,
       1e-5f},
      {TOWER("owlv2", ""), 768, 3072, 12, 12, 768, 16, 1e-5f},
      {TOWER("clip", ""), 768, 3072, 12, 12, 224, 32, 1e-5f},
      {TOWER("metaclip_2", "\"model_type\":\"metaclip_2_vision_model\""), 768, 3072, 12, 12, 224,
       32, 1e-5f},
      {TOWER("blip", ""), 768, 3072, 12, 12, 384, 16, 1e-5f},
      {TOWER("blip-2", "\"model_type\":\"blip_2_vision_model\""), 1408, 6144, 39, 16, 224, 14,
       1e-6f},
      {TOWER("instructblip", "\"layer_norm_eps\":1e-5"), 1408, 6144, 39, 16, 224, 14, 1e-5f},
      {TOWER("siglip2",
             "\"model_type\":\"siglip2_vision_model\",\"num_patches\":729,\"patch_size\":14"),
       768, 3072, 12, 12, 378, 14, 1e-6f},
      {"{\"model_type\":\"siglip2_vision_model\"}", 768, 3072, 12, 12, 256, 16, 1e-6f},
      {"{\"model_type\":\"beit\"}", 768, 3072, 12, 12, 224, 16, 1e-12f},
      /* ZoeDepth leaves out patch_size */
      {"{\"model_type\":\"zoedepth\",\"backbone_config\":{\"model_type\":\"beit\",\"hidden_size\":"
       "1024,\"image_size\":384,\"intermediate_size\":4096,\"num_attention_heads\":16,"
       "\"num_hidden_layers\":24}}",
       1024, 4096, 24, 16, 384, 16, 1e-12f}};
#undef TOWER
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_config *c = open_good(cases[i].text);
    const uint32_t found[] = {c->width.value, c->mlp_width.value,  c->layers.value,
                              c->heads.value, c->image_size.value, c->patch.value},
                   wanted[] = {cases[i].width, cases[i].mlp,   cases[i].layers,
                               cases[i].heads, cases[i].image, cases[i].patch};
    if (memcmp(found, wanted, sizeof found) != 0 || c->rules.epsilon != cases[i].epsilon)
      fail_msg("%s: found %u %u %u %u %u %u, %g", cases[i].text, found[0], found[1], found[2],
               found[3], found[4], found[5], (double)c->rules.epsilon);
    heed_config_destroy(c);
  }
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
  refuse("{\"hidden_size\":384,\"mlp_ratio\":0}", HEED_INVALID_FILE,
         "mlp_ratio is not valid (found a number at byte");
  refuse("{\"hidden_size\":384.5}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"hidden_size\":-4.0}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"hidden_size\":1e300}", HEED_INVALID_FILE, "hidden_size is not valid");
  refuse("{\"hidden_size\":1048577.0}", HEED_INVALID_FILE, "hidden_size is not valid");
}

/* Python's json module writes and reads NaN and infinities, and editors a byte-order mark. */
static void what_python_writes(void **state) {
  (void)state;
  heed_config_destroy(open_good("\xEF\xBB\xBF{" BASE "}"));
  heed_config_destroy(open_good("{" BASE ",\"initializer_range\":NaN,\"drop_path_rate\":Infinity,"
                                "\"hidden_dropout_prob\":[-Infinity]}"));
  refuse("{" BASE ",\"layer_norm_eps\":NaN}", HEED_INVALID_FILE,
         "layer_norm_eps is not valid (found NaN or an infinity");
  refuse("{" BASE ",\"num_channels\":-Infinity}", HEED_INVALID_FILE,
         "num_channels is not valid (found NaN or an infinity");
  refuse("{" BASE ",\"drop_path_rate\":Nan}", HEED_INVALID_FILE, "expected a value");
  refuse("{" BASE ",\"pooler_output_size\":16}", HEED_UNSUPPORTED,
         "pooler_output_size is not supported (found 16, expected hidden_size 192)");
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
  refuse("{\"model_type\":\"siglip2_vision_model\",\"num_patches\":250}", HEED_UNSUPPORTED,
         "num_patches is not supported (found 250, expected those of a square)");
  refuse("{\"model_type\":\"siglip2_vision_model\",\"num_patches\":0}", HEED_INVALID_FILE,
         "num_patches is not valid");
  refuse("{\"model_type\":\"yolos\"," BASE "}", HEED_UNSUPPORTED,
         "a tower with detection tokens is not supported (found yolos, expected a plain tower); "
         "its ONNX export opens");
  refuse("{\"model_type\":\"mixer\"," BASE "}", HEED_UNSUPPORTED,
         "model_type is not supported (found mixer, expected vit, deit, dinov2, clip "
         "or another of docs/models.md); its ONNX export opens");
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
  refuse("{" BASE ",\"id2label\":{\"1048576\":\"last\"}}", HEED_INVALID_FILE,
         "found 1048576, expected 0 to 1048575");
  c = open_good("{" BASE ",\"id2label\":{\"1048575\":\"last\"}}");
  assert_string_equal(heed_config_label(c, 1048575), "last");
  heed_config_destroy(c);
  refuse("{" BASE ",\"id2label\":{\"\":\"two\"}}", HEED_INVALID_FILE, "not a class number");
  c = open_good("{" BASE ",\"id2label\":{\"1\":20,\"0\":-7,\"2\":\"c\"}}");
  assert_string_equal(heed_config_label(c, 0), "-7");
  assert_string_equal(heed_config_label(c, 1), "20");
  assert_string_equal(heed_config_label(c, 2), "c");
  heed_config_destroy(c);
  c = open_good("{" BASE ",\"id2label\":{}}");
  assert_int_equal(c->label_count, 0);
  assert_int_equal(c->classes.value, 0);
  heed_config_destroy(c);
  refuse("{" BASE ",\"id2label\":{\"0\":2.5}}", HEED_INVALID_FILE,
         "id2label is not valid (found a number");
  refuse("{" BASE ",\"id2label\":{\"0\":null}}", HEED_INVALID_FILE,
         "id2label is not valid (found null");
  refuse("{" BASE ",\"id2label\":{\"1\":\"one\",\"01\":\"another\"}}", HEED_INVALID_FILE,
         "config.json: id2label has class 1 twice");
  refuse("{" BASE ",\"num_labels\":1,\"id2label\":{\"0\":\"a\",\"1\":\"b\"}}", HEED_INVALID_FILE,
         "config.json: more labels than classes (found 2, expected at most num_labels 1)");
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
  refuse("{\"architecture\":\"vit_x\",\"label_names\":[true]}", HEED_INVALID_FILE,
         "label_names is not valid");
  refuse("{\"architecture\":\"vit_x\",\"num_classes\":1,\"label_names\":[\"a\",\"b\"]}",
         HEED_INVALID_FILE, "more labels than classes (found 2, expected at most num_classes 1)");
  heed_config_destroy(
      open_good("{\"architecture\":\"vit_x\",\"num_classes\":0,\"label_names\":[\"a\",\"b\"]}"));
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
         "architecture is not supported (found vit_base_patch16_18x2_224 with attention and MLP in "
         "parallel, expected plain blocks");
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
  refuse("{" BASE ",\"problem_type\":\"ranking\"}", HEED_UNSUPPORTED,
         "problem_type is not supported (found ranking, expected single_label_classification)");
  heed_config *c =
      open_good("{\"model_type\":\"dinov3_vit\"," BASE ",\"rope_parameters\":{\"rope_theta\":50}}");
  assert_true(c->rules.rotation.base == 50.0f);
  heed_config_destroy(c);
  refuse("{\"model_type\":\"dinov3_vit\"," BASE ",\"rope_parameters\":{\"rope_type\":\"yarn\"}}",
         HEED_UNSUPPORTED, "rope_type is not supported (found yarn, expected default)");
  refuse("{\"model_type\":\"vit\"," BASE ",\"pooler_act\":\"gelu\"}", HEED_UNSUPPORTED,
         "pooler_act is not supported (found gelu, expected tanh)");
}

/* What timm's blocks are made of changes results, and no tensor tells it. */
static void timm_blocks(void **state) {
  (void)state;
#define ARGS(args) "{\"architecture\":\"vit_x\",\"model_args\":{" args "}}"
  refuse(ARGS("\"act_layer\":\"mish\""), HEED_UNSUPPORTED,
         "config.json: act_layer is not supported (found mish, expected gelu, ");
  refuse(ARGS("\"norm_layer\":\"rmsnorm\""), HEED_UNSUPPORTED,
         "config.json: model_args with norm_layer is not supported (expected a plain tower)");
  refuse(ARGS("\"block_fn\":\"parallel\""), HEED_UNSUPPORTED, "model_args with block_fn");
  refuse(ARGS("\"mlp_layer\":\"swiglu\""), HEED_UNSUPPORTED, "model_args with mlp_layer");
  refuse(ARGS("\"pool_include_prefix\":true"), HEED_UNSUPPORTED,
         "model_args with pool_include_prefix");
  refuse(ARGS("\"dynamic_img_pad\":true"), HEED_UNSUPPORTED, "model_args with dynamic_img_pad");
  heed_config_destroy(open_good(ARGS("\"act_layer\":null,\"drop_rate\":0.1")));
#undef ARGS
}

/* What model_args say of the activation and of pooling counts, as timm passes it to the model. */
static void timm_arguments(void **state) {
  (void)state;
#define ARGS(args) \
  "{\"architecture\":\"vit_x\",\"global_pool\":\"token\",\"model_args\":{" args "}}"
  static const struct {
    const char *text;
    heed_activation activation;
    heed_pool pool;
  } cases[] = {
      {ARGS(""), HEED_ACTIVATION_GELU, HEED_POOL_CLS},
      {ARGS("\"act_layer\":\"quick_gelu\""), HEED_ACTIVATION_GELU_QUICK, HEED_POOL_CLS},
      {ARGS("\"act_layer\":\"gelu_tanh\",\"global_pool\":\"avg\""), HEED_ACTIVATION_GELU_TANH,
       HEED_POOL_PATCHES},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_config *config = open_good(cases[i].text);
    assert_int_equal(config->rules.activation, cases[i].activation);
    assert_int_equal(config->pool.value, cases[i].pool);
    heed_config_destroy(config);
  }
  refuse(ARGS("\"global_pool\":\"avgmax\""), HEED_UNSUPPORTED,
         "global_pool is not supported (found avgmax, expected token, avg or map)");
#undef ARGS
}

/* A member of another kind than the reader wants is refused by its name, wherever it stands. */
#define TIMM(args) "{\"architecture\":\"eva02_base_patch14_448\",\"model_args\":{" args "}}"
#define CLIP(more) "{\"model_cfg\":{\"embed_dim\":8," more "}}"
static const struct {
  heed_tower tower;
  const char *file, *text, *part;
} wrong_kind_cases[] = {
    {HEED_TOWER_VISION, "config.json", TIMM("\"use_rot_pos_emb\":1"), "use_rot_pos_emb"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"rope_type\":1"), "rope_type"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"rope_grid_indexing\":1"), "rope_grid_indexing"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"rope_rotate_half\":1"), "rope_rotate_half"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"rope_grid_offset\":\"1\""), "rope_grid_offset"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"rope_temperature\":0"), "rope_temperature"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"ref_feat_shape\":[1]"), "ref_feat_shape"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"in_chans\":0"), "in_chans"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"qkv_bias\":1"), "qkv_bias"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"mlp_ratio\":0"), "mlp_ratio"},
    {HEED_TOWER_VISION, "config.json", TIMM("\"use_shared_rel_pos_bias\":1"),
     "use_shared_rel_pos_bias"},
    {HEED_TOWER_VISION, "config.json", "{\"architecture\":\"vit_x\",\"label_names\":{}}",
     "label_names"},
    {HEED_TOWER_VISION, "config.json",
     "{\"model_type\":\"dinov3_vit\"," BASE ",\"rope_parameters\":{\"rope_type\":1}}", "rope_type"},
    {HEED_TOWER_VISION, "config.json", "{" BASE ",\"pooler_act\":1}", "pooler_act"},
    {HEED_TOWER_VISION, "config.json", "{" BASE ",\"problem_type\":1}", "problem_type"},
    {HEED_TOWER_VISION, "config.json", "{" BASE ",\"rope_parameters\":[]}", "rope_parameters"},
    {HEED_TOWER_VISION, "config.json", "{" BASE ",\"vision_config\":\"x\"}", "vision_config"},
    {HEED_TOWER_VISION, "config.json", "{" BASE ",\"backbone_config\":1}", "backbone_config"},
    {HEED_TOWER_VISION, "config.json", "{" BASE ",\"encoder\":[]}", "encoder"},
    {HEED_TOWER_TEXT, "config.json", "{" BASE ",\"text_config\":true}", "text_config"},
    {HEED_TOWER_VISION, "config.json", "{\"architecture\":\"vit_x\",\"pretrained_cfg\":3}",
     "pretrained_cfg"},
    {HEED_TOWER_VISION, "config.json", "{\"architecture\":\"vit_x\",\"model_args\":[]}",
     "model_args"},
    {HEED_TOWER_VISION, "open_clip_config.json", "{\"model_cfg\":[]}", "model_cfg"},
    {HEED_TOWER_VISION, "open_clip_config.json", CLIP("\"vision_cfg\":1"), "vision_cfg"},
    {HEED_TOWER_TEXT, "open_clip_config.json", CLIP("\"text_cfg\":\"\""), "text_cfg"},
    {HEED_TOWER_TEXT, "open_clip_config.json", CLIP("\"text_cfg\":{\"act_kwargs\":[]}"),
     "act_kwargs"},
    {HEED_TOWER_TEXT, "open_clip_config.json", CLIP("\"text_cfg\":{\"norm_kwargs\":1}"),
     "norm_kwargs"},
    {HEED_TOWER_VISION, "open_clip_config.json", CLIP("\"vision_cfg\":{\"pool_type\":1}"),
     "pool_type"},
    {HEED_TOWER_VISION, "open_clip_config.json", CLIP("\"quick_gelu\":1,\"vision_cfg\":{}"),
     "quick_gelu"},
    {HEED_TOWER_VISION, "open_clip_config.json",
     CLIP("\"vision_cfg\":{\"timm_model_name\":\"vit_x\",\"timm_proj\":1}"), "timm_proj"},
    {HEED_TOWER_TEXT, "open_clip_config.json", CLIP("\"text_cfg\":{\"heads\":0}"), "heads"},
    {HEED_TOWER_TEXT, "open_clip_config.json", CLIP("\"text_cfg\":{\"context_length\":0}"),
     "context_length"},
    {HEED_TOWER_TEXT, "open_clip_config.json", CLIP("\"text_cfg\":{\"vocab_size\":\"\"}"),
     "vocab_size"},
    {HEED_TOWER_TEXT, "open_clip_config.json", CLIP("\"text_cfg\":{\"no_causal_mask\":0}"),
     "no_causal_mask"},
    {HEED_TOWER_TEXT, "open_clip_config.json", CLIP("\"text_cfg\":{\"pool_type\":0}"), "pool_type"},
    {HEED_TOWER_TEXT, "open_clip_config.json",
     CLIP("\"text_cfg\":{\"act_kwargs\":{\"approximate\":0}}"), "approximate"},
    {HEED_TOWER_TEXT, "open_clip_config.json", CLIP("\"text_cfg\":{\"norm_kwargs\":{\"eps\":0}}"),
     "eps"},
    {HEED_TOWER_TEXT, "config.json",
     "{\"model_type\":\"siglip_text_model\"," BASE ",\"projection_size\":0}", "projection_size"},
};

static void wrong_kinds(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof wrong_kind_cases / sizeof *wrong_kind_cases; i++) {
    const heed_model_file file = {
        wrong_kind_cases[i].file,
        test_source(wrong_kind_cases[i].text, strlen(wrong_kind_cases[i].text))};
    heed_config *c;
    char part[96];
    snprintf(part, sizeof part, "%s: %s is not valid (found ", wrong_kind_cases[i].file,
             wrong_kind_cases[i].part);
    assert_fails(heed_config_open(context, &file, 1, wrong_kind_cases[i].tower, &c, &error),
                 HEED_INVALID_FILE, part);
    assert_null(c);
  }
}

static heed_status open_clip(heed_tower tower, const char *more, heed_config **c) {
  char text[512];
  snprintf(text, sizeof text, CLIP("%s"), more);
  const heed_model_file file = {"open_clip_config.json", test_source(text, strlen(text))};
  return heed_config_open(context, &file, 1, tower, c, &error);
}

/* What open_clip's towers may have, and what changes them and is not there. */
static void open_clip_options(void **state) {
  (void)state;
  static const struct {
    heed_tower tower;
    const char *more, *part;
  } bad[] = {
      {HEED_TOWER_VISION, "\"vision_cfg\":{\"no_ln_pre\":true}",
       "vision_cfg with no_ln_pre is not supported (expected a plain tower)"},
      {HEED_TOWER_VISION, "\"vision_cfg\":{\"act_kwargs\":{}}", "vision_cfg with act_kwargs"},
      {HEED_TOWER_TEXT, "\"text_cfg\":{\"hf_model_name\":\"x\"}", "text_cfg with hf_model_name"},
      {HEED_TOWER_TEXT, "\"text_cfg\":{\"embed_cls\":true}", "text_cfg with embed_cls"},
      {HEED_TOWER_VISION, "\"vision_cfg\":{\"pool_type\":\"avg\"}",
       "pool_type is not supported (found avg, expected tok)"},
      {HEED_TOWER_TEXT, "\"text_cfg\":{\"pool_type\":\"first\"}",
       "pool_type is not supported (found first, expected argmax or last)"},
      {HEED_TOWER_TEXT, "\"text_cfg\":{\"act_kwargs\":{\"approximate\":\"erf\"}}",
       "approximate is not supported (found erf, expected none or tanh)"},
      {HEED_TOWER_VISION, "\"vision_cfg\":{\"timm_model_name\":\"vit_x\",\"timm_proj\":\"mlp\"}",
       "timm_proj is not supported (found mlp, expected linear, none or null)"},
      {HEED_TOWER_VISION, "\"vision_cfg\":{\"width\":100}",
       "head_width does not divide width (found 64 and 100)"}};
  heed_config *c;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const heed_status status = i == 8 ? HEED_INVALID_FILE : HEED_UNSUPPORTED;
    assert_fails(open_clip(bad[i].tower, bad[i].more, &c), status, bad[i].part);
  }
  assert_ok(open_clip(HEED_TOWER_VISION, "\"vision_cfg\":{\"scale_fc\":false,\"width\":128}", &c));
  assert_int_equal(c->heads.value, 2);
  assert_int_equal(c->projection.value, 8);
  heed_config_destroy(c);
  assert_ok(open_clip(HEED_TOWER_TEXT,
                      "\"text_cfg\":{\"pool_type\":\"last\",\"no_causal_mask\":true,"
                      "\"act_kwargs\":{\"approximate\":\"tanh\"},\"norm_kwargs\":{\"eps\":0.5}}",
                      &c));
  assert_int_equal(c->pool.value, HEED_POOL_LAST);
  assert_int_equal(c->rules.activation, HEED_ACTIVATION_GELU_TANH);
  assert_true(c->rules.epsilon == 0.5f);
  assert_false(c->rules.causal);
  heed_config_destroy(c);
  static const char trunk[] = "\"vision_cfg\":{\"timm_model_name\":\"vit_x\",\"timm_proj\":%s}";
  static const struct {
    const char *map;
    uint32_t projection;
    bool embeds;
  } maps[] = {{"\"none\"", 0, false}, {"\"linear\"", 8, false}, {"null", 8, true}};
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
    char more[128];
    snprintf(more, sizeof more, trunk, maps[i].map);
    assert_ok(open_clip(HEED_TOWER_VISION, more, &c));
    assert_int_equal(c->projection.value, maps[i].projection);
    assert_int_equal(c->rules.classifier_embeds, maps[i].embeds);
    heed_config_destroy(c);
  }
}

/* timm's words for rotation. */
static void rotation_words(void **state) {
  (void)state;
  refuse(TIMM("\"rope_type\":\"spiral\""), HEED_UNSUPPORTED,
         "rope_type is not supported (found spiral, expected one of cat|dinov3|mixed)");
  heed_config *c = open_good(TIMM("\"rope_type\":\"mixed\""));
  assert_int_equal(c->rules.rotation.kind, HEED_ROTATION_AXIAL);
  assert_true((c->rules.needs & HEED_GROUP(FREQUENCIES)) != 0);
  heed_config_destroy(c);
  c = open_good(TIMM("\"rope_type\":\"mixed\",\"use_rot_pos_emb\":false"));
  assert_int_equal(c->rules.rotation.kind, HEED_ROTATION_NONE);
  assert_false((c->rules.needs & HEED_GROUP(FREQUENCIES)) != 0);
  heed_config_destroy(c);
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
      cmocka_unit_test(class_defaults),
      cmocka_unit_test(radio),
      cmocka_unit_test(whole_numbers),
      cmocka_unit_test(what_python_writes),
      cmocka_unit_test(missing_keys),
      cmocka_unit_test(wrong_values),
      cmocka_unit_test(activations),
      cmocka_unit_test(labels),
      cmocka_unit_test(timm),
      cmocka_unit_test(allocation_failures),
      cmocka_unit_test(architectures),
      cmocka_unit_test(rotations),
      cmocka_unit_test(silent_changes),
      cmocka_unit_test(timm_blocks),
      cmocka_unit_test(timm_arguments),
      cmocka_unit_test(wrong_kinds),
      cmocka_unit_test(open_clip_options),
      cmocka_unit_test(rotation_words),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
