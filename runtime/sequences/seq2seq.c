/* A recurrent encoder-decoder with Luong attention as a graph (Luong et al. 2015; nn.LSTM, nn.GRU
 * and their parameter names): encoder states, decoder states from the encoder's last ones,
 * attention of decoder over encoder states, tanh(wc [context; h]), output map. A step is the same
 * graph with one target token whose states before it are inputs. */
#include <stdio.h>

#include "base/tensor.h"
#include "sequences/sequence.h"

typedef heed_recurrent_values (*define_recurrent)(heed_graph *graph,
                                                  const heed_recurrent_desc *desc);

static heed_value join(heed_sequence_builder *b, heed_value first, heed_value second,
                       uint32_t axis) {
  const heed_concat_desc desc = {sizeof desc, {first, second}, 2, axis};
  return heed_define_concat(b->graph, &desc);
}

/* Layer i of side "encoder" or "decoder" in one direction, over x [B, T, inputs]. */
static heed_recurrent_values run_layer(heed_sequence_builder *b, heed_value x, const char *side,
                                       uint32_t i, bool reverse, uint32_t inputs, uint32_t hidden,
                                       const heed_recurrent_values *start) {
  const bool lstm = b->model->config.kind == HEED_SEQUENCE_LSTM;
  const define_recurrent define = lstm ? heed_define_lstm : heed_define_gru;
  const uint32_t rows = (lstm ? 4 : 3) * hidden;
  char end[24];
  snprintf(end, sizeof end, "l%u%s", i, reverse ? "_reverse" : "");
  heed_recurrent_desc desc = {.struct_size = sizeof desc, .x = x, .reverse = reverse};
  desc.weight_ih = heed_sequence_weight(b, HEED_SHAPE(rows, inputs), "%s.weight_ih_%s", side, end);
  desc.weight_hh = heed_sequence_weight(b, HEED_SHAPE(rows, hidden), "%s.weight_hh_%s", side, end);
  if (heed_sequence_has(b->model, "%s.bias_ih_%s", side, end)) {
    desc.bias_ih = heed_sequence_weight(b, HEED_SHAPE(rows), "%s.bias_ih_%s", side, end);
    desc.bias_hh = heed_sequence_weight(b, HEED_SHAPE(rows), "%s.bias_hh_%s", side, end);
  }
  if (start) {
    desc.h = start->h;
    desc.c = start->c;
  }
  return define(b->graph, &desc);
}

/* Both directions of an encoder layer, joined. */
static heed_recurrent_values encode_layer(heed_sequence_builder *b, heed_value x, uint32_t i) {
  const heed_sequence_config *config = &b->model->config;
  const uint32_t inputs = i ? config->width : config->embedding;
  heed_recurrent_values values = run_layer(b, x, "encoder", i, false, inputs, config->hidden, NULL);
  if (config->directions == 1) return values;
  const heed_recurrent_values back =
      run_layer(b, x, "encoder", i, true, inputs, config->hidden, NULL);
  values.y = join(b, values.y, back.y, 2);
  values.h = join(b, values.h, back.h, 1);
  if (config->kind == HEED_SEQUENCE_LSTM) values.c = join(b, values.c, back.c, 1);
  return values;
}

/* Where layer i of the decoder starts, in a step: inputs. */
static heed_recurrent_values state_inputs(heed_sequence_builder *b, uint32_t i) {
  const heed_shape state = HEED_SHAPE(b->batch, b->model->config.width);
  heed_recurrent_values values = {{0}, {0}, {0}};
  values.h = heed_sequence_input(b, HEED_F32, state, "decoder.%u.h", i);
  if (b->model->config.kind == HEED_SEQUENCE_LSTM)
    values.c = heed_sequence_input(b, HEED_F32, state, "decoder.%u.c", i);
  return values;
}

static void give_states(heed_sequence_builder *b, const heed_recurrent_values *values, uint32_t i,
                        const char *end) {
  heed_sequence_output(b, values->h, "decoder.%u.h%s", i, end);
  if (values->c.id) heed_sequence_output(b, values->c, "decoder.%u.c%s", i, end);
}

/* Luong's attention of y [B, T, width] over memory; weights are named as a transformer's cross
 * attention with one head. */
