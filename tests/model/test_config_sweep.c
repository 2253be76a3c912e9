/* Each config of the vectors with one key added or replaced: known and harmless, known to change a
 * model, unknown. Each is the same model to the bit, another one as its library makes it, or a
 * refusal that names the key; none is passed over in silence. */
#include "support/changed_model.h"

typedef enum verdict { SAME, OTHER, NAMED } verdict;

/* Where a config has the arguments of the model. */
typedef enum part { TOWER, TIMM_ARGS, TIMM_CFG, TIMM_ROOT, CLIP_VISION, CLIP_MODEL } part;

typedef struct change {
  part object;
  verdict verdict;
  const char *key, *value;
} change;

static const change changes[] = {
    /* transformers: harmless */
    {TOWER, SAME, "drop_path_rate", "0.5"},
    {TOWER, SAME, "initializer_range", "0.02"},
    {TOWER, SAME, "initializer_factor", "1.0"},
    {TOWER, SAME, "attention_dropout", "0.5"},
    {TOWER, SAME, "hidden_dropout_prob", "0.5"},
    {TOWER, SAME, "attention_probs_dropout_prob", "0.5"},
    {TOWER, SAME, "torch_dtype", "\"float16\""},
    {TOWER, SAME, "dtype", "\"bfloat16\""},
    {TOWER, SAME, "architectures", "[\"SomeModel\"]"},
    {TOWER, SAME, "transformers_version", "\"5.0.0\""},
    {TOWER, SAME, "_name_or_path", "\"some/model\""},
    {TOWER, SAME, "_attn_implementation_autoset", "true"},
    {TOWER, SAME, "out_features", "[\"stage2\"]"},
    {TOWER, SAME, "out_indices", "[2]"},
    {TOWER, SAME, "stage_names", "[\"stem\"]"},
    {TOWER, SAME, "encoder_stride", "16"},
    {TOWER, SAME, "use_cache", "true"},
    {TOWER, SAME, "output_attentions", "true"},
    {TOWER, SAME, "chunk_size_feed_forward", "4"},
    {TOWER, SAME, "bad_words_ids", "null"},
    {TOWER, SAME, "pad_token_id", "1"},
    {TOWER, SAME, "temperature", "0.5"},
    {TOWER, SAME, "auto_map", "{\"AutoModel\": \"a.b\"}"},
    {TOWER, SAME, "gradient_checkpointing", "true"},
    {TOWER, SAME, "semantic_loss_ignore_index", "255"},
    {TOWER, SAME, "mask_ratio", "0.75"},
    {TOWER, SAME, "decoder_hidden_size", "512"},
    {TOWER, SAME, "layerscale_value", "1.0"},
    {TOWER, SAME, "logit_scale_init_value", "2.6"},
    {TOWER, SAME, "pos_embed_jitter", "1.5"},
    /* transformers: what is off */
    {TOWER, SAME, "pruned_heads", "{}"},
    {TOWER, SAME, "is_hybrid", "false"},
    {TOWER, SAME, "use_rms_norm", "false"},
    {TOWER, SAME, "rope_scaling", "null"},
    {TOWER, SAME, "window_size", "0"},
    {TOWER, SAME, "window_block_indexes", "[]"},
    {TOWER, SAME, "position_embedding_type", "\"absolute\""},
    /* transformers: followed */
    {TOWER, OTHER, "layer_norm_eps", "0.25"},
    {TOWER, OTHER, "hidden_act", "\"relu\""},
    {TOWER, OTHER, "hidden_act", "\"tanh\""},
    /* transformers: what changes a tower */
    {TOWER, NAMED, "pruned_heads", "{\"0\": [1]}"},
    {TOWER, NAMED, "is_hybrid", "true"},
    {TOWER, NAMED, "hidden_act", "null"},
    {TOWER, NAMED, "hidden_act", "\"mish\""},
    {TOWER, NAMED, "layer_norm_eps", "null"},
    {TOWER, NAMED, "num_attention_heads", "null"},
    {TOWER, NAMED, "hidden_size", "null"},
    {TOWER, NAMED, "pooler_act", "\"gelu\""},
    {TOWER, NAMED, "rope_parameters", "{\"rope_type\": \"linear\"}"},
    {TOWER, NAMED, "rope_scaling", "{\"factor\": 2.0}"},
    {TOWER, NAMED, "use_rms_norm", "true"},
    {TOWER, NAMED, "norm_type", "\"rms_norm\""},
    {TOWER, NAMED, "rms_norm_eps", "0.25"},
    {TOWER, NAMED, "qk_norm", "true"},
    {TOWER, NAMED, "use_qk_norm", "true"},
    {TOWER, NAMED, "qk_layernorm", "true"},
    {TOWER, NAMED, "use_post_norm", "true"},
    {TOWER, NAMED, "attention_type", "\"linear\""},
    {TOWER, NAMED, "position_embedding_type", "\"relative_key\""},
    {TOWER, NAMED, "window_size", "7"},
    {TOWER, NAMED, "fullatt_block_indexes", "true"},
    {TOWER, NAMED, "fullatt_block_indexes", "[-1]"},
    {TOWER, NAMED, "window_block_indexes", "[0]"},
    {TOWER, NAMED, "num_windows", "4"},
    {TOWER, NAMED, "use_rope", "true"},
    {TOWER, NAMED, "use_rel_pos", "true"},
    {TOWER, NAMED, "hidden_stride", "2"},
    {TOWER, NAMED, "patch_stride", "2"},
    {TOWER, NAMED, "mlp_type", "\"swiglu\""},
    {TOWER, NAMED, "num_experts", "8"},
    {TOWER, NAMED, "pooling_type", "\"max\""},
    {TOWER, NAMED, "residual_scale", "0.5"},
    {TOWER, NAMED, "a_new_attention_rule", "1"},
    /* timm: harmless */
    {TIMM_ARGS, SAME, "drop_rate", "0.5"},
    {TIMM_ARGS, SAME, "drop_path_rate", "0.5"},
    {TIMM_ARGS, SAME, "patch_drop_rate", "0.5"},
    {TIMM_ARGS, SAME, "attn_drop_rate", "0.5"},
    {TIMM_ARGS, SAME, "weight_init", "\"skip\""},
    {TIMM_ARGS, SAME, "fix_init", "true"},
    {TIMM_ARGS, SAME, "head_init_scale", "0.5"},
    {TIMM_ARGS, SAME, "dynamic_img_size", "true"},
    {TIMM_ARGS, SAME, "strict_img_size", "false"},
    {TIMM_CFG, SAME, "tag", "\"in1k\""},
    {TIMM_CFG, SAME, "first_conv", "\"patch_embed.proj\""},
    {TIMM_CFG, SAME, "classifier", "\"head\""},
    {TIMM_CFG, SAME, "custom_load", "true"},
    {TIMM_CFG, SAME, "paper_ids", "\"arXiv:2010.11929\""},
    {TIMM_ROOT, SAME, "num_features", "24"},
    {TIMM_ROOT, SAME, "license", "\"mit\""},
    {TIMM_ROOT, SAME, "do_pooling", "true"},
    /* timm: what is off */
    {TIMM_ARGS, SAME, "use_post_norm", "false"},
    {TIMM_ARGS, SAME, "norm_layer", "null"},
    {TIMM_ARGS, SAME, "block_fn", "null"},
    {TIMM_ARGS, SAME, "pool_include_prefix", "false"},
    {TIMM_ARGS, SAME, "dynamic_img_pad", "false"},
    {TIMM_ARGS, SAME, "a_new_argument", "false"},
    /* timm: followed */
    {TIMM_ARGS, OTHER, "act_layer", "\"relu\""},
    /* timm: what changes a model */
    {TIMM_ARGS, NAMED, "use_post_norm", "true"},
    {TIMM_ARGS, NAMED, "norm_layer", "\"rmsnorm\""},
    {TIMM_ARGS, NAMED, "embed_norm_layer", "\"layernorm\""},
    {TIMM_ARGS, NAMED, "block_fn", "\"ResPostBlock\""},
    {TIMM_ARGS, NAMED, "mlp_layer", "\"GluMlp\""},
    {TIMM_ARGS, NAMED, "attn_layer", "\"diff\""},
    {TIMM_ARGS, NAMED, "embed_layer", "\"hybrid\""},
    {TIMM_ARGS, NAMED, "pool_include_prefix", "true"},
    {TIMM_ARGS, NAMED, "dynamic_img_pad", "true"},
    {TIMM_ARGS, NAMED, "rope_type", "\"base\""},
    {TIMM_ARGS, NAMED, "act_layer", "\"prelu\""},
    {TIMM_ARGS, NAMED, "global_pool", "\"avgmax\""},
    {TIMM_ARGS, NAMED, "gated_attn", "true"},
    {TIMM_ARGS, NAMED, "attn_head_dim", "8"},
    {TIMM_ARGS, NAMED, "features_only", "true"},
    {TIMM_ARGS, NAMED, "pruned", "true"},
    {TIMM_ARGS, NAMED, "a_new_argument", "1"},
    {TIMM_ARGS, NAMED, "another", "\"some\""},
    /* open_clip */
    {CLIP_VISION, SAME, "patch_dropout", "0.5"},
    {CLIP_VISION, SAME, "output_tokens", "true"},
    {CLIP_VISION, SAME, "final_ln_after_pool", "true"},
    {CLIP_VISION, SAME, "attn_pooler_heads", "8"},
    {CLIP_VISION, SAME, "pos_embed_type", "\"learnable\""},
    {CLIP_VISION, SAME, "timm_drop", "0.5"},
    {CLIP_VISION, SAME, "block_type", "\"default\""},
    {CLIP_VISION, SAME, "qk_norm", "false"},
    {CLIP_VISION, SAME, "timm_model_kwargs", "{}"},
    {CLIP_MODEL, SAME, "init_logit_scale", "2.0"},
    {CLIP_MODEL, SAME, "cast_dtype", "\"fp16\""},
    {CLIP_VISION, NAMED, "attentional_pool", "true"},
    {CLIP_VISION, NAMED, "no_ln_pre", "true"},
    {CLIP_VISION, NAMED, "qk_norm", "true"},
    {CLIP_VISION, NAMED, "block_type", "\"custom\""},
    {CLIP_VISION, NAMED, "scale_heads", "true"},
    {CLIP_VISION, NAMED, "scale_fc", "true"},
    {CLIP_VISION, NAMED, "scaled_cosine_attn", "true"},
    {CLIP_VISION, NAMED, "timm_model_kwargs", "{\"x\": 1}"},
    {CLIP_VISION, NAMED, "a_new_key", "1"},
    {CLIP_MODEL, NAMED, "a_new_attention", "1"},
};
enum { CHANGES = sizeof changes / sizeof *changes };

