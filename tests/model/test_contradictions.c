/* What config.json says and the weights contradict, and parts of the weights that belong together:
 * each an error that names it. */
#include "support/named_model.h"

#define HF_SIZES(width, layers, heads, mlp, image, patch)                                        \
  "\"hidden_size\":" #width ",\"num_hidden_layers\":" #layers ",\"num_attention_heads\":" #heads \
  ",\"intermediate_size\":" #mlp ",\"image_size\":" #image ",\"patch_size\":" #patch
#define HF(more) "{" HF_SIZES(64, 2, 4, 96, 12, 4) more "}"
#define DINO(type, more)                                                                     \
  "{\"model_type\":\"" type "\",\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_" \
  "heads\":4,\"mlp_ratio\":2,\"image_size\":12,\"patch_size\":4" more "}"
#define TIMM(args, more) \
  "{\"architecture\":\"vit_x\",\"model_args\":{\"num_heads\":4" args "}" more "}"

#define MOST_EDITS 7
/* Tensors left out and put in; a shape of no axes: left out. */
typedef struct edit {
  const char *name;
  heed_shape shape;
} edit;
#define SHAPE(...)                                                        \
  {                                                                       \
    sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), { __VA_ARGS__ } \
  }
#define NONE \
  {          \
    0, { 0 } \
  }

/* make_model's, with what every DINOv2 has. */
static void make_named(model *m, const spelling *names) {
  make_model(m, names, names->prefix);
  if (names != &dinov2_names) return;
  drop(m, "classifier.weight");
  drop(m, "classifier.bias");
  for (int layer = 0; layer < LAYERS; layer++)
    for (int scale = 1; scale <= 2; scale++) {
      char name[64];
      snprintf(name, sizeof name, "encoder.layer.%d.layer_scale%d.lambda1", layer, scale);
      add(m, name, 1.0f, HEED_SHAPE(WIDTH));
    }
  for (int layer = 0; layer < LAYERS; layer++) { /* mlp_ratio 2 */
    static const char *const parts[] = {"fc1.weight", "fc1.bias", "fc2.weight"};
    const heed_shape shapes[] = {HEED_SHAPE(2 * WIDTH, WIDTH), HEED_SHAPE(2 * WIDTH),
                                 HEED_SHAPE(WIDTH, 2 * WIDTH)};
    for (int part = 0; part < 3; part++) {
      char name[64];
      snprintf(name, sizeof name, "encoder.layer.%d.mlp.%s", layer, parts[part]);
      drop(m, name);
      add(m, name, 1.0f, shapes[part]);
    }
  }
}

typedef struct contradiction {
  const spelling *names;
  const char *config; /* or NULL: no config.json */
  edit edits[MOST_EDITS];
  const char *parts[3]; /* of the sentence; none: it opens */
} contradiction;

static void check_contradiction(const contradiction *c) {
  model m;
  make_named(&m, c->names);
  for (int i = 0; i < MOST_EDITS && c->edits[i].name; i++)
    if (c->edits[i].shape.rank)
      add(&m, c->edits[i].name, 1.0f, c->edits[i].shape);
    else
      drop(&m, c->edits[i].name);
  const heed_status status = open_model(&m, c->config);
  const char *config = c->config ? c->config : "without a config",
             *first = c->edits[0].name ? c->edits[0].name : "";
  if (!c->parts[0] && status != HEED_OK) fail_msg("%s %s: %s", config, first, error.message);
  if (c->parts[0] && status != HEED_INVALID_FILE)
    fail_msg("%s %s: found %s, expected an invalid file (%s)", config, first,
             heed_status_name(status), c->parts[0]);
  for (int i = 0; i < 3 && c->parts[i]; i++)
    if (!strstr(error.message, c->parts[i]))
      fail_msg("%s %s: \"%s\" is not in: %s", config, first, c->parts[i], error.message);
  free_model(&m);
}

#define CHECK(cases) \
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_contradiction(&cases[i])

