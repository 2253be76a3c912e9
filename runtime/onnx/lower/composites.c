/* What nodes are that spell a whole block: softmax, norms, attentions. See lower.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* ------------------------------------------------------------------------------------- softmax */

/* x - log(sum(exp(x))) over the last axis: of x less its largest, beside which a logarithm is not
 * lost. */
static value *log_softmax(heed_lower *l, value *x) {
  for (int i = 0; i < 2; i++) {
    const heed_lower_function of = i ? HEED_LOWER_LOG_SUM_EXP : HEED_LOWER_MAX;
    value *by = heed_lower_reduce(l, of, x, 1u << (x->rank - 1));
    x = heed_lower_binary(l, HEED_LOWER_ADD, x, heed_lower_negative(l, by));
    if (!x) return NULL;
  }
  return x;
}

static value *softmax(heed_lower *l, value *x) {
  value *made = heed_lower_new(l, HEED_LOWER_SOFTMAX, x->rank, x->dims, &x, 1);
  if (!made) return NULL;
  made->axis = heed_lower_attention_at(l, l->call.node);
  made->readers = 1;
  return made;
}

/* 1 for the first of the largest entries of the last axis, and 0 for the others. */
static value *hardmax(heed_lower *l, value *x) {
  const uint32_t last = x->rank - 1;
  value *most = heed_lower_reduce(l, HEED_LOWER_ARGMAX, x, 1u << last);
  heed_onnx_array *places = heed_lower_array(l, 1, &x->dims[last]);
  for (uint64_t i = 0; places && i < places->count; i++) places->data[i].f = (double)i;
  return heed_lower_binary(l, HEED_LOWER_EQUAL, most, heed_lower_of_array(l, places));
}

/* Softmax 0, LogSoftmax 1 and Hardmax 2: over the last axis; before opset 13 over all axes from
 * `axis` on. */
static void lower_softmax(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  const bool old = l->call.opset < 13;
  uint32_t axis;
  if (!x) return;
  l->status =
      heed_onnx_axis(&l->call, heed_onnx_integer(&l->call, "axis", old ? 1 : -1), x->rank, &axis);
  if (l->status != HEED_OK) return;
  uint32_t order[HEED_ONNX_MAX_RANK];
  uint64_t joined = 1, dims[HEED_ONNX_MAX_RANK];
  for (uint32_t i = 0; i < x->rank; i++) order[i] = i;
  if (old) {
    for (uint32_t i = 0; i < x->rank; i++) {
      if (i < axis) dims[i] = x->dims[i];
      if (i >= axis) joined *= x->dims[i];
    }
    dims[axis] = joined;
  } else {
    order[axis] = x->rank - 1;
    order[x->rank - 1] = axis;
  }
  value *y = old ? heed_lower_reshape(l, x, axis + 1, dims) : heed_lower_permute(l, x, order);
  value *made = !y ? NULL : kind == 2 ? hardmax(l, y) : kind ? log_softmax(l, y) : softmax(l, y);
  if (!made) return;
  heed_lower_bind(
      l, 0,
      old ? heed_lower_reshape(l, made, x->rank, x->dims) : heed_lower_permute(l, made, order), 0);
}

/* --------------------------------------------------------------------------------------- norms */

/* x over its last `columns` elements, times gain, plus bias: constants [columns]. */
static value *norm_of(heed_lower *l, value *x, uint32_t axis, double epsilon, bool rms, value *gain,
                      value *bias) {
  uint64_t dims[HEED_ONNX_MAX_RANK], columns = 1;
  if (!x || !gain || l->status != HEED_OK) return NULL;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (i < axis) dims[i] = x->dims[i];
    if (i >= axis) columns *= x->dims[i];
  }
  dims[axis] = columns;
  if (heed_lower_size(gain) != columns || (bias && heed_lower_size(bias) != columns) ||
      gain->kind != HEED_LOWER_CONSTANT || (bias && bias->kind != HEED_LOWER_CONSTANT))
    return heed_lower_refuse(l, HEED_UNSUPPORTED, "a norm by computed factors has no kernel");
  value *made = heed_lower_norm(l, heed_lower_reshape(l, x, axis + 1, dims), epsilon, rms);
  if (!made) return NULL;
  made->gain = heed_lower_floats(l, gain);
  made->bias = bias ? heed_lower_floats(l, bias) : NULL;
  return heed_lower_reshape(l, made, x->rank, x->dims);
}