/* Behind the '{' of the object, or NULL: the config has none. */
static char *find_object(const subject *s, part object, bool *member) {
  static const char *const towers[] = {"\"vision_config\": {", "\"backbone_config\": {",
                                       "\"encoder\": {"};
  static const char *const names[] = {[TIMM_ARGS] = "\"model_args\": {",
                                      [TIMM_CFG] = "\"pretrained_cfg\": {",
                                      [CLIP_VISION] = "\"vision_cfg\": {",
                                      [CLIP_MODEL] = "\"model_cfg\": {"};
  static const char kwargs[] = "\"model_kwargs\": {"; /* RADIO's */
  const bool radio = strstr(s->config, kwargs) != NULL,
             timm = radio || strstr(s->config, "\"architecture\":"),
             clip = strcmp(s->config_name, "config.json") != 0;
  char *config = (char *)(uintptr_t)s->config, *at = NULL;
  *member = false;
  if ((object == TOWER) != (!timm && !clip) || (object >= CLIP_VISION) != clip) return NULL;
  if (object == TIMM_ROOT) return strchr(config, '{') + 1;
  if (object != TOWER) {
    const char *name = radio && object == TIMM_ARGS ? kwargs : names[object];
    at = strstr(config, name);
    return at ? at + strlen(name) : NULL;
  }
  for (size_t i = 0; i < sizeof towers / sizeof *towers && !at; i++)
    if ((at = strstr(config, towers[i]))) at += strlen(towers[i]);
  *member = at != NULL;
  return at ? at : strchr(config, '{') + 1;
}

