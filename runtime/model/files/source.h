/* Reading from what the caller gave: bytes or a callback. */
#ifndef HEED_MODEL_FILES_SOURCE_H
#define HEED_MODEL_FILES_SOURCE_H

#include "base/context.h"
#include "heed/model.h"

/* For sentences: how to say what weights do not tell. */
#define HEED_HINT(text) "the hint " text " (--hints, in JavaScript hints)"
/* What chooses one of several copies of a model in one source. */
#define HEED_WEIGHTS_KEY "--weights-key KEY, or weightsKey in JavaScript, chooses"

/* Copies bytes [offset, offset + count) of the source; `where` begins the sentence when they are
 * not there. Statuses: INVALID_FILE, INVALID_ARGUMENT (a source without bytes and callback), what
 * the callback returns. */
heed_status heed_source_read(const heed_source *source, const char *where, uint64_t offset,
                             void *to, size_t count, heed_error *error);

/* The whole source as text from heed_alloc (never NULL, also when empty); at most `limit` bytes. */
heed_status heed_source_text(const heed_context *context, const heed_source *source,
                             const char *where, size_t limit, char **text, heed_error *error);

/* heed_desc_read of a model's files, which must be there when they are counted. Statuses:
 * INVALID_ARGUMENT. */
heed_status heed_model_desc_read(heed_model_desc *full, const heed_model_desc *desc,
                                 heed_error *error);

/* The file of this name, or NULL. */
const heed_model_file *heed_find_file(const heed_model_file *files, uint32_t count,
                                      const char *name);

#endif
