/* Softmax and normalisations. See evaluate.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

typedef heed_onnx_array array;

enum { SOFTMAX, LOG_SOFTMAX, HARDMAX };

/* The softmax of `size` elements, `step` apart, its logarithm; or 1 for the first of the largest
 * and 0 for the others. */
static void run_row(int kind, const heed_onnx_cell *x, uint64_t size, uint64_t step, array *y,
                    uint64_t base) {
  double most = -HUGE_VAL, sum = 0;
  uint64_t first = 0;
  for (uint64_t k = 0; k < size; k++) {
    const double value = x[k * step].f;
    if (value > most || (isnan(value) && !isnan(most))) first = k;
    if (value > most || isnan(value)) most = value;
  }
  for (uint64_t k = 0; k < size; k++) sum += exp(x[k * step].f - most);
  for (uint64_t k = 0; k < size; k++) {
    const double shifted = x[k * step].f - most;
    heed_onnx_set(y, base + k * step,
                  kind == HARDMAX       ? k == first
                  : kind == LOG_SOFTMAX ? shifted - log(sum)
                                        : exp(shifted) / sum);
  }
}

/* Before opset 13 all axes from `axis` on are one. */
static heed_status run_softmax(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  const bool merged = call->opset < 13;
  uint32_t axis;
  if (!x) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", merged ? 1 : -1), x->rank, &axis));
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  const uint64_t inner = merged ? 1 : heed_onnx_extent(x, axis + 1, x->rank - axis - 1),
                 size = merged ? heed_onnx_extent(x, axis, x->rank - axis) : x->dims[axis],
                 lanes = size ? x->count / size : 0;
  for (uint64_t lane = 0; lane < lanes; lane++) {
    const uint64_t base = lane / inner * size * inner + lane % inner;
    run_row(heed_onnx_kind(call), x->data + base, size, inner, call->out[0], base);
  }
  return HEED_OK;
}

/* y = gain (x - mean) / sqrt(variance + epsilon) + bias over `size` elements; rms: mean 0. */
typedef struct norm {
  const array *gain, *bias;
  array *y, *mean, *inverse; /* mean and inverse: of lanes, or NULL */
  uint64_t size;
  double epsilon;
  bool rms;
} norm;

static void run_lane(const norm *n, const array *x, uint64_t lane) {
  const uint64_t base = lane * n->size;
  double mean = 0, variance = 0;
  for (uint64_t k = 0; !n->rms && k < n->size; k++) mean += x->data[base + k].f;
  mean /= (double)n->size;
  for (uint64_t k = 0; k < n->size; k++) {
    const double d = x->data[base + k].f - mean;
    variance += d * d;
  }
  const double inverse = 1 / sqrt(variance / (double)n->size + n->epsilon);
  if (n->mean) heed_onnx_set(n->mean, lane, mean);
  if (n->inverse) heed_onnx_set(n->inverse, lane, inverse);
  for (uint64_t k = 0; k < n->size; k++) {
    const double value = (x->data[base + k].f - mean) * inverse;
    heed_onnx_set(n->y, base + k,
                  value * (n->gain ? heed_onnx_number(n->gain, k % n->gain->count) : 1) +
                      (n->bias ? heed_onnx_number(n->bias, k % n->bias->count) : 0));
  }
}

/* Whether a part is repeated along the first axes of the whole: its shape is the end of that one's.
 */
static bool repeats(const array *whole, const array *part) {
  uint32_t skipped = 0;
  while (skipped < part->rank && part->dims[skipped] == 1) skipped++;
  const uint32_t rank = part->rank - skipped;
  for (uint32_t i = 0; i < rank; i++)
    if (rank > whole->rank || part->dims[skipped + i] != whole->dims[whole->rank - rank + i])
      return false;
  return part->count > 0;
}

