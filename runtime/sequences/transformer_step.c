/* One step of a transformer's decoder: one token [B, 1] against the keys and values of the tokens
 * before it, which are inputs of fixed length T with a mask of what is there; its own key and value
 * stand behind them as column T and are given out to be kept. A softmax does not care in which
 * order keys stand, so the rows are those of the whole up to rounding. The cost of a step depends
 * on T and S
 * alone, not on how many steps came before. */
#include "base/tensor.h"
#include "sequences/transformer.h"

typedef struct step {
  heed_sequence_builder *b;
  const heed_transformer_block_desc *layer;
  heed_value seen, source_padding;
  uint32_t index; /* of the layer */
} step;

static heed_value norm(const step *s, heed_value x, const heed_affine *with) {
  const heed_layer_norm_desc desc = {sizeof desc, x, with->weight, with->bias, s->layer->epsilon};
  return heed_define_layer_norm(s->b->graph, &desc);
}

static heed_value before(const step *s, heed_value x, const heed_affine *with) {
  return s->layer->pre_norm ? norm(s, x, with) : x;
}
static heed_value after(const step *s, heed_value x, const heed_affine *with) {
  return s->layer->pre_norm ? x : norm(s, x, with);
}

static heed_shape head_shape(const step *s, uint32_t tokens) {
  const heed_sequence_config *config = &s->b->model->config;
  return HEED_SHAPE(s->b->batch, config->heads, tokens, config->width / config->heads);
}

/* The past [B, H, T, D], an input, with this token's part behind it; the part is given out as
 * `name`.new. */
static heed_value with_past(const step *s, heed_value stacked, uint32_t part, const char *name) {
  const heed_shape one = head_shape(s, 1);
  const heed_value now =
      heed_define_view(s->b->graph, stacked, part * heed_shape_count(&one), &one);
  heed_sequence_output(s->b, now, "decoder.%u.self.%s.new", s->index, name);
  const heed_value past = heed_sequence_input(s->b, HEED_F32, head_shape(s, s->b->target_length),
                                              "decoder.%u.self.%s.past", s->index, name);
  const heed_concat_desc desc = {sizeof desc, {past, now}, 2, 2};
  return heed_define_concat(s->b->graph, &desc);
}

/* Attention, named, and its output projection with the residual. */
static heed_value attend(const step *s, heed_attention_desc *desc, heed_affine out,
                         heed_value residual, const char *which) {
  desc->struct_size = sizeof *desc;
  desc->merge_heads = true;
  const heed_attention_values values = heed_define_attention(s->b->graph, desc);
  heed_transformer_name_attention(s->b, &values, "decoder", s->index, which);
  return heed_sequence_linear(s->b, values.output, out, HEED_ACTIVATION_NONE, residual);
}

static heed_value attend_self(const step *s, heed_value x) {
  const heed_transformer_block_desc *layer = s->layer;
  const heed_linear_desc project = {.struct_size = sizeof project,
                                    .x = before(s, x, &layer->norm1),
                                    .weight = layer->self.in.weight,
                                    .bias = layer->self.in.bias,
                                    .heads = layer->heads,
                                    .parts = 3};
  const heed_value stacked = heed_define_linear(s->b->graph, &project);
  const heed_shape one = head_shape(s, 1);
  heed_attention_desc desc = {.query = heed_define_view(s->b->graph, stacked, 0, &one),
                              .key_padding = s->seen};
  desc.key = with_past(s, stacked, 1, "keys");
  desc.value = with_past(s, stacked, 2, "values");
  return after(s, attend(s, &desc, layer->self.out, x, "self"), &layer->norm1);
}

static heed_value attend_cross(const step *s, heed_value x) {
  const heed_transformer_block_desc *layer = s->layer;
  const uint32_t width = s->b->model->config.width;
  const heed_linear_desc project = {
      .struct_size = sizeof project,
      .x = before(s, x, &layer->norm2),
      .weight = heed_sequence_rows(s->b, layer->cross.in.weight, 0, width),
      .bias = layer->cross.in.bias.id ? heed_sequence_rows(s->b, layer->cross.in.bias, 0, width)
                                      : (heed_value){0},
      .heads = layer->heads,
      .parts = 1};
  const heed_shape one = head_shape(s, 1), memory = head_shape(s, s->b->source_length);
  heed_attention_desc desc = {
      .query = heed_define_view(s->b->graph, heed_define_linear(s->b->graph, &project), 0, &one),
      .key_padding = s->source_padding};
  desc.key = heed_sequence_input(s->b, HEED_F32, memory, "decoder.%u.cross.keys", s->index);
  desc.value = heed_sequence_input(s->b, HEED_F32, memory, "decoder.%u.cross.values", s->index);
  return after(s, attend(s, &desc, layer->cross.out, x, "cross"), &layer->norm2);
}

static heed_value feed_forward(const step *s, heed_value x) {
  const heed_transformer_block_desc *layer = s->layer;
  const heed_value hidden = heed_sequence_linear(s->b, before(s, x, &layer->norm3), layer->linear1,
                                                 layer->activation, (heed_value){0});
  return after(s, heed_sequence_linear(s->b, hidden, layer->linear2, HEED_ACTIVATION_NONE, x),
               &layer->norm3);
}

static heed_value embed(heed_sequence_builder *b) {
  const heed_sequence_config *config = &b->model->config;
  const heed_value token = heed_sequence_input(b, HEED_I32, HEED_SHAPE(b->batch, 1), "token");
  const heed_value x = heed_sequence_embed(b, token, "target_embedding.weight",
                                           config->target_vocabulary, config->width);
  const heed_embedding_desc position = {
      .struct_size = sizeof position,
      .ids = heed_sequence_input(b, HEED_I32, HEED_SHAPE(b->batch, 1), "position"),
      .table = heed_transformer_positions(b, "target", b->target_length)};
  const heed_add_desc add = {sizeof add, x, heed_define_embedding(b->graph, &position)};
  return heed_define_add(b->graph, &add);
}

void heed_transformer_build_step(heed_sequence_builder *b) {
  const heed_sequence_config *config = &b->model->config;
  const heed_value padding =
      config->features ? (heed_value){0} : heed_sequence_source_padding(b, heed_sequence_source(b));
  const heed_value seen =
      heed_sequence_input(b, HEED_U8, HEED_SHAPE(b->batch, b->target_length + 1), "seen");
  heed_value x = embed(b);
  for (uint32_t i = 0; i < config->decoder_layers && heed_graph_status(b->graph, NULL) == HEED_OK;
       i++) {
    heed_graph_stage(b->graph, i + 1);
    const heed_transformer_block_desc layer = heed_transformer_layer(b, "decoder", i, true);
    const step s = {b, &layer, seen, padding, i};
    x = feed_forward(&s, attend_cross(&s, attend_self(&s, x)));
    heed_sequence_name(b, x, "decoder.%u.output", i);
  }
  heed_sequence_logits(b, heed_transformer_final_norm(b, x, "decoder"), config->width);
}
