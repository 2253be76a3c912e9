/* Any bytes as JSON, as config.json of every kind of model and as preprocessor_config.json; and
 * every number through every getter. */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/utf8.h"
#include "model/config/config.h"
#include "sequences/sequence.h"
#include "support/weights.h"

/* Visits the whole tree with what a caller may ask; returns how many values it has. */
static uint32_t walk(const heed_json *json, heed_json_value value, int depth) {
  uint32_t visited = 1, members = 0;
  uint64_t u;
  int64_t i;
  double d;
  bool flag;
  const char *text;
  size_t length;
  if (depth > HEED_JSON_MAX_DEPTH) abort();
  heed_json_u64(json, value, &u);
  heed_json_i64(json, value, &i);
  heed_json_double(json, value, &d);
  heed_json_bool(json, value, &flag);
  if (heed_json_string(json, value, &text, &length) && text[length] != '\0') abort();
  for (heed_json_value v = heed_json_first(json, value); v;
       v = heed_json_next(json, value, v), members++)
    visited += walk(json, v, depth + 1);
  if (members != heed_json_count(json, value)) abort();
  return visited;
}

/* The other form, of what Python writes, and the text as UTF-8. */
static void read_python(const heed_context *context, const uint8_t *data, size_t size) {
  char *text = heed_alloc_raw(context, size + 1, 1), shown[256];
  heed_json *json = NULL;
  heed_error error;
  if (!text) return;
  memcpy(text, data, size);
  if (heed_json_take_python(context, text, size, "f.json", &json, &error) == HEED_OK)
    walk(json, heed_json_root(json), 0);
  heed_json_destroy(json);
  const size_t length = size < sizeof shown - 1 ? size : sizeof shown - 1;
  memcpy(shown, data, length);
  shown[length] = '\0';
  const bool valid = heed_utf8_valid(shown, strlen(shown));
  if (heed_utf8_cut(shown, 40) > 40) abort();
  heed_utf8_clean(shown);
  if (valid && !heed_utf8_valid(shown, strlen(shown))) abort();
}

static void configure(const heed_context *context, const heed_model_file *file) {
  heed_config *config;
  heed_preprocess preprocess;
  heed_error error;
  if (heed_config_open(context, file, 1, HEED_TOWER_TEXT, &config, &error) == HEED_OK)
    heed_config_destroy(config);
  if (heed_config_open(context, file, 1, HEED_TOWER_VISION, &config, &error) != HEED_OK) return;
  for (uint32_t i = 0; heed_family_get(i); i++)
    if (heed_family_get(i)->tower == HEED_TOWER_VISION)
      heed_config_preprocess(config, heed_family_get(i), 224, i % 5 + 1, &preprocess, &error);
  heed_config_label(config, 0);
  heed_config_destroy(config);
}

/* An encoder-decoder's config. */
static void read_sequence(const heed_json *json) {
  heed_sequence_config config;
  heed_error error;
  if (heed_sequence_find_kind(json, &config.kind))
    (void)heed_sequence_read_config(json, "f.json", &config, &error);
}

void fuzz_read(const uint8_t *data, size_t size) {
  heed_context *context;
  heed_json *json;
  heed_error error;
  if (!(context = fuzz_context())) return;
  if (heed_json_parse(context, data, size, "f.json", &json, &error) == HEED_OK) {
    walk(json, heed_json_root(json), 0);
    read_sequence(json);
  }
  heed_json_destroy(json);
  read_python(context, data, size);
  configure(context, &(heed_model_file){"config.json", test_source(data, size)});
  configure(context, &(heed_model_file){"preprocessor_config.json", test_source(data, size)});
  configure(context, &(heed_model_file){"open_clip_config.json", test_source(data, size)});
  heed_context_destroy(context);
}

void fuzz_change(fuzz_input *input, test_random *random) { fuzz_change_json(input, random, NULL); }

#ifndef HEED_LIBFUZZER
#define SEED(text) \
  { text, sizeof(text) - 1 }
