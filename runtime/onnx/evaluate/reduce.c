/* Reductions over axes, cumulative sums and places of extremes. See evaluate.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

typedef enum reduction {
  SUM,
  MEAN,
  MAX,
  MIN,
  PROD,
  L1,
  L2,
  SUM_SQUARE,
  LOG_SUM,
  LOG_SUM_EXP
} reduction;

/* The shape that is left, and of each element of x the place of its result. */
typedef struct reducing {
  bool gone[HEED_ONNX_MAX_RANK];
  uint32_t rank;
  uint64_t dims[HEED_ONNX_MAX_RANK], merged; /* merged: elements of each result */
} reducing;

static heed_status choose_axes(heed_onnx_call *call, const heed_onnx_array *x, reducing *r) {
  heed_onnx_list axes;
  HEED_TRY(heed_onnx_read_list(call, "axes", 1, &axes));
  const bool keep = heed_onnx_integer(call, "keepdims", 1) != 0,
             none = heed_onnx_integer(call, "noop_with_empty_axes", 0) != 0;
  *r = (reducing){.merged = 1};
  for (uint32_t i = 0; i < axes.count; i++) {
    uint32_t axis;
    HEED_TRY(heed_onnx_axis(call, axes.item[i], x->rank, &axis));
    r->gone[axis] = true;
  }
  for (uint32_t i = 0; i < x->rank; i++) {
    if (axes.count == 0) r->gone[i] = !none;
    if (r->gone[i]) r->merged *= x->dims[i];
    if (!r->gone[i] || keep) r->dims[r->rank++] = r->gone[i] ? 1 : x->dims[i];
  }
  return HEED_OK;
}

static double start_of(int kind) {
  return kind == MAX || kind == LOG_SUM_EXP ? -HUGE_VAL
         : kind == MIN                      ? HUGE_VAL
         : kind == PROD                     ? 1
                                            : 0;
}

/* Of LOG_SUM_EXP the first pass finds the largest. */
static double add_to(int kind, double so_far, double x) {
  switch (kind) {
    case PROD: return so_far * x;
    case L1: return so_far + fabs(x);
    case L2:
    case SUM_SQUARE: return so_far + x * x;
    case LOG_SUM_EXP:
    case MAX: return isnan(x) || x > so_far ? x : so_far;
    case MIN: return isnan(x) || x < so_far ? x : so_far;
    default: return so_far + x;
  }
}

static double finish(int kind, double sum, uint64_t count) {
  return kind == MEAN      ? sum / (double)count
         : kind == L2      ? sqrt(sum)
         : kind == LOG_SUM ? log(sum)
                           : sum;
}

static void walk_results(const heed_onnx_array *x, const reducing *r, heed_onnx_walk *walk) {
  int64_t step = 1;
  heed_onnx_walk_start(walk, x);
  for (uint32_t i = x->rank; i-- > 0;) {
    walk->stride[0][i] = r->gone[i] ? 0 : step;
    step *= r->gone[i] ? 1 : (int64_t)x->dims[i];
  }
}

/* sum of exp(x - largest), for LOG_SUM_EXP: results hold the largest, and get the whole. */
static heed_status add_exponentials(heed_onnx_call *call, const heed_onnx_array *x,
                                    const reducing *r, heed_onnx_array *sums) {
  heed_onnx_array *most;
  heed_onnx_walk walk;
  HEED_TRY(heed_onnx_make(call, sums->type, sums->rank, sums->dims, &most));
  memcpy(most->data, sums->data, (size_t)sums->count * sizeof *sums->data);
  for (uint64_t i = 0; i < sums->count; i++) sums->data[i].f = 0;
  walk_results(x, r, &walk);
  for (uint64_t i = 0; i < x->count; i++, heed_onnx_walk_next(&walk))
    if (!isinf(most->data[walk.at[0]].f))
      sums->data[walk.at[0]].f += exp(heed_onnx_number(x, i) - most->data[walk.at[0]].f);
  for (uint64_t i = 0; i < sums->count; i++)
    sums->data[i].f =
        isinf(most->data[i].f) ? most->data[i].f : most->data[i].f + log(sums->data[i].f);
  heed_onnx_drop(call->evaluator, most);
  return HEED_OK;
}

/* ------------------------------------------------------------------------ of whole numbers, exact
 */

