/* A profile's case by heed: its tensors in the standard's layout are brought to [B, H, T, D], its
 * masks to those of heed_attention_desc by the profile's rules, as a program would do that has a
 * model of that standard. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "check/profile/profile.h"

#define MOST_INPUTS 12

typedef struct runner {
  heed_context *context;
  const profile_case *c;
  heed_graph *graph;
  struct {
    heed_value value;
    void *data;
    size_t bytes;
  } inputs[MOST_INPUTS];
  uint32_t input_count;
  heed_value output, scores;
  bool whole; /* no allocation failed */
} runner;

/* An input with room for its data, which is freed with the runner. */
static void *add_input(runner *r, heed_dtype dtype, heed_shape shape, heed_value *value) {
  static const char *const names[MOST_INPUTS] = {"0", "1", "2", "3", "4",  "5",
                                                 "6", "7", "8", "9", "10", "11"};
  const size_t count = (size_t)heed_shape_count(&shape), size = heed_dtype_size(dtype);
  void *data = r->input_count < MOST_INPUTS ? heed_alloc(r->context, count, size) : NULL;
  r->whole = r->whole && data;
  if (!data) return NULL;
  *value = heed_define_input(r->graph, names[r->input_count], dtype, &shape);
  r->inputs[r->input_count].value = *value;
  r->inputs[r->input_count].data = data;
  r->inputs[r->input_count++].bytes = count * size;
  return data;
}

/* -------------------------------------------------------------------------------------- layouts */

static bool is_token_major(const profile_case *c) {
  return !profile_is(c, LAYOUT, LAYOUT_HEADS) && !profile_is(c, LAYOUT, LAYOUT_ONE_HEAD);
}

/* Tokens [first, first + count) of x [B, H, T, D] as an input of the standard's layout. */
static heed_value input_of(runner *r, const float *x, uint32_t heads, uint32_t tokens,
                           uint32_t first, uint32_t count, uint32_t depth, bool token_major) {
  const uint32_t batch = r->c->batch;
  const heed_shape shape = token_major ? HEED_SHAPE(batch, count, heads * depth)
                                       : HEED_SHAPE(batch, heads, count, depth);
  heed_value value = {0};
  float *to = add_input(r, HEED_F32, shape, &value);
  for (size_t b = 0; to && b < batch; b++)
    for (size_t h = 0; h < heads; h++)
      for (size_t t = 0; t < count; t++) {
        const size_t at = token_major ? (b * count + t) * heads + h : (b * heads + h) * count + t;
        memcpy(to + at * depth, x + ((b * heads + h) * tokens + first + t) * depth,
               depth * sizeof *to);
      }
  return value;
}

static heed_value to_heads(runner *r, heed_value x, uint32_t heads, uint32_t count,
                           uint32_t depth) {
  const heed_shape split = HEED_SHAPE(r->c->batch, count, heads, depth);
  const heed_permute_desc desc = {
      sizeof desc, heed_define_reshape(r->graph, x, &split), {0, 2, 1, 3}};
  return heed_define_permute(r->graph, &desc);
}

/* Keys or values: the past, which is always [B, H, P, D], and the new ones. */
static heed_value keys_of(runner *r, const float *x, uint32_t depth) {
  const profile_case *c = r->c;
  const bool token_major = is_token_major(c);
  const uint32_t fresh = c->keys - c->past;
  heed_value now = input_of(r, x, c->key_heads, c->keys, c->past, fresh, depth, token_major);
  if (token_major) now = to_heads(r, now, c->key_heads, fresh, depth);
  if (!c->past) return now;
  const heed_value past = input_of(r, x, c->key_heads, c->keys, 0, c->past, depth, false);
  const heed_concat_desc desc = {sizeof desc, {past, now}, 2, 2};
  return heed_define_concat(r->graph, &desc);
}

/* ---------------------------------------------------------------------------------------- masks */

/* The mask's entry for a pair; one past its last key hides. */
static float mask_at(const profile_case *c, size_t b, size_t h, size_t i, size_t j) {
  const uint32_t *d = c->mask_dim;
  const size_t at[4] = {b, h, i, j};
  if (d[3] != 1 && j >= d[3])
    return profile_is(c, MASK, MASK_FLOAT) ? -INFINITY : (float)c->rules->true_hides;
  size_t offset = 0;
  for (int a = 0; a < 4; a++) offset = offset * d[a] + (d[a] == 1 ? 0 : at[a]);
  return c->mask[offset];
}

/* A boolean mask over all queries and keys, in heed's sense; a float mask as a bias, where it is 1
 * along the queries left so. */
