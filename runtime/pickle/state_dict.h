/* The tensors of a checkpoint, by name: which of its dictionaries holds them, and what of their
 * names tells how they were trained. */
#ifndef HEED_PICKLE_STATE_DICT_H
#define HEED_PICKLE_STATE_DICT_H

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

/* Takes the dictionary with the most tensors; of several copies of a model the one that its maker's
 * scripts take (copies.h); with a key, what lies under that entry. What it leaves is to be freed,
 * also when it fails. Statuses: INVALID_FILE: no tensors, no such key, several copies; UNSUPPORTED;
 * OUT_OF_MEMORY. */
heed_status heed_state_dict_find(const heed_pickle_heap *heap, heed_pickle_id root, const char *key,
                                 heed_state_dict *dict, heed_error *error);
void heed_state_dict_free(heed_state_dict *dict);
const char *heed_state_dict_name(const heed_state_dict *dict, uint32_t index);

#endif