static const contradiction wrong_sizes[] = {
    {&old_names, HF(""), {{0}}, {NULL}},
    {&old_names,
     HF(",\"num_labels\":5,\"num_channels\":3,\"num_register_tokens\":0"),
     {{0}},
     {NULL}},
    {&old_names,
     "{" HF_SIZES(48, 2, 4, 96, 12, 4) "}",
     {{0}},
     {"config.json: hidden_size does not fit the weights (found 48, expected 64",
      "embeddings.patch_embeddings.projection.weight"}},
    {&old_names,
     "{" HF_SIZES(64, 1, 4, 96, 12, 4) "}",
     {{0}},
     {"config.json: num_hidden_layers does not fit the weights (found 1, expected 2",
      "encoder.layer.1.layernorm_before.weight is there"}},
    {&old_names,
     "{" HF_SIZES(64, 3, 4, 96, 12, 4) "}",
     {{0}},
     {"config.json: num_hidden_layers does not fit the weights (found 3, expected 2",
      "encoder.layer.2.layernorm_before.weight is not there"}},
    {&old_names,
     "{" HF_SIZES(64, 1048576, 4, 96, 12, 4) "}",
     {{0}},
     {"config.json: num_hidden_layers does not fit the weights (found 1048576, expected 2"}},
    {&old_names,
     "{" HF_SIZES(64, 2, 5, 96, 12, 4) "}",
     {{0}},
     {"config.json: hidden_size is not a multiple of num_attention_heads (found 64 and 5)"}},
    {&old_names,
     "{" HF_SIZES(64, 2, 4, 100, 12, 4) "}",
     {{0}},
     {"config.json: intermediate_size does not fit the weights (found 100, expected 96",
      "encoder.layer.0.intermediate.dense.weight"}},
    {&old_names,
     "{" HF_SIZES(64, 2, 4, 96, 12, 3) "}",
     {{0}},
     {"config.json: patch_size does not fit the weights (found 3, expected 4"}},
    {&old_names,
     "{" HF_SIZES(64, 2, 4, 96, 16, 4) "}",
     {{0}},
     {"config.json: image_size does not fit the weights (found 16, which makes 17 rows of "
      "positions, expected 10",
      "embeddings.position_embeddings"}},
    {&old_names,
     HF(""),
     {{"vit.embeddings.position_embeddings", NONE},
      {"vit.embeddings.position_embeddings", SHAPE(1, 9, 64)}},
     {"config.json: image_size does not fit", "makes 10 rows of positions, expected 9"}},
    {&old_names,
     HF(",\"num_channels\":1"),
     {{0}},
     {"config.json: num_channels does not fit the weights (found 1, expected 3"}},
    {&old_names,
     HF(""),
     {{"vit.embeddings.patch_embeddings.projection.weight", NONE},
      {"vit.embeddings.patch_embeddings.projection.weight", SHAPE(64, 1, 4, 4)}},
     {"config.json: num_channels (by default) does not fit the weights (found 3, expected 1"}},
    {&old_names,
     HF(",\"num_labels\":7"),
     {{0}},
     {"config.json: num_labels does not fit the weights (found 7, expected 5",
      "classifier.weight"}},
    {&old_names,
     HF(",\"num_labels\":0"),
     {{0}},
     {"config.json: num_labels does not fit the weights (found 0, expected 5"}},
    {&old_names,
     HF(",\"id2label\":{\"0\":\"a\",\"1\":\"b\"}"),
     {{0}},
     {"config.json: id2label does not fit the weights (found 2, expected 5"}},
    {&old_names,
     HF(",\"num_labels\":7"),
     {{"classifier.weight", NONE}, {"classifier.bias", NONE}},
     {NULL}}, /* a base model */
    {&dinov2_names, DINO("dinov2", ""), {{0}}, {NULL}},
    {&dinov2_names,
     "{\"model_type\":\"dinov2\",\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_"
     "heads\":4,\"mlp_ratio\":4,\"image_size\":12,"
     "\"patch_size\":4}",
     {{0}},
     {"config.json: hidden_size times mlp_ratio does not fit the weights (found 256, expected "
      "128"}},
    {&timm_names, TIMM("", ""), {{0}}, {NULL}},
    {&timm_names,
     TIMM(",\"img_size\":12,\"patch_size\":4,\"embed_dim\":64,\"depth\":2,\"mlp_ratio\":1.5,\"in_"
          "chans\":3,\"qkv_bias\":true,\"reg_"
          "tokens\":0",
          ",\"num_classes\":5"),
     {{0}},
     {NULL}},
    {&timm_names,
     TIMM(",\"embed_dim\":32", ""),
     {{0}},
     {"config.json: embed_dim does not fit the weights (found 32, expected 64"}},
    {&timm_names,
     TIMM(",\"depth\":3", ""),
     {{0}},
     {"config.json: depth does not fit the weights (found 3, expected 2"}},
    {&timm_names,
     "{\"architecture\":\"vit_x\",\"model_args\":{\"num_heads\":5}}",
     {{0}},
     {"config.json: num_heads does not divide the width (found 5, expected a divisor of 64)"}},
    {&timm_names,
     TIMM(",\"mlp_ratio\":4", ""),
     {{0}},
     {"config.json: embed_dim times mlp_ratio does not fit the weights (found 256, expected 96"}},
    {&timm_names,
     TIMM(",\"patch_size\":8", ""),
     {{0}},
     {"config.json: patch_size does not fit the weights (found 8, expected 4"}},
    {&timm_names,
     TIMM(",\"img_size\":20", ""),
     {{0}},
     {"config.json: img_size does not fit the weights (found 20", "expected 10"}},
    {&timm_names,
     TIMM("", ",\"pretrained_cfg\":{\"input_size\":[3,20,20]}"),
     {{0}},
     {"config.json: input_size does not fit the weights (found 20", "expected 10"}},
    {&timm_names,
     TIMM("", ",\"pretrained_cfg\":{\"input_size\":[1,12,12]}"),
     {{0}},
     {"config.json: input_size does not fit the weights (found 1, expected 3"}},
    {&timm_names,
     TIMM(",\"in_chans\":1", ""),
     {{0}},
     {"config.json: in_chans does not fit the weights (found 1, expected 3"}},
    {&timm_names,
     TIMM("", ",\"num_classes\":7"),
     {{0}},
     {"config.json: num_classes does not fit the weights (found 7, expected 5", "head.weight"}},
    {&timm_names,
     TIMM("", ",\"num_classes\":0"),
     {{0}},
     {"config.json: num_classes does not fit the weights (found 0, expected 5"}},
};

