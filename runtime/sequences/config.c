/* config.json of an encoder-decoder: which keys there are is in heed.h; an unknown value is an
 * error, an unknown key is not. */
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "model/config/reader.h"
#include "sequences/sequence.h"

bool heed_sequence_find_kind(const heed_json *json, heed_sequence_kind *kind) {
  const char *name = heed_config_class(json), *cell = "lstm";
  if (!heed_config_is_sequence(name)) return false;
  if (strcmp(name, "HeedTransformer") == 0) {
    *kind = HEED_SEQUENCE_TRANSFORMER;
    return true;
  }
  heed_json_string(json, heed_json_get(json, heed_json_root(json), "cell"), &cell, NULL);
  *kind = strcmp(cell, "gru") == 0 ? HEED_SEQUENCE_GRU : HEED_SEQUENCE_LSTM;
  return true;
}

/* One of `names`, its index; *to is the default. `expected` lists them. */
static heed_status choice(const heed_fields *fields, const char *key, const char *const *names,
                          const char *expected, uint32_t *to) {
  const char *text = names[*to];
  HEED_TRY(heed_field_string(fields, key, &text));
  for (uint32_t i = 0; names[i]; i++)
    if (strcmp(names[i], text) == 0) {
      *to = i;
      return HEED_OK;
    }
  return heed_fail(fields->error, HEED_UNSUPPORTED,
                   "%s: %s is not supported (found %.*s, expected %s)", fields->where, key,
                   HEED_CUT(text), expected);
}

static heed_status need_size(const heed_fields *fields, const char *key, uint32_t least,
                             uint32_t *to) {
  if (!heed_field(fields, key))
    return heed_fail(fields->error, HEED_INVALID_FILE,
                     "%s: missing key %s (expected a whole number)", fields->where, key);
  return heed_field_size(fields, key, least, to);
}

/* A token id of the target vocabulary. */
static heed_status read_id(const heed_fields *fields, const char *key, uint32_t vocabulary,
                           int32_t *to) {
  uint32_t id = 0;
  HEED_TRY(need_size(fields, key, 0, &id));
  if (id >= vocabulary)
    return heed_fail(fields->error, HEED_INVALID_FILE,
                     "%s: %s out of range (found %u, expected less than %u)", fields->where, key,
                     id, vocabulary);
  *to = (int32_t)id;
  return HEED_OK;
}

static heed_status read_tokens(const heed_fields *fields, heed_sequence_config *config) {
  HEED_TRY(heed_field_size(fields, "source_vocab_size", 1, &config->source_vocabulary));
  HEED_TRY(heed_field_size(fields, "num_features", 1, &config->features));
  if (!config->source_vocabulary == !config->features)
    return heed_fail(fields->error, HEED_INVALID_FILE,
                     "%s: ambiguous source (found source_vocab_size %u and num_features %u, "
                     "expected exactly one)",
                     fields->where, config->source_vocabulary, config->features);
  HEED_TRY(need_size(fields, "target_vocab_size", 1, &config->target_vocabulary));
  HEED_TRY(need_size(fields, "max_length", 1, &config->max_length));
  HEED_TRY(read_id(fields, "bos_token_id", config->target_vocabulary, &config->begin));
  HEED_TRY(read_id(fields, "eos_token_id", config->target_vocabulary, &config->end));
  config->padding = HEED_NO_TOKEN;
  if (heed_field(fields, "padding_idx"))
    HEED_TRY(read_id(fields, "padding_idx", config->target_vocabulary, &config->padding));
  if (config->padding == config->begin)
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: the begin token is padding: nothing could attend to it (found "
                     "bos_token_id and padding_idx %d)",
                     fields->where, config->padding);
  return heed_field_bool(fields, "tie_word_embeddings", &config->tied);
}

