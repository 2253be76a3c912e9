/* Sizes and tensors of a profile's case from its levels. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/tensor.h"
#include "check/profile/profile.h"
#include "check/profile/random.h"

#define BF16_LOWEST (-3.3895313892515355e38f)

static const struct {
  const char *name, *level[8];
} factors[PROFILE_FACTORS] = {
    [LAYOUT] = {"layout",
                {"[B, H, T, D]", "[B, T, H D]", "[B, T, H, D]", "[B, T, D]", "module",
                 "unbatched"}},
    [HEADS] = {"heads", {"1 of 1", "3 of 3", "4 of 2", "4 of 1"}},
    [LENGTHS] = {"Tq, new Tk", {"13, 37", "9, 9", "21, 10", "1, 6"}},
    [CACHE] = {"cache", {"none", "past", "lengths"}},
    [MASK] = {"mask", {"none", "boolean", "float"}},
    [MASK_SHAPE] = {"of shape",
                    {"[Tk]", "[Tq, Tk]", "[H, Tq, Tk]", "[B, 1, Tq, Tk]", "[B, H, Tq, Tk]",
                     "[B, 1, 1, Tk]"}},
    [MASK_SHORT] = {"short", {"no", "yes"}},
    [PADDING] = {"padding", {"none", "query", "key", "value", "all", "float"}},
    [CAUSAL] = {"causal", {"no", "yes"}},
    [WINDOW] = {"window", {"none", "left", "right", "both", "self"}},
    [SCALE] = {"scale", {"default", "given"}},
    [SOFTCAP] = {"softcap", {"none", "given"}},
    [OUTPUT] = {"scores", {"none", "raw", "capped", "biased", "weights", "averaged"}},
    [PRECISION] = {"precision", {"F32", "F16", "BF16"}},
    [SOFTMAX] = {"softmax", {"default", "F32", "F16", "F64"}},
    [HIDDEN] = {"hidden", {"none", "rows", "item"}},
    [CONTENT] = {"content",
                 {"plain", "NaN last", "NaN first", "-Inf", "finfo.min", "overflow", "no weight"}},
    [VALUE_DEPTH] = {"Dv", {"D", "other"}},
};

void profile_case_describe(const profile_case *c, char *to, size_t size) {
  size_t used = (size_t)snprintf(to, size, "case %u: %s", c->number, c->rules->function);
  for (uint32_t f = 0; f < PROFILE_FACTORS && used < size; f++) {
    if (f >= CACHE && c->level[f] == 0) continue;
    used += (size_t)snprintf(to + used, size - used, ", %s %s", factors[f].name,
                             factors[f].level[c->level[f]]);
  }
}

static void take_sizes(profile_case *c) {
  static const struct { uint8_t heads, key_heads; } heads[] = {{1, 1}, {3, 3}, {4, 2}, {4, 1}};
  static const struct { uint8_t queries, keys; } lengths[] = {{13, 37}, {9, 9}, {21, 10}, {1, 6}};
  const uint8_t *l = c->level;
  c->batch = l[LAYOUT] == LAYOUT_ALONE ? 1 : 2;
  c->heads = heads[l[HEADS]].heads;
  c->key_heads = heads[l[HEADS]].key_heads;
  c->queries = lengths[l[LENGTHS]].queries;
  c->past = l[CACHE] == CACHE_PAST ? 5 : 0;
  c->keys = c->past + lengths[l[LENGTHS]].keys;
  c->depth = 8;
  c->value_depth = l[VALUE_DEPTH] ? 5 : 8;
  c->scale = l[SCALE] ? 0.37f : 0.0f;
  c->softcap = l[SOFTCAP] ? 1.5f : 0.0f;
}

static void take_window(profile_case *c) {
  const int32_t less = c->rules->window_less;
  c->left = c->right = -1;
  if (profile_is(c, WINDOW, WINDOW_LEFT) || profile_is(c, WINDOW, WINDOW_BOTH)) c->left = 2 + less;
  if (profile_is(c, WINDOW, WINDOW_RIGHT)) c->right = 1;
  if (profile_is(c, WINDOW, WINDOW_BOTH)) c->right = less ? c->left : 1;
  if (profile_is(c, WINDOW, WINDOW_SELF)) c->left = c->right = less;
}

static void take_mask_shape(profile_case *c) {
  static const uint8_t axes[][4] = {{0, 0, 0, 1}, {0, 0, 1, 1}, {0, 1, 1, 1},
                                    {1, 0, 1, 1}, {1, 1, 1, 1}, {1, 0, 0, 1}};
  static const uint8_t ranks[] = {1, 2, 3, 4, 4, 4};
  const uint32_t whole[4] = {c->batch, c->heads, c->queries,
                             c->keys - (profile_is(c, MASK_SHORT, SHORT_YES) ? 2 : 0)};
  for (int a = 0; a < 4; a++) c->mask_dim[a] = axes[c->level[MASK_SHAPE]][a] ? whole[a] : 1;
  c->mask_rank = ranks[c->level[MASK_SHAPE]];
}

static float rounded(const profile_case *c, float value) {
  if (profile_is(c, PRECISION, PRECISION_F16)) return heed_f16_to_f32(heed_f32_to_f16(value));
  if (profile_is(c, PRECISION, PRECISION_BF16)) return heed_bf16_to_f32(heed_f32_to_bf16(value));
  return value;
}

static float *make_numbers(heed_context *context, const profile_case *c, profile_random *random,
                           size_t count) {
  float *numbers = heed_alloc_raw(context, count, sizeof *numbers);
  for (size_t i = 0; numbers && i < count; i++) numbers[i] = rounded(c, profile_number(random));
  return numbers;
}

/* Whether the case hides all keys of a query on purpose. */
static bool is_hidden_row(const profile_case *c, size_t batch, size_t query) {
  return (profile_is(c, HIDDEN, HIDDEN_ROWS) && query % 3 == 1) ||
         (profile_is(c, HIDDEN, HIDDEN_ITEM) && batch == 0);
}

