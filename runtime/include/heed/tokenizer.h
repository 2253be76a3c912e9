/* EXPERIMENTAL: all of this header may change. Text as the ids that a text tower takes: a library
 * of its own beside the core (CMake heed::tokenizer). It knows byte-level BPE, as CLIP and GPT-2
 * have it, and BPE with byte fallback, as SigLIP 2 has it. */
#ifndef HEED_TOKENIZER_H
#define HEED_TOKENIZER_H

#include "heed/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heed_tokenizer heed_tokenizer;

typedef struct heed_tokenizer_info {
  const char *kind;    /* "byte-level BPE" or "BPE with byte fallback" */
  uint32_t vocabulary; /* every id is below it */
  /* Of a whole text, -1 where there is none: the ids before and after it, and the one that fills a
   * row up. */
  int32_t begin, end, padding;
  uint32_t most;       /* ids of a text, as tokenizer_config.json bounds them; 0: it does not */
  const char *assumed; /* what of texts no file tells, in one line; NULL: nothing */
} heed_tokenizer_info;

/* Longer texts are refused: bytes of UTF-8. */
#define HEED_TOKENIZER_TEXT_MAX ((size_t)16384)

/* Reads a tokenizer from the files of a model: tokenizer.json, else CLIP's vocab.json and
 * merges.txt; and of tokenizer_config.json what changes ids: lower case, special tokens, padding
 * and the number of ids. Nothing of desc is used after the call; borrows context. Statuses:
 * INVALID_ARGUMENT (desc), INVALID_FILE (also where there is no such file), UNSUPPORTED (another
 * kind of tokenizer, which the sentence names), OUT_OF_MEMORY, IO. */
HEED_NODISCARD HEED_API heed_status heed_tokenizer_open(heed_context *context,
                                                        const heed_model_desc *desc,
                                                        heed_tokenizer **tokenizer,
                                                        heed_error *error);
HEED_API void heed_tokenizer_destroy(heed_tokenizer *tokenizer);
/* Valid as long as the tokenizer. */
HEED_API const heed_tokenizer_info *heed_tokenizer_get_info(const heed_tokenizer *tokenizer);

/* Writes the ids of a text to ids [most], with those before and after it, and their number to
 * *count. `text` is UTF-8 of `length` bytes. A text of more ids than `most` is truncated: its last
 * ids are left out, those after a text are kept, and *whole (nullable) is the number without
 * truncation. Nothing is padded. May be called from several threads. Statuses: INVALID_ARGUMENT (no
 * UTF-8; longer than HEED_TOKENIZER_TEXT_MAX, or than 4 times that once it is changed; `most` below
 * 1 and the ids before and after a text), OUT_OF_MEMORY. Source: Sennrich et al. 2016; Radford et
 * al. 2019. */
HEED_NODISCARD HEED_API heed_status heed_tokenizer_encode(const heed_tokenizer *tokenizer,
                                                          const char *text, size_t length,
                                                          int32_t *ids, uint32_t most,
                                                          uint32_t *count, uint32_t *whole,
                                                          heed_error *error);

/* Writes what an id stands for as one line of text for people, with a final NUL: "cat" for CLIP's
 * cat</w>. Bytes that are no whole character, and controls, are '?'. A text that does not fit is
 * cut. "" for an id that the vocabulary lacks. */
HEED_API void heed_tokenizer_text(const heed_tokenizer *tokenizer, int32_t id, char *to,
                                  size_t size);

#ifdef __cplusplus
}
#endif

#endif