static void sizes_of_the_config(void **state) {
  (void)state;
  CHECK(wrong_sizes);
}

static void registers_of_the_config(void **state) {
  (void)state;
  static const contradiction cases[] = {
      {&old_names,
       HF(",\"num_register_tokens\":8"),
       {{0}},
       {"config.json: num_register_tokens does not fit the weights (found 8, expected 0",
        "embeddings.register_tokens is not there"}},
      {&old_names,
       HF(",\"num_register_tokens\":1048576"),
       {{0}},
       {"config.json: num_register_tokens does not fit the weights (found 1048576, expected 0"}},
      {&dinov2_names,
       DINO("dinov2", ",\"num_register_tokens\":4"),
       {{0}},
       {"config.json: num_register_tokens does not fit the weights (found 4, expected 0",
        "embeddings.register_tokens is not there"}},
      {&dinov2_names,
       DINO("dinov2_with_registers", ""),
       {{0}},
       {"config.json: num_register_tokens (by default) does not fit the weights (found 4, expected "
        "0"}},
      {&dinov2_names,
       DINO("dinov2_with_registers", ""),
       {{"embeddings.register_tokens", SHAPE(1, 2, 64)}},
       {"config.json: num_register_tokens (by default) does not fit the weights (found 4, expected "
        "2"}},
      {&dinov2_names,
       DINO("dinov2_with_registers", ""),
       {{"embeddings.register_tokens", SHAPE(1, 4, 64)}},
       {NULL}},
      {&dinov2_names,
       DINO("dinov2_with_registers", ",\"num_register_tokens\":2"),
       {{"embeddings.register_tokens", SHAPE(1, 4, 64)}},
       {"config.json: num_register_tokens does not fit the weights (found 2, expected 4"}},
      {&dinov2_names,
       DINO("dinov2_with_registers", ",\"num_register_tokens\":0"),
       {{"embeddings.register_tokens", SHAPE(1, 4, 64)}},
       {"config.json: num_register_tokens does not fit the weights (found 0, expected 4"}},
      {&dinov2_names,
       DINO("dinov2", ""),
       {{"embeddings.register_tokens", SHAPE(1, 4, 64)}},
       {"config.json: num_register_tokens (by default) does not fit the weights (found 0, expected "
        "4"}},
      {&timm_names,
       TIMM(",\"reg_tokens\":4", ""),
       {{0}},
       {"config.json: reg_tokens does not fit the weights (found 4, expected 0",
        "reg_token is not there"}},
      {&timm_names,
       TIMM(",\"reg_tokens\":4", ""),
       {{"reg_token", SHAPE(1, 2, 64)}},
       {"config.json: reg_tokens does not fit the weights (found 4, expected 2"}},
  };
  CHECK(cases);
}

