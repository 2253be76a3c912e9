/* ai.onnx Attention and RotaryEmbedding, and their like of com.microsoft. See evaluate.h.
 *
 * The order is that of ONNX 1.23: scores, softcap, bias and masks, softmax. A row with nothing
 * allowed gives zeros, and a masked key or value never reaches the output. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

typedef heed_onnx_array array;

/* One attention: query [B, H, Tq, D], key [B, Hk, Tk, D], value [B, Hk, Tk, Dv] in double. */
typedef struct attention {
  array *query, *key, *value;
  uint64_t batch, heads, key_heads, queries, keys, depth, width;
  const array *mask;    /* bool: 1 = may attend; else added; broadcast to [B, H, Tq, Tk] */
  array *key_mask;      /* [B, 1, Tq|1, Tk], added as well; or NULL */
  const array *lengths; /* [B]: keys from there on are padding; or NULL */
  uint64_t past;
  bool causal;
  int64_t left, right, mode;
  double scale, softcap;
  uint32_t precision; /* the type that the softmax reads; 0: any */
  array *scores;      /* [B, H, Tq, Tk] after step `mode`; or NULL */
  array *weights;     /* the same after the softmax; or NULL */
  array *y;           /* [B, H, Tq, Dv] in double */
} attention;

/* x [B, T, H D], or [B, H, T, D], behind `past` [B, H, P, D] or NULL -> [B, H, P + T, D]. */
static heed_status split_heads(heed_onnx_call *call, const array *x, const array *past,
                               uint64_t heads, array **made) {
  const bool joined = x->rank == 3;
  if ((x->rank != 3 && x->rank != 4) || (joined && (heads == 0 || x->dims[2] % heads)))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "query, key and value have 3 or 4 axes");
  const uint64_t h = joined ? heads : x->dims[1], t = joined ? x->dims[1] : x->dims[2],
                 d = joined ? x->dims[2] / heads : x->dims[3], p = past ? past->dims[2] : 0,
                 dims[] = {x->dims[0], h, p + t, d};
  if (past &&
      (past->rank != 4 || past->dims[0] != dims[0] || past->dims[1] != h || past->dims[3] != d))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "the past does not fit");
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_DOUBLE, 4, dims, made));
  for (uint64_t i = 0; i < (*made)->count; i++) {
    const uint64_t k = i % d, token = i / d % (p + t), head = i / d / (p + t) % h,
                   b = i / d / (p + t) / h, at = token - p;
    (*made)->data[i].f = token < p
                             ? heed_onnx_number(past, ((b * h + head) * p + token) * d + k)
                             : heed_onnx_number(x, joined ? ((b * t + at) * h + head) * d + k
                                                          : ((b * h + head) * t + at) * d + k);
  }
  return HEED_OK;
}

/* The mask's element of a score: axes from the right, a last axis that is shorter masks the rest.
 */
static double masked(const attention *a, uint64_t b, uint64_t h, uint64_t i, uint64_t j) {
  const uint64_t index[] = {b, h, i, j};
  uint64_t at = 0;
  if (!a->mask) return 0;
  for (uint32_t k = 0; k < a->mask->rank; k++) {
    const uint64_t size = a->mask->dims[k], want = index[4 - a->mask->rank + k];
    if (k + 1 == a->mask->rank && want >= size) return -HUGE_VAL;
    at = at * size + (size == 1 ? 0 : want);
  }
  if (a->mask->type == HEED_ONNX_BOOL) return a->mask->data[at].i ? 0 : -HUGE_VAL;
  return heed_onnx_number(a->mask, at);
}

static double key_masked(const attention *a, uint64_t b, uint64_t i, uint64_t j) {
  if (!a->key_mask) return 0;
  const uint64_t rows = a->key_mask->dims[2];
  return a->key_mask->data[(b * rows + (rows == 1 ? 0 : i)) * a->keys + j].f;
}