/* LayerNormalization 0; RMSNormalization and SimplifiedLayerNormalization 1. */
static void lower_norm(heed_lower *l, int rms) {
  value *x = heed_lower_input(l, 0), *gain = heed_lower_input(l, 1),
        *bias = !rms && heed_lower_has_input(l, 2) ? heed_lower_input(l, 2) : NULL;
  uint32_t axis;
  if (!x || !gain) return;
  l->status = heed_onnx_axis(&l->call, heed_onnx_integer(&l->call, "axis", -1), x->rank, &axis);
  if (heed_lower_has_output(l, 1) || heed_lower_has_output(l, 2))
    heed_lower_refuse(l, HEED_UNSUPPORTED, "the mean and deviation of a norm have no kernel");
  if (l->status != HEED_OK) return;
  heed_lower_bind(
      l, 0, norm_of(l, x, axis, heed_onnx_float(&l->call, "epsilon", 1e-5), rms, gain, bias), 0);
}

/* SkipLayerNormalization 0, SkipSimplifiedLayerNormalization 1: of x + skip + bias, output 3. */
static void lower_skip_norm(heed_lower *l, int rms) {
  const uint32_t bias_at = rms ? 3 : 4;
  value *x = heed_lower_input(l, 0), *skip = heed_lower_input(l, 1), *gain = heed_lower_input(l, 2);
  value *beta = !rms && heed_lower_has_input(l, 3) ? heed_lower_input(l, 3) : NULL;
  if (!x || x->rank == 0) return;
  if (heed_lower_has_input(l, bias_at))
    x = heed_lower_binary(l, HEED_LOWER_ADD, x, heed_lower_input(l, bias_at));
  x = heed_lower_binary(l, HEED_LOWER_ADD, x, skip);
  if (!x) return;
  heed_lower_bind(
      l, 0,
      norm_of(l, x, x->rank - 1, heed_onnx_float(&l->call, "epsilon", 1e-12), rms, gain, beta), 0);
  if (heed_lower_has_output(l, 3)) heed_lower_bind(l, 3, x, 0);
}

/* ---------------------------------------------------------------------------------- attentions */

/* A mask as what is added to the scores, [B|1, H|1, Tq|1, Tk]: of booleans 0 and -Inf. */
static value *added_mask(heed_lower *l, uint32_t index) {
  if (!heed_lower_has_input(l, index)) return NULL;
  value *mask = heed_lower_input(l, index);
  if (!mask || mask->rank > 4) return heed_lower_refuse(l, HEED_INVALID_FILE, "invalid mask");
  const heed_onnx_array *from =
      mask->kind == HEED_LOWER_CONSTANT ? heed_lower_elements(l, mask) : NULL;
  if (from && from->type == HEED_ONNX_BOOL) {
    heed_onnx_array *to = heed_lower_array(l, mask->rank, mask->dims);
    for (uint64_t i = 0; to && i < to->count; i++) to->data[i].f = from->data[i].i ? 0 : -HUGE_VAL;
    mask = heed_lower_of_array(l, to);
  }
  uint64_t dims[4] = {1, 1, 1, 1};
  for (uint32_t i = 0; mask && i < mask->rank; i++) dims[4 - mask->rank + i] = mask->dims[i];
  return heed_lower_reshape(l, mask, 4, dims);
}

