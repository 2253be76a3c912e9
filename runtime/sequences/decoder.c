/* heed_decoder, greedy decoding of an encoder-decoder: 1 the encoder runs, 2 its outputs are
 * written to the step's inputs of the same name, 3 a step per token: token in, logits out, and its
 * outputs for the next step are carried over. Values find each other by name: X.next is the next
 * step's X; X.new is row t of the next step's X.past. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/desc.h"
#include "base/hooks.h"
#include "base/tensor.h"
#include "heed/sequences.h"
#include "sequences/sequence.h"

enum { ENCODER, STEP, PARTS };

/* One input of the step and where it comes from. */
typedef struct carried {
  heed_value input, from; /* from: of the encoder when `first`, else of the step */
  bool first;
  uint32_t slices, rows, width; /* of a past [slices, rows, width]; rows 1: replaced whole */
  float *data;                  /* [slices, rows, width], then [slices, width] as they come */
} carried;

typedef struct weights_row {
  heed_value value;
  float *data; /* [B H, max_length, columns]; NULL: not kept */
  float *row;  /* [B H, columns or columns + 1] of one step */
  uint32_t columns;
} weights_row;

struct heed_decoder {
  heed_context *context;
  const heed_sequence *model;
  uint32_t batch, source_length, max_length, length;
  bool keep_attention;
  heed_graph *graph[PARTS];
  heed_plan *plan[PARTS];
  heed_session *session[PARTS];
  carried *carry;
  uint32_t carry_count;
  weights_row *self, *cross; /* [decoder layers] */
  int32_t *tokens;           /* [B, max_length] while decoding, then [B, length] */
  int32_t *now, *position;   /* [B]: inputs of the step */
  uint8_t *seen;             /* [B, max_length + 1] */
  bool *ended;               /* [B] */
  float *logits;             /* likewise [B, max_length or length, V]; NULL: not kept */
  float *row;                /* [B, V] */
};

/* --------------------------------------------------------------------------------------- making */

/* a b c d elements of `size` bytes, zeroed. */
static void *make_array(const heed_context *context, size_t a, size_t b, size_t c, size_t d,
                        size_t size) {
  size_t ab, cd, all;
  if (!heed_size_mul(a, b, &ab) || !heed_size_mul(c, d, &cd) || !heed_size_mul(ab, cd, &all))
    return NULL;
  return heed_alloc(context, all, size);
}

static heed_status make_arrays(heed_decoder *d, bool logits, heed_error *error) {
  const size_t batch = d->batch, most = d->max_length,
               vocabulary = d->model->config.target_vocabulary;
  d->tokens = make_array(d->context, batch, most, 1, 1, sizeof *d->tokens);
  d->now = make_array(d->context, batch, 1, 1, 1, sizeof *d->now);
  d->position = make_array(d->context, batch, 1, 1, 1, sizeof *d->position);
  d->seen = make_array(d->context, batch, most + 1, 1, 1, sizeof *d->seen);
  d->ended = make_array(d->context, batch, 1, 1, 1, sizeof *d->ended);
  d->row = make_array(d->context, batch, vocabulary, 1, 1, sizeof *d->row);
  if (logits) d->logits = make_array(d->context, batch, most, vocabulary, 1, sizeof *d->logits);
  if (d->tokens && d->now && d->position && d->seen && d->ended && d->row && (d->logits || !logits))
    return HEED_OK;
  return heed_fail(error, HEED_OUT_OF_MEMORY,
                   "decoder: out of memory (found a batch of %u, %u tokens, %u logits each)",
                   d->batch, d->max_length, d->model->config.target_vocabulary);
}

/* The value of graph `part` whose name is this one with `end` in place of its last `cut`
 * letters. */
static heed_value find_with_end(const heed_decoder *d, int part, const char *name, size_t cut,
                                const char *end) {
  char text[160];
  const size_t length = strlen(name);
  if (cut > length) return (heed_value){0};
  snprintf(text, sizeof text, "%.*s%s", (int)(length - cut), name, end);
  return heed_graph_find(d->graph[part], text);
}

