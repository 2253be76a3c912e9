/* Values of a graph that is evaluated: dense arrays, each element in 8 bytes. Floats are doubles
 * that were rounded to their type; whole numbers and booleans are int64. */
#ifndef HEED_ONNX_FILE_ARRAY_H
#define HEED_ONNX_FILE_ARRAY_H

#include "onnx/file/message.h"

typedef union heed_onnx_cell {
  double f;
  int64_t i;
} heed_onnx_cell;

typedef struct heed_onnx_array {
  uint32_t type, rank;
  uint64_t dims[HEED_ONNX_MAX_RANK];
  uint64_t count;
  heed_onnx_cell *data; /* never NULL, also of no element */
} heed_onnx_array;

bool heed_onnx_is_float(uint32_t type);
/* Whether heed's kernels take it for F32. */
bool heed_onnx_is_kernel_float(uint32_t type);
/* The nearest value of a type; of whole numbers the low bits. */
double heed_onnx_round(uint32_t type, double value);
int64_t heed_onnx_wrap(uint32_t type, int64_t value);
/* An element as a number of either kind. */
double heed_onnx_number(const heed_onnx_array *array, uint64_t at);
/* Sets an element to the nearest value of the array's type. */
void heed_onnx_set(heed_onnx_array *array, uint64_t at, double value);

/* Elements of `axes` axes from `from` on. */
uint64_t heed_onnx_extent(const heed_onnx_array *array, uint32_t from, uint32_t axes);
/* small_floats.c: floats of 8 and 4 bits. `how`: what becomes of numbers beyond the largest, and
 * for powers of two where a number between two of them goes: up, unless it says otherwise. */
enum { HEED_ONNX_SATURATE = 1, HEED_ONNX_DOWN = 2, HEED_ONNX_NEAREST = 4 };
bool heed_onnx_is_small_float(uint32_t type);
double heed_onnx_round_small(uint32_t type, double value, unsigned how);
double heed_onnx_decode_small(uint32_t type, uint8_t bits);
uint8_t heed_onnx_encode_small(uint32_t type, double value); /* of the type's own numbers */
/* One element as little-endian bytes; of less than 8 bits, a byte for each. */
void heed_onnx_cell_read(uint32_t type, const unsigned char *bytes, heed_onnx_cell *cell);
void heed_onnx_cell_write(uint32_t type, heed_onnx_cell cell, unsigned char *bytes);

/* Goes through the elements of a shape in order, and beside them through up to 3 arrays with
 * strides of their own. */
typedef struct heed_onnx_walk {
  uint32_t rank;
  uint64_t dims[HEED_ONNX_MAX_RANK], index[HEED_ONNX_MAX_RANK];
  int64_t stride[3][HEED_ONNX_MAX_RANK];
  int64_t at[3];
} heed_onnx_walk;
void heed_onnx_walk_start(heed_onnx_walk *walk, const heed_onnx_array *shape);
/* Strides of an array that is broadcast to the shape, as numpy does. */
void heed_onnx_walk_broadcast(heed_onnx_walk *walk, uint32_t which, const heed_onnx_array *array);
void heed_onnx_walk_next(heed_onnx_walk *walk);

#endif