static bool comes_first(const heed_onnx_array *x, int64_t a, int64_t b, bool least) {
  if (x->type == HEED_ONNX_UINT64)
    return least ? (uint64_t)a < (uint64_t)b : (uint64_t)a > (uint64_t)b;
  return least ? a < b : a > b;
}

static int64_t add_whole(int kind, const heed_onnx_array *x, int64_t so_far, int64_t value,
                         bool first) {
  const uint64_t bits = (uint64_t)value, sum = (uint64_t)so_far,
                 size = value < 0 && x->type != HEED_ONNX_UINT64 ? 0 - bits : bits;
  switch (kind) {
    case PROD: return (int64_t)(first ? bits : sum * bits);
    case L1: return (int64_t)(sum + size);
    case L2:
    case SUM_SQUARE: return (int64_t)(sum + bits * bits);
    case MAX: return first || comes_first(x, value, so_far, false) ? value : so_far;
    case MIN: return first || comes_first(x, value, so_far, true) ? value : so_far;
    default: return (int64_t)(sum + bits);
  }
}

/* Of nothing: the least of the type is the largest, and so on. */
static int64_t of_nothing(int kind, uint32_t type) {
  const uint32_t bits = heed_onnx_type_bits(type);
  const bool is_signed = heed_onnx_wrap(type, -1) < 0 && type != HEED_ONNX_UINT64;
  const int64_t least = is_signed ? (int64_t)(~UINT64_C(0) << (bits - 1)) : 0;
  if (kind == PROD) return 1;
  if (kind == MAX) return least;
  return kind != MIN ? 0 : is_signed || type == HEED_ONNX_BOOL ? heed_onnx_wrap(type, ~least) : -1;
}

static int64_t finish_whole(int kind, uint32_t type, int64_t sum, uint64_t count) {
  if (kind == MEAN && count)
    return type == HEED_ONNX_UINT64 ? (int64_t)((uint64_t)sum / count) : sum / (int64_t)count;
  if (kind == L2) return (int64_t)sqrt((double)(uint64_t)sum);
  return sum;
}

static heed_status reduce_whole(heed_onnx_call *call, int kind, const heed_onnx_array *x,
                                const reducing *r) {
  heed_onnx_array *sums = call->out[0], *seen;
  heed_onnx_walk walk;
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_BOOL, r->rank, r->dims, &seen));
  walk_results(x, r, &walk);
  for (uint64_t i = 0; i < x->count; i++, heed_onnx_walk_next(&walk)) {
    heed_onnx_cell *sum = &sums->data[walk.at[0]], *other = &seen->data[walk.at[0]];
    sum->i = add_whole(kind, x, sum->i, x->data[i].i, !other->i);
    other->i = 1;
  }
  for (uint64_t i = 0; i < sums->count; i++)
    sums->data[i].i = heed_onnx_wrap(
        x->type, seen->data[i].i ? finish_whole(kind, x->type, sums->data[i].i, r->merged)
                                 : of_nothing(kind, x->type));
  heed_onnx_drop(call->evaluator, seen);
  return HEED_OK;
}

static heed_status run_reduce(heed_onnx_call *call) {
  const int kind = heed_onnx_kind(call);
  const heed_onnx_array *x = heed_onnx_input(call, 0);
  heed_onnx_array *sums;
  heed_onnx_walk walk;
  reducing r;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(choose_axes(call, x, &r));
  HEED_TRY(heed_onnx_output(call, 0, x->type, r.rank, r.dims));
  if (!heed_onnx_is_float(x->type) && kind != LOG_SUM && kind != LOG_SUM_EXP)
    return reduce_whole(call, kind, x, &r);
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_DOUBLE, r.rank, r.dims, &sums));
  for (uint64_t i = 0; i < sums->count; i++) sums->data[i].f = start_of(kind);
  walk_results(x, &r, &walk);
  for (uint64_t i = 0; i < x->count; i++, heed_onnx_walk_next(&walk))
    sums->data[walk.at[0]].f = add_to(kind, sums->data[walk.at[0]].f, heed_onnx_number(x, i));
  heed_status status = HEED_OK;
  if (kind == LOG_SUM_EXP) status = add_exponentials(call, x, &r, sums);
  for (uint64_t i = 0; i < sums->count; i++)
    heed_onnx_set(call->out[0], i, finish(kind, sums->data[i].f, r.merged));
  heed_onnx_drop(call->evaluator, sums);
  return status;
}

