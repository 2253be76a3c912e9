/* Sizes and strides of a tensor in a pickle: whatever the values are, nothing outside of the tables
 * is read; and what is taken lies inside of its storage, each element at a place of its own. */
#include "pickle/layout.h"

#include <stdlib.h>
#include <string.h>

#include "pickle/heap.c"
#include "pickle/layout.c"
#include "proofs/heap.h"

#define MOST_AXES 2
#define NARROW 15u /* for what multiplies: all numbers up to it */

/* Stand-ins, beside those of stand_ins.c. */
static const heed_pickle_dtype one_type = {"F32", 4}, plain = {NULL, 1};

const heed_pickle_dtype *heed_pickle_dtype_of(const heed_pickle_heap *heap, heed_pickle_id id) {
  claim(id < heap->count, "a value is there");
  return nondet_bool() ? &one_type : &plain;
}

bool heed_pickle_has_dtype(const heed_pickle_heap *heap, heed_pickle_id tensor) {
  claim(tensor < heap->count, "a value is there");
  return nondet_bool();
}

void prove_read(void) {
  heed_pickle_heap heap;
  heed_layout layout;
  heed_error error;
  any_heap(&heap);
  const heed_pickle_id tensor = any_id(&heap);
  assume(heap.values[tensor].kind == HEED_PICKLE_TENSOR);
  if (heed_layout_read(&heap, tensor, "tensor", &layout, &error) != HEED_OK) return;
  claim(layout.rank <= HEED_PICKLE_MAX_RANK && layout.storage < heap.count, "a layout is whole");
  ends();
}

static heed_layout any_layout(void) {
  heed_layout l = {.dtype = &one_type, .rank = MOST_AXES, .count = 1};
  for (uint32_t axis = 0; axis < MOST_AXES; axis++) {
    l.size[axis] = nondet_u64();
    l.stride[axis] = nondet_u64();
    assume(l.size[axis] >= 1 && l.size[axis] <= NARROW && l.stride[axis] <= NARROW);
  }
  return l;
}

static uint64_t place(const heed_layout *l, const uint64_t index[MOST_AXES]) {
  uint64_t at = 0;
  for (uint32_t axis = 0; axis < MOST_AXES; axis++) at += index[axis] * l->stride[axis];
  return at;
}

/* Strides that are taken: each element is before the span's end, and no two are at one place. */
void prove_strides(void) {
  const heed_pickle_heap heap = {.where = "file"};
  heed_error error;
  heed_layout l = any_layout();
  const reading r = {&heap, "tensor", &l, &error};
  uint64_t a[MOST_AXES], b[MOST_AXES];
  bool same = true;
  for (uint32_t axis = 0; axis < MOST_AXES; axis++) {
    a[axis] = nondet_u64();
    b[axis] = nondet_u64();
    assume(a[axis] < l.size[axis] && b[axis] < l.size[axis]);
    same = same && a[axis] == b[axis];
  }
  if (check_strides(&r) != HEED_OK) return;
  claim(place(&l, a) < l.span, "an element is before the span's end");
  claim(same || place(&l, a) != place(&l, b), "two elements have two places");
  ends();
}