static void take_mask(runner *r, heed_attention_desc *desc) {
  const profile_case *c = r->c;
  if (!c->mask) return;
  const uint32_t b = c->mask_dim[0], h = c->mask_dim[1];
  const bool adds = profile_is(c, MASK, MASK_FLOAT);
  const uint32_t rows = adds ? c->mask_dim[2] : c->queries;
  const heed_shape shape = HEED_SHAPE(b, h, rows, c->keys);
  const size_t count = (size_t)heed_shape_count(&shape);
  void *to = add_input(r, adds ? HEED_F32 : HEED_U8, shape, adds ? &desc->bias : &desc->mask);
  for (size_t e = 0; to && e < count; e++) {
    const size_t j = e % c->keys, i = e / c->keys % rows, head = e / c->keys / rows % h;
    const float entry = mask_at(c, e / c->keys / rows / h, head, i, j);
    if (adds)
      ((float *)to)[e] = entry;
    else
      ((uint8_t *)to)[e] = (entry != 0.0f) != c->rules->true_hides;
  }
}

/* Padding of both keys and values, the keys that are there, and padding that is added: by key. */
static void take_key_padding(runner *r, heed_attention_desc *desc) {
  const profile_case *c = r->c;
  if (!c->padding_key && !c->padding_value && !c->lengths) return;
  uint8_t *to = add_input(r, HEED_U8, HEED_SHAPE(c->batch, c->keys), &desc->key_padding);
  for (size_t e = 0; to && e < (size_t)c->batch * c->keys; e++) {
    const bool hides = c->rules->true_hides;
    to[e] = (!c->padding_key || (c->padding_key[e] != 0.0f) != hides) &&
            (!c->padding_value || (c->padding_value[e] != 0.0f) != hides) &&
            (!c->lengths || e % c->keys < (size_t)c->lengths[e / c->keys]);
  }
}

/* A padding of numbers: added to the bias of every query, or the bias itself. */
static void take_float_padding(runner *r, heed_attention_desc *desc) {
  const profile_case *c = r->c;
  heed_value value = {0};
  float *to = add_input(r, HEED_F32, HEED_SHAPE(c->batch, c->heads, c->queries, c->keys), &value);
  for (size_t e = 0; to && e < profile_pairs(c); e++) {
    const size_t j = e % c->keys, row = e / c->keys, i = row % c->queries,
                 h = row / c->queries % c->heads, b = row / c->queries / c->heads;
    to[e] = c->padding_key[b * c->keys + j] +
            (profile_is(c, MASK, MASK_FLOAT) ? mask_at(c, b, h, i, j) : 0.0f);
  }
  desc->bias = value;
}

static void take_query_padding(runner *r, heed_attention_desc *desc) {
  const profile_case *c = r->c;
  if (!c->padding_query) return;
  uint8_t *to = add_input(r, HEED_U8, HEED_SHAPE(c->batch, c->queries), &desc->query_padding);
  for (size_t e = 0; to && e < (size_t)c->batch * c->queries; e++)
    to[e] = (c->padding_query[e] != 0.0f) != c->rules->true_hides;
}

static void take_position(runner *r, heed_attention_desc *desc) {
  const profile_case *c = r->c;
  if (profile_is(c, CAUSAL, CAUSAL_YES)) desc->causal = c->rules->causal;
  desc->window = !profile_is(c, WINDOW, WINDOW_NONE);
  desc->window_left = c->left < 0 ? -1 : c->left - c->rules->window_less;
  desc->window_right = c->right < 0 ? -1 : c->right - c->rules->window_less;
  if (c->rules->past_is_offset) desc->causal_offset = (int32_t)c->past;
  if (!c->lengths || !c->rules->lengths_are_offsets) return;
  int32_t *to = add_input(r, HEED_I32, HEED_SHAPE(c->batch), &desc->causal_offsets);
  for (uint32_t b = 0; to && b < c->batch; b++) to[b] = c->lengths[b] - (int32_t)c->queries;
}

/* ---------------------------------------------------------------------------------------- graph */

/* Scores before the masks: logits of the same attention without them. */
static heed_value bare_logits(runner *r, const heed_attention_desc *desc) {
  const heed_attention_desc bare = {
      .struct_size = sizeof bare,
      .query = desc->query,
      .key = desc->key,
      .value = desc->value,
      .scale = desc->scale,
      .softcap = profile_is(r->c, OUTPUT, OUTPUT_CAPPED) ? desc->softcap : 0.0f};
  return heed_define_attention(r->graph, &bare).logits;
}