static bool ends_with(const char *name, const char *end) {
  const size_t length = strlen(name), tail = strlen(end);
  return length >= tail && strcmp(name + length - tail, end) == 0;
}

static heed_status add_carry(heed_decoder *d, heed_value input, heed_value from, bool first,
                             const heed_shape *shape, bool past, heed_error *error) {
  carried *c = &d->carry[d->carry_count];
  *c = (carried){input, from, first, 1, 1, 1, NULL};
  for (uint32_t i = 0; i < shape->rank; i++) {
    if (!past || i + 1 == shape->rank)
      c->width *= shape->dim[i];
    else if (i + 2 == shape->rank)
      c->rows = shape->dim[i];
    else
      c->slices *= shape->dim[i];
  }
  c->data = make_array(d->context, c->slices, (size_t)c->rows + 1, c->width, 1, sizeof *c->data);
  if (!c->data)
    return heed_fail(error, HEED_OUT_OF_MEMORY,
                     "decoder: out of memory (found a state of %u x %u x %u)", c->slices, c->rows,
                     c->width);
  d->carry_count++;
  return HEED_OK;
}

/* Every input of the step that has a source. */
static heed_status link_inputs(heed_decoder *d, heed_error *error) {
  const uint32_t count = heed_graph_value_count(d->graph[STEP]);
  d->carry = heed_alloc(d->context, 2 * (size_t)count, sizeof *d->carry);
  if (!d->carry) return heed_fail_memory(error, "decoder: states", 2 * count * sizeof *d->carry);
  for (uint32_t id = 1; id <= count; id++) {
    heed_value_info info;
    const heed_value input = {id};
    if (heed_graph_value_info(d->graph[STEP], input, &info) != HEED_OK || !info.is_input ||
        info.dtype != HEED_F32)
      continue;
    const heed_value given = heed_graph_find(d->graph[ENCODER], info.name);
    heed_value_info source;
    if (given.id && heed_graph_value_info(d->graph[ENCODER], given, &source) == HEED_OK &&
        source.is_output)
      HEED_TRY(add_carry(d, input, given, true, &info.shape, false, error));
    const bool past = ends_with(info.name, ".past");
    const heed_value next = past ? find_with_end(d, STEP, info.name, strlen(".past"), ".new")
                                 : find_with_end(d, STEP, info.name, 0, ".next");
    if (next.id) HEED_TRY(add_carry(d, input, next, false, &info.shape, past, error));
  }
  return HEED_OK;
}

static heed_status make_weights(heed_decoder *d, weights_row *w, const char *which, uint32_t layer,
                                uint32_t columns, uint32_t row_columns, heed_error *error) {
  char name[64];
  const size_t slices = (size_t)d->batch * d->model->config.heads;
  snprintf(name, sizeof name, "decoder.%u.%s.weights", layer, which);
  w->value = heed_graph_find(d->graph[STEP], name);
  w->columns = columns;
  if (!w->value.id) return HEED_OK;
  w->data = make_array(d->context, slices, d->max_length, columns, 1, sizeof *w->data);
  w->row = make_array(d->context, slices, row_columns, 1, 1, sizeof *w->row);
  if (w->data && w->row) return HEED_OK;
  return heed_fail(error, HEED_OUT_OF_MEMORY,
                   "decoder: out of memory (found attention maps of %u x %u for %zu heads)",
                   d->max_length, columns, slices);
}

static heed_status make_maps(heed_decoder *d, heed_error *error) {
  const uint32_t layers = d->model->config.decoder_layers;
  d->self = heed_alloc(d->context, layers, sizeof *d->self);
  d->cross = heed_alloc(d->context, layers, sizeof *d->cross);
  if (!d->self || !d->cross)
    return heed_fail_memory(error, "decoder: attention", 2 * layers * sizeof *d->self);
  for (uint32_t i = 0; d->keep_attention && i < layers; i++) {
    HEED_TRY(make_weights(d, &d->self[i], "self", i, d->max_length, d->max_length + 1, error));
    HEED_TRY(make_weights(d, &d->cross[i], "cross", i, d->source_length, d->source_length, error));
  }
  return HEED_OK;
}

