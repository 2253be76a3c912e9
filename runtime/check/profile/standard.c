/* What the standards' profiles have in common. */
#include "check/profile/standard.h"

bool standard_is_possible(const uint8_t *level, uint8_t shape) {
  const bool mask = level[MASK] != MASK_NONE,
             rows = level[MASK_SHAPE] != SHAPE_KEYS && level[MASK_SHAPE] != SHAPE_PADDING,
             items = level[MASK_SHAPE] >= SHAPE_BATCH;
  const uint8_t content = level[CONTENT];
  const bool of_mask = content == CONTENT_MINUS_INFINITY || content == CONTENT_LOWEST ||
                       content == CONTENT_NO_WEIGHT;
  if (!mask && (level[MASK_SHAPE] != shape || level[MASK_SHORT] || level[HIDDEN])) return false;
  if (of_mask && level[MASK] != MASK_FLOAT) return false;
  if ((level[HIDDEN] == HIDDEN_ROWS && !rows) || (level[HIDDEN] == HIDDEN_ITEM && !items))
    return false;
  if (level[LAYOUT] == LAYOUT_ONE_HEAD && level[HEADS] != HEADS_ONE) return false;
  const bool past_half = content == CONTENT_LOWEST || content == CONTENT_OVERFLOW;
  return !(past_half && (level[PRECISION] == PRECISION_F16 || level[SOFTMAX] == SOFTMAX_F16));
}

double standard_entry(const profile_case *c, size_t b, size_t h, size_t i, size_t j, double past) {
  const size_t keys = c->mask_dim[3], rows = c->mask_dim[2], heads = c->mask_dim[1];
  if (keys > 1 && j >= keys) return past;
  size_t at = keys > 1 ? j : 0;
  if (rows > 1) at += i * keys;
  if (heads > 1) at += h * rows * keys;
  if (c->mask_dim[0] > 1) at += b * heads * rows * keys;
  return (double)c->mask[at];
}

void standard_fill(const profile_case *c, standard_pair add, double *matrix) {
  for (size_t b = 0; b < c->batch; b++)
    for (size_t h = 0; h < c->heads; h++)
      for (size_t i = 0; i < c->queries; i++)
        for (size_t j = 0; j < c->keys; j++) *matrix++ = add(c, b, h, i, j);
}

bool standard_asks_boolean(const profile_case *c) {
  return profile_is(c, MASK, MASK_BOOL) ||
         (c->level[PADDING] && !profile_is(c, PADDING, PADDING_FLOAT));
}
bool standard_asks_several(const profile_case *c) {
  return (c->mask != NULL) + (c->level[PADDING] != 0) + (c->level[CAUSAL] != 0) +
             (c->level[WINDOW] != 0) + (c->lengths != NULL) + profile_is(c, PADDING, PADDING_ALL) >
         1;
}
bool standard_asks_float(const profile_case *c) {
  return profile_is(c, MASK, MASK_FLOAT) || profile_is(c, PADDING, PADDING_FLOAT);
}
bool standard_asks_lowest(const profile_case *c) { return profile_is(c, CONTENT, CONTENT_LOWEST); }
bool standard_asks_overflow(const profile_case *c) {
  return profile_is(c, CONTENT, CONTENT_OVERFLOW);
}
bool standard_asks_causal(const profile_case *c) {
  return c->level[CAUSAL] && c->queries != c->keys;
}
bool standard_asks_window(const profile_case *c) { return c->level[WINDOW] != WINDOW_NONE; }
bool standard_asks_empty(const profile_case *c) {
  return c->level[HIDDEN] || c->lengths || c->padding_query;
}
bool standard_asks_groups(const profile_case *c) { return c->heads != c->key_heads; }
bool standard_asks_softcap(const profile_case *c) { return c->level[SOFTCAP] != SOFTCAP_NONE; }
bool standard_asks_scale(const profile_case *c) { return c->level[SCALE] != SCALE_DEFAULT; }
bool standard_asks_precision(const profile_case *c) {
  return c->level[PRECISION] || c->level[SOFTMAX];
}
bool standard_asks_weights(const profile_case *c) { return c->level[OUTPUT] != OUTPUT_NONE; }
bool standard_asks_depth(const profile_case *c) { return c->depth != c->value_depth; }
bool standard_asks_hidden_nan(const profile_case *c) {
  return profile_is(c, CONTENT, CONTENT_NAN_LAST);
}
bool standard_asks_seen_nan(const profile_case *c) {
  return profile_is(c, CONTENT, CONTENT_NAN_FIRST) || profile_is(c, CONTENT, CONTENT_NO_WEIGHT);
}
bool standard_asks_shape(const profile_case *c) {
  return c->mask && (c->level[MASK_SHAPE] != SHAPE_WHOLE || c->level[MASK_SHORT]);
}
bool standard_asks_cache(const profile_case *c) { return c->level[CACHE] != CACHE_NONE; }
