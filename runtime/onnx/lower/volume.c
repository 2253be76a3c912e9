/* Convolutions of three axes: what the kernel's first axis meets lies side by side as channels of
 * an image, so that those of two axes do the rest. See lower.h. */
#include "base/status.h"
#include "onnx/lower/lower.h"
#include "onnx/lower/windows.h"

typedef heed_lower_value value;

/* The windows along the last two axes of three. */
static heed_onnx_windows in_plane(const heed_onnx_windows *w) {
  heed_onnx_windows plane = {.axes = 2};
  for (uint32_t i = 0; i < 2; i++) {
    plane.kernel[i] = w->kernel[i + 1];
    plane.stride[i] = w->stride[i + 1];
    plane.dilation[i] = w->dilation[i + 1];
    plane.before[i] = w->before[i + 1];
    plane.after[i] = w->after[i + 1];
    plane.out[i] = w->out[i + 1];
  }
  return plane;
}

/* Whether the kernel takes squares side by side. */
static bool is_patches(const heed_onnx_windows *w) {
  bool is = w->kernel[0] == w->kernel[1];
  for (uint32_t i = 0; i < 2; i++)
    is = is && w->kernel[i] == w->stride[i] && w->dilation[i] == 1 && !w->before[i] && !w->after[i];
  return is;
}

/* Part k: what the k-th plane of the kernel meets, [B T', C, H, W], of x [B, T, C, H, W]. */
static value *met(heed_lower *l, value *x, const heed_onnx_windows *w, uint64_t k) {
  value *part = heed_lower_pick(l, x, 1, k * w->dilation[0], (int64_t)w->stride[0], w->out[0]);
  if (!part) return NULL;
  const uint64_t *dims = part->dims;
  return heed_lower_reshape(l, part, 4, (uint64_t[]){dims[0] * dims[1], dims[2], dims[3], dims[4]});
}

/* Of each channel by itself: a sum over the planes of the kernel. */
static value *by_plane(heed_lower *l, value *x, value *kernel, const heed_onnx_windows *w) {
  const heed_onnx_windows plane = in_plane(w);
  value *y = NULL;
  for (uint64_t k = 0; k < w->kernel[0]; k++) {
    value *weights = heed_lower_reshape(
              l, heed_lower_slice(l, kernel, 2, k, 1), 4,
              (uint64_t[]){kernel->dims[0], kernel->dims[1], w->kernel[1], w->kernel[2]}),
          *part = met(l, x, w, k);
    if (!weights || !part) return NULL;
    part = heed_lower_by_group(l, part, weights, &plane, part->dims[1]);
    y = k ? heed_lower_binary(l, HEED_LOWER_ADD, y, part) : part;
  }
  return y;
}

/* All planes at once: each channel becomes as many as the kernel has planes. */
static value *by_channel(heed_lower *l, value *x, value *kernel, const heed_onnx_windows *w,
                         uint64_t groups) {
  const heed_onnx_windows plane = in_plane(w);
  const uint64_t height = x->dims[3], width = x->dims[4], channels = x->dims[2] * w->kernel[0];
  value **parts = heed_lower_take(l, w->kernel[0], sizeof *parts);
  for (uint64_t k = 0; parts && k < w->kernel[0]; k++) {
    value *part = met(l, x, w, k);
    if (!part) return NULL;
    parts[k] = heed_lower_reshape(l, part, 4,
                                  (uint64_t[]){part->dims[0], part->dims[1], 1, height * width});
  }
  value *image = parts ? heed_lower_concat(l, parts, (uint32_t)w->kernel[0], 2) : NULL;
  if (!image) return NULL;
  image = heed_lower_reshape(l, image, 4, (uint64_t[]){image->dims[0], channels, height, width});
  kernel = heed_lower_reshape(
      l, kernel, 4,
      (uint64_t[]){kernel->dims[0], kernel->dims[1] * w->kernel[0], w->kernel[1], w->kernel[2]});
  if (groups == 1 && is_patches(&plane)) return heed_lower_patches(l, image, kernel);
  return heed_lower_by_group(l, image, kernel, &plane, groups);
}

value *heed_lower_volume(heed_lower *l, value *x, value *kernel, const heed_onnx_windows *w,
                         uint64_t groups) {
  static const uint32_t order[] = {0, 2, 1, 3, 4};
  if (!x || !kernel || l->status != HEED_OK) return NULL;
  if (w->kernel[0] > HEED_LOWER_MOST_PARTS)
    return heed_lower_refuse(l, HEED_UNSUPPORTED, "a convolution of so many parts has no kernel");
  const uint64_t batch = x->dims[0];
  const bool apart = kernel->dims[1] == 1 && (groups > 1 || kernel->dims[0] == 1);
  x = heed_lower_padded(l, x, 2, w->before[0], w->after[0], 0);
  x = x ? heed_lower_permute(l, x, order) : NULL;
  if (!x) return NULL;
  value *y = apart ? by_plane(l, x, kernel, w) : by_channel(l, x, kernel, w, groups);
  if (!y) return NULL;
  y = heed_lower_reshape(l, y, 5,
                         (uint64_t[]){batch, w->out[0], y->dims[1], y->dims[2], y->dims[3]});
  return heed_lower_permute(l, y, order);
}