static bool is_weights(const char *name) {
  return ends_with(name, ".self.weights") || ends_with(name, ".cross.weights");
}

/* Plan and session of a part, its attention weights tapped when they are to be kept. */
static heed_status make_session(heed_decoder *d, int part, heed_backend *backend,
                                const heed_hooks *hooks, heed_error *error) {
  const uint32_t count = heed_graph_value_count(d->graph[part]);
  heed_plan_desc desc = HEED_PLAN_DESC_INIT;
  heed_value *taps = heed_alloc(d->context, count, sizeof *taps);
  if (!taps) return heed_fail_memory(error, "decoder: taps", count * sizeof *taps);
  for (uint32_t id = 1; d->keep_attention && id <= count; id++) {
    heed_value_info info;
    if (heed_graph_value_info(d->graph[part], (heed_value){id}, &info) == HEED_OK &&
        is_weights(info.name))
      taps[desc.tap_count++].id = id;
  }
  desc.taps = taps;
  heed_status status = heed_plan_create(d->graph[part], backend, &desc, &d->plan[part], error);
  if (status == HEED_OK)
    status = heed_session_create(d->plan[part], hooks, &d->session[part], error);
  heed_free(d->context, taps);
  return status;
}

static heed_status make(heed_decoder *d, heed_backend *backend, const heed_decoder_desc *desc,
                        const heed_hooks *hooks, heed_error *error) {
  static const heed_model_part parts[PARTS] = {HEED_PART_ENCODER, HEED_PART_STEP};
  for (int part = 0; part < PARTS; part++) {
    const heed_build_desc build = {.struct_size = sizeof build,
                                   .batch = d->batch,
                                   .part = parts[part],
                                   .source_length = d->source_length,
                                   .target_length = d->max_length};
    HEED_TRY(heed_model_build(&d->model->base, &build, &d->graph[part], error));
    HEED_TRY(make_session(d, part, backend, hooks, error));
  }
  HEED_TRY(link_inputs(d, error));
  HEED_TRY(make_maps(d, error));
  return make_arrays(d, desc->logits, error);
}

heed_status heed_decoder_create(const heed_model *model, heed_backend *backend,
                                const heed_decoder_desc *desc, const heed_hooks *hooks,
                                heed_decoder **decoder, heed_error *error) {
  if (!model || !backend || !desc || !decoder)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "decoder: NULL argument (expected model, backend, desc and decoder)");
  *decoder = NULL;
  if (model->info.kind != HEED_MODEL_ENCODER_DECODER)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "decoder: the model does not decode (found family %s, expected an "
                     "encoder-decoder)",
                     model->info.family);
  heed_decoder_desc full;
  HEED_TRY(heed_desc_read(&full, sizeof full, desc, "decoder", error));
  heed_decoder *made = heed_alloc(model->context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "decoder", sizeof *made);
  const uint32_t most = model->info.max_length;
  made->context = model->context;
  made->model = (const heed_sequence *)model;
  made->batch = full.batch ? full.batch : 1;
  made->source_length = full.source_length ? full.source_length : most;
  made->max_length = full.max_length ? full.max_length : most;
  made->keep_attention = full.attention;
  const heed_status status = make(made, backend, &full, hooks, error);
  if (status == HEED_OK)
    *decoder = made;
  else
    heed_decoder_destroy(made);
  return status;
}

static void free_maps(heed_decoder *d, weights_row *maps) {
  for (uint32_t i = 0; maps && i < d->model->config.decoder_layers; i++) {
    heed_free(d->context, maps[i].data);
    heed_free(d->context, maps[i].row);
  }
  heed_free(d->context, maps);
}

