/* What is changed in a model's attention, as the inputs of a graph that was built with `intervene`.
 * See heed.h. */
#include "explain/changes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"

struct heed_changes {
  heed_context *context;
  uint32_t layers, heads, tokens, width;
  bool *off;      /* [L, H] */
  float *gain;    /* [L, H] */
  float *mean;    /* [L, C] what stands in for heads that are off */
  float *rows;    /* [L, T, C]: the same where each token has its own; else NULL */
  uint8_t *seen;  /* [T] */
  uint8_t *pairs; /* [T, T], 1 = may attend */
};

void heed_changes_destroy(heed_changes *changes) {
  if (!changes) return;
  const heed_context *context = changes->context;
  heed_free(context, changes->off);
  heed_free(context, changes->gain);
  heed_free(context, changes->mean);
  heed_free(context, changes->rows);
  heed_free(context, changes->seen);
  heed_free(context, changes->pairs);
  heed_free(context, changes);
}

heed_status heed_changes_create(heed_context *context, const heed_model_info *info, uint32_t tokens,
                                heed_changes **changes, heed_error *error) {
  *changes = NULL;
  const uint32_t width = info->attention_width ? info->attention_width : info->width;
  if (!info->layers || !info->heads || !tokens || !width || width % info->heads)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "changes: empty attention (found %u layers, %u heads, %u tokens, width %u)",
                     info->layers, info->heads, tokens, width);
  size_t heads, square;
  heed_changes *made = heed_alloc(context, 1, sizeof *made);
  if (!made) return heed_fail_memory(error, "changes", sizeof *made);
  *made = (heed_changes){.context = context,
                         .layers = info->layers,
                         .heads = info->heads,
                         .tokens = tokens,
                         .width = width};
  if (heed_size_mul(info->layers, info->heads, &heads) && heed_size_mul(tokens, tokens, &square)) {
    made->off = heed_alloc(context, heads, sizeof *made->off);
    made->gain = heed_alloc_raw(context, heads, sizeof *made->gain);
    made->mean = heed_alloc(context, info->layers, width * sizeof *made->mean);
    made->seen = heed_alloc_raw(context, tokens, 1);
    made->pairs = heed_alloc_raw(context, square, 1);
  }
  if (!made->off || !made->gain || !made->mean || !made->seen || !made->pairs) {
    heed_changes_destroy(made);
    return heed_fail_memory(error, "changes", (size_t)tokens * tokens);
  }
  for (size_t i = 0; i < heads; i++) made->gain[i] = 1.0f;
  memset(made->seen, 1, tokens);
  memset(made->pairs, 1, square);
  *changes = made;
  return HEED_OK;
}

/* -------------------------------------------------------------------------------- one at a time */

static heed_status check_head(const heed_changes *changes, uint32_t layer, uint32_t head,
                              heed_error *error) {
  if (layer < changes->layers && head < changes->heads) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "changes: head out of range (found %u.%u, expected below %u.%u)", layer, head,
                   changes->layers, changes->heads);
}

static heed_status check_token(const heed_changes *changes, uint32_t token, heed_error *error) {
  if (token < changes->tokens) return HEED_OK;
  return heed_fail(error, HEED_INVALID_ARGUMENT,
                   "changes: token out of range (found %u, expected less than %u)", token,
                   changes->tokens);
}

heed_status heed_changes_ablate(heed_changes *changes, uint32_t layer, uint32_t head,
                                heed_error *error) {
  HEED_TRY(check_head(changes, layer, head, error));
  changes->off[(size_t)layer * changes->heads + head] = true;
  return HEED_OK;
}

heed_status heed_changes_gain(heed_changes *changes, uint32_t layer, uint32_t head, float gain,
                              heed_error *error) {
  HEED_TRY(check_head(changes, layer, head, error));
  if (!isfinite(gain))
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "changes: no gain (found %g, expected a finite number)", (double)gain);
  changes->gain[(size_t)layer * changes->heads + head] = gain;
  return HEED_OK;
}

heed_status heed_changes_drop(heed_changes *changes, uint32_t token, heed_error *error) {
  HEED_TRY(check_token(changes, token, error));
  changes->seen[token] = 0;
  return HEED_OK;
}

heed_status heed_changes_cut(heed_changes *changes, uint32_t query, uint32_t key,
                             heed_error *error) {
  HEED_TRY(check_token(changes, query, error));
  HEED_TRY(check_token(changes, key, error));
  changes->pairs[(size_t)query * changes->tokens + key] = 0;
  return HEED_OK;
}

heed_status heed_changes_replace(heed_changes *changes, uint32_t layer, const float *output,
                                 heed_error *error) {
  HEED_TRY(check_head(changes, layer, 0, error));
  for (uint32_t c = 0; c < changes->width; c++) {
    double sum = 0.0;
    for (uint32_t t = 0; t < changes->tokens; t++)
      sum += (double)output[(size_t)t * changes->width + c] / changes->tokens;
    changes->mean[(size_t)layer * changes->width + c] = (float)sum;
  }
  return HEED_OK;
}

