/* An encoder-decoder transformer as a graph (Vaswani et al. 2017; torch.nn.Transformer at
 * inference): the whole, for all target tokens at once, or its encoder with the keys and values of
 * every cross attention, which a step takes (transformer_step.c). */
#include "sequences/transformer.h"
#include "base/tensor.h"

heed_value heed_transformer_positions(heed_sequence_builder *b, const char *side, uint32_t rows) {
  const heed_sequence_config *config = &b->model->config;
  if (!config->learned_positions)
    return heed_define_positional_encoding(b->graph, rows, config->width);
  const heed_value table = heed_sequence_weight(b, HEED_SHAPE(config->max_length, config->width),
                                                "%s_positions.weight", side);
  return heed_sequence_rows(b, table, 0, rows);
}

static heed_value add_positions(heed_sequence_builder *b, heed_value x, const char *side,
                                uint32_t rows) {
  const heed_add_desc desc = {sizeof desc, x, heed_transformer_positions(b, side, rows)};
  return heed_define_add(b->graph, &desc);
}

static heed_attention_weights attention_weights(heed_sequence_builder *b, const char *side,
                                                uint32_t i, const char *which) {
  const char *prefix = b->model->prefix;
  const uint32_t width = b->model->config.width;
  heed_attention_weights made = {{{0}, {0}}, {{0}, {0}}};
  made.in.weight = heed_sequence_weight(b, HEED_SHAPE(3 * width, width),
                                        "%s%s.layers.%u.%s.in_proj_weight", prefix, side, i, which);
  if (heed_sequence_has(b->model, "%s%s.layers.%u.%s.in_proj_bias", prefix, side, i, which))
    made.in.bias = heed_sequence_weight(b, HEED_SHAPE(3 * width), "%s%s.layers.%u.%s.in_proj_bias",
                                        prefix, side, i, which);
  made.out = heed_sequence_affine(b, HEED_SHAPE(width, width), "%s%s.layers.%u.%s.out_proj", prefix,
                                  side, i, which);
  return made;
}

heed_transformer_block_desc heed_transformer_layer(heed_sequence_builder *b, const char *side,
                                                   uint32_t i, bool decoder) {
  const heed_sequence_config *config = &b->model->config;
  const char *prefix = b->model->prefix;
  const heed_shape norm = HEED_SHAPE(config->width);
  heed_transformer_block_desc desc = {.struct_size = sizeof desc,
                                      .heads = config->heads,
                                      .pre_norm = config->norm_first,
                                      .causal = decoder,
                                      .activation = config->activation,
                                      .epsilon = config->epsilon,
                                      .self = attention_weights(b, side, i, "self_attn")};
  if (decoder) desc.cross = attention_weights(b, side, i, "multihead_attn");
  desc.linear1 = heed_sequence_affine(b, HEED_SHAPE(config->mlp_width, config->width),
                                      "%s%s.layers.%u.linear1", prefix, side, i);
  desc.linear2 = heed_sequence_affine(b, HEED_SHAPE(config->width, config->mlp_width),
                                      "%s%s.layers.%u.linear2", prefix, side, i);
  desc.norm1 = heed_sequence_affine(b, norm, "%s%s.layers.%u.norm1", prefix, side, i);
  desc.norm2 = heed_sequence_affine(b, norm, "%s%s.layers.%u.norm2", prefix, side, i);
  if (decoder) desc.norm3 = heed_sequence_affine(b, norm, "%s%s.layers.%u.norm3", prefix, side, i);
  return desc;
}

heed_value heed_transformer_final_norm(heed_sequence_builder *b, heed_value x, const char *side) {
  if (!heed_sequence_has(b->model, "%s%s.norm.weight", b->model->prefix, side)) return x;
  const heed_affine norm = heed_sequence_affine(b, HEED_SHAPE(b->model->config.width), "%s%s.norm",
                                                b->model->prefix, side);
  const heed_layer_norm_desc desc = {sizeof desc, x, norm.weight, norm.bias,
                                     b->model->config.epsilon};
  return heed_define_layer_norm(b->graph, &desc);
}

void heed_transformer_name_attention(heed_sequence_builder *b, const heed_attention_values *values,
                                     const char *side, uint32_t i, const char *which) {
  heed_sequence_name(b, values->weights, "%s.%u.%s.weights", side, i, which);
  heed_sequence_name(b, values->logits, "%s.%u.%s.logits", side, i, which);
}