static bool hidden(const attention *a, uint64_t b, uint64_t i, uint64_t j) {
  int64_t offset = (int64_t)a->past;
  if (a->lengths) {
    const int64_t length = a->lengths->data[a->lengths->count == 1 ? 0 : b].i;
    if ((int64_t)j >= length) return true;
    if (!a->past) offset = length - (int64_t)a->queries;
  }
  const int64_t place = (int64_t)i + offset, key = (int64_t)j;
  return (a->causal && key > place) || (a->left >= 0 && key < place - a->left) ||
         (a->right >= 0 && key > place + a->right);
}

static void softmax(double *row, uint64_t count) {
  double most = -HUGE_VAL, sum = 0;
  for (uint64_t j = 0; j < count; j++)
    if (row[j] > most || isnan(row[j])) most = row[j];
  for (uint64_t j = 0; j < count; j++) {
    row[j] = row[j] == -HUGE_VAL ? 0 : exp(row[j] - most);
    sum += row[j];
  }
  for (uint64_t j = 0; sum != 0 && j < count; j++) row[j] /= sum;
}

static void keep(const attention *a, int64_t step, uint64_t row, const double *values) {
  if (a->scores && a->mode == step)
    for (uint64_t j = 0; j < a->keys; j++) heed_onnx_set(a->scores, row * a->keys + j, values[j]);
}

/* One row, in steps: 1 scores, 2 softcap, 3 bias and masks, 4 softmax, 5 weighted sum. */
static void attend(const attention *a, uint64_t b, uint64_t h, uint64_t i, double *row) {
  const uint64_t from = (b * a->key_heads + h / (a->heads / a->key_heads)) * a->keys,
                 number = (b * a->heads + h) * a->queries + i;
  const heed_onnx_cell *q = a->query->data + number * a->depth, *k = a->key->data + from * a->depth,
                       *v = a->value->data + from * a->width;
  for (uint64_t j = 0; j < a->keys; j++) {
    double sum = 0;
    for (uint64_t d = 0; d < a->depth; d++) sum += q[d].f * k[j * a->depth + d].f;
    row[j] = sum * a->scale;
  }
  keep(a, 0, number, row);
  for (uint64_t j = 0; a->softcap > 0 && j < a->keys; j++)
    row[j] = a->softcap * tanh(row[j] / a->softcap);
  keep(a, 1, number, row);
  for (uint64_t j = 0; j < a->keys; j++) {
    const double bias =
        hidden(a, b, i, j) ? -HUGE_VAL : masked(a, b, h, i, j) + key_masked(a, b, i, j);
    row[j] = bias == -HUGE_VAL ? bias : row[j] + bias;
  }
  keep(a, 2, number, row);
  for (uint64_t j = 0; a->precision && j < a->keys; j++)
    row[j] = heed_onnx_round(a->precision, row[j]);
  bool *allowed = (bool *)(row + a->keys);
  for (uint64_t j = 0; j < a->keys; j++) allowed[j] = row[j] != -HUGE_VAL;
  softmax(row, a->keys);
  keep(a, 3, number, row);
  for (uint64_t j = 0; a->weights && j < a->keys; j++)
    heed_onnx_set(a->weights, number * a->keys + j, row[j]);
  for (uint64_t d = 0; d < a->width; d++) {
    double sum = 0;
    for (uint64_t j = 0; j < a->keys; j++)
      if (allowed[j]) sum += row[j] * v[j * a->width + d].f;
    a->y->data[number * a->width + d].f = sum;
  }
}

