/* What a training wrote beside its weights: args, hyper_parameters, arch. */
#ifndef HEED_PICKLE_TRAINING_H
#define HEED_PICKLE_TRAINING_H

#include "model/files/virtual_file.h"
#include "pickle/heap.h"

/* Notes what model/files/training.h reads, of the entries of `root` and of the dictionaries and
 * objects of arguments among them: numbers and texts under their path, "training.args.patch_size".
 * Statuses: OUT_OF_MEMORY. */
heed_status heed_training_note(const heed_pickle_heap *heap, heed_pickle_id root,
                               heed_assembled *to, heed_error *error);

#endif