static heed_status read_transformer(const heed_fields *fields, heed_sequence_config *config) {
  static const char *const activations[] = {"relu", "gelu", NULL}, *const positions[] = {
                                                                       "sinusoidal", "learned",
                                                                       NULL};
  uint32_t activation = 0, learned = 0;
  config->epsilon = 1e-5f;
  HEED_TRY(need_size(fields, "d_model", 1, &config->width));
  HEED_TRY(need_size(fields, "nhead", 1, &config->heads));
  HEED_TRY(need_size(fields, "num_encoder_layers", 1, &config->encoder_layers));
  HEED_TRY(need_size(fields, "num_decoder_layers", 1, &config->decoder_layers));
  HEED_TRY(need_size(fields, "dim_feedforward", 1, &config->mlp_width));
  if (config->width % config->heads)
    return heed_fail(fields->error, HEED_INVALID_FILE,
                     "%s: d_model is not a multiple of nhead (found %u and %u)", fields->where,
                     config->width, config->heads);
  HEED_TRY(choice(fields, "activation", activations, "relu or gelu", &activation));
  config->activation = activation ? HEED_ACTIVATION_GELU : HEED_ACTIVATION_RELU;
  HEED_TRY(choice(fields, "positions", positions, "sinusoidal or learned", &learned));
  config->learned_positions = learned == 1;
  HEED_TRY(heed_field_bool(fields, "norm_first", &config->norm_first));
  HEED_TRY(heed_field_bool(fields, "scale_embedding", &config->scale_embedding));
  HEED_TRY(heed_field_float(fields, "layer_norm_eps", &config->epsilon));
  return config->epsilon < 0.0f
             ? heed_field_fail(fields, "layer_norm_eps", heed_field(fields, "layer_norm_eps"),
                               "no negative number")
             : HEED_OK;
}

static heed_status read_recurrent(const heed_fields *fields, heed_sequence_config *config) {
  static const char *const cells[] = {"lstm", "gru", NULL}, *const scores[] = {"dot", "general",
                                                                               "concat", NULL};
  uint32_t cell = 0, score = 0, layers = 1;
  bool both = false;
  HEED_TRY(choice(fields, "cell", cells, "lstm or gru", &cell));
  HEED_TRY(choice(fields, "attention", scores, "dot, general or concat", &score));
  config->score = (heed_score)(HEED_SCORE_DOT + score);
  HEED_TRY(need_size(fields, "embedding_size", 1, &config->embedding));
  HEED_TRY(need_size(fields, "hidden_size", 1, &config->hidden));
  HEED_TRY(heed_field_size(fields, "num_layers", 1, &layers));
  if (layers > HEED_SEQ2SEQ_LAYERS)
    return heed_fail(fields->error, HEED_UNSUPPORTED,
                     "%s: num_layers is not supported (found %u, expected at most %d)",
                     fields->where, layers, HEED_SEQ2SEQ_LAYERS);
  HEED_TRY(heed_field_bool(fields, "bidirectional", &both));
  config->directions = both ? 2 : 1;
  config->heads = 1;
  config->encoder_layers = config->decoder_layers = layers;
  config->width = config->score_width = config->output_width = config->hidden * config->directions;
  HEED_TRY(heed_field_size(fields, "attention_size", 1, &config->output_width));
  HEED_TRY(heed_field_size(fields, "score_size", 1, &config->score_width));
  if (config->features && config->features != config->embedding)
    return heed_fail(
        fields->error, HEED_INVALID_FILE,
        "%s: num_features is not the encoder's input (found %u, expected embedding_size %u)",
        fields->where, config->features, config->embedding);
  return HEED_OK;
}

heed_status heed_sequence_read_config(const heed_json *json, const char *where,
                                      heed_sequence_config *config, heed_error *error) {
  const heed_fields fields = {json, heed_json_root(json), where, error};
  *config = (heed_sequence_config){0};
  if (!heed_sequence_find_kind(json, &config->kind))
    return heed_fail(error, HEED_UNSUPPORTED,
                     "%s: architectures names no encoder-decoder (found %.*s, expected "
                     "HeedTransformer or HeedSeq2Seq)",
                     where, HEED_CUT(heed_config_class(json)));
  HEED_TRY(read_tokens(&fields, config));
  return config->kind == HEED_SEQUENCE_TRANSFORMER ? read_transformer(&fields, config)
                                                   : read_recurrent(&fields, config);
}
