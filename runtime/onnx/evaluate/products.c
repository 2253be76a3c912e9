/* Matrix products and convolutions. See evaluate.h. Sums run in double, in order; those of whole
 * numbers are exact, but for their type's range. */
#include <math.h>

#include <string.h>

#include "base/status.h"
#include "onnx/evaluate/windows.h"

typedef heed_onnx_array array;

/* c[M, N] += a[M, K] b[K, N], row by row, so that the inner loop runs along b and c. */
static void multiply(const double *a, const double *b, double *c, uint64_t m, uint64_t k,
                     uint64_t n) {
  for (uint64_t row = 0; row < m; row++)
    for (uint64_t i = 0; i < k; i++) {
      const double factor = a[row * k + i];
      const double *from = b + i * n;
      double *to = c + row * n;
      for (uint64_t column = 0; column < n; column++) to[column] += factor * from[column];
    }
}

/* An input as doubles less a zero point: one, or one along an axis from the end. */
static heed_status as_doubles(heed_onnx_call *call, const array *x, const array *zero,
                              uint32_t from_end, array **made) {
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_DOUBLE, x->rank, x->dims, made));
  const uint64_t inner = from_end == 1 ? 1 : x->rank ? x->dims[x->rank - 1] : 1;
  if (zero && zero->count && x->count && (x->count / inner) % zero->count)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "zero points of another number");
  for (uint64_t i = 0; i < x->count; i++) {
    const double shift =
        zero && zero->count ? heed_onnx_number(zero, zero->count == 1 ? 0 : i / inner % zero->count)
                            : 0;
    (*made)->data[i].f = heed_onnx_number(x, i) - shift;
  }
  return HEED_OK;
}

/* The batch axes of a product, as numpy's matmul has them: a vector is a row or a column. */
typedef struct product {
  array a, b; /* with two axes at least */
  uint64_t m, k, n;
  uint32_t rank;
  uint64_t dims[HEED_ONNX_MAX_RANK + 1];
  array batch;
} product;

static heed_status plan_product(heed_onnx_call *call, const array *x, const array *y, product *p) {
  *p = (product){.a = *x, .b = *y};
  if (x->rank == 0 || y->rank == 0)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "a factor is a single number");
  if (x->rank == 1) {
    p->a.rank = 2;
    p->a.dims[1] = x->dims[0];
    p->a.dims[0] = 1;
  }
  if (y->rank == 1) {
    p->b.rank = 2;
    p->b.dims[1] = 1;
  }
  p->m = p->a.dims[p->a.rank - 2];
  p->k = p->a.dims[p->a.rank - 1];
  p->n = p->b.dims[p->b.rank - 1];
  if (p->b.dims[p->b.rank - 2] != p->k)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "factors do not fit (found %llu and %llu)",
                            (unsigned long long)p->k, (unsigned long long)p->b.dims[p->b.rank - 2]);
  p->a.rank -= 2;
  p->b.rank -= 2;
  HEED_TRY(heed_onnx_broadcast(call, &p->a, &p->b, &p->batch));
  for (uint32_t i = 0; i < p->batch.rank; i++) p->dims[p->rank++] = p->batch.dims[i];
  if (x->rank > 1) p->dims[p->rank++] = p->m;
  if (y->rank > 1) p->dims[p->rank++] = p->n;
  return HEED_OK;
}

/* Elements of doubles behind a cell pointer: cells are unions of 8 bytes that hold doubles. */
static double *doubles(array *x) { return &x->data[0].f; }

/* The same of whole numbers, which wrap around. */
static void multiply_whole(const heed_onnx_cell *a, const heed_onnx_cell *b, heed_onnx_cell *c,
                           uint64_t m, uint64_t k, uint64_t n) {
  for (uint64_t row = 0; row < m; row++)
    for (uint64_t i = 0; i < k; i++)
      for (uint64_t column = 0; column < n; column++) {
        heed_onnx_cell *to = &c[row * n + column];
        to->i =
            (int64_t)((uint64_t)to->i + (uint64_t)a[row * k + i].i * (uint64_t)b[i * n + column].i);
      }
}

/* x and y, or what of them is less its zero point: both doubles, or both whole numbers. */
static heed_status run_product(heed_onnx_call *call, const product *p, array *a, array *b,
                               uint32_t type) {
  array *sums;
  heed_onnx_walk walk;
  const bool whole = a->type == HEED_ONNX_INT64;
  HEED_TRY(heed_onnx_output(call, 0, type, p->rank, p->dims));
  HEED_TRY(heed_onnx_make(call, a->type, p->rank, p->dims, &sums));
  heed_onnx_walk_start(&walk, &p->batch);
  heed_onnx_walk_broadcast(&walk, 0, &p->a);
  heed_onnx_walk_broadcast(&walk, 1, &p->b);
  const uint64_t size = p->m * p->n, batches = heed_onnx_extent(&p->batch, 0, p->batch.rank);
  for (uint64_t i = 0; size && i < batches; i++, heed_onnx_walk_next(&walk)) {
    const uint64_t at = (uint64_t)walk.at[0] * p->m * p->k,
                   with = (uint64_t)walk.at[1] * p->k * p->n;
    if (whole)
      multiply_whole(a->data + at, b->data + with, sums->data + i * size, p->m, p->k, p->n);
    else
      multiply(doubles(a) + at, doubles(b) + with, doubles(sums) + i * size, p->m, p->k, p->n);
  }
  for (uint64_t i = 0; i < sums->count; i++)
    if (whole)
      call->out[0]->data[i].i = heed_onnx_wrap(type, sums->data[i].i);
    else
      heed_onnx_set(call->out[0], i, sums->data[i].f);
  heed_onnx_drop(call->evaluator, sums);
  return HEED_OK;
}