/* Parts that come together: both scales in every layer, three biases in every layer, weight and
 * bias of a head. */
static const contradiction wrong_parts[] = {
    {&dinov2_names,
     DINO("dinov2", ""),
     {{"encoder.layer.1.layer_scale1.lambda1", NONE}},
     {"tensor encoder.layer.1.layer_scale1.lambda1 is missing"}},
    {&dinov2_names,
     DINO("dinov2", ""),
     {{"encoder.layer.0.layer_scale2.lambda1", NONE}},
     {"tensor encoder.layer.0.layer_scale2.lambda1 is missing"}},
    {&dinov2_names,
     DINO("dinov2", ""),
     {{"encoder.layer.0.layer_scale1.lambda1", NONE},
      {"encoder.layer.1.layer_scale1.lambda1", NONE}},
     {"tensor encoder.layer.0.layer_scale1.lambda1 is missing"}},
    {&dinov2_names,
     NULL,
     {{"encoder.layer.0.layer_scale2.lambda1", NONE},
      {"encoder.layer.1.layer_scale2.lambda1", NONE}},
     {"tensor encoder.layer.0.layer_scale2.lambda1 is missing"}},
    {&dinov2_names,
     DINO("dinov2", ""),
     {{"encoder.layer.0.layer_scale1.lambda1", NONE},
      {"encoder.layer.1.layer_scale1.lambda1", NONE},
      {"encoder.layer.0.layer_scale2.lambda1", NONE},
      {"encoder.layer.1.layer_scale2.lambda1", NONE}},
     {"tensor encoder.layer.0.layer_scale1.lambda1 is missing"}},
    {&dinov2_names,
     DINO("dinov2", ",\"use_swiglu_ffn\":false"),
     {{"encoder.layer.0.mlp.fc1.weight", NONE},
      {"encoder.layer.0.mlp.weights_in.weight", SHAPE(256, 64)}},
     {"config.json: use_swiglu_ffn does not fit the weights (found false, expected true",
      "encoder.layer.0.mlp.weights_in.weight is there"}},
    {&timm_names,
     NULL,
     {{"blocks.1.ls1.gamma", SHAPE(64)}},
     {"tensor blocks.0.ls1.gamma is missing"}},
    {&timm_names,
     NULL,
     {{"blocks.0.ls1.gamma", SHAPE(64)}, {"blocks.1.ls1.gamma", SHAPE(64)}},
     {"tensor blocks.0.ls2.gamma is missing"}},
    {&timm_names,
     NULL,
     {{"blocks.0.ls1.gamma", SHAPE(64)},
      {"blocks.1.ls1.gamma", SHAPE(64)},
      {"blocks.0.ls2.gamma", SHAPE(64)}},
     {"tensor blocks.1.ls2.gamma is missing"}},
    {&timm_names,
     NULL,
     {{"blocks.0.ls1.gamma", SHAPE(64)},
      {"blocks.1.ls1.gamma", SHAPE(64)},
      {"blocks.0.ls2.gamma", SHAPE(64)},
      {"blocks.1.ls2.gamma", SHAPE(64)}},
     {NULL}},
    {&timm_names,
     NULL,
     {{"blocks.0.attn.qkv.bias", NONE}},
     {"tensor blocks.0.attn.qkv.bias is missing"}},
    {&timm_names,
     NULL,
     {{"blocks.1.attn.qkv.bias", NONE}},
     {"tensor blocks.1.attn.qkv.bias is missing"}},
    {&timm_names,
     NULL,
     {{"blocks.0.attn.qkv.bias", NONE}, {"blocks.1.attn.qkv.bias", NONE}},
     {NULL}},
    {&timm_names,
     TIMM(",\"qkv_bias\":false", ""),
     {{0}},
     {"config.json: qkv_bias does not fit the weights (found false, expected true",
      "blocks.0.attn.qkv.bias is there"}},
    {&timm_names,
     TIMM(",\"qkv_bias\":true", ""),
     {{"blocks.0.attn.qkv.bias", NONE}, {"blocks.1.attn.qkv.bias", NONE}},
     {"config.json: qkv_bias does not fit the weights (found true, expected false",
      "blocks.0.attn.qkv.bias is not there"}},
    {&old_names,
     HF(",\"qkv_bias\":false"),
     {{0}},
     {"config.json: qkv_bias does not fit the weights (found false, expected true",
      "encoder.layer.0.attention.attention.query.bias is there"}},
    {&old_names,
     HF(""),
     {{"vit.encoder.layer.0.attention.attention.key.bias", NONE}},
     {"tensor vit.encoder.layer.0.attention.attention.key.bias is missing"}},
    {&timm_names, NULL, {{"head.bias", NONE}}, {"tensor head.bias is missing"}},
    {&timm_names, NULL, {{"head.weight", NONE}}, {"tensor head.weight is missing"}},
    {&old_names, HF(""), {{"classifier.bias", NONE}}, {"tensor classifier.bias is missing"}},
    {&old_names, HF(""), {{"classifier.weight", NONE}}, {"tensor classifier.weight is missing"}},
    {&old_names,
     HF(""),
     {{"vit.pooler.dense.bias", SHAPE(64)}},
     {"tensor vit.pooler.dense.weight is missing"}},
    {&old_names,
     HF(""),
     {{"vit.pooler.dense.weight", SHAPE(64, 64)}},
     {"tensor vit.pooler.dense.bias is missing"}},
    {&timm_names,
     NULL,
     {{"dist_token", SHAPE(1, 1, 64)}, {"pos_embed", NONE}, {"pos_embed", SHAPE(1, 11, 64)}},
     {"tensor head_dist.weight is missing"}},
    {&timm_names,
     NULL,
     {{"dist_token", SHAPE(1, 1, 64)},
      {"pos_embed", NONE},
      {"pos_embed", SHAPE(1, 11, 64)},
      {"head_dist.bias", SHAPE(5)}},
     {"tensor head_dist.weight is missing"}},
    {&old_names,
     HF(""),
     {{"classifier.weight", NONE},
      {"classifier.bias", NONE},
      {"cls_classifier.weight", SHAPE(5, 64)},
      {"cls_classifier.bias", SHAPE(5)},
      {"vit.embeddings.distillation_token", SHAPE(1, 1, 64)},
      {"vit.embeddings.position_embeddings", NONE},
      {"vit.embeddings.position_embeddings", SHAPE(1, 11, 64)}},
     {"tensor distillation_classifier.weight is missing"}},
};

