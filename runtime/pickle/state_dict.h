/* The tensors of a checkpoint, by name: which of its dictionaries holds them, and what of their
 * names tells how they were trained. */
#ifndef HEED_PICKLE_STATE_DICT_H
#define HEED_PICKLE_STATE_DICT_H

#include "pickle/entries.h"

/* Takes the dictionary with the most tensors; of several copies of a model the one that its maker's
 * scripts take (copies.h); with a key, what lies under that entry. What it leaves is to be freed,
 * also when it fails. Statuses: INVALID_FILE: no tensors, no such key, several copies; UNSUPPORTED;
 * OUT_OF_MEMORY. */
heed_status heed_state_dict_find(const heed_pickle_heap *heap, heed_pickle_id root, const char *key,
                                 heed_state_dict *dict, heed_error *error);
void heed_state_dict_free(heed_state_dict *dict);

#endif