int main(int argc, char **argv) {
  static const fuzz_seed seeds[] = {
      SEED("{\"a\":[1,-2.5e3,null,true,false,{}],\"b\":\"\\u00e9\\uD834\\uDD1E\\n\xC3\xA9\",\"c\":{"
           "\"d\":{\"e\":[[[]]]}}}"),
      SEED("{\"model_type\":\"vit\",\"hidden_size\":192,\"num_hidden_layers\":12,\"num_attention_"
           "heads\":3,\"intermediate_size\":768,"
           "\"image_size\":[224,224],"
           "\"patch_size\":16,\"hidden_act\":\"gelu\",\"layer_norm_eps\":1e-12,\"qkv_bias\":true,"
           "\"id2label\":{\"0\":\"a\",\"1\":\"b\"},"
           "\"num_labels\":2}"),
      SEED("{\"architecture\":\"vit_tiny_patch16_224\",\"num_classes\":10,\"global_pool\":"
           "\"token\",\"model_args\":{\"num_heads\":3},"
           "\"pretrained_cfg\":{"
           "\"input_size\":[3,224,224],\"interpolation\":\"bicubic\",\"crop_pct\":0.9,\"crop_"
           "mode\":\"center\",\"mean\":[0.5,0.5,0.5],"
           "\"std\":[0.5,0.5,0.5],"
           "\"label_names\":[\"x\",\"y\"]}}"),
      SEED("{\"do_resize\":true,\"size\":{\"height\":224,\"width\":224},\"resample\":2,\"do_center_"
           "crop\":true,\"crop_size\":224,\"do_"
           "rescale\":true,"
           "\"rescale_factor\":0.00392156862745098,\"image_mean\":[0.5,0.5,0.5],\"image_std\":[0.5,"
           "0.5,0.5],\"image_processor_type\":"
           "\"ViTImageProcessor\"}"),
      SEED("{\"architectures\":[\"HeedTransformer\"],\"d_model\":16,\"nhead\":2,\"num_encoder_"
           "layers\":"
           "1,\"num_decoder_layers\":1,\"dim_feedforward\":24,\"source_vocab_size\":11,\"target_"
           "vocab_"
           "size\":13,\"max_length\":12,\"bos_token_id\":1,\"eos_token_id\":2,\"padding_idx\":0}"),
      SEED(
          "{\"architectures\":[\"HeedSeq2Seq\"],\"cell\":\"gru\",\"attention\":\"concat\","
          "\"embedding_"
          "size\":8,\"hidden_size\":8,\"num_layers\":2,\"num_features\":8,\"target_vocab_size\":13,"
          "\"max_length\":12,\"bos_token_id\":1,\"eos_token_id\":2,\"bidirectional\":true}"),
      SEED("{\"model_type\":\"clip\",\"projection_dim\":7,\"vision_config\":{\"hidden_size\":24,"
           "\"num_attention_heads\":3,\"hidden_act\":\"quick_gelu\"},\"num_labels\":5}"),
      SEED(
          "{\"model_type\":\"depth_anything\",\"backbone_config\":{\"model_type\":\"dinov2\","
          "\"hidden_size\":24,\"num_attention_heads\":4,\"mlp_ratio\":4,\"use_swiglu_ffn\":true}}"),
      SEED("{\"model_cfg\":{\"embed_dim\":7,\"quick_gelu\":true,\"vision_cfg\":{\"image_size\":20,"
           "\"layers\":2,\"width\":24,\"head_width\":8,\"patch_size\":4,\"mlp_ratio\":1.5}},"
           "\"preprocess_cfg\":{\"mean\":[0.5,0.5,0.5],\"resize_mode\":\"squash\"}}"),
      SEED("[1.7976931348623157e308,4.9406564584124654e-324,2.2250738585072011e-308,"
           "9007199254740993.0000000001,"
           "123456789012345678901234567890e-20]")};
  static const char *const words[] = {"[",       "]",
                                      "{",       "}",
                                      ",",       ":",
                                      "\"",      "\\u0000",
                                      "\\uD800", "[[[[[[[[[[[[[[[[",
                                      "null",    "\"a\":1,",
                                      "1e308",   "\xF0\x9D\x84\x9E",
                                      NULL};
  return fuzz_main(argc, argv, seeds, sizeof seeds / sizeof *seeds, words);
}
#endif