/* What the config says of pooling, gates and MLPs, and the file contradicts. */
static const contradiction wrong_rules[] = {
    {&timm_names, TIMM("", ",\"global_pool\":\"avg\""), {{0}}, {NULL}},
    {&timm_names,
     TIMM("", ",\"global_pool\":\"token\""),
     {{"cls_token", NONE}, {"pos_embed", NONE}, {"pos_embed", SHAPE(1, 9, 64)}},
     {"tensor cls_token is missing"}},
    {&timm_names,
     TIMM("", ",\"global_pool\":\"avg\""),
     {{"cls_token", NONE}, {"pos_embed", NONE}, {"pos_embed", SHAPE(1, 9, 64)}},
     {NULL}},
    {&timm_names,
     NULL,
     {{"norm.weight", NONE}, {"norm.bias", NONE}},
     {"tensor norm.weight is missing"}},
    {&timm_names, NULL, {{"fc_norm.weight", SHAPE(64)}}, {"tensor fc_norm.bias is missing"}},
    {&timm_names,
     NULL,
     {{"norm.weight", NONE},
      {"norm.bias", NONE},
      {"fc_norm.weight", SHAPE(64)},
      {"fc_norm.bias", SHAPE(64)}},
     {NULL}},
    {&timm_names,
     NULL,
     {{"blocks.1.attn.q_norm.weight", SHAPE(64)}},
     {"tensor blocks.0.attn.q_norm.weight is missing"}},
    {&timm_names, NULL, {{"norm_pre.weight", SHAPE(64)}}, {"tensor norm_pre.bias is missing"}},
    {&timm_names,
     NULL,
     {{"patch_embed.proj.bias", NONE}},
     {"tensor patch_embed.proj.bias is missing"}},
    {&timm_names,
     NULL,
     {{"blocks.1.mlp.fc1.weight", NONE}, {"blocks.1.mlp.fc1.weight", SHAPE(192, 64)}},
     {"tensor blocks.0.mlp.fc1.weight is missing"}},
    {&dinov2_names,
     DINO("dinov2", ",\"use_swiglu_ffn\":true"),
     {{0}},
     {"config.json: use_swiglu_ffn does not fit the weights (found true, expected false",
      "encoder.layer.0.mlp.weights_in.weight is not there"}},
    {&dinov2_names,
     DINO("dinov2", ""),
     {{"classifier.weight", SHAPE(5, 64)}, {"classifier.bias", SHAPE(5)}},
     {"classifier.weight has the wrong shape (found [5, 64], expected [5, 128])"}},
    {&dinov2_names,
     DINO("dinov2", ""),
     {{"classifier.weight", SHAPE(5, 128)}, {"classifier.bias", SHAPE(5)}},
     {NULL}},
    {&old_names,
     HF(""),
     {{"vit.embeddings.cls_token", NONE}},
     {"tensor vit.embeddings.cls_token is missing"}},
};