/* The bias with a mask of keys, input `index`, for these sizes. */
static value *with_key_mask(heed_lower *l, uint32_t index, const value *query, const value *key,
                            value *bias) {
  uint64_t dims[4];
  if (!heed_lower_has_input(l, index) || !query || !key) return bias;
  value *mask = heed_lower_input(l, index);
  const heed_onnx_array *from =
      mask && mask->kind == HEED_LOWER_CONSTANT ? heed_lower_elements(l, mask) : NULL;
  if (l->status != HEED_OK) return NULL;
  if (!from || !heed_onnx_key_mask_shape(from, query->dims[0], query->dims[2], key->dims[2], dims))
    return heed_lower_refuse(l, HEED_UNSUPPORTED,
                             "a mask of keys of this shape, or that is computed, has no kernel");
  heed_onnx_array *to = heed_lower_array(l, 4, dims);
  if (!to) return NULL;
  heed_onnx_fill_key_mask(&l->call, from, to);
  value *made = heed_lower_of_array(l, to);
  return bias ? heed_lower_binary(l, HEED_LOWER_ADD, bias, made) : made;
}

/* Query, key or value as [B, H, T, D], after what is past. */
static value *heads_of(heed_lower *l, value *x, int64_t heads, uint32_t past) {
  if (x && x->rank == 3) x = heed_lower_heads_first(l, x, (uint64_t)(heads > 0 ? heads : 0));
  if (!x || x->rank != 4)
    return heed_lower_refuse(l, HEED_INVALID_FILE, "query, key and value do not fit");
  if (!past || !heed_lower_has_input(l, past)) return x;
  value *const parts[] = {heed_lower_input(l, past), x};
  if (parts[0] && parts[0]->rank != 4)
    return heed_lower_refuse(l, HEED_INVALID_FILE, "the past has 4 axes");
  return heed_lower_concat(l, parts, 2, 2);
}

static bool fits(const heed_lower_attention *a) {
  const uint64_t *q = a->query->dims, *k = a->key->dims, *v = a->value->dims;
  if (q[0] != k[0] || q[0] != v[0] || q[3] != k[3] || k[1] != v[1] || k[2] != v[2] || q[1] % k[1])
    return false;
  const uint64_t whole[] = {q[0], q[1], q[2], k[2]};
  for (uint32_t i = 0; a->bias && i < 4; i++)
    if (a->bias->dims[i] != 1 && a->bias->dims[i] != whole[i]) return false;
  return true;
}

/* The weights of an attention as a value of their own. */
static value *weights_of(heed_lower *l, value *attention) {
  if (!attention) return NULL;
  const heed_lower_attention *a = attention->attention;
  const uint64_t dims[] = {a->query->dims[0], a->query->dims[1], a->query->dims[2],
                           a->key->dims[2]};
  value *made = heed_lower_new(l, HEED_LOWER_SOFTMAX, 4, dims, &attention, 1);
  if (!made) return NULL;
  made->owner = attention;
  made->axis = UINT32_MAX;
  return made;
}

/* `present`: outputs 1 and 2 are key and value. */
static void finish(heed_lower *l, heed_lower_attention *a, bool joined, bool present) {
  if (l->status != HEED_OK) return;
  if (!a->query || !a->key || !a->value || !fits(a)) {
    heed_lower_refuse(l, HEED_UNSUPPORTED,
                      "query, key, value and mask of these shapes have no "
                      "kernel");
    return;
  }
  if (a->scale == 0) a->scale = 1 / sqrt((double)a->query->dims[3]);
  value *y = heed_lower_attend(l, a);
  heed_lower_bind(l, 0, joined ? y : heed_lower_heads_first(l, y, a->query->dims[1]), 0);
  if (present && heed_lower_has_output(l, 1)) heed_lower_bind(l, 1, a->key, 0);
  if (present && heed_lower_has_output(l, 2)) heed_lower_bind(l, 2, a->value, 0);
  if (!heed_lower_has_output(l, 3)) return;
  if (heed_onnx_integer(&l->call, "qk_matmul_output_mode", 0) != 3)
    heed_lower_refuse(l, HEED_UNSUPPORTED, "scores as an output have no kernel");
  else
    heed_lower_bind(l, 3, weights_of(l, y), 0);
}

