/* Expressions that are attentions: a product by the softmax of a product. See lower.h,
 * attention_finder.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

value *heed_lower_heads_first(heed_lower *l, value *x, uint64_t heads) {
  if (!x || l->status != HEED_OK) return NULL;
  if (heads == 0 || x->rank != 3 || x->dims[2] % heads)
    return heed_lower_refuse(l, HEED_INVALID_FILE, "its heads do not divide its width");
  const uint64_t dims[] = {x->dims[0], x->dims[1], heads, x->dims[2] / heads};
  const uint32_t order[] = {0, 2, 1, 3};
  return heed_lower_permute(l, heed_lower_reshape(l, x, 4, dims), order);
}

value *heed_lower_attend(heed_lower *l, const heed_lower_attention *a) {
  const value *q = a->query, *v = a->value;
  if (l->status != HEED_OK || !q || !v || !a->key) return NULL;
  const uint64_t dims[] = {q->dims[0], q->dims[2], q->dims[1] * v->dims[3]};
  value *x[] = {a->query, a->key, a->value, a->bias};
  heed_lower_spend(l, q->dims[0] * q->dims[1] * q->dims[2], v->dims[2], q->dims[3] + v->dims[3]);
  value *made = heed_lower_new(l, HEED_LOWER_ATTENTION, 3, dims, x, a->bias ? 4 : 3);
  heed_lower_attention *kept = made ? heed_lower_take(l, 1, sizeof *kept) : NULL;
  if (!kept) return NULL;
  *kept = *a;
  if (kept->found == UINT32_MAX) kept->found = heed_lower_attention_at(l, l->call.node);
  made->attention = kept;
  return made;
}

/* ------------------------------------------------------------------------------------- finding */

typedef struct scores {
  value *product, *bias; /* bias: of `bias_rank` axes, or NULL */
  double factor, softcap;
} scores;

static double times(double x, double by) { return x * by; }

static value *scaled(heed_lower *l, value *x, double factor) {
  if (factor == 1) return x;
  return heed_lower_is(x, HEED_LOWER_CONSTANT) ? heed_lower_map(l, x, times, factor)
                                               : heed_lower_scale(l, x, factor);
}

/* Whether scores of more than four axes are [1.., B, H, Tq, Tk]: a reshape may also join others. */
static bool is_whole(const value *of, const uint64_t whole[4]) {
  const uint32_t more = of->rank - 4;
  for (uint32_t i = 0; i < more; i++)
    if (of->dims[i] != 1) return false;
  return of->dims[more] == whole[0] && of->dims[more + 1] == whole[1];
}

/* A bias [.., Tq|1, Tk|1] for scores `of` of as many axes or more, as four axes of [B, H, Tq, Tk];
 * NULL: it does not fit. */
static value *fit_bias(heed_lower *l, value *bias, const value *of, const uint64_t whole[4]) {
  uint64_t dims[4] = {1, 1, 1, 1};
  if (bias->rank > of->rank || (of->rank > 4 && !is_whole(of, whole))) return NULL;
  const uint32_t more = bias->rank > 4 ? bias->rank - 4 : 0, rank = bias->rank - more;
  const bool apart = of->rank == 3 && rank == 3 && bias->dims[0] != 1;
  if (apart) {
    dims[0] = whole[0];
    dims[1] = whole[1];
    if (bias->dims[0] != whole[0] * whole[1]) return NULL;
  }
  for (uint32_t i = apart ? 1 : 0; i < rank; i++) dims[4 - rank + i] = bias->dims[more + i];
  for (uint32_t i = 0; i < 4; i++)
    if (dims[i] != 1 && dims[i] != whole[i]) return NULL;
  return heed_lower_reshape(l, bias, 4, dims);
}

