/* What a pickle builds, as data: every object is a value of one table, which others name by its
 * number. Nothing is ever called; what would be a call in Python is an object that remembers its
 * callable. All tables are of the budget of the file. */
#ifndef HEED_PICKLE_HEAP_H
#define HEED_PICKLE_HEAP_H

#include "base/context.h"

#define HEED_PICKLE_LONG_TEXT 4096u /* longer ones are not kept: no name is as long */

typedef enum heed_pickle_kind {
  HEED_PICKLE_NONE = 0, /* also the value 0, where there is none */
  HEED_PICKLE_OPAQUE,   /* bytes, a long text: nothing that matters here */
  HEED_PICKLE_INTEGER,  /* also true and false */
  HEED_PICKLE_FLOAT,
  HEED_PICKLE_TEXT,
  HEED_PICKLE_GLOBAL, /* a name in a module, as text "module.name" */
  HEED_PICKLE_TUPLE,
  HEED_PICKLE_LIST, /* also a set */
  HEED_PICKLE_DICT,
  HEED_PICKLE_OBJECT, /* what a call would give */
  HEED_PICKLE_STORAGE,
  HEED_PICKLE_TENSOR
} heed_pickle_kind;

/* A value's number; 0 = none. */
typedef uint32_t heed_pickle_id;

typedef struct heed_pickle_value {
  uint8_t kind;
  uint8_t tag; /* GLOBAL, TENSOR: a heed_pickle_meaning; STORAGE: an index of dtypes; OBJECT: 1
                  where a tensor was among its arguments */
  uint32_t first, last; /* cells of TUPLE, LIST, DICT, OBJECT; 0 = none */
  uint32_t of; /* TEXT, GLOBAL: where its text is; OBJECT: its callable; STORAGE: its key; TENSOR:
                  its arguments */
  heed_pickle_id state; /* OBJECT, DICT: its attributes, of BUILD */
  int64_t number; /* INTEGER; FLOAT: the bits of its double; TEXT: its length; TUPLE ...: cells;
                     STORAGE: elements */
} heed_pickle_value;

typedef struct heed_pickle_cell {
  heed_pickle_id key; /* 0: of a sequence */
  heed_pickle_id value;
  uint32_t next;
} heed_pickle_cell;

typedef struct heed_pickle_heap {
  const heed_context *context;
  const char *where;
  heed_pickle_value *values;
  heed_pickle_cell *cells;
  char *texts;
  uint32_t count, cell_count, text_size;
  size_t capacity, cell_capacity, text_capacity;
} heed_pickle_heap;

heed_status heed_pickle_heap_start(heed_pickle_heap *heap, const heed_context *context,
                                   const char *where, heed_error *error);
void heed_pickle_heap_end(heed_pickle_heap *heap);

/* A new value. Statuses of all that make something: OUT_OF_MEMORY. */
heed_status heed_pickle_make(heed_pickle_heap *heap, heed_pickle_kind kind, heed_pickle_id *id,
                             heed_error *error);
/* A new text or global of `length` bytes, which are yet to be written to *bytes; a zero byte
 * follows them. */
heed_status heed_pickle_make_text(heed_pickle_heap *heap, heed_pickle_kind kind, size_t length,
                                  heed_pickle_id *id, char **bytes, heed_error *error);
heed_status heed_pickle_append(heed_pickle_heap *heap, heed_pickle_id container, heed_pickle_id key,
                               heed_pickle_id value, heed_error *error);

const heed_pickle_value *heed_pickle_get(const heed_pickle_heap *heap, heed_pickle_id id);
heed_pickle_kind heed_pickle_kind_of(const heed_pickle_heap *heap, heed_pickle_id id);
/* Of a TEXT or GLOBAL; "" of everything else. */
const char *heed_pickle_text(const heed_pickle_heap *heap, heed_pickle_id id);
/* Item of a TUPLE or LIST, from 0; 0 when there is none. Takes time linear in the index. */
heed_pickle_id heed_pickle_item(const heed_pickle_heap *heap, heed_pickle_id sequence,
                                uint32_t index);
/* The value of a DICT's last entry of this key; 0 when there is none. */
heed_pickle_id heed_pickle_entry(const heed_pickle_heap *heap, heed_pickle_id dict,
                                 const char *key);
/* "a dictionary of 3 entries", "a call of os.system": for sentences. */
#define HEED_PICKLE_DESCRIPTION 160
const char *heed_pickle_describe(const heed_pickle_heap *heap, heed_pickle_id id,
                                 char to[HEED_PICKLE_DESCRIPTION]);

#endif
