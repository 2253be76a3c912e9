/* Ops of channels, the second axis: BatchNormalization of inference, GlobalAveragePool and
 * GlobalMaxPool. See evaluate.h. */
#include <math.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

typedef heed_onnx_array array;

static heed_status check_image(heed_onnx_call *call, const array *x) {
  if (x->rank >= 2 && heed_onnx_is_float(x->type)) return HEED_OK;
  return heed_onnx_refuse(call, HEED_INVALID_FILE,
                          "input 0 does not fit (found %u axes, expected floats [B, C, ...])",
                          x->rank);
}

heed_status heed_onnx_check_batch_norm(heed_onnx_call *call, uint64_t channels) {
  if (heed_onnx_integer(call, "training_mode", 0))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "training_mode is not supported");
  if (call->opset < 7 && !heed_onnx_integer(call, "is_test", 0))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "a norm in training is not supported");
  if (call->node->output_count > 1)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "outputs of training are not supported");
  for (uint32_t i = 1; i < 5; i++) {
    const array *part = heed_onnx_input(call, i);
    if (!part) return HEED_INVALID_FILE;
    if (part->count != channels || !heed_onnx_is_float(part->type))
      return heed_onnx_refuse(call, HEED_INVALID_FILE,
                              "input %u does not fit (found %llu elements, expected %llu floats)",
                              i, (unsigned long long)part->count, (unsigned long long)channels);
  }
  return HEED_OK;
}

void heed_onnx_batch_norm(const heed_onnx_call *call, uint64_t channel, double *scale,
                          double *shift) {
  const double variance = heed_onnx_number(call->in[4], channel),
               epsilon = heed_onnx_float(call, "epsilon", 1e-5);
  *scale = heed_onnx_number(call->in[1], channel) / sqrt(variance + epsilon);
  *shift = heed_onnx_number(call->in[2], channel) - heed_onnx_number(call->in[3], channel) * *scale;
}

static heed_status run_batch_norm(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(check_image(call, x));
  HEED_TRY(heed_onnx_check_batch_norm(call, x->dims[1]));
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  const uint64_t size = heed_onnx_extent(x, 2, x->rank - 2);
  for (uint64_t i = 0; i < x->count; i++) {
    double scale, shift;
    heed_onnx_batch_norm(call, i / size % x->dims[1], &scale, &shift);
    heed_onnx_set(call->out[0], i, x->data[i].f * scale + shift);
  }
  return HEED_OK;
}

/* The mean (0) or maximum (1) of each channel, [B, C, 1, ...]. */
static heed_status run_pool(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  uint64_t dims[HEED_ONNX_MAX_RANK];
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(check_image(call, x));
  const uint64_t size = heed_onnx_extent(x, 2, x->rank - 2);
  if (size == 0) return heed_onnx_refuse(call, HEED_INVALID_FILE, "its channels are empty");
  for (uint32_t i = 0; i < x->rank; i++) dims[i] = i < 2 ? x->dims[i] : 1;
  HEED_TRY(heed_onnx_output(call, 0, x->type, x->rank, dims));
  for (uint64_t c = 0; c < call->out[0]->count; c++) {
    const heed_onnx_cell *part = x->data + c * size;
    double sum = 0, most = part[0].f;
    for (uint64_t i = 0; i < size; i++) {
      sum += part[i].f;
      if (part[i].f > most || isnan(part[i].f)) most = part[i].f;
    }
    heed_onnx_set(call->out[0], c, heed_onnx_kind(call) ? most : sum / (double)size);
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_channels[] = {{"BatchNormalization", run_batch_norm, 0},
                                                 {"GlobalAveragePool", run_pool, 0},
                                                 {"GlobalMaxPool", run_pool, 1},
                                                 {NULL, NULL, 0}};