/* The config with the key of the object that begins there. */
static void put(const subject *s, const char *from, const char *key, const char *value,
                char config[2 * CONFIG]) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\":", key);
  const char *at = strstr(from, quoted);
  const int before = (int)(from - s->config);
  if (!at) {
    snprintf(config, 2 * CONFIG, "%.*s\"%s\": %s, %s", before, s->config, key, value, from);
    return;
  }
  const char *old = at + strlen(quoted);
  snprintf(config, 2 * CONFIG, "%.*s %s%s", (int)(old - s->config), s->config, value,
           old + strcspn(old, ",}"));
}

static bool same_bits(const outputs *a, const outputs *b) {
  for (int i = 0; i < OUTPUTS; i++)
    if (a->bytes[i] != b->bytes[i] ||
        (a->bytes[i] && memcmp(a->data[i], b->data[i], a->bytes[i]) != 0))
      return false;
  return true;
}

/* A gated MLP has SiLU whatever the config calls its activation, but for DINOv3 of transformers. A
 * model with windows has some size of them, and one may have RMS norms. */
static verdict expected(const subject *s, const change *c) {
  const bool act = strcmp(c->key, "hidden_act") == 0 || strcmp(c->key, "act_layer") == 0;
  const bool gated = strstr(s->folder, "giant") || strstr(s->folder, "gated") ||
                     strstr(s->folder, "eva02") != NULL,
             gigantic = strstr(s->folder, "gigantic") || strstr(s->folder, "eva_giant");
  if (c->verdict == OTHER && act && gated && !gigantic && strcmp(s->folder, "dinov3_gated") != 0)
    return SAME;
  if (strcmp(c->key, "window_size") == 0 && strcmp(s->folder, "swinv2") == 0)
    return strcmp(c->value, "0") == 0 ? NAMED : OTHER; /* no tensor tells it */
  if (strcmp(c->key, "window_size") == 0 && strstr(s->config, "\"window_size\"")) return NAMED;
  if (strcmp(c->key, "use_rel_pos") == 0 && strcmp(s->folder, "sam") == 0) return SAME;
  if (strcmp(c->key, "norm_type") == 0 && strcmp(s->folder, "internvit_6b") == 0) return SAME;
  if (strstr(s->config, "\"rms_norm_eps\"") && c->verdict != SAME) {
    if (strcmp(c->key, "rms_norm_eps") == 0) return OTHER;
    if (strcmp(c->key, "layer_norm_eps") == 0 && c->verdict == OTHER) return SAME;
  }
  return c->verdict;
}