/* Whether the product of query and key is below; the shape is kept but for leading axes. */
static bool leads_to_scores(const value *v, uint32_t depth) {
  for (; v && depth < 12; depth++) {
    if (v->kind == HEED_LOWER_MATMUL) return true;
    if (v->kind == HEED_LOWER_BINARY && v->function == HEED_LOWER_ADD)
      return leads_to_scores(v->x[0], depth + 1) || leads_to_scores(v->x[1], depth + 1);
    if (v->kind != HEED_LOWER_SCALE && v->kind != HEED_LOWER_RESHAPE &&
        !(v->kind == HEED_LOWER_ACTIVATION && v->function == HEED_ACTIVATION_TANH))
      return false;
    v = v->x[0];
  }
  return false;
}

static bool add_bias(heed_lower *l, scores *s, value *bias, const value *of,
                     const uint64_t whole[4], double outer) {
  value *fits = fit_bias(l, scaled(l, bias, outer), of, whole);
  if (!fits) return false;
  s->bias = s->bias ? heed_lower_binary(l, HEED_LOWER_ADD, s->bias, fits) : fits;
  return s->bias != NULL;
}

static bool keeps_last_two(const value *a, const value *b) {
  return a->rank >= 2 && b->rank >= 2 && a->dims[a->rank - 1] == b->dims[b->rank - 1] &&
         a->dims[a->rank - 2] == b->dims[b->rank - 2];
}

/* Down from what the softmax reads to the product. */
static bool find_scores(heed_lower *l, value *v, const uint64_t whole[4], scores *s) {
  double outer = 1;
  for (uint32_t depth = 0; depth < 12 && l->status == HEED_OK; depth++) {
    if (v->kind == HEED_LOWER_MATMUL) {
      s->product = v;
      s->factor = outer;
      return !heed_lower_is(v->x[0], HEED_LOWER_CONSTANT) ||
             !heed_lower_is(v->x[1], HEED_LOWER_CONSTANT);
    }
    value *next = v->count ? v->x[0] : NULL;
    if (v->kind == HEED_LOWER_SCALE && s->softcap == 0 &&
        heed_lower_is_function(next, HEED_LOWER_ACTIVATION, HEED_ACTIVATION_TANH)) {
      s->softcap = outer * v->factor; /* c tanh(s / c) */
      outer = s->softcap;
      v = next->x[0];
      if (!(s->softcap > 0)) return false;
      continue;
    }
    if (v->kind == HEED_LOWER_BINARY && v->function == HEED_LOWER_ADD && s->softcap == 0) {
      const bool second = !leads_to_scores(v->x[0], 0);
      next = v->x[second];
      if (!keeps_last_two(next, v) || next->rank != v->rank ||
          !add_bias(l, s, v->x[!second], v, whole, outer))
        return false;
    } else if (v->kind == HEED_LOWER_SCALE) {
      outer *= v->factor;
    } else if (v->kind != HEED_LOWER_RESHAPE || !keeps_last_two(v, next)) {
      return false;
    }
    v = next;
  }
  return false;
}

/* [..., T, D] with one or two axes before, as [B, H, T, D]. nn.MultiheadAttention makes [B H, T, D]
 * of [T, B H, D]. */
static value *as_heads(heed_lower *l, value *x, const uint64_t whole[4]) {
  static const uint32_t swapped[] = {1, 0, 2}, order[] = {1, 2, 0, 3};
  if (!x || x->rank < 2 || x->rank > 4) return NULL;
  const uint64_t dims[] = {whole[0], whole[1], x->dims[x->rank - 2], x->dims[x->rank - 1]},
                 turned[] = {dims[2], dims[0], dims[1], dims[3]};
  if (heed_lower_size(x) != dims[0] * dims[1] * dims[2] * dims[3]) return NULL;
  if (x->rank == 3 && x->kind == HEED_LOWER_PERMUTE &&
      memcmp(x->order, swapped, sizeof swapped) == 0)
    return heed_lower_permute(l, heed_lower_reshape(l, x->x[0], 4, turned), order);
  return heed_lower_reshape(l, x, 4, dims);
}

/* B, H, Tq, Tk of scores; of three axes the batch is that of the inputs, where it fits. */
static void find_sizes(const heed_lower *l, const value *softmax, uint64_t whole[4]) {
  if (!heed_onnx_map_shape(l->batch, softmax->rank, softmax->dims, whole))
    memcpy(whole, softmax->dims, 4 * sizeof *whole);
}

