/* The values of a pickle. See heap.h. */
#include "pickle/heap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/status.h"
#include "base/utf8.h"

heed_status heed_pickle_heap_start(heed_pickle_heap *heap, const heed_context *context,
                                   const char *where, heed_error *error) {
  heed_pickle_id none;
  *heap = (heed_pickle_heap){.context = context, .where = where, .cell_count = 1};
  return heed_pickle_make(heap, HEED_PICKLE_NONE, &none, error);
}

void heed_pickle_heap_end(heed_pickle_heap *heap) {
  heed_free(heap->context, heap->values);
  heed_free(heap->context, heap->cells);
  heed_free(heap->context, heap->texts);
  *heap = (heed_pickle_heap){.context = heap->context};
}

heed_status heed_pickle_make(heed_pickle_heap *heap, heed_pickle_kind kind, heed_pickle_id *id,
                             heed_error *error) {
  *id = 0;
  if (heap->count == UINT32_MAX || !heed_grow(heap->context, &heap->values, &heap->capacity,
                                              (size_t)heap->count + 1, sizeof *heap->values))
    return heed_fail_memory(error, heap->where, heap->count * sizeof *heap->values);
  *id = heap->count++;
  heap->values[*id] = (heed_pickle_value){.kind = (uint8_t)kind};
  return HEED_OK;
}

heed_status heed_pickle_make_text(heed_pickle_heap *heap, heed_pickle_kind kind, size_t length,
                                  heed_pickle_id *id, char **bytes, heed_error *error) {
  HEED_TRY(heed_pickle_make(heap, kind, id, error));
  const uint64_t need = (uint64_t)heap->text_size + length + 1;
  if (need > UINT32_MAX ||
      !heed_grow(heap->context, &heap->texts, &heap->text_capacity, (size_t)need, 1))
    return heed_fail_memory(error, heap->where, (size_t)need);
  heap->values[*id].of = heap->text_size;
  heap->values[*id].number = (int64_t)length;
  *bytes = heap->texts + heap->text_size;
  (*bytes)[length] = '\0';
  heap->text_size = (uint32_t)need;
  return HEED_OK;
}

heed_status heed_pickle_append(heed_pickle_heap *heap, heed_pickle_id container, heed_pickle_id key,
                               heed_pickle_id value, heed_error *error) {
  const uint32_t at = heap->cell_count;
  if (at == UINT32_MAX || !heed_grow(heap->context, &heap->cells, &heap->cell_capacity,
                                     (size_t)at + 1, sizeof *heap->cells))
    return heed_fail_memory(error, heap->where, at * sizeof *heap->cells);
  HEED_ASSERT(container < heap->count && key < heap->count && value < heap->count);
  heed_pickle_value *to = &heap->values[container];
  heap->cells[at] = (heed_pickle_cell){key, value, 0};
  if (to->last)
    heap->cells[to->last].next = at;
  else
    to->first = at;
  to->last = at;
  to->number++;
  heap->cell_count++;
  return HEED_OK;
}

/* --------------------------------------------------------------------------------------- reading
 */

const heed_pickle_value *heed_pickle_get(const heed_pickle_heap *heap, heed_pickle_id id) {
  HEED_ASSERT(id < heap->count);
  return &heap->values[id];
}

heed_pickle_kind heed_pickle_kind_of(const heed_pickle_heap *heap, heed_pickle_id id) {
  return (heed_pickle_kind)heed_pickle_get(heap, id)->kind;
}

const char *heed_pickle_text(const heed_pickle_heap *heap, heed_pickle_id id) {
  const heed_pickle_value *value = heed_pickle_get(heap, id);
  const bool is_text = value->kind == HEED_PICKLE_TEXT || value->kind == HEED_PICKLE_GLOBAL;
  HEED_ASSERT(!is_text || value->of < heap->text_size);
  return is_text ? heap->texts + value->of : "";
}

heed_pickle_id heed_pickle_item(const heed_pickle_heap *heap, heed_pickle_id sequence,
                                uint32_t index) {
  const heed_pickle_value *value = heed_pickle_get(heap, sequence);
  if (value->kind != HEED_PICKLE_TUPLE && value->kind != HEED_PICKLE_LIST) return 0;
  uint32_t cell = value->first;
  while (cell && index-- > 0) cell = heap->cells[cell].next;
  return cell ? heap->cells[cell].value : 0;
}

heed_pickle_id heed_pickle_entry(const heed_pickle_heap *heap, heed_pickle_id dict,
                                 const char *key) {
  heed_pickle_id found = 0;
  const heed_pickle_value *value = heed_pickle_get(heap, dict);
  if (value->kind != HEED_PICKLE_DICT) return 0;
  for (uint32_t cell = value->first; cell; cell = heap->cells[cell].next)
    if (strcmp(heed_pickle_text(heap, heap->cells[cell].key), key) == 0)
      found = heap->cells[cell].value;
  return found;
}

const char *heed_pickle_describe(const heed_pickle_heap *heap, heed_pickle_id id,
                                 char to[HEED_PICKLE_DESCRIPTION]) {
  static const char *const names[] = {
      "None",    "a value", "a number",     "a number",  "a text",    "a class or function",
      "a tuple", "a list",  "a dictionary", "an object", "a storage", "a tensor"};
  const heed_pickle_value *value = heed_pickle_get(heap, id);
  if (value->kind == HEED_PICKLE_OBJECT)
    snprintf(to, HEED_PICKLE_DESCRIPTION, "an object of %.*s",
             heed_utf8_cut(heed_pickle_text(heap, value->of), 120),
             heed_pickle_text(heap, value->of));
  else if (value->kind == HEED_PICKLE_GLOBAL)
    snprintf(to, HEED_PICKLE_DESCRIPTION, "the name %.*s",
             heed_utf8_cut(heed_pickle_text(heap, id), 120), heed_pickle_text(heap, id));
  else if (value->kind == HEED_PICKLE_DICT)
    snprintf(to, HEED_PICKLE_DESCRIPTION, "a dictionary of %" PRId64 " %s", value->number,
             value->number == 1 ? "entry" : "entries");
  else
    snprintf(to, HEED_PICKLE_DESCRIPTION, "%s", names[value->kind]);
  return to;
}
