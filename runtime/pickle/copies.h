/* Several copies of one model in a file of a training: the average beside the weights, a teacher
 * beside a student. */
#ifndef HEED_PICKLE_COPIES_H
#define HEED_PICKLE_COPIES_H

#include "pickle/entries.h"

/* Where the weights lie. */
typedef struct heed_copies {
  char path[HEED_PICKLE_NAME_SIZE]; /* the entries that lead to them: "model.teacher"; "": all */
  const char *rival, *custom;       /* what was left for it, and by whose custom; or NULL */
} heed_copies;

/* `all`: the tensors of the whole file. best: the entry that is the model by its number of tensors,
 * or "". key: the entry that is asked for, or NULL; "." is the whole file. Without a key and a
 * custom the path stays "". Statuses: INVALID_FILE: none has the
 * key, or nobody says which of several is meant; OUT_OF_MEMORY. */
heed_status heed_copies_choose(const heed_pickle_heap *heap, const heed_state_dict *all,
                               const char *best, const char *key, heed_copies *copies,
                               heed_error *error);

/* Whether a name lies under a path; *rest is then its part behind it. */
bool heed_copies_under(const char *name, const char *path, const char **rest);

#endif
