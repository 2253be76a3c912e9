/* Encoder-decoder models inside: what config.json says, and how the builders of graphs take weights
 * by their names. */
#ifndef HEED_SEQUENCES_SEQUENCE_H
#define HEED_SEQUENCES_SEQUENCE_H

#include "base/context.h"
#include "base/json.h"
#include "base/status.h"
#include "heed/ops.h"
#include "model/files/model_type.h"

/* An id that no token has: nothing is padding. */
#define HEED_NO_TOKEN (-1)
/* Layers of a recurrent encoder or decoder: their states are held on the stack while a graph is
 * built. */
#define HEED_SEQ2SEQ_LAYERS 64

typedef enum heed_sequence_kind {
  HEED_SEQUENCE_TRANSFORMER = 0,
  HEED_SEQUENCE_LSTM = 1,
  HEED_SEQUENCE_GRU = 2
} heed_sequence_kind;

typedef struct heed_sequence_config {
  heed_sequence_kind kind;
  uint32_t source_vocabulary, features; /* one of them 0 */
  uint32_t target_vocabulary, max_length;
  int32_t begin, end, padding; /* padding HEED_NO_TOKEN where the file names none */
  bool tied;                   /* the output map is the target embedding */
  /* transformer */
  uint32_t width, heads, encoder_layers, decoder_layers, mlp_width;
  heed_activation activation;
  bool norm_first, learned_positions, scale_embedding;
  float epsilon;
  /* lstm, gru: width is the decoder's hidden size, which is the encoder's times its directions */
  uint32_t embedding, hidden, directions;
  uint32_t score_width, output_width; /* A of the concat score; N of tanh(wc [context; h]) */
  heed_score score;
} heed_sequence_config;

/* Whether the object names an encoder-decoder, and its kind. */
bool heed_sequence_find_kind(const heed_json *json, heed_sequence_kind *kind);
/* Reads the object. Statuses: INVALID_FILE, UNSUPPORTED. */
heed_status heed_sequence_read_config(const heed_json *json, const char *where,
                                      heed_sequence_config *config, heed_error *error);

/* An encoder-decoder that was opened. */
typedef struct heed_sequence {
  heed_model base;
  heed_sequence_config config;
  const char *prefix; /* "transformer." where the file's nn.Transformer is a member of that name */
} heed_sequence;

typedef struct heed_sequence_builder {
  const heed_sequence *model;
  heed_graph *graph;
  uint32_t batch, source_length, target_length;
} heed_sequence_builder;

/* The tensor of this name as a constant; the graph keeps the sentence when it is missing or of
 * another shape. */
heed_value heed_sequence_weight(heed_sequence_builder *b, heed_shape shape, const char *format, ...)
    HEED_PRINTF(3, 4);
/* "<stem>.weight" and, where the file has it, "<stem>.bias" [rows of the weight]. */
heed_affine heed_sequence_affine(heed_sequence_builder *b, heed_shape weight, const char *format,
                                 ...) HEED_PRINTF(3, 4);
bool heed_sequence_has(const heed_sequence *model, const char *format, ...) HEED_PRINTF(2, 3);
/* Rows [first, first + rows) of a constant [R, C] or [R], as it is read; 0 of 0. */
heed_value heed_sequence_rows(heed_sequence_builder *b, heed_value weight, uint32_t first,
                              uint32_t rows);

/* x [B, T, K] -> [B, T, N]; residual may be none. */
heed_value heed_sequence_linear(heed_sequence_builder *b, heed_value x, heed_affine with,
                                heed_activation activation, heed_value residual);
/* Rows of an embedding [vocabulary, width] by tokens, times sqrt(width) where the config says
 * so. */
heed_value heed_sequence_embed(heed_sequence_builder *b, heed_value tokens, const char *name,
                               uint32_t vocabulary, uint32_t width);
/* [B, T, width] -> logits [B, T, target vocabulary], named and given out. */
void heed_sequence_logits(heed_sequence_builder *b, heed_value x, uint32_t width);
/* U8 [B, S], 1 = real token; 0 for features. */
heed_value heed_sequence_source_padding(heed_sequence_builder *b, heed_value source);
heed_value heed_sequence_source(heed_sequence_builder *b);
heed_value heed_sequence_input(heed_sequence_builder *b, heed_dtype dtype, heed_shape shape,
                               const char *format, ...) HEED_PRINTF(4, 5);
void heed_sequence_name(heed_sequence_builder *b, heed_value value, const char *format, ...)
    HEED_PRINTF(3, 4);
void heed_sequence_output(heed_sequence_builder *b, heed_value value, const char *format, ...)
    HEED_PRINTF(3, 4);

/* The parts of a graph. Values that the encoder gives out and the step takes in have the same
 * name. */
void heed_transformer_build(heed_sequence_builder *b, heed_model_part part);
void heed_transformer_build_step(heed_sequence_builder *b);
void heed_seq2seq_build(heed_sequence_builder *b, heed_model_part part);

#endif
