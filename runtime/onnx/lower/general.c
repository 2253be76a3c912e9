/* Expressions as heed's general ops, which graphs of other programs need. See lower.h. */
#include <string.h>

#include "base/status.h"
#include "onnx/lower/lower.h"

typedef heed_lower_value value;

/* What the general ops call a function; -1: they have it not. */
static int elementwise_of(heed_lower_function function) {
  switch (function) {
    case HEED_LOWER_ADD: return HEED_ELEMENTWISE_ADD;
    case HEED_LOWER_MULTIPLY: return HEED_ELEMENTWISE_MULTIPLY;
    case HEED_LOWER_DIVIDE: return HEED_ELEMENTWISE_DIVIDE;
    case HEED_LOWER_POWER: return HEED_ELEMENTWISE_POWER;
    case HEED_LOWER_MINIMUM: return HEED_ELEMENTWISE_MINIMUM;
    case HEED_LOWER_MAXIMUM: return HEED_ELEMENTWISE_MAXIMUM;
    case HEED_LOWER_ERF: return HEED_ELEMENTWISE_ERF;
    case HEED_LOWER_EXP: return HEED_ELEMENTWISE_EXP;
    case HEED_LOWER_LOG: return HEED_ELEMENTWISE_LOG;
    case HEED_LOWER_SQUARE_ROOT: return HEED_ELEMENTWISE_SQUARE_ROOT;
    case HEED_LOWER_RECIPROCAL: return HEED_ELEMENTWISE_RECIPROCAL;
    case HEED_LOWER_ABSOLUTE: return HEED_ELEMENTWISE_ABSOLUTE;
    case HEED_LOWER_SIN: return HEED_ELEMENTWISE_SIN;
    case HEED_LOWER_COS: return HEED_ELEMENTWISE_COS;
    case HEED_LOWER_FLOOR: return HEED_ELEMENTWISE_FLOOR;
    case HEED_LOWER_CEIL: return HEED_ELEMENTWISE_CEIL;
    case HEED_LOWER_ROUND: return HEED_ELEMENTWISE_ROUND;
    case HEED_LOWER_SIGN: return HEED_ELEMENTWISE_SIGN;
    case HEED_LOWER_SOFTPLUS: return HEED_ELEMENTWISE_SOFTPLUS;
    case HEED_LOWER_IS_NAN: return HEED_ELEMENTWISE_IS_NAN;
    case HEED_LOWER_NOT: return HEED_ELEMENTWISE_NOT;
    case HEED_LOWER_EQUAL: return HEED_ELEMENTWISE_EQUAL;
    case HEED_LOWER_LESS: return HEED_ELEMENTWISE_LESS;
    case HEED_LOWER_LESS_EQUAL: return HEED_ELEMENTWISE_LESS_EQUAL;
    case HEED_LOWER_GREATER: return HEED_ELEMENTWISE_GREATER;
    case HEED_LOWER_GREATER_EQUAL: return HEED_ELEMENTWISE_GREATER_EQUAL;
    case HEED_LOWER_AND: return HEED_ELEMENTWISE_AND;
    case HEED_LOWER_OR: return HEED_ELEMENTWISE_OR;
    case HEED_LOWER_XOR: return HEED_ELEMENTWISE_XOR;
    default: return -1;
  }
}

static int reduction_of(heed_lower_function function) {
  switch (function) {
    case HEED_LOWER_SUM: return HEED_REDUCE_SUM;
    case HEED_LOWER_MEAN: return HEED_REDUCE_MEAN;
    case HEED_LOWER_MAX: return HEED_REDUCE_MAX;
    case HEED_LOWER_MIN: return HEED_REDUCE_MIN;
    case HEED_LOWER_L1: return HEED_REDUCE_L1;
    case HEED_LOWER_L2: return HEED_REDUCE_L2;
    case HEED_LOWER_SUM_SQUARE: return HEED_REDUCE_SUM_SQUARE;
    case HEED_LOWER_PRODUCT: return HEED_REDUCE_PRODUCT;
    case HEED_LOWER_LOG_SUM: return HEED_REDUCE_LOG_SUM;
    case HEED_LOWER_LOG_SUM_EXP: return HEED_REDUCE_LOG_SUM_EXP;
    case HEED_LOWER_ARGMAX: return HEED_REDUCE_ARGMAX;
    case HEED_LOWER_ARGMIN: return HEED_REDUCE_ARGMIN;
    default: return -1;
  }
}

static heed_value emit_elementwise(heed_lower *l, const value *v, int kind) {
  const heed_elementwise_desc desc = {.struct_size = sizeof desc,
                                      .a = v->x[0]->made,
                                      .b = v->count > 1 ? v->x[1]->made : (heed_value){0},
                                      .c = v->count > 2 ? v->x[2]->made : (heed_value){0},
                                      .kind = (heed_elementwise)kind,
                                      .dtype = HEED_F32,
                                      .shape = heed_lower_shape(l, v)};
  return heed_define_elementwise(l->graph, &desc);
}

static heed_value as_type(heed_lower *l, heed_value x, heed_dtype dtype) {
  const heed_elementwise_desc desc = {
      .struct_size = sizeof desc, .a = x, .kind = HEED_ELEMENTWISE_IDENTITY, .dtype = dtype};
  return heed_define_elementwise(l->graph, &desc);
}