static uint32_t check(subject *s, const change *c, const char *from) {
  static const char *const words[] = {"the same numbers", "other numbers", "a refusal"};
  char config[2 * CONFIG];
  outputs found = {{NULL}, {0}, ""};
  put(s, from, c->key, c->value, config);
  const heed_status status = run_files(s, s->items, s->count, config, &found);
  const bool named = status != HEED_OK && status != HEED_INTERNAL && strstr(error.message, c->key);
  const verdict want = expected(s, c);
  const bool right = want == NAMED       ? named
                     : status != HEED_OK ? false
                                         : same_bits(&found, &s->expected) == (want == SAME);
  if (!right)
    print_error("%s with \"%s\": %s: expected %s, found %s\n", s->folder, c->key, c->value,
                words[want],
                status != HEED_OK                 ? error.message
                : same_bits(&found, &s->expected) ? words[SAME]
                                                  : words[OTHER]);
  free_outputs(&found);
  return right ? 0 : 1;
}

static void check_folder(const char *folder, const char *config_name) {
  static subject s;
  uint32_t wrong = 0, tried = 0;
  if (!config_name || strcmp(config_name, "names.json") == 0) return; /* test_own_names has those */
  open_subject(&s, folder, config_name);
  for (int i = 0; i < CHANGES; i++) {
    bool member;
    const char *from = find_object(&s, changes[i].object, &member);
    if (!from) continue;
    tried++;
    wrong += check(&s, &changes[i], from);
  }
  bool member;
  const char *from = find_object(&s, TOWER, &member);
  if (from) { /* a note of the owner, beside keys of the model or among them */
    const change note = {TOWER, member ? NAMED : SAME, "my_own_remark", "\"good\""};
    tried++;
    wrong += check(&s, &note, from);
  }
  close_subject(&s);
  printf("%s: %u changes\n", folder, tried);
  assert_true(tried >= 6);
  assert_int_equal(wrong, 0);
}

#define VIT_VECTOR(folder, config)          \
  static void test_##folder(void **state) { \
    (void)state;                            \
    check_folder(#folder, config);          \
  }
#define STAGE_VECTOR VIT_VECTOR
#include "stage_vectors.h"
#include "vit_vectors.h"
#undef STAGE_VECTOR
#undef VIT_VECTOR

int main(void) {
  const struct CMUnitTest tests[] = {
#define VIT_VECTOR(folder, config) cmocka_unit_test(test_##folder),
#define STAGE_VECTOR VIT_VECTOR
#include "stage_vectors.h"
#include "vit_vectors.h"
#undef STAGE_VECTOR
#undef VIT_VECTOR
  };
  return cmocka_run_group_tests(tests, open_backend, close_backend);
}