static heed_status copy_whole(heed_onnx_call *call, const array *x, array **made) {
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_INT64, x->rank, x->dims, made));
  memcpy((*made)->data, x->data, (size_t)x->count * sizeof *x->data);
  return HEED_OK;
}

/* MatMul (0) and MatMulInteger (1), whose zero points are of rows of a and columns of b. */
static heed_status run_matmul(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0), *y = x ? heed_onnx_input(call, 1) : NULL;
  const bool integer = heed_onnx_kind(call) == 1;
  array *a = NULL, *b = NULL;
  product p;
  if (!y) return HEED_INVALID_FILE;
  if (!integer && x->type != y->type)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "inputs of two types");
  const array *az = integer && call->in_count > 2 ? call->in[2] : NULL,
              *bz = integer && call->in_count > 3 ? call->in[3] : NULL;
  const bool whole = !integer && !heed_onnx_is_float(x->type);
  HEED_TRY(plan_product(call, x, y, &p));
  HEED_TRY(heed_onnx_count_shape(call, p.rank, p.dims, p.k));
  heed_status status = whole ? copy_whole(call, x, &a) : as_doubles(call, x, az, 2, &a);
  if (status == HEED_OK) status = whole ? copy_whole(call, y, &b) : as_doubles(call, y, bz, 1, &b);
  if (status == HEED_OK) status = run_product(call, &p, a, b, integer ? HEED_ONNX_INT32 : x->type);
  heed_onnx_drop(call->evaluator, a);
  heed_onnx_drop(call->evaluator, b);
  return status;
}

/* alpha A' B' + beta C. */
static heed_status run_gemm(heed_onnx_call *call) {
  const array *a = heed_onnx_input(call, 0), *b = a ? heed_onnx_input(call, 1) : NULL,
              *c = call->in_count > 2 ? call->in[2] : NULL;
  if (!b) return HEED_INVALID_FILE;
  const bool ta = heed_onnx_integer(call, "transA", 0) != 0,
             tb = heed_onnx_integer(call, "transB", 0) != 0;
  const double alpha = heed_onnx_float(call, "alpha", 1), beta = heed_onnx_float(call, "beta", 1);
  const bool whole = !heed_onnx_is_float(a->type);
  if (a->rank != 2 || b->rank != 2 || a->dims[!ta] != b->dims[tb])
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "the matrices do not fit");
  if (a->type != b->type || (c && c->type != a->type))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "inputs of two types");
  if (whole && (alpha != 1 || beta != 1))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED,
                            "factors of whole numbers are not supported (found %g and %g)", alpha,
                            beta);
  const uint64_t m = a->dims[ta], k = a->dims[!ta], n = b->dims[!tb], dims[] = {m, n};
  HEED_TRY(heed_onnx_count_steps(call, m, n, k));
  HEED_TRY(heed_onnx_output(call, 0, a->type, 2, dims));
  heed_onnx_walk walk;
  array shape;
  if (c) HEED_TRY(heed_onnx_broadcast(call, call->out[0], c, &shape));
  if (c && (shape.rank != 2 || shape.dims[0] != m || shape.dims[1] != n))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "C does not fit");
  heed_onnx_walk_start(&walk, call->out[0]);
  if (c) heed_onnx_walk_broadcast(&walk, 0, c);
  for (uint64_t i = 0; i < m * n; i++, heed_onnx_walk_next(&walk)) {
    const uint64_t row = i / n, column = i % n;
    double sum = 0;
    uint64_t exact = 0;
    for (uint64_t x = 0; x < k; x++) {
      const uint64_t from = ta ? x * m + row : row * k + x,
                     with = tb ? column * k + x : x * n + column;
      if (whole)
        exact += (uint64_t)a->data[from].i * (uint64_t)b->data[with].i;
      else
        sum += heed_onnx_number(a, from) * heed_onnx_number(b, with);
    }
    if (whole) {
      exact += c ? (uint64_t)c->data[walk.at[0]].i : 0;
      call->out[0]->data[i].i = heed_onnx_wrap(a->type, (int64_t)exact);
      continue;
    }
    heed_onnx_set(call->out[0], i,
                  alpha * sum + (c ? beta * heed_onnx_number(c, (uint64_t)walk.at[0]) : 0));
  }
  return HEED_OK;
}