static int64_t past_of(heed_lower *l, uint32_t index) {
  const value *past = heed_lower_has_input(l, index) ? heed_lower_input(l, index) : NULL;
  return past && past->rank == 4 ? (int64_t)past->dims[2] : 0;
}

static void lower_standard(heed_lower *l) {
  const int64_t heads = heed_onnx_integer(&l->call, "q_num_heads", 0),
                key_heads = heed_onnx_integer(&l->call, "kv_num_heads", 0);
  value *q = heed_lower_input(l, 0);
  if (heed_lower_has_input(l, 6)) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "lengths of keys have no kernel");
    return;
  }
  heed_lower_attention a = {.query = heads_of(l, q, heads, 0),
                            .key = heads_of(l, heed_lower_input(l, 1), key_heads, 4),
                            .value = heads_of(l, heed_lower_input(l, 2), key_heads, 5),
                            .bias = added_mask(l, 3),
                            .scale = heed_onnx_float(&l->call, "scale", 0),
                            .softcap = heed_onnx_float(&l->call, "softcap", 0),
                            .causal = heed_onnx_integer(&l->call, "is_causal", 0) != 0,
                            .offset = past_of(l, 4),
                            .left = heed_onnx_integer(&l->call, "left_window_size", -1),
                            .right = heed_onnx_integer(&l->call, "right_window_size", -1),
                            .found = UINT32_MAX};
  finish(l, &a, q && q->rank == 3, true);
}

/* Part `p` of what is past, [2, B, H, P, D], before x [B, H, T, D]. */
static value *behind_past(heed_lower *l, value *x, uint32_t p) {
  if (!heed_lower_has_input(l, 4) || !x) return x;
  value *past = heed_lower_input(l, 4);
  if (!past || past->rank != 5 || past->dims[0] != 2)
    return heed_lower_refuse(l, HEED_INVALID_FILE, "the past does not fit");
  value *const parts[] = {
      heed_lower_reshape(l, heed_lower_slice(l, past, 0, p, 1), 4, past->dims + 1), x};
  return heed_lower_concat(l, parts, 2, 2);
}

/* Output 1 of a packed attention: key and value as one. */
static void bind_packed_present(heed_lower *l, const heed_lower_attention *a) {
  value *parts[] = {a->key, a->value};
  if (!heed_lower_has_output(l, 1) || l->status != HEED_OK) return;
  for (uint32_t p = 0; p < 2; p++) {
    const uint64_t *d = parts[p]->dims, dims[] = {1, d[0], d[1], d[2], d[3]};
    parts[p] = heed_lower_reshape(l, parts[p], 5, dims);
  }
  heed_lower_bind(l, 1, heed_lower_concat(l, parts, 2, 0), 0);
}

/* x [B, T, C] by weights [C, H (2 D + Dv)], plus a bias. */
static void lower_packed(heed_lower *l) {
  const int64_t heads = heed_onnx_integer(&l->call, "num_heads", 0);
  value *x = heed_lower_input(l, 0), *w = heed_lower_input(l, 1), *part[3];
  uint64_t widths[3], first = 0;
  if (!x || !w) return;
  if (x->rank != 3 || w->rank != 2 || heed_lower_has_input(l, 6) ||
      !heed_onnx_packed_widths(&l->call, w->dims[1], widths)) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "weights of these sizes have no kernel");
    return;
  }
  value *y = heed_lower_matmul(l, x, w);
  if (heed_lower_has_input(l, 2))
    y = heed_lower_binary(l, HEED_LOWER_ADD, y, heed_lower_input(l, 2));
  for (uint32_t p = 0; p < 3; first += widths[p++]) {
    part[p] = heads_of(l, heed_lower_slice(l, y, 2, first, widths[p]), heads, 0);
    if (p) part[p] = behind_past(l, part[p], p - 1);
  }
  heed_lower_attention a = {.query = part[0],
                            .key = part[1],
                            .value = part[2],
                            .bias = with_key_mask(l, 3, part[0], part[1], added_mask(l, 5)),
                            .scale = heed_onnx_float(&l->call, "scale", 0),
                            .causal = heed_onnx_integer(&l->call, "unidirectional", 0) != 0,
                            .left = -1,
                            .right = -1,
                            .found = UINT32_MAX};
  if (part[0] && part[1]) a.offset = (int64_t)(part[1]->dims[2] - part[0]->dims[2]);
  finish(l, &a, true, false);
  bind_packed_present(l, &a);
}