/* weights times v as an attention, or NULL. */
static value *as_attention(heed_lower *l, value *weights, value *v) {
  uint64_t whole[4];
  scores s = {.factor = 1};
  const value *outer = weights;
  bool zeros = false;
  while (weights->kind == HEED_LOWER_NAN_TO_ZERO ||
         (weights->kind == HEED_LOWER_RESHAPE && keeps_last_two(weights, weights->x[0]))) {
    zeros = zeros || weights->kind == HEED_LOWER_NAN_TO_ZERO;
    weights = weights->x[0];
  }
  if (weights->kind != HEED_LOWER_SOFTMAX || weights->rank < 2 || weights->rank > 4 ||
      weights->owner)
    return NULL;
  find_sizes(l, weights, whole);
  if (!find_scores(l, weights->x[0], whole, &s) || s.factor == 0 || !isfinite(s.factor))
    return NULL;
  heed_lower_attention a = {.query = as_heads(l, s.product->x[0], whole),
                            .key = as_heads(l, heed_lower_swap(l, s.product->x[1]), whole),
                            .value = as_heads(l, v, whole),
                            .bias = s.bias,
                            .scale = s.factor,
                            .softcap = s.softcap,
                            .nan_rows = s.bias && !zeros,
                            .left = -1,
                            .right = -1,
                            .found = weights->axis};
  if (!a.query || !a.key || !a.value || a.key->dims[2] != whole[3] || a.value->dims[2] != whole[3])
    return NULL;
  value *made = heed_lower_attend(l, &a);
  if (!made) return NULL;
  weights->owner = made;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  memcpy(dims, outer->dims, sizeof dims);
  dims[outer->rank - 1] = v->dims[v->rank - 1];
  return heed_lower_reshape(l, heed_lower_heads_first(l, made, whole[1]), outer->rank, dims);
}

/* ------------------------------------------------------------------------------------- product */

static value *matmul(heed_lower *l, value *a, value *b) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  const uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
  if (a->rank < 2 || b->rank < 2 || a->dims[a->rank - 1] != b->dims[b->rank - 2])
    return heed_lower_refuse(l, a->rank < 2 || b->rank < 2 ? HEED_UNSUPPORTED : HEED_INVALID_FILE,
                             "its factors do not fit");
  for (uint32_t i = 0; i < rank - 2; i++) {
    const uint64_t x = i + 2 < a->rank ? a->dims[a->rank - 3 - i] : 1,
                   y = i + 2 < b->rank ? b->dims[b->rank - 3 - i] : 1;
    if (x != y && x != 1 && y != 1)
      return heed_lower_refuse(l, HEED_INVALID_FILE, "its factors do not fit");
    dims[rank - 3 - i] = x == 1 ? y : x;
  }
  dims[rank - 2] = a->dims[a->rank - 2];
  dims[rank - 1] = b->dims[b->rank - 1];
  value *made = heed_lower_new(l, HEED_LOWER_MATMUL, rank, dims, (value *[]){a, b}, 2);
  if (made) heed_lower_spend(l, heed_lower_size(made), a->dims[a->rank - 1], 1);
  return made;
}

value *heed_lower_matmul(heed_lower *l, value *a, value *b) {
  if (!a || !b || l->status != HEED_OK) return NULL;
  if (heed_lower_is(b, HEED_LOWER_CONSTANT) && b->rank == 2)
    return heed_lower_linear_of(l, a, b, true);
  if (a->kind == HEED_LOWER_SCALE)
    return heed_lower_scale(l, heed_lower_matmul(l, a->x[0], b), a->factor);
  if (b->kind == HEED_LOWER_SCALE)
    return heed_lower_scale(l, heed_lower_matmul(l, a, b->x[0]), b->factor);
  if (a->rank == b->rank && a->rank >= 2) {
    value *attention = as_attention(l, a, b);
    if (attention || l->status != HEED_OK) return attention;
  }
  return matmul(l, a, b);
}
