/* The tensors of a checkpoint, by name. */
#ifndef HEED_PICKLE_ENTRIES_H
#define HEED_PICKLE_ENTRIES_H

#include "pickle/heap.h"

#define HEED_PICKLE_NAME_SIZE 1024u

typedef struct heed_state_entry {
  size_t name; /* in heed_state_dict.names */
  heed_pickle_id tensor;
} heed_state_entry;

typedef struct heed_state_dict {
  const heed_context *context;
  heed_state_entry *entries; /* in the file's order */
  uint32_t count;
  char *names;
  size_t name_bytes, entry_capacity, name_capacity;
  char origin[64]; /* "model": the entries that lead to them; "" for the whole file */
} heed_state_dict;

static inline const char *heed_state_dict_name(const heed_state_dict *dict, uint32_t index) {
  return dict->names + dict->entries[index].name;
}

#endif
