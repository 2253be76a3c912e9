/* The profile of PyTorch 2.5 and later: torch.nn.functional.scaled_dot_product_attention, and the
 * attention inside torch.nn.MultiheadAttention. Sentences: the documentation of both (parameters
 * attn_mask, is_causal, scale, enable_gqa; attn_mask, key_padding_mask, need_weights,
 * average_attn_weights), and the threads that docs/attention.md names. */
#include "check/profile/standard.h"

static bool is_module(const uint8_t *level) {
  return level[LAYOUT] == LAYOUT_MODULE || level[LAYOUT] == LAYOUT_ALONE;
}

static bool is_possible_module(const uint8_t *level) {
  const bool shape = level[MASK_SHAPE] == SHAPE_ROWS || level[MASK_SHAPE] == SHAPE_WHOLE;
  /* a mask and a padding have one type */
  const bool alike = level[MASK] == MASK_NONE || level[PADDING] == PADDING_NONE ||
                     (level[MASK] == MASK_FLOAT) == (level[PADDING] == PADDING_FLOAT);
  return (level[HEADS] == HEADS_ONE || level[HEADS] == HEADS_EQUAL) && shape && alike &&
         !level[SCALE] && !level[CAUSAL] && !level[VALUE_DEPTH];
}

/* A mask and is_causal are not given together. */
static bool is_possible(const uint8_t *level) {
  if (!standard_is_possible(level, SHAPE_ROWS)) return false;
  if (is_module(level)) return is_possible_module(level);
  return !level[PADDING] && !level[OUTPUT] && !(level[CAUSAL] && level[MASK]);
}

static const profile_rules sdpa = {.function = "scaled_dot_product_attention",
                                   .causal = HEED_CAUSAL_TOP_LEFT},
                           module = {.function = "MultiheadAttention",
                                     .true_hides = true,
                                     .empty_row_with_weights = HEED_EMPTY_ROW_NAN};

static const profile_rules *find_rules(const profile_case *c) {
  return is_module(c->level) ? &module : &sdpa;
}

/* attn_mask: true takes part, a number is added. is_causal: the lower triangle from the first query
 * and the first key on. */
static double add_function(const profile_case *c, size_t b, size_t h, size_t i, size_t j) {
  if (profile_is(c, CAUSAL, CAUSAL_YES)) return j <= i ? 0.0 : HIDES;
  if (!c->mask) return 0.0;
  const double entry = standard_entry(c, b, h, i, j, HIDES);
  return profile_is(c, MASK, MASK_FLOAT) ? entry : entry != 0.0 ? 0.0 : HIDES;
}

/* attn_mask and key_padding_mask: true is left out, a number is added; both are merged. */
static double add_module(const profile_case *c, size_t b, size_t h, size_t i, size_t j) {
  double sum = 0.0;
  if (c->mask) {
    const double entry = standard_entry(c, b, h, i, j, HIDES);
    sum += profile_is(c, MASK, MASK_FLOAT) ? entry : entry != 0.0 ? HIDES : 0.0;
  }
  if (c->padding_key) {
    const double entry = (double)c->padding_key[b * c->keys + j];
    sum += profile_is(c, PADDING, PADDING_FLOAT) ? entry : entry != 0.0 ? HIDES : 0.0;
  }
  return sum;
}

static void add_masks(const profile_case *c, double *matrix) {
  standard_fill(c, is_module(c->level) ? add_module : add_function, matrix);
}

/* The module goes another way where weights are asked for. */
static profile_empty empty(const profile_case *c) {
  return c->level[OUTPUT] == OUTPUT_NONE ? EMPTY_ZERO : EMPTY_NAN;
}

static const profile_question questions[] = {
    {QUESTION_BOOLEAN, standard_asks_boolean,
     "the same; nn.MultiheadAttention: masked, give the inverse", NULL},
    {QUESTION_SEVERAL, standard_asks_several,
     "mask or causal, not both: as with only one of them; nn.MultiheadAttention: mask and padding "
     "ANDed",
     NULL},
    {QUESTION_SHAPE, standard_asks_shape, "axes aligned at the right: the mask made whole", NULL},
    {QUESTION_FLOAT, standard_asks_float, "added, likewise", NULL},
    {QUESTION_LOWEST, standard_asks_lowest, "the same", NULL},
    {QUESTION_OVERFLOW, standard_asks_overflow, "as ONNX", REASON_OVERFLOW},
    {QUESTION_CAUSAL, standard_asks_causal, "`top_left`", NULL},
    {QUESTION_EMPTY, standard_asks_empty,
     "`zero`; before 2.5 `nan`; nn.MultiheadAttention with weights asked for: `nan`", NULL},
    {QUESTION_GROUPS, standard_asks_groups, "the same, `enable_gqa`", NULL},
    {QUESTION_SCALE, standard_asks_scale, "the same", NULL},
    {QUESTION_PRECISION, standard_asks_precision, "math in F32", NULL},
    {QUESTION_WEIGHTS, standard_asks_weights,
     "none; nn.MultiheadAttention averages the heads unless told: `heed_map_head_mean`", NULL},
    {QUESTION_DEPTH, standard_asks_depth, "yes", NULL},
    {QUESTION_HIDDEN_NAN, standard_asks_hidden_nan, "leaks, likewise", REASON_HIDDEN_NAN},
    {QUESTION_SEEN_NAN, standard_asks_seen_nan, "the same", REASON_HIDDEN_NAN},
    {NULL, NULL, NULL, NULL}};

const heed_profile heed_profile_torch = {
    .name = "torch",
    .standard = "PyTorch 2.5, scaled_dot_product_attention and nn.MultiheadAttention",
    .cases = 96,
    .levels = {[LAYOUT] = ONE(LAYOUT_HEADS) | ONE(LAYOUT_ONE_HEAD) | ONE(LAYOUT_MODULE) |
                          ONE(LAYOUT_ALONE),
               [HEADS] = UP_TO(HEADS_ONE_KEY),
               [LENGTHS] = UP_TO(LENGTHS_ONE),
               [CACHE] = ONE(CACHE_NONE),
               [MASK] = UP_TO(MASK_FLOAT),
               [MASK_SHAPE] =
                   ONE(SHAPE_ROWS) | ONE(SHAPE_BATCH) | ONE(SHAPE_WHOLE) | ONE(SHAPE_PADDING),
               [MASK_SHORT] = ONE(SHORT_NO),
               [PADDING] = ONE(PADDING_NONE) | ONE(PADDING_KEY) | ONE(PADDING_FLOAT),
               [CAUSAL] = UP_TO(CAUSAL_YES),
               [WINDOW] = ONE(WINDOW_NONE),
               [SCALE] = UP_TO(SCALE_GIVEN),
               [SOFTCAP] = ONE(SOFTCAP_NONE),
               [OUTPUT] = ONE(OUTPUT_NONE) | ONE(OUTPUT_WEIGHTS) | ONE(OUTPUT_AVERAGED),
               [PRECISION] = UP_TO(PRECISION_BF16),
               [SOFTMAX] = ONE(SOFTMAX_DEFAULT),
               [HIDDEN] = UP_TO(HIDDEN_ITEM),
               [CONTENT] = UP_TO(CONTENT_NO_WEIGHT),
               [VALUE_DEPTH] = UP_TO(1)},
    .is_possible = is_possible,
    .rules = find_rules,
    .add_masks = add_masks,
    .empty = empty,
    .questions = questions};
