/* EXPERIMENTAL: all of this header may change. PyTorch's files (.pth, .pt, .bin, .ckpt) for
 * heed_model_open: a library of its own beside the core (CMake heed::pickle). It executes nothing
 * of what the file says. */
#ifndef HEED_PICKLE_H
#define HEED_PICKLE_H

#include "heed/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heed_pickle heed_pickle;

/* Whether a file begins as one of PyTorch does: as a zip file, or as a pickle, and not as a
 * .safetensors file. `count` bytes of its start are given; 9 are enough. */
HEED_API bool heed_pickle_begins(const void *bytes, size_t count);

/* Opens a file that torch.save wrote, in the zip form or in the form before PyTorch 1.6, and finds
 * the tensors of its state dictionary: the dictionary with the most tensors, also under `model`,
 * `state_dict`, `teacher` and the like, without a prefix `module.`, `model.` or `_orig_mod.` that
 * all names have. What the training wrote beside them (`arch`, `args`, `hyper_parameters`) becomes
 * metadata, hints for heed_model_open. Reads the pickles, and the data of tensors that are not
 * stored in row order, such as transposed ones, which it copies. Nothing else is read here. `name`
 * is the file's, for sentences; it is copied. Borrows context, and what source points to, until
 * heed_pickle_destroy. Statuses: INVALID_ARGUMENT, INVALID_FILE, UNSUPPORTED, OUT_OF_MEMORY, IO. */
HEED_NODISCARD HEED_API heed_status heed_pickle_open(heed_context *context,
                                                     const heed_source *source, const char *name,
                                                     heed_pickle **file, heed_error *error);
/* The same for the tensors under one entry of the file: "state_dict_ema", "model.teacher"; "." is
 * the whole file. key NULL: as heed_pickle_open, which takes of several copies of a model the one
 * that its maker's scripts take, with a warning in the log, and refuses those of no known maker. */
HEED_NODISCARD HEED_API heed_status heed_pickle_open_key(heed_context *context,
                                                         const heed_source *source,
                                                         const char *name, const char *key,
                                                         heed_pickle **file, heed_error *error);
HEED_API void heed_pickle_destroy(heed_pickle *file);

/* The same tensors as the bytes of a .safetensors file, made as they are read: the source of a
 * heed_model_file. A read asks `source` for the bytes of the tensors alone, and may be called from
 * several threads when that source may. Valid as long as the file. */
HEED_API heed_source heed_pickle_source(heed_pickle *file);

/* Whether two tensors share bytes of the file, so that reading all tensors reads some bytes twice.
 */
HEED_API bool heed_pickle_shares(const heed_pickle *file);

/* The entries that lead to the tensors: "model", "model.module"; "" for the whole file. Valid as
 * long as the file. */
HEED_API const char *heed_pickle_origin(const heed_pickle *file);

#ifdef __cplusplus
}
#endif

#endif
