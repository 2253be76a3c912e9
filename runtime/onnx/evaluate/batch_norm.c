/* Ops of channels, the second axis: BatchNormalization, InstanceNormalization, GlobalAveragePool
 * and GlobalMaxPool. See evaluate.h. */
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

static heed_status check_parts(heed_onnx_call *call, uint64_t channels) {
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

heed_status heed_onnx_check_batch_norm(heed_onnx_call *call, uint64_t channels) {
  if (heed_onnx_integer(call, "training_mode", 0))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "a norm in training has no kernel");
  if (call->opset < 7 && !heed_onnx_integer(call, "is_test", 0))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "a norm in training is not supported");
  if (call->node->output_count > 1)
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "outputs of training are not supported");
  return check_parts(call, channels);
}
void heed_onnx_batch_norm(const heed_onnx_call *call, uint64_t channel, double *scale,
                          double *shift) {
  const double variance = heed_onnx_number(call->in[4], channel),
               epsilon = heed_onnx_float(call, "epsilon", 1e-5);
  *scale = heed_onnx_number(call->in[1], channel) / sqrt(variance + epsilon);
  *shift = heed_onnx_number(call->in[2], channel) - heed_onnx_number(call->in[3], channel) * *scale;
}

/* Element i of channel c of [B, C, ...]. */
static uint64_t in_channel(const array *x, uint64_t size, uint64_t c, uint64_t i) {
  return (i / size * x->dims[1] + c) * size + i % size;
}

/* By the mean and variance of each channel itself, as weights are standardised; outputs 1 and 2 are
 * those of the inputs with a share of these. */
static heed_status run_training(heed_onnx_call *call, const array *x) {
  const double momentum = heed_onnx_float(call, "momentum", 0.9),
               epsilon = heed_onnx_float(call, "epsilon", 1e-5);
  const uint64_t size = heed_onnx_extent(x, 2, x->rank - 2), count = x->dims[0] * size;
  HEED_TRY(check_parts(call, x->dims[1]));
  if (call->node->output_count > 3)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "more than 3 outputs of training");
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  for (uint32_t i = 1; i < call->node->output_count; i++)
    HEED_TRY(heed_onnx_output(call, i, call->in[2 + i]->type, 1, &x->dims[1]));
  for (uint64_t c = 0; count && c < x->dims[1]; c++) {
    double mean = 0, variance = 0;
    for (uint64_t i = 0; i < count; i++) mean += x->data[in_channel(x, size, c, i)].f;
    mean /= (double)count;
    for (uint64_t i = 0; i < count; i++) {
      const double d = x->data[in_channel(x, size, c, i)].f - mean;
      variance += d * d / (double)count;
    }
    const double scale = heed_onnx_number(call->in[1], c) / sqrt(variance + epsilon),
                 shift = heed_onnx_number(call->in[2], c), now[] = {mean, variance};
    for (uint64_t i = 0; i < count; i++) {
      const uint64_t at = in_channel(x, size, c, i);
      heed_onnx_set(call->out[0], at, (x->data[at].f - mean) * scale + shift);
    }
    for (uint32_t i = 1; i < call->node->output_count; i++)
      heed_onnx_set(call->out[i], c,
                    heed_onnx_number(call->in[2 + i], c) * momentum + now[i - 1] * (1 - momentum));
  }
  return HEED_OK;
}

static heed_status run_batch_norm(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(check_image(call, x));
  if (heed_onnx_integer(call, "training_mode", 0)) return run_training(call, x);
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

heed_status heed_onnx_check_instance_norm(heed_onnx_call *call, uint32_t index, bool floats,
                                          uint64_t count, uint64_t channels) {
  if (floats && count == channels) return HEED_OK;
  return heed_onnx_refuse(call, HEED_INVALID_FILE,
                          "input %u does not fit (found %llu elements, expected %llu floats)",
                          index, (unsigned long long)count, (unsigned long long)channels);
}

/* Each channel of each item less its mean, by its deviation, times a scale, plus a shift. */
static heed_status run_instance_norm(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  const double epsilon = heed_onnx_float(call, "epsilon", 1e-5);
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(check_image(call, x));
  for (uint32_t i = 1; i < 3; i++) {
    const array *part = heed_onnx_input(call, i);
    if (!part) return HEED_INVALID_FILE;
    HEED_TRY(heed_onnx_check_instance_norm(call, i, heed_onnx_is_float(part->type), part->count,
                                           x->dims[1]));
  }
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  const uint64_t size = heed_onnx_extent(x, 2, x->rank - 2);
  for (uint64_t c = 0; size && c < x->count / size; c++) {
    const heed_onnx_cell *from = x->data + c * size;
    double mean = 0, variance = 0;
    for (uint64_t i = 0; i < size; i++) mean += from[i].f;
    mean /= (double)size;
    for (uint64_t i = 0; i < size; i++) variance += (from[i].f - mean) * (from[i].f - mean);
    const double scale = heed_onnx_number(call->in[1], c % x->dims[1]) /
                         sqrt(variance / (double)size + epsilon),
                 shift = heed_onnx_number(call->in[2], c % x->dims[1]);
    for (uint64_t i = 0; i < size; i++)
      heed_onnx_set(call->out[0], c * size + i, (from[i].f - mean) * scale + shift);
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
                                                 {"InstanceNormalization", run_instance_norm, 0},
                                                 {"GlobalAveragePool", run_pool, 0},
                                                 {"GlobalMaxPool", run_pool, 1},
                                                 {NULL, NULL, 0}};