static void define(runner *r) {
  const profile_case *c = r->c;
  const bool token_major = is_token_major(c);
  const uint8_t scores = c->level[OUTPUT];
  heed_attention_desc desc = {.struct_size = sizeof desc,
                              .scale = c->scale,
                              .softcap = c->softcap,
                              .merge_heads = token_major,
                              .empty_row = scores >= OUTPUT_WEIGHTS
                                               ? c->rules->empty_row_with_weights
                                               : c->rules->empty_row};
  desc.query = input_of(r, c->query, c->heads, c->queries, 0, c->queries, c->depth, token_major);
  if (token_major) desc.query = to_heads(r, desc.query, c->heads, c->queries, c->depth);
  desc.key = keys_of(r, c->key, c->depth);
  desc.value = keys_of(r, c->value, c->value_depth);
  const bool adds_padding = profile_is(c, PADDING, PADDING_FLOAT);
  if (!adds_padding || profile_is(c, MASK, MASK_BOOL)) take_mask(r, &desc);
  if (adds_padding)
    take_float_padding(r, &desc);
  else
    take_key_padding(r, &desc);
  take_query_padding(r, &desc);
  take_position(r, &desc);
  const heed_attention_values values = heed_define_attention(r->graph, &desc);
  r->output = values.output;
  if (scores == OUTPUT_RAW || scores == OUTPUT_CAPPED) r->scores = bare_logits(r, &desc);
  if (scores == OUTPUT_BIASED) r->scores = values.logits;
  if (scores >= OUTPUT_WEIGHTS) r->scores = values.weights;
}

/* [B, Tq, H, Dv] -> [B, H, Tq, Dv]. */
static void read_output(const profile_case *c, const float *from, float *to) {
  const size_t n = profile_output_count(c), depth = c->value_depth;
  for (size_t e = 0; e < n; e++) {
    const size_t d = e % depth, i = e / depth % c->queries, h = e / depth / c->queries % c->heads,
                 b = e / depth / c->queries / c->heads;
    to[e] = from[is_token_major(c) ? ((b * c->queries + i) * c->heads + h) * depth + d : e];
  }
}

/* The mean over heads, in the place of the first ones. */
static void average(const profile_case *c, float *maps) {
  const size_t map = (size_t)c->queries * c->keys;
  for (size_t e = 0; e < profile_scores_count(c); e++) {
    double sum = 0.0;
    for (size_t h = 0; h < c->heads; h++)
      sum += (double)maps[(e / map * c->heads + h) * map + e % map];
    maps[e] = (float)(sum / c->heads);
  }
}

static heed_status read(runner *r, heed_session *session, profile_found *found, heed_error *error) {
  const profile_case *c = r->c;
  const size_t count = profile_output_count(c);
  float *raw = heed_alloc(r->context, count, sizeof *raw);
  found->output = heed_alloc(r->context, count, sizeof *found->output);
  found->scores = heed_alloc(r->context, profile_pairs(c), sizeof *found->scores);
  heed_status status = raw && found->output && found->scores
                           ? heed_session_read(session, r->output, 0, count, raw, error)
                           : heed_fail_memory(error, "check: results", count * sizeof *raw);
  if (status == HEED_OK) read_output(c, raw, found->output);
  heed_free(r->context, raw);
  if (status == HEED_OK && r->scores.id)
    status = heed_session_read(session, r->scores, 0, profile_pairs(c), found->scores, error);
  if (status == HEED_OK && profile_is(c, OUTPUT, OUTPUT_AVERAGED)) average(c, found->scores);
  return status;
}

static heed_status run(runner *r, heed_plan *plan, profile_found *found, heed_error *error) {
  heed_session *session;
  HEED_TRY(heed_session_create(plan, NULL, &session, error));
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < r->input_count && status == HEED_OK; i++)
    status = heed_session_write(session, r->inputs[i].value, r->inputs[i].data, r->inputs[i].bytes,
                                error);
  if (status == HEED_OK) status = heed_session_run(session, NULL, error);
  if (status == HEED_OK) status = read(r, session, found, error);
  heed_session_destroy(session);
  return status;
}

static heed_status plan_and_run(runner *r, heed_backend *backend, heed_attention_mode mode,
                                profile_found *found, heed_error *error) {
  if (!r->whole) return heed_fail_memory(error, "check: inputs", sizeof(float));
  HEED_TRY(heed_graph_status(r->graph, error));
  const heed_value wanted[] = {r->output, r->scores};
  const heed_plan_desc desc = {sizeof desc, wanted, r->scores.id ? 2 : 1, mode};
  heed_plan *plan;
  HEED_TRY(heed_plan_create(r->graph, backend, &desc, &plan, error));
  const heed_status status = run(r, plan, found, error);
  heed_plan_destroy(plan);
  return status;
}

heed_status profile_run(heed_context *context, heed_backend *backend, heed_attention_mode mode,
                        const profile_case *c, profile_found *found, heed_error *error) {
  runner r = {.context = context, .c = c, .whole = true};
  *found = (profile_found){NULL, NULL};
  heed_status status = heed_graph_create(context, &r.graph, error);
  if (status == HEED_OK) {
    define(&r);
    status = plan_and_run(&r, backend, mode, found, error);
  }
  heed_graph_destroy(r.graph);
  for (uint32_t i = 0; i < r.input_count; i++) heed_free(context, r.inputs[i].data);
  return status;
}

void profile_found_free(heed_context *context, profile_found *found) {
  heed_free(context, found->output);
  heed_free(context, found->scores);
}
