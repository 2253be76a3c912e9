/* Windows of convolutions and pools. See windows.h. */
#include "onnx/evaluate/windows.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

/* The windows of an axis that hold `room` places beyond the first. */
static uint64_t count_windows(uint64_t room, uint64_t stride, uint64_t begins, bool ceil) {
  const uint64_t whole = room / stride + 1;
  return ceil && room % stride && whole * stride < begins ? whole + 1 : whole;
}

heed_status heed_onnx_read_windows(heed_onnx_call *call, uint32_t axes, const uint64_t *size,
                                   const uint64_t *kernel, bool ceil, heed_onnx_windows *w) {
  heed_onnx_list strides, dilations, pads;
  const char *mode = heed_onnx_text(call, "auto_pad", "NOTSET");
  const bool same = strncmp(mode, "SAME", 4) == 0;
  *w = (heed_onnx_windows){.axes = axes};
  HEED_TRY(heed_onnx_read_list(call, "strides", UINT32_MAX, &strides));
  HEED_TRY(heed_onnx_read_list(call, "dilations", UINT32_MAX, &dilations));
  HEED_TRY(heed_onnx_read_list(call, "pads", UINT32_MAX, &pads));
  if ((strides.there && strides.count != axes) || (pads.there && pads.count != 2 * axes) ||
      (dilations.there && dilations.count != axes))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "strides, dilations or pads of other axes");
  if (strcmp(mode, "NOTSET") != 0) pads.there = false;
  for (uint32_t i = 0; i < axes; i++) {
    const int64_t stride = strides.there ? strides.item[i] : 1,
                  dilation = dilations.there ? dilations.item[i] : 1,
                  before = pads.there ? pads.item[i] : 0,
                  after = pads.there ? pads.item[axes + i] : 0;
    if (stride < 1 || stride > INT32_MAX || dilation < 1 || dilation > INT32_MAX || before < 0 ||
        before > INT32_MAX || after < 0 || after > INT32_MAX || kernel[i] < 1)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "invalid strides, dilations or pads");
    w->kernel[i] = kernel[i];
    w->stride[i] = (uint64_t)stride;
    w->dilation[i] = (uint64_t)dilation;
    w->before[i] = (uint64_t)before;
    w->after[i] = (uint64_t)after;
    const uint64_t extent = (kernel[i] - 1) * w->dilation[i] + 1;
    if (same) {
      const uint64_t reach = (size[i] ? size[i] - 1 : 0) / w->stride[i] * w->stride[i] + extent,
                     total = reach > size[i] ? reach - size[i] : 0;
      w->before[i] = strcmp(mode, "SAME_LOWER") == 0 ? total - total / 2 : total / 2;
      w->after[i] = total - w->before[i];
    }
    const uint64_t whole = size[i] + w->before[i] + w->after[i];
    if (whole < extent)
      return heed_onnx_refuse(call, HEED_INVALID_FILE, "its kernel is larger than its image");
    w->out[i] = count_windows(whole - extent, w->stride[i], size[i] + w->before[i], ceil);
  }
  return HEED_OK;
}

uint64_t heed_onnx_window_size(const heed_onnx_windows *w) {
  uint64_t size = 1;
  for (uint32_t i = 0; i < w->axes; i++)
    if (!heed_u64_mul(size, w->kernel[i], &size)) return UINT64_MAX;
  return size;
}

/* Elements of an axis of the kernel whose place is below `end`. */
static uint64_t taps_below(uint64_t begin, uint64_t dilation, uint64_t kernel, uint64_t end) {
  if (begin >= end) return 0;
  const uint64_t taps = (end - begin - 1) / dilation + 1;
  return taps < kernel ? taps : kernel;
}

void heed_onnx_window_reach(const heed_onnx_windows *w, const uint64_t *size, const uint64_t *at,
                            heed_onnx_reach *reach) {
  reach->elements = 1;
  reach->padded = 1;
  for (uint32_t i = 0; i < w->axes; i++) {
    const uint64_t begin = at[i] * w->stride[i], image = w->before[i], end = image + size[i],
                   first = taps_below(begin, w->dilation[i], w->kernel[i], image);
    reach->first[i] = first;
    reach->count[i] = taps_below(begin, w->dilation[i], w->kernel[i], end) - first;
    reach->elements *= reach->count[i];
    reach->padded *= (double)taps_below(begin, w->dilation[i], w->kernel[i], end + w->after[i]);
  }
}

uint64_t heed_onnx_window_most(const heed_onnx_windows *w, const uint64_t *size) {
  uint64_t most = 1;
  for (uint32_t i = 0; i < w->axes; i++) {
    const uint64_t fit = size[i] / w->dilation[i] + 1;
    if (!heed_u64_mul(most, w->kernel[i] < fit ? w->kernel[i] : fit, &most)) return UINT64_MAX;
  }
  return most;
}

uint64_t heed_onnx_window_element(const heed_onnx_windows *w, const heed_onnx_reach *reach,
                                  const uint64_t *size, const uint64_t *at, uint64_t t,
                                  uint64_t *tap) {
  uint64_t step = 1, taps = 1, element = 0;
  *tap = 0;
  for (uint32_t i = w->axes; i-- > 0; t /= reach->count[i]) {
    const uint64_t k = reach->first[i] + t % reach->count[i];
    element += (at[i] * w->stride[i] + k * w->dilation[i] - w->before[i]) * step;
    *tap += k * taps;
    step *= size[i];
    taps *= w->kernel[i];
  }
  return element;
}