static heed_status check_norm(heed_onnx_call *call, const array *x, const norm *n) {
  if (n->size == 0 || !heed_onnx_is_float(x->type) ||
      (n->gain && (!repeats(x, n->gain) || n->size % n->gain->count)) ||
      (n->bias && (!repeats(x, n->bias) || n->size % n->bias->count)))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "scale and bias do not fit the axes");
  return HEED_OK;
}

/* LayerNormalization (0), RMSNormalization and SimplifiedLayerNormalization (1). */
static heed_status run_layer_norm(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0), *gain = x ? heed_onnx_input(call, 1) : NULL;
  const bool rms = heed_onnx_kind(call) == 1;
  uint32_t axis;
  if (!gain) return HEED_INVALID_FILE;
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", -1), x->rank, &axis));
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  norm n = {.gain = gain,
            .bias = !rms && call->in_count > 2 ? call->in[2] : NULL,
            .y = call->out[0],
            .size = heed_onnx_extent(x, axis, x->rank - axis),
            .epsilon = heed_onnx_float(call, "epsilon", 1e-5),
            .rms = rms};
  HEED_TRY(check_norm(call, x, &n));
  uint64_t dims[HEED_ONNX_MAX_RANK];
  for (uint32_t i = 0; i < x->rank; i++) dims[i] = i < axis ? x->dims[i] : 1;
  for (uint32_t i = 1; i < 3 && i < call->node->output_count; i++)
    HEED_TRY(heed_onnx_output(call, i, HEED_ONNX_FLOAT, x->rank, dims));
  n.mean = rms ? NULL : call->out[1];
  n.inverse = rms ? call->out[1] : call->out[2];
  for (uint64_t lane = 0; lane < x->count / n.size; lane++) run_lane(&n, x, lane);
  return HEED_OK;
}

/* SkipLayerNormalization (0) and SkipSimplifiedLayerNormalization (1) of com.microsoft: of input +
 * skip + bias, which is output 3. */
static heed_status run_skip_norm(heed_onnx_call *call) {
  const bool rms = heed_onnx_kind(call) == 1;
  const array *x = heed_onnx_input(call, 0), *skip = x ? heed_onnx_input(call, 1) : NULL,
              *gain = skip ? heed_onnx_input(call, 2) : NULL;
  const uint32_t bias_at = rms ? 3 : 4;
  const array *bias = call->in_count > bias_at ? call->in[bias_at] : NULL;
  if (!gain) return HEED_INVALID_FILE;
  if (x->rank == 0 || !repeats(x, skip) ||
      (bias && (bias->rank != 1 || bias->count != x->dims[x->rank - 1])))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "skip or bias do not fit");
  HEED_TRY(heed_onnx_output_like(call, 0, x));
  HEED_TRY(heed_onnx_output_like(call, 3, x));
  norm n = {.gain = gain,
            .bias = !rms && call->in_count > 3 ? call->in[3] : NULL,
            .y = call->out[0],
            .size = x->dims[x->rank - 1],
            .epsilon = heed_onnx_float(call, "epsilon", 1e-12),
            .rms = rms};
  HEED_TRY(check_norm(call, x, &n));
  for (uint64_t i = 0; i < x->count; i++)
    heed_onnx_set(call->out[3], i,
                  x->data[i].f + heed_onnx_number(skip, i % skip->count) +
                      (bias ? heed_onnx_number(bias, i % bias->count) : 0));
  for (uint64_t lane = 0; lane < x->count / n.size; lane++) run_lane(&n, call->out[3], lane);
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_norms[] = {
    {"Softmax", run_softmax, SOFTMAX},
    {"LogSoftmax", run_softmax, LOG_SOFTMAX},
    {"Hardmax", run_softmax, HARDMAX},
    {"LayerNormalization", run_layer_norm, 0},
    {"RMSNormalization", run_layer_norm, 1},
    {"SimplifiedLayerNormalization", run_layer_norm, 1},
    {"SkipLayerNormalization", run_skip_norm, 0},
    {"SkipSimplifiedLayerNormalization", run_skip_norm, 1},
    {NULL, NULL, 0}};
