/* What was given in the place of a model: named, with how to go on. */
#ifndef HEED_NATIVE_FILES_GIVEN_H
#define HEED_NATIVE_FILES_GIVEN_H

#include "heed/heed.h"

bool heed_is_directory(const char *path);
bool heed_ends_with(const char *text, const char *end);
/* Whether a name ends as PyTorch's files do: .pth, .pt, .bin, .ckpt. */
bool heed_is_torch_name(const char *name);
/* Whether a name ends as weights do that are not read: .onnx, .gguf, .h5 ... */
bool heed_is_foreign_name(const char *name);

/* For sentences: weights that are read. */
#define HEED_EXPECTED_WEIGHTS ".safetensors, .pth, .pt, .bin or .ckpt"

/* Refuse, each with its sentence. `path` is what there is not; `name` is a file of a name that
 * heed_is_foreign_name takes; and where the first bytes are those of a kind of file that is not
 * read (else OK). Statuses: IO; UNSUPPORTED; UNSUPPORTED, INVALID_FILE. */
heed_status heed_refuse_missing_model(const char *path, heed_error *error);
heed_status heed_refuse_foreign_name(const char *name, heed_error *error);
heed_status heed_refuse_kind(const char *path, const void *bytes, size_t size, const char *expected,
                             heed_error *error);

#endif
