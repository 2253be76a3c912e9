/* Reading the vocabulary and the merges of BPE. */
#ifndef HEED_TEXT_READ_MODEL_H
#define HEED_TEXT_READ_MODEL_H

#include "model/config/fields.h"
#include "text/rules.h"

/* {"text": id, ...} */
heed_status heed_tokenizer_read_vocabulary(heed_tokenizer *t, const heed_fields *fields,
                                           heed_json_value map);
/* To be called once all tokens are there. */
heed_status heed_tokenizer_sort(heed_tokenizer *t, const char *where, heed_error *error);
/* ["a b", ...] or [["a", "b"], ...] */
heed_status heed_tokenizer_read_merges(heed_tokenizer *t, const heed_fields *fields,
                                       heed_json_value list);

#endif