static void rules_of_the_config(void **state) {
  (void)state;
  CHECK(wrong_rules);
}

static void parts_that_belong_together(void **state) {
  (void)state;
  CHECK(wrong_parts);
}

/* Biases of query, key and value that the config promises and no layer has. */
static void biases_of_the_config(void **state) {
  (void)state;
  static const char *const configs[] = {HF(""), HF(",\"qkv_bias\":true"), HF(",\"qkv_bias\":false"),
                                        NULL};
  static const char *const parts[] = {
      "config.json: qkv_bias (by default) does not fit the weights (found true, expected false",
      "config.json: qkv_bias does not fit the weights (found true, expected false", NULL, NULL};
  for (int i = 0; i < 4; i++) {
    model m;
    make_model(&m, &old_names, "vit.");
    for (int layer = 0; layer < LAYERS; layer++)
      for (int part = 1; part <= 3; part++) {
        char name[96];
        snprintf(name, sizeof name, "vit.encoder.layer.%d.%s.bias", layer, old_names.part[part]);
        drop(&m, name);
      }
    if (parts[i])
      assert_fails(open_model(&m, configs[i]), HEED_INVALID_FILE, parts[i]);
    else
      assert_ok(open_model(&m, configs[i]));
    free_model(&m);
  }
}

/* ----------------------------------------------------------------------- models of the vectors */

typedef struct vector_case {
  const char *folder, *config;
  const char *without; /* how tensors begin that are left out; or NULL */
  const char *with;    /* a tensor put in, [1, 1, 24]; or NULL */
  const char *part;    /* of the sentence; NULL: it opens */
} vector_case;

#define SIZES(heads)                                                                               \
  "\"image_size\":20,\"patch_size\":4,\"hidden_size\":24,\"num_hidden_layers\":2,\"num_attention_" \
  "heads\":" #heads ",\"intermediate_size\":40"
#define BEIT(heads, flags) "{\"model_type\":\"beit\"," SIZES(heads) flags "}"
#define OWN ",\"use_relative_position_bias\":true"
#define SHARED                                                                             \
  ",\"use_shared_relative_position_bias\":true,\"use_absolute_position_embeddings\":true," \
  "\"use_mean_pooling\":false"
#define MAP(pool)                                                                                  \
  "{\"architecture\":\"vit_x\",\"model_args\":{\"img_size\":20,\"patch_size\":4,\"num_heads\":3}," \
  "\"global_pool\":\"" pool "\"}"
#define SIGLIP(more) \
  "{\"model_type\":\"siglip\",\"vision_config\":{\"num_channels\":3," SIZES(4) more "}}"