/* An entry of the mask: the standard's boolean, or the number that is added. */
static float mask_entry(const profile_case *c, profile_random *random, size_t batch, size_t query,
                        size_t key) {
  const bool some = profile_below(random, 10) < 3, hidden = is_hidden_row(c, batch, query);
  const float number = rounded(c, profile_number(random));
  if (profile_is(c, MASK, MASK_BOOL))
    return (hidden || (some && key)) == c->rules->true_hides ? 1.0f : 0.0f;
  if (hidden || (profile_is(c, CONTENT, CONTENT_MINUS_INFINITY) && some && key)) return -INFINITY;
  if (profile_is(c, CONTENT, CONTENT_LOWEST) && (some || query % 4 == 2))
    return profile_is(c, PRECISION, PRECISION_BF16) ? BF16_LOWEST : -FLT_MAX;
  return profile_is(c, CONTENT, CONTENT_NO_WEIGHT) && key == 0 ? -10000.0f : number;
}

static bool make_mask(heed_context *context, profile_case *c, profile_random *random) {
  if (profile_is(c, MASK, MASK_NONE)) return true;
  take_mask_shape(c);
  const uint32_t *d = c->mask_dim;
  c->mask = heed_alloc_raw(context, (size_t)d[0] * d[1] * d[2] * d[3], sizeof *c->mask);
  size_t at = 0;
  for (size_t b = 0; c->mask && b < d[0]; b++)
    for (size_t h = 0; h < d[1]; h++)
      for (size_t i = 0; i < d[2]; i++)
        for (size_t j = 0; j < d[3]; j++) c->mask[at++] = mask_entry(c, random, b, i, j);
  return c->mask != NULL;
}

/* Booleans in the standard's sense, or numbers; the first token is always there. */
static bool make_padding(heed_context *context, profile_case *c, profile_random *random,
                         uint32_t tokens, bool wanted, float **to) {
  if (!wanted) return true;
  *to = heed_alloc_raw(context, (size_t)c->batch * tokens, sizeof **to);
  for (size_t e = 0; *to && e < (size_t)c->batch * tokens; e++) {
    const bool hidden = profile_below(random, 4) == 0 && e % tokens;
    (*to)[e] = profile_is(c, PADDING, PADDING_FLOAT) ? (hidden ? -INFINITY : profile_number(random))
               : hidden == c->rules->true_hides      ? 1.0f
                                                     : 0.0f;
  }
  return *to != NULL;
}

