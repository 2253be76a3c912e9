/* What ops of channels are: a batch norm of inference is a scale and a shift of each channel, and a
 * global pool a reduction. See lower.h. */
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

static bool is_image(heed_lower *l, const value *x) {
  if (x->rank >= 2) return true;
  heed_lower_refuse(l, HEED_INVALID_FILE,
                    "input 0 does not fit (found %u axes, expected floats [B, C, ...])", x->rank);
  return false;
}

static void lower_batch_norm(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  (void)kind;
  if (!x || !is_image(l, x)) return;
  for (uint32_t i = 1; i < 5; i++) {
    value *part = heed_lower_input(l, i);
    if (!part) return;
    if (!heed_lower_is(part, HEED_LOWER_CONSTANT)) {
      heed_lower_refuse(l, HEED_UNSUPPORTED, "a computed norm has no kernel");
      return;
    }
    l->call.in[i] = heed_lower_elements(l, part);
    if (!l->call.in[i]) return;
  }
  l->status = heed_onnx_check_batch_norm(&l->call, x->dims[1]);
  if (l->status != HEED_OK) return;
  uint64_t dims[HEED_ONNX_MAX_RANK] = {x->dims[1], 1, 1, 1, 1, 1, 1, 1};
  heed_onnx_array *scale = heed_lower_array(l, x->rank - 1, dims),
                  *shift = scale ? heed_lower_array(l, x->rank - 1, dims) : NULL;
  if (!shift) return;
  for (uint64_t c = 0; c < x->dims[1]; c++)
    heed_onnx_batch_norm(&l->call, c, &scale->data[c].f, &shift->data[c].f);
  value *y = heed_lower_binary(l, HEED_LOWER_MULTIPLY, x, heed_lower_of_array(l, scale));
  heed_lower_bind(l, 0, heed_lower_binary(l, HEED_LOWER_ADD, y, heed_lower_of_array(l, shift)), 0);
}

static void lower_instance_norm(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0), *parts[2];
  const double epsilon = heed_onnx_float(&l->call, "epsilon", 1e-5);
  (void)kind;
  if (!x || !is_image(l, x)) return;
  const uint64_t channels = x->dims[1], dims[HEED_ONNX_MAX_RANK] = {channels, 1, 1, 1, 1, 1, 1, 1};
  for (uint32_t i = 0; i < 2; i++) {
    if (!(parts[i] = heed_lower_input(l, i + 1))) return;
    l->status = heed_onnx_check_instance_norm(&l->call, i + 1,
                                              heed_onnx_is_float(heed_lower_type(l, i + 1)),
                                              heed_lower_size(parts[i]), channels);
    if (!(parts[i] = heed_lower_reshape(l, parts[i], x->rank - 1, dims))) return;
  }
  const uint64_t rows[] = {x->dims[0], channels, heed_lower_size(x) / (x->dims[0] * channels)};
  value *y = heed_lower_norm(l, heed_lower_reshape(l, x, 3, rows), epsilon, false);
  y = heed_lower_reshape(l, y, x->rank, x->dims);
  y = heed_lower_binary(l, HEED_LOWER_MULTIPLY, y, parts[0]);
  heed_lower_bind(l, 0, heed_lower_binary(l, HEED_LOWER_ADD, y, parts[1]), 0);
}

static void lower_pool(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  if (!x || !is_image(l, x)) return;
  const uint32_t axes = ((1u << x->rank) - 1) & ~3u;
  heed_lower_bind(l, 0, axes ? heed_lower_reduce(l, (heed_lower_function)kind, x, axes) : x, 0);
}

const heed_lower_op heed_lower_channels[] = {{"BatchNormalization", lower_batch_norm, 0},
                                             {"InstanceNormalization", lower_instance_norm, 0},
                                             {"GlobalAveragePool", lower_pool, HEED_LOWER_MEAN},
                                             {"GlobalMaxPool", lower_pool, HEED_LOWER_MAX},
                                             {NULL, NULL, 0}};
