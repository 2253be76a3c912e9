/* Einsum of one or two values as sums, permutations and a product. See lower.h, einsum.h. */
#include "onnx/evaluate/einsum.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

typedef struct list {
  uint8_t label[HEED_ONNX_EINSUM_LABELS];
  uint32_t count;
} list;

static uint32_t axis_of(const heed_onnx_einsum *e, uint32_t input, uint32_t label) {
  uint32_t axis = 0;
  while (axis < e->rank[input] && e->label[input][axis] != label) axis++;
  return axis;
}

static bool has(const heed_onnx_einsum *e, uint32_t input, uint32_t label) {
  return input < e->inputs && axis_of(e, input, label) < e->rank[input];
}

/* x without the labels that it alone has and the output has not: they stay as axes of 1. */
static value *sum_own(heed_lower *l, const heed_onnx_einsum *e, uint32_t input, value *x) {
  uint32_t axes = 0;
  for (uint32_t i = e->outputs; i < e->labels; i++)
    if (has(e, input, i) && !has(e, 1 - input, i)) axes |= 1u << axis_of(e, input, i);
  return axes ? heed_lower_reduce(l, HEED_LOWER_SUM, x, axes) : x;
}

/* x with the axes of the labels in this order, and then those that were summed. */
static value *in_order(heed_lower *l, const heed_onnx_einsum *e, uint32_t input, value *x,
                       const list *labels) {
  uint32_t order[HEED_ONNX_MAX_RANK], count = 0, taken = 0;
  for (uint32_t i = 0; i < labels->count; i++) {
    order[count] = axis_of(e, input, labels->label[i]);
    taken |= 1u << order[count++];
  }
  for (uint32_t i = 0; x && i < x->rank; i++)
    if (!(taken >> i & 1)) order[count++] = i;
  return heed_lower_permute(l, x, order);
}

static void add_all(list *to, const list *from) {
  for (uint32_t i = 0; i < from->count; i++) to->label[to->count++] = from->label[i];
}

/* Of one value, or of both together. */
static uint64_t extent(const value *x, uint32_t first, uint32_t count) {
  uint64_t size = 1;
  for (uint32_t i = first; x && i < first + count; i++) size *= x->dims[i];
  return size;
}

/* [batch, first, second] with an axis for each of `batch` and one for all labels of the others. */
static value *as_factor(heed_lower *l, const heed_onnx_einsum *e, uint32_t input, value *x,
                        const list *batch, const list *first, const list *second) {
  list all = *batch;
  uint64_t dims[HEED_ONNX_MAX_RANK + 2];
  add_all(&all, first);
  add_all(&all, second);
  x = in_order(l, e, input, sum_own(l, e, input, x), &all);
  for (uint32_t i = 0; x && i < batch->count; i++) dims[i] = x->dims[i];
  dims[batch->count] = extent(x, batch->count, first->count);
  dims[batch->count + 1] = extent(x, batch->count + first->count, second->count);
  return heed_lower_reshape(l, x, batch->count + 2, dims);
}

/* The axes of `made` are the labels in this order: as the output has them. */
static value *as_output(heed_lower *l, const heed_onnx_einsum *e, value *made, const list *labels) {
  uint64_t dims[HEED_ONNX_EINSUM_LABELS];
  uint32_t order[HEED_ONNX_MAX_RANK];
  for (uint32_t i = 0; i < labels->count; i++) {
    dims[i] = e->size[labels->label[i]];
    order[labels->label[i]] = i;
  }
  return heed_lower_permute(l, heed_lower_reshape(l, made, labels->count, dims), order);
}

static value *of_two(heed_lower *l, const heed_onnx_einsum *e, value *const x[2]) {
  list batch = {.count = 0}, left = batch, right = batch, inner = batch;
  for (uint32_t i = 0; i < e->labels; i++) {
    const bool a = has(e, 0, i), b = has(e, 1, i), out = i < e->outputs;
    list *to = a && b ? out ? &batch : &inner : !out ? NULL : a ? &left : &right;
    if (to) to->label[to->count++] = (uint8_t)i;
    if (to == &inner && x[0]->dims[axis_of(e, 0, i)] != x[1]->dims[axis_of(e, 1, i)])
      return heed_lower_refuse(l, HEED_UNSUPPORTED, "an axis of 1 that is summed has no kernel");
  }
  if (batch.count + 2 > HEED_ONNX_MAX_RANK)
    return heed_lower_refuse(l, HEED_UNSUPPORTED, "too many axes");
  value *a = as_factor(l, e, 0, x[0], &batch, &left, &inner),
        *b = as_factor(l, e, 1, x[1], &batch, &inner, &right), *made = heed_lower_matmul(l, a, b);
  add_all(&batch, &left);
  add_all(&batch, &right);
  return as_output(l, e, made, &batch);
}

static value *of_one(heed_lower *l, const heed_onnx_einsum *e, value *x) {
  list all = {.count = 0};
  for (uint32_t i = 0; i < e->outputs; i++) all.label[all.count++] = (uint8_t)i;
  return as_output(l, e, in_order(l, e, 0, sum_own(l, e, 0, x), &all), &all);
}

static void lower_einsum(heed_lower *l, int kind) {
  const uint32_t count = l->call.node->input_count;
  value *x[2] = {NULL, NULL};
  const uint64_t *dims[2];
  uint32_t rank[2];
  heed_onnx_einsum e;
  (void)kind;
  if (count == 0 || count > 2) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "an Einsum of %u inputs has no kernel", count);
    return;
  }
  for (uint32_t k = 0; k < count; k++) {
    if (!(x[k] = heed_lower_input(l, k))) return;
    rank[k] = x[k]->rank;
    dims[k] = x[k]->dims;
  }
  l->status = heed_onnx_read_einsum(&l->call, count, rank, dims, &e);
  for (uint32_t k = 0; k < count && l->status == HEED_OK; k++)
    for (uint32_t i = 0; i < rank[k]; i++)
      if (axis_of(&e, k, e.label[k][i]) != i)
        heed_lower_refuse(l, HEED_UNSUPPORTED, "a diagonal has no kernel");
  if (l->status == HEED_OK)
    heed_lower_bind(l, 0, count == 1 ? of_one(l, &e, x[0]) : of_two(l, &e, x), 0);
}

const heed_lower_op heed_lower_einsums[] = {{"Einsum", lower_einsum, 0}, {NULL, NULL, 0}};