static heed_status run_cumsum(heed_onnx_call *call) {
  const heed_onnx_array *x = heed_onnx_input(call, 0);
  heed_onnx_list list;
  uint32_t axis;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_read_list(call, NULL, 1, &list));
  if (list.count != 1) return heed_onnx_refuse(call, HEED_INVALID_FILE, "one axis is expected");
  HEED_TRY(heed_onnx_axis(call, list.item[0], x->rank, &axis));
  const bool exclusive = heed_onnx_integer(call, "exclusive", 0) != 0,
             reverse = heed_onnx_integer(call, "reverse", 0) != 0,
             whole = !heed_onnx_is_float(x->type);
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  const uint64_t outer = heed_onnx_extent(x, 0, axis), size = x->dims[axis],
                 inner = heed_onnx_extent(x, axis + 1, x->rank - axis - 1);
  for (uint64_t lane = 0; lane < outer * inner; lane++) {
    double sum = 0;
    uint64_t exact = 0;
    for (uint64_t k = 0; k < size; k++) {
      const uint64_t at =
          (lane / inner * size + (reverse ? size - 1 - k : k)) * inner + lane % inner;
      if (whole) {
        const uint64_t before = exact;
        exact += (uint64_t)x->data[at].i;
        call->out[0]->data[at].i = heed_onnx_wrap(x->type, (int64_t)(exclusive ? before : exact));
        continue;
      }
      const double value = heed_onnx_number(x, at);
      heed_onnx_set(call->out[0], at, exclusive ? sum : sum + value);
      sum += value;
    }
  }
  return HEED_OK;
}

/* Whether element a is chosen before b. */
static bool is_better(const heed_onnx_array *x, uint64_t a, uint64_t b, bool least, bool last) {
  if (!heed_onnx_is_float(x->type)) {
    const int64_t p = x->data[a].i, q = x->data[b].i;
    return comes_first(x, p, q, least) || (last && p == q);
  }
  const double p = x->data[a].f, q = x->data[b].f;
  const bool equal = p == q || (isnan(p) && isnan(q));
  return (least ? p < q : p > q) || (last && equal) || (isnan(p) && !isnan(q));
}

/* ArgMax (0) and ArgMin (1). */
static heed_status run_arg(heed_onnx_call *call) {
  const heed_onnx_array *x = heed_onnx_input(call, 0);
  const bool least = heed_onnx_kind(call) == 1,
             last = heed_onnx_integer(call, "select_last_index", 0),
             keep = heed_onnx_integer(call, "keepdims", 1) != 0;
  uint32_t axis, rank = 0;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", 0), x->rank, &axis));
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != axis || keep) dims[rank++] = i == axis ? 1 : x->dims[i];
  HEED_TRY(heed_onnx_output(call, 0, HEED_ONNX_INT64, rank, dims));
  const uint64_t size = x->dims[axis], inner = heed_onnx_extent(x, axis + 1, x->rank - axis - 1);
  for (uint64_t lane = 0; lane < call->out[0]->count; lane++) {
    uint64_t best = 0;
    for (uint64_t k = 1; k < size; k++) {
      const uint64_t base = lane / inner * size * inner + lane % inner;
      if (is_better(x, base + k * inner, base + best * inner, least, last)) best = k;
    }
    call->out[0]->data[lane].i = (int64_t)best;
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_reduce[] = {{"ReduceSum", run_reduce, SUM},
                                               {"ReduceMean", run_reduce, MEAN},
                                               {"ReduceMax", run_reduce, MAX},
                                               {"ReduceMin", run_reduce, MIN},
                                               {"ReduceProd", run_reduce, PROD},
                                               {"ReduceL1", run_reduce, L1},
                                               {"ReduceL2", run_reduce, L2},
                                               {"ReduceSumSquare", run_reduce, SUM_SQUARE},
                                               {"ReduceLogSum", run_reduce, LOG_SUM},
                                               {"ReduceLogSumExp", run_reduce, LOG_SUM_EXP},
                                               {"CumSum", run_cumsum, 0},
                                               {"ArgMax", run_arg, 0},
                                               {"ArgMin", run_arg, 1},
                                               {NULL, NULL, 0}};
