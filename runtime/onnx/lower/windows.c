/* Convolutions of each channel by itself, MaxPool and AveragePool: the op depthwise. See lower.h.
 */
#include "onnx/lower/windows.h"

#include "base/status.h"

typedef heed_lower_value value;

value *heed_lower_image(heed_lower *l, value *x, heed_onnx_windows *w) {
  if (!x || l->status != HEED_OK || w->axes != 1) return l->status == HEED_OK ? x : NULL;
  w->axes = 2;
  uint64_t *const of[] = {w->kernel, w->stride, w->dilation, w->before, w->after, w->out};
  for (uint32_t i = 0; i < sizeof of / sizeof *of; i++) {
    of[i][1] = of[i][0];
    of[i][0] = of[i] != w->before && of[i] != w->after;
  }
  return heed_lower_reshape(l, x, 4, (uint64_t[]){x->dims[0], x->dims[1], 1, x->dims[2]});
}

value *heed_lower_without_axis(heed_lower *l, value *x) {
  if (!x) return NULL;
  return heed_lower_reshape(l, x, 3, (uint64_t[]){x->dims[0], x->dims[1], x->dims[3]});
}

value *heed_lower_windows(heed_lower *l, heed_depthwise kind, value *x, value *kernel,
                          const heed_onnx_windows *w, bool count_padding) {
  heed_depthwise_desc *desc = heed_lower_take(l, 1, sizeof *desc);
  if (!desc || !x) return NULL;
  *desc = (heed_depthwise_desc){
      .struct_size = sizeof *desc, .kind = kind, .count_padding = count_padding};
  for (uint32_t i = 0; i < 2; i++) {
    desc->kernel[i] = (uint32_t)w->kernel[i];
    desc->stride[i] = (uint32_t)w->stride[i];
    desc->dilation[i] = (uint32_t)w->dilation[i];
    desc->before[i] = (uint32_t)w->before[i];
    desc->after[i] = (uint32_t)w->after[i];
    desc->size[i] = (uint32_t)w->out[i];
  }
  if (kernel)
    kernel =
        heed_lower_reshape(l, kernel, 3, (uint64_t[]){kernel->dims[0], w->kernel[0], w->kernel[1]});
  value *const inputs[] = {x, kernel};
  const uint64_t dims[] = {x->dims[0], kernel ? kernel->dims[0] : x->dims[1], w->out[0], w->out[1]};
  heed_lower_spend(l, dims[0] * dims[1], dims[2] * dims[3], heed_onnx_window_size(w));
  value *made =
      heed_lower_new(l, HEED_LOWER_WINDOWS, 4, dims, inputs, kind == HEED_DEPTHWISE_SUM ? 2 : 1);
  if (made) made->windows = desc;
  return made;
}

/* Whether the only window is the whole image: then the pool is a reduction, of any size. */
static bool is_whole(const value *x, const heed_onnx_windows *w) {
  for (uint32_t i = 0; i < w->axes; i++)
    if (w->kernel[i] != x->dims[2 + i] || w->before[i] || w->after[i] || w->dilation[i] != 1)
      return false;
  return true;
}

static void lower_pool(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  heed_onnx_windows w;
  if (!x) return;
  l->status = heed_onnx_read_pool(&l->call, x->rank, x->dims, &w);
  if (l->status != HEED_OK) return;
  if (heed_lower_has_output(l, 1)) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "indices of a pool have no kernel");
    return;
  }
  if (is_whole(x, &w)) {
    const heed_lower_function of = kind == HEED_DEPTHWISE_MAX ? HEED_LOWER_MAX : HEED_LOWER_MEAN;
    heed_lower_bind(l, 0, heed_lower_reduce(l, of, x, ((1u << x->rank) - 1) & ~3u), 0);
    return;
  }
  const uint32_t axes = w.axes;
  if (axes > 2 || heed_onnx_window_size(&w) > HEED_LOWER_MOST_TAPS) {
    heed_lower_refuse(l, HEED_UNSUPPORTED,
                      axes > 2 ? "a pool of more than two axes has no kernel"
                               : "a pool of so many elements has no kernel");
    return;
  }
  x = heed_lower_image(l, x, &w);
  value *y = heed_lower_windows(l, (heed_depthwise)kind, x, NULL, &w,
                                heed_onnx_integer(&l->call, "count_include_pad", 0) != 0);
  heed_lower_bind(l, 0, axes == 2 ? y : heed_lower_without_axis(l, y), 0);
}

const heed_lower_op heed_lower_pools[] = {{"AveragePool", lower_pool, HEED_DEPTHWISE_MEAN},
                                          {"MaxPool", lower_pool, HEED_DEPTHWISE_MAX},
                                          {NULL, NULL, 0}};
