/* Profiles: what a standard says about attention, as cases that are made here, a reference that is
 * evaluated here, and the fields of heed's desc that mean the same. A case is a level of each
 * factor, and tensors. The reference (reference.c) knows the standard's sentences and explicit
 * matrices [B, H, Tq, Tk]; what heed runs (run.c) knows the rules below. They share the case alone.
 */
#ifndef HEED_CHECK_PROFILE_PROFILE_H
#define HEED_CHECK_PROFILE_PROFILE_H

#include "heed/check.h"

/* ---- factors and their levels; bit l of heed_profile.levels[f]: the standard has level l */

enum profile_factor {
  LAYOUT,
  HEADS,
  LENGTHS,
  CACHE,
  MASK,
  MASK_SHAPE,
  MASK_SHORT,
  PADDING,
  CAUSAL,
  WINDOW,
  SCALE,
  SOFTCAP,
  OUTPUT,
  PRECISION,
  SOFTMAX,
  HIDDEN,
  CONTENT,
  VALUE_DEPTH,
  PROFILE_FACTORS
};
/* [B, H, T, D], [B, T, H D], [B, T, H, D], [B, T, D] of one head, and the module of PyTorch that
 * takes its heads apart itself, [B, T, H D], with a batch or without */
enum { LAYOUT_HEADS, LAYOUT_MERGED, LAYOUT_TOKENS, LAYOUT_ONE_HEAD, LAYOUT_MODULE, LAYOUT_ALONE };
enum { HEADS_ONE, HEADS_EQUAL, HEADS_GROUPED, HEADS_ONE_KEY };
enum { LENGTHS_FEWER, LENGTHS_SAME, LENGTHS_MORE, LENGTHS_ONE };
enum { CACHE_NONE, CACHE_PAST, CACHE_LENGTHS };
enum { MASK_NONE, MASK_BOOL, MASK_FLOAT };
/* [Tk], [Tq, Tk], [H, Tq, Tk], [B, 1, Tq, Tk], [B, H, Tq, Tk], [B, 1, 1, Tk] */
enum { SHAPE_KEYS, SHAPE_ROWS, SHAPE_HEADS, SHAPE_BATCH, SHAPE_WHOLE, SHAPE_PADDING };
enum { SHORT_NO, SHORT_YES };
/* masks [B, Tq] or [B, Tk] beside the mask: of booleans, or of numbers that are added */
enum { PADDING_NONE, PADDING_QUERY, PADDING_KEY, PADDING_VALUE, PADDING_ALL, PADDING_FLOAT };
enum { CAUSAL_NO, CAUSAL_YES };
enum { WINDOW_NONE, WINDOW_LEFT, WINDOW_RIGHT, WINDOW_BOTH, WINDOW_SELF };
enum { SCALE_DEFAULT, SCALE_GIVEN };
enum { SOFTCAP_NONE, SOFTCAP_GIVEN };
/* scores: the products, after the cap, after masks, the weights, their mean over heads */
enum { OUTPUT_NONE, OUTPUT_RAW, OUTPUT_CAPPED, OUTPUT_BIASED, OUTPUT_WEIGHTS, OUTPUT_AVERAGED };
enum { PRECISION_F32, PRECISION_F16, PRECISION_BF16 };
enum { SOFTMAX_DEFAULT, SOFTMAX_F32, SOFTMAX_F16, SOFTMAX_F64 };
enum { HIDDEN_NONE, HIDDEN_ROWS, HIDDEN_ITEM };
enum {
  CONTENT_PLAIN,
  CONTENT_NAN_LAST,  /* in the last key and value, which most masks hide from some */
  CONTENT_NAN_FIRST, /* in the first value */
  CONTENT_MINUS_INFINITY,
  CONTENT_LOWEST,    /* finfo.min in the mask, some rows throughout */
  CONTENT_OVERFLOW,  /* products of -Inf */
  CONTENT_NO_WEIGHT, /* -10000 in the mask before a NaN */
};

/* ---- a case */

#define PROFILE_QUESTIONS 20
typedef struct profile_rules profile_rules;

