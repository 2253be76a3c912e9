/* The reference of profiles: attention in double precision from explicit matrices [B, H, Tq, Tk].
 * What is added to the logits, by the standard's own sentences (profiles' add_masks), then
 * products, cap, sum, softmax and a product with the values, each over whole matrices. Logits are
 * rounded to F32, the type in which the standards compute them: that decides what overflows and
 * what -3.4e38 absorbs. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "check/profile/profile.h"

typedef struct job {
  const profile_case *c;
  bool stated;                  /* heed's answers where it differs */
  bool hidden_rows_first;       /* of the profile; always heed's answer */
  profile_empty empty;          /* of a row that sees nothing */
  double *raw, *capped, *added; /* [B, H, Tq, Tk]: products; after the cap; after the masks */
  double *mask;                 /* what is added */
  double *weights;
  bool *unseen; /* keys whose value takes no part */
} job;

static double as_float(double x) { return (double)(float)x; }

/* Index of a query's row in matrices, and of its key head's first key. */
static size_t key_row(const profile_case *c, size_t row) {
  const size_t head = row / c->queries % c->heads, batch = row / c->queries / c->heads;
  return (batch * c->key_heads + head / (c->heads / c->key_heads)) * c->keys;
}

static size_t row_count(const profile_case *c) { return (size_t)c->batch * c->heads * c->queries; }

static void multiply(const job *j) {
  const profile_case *c = j->c;
  const double scale = c->scale != 0.0f ? (double)c->scale : 1.0 / sqrt((double)c->depth);
  for (size_t row = 0; row < row_count(c); row++)
    for (size_t k = 0; k < c->keys; k++) {
      const float *q = c->query + row * c->depth, *key = c->key + (key_row(c, row) + k) * c->depth;
      double sum = 0.0;
      for (size_t d = 0; d < c->depth; d++) sum += (double)q[d] * (double)key[d];
      j->raw[row * c->keys + k] = as_float(sum * scale);
    }
}

static void cap_and_add(const job *j) {
  const double cap = (double)j->c->softcap;
  for (size_t e = 0; e < profile_pairs(j->c); e++) {
    const double s = j->raw[e], add = j->mask[e];
    j->capped[e] = cap > 0.0 ? as_float(cap * tanh(s / cap)) : s;
    j->added[e] = j->stated && add == -HUGE_VAL ? add : as_float(j->capped[e] + add);
  }
}

/* Whether some key of the case can be hidden. */
static bool can_hide(const profile_case *c) {
  return c->mask || c->lengths || c->level[PADDING] || c->level[CAUSAL] || c->level[WINDOW];
}

/* As heed has it: by a mask, or where keys can be hidden by a logit of -Inf. */
static bool is_hidden(const job *j, size_t e) {
  return j->stated && (j->mask[e] == -HUGE_VAL || (can_hide(j->c) && j->added[e] == -HUGE_VAL));
}

static void fill_row(const job *j, size_t row, double weight) {
  for (size_t k = 0; k < j->c->keys; k++) j->weights[row * j->c->keys + k] = weight;
}

static void softmax_row(const job *j, size_t row) {
  const size_t n = j->c->keys, first = row * n;
  double largest = -HUGE_VAL, sum = 0.0;
  bool broken = false, masked = true;
  for (size_t e = first; e < first + n; e++) {
    broken = broken || isnan(j->added[e]) || j->added[e] == HUGE_VAL;
    masked = masked && j->mask[e] == -HUGE_VAL;
    largest = fmax(largest, j->added[e]);
    j->unseen[e] = is_hidden(j, e);
  }
  if ((masked && (j->hidden_rows_first || !broken)) || (!broken && largest == -HUGE_VAL)) {
    const double empty = j->empty == EMPTY_NAN ? (double)NAN : 1.0 / (double)n;
    fill_row(j, row, j->empty == EMPTY_ZERO ? 0.0 : empty);
    /* zeros are the answer, whatever the values hold; the mean is over all of them */
    for (size_t e = first; e < first + n; e++)
      j->unseen[e] = j->empty == EMPTY_ZERO && (masked || j->unseen[e]);
    return;
  }
  if (broken) {
    fill_row(j, row, (double)NAN);
    return;
  }
  for (size_t e = first; e < first + n; e++) sum += exp(j->added[e] - largest);
  for (size_t e = first; e < first + n; e++) {
    const double weight = exp(j->added[e] - largest) / sum;
    j->weights[e] = weight < 1.1754943508222875e-38 ? 0.0 : weight; /* no F32 */
  }
}

static void weigh(const job *j, double *output) {
  const profile_case *c = j->c;
  for (size_t row = 0; row < row_count(c); row++)
    for (size_t d = 0; d < c->value_depth; d++) {
      double sum = 0.0;
      for (size_t k = 0; k < c->keys; k++) {
        const double weight = j->weights[row * c->keys + k],
                     v = (double)c->value[(key_row(c, row) + k) * c->value_depth + d];
        const size_t e = row * c->keys + k;
        if (j->unseen[e] && !isnan(weight)) continue;
        sum += is_hidden(j, e) && !isnan(weight) && !isfinite(v) ? 0.0 : weight * v;
      }
      output[row * c->value_depth + d] = sum;
    }
}

static void give_scores(const job *j, double *scores) {
  const profile_case *c = j->c;
  const uint8_t kind = c->level[OUTPUT];
  const double *from = kind == OUTPUT_RAW      ? j->raw
                       : kind == OUTPUT_CAPPED ? j->capped
                       : kind == OUTPUT_BIASED ? j->added
                                               : j->weights;
  const size_t map = (size_t)c->queries * c->keys;
  for (size_t e = 0; e < profile_scores_count(c); e++) {
    if (kind != OUTPUT_AVERAGED) {
      scores[e] = from[e];
      continue;
    }
    double sum = 0.0;
    for (size_t h = 0; h < c->heads; h++) sum += from[(e / map * c->heads + h) * map + e % map];
    scores[e] = sum / c->heads;
  }
}

heed_status profile_evaluate(heed_context *context, const heed_profile *profile,
                             const profile_case *c, bool stated, profile_expected *expected,
                             heed_error *error) {
  const size_t n = profile_pairs(c);
  double *matrices = heed_alloc(context, 5 * n, sizeof *matrices);
  job j = {.c = c,
           .stated = stated,
           .hidden_rows_first = stated || profile->hidden_rows_first,
           .empty = profile->empty(c),
           .unseen = heed_alloc(context, n, sizeof *j.unseen)};
  *expected = (profile_expected){heed_alloc(context, profile_output_count(c), sizeof(double)),
                                 heed_alloc(context, n, sizeof(double))};
  const bool whole = matrices && j.unseen && expected->output && expected->scores;
  if (whole) {
    j.raw = matrices;
    j.capped = matrices + n;
    j.added = matrices + 2 * n;
    j.mask = matrices + 3 * n;
    j.weights = matrices + 4 * n;
    profile->add_masks(c, j.mask);
    multiply(&j);
    cap_and_add(&j);
    for (size_t row = 0; row < row_count(c); row++) softmax_row(&j, row);
    weigh(&j, expected->output);
    give_scores(&j, expected->scores);
  }
  heed_free(context, matrices);
  heed_free(context, j.unseen);
  return whole ? HEED_OK : heed_fail_memory(error, "check: a reference", 7 * n * sizeof(double));
}

void profile_expected_free(heed_context *context, profile_expected *expected) {
  heed_free(context, expected->output);
  heed_free(context, expected->scores);
}
