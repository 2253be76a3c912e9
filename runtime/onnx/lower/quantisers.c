/* What nodes of quantised numbers are. Computed numbers of 8 bits and less are floats that are
 * whole. Where a dynamic quantisation only serves products whose scale multiplies again, the value
 * before it was rounded is taken: nearer to the model than what the file says. See lower.h. */
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* ------------------------------------------------------------------------------------- rounding */

/* The least and most number of a type; false: none that a float holds and heed rounds to. */
static bool range_of(uint32_t type, double *low, double *high) {
  switch (type) {
    case HEED_ONNX_UINT4: *low = 0, *high = 15; return true;
    case HEED_ONNX_INT4: *low = -8, *high = 7; return true;
    case HEED_ONNX_UINT8: *low = 0, *high = 255; return true;
    case HEED_ONNX_INT8: *low = -128, *high = 127; return true;
    case HEED_ONNX_UINT16: *low = 0, *high = 65535; return true;
    case HEED_ONNX_INT16: *low = -32768, *high = 32767; return true;
    default: return false;
  }
}

/* a / b as it stands: by a reciprocal another number would be the nearest. */
static value *quotient(heed_lower *l, value *a, value *b) {
  value *made =
      a && b ? heed_lower_new(l, HEED_LOWER_BINARY, a->rank, a->dims, (value *[]){a, b}, 2) : NULL;
  if (made) made->function = HEED_LOWER_DIVIDE;
  return made;
}

/* x to the nearest even, plus zero (or NULL), within the type. */
static value *saturated(heed_lower *l, value *x, value *zero, uint32_t type) {
  double low, high;
  if (!range_of(type, &low, &high))
    return heed_lower_refuse(l, HEED_UNSUPPORTED, "rounding to this type has no kernel");
  x = heed_lower_unary(l, HEED_LOWER_ROUND, x);
  if (zero) x = heed_lower_binary(l, HEED_LOWER_ADD, x, zero);
  /* NaN is not above the least number, which it becomes */
  x = heed_lower_select(l, heed_lower_binary(l, HEED_LOWER_GREATER, x, heed_lower_number(l, low)),
                        x, heed_lower_number(l, low));
  return heed_lower_binary(l, HEED_LOWER_MINIMUM, x, heed_lower_number(l, high));
}

/* A scale or zero point, of all or along the axis, as it is broadcast with x. */
static value *along(heed_lower *l, const value *x, value *of) {
  uint64_t dims[HEED_ONNX_MAX_RANK];
  uint32_t axis;
  if (!x || !of || l->status != HEED_OK) return NULL;
  if (heed_onnx_integer(&l->call, "block_size", 0))
    return heed_lower_refuse(l, HEED_UNSUPPORTED, "blocks of a computed value have no kernel");
  if (heed_lower_size(of) == 1) return heed_lower_reshape(l, of, 0, NULL);
  l->status = heed_onnx_axis(&l->call, heed_onnx_integer(&l->call, "axis", 1), x->rank, &axis);
  if (l->status != HEED_OK) return NULL;
  if (of->rank != 1 || of->dims[0] != x->dims[axis])
    return heed_lower_refuse(l, HEED_INVALID_FILE, "scales of another number (found %llu)",
                             (unsigned long long)heed_lower_size(of));
  for (uint32_t i = 0; i < x->rank; i++) dims[i] = i == axis ? x->dims[i] : 1;
  return heed_lower_reshape(l, of, x->rank, dims);
}

static void lower_quantise(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0), *scale = along(l, x, heed_lower_input(l, 1)), *zero = NULL;
  uint32_t type = (uint32_t)heed_onnx_integer(&l->call, "output_dtype", 0);
  if (!type) type = HEED_ONNX_UINT8;
  (void)kind;
  if (heed_lower_has_input(l, 2)) {
    zero = along(l, x, heed_lower_input(l, 2));
    type = heed_lower_type(l, 2);
    if (!zero) return;
  }
  heed_lower_bind(l, 0, saturated(l, quotient(l, x, scale), zero, type), type);
}

/* --------------------------------------------------------------------------- without rounding */