/* Checks the sizes and runs every row; what was made is the caller's to drop. */
static heed_status run_attention(heed_onnx_call *call, attention *a) {
  const array *q = a->query, *k = a->key, *v = a->value;
  array *scratch;
  a->batch = q->dims[0];
  a->heads = q->dims[1];
  a->queries = q->dims[2];
  a->depth = q->dims[3];
  a->key_heads = k->dims[1];
  a->keys = k->dims[2];
  a->width = v->dims[3];
  if (k->dims[0] != a->batch || v->dims[0] != a->batch || k->dims[3] != a->depth ||
      v->dims[1] != a->key_heads || v->dims[2] != a->keys || a->key_heads == 0 ||
      a->heads % a->key_heads)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "query, key and value do not fit");
  const uint64_t want[] = {a->batch, a->heads, a->queries, a->keys};
  for (uint32_t i = 0; a->mask && i < a->mask->rank; i++) {
    const uint64_t size = a->mask->dims[i];
    const bool last = i + 1 == a->mask->rank;
    if (a->mask->rank > 4 ||
        (size != want[4 - a->mask->rank + i] && size != 1 && !(last && size < a->keys)))
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "the mask does not fit");
  }
  if (a->lengths && ((a->lengths->count != a->batch && a->lengths->count != 1) ||
                     heed_onnx_is_float(a->lengths->type)))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "the lengths of keys do not fit");
  if (a->scale == 0) a->scale = 1 / sqrt((double)a->depth);
  const uint64_t dims[] = {a->batch, a->heads, a->queries, a->width}, room = 2 * a->keys + 1;
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_DOUBLE, 4, dims, &a->y));
  HEED_TRY(
      heed_onnx_count_steps(call, a->batch * a->heads * a->queries, a->keys, a->depth + a->width));
  if (call->weights) HEED_TRY(heed_onnx_make(call, HEED_ONNX_FLOAT, 4, want, call->weights));
  a->weights = call->weights ? *call->weights : NULL;
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_DOUBLE, 1, &room, &scratch));
  for (uint64_t row = 0; row < a->batch * a->heads * a->queries; row++)
    attend(a, row / a->queries / a->heads, row / a->queries % a->heads, row % a->queries,
           &scratch->data[0].f);
  heed_onnx_drop(call->evaluator, scratch);
  return HEED_OK;
}

/* y [B, H, T, D] as output 0: as it is, or [B, T, H D]. */
static heed_status give_output(heed_onnx_call *call, const attention *a, uint32_t type,
                               bool joined) {
  const uint64_t h = a->heads, t = a->queries, d = a->width, whole[] = {a->batch, h, t, d},
                 merged[] = {a->batch, t, h * d};
  HEED_TRY(heed_onnx_output(call, 0, type, joined ? 3 : 4, joined ? merged : whole));
  for (uint64_t i = 0; i < a->y->count; i++) {
    const uint64_t k = i % d, token = i / d % t, head = i / d / t % h, b = i / d / t / h;
    heed_onnx_set(call->out[0], joined ? ((b * t + token) * h + head) * d + k : i, a->y->data[i].f);
  }
  return HEED_OK;
}

static heed_status give_present(heed_onnx_call *call, uint32_t index, uint32_t type,
                                const array *x) {
  if (index >= call->node->output_count || !call->node->out[index]) return HEED_OK;
  HEED_TRY(heed_onnx_output(call, index, type, x->rank, x->dims));
  for (uint64_t i = 0; i < x->count; i++) heed_onnx_set(call->out[index], i, x->data[i].f);
  return HEED_OK;
}

static void drop_attention(heed_onnx_call *call, attention *a) {
  array *const made[] = {a->query, a->key, a->value, a->y, a->key_mask};
  for (size_t i = 0; i < sizeof made / sizeof *made; i++) heed_onnx_drop(call->evaluator, made[i]);
}

/* Output 3: the scores after a step, or for the maps of the evaluator the weights. */
static heed_status make_scores(heed_onnx_call *call, attention *a, uint32_t type) {
  if (call->node->output_count < 4 || !call->node->out[3]) return HEED_OK;
  const uint64_t dims[] = {a->query->dims[0], a->query->dims[1], a->query->dims[2],
                           a->key->dims[2]};
  HEED_TRY(heed_onnx_output(call, 3, type, 4, dims));
  a->scores = call->out[3];
  return HEED_OK;
}