void heed_decoder_destroy(heed_decoder *decoder) {
  if (!decoder) return;
  const heed_context *context = decoder->context;
  for (int part = 0; part < PARTS; part++) {
    heed_session_destroy(decoder->session[part]);
    heed_plan_destroy(decoder->plan[part]);
    heed_graph_destroy(decoder->graph[part]);
  }
  for (uint32_t i = 0; i < decoder->carry_count; i++) heed_free(context, decoder->carry[i].data);
  free_maps(decoder, decoder->self);
  free_maps(decoder, decoder->cross);
  void *const arrays[] = {decoder->carry, decoder->tokens, decoder->now,    decoder->position,
                          decoder->seen,  decoder->ended,  decoder->logits, decoder->row};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) heed_free(context, arrays[i]);
  heed_free(context, decoder);
}

/* -------------------------------------------------------------------------------------- running */

static heed_status check_source(const heed_decoder *d, const void *source, size_t bytes,
                                heed_error *error) {
  const heed_sequence_config *config = &d->model->config;
  const size_t tokens = (size_t)d->batch * d->source_length,
               expected = tokens * (config->features ? config->features : 1) * 4;
  if (!source || bytes != expected)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "decode: wrong source size (found %zu bytes, expected %zu)",
                     source ? bytes : 0, expected);
  const int32_t *ids = source;
  for (size_t i = 0; !config->features && i < tokens; i++)
    if (ids[i] < 0 || (uint32_t)ids[i] >= config->source_vocabulary)
      return heed_fail(error, HEED_INVALID_ARGUMENT,
                       "decode: source token %zu out of range (found %d, expected 0 to %u)", i,
                       ids[i], config->source_vocabulary - 1);
  return HEED_OK;
}

/* Writes an input that not every kind of step has. */
static heed_status write_input(heed_decoder *d, int part, const char *name, const void *data,
                               size_t bytes, heed_error *error) {
  const heed_value input = heed_graph_find(d->graph[part], name);
  return input.id ? heed_session_write(d->session[part], input, data, bytes, error) : HEED_OK;
}

static heed_status encode(heed_decoder *d, const void *source, size_t bytes, heed_error *error) {
  const char *name = d->model->config.features ? "source_features" : "source_tokens";
  HEED_TRY(write_input(d, ENCODER, name, source, bytes, error));
  HEED_TRY(write_input(d, STEP, name, source, bytes, error));
  HEED_TRY(heed_session_run(d->session[ENCODER], NULL, error));
  for (uint32_t i = 0; i < d->carry_count; i++) {
    const carried *c = &d->carry[i];
    if (!c->first) continue;
    HEED_TRY(heed_session_read(d->session[ENCODER], c->from, 0, c->width, c->data, error));
    HEED_TRY(
        heed_session_write(d->session[STEP], c->input, c->data, c->width * sizeof *c->data, error));
  }
  return HEED_OK;
}

/* What step t leaves to the next one. */
static heed_status carry_over(heed_decoder *d, uint32_t t, heed_error *error) {
  for (uint32_t i = 0; i < d->carry_count; i++) {
    const carried *c = &d->carry[i];
    if (c->first) continue;
    const size_t row = c->rows > 1 ? t : 0, count = (size_t)c->slices * c->rows * c->width;
    const float *fresh = c->data + count;
    HEED_ASSERT(row < c->rows);
    HEED_TRY(heed_session_read(d->session[STEP], c->from, 0, (uint64_t)c->slices * c->width,
                               c->data + count, error));
    for (size_t s = 0; s < c->slices; s++)
      memcpy(c->data + (s * c->rows + row) * c->width, fresh + s * c->width,
             c->width * sizeof *c->data);
    HEED_TRY(
        heed_session_write(d->session[STEP], c->input, c->data, count * sizeof *c->data, error));
  }
  return HEED_OK;
}

/* Row t of a map; in a step the token's own column stands last. */
static heed_status keep_row(heed_decoder *d, const weights_row *w, uint32_t t, bool self,
                            heed_error *error) {
  if (!w->data) return HEED_OK;
  HEED_ASSERT(t < d->max_length && (!self || t < w->columns));
  const size_t slices = (size_t)d->batch * d->model->config.heads,
               from_columns = (size_t)w->columns + self;
  HEED_TRY(heed_session_read(d->session[STEP], w->value, 0, slices * from_columns, w->row, error));
  for (size_t s = 0; s < slices; s++) {
    const float *from = w->row + s * from_columns;
    float *to = w->data + (s * d->max_length + t) * w->columns;
    memcpy(to, from, (self ? t : w->columns) * sizeof *to);
    if (self) to[t] = from[w->columns];
  }
  return HEED_OK;
}

