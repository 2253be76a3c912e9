/* Weights of other makers, by their names and first bytes: those of PyTorch are read, all others
 * are named, with how to go on. */
#ifndef HEED_PICKLE_FOREIGN_H
#define HEED_PICKLE_FOREIGN_H

#include "heed/pickle.h"

/* For sentences: weights that are read. */
#define HEED_EXPECTED_WEIGHTS ".safetensors, .onnx, .pth, .pt, .bin or .ckpt"

/* Whether a name ends as PyTorch's files do: .pth, .pt, .bin, .ckpt. */
bool heed_is_torch_name(const char *name);
/* Whether a name ends as weights do that are not read: .gguf, .h5, .keras ... */
bool heed_is_foreign_name(const char *name);

/* Refuse, each with its sentence: a file of a name that heed_is_foreign_name takes; and first bytes
 * of a kind of file that is not read (else OK). Statuses: UNSUPPORTED; UNSUPPORTED, INVALID_FILE.
 */
heed_status heed_refuse_foreign_name(const char *name, heed_error *error);
heed_status heed_refuse_kind(const char *name, const void *bytes, size_t size, const char *expected,
                             heed_error *error);

/* Whether the place of an ONNX file's external data is a relative path of plain names: no "..",
 * nothing absolute, no empty part, no backslash or drive of Windows. */
bool heed_is_plain_location(const char *location);
/* Refuses external data of the ONNX file `path`; why: "found a link". Status: INVALID_FILE. */
heed_status heed_refuse_location(const char *path, const char *location, const char *why,
                                 heed_error *error);
#define HEED_LOCATION_ELSEWHERE "found a path that leads elsewhere"
#define HEED_LOCATION_LINK "found a link, and cp -rL copies a folder without links"
/* Which way an ONNX file is read; for the file's name by heed_utf8_cut and heed_onnx_summary. */
#define HEED_ONNX_NOTE "%.*s: ONNX file as weights of heed's own graph (%s)"

/* heed_pickle_open_key of a file of PyTorch, whatever its name. *file is NULL for one that may be
 * .safetensors. Files of another kind are refused; `expected` ends that sentence. Statuses: as
 * heed_pickle_open_key. A file that is none of PyTorch's has no key: INVALID_FILE. */
heed_status heed_foreign_open(heed_context *context, const heed_source *source, const char *name,
                              const char *expected, const char *key, heed_pickle **file,
                              heed_error *error);

#endif
