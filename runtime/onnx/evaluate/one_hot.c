/* OneHot and TopK. See evaluate.h.
 *
 * Opsets: OneHot 9 takes an index below 0 for none, 11 counts it from the end. TopK 1 has k as an
 * attribute, 10 as an input; 11 has largest and sorted, and says of equal elements that the first
 * comes first. */
#include <math.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

typedef heed_onnx_array array;

static heed_status run_one_hot(heed_onnx_call *call) {
  const array *indices = heed_onnx_input(call, 0),
              *depth = indices ? heed_onnx_input(call, 1) : NULL,
              *values = depth ? heed_onnx_input(call, 2) : NULL;
  uint64_t dims[HEED_ONNX_MAX_RANK + 1];
  uint32_t axis;
  if (!values) return HEED_INVALID_FILE;
  const double size = depth->count == 1 ? heed_onnx_number(depth, 0) : -1;
  if (values->count != 2 || !(size >= 1 && size <= INT32_MAX))
    return heed_onnx_refuse(call, HEED_INVALID_FILE,
                            "its depth and values do not fit (found %g and %llu values, expected "
                            "1 to %d and 2)",
                            size, (unsigned long long)values->count, INT32_MAX);
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", -1), indices->rank + 1, &axis));
  for (uint32_t i = 0; i <= indices->rank; i++)
    dims[i] = i == axis ? (uint64_t)size : indices->dims[i - (i > axis)];
  HEED_TRY(heed_onnx_output(call, 0, values->type, indices->rank + 1, dims));
  array *y = call->out[0];
  const uint64_t inner = heed_onnx_extent(y, axis + 1, y->rank - axis - 1);
  for (uint64_t i = 0; i < y->count; i++) {
    const double at = trunc(
                     heed_onnx_number(indices, i / inner / (uint64_t)size * inner + i % inner)),
                 here = (double)(i / inner % (uint64_t)size);
    const bool on = at == here || (call->opset >= 11 && at + (double)(uint64_t)size == here);
    y->data[i] = values->data[on];
  }
  return HEED_OK;
}

/* Whether a comes before b. A NaN counts as the largest. */
static bool precedes(const array *x, uint64_t a, uint64_t b, bool largest) {
  const heed_onnx_cell *p = &x->data[a], *q = &x->data[b];
  if (!heed_onnx_is_float(x->type)) {
    if (x->type == HEED_ONNX_UINT64)
      return largest ? (uint64_t)p->i > (uint64_t)q->i : (uint64_t)p->i < (uint64_t)q->i;
    return largest ? p->i > q->i : p->i < q->i;
  }
  if (isnan(p->f) || isnan(q->f)) return largest ? !isnan(q->f) : isnan(q->f) && !isnan(p->f);
  return largest ? p->f > q->f : p->f < q->f;
}

static heed_status read_k(heed_onnx_call *call, uint64_t length, uint64_t *k) {
  heed_onnx_list list = {.there = true, .count = 1};
  if (call->opset >= 10)
    HEED_TRY(heed_onnx_read_list(call, NULL, 1, &list));
  else
    list.item[0] = heed_onnx_integer(call, "k", -1);
  if (list.count != 1 || list.item[0] < 0 || (uint64_t)list.item[0] > length)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "k out of range (found %lld, of %llu)",
                            list.count == 1 ? (long long)list.item[0] : -1,
                            (unsigned long long)length);
  *k = (uint64_t)list.item[0];
  return HEED_OK;
}

/* The k first of a row by insertion: elements from `base` on, `inner` apart. */
static void sort_row(const array *x, uint64_t base, uint64_t inner, uint64_t length, uint64_t k,
                     bool largest, heed_onnx_cell *index, uint64_t to) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < length; i++) {
    uint64_t at = count;
    while (at > 0 && precedes(x, base + i * inner,
                              base + (uint64_t)index[to + (at - 1) * inner].i * inner, largest))
      at--;
    if (at >= k) continue;
    if (count < k) count++;
    for (uint64_t m = count - 1; m > at; m--) index[to + m * inner] = index[to + (m - 1) * inner];
    index[to + at * inner].i = (int64_t)i;
  }
}

static heed_status run_top_k(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  uint64_t dims[HEED_ONNX_MAX_RANK], k = 0;
  uint32_t axis;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", -1), x->rank, &axis));
  const uint64_t length = x->dims[axis], inner = heed_onnx_extent(x, axis + 1, x->rank - axis - 1);
  HEED_TRY(read_k(call, length, &k));
  for (uint32_t i = 0; i < x->rank; i++) dims[i] = i == axis ? k : x->dims[i];
  HEED_TRY(heed_onnx_count_steps(call, x->count, k + 1, 1));
  HEED_TRY(heed_onnx_output(call, 0, x->type, x->rank, dims));
  HEED_TRY(heed_onnx_output(call, 1, HEED_ONNX_INT64, x->rank, dims));
  const bool largest = heed_onnx_integer(call, "largest", 1) != 0;
  array *values = call->out[0], *index = call->out[1];
  for (uint64_t row = 0; k > 0 && row < values->count / k; row++) {
    const uint64_t base = row / inner * length * inner + row % inner,
                   to = row / inner * k * inner + row % inner;
    sort_row(x, base, inner, length, k, largest, index->data, to);
    for (uint64_t i = 0; i < k; i++)
      values->data[to + i * inner] =
          x->data[base + (uint64_t)index->data[to + i * inner].i * inner];
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_selections[] = {
    {"OneHot", run_one_hot, 0}, {"TopK", run_top_k, 0}, {NULL, NULL, 0}};
