/* The tokens of a vocabulary by text and by id, and the merges of BPE in their order. */
#ifndef HEED_TEXT_VOCABULARY_H
#define HEED_TEXT_VOCABULARY_H

#include "base/context.h"

/* Ids are below it: a larger one would make a table by id of nothing else. */
#define HEED_TOKEN_MAX (1u << 20)
#define HEED_MERGE_MAX (1u << 22)

typedef struct heed_token {
  uint32_t first, length; /* bytes of the text */
  int32_t id;
} heed_token;
typedef struct heed_merge {
  int32_t left, right, result;
} heed_merge;

typedef struct heed_vocabulary {
  const heed_context *context;
  char *text;
  size_t text_count, text_capacity;
  heed_token *tokens;
  size_t token_count, token_capacity;
  heed_merge *merges; /* a merge's place is its rank */
  size_t merge_count, merge_capacity;
  uint32_t *by_text, *by_pair; /* places, sorted once all are there */
  uint32_t *by_id;             /* [ids]: place + 1; 0: none */
  uint32_t ids;
} heed_vocabulary;

/* Each returns false when out of memory. */
bool heed_vocabulary_add(heed_vocabulary *v, const char *text, size_t length, int32_t id);
/* To be called after the last token, and before look-ups by text or id. */
bool heed_vocabulary_sort(heed_vocabulary *v);
bool heed_vocabulary_add_merge(heed_vocabulary *v, heed_merge merge);
/* To be called after the last merge. */
bool heed_vocabulary_sort_merges(heed_vocabulary *v);
void heed_vocabulary_free(heed_vocabulary *v);

/* -1: no token has this text. */
int32_t heed_vocabulary_id(const heed_vocabulary *v, const char *text, size_t length);
/* NULL: no token has this id. */
const heed_token *heed_vocabulary_token(const heed_vocabulary *v, int32_t id);
/* UINT32_MAX: the two are not merged. */
uint32_t heed_vocabulary_rank(const heed_vocabulary *v, int32_t left, int32_t right);

#endif
