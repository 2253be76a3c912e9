/* The table of a pickle's values: one call of each function, from any state that its rules allow.
 */
#include "pickle/heap.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "pickle/heap.c"
#include "proofs/heap.h"

/* Grows to what is needed, or not. */
bool heed_grow(const heed_context *context, void *array, size_t *capacity, size_t need,
               size_t size) {
  (void)context;
  if (need <= *capacity) return true;
  if (nondet_bool()) return false;
  void **pointer = array, *grown = malloc(need * size);
  assume(grown != NULL);
  *pointer = grown;
  *capacity = need;
  return true;
}

void heed_free(const heed_context *context, void *pointer) {
  (void)context;
  free(pointer);
}

void prove_make(void) {
  heed_pickle_heap heap;
  heed_pickle_id id;
  heed_error error;
  any_heap(&heap);
  const uint32_t before = heap.count;
  if (heed_pickle_make(&heap, any_kind(), &id, &error) != HEED_OK) return;
  claim(id == before && id < heap.count && heap.count <= heap.capacity, "a new value has room");
  ends();
}

void prove_make_text(void) {
  heed_pickle_heap heap;
  heed_pickle_id id;
  heed_error error;
  char *bytes;
  any_heap(&heap);
  const size_t length = nondet_u64();
  if (heed_pickle_make_text(&heap, HEED_PICKLE_TEXT, length, &id, &bytes, &error) != HEED_OK)
    return;
  claim(__CPROVER_w_ok(bytes, length + 1), "a new text has room, with a zero byte");
  claim(heap.values[id].of < heap.text_size && heap.text_size <= heap.text_capacity,
        "a new text is among the texts");
  ends();
}

void prove_append(void) {
  heed_pickle_heap heap;
  heed_error error;
  any_heap(&heap);
  const heed_pickle_id to = any_id(&heap), key = any_id(&heap), value = any_id(&heap);
  const uint32_t before = heap.cell_count;
  if (heed_pickle_append(&heap, to, key, value, &error) != HEED_OK) return;
  claim(heap.cell_count == before + 1 && heap.cell_count <= heap.cell_capacity,
        "a new cell has room");
  claim(heap.cells[before].next == 0, "a new cell is the last: lists end");
  ends();
}

void prove_item(void) {
  heed_pickle_heap heap;
  any_heap(&heap);
  const heed_pickle_id found = heed_pickle_item(&heap, any_id(&heap), nondet_u32());
  claim(found < heap.count, "an item is a value");
  ends();
}