/* The largest of a row, the first of equals; false when there is a NaN among them. */
static bool largest(const float *row, uint32_t count, int32_t *index) {
  *index = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (isnan(row[i])) return false;
    if (row[i] > row[*index]) *index = (int32_t)i;
  }
  return true;
}

/* The tokens that the logits of step t give; *going: a row has not ended. */
static heed_status choose(heed_decoder *d, uint32_t t, bool *going, heed_error *error) {
  const heed_sequence_config *config = &d->model->config;
  const uint32_t vocabulary = config->target_vocabulary;
  *going = false;
  for (uint32_t b = 0; b < d->batch; b++) {
    int32_t token;
    if (!largest(d->row + (size_t)b * vocabulary, vocabulary, &token))
      return heed_fail(error, HEED_INVALID_FILE,
                       "decode: a logit is not a number at step %u (found NaN, expected weights "
                       "that give numbers)",
                       t);
    if (d->ended[b]) token = config->padding != HEED_NO_TOKEN ? config->padding : config->end;
    d->ended[b] = d->ended[b] || token == config->end;
    *going = *going || !d->ended[b];
    d->now[b] = d->tokens[(size_t)b * d->max_length + t] = token;
    if (d->logits)
      memcpy(d->logits + ((size_t)b * d->max_length + t) * vocabulary,
             d->row + (size_t)b * vocabulary, vocabulary * sizeof *d->row);
  }
  return HEED_OK;
}

static heed_status run_step(heed_decoder *d, uint32_t t, heed_error *error) {
  const uint32_t columns = d->max_length + 1;
  for (uint32_t b = 0; b < d->batch; b++) {
    d->position[b] = (int32_t)t;
    d->seen[(size_t)b * columns + d->max_length] = d->now[b] != d->model->config.padding;
  }
  HEED_TRY(write_input(d, STEP, "token", d->now, d->batch * sizeof *d->now, error));
  HEED_TRY(write_input(d, STEP, "position", d->position, d->batch * sizeof *d->position, error));
  HEED_TRY(write_input(d, STEP, "seen", d->seen, (size_t)d->batch * columns, error));
  HEED_TRY(heed_session_run(d->session[STEP], NULL, error));
  for (uint32_t b = 0; b < d->batch; b++)
    d->seen[(size_t)b * columns + t] = d->seen[(size_t)b * columns + d->max_length];
  for (uint32_t i = 0; i < d->model->config.decoder_layers; i++) {
    HEED_TRY(keep_row(d, &d->self[i], t, true, error));
    HEED_TRY(keep_row(d, &d->cross[i], t, false, error));
  }
  const uint64_t count = (uint64_t)d->batch * d->model->config.target_vocabulary;
  return heed_session_read(d->session[STEP], heed_graph_find(d->graph[STEP], "logits"), 0, count,
                           d->row, error);
}

/* [rows, max_length] of `size` bytes -> [rows, length]. */
static void close_up(const heed_decoder *d, void *data, size_t size) {
  unsigned char *bytes = data;
  for (size_t b = 1; bytes && b < d->batch; b++)
    memmove(bytes + b * d->length * size, bytes + b * d->max_length * size, d->length * size);
}

static heed_status decode(heed_decoder *d, const heed_hooks *hooks, heed_error *error) {
  bool going = true;
  for (uint32_t t = 0; going && t < d->max_length; t++) {
    HEED_TRY(heed_check_cancel(hooks, "decode", error));
    HEED_TRY(run_step(d, t, error));
    HEED_TRY(choose(d, t, &going, error));
    d->length = t + 1;
    if (going && d->length < d->max_length) HEED_TRY(carry_over(d, t, error));
    heed_report_progress(hooks, "decode", going ? d->length : d->max_length, d->max_length);
  }
  return HEED_OK;
}