static const array *optional(const heed_onnx_call *call, uint32_t index) {
  return index < call->in_count ? call->in[index] : NULL;
}

static heed_status attend_standard(heed_onnx_call *call, attention *a) {
  const array *q = heed_onnx_input(call, 0), *k = q ? heed_onnx_input(call, 1) : NULL,
              *v = k ? heed_onnx_input(call, 2) : NULL, *pk = optional(call, 4),
              *pv = optional(call, 5);
  const int64_t heads = heed_onnx_integer(call, "q_num_heads", 0),
                key_heads = heed_onnx_integer(call, "kv_num_heads", 0);
  if (!v) return HEED_INVALID_FILE;
  if ((pk && pk->rank != 4) || (pv && pv->rank != 4))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "the past has 4 axes");
  HEED_TRY(split_heads(call, q, NULL, (uint64_t)(heads > 0 ? heads : 0), &a->query));
  HEED_TRY(split_heads(call, k, pk, (uint64_t)(key_heads > 0 ? key_heads : 0), &a->key));
  HEED_TRY(split_heads(call, v, pv, (uint64_t)(key_heads > 0 ? key_heads : 0), &a->value));
  a->mask = optional(call, 3);
  a->lengths = optional(call, 6);
  a->past = pk ? pk->dims[2] : 0;
  a->causal = heed_onnx_integer(call, "is_causal", 0) != 0;
  a->left = heed_onnx_integer(call, "left_window_size", -1);
  a->right = heed_onnx_integer(call, "right_window_size", -1);
  a->mode = heed_onnx_integer(call, "qk_matmul_output_mode", 0);
  a->scale = heed_onnx_float(call, "scale", 0);
  a->softcap = heed_onnx_float(call, "softcap", 0);
  a->precision = (uint32_t)heed_onnx_integer(call, "softmax_precision", 0);
  HEED_TRY(make_scores(call, a, q->type));
  HEED_TRY(run_attention(call, a));
  HEED_TRY(give_output(call, a, q->type, q->rank == 3));
  HEED_TRY(give_present(call, 1, k->type, a->key));
  return give_present(call, 2, v->type, a->value);
}

/* The mask of keys that is input `index`, for query and key of which the sizes are known. */
static heed_status read_key_mask(heed_onnx_call *call, uint32_t index, attention *a) {
  const array *mask = optional(call, index);
  uint64_t dims[4];
  if (!mask) return HEED_OK;
  if (!heed_onnx_key_mask_shape(mask, a->query->dims[0], a->query->dims[2], a->key->dims[2], dims))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                            "a mask of keys of this shape is not supported (expected [B, Tk], "
                            "[B, Tq, Tk], [B] or [2 B])");
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_FLOAT, 4, dims, &a->key_mask));
  heed_onnx_fill_key_mask(call, mask, a->key_mask);
  return HEED_OK;
}

/* MultiHeadAttention of com.microsoft: query, key, value [B, T, H D], bias [3 H D], mask of keys,
 * added bias, past; without a bias also key, value [B, H, T, D]. */