/* What a value that comes from a dynamic quantisation is, while nodes are followed. */
typedef enum part {
  NOTHING,
  ROUNDED, /* and the next two in the order of its outputs */
  SCALE,
  ZERO,
  PRODUCT, /* of ROUNDED less ZERO, in whole numbers */
  FLOATS,  /* PRODUCT as floats */
  SCALES   /* SCALE times something */
} part;

/* What is left out is no part. */
static unsigned char *part_of(heed_lower *l, heed_onnx_id of) {
  l->parts[0] = NOTHING;
  return &l->parts[of];
}

/* What the node makes of parts; false: something else than a product that is scaled back. */
static bool follow(heed_lower *l, const heed_onnx_node *node) {
  unsigned char in[4] = {NOTHING, NOTHING, NOTHING, NOTHING};
  unsigned parts = 0;
  for (uint32_t i = 0; i < node->input_count; i++) {
    const unsigned char found = *part_of(l, node->in[i]);
    parts += found != NOTHING;
    if (found != NOTHING && i >= 4) return false;
    if (i < 4) in[i] = found;
  }
  if (parts == 0) return true;
  unsigned char *out = node->output_count ? part_of(l, node->out[0]) : NULL;
  if (!out || *node->domain) return false;
  if (strcmp(node->op, "MatMulInteger") == 0 || strcmp(node->op, "ConvInteger") == 0) {
    *out = PRODUCT;
    return parts == 2 && in[0] == ROUNDED && in[2] == ZERO;
  }
  if (strcmp(node->op, "Cast") == 0) {
    *out = FLOATS;
    return in[0] == PRODUCT;
  }
  if (strcmp(node->op, "Mul") != 0) return false;
  const unsigned char low = in[0] < in[1] ? in[0] : in[1], high = in[0] < in[1] ? in[1] : in[0];
  if (low == NOTHING && high == SCALE) {
    *out = SCALES;
    return true;
  }
  return (high == FLOATS && low == SCALE) || (high == SCALES && low == FLOATS);
}

/* Whether all that the node makes serves products which its scale multiplies again. */
static bool scales_back(heed_lower *l) {
  const heed_onnx_graph *graph = &l->file->model.graph;
  const heed_onnx_node *node = l->call.node;
  const size_t room = l->file->maker_count;
  if (!l->parts) l->parts = heed_lower_take(l, room, 1);
  l->status =
      l->parts ? heed_onnx_count_steps(&l->call, room + graph->node_count, 1, 1) : l->status;
  if (l->status != HEED_OK) return false;
  memset(l->parts, NOTHING, room);
  for (uint32_t i = 0; i < 3 && i < node->output_count; i++)
    *part_of(l, node->out[i]) = (unsigned char)(ROUNDED + i);
  for (uint32_t i = 0; i < graph->node_count; i++)
    if (!follow(l, &graph->nodes[i])) return false;
  for (uint32_t i = 0; i < graph->output_count; i++)
    if (*part_of(l, graph->outputs[i].id) != NOTHING) return false;
  return true;
}

/* The value before it was rounded; 1 stands for its scale, which cancels. */
static void leave_out_rounding(heed_lower *l, value *x) {
  value *made = heed_lower_new(l, HEED_LOWER_QUANTISED, x->rank, x->dims, &x, 1);
  heed_lower_bind(l, 0, made, HEED_ONNX_UINT8);
  for (uint32_t i = 1; i < 3 && l->status == HEED_OK; i++) {
    heed_onnx_array *array = NULL;
    l->status =
        heed_onnx_make(&l->call, i == 1 ? HEED_ONNX_FLOAT : HEED_ONNX_UINT8, 0, NULL, &array);
    if (array && i == 1) array->data[0].f = 1;
    heed_lower_bind_array(l, i, array);
  }
  l->unrounded++;
}