static const vector_case of_vectors[] = {
    {"beit", BEIT(3, OWN), NULL, NULL, NULL},
    {"beit", BEIT(3, ""), NULL, NULL,
     "use_relative_position_bias (by default) does not fit the weights (found false, expected "
     "true"},
    {"beit", BEIT(3, ",\"use_relative_position_bias\":false"), NULL, NULL,
     "use_relative_position_bias does not fit the weights (found false, expected true"},
    {"beit", BEIT(3, OWN ",\"use_shared_relative_position_bias\":true"), NULL, NULL,
     "use_shared_relative_position_bias does not fit the weights (found true, expected false"},
    {"beit", BEIT(3, OWN ",\"use_absolute_position_embeddings\":true"), NULL, NULL,
     "use_absolute_position_embeddings does not fit the weights (found true, expected false"},
    {"beit", BEIT(3, OWN ",\"use_mean_pooling\":false"), NULL, NULL,
     "use_mean_pooling does not fit the weights (found false, expected true"},
    {"beit_shared", BEIT(2, SHARED), NULL, NULL, NULL},
    {"beit_shared", BEIT(2, SHARED OWN), NULL, NULL,
     "use_relative_position_bias does not fit the weights (found true, expected false"},
    {"beit_shared", BEIT(2, SHARED ",\"use_mean_pooling\":true"), NULL, NULL, "use_mean_pooling"},
    {"beit_shared",
     BEIT(2, ",\"use_shared_relative_position_bias\":true,\"use_mean_pooling\":false"), NULL, NULL,
     "use_absolute_position_embeddings (by default) does not fit the weights (found false, "
     "expected "
     "true"},
    {"beit_shared",
     BEIT(2, ",\"use_absolute_position_embeddings\":true,\"use_mean_pooling\":false"), NULL, NULL,
     "use_shared_relative_position_bias (by default) does not fit the weights (found false, "
     "expected true"},
    {"timm_map", MAP("map"), NULL, NULL, NULL},
    {"timm_map", MAP("avg"), NULL, NULL,
     "global_pool does not fit the weights (found another pooling, expected map: tensor "
     "attn_pool.latent is there"},
    {"timm_map", MAP("token"), NULL, NULL, "tensor cls_token is missing"},
    {"timm_map", MAP("map"), "attn_pool.", NULL, "tensor attn_pool.latent is missing"},
    {"timm_map", MAP("map"), "attn_pool.latent", NULL, "tensor attn_pool.latent is missing"},
    {"timm_map", MAP("avg"), "attn_pool.", NULL, NULL},
    {"siglip", SIGLIP(""), NULL, NULL, NULL},
    {"siglip", SIGLIP(""), "vision_model.head.", NULL,
     "vision_use_head (by default) does not fit the weights (found true, expected false"},
    {"siglip", SIGLIP(",\"vision_use_head\":true"), "vision_model.head.", NULL,
     "vision_use_head does not fit the weights (found true, expected false"},
    {"siglip", SIGLIP(",\"vision_use_head\":false"), "vision_model.head.", NULL, NULL},
    {"siglip", SIGLIP(",\"vision_use_head\":false"), NULL, NULL,
     "vision_use_head does not fit the weights (found false, expected true"},
    {"siglip", SIGLIP(""), "vision_model.head.probe", NULL, "vision_model.head.probe is"},
    {"ijepa", "{\"model_type\":\"ijepa\"," SIZES(2) "}", NULL, NULL, NULL},
    {"ijepa", "{\"model_type\":\"ijepa\"," SIZES(2) "}", NULL, "ijepa.embeddings.cls_token",
     "tensor ijepa.embeddings.cls_token does not fit family ijepa"},
};

static void models_of_the_vectors(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof of_vectors / sizeof *of_vectors; i++) {
    const vector_case *c = &of_vectors[i];
    const char *config = c->config ? c->config : "without a config";
    model m;
    take_vector(&m, c->folder);
    const uint32_t all = m.count;
    for (uint32_t at = 0; c->without && at < m.count;)
      if (strncmp(m.names[at], c->without, strlen(c->without)) == 0)
        drop(&m, m.names[at]);
      else
        at++;
    assert_true((m.count < all) == (c->without != NULL));
    if (c->with) add(&m, c->with, 0.0f, HEED_SHAPE(1, 1, 24));
    const heed_status status = open_model(&m, c->config);
    if (!c->part && status != HEED_OK) fail_msg("%s %s: %s", c->folder, config, error.message);
    if (c->part && status != HEED_INVALID_FILE && status != HEED_UNSUPPORTED)
      fail_msg("%s %s: found %s, expected a refusal (%s)", c->folder, config,
               heed_status_name(status), c->part);
    if (c->part && !strstr(error.message, c->part))
      fail_msg("%s %s: \"%s\" is not in: %s", c->folder, config, c->part, error.message);
    free_model(&m);
  }
}

/* A table has a row for each distance in a square grid, and three of CLS. */
static void tables_of_no_square_grid(void **state) {
  (void)state;
  static const uint32_t rows[] = {1, 3, 13, 19};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char sentence[64];
    model m;
    take_vector(&m, "beit");
    for (int layer = 0; layer < 2; layer++) {
      char name[128];
      snprintf(name, sizeof name,
               "beit.encoder.layer.%d.attention.attention.relative_position_bias."
               "relative_position_bias_table",
               layer);
      drop(&m, name);
      add(&m, name, 0.0f, HEED_SHAPE(rows[i], 3));
    }
    snprintf(sentence, sizeof sentence, "is not for a square grid and CLS (found %u rows)",
             rows[i]);
    assert_fails(open_model(&m, BEIT(3, OWN)), HEED_INVALID_FILE, sentence);
    free_model(&m);
  }
}