static heed_status attend_microsoft(heed_onnx_call *call, attention *a) {
  const array *q = heed_onnx_input(call, 0), *k = q ? heed_onnx_input(call, 1) : NULL,
              *v = k ? heed_onnx_input(call, 2) : NULL, *bias = optional(call, 3);
  const int64_t heads = heed_onnx_integer(call, "num_heads", 0);
  if (!v) return HEED_INVALID_FILE;
  if (q->rank != 3 || (bias && (k->rank != 3 || v->rank != 3)) || heads < 1 || optional(call, 8) ||
      (bias && bias->count != q->dims[2] + k->dims[2] + v->dims[2]))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "packed inputs are not supported");
  HEED_TRY(split_heads(call, q, NULL, (uint64_t)heads, &a->query));
  HEED_TRY(split_heads(call, k, optional(call, 6), (uint64_t)heads, &a->key));
  HEED_TRY(split_heads(call, v, optional(call, 7), (uint64_t)heads, &a->value));
  a->past = optional(call, 6) ? optional(call, 6)->dims[2] : 0;
  array *const parts[] = {a->query, a->key, a->value};
  uint64_t first = 0;
  for (size_t p = 0; bias && p < 3; p++) {
    const uint64_t h = parts[p]->dims[1], t = parts[p]->dims[2], d = parts[p]->dims[3];
    for (uint64_t i = 0; i < parts[p]->count; i++)
      if (p == 0 || i / d % t >= a->past)
        parts[p]->data[i].f += heed_onnx_number(bias, first + i / d / t % h * d + i % d);
    first += h * d;
  }
  HEED_TRY(read_key_mask(call, 4, a));
  a->mask = optional(call, 5);
  a->causal = heed_onnx_integer(call, "unidirectional", 0) != 0;
  a->left = a->right = -1;
  a->mode = 3;
  a->scale = heed_onnx_float(call, "scale", 0);
  HEED_TRY(make_scores(call, a, q->type));
  HEED_TRY(run_attention(call, a));
  HEED_TRY(give_output(call, a, q->type, true));
  HEED_TRY(give_present(call, 1, k->type, a->key));
  return give_present(call, 2, v->type, a->value);
}

/* The widths of query, key and value in a matrix of so many columns. */
bool heed_onnx_packed_widths(const heed_onnx_call *call, uint64_t columns, uint64_t widths[3]) {
  const heed_onnx_attribute *sizes = heed_onnx_find_attribute(call->node, "qkv_hidden_sizes");
  const int64_t heads = heed_onnx_integer(call, "num_heads", 0);
  uint64_t sum = 0;
  if ((sizes && sizes->count != 3) || heads < 1) return false;
  for (uint32_t p = 0; p < 3; p++) {
    widths[p] = !sizes ? columns / 3 : sizes->ints[p] > 0 ? (uint64_t)sizes->ints[p] : 0;
    if (widths[p] == 0 || widths[p] > columns || widths[p] % (uint64_t)heads) return false;
    sum += widths[p];
  }
  return sum == columns && widths[0] == widths[1];
}

/* x [B, T, C] by columns [first, first + H D) of w, plus bias, behind part `p` of what is past [2,
 * B, H, P, D]: [B, H, P + T, D]. */
static heed_status project(heed_onnx_call *call, uint64_t first, uint64_t d, int p, array **made) {
  const array *x = call->in[0], *w = call->in[1], *bias = optional(call, 2),
              *past = p >= 0 ? optional(call, 4) : NULL;
  const uint64_t h = (uint64_t)heed_onnx_integer(call, "num_heads", 0), t = x->dims[1],
                 c = x->dims[2], before = past ? past->dims[3] : 0,
                 dims[] = {x->dims[0], h, before + t, d}, whole[] = {2, dims[0], h, before, d};
  if (past && (past->rank != 5 || memcmp(past->dims, whole, sizeof whole) != 0))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "the past does not fit");
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_DOUBLE, 4, dims, made));
  for (uint64_t i = 0; i < (*made)->count; i++) {
    const uint64_t token = i / d % dims[2], lane = i / d / dims[2],
                   column = first + lane % h * d + i % d, row = lane / h * t + token - before;
    double sum = bias ? heed_onnx_number(bias, column) : 0;
    if (token < before)
      sum =
          heed_onnx_number(past, (((uint64_t)p * dims[0] * h + lane) * before + token) * d + i % d);
    for (uint64_t k = 0; token >= before && k < c; k++)
      sum += heed_onnx_number(x, row * c + k) * heed_onnx_number(w, k * w->dims[1] + column);
    (*made)->data[i].f = sum;
  }
  return HEED_OK;
}