/* -------------------------------------------------------------------------------- convolutions */

/* The sum of one output element: `base` is where its group's channels begin in x. */
/* What the zeros around the image give: 0, or NaN where a weight on them is none. */
static double sum_of_padding(const array *w, const heed_onnx_reach *reach, uint32_t axes,
                             uint64_t filter, double wz) {
  const uint64_t taps = heed_onnx_extent(w, 2, axes), count = w->dims[1] * taps;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t tap = i % taps;
    bool inside = true;
    for (uint32_t k = axes; k-- > 0; tap /= w->dims[2 + k]) {
      const uint64_t at = tap % w->dims[2 + k];
      inside &= at >= reach->first[k] && at - reach->first[k] < reach->count[k];
    }
    if (!inside && !isfinite(heed_onnx_number(w, filter * count + i) - wz)) return (double)NAN;
  }
  return 0;
}

static double convolve(const array *x, const array *w, const heed_onnx_windows *v,
                       const uint64_t *at, uint64_t base, uint64_t filter, double xz, double wz,
                       bool finite) {
  const uint64_t plane = heed_onnx_extent(x, 2, v->axes), taps = heed_onnx_extent(w, 2, v->axes);
  heed_onnx_reach reach;
  double sum = 0;
  heed_onnx_window_reach(v, x->dims + 2, at, &reach);
  for (uint64_t c = 0; c < w->dims[1]; c++)
    for (uint64_t t = 0; t < reach.elements; t++) {
      uint64_t tap;
      const uint64_t from = heed_onnx_window_element(v, &reach, x->dims + 2, at, t, &tap);
      sum += (heed_onnx_number(x, base + c * plane + from) - xz) *
             (heed_onnx_number(w, (filter * w->dims[1] + c) * taps + tap) - wz);
    }
  if (!finite && reach.elements < taps) sum += sum_of_padding(w, &reach, v->axes, filter, wz);
  return sum;
}

/* Conv (0) and ConvInteger (1). */
static heed_status run_conv(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0), *w = x ? heed_onnx_input(call, 1) : NULL;
  const bool integer = heed_onnx_kind(call) == 1;
  const array *third = call->in_count > 2 ? call->in[2] : NULL,
              *fourth = integer && call->in_count > 3 ? call->in[3] : NULL,
              *bias = integer ? NULL : third;
  const int64_t groups = heed_onnx_integer(call, "group", 1);
  heed_onnx_windows v;
  if (!w) return HEED_INVALID_FILE;
  if (x->rank < 3 || x->rank != w->rank || groups < 1 || groups > INT32_MAX ||
      x->dims[1] != w->dims[1] * (uint64_t)groups || w->dims[0] % (uint64_t)groups ||
      (bias && bias->count != w->dims[0]) || (integer && third && third->count != 1) ||
      (fourth && fourth->count != 1 && fourth->count != w->dims[0]))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "the filters do not fit the channels");
  HEED_TRY(heed_onnx_read_windows(call, x->rank - 2, x->dims + 2, w->dims + 2, false, &v));
  uint64_t dims[HEED_ONNX_MAX_RANK] = {x->dims[0], w->dims[0]};
  for (uint32_t i = 0; i < v.axes; i++) dims[i + 2] = v.out[i];
  HEED_TRY(heed_onnx_count_shape(call, x->rank, dims,
                                 w->dims[1] * heed_onnx_window_most(&v, x->dims + 2)));
  HEED_TRY(heed_onnx_output(call, 0, integer ? HEED_ONNX_INT32 : x->type, x->rank, dims));
  const uint64_t plane = heed_onnx_extent(x, 2, v.axes), each = w->dims[0] / (uint64_t)groups;
  const double xz = integer && third ? heed_onnx_number(third, 0) : 0;
  bool finite = true;
  for (uint64_t i = 0; finite && i < w->count; i++) finite = isfinite(heed_onnx_number(w, i));
  heed_onnx_walk walk;
  heed_onnx_walk_start(&walk, call->out[0]);
  for (uint64_t i = 0; i < call->out[0]->count; i++, heed_onnx_walk_next(&walk)) {
    const uint64_t filter = walk.index[1], group = filter / each,
                   base = (walk.index[0] * x->dims[1] + group * w->dims[1]) * plane;
    const double wz = fourth ? heed_onnx_number(fourth, fourth->count == 1 ? 0 : filter) : 0;
    heed_onnx_set(call->out[0], i,
                  convolve(x, w, &v, walk.index + 2, base, filter, xz, wz, finite) +
                      (bias ? heed_onnx_number(bias, filter) : 0));
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_products[] = {
    {"MatMul", run_matmul, 0}, {"MatMulInteger", run_matmul, 1}, {"Gemm", run_gemm, 0},
    {"Conv", run_conv, 0},     {"ConvInteger", run_conv, 1},     {NULL, NULL, 0}};
