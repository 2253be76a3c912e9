/* Any table of a pickle's values that obeys the rules of runtime/pickle/heap.h: small, and full. */
#ifndef HEED_PROOFS_HEAP_H
#define HEED_PROOFS_HEAP_H

#include "pickle/heap.h"
#include "proofs/proof.h"

#define MOST_VALUES 6
#define MOST_CELLS 6
#define MOST_TEXT 4

static heed_pickle_id any_id(const heed_pickle_heap *heap) {
  const heed_pickle_id id = nondet_u32();
  assume(id < heap->count);
  return id;
}

static heed_pickle_kind any_kind(void) {
  const uint32_t kind = nondet_u32();
  assume(kind <= HEED_PICKLE_TENSOR);
  return (heed_pickle_kind)kind;
}

/* What a value's numbers may be: cells and values that are there, lists that end. */
static bool value_rules(const heed_pickle_heap *heap, const heed_pickle_value *value) {
  const bool is_text = value->kind == HEED_PICKLE_TEXT || value->kind == HEED_PICKLE_GLOBAL;
  return value->kind <= HEED_PICKLE_TENSOR && value->first < heap->cell_count &&
         value->last < heap->cell_count && (value->first == 0) == (value->last == 0) &&
         value->state < heap->count &&
         (is_text ? value->of < heap->text_size : value->of < heap->count) &&
         (value->number >= 0 || value->kind == HEED_PICKLE_INTEGER ||
          value->kind == HEED_PICKLE_FLOAT) &&
         value->number < INT64_MAX;
}

static void any_heap(heed_pickle_heap *heap) {
  static heed_pickle_value *values;
  static heed_pickle_cell *cells;
  static char *texts;
  values = malloc(MOST_VALUES * sizeof *values);
  cells = malloc(MOST_CELLS * sizeof *cells);
  texts = malloc(MOST_TEXT);
  assume(values && cells && texts);
  *heap = (heed_pickle_heap){.where = "file",
                             .values = values,
                             .cells = cells,
                             .texts = texts,
                             .count = nondet_u32(),
                             .cell_count = nondet_u32(),
                             .text_size = nondet_u32(),
                             .capacity = MOST_VALUES,
                             .cell_capacity = MOST_CELLS,
                             .text_capacity = MOST_TEXT};
  assume(heap->count >= 1 && heap->count <= MOST_VALUES);
  assume(heap->cell_count >= 1 && heap->cell_count <= MOST_CELLS);
  assume(heap->text_size >= 1 && heap->text_size <= MOST_TEXT);
  texts[MOST_TEXT - 1] = '\0';
  for (uint32_t i = 0; i < MOST_VALUES; i++) assume(value_rules(heap, &values[i]));
  for (uint32_t i = 0; i < MOST_CELLS; i++)
    assume(cells[i].key < heap->count && cells[i].value < heap->count &&
           (cells[i].next == 0 || (cells[i].next > i && cells[i].next < heap->cell_count)));
}

#endif
