/* What makes two runs one survey. */
#ifndef HEED_CLI_SURVEY_IDENTITY_H
#define HEED_CLI_SURVEY_IDENTITY_H

#include "session/sha256.h"
#include "sums.h"

typedef struct survey_identity {
  char *model, *family, *backend, *options; /* malloc'ed */
  survey_shape shape;
  int64_t inputs;                     /* pictures of all shards */
  char inputs_hash[SHA256_TEXT_SIZE]; /* of their paths */
  int64_t shard, shards;              /* from 1; a whole survey is 1 of 1 */
} survey_identity;

void survey_identity_free(survey_identity *identity);

/* All of it as keys with texts, then keys with numbers. */
#define SURVEY_TEXTS 5
#define SURVEY_NUMBERS 10
const char *survey_identity_key(int index);
const char *survey_identity_text(const survey_identity *of, int index);
int64_t survey_identity_number(const survey_identity *of, int index);
/* What differs first, in words; NULL: nothing. same_shard: whether the shards must be one. */
const char *survey_identity_difference(const survey_identity *a, const survey_identity *b,
                                       bool same_shard);

#endif