/* The reduced axes stay as 1; of no axis the value itself, as the function has it. */
static heed_value emit_reduce(heed_lower *l, const value *v, int kind) {
  const heed_shape shape = heed_lower_shape(l, v);
  heed_reduce_desc desc = {.struct_size = sizeof desc,
                           .x = v->x[0]->made,
                           .kind = (heed_reduce)kind,
                           .axes = v->rank ? v->axis : 1,
                           .keep_axes = true,
                           .last = v->first != 0};
  if (!desc.axes) {
    heed_lower_refuse(l, HEED_UNSUPPORTED, "a reduction of no axis has no kernel");
    return (heed_value){0};
  }
  heed_value made = heed_define_reduce(l->graph, &desc);
  if (kind >= HEED_REDUCE_ARGMAX) made = as_type(l, made, HEED_F32);
  return heed_define_reshape(l->graph, made, &shape);
}

/* Toward zero, also beyond the range of whole numbers of 32 bits. */
static heed_value emit_truncate(heed_lower *l, const value *v) {
  heed_elementwise_desc desc = {.struct_size = sizeof desc,
                                .a = v->x[0]->made,
                                .kind = HEED_ELEMENTWISE_ABSOLUTE,
                                .dtype = HEED_F32};
  desc.a = heed_define_elementwise(l->graph, &desc);
  desc.kind = HEED_ELEMENTWISE_FLOOR;
  const heed_value size = heed_define_elementwise(l->graph, &desc);
  desc.a = v->x[0]->made;
  desc.kind = HEED_ELEMENTWISE_SIGN;
  const heed_multiply_desc product = {sizeof product, size,
                                      heed_define_elementwise(l->graph, &desc)};
  return heed_define_multiply(l->graph, &product);
}

static heed_value emit_indices(heed_lower *l, const heed_onnx_array *from) {
  int32_t *to = heed_lower_take(l, from->count, sizeof *to);
  heed_constant_desc desc = {
      .struct_size = sizeof desc, .dtype = HEED_I32, .shape = {1, {1}}, .data = to};
  for (uint64_t i = 0; to && i < from->count; i++) to[i] = (int32_t)from->data[i].i;
  for (uint32_t i = 0; i < from->rank && i < HEED_MAX_RANK; i++)
    desc.shape.dim[i] = (uint32_t)from->dims[i];
  if (from->rank) desc.shape.rank = from->rank;
  if (from->rank > HEED_MAX_RANK)
    heed_lower_refuse(l, HEED_UNSUPPORTED, "indices of %u axes have no kernel", from->rank);
  return l->status == HEED_OK ? heed_define_constant(l->graph, &desc) : (heed_value){0};
}

static heed_value emit_gather(heed_lower *l, const value *v) {
  const heed_shape shape = heed_lower_shape(l, v);
  const heed_gather_desc desc = {
      .struct_size = sizeof desc,
      .x = v->x[0]->made,
      .indices = v->indices ? emit_indices(l, v->indices) : as_type(l, v->x[1]->made, HEED_I32),
      .axis = v->axis,
      .elements = v->function != 0};
  if (l->status != HEED_OK) return (heed_value){0};
  return heed_define_reshape(l->graph, heed_define_gather(l->graph, &desc), &shape);
}

/* x, and 0 where it is NaN. */
static heed_value emit_nan_to_zero(heed_lower *l, const value *v) {
  const value *x = v->x[0];
  static const float zero[1];
  heed_elementwise_desc desc = {
      .struct_size = sizeof desc, .a = x->made, .kind = HEED_ELEMENTWISE_IS_NAN, .dtype = HEED_F32};
  const heed_value is_nan = heed_define_elementwise(l->graph, &desc);
  desc = (heed_elementwise_desc){.struct_size = sizeof desc,
                                 .a = is_nan,
                                 .b = heed_lower_emit_vector(l, zero, 1),
                                 .c = x->made,
                                 .kind = HEED_ELEMENTWISE_SELECT,
                                 .dtype = HEED_F32};
  return heed_define_elementwise(l->graph, &desc);
}

static heed_value emit_windows(heed_lower *l, const value *v) {
  heed_depthwise_desc desc = *v->windows;
  desc.x = v->x[0]->made;
  if (v->count > 1) desc.weight = v->x[1]->made;
  return heed_define_depthwise(l->graph, &desc);
}

heed_value heed_lower_emit_general(heed_lower *l, const value *v) {
  const heed_lower_function function = (heed_lower_function)v->function;
  const heed_matmul_desc product = {.struct_size = sizeof product,
                                    .a = v->count > 0 ? v->x[0]->made : (heed_value){0},
                                    .b = v->count > 1 ? v->x[1]->made : (heed_value){0}};
  switch (v->kind) {
    case HEED_LOWER_MATMUL:
      return heed_lower_change_product(l, v, heed_define_matmul(l->graph, &product));
    case HEED_LOWER_GATHER: return emit_gather(l, v);
    case HEED_LOWER_WINDOWS: return emit_windows(l, v);
    case HEED_LOWER_UNARY:
      if (v->function == HEED_LOWER_TRUNCATE) return emit_truncate(l, v);
      return emit_elementwise(l, v, elementwise_of(function));
    case HEED_LOWER_BINARY: return emit_elementwise(l, v, elementwise_of(function));
    case HEED_LOWER_EXPAND: return emit_elementwise(l, v, HEED_ELEMENTWISE_IDENTITY);
    case HEED_LOWER_SELECT: return emit_elementwise(l, v, HEED_ELEMENTWISE_SELECT);
    case HEED_LOWER_REDUCE: return emit_reduce(l, v, reduction_of(function));
    case HEED_LOWER_NAN_TO_ZERO: return emit_nan_to_zero(l, v);
    default:
      heed_lower_refuse(l, HEED_UNSUPPORTED, "whole numbers have no kernel");
      return (heed_value){0};
  }
}
