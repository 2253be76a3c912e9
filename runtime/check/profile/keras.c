/* The profile of Keras 3: the attention inside keras.layers.MultiHeadAttention, and of
 * GroupQueryAttention where heads are grouped. Sentences: the documentation of the call arguments
 * of both layers (query_mask, value_mask, key_mask, attention_mask, use_causal_mask,
 * return_attention_scores) and of sliding_window; rows with nothing allowed as docs/attention.md
 * has them. */
#include "check/profile/standard.h"

/* Grouped heads have no window; finite fills in the place of -Inf make a logit of -Inf another
 * thing than a hidden key, so that none overflows here. */
static bool is_possible(const uint8_t *level) {
  return standard_is_possible(level, SHAPE_BATCH) &&
         !(level[WINDOW] && level[HEADS] == HEADS_GROUPED);
}

static const profile_rules rules = {.function = "MultiHeadAttention",
                                    .causal = HEED_CAUSAL_TOP_LEFT,
                                    .window_less = 1,
                                    .empty_row = HEED_EMPTY_ROW_MEAN,
                                    .empty_row_with_weights = HEED_EMPTY_ROW_ZERO},
                           grouped = {.function = "GroupQueryAttention",
                                      .causal = HEED_CAUSAL_TOP_LEFT,
                                      .empty_row = HEED_EMPTY_ROW_MEAN,
                                      .empty_row_with_weights = HEED_EMPTY_ROW_ZERO};

static const profile_rules *find_rules(const profile_case *c) {
  return profile_is(c, HEADS, HEADS_GROUPED) ? &grouped : &rules;
}

/* All masks that are there are merged by AND, each of them true where a pair takes part. */
static double add(const profile_case *c, size_t b, size_t h, size_t i, size_t j) {
  bool may = true;
  if (c->padding_query) may = may && c->padding_query[b * c->queries + i] != 0.0f;
  if (c->padding_value) may = may && c->padding_value[b * c->keys + j] != 0.0f;
  if (c->padding_key) may = may && c->padding_key[b * c->keys + j] != 0.0f;
  /* use_causal_mask: a lower triangle from the first query on */
  if (c->level[CAUSAL]) may = may && j <= i;
  /* sliding_window w: |i - j| < w */
  if (c->level[WINDOW]) may = may && fabs((double)i - (double)j) < c->left;
  if (c->mask) may = may && standard_entry(c, b, h, i, j, 0.0) != 0.0;
  return may ? 0.0 : HIDES;
}

static void add_masks(const profile_case *c, double *matrix) { standard_fill(c, add, matrix); }

static profile_empty empty(const profile_case *c) {
  return c->level[OUTPUT] == OUTPUT_NONE ? EMPTY_MEAN : EMPTY_ZERO;
}

static const profile_question questions[] = {
    {QUESTION_BOOLEAN, standard_asks_boolean, "the same", NULL},
    {QUESTION_SEVERAL, standard_asks_several,
     "the same: query, value, key, causal, window, user mask", NULL},
    {QUESTION_SHAPE, standard_asks_shape, "[B, Tq, Tk] stands for every head: [B, 1, Tq, Tk]",
     NULL},
    {QUESTION_CAUSAL, standard_asks_causal, "`top_left`", NULL},
    {QUESTION_WINDOW, standard_asks_window, "its w is left = right = w − 1", NULL},
    {QUESTION_EMPTY, standard_asks_empty, "`zero` where scores are asked for, `mean` where not",
     NULL},
    {QUESTION_GROUPS, standard_asks_groups, "the same, in GroupQueryAttention", NULL},
    {QUESTION_PRECISION, standard_asks_precision, "F32", NULL},
    {QUESTION_WEIGHTS, standard_asks_weights, "`weights`, per head", NULL},
    {QUESTION_DEPTH, standard_asks_depth, "yes (`value_dim`)", NULL},
    {QUESTION_HIDDEN_NAN, standard_asks_hidden_nan, "not promised", REASON_HIDDEN_NAN},
    {QUESTION_SEEN_NAN, standard_asks_seen_nan, "not promised", REASON_HIDDEN_NAN},
    {NULL, NULL, NULL, NULL}};

const heed_profile heed_profile_keras = {
    .name = "keras",
    .standard = "Keras 3.15, MultiHeadAttention and GroupQueryAttention",
    .cases = 80,
    .levels = {[LAYOUT] = ONE(LAYOUT_TOKENS),
               [HEADS] = ONE(HEADS_ONE) | ONE(HEADS_EQUAL) | ONE(HEADS_GROUPED),
               [LENGTHS] = UP_TO(LENGTHS_ONE),
               [CACHE] = ONE(CACHE_NONE),
               [MASK] = UP_TO(MASK_BOOL),
               [MASK_SHAPE] = ONE(SHAPE_BATCH) | ONE(SHAPE_WHOLE),
               [MASK_SHORT] = ONE(SHORT_NO),
               [PADDING] = UP_TO(PADDING_ALL),
               [CAUSAL] = UP_TO(CAUSAL_YES),
               [WINDOW] = ONE(WINDOW_NONE) | ONE(WINDOW_BOTH) | ONE(WINDOW_SELF),
               [SCALE] = ONE(SCALE_DEFAULT),
               [SOFTCAP] = ONE(SOFTCAP_NONE),
               [OUTPUT] = ONE(OUTPUT_NONE) | ONE(OUTPUT_WEIGHTS),
               [PRECISION] = UP_TO(PRECISION_BF16),
               [SOFTMAX] = ONE(SOFTMAX_DEFAULT),
               [HIDDEN] = UP_TO(HIDDEN_ITEM),
               [CONTENT] = ONE(CONTENT_PLAIN) | ONE(CONTENT_NAN_LAST) | ONE(CONTENT_NAN_FIRST),
               [VALUE_DEPTH] = UP_TO(1)},
    .is_possible = is_possible,
    .rules = find_rules,
    .add_masks = add_masks,
    .empty = empty,
    .questions = questions};
