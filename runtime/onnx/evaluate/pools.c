/* MaxPool and AveragePool of any number of axes. See evaluate.h, windows.h.
 *
 * Opsets: MaxPool 8 gives indices, 10 has ceil_mode and dilations, 12 whole numbers of 8 bits;
 * AveragePool 7 has count_include_pad, 10 ceil_mode, 19 dilations. None changes what an older file
 * says. A window that would begin behind the image is left out, as the standard says since opset
 * 22; what ceil_mode adds behind the padding no mean counts. */
#include <math.h>

#include "base/status.h"
#include "onnx/evaluate/windows.h"

typedef heed_onnx_array array;

heed_status heed_onnx_read_pool(heed_onnx_call *call, uint32_t rank, const uint64_t *dims,
                                heed_onnx_windows *w) {
  heed_onnx_list kernel;
  uint64_t size[HEED_ONNX_MOST_LIST];
  HEED_TRY(heed_onnx_read_list(call, "kernel_shape", UINT32_MAX, &kernel));
  if (rank < 3 || kernel.count != rank - 2)
    return heed_onnx_refuse(call, HEED_INVALID_FILE,
                            "kernel_shape does not fit (found %u axes, of %u of the input)",
                            kernel.count, rank);
  for (uint32_t i = 0; i < kernel.count; i++) {
    if (kernel.item[i] < 1 || kernel.item[i] > INT32_MAX)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "kernel_shape out of range (found %lld)",
                              (long long)kernel.item[i]);
    size[i] = (uint64_t)kernel.item[i];
  }
  HEED_TRY(heed_onnx_read_windows(call, kernel.count, dims + 2, size,
                                  heed_onnx_integer(call, "ceil_mode", 0) != 0, w));
  for (uint32_t i = 0; i < w->axes; i++) {
    const uint64_t extent = (w->kernel[i] - 1) * w->dilation[i] + 1;
    if (w->before[i] >= extent || w->after[i] >= extent)
      return heed_onnx_refuse(call, HEED_INVALID_FILE,
                              "its padding is not smaller than its kernel (found %llu and %llu, "
                              "of %llu)",
                              (unsigned long long)w->before[i], (unsigned long long)w->after[i],
                              (unsigned long long)extent);
  }
  return HEED_OK;
}

/* The number of an element of a channel where its first axis counts fastest. */
static uint64_t by_columns(const array *x, uint64_t element) {
  uint64_t number = 0;
  for (uint32_t i = x->rank; i-- > 2; element /= x->dims[i])
    number += element % x->dims[i] * heed_onnx_extent(x, 2, i - 2);
  return number;
}

static heed_status put_most(heed_onnx_call *call, const array *x, const heed_onnx_windows *w,
                            const heed_onnx_walk *walk, uint64_t base, uint64_t to) {
  heed_onnx_reach reach;
  uint64_t most = 0, tap;
  heed_onnx_window_reach(w, x->dims + 2, walk->index + 2, &reach);
  const bool any = reach.elements > 0;
  for (uint64_t t = 0; t < reach.elements; t++) {
    const uint64_t element =
        heed_onnx_window_element(w, &reach, x->dims + 2, walk->index + 2, t, &tap);
    const double v = heed_onnx_number(x, base + element), best = heed_onnx_number(x, base + most);
    if (t == 0 || v > best || (isnan(v) && !isnan(best))) most = element;
  }
  if (!any && !heed_onnx_is_float(x->type))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "a window holds nothing");
  if (any)
    call->out[0]->data[to] = x->data[base + most];
  else
    call->out[0]->data[to].f = -HUGE_VAL;
  if (call->out[1])
    call->out[1]->data[to].i =
        (int64_t)(base +
                  (heed_onnx_integer(call, "storage_order", 0) == 1 ? by_columns(x, most) : most));
  return HEED_OK;
}

static void put_mean(heed_onnx_call *call, const array *x, const heed_onnx_windows *w,
                     const heed_onnx_walk *walk, uint64_t base, uint64_t to) {
  const bool padding = heed_onnx_integer(call, "count_include_pad", 0) != 0;
  heed_onnx_reach reach;
  uint64_t tap;
  double sum = 0;
  heed_onnx_window_reach(w, x->dims + 2, walk->index + 2, &reach);
  for (uint64_t t = 0; t < reach.elements; t++)
    sum +=
        x->data[base + heed_onnx_window_element(w, &reach, x->dims + 2, walk->index + 2, t, &tap)]
            .f;
  heed_onnx_set(call->out[0], to, sum / (padding ? reach.padded : (double)reach.elements));
}

/* AveragePool (0) and MaxPool (1). */
static heed_status run_pool(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  const bool most = heed_onnx_kind(call) == 1;
  heed_onnx_windows w;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (!x) return HEED_INVALID_FILE;
  if (!heed_onnx_is_float(x->type) &&
      (!most || (x->type != HEED_ONNX_INT8 && x->type != HEED_ONNX_UINT8)))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "input 0 is of another type");
  HEED_TRY(heed_onnx_read_pool(call, x->rank, x->dims, &w));
  for (uint32_t i = 0; i < x->rank; i++) dims[i] = i < 2 ? x->dims[i] : w.out[i - 2];
  HEED_TRY(heed_onnx_count_shape(call, x->rank, dims, heed_onnx_window_most(&w, x->dims + 2)));
  HEED_TRY(heed_onnx_output(call, 0, x->type, x->rank, dims));
  if (call->node->output_count > 1 && call->node->out[1])
    HEED_TRY(heed_onnx_output(call, 1, HEED_ONNX_INT64, x->rank, dims));
  const uint64_t plane = heed_onnx_extent(x, 2, w.axes);
  heed_onnx_walk walk;
  heed_onnx_walk_start(&walk, call->out[0]);
  for (uint64_t i = 0; i < call->out[0]->count; i++, heed_onnx_walk_next(&walk)) {
    const uint64_t base = (walk.index[0] * x->dims[1] + walk.index[1]) * plane;
    if (most)
      HEED_TRY(put_most(call, x, &w, &walk, base, i));
    else
      put_mean(call, x, &w, &walk, base, i);
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_pools[] = {
    {"AveragePool", run_pool, 0}, {"MaxPool", run_pool, 1}, {NULL, NULL, 0}};