heed_status heed_decoder_run(heed_decoder *decoder, const void *source, size_t bytes,
                             const heed_hooks *hooks, heed_error *error) {
  if (!decoder) return heed_fail(error, HEED_INVALID_ARGUMENT, "decode: decoder is NULL");
  heed_hooks full = HEED_HOOKS_INIT;
  if (hooks) HEED_TRY(heed_desc_read(&full, sizeof full, hooks, "decode: hooks", error));
  HEED_TRY(check_source(decoder, source, bytes, error));
  decoder->length = 0;
  memset(decoder->seen, 0, (size_t)decoder->batch * (decoder->max_length + 1));
  for (uint32_t b = 0; b < decoder->batch; b++) {
    decoder->now[b] = decoder->model->config.begin;
    decoder->ended[b] = false;
  }
  HEED_TRY(encode(decoder, source, bytes, error));
  const heed_status status = decode(decoder, hooks ? &full : NULL, error);
  close_up(decoder, decoder->tokens, sizeof *decoder->tokens);
  close_up(decoder, decoder->logits,
           decoder->model->config.target_vocabulary * sizeof *decoder->logits);
  return status;
}

/* -------------------------------------------------------------------------------------- results */

const int32_t *heed_decoder_tokens(const heed_decoder *decoder, uint32_t *length) {
  *length = decoder->length;
  return decoder->tokens;
}

const float *heed_decoder_logits(const heed_decoder *decoder) { return decoder->logits; }

static heed_value encoder_weights(const heed_decoder *d, uint32_t layer) {
  char name[64];
  snprintf(name, sizeof name, "encoder.%u.self.weights", layer);
  return heed_graph_find(d->graph[ENCODER], name);
}

heed_shape heed_decoder_attention_shape(const heed_decoder *decoder, heed_decoder_attention which,
                                        uint32_t layer) {
  const heed_sequence_config *config = &decoder->model->config;
  const heed_shape none = {0, {0}};
  if (!decoder->keep_attention ||
      layer >= (which == HEED_ATTENTION_ENCODER ? config->encoder_layers : config->decoder_layers))
    return none;
  const uint32_t source = decoder->source_length, length = decoder->length;
  if (which == HEED_ATTENTION_ENCODER)
    return encoder_weights(decoder, layer).id
               ? HEED_SHAPE(decoder->batch, config->heads, source, source)
               : none;
  if (which == HEED_ATTENTION_DECODER)
    return decoder->self[layer].data ? HEED_SHAPE(decoder->batch, config->heads, length, length)
                                     : none;
  if (which == HEED_ATTENTION_CROSS)
    return decoder->cross[layer].data ? HEED_SHAPE(decoder->batch, config->heads, length, source)
                                      : none;
  return none;
}

heed_status heed_decoder_read_attention(heed_decoder *decoder, heed_decoder_attention which,
                                        uint32_t layer, float *to, uint64_t count,
                                        heed_error *error) {
  const heed_shape shape = heed_decoder_attention_shape(decoder, which, layer);
  if (!shape.rank || count != heed_shape_count(&shape))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "attention: not retained or wrong size (found layer %u of kind %d, %llu "
                     "floats, expected %llu)",
                     layer, (int)which, (unsigned long long)count,
                     (unsigned long long)(shape.rank ? heed_shape_count(&shape) : 0));
  if (which == HEED_ATTENTION_ENCODER)
    return heed_session_read(decoder->session[ENCODER], encoder_weights(decoder, layer), 0, count,
                             to, error);
  const weights_row *w =
      which == HEED_ATTENTION_DECODER ? &decoder->self[layer] : &decoder->cross[layer];
  const size_t slices = (size_t)shape.dim[0] * shape.dim[1], columns = shape.dim[3];
  for (size_t s = 0; s < slices; s++)
    for (size_t t = 0; t < decoder->length; t++)
      memcpy(to + (s * decoder->length + t) * columns,
             w->data + (s * decoder->max_length + t) * w->columns, columns * sizeof *to);
  return HEED_OK;
}