static heed_value attend(heed_sequence_builder *b, heed_value y, heed_value memory,
                         heed_value padding, uint32_t tokens) {
  const heed_sequence_config *config = &b->model->config;
  const uint32_t width = config->width;
  heed_luong_attention_desc desc = {.struct_size = sizeof desc,
                                    .decoder = y,
                                    .encoder = memory,
                                    .encoder_padding = padding,
                                    .score = config->score};
  if (config->score == HEED_SCORE_GENERAL)
    desc.wa = heed_sequence_weight(b, HEED_SHAPE(width, width), "attention.wa.weight");
  if (config->score == HEED_SCORE_ADDITIVE) {
    const heed_shape flat = HEED_SHAPE(config->score_width);
    desc.wa =
        heed_sequence_weight(b, HEED_SHAPE(config->score_width, 2 * width), "attention.wa.weight");
    desc.va = heed_define_reshape(
        b->graph,
        heed_sequence_weight(b, HEED_SHAPE(1, config->score_width), "attention.va.weight"), &flat);
  }
  const heed_affine combine =
      heed_sequence_affine(b, HEED_SHAPE(config->output_width, 2 * width), "attention.wc");
  desc.wc = combine.weight;
  desc.wc_bias = combine.bias;
  const heed_luong_attention_values values = heed_define_luong_attention(b->graph, &desc);
  const heed_shape weights = HEED_SHAPE(b->batch, 1, tokens, b->source_length);
  heed_sequence_name(b, heed_define_reshape(b->graph, values.weights, &weights),
                     "decoder.0.cross.weights");
  return values.output;
}

/* Target tokens, from `start` [layers], to logits. */
static void decode(heed_sequence_builder *b, heed_value tokens, heed_value memory,
                   heed_value padding, const heed_recurrent_values *start, bool step) {
  const heed_sequence_config *config = &b->model->config;
  heed_value x = heed_sequence_embed(b, tokens, "target_embedding.weight",
                                     config->target_vocabulary, config->embedding);
  for (uint32_t i = 0; i < config->decoder_layers && heed_graph_status(b->graph, NULL) == HEED_OK;
       i++) {
    heed_graph_stage(b->graph, config->encoder_layers + i + 1);
    const heed_recurrent_values from = step ? state_inputs(b, i) : start[i];
    const heed_recurrent_values values = run_layer(
        b, x, "decoder", i, false, i ? config->width : config->embedding, config->width, &from);
    if (step) give_states(b, &values, i, ".next");
    x = values.y;
    if (i + 1 < config->decoder_layers) heed_sequence_name(b, x, "decoder.%u.output", i);
  }
  const heed_value output = attend(b, x, memory, padding, step ? 1 : b->target_length);
  heed_sequence_logits(b, output, config->output_width);
}

static void build_step(heed_sequence_builder *b) {
  const heed_value token = heed_sequence_input(b, HEED_I32, HEED_SHAPE(b->batch, 1), "token");
  const heed_value padding = b->model->config.features
                                 ? (heed_value){0}
                                 : heed_sequence_source_padding(b, heed_sequence_source(b));
  const heed_value memory = heed_sequence_input(
      b, HEED_F32, HEED_SHAPE(b->batch, b->source_length, b->model->config.width), "memory");
  decode(b, token, memory, padding, NULL, true);
}

void heed_seq2seq_build(heed_sequence_builder *b, heed_model_part part) {
  const heed_sequence_config *config = &b->model->config;
  if (part == HEED_PART_STEP) {
    build_step(b);
    return;
  }
  const heed_value source = heed_sequence_source(b);
  const heed_value padding = heed_sequence_source_padding(b, source);
  heed_value x = config->features
                     ? source
                     : heed_sequence_embed(b, source, "source_embedding.weight",
                                           config->source_vocabulary, config->embedding);
  heed_recurrent_values start[HEED_SEQ2SEQ_LAYERS];
  for (uint32_t i = 0; i < config->encoder_layers; i++) {
    heed_graph_stage(b->graph, i + 1);
    start[i] = encode_layer(b, x, i);
    x = start[i].y;
    if (part == HEED_PART_ENCODER) give_states(b, &start[i], i, "");
  }
  heed_sequence_name(b, x, "memory");
  if (part == HEED_PART_ENCODER)
    heed_graph_output(b->graph, x);
  else
    decode(
        b,
        heed_sequence_input(b, HEED_I32, HEED_SHAPE(b->batch, b->target_length), "target_tokens"),
        x, padding, start, false);
}