/* Output 1 of a packed attention: key and value [2, B, H, T, D]. */
static heed_status give_packed_present(heed_onnx_call *call, const attention *a, uint32_t type) {
  if (call->node->output_count < 2 || !call->node->out[1]) return HEED_OK;
  const array *const parts[] = {a->key, a->value};
  const uint64_t *d = a->key->dims, dims[] = {2, d[0], d[1], d[2], d[3]};
  if (a->value->dims[3] != d[3])
    return heed_onnx_refuse(call, HEED_INVALID_FILE,
                            "key and value of unequal sizes do not fit in "
                            "one output");
  HEED_TRY(heed_onnx_output(call, 1, type, 5, dims));
  for (uint64_t p = 0; p < 2; p++)
    for (uint64_t i = 0; i < parts[p]->count; i++)
      heed_onnx_set(call->out[1], p * parts[p]->count + i, parts[p]->data[i].f);
  return HEED_OK;
}

/* Attention of com.microsoft: x [B, T, C], weights [C, H (2 D + Dv)], bias of as many columns, mask
 * of keys, past [2, B, H, P, D], added bias. */
static heed_status attend_packed(heed_onnx_call *call, attention *a) {
  const array *x = heed_onnx_input(call, 0), *w = x ? heed_onnx_input(call, 1) : NULL,
              *bias = optional(call, 2);
  uint64_t widths[3];
  if (!w) return HEED_INVALID_FILE;
  if (x->rank != 3 || w->rank != 2 || w->dims[0] != x->dims[2] ||
      (bias && bias->count != w->dims[1]) || optional(call, 6) ||
      !heed_onnx_packed_widths(call, w->dims[1], widths))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                            "its input, weights, bias and sizes do not fit");
  const uint64_t h = (uint64_t)heed_onnx_integer(call, "num_heads", 0);
  HEED_TRY(heed_onnx_count_steps(call, x->dims[0] * x->dims[1], w->dims[1], x->dims[2]));
  HEED_TRY(project(call, 0, widths[0] / h, -1, &a->query));
  HEED_TRY(project(call, widths[0], widths[1] / h, 0, &a->key));
  HEED_TRY(project(call, widths[0] + widths[1], widths[2] / h, 1, &a->value));
  a->past = a->key->dims[2] - a->query->dims[2];
  HEED_TRY(read_key_mask(call, 3, a));
  a->mask = optional(call, 5);
  a->causal = heed_onnx_integer(call, "unidirectional", 0) != 0;
  a->left = a->right = -1;
  a->scale = heed_onnx_float(call, "scale", 0);
  HEED_TRY(run_attention(call, a));
  HEED_TRY(give_output(call, a, x->type, true));
  return give_packed_present(call, a, x->type);
}

static heed_status run_standard(heed_onnx_call *call) {
  attention a = {0};
  const bool microsoft = strcmp(call->node->domain, "com.microsoft") == 0;
  const heed_status status = microsoft ? attend_packed(call, &a) : attend_standard(call, &a);
  drop_attention(call, &a);
  return status;
}

static heed_status run_multi_head(heed_onnx_call *call) {
  attention a = {0};
  const heed_status status = attend_microsoft(call, &a);
  drop_attention(call, &a);
  return status;
}

/* -------------------------------------------------------------------------------------- rotary */

typedef struct rotary {
  const array *x, *cos, *sin, *positions;
  uint64_t heads, tokens, depth, half;
  bool joined, interleaved;
} rotary;