heed_status heed_changes_resample(heed_changes *changes, uint32_t layer, const float *output,
                                  heed_error *error) {
  HEED_TRY(check_head(changes, layer, 0, error));
  const size_t width = changes->width, count = changes->tokens * width;
  if (!changes->rows) {
    changes->rows = heed_alloc_raw(changes->context, changes->layers, count * sizeof(float));
    if (!changes->rows)
      return heed_fail_memory(error, "changes", changes->layers * count * sizeof(float));
    for (size_t i = 0; i < (size_t)changes->layers * changes->tokens; i++)
      memcpy(changes->rows + i * width, changes->mean + i / changes->tokens * width,
             width * sizeof(float));
  }
  memcpy(changes->rows + layer * count, output, count * sizeof *output);
  return HEED_OK;
}

bool heed_changes_allow(const heed_changes *changes, uint32_t layer, uint32_t head, uint32_t query,
                        uint32_t key) {
  return changes->seen[key] && !changes->off[(size_t)layer * changes->heads + head] &&
         changes->pairs[(size_t)query * changes->tokens + key];
}

/* ------------------------------------------------------------------------------------ inputs */

/* token_mask, then a layer's three. */
enum { MASK, OFFSET, GAIN, PER_LAYER };

uint32_t heed_changes_input_count(const heed_changes *changes) {
  return 1 + PER_LAYER * changes->layers;
}

/* Rows of an offset. */
static size_t offset_rows(const heed_changes *changes) {
  return changes->rows ? changes->tokens : 1;
}

size_t heed_changes_room(const heed_changes *changes) {
  const size_t masks = (size_t)changes->heads * changes->tokens * changes->tokens,
               offsets = offset_rows(changes) * changes->width * sizeof *changes->mean;
  return masks > offsets ? masks : offsets;
}

static void fill_mask(const heed_changes *c, uint32_t layer, unsigned char *to) {
  const size_t square = (size_t)c->tokens * c->tokens;
  for (uint32_t h = 0; h < c->heads; h++, to += square)
    if (c->off[(size_t)layer * c->heads + h])
      memset(to, 0, square);
    else
      memcpy(to, c->pairs, square);
}

/* Zeros for the heads that are there. */
static void fill_offset(const heed_changes *c, uint32_t layer, unsigned char *to) {
  const size_t rows = offset_rows(c), part = c->width / c->heads * sizeof *c->mean;
  const float *from = (c->rows ? c->rows : c->mean) + layer * rows * c->width;
  memcpy(to, from, rows * c->width * sizeof *from);
  for (size_t i = 0; i < rows * c->heads; i++)
    if (!c->off[(size_t)layer * c->heads + i % c->heads]) memset(to + i * part, 0, part);
}

void heed_changes_get_input(const heed_changes *changes, uint32_t index, heed_changes_input *input,
                            unsigned char *block) {
  static const char *const names[PER_LAYER] = {"mask", "offset", "gain"};
  const heed_changes *c = changes;
  HEED_ASSERT(index < heed_changes_input_count(changes));
  if (index == 0) {
    *input = (heed_changes_input){"token_mask", HEED_U8, c->tokens};
    memcpy(block, c->seen, c->tokens);
    return;
  }
  const uint32_t layer = (index - 1) / PER_LAYER, what = (index - 1) % PER_LAYER;
  const size_t sizes[PER_LAYER] = {(size_t)c->heads * c->tokens * c->tokens,
                                   offset_rows(c) * c->width * sizeof *c->mean,
                                   c->heads * sizeof *c->gain};
  snprintf(input->name, sizeof input->name, "layer.%u.attention.%s", layer, names[what]);
  input->dtype = what == MASK ? HEED_U8 : HEED_F32;
  input->bytes = sizes[what];
  if (what == MASK) fill_mask(c, layer, block);
  if (what == OFFSET) fill_offset(c, layer, block);
  if (what == GAIN) memcpy(block, c->gain + (size_t)layer * c->heads, input->bytes);
}

/* Pictures of the session's batch: token_mask has a row for each. */
static heed_status find_batch(const heed_graph *graph, size_t *batch, heed_error *error) {
  heed_value_info info;
  const heed_value mask = heed_graph_find(graph, "token_mask");
  if (!mask.id)
    return heed_fail(error, HEED_INVALID_ARGUMENT,
                     "changes: the session's model takes none (found no \"token_mask\", expected a "
                     "model built with intervene)");
  HEED_TRY(heed_graph_value_info(graph, mask, &info));
  *batch = info.shape.dim[0];
  return HEED_OK;
}

heed_status heed_changes_write(const heed_changes *changes, heed_session *session,
                               heed_error *error) {
  const heed_graph *graph = heed_session_graph(session);
  const size_t tokens = changes->tokens;
  size_t batch = 1, room = heed_changes_room(changes);
  HEED_TRY(find_batch(graph, &batch, error));
  if (room < batch * tokens) room = batch * tokens;
  unsigned char *block = heed_alloc_raw(changes->context, room, 1);
  if (!block) return heed_fail_memory(error, "changes: mask", room);
  heed_status status = HEED_OK;
  for (uint32_t i = 0; i < heed_changes_input_count(changes) && status == HEED_OK; i++) {
    heed_changes_input input;
    heed_changes_get_input(changes, i, &input, block);
    for (size_t b = 1; i == 0 && b < batch; b++) memcpy(block + b * tokens, block, tokens);
    status = heed_session_write(session, heed_graph_find(graph, input.name), block,
                                i == 0 ? batch * tokens : input.bytes, error);
  }
  heed_free(changes->context, block);
  return status;
}