static bool make_paddings(heed_context *context, profile_case *c, profile_random *random) {
  const uint8_t level = c->level[PADDING];
  const bool all = level == PADDING_ALL;
  return make_padding(context, c, random, c->queries, all || level == PADDING_QUERY,
                      &c->padding_query) &&
         make_padding(context, c, random, c->keys,
                      all || level == PADDING_KEY || level == PADDING_FLOAT, &c->padding_key) &&
         make_padding(context, c, random, c->keys, all || level == PADDING_VALUE,
                      &c->padding_value);
}

/* NaN, and numbers whose products overflow. */
static void put_content(profile_case *c) {
  const size_t key_rows = (size_t)c->batch * c->key_heads * c->keys,
               query_rows = (size_t)c->batch * c->heads * c->queries;
  const bool overflows = profile_is(c, CONTENT, CONTENT_OVERFLOW);
  for (size_t r = 0; r < key_rows; r++) {
    const size_t j = r % c->keys;
    float *k = c->key + r * c->depth, *v = c->value + r * c->value_depth;
    if (profile_is(c, CONTENT, CONTENT_NAN_LAST) && j + 1 == c->keys) {
      k[0] = NAN;
      v[0] = NAN;
      v[c->value_depth - 1] = INFINITY;
    }
    if ((profile_is(c, CONTENT, CONTENT_NAN_FIRST) && r == 0) ||
        (profile_is(c, CONTENT, CONTENT_NO_WEIGHT) && j == 0))
      v[c->value_depth / 2] = NAN;
    if (overflows) k[0] = j % 3 == 1 ? rounded(c, -1e20f) : 0.0f;
  }
  for (size_t r = 0; overflows && r < query_rows; r++) {
    float *q = c->query + r * c->depth;
    if (r % 2) memset(q, 0, c->depth * sizeof *q);
    q[0] = r % 2 ? rounded(c, 1e20f) : 0.0f;
  }
}

static bool make_lengths(heed_context *context, profile_case *c) {
  if (!profile_is(c, CACHE, CACHE_LENGTHS)) return true;
  c->lengths = heed_alloc_raw(context, c->batch, sizeof *c->lengths);
  /* fewer keys than queries put the first queries before every key */
  for (uint32_t b = 0; c->lengths && b < c->batch; b++)
    c->lengths[b] = (int32_t)(b ? (c->queries + 1) / 2 : c->keys - 1);
  for (uint32_t b = 0; c->lengths && b < c->batch; b++)
    if (c->lengths[b] > (int32_t)c->keys) c->lengths[b] = (int32_t)c->keys;
  return c->lengths != NULL;
}

heed_status profile_case_make(heed_context *context, const heed_profile *profile, uint32_t number,
                              const uint8_t *level, profile_case *c, heed_error *error) {
  profile_random random = profile_random_from(profile->name);
  random.state += number;
  *c = (profile_case){.number = number};
  memcpy(c->level, level, sizeof c->level);
  c->rules = profile->rules(c);
  take_sizes(c);
  take_window(c);
  const size_t keys = (size_t)c->batch * c->key_heads * c->keys;
  c->query = make_numbers(context, c, &random, (size_t)c->batch * c->heads * c->queries * c->depth);
  c->key = make_numbers(context, c, &random, keys * c->depth);
  c->value = make_numbers(context, c, &random, keys * c->value_depth);
  if (!c->query || !c->key || !c->value || !make_mask(context, c, &random) ||
      !make_paddings(context, c, &random) || !make_lengths(context, c))
    return heed_fail_memory(error, "check: a case of a profile", keys * sizeof(float));
  put_content(c);
  return HEED_OK;
}

void profile_case_free(heed_context *context, profile_case *c) {
  heed_free(context, c->query);
  heed_free(context, c->key);
  heed_free(context, c->value);
  heed_free(context, c->mask);
  heed_free(context, c->padding_query);
  heed_free(context, c->padding_key);
  heed_free(context, c->padding_value);
  heed_free(context, c->lengths);
}
