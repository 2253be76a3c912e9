/* Arrays of a graph that is evaluated. See array.h. */
#include "onnx/file/array.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/tensor.h"

bool heed_onnx_is_kernel_float(uint32_t type) {
  return type == HEED_ONNX_FLOAT || type == HEED_ONNX_FLOAT16 || type == HEED_ONNX_BFLOAT16;
}

bool heed_onnx_is_float(uint32_t type) {
  return heed_onnx_is_kernel_float(type) || type == HEED_ONNX_DOUBLE ||
         heed_onnx_is_small_float(type);
}

double heed_onnx_round(uint32_t type, double value) {
  switch (type) {
    case HEED_ONNX_FLOAT: return (double)(float)value;
    case HEED_ONNX_FLOAT16: return (double)heed_f16_to_f32(heed_f32_to_f16((float)value));
    case HEED_ONNX_BFLOAT16: return (double)heed_bf16_to_f32(heed_f32_to_bf16((float)value));
    case HEED_ONNX_DOUBLE: return value;
    default: return heed_onnx_round_small(type, value, HEED_ONNX_SATURATE);
  }
}

/* The low bits of a number, with their sign. */
static int64_t low_bits(uint64_t value, uint64_t sign) {
  return (int64_t)((value & (2 * sign - 1)) ^ sign) - (int64_t)sign;
}

int64_t heed_onnx_wrap(uint32_t type, int64_t value) {
  const uint64_t bits = (uint64_t)value;
  switch (type) {
    case HEED_ONNX_BOOL: return value != 0;
    case HEED_ONNX_UINT8: return (uint8_t)bits;
    case HEED_ONNX_INT8: return (int8_t)(uint8_t)bits;
    case HEED_ONNX_UINT16: return (uint16_t)bits;
    case HEED_ONNX_INT16: return (int16_t)(uint16_t)bits;
    case HEED_ONNX_INT32: return (int32_t)(uint32_t)bits;
    case HEED_ONNX_UINT32: return (uint32_t)bits;
    case HEED_ONNX_UINT4: return (int64_t)(bits & 15);
    case HEED_ONNX_INT4: return low_bits(bits, 8);
    case HEED_ONNX_UINT2: return (int64_t)(bits & 3);
    case HEED_ONNX_INT2: return low_bits(bits, 2);
    default: return value;
  }
}

double heed_onnx_number(const heed_onnx_array *array, uint64_t at) {
  HEED_ASSERT(at < array->count);
  if (heed_onnx_is_float(array->type)) return array->data[at].f;
  return array->type == HEED_ONNX_UINT64 ? (double)(uint64_t)array->data[at].i
                                         : (double)array->data[at].i;
}

/* Outside of what the 64 bits hold a conversion has no meaning in C: the nearest number that they
 * hold; of NaN, the least. */
static int64_t whole(uint32_t type, double value) {
  if (type == HEED_ONNX_UINT64 && value >= 0x1p63)
    return (int64_t)(value < 0x1p64 ? (uint64_t)value : UINT64_MAX);
  if (!(value >= -0x1p63)) return INT64_MIN;
  return value < 0x1p63 ? (int64_t)value : INT64_MAX;
}

void heed_onnx_set(heed_onnx_array *array, uint64_t at, double value) {
  HEED_ASSERT(at < array->count);
  if (heed_onnx_is_float(array->type)) {
    array->data[at].f = heed_onnx_round(array->type, value);
    return;
  }
  if (array->type == HEED_ONNX_BOOL) {
    array->data[at].i = value != 0.0;
    return;
  }
  array->data[at].i = heed_onnx_wrap(array->type, whole(array->type, value));
}

uint64_t heed_onnx_extent(const heed_onnx_array *array, uint32_t from, uint32_t axes) {
  uint64_t count = 1;
  for (uint32_t i = from; i < from + axes && i < array->rank; i++) count *= array->dims[i];
  return count;
}

void heed_onnx_cell_read(uint32_t type, const unsigned char *bytes, heed_onnx_cell *cell) {
  const uint32_t size = heed_onnx_type_size(type);
  uint64_t raw = 0;
  for (uint32_t i = size; i-- > 0;) raw = raw << 8 | bytes[i];
  const uint32_t low = (uint32_t)raw;
  float single;
  switch (type) {
    case HEED_ONNX_FLOAT:
      memcpy(&single, &low, sizeof single);
      cell->f = (double)single;
      return;
    case HEED_ONNX_FLOAT16: cell->f = (double)heed_f16_to_f32((uint16_t)raw); return;
    case HEED_ONNX_BFLOAT16: cell->f = (double)heed_bf16_to_f32((uint16_t)raw); return;
    case HEED_ONNX_DOUBLE: memcpy(&cell->f, &raw, sizeof raw); return;
    default:
      if (heed_onnx_is_small_float(type))
        cell->f = heed_onnx_decode_small(type, (uint8_t)raw);
      else
        cell->i = heed_onnx_wrap(type, (int64_t)raw);
  }
}

void heed_onnx_cell_write(uint32_t type, heed_onnx_cell cell, unsigned char *bytes) {
  const uint32_t size = heed_onnx_type_size(type);
  uint64_t raw = (uint64_t)cell.i;
  const float single = heed_onnx_is_float(type) ? (float)cell.f : 0.0f;
  uint32_t low;
  memcpy(&low, &single, sizeof low);
  if (type == HEED_ONNX_FLOAT) raw = low;
  if (type == HEED_ONNX_FLOAT16) raw = heed_f32_to_f16(single);
  if (type == HEED_ONNX_BFLOAT16) raw = heed_f32_to_bf16(single);
  if (heed_onnx_is_small_float(type)) raw = heed_onnx_encode_small(type, cell.f);
  for (uint32_t i = 0; i < size; i++) bytes[i] = (unsigned char)(raw >> 8 * i & 0xFF);
}

void heed_onnx_walk_start(heed_onnx_walk *walk, const heed_onnx_array *shape) {
  *walk = (heed_onnx_walk){.rank = shape->rank};
  memcpy(walk->dims, shape->dims, sizeof walk->dims);
}

void heed_onnx_walk_broadcast(heed_onnx_walk *walk, uint32_t which, const heed_onnx_array *array) {
  int64_t step = 1;
  for (uint32_t i = array->rank; i-- > 0;) {
    walk->stride[which][walk->rank - array->rank + i] = array->dims[i] == 1 ? 0 : step;
    step *= (int64_t)array->dims[i];
  }
}

void heed_onnx_walk_next(heed_onnx_walk *walk) {
  for (uint32_t axis = walk->rank; axis-- > 0;) {
    for (int k = 0; k < 3; k++) walk->at[k] += walk->stride[k][axis];
    if (++walk->index[axis] < walk->dims[axis]) return;
    for (int k = 0; k < 3; k++) walk->at[k] -= walk->stride[k][axis] * (int64_t)walk->dims[axis];
    walk->index[axis] = 0;
  }
}