static heed_value encode(heed_sequence_builder *b, heed_value source, heed_value padding) {
  const heed_sequence_config *config = &b->model->config;
  heed_value x;
  if (config->features)
    x = heed_sequence_linear(
        b, source,
        heed_sequence_affine(b, HEED_SHAPE(config->width, config->features), "feature_projection"),
        HEED_ACTIVATION_NONE, (heed_value){0});
  else
    x = heed_sequence_embed(b, source, "source_embedding.weight", config->source_vocabulary,
                            config->width);
  x = add_positions(b, x, "source", b->source_length);
  for (uint32_t i = 0; i < config->encoder_layers && heed_graph_status(b->graph, NULL) == HEED_OK;
       i++) {
    heed_graph_stage(b->graph, i + 1);
    heed_transformer_block_desc layer = heed_transformer_layer(b, "encoder", i, false);
    layer.x = x;
    layer.key_padding = padding;
    const heed_transformer_block_values values = heed_define_transformer_block(b->graph, &layer);
    heed_transformer_name_attention(b, &values.self, "encoder", i, "self");
    x = values.y;
    heed_sequence_name(b, x, "encoder.%u.output", i);
  }
  return heed_transformer_final_norm(b, x, "encoder");
}

/* Keys and values [B, H, S, D] of layer i's cross attention: the second and third part of its
 * stacked projection. */
static void give_cross(heed_sequence_builder *b, heed_value memory, uint32_t i) {
  const heed_sequence_config *config = &b->model->config;
  const heed_attention_weights weights = attention_weights(b, "decoder", i, "multihead_attn");
  const heed_linear_desc desc = {
      .struct_size = sizeof desc,
      .x = memory,
      .weight = heed_sequence_rows(b, weights.in.weight, config->width, 2 * config->width),
      .bias = weights.in.bias.id
                  ? heed_sequence_rows(b, weights.in.bias, config->width, 2 * config->width)
                  : (heed_value){0},
      .heads = config->heads,
      .parts = 2};
  const heed_value both = heed_define_linear(b->graph, &desc);
  const heed_shape part =
      HEED_SHAPE(b->batch, config->heads, b->source_length, config->width / config->heads);
  heed_sequence_output(b, heed_define_view(b->graph, both, 0, &part), "decoder.%u.cross.keys", i);
  heed_sequence_output(b, heed_define_view(b->graph, both, heed_shape_count(&part), &part),
                       "decoder.%u.cross.values", i);
}

static void decode(heed_sequence_builder *b, heed_value memory, heed_value source_padding) {
  const heed_sequence_config *config = &b->model->config;
  const heed_value tokens =
      heed_sequence_input(b, HEED_I32, HEED_SHAPE(b->batch, b->target_length), "target_tokens");
  const heed_attention_mask_desc real = {
      .struct_size = sizeof real, .key_ids = tokens, .padding_id = config->padding};
  const heed_value padding = heed_define_attention_mask(b->graph, &real);
  heed_value x = heed_sequence_embed(b, tokens, "target_embedding.weight",
                                     config->target_vocabulary, config->width);
  x = add_positions(b, x, "target", b->target_length);
  for (uint32_t i = 0; i < config->decoder_layers && heed_graph_status(b->graph, NULL) == HEED_OK;
       i++) {
    heed_graph_stage(b->graph, config->encoder_layers + i + 1);
    heed_transformer_block_desc layer = heed_transformer_layer(b, "decoder", i, true);
    layer.x = x;
    layer.memory = memory;
    layer.key_padding = padding;
    layer.memory_key_padding = source_padding;
    const heed_transformer_block_values values = heed_define_transformer_block(b->graph, &layer);
    heed_transformer_name_attention(b, &values.self, "decoder", i, "self");
    heed_transformer_name_attention(b, &values.cross, "decoder", i, "cross");
    x = values.y;
    heed_sequence_name(b, x, "decoder.%u.output", i);
  }
  heed_sequence_logits(b, heed_transformer_final_norm(b, x, "decoder"), config->width);
}

void heed_transformer_build(heed_sequence_builder *b, heed_model_part part) {
  const heed_value source = heed_sequence_source(b);
  const heed_value padding = heed_sequence_source_padding(b, source);
  const heed_value memory = encode(b, source, padding);
  heed_sequence_name(b, memory, "memory");
  if (part == HEED_PART_WHOLE) {
    decode(b, memory, padding);
    return;
  }
  heed_graph_output(b->graph, memory);
  for (uint32_t i = 0; i < b->model->config.decoder_layers; i++) give_cross(b, memory, i);
}