/* To 8 bits between the least and the most element, and 0. */
static void lower_dynamic(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  (void)kind;
  if (!x) return;
  if (scales_back(l)) {
    leave_out_rounding(l, x);
    return;
  }
  if (l->status != HEED_OK) return;
  const uint32_t all = x->rank ? (1u << x->rank) - 1 : 1;
  value *zero = heed_lower_number(l, 0), *low = x, *high = x;
  if (x->rank) {
    low = heed_lower_reduce(l, HEED_LOWER_MIN, x, all);
    high = heed_lower_reduce(l, HEED_LOWER_MAX, x, all);
  }
  low = heed_lower_binary(l, HEED_LOWER_MINIMUM, heed_lower_reshape(l, low, 0, NULL), zero);
  high = heed_lower_binary(l, HEED_LOWER_MAXIMUM, heed_lower_reshape(l, high, 0, NULL), zero);
  value *minus = heed_lower_scale(l, low, -1);
  value *scale =
      quotient(l, heed_lower_binary(l, HEED_LOWER_ADD, high, minus), heed_lower_number(l, 255));
  /* of nothing but zeros the scale is 0, and every number is 0 */
  value *divisor =
      heed_lower_binary(l, HEED_LOWER_MAXIMUM, scale, heed_lower_number(l, (double)1e-37f));
  value *point = saturated(l, quotient(l, minus, divisor), NULL, HEED_ONNX_UINT8);
  value *y = saturated(l, quotient(l, x, divisor), point, HEED_ONNX_UINT8);
  heed_lower_bind(l, 0, y, HEED_ONNX_UINT8);
  if (heed_lower_has_output(l, 1)) heed_lower_bind(l, 1, scale, HEED_ONNX_FLOAT);
  if (heed_lower_has_output(l, 2)) heed_lower_bind(l, 2, point, HEED_ONNX_UINT8);
}

/* ----------------------------------------------------------------------------------- and back */

/* Scales of 1, one for each zero point (or NULL). */
static const heed_onnx_tensor *ones(heed_lower *l, const heed_onnx_tensor *zero) {
  static const unsigned char bytes[] = {0, 0, 0x80, 0x3F};
  static const heed_onnx_tensor one = {
      .name = "1", .type = HEED_ONNX_FLOAT, .count = 1, .bytes = 4, .bytes_here = bytes};
  if (!zero || zero->count == 1) return &one;
  heed_onnx_tensor *all = heed_lower_take(l, 1, sizeof *all);
  unsigned char *list = all ? heed_lower_take(l, zero->count, sizeof bytes) : NULL;
  if (!list) return NULL;
  for (uint64_t i = 0; i < zero->count; i++) memcpy(list + i * sizeof bytes, bytes, sizeof bytes);
  *all = one;
  all->count = all->dims[0] = zero->count;
  all->rank = 1;
  all->bytes = zero->count * sizeof bytes;
  all->bytes_here = list;
  return all;
}

/* A constant (q - zero) scale: in the file where its parts are. */
static value *dequantised(heed_lower *l, uint32_t data, uint32_t scale, uint32_t zero,
                          uint32_t axis) {
  const heed_onnx_node *node = l->call.node;
  const heed_onnx_tensor *zeros =
      heed_lower_has_input(l, zero) ? heed_onnx_tensor_of(l->file, node->in[zero]) : NULL;
  const heed_onnx_weight weight = {
      .name = node->inputs[data],
      .data = heed_onnx_tensor_of(l->file, node->in[data]),
      .scale = scale ? heed_onnx_tensor_of(l->file, node->in[scale]) : ones(l, zeros),
      .zero = zeros,
      .axis = axis};
  if (l->status != HEED_OK) return NULL;
  if (!weight.data || !weight.scale || (heed_lower_has_input(l, zero) && !weight.zero))
    return heed_lower_refuse(l, HEED_UNSUPPORTED, "computed weights have no kernel");
  return heed_lower_of_weight(l, &weight);
}

/* x less its zero point, where it has one. */
static value *from_zero(heed_lower *l, value *x, uint32_t index) {
  if (!x || !heed_lower_has_input(l, index)) return x;
  value *zero = along(l, x, heed_lower_input(l, index));
  if (!zero) return NULL;
  return heed_lower_binary(l, HEED_LOWER_ADD, x, heed_lower_negative(l, zero));
}