static void lower_attention(heed_lower *l, int kind) {
  (void)kind;
  if (strcmp(l->call.node->domain, "com.microsoft") == 0)
    lower_packed(l);
  else
    lower_standard(l);
}

static void lower_multi_head(heed_lower *l, int kind) {
  const int64_t heads = heed_onnx_integer(&l->call, "num_heads", 0);
  value *x[3], *bias = heed_lower_has_input(l, 3) ? heed_lower_input(l, 3) : NULL;
  uint64_t first = 0;
  (void)kind;
  for (uint32_t p = 0; p < 3; p++) {
    x[p] = heed_lower_input(l, p);
    if (!x[p]) return;
    const bool apart = p > 0 && !bias && x[p]->rank == 4;
    if ((x[p]->rank != 3 && !apart) || heed_lower_has_input(l, 8) ||
        (bias && (bias->rank != 1 || first + x[p]->dims[2] > bias->dims[0]))) {
      heed_lower_refuse(l, HEED_UNSUPPORTED, "packed inputs have no kernel");
      return;
    }
    const uint64_t width = x[p]->dims[2];
    if (bias)
      x[p] = heed_lower_binary(l, HEED_LOWER_ADD, x[p], heed_lower_slice(l, bias, 0, first, width));
    first += width;
  }
  if (bias && first != bias->dims[0])
    heed_lower_refuse(l, HEED_INVALID_FILE, "its bias does not fit");
  heed_lower_attention a = {.query = heads_of(l, x[0], heads, 0),
                            .key = heads_of(l, x[1], heads, 6),
                            .value = heads_of(l, x[2], heads, 7),
                            .bias = added_mask(l, 5),
                            .scale = heed_onnx_float(&l->call, "scale", 0),
                            .causal = heed_onnx_integer(&l->call, "unidirectional", 0) != 0,
                            .offset = past_of(l, 6),
                            .left = -1,
                            .right = -1,
                            .found = UINT32_MAX};
  a.bias = with_key_mask(l, 4, a.query, a.key, a.bias);
  if (heed_lower_has_output(l, 3))
    heed_lower_refuse(l, HEED_UNSUPPORTED, "scores as an output have no kernel");
  finish(l, &a, true, true);
}

/* -------------------------------------------------------------------------------------- rotary */

/* A table [rows, R/2], or [B, T, R/2], as the rows of the tokens [T, R/2]: by positions, if given.
 * All items of a batch have the same rows; NULL: they have not. */