typedef struct profile_case {
  uint32_t number;
  uint8_t level[PROFILE_FACTORS];
  const profile_rules *rules; /* of the function of the standard that the case calls */
  uint32_t batch, heads, key_heads, queries, past, keys, depth, value_depth; /* keys: past too */
  uint32_t mask_dim[4]; /* right-aligned to [B, H, Tq, Tk]; a short mask has fewer keys */
  uint32_t mask_rank;
  int32_t left, right; /* as the standard counts; -1: open */
  float scale, softcap;
  /* [B, H, Tq, D], [B, Hk, Tk, D], [B, Hk, Tk, Dv], past keys first; of the case's precision */
  float *query, *key, *value;
  float *mask; /* booleans as 1 and 0, in the standard's own sense */
  float *padding_query, *padding_key, *padding_value;
  int32_t *lengths; /* [B]: keys that are there */
} profile_case;

static inline bool profile_is(const profile_case *c, enum profile_factor factor, uint32_t level) {
  return c->level[factor] == level;
}

/* ---- the standard and heed's fields for it */

/* What equals the standard's rule in heed_attention_desc. */
struct profile_rules {
  const char *function;     /* "scaled_dot_product_attention" */
  bool true_hides;          /* a true boolean hides: its inverse is the mask */
  heed_causal causal;       /* without a cache */
  bool past_is_offset;      /* causal_offset = the length of the past */
  bool lengths_are_offsets; /* causal_offsets = length - Tq, key_padding = key < length */
  int32_t window_less;      /* window_left = the standard's - this, likewise right */
  heed_empty_row empty_row, empty_row_with_weights;
};

typedef struct profile_question {
  const char *question;
  /* whether the case asks it */
  bool (*asks)(const profile_case *c);
  const char *answer; /* the standard's, with the fields of heed that mean it */
  const char *reason; /* where heed differs on purpose: why; NULL: nowhere */
} profile_question;

typedef enum profile_empty { EMPTY_ZERO, EMPTY_NAN, EMPTY_MEAN } profile_empty;

struct heed_profile {
  const char *name, *standard;
  uint32_t cases; /* at least */
  uint8_t levels[PROFILE_FACTORS];
  bool (*is_possible)(const uint8_t *level);
  const profile_rules *(*rules)(const profile_case *c);
  /* The standard's masks: what is added to the logits [B, H, Tq, Tk], -Inf where hidden. */
  void (*add_masks)(const profile_case *c, double *add);
  profile_empty (*empty)(const profile_case *c); /* a row that sees nothing */
  bool hidden_rows_first;            /* such a row is empty even where its logits hold a NaN */
  const profile_question *questions; /* the last one's question is NULL */
};
typedef struct heed_profile heed_profile;

extern const heed_profile heed_profile_onnx, heed_profile_torch, heed_profile_keras;

/* ---- steps */

/* Levels of cases so that every pair of levels that can stand together does; *cases is freed with
 * heed_free. pairs: of them. */
heed_status profile_choose(heed_context *context, const heed_profile *profile,
                           uint8_t (**cases)[PROFILE_FACTORS], uint32_t *count, uint32_t *pairs,
                           heed_error *error);
/* Sizes and tensors of a case from its levels. profile_case_free also frees what a failed make has
 * made. */
heed_status profile_case_make(heed_context *context, const heed_profile *profile, uint32_t number,
                              const uint8_t *level, profile_case *c, heed_error *error);
void profile_case_free(heed_context *context, profile_case *c);
void profile_case_describe(const profile_case *c, char *to, size_t size);

/* What must come out, [B, H, Tq, Dv] and scores [B, H, Tq, Tk] (averaged: [B, Tq, Tk]). `stated`:
 * with heed's own answers where docs/attention.md says that it differs. */
typedef struct profile_expected {
  double *output, *scores;
} profile_expected;
heed_status profile_evaluate(heed_context *context, const heed_profile *profile,
                             const profile_case *c, bool stated, profile_expected *expected,
                             heed_error *error);
void profile_expected_free(heed_context *context, profile_expected *expected);

/* The same from heed, in the same layouts. */
typedef struct profile_found {
  float *output, *scores;
} profile_found;
heed_status profile_run(heed_context *context, heed_backend *backend, heed_attention_mode mode,
                        const profile_case *c, profile_found *found, heed_error *error);
void profile_found_free(heed_context *context, profile_found *found);

static inline size_t profile_output_count(const profile_case *c) {
  return (size_t)c->batch * c->heads * c->queries * c->value_depth;
}
static inline size_t profile_pairs(const profile_case *c) {
  return (size_t)c->batch * c->heads * c->queries * c->keys;
}
static inline size_t profile_scores_count(const profile_case *c) {
  return profile_pairs(c) / (profile_is(c, OUTPUT, OUTPUT_AVERAGED) ? c->heads : 1);
}

#endif
