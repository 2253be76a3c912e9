/* Quantisation and its opposite. See evaluate.h. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "onnx/evaluate/evaluate.h"

typedef heed_onnx_array array;

/* The least and most number of a type of whole numbers that is quantised to. */
static void range_of(uint32_t type, double *least, double *most) {
  const uint32_t bits = heed_onnx_type_bits(type);
  const bool is_signed = type == HEED_ONNX_INT8 || type == HEED_ONNX_INT16 ||
                         type == HEED_ONNX_INT4 || type == HEED_ONNX_INT2;
  *least = is_signed ? -ldexp(1, (int)bits - 1) : 0;
  *most = ldexp(1, (int)bits - (is_signed ? 1 : 0)) - 1;
}

/* To the nearest even, and within the type. */
static double saturate(uint32_t type, double value) {
  const double rounded = nearbyint(value);
  double least, most;
  range_of(type, &least, &most);
  return !(rounded > least) ? least : rounded > most ? most : rounded;
}

static heed_status run_dynamic(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0);
  double low = 0, high = 0;
  if (!x) return HEED_INVALID_FILE;
  for (uint64_t i = 0; i < x->count; i++) {
    const double value = heed_onnx_number(x, i);
    low = value < low || isnan(value) ? value : low; /* of NaN the scale is NaN, and so it stays */
    high = value > high || isnan(value) ? value : high;
  }
  const float scale = (float)(((float)high - (float)low) / 255.0f);
  const double zero =
      scale > 0 ? saturate(HEED_ONNX_UINT8, (double)((0.0f - (float)low) / scale)) : 0;
  HEED_TRY(heed_onnx_output(call, 0, HEED_ONNX_UINT8, x->rank, x->dims));
  HEED_TRY(heed_onnx_output(call, 1, HEED_ONNX_FLOAT, 0, NULL));
  HEED_TRY(heed_onnx_output(call, 2, HEED_ONNX_UINT8, 0, NULL));
  call->out[1]->data[0].f = (double)scale;
  call->out[2]->data[0].i = (int64_t)zero;
  for (uint64_t i = 0; i < x->count; i++) {
    const double value = scale > 0 ? (double)((float)heed_onnx_number(x, i) / scale) : 0;
    heed_onnx_set(call->out[0], i, saturate(HEED_ONNX_UINT8, nearbyint(value) + zero));
  }
  return HEED_OK;
}

/* Which scale belongs to an element: one of all, one along the axis, or one of each block of it. */
typedef struct grain {
  uint64_t inner, size, block, blocks; /* of the axis; 0 scales: one of all */
  bool single;
} grain;

static heed_status find_grain(heed_onnx_call *call, const array *x, const array *scale, grain *g) {
  const int64_t block = heed_onnx_integer(call, "block_size", 0);
  uint32_t axis;
  *g = (grain){.single = scale->count == 1 && block == 0, .block = 1};
  if (g->single) return HEED_OK;
  HEED_TRY(heed_onnx_axis(call, heed_onnx_integer(call, "axis", 1), x->rank, &axis));
  g->size = x->dims[axis];
  g->inner = heed_onnx_extent(x, axis + 1, x->rank - axis - 1);
  g->block = block > 0 ? (uint64_t)block : 1;
  g->blocks = block > 0 ? g->size / g->block + (g->size % g->block != 0) : g->size;
  const uint64_t expected =
      block > 0 ? heed_onnx_extent(x, 0, axis) * g->blocks * g->inner : g->size;
  if (block > 0 && scale->rank != x->rank)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "scales of another number of axes");
  return scale->count == expected
             ? HEED_OK
             : heed_onnx_refuse(call, HEED_INVALID_FILE, "scales of another number (found %llu)",
                                (unsigned long long)scale->count);
}

static uint64_t scale_at(const grain *g, const array *scale, const array *x, uint64_t i) {
  if (g->single || x->count == 0) return 0;
  const uint64_t along = i / g->inner % g->size;
  if (scale->count == g->size && g->block == 1) return along;
  return (i / g->inner / g->size * g->blocks + along / g->block) * g->inner + i % g->inner;
}

