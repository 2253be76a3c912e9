/* The profile of ONNX: ai.onnx Attention as of ONNX 1.23 (opsets 23 to 27 and the windows of the
 * next). Sentences: docs/Operators.md, Attention: its summary, attributes and inputs; onnx tag
 * v1.22.0 and the changes up to 1.23 that docs/attention.md names. */
#include "check/profile/standard.h"

static bool is_possible(const uint8_t *level) { return standard_is_possible(level, SHAPE_ROWS); }

static const profile_rules rules = {.function = "Attention",
                                    .causal = HEED_CAUSAL_TOP_LEFT,
                                    .past_is_offset = true,
                                    .lengths_are_offsets = true};

static const profile_rules *find_rules(const profile_case *c) {
  (void)c;
  return &rules;
}

/* Where query i stands among the keys. past_key: after as many as it has (since 1.20).
 * nonpad_kv_seqlen, which never comes with a past: its item's length less the queries (1.23). */
static double place(const profile_case *c, size_t b, size_t i) {
  if (c->lengths) return (double)i + c->lengths[b] - c->queries;
  return (double)i + c->past;
}

static double add(const profile_case *c, size_t b, size_t h, size_t i, size_t j) {
  const double at = place(c, b, i), key = (double)j;
  double sum = 0.0;
  /* attn_mask: false hides, a number is added; a last axis that is too short hides what it lacks */
  if (c->mask && profile_is(c, MASK, MASK_BOOL) && standard_entry(c, b, h, i, j, 0.0) == 0.0)
    return HIDES;
  if (c->mask && profile_is(c, MASK, MASK_FLOAT)) sum = standard_entry(c, b, h, i, j, HIDES);
  /* is_causal */
  if (c->level[CAUSAL] && key > at) return HIDES;
  /* left_window_size, right_window_size; -1 is open */
  if (c->left >= 0 && key < at - c->left) return HIDES;
  if (c->right >= 0 && key > at + c->right) return HIDES;
  /* nonpad_kv_seqlen: what comes after is padding */
  if (c->lengths && key >= c->lengths[b]) return HIDES;
  return sum;
}

static void add_masks(const profile_case *c, double *matrix) { standard_fill(c, add, matrix); }

static profile_empty empty(const profile_case *c) {
  (void)c;
  return EMPTY_ZERO;
}

static const profile_question questions[] = {
    {QUESTION_BOOLEAN, standard_asks_boolean, "the same", NULL},
    {QUESTION_SEVERAL, standard_asks_several,
     "mask and causal ANDed; padding as `nonpad_kv_seqlen`: a `key_padding` of ones and zeros",
     NULL},
    {QUESTION_SHAPE, standard_asks_shape,
     "axes aligned at the right; one that lacks the last keys hides them: the mask made whole",
     NULL},
    {QUESTION_FLOAT, standard_asks_float,
     "added, so that NaN + −Inf stays NaN; a row of −Inf throughout gives zeros", NULL},
    {QUESTION_LOWEST, standard_asks_lowest, "the same", NULL},
    {QUESTION_OVERFLOW, standard_asks_overflow,
     "weight 0, its value takes part; a row of −Inf throughout has zeros for weights",
     REASON_OVERFLOW},
    {QUESTION_CAUSAL, standard_asks_causal,
     "j ≤ i + offset. Without a cache the offset is 0: `top_left`. With P past keys it is P: "
     "`causal_offset` = P (up to 1.19 it was 0). With `nonpad_kv_seqlen` (opset 24) it is the "
     "length of the batch's item − Tq: `causal_offsets`, beside a `key_padding` of that length",
     NULL},
    {QUESTION_CACHE, standard_asks_cache,
     "`past_key` and `past_value` in front: `concat`; or `nonpad_kv_seqlen`", NULL},
    {QUESTION_WINDOW, standard_asks_window, "the same", NULL},
    {QUESTION_EMPTY, standard_asks_empty, "`zero`; up to 1.22 `nan`", NULL},
    {QUESTION_GROUPS, standard_asks_groups,
     "the same since 1.20 (before: h mod Hk, permute the heads)", NULL},
    {QUESTION_SOFTCAP, standard_asks_softcap,
     "the same since 1.22 (before: after the mask, which leaks)", NULL},
    {QUESTION_SCALE, standard_asks_scale, "√scale on q and on k: the same up to rounding", NULL},
    {QUESTION_PRECISION, standard_asks_precision, "`softmax_precision` 1", NULL},
    {QUESTION_WEIGHTS, standard_asks_weights, "modes 3 and 2 of `qk_matmul_output_mode`", NULL},
    {QUESTION_DEPTH, standard_asks_depth, "yes", NULL},
    {QUESTION_HIDDEN_NAN, standard_asks_hidden_nan,
     "leaks from masked keys and values: every mask is −Inf added, and 0 · NaN = NaN",
     REASON_HIDDEN_NAN},
    {QUESTION_SEEN_NAN, standard_asks_seen_nan, "the same: a matrix product", REASON_HIDDEN_NAN},
    {NULL, NULL, NULL, NULL}};

const heed_profile heed_profile_onnx = {
    .name = "onnx",
    .standard = "ONNX 1.23, ai.onnx Attention",
    .cases = 96,
    .levels = {[LAYOUT] = ONE(LAYOUT_HEADS) | ONE(LAYOUT_MERGED),
               [HEADS] = UP_TO(HEADS_ONE_KEY),
               [LENGTHS] = UP_TO(LENGTHS_ONE),
               [CACHE] = UP_TO(CACHE_LENGTHS),
               [MASK] = UP_TO(MASK_FLOAT),
               [MASK_SHAPE] = UP_TO(SHAPE_PADDING),
               [MASK_SHORT] = UP_TO(SHORT_YES),
               [PADDING] = ONE(PADDING_NONE),
               [CAUSAL] = UP_TO(CAUSAL_YES),
               [WINDOW] = UP_TO(WINDOW_SELF),
               [SCALE] = UP_TO(SCALE_GIVEN),
               [SOFTCAP] = UP_TO(SOFTCAP_GIVEN),
               [OUTPUT] = UP_TO(OUTPUT_WEIGHTS),
               [PRECISION] = UP_TO(PRECISION_BF16),
               [SOFTMAX] = UP_TO(SOFTMAX_F64),
               [HIDDEN] = UP_TO(HIDDEN_ITEM),
               [CONTENT] = UP_TO(CONTENT_NO_WEIGHT),
               [VALUE_DEPTH] = UP_TO(1)},
    .is_possible = is_possible,
    .rules = find_rules,
    .add_masks = add_masks,
    .empty = empty,
    .hidden_rows_first = true,
    .questions = questions};