/* The bias of all layers together may have 2 GiB: 97 x 97 patches here. */
static void the_bias_of_relative_positions_has_a_limit(void **state) {
  (void)state;
  static const char config[] = BEIT(3, OWN);
  model m;
  take_vector(&m, "beit");
  test_bytes bytes = save(&m);
  const heed_model_file files[] = {{"model.safetensors", test_source(bytes.data, bytes.size)},
                                   {"config.json", test_source(config, sizeof config - 1)}};
  const heed_model_desc desc = {sizeof desc, files, 2};
  heed_build_desc build = {.struct_size = sizeof build, .height = 97 * 4, .width = 97 * 4};
  heed_model *opened;
  heed_graph *graph;
  assert_ok(heed_model_open(context, &desc, &opened, &error));
  assert_ok(heed_model_build(opened, &build, &graph, &error));
  heed_graph_destroy(graph);
  build.width = 99 * 4;
  assert_fails(heed_model_build(opened, &build, &graph, &error), HEED_UNSUPPORTED,
               "build: the position bias is too large (found 2213683584 bytes for 97 x 99 patches, "
               "expected at most 2147483648)");
  heed_model_destroy(opened);
  free(bytes.data);
  free_model(&m);
}

/* The preprocessing for images of another size than the model's, from each kind of it. */
static void preprocessing_at_a_size(void **state) {
  (void)state;
  static const struct {
    const char *config;
    bool as_it_is; /* what the file says gives that size for any image */
  } cases[] = {{"{\"size\":{\"shortest_edge\":16},\"do_center_crop\":true,\"crop_size\":{"
                "\"height\":12,\"width\":12}}",
                true},
               {"{\"size\":{\"shortest_edge\":16},\"do_center_crop\":true,\"crop_size\":{"
                "\"height\":12,\"width\":8}}",
                false},
               {"{\"size\":{\"shortest_edge\":16},\"do_center_crop\":true,\"crop_size\":{"
                "\"height\":8,\"width\":12}}",
                false},
               {"{\"size\":{\"height\":12,\"width\":12}}", true},
               {"{\"size\":{\"height\":12,\"width\":8}}", false},
               {"{\"size\":{\"shortest_edge\":12},\"do_center_crop\":false}", false}};
  model m;
  make_named(&m, &old_names);
  test_bytes bytes = save(&m);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    heed_model_file files[] = {
        {"model.safetensors", test_source(bytes.data, bytes.size)},
        {"config.json", test_source(HF(""), strlen(HF("")))},
        {"preprocessor_config.json", test_source(cases[i].config, strlen(cases[i].config))}};
    const heed_model_desc desc = {sizeof desc, files, 3};
    heed_model *opened;
    heed_preprocess own, at;
    assert_ok(heed_model_open(context, &desc, &opened, &error));
    heed_model_preprocess(opened, &own);
    assert_ok(heed_model_preprocess_at(opened, 12, 12, &at, &error));
    uint32_t width, height;
    assert_ok(heed_preprocess_size(&at, 40, 30, &width, &height, &error));
    assert_int_equal(width, 12);
    assert_int_equal(height, 12);
    if ((memcmp(&own, &at, sizeof at) == 0) != cases[i].as_it_is)
      fail_msg("%s: found %u x %u, a crop of %u x %u", cases[i].config, own.height, own.width,
               own.crop_height, own.crop_width);
    static const uint32_t wrong[][2] = {{0, 12}, {12, 0}, {13, 12}, {12, 13}};
    for (size_t k = 0; k < 4; k++)
      assert_fails(heed_model_preprocess_at(opened, wrong[k][0], wrong[k][1], &at, &error),
                   HEED_INVALID_ARGUMENT, "size: sides are not multiples of the patch");
    assert_string_equal(heed_model_label(opened, 0), "class 0");
    assert_string_equal(heed_model_label(opened, UINT32_MAX), "unknown class");
    heed_model_destroy(opened);
  }
  free(bytes.data);
  free_model(&m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_of_the_config),
      cmocka_unit_test(registers_of_the_config),
      cmocka_unit_test(parts_that_belong_together),
      cmocka_unit_test(rules_of_the_config),
      cmocka_unit_test(biases_of_the_config),
      cmocka_unit_test(models_of_the_vectors),
      cmocka_unit_test(preprocessing_at_a_size),
      cmocka_unit_test(tables_of_no_square_grid),
      cmocka_unit_test(the_bias_of_relative_positions_has_a_limit),
  };
  return cmocka_run_group_tests(tests, make_context, drop_context);
}