static value *rotary_rows(heed_lower *l, value *table, const heed_onnx_array *positions,
                          uint64_t batch, uint64_t tokens) {
  const heed_onnx_array *from =
      heed_lower_is(table, HEED_LOWER_CONSTANT) ? heed_lower_elements(l, table) : NULL;
  if (!from || from->rank < 2) return NULL;
  const uint64_t half = from->dims[from->rank - 1], rows = from->count / half,
                 dims[] = {tokens, half};
  heed_onnx_array *to = heed_lower_array(l, 2, dims);
  for (uint64_t i = 0; to && i < batch * tokens; i++) {
    uint64_t row =
        positions ? (uint64_t)positions->data[positions->count == 1 ? 0 : i].i : i % rows;
    if (positions && positions->count == 1) row += i % tokens;
    if (row >= rows || (!positions && rows != tokens && rows != batch * tokens)) return NULL;
    for (uint64_t k = 0; k < half; k++) {
      const double entry = heed_onnx_number(from, row * half + k);
      heed_onnx_cell *cell = &to->data[i % tokens * half + k];
      if (i >= tokens && cell->f != heed_onnx_round(HEED_ONNX_FLOAT, entry)) return NULL;
      cell->f = heed_onnx_round(HEED_ONNX_FLOAT, entry);
    }
  }
  return heed_lower_of_array(l, to);
}

static void lower_rotary(heed_lower *l, int kind) {
  const bool microsoft = strcmp(l->call.node->domain, "com.microsoft") == 0;
  const uint32_t cos_at = microsoft ? 2 : 1, positions_at = microsoft ? 1 : 3;
  value *x = heed_lower_input(l, 0), *cos = heed_lower_input(l, cos_at),
        *sin = heed_lower_input(l, cos_at + 1);
  const heed_onnx_array *positions =
      heed_lower_has_input(l, positions_at) ? l->call.in[positions_at] : NULL;
  int64_t heads = heed_onnx_integer(&l->call, "num_heads", 0);
  (void)kind;
  if (!x || !cos || !sin) return;
  const int64_t size = heed_onnx_integer(&l->call, "rotary_embedding_dim", 0);
  if (heed_onnx_float(&l->call, "scale", 1) != 1 ||
      (size && cos->rank && (uint64_t)size != 2 * cos->dims[cos->rank - 1])) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "this scale or size of rotations has no kernel");
    return;
  }
  const bool joined = x->rank == 3;
  if (joined && heads < 1 && cos->rank && cos->dims[cos->rank - 1])
    heads = (int64_t)(x->dims[2] / (2 * cos->dims[cos->rank - 1]));
  value *each = joined ? heed_lower_heads_first(l, x, (uint64_t)(heads > 0 ? heads : 0)) : x;
  if (!each) return;
  const bool counts =
      !positions || positions->count == 1 || positions->count == each->dims[0] * each->dims[2];
  value *tables[] = {each, NULL, NULL};
  if (each->rank == 4 && counts && (positions || !heed_lower_has_input(l, positions_at))) {
    tables[1] = rotary_rows(l, cos, positions, each->dims[0], each->dims[2]);
    tables[2] = rotary_rows(l, sin, positions, each->dims[0], each->dims[2]);
  }
  if (!tables[1] || !tables[2]) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "these tables or positions have no kernel");
    return;
  }
  value *made = heed_lower_new(l, HEED_LOWER_ROTARY, 4, each->dims, tables, 3);
  if (!made) return;
  made->function = heed_onnx_integer(&l->call, "interleaved", 0) != 0;
  const uint32_t order[] = {0, 2, 1, 3};
  heed_lower_bind(
      l, 0, joined ? heed_lower_reshape(l, heed_lower_permute(l, made, order), 3, x->dims) : made,
      0);
}

const heed_lower_op heed_lower_blocks[] = {{"Softmax", lower_softmax, 0},
                                           {"LogSoftmax", lower_softmax, 1},
                                           {"Hardmax", lower_softmax, 2},
                                           {"LayerNormalization", lower_norm, 0},
                                           {"RMSNormalization", lower_norm, 1},
                                           {"SimplifiedLayerNormalization", lower_norm, 1},
                                           {"SkipLayerNormalization", lower_skip_norm, 0},
                                           {"SkipSimplifiedLayerNormalization", lower_skip_norm, 1},
                                           {"Attention", lower_attention, 0},
                                           {"MultiHeadAttention", lower_multi_head, 0},
                                           {"RotaryEmbedding", lower_rotary, 0},
                                           {NULL, NULL, 0}};