/* QuantizeLinear (0) and DequantizeLinear (1). */
static heed_status run_linear(heed_onnx_call *call) {
  const bool back = heed_onnx_kind(call) == 1;
  const array *x = heed_onnx_input(call, 0), *scale = x ? heed_onnx_input(call, 1) : NULL,
              *zero = call->in_count > 2 ? call->in[2] : NULL;
  grain g;
  if (!scale) return HEED_INVALID_FILE;
  HEED_TRY(find_grain(call, x, scale, &g));
  if (zero && zero->count != scale->count)
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "zero points of another number than scales");
  const int64_t asked = heed_onnx_integer(call, "output_dtype", 0);
  uint32_t type = back    ? scale->type
                  : zero  ? zero->type
                  : asked ? (uint32_t)asked
                          : HEED_ONNX_UINT8;
  if (back && asked) type = (uint32_t)asked;
  const bool small = heed_onnx_is_small_float(type);
  const unsigned how = heed_onnx_integer(call, "saturate", 1) ? HEED_ONNX_SATURATE : 0u;
  if (heed_onnx_type_bits(type) == 0 ||
      (!back && !small && (heed_onnx_type_bits(type) > 16 || heed_onnx_is_float(type))))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "this type is not supported");
  HEED_TRY(heed_onnx_output(call, 0, type, x->rank, x->dims));
  for (uint64_t i = 0; i < x->count; i++) {
    const uint64_t at = scale_at(&g, scale, x, i);
    const double by = heed_onnx_number(scale, at), shift = zero ? heed_onnx_number(zero, at) : 0,
                 value = heed_onnx_number(x, i);
    const double quotient = (double)((float)value / (float)by);
    if (!back && small)
      call->out[0]->data[i].f = heed_onnx_round_small(type, quotient, how);
    else
      heed_onnx_set(call->out[0], i,
                    back ? (value - shift) * by : saturate(type, nearbyint(quotient) + shift));
  }
  return HEED_OK;
}

/* MatMulNBits of com.microsoft: x [..., K] with a matrix [N, K] in blocks of a few bits. */
static heed_status run_blocks(heed_onnx_call *call) {
  const array *x = heed_onnx_input(call, 0), *b = x ? heed_onnx_input(call, 1) : NULL,
              *scale = b ? heed_onnx_input(call, 2) : NULL,
              *zero = call->in_count > 3 ? call->in[3] : NULL,
              *bias = call->in_count > 5 ? call->in[5] : NULL;
  const uint64_t k = (uint64_t)heed_onnx_integer(call, "K", 0),
                 n = (uint64_t)heed_onnx_integer(call, "N", 0),
                 bits = (uint64_t)heed_onnx_integer(call, "bits", 4),
                 block = (uint64_t)heed_onnx_integer(call, "block_size", 0);
  if (!scale) return HEED_INVALID_FILE;
  if (k - 1 > INT32_MAX || n - 1 > INT32_MAX || (bits != 2 && bits != 4 && bits != 8) ||
      block < 8 || block > 65536 || (call->in_count > 4 && call->in[4]))
    return heed_onnx_refuse(call, HEED_UNSUPPORTED, "bits, blocks or g_idx are not supported");
  const uint64_t blocks = (k + block - 1) / block, bytes = block * bits / 8,
                 row = (blocks * bits + 7) / 8;
  const bool packed = zero && zero->type == HEED_ONNX_UINT8;
  if (x->rank == 0 || x->dims[x->rank - 1] != k || b->type != HEED_ONNX_UINT8 ||
      b->count != n * blocks * bytes || scale->count != n * blocks ||
      (zero && zero->count != n * (packed ? row : blocks)) || (bias && bias->count != n))
    return heed_onnx_refuse(call, HEED_INVALID_FILE, "the sizes of its inputs do not fit");
  uint64_t dims[HEED_ONNX_MAX_RANK];
  memcpy(dims, x->dims, sizeof dims);
  dims[x->rank - 1] = n;
  HEED_TRY(heed_onnx_output(call, 0, x->type, x->rank, dims));
  HEED_TRY(heed_onnx_count_steps(call, call->out[0]->count, k, 1));
  const uint64_t mask = (1u << bits) - 1, rows = x->count / k;
  for (uint64_t i = 0; i < n * rows; i++) {
    const uint64_t column = i % n;
    double sum = bias ? heed_onnx_number(bias, column) : 0;
    for (uint64_t at = 0; at < k; at++) {
      const uint64_t which = at / block, bit = at % block * bits;
      const uint64_t q =
          (uint64_t)b->data[(column * blocks + which) * bytes + bit / 8].i >> bit % 8 & mask;
      double shift = (double)(1u << (bits - 1));
      if (packed)
        shift =
            (double)((uint64_t)zero->data[column * row + which * bits / 8].i >> which * bits % 8 &
                     mask);
      else if (zero)
        shift = heed_onnx_number(zero, column * blocks + which);
      sum += heed_onnx_number(x, i / n * k + at) * ((double)q - shift) *
             heed_onnx_number(scale, column * blocks + which);
    }
    heed_onnx_set(call->out[0], i, sum);
  }
  return HEED_OK;
}

const heed_onnx_op_entry heed_onnx_quantisers[] = {{"DynamicQuantizeLinear", run_dynamic, 0},
                                                   {"QuantizeLinear", run_linear, 0},
                                                   {"DequantizeLinear", run_linear, 1},
                                                   {"MatMulNBits", run_blocks, 0},
                                                   {NULL, NULL, 0}};
