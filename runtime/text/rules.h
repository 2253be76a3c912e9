/* A tokenizer as its files describe it: what happens to a text before BPE, and after it. */
#ifndef HEED_TEXT_RULES_H
#define HEED_TEXT_RULES_H

#include "base/budget.h"
#include "text/unicode.h"
#include "text/vocabulary.h"

#include "heed/tokenizer.h"

/* A change of the whole text, in the order of the file. */
typedef enum heed_text_change {
  HEED_TEXT_COMPOSE,        /* NFC */
  HEED_TEXT_LOWER,          /* lower case */
  HEED_TEXT_REPLACE_SPACES, /* each run of white space */
  HEED_TEXT_REPLACE         /* each `what` */
} heed_text_change;
#define HEED_TEXT_CHANGES 8
#define HEED_TEXT_PART 64 /* bytes of what is replaced, and of what replaces it */
typedef struct heed_text_step {
  heed_text_change change;
  char what[HEED_TEXT_PART], with[HEED_TEXT_PART]; /* UTF-8, with a final NUL */
} heed_text_step;

/* How a text falls into words, which BPE does not join. */
typedef enum heed_word_rule {
  HEED_WORDS_WHOLE, /* the text is one */
  HEED_WORDS_CLIP,  /* letters; one number; neither; white space lies between words */
  HEED_WORDS_GPT2   /* letters, numbers or neither, each with a space before it; white space */
} heed_word_rule;

/* A token that the text spells and that BPE does not see. */
typedef struct heed_added_token {
  heed_points text;
  int32_t id;
  bool after;   /* it is looked for after the changes */
  bool special; /* the file calls it so */
} heed_added_token;

/* Longer ones are refused, so that a text's search for them stays short. */
#define HEED_ADDED_MAX 1024

#define HEED_TEXT_AROUND 8
struct heed_tokenizer {
  const heed_context *context;
  heed_context within; /* of all that the tokenizer has */
  heed_tokenizer_info info;
  heed_vocabulary vocabulary;
  heed_text_step steps[HEED_TEXT_CHANGES];
  uint32_t step_count;
  heed_word_rule words;
  bool bytes;         /* the symbols of BPE are bytes, spelled as GPT-2 spells them */
  bool byte_fallback; /* what has no token is spelled <0x41> */
  bool fuse_unknown;  /* of several unknown symbols in a row one id remains */
  int32_t unknown;    /* or -1: left out */
  char word_end[16];  /* what the last symbol of a word has at its end: "</w>" */
  heed_added_token *added;
  size_t added_count, added_capacity;
  uint32_t *by_added; /* places of `added`, sorted: those before the changes, then by text */
  size_t added_found, added_before; /* how many they are; those looked for before the changes */
  uint8_t *is_added;                /* [vocabulary.ids] */
  bool split_specials;              /* tokens of files that are special are no tokens in a text */
  char assumed[160];                /* heed_tokenizer_info's */
  int32_t before[HEED_TEXT_AROUND], after[HEED_TEXT_AROUND]; /* ids around every text */
  uint32_t before_count, after_count;
};

/* The code point that stands for a byte in the vocabulary of byte-level BPE. */
uint32_t heed_byte_point(uint8_t byte);
/* The byte of such a code point, or -1. */
int heed_point_byte(uint32_t point);

typedef struct heed_ids heed_ids;
/* Applies the changes; `text` is replaced. False when out of memory, and where the
 * text takes more than is left of ids->points. */
bool heed_text_apply(const heed_tokenizer *t, heed_points *text, heed_ids *ids);
/* The word that begins at or after *first, in [*first, *end); false: there is none. */
bool heed_text_word(heed_word_rule rule, const heed_points *text, size_t *first, size_t *end);

struct heed_ids {
  int32_t *at;
  size_t count, capacity;
  heed_budget points; /* of the text once it is changed */
};
/* Code points of a text once it is changed. */
#define HEED_CHANGED_MAX (4 * HEED_TOKENIZER_TEXT_MAX)
bool heed_ids_add(const heed_context *context, heed_ids *ids, int32_t id);
/* Appends the ids of a word. False when out of memory. */
bool heed_text_merge(const heed_tokenizer *t, const uint32_t *word, size_t length, heed_ids *ids);

/* Read into a zeroed tokenizer. Statuses: INVALID_FILE, UNSUPPORTED, OUT_OF_MEMORY, IO. */
heed_status heed_tokenizer_read_json(heed_tokenizer *t, const heed_model_file *file,
                                     heed_error *error);
/* tokenizer_config.json beside either, once its tokens are there: what it says of texts. */
heed_status heed_tokenizer_read_config(heed_tokenizer *t, const heed_model_file *file,
                                       heed_error *error);
/* Adds a token that texts spell, of `length` bytes. Statuses: UNSUPPORTED, OUT_OF_MEMORY. */
heed_status heed_tokenizer_add(heed_tokenizer *t, const char *where, const char *text,
                               size_t length, int32_t id, bool after, heed_error *error);
heed_status heed_tokenizer_read_clip(heed_tokenizer *t, const heed_model_file *vocabulary,
                                     const heed_model_file *merges, heed_error *error);

#endif