static heed_status check_rotary(heed_onnx_call *call, rotary *r, int64_t heads, int64_t size) {
  r->half = r->cos->rank ? r->cos->dims[r->cos->rank - 1] : 0;
  r->joined = r->x->rank == 3;
  if (heed_onnx_float(call, "scale", 1) != 1)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "a scale of rotations is not supported");
  if ((r->x->rank != 3 && r->x->rank != 4) || r->half == 0 || r->cos->count != r->sin->count ||
      !heed_onnx_is_float(r->x->type) || (r->positions && heed_onnx_is_float(r->positions->type)))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "x has 3 or 4 axes, and sin is as cos");
  if (r->joined && heads < 1) heads = (int64_t)(r->x->dims[2] / (2 * r->half));
  if (r->joined && (heads < 1 || r->x->dims[2] % (uint64_t)heads))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "num_heads does not fit");
  r->heads = r->joined ? (uint64_t)heads : r->x->dims[1];
  r->tokens = r->joined ? r->x->dims[1] : r->x->dims[2];
  r->depth = r->joined ? r->x->dims[2] / r->heads : r->x->dims[3];
  const uint64_t rows = r->cos->count / r->half;
  if (2 * r->half > r->depth || (size && (uint64_t)size != 2 * r->half) ||
      (!r->positions && rows != r->x->dims[0] * r->tokens && rows != r->tokens) ||
      (r->positions && r->positions->count != 1 &&
       r->positions->count != r->x->dims[0] * r->tokens))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "tables or positions do not fit");
  for (uint64_t i = 0; r->positions && i < r->positions->count; i++)
    if (r->positions->data[i].i < 0 || (uint64_t)r->positions->data[i].i >= rows ||
        (r->positions->count == 1 && (uint64_t)r->positions->data[0].i + r->tokens > rows))
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "a position is out of range");
  return HEED_OK;
}

static uint64_t row_of(const rotary *r, uint64_t b, uint64_t token) {
  if (!r->positions) return (b * r->tokens + token) % (r->cos->count / r->half);
  return r->positions->count == 1 ? (uint64_t)r->positions->data[0].i + token
                                  : (uint64_t)r->positions->data[b * r->tokens + token].i;
}

static heed_status run_rotary(heed_onnx_call *call) {
  const bool microsoft = strcmp(call->node->domain, "com.microsoft") == 0;
  rotary r = {.x = heed_onnx_input(call, 0)};
  r.cos = r.x ? heed_onnx_input(call, microsoft ? 2 : 1) : NULL;
  r.sin = r.cos ? heed_onnx_input(call, microsoft ? 3 : 2) : NULL;
  if (!r.sin) return HEED_INVALID_FILE;
  r.positions = optional(call, microsoft ? 1 : 3);
  r.interleaved = heed_onnx_integer(call, "interleaved", 0) != 0;
  HEED_TRY(check_rotary(call, &r, heed_onnx_integer(call, "num_heads", 0),
                        heed_onnx_integer(call, "rotary_embedding_dim", 0)));
  HEED_TRY(heed_onnx_output_like(call, 0, r.x));
  memcpy(call->out[0]->data, r.x->data, (size_t)r.x->count * sizeof *r.x->data);
  const uint64_t lanes = r.x->count / r.depth;
  for (uint64_t lane = 0; lane < lanes; lane++) {
    const uint64_t token = r.joined ? lane / r.heads % r.tokens : lane % r.tokens,
                   b = lane / r.heads / r.tokens, row = row_of(&r, b, token), base = lane * r.depth;
    for (uint64_t k = 0; k < r.half; k++) {
      const uint64_t first = base + (r.interleaved ? 2 * k : k),
                     second = first + (r.interleaved ? 1 : r.half);
      const double x = r.x->data[first].f, y = r.x->data[second].f,
                   c = heed_onnx_number(r.cos, row * r.half + k),
                   s = heed_onnx_number(r.sin, row * r.half + k);
      heed_onnx_set(call->out[0], first, x * c - y * s);
      heed_onnx_set(call->out[0], second, x * s + y * c);
    }
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_attentions[] = {{"Attention", run_standard, 0},
                                                   {"MultiHeadAttention", run_multi_head, 0},
                                                   {"RotaryEmbedding", run_rotary, 0},
                                                   {NULL, NULL, 0}};