static void lower_dequantise(heed_lower *l, int kind) {
  value *x = heed_lower_input(l, 0);
  (void)kind;
  if (!x) return;
  if (x->kind == HEED_LOWER_CONSTANT) {
    const int64_t axis = heed_onnx_integer(&l->call, "axis", 1);
    heed_lower_bind(l, 0, dequantised(l, 0, 1, 2, (uint32_t)(axis < 0 ? axis + x->rank : axis)),
                    heed_lower_type(l, 1));
    return;
  }
  value *y = from_zero(l, x, 2);
  heed_lower_bind(l, 0,
                  heed_lower_binary(l, HEED_LOWER_MULTIPLY, y, along(l, x, heed_lower_input(l, 1))),
                  heed_lower_type(l, 1));
}

/* Products of whole numbers. MatMulInteger 0, ConvInteger 1. */
static void lower_integer(heed_lower *l, int conv) {
  value *x = heed_lower_input(l, 0), *w = heed_lower_input(l, 1);
  if (!x || !w) return;
  const bool unrounded = x->kind == HEED_LOWER_QUANTISED;
  if (w->kind != HEED_LOWER_CONSTANT) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "a product of two computed whole numbers has no kernel");
    return;
  }
  if (!unrounded && heed_lower_has_input(l, 2) && heed_lower_input(l, 2) &&
      heed_lower_size(heed_lower_input(l, 2)) != 1) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "a zero point of each row has no kernel");
    return;
  }
  w = dequantised(l, 1, 0, 3, conv || !w->rank ? 0 : w->rank - 1); /* a zero point of each column */
  x = unrounded ? x->x[0] : from_zero(l, x, 2);
  value *y = conv ? heed_lower_convolution(l, x, w) : heed_lower_matmul(l, x, w), *from = y;
  while (from && (from->kind == HEED_LOWER_RESHAPE || from->kind == HEED_LOWER_PERMUTE))
    from = from->x[0];
  if (from && from->matrix && unrounded) from->matrix->integer = true;
  heed_lower_bind(l, 0, y, HEED_ONNX_INT32);
}

static void lower_blocks_of_bits(heed_lower *l, int kind) {
  const heed_onnx_node *node = l->call.node;
  const int64_t depth = heed_onnx_integer(&l->call, "K", 0),
                rows = heed_onnx_integer(&l->call, "N", 0),
                bits = heed_onnx_integer(&l->call, "bits", 4),
                block = heed_onnx_integer(&l->call, "block_size", 0);
  value *x = heed_lower_input(l, 0);
  (void)kind;
  if (!x || !heed_lower_has_input(l, 1) || !heed_lower_has_input(l, 2)) return;
  heed_onnx_weight weight = {
      .name = node->inputs[1],
      .data = heed_onnx_tensor_of(l->file, node->in[1]),
      .scale = heed_onnx_tensor_of(l->file, node->in[2]),
      .zero = heed_lower_has_input(l, 3) ? heed_onnx_tensor_of(l->file, node->in[3]) : NULL,
      .bits = (uint32_t)bits,
      .block = (uint32_t)block,
      .rank = 2,
      .dims = {(uint64_t)rows, (uint64_t)depth}};
  if (depth < 1 || depth > INT32_MAX || rows < 1 || rows > INT32_MAX || block < 8 ||
      block > 65536 || (bits != 2 && bits != 4 && bits != 8) || block * bits % 8 ||
      heed_lower_has_input(l, 4) || !weight.data || !weight.scale ||
      (heed_lower_has_input(l, 3) && !weight.zero)) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "blocks of this form have no kernel");
    return;
  }
  value *y = heed_lower_linear_of(l, x, heed_lower_of_weight(l, &weight), false);
  if (heed_lower_has_input(l, 5))
    y = heed_lower_binary(l, HEED_LOWER_ADD, y, heed_lower_input(l, 5));
  heed_lower_bind(l, 0, y, 0);
}

const heed_lower_op heed_lower_quantisers[] = {{"DynamicQuantizeLinear", lower_dynamic, 0},
                                               {"QuantizeLinear", lower_quantise, 0},
                                               {"DequantizeLinear", lower_dequantise, 0},
                                               {"MatMulInteger", lower_integer, 0},
                                               {"ConvInteger", lower_integer, 1},
                                               {"MatMulNBits", lower_blocks_of_bits, 0},
                                               {NULL, NULL, 0}};
