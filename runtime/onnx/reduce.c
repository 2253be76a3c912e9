/* Reductions over axes, cumulative sums and places of extremes. See evaluate.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/evaluate.h"

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

static heed_status run_reduce(heed_onnx_call *call) {
  const int kind = heed_onnx_kind(call);
  const heed_onnx_array *x = heed_onnx_input(call, 0);
  heed_onnx_array *sums;
  heed_onnx_walk walk;
  reducing r;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(choose_axes(call, x, &r));
  HEED_TRY(heed_onnx_output(call, 0, x->type, r.rank, r.dims));
  HEED_TRY(heed_onnx_make(call, HEED_ONNX_DOUBLE, r.rank, r.dims, &sums));
  for (uint64_t i = 0; i < sums->count; i++) sums->data[i].f = start_of(kind);
  walk_results(x, &r, &walk);
  for (uint64_t i = 0; i < x->count; i++, heed_onnx_walk_next(&walk))
    sums->data[walk.at[0]].f = add_to(kind, sums->data[walk.at[0]].f, heed_onnx_number(x, i));
  heed_status status = HEED_OK;
  if (kind == LOG_SUM_EXP) status = add_exponentials(call, x, &r, sums);
  /* of no booleans at all the largest is false */
  const bool empty = r.merged == 0 && kind == MAX && x->type == HEED_ONNX_BOOL;
  for (uint64_t i = 0; i < sums->count; i++)
    heed_onnx_set(call->out[0], i, empty ? 0 : finish(kind, sums->data[i].f, r.merged));
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
             reverse = heed_onnx_integer(call, "reverse", 0) != 0;
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  const uint64_t outer = heed_onnx_extent(x, 0, axis), size = x->dims[axis],
                 inner = heed_onnx_extent(x, axis + 1, x->rank - axis - 1);
  for (uint64_t lane = 0; lane < outer * inner; lane++) {
    double sum = 0;
    for (uint64_t k = 0; k < size; k++) {
      const uint64_t at =
          (lane / inner * size + (reverse ? size - 1 - k : k)) * inner + lane % inner;
      const double value = heed_onnx_number(x, at);
      heed_onnx_set(call->out[0], at, exclusive ? sum : sum + value);
      sum += value;
    }
  }
  return HEED_OK;
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
      const double a = heed_onnx_number(x, base + k * inner),
                   b = heed_onnx_number(x, base + best * inner);
      if ((least ? a < b : a > b) || (last && a == b) || (isnan(a) && !isnan(b))) best = k;
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
